package worker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of processor times in /proc, fixed at 100 a second in
// what the kernel shows to programs.
const clockTick = 10 * time.Millisecond

// cpuTime is the processor time a process has used, user and system.
func cpuTime(pid int) (time.Duration, bool) {
	if pid <= 0 {
		return 0, false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseStat(text)
}

// parseStat reads utime and stime, the 14th and 15th field. The second is the
// program's name in parentheses and may hold anything.
func parseStat(text []byte) (time.Duration, bool) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * clockTick, err1 == nil && err2 == nil
}
