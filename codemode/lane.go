package codemode

import (
	"context"
	"sync"

	"github.com/runcode-go/runcode/pipeline"
)

// lane lets the sub-calls of one run overlap where their tools allow it, and
// keeps what must stay in order in order:
//
//   - calls begin (log entry, pre-execute, approval, guards) in the order the
//     program made them, one at a time;
//   - a call that is not concurrency-safe waits for all before it and holds up
//     all after it, until it has settled;
//   - calls settle (post-execute, log entry, answer) in the order their bodies
//     end, one at a time, so that a race is won by the faster body.
type lane struct {
	mu        sync.Mutex
	changed   *sync.Cond
	next      int  // the Seq whose turn it is to begin
	running   int  // begun and not settled
	exclusive bool // the one that runs is alone
	settling  sync.Mutex
}

func newLane() *lane {
	l := &lane{next: 1}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// execute takes call seq through the pipeline. It waits for its turn whatever
// becomes of ctx: a call that was given up by then settles without running.
func (l *lane) execute(ctx context.Context, p *pipeline.Pipeline, seq int, concurrent func() bool, request func() pipeline.Request) pipeline.Outcome {
	alone := !concurrent()
	l.mu.Lock()
	for l.next != seq || l.exclusive || alone && l.running > 0 {
		l.changed.Wait()
	}
	l.running++
	l.exclusive = alone
	l.mu.Unlock()

	staged := p.Begin(ctx, request())
	l.update(func() { l.next++ })
	staged.Dispatch()

	l.settling.Lock()
	defer l.settling.Unlock()
	outcome := staged.Settle()
	l.update(func() { l.running--; l.exclusive = false })
	return outcome
}

func (l *lane) update(change func()) {
	l.mu.Lock()
	change()
	l.mu.Unlock()
	l.changed.Broadcast()
}
