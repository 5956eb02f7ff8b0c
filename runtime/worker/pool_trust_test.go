package worker

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// numbered is a Runtime whose workers answer with their number, after the
// program's duration.
func numbered(t *testing.T, opts Options) *fleet {
	return newFleet(t, opts, func(n int) (*process, error) {
		return hosted(engineFunc(func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			res, err := sleeper(ctx, req)
			res.Value = fmt.Sprint(n)
			return res, err
		})), nil
	})
}

// One after the other: which worker serves a run of which trust.
func TestTrust(t *testing.T) {
	type visit struct {
		trust  any
		heap   int64 // MiB
		worker string
	}
	one, other := new(int), new(int)
	for _, tt := range []struct {
		name   string
		most   int
		visits []visit
	}{
		{"equal trust shares a worker", 2, []visit{{"a", 0, "1"}, {"a", 0, "1"}, {"a", 0, "1"}}},
		{"nil is a value like any other", 2, []visit{{nil, 0, "1"}, {"a", 0, "2"}, {nil, 0, "1"}, {"a", 0, "2"}}},
		{"pointers to equal values differ", 2, []visit{{one, 0, "1"}, {other, 0, "2"}, {one, 0, "1"}}},
		{"types differ", 2, []visit{{1, 0, "1"}, {int64(1), 0, "2"}, {1, 0, "1"}}},
		{"the spare serves anyone", 3, []visit{{"a", 0, "1"}, {"b", 0, "2"}, {"c", 0, "3"}, {"a", 0, "1"}, {"b", 0, "2"}, {"c", 0, "3"}}},
		{"a full pool ends the one idle longest", 2, []visit{{"a", 0, "1"}, {"b", 0, "2"}, {"c", 0, "3"}, {"b", 0, "2"}, {"a", 0, "4"}, {"b", 0, "2"}, {"c", 0, "5"}}},
		{"a pool of one", 1, []visit{{"a", 0, "1"}, {"b", 0, "2"}, {"b", 0, "2"}, {"a", 0, "3"}}},
		{"of equal trust and a smaller heap", 2, []visit{{"a", 64, "1"}, {"a", 128, "1"}, {"a", 64, "2"}, {"a", 128, "2"}, {"b", 64, "3"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := numbered(t, Options{MaxWorkers: tt.most})
				defer f.Close()
				for i, v := range tt.visits {
					res := mustRun(t, f, runtime.Request{Program: "1ms", Trust: v.trust, Limits: runtime.Limits{Heap: v.heap << 20}})
					if res.Value != v.worker {
						t.Errorf("run %d of trust %v was served by worker %s, want %s", i, v.trust, res.Value, v.worker)
					}
					synctest.Wait() // the spare
				}
				if live, _ := f.census(); live > tt.most {
					t.Errorf("%d live, want at most %d", live, tt.most)
				}
			})
		})
	}
}

// A run that waits gets the worker that is given back if it may be served by it,
// and the worker's place if not. Either way it is the one that has waited longest.
func TestTrustOfWaitingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := numbered(t, Options{MaxWorkers: 1})
		defer f.Close()
		var got []string
		done := make(chan string)
		for i, trust := range []string{"a", "a", "b", "a", "b", "b"} {
			go func() {
				res, _ := f.Run(t.Context(), runtime.Request{Program: "1s", Trust: trust})
				done <- fmt.Sprintf("run %d of %s on worker %s", i, trust, res.Value)
			}()
			synctest.Wait()
		}
		start := time.Now()
		for range 6 {
			got = append(got, <-done)
		}
		want := []string{"run 0 of a on worker 1", "run 1 of a on worker 1", "run 2 of b on worker 2", "run 3 of a on worker 3", "run 4 of b on worker 4", "run 5 of b on worker 4"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(start); took != 6*time.Second {
			t.Errorf("six runs of a second took %v", took)
		}
	})
}

