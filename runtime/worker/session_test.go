package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runcode-go/runcode/runtime"
)

func TestRequestAndResultCross(t *testing.T) {
	seed := uint64(1<<63 + 1)
	var got runtime.Request
	r := overEngine(t, Options{}, func(_ context.Context, req runtime.Request) (runtime.Result, error) {
		got = req
		for begun := time.Now(); time.Since(begun) == 0; { // a clock may have coarse steps
		}
		req.Log(runtime.Line{Level: "warn", Text: "careful \xed\xa0\x80"})
		return runtime.Result{Value: `{"a":1}`, Logs: []string{"careful \xed\xa0\x80"}, Notes: []string{"a note"}, Usage: runtime.Usage{
			Compute: time.Nanosecond, NotStarted: []runtime.Invocation{{Global: "tools", Member: "b", Site: runtime.Site{Line: 7, Column: 8}}}}}, nil
	})
	var lines []runtime.Line
	bindings := tools(t, echo)
	res := mustRun(t, r, runtime.Request{
		Program: "return 1 // ü", Name: "x.ts", Input: `"in"`, Bindings: bindings, Parallel: 3, Seed: &seed,
		Limits: runtime.Limits{Wall: time.Hour, Compute: time.Minute, Calls: 5},
		Log:    func(l runtime.Line) { lines = append(lines, l) },
	})

	if got.Program != "return 1 // ü" || got.Name != "x.ts" || got.Input != `"in"` || got.Parallel != 3 || *got.Seed != seed || got.Clock != nil {
		t.Errorf("the engine got %+v", got)
	}
	if got.Limits.Calls != 5 || got.Limits.Compute != time.Minute || got.Limits.Depth != runtime.DepthWorker || got.Limits.Wall != runtime.MaxWall {
		t.Errorf("the engine got the limits %+v; the wall clock must stay with the parent", got.Limits)
	}
	n, want := got.Bindings[0].Namespace, bindings[0].Namespace
	if diff := cmp.Diff(want.Members(), n.Members(), cmpopts.EquateEmpty()); diff != "" || n.Global() != want.Global() || n.Class() != want.Class() {
		t.Errorf("namespace %s %+v: %s", n.Global(), n.Class(), diff)
	}
	if diff := cmp.Diff([]runtime.Line{{Level: "warn", Text: "careful \xed\xa0\x80"}}, lines); diff != "" {
		t.Error(diff)
	}
	if res.Usage.Wall <= 0 {
		t.Error("no wall time in the usage")
	}
	res.Usage.Wall = 0
	if diff := cmp.Diff(runtime.Result{
		Value: `{"a":1}`, Logs: []string{"careful \xed\xa0\x80"}, Notes: []string{"a note"},
		Usage: runtime.Usage{Isolation: "worker", Compute: time.Nanosecond, NotStarted: []runtime.Invocation{{Global: "tools", Member: "b", Site: runtime.Site{Line: 7, Column: 8}}}},
	}, res); diff != "" {
		t.Error(diff)
	}
}

