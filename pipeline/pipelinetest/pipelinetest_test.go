package pipelinetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRecorder(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(tools.Message{ID: "m1"})
		p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "echo", Parent: run})
		return tools.Result{}, nil
	}), pipelinetest.Echo("echo"))
	p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "outer"}})
	check(t, "calls", rec.Calls(), []string{"call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "result c1", "message m1"})
	check(t, "types", rec.Types(), []string{"tool/call", "tool/code-dispatch-start", "tool/code-dispatch", "tool/result", "user/message"})

	full := errors.New("full")
	rec.FailOn("x", full)
	check(t, "refused", errors.Is(rec.Emit(pipeline.Event{Type: "x"}), full), true)
	rec.FailOn("x", nil)
	check(t, "accepted again", rec.Emit(pipeline.Event{Type: "x", Data: tools.MustJSON("{}")}), error(nil))
	check(t, "any other type stands for itself", rec.Calls()[5], "x")
}

func TestApprover(t *testing.T) {
	a := pipelinetest.NewApprover(pipeline.Rejected)
	answer, err := a.Approve(context.Background(), pipeline.ApprovalRequest{By: "me"})
	check(t, "answer", []any{answer, err}, []any{pipeline.Rejected, nil})
	if _, err := a.Approve(context.Background(), pipeline.ApprovalRequest{}); err == nil {
		t.Error("an approver without answers gives one")
	}
	check(t, "asked", a.Asked()[0].By, "me")
	check(t, "times", len(a.Asked()), 2)
}

func TestReproducible(t *testing.T) {
	clock, ids := pipelinetest.Clock(), pipelinetest.IDs("x")
	check(t, "clock", clock().Add(1e6).Equal(clock()), true)
	check(t, "ids", []string{ids(), ids()}, []string{"x1", "x2"})
}
