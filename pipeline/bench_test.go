package pipeline_test

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func BenchmarkExecute(b *testing.B) {
	args := `{"path":"src/main.go","limit":20}`
	reg, err := tools.NewRegistry(pipelinetest.Text("tool", "a result of a modest length"))
	if err != nil {
		b.Fatal(err)
	}
	nobody := pipeline.New(reg, nil)
	logged := pipeline.New(reg, &pipeline.Options{Sink: pipeline.SinkFunc(func(pipeline.Event) error { return nil })})
	policed := pipeline.New(reg, nil)
	policed.PreExecute.Use("l", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) { return next(ctx) })
	policed.Guards.Use("g", func(tools.Call) string { return "" })
	policed.Execution.Use("w", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		return next(ctx)
	})
	policed.PostExecute.Use("p", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		return next(ctx)
	})
	for _, bb := range []struct {
		name string
		p    *pipeline.Pipeline
	}{{"nobody listens", nobody}, {"a sink", logged}, {"a listener, a guard, a wrapper, a reviewer", policed}} {
		b.Run(bb.name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if o := bb.p.Execute(ctx, pipeline.Request{ID: "c1", Name: "tool", Args: args}); o.IsError() {
					b.Fatal(o.Err())
				}
			}
		})
	}
}
