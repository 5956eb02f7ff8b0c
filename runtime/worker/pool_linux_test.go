package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

// held is what this process has of the system's.
type held struct{ descriptors, threads, children int }

func holds(t testing.TB) held {
	t.Helper()
	return held{count(t, "/proc/self/fd"), count(t, "/proc/self/task"), len(children(t))}
}

// wantNoMore checks that nothing of what a Runtime held is left after its Close.
// A thread that served one is kept by Go for the next, so their number is bounded
// by what was needed at once.
func (before held) wantNoMore(t *testing.T, threads int) {
	t.Helper()
	now := holds(t)
	if now.children != before.children {
		t.Errorf("%d children after Close, had %d", now.children, before.children)
	}
	if now.descriptors > before.descriptors+2 { // the poller's own may have come
		t.Errorf("%d descriptors are open, had %d", now.descriptors, before.descriptors)
	}
	if now.threads > before.threads+threads {
		t.Errorf("%d threads, had %d", now.threads, before.threads)
	}
}

// Some hundred runs, among them such that end their worker, leave no process, no
// descriptor and no thread behind; ten thousand if Soak.
func TestNothingIsLeftBehind(t *testing.T) {
	rounds := 1
	if worker.Soak() {
		rounds = 30
	}
	manyRuns(t, 4, 40) // what the first use of anything leaves for good
	before := holds(t)
	var after []held
	for range rounds {
		// 240 with one worker, which retires once; 100 with four.
		manyRuns(t, 1, 240)
		manyRuns(t, 4, 100)
		after = append(after, holds(t))
	}
	before.wantNoMore(t, 16)
	if first, last := after[0], after[len(after)-1]; last.descriptors > first.descriptors || last.threads > first.threads+4 {
		t.Errorf("%+v after the first round and %+v after the last", first, last)
	}
	t.Logf("before %+v, after %d runs %+v", before, rounds*340, after[len(after)-1])
}

// manyRuns has so many runs served by so many workers. Some are stopped, some
// end their worker, some are given up while they wait.
func manyRuns(t *testing.T, workers, runs int) {
	t.Helper()
	r := open(t, &worker.Options{MaxWorkers: workers})
	starts := worker.CountStarts(r)
	var all sync.WaitGroup
	next := atomic.Int64{}
	for range workers + 1 {
		all.Go(func() {
			for i := int(next.Add(1)); i <= runs; i = int(next.Add(1)) {
				ctx, cancel := context.WithCancelCause(t.Context())
				req, kind := runtime.Request{Program: fmt.Sprint("return ", i)}, runtime.Kind("")
				switch i % 40 {
				case 10:
					req.Program, req.Limits.Compute, kind = "for (;;);", 10*time.Millisecond, runtime.Timeout
				case 20:
					req.Program, kind = "await new Promise(r => setTimeout(r, 60000))", runtime.Abort
					time.AfterFunc(5*time.Millisecond, func() { cancel(errors.New("enough")) })
				case 30:
					req.Trust = "another"
				}
				res, err := r.Run(ctx, req)
				cancel(nil)
				switch {
				case err != nil:
					t.Error(err)
				case kind == "" && res.Value != fmt.Sprint(i), kind != "" && (res.Failure == nil || res.Failure.Kind != kind):
					t.Errorf("%s: %+v %+v", req.Program, res, res.Failure)
				}
			}
		})
	}
	all.Wait()
	if n := len(children(t)); n > workers {
		t.Errorf("%d workers live after the runs, want at most %d", n, workers)
	}
	r.Close()
	if starts() == 0 {
		t.Error("no worker was ended and started again")
	}
}

