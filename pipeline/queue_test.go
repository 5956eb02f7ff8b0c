package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// slowly makes an approver that takes its time before it allows, and notes what it
// is asked about, and when, since the given moment.
func slowly(trace *pipelinetest.Trace, takes time.Duration) pipeline.Approver {
	start := time.Now()
	return pipeline.ApproverFunc(func(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		trace.Add("%v: asked for %v", time.Since(start), ask.Call.Agent())
		select {
		case <-time.After(takes):
			return pipeline.AllowedOnce, nil
		case <-ctx.Done():
			return pipeline.Cancelled, nil
		}
	})
}

// family makes agents such as "A/B/C", C below B below A.
func family(agent any) any {
	name := agent.(string)
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return nil
}

// asking is a pipeline with a tool x that is asked about.
func asking(t *testing.T, opts pipeline.Options) *pipeline.Pipeline {
	if opts.ParentOf == nil {
		opts.ParentOf = family
	}
	p := pipelinetest.New(t, &opts, pipelinetest.Text("x", "ran"))
	askAbout(p, "x")
	return p
}

// start makes a call of x and returns where its text will be.
func start(ctx context.Context, p *pipeline.Pipeline, agent any) <-chan string {
	text := make(chan string, 1)
	go func() { text <- p.Execute(ctx, pipeline.Request{Name: "x", Agent: agent}).Text() }()
	return text
}

// Of the agents below one topmost agent one question is open at a time; those of
// others do not wait for it.
func TestOneQuestionPerTopmostAgent(t *testing.T) {
	for _, tt := range []struct {
		name   string
		agents [2]any
		turns  bool // one after the other
	}{
		{"an agent and one below it", [2]any{"A", "A/B"}, true},
		{"agents side by side", [2]any{"A/B", "A/C"}, true},
		{"agents far apart", [2]any{"A/B/D", "A/C"}, true},
		{"one agent", [2]any{"A", "A"}, true},
		{"unrelated agents", [2]any{"A", "B"}, false},
		{"agents below unrelated ones", [2]any{"A/C", "B/C"}, false},
		{"no agent", [2]any{nil, nil}, true},
		{"an agent and none", [2]any{"A", nil}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trace := &pipelinetest.Trace{}
				rec := &pipelinetest.Recorder{}
				p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute), Sink: rec})
				first := start(t.Context(), p, tt.agents[0])
				synctest.Wait()
				second := start(t.Context(), p, tt.agents[1])
				synctest.Wait()
				began := time.Now()
				check(t, "outcomes", []string{<-first, <-second}, []string{"ran", "ran"})
				then, took := "0s", time.Minute
				if tt.turns {
					then, took = "1m0s", 2*time.Minute
				}
				check(t, "questions", trace.Steps(), steps(fmt.Sprintf("0s: asked for %v", tt.agents[0]), fmt.Sprintf("%s: asked for %v", then, tt.agents[1])))
				check(t, "time", time.Since(began), took)
				order := slices.DeleteFunc(rec.Types(), func(s string) bool { return s != "approval/asked" && s != "approval/decided" })
				if tt.turns {
					check(t, "log", order, steps("approval/asked", "approval/decided", "approval/asked", "approval/decided"))
				} else {
					check(t, "log", order, steps("approval/asked", "approval/asked", "approval/decided", "approval/decided"))
				}
			})
		})
	}
}

// An agent that is over is not kept by the questions about its calls.
func TestQuestionsKeepNoAgents(t *testing.T) {
	type agent struct{ name *string }
	p := asking(t, pipeline.Options{Approver: answering(pipeline.AllowedOnce, nil), ParentOf: func(any) any { return nil }})
	ask := func() weak.Pointer[agent] {
		a := &agent{}
		check(t, "outcome", <-start(t.Context(), p, a), "ran")
		left, cancel := context.WithCancel(t.Context())
		cancel()
		<-start(left, p, a)
		return weak.Make(a)
	}
	kept := ask()
	goruntime.GC()
	if kept.Value() != nil {
		t.Error("the pipeline keeps the agent")
	}
	goruntime.KeepAlive(p)
}

// Everybody gets a turn in the end, and the line leaves nothing behind that would
// hold up later questions.
func TestManyQuestionsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Second)})
		for round := range 2 {
			var texts []<-chan string
			for i := range 30 {
				texts = append(texts, start(t.Context(), p, fmt.Sprintf("A/%d", i)))
			}
			began := time.Now()
			for _, text := range texts {
				check(t, "outcome", <-text, "ran")
			}
			check(t, fmt.Sprintf("time of round %d", round+1), time.Since(began), 30*time.Second)
		}
		check(t, "questions", len(trace.Steps()), 60)
	})
}

// One that waits for its turn and leaves is not asked about, is not in the log as
// a question, and holds up nobody.
func TestWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		rec := &pipelinetest.Recorder{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute), Sink: rec})
		first := start(t.Context(), p, "A")
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		outcome := make(chan pipeline.Outcome, 1)
		go func() { outcome <- p.Execute(ctx, pipeline.Request{Name: "x", Agent: "A/B"}) }()
		synctest.Wait()
		third := start(t.Context(), p, "A/C")
		time.Sleep(10 * time.Second)
		gone := errors.New("gone home")
		cancel(gone)
		o := <-outcome
		check(t, "outcome of the one that left", endOf(o), abortedEnd)
		check(t, "its cause is known", errors.Is(o.Err(), gone), true)
		check(t, "time until it was let go", time.Since(began), 10*time.Second)
		check(t, "the others", []string{<-first, <-third}, []string{"ran", "ran"})
		check(t, "questions", trace.Steps(), steps("0s: asked for A", "1m0s: asked for A/C"))
		check(t, "questions in the log", len(approvals(t, rec)), 4)
	})
}

