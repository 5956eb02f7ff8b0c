package policy_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// office has tools whose bodies record when they begin and take a second.
type office struct {
	*pipeline.Pipeline
	began   time.Time
	running atomic.Int32

	mu    sync.Mutex
	begun []start
	most  int32
}

type start struct {
	at time.Duration // since the beginning
	id string        // the call's
}

func newOffice(t *testing.T, wrappers ...wrapper) *office {
	o := &office{began: time.Now()}
	work := func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		o.start(run.Call().ID())
		defer o.running.Add(-1)
		return sleeper(time.Second)(ctx, run)
	}
	o.Pipeline = pipelinetest.New(t, nil, pipelinetest.Tool("a", work), pipelinetest.Tool("b", work),
		pipelinetest.Tool("outer", o.nest("a")), pipelinetest.Tool("middle", o.nest("outer")), pipelinetest.Tool("twice", o.nest("b", "a")),
		pipelinetest.Tool("runner", o.nest(tools.TransportName)))
	for i, w := range wrappers {
		o.Execution.Use(strconv.Itoa(i), w)
	}
	install(t, o.Pipeline, pipelinetest.Tool(tools.TransportName, o.nest("a", "a")))
	return o
}

func (o *office) start(id string) {
	n := o.running.Add(1)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = max(o.most, n)
	o.begun = append(o.begun, start{time.Since(o.began), id})
}

// starts lists "<call id> <seconds>"; those of one moment have no order.
func (o *office) starts() (all []string) {
	slices.SortFunc(o.begun, func(a, b start) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	for _, s := range o.begun {
		all = append(all, fmt.Sprint(s.id, " ", s.at.Seconds()))
	}
	return all
}

// nest is a body that makes the calls side by side.
func (o *office) nest(names ...string) body {
	return func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() {
				o.Execute(ctx, pipeline.Request{ID: fmt.Sprintf("%s.%d", run.Call().ID(), i+1), Name: name, Parent: run})
			})
		}
		wg.Wait()
		return text("done")
	}
}

// line executes the calls, each a moment after the one before has come as far
// as it can, and waits for all.
func (o *office) line(names ...string) {
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			o.Execute(context.Background(), pipeline.Request{ID: strconv.Itoa(i + 1), Name: name})
		})
		synctest.Wait()
	}
	wg.Wait()
}

func TestLimit(t *testing.T) {
	tests := []struct {
		name  string
		opts  policy.LimitOptions
		calls []string
		want  []string
		most  int32 // 0: one may end when the next begins
	}{
		{"one at a time, in order", policy.LimitOptions{Concurrent: 1}, []string{"a", "b", "a"},
			[]string{"1 0", "2 1", "3 2"}, 1},
		{"two at a time", policy.LimitOptions{Concurrent: 2}, []string{"a", "a", "a", "a"},
			[]string{"1 0", "2 0", "3 1", "4 1"}, 2},
		{"each tool by itself", policy.LimitOptions{Concurrent: 1, PerTool: true}, []string{"a", "b", "a"},
			[]string{"1 0", "2 0", "3 1"}, 2},
		{"only some tools", policy.LimitOptions{Concurrent: 1, Tools: policy.ToolNames{"a*"}}, []string{"a", "b", "a", "b"},
			[]string{"1 0", "2 0", "4 0", "3 1"}, 3},
		{"no tool", policy.LimitOptions{Concurrent: 1, Tools: policy.ToolNames{}}, []string{"a", "a"},
			[]string{"1 0", "2 0"}, 2},
		{"two starts in three seconds", policy.LimitOptions{Rate: 2, Per: 3 * time.Second}, []string{"a", "b", "a", "b", "a"},
			[]string{"1 0", "2 0", "3 3", "4 3", "5 6"}, 2},
		{"a rate is per second", policy.LimitOptions{Rate: 1}, []string{"a", "a"},
			[]string{"1 0", "2 1"}, 0},
		{"rate and number", policy.LimitOptions{Rate: 3, Per: time.Minute, Concurrent: 2}, []string{"a", "a", "a", "a"},
			[]string{"1 0", "2 0", "3 1", "4 60"}, 2},
		{"a tool that calls a tool", policy.LimitOptions{Concurrent: 1}, []string{"outer", "a"},
			[]string{"1.1 0", "2 1"}, 1},
		{"and that one another", policy.LimitOptions{Concurrent: 1}, []string{"middle"}, []string{"1.1.1 0"}, 1},
		{"three deep, and others wait", policy.LimitOptions{Concurrent: 1}, []string{"middle", "middle", "a"},
			[]string{"1.1.1 0", "2.1.1 1", "3 2"}, 1},
		{"three deep, each tool by itself", policy.LimitOptions{Concurrent: 1, PerTool: true}, []string{"middle", "middle", "outer"},
			[]string{"1.1.1 0", "3.1 0", "2.1.1 1"}, 2},
		{"three deep at a rate", policy.LimitOptions{Concurrent: 1, Rate: 1, Per: 2 * time.Second}, []string{"middle", "a"},
			[]string{"1.1.1 4", "2 6"}, 1},
		{"over a program", policy.LimitOptions{Concurrent: 1}, []string{"runner", "a"},
			[]string{"1.1.1 0", "1.1.2 0", "2 1"}, 2},
		{"over a tool without limit", policy.LimitOptions{Concurrent: 1, Tools: policy.ToolNames{"middle", "a"}}, []string{"middle"},
			[]string{"1.1.1 0"}, 1},
		{"tools with limits of their own", policy.LimitOptions{Concurrent: 1, PerTool: true}, []string{"outer", "a"},
			[]string{"1.1 0", "2 0"}, 2},
		{"a permit held for those inside", policy.LimitOptions{Concurrent: 1, Tools: policy.ToolNames{"a"}}, []string{"outer", "outer"},
			[]string{"1.1 0", "2.1 1"}, 1},
		{"calls inside count for the rate", policy.LimitOptions{Rate: 1, Per: 5 * time.Second}, []string{"outer"},
			[]string{"1.1 5"}, 1},
		{"what a program calls", policy.LimitOptions{Concurrent: 1}, []string{tools.TransportName}, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t, policy.Limit(tt.opts))
				o.line(tt.calls...)
				if tt.want != nil {
					check(t, "starts", o.starts(), tt.want)
				}
				if tt.most > 0 {
					check(t, "most at a time", o.most, tt.most)
				}
			})
		})
	}
}

