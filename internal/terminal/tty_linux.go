package terminal

import "golang.org/x/sys/unix"

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
// when the other end of wake is closed.
func await(fd int, event int16, wake int) error {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: event}, {Fd: int32(wake), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case fds[1].Revents != 0:
			return errWoken
		default:
			return nil
		}
	}
}
