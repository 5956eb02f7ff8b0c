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
	next      int          // the Seq whose turn it is to begin
	givenUp   map[int]bool // Seqs above next that will not begin in turn
	running   int          // begun and not settled
	exclusive bool         // the one that runs is alone
	settling  sync.Mutex
}

func newLane() *lane {
	l := &lane{next: 1, givenUp: map[int]bool{}}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// execute takes call seq through the pipeline and reports its outcome. A call
// whose ctx ends before its turn settles at once, without running. What foreign
// code holds up is released in any case, also if it ends the goroutine.
func (l *lane) execute(ctx context.Context, p *pipeline.Pipeline, seq int, concurrent bool, request func() pipeline.Request, report func(pipeline.Outcome)) {
	if !l.enter(ctx, seq, !concurrent) {
		report(p.Execute(ctx, request()))
		return
	}
	defer l.update(func() { l.running--; l.exclusive = false })
	staged := l.begin(ctx, p, request)
	defer func() {
		l.settling.Lock()
		defer l.settling.Unlock()
		settle(staged, report)
	}()
	staged.Dispatch()
}

// begin lets the call begin and the next one have its turn.
func (l *lane) begin(ctx context.Context, p *pipeline.Pipeline, request func() pipeline.Request) *pipeline.Staged {
	defer l.update(l.advance)
	return p.Begin(ctx, request())
}

// enter waits for the turn of call seq and for the room it needs, and reports
// whether it came before ctx ended.
func (l *lane) enter(ctx context.Context, seq int, alone bool) bool {
	stop := context.AfterFunc(ctx, func() { l.update(func() {}) })
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.next != seq || l.exclusive || alone && l.running > 0 {
		if ctx.Err() != nil {
			l.giveUp(seq)
			return false
		}
		l.changed.Wait()
	}
	l.running++
	l.exclusive = alone
	return true
}

// skip takes the number of what is no sub-call out of the order.
func (l *lane) skip(seq int) { l.update(func() { l.giveUp(seq) }) }

// giveUp takes call seq out of the order.
func (l *lane) giveUp(seq int) {
	if seq == l.next {
		l.advance()
		l.changed.Broadcast()
		return
	}
	l.givenUp[seq] = true
}

func (l *lane) advance() {
	for l.next++; l.givenUp[l.next]; l.next++ {
		delete(l.givenUp, l.next)
	}
}

func (l *lane) update(change func()) {
	l.mu.Lock()
	change()
	l.mu.Unlock()
	l.changed.Broadcast()
}
