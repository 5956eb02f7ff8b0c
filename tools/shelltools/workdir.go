package shelltools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/runcode-go/runcode/tools"
)

// place is a directory inside the root.
type place struct {
	path string // absolute, cleaned as text
	real string // the same with symbolic links resolved
}

// place finds the directory that any spelling of it means, "" for the root.
func (s *Set) place(spelling string) (place, error) {
	path, err := s.locate(spelling)
	if err != nil {
		return place{}, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return place{}, s.placeFailure(spelling, err)
	}
	if !within(s.names[1], real) {
		return place{}, fail(codeSandbox, nil, "workdir %q leads to %s, outside the root directory %s; give a directory inside it", spelling, real, s.names[0])
	}
	info, err := os.Stat(real)
	if err != nil {
		return place{}, s.placeFailure(spelling, err)
	}
	if !info.IsDir() {
		return place{}, s.placeFailure(spelling, syscall.ENOTDIR)
	}
	return place{path: path, real: real}, nil
}

// locate is the absolute path a spelling means as text, under the name the root
// was given.
func (s *Set) locate(spelling string) (string, error) {
	local := filepath.Clean(filepath.FromSlash(spelling))
	if filepath.IsAbs(local) {
		for _, name := range s.names {
			if within(name, local) {
				rel, _ := filepath.Rel(name, local)
				return filepath.Join(s.names[0], rel), nil
			}
		}
	}
	if !filepath.IsLocal(local) {
		return "", fail(codeSandbox, nil, "workdir %q lies outside the root directory %s; give a directory inside it, relative to it or absolute", spelling, s.names[0])
	}
	return filepath.Join(s.names[0], local), nil
}

// within reports whether a clean absolute path is root or lies below it.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// placeFailure says why there is no such directory.
func (s *Set) placeFailure(spelling string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENAMETOOLONG):
		return fail(codeNotFound, err, "workdir %q does not exist below the root directory %s; give a directory that exists", shorten(spelling, 200), s.names[0])
	case errors.Is(err, syscall.ENOTDIR):
		return fail(codeNotDir, err, "workdir %q is a file or leads through one; give a directory below the root directory %s", spelling, s.names[0])
	case errors.Is(err, fs.ErrPermission):
		return fail(codePermission, err, "workdir %q: the operating system denies access to it; choose another directory below the root directory %s", spelling, s.names[0])
	}
	return fail(codeIO, err, "workdir %q below the root directory %s: %v", spelling, s.names[0], err)
}

// subjects is what policy judges.
func (s *Set) subjects(args tools.JSON) ([]tools.Subject, error) {
	var in bashIn
	if err := args.Unmarshal(&in); err != nil {
		return nil, err
	}
	if err := checkText(in, args); err != nil {
		return nil, err
	}
	where, err := s.place(in.Workdir)
	if err != nil {
		return nil, err
	}
	return []tools.Subject{{Access: tools.AccessExec, Path: where.path, Real: where.real, Command: in.Command}}, nil
}

// judged refuses to run anywhere else than where the call was judged to run: a
// symbolic link may have been changed since. A call whose subjects name no
// directory was judged by something else.
func judged(call tools.Call, spelling string, where place) error {
	subjects, err := call.Subjects()
	if err != nil {
		return err
	}
	elsewhere := ""
	for _, subject := range subjects {
		switch {
		case subject.Access != tools.AccessExec:
		case subject.Real == where.real:
			return nil
		default:
			elsewhere = subject.Real
		}
	}
	if elsewhere == "" {
		return nil
	}
	return fail(codeChanged, nil, "workdir %q leads to %s, which is not the directory the call was judged with (%s); call again", spelling, where.real, elsewhere)
}
