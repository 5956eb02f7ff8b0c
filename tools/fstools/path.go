package fstools

import (
	"path"
	"path/filepath"
	"strings"
)

// locate turns any spelling of a path into the one path from the root it names,
// slash-separated, "." for the root itself. It looks at the text only; what the
// path leads to is checked when it is opened.
func (s *Set) locate(op, spelling string) (string, error) {
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

// fromRoot makes a clean absolute path relative to the root.
func (s *Set) fromRoot(abs string) (string, bool) {
	for _, name := range s.names {
		if rel, err := filepath.Rel(name, abs); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// join is path.Join for parts that are clean already.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// resolve is rel with its symbolic links followed, as far as that stays inside
// the root; rel itself where it does not. It serves questions about names:
// nothing is opened by it.
func (s *Set) resolve(rel string) string {
	target, err := filepath.EvalSymlinks(filepath.Join(s.names[0], filepath.FromSlash(rel)))
	if err != nil {
		return rel
	}
	inside, ok := s.fromRoot(target)
	if !ok {
		return rel
	}
	return filepath.ToSlash(inside)
}

// hiddenPath reports whether the host hides rel or a directory it lies in.
func (s *Set) hiddenPath(rel string, dir bool) bool {
	hide := s.opts.Hide
	if hide == nil || rel == "." {
		return false
	}
	for i, c := range rel {
		if c == '/' && hide(rel[:i], true) {
			return true
		}
	}
	return hide(rel, dir)
}