// What is side by side inside one call shares its permit.
func TestLimitInherited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t, policy.Limit(policy.LimitOptions{Concurrent: 1}))
		o.line("twice")
		check(t, "most at a time", o.most, int32(2))
		o.line("a", "a")
		check(t, "took", time.Since(o.began), 3*time.Second)
	})
}

func TestLimitCancelled(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  policy.LimitOptions
		after time.Duration
		want  []string
	}{
		{"waiting for a permit", policy.LimitOptions{Concurrent: 1}, time.Second / 2, []string{"1 0", "3 1"}},
		{"waiting for the clock", policy.LimitOptions{Rate: 1, Per: time.Minute}, time.Second / 2, []string{"1 0", "3 60"}},
		{"waiting behind one who waits for the clock", policy.LimitOptions{Rate: 1, Per: time.Minute, Concurrent: 2}, time.Second / 2, []string{"1 0", "3 60"}},
		{"waiting for the clock with a permit", policy.LimitOptions{Rate: 1, Per: time.Minute, Concurrent: 1}, 2 * time.Second, []string{"1 0", "3 60"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t, policy.Limit(tt.opts))
				ctx, cancel := context.WithTimeout(context.Background(), tt.after)
				defer cancel()
				var given pipeline.Outcome
				var wg sync.WaitGroup
				wg.Go(func() { o.Execute(context.Background(), pipeline.Request{ID: "1", Name: "a"}) })
				synctest.Wait()
				wg.Go(func() { given = o.Execute(ctx, pipeline.Request{ID: "2", Name: "a"}) })
				synctest.Wait()
				wg.Go(func() { o.Execute(context.Background(), pipeline.Request{ID: "3", Name: "a"}) })
				wg.Wait()
				check(t, "given up", endOf(given), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, pipeline.StateNotStarted})
				check(t, "starts", o.starts(), tt.want)
			})
		})
	}
}

// A context that a wrapper further out has ended waits for nothing.
func TestLimitEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return next(ctx)
		}
		o := newOffice(t, ended, policy.Limit(policy.LimitOptions{Concurrent: 1}))
		check(t, "state", exec(o.Pipeline, "a").State(), pipeline.StateNotStarted)
	})
}

