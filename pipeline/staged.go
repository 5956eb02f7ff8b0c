package pipeline

import (
	"context"

	"github.com/runcode-go/runcode/tools"
)

// Staged is one call taken apart for a scheduler that overlaps bodies but keeps
// policy and the log in order: Begin, Dispatch and Settle together are Execute.
// Each may run on another goroutine, one after the other.
type Staged struct{ x *execution }

// Begin announces a call and lets policy, approver and guards decide.
func (p *Pipeline) Begin(ctx context.Context, req Request) *Staged {
	s := p.stage(ctx, req)
	s.x.step.Lock()
	defer s.x.step.Unlock()
	p.live.stage(s.x)
	begun := false
	defer func() {
		if !begun { // a listener ended the goroutine, so that nobody else can settle
			s.x.settleOnce()
		}
	}()
	s.x.prepare()
	begun = true
	return s
}

func (p *Pipeline) stage(ctx context.Context, req Request) *Staged {
	if ctx == nil {
		ctx = context.Background()
	}
	x := p.newExecution(ctx, req)
	x.staged = Staged{x}
	return &x.staged
}

// Call is the call.
func (s *Staged) Call() tools.Call { return s.x.call }

// Dispatch runs the execution stage and the body, if the call may run. Only the
// first Dispatch does.
func (s *Staged) Dispatch() {
	s.x.step.Lock()
	defer s.x.step.Unlock()
	s.x.dispatchOnce()
}

// Settle runs post-execute, tells the observers, logs the result and returns
// the outcome; called again it returns the same, also after foreign code has ended
// the goroutine in the first Settle. It dispatches first if nobody has.
func (s *Staged) Settle() Outcome {
	s.x.step.Lock()
	defer s.x.step.Unlock()
	return s.x.settleOnce()
}

func (x *execution) dispatchOnce() {
	if !x.dispatched {
		x.dispatched = true
		x.dispatch()
	}
}

func (x *execution) settleOnce() Outcome {
	if !x.committed {
		x.dispatchOnce()
		x.committed = true
		x.commit()
	}
	return x.outcome()
}

// reclaim settles a call that a body has begun and let lie between two steps,
// when nobody waits for the body any more. One that is at work settles by itself.
func (x *execution) reclaim() {
	if !x.step.TryLock() {
		return
	}
	defer x.step.Unlock()
	if !x.dispatched {
		x.dispatched = true
		x.finally(aborted(x.ctx, false))
	}
	x.settleOnce()
}
