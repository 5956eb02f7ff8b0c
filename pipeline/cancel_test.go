package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

var errGivenUp = errors.New("the user pressed escape")

// TestCancellation: who wins when the caller's context ends at one of the
// places a call passes. Every test cancels at exactly one place.
func TestCancellation(t *testing.T) {
	before := end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"}
	during := end{"Error: tool call aborted", tools.CodeAborted, "aborted"}
	type places struct {
		pre, guard, enter, body, leave, post func()
		preAnswer                            func() (pipeline.Decision, error)
		guardAnswer                          string
		bodyErr                              func(ctx context.Context) error
		wrapErr, postErr                     error
		skip                                 bool // the wrapper does not ask next
		postAnswer                           pipeline.PostDecision
	}
	allow := func() (pipeline.Decision, error) { return pipeline.Allow(), nil }
	tests := []struct {
		name     string
		early    bool // cancel before the call
		args     string
		set      func(p *places, cancel func())
		want     end
		stages   []string
		contexts []string
	}{
		{"before entry no stage runs", true, "", func(*places, func()) {}, before, steps("result tool"), nil},
		{"bad arguments win over an early abort", true, `{"a":1,"a":2}`, func(*places, func()) {},
			end{"Error: invalid arguments: invalid JSON at byte 7 (/a): the property name is given twice; send it once", tools.CodeInvalidArgs, "not-started"}, steps("result tool"), nil},
		{"during pre-execute, which then allows", false, "", func(p *places, cancel func()) { p.pre = cancel },
			before, steps("pre", "guard", "post", "result tool"), nil},
		{"during pre-execute, which then denies", false, "", func(p *places, cancel func()) {
			p.pre = cancel
			p.preAnswer = func() (pipeline.Decision, error) { return pipeline.Deny("no"), nil }
		}, end{"Error: no", tools.CodeDeniedByPolicy, "not-started"}, steps("pre", "post", "result tool"), nil},
		{"during pre-execute, which then fails", false, "", func(p *places, cancel func()) {
			p.pre = cancel
			p.preAnswer = func() (pipeline.Decision, error) { return pipeline.Allow(), errPlain }
		}, end{"Error: it broke", "", "not-started"}, steps("pre", "result tool"), nil},
		// Passing the end of the context on is how Go code aborts, so it is the
		// abort and not an error of the listener's own.
		{"during pre-execute, which hands the abort on", false, "", func(p *places, cancel func()) {
			p.pre = cancel
			p.preAnswer = func() (pipeline.Decision, error) { return pipeline.Allow(), context.Canceled }
		}, before, steps("pre", "result tool"), nil},
		{"during pre-execute, a guard denies", false, "", func(p *places, cancel func()) { p.pre = cancel; p.guardAnswer = "no" },
			end{"Error: no", tools.CodeDeniedByGuard, "not-started"}, steps("pre", "guard", "post", "result tool"), nil},
		{"during the guards", false, "", func(p *places, cancel func()) { p.guard = cancel }, before, steps("pre", "guard", "post", "result tool"), nil},
		{"in a wrapper before next", false, "", func(p *places, cancel func()) { p.enter = cancel },
			before, steps("pre", "guard", "enter", "leave", "post", "result tool"), nil},
		{"in a wrapper that answers itself", false, "", func(p *places, cancel func()) { p.enter = cancel; p.skip = true },
			before, steps("pre", "guard", "enter", "leave", "post", "result tool"), []string{"wrapper"}},
		{"in the body, which then succeeds", false, "", func(p *places, cancel func()) { p.body = cancel },
			during, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in the body, which then fails on its own", false, "", func(p *places, cancel func()) {
			p.body = cancel
			p.bodyErr = func(context.Context) error { return coded("gone") }
		}, end{"Error: gone", "FS_NOT_FOUND", "failed"}, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in the body, which hands the abort on", false, "", func(p *places, cancel func()) {
			p.body = cancel
			p.bodyErr = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		}, during, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in the body, which hands the cause on", false, "", func(p *places, cancel func()) {
			p.body = cancel
			p.bodyErr = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		}, during, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in a wrapper after the body", false, "", func(p *places, cancel func()) { p.leave = cancel },
			during, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in a wrapper that then fails", false, "", func(p *places, cancel func()) { p.leave = cancel; p.wrapErr = errPlain },
			end{"Error: it broke", "", "failed"}, steps("pre", "guard", "enter", "body", "leave", "result tool"), nil},
		{"in a post listener that accepts", false, "", func(p *places, cancel func()) { p.post = cancel },
			during, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), []string{"body"}},
		{"in a post listener that blocks", false, "", func(p *places, cancel func()) { p.post = cancel; p.postAnswer = pipeline.Block(text("no")) },
			end{"no", "", "failed"}, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), nil},
		{"in a post listener that fails", false, "", func(p *places, cancel func()) { p.post = cancel; p.postErr = errPlain },
			end{"Error: it broke", "", "failed"}, steps("pre", "guard", "enter", "body", "leave", "post", "result tool"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancelCause := context.WithCancelCause(context.Background())
			cancel := func() { cancelCause(errGivenUp) }
			defer cancel()
			nothing := func() {}
			at := places{nothing, nothing, nothing, nothing, nothing, nothing, allow, "",
				func(context.Context) error { return nil }, nil, nil, false, pipeline.Accept()}
			tt.set(&at, cancel)
			trace := &pipelinetest.Trace{}
			p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				trace.Add("body")
				run.Defer(note("body"))
				run.Conclude()
				at.body()
				return tools.Result{}, at.bodyErr(ctx)
			}))
			p.PreExecute.Use("l", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
				trace.Add("pre")
				at.pre()
				return at.preAnswer()
			})
			p.Guards.Use("g", func(tools.Call) string { trace.Add("guard"); at.guard(); return at.guardAnswer })
			p.Execution.Use("w", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (r pipeline.Result, err error) {
				trace.Add("enter")
				at.enter()
				if at.skip {
					r = pipeline.Success(tools.Result{}).WithContexts(note("wrapper"))
				} else {
					r, err = next(ctx)
				}
				trace.Add("leave")
				at.leave()
				return r, errors.Join(err, at.wrapErr)
			})
			p.PostExecute.Use("p", func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) {
				trace.Add("post")
				at.post()
				return at.postAnswer, at.postErr
			})
			p.OnResult("o", func(o pipeline.Outcome) { trace.Add("result %s", o.Call().Name()) })
			if tt.early {
				cancel()
			}
			o := p.Execute(ctx, pipeline.Request{Name: "tool", Args: tt.args})
			check(t, "outcome", endOf(o), tt.want)
			check(t, "stages", trace.Steps(), tt.stages)
			if tt.contexts == nil {
				tt.contexts = []string{}
			}
			check(t, "contexts", texts(o.Contexts()), tt.contexts)
			check(t, "concludes", o.Concludes(), false)
			var abort *pipeline.AbortError
			if errors.As(o.Err(), &abort) && !errors.Is(o.Err(), errGivenUp) {
				t.Errorf("the abort does not carry its cause: %v", abort.Cause)
			}
		})
	}
}

