package worker_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goruntime "runtime"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/runtimetest"
	"github.com/runcode-go/runcode/runtime/worker"
)

// chore is an ordinary program and what it must give.
type chore struct{ name, program, want string }

// chores are what programs do: calls one by one and at once, results of sizes,
// timers, console lines, errors of their own, programs in programs.
var chores = []chore{
	{"empty", "return 1", "1"},
	{"calls", "let n = 0; for (let i = 0; i < 20; i++) n += (await tools.echo({ i })).i; return n", "190"},
	{"calls at once", "return (await Promise.all([1, 2, 3, 4, 5, 6].map(i => tools.echo({ i })))).map(r => r.i)", "[1,2,3,4,5,6]"},
	{"small result", "return (await tools.rows({ n: 10 })).length", "10"},
	{"result of 100 kB", "return (await tools.rows({ n: 1000 }))[999].id", "999"},
	{"result of 1 MB", "return (await tools.rows({ n: 10000 })).filter(r => r.ok).length", "10000"},
	{"returns 100 kB", "return 'x'.repeat(1e5)", `"` + strings.Repeat("x", 1e5) + `"`},
	{"sends 100 kB", "return (await tools.echo({ s: 'y'.repeat(1e5) })).s.length", "100000"},
	{"timers", "const wait = ms => new Promise(r => setTimeout(r, ms)); await wait(1); const t = setInterval(() => {}, 1); await wait(3); clearInterval(t); return 'waited'", `"waited"`},
	{"console", "for (let i = 0; i < 100; i++) console.log('line', i, { i }); return 'said'", `"said"`},
	{"sorting", "const a = []; for (let i = 0; i < 5000; i++) a.push((i * 7919) % 5003); a.sort((x, y) => x - y); return a[4999] - a[0] > 0", "true"},
	{"a failing call", "try { await tools.fail({}) } catch (e) { return e.message }", `"it failed"`},
	{"a call given up", "const c = new AbortController(); const p = tools.hold({}, { signal: c.signal }); c.abort(); try { await p } catch { return 'given up' }", `"given up"`},
	{"a program in a program", "return (await tools.nest({})).length", "3"},
	{"an exception", "throw new Error('on purpose')", ""},
	{"a syntax error", "return ((1", ""},
}

// soak is a Runtime under mixed runs.
type soak struct {
	r        *worker.Runtime
	tools    *runtime.Namespace
	attacks  []runtimetest.Attack
	runs     atomic.Int64
	hostile  atomic.Int64
	failures atomic.Int64
}

// TestSoak mixes ordinary runs with hostile ones, eight at a time. No ordinary run
// fails, and this process keeps its size. Twenty thousand runs if Soak.
func TestSoak(t *testing.T) {
	runs := 400
	switch {
	case worker.Soak():
		runs = 20_000
	case testing.Short():
		runs = 100
	}
	const atOnce, samples = 8, 10
	before := holds(t)
	r := open(t, &worker.Options{MaxWorkers: atOnce})
	starts := worker.CountStarts(r)
	s := &soak{r: r, attacks: runtimetest.Suite{Kills: true, Bounded: bounded(r)}.Attacks()}
	var err error
	s.tools, err = runtime.NewNamespace("tools", runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"},
		[]runtime.Member{{Name: "echo"}, {Name: "rows"}, {Name: "fail"}, {Name: "hold"}, {Name: "nest"}})
	if err != nil {
		t.Fatal(err)
	}
	type sample struct {
		runs, hostile int64
		memory        int64 // resident
		heap          uint64
		held
		started int
	}
	var curve []sample
	t.Log("  runs  hostile  RSS MiB  heap MiB  fds  threads  children  started")
	for range samples {
		s.some(t, runs/samples, atOnce)
		debug.FreeOSMemory()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		c := sample{s.runs.Load(), s.hostile.Load(), memory("VmRSS"), m.HeapAlloc, holds(t), starts()}
		curve = append(curve, c)
		t.Logf("%6d  %7d  %7.1f  %8.1f  %3d  %7d  %8d  %7d", c.runs, c.hostile, float64(c.memory)/(1<<20), float64(c.heap)/(1<<20), c.descriptors, c.threads, c.children, c.started)
	}
	t.Logf("%d ordinary runs failed", s.failures.Load())
	first, last := curve[1], curve[samples-1]
	if last.heap > first.heap+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", first.heap, last.heap)
	}
	if last.children > before.children+atOnce {
		t.Errorf("%d workers live, want at most %d", last.children-before.children, atOnce)
	}
	// Of each worker its connection (3), its diagnostics, its handle and what tells of
	// its use, and while it is being started what it is given (5); and the poller's.
	if most := before.descriptors + (6+5)*atOnce + 4; last.descriptors > most {
		t.Errorf("%d descriptors are open with %d workers, want at most %d", last.descriptors, last.children, most)
	}
	if last.threads > first.threads+16 {
		t.Errorf("%d threads, had %d after a fifth of the runs", last.threads, first.threads)
	}
	r.Close()
	before.wantNoMore(t, 64)
}