// A context that ends while others come and go loses no permit.
func TestLimitLosesNoPermit(t *testing.T) {
	limit := policy.Limit(policy.LimitOptions{Concurrent: 2})
	p := pipelinetest.New(t, nil, pipelinetest.Echo("a"))
	p.Execution.Use("limit", limit)
	var wg sync.WaitGroup
	for range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		wg.Go(func() { p.Execute(ctx, pipeline.Request{Name: "a"}) })
		wg.Go(cancel)
	}
	wg.Wait()
	var inside sync.WaitGroup
	inside.Add(2)
	p.Execution.Use("both", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		inside.Done()
		inside.Wait() // both permits are still there, or this never ends
		return next(ctx)
	})
	wg.Go(func() { exec(p, "a") })
	wg.Go(func() { exec(p, "a") })
	wg.Wait()
}

// A body that is abandoned frees its permit while it runs on.
func TestLimitAndAbandonedBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		p := pipelinetest.New(t, nil, pipelinetest.Echo("a"), pipelinetest.Tool("stubborn", func(context.Context, *tools.Run) (tools.Result, error) {
			<-letGo
			return tools.Result{}, nil
		}))
		p.Execution.Use("limit", policy.Limit(policy.LimitOptions{Concurrent: 1}))
		ctx, over := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, over)
		check(t, "the stubborn call", p.Execute(ctx, pipeline.Request{Name: "stubborn", Over: ctx.Done()}).State(), pipeline.StateAbandoned)
		check(t, "the next call", exec(p, "a").State(), pipeline.StateDone)
		check(t, "bodies that still run", p.Abandoned(), []string{"stubborn"})
		close(letGo)
		synctest.Wait()
	})
}

// Nor does a call of a sub-agent, which has no parent and only the body's context.
// Once the call around it is over, that context opens nothing.
func TestLimitInheritedByContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := policy.Limit(policy.LimitOptions{Concurrent: 1})
		o := newOffice(t, limit)
		var kept context.Context
		if _, err := o.Registry().Add(pipelinetest.Tool("task", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			kept = context.WithoutCancel(ctx)
			o.Execute(ctx, pipeline.Request{ID: run.Call().ID() + " below", Name: "outer"})
			return text("done")
		})); err != nil {
			t.Fatal(err)
		}
		o.line("task", "a")
		check(t, "starts", o.starts(), []string{"1 below.1 0", "2 1"})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { o.Execute(kept, pipeline.Request{ID: "late", Name: "a"}) })
		}
		wg.Wait()
		check(t, "starts", o.starts(), []string{"1 below.1 0", "2 1", "late 2", "late 3"})
	})
}

// Each attempt of a call inside another needs no permit either.
func TestLimitNestedRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		inner := pipelinetest.Tool("inner", flaky(&attempts, 3, netError{timeout: true}))
		inner.Annotations.Idempotent = true
		var p *pipeline.Pipeline
		p = pipelinetest.New(t, nil, inner, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			return text(p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run}).Text())
		}))
		p.Execution.Use("retry", policy.Retry(nil))
		p.Execution.Use("limit", policy.Limit(policy.LimitOptions{Concurrent: 1}))
		check(t, "outer", exec(p, "outer").Text(), "attempt 3")
	})
}

// Outside the limit a retry holds no permit while it waits.
func TestLimitAndRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retry := policy.Retry(&policy.RetryOptions{Backoff: 10 * time.Second, Jitter: longest})
		limit := policy.Limit(policy.LimitOptions{Concurrent: 1})
		attempts := 0
		def := pipelinetest.Tool("x", flaky(&attempts, 2, netError{timeout: true}))
		def.Annotations.Idempotent = true
		p := pipelinetest.New(t, nil, def, pipelinetest.Tool("y", sleeper(time.Second)))
		p.Execution.Use("retry", retry)
		p.Execution.Use("limit", limit)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { check(t, "x", exec(p, "x").Text(), "attempt 2") })
		synctest.Wait()
		exec(p, "y")
		check(t, "y took", time.Since(start), time.Second)
		wg.Wait()
	})
}

func TestLimitUnknown(t *testing.T) {
	p := pipelinetest.New(t, nil)
	p.Execution.Use("limit", policy.Limit(policy.LimitOptions{Concurrent: 1}))
	check(t, "code", exec(p, "nope").Info().Code, tools.CodeUnknownTool)
}

func TestLimitOptions(t *testing.T) {
	for _, o := range []policy.LimitOptions{{}, {Per: time.Second}, {Concurrent: -1}, {Rate: -1}, {Rate: 1, Per: -1}} {
		check(t, fmt.Sprintf("%+v panics", o), panics(func() { policy.Limit(o) }), true)
	}
}
