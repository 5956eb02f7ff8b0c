package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// A steady stream of runs never waits for a start: not the first, which New has
// made, and not one that follows a worker's retirement or end. Time stands still
// but for the runs and the starts.
func TestSteadyStreamNeverWaits(t *testing.T) {
	const runs = 2500 // their time, and that between retirements, is longer than Idle
	for _, tt := range []struct {
		name    string
		stop    int // one run in so many is stopped, which ends its worker
		started int
	}{
		{"retirements", runs + 1, 2 + (runs-1)/maxRuns},
		{"stopped runs", 50, 2 + (runs-1)/50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{engine: sleeper, exits: time.Millisecond, starts: slowly(150 * time.Millisecond)}
				r := c.open(Options{MaxWorkers: 2, Idle: time.Second})
				first, err := c.start(t.Context()) // as New does
				if err != nil {
					t.Fatal(err)
				}
				r.pool.adopt(first)
				for i := range runs {
					req := runtime.Request{Program: "10ms"}
					if i%tt.stop == tt.stop-1 {
						req.Limits.Wall = 5 * time.Millisecond
					}
					start := time.Now()
					res := mustRun(t, r, req)
					if took, most := time.Since(start), 10*time.Millisecond+c.exits; took > most || (res.Failure != nil) != (req.Limits.Wall != 0) {
						t.Errorf("run %d took %v (%+v), want at most %v", i, took, res.Failure, most)
					}
				}
				synctest.Wait()
				time.Sleep(time.Second) // the last spare
				if _, started := c.now(); started != tt.started {
					t.Errorf("%d workers started, want %d", started, tt.started)
				}
				r.Close()
				c.wantEmpty(t, r)
			})
		})
	}
}

// A pool of one has no spare; what ends its worker makes room for the next, which
// starts in the background.
func TestPoolOfOneStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{engine: immediate}
		r := c.open(Options{MaxWorkers: 1})
		mustRun(t, r, runtime.Request{})
		synctest.Wait()
		if _, started := c.now(); started != 1 {
			t.Errorf("%d workers started for one run, want 1", started)
		}
		mustRun(t, r, runtime.Request{Program: "memory-limit"})
		synctest.Wait()
		if alive, started := c.now(); alive != 1 || started != 2 {
			t.Errorf("%d alive and %d started after one was ended, want a fresh one", alive, started)
		}
		r.Close()
		c.wantEmpty(t, r)
	})
}

// Spares that end or fail as soon as they are started are not started over and
// over: each run asks once.
func TestSparesThatFail(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spare func() (*process, error)
		logs  int
	}{
		{"refused", func() (*process, error) { return nil, &startError{problem: "refused"} }, 5},
		{"short of processes", func() (*process, error) { return nil, syscall.EAGAIN }, 5},
		{"gone after the greeting", func() (*process, error) {
			w := greeted()
			w.kill()
			<-w.exited
			return w, nil
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				starts := 0
				r := newRuntime(Options{MaxWorkers: 3}, func(context.Context) (*process, error) {
					if starts++; starts > 1 {
						return tt.spare()
					}
					return greeted(), nil
				}, func() {}, slog.New(slog.NewTextHandler(&log, nil)))
				for i := range 5 {
					if res := mustRun(t, r, runtime.Request{}); res.Failure != nil {
						t.Fatalf("%+v", res.Failure)
					}
					time.Sleep(2 * time.Second)
					synctest.Wait()
					// One when it had its worker, one when it gave it back.
					if most := 1 + 2*(i+1); starts > most {
						t.Fatalf("%d starts after %d runs", starts, i+1)
					}
				}
				if got := strings.Count(log.String(), "a spare worker could not be started"); (got > 0) != (tt.logs > 0) {
					t.Errorf("%d failures are logged:\n%s", got, log.String())
				}
				r.Close()
			})
		})
	}
}

// greeted is a worker that is ready.
func greeted() *process {
	w := hosted(engineFunc(immediate))
	if err := w.greet(greeting{wait: helloWait}); err != nil {
		panic(err)
	}
	return w
}

