//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxDescriptors is what a worker needs, with room: its pipes and the poller.
const maxDescriptors = 32

// limitFiles sets what is the same for every run, and for good. Pipes and sockets
// are no files to it.
func limitFiles() (string, error) {
	for _, limit := range []struct {
		resource int
		most     uint16
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, maxDescriptors}} {
		var now unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &now); err != nil {
			return "", os.NewSyscallError("getrlimit", err)
		}
		lower(&now.Cur, &now.Max, limit.most)
		if err := unix.Setrlimit(limit.resource, &now); err != nil {
			return "", os.NewSyscallError("setrlimit", err)
		}
	}
	return "", nil
}

// lower sets both parts of a limit, whose type differs between systems.
func lower[T int64 | uint64](soft, hard *T, most uint16) {
	*hard = min(*hard, T(most))
	*soft = *hard
}
