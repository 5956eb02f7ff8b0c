package pipeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// stagesOf are the recorded stages as "stage by: decision (reason)".
func stagesOf(t *testing.T, rec *pipelinetest.Recorder) []string {
	t.Helper()
	out := []string{}
	for _, data := range rec.Data(pipeline.EventStage) {
		var s struct {
			CallID   string   `json:"callId"`
			Stage    string   `json:"stage"`
			By       string   `json:"by"`
			Decision string   `json:"decision"`
			Reason   string   `json:"reason"`
			Ms       *float64 `json:"ms"`
		}
		if err := data.Unmarshal(&s); err != nil || s.Ms == nil || s.CallID != "c1" {
			t.Fatalf("%s: the data of a stage (error %v)", data, err)
		}
		text := s.Stage + " " + s.By + ": " + s.Decision
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		out = append(out, text)
	}
	return out
}

// inOrder adds a listener to each stage; the inner pre-execute listener answers d.
func inOrder(p *pipeline.Pipeline, d pipeline.Decision) {
	p.PreExecute.Use("outer", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) { return next(ctx) })
	p.PreExecute.Use("inner", always(d))
	p.Guards.Use("guard", func(tools.Call) string { return "" })
	p.Execution.Use("wrapper", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		return next(ctx)
	})
	p.PostExecute.Use("reviewer", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		return next(ctx)
	})
}

func TestStageRecord(t *testing.T) {
	finalized := pipelinetest.Text("finalized", "x")
	finalized.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) { return text("y"), true }
	for _, tt := range []struct {
		name string
		call pipeline.Request
		add  func(*pipeline.Pipeline)
		want []string
	}{
		{"a call that runs", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) { inOrder(p, pipeline.Allow()) },
			steps("pre-execute inner: allow", "pre-execute outer: allow", "guard guard: abstain", "body : success", "execution wrapper: success", "post-execute reviewer: accept")},
		{"a person is asked", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) { inOrder(p, pipeline.Ask("sure?")) },
			steps("pre-execute inner: ask (sure?)", "pre-execute outer: ask (sure?)", "approval inner: allowed-once", "guard guard: abstain", "body : success", "execution wrapper: success", "post-execute reviewer: accept")},
		{"a denial", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) { inOrder(p, pipeline.Deny("no")) },
			steps("pre-execute inner: deny (no)", "pre-execute outer: deny (no)", "post-execute reviewer: accept")},
		{"a guard's denial", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) {
			p.Guards.Use("first", func(tools.Call) string { return "" })
			p.Guards.Use("second", func(tools.Call) string { return "closed" })
			p.Guards.Use("third", func(tools.Call) string { return "" })
		}, steps("guard first: abstain", "guard second: deny (closed)")},
		{"errors of a listener", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) { p.PreExecute.Use("bad", failing(errPlain)) },
			steps("pre-execute bad: error (it broke)")},
		{"a failing body, tried twice", pipeline.Request{Name: "fail"}, func(p *pipeline.Pipeline) {
			p.Execution.Use("again", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				_, _ = next(ctx)
				return next(ctx)
			})
		}, steps("body : failure (it broke)", "body : failure (it broke)", "execution again: failure (it broke)")},
		{"a block", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) { p.PostExecute.Use("b", alwaysPost(pipeline.Block(text("hidden")))) },
			steps("body : success", "post-execute b: block (hidden)")},
		{"other content and another value", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) {
			p.PostExecute.Use("c", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				_, err := next(ctx)
				return pipeline.AcceptContent(text("c")), err
			})
			p.PostExecute.Use("v", alwaysPost(pipeline.AcceptValue(tools.StringJSON("v"))))
		}, steps("body : success", "post-execute v: value", "post-execute c: content")},
		{"a finalizer", pipeline.Request{Name: "finalized"}, func(*pipeline.Pipeline) {}, steps("body : success", "finalize : replace")},
		{"bad arguments", pipeline.Request{Name: "say", Args: `{"a":1,"a":2}`}, func(p *pipeline.Pipeline) { inOrder(p, pipeline.Allow()) },
			steps(`admit : refuse (invalid arguments: invalid JSON at byte 7 (/a): the property name is given twice; send it once)`)},
		{"a long reason is cut", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) {
			p.PreExecute.Use("long", always(pipeline.Deny("é "+strings.Repeat("é", 488)+" https://u:secret@host")))
		}, steps("pre-execute long: deny (é " + strings.Repeat("é", 488) + " …)")},
		{"a reason of one long word", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) {
			p.PreExecute.Use("long", always(pipeline.Deny(strings.Repeat("é", 501))))
		}, steps("pre-execute long: deny (…)")},
		{"a reason that just fits", pipeline.Request{Name: "say"}, func(p *pipeline.Pipeline) {
			p.PreExecute.Use("long", always(pipeline.Deny(strings.Repeat("é", 500))))
		}, steps("pre-execute long: deny (" + strings.Repeat("é", 500) + ")")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			opts := &pipeline.Options{Sink: rec, Stages: true, Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
				return pipeline.AllowedOnce, nil
			})}
			p := pipelinetest.New(t, opts, pipelinetest.Text("say", "hello"), pipelinetest.Failing("fail", errPlain), finalized)
			tt.add(p)
			tt.call.ID = "c1"
			p.Execute(context.Background(), tt.call)
			check(t, "stages", stagesOf(t, rec), tt.want)
			types := rec.Types()
			if types[0] != pipeline.EventToolCall || types[len(types)-1] != pipeline.EventToolResult {
				t.Errorf("stages stand outside of their call: %v", types)
			}
			for _, e := range rec.Events() {
				if e.Ignorable != (e.Type == pipeline.EventStage || strings.HasPrefix(e.Type, "approval/")) {
					t.Errorf("%s: ignorable is %v", e.Type, e.Ignorable)
				}
			}
		})
	}
}

func TestStagesAreOffByDefault(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("say", "hello"))
	inOrder(p, pipeline.Allow())
	exec(p, "say")
	check(t, "events", rec.Types(), steps(pipeline.EventToolCall, pipeline.EventToolResult))
}

// The time of a decider is from its begin to its answer.
func TestStageTime(t *testing.T) {
	now := time.Unix(0, 0)
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Stages: true, Now: func() time.Time { return now }}, pipelinetest.Text("say", "hello"))
	slow := func(ms int) preListener {
		return func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			return next(ctx)
		}
	}
	p.PreExecute.Use("outer", slow(2))
	p.PreExecute.Use("inner", slow(40))
	exec(p, "say")
	got := []string{}
	for _, data := range rec.Data(pipeline.EventStage) {
		var s struct {
			By string  `json:"by"`
			Ms float64 `json:"ms"`
		}
		if err := data.Unmarshal(&s); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(s.By, " ", s.Ms))
	}
	check(t, "milliseconds", got, steps("inner 40", "outer 42", " 0"))
}
