package worker

import (
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The collector of a Go process lets garbage grow to the size of what is alive. A
// worker has little that is alive, so that it would collect every few runs, on its one
// processor and thus in the way of a program. So it may always hold some garbage.

// mostGarbage is what a worker may hold, however little is alive.
const mostGarbage = 16 << 20

// heapShare is the part of a run's heap limit that garbage may be, so that what is
// no program's does not use up a small limit.
const heapShare = 16

// pacer sets the collector's goal after each collection: what is alive and as much
// again, as ever, or room if that is more.
type pacer struct {
	set func(percent int) // debug.SetGCPercent

	mu      sync.Mutex
	room    int64
	percent int
	ended   bool
}

// pace begins to pace this process.
func pace() *pacer {
	p := &pacer{set: func(percent int) { debug.SetGCPercent(percent) }}
	p.await()
	return p
}

// limit is told of the heap limit of the next run.
func (p *pacer) limit(heap int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if room := min(mostGarbage, heap/heapShare); p.room != room {
		p.room = room
		p.adjust()
	}
}

// await has the collector say when it has run: what nobody holds is finalized then.
func (p *pacer) await() {
	goruntime.SetFinalizer(&sentinel{p}, func(*sentinel) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.ended {
			p.adjust()
			p.await()
		}
	})
}

type sentinel struct{ pacer *pacer }

// end is the end of pacing, in tests. A worker does not end before its process.
func (p *pacer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// adjust sets the goal for what is alive now. The caller holds mu. Small changes are
// not worth the stop that setting takes.
func (p *pacer) adjust() {
	percent := percentFor(scanned(), p.room)
	if apart := percent - p.percent; apart < -percent/8 || apart > percent/8 {
		p.percent = percent
		p.set(percent)
	}
}

// percentFor is the percentage of what a collection finds that room is, at least
// Go's own and at most what one that finds more than the last leaves harmless.
func percentFor(found, room int64) int {
	const least, most = 100, 1000
	return int(min(max(room*100/max(found, 1), least), most))
}

// scanned is what the last collection found alive, and what it reads beside.
func scanned() int64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/gc/scan/stack:bytes"}}
	metrics.Read(samples)
	var n uint64
	for _, s := range samples {
		n += s.Value.Uint64()
	}
	return int64(n)
}
