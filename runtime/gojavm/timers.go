package gojavm

import (
	"container/heap"
	"time"

	"github.com/dop251/goja"
)

// maxTimers is how many timers a program may have waiting.
const maxTimers = 100_000

// maxDelay is the longest delay of a timer, 2^31-1 milliseconds; longer ones
// fire at once, as in browsers and Node.
const maxDelay = 1<<31 - 1

// timer is a callback that waits.
type timer struct {
	id       int64
	when     time.Time
	shows    time.Time // on the program's own clock, zero without one
	sequence int64
	every    time.Duration // of an interval
	callback func() error
	index    int // in the heap; -1 outside
}

// timers is a program's timers: a heap by time, then by order of creation.
type timers struct {
	waiting  timerHeap
	byID     map[int64]*timer
	last     int64 // id
	sequence int64
	clock    func() time.Time // of the program's own; nil: the real one
}

func (t *timers) add(delay, every time.Duration, callback func() error) *timer {
	if t.byID == nil {
		t.byID = map[int64]*timer{}
	}
	t.last++
	added := &timer{id: t.last, every: every, callback: callback}
	t.byID[added.id] = added
	t.schedule(added, delay)
	return added
}

func (t *timers) schedule(x *timer, delay time.Duration) {
	t.sequence++
	x.sequence, x.when = t.sequence, time.Now().Add(delay)
	if t.clock != nil {
		x.shows = t.clock().Add(delay)
	}
	heap.Push(&t.waiting, x)
}

func (t *timers) remove(id int64) {
	x := t.byID[id]
	if x == nil {
		return
	}
	delete(t.byID, id)
	if x.index >= 0 {
		heap.Remove(&t.waiting, x.index)
	}
}

// due takes the first timer whose time has come. An interval stays known, so
// that its callback can clear it, and is scheduled again after it.
func (t *timers) due() *timer {
	if len(t.waiting) == 0 || time.Until(t.waiting[0].when) > 0 {
		return nil
	}
	x := heap.Pop(&t.waiting).(*timer)
	if x.every == 0 {
		delete(t.byID, x.id)
	}
	return x
}

// again schedules an interval that was not cleared meanwhile.
func (t *timers) again(x *timer) {
	if x.every > 0 && t.byID[x.id] == x {
		t.schedule(x, x.every)
	}
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].when.Equal(h[j].when) {
		return h[i].sequence < h[j].sequence
	}
	return h[i].when.Before(h[j].when)
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// installTimers defines setTimeout, setInterval, setImmediate and their
// counterparts. Handles are numbers, as in browsers.
func (r *run) installTimers() error {
	for _, t := range []struct {
		name    string
		fixed   int
		repeats bool
	}{{"setTimeout", 2, false}, {"setInterval", 2, true}, {"setImmediate", 1, false}} {
		if !r.reach.HasGlobal(t.name) {
			continue
		}
		set := func(c goja.FunctionCall) goja.Value { return r.setTimer(t.name, c, t.fixed, t.repeats) }
		if err := r.defineGlobal(t.name, r.native(t.name, 1, set)); err != nil {
			return err
		}
	}
	for _, name := range []string{"clearTimeout", "clearInterval", "clearImmediate"} {
		if !r.reach.HasGlobal(name) {
			continue
		}
		clear := r.native(name, 1, func(c goja.FunctionCall) goja.Value {
			if id, ok := c.Argument(0).Export().(int64); ok {
				r.timers.remove(id)
			}
			return goja.Undefined()
		})
		if err := r.defineGlobal(name, clear); err != nil {
			return err
		}
	}
	return nil
}

// setTimer starts a timer; fixed is how many arguments are its own.
func (r *run) setTimer(name string, c goja.FunctionCall, fixed int, repeats bool) goja.Value {
	callback, ok := goja.AssertFunction(c.Argument(0))
	if !ok {
		panic(r.vm.NewTypeError("%s needs a function as its first argument", name))
	}
	if len(r.timers.byID) >= maxTimers {
		panic(r.vm.NewTypeError("%s: more than %d timers are waiting", name, maxTimers))
	}
	var delay time.Duration
	if fixed == 2 {
		delay = timerDelay(c.Argument(1))
	}
	var every time.Duration
	if repeats {
		every = delay
	}
	var args []goja.Value
	if len(c.Arguments) > fixed {
		args = append(args, c.Arguments[fixed:]...)
	}
	x := r.timers.add(delay, every, func() error {
		_, err := callback(goja.Undefined(), args...)
		return err
	})
	return r.vm.ToValue(x.id)
}

// timerDelay converts a delay as browsers and Node do: at least a millisecond,
// and what is no number or too large is one.
func timerDelay(v goja.Value) time.Duration {
	ms := v.ToFloat()
	if !(ms >= 1 && ms <= maxDelay) {
		ms = 1
	}
	return time.Duration(ms) * time.Millisecond
}

// after is the library's timer.
func (r *run) after(d time.Duration, f func()) (cancel func()) {
	x := r.timers.add(d, 0, func() error { f(); return nil })
	return func() { r.timers.remove(x.id) }
}
