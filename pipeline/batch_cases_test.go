package pipeline_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"testing/synctest"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// Whatever foreign code does in the midst of a batch, the bodies beside it go on
// and every call has its result, in order. DSH starts nothing more, ends the turn
// with the first error and leaves the other calls without results.
func TestBatchSurvivesForeignCode(t *testing.T) {
	crash := func() { panic("secret") }
	for _, tt := range []struct {
		name string
		does func(p *pipeline.Pipeline, s *stage)
		want []string // of c2; the other calls succeed
	}{
		{"a body panics", func(p *pipeline.Pipeline, _ *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Tool("odd", func(context.Context, *tools.Run) (tools.Result, error) {
				panic("secret")
			})))
		}, []string{`Error: tool "odd" crashed`, "failed"}},
		{"a body leaves its goroutine", func(p *pipeline.Pipeline, _ *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Tool("odd", func(context.Context, *tools.Run) (tools.Result, error) {
				goruntime.Goexit()
				return tools.Result{}, nil
			})))
		}, []string{`Error: tool "odd" crashed`, "failed"}},
		{"a listener panics", func(p *pipeline.Pipeline, s *stage) {
			mustAdd(p, s.gated("odd", true))
			p.PreExecute.Use("l", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
				if c.Name() == "odd" {
					crash()
				}
				return next(ctx)
			})
		}, []string{`Error: pre-execute listener "l" crashed`, "not-started"}},
		{"a wrapper panics", func(p *pipeline.Pipeline, s *stage) {
			mustAdd(p, s.gated("odd", true))
			p.Execution.Use("w", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				if d.Call.Name() == "odd" {
					crash()
				}
				return next(ctx)
			})
		}, []string{`Error: execution listener "w" crashed`, "not-started"}},
		{"a reviewer panics", func(p *pipeline.Pipeline, s *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Text("odd", "ok")))
			p.PostExecute.Use("p", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if s.Call.Name() == "odd" {
					crash()
				}
				return next(ctx)
			})
		}, []string{`Error: post-execute listener "p" crashed`, "failed"}},
		{"a reviewer leaves its goroutine", func(p *pipeline.Pipeline, _ *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Text("odd", "ok")))
			p.PostExecute.Use("p", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if s.Call.Name() == "odd" {
					goruntime.Goexit()
				}
				return next(ctx)
			})
		}, []string{`Error: tool "odd" crashed`, "failed"}},
		{"an observer leaves its goroutine", func(p *pipeline.Pipeline, _ *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Text("odd", "ok")))
			p.OnResult("o", func(pipeline.Outcome) { goruntime.Goexit() })
		}, []string{"ok", "done"}},
		{"a classifier panics", func(p *pipeline.Pipeline, _ *stage) {
			def := pipelinetest.Text("odd", "ok")
			def.Concurrent = func(tools.JSON) bool { panic("secret") }
			mustAdd(p, def)
		}, []string{"ok", "done"}},
		{"an observer panics", func(p *pipeline.Pipeline, _ *stage) {
			mustAdd(p, pipelinetest.Concurrent(pipelinetest.Text("odd", "ok")))
			p.OnResult("o", func(pipeline.Outcome) { crash() })
		}, []string{"ok", "done"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, rec, _ := inBatch(t, nil, []string{"safe", "odd", "safe", "exclusive"}, tt.does, func(s *stage) {
				for _, id := range []string{"c1", "c3", "c4"} {
					s.let(id)
				}
			})
			if len(result.Outcomes) != 4 {
				t.Fatalf("%d outcomes, want 4", len(result.Outcomes))
			}
			for i, id := range []string{"c1", "c2", "c3", "c4"} {
				o := result.Outcomes[i]
				check(t, "the call of an outcome", o.Call().ID(), id)
				want := []string{id, "done"}
				if id == "c2" {
					want = tt.want
				}
				check(t, id, []string{o.Text(), string(o.State())}, want)
			}
			for _, problem := range pipelinetest.CheckLog(rec.Events()) {
				t.Error(problem)
			}
		})
	}
}

// mustAdd registers a tool whose definition is known to be right.
func mustAdd(p *pipeline.Pipeline, def *tools.Definition) {
	if _, err := p.Registry().Add(def); err != nil {
		panic(err)
	}
}

// A result that a reviewer replaced is still the answer to the model's call.
func TestReplacedResultKeepsItsCallID(t *testing.T) {
	for _, tt := range []struct {
		name string
		d    pipeline.PostDecision
		text string
	}{
		{"other content", pipeline.AcceptContent(text("other")), "other"},
		{"another value", pipeline.AcceptValue(tools.StringJSON("other")), "other"},
		{"a block", pipeline.Block(text("other")), "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("x", "ok"))
			p.PostExecute.Use("p", alwaysPost(tt.d))
			p.Batch(context.Background(), []pipeline.Request{{ID: "call_7", Name: "x"}})
			var data struct {
				Message struct {
					Source struct {
						CallID string `json:"callId"`
					} `json:"source"`
					Content []struct {
						ToolCallID string          `json:"toolCallId"`
						Content    []tools.Content `json:"content"`
					} `json:"content"`
				} `json:"message"`
			}
			if err := rec.Data(pipeline.EventToolResult)[0].Unmarshal(&data); err != nil {
				t.Fatal(err)
			}
			block := data.Message.Content[0]
			check(t, "ids", []string{data.Message.Source.CallID, block.ToolCallID}, []string{"call_7", "call_7"})
			check(t, "text", tools.ContentString(block.Content), tt.text)
		})
	}
}

// A call may conclude and leave a context: both reach the host, which decides
// what wins. In DSH the context does, since it makes another request.
func TestConclusionWithContexts(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("last", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(note("one more thing"))
		run.Conclude()
		return tools.Result{}, nil
	}))
	r := p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "last"}})
	check(t, "concludes", r.Outcomes[0].Concludes(), true)
	check(t, "contexts", texts(r.Contexts), []string{"one more thing"})
	check(t, "events", rec.Types(), steps(pipeline.EventToolCall, pipeline.EventToolResult, pipeline.EventUserMessage))
}

// A batch that is aborted leaves a sound log: what has begun settles, the rest
// is announced and answered.
func TestLogOfAnAbortedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		rec := &pipelinetest.Recorder{}
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, MaxParallel: 2, Stages: true}, s.gated("safe", true))
		reqs := s.requests("safe", "safe", "safe", "safe")
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Batch(ctx, reqs)
		}()
		synctest.Wait()
		cancel()
		s.let("c2", "c1")
		<-done
		for _, problem := range pipelinetest.CheckLog(rec.Events()) {
			t.Error(problem)
		}
		check(t, "answers", len(rec.Data(pipeline.EventToolResult)), 4)
	})
}