// TestBodyContext: what ends a body, whatever a wrapper does with the context.
func TestBodyContext(t *testing.T) {
	type key struct{}
	t.Run("without wrappers a body has the caller's values and deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), time.Hour)
		defer cancel()
		want, _ := ctx.Deadline()
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			got, ok := ctx.Deadline()
			check(t, "value", ctx.Value(key{}), any("v"))
			check(t, "deadline", ok && got.Equal(want), true)
			return tools.Result{}, nil
		}))
		p.Execute(ctx, pipeline.Request{Name: "tool"})
	})
	t.Run("the caller's end reaches a body under a context of the wrapper's own", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			check(t, "the wrapper's value", ctx.Value(key{}), any("w"))
			cancel(errGivenUp)
			<-ctx.Done()
			check(t, "cause", errors.Is(context.Cause(ctx), errGivenUp), true)
			return tools.Result{}, nil
		}))
		p.Execution.Use("swap", func(_ context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(context.WithValue(context.Background(), key{}, "w"))
		})
		check(t, "outcome", endOf(p.Execute(ctx, pipeline.Request{Name: "tool"})), end{"Error: tool call aborted", tools.CodeAborted, "aborted"})
	})
	t.Run("a wrapper's ended context keeps the body from starting", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
			t.Error("the body ran")
			return tools.Result{}, nil
		}))
		p.Execution.Use("ended", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return next(ctx)
		})
		check(t, "outcome", endOf(exec(p, "tool")), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"})
	})
	t.Run("so does the caller's, under a context of the wrapper's own", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
			t.Error("the body ran")
			return tools.Result{}, nil
		}))
		p.Execution.Use("swap", func(_ context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			cancel()
			return next(context.Background())
		})
		check(t, "outcome", endOf(p.Execute(ctx, pipeline.Request{Name: "tool"})), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"})
	})
	t.Run("a second attempt that does not start is no call without an effect", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
			cancel()
			return tools.Result{}, errPlain
		}))
		p.Execution.Use("retry", retry)
		check(t, "outcome", endOf(p.Execute(ctx, pipeline.Request{Name: "tool"})), end{"Error: tool call aborted", tools.CodeAborted, "aborted"})
	})
	t.Run("a wrapper's own context aborts a body that succeeds too late", func(t *testing.T) {
		var expire context.CancelFunc
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
			expire()
			return tools.Result{Value: tools.StringJSON("late")}, nil
		}))
		p.Execution.Use("own", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			ctx, expire = context.WithCancel(ctx)
			return next(ctx)
		})
		check(t, "outcome", endOf(exec(p, "tool")), end{"Error: tool call aborted", tools.CodeAborted, "aborted"})
	})
	t.Run("it ends when the body returns, before its wrappers do", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var bodies []context.Context
		p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			for _, earlier := range bodies {
				check(t, "end of an earlier body", context.Cause(earlier) == context.Canceled, true)
			}
			check(t, "end of its own", ctx.Err(), error(nil))
			bodies = append(bodies, ctx)
			return tools.Result{}, errPlain
		}))
		p.Execution.Use("outer", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(ctx)
		})
		p.Execution.Use("twice", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			_, _ = next(ctx)
			return next(ctx)
		})
		p.Execute(ctx, pipeline.Request{Name: "tool"})
		check(t, "bodies", len(bodies), 2)
	})
	t.Run("a wrapper's context of another call does not replace the caller's", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		var other context.Context
		p := pipelinetest.New(t, nil, pipelinetest.Text("first", "x"), pipelinetest.Tool("tool", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			cancel(errGivenUp)
			<-ctx.Done()
			return tools.Result{}, context.Cause(ctx)
		}))
		p.Execution.Use("swap", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			if d.Call.Name() == "tool" {
				return next(other)
			}
			other = ctx
			check(t, "outcome", endOf(p.Execute(ctx, pipeline.Request{Name: "tool"})), end{"Error: tool call aborted", tools.CodeAborted, "aborted"})
			return next(ctx)
		})
		p.Execute(ctx, pipeline.Request{Name: "first"})
	})
	t.Run("no context is the caller's, and a crash of who gives none to a listener", func(t *testing.T) {
		host := new(logBuffer)
		p := pipelinetest.New(t, &pipeline.Options{Logger: host.logger()}, pipelinetest.Text("tool", "ok"))
		p.Execution.Use("outer", func(_ context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) { return next(nil) })
		check(t, "to the body", exec(p, "tool").Text(), "ok")
		p.Execution.Use("inner", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(ctx)
		})
		check(t, "to a listener", exec(p, "tool").Text(), `Error: execution listener "outer" crashed`)
		check(t, "why", strings.Contains(host.String(), "cannot create context from nil parent"), true)
	})
	t.Run("later stages have the caller's context again", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Text("tool", "ok"))
		p.Execution.Use("short", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return next(ctx)
		})
		p.PostExecute.Use("p", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
			check(t, "context", ctx.Err(), error(nil))
			return next(ctx)
		})
		check(t, "outcome", endOf(exec(p, "tool")), end{"ok", "", "done"})
	})
}

