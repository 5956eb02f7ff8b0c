//go:build !unix || solaris || aix

package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

func openFile(path string) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
}

// lock takes the file for this Log alone by making a second file beside it,
// which a writer that dies leaves behind.
func lock(_ *os.File, path string) (unlock func() error, err error) {
	beside := path + ".lock"
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another writer has it open; close that one, or remove %s if there is none", beside)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock it: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return func() error { return os.Remove(beside) }, nil
}
