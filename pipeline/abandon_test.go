package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// drain is what the bodies of these tests have, since they do not say.
const drain = 5 * time.Second

func gaveUp(tool string) end {
	return end{fmt.Sprintf("Error: tool %q did not return within 5s after its run had ended; it was abandoned and may still act", tool),
		tools.CodeToolAbandoned, pipeline.StateAbandoned}
}

// program is a round of calls that may be given up: over ends the wait for them
// together with their context.
type program struct {
	p        *pipeline.Pipeline
	rec      pipelinetest.Recorder
	log      logBuffer
	progress atomic.Int32
	ctx      context.Context
	over     context.CancelFunc
	letGo    chan struct{} // closed when stubborn bodies may go on
	leave    func()        // closes it, once
}

// newProgram has the given tools and "stubborn", whose body ignores its context
// and does then once it is let go. The context ends after a second.
func newProgram(t *testing.T, then func(*program, context.Context, *tools.Run) (tools.Result, error), defs ...*tools.Definition) *program {
	t.Helper()
	r := &program{letGo: make(chan struct{})}
	r.ctx, r.over = context.WithCancel(t.Context())
	time.AfterFunc(time.Second, r.over)
	r.leave = func() {
		close(r.letGo)
		synctest.Wait()
	}
	r.p = pipelinetest.New(t, &pipeline.Options{
		Sink: &r.rec, Stages: true, Logger: r.log.logger(), Now: time.Now,
		Progress: func(tools.Call, tools.Progress) { r.progress.Add(1) },
	}, append(defs, pipelinetest.Tool("stubborn", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(note("early"))
		run.Conclude()
		run.Progress(tools.Progress{})
		<-r.letGo
		if then == nil {
			return tools.Result{}, nil
		}
		return then(r, ctx, run)
	}))...)
	return r
}

func (r *program) request(name string) pipeline.Request {
	return pipeline.Request{ID: "c1", Name: name, Over: r.ctx.Done()}
}

// sound checks the log at the end of a test.
func (r *program) sound(t *testing.T) {
	t.Helper()
	for _, problem := range pipelinetest.CheckLog(r.rec.Events()) {
		t.Error(problem)
	}
}

func TestAbandonedBody(t *testing.T) {
	for _, tt := range []struct {
		name  string
		then  func(*program, context.Context, *tools.Run) (tools.Result, error)
		later string // what the host is told of it
	}{
		{"returns a value", func(*program, context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON("late")}, nil
		}, "an abandoned tool has returned"},
		{"fails", func(*program, context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, errPlain }, "an abandoned tool has returned"},
		{"panics", func(*program, context.Context, *tools.Run) (tools.Result, error) { panic("a late secret") }, "a late secret"},
		{"ends its goroutine", func(*program, context.Context, *tools.Run) (tools.Result, error) {
			goruntime.Goexit()
			return tools.Result{}, nil
		}, "runtime.Goexit"},
		{"uses its handle", func(r *program, _ context.Context, run *tools.Run) (tools.Result, error) {
			if run.Defer(note("late")) {
				panic("a message was deferred")
			}
			run.Conclude()
			run.Progress(tools.Progress{})
			return tools.Result{}, nil
		}, "an abandoned tool has returned"},
		{"nests a call", func(r *program, ctx context.Context, run *tools.Run) (tools.Result, error) {
			for _, ctx := range []context.Context{ctx, context.WithoutCancel(ctx)} {
				o := r.p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "never", Parent: run})
				if !strings.Contains(o.Text(), "before it returns") {
					panic("the nested call was taken on: " + o.Text())
				}
			}
			return tools.Result{}, nil
		}, "an abandoned tool has returned"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newProgram(t, tt.then, pipelinetest.Tool("never", func(context.Context, *tools.Run) (tools.Result, error) {
					t.Error("a call below an abandoned body ran")
					return tools.Result{}, nil
				}))
				trace := traced(r.p)
				began := time.Now()
				o := r.p.Execute(r.ctx, r.request("stubborn"))
				check(t, "took", time.Since(began), time.Second+drain)
				check(t, "outcome", endOf(o), gaveUp("stubborn"))
				check(t, "contexts", texts(o.Contexts()), steps("early"))
				check(t, "abandoned", r.p.Abandoned(), steps("stubborn"))
				check(t, "stages", trace.Steps(), steps("pre stubborn", "guard stubborn", "execute stubborn", "executed stubborn", "post stubborn", "result stubborn"))
				events := len(r.rec.Events())

				r.leave()
				check(t, "abandoned later", r.p.Abandoned(), steps())
				check(t, "events added later", len(r.rec.Events())-events, 0)
				check(t, "outcome later", endOf(o), gaveUp("stubborn"))
				check(t, "contexts later", texts(o.Contexts()), steps("early"))
				check(t, "concludes", o.Concludes(), false)
				check(t, "progress", r.progress.Load(), int32(1))
				check(t, "stages later", len(trace.Steps()), 6)
				if host := r.log.String(); !strings.Contains(host, tt.later) {
					t.Errorf("the host is told %q, want %q in it", host, tt.later)
				}
				check(t, "log", r.rec.Calls(), steps("call c1", "result c1"))
				r.sound(t)
			})
		})
	}
}

