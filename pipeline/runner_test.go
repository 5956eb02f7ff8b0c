package pipeline_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync"
	"testing"
	"weak"

	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// withEnd runs body as that of a call, with a function that makes calls nested under
// it which may be abandoned.
func withEnd(t *testing.T, body func(nested func(name string) pipeline.Outcome), defs ...*tools.Definition) pipeline.Outcome {
	t.Helper()
	var p *pipeline.Pipeline
	over := make(chan struct{})
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		body(func(name string) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{ID: "c1:" + name, Name: name, Parent: run, Over: over})
		})
		return tools.Result{}, nil
	})
	p = pipelinetest.New(t, &pipeline.Options{Logger: new(logBuffer).logger()}, append(defs, outer)...)
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "outer"})
}

// TestBodiesShareGoroutines: whatever a body that may be abandoned did to its
// goroutine, the ones after it run, one after the other and at once, and no goroutine
// is left when the body above them has returned.
func TestBodiesShareGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	leaves := pipelinetest.Tool("leaves", func(context.Context, *tools.Run) (tools.Result, error) {
		goruntime.Goexit()
		return tools.Result{}, nil
	})
	panics := pipelinetest.Tool("panics", func(context.Context, *tools.Run) (tools.Result, error) { panic("oops") })
	deep := pipelinetest.Tool("deep", func(context.Context, *tools.Run) (tools.Result, error) {
		var down func(int) int
		down = func(n int) int {
			var room [64]byte
			if n == 0 {
				return int(room[n])
			}
			return down(n-1) + int(room[n%64])
		}
		return tools.Result{Value: tools.MustJSON(fmt.Sprint(down(10_000)))}, nil
	})
	want := map[string]end{
		"leaves": {`Error: tool "leaves" crashed`, tools.CodePanic, "failed"},
		"panics": {`Error: tool "panics" crashed`, tools.CodePanic, "failed"},
		"deep":   {"0", "", "done"},
		"text":   {"x", "", "done"},
	}
	withEnd(t, func(nested func(string) pipeline.Outcome) {
		names := []string{"text", "leaves", "text", "panics", "deep", "text", "leaves", "leaves", "deep"}
		for _, name := range names {
			check(t, name, endOf(nested(name)), want[name])
		}
		var all sync.WaitGroup
		for i := range 100 {
			name := names[i%len(names)]
			all.Go(func() { check(t, name, endOf(nested(name)), want[name]) })
		}
		all.Wait()
		check(t, "after many at once", endOf(nested("text")), want["text"])
	}, leaves, panics, deep, pipelinetest.Text("text", "x"))
}

// TestNestedCallThatOutlivesTheBody: the goroutine of a call that goes on when the
// body above it has returned ends with it.
func TestNestedCallThatOutlivesTheBody(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	withEnd(t, func(nested func(string) pipeline.Outcome) {
		all.Go(func() { check(t, "late", endOf(nested("late")), end{"late", "", "done"}) })
		<-started
	}, pipelinetest.Tool("late", func(context.Context, *tools.Run) (tools.Result, error) {
		close(started)
		<-release
		return tools.Result{Value: tools.StringJSON("late")}, nil
	}))
	close(release)
	all.Wait()
}

// TestRefusedResultIsLetGo: a result that was refused is held by nobody, also as long
// as the outcome is.
func TestRefusedResultIsLetGo(t *testing.T) {
	var detail weak.Pointer[[1024]byte]
	refused := &tools.Definition{Name: "refused", Output: tools.MustJSON(`{"type":"string"}`), Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		kept := new([1024]byte)
		detail = weak.Make(kept)
		return tools.Result{Value: tools.MustJSON("1"), Detail: kept}, nil
	}}
	withEnd(t, func(nested func(string) pipeline.Outcome) {
		o := nested("refused")
		goruntime.GC()
		goruntime.GC()
		check(t, "held", detail.Value() != nil, false)
		check(t, "code", o.Info().Code, tools.CodeInvalidOutput)
	}, refused)
}
