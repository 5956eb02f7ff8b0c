package worker

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownBinary is the running file itself, whatever its name leads to by now.
func ownBinary() (string, error) {
	if _, err := os.Stat(selfLink); err != nil {
		return "", err
	}
	return selfLink, nil
}

// endGroup waits until pid has ended and, while its number is still taken, ends
// what is left of its process group.
func endGroup(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	syscall.Kill(-pid, syscall.SIGKILL)
}

// inheritable lists the descriptors that every child of this process inherits,
// because whoever started this process left them open for that. Workers close
// them.
func inheritable() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= lastDescriptor {
			continue
		}
		if passedOn(fd) {
			names = append(names, entry.Name())
		}
	}
	return names
}
