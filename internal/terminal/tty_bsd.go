//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	getAttributes = unix.TIOCGETA
	setAttributes = unix.TIOCSETA
)

// flush throws away what was typed and not read.
func flush(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }

// foreground reports whether this process may read: it is of the job that has
// the terminal, or the terminal controls no jobs of its session.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// await waits for POLLIN or POLLOUT of the terminal, or gives up with errWoken
// when the other end of wake is closed. It uses select since poll does not serve
// terminals on every system.
func await(fd int, event int16, wake int) error {
	if fd >= unix.FD_SETSIZE || wake >= unix.FD_SETSIZE {
		return fmt.Errorf("cannot wait for the terminal: %d files are open, at most %d are supported", max(fd, wake), unix.FD_SETSIZE)
	}
	for {
		var reads, writes unix.FdSet
		if event == unix.POLLOUT {
			writes.Set(fd)
		} else {
			reads.Set(fd)
		}
		if wake != never {
			reads.Set(wake)
		}
		_, err := unix.Select(max(fd, wake)+1, &reads, &writes, nil, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case wake != never && reads.IsSet(wake):
			return errWoken
		default:
			return nil
		}
	}
}
