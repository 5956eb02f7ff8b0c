package gojavm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func TestNewRefusesNegativeOptions(t *testing.T) {
	for _, opts := range []Options{{MaxStuck: -1}, {MaxBytes: -1}} {
		if _, err := New(&opts); err == nil || !strings.Contains(err.Error(), "must not be negative") {
			t.Errorf("%+v: error %v", opts, err)
		}
	}
}

func TestMisuseIsAnError(t *testing.T) {
	rt := newRuntime(t, nil)
	for name, req := range map[string]runtime.Request{
		"limit":    {Limits: runtime.Limits{Output: 3}},
		"binding":  {Bindings: []runtime.Binding{{}}},
		"parallel": {Parallel: -1},
	} {
		if _, err := rt.Run(t.Context(), req); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A program that cannot be stopped costs its goroutine and not the caller: here
// it stands in the host's own log function.
func TestStuckPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(&Options{MaxStuck: 1})
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		lines, calls := 0, 0
		start := time.Now()
		res, err := rt.Run(t.Context(), runtime.Request{
			Program: "tools.hold('x'.repeat(1000)); tools.hold('x'.repeat(1000)); console.log('in'); console.log('after'); await tools.ping(); return 1",
			Log:     func(runtime.Line) { lines++; <-release },
			Limits:  runtime.Limits{Wall: time.Second},
			Bindings: []runtime.Binding{{Namespace: toolset(t), Call: func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
				calls++
				return serve(ctx, c)
			}}},
		})
		if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Timeout || res.Failure.Message != "wall-clock ceiling reached (1000ms)" {
			t.Fatalf("%+v, %v", res.Failure, err)
		}
		if took := time.Since(start); took != time.Second+grace {
			t.Errorf("Run took %v, want the wall and the grace, %v", took, time.Second+grace)
		}
		if diff := cmp.Diff([]string{"in"}, res.Logs); diff != "" {
			t.Errorf("logs (-want +got):\n%s", diff)
		}
		if rt.Stuck() != 1 {
			t.Errorf("%d programs are stuck, want 1", rt.Stuck())
		}
		if n := rt.bytes.Load(); n != 0 {
			t.Errorf("%d bytes are still counted for a run that was left behind", n)
		}
		if calls != 1 || len(res.Usage.NotStarted) != 1 {
			t.Errorf("%d calls, %d of them not started; want 1 and 1", calls, len(res.Usage.NotStarted))
		}
		res, err = rt.Run(t.Context(), runtime.Request{Program: "return 1"})
		if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort || !strings.Contains(res.Failure.Message, "1 earlier programs in this process could not be stopped") {
			t.Errorf("a run beside a stuck one: %+v, %v", res.Failure, err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
		if rt.Stuck() != 0 {
			t.Errorf("%d programs are stuck after they ended", rt.Stuck())
		}
		if lines != 1 || calls != 1 {
			t.Errorf("after its end the program came to %d lines and %d calls, want 1 and 1", lines, calls)
		}
	})
}

// What the engine's goroutine does after the outcome is decided is of no effect,
// whether an interrupt reaches it or not.
func TestNothingAfterTheOutcome(t *testing.T) {
	rt := newRuntime(t, nil)
	lines, calls := 0, 0
	b := runtime.Binding{Namespace: toolset(t), Call: func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
		calls++
		return serve(ctx, c)
	}}
	lim, err := rt.limits(runtime.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t.Context(), rt, runtime.Request{Bindings: []runtime.Binding{b}, Log: func(runtime.Line) { lines++ }}, lim)
	defer r.end(errOver)
	owner := &boundNamespace{binding: b}
	r.close()
	r.release()
	before := r.result()
	r.console("log", "late")
	r.note("late")
	r.stopWith(runtime.Failure{Kind: runtime.Exception, Message: "late"})
	if r.submit(&call{owner: owner, member: "ping", args: "{}"}) {
		t.Error("a call was taken")
	}
	if v := r.call(owner, "ping", nil); !goja.IsUndefined(v) {
		t.Errorf("a call gave %v", v)
	}
	if r.turn(func() error { t.Error("a turn began"); return nil }) {
		t.Error("the run goes on")
	}
	r.live.Wait()
	if diff := cmp.Diff(before, r.result()); diff != "" {
		t.Errorf("the result changed (-before +after):\n%s", diff)
	}
	if lines != 0 || calls != 0 || rt.bytes.Load() != 0 {
		t.Errorf("%d lines, %d calls, %d bytes; want none", lines, calls, rt.bytes.Load())
	}
}

