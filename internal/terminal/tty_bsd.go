//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"fmt"
	"time"

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
// when wake can be read or has ended, and with errQuiet after the limit. It uses
// select since poll does not serve terminals on every system.
func await(fd int, event int16, wake int, limit time.Duration) error {
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
		var timeout *unix.Timeval // select may change it
		if limit != forever {
			v := unix.NsecToTimeval(limit.Nanoseconds())
			timeout = &v
		}
		n, err := unix.Select(max(fd, wake)+1, &reads, &writes, nil, timeout)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return errQuiet
		case wake != never && reads.IsSet(wake):
			return errWoken
		default:
			return nil
		}
	}
}
