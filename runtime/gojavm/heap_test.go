package gojavm

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// heapStep is one thing that happens to a heap.
type heapStep struct {
	add, remove string    // a run begins or ends: its name
	busy        string    // its engine begins to work
	state       heapState // what the collector says, if it is no zero
	after       heapState // what it says after a collection that the watch asks for
	stops       string    // the run that is ended
	collects    bool      // a collection is asked for
}

// A limit of 100 bytes; the heap begins at 1000.
func TestHeapWatch(t *testing.T) {
	s := func(objects, live, cycles uint64) heapState { return heapState{objects, live, cycles} }
	for _, tc := range []struct {
		name  string
		steps []heapStep
	}{
		{"growth within the limit", []heapStep{{add: "a"}, {state: s(1100, 900, 1)}}},
		{"garbage is nobody's", []heapStep{{add: "a"}, {state: s(1101, 900, 1), after: s(950, 950, 2), collects: true}}},
		{"what lives is", []heapStep{{add: "a"}, {state: s(1101, 900, 1), after: s(1101, 1101, 2), collects: true, stops: "a"}}},
		{"a collection of the host's says it too", []heapStep{{add: "a"}, {state: s(1101, 1101, 2), stops: "a"}}},
		{"not one before the run", []heapStep{{state: s(1000, 5000, 1)}, {add: "a"}, {state: s(1050, 5000, 1)}}},
		{"garbage from before the run is no allowance", []heapStep{{add: "a"}, {state: s(700, 700, 2)}, {state: s(801, 700, 2), after: s(801, 801, 3), collects: true, stops: "a"}}},
		{"no collection for each sample of garbage", []heapStep{
			{add: "a"},
			{state: s(1101, 900, 1), after: s(1090, 1090, 2), collects: true},
			{state: s(1102, 1090, 2)},
			{state: s(1362, 1090, 2)},
			{state: s(1363, 1090, 2), after: s(1000, 1000, 3), collects: true},
		}},
		{"the oldest answers", []heapStep{{add: "a"}, {add: "b"}, {state: s(1101, 1101, 2), stops: "a"}}},
		{"unless another is at work", []heapStep{{add: "a"}, {add: "b"}, {busy: "b"}, {state: s(1101, 1101, 2), stops: "b"}}},
		{"the oldest of those at work", []heapStep{{add: "a"}, {add: "b"}, {add: "c"}, {busy: "b"}, {busy: "c"}, {state: s(1101, 1101, 2), stops: "b"}}},
		{"one that began after the growth does not", []heapStep{{add: "a"}, {state: s(1090, 1000, 1)}, {add: "b"}, {busy: "b"}, {state: s(1101, 1101, 2), stops: "a"}}},
		{"nobody else before it has left", []heapStep{
			{add: "a"}, {add: "b"},
			{state: s(1101, 1101, 2), stops: "a"},
			{state: s(1101, 1101, 2)},
			{remove: "a"},
			{state: s(1101, 1101, 2), stops: "b"},
		}},
		{"a heap that has shrunk", []heapStep{
			{add: "a"}, {add: "b"},
			{state: s(1101, 1101, 2), stops: "a"},
			{remove: "a"},
			{state: s(1000, 1000, 3)},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now, collected := heapState{1000, 900, 1}, false
			var after heapState
			stopped := ""
			w := &heapWatch{read: func() heapState { return now }, collect: func() { collected, now = true, after }}
			remove, busy := map[string]func(){}, map[string]bool{}
			defer func() {
				for _, f := range remove {
					f()
				}
			}()
			for i, step := range tc.steps {
				if name := step.add; name != "" {
					remove[name] = w.watch(100, func() bool { return busy[name] }, func(runtime.Failure) { stopped += name })
				}
				if step.remove != "" {
					remove[step.remove]()
					delete(remove, step.remove)
				}
				busy[step.busy] = true
				if step.state == (heapState{}) {
					continue
				}
				now, after, collected, stopped = step.state, step.after, false, ""
				w.sample()
				if stopped != step.stops || collected != step.collects {
					t.Errorf("step %d: %q was stopped and a collection asked for: %t; want %q and %t", i, stopped, collected, step.stops, step.collects)
				}
			}
		})
	}
}

// A run that does not leave keeps the others from blame for a while only.
func TestHeapWatchGoesOn(t *testing.T) {
	stopped := ""
	now := heapState{1000, 900, 1}
	w := &heapWatch{read: func() heapState { return now }, collect: func() {}}
	for _, name := range []string{"a", "b"} {
		defer w.watch(100, func() bool { return false }, func(runtime.Failure) { stopped += name })()
	}
	now = heapState{2000, 2000, 2}
	for range heapPause + 2 {
		w.sample()
	}
	if stopped != "ab" {
		t.Errorf("stopped %q, want ab", stopped)
	}
}