// An interrupt is repeated while a stopped program may end.
func TestStopsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := newRun(t.Context(), rt, runtime.Request{}, runtime.Limits{})
		defer r.end(errOver)
		go r.insist()
		for range 2 {
			r.vm.ClearInterrupt()
			time.Sleep(insistEvery + time.Millisecond)
			if _, err := r.vm.RunString("1"); err == nil {
				t.Error("the program went on")
			}
		}
		close(r.done)
	})
}

// The interrupt of a program that was left behind is repeated.
func TestStuckProgramsAreInterruptedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := newRun(t.Context(), rt, runtime.Request{}, runtime.Limits{})
		defer r.end(errOver)
		rt.abandon(r)
		for range 2 {
			r.vm.ClearInterrupt()
			time.Sleep(insistStuck + time.Millisecond)
			if _, err := r.vm.RunString("1"); err == nil {
				t.Error("the program went on")
			}
		}
		close(r.done)
		synctest.Wait()
		if rt.Stuck() != 0 {
			t.Errorf("%d programs are stuck, want none", rt.Stuck())
		}
	})
}

// Whoever owns the process waits for the grace alone, and is answered before.
func TestStuckInOwnProcess(t *testing.T) {
	limit := debug.SetMemoryLimit(-1)
	defer func() { debug.SetMemoryLimit(limit) }()
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		rt.opts.OwnProcess = true // and the settings of the process stay
		release := make(chan struct{})
		start := time.Now()
		res, err := rt.Run(t.Context(), runtime.Request{Program: "console.log(1)", Log: func(runtime.Line) { <-release }, Limits: runtime.Limits{Wall: time.Second}})
		if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Timeout {
			t.Errorf("%+v, %v", res.Failure, err)
		}
		if took := time.Since(start); took != time.Second+ownGrace || ownGrace >= grace {
			t.Errorf("Run took %v, want the wall and %v, which is less than %v", took, ownGrace, grace)
		}
		close(release)
		synctest.Wait()
	})
}

func TestClose(t *testing.T) {
	rt := newRuntime(t, nil)
	started := make(chan struct{})
	var once sync.Once
	results := make(chan runtime.Result, 1)
	go func() {
		res, err := rt.Run(context.Background(), runtime.Request{
			Program: "console.log('go'); for (;;) {}",
			Log:     func(runtime.Line) { once.Do(func() { close(started) }) },
		})
		if err != nil {
			t.Error(err)
		}
		results <- res
	}()
	<-started
	for range 2 {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
	res := <-results
	if res.Failure == nil || res.Failure.Kind != runtime.Abort || res.Failure.Message != "runtime disposed" {
		t.Errorf("failure %+v, want abort: runtime disposed", res.Failure)
	}
	if _, err := rt.Run(t.Context(), runtime.Request{}); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("Run after Close: %v, want %v", err, runtime.ErrClosed)
	}
}

func TestCancel(t *testing.T) {
	rt := newRuntime(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user left"))
	calls := 0
	bindings := []runtime.Binding{{Namespace: toolset(t), Call: func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
		calls++
		return serve(ctx, c)
	}}}
	res, err := rt.Run(ctx, runtime.Request{Program: "await tools.ping()", Bindings: bindings})
	if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort || res.Failure.Message != "the user left" || calls != 0 {
		t.Errorf("cancelled before: %+v, %v, %d calls", res.Failure, err, calls)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	defer cancel(nil)
	bindings[0].Call = func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
		calls++
		if calls == 5 {
			cancel(errors.New("enough"))
		}
		return serve(ctx, c)
	}
	res, err = rt.Run(ctx, runtime.Request{Program: "for (;;) { try { await tools.ping() } catch { continue } finally { } }", Bindings: bindings})
	if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort || res.Failure.Message != "enough" {
		t.Errorf("cancelled during: %+v, %v", res.Failure, err)
	}
	if calls != 5 || res.Usage.Calls != 5 {
		t.Errorf("%d calls began and %d are counted, want 5", calls, res.Usage.Calls)
	}
}

func TestComputeIsBusyTimeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := rt.Run(t.Context(), runtime.Request{
			Program: "for (let i = 0; i < 10; i++) await tools.ping(); return 1",
			Limits:  runtime.Limits{Compute: time.Minute, Wall: time.Hour},
			Bindings: []runtime.Binding{{Namespace: toolset(t), Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
				time.Sleep(time.Minute)
				return runtime.Reply{}, nil
			}}},
		})
		if err != nil || res.Failure != nil {
			t.Fatalf("%+v, %v", res.Failure, err)
		}
		if res.Usage.Wall != 10*time.Minute || res.Usage.Compute != 0 {
			t.Errorf("wall %v, compute %v; want 10m and 0", res.Usage.Wall, res.Usage.Compute)
		}
	})
}