// A body that heeds its context, or only takes its time, is awaited.
func TestBodiesThatAreNotAbandoned(t *testing.T) {
	aborted := end{"Error: tool call aborted", tools.CodeAborted, pipeline.StateAborted}
	for _, tt := range []struct {
		name  string
		takes time.Duration // from the start of the call, heeding nothing
		body  func() (tools.Result, error)
		over  bool // the wait may end
		ends  bool // the call's context ends
		want  end
	}{
		{"returns within its time", 5999 * time.Millisecond, nil, true, true, aborted},
		{"nobody ends the wait", time.Hour, nil, false, true, aborted},
		{"the call alone is given up", time.Hour, nil, true, true, aborted},
		{"nothing ends", time.Hour, nil, true, false, end{"ok", "", pipeline.StateDone}},
		{"panics within its time", 5 * time.Second, func() (tools.Result, error) { panic("secret") }, true, true,
			end{`Error: tool "slow" crashed`, tools.CodePanic, pipeline.StateFailed}},
		{"ends its goroutine", time.Millisecond, func() (tools.Result, error) { goruntime.Goexit(); return tools.Result{}, nil }, true, false,
			end{`Error: tool "slow" crashed`, tools.CodePanic, pipeline.StateFailed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newProgram(t, nil, pipelinetest.Tool("slow", func(context.Context, *tools.Run) (tools.Result, error) {
					time.Sleep(tt.takes)
					if tt.body != nil {
						return tt.body()
					}
					return tools.Result{Value: tools.StringJSON("ok")}, nil
				}))
				defer r.over()
				req, ctx := pipeline.Request{ID: "c1", Name: "slow"}, t.Context()
				if tt.ends {
					ctx = r.ctx
				}
				switch {
				case tt.over && tt.takes < 10*time.Second:
					req.Over = r.ctx.Done()
				case tt.over:
					req.Over = make(chan struct{})
				}
				began := time.Now()
				o := r.p.Execute(ctx, req)
				check(t, "outcome", endOf(o), tt.want)
				check(t, "took", time.Since(began), tt.takes)
				check(t, "abandoned", r.p.Abandoned(), steps())
				r.sound(t)
			})
		})
	}
}

// A caller that still listens gets what a body returns in time.
func TestSuccessWithinTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newProgram(t, nil, pipelinetest.Tool("slow", func(_ context.Context, run *tools.Run) (tools.Result, error) {
			time.Sleep(3 * time.Second)
			check(t, "deferred", run.Defer(note("in time")), true)
			return tools.Result{Value: tools.StringJSON("ok")}, nil
		}))
		o := r.p.Execute(t.Context(), r.request("slow"))
		check(t, "outcome", endOf(o), end{"ok", "", pipeline.StateDone})
		check(t, "contexts", texts(o.Contexts()), steps("in time"))
	})
}