// liveHeap is what a collection finds alive.
func liveHeap() uint64 {
	goruntime.GC()
	return readHeap().live
}

func TestHeapInProcess(t *testing.T) {
	rt := newRuntime(t, nil)
	lim := runtime.Limits{Heap: 64 << 20}
	t.Run("what a program keeps", func(t *testing.T) {
		res := execute(t, rt, runtime.Request{Program: "const a = []\ntry {\n  for (;;) a.push('x'.repeat(1e5) + a.length)\n} catch {} finally { console.log('went on') }", Limits: lim})
		f := res.Failure
		if f == nil || f.Kind != runtime.MemoryLimit || f.Site.Line != 3 {
			t.Fatalf("failure %+v, want memory-limit on line 3", f)
		}
		var grown int
		if n, err := fmt.Sscanf(f.Message, "heap limit reached (67108864 bytes): a collection found that this process holds %d bytes more than when the run began", &grown); n != 1 || err != nil || grown <= 64<<20 {
			t.Errorf("message %q", f.Message)
		}
		if !strings.Contains(f.Hint, "other runs took meanwhile is counted") {
			t.Errorf("hint %q does not say whose memory is counted", f.Hint)
		}
		if len(res.Logs) > 0 || rt.Stuck() != 0 {
			t.Errorf("the program went on: %q, %d stuck", res.Logs, rt.Stuck())
		}
	})
	t.Run("what it throws away", func(t *testing.T) {
		before := readCycles(t)
		res := execute(t, rt, runtime.Request{Program: "let n = 0; for (let i = 0; i < 3000; i++) n += ('x'.repeat(1e5) + i).length; return n > 3e8", Limits: lim})
		if res.Failure != nil || res.Value != "true" {
			t.Errorf("%s %+v", res.Value, res.Failure)
		}
		if readCycles(t) == before {
			t.Error("nothing was collected: the test proves nothing")
		}
	})
	t.Run("what the host had before", func(t *testing.T) {
		kept := make([]byte, 256<<20)
		res := execute(t, rt, runtime.Request{Program: "let n = 0; for (let i = 0; i < 1000; i++) n += ('x'.repeat(1e5) + i).length; return n > 1e8", Limits: lim})
		if res.Failure != nil || res.Value != "true" {
			t.Errorf("%s %+v", res.Value, res.Failure)
		}
		goruntime.KeepAlive(kept)
	})
	t.Run("a run after it", func(t *testing.T) {
		if res := execute(t, rt, runtime.Request{Program: "return 'x'.repeat(1e6).length", Limits: lim}); res.Value != "1000000" {
			t.Errorf("%s %+v", res.Value, res.Failure)
		}
	})
	if n := liveHeap(); n > 64<<20 {
		t.Errorf("%d bytes are alive after the runs: their memory is held", n)
	}
}

func readCycles(t *testing.T) uint64 {
	t.Helper()
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Settings that all code of a process shares are the embedder's.
func TestNoSettingsOfTheProcess(t *testing.T) {
	settings := func() string {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		stack := debug.SetMaxStack(1 << 30)
		debug.SetMaxStack(stack)
		return fmt.Sprint(percent, stack, debug.SetMemoryLimit(-1), goruntime.GOMAXPROCS(0), regexp2.DefaultMatchTimeout, regexp2.DefaultOptimizationOptions)
	}
	before := settings()
	rt := newRuntime(t, nil)
	execute(t, rt, runtime.Request{Program: "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)", Limits: runtime.Limits{Heap: 32 << 20}})
	if diff := cmp.Diff(before, settings()); diff != "" {
		t.Errorf("settings (-before +after):\n%s", diff)
	}
}

// The watch rests while nothing runs.
func TestHeapWatchRests(t *testing.T) {
	rt := newRuntime(t, nil)
	for range 2 {
		execute(t, rt, runtime.Request{Program: "return 1"})
		if rt.heap.timer.Stop() {
			t.Error("samples are taken though nothing runs")
		}
	}
}

// What a run pays for being watched.
func BenchmarkHeapWatch(b *testing.B) {
	w := newHeapWatch()
	b.ReportAllocs()
	for b.Loop() {
		w.watch(1<<40, func() bool { return false }, func(runtime.Failure) {})()
	}
}
