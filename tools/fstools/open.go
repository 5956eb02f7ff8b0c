package fstools

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// errSwapped says that a name holds something else than was judged.
var errSwapped = errors.New("a part of the path has been replaced by a symbolic link")

// attempts is how often a name is looked at again whose file was exchanged for
// another, as programs do that save a file.
const attempts = 5

// reach opens the directory that holds the last element of real, one directory
// at a time and following no link: real has none unless somebody has changed
// the tree since it was resolved. With create, missing directories are made. The
// caller closes the directory.
func (s *Set) reach(real string, create bool) (dir *os.Root, name string, err error) {
	if dir, err = s.root.OpenRoot("."); err != nil {
		return nil, "", err
	}
	names := strings.Split(real, "/")
	last := len(names) - 1
	for _, n := range names[:last] {
		next, err := enter(dir, n, create)
		dir.Close()
		if err != nil {
			return nil, "", err
		}
		dir = next
	}
	return dir, names[last], nil
}

// enter opens a directory in dir. Whatever is done to the name meanwhile, it
// opens what a look at the name itself showed to be a directory.
func enter(dir *os.Root, name string, create bool) (*os.Root, error) {
	for range attempts {
		info, err := lookIn(dir, name)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err := dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			syncDir(dir)
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
		}
		next, err := dir.OpenRoot(name)
		if err != nil {
			if escapes(err) {
				continue
			}
			return nil, err
		}
		if opened, err := next.Stat("."); err == nil && os.SameFile(info, opened) {
			return next, nil
		}
		next.Close()
	}
	return nil, errSwapped
}

// lookIn says what a name in dir is, itself and not what it may lead to.
func lookIn(dir *os.Root, name string) (fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errSwapped
	}
	return info, err
}

// look says what real is.
func (s *Set) look(real string) (fs.FileInfo, error) {
	dir, name, err := s.reach(real, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return lookIn(dir, name)
}

// open opens real for reading and says what was opened. What is neither a
// regular file nor a directory is not opened: the info alone is returned.
func (s *Set) open(real string) (*os.File, fs.FileInfo, error) {
	dir, name, err := s.reach(real, false)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	return openIn(dir, name)
}

// openIn is open for a name in dir. It never blocks, and what the open file says
// about itself is what the look at its name said.
func openIn(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	for range attempts {
		info, err := lookIn(dir, name)
		if err != nil {
			return nil, nil, err
		}
		if !info.Mode().IsRegular() && !info.IsDir() {
			return nil, info, nil
		}
		f, err := dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
		if err != nil {
			if escapes(err) {
				continue
			}
			return nil, nil, err
		}
		if opened, err := f.Stat(); err == nil && os.SameFile(info, opened) {
			return f, opened, nil
		}
		f.Close()
	}
	return nil, nil, errSwapped
}

// heldDirs is how many directories an opener keeps open.
const heldDirs = 32

// opener opens one file or directory after another. It keeps the directories on
// the way to the last, nearest first, since the next is in general close to it:
// each was entered as reach does it. It is for one goroutine, and must be closed.
type opener struct {
	set  *Set
	root *os.Root
	way  []held // below the root, from the top
}

// held is a directory an opener has entered.
type held struct {
	name string
	dir  *os.Root // nil: closed again, being far above the last
}

// open is Set.open.
func (o *opener) open(real string) (*os.File, fs.FileInfo, error) {
	names := strings.Split(real, "/")
	last := len(names) - 1
	dir, err := o.enter(names[:last])
	if err != nil {
		return nil, nil, err
	}
	return openIn(dir, names[last])
}

// openDir opens a directory to be listed.
func (o *opener) openDir(real string) (*os.File, error) {
	var names []string
	if real != "." {
		names = strings.Split(real, "/")
	}
	dir, err := o.enter(names)
	if err != nil {
		return nil, err
	}
	return dir.Open(".")
}

// enter goes to a directory, from the nearest one on the way that is open.
func (o *opener) enter(names []string) (dir *os.Root, err error) {
	if o.root == nil {
		if o.root, err = o.set.root.OpenRoot("."); err != nil {
			return nil, err
		}
	}
	n := 0
	for n < min(len(names), len(o.way)) && names[n] == o.way[n].name {
		n++
	}
	for n > 0 && o.way[n-1].dir == nil {
		n--
	}
	o.leave(n)
	dir = o.root
	if n > 0 {
		dir = o.way[n-1].dir
	}
	for _, name := range names[n:] {
		if dir, err = enter(dir, name, false); err != nil {
			return nil, err
		}
		o.way = append(o.way, held{name, dir})
		if far := len(o.way) - 1 - heldDirs; far >= 0 {
			o.way[far].close()
		}
	}
	return dir, nil
}

// leave goes back to the n-th directory below the root.
func (o *opener) leave(n int) {
	for i := range o.way[n:] {
		o.way[n+i].close()
	}
	o.way = o.way[:n]
}

func (h *held) close() {
	if h.dir != nil {
		h.dir.Close()
		h.dir = nil
	}
}

func (o *opener) close() {
	o.leave(0)
	if o.root != nil {
		o.root.Close()
		o.root = nil
	}
}

// openRegular opens a file whose content is wanted.
func (o *opener) openRegular(op string, p place) (*os.File, fs.FileInfo, error) {
	f, info, err := o.open(p.real)
	if err != nil {
		return nil, nil, o.set.openFailure(op, p.rel, err)
	}
	if err := regular(op, p.rel, info); err != nil {
		if f != nil {
			f.Close()
		}
		return nil, nil, err
	}
	return f, info, nil
}

// regular refuses what is no regular file.
func regular(op, rel string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return fail(codeNotRegular, nil, "%s %q: it is a directory; list its files with glob", op, rel)
	}
	return fail(codeNotRegular, nil, "%s %q: it is a %s; only regular files can be used", op, rel, kindOf(info.Mode()))
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
