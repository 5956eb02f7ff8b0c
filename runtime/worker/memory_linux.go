package worker

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// resident is how much memory a process has now, in bytes.
func resident(pid int) (int64, bool) {
	if pid <= 0 {
		return 0, false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	pages, ok := parseStatm(text)
	return pages * int64(os.Getpagesize()), ok
}

// parseStatm reads the second field, the pages that are resident.
func parseStatm(text []byte) (int64, bool) {
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages, err == nil
}
