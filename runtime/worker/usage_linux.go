package worker

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// observe opens what tells of a child that has not been reaped. It stays open, so
// that a host which runs out of descriptors can still look.
func observe(pid int) (look func() (usage, error), done func(), err error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, nil, err
	}
	look = func() (usage, error) {
		var text [1024]byte // the line has 52 numbers and a name of 64 bytes at most
		n, err := stat.ReadAt(text[:], 0)
		if err != nil && err != io.EOF {
			return usage{}, err
		}
		return parseStat(text[:n])
	}
	return look, func() { stat.Close() }, nil
}

// clockTick is the unit of processor times in /proc, fixed at 100 a second in
// what the kernel shows to programs.
const clockTick = 10 * time.Millisecond

// parseStat reads utime, stime and rss, the 14th, 15th and 24th field. The second is
// the program's name in parentheses and may hold anything.
func parseStat(text []byte) (usage, error) {
	// What follows the name begins with the third field.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const user, system, resident = 14 - 3, 15 - 3, 24 - 3
	if len(fields) <= resident {
		return usage{}, fmt.Errorf("/proc/<pid>/stat has an unknown form: %q", text)
	}
	var n [3]int64
	for i, field := range []int{user, system, resident} {
		var err error
		if n[i], err = strconv.ParseInt(string(fields[field]), 10, 64); err != nil {
			return usage{}, fmt.Errorf("/proc/<pid>/stat has an unknown form: %w", err)
		}
	}
	return usage{cpu: time.Duration(n[0]+n[1]) * clockTick, resident: n[2] * int64(os.Getpagesize())}, nil
}
