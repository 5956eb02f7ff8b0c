package fstools

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap gives two names of a directory each other's file, in one step. The error
// is errors.ErrUnsupported where the system or the file system cannot do that.
func swap(dir *os.Root, a, b string) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if failed := conn.Control(func(fd uintptr) {
		err = unix.Renameat2(int(fd), a, int(fd), b, unix.RENAME_EXCHANGE)
	}); failed != nil {
		return failed
	}
	if err == unix.ENOSYS || err == unix.EINVAL || err == unix.EPERM {
		return errors.ErrUnsupported
	}
	return err
}
