package gojavm

import (
	"fmt"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// heapEvery is how often the heap is measured.
const heapEvery = 10 * time.Millisecond

// heapWatch stops runs that make the heap of a process grow that they share with
// their host. What is counted is the process's: the collector knows no owners. So
// growth is judged from the beginning of each run, and only by what a collection
// has found alive; it is the oldest run that answers for it, and of several one
// whose engine is at work. It sets nothing that other code of the process shares.
// It is safe for concurrent use.
type heapWatch struct {
	read    func() heapState
	collect func()

	mu    sync.Mutex
	runs  []*watchedRun // the oldest first
	timer *time.Timer
	// pause is how many samples are left in which nobody is blamed, for a run that
	// was stopped has its memory still.
	pause int
}

// heapPause is the pause, in samples: a little longer than a stopped run is waited
// for.
const heapPause = int(2 * grace / heapEvery)

// heapState is what the collector says.
type heapState struct {
	objects uint64 // bytes of objects, those that are garbage by now among them
	live    uint64 // bytes of objects that the last collection found alive
	cycles  uint64 // collections so far
}

// watchedRun is a run as the watch sees it.
type watchedRun struct {
	limit uint64
	busy  func() bool
	stop  func(runtime.Failure)

	ended  bool   // it was stopped
	cycles uint64 // collections before it began
	// base is the heap before it began: what there was, and since a collection no
	// more than that found alive.
	base uint64
	// quiet is the heap up to which a collection need not be asked for again.
	quiet uint64
}

func newHeapWatch() *heapWatch {
	return &heapWatch{read: readHeap, collect: goruntime.GC}
}

// watch begins to watch a run; the returned function ends it.
func (w *heapWatch) watch(limit int64, busy func() bool, stop func(runtime.Failure)) (remove func()) {
	now := w.read()
	r := &watchedRun{limit: uint64(limit), busy: busy, stop: stop, base: now.objects, cycles: now.cycles}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, r)
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(heapEvery, w.tick)
	case len(w.runs) == 1:
		w.timer.Reset(heapEvery)
	}
	return func() { w.remove(r) }
}

func (w *heapWatch) remove(r *watchedRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = slices.DeleteFunc(w.runs, func(x *watchedRun) bool { return x == r })
	if r.ended {
		w.pause = 0
	}
	if len(w.runs) == 0 {
		w.timer.Stop()
	}
}

func (w *heapWatch) tick() {
	w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) > 0 {
		w.timer.Reset(heapEvery)
	}
}

// sample measures once. A collection is asked for where garbage could be what
// makes the heap large, with no lock held.
func (w *heapWatch) sample() {
	now := w.read()
	if w.judge(now) {
		w.collect()
		now = w.read()
		w.settle(now)
		w.judge(now)
	}
}

// judge stops a run that is over its limit for certain. It says whether one would
// be if nothing was garbage.
func (w *heapWatch) judge(now heapState) (unsure bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pause > 0 {
		w.pause--
		return false
	}
	var guilty *watchedRun
	for _, r := range w.runs {
		if r.ended {
			continue
		}
		collected := now.cycles > r.cycles
		if collected {
			r.base = min(r.base, now.live)
		}
		switch {
		case collected && now.live > r.base+r.limit:
			if guilty == nil || !guilty.busy() && r.busy() {
				guilty = r
			}
		case now.objects > max(r.base+r.limit, r.quiet):
			unsure = true
		}
	}
	if guilty == nil {
		return unsure
	}
	guilty.ended, w.pause = true, heapPause
	guilty.stop(grewTooMuch(guilty.limit, now.live-guilty.base))
	return false
}

// settle lets the heap grow by a quarter, of itself or of the limit, before the
// next collection is asked for, so that a program close to its limit does not
// collect all the time.
func (w *heapWatch) settle(now heapState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		r.quiet = now.objects + max(now.objects, r.limit)/4
	}
}

func grewTooMuch(limit, grown uint64) runtime.Failure {
	return runtime.Failure{
		Kind:    runtime.MemoryLimit,
		Message: fmt.Sprintf("heap limit reached (%d bytes): a collection found that this process holds %d bytes more than when the run began", limit, grown),
		Hint:    "process data in smaller parts and keep only what the result needs; what the host and other runs took meanwhile is counted too",
	}
}

func readHeap() heapState {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	return heapState{objects: samples[0].Value.Uint64(), live: samples[1].Value.Uint64(), cycles: samples[2].Value.Uint64()}
}
