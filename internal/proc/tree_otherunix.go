//go:build unix && !linux

package proc

import (
	"syscall"
	"time"
)

// awaitExit waits until the process has ended and reaps it: not every system
// can wait without.
func (p *child) awaitExit() { p.state, p.err = p.process.Wait() }

// tree is a process and its group.
type tree struct{ leader int }

func newTree(leader int, _ string) *tree { return &tree{leader} }

// end ends the group. As long as anything is in it, no other process is given
// its number; an empty group is left alone by the system.
func (t *tree) end(time.Duration) (left int) {
	_ = syscall.Kill(-t.leader, syscall.SIGKILL)
	return 0
}