// The child of two stubborn levels is the one to be abandoned: the body above
// gets its failure and answers for itself.
func TestStubbornChild(t *testing.T) {
	for _, tt := range []struct {
		name   string
		after  time.Duration // the body above goes on after its child
		detach bool          // the child's context does not end
		own    bool          // the child has an end of its own, which does not come
		want   end
		took   time.Duration
	}{
		{"the body above returns at once", 0, false, false, end{"Error: tool call aborted", tools.CodeAborted, "aborted"}, 6 * time.Second},
		{"it takes as long as it may", 4999 * time.Millisecond, false, false, end{"Error: tool call aborted", tools.CodeAborted, "aborted"}, 10999 * time.Millisecond},
		{"it goes on for longer", time.Hour, false, false, gaveUp("outer"), 11 * time.Second},
		{"the child's context does not end", 0, true, false, end{"Error: tool call aborted", tools.CodeAborted, "aborted"}, 6 * time.Second},
		{"the child has an end of its own", 0, true, true, end{"Error: tool call aborted", tools.CodeAborted, "aborted"}, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *program
				var child pipeline.Outcome
				r = newProgram(t, nil, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					if tt.detach {
						ctx = context.WithoutCancel(ctx)
					}
					req := pipeline.Request{ID: "c1:code:1", Name: "stubborn", Parent: run}
					if tt.own {
						req.Over = make(chan struct{})
					}
					child = r.p.Execute(ctx, req)
					time.Sleep(tt.after)
					return tools.Result{}, nil
				}))
				began := time.Now()
				o := r.p.Execute(r.ctx, r.request("outer"))
				synctest.Wait()
				check(t, "took", time.Since(began), tt.took)
				check(t, "outcome", endOf(o), tt.want)
				check(t, "the child's", endOf(child), gaveUp("stubborn"))
				want := steps("stubborn")
				if tt.want == gaveUp("outer") {
					want = steps("outer", "stubborn")
				}
				check(t, "abandoned", r.p.Abandoned(), want)
				check(t, "log", r.rec.Calls(), steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "result c1"))
				r.sound(t)
				r.leave()
				time.Sleep(2 * time.Hour)
				check(t, "abandoned later", r.p.Abandoned(), steps())
			})
		})
	}
}

// An end that comes while the child has not begun reaches it as well.
func TestEndBeforeTheChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *program
		r = newProgram(t, nil, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			time.Sleep(2 * time.Second) // the end came a second ago
			o := r.p.Execute(context.WithoutCancel(ctx), pipeline.Request{ID: "c1:code:1", Name: "stubborn", Parent: run, Over: make(chan struct{})})
			return tools.Result{}, o.Err()
		}))
		began := time.Now()
		o := r.p.Execute(r.ctx, r.request("outer"))
		check(t, "took", time.Since(began), 7*time.Second)
		check(t, "outcome", endOf(o), end{gaveUp("stubborn").Text, tools.CodeToolAbandoned, pipeline.StateFailed})
		r.sound(t)
		r.leave()
	})
}

// A stubborn body keeps a child that heeds its context, until its own time is
// over; then it makes no more.
func TestStubbornParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *program
		var refused []string
		r = newProgram(t, nil, pipelinetest.Echo("echo"), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			for i := 1; ; i++ {
				o := r.p.Execute(context.WithoutCancel(ctx), pipeline.Request{ID: fmt.Sprint("c1:code:", i), Name: "echo", Parent: run})
				if o.IsError() {
					refused = append(refused, o.Text())
					<-r.letGo
					return tools.Result{}, nil
				}
				time.Sleep(3500 * time.Millisecond) // the third comes at 7 s, when its time is over
			}
		}))
		began := time.Now()
		o := r.p.Execute(r.ctx, r.request("outer"))
		check(t, "took", time.Since(began), 8500*time.Millisecond) // from the second call
		check(t, "outcome", endOf(o), gaveUp("outer"))
		check(t, "log", r.rec.Calls(), steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1",
			"code-dispatch-start c1:code:2", "code-dispatch c1:code:2", "result c1"))
		synctest.Wait()
		if len(refused) != 1 || !strings.Contains(refused[0], "before it returns") {
			t.Errorf("refused: %q", refused)
		}
		r.sound(t)
		r.leave()
	})
}