// some has n more runs, so many at once.
func (s *soak) some(t *testing.T, n, atOnce int) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for next.Add(1) <= int64(n) {
				if i := s.runs.Add(1); i%50 == 0 { // 2 %
					s.attack(t, s.attacks[int(i/50*61)%len(s.attacks)])
				} else {
					s.do(t, i, chores[int(i)%len(chores)])
				}
			}
		})
	}
	all.Wait()
}

func (s *soak) attack(t *testing.T, a runtimetest.Attack) {
	s.hostile.Add(1)
	t.Run(a.Name, func(t *testing.T) { a.Check(t, s.r) })
}

// do runs a chore. One in ten has another trust than the rest.
func (s *soak) do(t *testing.T, i int64, c chore) {
	res, err := s.r.Run(t.Context(), runtime.Request{
		Program: c.program, Parallel: int(i % 4), Trust: i%10 == 0,
		Bindings: []runtime.Binding{{Namespace: s.tools, Call: s.call}},
	})
	ok := err == nil && res.Value == c.want
	switch c.name {
	case "an exception":
		ok = ok && res.Failure != nil && res.Failure.Kind == runtime.Exception && res.Failure.Message == "Error: on purpose"
	case "a syntax error":
		ok = ok && res.Failure != nil && res.Failure.Kind == runtime.Exception && res.Failure.Name == "SyntaxError"
	case "console":
		ok = ok && len(res.Logs) == 100 && res.Logs[99] == "line 99 { i: 99 }"
	default:
		ok = ok && res.Failure == nil
	}
	if !ok {
		s.failures.Add(1)
		t.Errorf("run %d, %s: %v, value of %d bytes, %+v", i, c.name, err, len(res.Value), res.Failure)
	}
}

// call answers the calls of chores.
func (s *soak) call(ctx context.Context, call runtime.Invocation) (runtime.Reply, error) {
	switch call.Member {
	case "echo":
		return runtime.Reply{Value: call.Args}, nil
	case "rows":
		var n int
		fmt.Sscanf(call.Args, `{"n":%d}`, &n)
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"id":%d,"name":"a name of some length, as texts in rows tend to have","tags":["x","y"],"ok":true}`, i)
		}
		return runtime.Reply{Value: "[" + strings.Join(rows, ",") + "]"}, nil
	case "fail":
		return runtime.Reply{}, &runtime.CallError{Message: "it failed"}
	case "hold":
		<-ctx.Done()
		return runtime.Reply{}, context.Cause(ctx)
	case "nest":
		res, err := s.r.Run(ctx, runtime.Request{Program: "return [1, 2, 3]", Nested: true})
		if err == nil && res.Failure != nil {
			err = errors.New(res.Failure.Message)
		}
		return runtime.Reply{Value: res.Value}, err
	}
	return runtime.Reply{}, errors.New("no such member: " + call.Member)
}