// A nested run takes the place of a foreign idle worker before it goes beyond
// MaxWorkers, and what it took beyond is gone with it.
func TestNestedRunsAndIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := numbered(t, Options{MaxWorkers: 2})
		defer f.Close()
		mustRun(t, f, runtime.Request{Program: "1ms", Trust: "b"})
		outer := launch(t.Context(), f.Runtime, runtime.Request{Program: "1m", Trust: "a"})
		synctest.Wait()
		if live, _ := f.census(); live != 2 {
			t.Fatalf("%d live, want the outer run's worker and an idle one", live)
		}
		inner := func() <-chan runtime.Result {
			return launch(t.Context(), f.Runtime, runtime.Request{Program: "1s", Trust: "c", Nested: true})
		}
		first := inner()
		synctest.Wait()
		if live, _ := f.census(); live != 2 {
			t.Errorf("%d live with one nested run, want 2", live)
		}
		second := inner()
		synctest.Wait()
		if live, _ := f.census(); live != 3 {
			t.Errorf("%d live with two nested runs, want 3", live)
		}
		<-first
		<-second
		synctest.Wait()
		if live, _ := f.census(); live > 2 {
			t.Errorf("%d live after the nested runs, want at most 2", live)
		}
		<-outer
	})
}

// A run inside a run that is not marked as one waits for the place its ancestor
// holds, until that one's time is over.
func TestRunInsideARunThatIsNotMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
			if len(req.Bindings) == 0 {
				return runtime.Result{Value: "1"}, nil
			}
			req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a"})
			return untilStopped(ctx, req)
		})
		var inner runtime.Result
		res := mustRun(t, f, runtime.Request{
			Limits: runtime.Limits{Wall: time.Second},
			Bindings: tools(t, func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
				var err error
				inner, err = f.Run(ctx, runtime.Request{})
				return runtime.Reply{}, err
			}),
		})
		wantFailure(t, res, runtime.Timeout, "wall-clock ceiling reached (1000ms)")
		wantFailure(t, inner, runtime.Abort, "wall-clock ceiling reached (1000ms)")
		if res := mustRun(t, f, runtime.Request{}); res.Value != "1" {
			t.Errorf("the next run: %+v", res.Failure)
		}
		f.Close()
	})
}

// One nested run more than may be in progress fails at once and says so; it costs
// nothing, and there is room again when another ends.
func TestNestedRunsAreBounded(t *testing.T) {
	for _, tt := range []struct{ workers, nested int }{{1, 32}, {8, 32}, {9, 36}} {
		t.Run(fmt.Sprintf("%d workers", tt.workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{engine: sleeper}
				r := c.open(Options{MaxWorkers: tt.workers})
				var runs []<-chan runtime.Result
				for range tt.workers {
					runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "1h"}))
				}
				synctest.Wait()
				shorter := launch(t.Context(), r, runtime.Request{Program: "1s", Nested: true})
				for range tt.nested - 1 {
					runs = append(runs, launch(t.Context(), r, runtime.Request{Program: "1h", Nested: true}))
				}
				synctest.Wait()
				start := time.Now()
				res := mustRun(t, r, runtime.Request{Program: "1s", Nested: true})
				wantFailure(t, res, runtime.WorkerUnavailable, fmt.Sprintf("no worker process for a run inside another run: %d such runs are in progress, the most there may be at once (MaxWorkers is %d)", tt.nested, tt.workers))
				if res.Failure != nil && res.Failure.Hint != "start fewer of them at a time, for example one after the other" {
					t.Errorf("hint %q", res.Failure.Hint)
				}
				if took := time.Since(start); took != 0 {
					t.Errorf("it failed after %v, want at once", took)
				}
				if alive, _ := c.now(); alive != tt.workers+tt.nested {
					t.Errorf("%d processes live, want %d", alive, tt.workers+tt.nested)
				}
				<-shorter
				if res := mustRun(t, r, runtime.Request{Program: "1s", Nested: true}); res.Value != "1" {
					t.Errorf("after one has ended: %+v", res.Failure)
				}
				r.Close()
				for _, run := range runs {
					<-run
				}
				c.wantEmpty(t, r)
			})
		})
	}
}
