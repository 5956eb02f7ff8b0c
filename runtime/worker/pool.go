package worker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// pool keeps the workers of one Runtime: those that wait for a run, and how many
// there are. A run that finds none for it waits in order of arrival.
//
// A place stands for a process from before its start until after its exit. So
// the places that are taken bound the processes there are, also those that are
// still ending.
type pool struct {
	life         context.Context // ends background starts, and keeps nothing idle after it
	most         int             // places
	mostNested   int             // runs inside other runs, which may take places beyond
	idleFor      time.Duration
	start        func(context.Context) (*process, error)
	closeStarter func()
	logger       *slog.Logger
	starting     chan struct{} // holds a token for every start in progress

	mu      sync.Mutex
	live    int // places taken: at most most+nested
	nested  int // runs inside other runs in progress
	warming bool
	claimed time.Time       // when a run last asked for a worker
	idle    []*process      // the one used last at the end; none while runs wait or live > most
	queue   []chan *process // what a waiting run gets: a worker, or nil for a place
	ending  sync.WaitGroup  // background starts and exits
	done    sync.Once
}

func newPool(life context.Context, most int, idle time.Duration, start func(context.Context) (*process, error), closeStarter func(), logger *slog.Logger) *pool {
	return &pool{
		life: life, most: most, mostNested: max(minNested, 4*most), idleFor: idle,
		start: start, closeStarter: closeStarter, logger: logger,
		starting: make(chan struct{}, max(minStarts, goruntime.GOMAXPROCS(0))),
	}
}

const (
	// minNested is how many nested runs any pool lets run at once.
	minNested = 32
	// minStarts is how many starts any pool lets be in progress at once. More
	// than there are processors make each slower and none sooner, but one that
	// hangs must not keep the others from starting.
	minStarts = 4
)

// demand is what a run asks of its worker.
type demand struct {
	heap   int64
	trust  any
	wall   time.Duration // how long a start may take, repeated ones included
	nested bool
}

// suits says whether a worker may serve the run. A heap does not shrink, so a
// smaller limit needs a fresh process; and what one trust's programs may have
// left in a process is not for another's.
func (d *demand) suits(w *process) bool {
	return !w.gone() && (w.fresh() || w.trust == d.trust && w.heap <= d.heap)
}

// adopt takes in a worker that was started outside.
func (p *pool) adopt(w *process) {
	p.mu.Lock()
	p.live++
	p.mu.Unlock()
	p.put(w)
}

// nest counts a run inside another one, until leave. Such a run never waits for
// a place, so their number is bounded here.
func (p *pool) nest() (leave func(), failure *runtime.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nested >= p.mostNested {
		return nil, &runtime.Failure{
			Kind:    runtime.WorkerUnavailable,
			Message: fmt.Sprintf("no worker process for a run inside another run: %d such runs are in progress, the most there may be at once (MaxWorkers is %d)", p.nested, p.most),
			Hint:    "start fewer of them at a time, for example one after the other",
		}
	}
	p.nested++
	return func() {
		p.mu.Lock()
		p.nested--
		p.mu.Unlock()
	}, nil
}

// get returns a worker that only the caller uses, until release. It waits for a
// place while ctx lasts; a start that fails because the system is short of
// something is repeated until the run's wall limit.
func (p *pool) get(ctx context.Context, d demand) (*process, *runtime.Failure) {
	w, turn := p.claim(&d)
	if turn != nil {
		select {
		case w = <-turn:
		case <-ctx.Done():
			p.leave(turn)
			f := aborted(context.Cause(ctx))
			return nil, &f
		}
	}
	if w != nil && !d.suits(w) {
		w.retire() // its place is the run's
		w = nil
	}
	if w == nil {
		var failure *runtime.Failure
		if w, failure = p.startUntil(ctx, d.wall); failure != nil {
			p.vacate()
			return nil, failure
		}
	}
	w.trust = d.trust
	p.warm()
	return w, nil
}

// release takes back a worker after a run. One that is not fit for another run
// is gone when it returns.
func (p *pool) release(w *process, fit bool) {
	if fit {
		p.put(w)
	} else {
		p.drop(w)
	}
	p.warm()
}

// claim takes a worker, or a place to start one (nil, nil), or a turn in the
// queue. The worker may not suit the run: then it is there for its place.
func (p *pool) claim(d *demand) (*process, chan *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claimed = time.Now()
	p.bury()
	if i := p.choose(d); i >= 0 {
		return p.take(i), nil
	}
	if p.live < p.most || d.nested {
		p.live++
		return nil, nil
	}
	turn := make(chan *process, 1)
	p.queue = append(p.queue, turn)
	return nil, turn
}

