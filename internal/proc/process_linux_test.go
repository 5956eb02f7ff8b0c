package proc

import (
	"strconv"
	"syscall"
	"testing"
)

// TestProcessTakesItsDescendantsAlong: one in the background, one in a session of
// its own.
func TestProcessTakesItsDescendantsAlong(t *testing.T) {
	p, out := begin(t, `sleep 1000 & echo $!; setsid sleep 1000 & echo $!; wait`)
	var pids []int
	for range 2 {
		pid, err := strconv.Atoi(line(t, out))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if r := p.End(0); r.Left != 0 {
		t.Errorf("Left = %d, want 0", r.Left)
	}
	for _, pid := range pids {
		if stat, ok := statOf(pid); ok && !stat.ended {
			t.Errorf("process %d still runs", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
