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
	next      int            // the Seq whose turn it is to begin
	waiting   map[int]*place // by Seq
	givenUp   map[int]bool   // Seqs above next that will not begin in turn
	running   int            // begun and not settled
	exclusive bool           // the one that runs is alone
	settling  sync.Mutex
}

// place is that of a call which waits for its turn, or for the room it needs.
type place struct {
	alone bool
	in    chan struct{} // closed when the call is let in
}

func newLane() *lane { return &lane{next: 1, waiting: map[int]*place{}, givenUp: map[int]bool{}} }

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
	p := l.arrive(ctx, seq, alone)
	if p == nil {
		return false
	}
	select {
	case <-p.in:
		return true
	case <-ctx.Done():
		return !l.depart(seq)
	}
}

// arrive takes a place for call seq. There is none once ctx has ended, unless its
// turn has come already.
func (l *lane) arrive(ctx context.Context, seq int, alone bool) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.admit()
	if !l.free(seq, alone) && ctx.Err() != nil {
		l.giveUp(seq)
		return nil
	}
	p := &place{alone: alone, in: make(chan struct{})}
	l.waiting[seq] = p
	return p
}

// depart gives the place of call seq up, unless it has been let in.
func (l *lane) depart(seq int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.admit()
	if l.waiting[seq] == nil {
		return false
	}
	delete(l.waiting, seq)
	l.giveUp(seq)
	return true
}

// free reports whether call seq may be let in.
func (l *lane) free(seq int, alone bool) bool {
	return l.next == seq && !l.exclusive && (!alone || l.running == 0)
}

// admit lets the next call in, if it is here and there is room for it. No other can
// be, so nobody else is woken. l.mu is held.
func (l *lane) admit() {
	p := l.waiting[l.next]
	if p == nil || !l.free(l.next, p.alone) {
		return
	}
	delete(l.waiting, l.next)
	l.running++
	l.exclusive = p.alone
	close(p.in)
}

// skip takes the number of what is no sub-call out of the order.
func (l *lane) skip(seq int) { l.update(func() { l.giveUp(seq) }) }

// giveUp takes call seq out of the order.
func (l *lane) giveUp(seq int) {
	if seq == l.next {
		l.advance()
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
	defer l.mu.Unlock()
	change()
	l.admit()
}
