package fstools

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/nearest"
)

// notFound says that rel does not exist, how far the path leads, and what is
// there that looks alike.
func (s *Set) notFound(op, rel string, cause error) error {
	dir, missing := path.Dir(rel), path.Base(rel)
	for dir != "." && !s.isDir(dir) {
		dir, missing = path.Dir(dir), path.Base(dir)
	}
	what := "no such file"
	if join(dir, missing) != rel {
		what = fmt.Sprintf("there is no directory %q", join(dir, missing))
	}
	names := s.visibleNames(dir)
	if near := nearest.Names(missing, names, 3); len(near) > 0 {
		for i, name := range near {
			near[i] = fmt.Sprintf("%q", join(dir, name)+strings.TrimPrefix(rel, join(dir, missing)))
		}
		return fail(codeNotFound, cause, "%s %q: %s; did you mean %s?", op, rel, what, strings.Join(near, " or "))
	}
	return fail(codeNotFound, cause, "%s %q: %s; find the file with glob, for example %q", op, rel, what, "**/*"+path.Base(rel)+"*")
}

// throughFile says that a part of rel is a file where a directory must be.
func (s *Set) throughFile(op, rel string, cause error) error {
	file := rel
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if p, ok := s.lookUp(dir); ok {
			if info, err := s.look(p.real); err == nil && !info.IsDir() {
				file = dir
			}
		}
	}
	return fail(codeNotDir, cause, "%s %q: %q is a file, not a directory; check the path", op, rel, file)
}

func (s *Set) isDir(rel string) bool {
	p, ok := s.lookUp(rel)
	if !ok {
		return false
	}
	info, err := s.look(p.real)
	return err == nil && info.IsDir()
}

// visibleNames lists a directory for a hint: a part of it if it is large, and
// nothing that is hidden.
func (s *Set) visibleNames(dir string) []string {
	const enough = 2_000
	at, ok := s.lookUp(dir)
	if !ok {
		return nil
	}
	f, info, err := s.open(at.real)
	if err != nil || f == nil {
		return nil
	}
	defer f.Close()
	if !info.IsDir() {
		return nil
	}
	entries, _ := f.ReadDir(enough)
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !utf8.ValidString(name) || isTemporary(name) {
			continue
		}
		p, inside := place{rel: join(dir, name), real: join(at.real, name)}, true
		if e.Type()&fs.ModeSymlink != 0 {
			p, inside = s.lookUp(p.rel)
		}
		if inside && !s.hidesWay(at, p, e.IsDir()) {
			names = append(names, name)
		}
	}
	return names
}
