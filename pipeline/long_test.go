package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// longSink notes which events came without their long texts, and those.
type longSink struct {
	most   func() int
	err    error
	events []string
}

func (s *longSink) LongText(pipeline.Sink) int { return s.most() }

func (s *longSink) Emit(e pipeline.Event) error {
	s.events = append(s.events, e.Type)
	return nil
}

func (s *longSink) EmitLong(e pipeline.Event, long map[string]string) error {
	for at, text := range long {
		s.events = append(s.events, e.Type+" without "+at+" "+text)
	}
	if strings.Contains(e.Data.String(), "long text") || !strings.Contains(e.Data.String(), `{"type":"text","text":""}`) {
		return errors.New("the text is in its place")
	}
	return s.err
}

func TestLongSink(t *testing.T) {
	plain := []string{"tool/call", "tool/code-dispatch-start", "tool/code-dispatch", "tool/result"}
	for _, tt := range []struct {
		name string
		most func() int
		err  error
		want []string
	}{
		{"longer than it keeps", func() int { return 8 }, nil, []string{"tool/call", "tool/code-dispatch-start",
			"tool/code-dispatch without /content/0/text long text", "tool/result without /message/content/0/content/0/text long text"}},
		{"no longer", func() int { return 9 }, nil, plain},
		{"keeps all", func() int { return 0 }, nil, plain},
		{"panics", func() int { panic("x") }, nil, plain},
		{"fails", func() int { return 8 }, errors.New("full"), []string{"tool/call", "tool/code-dispatch-start",
			"tool/code-dispatch without /content/0/text long text", "tool/result without /message/content/0/content/0/text long text"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sink := &longSink{most: tt.most, err: tt.err}
			var p *pipeline.Pipeline
			p = pipelinetest.New(t, &pipeline.Options{Sink: sink}, pipelinetest.Text("say", "long text"),
				pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					inner := p.Execute(ctx, pipeline.Request{ID: "c:1", Name: "say", Args: "{}", Parent: run})
					return tools.Result{Value: inner.Value()}, inner.Err()
				}))
			out := p.Execute(t.Context(), pipeline.Request{ID: "c", Name: "outer", Args: "{}"})
			if out.Err() != nil || out.Text() != "long text" {
				t.Errorf("outcome %q, %v", out.Text(), out.Err())
			}
			if d := cmp.Diff(tt.want, sink.events); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			if logged := !out.Logged().IsZero(); logged != (tt.err == nil) {
				t.Errorf("logged is %t", logged)
			}
		})
	}
}
