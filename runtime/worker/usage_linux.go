package worker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// observe opens what tells of a child that has not been reaped. It stays open, so
// that a host which runs out of descriptors can still look.
func observe(pid int) (look func() (usage, error), done func(), err error) {
	memory, err := openProc(pid, "statm")
	if err != nil {
		return nil, nil, err
	}
	clock := processClock(pid)
	look = func() (usage, error) {
		var now unix.Timespec
		if err := unix.ClockGettime(clock, &now); err != nil {
			return usage{}, os.NewSyscallError("clock_gettime", err)
		}
		// The number may belong to another process by now, what is open may not: that
		// it still tells of memory says that the time was the child's too.
		var text [256]byte // seven numbers
		n, err := unix.Pread(memory, text[:], 0)
		if err != nil {
			return usage{}, os.NewSyscallError("read", err)
		}
		resident, err := parseResident(text[:n])
		return usage{cpu: time.Duration(now.Nano()), resident: resident}, err
	}
	return look, func() { unix.Close(memory) }, nil
}

func openProc(pid int, name string) (int, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// processClock is the clock of the processor time that a process has used, all its
// threads together: clock_getcpuclockid(3).
func processClock(pid int) int32 {
	const scheduled = 2 // what the scheduler counts, in nanoseconds
	return int32(^pid)<<3 | scheduled
}

// parseResident reads the second number of /proc/<pid>/statm.
func parseResident(text []byte) (int64, error) {
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/<pid>/statm has an unknown form: %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/<pid>/statm has an unknown form: %w", err)
	}
	return pages * int64(os.Getpagesize()), nil
}
