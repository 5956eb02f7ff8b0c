//go:build unix && !solaris && !aix

package eventlog

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openFile opens without following a link and without waiting for the other
// end of a pipe.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, fmt.Errorf("it is a symbolic link; name the file itself: %w", err)
	}
	return f, err
}

// lock takes the file for this Log alone; it ends with the process at the
// latest.
func lock(f *os.File, _ string) (unlock func() error, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.New("another writer has it open; close that one or choose another file")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock it: %w", err)
	}
	return func() error { return nil }, nil // closing the file gives up the lock
}
