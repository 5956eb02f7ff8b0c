package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestEmit(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Echo("echo"))
	p.PreExecute.Use("note", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		check(t, "emitted", p.Emit("note/seen", tools.MustJSON(`{"a":1}`)), error(nil))
		return next(ctx)
	})
	exec(p, "echo")
	check(t, "order", rec.Types(), []string{"tool/call", "note/seen", "tool/result"})
	noted := rec.Events()[1]
	check(t, "event", []any{noted.Seq, noted.Ignorable, noted.Data.String()}, []any{uint64(1), true, `{"a":1}`})
}

func TestEmitErrors(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec})
	for _, refused := range []string{"", "tool/call", "tool/anything", "user/message"} {
		if err := p.Emit(refused, tools.MustJSON("{}")); err == nil {
			t.Errorf("Emit(%q) = nil, want it refused", refused)
		}
	}
	for name, p := range map[string]*pipeline.Pipeline{"with a sink": p, "without one": pipelinetest.New(t, nil)} {
		if err := p.Emit("note/seen", tools.JSON{}); err == nil || !strings.Contains(err.Error(), "it has no data") {
			t.Errorf("Emit of no data, %s: %v, want it refused", name, err)
		}
	}
	full := errors.New("full")
	rec.FailOn("note/seen", full)
	if err := p.Emit("note/seen", tools.MustJSON("null")); !errors.Is(err, full) {
		t.Errorf("Emit = %v, want the sink's error", err)
	}
	check(t, "events", rec.Types(), []string{})
	check(t, "without a sink", pipelinetest.New(t, nil).Emit("note/seen", tools.MustJSON("null")), error(nil))
}

func TestWithContextsFirst(t *testing.T) {
	d := pipeline.Accept().WithContexts(note("inner")).WithContextsFirst(note("outer 1"), note("outer 2"))
	check(t, "order", texts(d.Contexts()), []string{"outer 1", "outer 2", "inner"})
	check(t, "a block keeps blocking", pipeline.Block(nil).WithContextsFirst(note("x")).Blocks(), true)
}
