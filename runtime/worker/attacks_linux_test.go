package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// started lists the workers so far.
func (c *crew) started() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*process(nil), c.workers...)
}

// storm sends signals to random workers until the returned function is called.
func (c *crew) storm(signals ...syscall.Signal) (stop func()) {
	done := make(chan struct{})
	var storm sync.WaitGroup
	storm.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			for _, w := range c.started() {
				w.reap.Lock()
				if !w.reaped && rand.IntN(3) == 0 {
					syscall.Kill(w.pid, signals[rand.IntN(len(signals))])
				}
				w.reap.Unlock()
			}
		}
	})
	return func() {
		close(done)
		storm.Wait()
	}
}

// TestSignalStorm has workers of running, waiting and idle kinds killed and stopped
// at random, also while the Runtime is closed. Each run ends in one of the ways it
// may, and nothing is left.
func TestSignalStorm(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signals []syscall.Signal
	}{
		{"killed", []syscall.Signal{syscall.SIGKILL}},
		{"stopped", []syscall.Signal{syscall.SIGSTOP}},
		{"all", []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCONT, syscall.SIGTERM}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrew(t, Options{MaxWorkers: 3, Idle: 5 * time.Millisecond}, nil)
			stop := c.storm(tt.signals...)
			var ended atomic.Int64
			enough := make(chan struct{})
			var runs sync.WaitGroup
			for g := range 6 {
				runs.Go(func() {
					for i := 0; ; i++ {
						res, err := c.Run(t.Context(), runtime.Request{
							Program: "for (let i = 0; i < 5; i++) await tools.a({ i }); return 'ok'", Trust: (g + i) % 3,
							Limits: runtime.Limits{Wall: time.Second}, Bindings: tools(t, echo),
						})
						if errors.Is(err, runtime.ErrClosed) {
							return
						}
						if err != nil {
							t.Error(err)
						}
						checkStormy(t, res)
						if ended.Add(1) == 12 {
							close(enough)
						}
					}
				})
			}
			within(t, func() { <-enough })
			within(t, func() { c.Close() })
			within(t, runs.Wait)
			stop()
			if c.pool.live != 0 || len(c.pool.queue) != 0 || c.bytes.left != runtimeBytes {
				t.Errorf("%d workers live, %d runs wait, %d bytes held", c.pool.live, len(c.pool.queue), runtimeBytes-c.bytes.left)
			}
		})
	}
}

// checkStormy checks the end of a run in a storm.
func checkStormy(t *testing.T, res runtime.Result) {
	if res.Failure == nil {
		if res.Value != `"ok"` {
			t.Errorf("the value %s", res.Value)
		}
		return
	}
	switch res.Failure.Kind {
	case runtime.WorkerExit, runtime.WorkerUnavailable, runtime.Timeout:
	case runtime.Abort:
		if res.Failure.Message != "runtime disposed" {
			t.Errorf("%+v", res.Failure)
		}
	default:
		t.Errorf("%+v", res.Failure)
	}
}

// TestFloodOfCalls has programs make as many calls as they may at once and give up
// on most of them, by signals and by time, while bodies answer early, late or not.
func TestFloodOfCalls(t *testing.T) {
	const program = `
let ended = 0;
for (let round = 0; round < 4; round++) {
  const c = new AbortController();
  const calls = [];
  for (let i = 0; i < 600; i++) {
    const options = i % 2 ? { signal: c.signal } : i % 3 ? { timeoutMs: 1 + i % 7 } : {};
    calls.push(tools.a({ i }, options).then(() => ended++, () => ended++));
  }
  await tools.b({});
  c.abort();
  await Promise.all(calls);
}
return ended`
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	var bodies atomic.Int64
	call := func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
		bodies.Add(1)
		defer bodies.Add(-1)
		if inv.Seq%2 == 0 {
			inv.Answer(runtime.Reply{Value: inv.Args}, nil)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.IntN(3)) * time.Millisecond):
		}
		return runtime.Reply{Value: inv.Args}, nil
	}
	for range 2 {
		within(t, func() {
			res := mustRun(t, c, runtime.Request{Parallel: runtime.MaxParallel, Program: program, Bindings: tools(t, call)})
			if res.Value != "2400" || bodies.Load() != 0 || c.bytes.left != runtimeBytes {
				t.Errorf("%s %+v, %d bodies and %d bytes are left", res.Value, res.Failure, bodies.Load(), runtimeBytes-c.bytes.left)
			}
		})
	}
	if n := len(c.started()); n != 1 {
		t.Errorf("%d workers, want one for both runs", n)
	}
}

// TestCancelAtAnyMoment ends the contexts of runs at random. A run ends with its
// value or as aborted, and the next run is well.
func TestCancelAtAnyMoment(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	for range 60 {
		c.fine(t) // and so that the next one has its worker
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Duration(rand.IntN(4000))*time.Microsecond, func() { cancel(errors.New("enough")) })
		within(t, func() {
			res, err := c.Run(ctx, runtime.Request{Program: "for (let i = 0; i < 20; i++) await tools.a({ i }); return 'x'.repeat(1e5)", Bindings: tools(t, echo)})
			if err != nil || res.Failure == nil && len(res.Value) != 1e5+2 || res.Failure != nil && (res.Failure.Kind != runtime.Abort || res.Failure.Message != "enough") {
				t.Errorf("%v %+v", err, res.Failure)
			}
		})
		cancel(nil)
	}
}

