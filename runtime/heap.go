package runtime

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// minHeap is the smallest default heap: below it an engine cannot start.
const minHeap = 32 << 20

// defaultHeap is the smaller of DefaultHeap and a quarter of the memory that the
// process's control group may use, so that a few runs at once do not get the
// whole group killed. Where there is no group it is DefaultHeap.
var defaultHeap = sync.OnceValue(func() int64 {
	return heapWithin(cgroupLimit(func(name string) string {
		text, _ := os.ReadFile(name)
		return string(text)
	}))
})

// heapWithin is the default heap under a group limit; zero is no limit.
func heapWithin(limit int64) int64 {
	if limit <= 0 {
		return DefaultHeap
	}
	return min(DefaultHeap, max(limit/4, minHeap))
}

// cgroupLimit is the memory limit of the process's control group, the tightest
// of it and its parents; zero if there is none. It reads version 2, and the
// version 1 file where that is mounted instead.
func cgroupLimit(read func(name string) string) int64 {
	const root = "/sys/fs/cgroup"
	tightest := int64(0)
	take := func(name string) {
		n, err := strconv.ParseInt(strings.TrimSpace(read(name)), 10, 64)
		if err == nil && n > 0 && n < 1<<60 && (tightest == 0 || n < tightest) {
			tightest = n
		}
	}
	for line := range strings.Lines(read("/proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[0] != "0" {
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			take(path.Join(root, dir, "memory.max"))
			if dir == "/" {
				break
			}
		}
	}
	take(root + "/memory.max")
	take(root + "/memory/memory.limit_in_bytes")
	return tightest
}