// A start that hangs delays nobody but its own run, as long as not all that may be
// in progress hang.
func TestHangingStartsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{engine: immediate, starts: func(n int) (time.Duration, error) {
			if n <= minStarts-1 {
				return time.Hour, &startError{problem: "it said nothing"}
			}
			return 10 * time.Millisecond, nil
		}}
		r := c.open(Options{MaxWorkers: minStarts + 1})
		var hanging []<-chan runtime.Result
		for range minStarts - 1 {
			hanging = append(hanging, launch(t.Context(), r, runtime.Request{Limits: runtime.Limits{Wall: time.Minute}}))
		}
		synctest.Wait()
		start := time.Now()
		if res := mustRun(t, r, runtime.Request{}); res.Failure != nil || time.Since(start) != 10*time.Millisecond {
			t.Errorf("%+v after %v", res.Failure, time.Since(start))
		}
		for _, run := range hanging {
			wantFailure(t, <-run, runtime.WorkerUnavailable, "no worker process could be started: it took longer than the wall limit of 1m0s")
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("they were given up after %v, want the wall limit", took)
		}
		r.Close()
		c.wantEmpty(t, r)
	})
}

// Idle workers that have died make way, and are no spare.
func TestDeadIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := numbered(t, Options{MaxWorkers: 2})
		defer f.Close()
		mustRun(t, f, runtime.Request{Program: "1ms"})
		synctest.Wait()
		for _, w := range f.workers {
			w.kill()
		}
		synctest.Wait()
		for range 2 {
			if res := mustRun(t, f, runtime.Request{Program: "1ms"}); res.Value != "3" {
				t.Errorf("worker %s (%+v), want the third", res.Value, res.Failure)
			}
			synctest.Wait()
		}
		if live, _ := f.census(); live != 2 || f.started.Load() != 4 {
			t.Errorf("%d live and %d started, want two in the place of two", live, f.started.Load())
		}
	})
}

// Close returns after the last process has gone, whatever is going on, and every
// run gets its answer.
func TestCloseWaits(t *testing.T) {
	const exits = 300 * time.Millisecond
	for _, tt := range []struct {
		name  string
		crowd *crowd
		opts  Options
		busy  func(t *testing.T, c *crowd, r *Runtime) []<-chan runtime.Result
		least time.Duration // that Close takes
	}{
		{"runs in progress", &crowd{}, Options{MaxWorkers: 3}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			for range 3 {
				runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "1h"}))
			}
			return runs
		}, exits},
		{"starts that can be given up", &crowd{starts: slowly(time.Hour)}, Options{MaxWorkers: 3}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			for range 5 {
				runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "1h"}))
			}
			return runs
		}, 0},
		{"starts that cannot", &crowd{starts: slowly(time.Second), deaf: true}, Options{MaxWorkers: 3}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			for range 5 {
				runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "1h"}))
			}
			return runs
		}, time.Second + exits},
		{"a spare that is being started", &crowd{starts: func(n int) (time.Duration, error) { return time.Duration(n-1) * time.Second, nil }, deaf: true}, Options{MaxWorkers: 2}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			return append(runs, launch(t.Context(), r, runtime.Request{Program: "1ms"}))
		}, time.Second},
		{"an eviction for another trust", &crowd{}, Options{MaxWorkers: 1}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			mustRun(t, r, runtime.Request{Program: "1ms"})
			return append(runs, launch(t.Context(), r, runtime.Request{Program: "1h", Trust: "other"}))
		}, exits},
		{"a worker that has been idle for too long", &crowd{}, Options{MaxWorkers: 1, Idle: time.Second}, func(t *testing.T, c *crowd, r *Runtime) []<-chan runtime.Result {
			mustRun(t, r, runtime.Request{Program: "1ms"})
			time.Sleep(time.Second)
			synctest.Wait()
			if live, _ := c.now(); live != 1 || len(r.pool.idle) != 0 {
				t.Errorf("%d live, want one that is ending", live)
			}
			return nil
		}, exits},
		{"idle workers", &crowd{}, Options{MaxWorkers: 2}, func(t *testing.T, _ *crowd, r *Runtime) []<-chan runtime.Result {
			mustRun(t, r, runtime.Request{Program: "1ms"})
			synctest.Wait()
			return nil
		}, exits},
		{"a burst", &crowd{starts: slowly(100 * time.Millisecond)}, Options{MaxWorkers: 4}, func(t *testing.T, _ *crowd, r *Runtime) (runs []<-chan runtime.Result) {
			for i := range 60 {
				runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "70ms", Trust: i % 3, Nested: i%5 == 0}))
			}
			time.Sleep(350 * time.Millisecond)
			return runs
		}, exits},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := tt.crowd
				c.engine, c.exits = sleeper, exits
				r := c.open(tt.opts)
				runs := tt.busy(t, c, r)
				synctest.Wait()
				start := time.Now()
				var closing sync.WaitGroup
				for range 2 {
					closing.Go(func() {
						if err := r.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
						c.wantEmpty(t, r)
					})
				}
				closing.Wait()
				if took := time.Since(start); took < tt.least || took > tt.least+2*exits {
					t.Errorf("Close took %v, want %v or a little more", took, tt.least)
				}
				for i, run := range runs {
					select {
					case res := <-run:
						if res.Failure != nil {
							wantFailure(t, res, runtime.Abort, "runtime disposed")
						}
					default:
						t.Errorf("Close returned before run %d", i)
					}
				}
				if _, err := r.Run(t.Context(), runtime.Request{}); err != runtime.ErrClosed {
					t.Errorf("Run after Close: %v", err)
				}
				r.Close()
				c.wantEmpty(t, r)
			})
		})
	}
}

