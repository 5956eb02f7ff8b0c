package fstools

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// place is one file or directory: what a spelling names, and what that led to
// when it was judged. Both are paths from the root, slash-separated, "." for the
// root itself.
type place struct {
	rel  string // as text, links unresolved: what values and errors say
	real string // links resolved: what is opened
}

// maxPath is how many bytes a path may have: more no system call takes. Without a
// limit one write could make a million directories.
const maxPath = 4_096

// locate turns any spelling of a path into the one path from the root it names.
// It looks at the text only; what the path leads to is another question.
func (s *Set) locate(op, spelling string) (string, error) {
	if len(spelling) > maxPath {
		return "", fail(codeNotFound, nil, "%s: the path of %d bytes is too long to exist; check it", op, len(spelling))
	}
	if strings.IndexByte(spelling, 0) >= 0 {
		return "", fail(codeNotFound, nil, "%s %q: the path holds a NUL byte, which no file name can; remove it", op, spelling)
	}
	local := filepath.Clean(filepath.FromSlash(spelling))
	if filepath.IsAbs(local) {
		inside, ok := s.fromRoot(local)
		if !ok {
			return "", fail(codeSandbox, nil, "%s %q: it lies outside the root directory %s; give a path inside it, relative to it or absolute", op, spelling, s.names[0])
		}
		local = inside
	}
	if !filepath.IsLocal(local) {
		return "", fail(codeSandbox, nil, "%s %q: it leads out of the root directory; give a path inside it, such as %q", op, spelling, path.Base(filepath.ToSlash(local)))
	}
	return filepath.ToSlash(local), nil
}

// fromRoot makes a clean absolute path relative to the root, by either of its
// names.
func (s *Set) fromRoot(abs string) (string, bool) {
	for _, name := range s.names {
		if rel, ok := below(name, abs); ok {
			return rel, true
		}
	}
	return "", false
}

// below makes a clean absolute path relative to a directory it lies in.
func below(dir, abs string) (string, bool) {
	rel, err := filepath.Rel(dir, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// realRoot is the root with symbolic links resolved.
func (s *Set) realRoot() string { return s.names[len(s.names)-1] }

// absolute is a path from the root in the operating system's form, below one of
// the root's names.
func absolute(root, rel string) string { return filepath.Join(root, filepath.FromSlash(rel)) }

// join is path.Join for parts that are clean already.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// resolution is where a path leads.
type resolution struct {
	real     string // absolute; outside the root it may have links
	dangling bool   // a link on the way leads to what does not exist
	err      error  // the links never end; real is then the path as it is
}

// resolve follows the symbolic links of rel. What does not exist or cannot be
// looked at has no links: the rest of the path is kept as it is. So it is once a
// link leads out of the root: a look there could mount a file system or ask
// another computer, for a path that will be refused. Nothing is opened, and what
// is opened later is held to the answer, so that a wrong or outdated one opens
// nothing else.
func (s *Set) resolve(rel string) resolution {
	at := s.realRoot()
	rest := elements(filepath.FromSlash(rel))
	inLink := 0 // how many elements at the front of rest are a link's target
	for links := 0; len(rest) > 0; {
		name, linked := rest[0], inLink > 0
		rest, inLink = rest[1:], max(inLink-1, 0)
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if _, inside := below(s.realRoot(), next); !inside {
			real, ok := s.above(next)
			if !ok {
				if up := slices.Index(rest, ".."); up >= 0 {
					rest = rest[:up] // what it would lead back to is not known
				}
				return resolution{real: filepath.Join(next, filepath.Join(rest...))}
			}
			at = real
			continue
		}
		info, err := os.Lstat(next)
		var target string
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			target, err = os.Readlink(next)
		}
		switch {
		case err != nil:
			return resolution{
				real:     filepath.Join(next, filepath.Join(rest...)),
				dangling: linked && errors.Is(err, fs.ErrNotExist),
			}
		case target == "":
			at = s.stored(at, name, info)
			continue
		}
		if links++; links > maxLinks {
			return resolution{real: absolute(s.realRoot(), rel), err: &fs.PathError{Op: "open", Path: rel, Err: syscall.ELOOP}}
		}
		if filepath.IsAbs(target) {
			volume := filepath.VolumeName(target)
			at, target = volume+string(filepath.Separator), target[len(volume):]
		}
		leads := elements(target)
		inLink += len(leads)
		rest = append(leads, rest...)
	}
	return resolution{real: at}
}

// above resolves a directory on the way to the root, by either of its names. New
// has gone that way, so that another look has no effect.
func (s *Set) above(dir string) (string, bool) {
	for _, name := range s.names {
		if _, ok := below(dir, name); ok {
			real, err := filepath.EvalSymlinks(dir)
			return real, err == nil
		}
	}
	return "", false
}

// elements splits a path in the operating system's form.
func elements(name string) []string {
	var list []string
	for e := range strings.FieldsFuncSeq(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if e != "." {
			list = append(list, e)
		}
	}
	return list
}

// lookUp is the place rel leads to now, and whether that is inside the root.
func (s *Set) lookUp(rel string) (place, bool) {
	real, ok := below(s.realRoot(), s.resolve(rel).real)
	return place{rel: rel, real: filepath.ToSlash(real)}, ok
}