// choose finds the idle worker for a run: the one of its trust that was used
// last, so that the others may exit for want of work; a spare; and in a full pool
// the one that has been idle longest. -1 is none. The caller holds mu.
func (p *pool) choose(d *demand) int {
	spare := -1
	for i, w := range slices.Backward(p.idle) {
		switch {
		case !d.suits(w):
		case w.fresh():
			spare = i
		default:
			return i
		}
	}
	if spare < 0 && p.live >= p.most && len(p.idle) > 0 {
		return 0
	}
	return spare
}

// bury frees the places of idle workers that have ended by themselves. The caller
// holds mu.
func (p *pool) bury() {
	for i, w := range slices.Backward(p.idle) {
		if w.gone() {
			p.take(i)
			w.link.close()
			p.live--
		}
	}
}

// take removes an idle worker. The caller holds mu.
func (p *pool) take(i int) *process {
	w := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	w.idle.Stop()
	return w
}

// leave gives up a turn, or what it has just been given.
func (p *pool) leave(turn chan *process) {
	p.mu.Lock()
	i := slices.Index(p.queue, turn)
	if i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		return
	}
	if w := <-turn; w != nil {
		p.put(w)
	} else {
		p.vacate()
	}
}

// Back-off between starts that fail for want of something.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// startUntil starts a worker for a place that is already taken.
func (p *pool) startUntil(ctx context.Context, wall time.Duration) (*process, *runtime.Failure) {
	bounded, cancel := context.WithTimeoutCause(ctx, wall, fmt.Errorf("it took longer than the wall limit of %v", wall))
	defer cancel()
	var shortage error // says more than that the time is over
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w, err := p.startOne(bounded)
		if err == nil {
			return w, nil
		}
		if bounded.Err() != nil {
			err = cmp.Or(shortage, err)
		} else if transient(err) {
			shortage = err
			p.logger.Warn("a worker could not be started; trying again", "error", err, "in", pause)
			select {
			case <-time.After(pause):
				continue
			case <-bounded.Done():
			}
		}
		if ctx.Err() != nil {
			f := aborted(context.Cause(ctx))
			return nil, &f
		}
		return nil, &runtime.Failure{
			Kind:    runtime.WorkerUnavailable,
			Message: fmt.Sprintf("no worker process could be started: %v", err),
			Hint:    "the program was not run; it can be tried again later",
		}
	}
}

// startOne starts a worker once fewer than the most are being started.
func (p *pool) startOne(ctx context.Context) (*process, error) {
	select {
	case p.starting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-p.starting }()
	return p.start(ctx)
}

// warm starts one spare in the background when there is none and there is room.
// A spare has served nobody, so it serves whoever comes.
func (p *pool) warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil || p.warming || p.live >= p.most || slices.ContainsFunc(p.idle, (*process).fresh) {
		return
	}
	p.live++
	p.warming = true
	p.ending.Go(func() {
		w, err := p.startOne(p.life)
		p.mu.Lock()
		p.warming = false
		p.mu.Unlock()
		if err != nil {
			if p.life.Err() == nil {
				p.logger.Warn("a spare worker could not be started", "error", err)
			}
			p.vacate()
			return
		}
		p.put(w)
	})
}

// put gives a worker to the run that has waited longest, or lets it wait itself.
func (p *pool) put(w *process) {
	if !p.keep(w) {
		p.drop(w)
	}
}

// keep is put, unless the worker is of no use any more.
func (p *pool) keep(w *process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil || p.live > p.most || w.gone() {
		return false
	}
	if p.next(w) {
		return true
	}
	p.idle = append(p.idle, w)
	w.rested = time.Now()
	w.idle = time.AfterFunc(p.idleFor, func() { p.expire(w) })
	return true
}

// drop ends a worker and frees its place.
func (p *pool) drop(w *process) {
	w.retire()
	p.vacate()
}

// next gives a worker, or with nil a place, to the run that has waited longest.
// The caller holds mu.
func (p *pool) next(w *process) bool {
	if len(p.queue) == 0 {
		return false
	}
	p.queue[0] <- w
	p.queue = slices.Delete(p.queue, 0, 1)
	return true
}

// vacate frees a place, for the first run that waits.
func (p *pool) vacate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live > p.most || !p.next(nil) {
		p.live--
	}
}

// expire ends a worker that has been idle for too long. A spare, which is there to
// be idle, stays as long as any worker is used.
func (p *pool) expire(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, w)
	if i < 0 {
		return
	}
	since := w.rested
	if w.fresh() && p.claimed.After(since) {
		since = p.claimed
	}
	if left := p.idleFor - time.Since(since); left > 0 {
		w.idle.Reset(left)
		return
	}
	p.take(i)
	p.ending.Go(func() { p.drop(w) })
}

// close ends every worker and waits for their exits. The life of the pool is
// over, and no run in progress.
func (p *pool) close() {
	p.mu.Lock()
	for len(p.idle) > 0 {
		w := p.take(0)
		p.ending.Go(func() { p.drop(w) })
	}
	p.mu.Unlock()
	p.ending.Wait()
	p.done.Do(p.closeStarter)
}
