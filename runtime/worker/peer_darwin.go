package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

func privileged() bool { return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() }

// madeByParent says whether the parent process made the socket pair.
func madeByParent(fd int) bool {
	const solLocal = 0
	pid, err := unix.GetsockoptInt(fd, solLocal, unix.LOCAL_PEERPID)
	return err == nil && pid == os.Getppid()
}