// Calls that a body makes with its context and without a parent, as a sub-agent
// does, keep it waiting too, but not for ever.
func TestStubbornSubAgent(t *testing.T) {
	aborted := end{"Error: tool call aborted", tools.CodeAborted, "aborted"}
	for _, tt := range []struct {
		name string
		call func(r *program, ctx context.Context) pipeline.Outcome
		want end
		took time.Duration
		left []string
	}{
		{"with a run of its own, which ends", func(r *program, ctx context.Context) pipeline.Outcome {
			return r.p.Execute(ctx, pipeline.Request{ID: "a1", Name: "program"})
		}, aborted, 6 * time.Second, steps("stubborn")},
		{"that calls the tool directly", func(r *program, ctx context.Context) pipeline.Outcome {
			return r.p.Execute(ctx, pipeline.Request{ID: "a1", Name: "stubborn"})
		}, gaveUp("agent"), 11 * time.Second, steps("agent")},
		{"that goes on for ever with short calls", func(r *program, ctx context.Context) pipeline.Outcome {
			for i := 1; ; i++ {
				time.Sleep(700 * time.Millisecond)
				o := r.p.Execute(context.WithoutCancel(ctx), pipeline.Request{ID: fmt.Sprint("a", i), Name: "echo"})
				select {
				case <-r.letGo:
					return o
				default:
				}
			}
		}, gaveUp("agent"), 10600 * time.Millisecond, steps("agent")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *program
				r = newProgram(t, nil, pipelinetest.Echo("echo"),
					pipelinetest.Tool("agent", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
						tt.call(r, ctx)
						return tools.Result{}, nil
					}),
					pipelinetest.Tool("program", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
						o := r.p.Execute(ctx, pipeline.Request{ID: "a1:code:1", Name: "stubborn", Parent: run, Over: ctx.Done()})
						check(t, "the call of the sub-agent's program", endOf(o), gaveUp("stubborn"))
						return tools.Result{}, nil
					}))
				began := time.Now()
				o := r.p.Execute(r.ctx, r.request("agent"))
				check(t, "took", time.Since(began), tt.took)
				check(t, "outcome", endOf(o), tt.want)
				check(t, "abandoned", r.p.Abandoned(), tt.left)
				r.leave()
				time.Sleep(time.Minute)
				check(t, "abandoned later", r.p.Abandoned(), steps())
				r.sound(t)
			})
		})
	}
}

// Whatever wrappers make of it, an abandoned body is not started again and the
// state tells of it.
func TestAbandonedUnderWrappers(t *testing.T) {
	late := end{"Error: tool call timed out", tools.CodeToolTimeout, pipeline.StateAbandoned}
	for _, tt := range []struct {
		name     string
		wrappers []wrapper
		want     end
	}{
		{"a retry", []wrapper{retry}, gaveUp("stubborn")},
		{"a retry that does not heed its context", []wrapper{func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			_, _ = next(ctx)
			return next(context.Background())
		}}, gaveUp("stubborn")},
		{"a timeout", []wrapper{timeout(time.Second / 2)}, late},
		{"a retry outside a timeout", []wrapper{retry, timeout(time.Second / 2)}, gaveUp("stubborn")},
		{"a wrapper that does not wait", []wrapper{func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			go func() { _, _ = next(ctx) }()
			<-ctx.Done()
			return pipeline.Failure(errors.New("impatient")), nil
		}}, end{"Error: impatient", "", pipeline.StateAbandoned}},
		{"a wrapper that fails", []wrapper{func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			_, _ = next(ctx)
			return pipeline.Result{}, ctx.Err()
		}}, end{"Error: tool call aborted", tools.CodeAborted, pipeline.StateAbandoned}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newProgram(t, nil)
				for i, w := range tt.wrappers {
					r.p.Execution.Use(fmt.Sprint("w", i), w)
				}
				o := r.p.Execute(r.ctx, r.request("stubborn"))
				check(t, "outcome", endOf(o), tt.want)
				check(t, "abandoned", r.p.Abandoned(), steps("stubborn")) // one body, so it was started once
				r.leave()
				r.sound(t)
			})
		})
	}
}

