//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// privileged says whether the kernel started this process with more rights than
// whoever started it has.
func privileged() bool {
	return unix.Issetugid() || os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid()
}