// timeout is a wrapper as a timeout policy would be: its own deadline replaces
// whatever came back.
func timeout(d time.Duration) wrapper {
	return func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		late := errors.New("deadline of the wrapper")
		ctx, cancel := context.WithTimeoutCause(ctx, d, late)
		defer cancel()
		r, err := next(ctx)
		if errors.Is(context.Cause(ctx), late) {
			r = pipeline.Failure(&tools.Error{Name: "ToolTimeoutError", Code: tools.CodeToolTimeout, Message: "tool call timed out"})
		}
		return r, err
	}
}

// TestDeadlines: the first of a wrapper's deadline and the caller's abort
// wins, and a retry outside a timeout gets a timed second attempt.
func TestDeadlines(t *testing.T) {
	waits := func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}
	for _, tt := range []struct {
		name  string
		abort time.Duration
		retry bool
		want  end
		took  time.Duration
	}{
		{"the deadline", 0, false, end{"Error: tool call timed out", tools.CodeToolTimeout, "failed"}, 100 * time.Millisecond},
		{"the caller first", 50 * time.Millisecond, false, end{"Error: tool call aborted", tools.CodeAborted, "aborted"}, 50 * time.Millisecond},
		{"the deadline first", 150 * time.Millisecond, false, end{"Error: tool call timed out", tools.CodeToolTimeout, "failed"}, 100 * time.Millisecond},
		{"a retry outside the timeout", 0, true, end{"Error: tool call timed out", tools.CodeToolTimeout, "failed"}, 200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", waits))
				if tt.retry {
					p.Execution.Use("retry", retry)
				}
				p.Execution.Use("timeout", timeout(100*time.Millisecond))
				ctx := context.Background()
				if tt.abort > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithCancel(ctx)
					defer time.AfterFunc(tt.abort, cancel).Stop()
				}
				start := time.Now()
				o := p.Execute(ctx, pipeline.Request{Name: "tool"})
				check(t, "outcome", endOf(o), tt.want)
				check(t, "took", time.Since(start), tt.took)
			})
		})
	}
}

// A wrapper that returns while the body still runs does not get rid of it: the
// body's context ends and the call waits for it.
func TestBodyIsNeverAbandoned(t *testing.T) {
	trace := &pipelinetest.Trace{}
	started := make(chan struct{})
	p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
		close(started)
		<-ctx.Done()
		trace.Add("body over")
		return tools.Result{}, ctx.Err()
	}))
	p.Execution.Use("impatient", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		go func() { _, _ = next(ctx) }()
		<-started
		return pipeline.Failure(errors.New("impatient")), nil
	})
	p.OnResult("o", func(pipeline.Outcome) { trace.Add("result") })
	check(t, "outcome", endOf(exec(p, "tool")), end{"Error: impatient", "", "failed"})
	check(t, "order", trace.Steps(), steps("body over", "result"))
}