// A question that is open when the run ends is not waited for, though the
// approver ignores its context.
func TestEndWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &pipelinetest.Recorder{}
		answer := make(chan struct{})
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			<-answer
			return pipeline.AllowedOnce, nil
		})}, pipelinetest.Tool("never", func(context.Context, *tools.Run) (tools.Result, error) {
			t.Error("the body ran")
			return tools.Result{}, nil
		}))
		p.PreExecute.Use("ask", always(pipeline.Ask("?")))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		o := p.Execute(ctx, pipeline.Request{ID: "c1", Name: "never", Over: ctx.Done()})
		check(t, "took", time.Since(began), time.Second)
		check(t, "outcome", endOf(o), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, pipeline.StateNotStarted})
		check(t, "abandoned", p.Abandoned(), steps())
		close(answer)
		synctest.Wait()
		for _, problem := range pipelinetest.CheckLog(rec.Events()) {
			t.Error(problem)
		}
	})
}

// A body that takes calls step by step and stops between two of them does not
// leave them open in the log.
func TestAbandonedBetweenSteps(t *testing.T) {
	for _, tt := range []struct {
		name       string
		dispatched bool
		want       end
	}{
		{"before the body", false, end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, pipeline.StateNotStarted}},
		{"before it settles", true, end{"{}", "", pipeline.StateDone}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r *program
				var late pipeline.Outcome
				bodies := 0
				r = newProgram(t, nil, pipelinetest.Tool("inner", func(_ context.Context, run *tools.Run) (tools.Result, error) {
					bodies++
					return tools.Result{Value: run.Args()}, nil
				}), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					done := r.p.Begin(ctx, pipeline.Request{ID: "c1:code:1", Name: "inner", Parent: run})
					done.Settle()
					s := r.p.Begin(context.WithoutCancel(ctx), pipeline.Request{ID: "c1:code:2", Name: "inner", Parent: run})
					if tt.dispatched {
						s.Dispatch()
					}
					<-r.letGo
					s.Dispatch()
					late = s.Settle()
					return tools.Result{}, nil
				}))
				began := time.Now()
				o := r.p.Execute(r.ctx, r.request("outer"))
				check(t, "took", time.Since(began), time.Second+2*drain)
				check(t, "outcome", endOf(o), gaveUp("outer"))
				want := steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1",
					"code-dispatch-start c1:code:2", "code-dispatch c1:code:2", "result c1")
				check(t, "log", r.rec.Calls(), want)
				synctest.Wait()
				before := bodies
				r.leave()
				check(t, "the late outcome", endOf(late), tt.want)
				check(t, "bodies started later", bodies-before, 0)
				check(t, "log later", r.rec.Calls(), want)
				r.sound(t)
			})
		})
	}
}

// A call that a listener is at work on is nobody's to settle, and the body above is
// kept until it has.
func TestAbandonedWhilePolicyDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *program
		r = newProgram(t, nil, pipelinetest.Echo("echo"), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			r.p.Begin(ctx, pipeline.Request{ID: "c1:code:1", Name: "echo", Parent: run})
			<-r.letGo
			return tools.Result{}, nil
		}))
		r.p.PreExecute.Use("slow", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
			if c.Name() == "echo" {
				time.Sleep(time.Minute)
			}
			return next(ctx)
		})
		began := time.Now()
		o := r.p.Execute(r.ctx, r.request("outer"))
		check(t, "outcome", endOf(o), gaveUp("outer"))
		check(t, "log", r.rec.Calls(), steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "result c1"))
		// The call is found lying at the first look after a minute, at 61 s.
		check(t, "took", time.Since(began), 66*time.Second)
		r.sound(t)
		r.leave()
	})
}

