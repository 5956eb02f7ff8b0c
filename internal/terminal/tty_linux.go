package terminal

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	getAttributes = unix.TCGETS
	setAttributes = unix.TCSETS
)

// flush throws away what was typed and not read.
func flush(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

// foreground reports whether this process may read: it is of the job that has
// the terminal, or the terminal controls no jobs of its session.
func foreground(fd int) bool {
	group, err := unix.IoctlGetUint32(fd, unix.TIOCGPGRP)
	return err != nil || int(group) == unix.Getpgrp()
}

// await waits for POLLIN or POLLOUT of the terminal, or gives up with errWoken
// when wake can be read or has ended, and with errQuiet after the limit.
func await(fd int, event int16, wake int, limit time.Duration) error {
	timeout := -1
	if limit != forever {
		timeout = int(limit.Milliseconds())
	}
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: event}, {Fd: int32(wake), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, timeout)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return errQuiet
		case fds[1].Revents != 0:
			return errWoken
		case fds[0].Revents&unix.POLLHUP != 0: // the terminal has gone away
			return errEnd
		default:
			return nil
		}
	}
}