// Reading a program takes the compute time as well: each level of these doubles it.
func TestReadingIsComputeTime(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{
		Program: "return " + strings.Repeat("((b = ", 12) + "1" + strings.Repeat(") => b)()", 12),
		Limits:  runtime.Limits{Compute: time.Millisecond},
	})
	if f := res.Failure; f == nil || f.Kind != runtime.Timeout || f.Message != "compute budget exhausted (1ms busy)" {
		t.Errorf("%s %+v", res.Value, res.Failure)
	}
}

func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		expired := make(chan time.Time, 1)
		m := newMeter(10*time.Second, func() { expired <- time.Now() })
		start := time.Now()
		for range 3 {
			m.enter()
			m.enter()
			time.Sleep(3 * time.Second)
			m.leave()
			m.leave()
			time.Sleep(time.Hour)
		}
		m.enter()
		if got := (<-expired).Sub(start); got != 3*time.Hour+10*time.Second {
			t.Errorf("expired after %v, want 3h10s", got)
		}
		if got := m.stop(); got != 10*time.Second {
			t.Errorf("measured %v, want 10s", got)
		}
		m.leave()
		m.enter()
		time.Sleep(time.Hour)
		if got := m.stop(); got != 10*time.Second {
			t.Errorf("measured %v after the end, want 10s", got)
		}
	})
}

func TestWatchHeap(t *testing.T) {
	stopped := make(chan runtime.Failure, 1)
	defer watchHeap(1<<20, func(f runtime.Failure) { stopped <- f })()
	kept := make([]byte, 8<<20)
	f := <-stopped
	if f.Kind != runtime.MemoryLimit || f.Message != "heap limit reached (1048576 bytes)" {
		t.Errorf("failure %+v", f)
	}
	_ = kept[0]
}

func TestFailuresOfTheHost(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name string
		call func(context.Context, runtime.Invocation) (runtime.Reply, error)
		want string
	}{
		{"an error", func(context.Context, runtime.Invocation) (runtime.Reply, error) { return runtime.Reply{}, errHost }, "the host is unwell"},
		{"a wrapped call error", func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{}, fmt.Errorf("outer: %w", &runtime.CallError{Message: "inner"})
		}, "inner"},
		{"a panic", func(context.Context, runtime.Invocation) (runtime.Reply, error) { panic("boom") }, "ping failed: the host panicked: boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{
				Program:  "try { await tools.ping() } catch (e) { return e.message }",
				Bindings: []runtime.Binding{{Namespace: toolset(t), Call: tc.call}},
			})
			if res.Value != quoted(tc.want) {
				t.Errorf("%s (%+v), want %q", res.Value, res.Failure, tc.want)
			}
		})
	}
	res := execute(t, rt, runtime.Request{Program: "console.log(1); console.log(2)", Log: func(runtime.Line) { panic("log") }})
	if res.Failure != nil || len(res.Logs) != 2 {
		t.Errorf("a panicking log: %+v, logs %q", res.Failure, res.Logs)
	}
}

func TestInput(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "return [input.a, typeof input]", Input: `{"a":[1]}`})
	if res.Value != `[[1],"object"]` {
		t.Errorf("%s (%+v)", res.Value, res.Failure)
	}
	res = execute(t, rt, runtime.Request{Program: "return typeof input"})
	if res.Value != `"undefined"` {
		t.Errorf("without input: %s", res.Value)
	}
	res = execute(t, rt, runtime.Request{Program: "return 1", Input: "{"})
	if res.Failure == nil || res.Failure.Kind != runtime.InvalidInput || !strings.HasPrefix(res.Failure.Message, "input cannot be used: ") {
		t.Errorf("broken input: %+v", res.Failure)
	}
}

func TestRepeatable(t *testing.T) {
	rt := newRuntime(t, nil)
	seed := uint64(7)
	req := runtime.Request{
		Program: "return [Date.now(), new Date().toISOString(), Math.random(), crypto.randomUUID()]",
		Clock:   func() time.Time { return time.Unix(1_000_000_000, 0) },
		Seed:    &seed,
	}
	first, second := execute(t, rt, req), execute(t, rt, req)
	if first.Failure != nil || first.Value != second.Value || !strings.HasPrefix(first.Value, `[1000000000000,"2001-09-09T01:46:40.000Z",0.`) {
		t.Errorf("%s and %s (%+v), want the same", first.Value, second.Value, first.Failure)
	}
	seed = 8
	if third := execute(t, rt, req); third.Value == first.Value {
		t.Error("another seed gives the same values")
	}
}
