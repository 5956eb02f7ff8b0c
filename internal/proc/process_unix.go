//go:build unix

package proc

import (
	"sync"
	"time"
)

func launch(c Command) (*Process, error) {
	begun := time.Now()
	child, stdout, err := spawn(c)
	if err != nil {
		return nil, err
	}
	p := &Process{Stdin: child.stdin, Stdout: stdout, exited: child.exited, stderr: child.stderr.output}
	var once sync.Once
	var result Result
	p.end = func(grace time.Duration) Result {
		once.Do(func() {
			result = child.leave(grace)
			_ = stdout.Close()
			result.Took = time.Since(begun)
		})
		return result
	}
	return p, nil
}

// leave asks the process to go by closing its standard input, and ends it after
// the grace.
func (p *child) leave(grace time.Duration) Result {
	_ = p.stdin.Close()
	r := Result{End: Exited, Code: -1}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited: // asked first: without a grace both may be ready
	default:
		select {
		case <-p.exited:
		case <-timer.C:
			r.End = Cancelled
		}
	}
	r.Left = p.reap()
	_ = p.stderr.file.SetReadDeadline(time.Now().Add(stuck))
	<-p.stderr.done
	if p.stderr.held && r.Left == 0 {
		r.Left = 1 // at least
	}
	r.Stderr = p.stderr.output()
	if r.End == Exited && p.err == nil {
		r.settle(p.state)
	}
	return r
}
