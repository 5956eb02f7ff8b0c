package policy

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// LimitOptions configures Limit. At least one of Concurrent and Rate must be
// set.
type LimitOptions struct {
	// Tools are the tools that are limited. Nil: all.
	Tools ToolNames
	// PerTool gives each tool a limit of its own; otherwise all share one.
	PerTool bool
	// Concurrent is how many calls may run at a time; bodies that were abandoned
	// do not count. Zero: any number.
	Concurrent int
	// Rate is how many calls may start within any stretch of time as long as
	// Per; a Per of zero is a second. Zero: any number.
	Rate int
	Per  time.Duration
}

// Limit makes calls wait for their turn, in the order in which they came. A call
// whose context ends leaves the queue and fails. Limit panics if the options
// are negative or limit nothing.
//
// A call nested in one that holds a permit of this Limit, however deep, needs
// none of its own, so that a tool that calls tools cannot wait for itself; it
// still counts for the rate. A sub-agent's calls, which have no parent, are
// nested in this sense if they are made with the context the body was given.
// This holds within one Limit only: tools that call one another belong under the
// same one. run_code is not limited, the calls its programs make are.
//
// A call holds its permit until it is settled. A body that does not return when
// its run has ended is abandoned (see pipeline.Request.Over): its call is settled
// then and frees the permit, though the body may still be running, since a limit
// that waited for it could wait for ever. pipeline.Pipeline.Abandoned tells how
// many there are.
//
// Register it in Pipeline.Execution, inside Retry and outside Timeout: then a
// wait between attempts holds no permit, and waiting costs no time of the tool.
func Limit(opts LimitOptions) pipeline.Listener[pipeline.Dispatch, pipeline.Result] {
	if opts.Concurrent < 0 || opts.Rate < 0 || opts.Per < 0 {
		panic("policy.Limit: Concurrent, Rate or Per is negative; zero sets no limit")
	}
	if opts.Concurrent == 0 && opts.Rate == 0 {
		panic("policy.Limit: neither Concurrent nor Rate is set, so nothing would be limited")
	}
	if opts.Per == 0 {
		opts.Per = time.Second
	}
	opts.Tools = slices.Clone(opts.Tools)
	return newLimiter(opts).listen
}

func newLimiter(opts LimitOptions) *limiter {
	return &limiter{opts: opts, lanes: map[string]*lane{}, live: map[tools.Token]*holder{}}
}

type limiter struct {
	opts LimitOptions

	mu    sync.Mutex
	lanes map[string]*lane // by tool, or all under ""
	live  map[tools.Token]*holder
}

// holder is a call between its start and its end.
type holder struct {
	attempts int  // of the call that are on their way
	admitted bool // it or a call around it is past the limit
}

func (l *limiter) listen(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
	inherits := l.enter(ctx, d.Call)
	defer l.leave(d.Call)
	ctx = context.WithValue(ctx, l, d.Call.Token())
	if d.Tool == nil || d.Call.IsTransport() || l.opts.Tools != nil && !l.opts.Tools.has(d.Call.Name()) {
		return next(ctx)
	}
	release, err := l.lane(d.Call.Name()).pass(ctx, inherits)
	if err != nil {
		return pipeline.Result{}, err
	}
	defer release()
	l.admit(d.Call)
	return next(ctx)
}

// enter records the call and reports whether a call around it is past the
// limit. Calls that are not limited are recorded as well: they stand between those
// that are.
func (l *limiter) enter(ctx context.Context, call tools.Call) (inherits bool) {
	around, _ := ctx.Value(l).(tools.Token)
	l.mu.Lock()
	defer l.mu.Unlock()
	inherits = l.admitted(call.Parent()) || l.admitted(around)
	h := l.live[call.Token()]
	if h == nil {
		h = &holder{admitted: inherits}
		l.live[call.Token()] = h
	}
	h.attempts++
	return inherits
}

