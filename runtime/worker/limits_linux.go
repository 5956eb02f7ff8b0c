package worker

import (
	"bytes"
	"os"
	"path"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/runtime"
)

// maxDescriptors is what a worker needs, with room: its pipes and socket, the
// poller, a time zone file.
const maxDescriptors = 32

// slack is what a run may need beside the engine's heap: stacks, the allocator's
// own tables, a collection in progress.
const slack = 64 << 20

// limiter sets the limits of this process.
type limiter struct {
	data bool  // RLIMIT_DATA is used
	base int64 // bytes of data at the start
}

// newLimiter sets what is the same for every run.
func newLimiter() (*limiter, error) {
	for resource, limit := range map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: maxDescriptors} {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return nil, os.NewSyscallError("getrlimit", err)
		}
		limit = min(limit, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return nil, os.NewSyscallError("setrlimit", err)
		}
	}
	if raceEnabled {
		return &limiter{}, nil
	}
	base, err := dataSize()
	if err != nil {
		return nil, err
	}
	return &limiter{data: true, base: base}, nil
}

// prepare sets what depends on a run's limits: the kernel refuses data beyond
// the heap limit, and the collector works harder before that.
func (l *limiter) prepare(limits runtime.Limits) {
	debug.SetMemoryLimit(limits.Heap)
	if !l.data {
		return
	}
	limit := uint64(l.base + limits.Heap + slack)
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &now) == nil {
		unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(limit, now.Max), Max: now.Max})
	}
}

// dataSize is how much RLIMIT_DATA counts of this process now.
func dataSize() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 6 {
		return 0, &startError{problem: "/proc/self/statm has an unknown form"}
	}
	pages, err := strconv.ParseInt(string(fields[5]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// extraDescriptors counts the open descriptors that no worker needs: package
// initialisation opened them, or the parent let them through.
func extraDescriptors() int {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	extra := 0
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= linkDescriptor || fd == int(dir.Fd()) || internalDescriptor(name) {
			continue
		}
		extra++
	}
	return extra
}

// internalDescriptor says whether Go itself holds the descriptor: its poller, and
// its reading of the processor quota.
func internalDescriptor(fd string) bool {
	target, err := os.Readlink("/proc/self/fd/" + fd)
	if err != nil {
		return false
	}
	switch path.Base(target) {
	case "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us":
		return true
	}
	return false
}
