package fstools

import (
	"io/fs"
	"os"
	"path/filepath"
)

// open opens rel for reading and says what was opened. It never blocks, whatever
// rel is, and never leads out of the root. What the open file says about itself,
// not an earlier look at its name, is what the caller must go by.
func (s *Set) open(rel string) (*os.File, fs.FileInfo, error) {
	var f *os.File
	err := s.inside(rel, func(name string) (err error) {
		f, err = s.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// stat says what rel leads to.
func (s *Set) stat(rel string) (info fs.FileInfo, err error) {
	err = s.inside(rel, func(name string) (err error) {
		info, err = s.root.Stat(name)
		return err
	})
	return info, err
}

// inside does something to rel through os.Root. That takes every absolute link
// for a way out, also one whose target lies inside the root; such a target is
// found and tried through os.Root again, so that a wrong or outdated answer here
// opens nothing.
func (s *Set) inside(rel string, do func(name string) error) error {
	err := do(filepath.FromSlash(rel))
	if err == nil || !escapes(err) {
		return err
	}
	if target := s.resolve(rel); target != rel {
		return do(filepath.FromSlash(target))
	}
	return err
}

// openRegular opens a file whose content is wanted.
func (s *Set) openRegular(op, rel string) (*os.File, fs.FileInfo, error) {
	f, info, err := s.open(rel)
	if err != nil {
		return nil, nil, s.openFailure(op, rel, err)
	}
	if info.Mode().IsRegular() {
		return f, info, nil
	}
	f.Close()
	if info.IsDir() {
		return nil, nil, fail(codeNotRegular, nil, "%s %q: it is a directory; list its files with glob", op, rel)
	}
	return nil, nil, fail(codeNotRegular, nil, "%s %q: it is a %s; only regular files can be used", op, rel, kindOf(info.Mode()))
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
