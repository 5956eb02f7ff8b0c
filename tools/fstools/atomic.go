package fstools

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Temporary files are named ".runcode-" + 16 hexadecimal digits + ".tmp". No
// listing shows them; one that a killed process left behind may be removed.
const (
	temporaryPrefix = ".runcode-"
	temporaryDigits = 16
	temporarySuffix = ".tmp"
)

func temporaryName() string {
	var random [temporaryDigits / 2]byte
	rand.Read(random[:])
	return temporaryPrefix + hex.EncodeToString(random[:]) + temporarySuffix
}

func isTemporary(name string) bool {
	return len(name) == len(temporaryPrefix)+temporaryDigits+len(temporarySuffix) &&
		strings.HasPrefix(name, temporaryPrefix) && strings.HasSuffix(name, temporarySuffix)
}

// create makes a file that does not exist yet; if there is one, the error is
// fs.ErrExist. The file appears with all its content at once, by giving a
// finished temporary file the name, which the operating system refuses if the
// name is taken. Where it cannot do that, the file is made under its own name,
// which is refused in the same way, and filled afterwards.
func create(dir *os.Root, name string, data []byte, link func(old, new string) error) error {
	temp, err := temporary(dir, data, 0)
	if err != nil {
		return err
	}
	defer dir.Remove(temp)
	if err := link(temp, name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = finish(f, err); err != nil {
		dir.Remove(name)
	}
	return err
}

// replace puts a finished file in the place of old, whose permission bits it
// gets. If name is not old any more, as it was, the error is errRaced.
func replace(dir *os.Root, name string, data []byte, old fs.FileInfo) error {
	temp, err := temporary(dir, data, old.Mode().Perm())
	if err != nil {
		return err
	}
	defer lockDir(dir)()
	if err = expect(dir, name, old); err == nil {
		if err = swap(dir, temp, name); err == nil {
			return settleSwap(dir, temp, name, old)
		}
		if errors.Is(err, errors.ErrUnsupported) {
			err = dir.Rename(temp, name)
		}
	}
	if err != nil {
		dir.Remove(temp)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return errRaced
	}
	return err
}

// expect looks whether name is old, as it was; if not, the error is errRaced.
func expect(dir *os.Root, name string, old fs.FileInfo) error {
	now, err := lookIn(dir, name)
	if err == nil && !(os.SameFile(now, old) && now.Size() == old.Size() && now.ModTime().Equal(old.ModTime())) {
		err = errRaced
	}
	return err
}

// settleSwap removes the file that was swapped out of its place. If that is not
// old, but what another program has put there at the last moment, it goes back.
func settleSwap(dir *os.Root, temp, name string, old fs.FileInfo) error {
	var err error
	if expect(dir, temp, old) != nil {
		if err = swap(dir, temp, name); err != nil {
			return err // both files stay
		}
		err = errRaced
	}
	dir.Remove(temp)
	return err
}

// temporary makes a file that holds data and is on the disk, and returns its
// name. Perm 0 means the permissions any new file gets.
func temporary(dir *os.Root, data []byte, perm fs.FileMode) (string, error) {
	name, first := temporaryName(), fs.FileMode(0o666)
	if perm != 0 {
		first = 0o600
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, first)
	if err != nil {
		return "", err
	}
	if perm != 0 {
		err = setPerm(f, perm)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err := finish(f, err); err != nil {
		dir.Remove(name)
		return "", err
	}
	return name, nil
}

// setPerm leaves a file alone that has the permissions already: there are file
// systems where nothing can be changed about them.
func setPerm(f *os.File, perm fs.FileMode) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != perm {
		err = f.Chmod(perm)
	}
	return err
}

// finish waits until what was written is on the disk and closes f; err is what
// went wrong before.
func finish(f *os.File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names of a directory last, where the operating system can
// do that. An error changes nothing: the names are there.
func syncDir(dir *os.Root) {
	if f, err := dir.Open("."); err == nil {
		f.Sync()
		f.Close()
	}
}
