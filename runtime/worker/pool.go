package worker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// pool keeps the workers of one Runtime: those that wait for a run, and how many
// there are. A run that finds none free waits in order of arrival.
type pool struct {
	most         int
	idleFor      time.Duration
	start        func(context.Context) (*process, error)
	closeStarter func()
	logger       *slog.Logger
	ctx          context.Context // ends background starts
	cancel       context.CancelFunc

	mu      sync.Mutex
	closed  bool
	live    int // places taken: processes that live or are being started
	warming bool
	idle    []*process
	queue   []chan *process // what a waiting run gets: a worker, or nil for a place
	ending  sync.WaitGroup  // background starts and exits
	done    sync.Once
}

func newPool(most int, idle time.Duration, start func(context.Context) (*process, error), closeStarter func(), logger *slog.Logger) *pool {
	p := &pool{most: most, idleFor: idle, start: start, closeStarter: closeStarter, logger: logger}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// adopt takes in a worker that was started outside.
func (p *pool) adopt(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live++
	p.rest(w)
}

// get returns a worker that only the caller uses, until put. It waits for a
// place while ctx lasts; a start that fails because the system is short of
// something is repeated until the run's wall limit.
func (p *pool) get(ctx context.Context, limits runtime.Limits, nested bool) (*process, *runtime.Failure) {
	w, wait := p.claim(limits.Heap, nested)
	if wait != nil {
		select {
		case w = <-wait:
		case <-ctx.Done():
			p.leave(wait)
			f := aborted(context.Cause(ctx))
			return nil, &f
		}
		if w != nil && !w.fits(limits.Heap) {
			p.retire(w)
			w = nil
		}
	}
	if w == nil {
		var failure *runtime.Failure
		if w, failure = p.startUntil(ctx, limits.Wall); failure != nil {
			p.vacate()
			return nil, failure
		}
	}
	p.warm()
	return w, nil
}

// fits says whether the worker is alive and can hold a run to a heap limit. A
// process's heap does not shrink, so a smaller limit needs a fresh process.
func (w *process) fits(heap int64) bool { return !w.gone() && w.heap <= heap }

// claim takes a worker, or a place to start one (nil, nil), or a turn in the
// queue.
func (p *pool) claim(heap int64, nested bool) (*process, chan *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The one that was used last: the others may then exit for want of work.
	for i, w := range slices.Backward(p.idle) {
		if w.fits(heap) {
			p.idle = slices.Delete(p.idle, i, i+1)
			w.idle.Stop()
			return w, nil
		}
	}
	if p.live >= p.most && len(p.idle) > 0 {
		// An idle worker that does not suit gives its place to one that does.
		p.evict(p.idle[0])
	}
	if p.live < p.most || nested {
		p.live++
		return nil, nil
	}
	turn := make(chan *process, 1)
	p.queue = append(p.queue, turn)
	return nil, turn
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
		p.put(w, true)
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
	bounded, cancel := context.WithTimeout(ctx, wall)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		w, err := p.start(bounded)
		if err == nil {
			return w, nil
		}
		if transient(err) && bounded.Err() == nil {
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

// warm starts one spare in the background when no worker waits and there is
// room.
func (p *pool) warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.warming || len(p.idle) > 0 || p.live >= p.most || p.ctx.Err() != nil {
		return
	}
	p.live++
	p.warming = true
	p.ending.Go(func() {
		w, err := p.start(p.ctx)
		p.mu.Lock()
		p.warming = false
		p.mu.Unlock()
		if err != nil {
			if p.ctx.Err() == nil {
				p.logger.Warn("a spare worker could not be started", "error", err)
			}
			p.vacate()
			return
		}
		p.put(w, true)
	})
}

// put takes back a worker. One that is not fit for another run is ended.
func (p *pool) put(w *process, fit bool) {
	if !fit || w.gone() {
		p.retire(w)
		p.vacate()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.live > p.most {
		p.evict(w)
		return
	}
	if len(p.queue) > 0 {
		turn := p.queue[0]
		p.queue = p.queue[1:]
		turn <- w
		return
	}
	p.rest(w)
}

// rest puts a worker among those that wait. The caller holds mu.
func (p *pool) rest(w *process) {
	p.idle = append(p.idle, w)
	w.idle = time.AfterFunc(p.idleFor, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if slices.Contains(p.idle, w) {
			p.evict(w)
		}
	})
}

// evict ends a worker and frees its place at once. The caller holds mu.
func (p *pool) evict(w *process) {
	if i := slices.Index(p.idle, w); i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		w.idle.Stop()
	}
	p.live--
	p.ending.Go(w.end)
}

// retire ends a worker whose place its holder keeps.
func (p *pool) retire(w *process) {
	w.kill()
	<-w.exited
	w.link.close()
}

// vacate frees a place, for the first run that waits.
func (p *pool) vacate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 && p.live <= p.most {
		turn := p.queue[0]
		p.queue = p.queue[1:]
		turn <- nil
		return
	}
	p.live--
}

// close ends every worker and waits for their exits. No run may be in progress.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	for len(p.idle) > 0 {
		p.evict(p.idle[0])
	}
	p.mu.Unlock()
	p.ending.Wait()
	p.done.Do(p.closeStarter)
}
