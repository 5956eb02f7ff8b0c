package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// madeByParent says whether the parent process has the other end of the socket
// pair: it is the last that used it.
func madeByParent(fd int) bool {
	const solLocal = 0
	pid, err := unix.GetsockoptInt(fd, solLocal, unix.LOCAL_PEERPID)
	return err == nil && pid == os.Getppid()
}
