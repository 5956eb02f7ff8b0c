package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// AbandonedError says that a body did not return although nobody waited for it
// any more (see Request.Over). Nothing the body does from then on belongs to the
// call: what it returns is dropped, and its handle opens nothing.
type AbandonedError struct {
	Tool string
	// After is Options.Drain: how long the body had, from the moment nobody waited
	// or from the end of the last call it waited for itself.
	After time.Duration
}

// Error names the tool and the time it had.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("tool %q did not return within %v after its run had ended; it was abandoned and may still act", e.Tool, e.After)
}

// ErrorInfo has the code CodeToolAbandoned.
func (e *AbandonedError) ErrorInfo() tools.ErrorInfo {
	return tools.ErrorInfo{Name: "ToolAbandonedError", Code: tools.CodeToolAbandoned}
}

// Abandoned names the tools whose bodies were abandoned and still run, one entry
// for each body, in alphabetical order. It is safe for concurrent use.
func (p *Pipeline) Abandoned() []string { return p.strays.names() }

// strays counts the bodies that were abandoned and have not returned.
type strays struct {
	mu     sync.Mutex
	byTool map[string]int
}

func (s *strays) add(tool string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byTool == nil {
		s.byTool = map[string]int{}
	}
	if s.byTool[tool] += n; s.byTool[tool] == 0 {
		delete(s.byTool, tool)
	}
}

func (s *strays) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{}
	for tool, n := range s.byTool {
		names = append(names, slices.Repeat([]string{tool}, n)...)
	}
	slices.Sort(names)
	return names
}

// ends are two channels; the first to be closed says that nobody waits for a
// call any more. One that is nil is never closed.
type ends struct {
	own   <-chan struct{} // Request.Over, the call's or that of a call above it
	above <-chan struct{} // of the body above, where the call has a Request.Over besides
}

// bounded reports whether the call may be given up at all.
func (e ends) bounded() bool { return e.own != nil || e.above != nil }

// endsOf is what ends the wait for a call nested under parent, nil for none.
func endsOf(req Request, parent *attempt) ends {
	switch {
	case parent == nil || !parent.x.ends.bounded():
		return ends{own: req.Over}
	case req.Over == nil:
		return parent.x.ends
	}
	return ends{req.Over, parent.x.p.live.relay(parent)}
}

// bodyKey is where the context of a body that may be abandoned has its attempt.
type bodyKey struct{}

// bodyContext is the context of such a body.
type bodyContext struct {
	context.Context
	attempt *attempt
}

func (c *bodyContext) Value(key any) any {
	if key == (bodyKey{}) {
		return c.attempt
	}
	return c.Context.Value(key)
}

// String is what package context calls such a context.
func (c *bodyContext) String() string {
	return fmt.Sprintf("%s.WithValue(%T, %T)", nameOf(c.Context), bodyKey{}, c.attempt)
}

// call runs the body. If the wait for the call may end, the body runs on another
// goroutine, and is abandoned if it does not return in time then.
func (a *attempt) call(ctx context.Context, tool *tools.Tool) (tools.Result, error) {
	defer a.end()
	if !a.x.ends.bounded() {
		return a.body(ctx, tool)
	}
	d := &a.away
	d.ctx, d.tool = bodyContext{ctx, a}, tool
	r := a.x.parent.takeRunner()
	r.work <- a
	select {
	case <-r.done:
		return d.answer(a, r)
	case <-a.x.ends.own:
	case <-a.x.ends.above:
	}
	if a.drain(r.done) {
		return d.answer(a, r)
	}
	if err := a.abandon(r.done); err != nil {
		return tools.Result{}, err
	}
	return d.answer(a, r)
}

// drain waits for a body that nobody waits for any more: for Options.Drain, and
// for as long after the last of the calls the body makes, which are bounded like
// it. It reports whether the body has returned.
func (a *attempt) drain(done <-chan struct{}) bool {
	p := a.x.p
	p.live.over(a)
	timer := time.NewTimer(p.opts.Drain)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return true
		case <-timer.C:
		}
		more, idle := p.live.expire(a, p.opts.Drain)
		for _, x := range idle {
			x.reclaim()
		}
		if more <= 0 {
			return false
		}
		timer.Reset(more)
	}
}

// detached is a body on another goroutine, and what crosses from there: the body's
// answer, unless the call has abandoned the body before.
type detached struct {
	ctx   bodyContext
	tool  *tools.Tool
	value tools.Result
	err   error
	fate  atomic.Uint32
}

// The fates of a body; the first to be set stands.
const (
	fateReturned = 1 + iota
	fateAbandoned
)

// answer is what the body has returned, and gives its goroutine back.
func (d *detached) answer(a *attempt, r *runner) (value tools.Result, err error) {
	a.x.parent.keepRunner(r)
	value, err = d.value, d.err
	d.value, d.err = tools.Result{}, nil // the call's result holds what it needs of it
	return value, err
}

// finish hands the answer of a body over, or tells the host alone if nobody takes
// it.
func (a *attempt) finish(done chan<- struct{}) (taken bool) {
	if a.away.fate.CompareAndSwap(0, fateReturned) {
		done <- struct{}{}
		return true
	}
	defer func() { _ = recover() }() // of the Logger's handler: nobody else is there to catch it
	p, call := a.x.p, a.x.call
	p.strays.add(call.Name(), -1)
	p.log.Warn("an abandoned tool has returned", "tool", call.Name(), "call", call.ID())
	p.logIfPanic(a.away.err, call)
	return false
}

// abandon gives the body up, unless it has returned.
func (a *attempt) abandon(done <-chan struct{}) error {
	x := a.x
	x.p.strays.add(x.call.Name(), 1) // before the body can take it back
	if !a.away.fate.CompareAndSwap(0, fateAbandoned) {
		x.p.strays.add(x.call.Name(), -1)
		<-done
		return nil
	}
	return x.giveUp(&AbandonedError{Tool: x.call.Name(), After: x.p.opts.Drain})
}

// giveUp remembers that a body of the call was abandoned.
func (x *execution) giveUp(err *AbandonedError) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone = err
	return err
}

// abandoned is what a body of the call was abandoned with, nil if none was.
func (x *execution) abandoned() *AbandonedError {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.gone
}