// A burst of runs of all kinds never has more processes than there are places for,
// those that are ending included.
func TestBurstIsBounded(t *testing.T) {
	const workers = 3
	before := len(children(t))
	r := open(t, &worker.Options{MaxWorkers: workers})
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "nest"}})
	if err != nil {
		t.Fatal(err)
	}
	var nested, mostNested atomic.Int64
	nest := func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
		n := nested.Add(1)
		defer nested.Add(-1)
		for most := mostNested.Load(); n > most && !mostNested.CompareAndSwap(most, n); most = mostNested.Load() {
		}
		res, err := r.Run(ctx, runtime.Request{Program: "return 7", Nested: true})
		return runtime.Reply{Value: res.Value}, err
	}
	done := make(chan struct{})
	var most int
	var counted sync.WaitGroup
	counted.Go(func() {
		for {
			most = max(most, childrenNow()-before)
			select {
			case <-done:
				return
			default:
			}
		}
	})
	var all sync.WaitGroup
	for i := range 80 {
		all.Go(func() {
			req := runtime.Request{Program: "return 7", Trust: i % 4, Limits: runtime.Limits{Heap: int64(256+128*(i%3)) << 20}}
			want := runtime.Kind("")
			switch i % 5 {
			case 1:
				req.Program = "return (await Promise.all([1, 2, 3].map(() => tools.nest({}))))[0]"
				req.Parallel = 3
				req.Bindings = []runtime.Binding{{Namespace: namespace, Call: nest}}
			case 2:
				req.Program, req.Limits.Compute, want = "for (;;);", 5*time.Millisecond, runtime.Timeout
			}
			res, err := r.Run(t.Context(), req)
			switch {
			case err != nil:
				t.Error(err)
			case want == "" && res.Value != "7", want != "" && (res.Failure == nil || res.Failure.Kind != want):
				t.Errorf("%s: %+v %+v", req.Program, res, res.Failure)
			}
		})
	}
	all.Wait()
	close(done)
	counted.Wait()
	bound := workers + int(mostNested.Load())
	if most > bound || most < workers {
		t.Errorf("up to %d processes at once, want at most %d and %d for nested runs", most, workers, mostNested.Load())
	}
	t.Logf("up to %d processes, with up to %d nested runs", most, mostNested.Load())
}

// childrenNow counts the child processes of this one, zombies included.
func childrenNow() (n int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range lists {
		text, _ := os.ReadFile(name)
		n += len(strings.Fields(string(text)))
	}
	return n
}

// A run that used much memory costs its worker; one that used what a large result
// needs does not.
func TestRetirementOfWorkersThatHaveGrown(t *testing.T) {
	if worker.RaceEnabled {
		t.Skip("the race detector's shadow memory grows as well")
	}
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "rows"}})
	if err != nil {
		t.Fatal(err)
	}
	row := `{"id":123456,"name":"a name of some length and then a good deal more of it, as texts in rows tend to have","tags":["x","y"],"ok":true},`
	rows := func(size int) string { return "[" + strings.TrimSuffix(strings.Repeat(row, size/len(row)), ",") + "]" }
	for _, tt := range []struct {
		name, program, value string
		runs                 int
		least, most          int // workers started for all runs, after the first
	}{
		{"nothing", "return 1", "", 20, 0, 0},
		{"results of 1 MB", "return (await tools.rows({})).length", rows(1e6), 10, 0, 0},
		{"results of 10 MB", "return (await tools.rows({})).length", rows(10e6), 8, 0, 4},
		{"30 MB of its own", "const a = []; for (let i = 0; i < 30; i++) a.push('x'.repeat(1e6) + i); return a.length", "", 6, 0, 0},
		{"300 MB of its own", "const a = []; for (let i = 0; i < 300; i++) a.push('x'.repeat(1e6) + i); return a.length", "", 3, 2, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.least > 0 && testing.Short() {
				t.Skip("uses much memory")
			}
			r := open(t, &worker.Options{MaxWorkers: 1})
			starts := worker.CountStarts(r)
			for range tt.runs {
				res := run(t, r, runtime.Request{Program: tt.program, Bindings: []runtime.Binding{{Namespace: namespace, Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
					return runtime.Reply{Value: tt.value}, nil
				}}}})
				if res.Failure != nil {
					t.Fatalf("%+v", res.Failure)
				}
			}
			r.Close()
			if n := starts(); n < tt.least || n > tt.most {
				t.Errorf("%d workers started for %d runs after the first, want %d to %d", n, tt.runs, tt.least, tt.most)
			}
		})
	}
}