// slowly is crowd.starts that take d each.
func slowly(d time.Duration) func(int) (time.Duration, error) {
	return func(int) (time.Duration, error) { return d, nil }
}

func TestOptionsThatCannotBe(t *testing.T) {
	for _, opts := range []Options{{MaxWorkers: -1}, {Idle: -1}} {
		_, err := New(t.Context(), &opts)
		if want := fmt.Sprintf("worker options: MaxWorkers is %d and Idle is %v; neither may be negative (zero takes the default)", opts.MaxWorkers, opts.Idle); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// What a run is given at the moment it gives up goes on to the next.
func TestTurnThatIsLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		give func(p *pool, w *process)
		live int
	}{
		{"a worker", (*pool).put, 1},
		{"a place", (*pool).drop, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{engine: immediate}
				r := c.open(Options{MaxWorkers: 1})
				w, failure := r.pool.get(t.Context(), demand{wall: time.Second})
				if failure != nil {
					t.Fatal(failure)
				}
				_, turn := r.pool.claim(&demand{})
				if turn == nil {
					t.Fatal("a full pool gives no turn")
				}
				tt.give(r.pool, w)
				r.pool.leave(turn)
				if r.pool.live != tt.live || len(r.pool.idle) != tt.live || w.gone() != (tt.live == 0) {
					t.Errorf("%d live, %d idle, the worker is gone: %v; want %d", r.pool.live, len(r.pool.idle), w.gone(), tt.live)
				}
				r.Close()
				c.wantEmpty(t, r)
			})
		})
	}
}

// When the time is over, what stood in the way of earlier starts is said.
func TestShortageIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{engine: immediate, starts: func(n int) (time.Duration, error) {
			if n == 1 {
				return 0, syscall.EAGAIN
			}
			return time.Hour, nil
		}}
		r := c.open(Options{MaxWorkers: 1})
		res := mustRun(t, r, runtime.Request{Limits: runtime.Limits{Wall: time.Minute}})
		wantFailure(t, res, runtime.WorkerUnavailable, "no worker process could be started: resource temporarily unavailable")
		r.Close()
		c.wantEmpty(t, r)
	})
}
