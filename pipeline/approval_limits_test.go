package pipeline_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// What a person refuses while other calls wait for their turn holds for these too.
func TestRefusalsHoldForThoseWhoWait(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  string
		asked int
	}{
		{"the same call", `{}`, 1},
		{"others", `{"n":%d}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				approver := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
					asked++
					time.Sleep(time.Second)
					return pipeline.Rejected, nil
				})
				p := asking(t, pipeline.Options{Approver: approver})
				_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					var group sync.WaitGroup
					for n := range 6 {
						args := tt.args
						if tt.asked > 1 {
							args = fmt.Sprintf(args, n)
						}
						group.Go(func() { p.Execute(ctx, pipeline.Request{Name: "x", Args: args, Parent: run}) })
					}
					group.Wait()
					return tools.Result{}, nil
				}))
				if err != nil {
					t.Fatal(err)
				}
				exec(p, "outer")
				check(t, "questions", asked, tt.asked)
			})
		})
	}
}

// A call that leaves before its turn was no question.
func TestQuestionsThatWereNotPutDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute), MaxAsks: 1})
		_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			brief, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			p.Execute(brief, pipeline.Request{Name: "x", Parent: run})
			last := p.Execute(ctx, pipeline.Request{Name: "x", Parent: run})
			return tools.Result{Value: tools.StringJSON(last.Text())}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		other := start(t.Context(), p, nil)
		synctest.Wait()
		check(t, "the call that stayed", exec(p, "outer").Text(), "ran")
		<-other
	})
}

// A call that leaves while a person is asked has been a question all the same: a
// program could go on asking otherwise, with a short time for each call.
func TestQuestionsOfCallsThatLeaveCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute), MaxAsks: 3})
		_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			var last pipeline.Outcome
			for range 5 {
				brief, cancel := context.WithTimeout(ctx, time.Second)
				last = p.Execute(brief, pipeline.Request{Name: "x", Parent: run})
				cancel()
			}
			return tools.Result{Value: tools.StringJSON(last.Text())}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "the last call", exec(p, "outer").Text(), `Error: tool "x" requires approval, and the user has been asked 3 times by one call already; do the rest in another call`)
		check(t, "questions", len(trace.Steps()), 3)
	})
}

// A person may take long over a second attempt: what is hidden, removed or replaced
// meanwhile does not run.
func TestToolChangedWhileAskedAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, p *pipeline.Pipeline, remove func())
		code   string
	}{
		{"hidden", func(t *testing.T, p *pipeline.Pipeline, _ func()) {
			if _, err := p.For("A").Without("x"); err != nil {
				t.Error(err)
			}
		}, tools.CodeUnknownTool},
		{"removed", func(_ *testing.T, _ *pipeline.Pipeline, remove func()) { remove() }, tools.CodeUnknownTool},
		{"replaced", func(_ *testing.T, p *pipeline.Pipeline, remove func()) {
			remove()
			mustAdd(p, pipelinetest.Text("x", "another"))
		}, tools.CodeToolChanged},
		{"as it was", func(*testing.T, *pipeline.Pipeline, func()) {}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked, starts := 0, 0
			var p *pipeline.Pipeline
			var remove func()
			p = pipelinetest.New(t, &pipeline.Options{Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
				if asked++; asked == 2 {
					tt.change(t, p, remove)
				}
				return pipeline.AllowedOnce, nil
			})})
			remove, err := p.Registry().Add(pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
				starts++
				return tools.Result{}, errPlain
			}))
			if err != nil {
				t.Fatal(err)
			}
			askAbout(p, "x")
			p.Execution.Use("retry", retry)
			o := p.Execute(t.Context(), pipeline.Request{Name: "x", Agent: "A"})
			want := 1
			if tt.code == "" {
				want = 2
			}
			check(t, "code, questions, starts", []any{o.Info().Code, asked, starts}, []any{tt.code, 2, want})
		})
	}
}

// Nobody gets another question by declaring a tool anew: what a person has
// declined stays declined under the root call.
func TestDeclinedThoughTheToolChanged(t *testing.T) {
	asked := 0
	var p *pipeline.Pipeline
	remove := func() {}
	change := func(text string) {
		remove()
		var err error
		if remove, err = p.Registry().Add(pipelinetest.Text("x", text)); err != nil {
			t.Error(err)
		}
	}
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		for _, text := range []string{"one", "two", "three"} {
			change(text)
			o := p.Execute(ctx, pipeline.Request{Name: "x", Args: `{"a":1}`, Parent: run})
			check(t, "code of "+text, o.Info().Code, tools.CodeApprovalRejected)
		}
		return tools.Result{}, nil
	})
	p = pipelinetest.New(t, &pipeline.Options{Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
		asked++
		return pipeline.Rejected, nil
	})}, outer)
	askAbout(p, "x")
	exec(p, "outer")
	check(t, "questions", asked, 1)
}

// A call that is given up while its second attempt waits for a person has had an
// effect, so it is not one that was aborted before dispatch.
func TestAbortedWhileAskedAgain(t *testing.T) {
	for _, behind := range []bool{false, true} {
		t.Run(fmt.Sprintf("behind another question %v", behind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				asked := &pipelinetest.Trace{}
				p := pipelinetest.New(t, &pipeline.Options{Approver: pipeline.ApproverFunc(func(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
					if asked.Add("%s", ask.Call.ID()); len(asked.Steps()) > 1 {
						<-ctx.Done()
					}
					return pipeline.AllowedOnce, nil
				})}, pipelinetest.Failing("x", errPlain))
				askAbout(p, "x")
				others := make(chan string, 1)
				p.Execution.Use("again", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
					_, _ = next(ctx)
					if behind {
						go func() { others <- p.Execute(t.Context(), pipeline.Request{ID: "c2", Name: "x"}).Info().Code }()
						synctest.Wait()
					}
					time.AfterFunc(time.Second, cancel)
					return next(ctx)
				})
				o := p.Execute(ctx, pipeline.Request{ID: "c1", Name: "x"})
				check(t, "outcome", endOf(o), end{"Error: tool call aborted", tools.CodeAborted, "aborted"})
				second := "c1"
				if behind {
					second = "c2"
					check(t, "the other call", <-others, tools.CodeApprovalUnavailable)
				}
				check(t, "asked about", asked.Steps(), steps("c1", second))
			})
		})
	}
}
