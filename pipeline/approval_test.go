package pipeline_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// A question nobody answers denies the call in the end, so that a run whose
// wall clock stands still meanwhile stops too.
func TestApprovalTimeout(t *testing.T) {
	for _, tt := range []struct {
		limit, want time.Duration
	}{{0, 10 * time.Minute}, {time.Second, time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			silent := pipeline.ApproverFunc(func(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
				<-ctx.Done()
				return pipeline.AllowedOnce, nil
			})
			p := pipelinetest.New(t, &pipeline.Options{Approver: silent, ApprovalTimeout: tt.limit}, pipelinetest.Echo("echo"))
			p.PreExecute.Use("asker", always(pipeline.Ask("sure?")))
			started := time.Now()
			got := endOf(exec(p, "echo"))
			check(t, "time waited", time.Since(started), tt.want)
			check(t, "outcome", got, end{fmt.Sprintf(`Error: tool "echo" requires approval, and nobody answered within %v`, tt.want), tools.CodeApprovalUnavailable, "not-started"})
		})
	}
}

// nest makes calls of "rm" with the arguments {"n":0}, {"n":1}, ... under one
// root call and returns the texts of their outcomes.
func nest(t *testing.T, opts *pipeline.Options, calls int) (texts []string) {
	t.Helper()
	var p *pipeline.Pipeline
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		for n := range calls {
			texts = append(texts, p.Execute(ctx, pipeline.Request{Name: "rm", Args: fmt.Sprintf(`{"n":%d}`, n), Parent: run}).Text())
		}
		return tools.Result{}, nil
	})
	p = pipelinetest.New(t, opts, outer, pipelinetest.Text("rm", "removed"))
	p.PreExecute.Use("asker", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if c.Name() == "rm" {
			return pipeline.Ask(""), nil
		}
		return next(ctx)
	})
	exec(p, "outer")
	return texts
}

// A person is not worn down with questions.
func TestApprovalsAreNotAskedWithoutEnd(t *testing.T) {
	asked := 0
	answering := func(a pipeline.Answer) pipeline.Approver {
		return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			asked++
			return a, nil
		})
	}
	got := nest(t, &pipeline.Options{Approver: answering(pipeline.Rejected)}, 5)
	check(t, "questions after three rejections", asked, 3)
	check(t, "the third call", got[2], `Error: the user rejected tool "rm"`)
	check(t, "the fourth call", got[3], `Error: tool "rm" requires approval, and the user is not asked again after rejecting 3 calls; end the program and ask what is wanted`)

	asked = 0
	got = nest(t, &pipeline.Options{Approver: answering(pipeline.AllowedOnce)}, 22)
	check(t, "questions by default", asked, 20)
	check(t, "the 20th call", got[19], "removed")
	check(t, "the 21st call", got[20], `Error: tool "rm" requires approval, and the user has been asked 20 times by one call already; do the rest in another call`)

	asked = 0
	nest(t, &pipeline.Options{Approver: answering(pipeline.AllowedOnce), MaxAsks: 30}, 40)
	check(t, "questions with MaxAsks", asked, 30)

	got = nest(t, &pipeline.Options{Approver: answering(pipeline.Granted)}, 50)
	check(t, "the 50th call nobody was asked about", got[49], "removed")
}

// Wrappers that start several bodies at once share one grant.
func TestGrantIsForOneOfManyBodies(t *testing.T) {
	for range 500 {
		var asked, bodies atomic.Int32
		approver := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			if asked.Add(1) == 1 {
				return pipeline.AllowedOnce, nil
			}
			return pipeline.Unavailable, nil
		})
		p := pipelinetest.New(t, &pipeline.Options{Approver: approver}, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
			bodies.Add(1)
			return tools.Result{}, nil
		}))
		p.PreExecute.Use("asker", always(pipeline.Ask("")))
		p.Execution.Use("hedge", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			var group sync.WaitGroup
			start := make(chan struct{})
			for range 4 {
				group.Go(func() {
					<-start
					_, _ = next(ctx)
				})
			}
			close(start)
			group.Wait()
			return pipeline.Success(tools.Result{}), nil
		})
		exec(p, "x")
		if bodies.Load() != 1 {
			t.Fatalf("%d bodies ran under one grant", bodies.Load())
		}
	}
}

func TestApprovalDigest(t *testing.T) {
	ask := pipeline.ApprovalRequest{Call: tools.NewCall(tools.CallSpec{Args: tools.MustJSON(`{}`)})}
	check(t, "digest", ask.Digest(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")
}

// Execute cannot keep the goroutine that foreign code ends, but the log gets its
// result.
func TestExecuteSettlesOnGoexit(t *testing.T) {
	leaver := pipelinetest.Tool("leaves", func(context.Context, *tools.Run) (tools.Result, error) {
		goruntime.Goexit()
		return tools.Result{}, nil
	})
	for _, place := range []string{"body", "policy", "begin", "review", "finalizer", "observer"} {
		rec := &pipelinetest.Recorder{}
		finalized := pipelinetest.Text("finalized", "as it was")
		finalized.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) {
			if place == "finalizer" {
				goruntime.Goexit()
			}
			return text("shaped"), true
		}
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Logger: (&logBuffer{}).logger()}, leaver, finalized)
		name, want := "leaves", `tool \"leaves\" crashed`
		switch place {
		case "review":
			name, want = "finalized", "shaped"
			p.PostExecute.Use("leaver", func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) {
				goruntime.Goexit()
				return pipeline.Accept(), nil
			})
		case "finalizer":
			name, want = "finalized", `the finalizer of tool \"finalized\" crashed`
		case "observer":
			name, want = "finalized", "shaped"
			p.OnResult("leaver", func(pipeline.Outcome) { goruntime.Goexit() })
		case "policy", "begin":
			p.PreExecute.Use("leaver", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
				goruntime.Goexit()
				return pipeline.Allow(), nil
			})
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if place == "begin" {
				p.Begin(context.Background(), pipeline.Request{ID: "c1", Name: name})
				return
			}
			exec(p, name)
		}()
		<-done
		check(t, "log when the goroutine ends in "+place, rec.Calls(), steps("call c1", "result c1"))
		if results := rec.Data(pipeline.EventToolResult); len(results) != 1 || !strings.Contains(results[0].String(), want) {
			t.Errorf("%s: the log has the results %v, want one with %s", place, results, want)
		}
	}
}

// A call whose parent was refused leaves no trace: nobody observes it either.
func TestForgedParentIsNotObserved(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Text("x", "ran"))
	p.OnResult("watch", func(o pipeline.Outcome) { t.Errorf("an observer was told of %q", o.Text()) })
	o := p.Execute(context.Background(), pipeline.Request{Name: "x", Parent: &tools.Run{}})
	if !o.IsError() {
		t.Errorf("outcome = %q, want a refusal", o.Text())
	}
}

func TestMessage(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Failing("plain", errPlain), pipelinetest.Failing("odd", panicky{}), pipelinetest.Text("x", "ran"))
	check(t, "messages", []string{exec(p, "plain").Message(), exec(p, "odd").Message(), exec(p, "x").Message()},
		[]string{"it broke", "<unprintable error of type pipeline_test.panicky>", ""})
}

type panicky struct{}

func (panicky) Error() string { panic("no text") }