func TestCalls(t *testing.T) {
	type key struct{}
	failure := &runtime.CallError{Message: "no\nsuch file", Code: "ENOENT", CallID: "c:code:1", Extra: map[string]string{"origin": "guard"}}
	for _, tt := range []struct {
		name string
		call func(context.Context, runtime.Invocation) (runtime.Reply, error)
		want string
		err  error
	}{
		{"value", echo, `{"x":1}`, nil},
		{"no value", func(context.Context, runtime.Invocation) (runtime.Reply, error) { return runtime.Reply{}, nil }, "", nil},
		{"typed error", func(context.Context, runtime.Invocation) (runtime.Reply, error) { return runtime.Reply{}, failure }, "", failure},
		{"wrapped typed error", func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{}, fmt.Errorf("around: %w", failure)
		}, "", failure},
		{"other error", func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{}, errors.New("plain")
		}, "", errors.New("plain")},
		{"panic", func(context.Context, runtime.Invocation) (runtime.Reply, error) { panic("oops") }, "", errors.New("b failed: the host panicked: oops")},
		{"what the invocation says", func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{Value: fmt.Sprintf("[%q,%d,%d]", inv.Member, inv.Site.Line, inv.Site.Column)}, nil
		}, `["b",3,4]`, nil},
		{"context value, deadline and wall", func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			_, deadline := ctx.Deadline()
			return runtime.Reply{Value: fmt.Sprintf("[%q,%v]", ctx.Value(key{}), deadline)}, nil
		}, `["outer",true]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got runtime.Reply
			var gotErr error
			r := overEngine(t, Options{}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
				got, gotErr = req.Bindings[0].Call(ctx, runtime.Invocation{Member: "b", Args: `{"x":1}`, Site: runtime.Site{Line: 3, Column: 4}})
				return runtime.Result{}, nil
			})
			ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "outer"), time.Hour)
			defer cancel()
			res, err := r.Run(ctx, runtime.Request{Bindings: tools(t, tt.call)})
			if err != nil || res.Failure != nil {
				t.Fatalf("%v, %+v", err, res.Failure)
			}
			if got.Value != tt.want {
				t.Errorf("value %s, want %s", got.Value, tt.want)
			}
			if diff := cmp.Diff(tt.err, gotErr, cmp.Comparer(sameError)); diff != "" {
				t.Errorf("error %#v, want %#v", gotErr, tt.err)
			}
			if want := (runtime.Usage{Isolation: "worker", Calls: 1, BytesOut: 7, BytesIn: res.Usage.BytesIn}); tt.name == "value" && (want.BytesIn != 7 || res.Usage.Calls != 1 || res.Usage.BytesOut != 7) {
				t.Errorf("usage %+v", res.Usage)
			}
		})
	}
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, ok := a.(*runtime.CallError)
	y, ok2 := b.(*runtime.CallError)
	if ok != ok2 {
		return false
	}
	if ok {
		return cmp.Equal(*x, *y)
	}
	return a.Error() == b.Error()
}

func TestMisuse(t *testing.T) {
	r := overEngine(t, Options{}, func(context.Context, runtime.Request) (runtime.Result, error) {
		return runtime.Result{}, errors.New("engine says no")
	})
	for _, tt := range []struct {
		name string
		req  runtime.Request
		want string
	}{
		{"limit", runtime.Request{Limits: runtime.Limits{Calls: -1}}, "limit calls is -1; it must be at least 1 (zero takes the default of 10000)"},
		{"heap", runtime.Request{Limits: runtime.Limits{Heap: 1}}, "limit heap is 1 bytes; a worker needs at least 16777216 (zero takes the default)"},
		{"binding", runtime.Request{Bindings: make([]runtime.Binding, 1)}, "binding 0 has no namespace; make one with NewNamespace"},
		{"engine", runtime.Request{}, "engine says no"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := r.Run(t.Context(), tt.req); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	r.Close()
	if _, err := r.Run(t.Context(), runtime.Request{}); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// untilStopped is an engine that ends when it is told to, as a good one does.
func untilStopped(ctx context.Context, _ runtime.Request) (runtime.Result, error) {
	<-ctx.Done()
	return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Abort, Message: context.Cause(ctx).Error(), Site: runtime.Site{Line: 5, Column: 1}, Frame: "frame"}}, nil
}

func TestStops(t *testing.T) {
	boom := errors.New("user pressed escape")
	for _, tt := range []struct {
		name    string
		limits  runtime.Limits
		act     func(*fleet, context.CancelCauseFunc)
		kind    runtime.Kind
		message string
	}{
		{"wall", runtime.Limits{Wall: 400 * time.Millisecond}, nil, runtime.Timeout, "wall-clock ceiling reached (400ms)"},
		{"cancel", runtime.Limits{}, func(_ *fleet, cancel context.CancelCauseFunc) { cancel(boom) }, runtime.Abort, "user pressed escape"},
		{"close", runtime.Limits{}, func(f *fleet, _ context.CancelCauseFunc) { go f.Close() }, runtime.Abort, "runtime disposed"},
	} {
		for _, e := range []struct {
			name   string
			engine engineFunc
			site   runtime.Site
		}{{"heard", untilStopped, runtime.Site{Line: 5, Column: 1}}, {"not heard", nil, runtime.Site{}}} {
			t.Run(tt.name+"/"+e.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					engine := e.engine
					if engine == nil {
						engine = func(context.Context, runtime.Request) (runtime.Result, error) {
							time.Sleep(time.Minute)
							return runtime.Result{}, nil
						}
					}
					f := overEngine(t, Options{MaxWorkers: 1}, engine)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					done := make(chan runtime.Result)
					start := time.Now()
					go func() {
						res, _ := f.Run(ctx, runtime.Request{Limits: tt.limits})
						done <- res
					}()
					synctest.Wait()
					if tt.act != nil {
						tt.act(f, cancel)
					}
					res := <-done
					wantFailure(t, res, tt.kind, tt.message)
					if res.Failure.Site != e.site {
						t.Errorf("site %+v, want %+v", res.Failure.Site, e.site)
					}
					took := time.Since(start) - tt.limits.Wall
					if want := map[bool]time.Duration{true: 0, false: stopGrace}[e.engine != nil]; took != want {
						t.Errorf("ended %v after the stop, want %v", took, want)
					}
					f.Close()
					time.Sleep(time.Minute) // the deaf engine's goroutine
				})
			})
		}
	}
}

func TestWallPausesDuringApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			if _, err := req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a"}); err != nil {
				return runtime.Result{}, err
			}
			return untilStopped(ctx, req)
		})
		start := time.Now()
		res := mustRun(t, f, runtime.Request{Limits: runtime.Limits{Wall: time.Second}, Bindings: tools(t, func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
			defer runtime.PauseWall(ctx)()
			time.Sleep(time.Hour)
			return runtime.Reply{}, nil
		})})
		wantFailure(t, res, runtime.Timeout, "wall-clock ceiling reached (1000ms)")
		if took := time.Since(start); took != time.Hour+time.Second || res.Usage.Wall != time.Second {
			t.Errorf("took %v and counted %v, want an hour more than the second that counts", took, res.Usage.Wall)
		}
		f.Close()
	})
}

// A body that ignores its context is awaited: Run returns after it.
func TestCallsAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			_, err := req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a"})
			return runtime.Result{}, err
		})
		var cause error
		returned := false
		res := mustRun(t, f, runtime.Request{Limits: runtime.Limits{Wall: time.Second}, Bindings: tools(t, func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Minute)
			returned = true
			return runtime.Reply{}, nil
		})})
		wantFailure(t, res, runtime.Timeout, "wall-clock ceiling reached (1000ms)")
		if !returned || cause == nil || cause.Error() != "wall-clock ceiling reached (1000ms)" {
			t.Errorf("returned %v with the cause %v", returned, cause)
		}
		f.Close()
	})
}

// Once the context has ended nothing starts, and the end is the abort's, whatever
// the program does about it.
func TestNothingStartsAfterTheCancel(t *testing.T) {
	for name, last := range map[string]runtime.Result{
		"returns": {Value: "1"},
		"throws":  {Failure: &runtime.Failure{Kind: runtime.Exception, Message: "Error: x", Site: runtime.Site{Line: 2, Column: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := overEngine(t, Options{MaxWorkers: 1}, func(_ context.Context, req runtime.Request) (runtime.Result, error) {
				deaf := context.WithoutCancel(t.Context())
				req.Bindings[0].Call(deaf, runtime.Invocation{Member: "a"})
				req.Bindings[0].Call(deaf, runtime.Invocation{Member: "b"})
				return last, nil
			})
			ctx, cancel := context.WithCancelCause(t.Context())
			res, err := f.Run(ctx, runtime.Request{Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
				if inv.Member == "b" {
					t.Error("a call was made after the cancel")
				}
				cancel(errors.New("escape"))
				return runtime.Reply{}, nil
			})})
			if err != nil {
				t.Fatal(err)
			}
			wantFailure(t, res, runtime.Abort, "escape")
			if res.Usage.Calls != 1 {
				t.Errorf("%d calls counted, want 1", res.Usage.Calls)
			}
		})
	}
}

// The program gives up on one call; its lane is free and the other calls go on.
func TestCancelOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			one, giveUp := context.WithCancel(ctx)
			first := make(chan error)
			go func() {
				_, err := req.Bindings[0].Call(one, runtime.Invocation{Member: "a", Args: "1"})
				first <- err
			}()
			synctest.Wait()
			giveUp()
			reply, err := req.Bindings[0].Call(ctx, runtime.Invocation{Member: "b", Args: "2"})
			if err != nil {
				return runtime.Result{}, err
			}
			return runtime.Result{Value: fmt.Sprintf("[%s,%q]", reply.Value, <-first)}, nil
		})
		res := mustRun(t, f, runtime.Request{Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			if inv.Member == "b" {
				return runtime.Reply{Value: inv.Args}, nil
			}
			<-ctx.Done()
			time.Sleep(time.Second) // later than the second call
			return runtime.Reply{}, context.Cause(ctx)
		})})
		if want := `[2,"the program gave up on the call"]`; res.Value != want || res.Failure != nil {
			t.Errorf("%s, %+v; want %s", res.Value, res.Failure, want)
		}
		f.Close()
	})
}

func TestOutputLedgerIsTheParents(t *testing.T) {
	lines := []string{"one", "two", "three"}
	f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		for _, text := range lines {
			req.Log(runtime.Line{Level: "log", Text: text})
		}
		return runtime.Result{Value: req.Program}, nil
	})
	// ["one","two","three"] is 21 bytes.
	for _, tt := range []struct {
		name, value string
		limit       int
		over        bool
	}{{"exactly", "12345", 26, false}, {"one more", "123456", 26, true}, {"logs alone", "1", 20, true}} {
		t.Run(tt.name, func(t *testing.T) {
			res := mustRun(t, f, runtime.Request{Program: tt.value, Limits: runtime.Limits{Output: tt.limit}})
			if !tt.over {
				if res.Failure != nil || res.Value != tt.value || !cmp.Equal(res.Logs, lines) {
					t.Errorf("%+v", res)
				}
				return
			}
			ledger := runtime.NewLedger(tt.limit)
			for _, text := range lines {
				ledger.Log(text)
			}
			logs, failure := ledger.Value(tt.value)
			if res.Value != "" || res.Failure == nil || res.Failure.Kind != runtime.OutputLimit || res.Failure.Message != failure.Message || !cmp.Equal(res.Logs, logs) {
				t.Errorf("%+v, want logs %q and %+v", res, logs, failure)
			}
		})
	}
}

func TestLogPanicIsContained(t *testing.T) {
	f := overEngine(t, Options{}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		req.Log(runtime.Line{Level: "log", Text: "x"})
		return runtime.Result{}, nil
	})
	res := mustRun(t, f, runtime.Request{Log: func(runtime.Line) { panic("listener") }})
	if res.Failure != nil || !cmp.Equal(res.Logs, []string{"x"}) {
		t.Errorf("%+v", res)
	}
}

func TestClockIsTheHosts(t *testing.T) {
	zone := time.FixedZone("TST", 3600)
	times := []time.Time{time.Date(2001, 2, 3, 4, 5, 6, 7, zone), time.Date(1969, 12, 31, 23, 59, 59, 1, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.Local)}
	var got []time.Time
	f := overEngine(t, Options{}, func(_ context.Context, req runtime.Request) (runtime.Result, error) {
		for range times {
			got = append(got, req.Clock())
		}
		return runtime.Result{}, nil
	})
	n := 0
	mustRun(t, f, runtime.Request{Clock: func() time.Time { n++; return times[n-1] }})
	for i, want := range times {
		if !got[i].Equal(want) || got[i].Format(time.RFC3339Nano) != want.Format(time.RFC3339Nano) {
			t.Errorf("reading %d is %v, want %v", i, got[i], want)
		}
	}
}

// A clock that panics ends the run: no time that it did not show reaches the program.
func TestClockPanicEndsTheRun(t *testing.T) {
	read := make(chan time.Time, 1)
	f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
		return hosted(engineFunc(func(_ context.Context, req runtime.Request) (runtime.Result, error) {
			if req.Clock != nil {
				read <- req.Clock()
			}
			return runtime.Result{}, nil
		})), nil
	})
	defer f.Close()
	res := mustRun(t, f, runtime.Request{Clock: func() time.Time { panic("tick") }})
	wantFailure(t, res, runtime.Exception, "the host's clock panicked: tick")
	if now := <-read; !now.IsZero() {
		t.Errorf("the engine saw %v", now)
	}
	if res := mustRun(t, f, runtime.Request{}); res.Failure != nil {
		t.Errorf("the next run: %+v", res.Failure)
	}
}

// What is too large to be described to a worker is refused before it has one.
func TestDescriptionThatCannotCross(t *testing.T) {
	f := newFleet(t, Options{}, func(int) (*process, error) {
		t.Error("a worker was started")
		return nil, errors.New("no")
	})
	defer f.Close()
	res := mustRun(t, f, runtime.Request{Name: strings.Repeat("n", runMetaCap)})
	if res.Failure == nil || res.Failure.Kind != runtime.InvalidInput || !strings.HasPrefix(res.Failure.Message, "the names of the program and its functions are 6710") {
		t.Errorf("%+v", res.Failure)
	}
}

func TestPreAborted(t *testing.T) {
	f := overEngine(t, Options{}, func(context.Context, runtime.Request) (runtime.Result, error) {
		t.Error("the program ran")
		return runtime.Result{}, nil
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("too late"))
	res, err := f.Run(ctx, runtime.Request{})
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, res, runtime.Abort, "too late")
	if f.started.Load() != 0 {
		t.Error("a worker was started for a run that was over")
	}
}

// Calls reach the host in the order of the program, whichever of the engine's
// goroutines is first.
func TestCallsArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					time.Sleep(time.Duration(8-i) * time.Second)
					req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a", Args: fmt.Sprint(i + 1), Seq: i + 1})
				})
			}
			all.Wait()
			return runtime.Result{}, nil
		})
		mustRun(t, f, runtime.Request{Parallel: 8, Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			if inv.Args != fmt.Sprint(inv.Seq) {
				t.Errorf("call %s arrived as number %d", inv.Args, inv.Seq)
			}
			return runtime.Reply{}, nil
		})})
		f.Close()
	})
}

// Parallel is how many bodies run at once, whatever the engine hands out.
func TestParallelCredit(t *testing.T) {
	for _, parallel := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			f := overEngine(t, Options{}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() { req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a"}) })
				}
				all.Wait()
				return runtime.Result{}, nil
			})
			var mu sync.Mutex
			active, most := 0, 0
			res := mustRun(t, f, runtime.Request{Parallel: parallel, Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
				mu.Lock()
				active++
				most = max(most, active)
				mu.Unlock()
				defer func() { mu.Lock(); active--; mu.Unlock() }()
				return runtime.Reply{}, nil
			})})
			if res.Failure != nil || res.Usage.Calls != 20 || most > max(parallel, 1) {
				t.Errorf("%+v with %d at once", res, most)
			}
		})
	}
}