// TestTrustChurn has one place for many trusts, with workers that are idle for no
// time at all or for ever.
func TestTrustChurn(t *testing.T) {
	for _, idle := range []time.Duration{1, time.Millisecond, time.Hour} {
		t.Run(idle.String(), func(t *testing.T) {
			c := newCrew(t, Options{MaxWorkers: 1, Idle: idle}, nil)
			var runs sync.WaitGroup
			for g := range 10 {
				runs.Go(func() {
					for i, trust := range []any{nil, g, new(int), [2]string{"a", "b"}} {
						if res := mustRun(t, c, runtime.Request{Program: "return 1", Trust: trust}); res.Value != "1" {
							t.Errorf("run %d of %d: %+v", i, g, res.Failure)
						}
					}
				})
			}
			within(t, runs.Wait)
		})
	}
}

// Runs inside runs without end stop at the bound, and the program learns why.
func TestRunsInsideRunsWithoutEnd(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	var runs atomic.Int64
	var innermost atomic.Pointer[runtime.Failure]
	var call func(context.Context, runtime.Invocation) (runtime.Reply, error)
	call = func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
		runs.Add(1)
		res, err := c.Run(ctx, runtime.Request{Program: "return await tools.a({})", Bindings: tools(t, call), Nested: true})
		if err != nil {
			t.Error(err)
		}
		innermost.CompareAndSwap(nil, res.Failure)
		return runtime.Reply{}, fmt.Errorf("inner: %s", res.Failure.Kind)
	}
	within(t, func() {
		res := mustRun(t, c, runtime.Request{Program: "return await tools.a({})", Bindings: tools(t, call)})
		wantFailure(t, res, runtime.Exception, "ToolCallError: inner: exception")
	})
	if n := runs.Load(); n != minNested+1 {
		t.Errorf("%d runs inside runs, want %d and one that is refused", n, minNested)
	}
	if f := innermost.Load(); f == nil || f.Kind != runtime.WorkerUnavailable {
		t.Errorf("the innermost run: %+v", f)
	}
	c.fine(t)
}

type silentError struct{}

func (silentError) Error() string { panic("no text") }

// TestOddErrors has calls fail with errors that are no good. None costs the worker.
func TestOddErrors(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	for _, tt := range []struct {
		name string
		err  error
		want string // its message's beginning, length and code
	}{
		{"a text that panics", silentError{}, `["a failed: the host p",36,null]`},
		{"a nil pointer", (*runtime.CallError)(nil), `["a failed: the host p",93,null]`},
		{"no text", errors.New(""), `["",0,null]`},
		{"a huge text", errors.New(strings.Repeat("x", 8<<20)), `["xxxxxxxxxxxxxxxxxxxx",1048577,null]`},
		{"huge properties", &runtime.CallError{Message: "m", Code: "C", Extra: map[string]string{"k": strings.Repeat("y", replyMetaCap)}}, `["m",1,null]`},
		{"bytes that are no text", &runtime.CallError{Message: "\xff", Code: "\xff\x00"}, `["` + "\uFFFD" + `",1,"` + "\uFFFD" + `\u0000"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := mustRun(t, c, runtime.Request{
				Program:  "try { await tools.a({}) } catch (e) { return [e.message.slice(0, 20), e.message.length, e.code ?? null] }",
				Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) { return runtime.Reply{}, tt.err }),
			})
			if res.Value != tt.want {
				t.Errorf("%s %+v, want %s", res.Value, res.Failure, tt.want)
			}
		})
	}
	if n := len(c.started()); n != 1 {
		t.Errorf("%d workers, want one", n)
	}
}

// A callback that does not return holds up the end of its own run and nothing else:
// the program is stopped meanwhile, and the failure says by what.
func TestCallbacksThatBlock(t *testing.T) {
	for name, req := range map[string]func(block func()) runtime.Request{
		"clock": func(block func()) runtime.Request {
			return runtime.Request{Program: "return Date.now()", Clock: func() time.Time { block(); return time.Now() }}
		},
		"log": func(block func()) runtime.Request {
			return runtime.Request{Program: "for (;;) console.log('x'.repeat(1000))", Log: func(runtime.Line) { block() }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, Options{MaxWorkers: 2}, nil)
			blocked, release := make(chan struct{}), make(chan struct{})
			first := sync.OnceFunc(func() { close(blocked); <-release })
			ctx, cancel := context.WithCancelCause(t.Context())
			var res runtime.Result
			var err error
			var run sync.WaitGroup
			run.Go(func() { res, err = c.Run(ctx, req(first)) })
			within(t, func() { <-blocked })
			cancel(errors.New("enough"))
			w := c.nth(0)
			c.fine(t)
			within(t, func() { <-w.exited }) // while the callback still blocks
			close(release)
			within(t, run.Wait)
			if err != nil {
				t.Fatal(err)
			}
			wantFailure(t, res, runtime.Abort, "enough")
		})
	}
}
