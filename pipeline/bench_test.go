package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// quickTool checks its arguments and costs nothing else: its value was made
// before.
func quickTool() *tools.Definition {
	value := tools.StringJSON("a result of a modest length")
	return &tools.Definition{
		Name: "tool",
		Input: tools.MustJSON(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1}},
			"required":["path"]}`),
		Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{Value: value}, nil },
	}
}

var (
	quickCall = pipeline.Request{ID: "c1", Name: "tool", Args: `{"path":"src/main.go","limit":20}`}
	nowhere   = pipeline.SinkFunc(func(pipeline.Event) error { return nil })
)

func quickPipeline(tb testing.TB, opts *pipeline.Options, defs ...*tools.Definition) *pipeline.Pipeline {
	tb.Helper()
	reg, err := tools.NewRegistry(append(defs, quickTool())...)
	if err != nil {
		tb.Fatal(err)
	}
	return pipeline.New(reg, opts)
}

// listenedTo adds listeners of each of the three stages, and guards, that let
// everything pass.
func listenedTo(p *pipeline.Pipeline, listeners, guards int) *pipeline.Pipeline {
	for i := range listeners {
		name := fmt.Sprint("l", i)
		p.PreExecute.Use(name, func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) { return next(ctx) })
		p.Execution.Use(name, func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(ctx)
		})
		p.PostExecute.Use(name, func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
			return next(ctx)
		})
	}
	for i := range guards {
		p.Guards.Use(fmt.Sprint("g", i), func(tools.Call) string { return "" })
	}
	return p
}

// ofAgent is a pipeline in which the agent of the request has three ancestors,
// of which one hides a tool.
func ofAgent(tb testing.TB) (*pipeline.Pipeline, pipeline.Request) {
	tb.Helper()
	type agent struct{ above *agent }
	root := &agent{}
	p := quickPipeline(tb, &pipeline.Options{ParentOf: func(a any) any {
		if above := a.(*agent).above; above != nil {
			return above
		}
		return nil
	}}, &tools.Definition{Name: "hidden", Handler: quickTool().Handler})
	if _, err := p.For(root).Without("hidden"); err != nil {
		tb.Fatal(err)
	}
	req := quickCall
	req.Agent = &agent{&agent{&agent{root}}}
	return p, req
}

func mustExecute(ctx context.Context, tb testing.TB, p *pipeline.Pipeline, req pipeline.Request) pipeline.Outcome {
	o := p.Execute(ctx, req)
	if o.IsError() {
		tb.Fatal(o.Err())
	}
	return o
}

// BenchmarkExecute is one call of a tool whose body costs nothing.
func BenchmarkExecute(b *testing.B) {
	scoped, ofScope := ofAgent(b)
	for _, bb := range []struct {
		name string
		p    *pipeline.Pipeline
		req  pipeline.Request
	}{
		{"nobody listens", quickPipeline(b, nil), quickCall},
		{"a listener of each stage and a guard", listenedTo(quickPipeline(b, nil), 1, 1), quickCall},
		{"a sink", quickPipeline(b, &pipeline.Options{Sink: nowhere}), quickCall},
		{"a sink, stages, listeners", listenedTo(quickPipeline(b, &pipeline.Options{Sink: nowhere, Stages: true}), 1, 1), quickCall},
		{"three ancestors and a restriction", scoped, ofScope},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustExecute(b.Context(), b, bb.p, bb.req)
			}
		})
	}
	b.Run("the text is read", func(b *testing.B) {
		p := quickPipeline(b, nil)
		b.ReportAllocs()
		for b.Loop() {
			if mustExecute(b.Context(), b, p, quickCall).Text() == "" {
				b.Fatal("a result without text")
			}
		}
	})
	for name, over := range map[string]chan struct{}{"nested": nil, "nested, with an end": make(chan struct{})} {
		b.Run(name, func(b *testing.B) {
			var p *pipeline.Pipeline
			p = quickPipeline(b, nil, &tools.Definition{Name: "outer", Handler: func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				req := quickCall
				req.Parent, req.Over = run, over
				b.ReportAllocs()
				for b.Loop() {
					mustExecute(ctx, b, p, req)
				}
				return tools.Result{}, nil
			}})
			mustExecute(b.Context(), b, p, pipeline.Request{ID: "c0", Name: "outer"})
		})
	}
}

// parseAndValidate are the steps of a call that are not the pipeline's own, on
// the arguments of quickCall.
func parseAndValidate(tb testing.TB, p *pipeline.Pipeline) (parse, validate func()) {
	tool := p.Registry().Lookup("tool")
	args := tools.MustJSON(quickCall.Args)
	parse = func() {
		if _, err := tools.ParseJSON(quickCall.Args); err != nil {
			tb.Fatal(err)
		}
	}
	validate = func() {
		if err := tool.CheckArgs(args); err != nil {
			tb.Fatal(err)
		}
	}
	return parse, validate
}

// BenchmarkOwn is what a call costs and, as own-ns, what is left of it without
// the reading and the check of its arguments, which have rows of their own.
func BenchmarkOwn(b *testing.B) {
	p := quickPipeline(b, nil)
	parse, validate := parseAndValidate(b, p)
	for _, bb := range []struct {
		name string
		step func()
	}{{"parse arguments", parse}, {"validate", validate}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bb.step()
			}
		})
	}
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			mustExecute(b.Context(), b, p, quickCall)
		}
		whole := b.Elapsed()
		b.StopTimer()
		began := time.Now()
		for range b.N {
			parse()
			validate()
		}
		b.ReportMetric(float64(whole-time.Since(began))/float64(b.N), "own-ns/op")
	})
}

// BenchmarkManyCalls is 10,000 calls through six listeners and four guards.
func BenchmarkManyCalls(b *testing.B) {
	const calls = 10_000
	p := listenedTo(quickPipeline(b, nil), 2, 4)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		for range calls {
			mustExecute(b.Context(), b, p, quickCall)
		}
	}
	runtime.ReadMemStats(&after)
	all := float64(b.N) * calls
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "allocs/call")
	b.ReportMetric(float64(b.Elapsed())/all, "ns/call")
}
