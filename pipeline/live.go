package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// liveRuns knows the bodies that are running and the calls below them. Its key
// is the handle itself, so neither a token nor a handle somebody made opens
// anything.
type liveRuns struct {
	mu    sync.Mutex
	byRun map[*tools.Run]*attempt
}

// below is what a body has below it; the mutex of liveRuns guards it.
type below struct {
	open   int                     // calls nested under it that have not settled
	guests int                     // calls without a parent, made with its context, that have not
	staged map[*execution]struct{} // of those open, the ones the body takes step by step
	over   bool                    // nobody waits for the body any more
	latest time.Time               // one of both settled since then; zero: none
	closed bool                    // it has had its time: nothing more is made below it
	relay  chan struct{}           // closed with over; nil until a call below needs it
}

func (l *liveRuns) add(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byRun == nil {
		l.byRun = map[*tools.Run]*attempt{}
	}
	l.byRun[&a.run] = a
}

func (l *liveRuns) remove(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close(a)
}

func (l *liveRuns) close(a *attempt) {
	a.below.closed = true
	delete(l.byRun, &a.run)
}

// join finds the running body that holds the handle a request names as its
// parent and counts the call among those below it.
func (l *liveRuns) join(req Request) (*attempt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	parent := l.byRun[req.Parent]
	if parent == nil {
		return nil, fmt.Errorf("cannot nest call %q under its parent: the handle is not that of a body running in this pipeline; use the *tools.Run a body was given, before it returns", req.Name)
	}
	if !sameAgent(parent.x.req.Agent, req.Agent) {
		return nil, fmt.Errorf("cannot nest call %q under its parent: the parent acts for another agent; pass its Call().Agent()", req.Name)
	}
	parent.below.open++
	return parent, nil
}

// visit counts a call without a parent among those a body waits for, if the body
// still has its time.
func (l *liveRuns) visit(host *attempt) (counted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if host.below.closed {
		return false
	}
	host.below.guests++
	return true
}

// leave ends what join or visit has begun for a call below a body.
func (l *liveRuns) leave(x *execution, a *attempt, count *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*count--
	if a.below.over {
		a.below.latest = time.Now()
	}
	delete(a.below.staged, x)
}

// over says that nobody waits for a body any more.
func (l *liveRuns) over(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.below.over = true
	if a.below.relay != nil {
		close(a.below.relay)
	}
}

// relay is closed when nobody waits for the body any more.
func (l *liveRuns) relay(a *attempt) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.below.relay == nil {
		a.below.relay = make(chan struct{})
		if a.below.over {
			close(a.below.relay)
		}
	}
	return a.below.relay
}

// stage remembers a call that the body above it takes step by step, if that body
// may be abandoned between two of them.
func (l *liveRuns) stage(x *execution) {
	if x.parent == nil || !x.parent.x.ends.bounded() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &x.parent.below
	if b.staged == nil {
		b.staged = map[*execution]struct{}{}
	}
	b.staged[x] = struct{}{}
}

// expire is the end of the time d that a body had: nothing new is counted below
// it from now on. It says how much longer the body has, for the sake of calls
// below it that are open or settled less than d ago, and which of them may lie
// idle. A guest makes it longer once only, since a guest may have no end.
func (l *liveRuns) expire(a *attempt, d time.Duration) (more time.Duration, idle []*execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &a.below
	switch {
	case b.open > 0 || b.guests > 0 && !b.closed:
		more = d
	case !b.latest.IsZero():
		more = time.Until(b.latest.Add(d))
	}
	l.close(a)
	return more, slices.Collect(maps.Keys(b.staged))
}