// admitted reports whether a call is live and past the limit; mu is held.
func (l *limiter) admitted(call tools.Token) bool {
	h := l.live[call]
	return h != nil && h.admitted
}

func (l *limiter) leave(call tools.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.live[call.Token()]
	if h.attempts--; h.attempts == 0 {
		delete(l.live, call.Token())
	}
}

// admit records that the call is past the limit, and with it what it calls.
func (l *limiter) admit(call tools.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.live[call.Token()].admitted = true
}

// lane is what limits the calls of a tool. Only registered tools have one.
func (l *limiter) lane(tool string) *lane {
	if !l.opts.PerTool {
		tool = ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lanes[tool] == nil {
		l.lanes[tool] = newLane(l.opts)
	}
	return l.lanes[tool]
}

// lane limits the calls that share it; nil fields do not.
type lane struct {
	running *queue
	starts  *starts
}

func newLane(opts LimitOptions) *lane {
	n := &lane{}
	if opts.Rate > 0 {
		n.starts = &starts{head: queue{free: 1}, rate: opts.Rate, per: opts.Per}
	}
	if opts.Concurrent > 0 {
		n.running = &queue{free: opts.Concurrent}
		if n.starts != nil {
			n.running.then = &n.starts.head
		}
	}
	return n
}

// pass waits for a permit, unless the call inherits one, and then for a start.
// With an error it holds nothing.
func (n *lane) pass(ctx context.Context, inherits bool) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	release = func() {}
	var start *place
	if n.running != nil && !inherits {
		permit := n.running.ask()
		if err := n.running.await(ctx, permit); err != nil {
			return nil, err
		}
		release, start = n.running.release, permit.then
	}
	if n.starts != nil {
		if err := n.starts.await(ctx, start); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// queue gives out permits in the order in which they are asked for. Whoever
// gets one also gets a place in the queue behind, so that the order is the same
// there.
type queue struct {
	then *queue // nil: none

	mu      sync.Mutex
	free    int
	waiting []*place
}

// place is one who has asked for a permit.
type place struct {
	turn chan struct{} // closed when there is a permit
	then *place        // in the queue behind; set before turn is closed
}

func (q *queue) ask() *place {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := &place{turn: make(chan struct{})}
	q.waiting = append(q.waiting, p)
	q.serve()
	return p
}

// await waits for the permit, or gives it up and fails with the cause of the
// end of ctx.
func (q *queue) await(ctx context.Context, p *place) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		q.withdraw(p)
		return context.Cause(ctx)
	}
}

func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.serve()
}

// withdraw takes back what was asked for, or what was given meanwhile.
func (q *queue) withdraw(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, p); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return
	}
	if p.then != nil {
		q.then.withdraw(p.then)
	}
	q.free++
	q.serve()
}

// serve gives out what is free; mu is held.
func (q *queue) serve() {
	for q.free > 0 && len(q.waiting) > 0 {
		p := q.waiting[0]
		if q.then != nil {
			p.then = q.then.ask()
		}
		close(p.turn)
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.free--
	}
}

// starts lets rate calls begin within per. Whoever holds head waits for the
// clock, the others for head, so that one who leaves the queue takes no start
// with him.
type starts struct {
	head   queue
	rate   int
	per    time.Duration
	recent []time.Time // the last starts, a ring once there are rate of them
	oldest int
}

// await waits for a start; a nil place is one at the end.
func (s *starts) await(ctx context.Context, p *place) error {
	if p == nil {
		p = s.head.ask()
	}
	if err := s.head.await(ctx, p); err != nil {
		return err
	}
	defer s.head.release()
	if len(s.recent) < s.rate {
		s.recent = append(s.recent, time.Now())
		return nil
	}
	if wait := time.Until(s.recent[s.oldest].Add(s.per)); wait > 0 && !pause(ctx, wait) {
		return context.Cause(ctx)
	}
	s.recent[s.oldest] = time.Now()
	s.oldest = (s.oldest + 1) % s.rate
	return nil
}
