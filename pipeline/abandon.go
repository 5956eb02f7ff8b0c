package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/internal/growstack"
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

// call runs the body. If the wait for the call may end, the body has a goroutine
// of its own, and is abandoned if it does not return in time then.
func (a *attempt) call(ctx context.Context, tool *tools.Tool) (tools.Result, error) {
	defer a.end()
	if !a.x.ends.bounded() {
		return a.body(ctx, tool)
	}
	b := &detached{attempt: a, done: make(chan struct{})}
	go b.run(context.WithValue(ctx, bodyKey{}, a), tool)
	select {
	case <-b.done:
		return b.value, b.err
	case <-a.x.ends.own:
	case <-a.x.ends.above:
	}
	a.drain(b.done)
	if err := b.abandon(); err != nil {
		return tools.Result{}, err
	}
	return b.value, b.err
}

// drain waits for a body that nobody waits for any more: for Options.Drain, and
// for as long after the last of the calls the body makes, which are bounded like
// it.
func (a *attempt) drain(done <-chan struct{}) {
	p := a.x.p
	p.live.over(a)
	timer := time.NewTimer(p.opts.Drain)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-timer.C:
		}
		more, idle := p.live.expire(a, p.opts.Drain)
		for _, x := range idle {
			x.reclaim()
		}
		if more <= 0 {
			return
		}
		timer.Reset(more)
	}
}

// detached is a body on a goroutine of its own, and what crosses from there: the
// body's answer, unless the call has abandoned the body before.
type detached struct {
	attempt *attempt
	value   tools.Result
	err     error
	fate    atomic.Uint32
	done    chan struct{} // closed when the body has returned in time
}

// The fates of a body; the first to be set stands.
const (
	fateReturned = 1 + iota
	fateAbandoned
)

// run is the body's goroutine. A body that ends it instead of returning has
// crashed.
func (b *detached) run(ctx context.Context, tool *tools.Tool) {
	growstack.Grow()
	returned := false
	defer func() {
		if !returned {
			b.err = &tools.PanicError{Where: fmt.Sprintf("tool %q", tool.Name()), Value: errGoexit}
		}
		b.finish()
	}()
	b.value, b.err = b.attempt.body(ctx, tool)
	returned = true
}

// finish hands the answer over, or tells the host alone if nobody takes it.
func (b *detached) finish() {
	if b.fate.CompareAndSwap(0, fateReturned) {
		close(b.done)
		return
	}
	defer func() { _ = recover() }() // of the Logger's handler: nobody else is there to catch it
	p, call := b.attempt.x.p, b.attempt.x.call
	p.strays.add(call.Name(), -1)
	p.log.Warn("an abandoned tool has returned", "tool", call.Name(), "call", call.ID())
	p.logIfPanic(b.err, call)
}

// abandon gives the body up, unless it has returned.
func (b *detached) abandon() error {
	x := b.attempt.x
	x.p.strays.add(x.call.Name(), 1) // before the body can take it back
	if !b.fate.CompareAndSwap(0, fateAbandoned) {
		x.p.strays.add(x.call.Name(), -1)
		<-b.done
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