// The time of a question begins with its turn: a person who takes long over one
// has as long for the next.
func TestApprovalTimeBeginsWithTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, 50*time.Second), ApprovalTimeout: time.Minute})
		began := time.Now()
		texts := []<-chan string{start(t.Context(), p, "A"), start(t.Context(), p, "A/B"), start(t.Context(), p, "A/C")}
		for i, text := range texts {
			check(t, fmt.Sprintf("outcome %d", i+1), <-text, "ran")
		}
		check(t, "time", time.Since(began), 150*time.Second)
	})
}

// A question that nobody answers is over for those behind it too, even if the
// approver goes on regardless.
func TestUnansweredQuestionLetsTheNextIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		start0 := time.Now()
		deafToA := pipeline.ApproverFunc(func(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
			trace.Add("%v: asked for %v", time.Since(start0), ask.Call.Agent())
			if ask.Call.Agent() == "A" {
				time.Sleep(time.Hour)
			}
			return pipeline.AllowedOnce, nil
		})
		p := asking(t, pipeline.Options{Approver: deafToA, ApprovalTimeout: time.Minute})
		first := start(t.Context(), p, "A")
		synctest.Wait()
		second := start(t.Context(), p, "A/B")
		check(t, "outcomes", []string{<-first, <-second}, []string{`Error: tool "x" requires approval, and nobody answered within 1m0s`, "ran"})
		check(t, "questions", trace.Steps(), steps("0s: asked for A", "1m0s: asked for A/B"))
		time.Sleep(time.Hour)
	})
}

// An approver that crashes or ends its goroutine gives its turn back.
func TestCrashGivesTheTurnBack(t *testing.T) {
	for name, crash := range map[string]func(){"panic": func() { panic("secret") }, "exit": goruntime.Goexit} {
		t.Run(name, func(t *testing.T) {
			p := asking(t, pipeline.Options{Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
				crash()
				return pipeline.AllowedOnce, nil
			})})
			for range 3 {
				check(t, "outcome", <-start(t.Context(), p, "A"), `Error: tool "x" requires approval, but no approval channel is available`)
			}
		})
	}
}

// The wall clock of a program stands still while it waits for its turn too.
func TestPauseIncludesTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute)})
		first := start(t.Context(), p, "A")
		synctest.Wait()
		began := time.Now()
		var paused []time.Duration
		o := p.Execute(t.Context(), pipeline.Request{Name: "x", Agent: "A/B", OnApproval: func() func() {
			paused = append(paused, time.Since(began))
			return func() { paused = append(paused, time.Since(began)) }
		}})
		check(t, "outcomes", []string{<-first, o.Text()}, []string{"ran", "ran"})
		check(t, "paused from and to", paused, []time.Duration{0, 2 * time.Minute})
	})
}

// An approver that makes a call which needs approval itself is denied at once,
// since it would wait for its own turn.
func TestApproverCannotAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &pipelinetest.Recorder{}
		var p *pipeline.Pipeline
		var inner []end
		p = asking(t, pipeline.Options{Sink: rec, Approver: pipeline.ApproverFunc(func(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
			narrowed, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			for _, agent := range []any{"A", "A/B", "B", nil} {
				inner = append(inner, endOf(p.Execute(narrowed, pipeline.Request{ID: "c2", Name: "x", Agent: agent})))
			}
			inner = append(inner, endOf(p.Execute(ctx, pipeline.Request{ID: "c3", Name: "free"})))
			return pipeline.AllowedOnce, nil
		})})
		if _, err := p.Registry().Add(pipelinetest.Text("free", "free")); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		check(t, "outcome", <-start(t.Context(), p, "A"), "ran")
		denied := end{`Error: tool "x" requires approval, and it is called on behalf of an approver, which cannot be asked meanwhile`, tools.CodeApprovalUnavailable, "not-started"}
		check(t, "calls of the approver", inner, []end{denied, denied, denied, denied, {"free", "", "done"}})
		check(t, "time", time.Since(began), 0*time.Second)
		check(t, "questions in the log", len(rec.Data(pipeline.EventApprovalAsked)), 1)
	})
}

// A body that was asked about may make calls that are asked about: its question is
// over.
func TestBodiesMayAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Second)})
		_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			inner := p.Execute(ctx, pipeline.Request{Name: "x", Agent: "A", Parent: run})
			sub := <-start(ctx, p, "A/B")
			return tools.Result{Value: tools.StringJSON(inner.Text() + ", " + sub)}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		p.PreExecute.Use("ask about outer", always(pipeline.Ask("")))
		o := p.Execute(t.Context(), pipeline.Request{Name: "outer", Agent: "A"})
		check(t, "outcome", o.Text(), "ran, ran")
		check(t, "questions", trace.Steps(), steps("0s: asked for A", "1s: asked for A", "2s: asked for A/B"))
	})
}
