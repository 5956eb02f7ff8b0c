package pipeline

import (
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// runner is a goroutine that runs bodies which may be abandoned, one after the
// other, those of calls nested under one body. It is for one of them at a time, and
// for no other once that one is abandoned or has ended the goroutine.
type runner struct {
	work chan *attempt // closed: there is no more
	done chan struct{} // the body has returned in time
	gone bool          // the body has ended the goroutine; read after done
}

// mostRunners is how many goroutines wait below one body for the next call.
const mostRunners = 8

// takeRunner is a goroutine for the body of a call nested under a, or of one
// without a parent if a is nil.
func (a *attempt) takeRunner() *runner {
	if r := a.idleRunner(); r != nil {
		return r
	}
	r := &runner{work: make(chan *attempt, 1), done: make(chan struct{}, 1)}
	go r.run()
	return r
}

func (a *attempt) idleRunner() *runner {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.runners) - 1
	if last < 0 {
		return nil
	}
	r := a.runners[last]
	a.runners = a.runners[:last]
	return r
}

// keepRunner takes a goroutine back whose body has returned. It is kept for the
// next call as long as there may be one.
func (a *attempt) keepRunner(r *runner) {
	if r.gone {
		return
	}
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.over && len(a.runners) < mostRunners {
			a.runners = append(a.runners, r)
			return
		}
	}
	close(r.work)
}

// dismissRunners ends the goroutines that wait; a.mu is held.
func (a *attempt) dismissRunners() {
	for _, r := range a.runners {
		close(r.work)
	}
	a.runners = nil
}

func (r *runner) run() {
	for a := range r.work {
		if !r.body(a) {
			return
		}
	}
}

// body runs one body and reports whether its answer was taken. A body that ends
// the goroutine instead of returning has crashed.
func (r *runner) body(a *attempt) (taken bool) {
	d := &a.away
	r.gone = true
	defer func() {
		if r.gone {
			d.err = &tools.PanicError{Where: fmt.Sprintf("tool %q", d.tool.Name()), Value: errGoexit}
		}
		taken = a.finish(r.done)
	}()
	d.value, d.err = a.body(&d.ctx, d.tool)
	r.gone = false
	return
}
