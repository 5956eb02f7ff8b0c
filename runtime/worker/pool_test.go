package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// immediate ends at once, the way the program says.
func immediate(_ context.Context, req runtime.Request) (runtime.Result, error) {
	if req.Program == "" {
		return runtime.Result{Value: "1"}, nil
	}
	return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Kind(req.Program), Message: req.Input}}, nil
}

// sleeper runs until the program's duration has passed.
func sleeper(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	d, err := time.ParseDuration(req.Program)
	if err != nil {
		return runtime.Result{}, err
	}
	select {
	case <-time.After(d):
		return runtime.Result{Value: "1"}, nil
	case <-ctx.Done():
		return untilStopped(ctx, req)
	}
}

func TestReuse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		req   runtime.Request
		reuse bool
	}{
		{"value", runtime.Request{}, true},
		{"exception", runtime.Request{Program: "exception", Input: "Error: x"}, true},
		{"invalid input", runtime.Request{Program: "invalid-input"}, true},
		{"invalid output", runtime.Request{Program: "invalid-output"}, true},
		{"depth", runtime.Request{Program: "exception", Input: "call depth exceeded (4096 nested calls)"}, false},
		{"compute", runtime.Request{Program: "timeout"}, false},
		{"memory", runtime.Request{Program: "memory-limit"}, false},
		{"output", runtime.Request{Program: "output-limit"}, false},
		{"calls", runtime.Request{Program: "call-limit"}, false},
		{"bytes", runtime.Request{Program: "bytes-limit"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := overEngine(t, Options{MaxWorkers: 1}, immediate)
			mustRun(t, f, tt.req)
			mustRun(t, f, runtime.Request{})
			if got := f.started.Load() == 1; got != tt.reuse {
				t.Errorf("%d workers for two runs, reuse wanted: %v", f.started.Load(), tt.reuse)
			}
		})
	}
}

// stuckEngine cannot end its goroutines.
type stuckEngine struct{ engineFunc }

func (stuckEngine) Stuck() int { return 1 }

func TestStuckEngineIsNotReused(t *testing.T) {
	f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) { return hosted(stuckEngine{immediate}), nil })
	defer f.Close()
	mustRun(t, f, runtime.Request{})
	mustRun(t, f, runtime.Request{})
	if f.started.Load() != 2 {
		t.Errorf("%d workers for two runs of an engine that is stuck", f.started.Load())
	}
}

func TestWorkerRetiresAfterManyRuns(t *testing.T) {
	f := overEngine(t, Options{MaxWorkers: 1}, immediate)
	for range maxRuns - 1 {
		mustRun(t, f, runtime.Request{})
	}
	if f.started.Load() != 1 {
		t.Fatalf("%d workers for %d runs", f.started.Load(), maxRuns-1)
	}
	mustRun(t, f, runtime.Request{}) // its last, so that the next may be in the making at once
	mustRun(t, f, runtime.Request{})
	if f.started.Load() != 2 {
		t.Errorf("%d workers after %d runs", f.started.Load(), maxRuns+1)
	}
}

// A heap does not shrink: a run with a smaller limit gets a fresh process.
func TestSmallerHeapNeedsAFreshWorker(t *testing.T) {
	f := overEngine(t, Options{MaxWorkers: 1}, immediate)
	for i, tt := range []struct{ heap, started int64 }{{64 << 20, 1}, {128 << 20, 1}, {64 << 20, 2}, {64 << 20, 2}} {
		mustRun(t, f, runtime.Request{Limits: runtime.Limits{Heap: tt.heap}})
		if f.started.Load() != tt.started {
			t.Errorf("after run %d: %d workers started, want %d", i, f.started.Load(), tt.started)
		}
	}
}

func TestSpareIsWarmedAndIdleWorkersExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 3, Idle: time.Minute}, immediate)
		mustRun(t, f, runtime.Request{})
		synctest.Wait()
		if f.started.Load() != 2 {
			t.Errorf("%d workers after the first run, want its own and a spare", f.started.Load())
		}
		mustRun(t, f, runtime.Request{})
		synctest.Wait()
		if f.started.Load() != 2 {
			t.Errorf("%d workers after the second run, want no more", f.started.Load())
		}
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		if n, _ := f.census(); n != 2 {
			t.Errorf("%d live just before the idle time is over", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n, _ := f.census(); n != 0 || !f.workers[0].gone() || !f.workers[1].gone() {
			t.Errorf("%d live after the idle time", n)
		}
		f.Close()
	})
}

func TestRunsWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 2}, sleeper)
		var order []int
		done := make(chan int)
		run := func(ctx context.Context, i int, req runtime.Request) {
			go func() {
				f.Run(ctx, req)
				done <- i
			}()
			synctest.Wait()
		}
		for i := range 6 {
			run(t.Context(), i, runtime.Request{Program: fmt.Sprint(10+i, "s")})
		}
		if n, _ := f.census(); n != 2 {
			t.Errorf("%d live, want 2", n)
		}
		// A nested run does not wait.
		run(t.Context(), 100, runtime.Request{Program: "1s", Nested: true})
		// One that waits may give up, and is not counted any more.
		waiting, cancel := context.WithCancel(t.Context())
		run(waiting, 200, runtime.Request{Program: "1s"})
		cancel()
		for range 8 {
			order = append(order, <-done)
		}
		if diff := cmp.Diff([]int{200, 100, 0, 1, 2, 3, 4, 5}, order); diff != "" {
			t.Error(diff)
		}
		synctest.Wait()
		if live, waiting := f.census(); live != 2 || waiting != 0 {
			t.Errorf("%d live and %d waiting at the end", live, waiting)
		}
		f.Close()
	})
}

func TestCloseEndsWaitingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 1}, sleeper)
		results := make(chan runtime.Result)
		for range 3 {
			go func() {
				res, _ := f.Run(t.Context(), runtime.Request{Program: "1h"})
				results <- res
			}()
		}
		synctest.Wait()
		go f.Close()
		for range 3 {
			wantFailure(t, <-results, runtime.Abort, "runtime disposed")
		}
		f.Close()
		if !f.workers[0].gone() {
			t.Error("Close returned before the worker was gone")
		}
	})
}

func TestStartFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		errs   []error // of the starts, in order; then they succeed
		wall   time.Duration
		kind   runtime.Kind // "" for success
		text   string
		starts int64
		took   time.Duration
	}{
		{"no process for a moment", []error{syscall.EAGAIN, syscall.EAGAIN}, time.Minute, "", "", 3, 30 * time.Millisecond},
		{"no descriptor for a moment", []error{fmt.Errorf("fork: %w", syscall.EMFILE)}, time.Minute, "", "", 2, 10 * time.Millisecond},
		{"no memory for a moment", []error{syscall.ENOMEM}, time.Minute, "", "", 2, 10 * time.Millisecond},
		{"until the wall limit", repeat(syscall.EAGAIN, 100), time.Second, runtime.WorkerUnavailable,
			"no worker process could be started: resource temporarily unavailable", 7, time.Second},
		{"for good", []error{&startError{problem: "it exited with code 1 instead of greeting", said: "oh no"}}, time.Minute, runtime.WorkerUnavailable,
			"no worker process could be started: it exited with code 1 instead of greeting; it printed: oh no", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, Options{MaxWorkers: 1}, func(n int) (*process, error) {
					if n <= len(tt.errs) {
						return nil, tt.errs[n-1]
					}
					return hosted(engineFunc(immediate)), nil
				})
				start := time.Now()
				res := mustRun(t, f, runtime.Request{Limits: runtime.Limits{Wall: tt.wall}})
				if tt.kind != "" {
					wantFailure(t, res, tt.kind, tt.text)
				} else if res.Failure != nil || res.Value != "1" {
					t.Errorf("%+v", res)
				}
				if took := time.Since(start); took != tt.took || f.started.Load() != tt.starts {
					t.Errorf("took %v and %d starts, want %v and %d", took, f.started.Load(), tt.took, tt.starts)
				}
				// The pool recovers: the place is free again.
				f.started.Store(1000)
				if res := mustRun(t, f, runtime.Request{}); res.Value != "1" {
					t.Errorf("the next run: %+v", res)
				}
				f.Close()
			})
		})
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func TestStartIsGivenUpWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) { return nil, syscall.EAGAIN })
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		res, err := f.Run(ctx, runtime.Request{})
		if err != nil {
			t.Fatal(err)
		}
		wantFailure(t, res, runtime.Abort, "enough")
		f.Close()
	})
}

// A worker whose limits cannot be set runs nothing; one that has just ended is
// left to the session, which says how.
func TestLimitsThatCannotBeSet(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		kind runtime.Kind // "" for success
	}{
		{"set", nil, ""},
		{"refused", os.ErrPermission, runtime.WorkerUnavailable},
		{"the process has ended", syscall.ESRCH, ""},
		{"its files are gone", os.ErrNotExist, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
				w := hosted(engineFunc(func(context.Context, runtime.Request) (runtime.Result, error) {
					ran = true
					return runtime.Result{Value: "1"}, nil
				}))
				w.arm = func(limits runtime.Limits) error {
					if limits.Heap != MinHeap {
						t.Errorf("armed with a heap of %d bytes", limits.Heap)
					}
					return tt.err
				}
				return w, nil
			})
			defer f.Close()
			res := mustRun(t, f, runtime.Request{Program: "x", Limits: runtime.Limits{Heap: MinHeap}})
			if tt.kind == "" {
				if res.Value != "1" {
					t.Errorf("%+v", res.Failure)
				}
				return
			}
			wantFailure(t, res, tt.kind, "the limits of the worker process could not be set: "+tt.err.Error())
			f.mu.Lock() // a replacement is being started
			first := f.workers[0]
			f.mu.Unlock()
			if ran || !first.gone() {
				t.Errorf("ran: %v, the worker is gone: %v", ran, first.gone())
			}
		})
	}
}

// There are places for twice as many workers as processors, since a run that waits
// keeps its own.
func TestDefaultPlaces(t *testing.T) {
	for _, tt := range []struct{ processors, given, want int }{
		{1, 0, 4}, {2, 0, 4}, {3, 0, 6}, {8, 0, 16}, {8, 1, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d processors", tt.given, tt.processors), func(t *testing.T) {
			defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(tt.processors))
			r := newRuntime(Options{MaxWorkers: tt.given}, func(context.Context) (*process, error) {
				return nil, errors.New("none is needed")
			}, func() {}, discard)
			defer r.Close()
			if r.pool.most != tt.want {
				t.Errorf("%d places, want %d", r.pool.most, tt.want)
			}
		})
	}
}
