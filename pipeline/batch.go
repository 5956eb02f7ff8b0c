package pipeline

import (
	"context"
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// BatchResult is what a Batch leaves.
type BatchResult struct {
	// Outcomes are in the order of the requests.
	Outcomes []Outcome
	// Contexts are the messages of all calls in the order of the calls. They
	// follow all results, so that every call stays next to its result. When the
	// batch was aborted they are not in the log: they belong to the request that
	// is made once the agent goes on.
	Contexts []tools.Message
}

// Batch executes the calls of one assistant message and returns when all have
// settled. Calls run one by one, except that neighbouring calls which their
// tools declare concurrent overlap, at most Options.MaxParallel bodies at a
// time; any other call waits for those before it and holds up those after it.
// Whether a call is concurrent is asked right before it starts.
//
// Announcements, policy and results keep the order of the requests; only
// execution wrappers and bodies overlap. A result is not held up by a later
// call that still waits for its approval.
//
// When ctx ends, calls that have begun settle, and every other one gets its
// announcement and an aborted result in the log without passing any stage.
func (p *Pipeline) Batch(ctx context.Context, reqs []Request) BatchResult {
	if ctx == nil {
		ctx = context.Background()
	}
	b := &batch{p: p, ctx: ctx, reqs: slices.Clone(reqs), woken: make(chan struct{}, 2*len(reqs)+1)}
	b.run()
	b.abandonRest()
	return b.result()
}

type batch struct {
	p        *Pipeline
	ctx      context.Context
	reqs     []Request
	outcomes []Outcome // of the requests committed so far
	begun    []*slot   // those not committed, in order
	next     int       // index of the first request not begun
	woken    chan struct{}
}

// slot is a call that has begun. prepared is closed when policy is through with
// it, done when its body is.
type slot struct {
	x         *execution
	exclusive bool
	prepared  chan struct{}
	done      chan struct{}
}

func (b *batch) run() {
	for {
		b.commitReady()
		switch {
		case b.mayBegin():
			b.begin()
		case len(b.begun) > 0:
			<-b.woken
		default:
			return
		}
	}
}

// commitReady settles the calls at the head whose bodies are through.
func (b *batch) commitReady() {
	for len(b.begun) > 0 && closed(b.begun[0].done) {
		b.commit(b.begun[0].x)
		b.begun = b.begun[1:]
	}
}

// commit settles a call on a goroutine of its own, since foreign code may end it.
func (b *batch) commit(x *execution) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer x.contain("settling the call")
		x.commit()
	}()
	<-done
	b.outcomes = append(b.outcomes, x.outcome())
}

// mayBegin reports whether the next call can start now.
func (b *batch) mayBegin() bool {
	if b.next == len(b.reqs) || b.ctx.Err() != nil {
		return false
	}
	bodies := 0
	for _, s := range b.begun {
		if s.exclusive || !closed(s.prepared) {
			return false
		}
		if !closed(s.done) {
			bodies++
		}
	}
	if len(b.begun) == 0 {
		return true
	}
	return bodies < b.p.opts.MaxParallel && b.concurrent(b.reqs[b.next])
}

// begin starts the next call on a goroutine of its own.
func (b *batch) begin() {
	req := b.reqs[b.next]
	b.next++
	s := &slot{
		exclusive: !b.concurrent(req),
		x:         b.p.newExecution(b.ctx, req),
		prepared:  make(chan struct{}),
		done:      make(chan struct{}),
	}
	b.begun = append(b.begun, s)
	go func() {
		defer b.wake(s.done)
		func() {
			defer b.wake(s.prepared)
			s.x.prepare()
		}()
		s.x.dispatch()
	}()
}

func (b *batch) wake(reached chan struct{}) {
	close(reached)
	b.woken <- struct{}{}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// concurrent asks the tool whether this call may overlap. What cannot run
// cannot overlap either.
func (b *batch) concurrent(req Request) bool {
	tool := b.p.Tool(req.Agent, req.Name)
	if tool == nil || tool.Definition().Concurrent == nil {
		return false
	}
	args, err := parseArgs(req.Name, req.Args)
	if err != nil {
		return false
	}
	return tool.Concurrent(args)
}

// abandonRest settles what an abort kept from beginning.
func (b *batch) abandonRest() {
	for ; b.next < len(b.reqs); b.next++ {
		x := b.p.newExecution(b.ctx, b.reqs[b.next])
		_ = x.announce()
		x.finally(aborted(b.ctx, false))
		x.close()
		b.p.journal.result(x, x.outcome())
		x.leave()
		b.outcomes = append(b.outcomes, x.outcome())
	}
}

func (b *batch) result() BatchResult {
	r := BatchResult{Outcomes: b.outcomes}
	for _, o := range b.outcomes {
		if o.Call().Parent().IsZero() { // a nested call's are its parent's by now
			r.Contexts = append(r.Contexts, o.Contexts()...)
		}
	}
	if b.ctx.Err() == nil {
		for _, m := range r.Contexts {
			b.p.journal.context(m)
		}
	}
	return r
}