// Calls that a batch kept from beginning are not waited for.
func TestAbandonedAfterABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *program
		r = newProgram(t, nil, pipelinetest.Echo("echo"), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			<-ctx.Done()
			r.p.Batch(ctx, []pipeline.Request{{ID: "c1:code:1", Name: "echo", Parent: run}})
			<-r.letGo
			return tools.Result{}, nil
		}))
		began := time.Now()
		o := r.p.Execute(r.ctx, r.request("outer"))
		check(t, "took", time.Since(began), time.Second+drain)
		check(t, "outcome", endOf(o), gaveUp("outer"))
		r.sound(t)
		r.leave()
	})
}

// The calls of a batch may be given up too; the others are not held up by one.
func TestBatchWithAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newProgram(t, nil, pipelinetest.Echo("echo"))
		began := time.Now()
		b := r.p.Batch(r.ctx, []pipeline.Request{r.request("stubborn"), {ID: "c2", Name: "echo"}})
		check(t, "took", time.Since(began), time.Second+drain)
		check(t, "first", endOf(b.Outcomes[0]), gaveUp("stubborn"))
		check(t, "second", b.Outcomes[1].State(), pipeline.StateNotStarted)
		check(t, "log", r.rec.Calls(), steps("call c1", "result c1", "call c2", "result c2"))
		r.sound(t)
		r.leave()
	})
}

func TestAbandonedNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		stubborn := func(context.Context, *tools.Run) (tools.Result, error) {
			<-letGo
			return tools.Result{}, nil
		}
		p := pipelinetest.New(t, &pipeline.Options{Drain: time.Millisecond}, pipelinetest.Tool("b", stubborn), pipelinetest.Tool("a", stubborn))
		check(t, "at first", p.Abandoned(), steps())
		over := make(chan struct{})
		close(over)
		for _, name := range []string{"b", "a", "b"} {
			began := time.Now()
			o := p.Execute(t.Context(), pipeline.Request{Name: name, Over: over})
			check(t, "took", time.Since(began), time.Millisecond)
			if want := fmt.Sprintf("tool %q did not return within 1ms after its run had ended; it was abandoned and may still act", name); o.Message() != want {
				t.Errorf("message %q, want %q", o.Message(), want)
			}
		}
		check(t, "names", p.Abandoned(), steps("a", "b", "b"))
		close(letGo)
		synctest.Wait()
		check(t, "at last", p.Abandoned(), steps())
	})
}

// A log handler that panics is contained also where no call is left to fail.
func TestAbandonedWithABrokenLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		letGo := make(chan struct{})
		p := pipelinetest.New(t, &pipeline.Options{Logger: slog.New(brokenHandler{slog.DiscardHandler})},
			pipelinetest.Tool("stubborn", func(context.Context, *tools.Run) (tools.Result, error) {
				<-letGo
				return tools.Result{}, nil
			}))
		over := make(chan struct{})
		close(over)
		check(t, "outcome", endOf(p.Execute(t.Context(), pipeline.Request{Name: "stubborn", Over: over})), gaveUp("stubborn"))
		close(letGo)
		synctest.Wait()
		check(t, "abandoned", p.Abandoned(), steps())
	})
}

type brokenHandler struct{ slog.Handler }

func (brokenHandler) Enabled(context.Context, slog.Level) bool { return true }

func (brokenHandler) Handle(context.Context, slog.Record) error { panic("no space") }

// The events of an abandoned call have its state and its code.
func TestEventsOfAnAbandonedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *program
		r = newProgram(t, nil, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			r.p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "stubborn", Parent: run, Over: ctx.Done(), Site: tools.Site{Line: 7}})
			return tools.Result{}, nil
		}))
		r.p.Execute(r.ctx, pipeline.Request{ID: "c1", Name: "outer"})
		want := `{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"stubborn","arguments":{},"isError":true,` +
			`"content":[{"type":"text","text":"Error: tool \"stubborn\" did not return within 5s after its run had ended; it was abandoned and may still act"}],` +
			`"error":{"name":"ToolAbandonedError","code":"TOOL_ABANDONED"},"state":"abandoned","durationMs":6000,"line":7}`
		check(t, "settle event", r.rec.Data(pipeline.EventCodeDispatch)[0].String(), want)
		r.leave()
	})
}
