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

func TestStageOrder(t *testing.T) {
	var trace *pipelinetest.Trace
	def := tracedTool("echo", &trace)
	def.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) {
		trace.Add("finalize echo")
		return nil, false
	}
	rec := &pipelinetest.Recorder{}
	var p *pipeline.Pipeline
	sink := pipeline.SinkFunc(func(e pipeline.Event) error { trace.Add("event %s", e.Type); return rec.Emit(e) })
	p = pipelinetest.New(t, &pipeline.Options{Sink: sink}, def)
	trace = traced(p)
	o := exec(p, "echo")
	check(t, "scenario A: the order of the stages", trace.Steps(), steps(
		"event tool/call", "pre echo", "guard echo", "execute echo", "body echo", "executed echo",
		"post echo", "finalize echo", "result echo", "event tool/result"))
	check(t, "outcome", endOf(o), end{"ok", "", "done"})
}

// TestUnknownTool: policy sees every name a model asks for, and the
// text helps it to find the right one.
func TestUnknownTool(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Echo("read_file"))
	trace := traced(p)
	o := exec(p, "readfile")
	check(t, "outcome", endOf(o), end{`Error: unknown tool "readfile"; did you mean "read_file"?`, tools.CodeUnknownTool, "not-started"})
	check(t, "stages", trace.Steps(), steps("pre readfile", "guard readfile", "execute readfile", "executed readfile", "post readfile", "result readfile"))
}

func TestWrappers(t *testing.T) {
	number := tools.MustJSON(`{"type":"number"}`)
	one := tools.Result{Value: tools.MustJSON("1")}
	tests := []struct {
		name string
		wrap wrapper
		want end
		post bool // post-execute sees the result
	}{
		{"a success without the body is rendered from its value; its blocks are ignored",
			instead(pipeline.Success(tools.Result{Value: tools.MustJSON("7"), Content: text("mine")})), end{"7", "", "done"}, true},
		{"a success without the value the schema wants", instead(pipeline.Success(tools.Result{Content: text("mine")})),
			end{`Error: tool "count" returned invalid output: "value" is missing`, tools.CodeInvalidOutput, "not-started"}, true},
		// DSH skips post-execute for the next two, so that an audit listener
		// does not see them.
		{"an invalid success fails like a body's", instead(pipeline.Success(tools.Result{Value: tools.StringJSON("x")})),
			end{`Error: tool "count" returned invalid output: "value" must be a number`, tools.CodeInvalidOutput, "not-started"}, true},
		{"no result at all", instead(pipeline.Result{}),
			end{"Error: an execution wrapper returned no result; return what next gave, Success or Failure", "", "not-started"}, true},
		{"a failure of the wrapper's own", instead(pipeline.Failure(coded("cached miss"))), end{"Error: cached miss", "FS_NOT_FOUND", "not-started"}, true},
		{"a failure without an error", instead(pipeline.Failure(nil)), end{"Error: failed without an error", "", "not-started"}, true},
		{"an error is final", func(context.Context, pipeline.Dispatch, wrapNext) (pipeline.Result, error) {
			return pipeline.Success(one), coded("wrapper broke")
		}, end{"Error: wrapper broke", "FS_NOT_FOUND", "not-started"}, false},
		{"a panic is final", func(context.Context, pipeline.Dispatch, wrapNext) (pipeline.Result, error) { panic("secret") },
			end{`Error: execution listener "wrap" crashed`, tools.CodePanic, "not-started"}, false},
		{"what next gave is taken as it is", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(ctx)
		},
			end{"own text", "", "done"}, true},
		{"a copy of it keeps the body's blocks only with WithContexts", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			r, err := next(ctx)
			return pipeline.Success(tools.Result{Value: r.Value(), Content: r.Content()}), err
		}, end{"3", "", "done"}, true},
		{"a nil context means the caller's", func(_ context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			var none context.Context
			return next(none)
		}, end{"own text", "", "done"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def := pipelinetest.Tool("count", func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{Value: tools.MustJSON("3"), Content: text("own text")}, nil
			})
			def.Output = number
			p := pipelinetest.New(t, nil, def)
			p.Execution.Use("wrap", tt.wrap)
			sawPost := false
			p.PostExecute.Use("saw", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				sawPost = true
				return next(ctx)
			})
			check(t, "outcome", endOf(exec(p, "count")), tt.want)
			check(t, "post-execute ran", sawPost, tt.post)
		})
	}
}

// A wrapper sees a failed body as a result, not as an error, and what
// the tool's definition says.
func TestWrapperSeesFailure(t *testing.T) {
	def := pipelinetest.Failing("fails", coded("gone"))
	def.Annotations.Idempotent = true
	p := pipelinetest.New(t, nil, def)
	p.Execution.Use("looks", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		r, err := next(ctx)
		if err != nil || !r.IsError() || tools.InfoOf(r.Err()).Code != "FS_NOT_FOUND" {
			t.Errorf("next = %v, %v; want a failed result", r.Err(), err)
		}
		check(t, "the definition", d.Tool.Definition().Annotations.Idempotent, true)
		return r, err
	})
	check(t, "outcome", endOf(exec(p, "fails")), end{"Error: gone", "FS_NOT_FOUND", "failed"})
}

// A result kept from another call is another tool's value until this tool's
// schema says otherwise.
func TestCachedResultIsValidated(t *testing.T) {
	numberTool := pipelinetest.Tool("number", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON("1")}, nil
	})
	numberTool.Output = tools.MustJSON(`{"type":"number"}`)
	p := pipelinetest.New(t, nil, pipelinetest.Text("text", "words"), numberTool)
	var cached pipeline.Result
	p.Execution.Use("cache", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (r pipeline.Result, err error) {
		if d.Call.Name() == "number" {
			return cached, nil
		}
		cached, err = next(ctx)
		return cached, err
	})
	exec(p, "text")
	check(t, "outcome", endOf(exec(p, "number")),
		end{`Error: tool "number" returned invalid output: "value" must be a number`, tools.CodeInvalidOutput, "not-started"})
}

// What was judged is what runs.
func TestToolChangesUnderWay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(reg *tools.Registry, remove func())
		stage  string
		want   end
	}{
		{"removed, and a success in its place", func(_ *tools.Registry, remove func()) { remove() }, "wrapper",
			end{`Error: unknown tool "x"`, tools.CodeUnknownTool, "not-started"}},
		{"removed before dispatch", func(_ *tools.Registry, remove func()) { remove() }, "listener",
			end{`Error: unknown tool "x"`, tools.CodeUnknownTool, "not-started"}},
		{"replaced before dispatch", func(reg *tools.Registry, remove func()) {
			remove()
			_, _ = reg.Add(pipelinetest.Text("x", "other"))
		}, "listener", end{`Error: tool "x" was replaced between the decision to run it and its start; call it again`, tools.CodeToolChanged, "not-started"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil)
			remove, err := p.Registry().Add(pipelinetest.Text("x", "mine"))
			if err != nil {
				t.Fatal(err)
			}
			p.PreExecute.Use("l", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
				if tt.stage == "listener" {
					tt.change(p.Registry(), remove)
				}
				return next(ctx)
			})
			p.Execution.Use("w", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				if tt.stage == "wrapper" {
					tt.change(p.Registry(), remove)
					return pipeline.Success(tools.Result{Value: tools.StringJSON("cached")}), nil
				}
				return next(ctx)
			})
			check(t, "outcome", endOf(exec(p, "x")), tt.want)
		})
	}
}

// TestRetry: next is re-entrant by position in the execution stage.
func TestRetry(t *testing.T) {
	trace := &pipelinetest.Trace{}
	starts := 0
	p := pipelinetest.New(t, nil, pipelinetest.Tool("flaky", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		starts++
		trace.Add("body")
		if starts == 1 {
			run.Defer(note("first attempt"))
			run.Conclude()
			return tools.Result{}, errPlain
		}
		run.Defer(note("second attempt"))
		return tools.Result{Value: tools.StringJSON("ok")}, nil
	}))
	inner := func(name string) wrapper {
		return func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			trace.Add("%s", name)
			return next(ctx)
		}
	}
	p.Execution.Use("retry", retry)
	p.Execution.Use("b", inner("b"))
	p.Execution.Use("c", inner("c"))
	o := exec(p, "flaky")
	check(t, "outcome", endOf(o), end{"ok", "", "done"})
	// DSH runs b and c once only: its second attempt escapes a timeout inside
	// the retry.
	check(t, "every attempt passes the inner wrappers", trace.Steps(), steps("b", "c", "body", "b", "c", "body"))
	// DSH keeps both of the failed attempt.
	check(t, "contexts of the attempt that counts", texts(o.Contexts()), []string{"second attempt"})
	check(t, "conclusion of the attempt that counts", o.Concludes(), false)
}

// panicker is an error whose text cannot be had.
type panicker struct{}

func (panicker) Error() string { panic("no text") }

func TestBodyFailures(t *testing.T) {
	var logs logBuffer
	for _, tt := range []struct {
		name string
		body func(context.Context, *tools.Run) (tools.Result, error)
		want end
	}{
		{"a plain error", func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, errPlain }, end{"Error: it broke", "", "failed"}},
		{"an error without a text", func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, panicker{} },
			end{"Error: <unprintable error of type pipeline_test.panicker>", "", "failed"}},
		{"a coded error", func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, coded("gone") }, end{"Error: gone", "FS_NOT_FOUND", "failed"}},
		{"a panic", func(context.Context, *tools.Run) (tools.Result, error) { panic("secret value") }, end{`Error: tool "tool" crashed`, tools.CodePanic, "failed"}},
		{"a panic with nil", func(context.Context, *tools.Run) (tools.Result, error) { panic(nil) }, end{`Error: tool "tool" crashed`, tools.CodePanic, "failed"}},
		{"an error and a value", func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON("v")}, errPlain
		}, end{"Error: it broke", "", "failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, &pipeline.Options{Logger: logs.logger()}, pipelinetest.Tool("tool", tt.body))
			o := exec(p, "tool")
			check(t, "outcome", endOf(o), tt.want)
			check(t, "value", o.Value().String(), "")
		})
	}
	if !strings.Contains(logs.String(), "secret value") || !strings.Contains(logs.String(), "execute_test.go") {
		t.Errorf("the host's log lacks the panic's value or stack:\n%s", logs.String())
	}
}

func TestPanicErrorKeepsTheStack(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) { panic("boom") }))
	var crash *tools.PanicError
	if !errors.As(exec(p, "tool").Err(), &crash) || crash.Value != "boom" || !strings.Contains(string(crash.Stack), "execute_test.go") {
		t.Errorf("crash = %+v, want the value and the stack of the body", crash)
	}
}

// TestContexts: what a body, a wrapper and a listener add beside the result.
func TestContexts(t *testing.T) {
	type test struct {
		name string
		body func(run *tools.Run) error
		wrap wrapper
		post pipeline.PostDecision
		want []string
	}
	deferring := func(run *tools.Run) error { run.Defer(note("body")); return nil }
	adding := func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		r, err := next(ctx)
		if len(r.Contexts()) != 0 {
			t.Errorf("the wrapper sees %d contexts, want none", len(r.Contexts()))
		}
		return r.WithContexts(note("wrapper")), err
	}
	replacing := func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		_, err := next(ctx)
		return pipeline.Failure(errors.New("timed out")).WithContexts(note("wrapper")), err
	}
	for _, tt := range []test{
		{"a failing body's contexts stay", func(run *tools.Run) error { run.Defer(note("body")); return errPlain }, nil, pipeline.Accept(), []string{"body"}},
		{"body, wrapper, post", deferring, adding, pipeline.Accept().WithContexts(note("post")), []string{"body", "wrapper", "post"}},
		{"a wrapper's failure keeps the body's", deferring, replacing, pipeline.Accept(), []string{"body", "wrapper"}},
		{"a block keeps its own only", deferring, adding, pipeline.Block(text("no")).WithContexts(note("post")), []string{"post"}},
		{"replaced content keeps them", deferring, adding, pipeline.AcceptContent(text("x")).WithContexts(note("post")), []string{"body", "wrapper", "post"}},
		{"a replaced value keeps them", deferring, adding, pipeline.AcceptValue(tools.MustJSON("1")).WithContexts(note("post")), []string{"body", "wrapper", "post"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(_ context.Context, run *tools.Run) (tools.Result, error) {
				return tools.Result{}, tt.body(run)
			}))
			if tt.wrap != nil {
				p.Execution.Use("w", tt.wrap)
			}
			p.PostExecute.Use("p", alwaysPost(tt.post))
			o := exec(p, "tool")
			check(t, "contexts", texts(o.Contexts()), tt.want)
			for _, m := range o.Contexts() {
				if m.ID == "" || m.Role != "user" {
					t.Errorf("context %+v has no id or is not the user's", m)
				}
			}
		})
	}
}

// A handle that is used after its body returned does nothing and says so. DSH
// loses such a context silently.
func TestLateHandle(t *testing.T) {
	var kept *tools.Run
	p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		kept = run
		check(t, "in time", run.Defer(note("in time")), true)
		return tools.Result{}, nil
	}))
	p.PostExecute.Use("late", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		check(t, "late", kept.Defer(note("late")), false)
		kept.Conclude()
		return next(ctx)
	})
	o := exec(p, "tool")
	check(t, "contexts", texts(o.Contexts()), []string{"in time"})
	check(t, "concludes", o.Concludes(), false)
}

func TestConclude(t *testing.T) {
	conclude := func(fail bool) *tools.Definition {
		return pipelinetest.Tool("tool", func(_ context.Context, run *tools.Run) (tools.Result, error) {
			run.Conclude()
			if fail {
				return tools.Result{}, errPlain
			}
			return tools.Result{Detail: 7}, nil
		})
	}
	authored := func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		_, err := next(ctx)
		return pipeline.Success(tools.Result{}), err
	}
	for _, tt := range []struct {
		name string
		fail bool
		wrap wrapper
		post pipeline.PostDecision
		want bool
	}{
		{"a success concludes", false, nil, pipeline.Accept(), true},
		{"a failure does not", true, nil, pipeline.Accept(), false},
		{"a block does not", false, nil, pipeline.Block(nil), false},
		{"another text still does", false, nil, pipeline.AcceptContent(text("x")), true},
		{"another value still does", false, nil, pipeline.AcceptValue(tools.MustJSON("1")), true},
		{"a wrapper's own success takes the body's word", false, authored, pipeline.Accept(), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, conclude(tt.fail))
			if tt.wrap != nil {
				p.Execution.Use("w", tt.wrap)
			}
			p.PostExecute.Use("p", alwaysPost(tt.post))
			check(t, "concludes", exec(p, "tool").Concludes(), tt.want)
		})
	}
}

// What a wrapper or a listener was given or gave away can be changed without
// changing a result.
func TestAuthoredResultsAreCopies(t *testing.T) {
	blocks, messages := text("mine"), []tools.Message{note("mine")}
	r := pipeline.Success(tools.Result{Content: blocks}).WithContexts(messages...)
	accepted := pipeline.AcceptContent(blocks)
	blocked := pipeline.Block(blocks).WithContexts(messages...)
	blocks[0].Text, messages[0].Content[0].Text = "changed", "changed"
	check(t, "content", r.Content(), text("mine"))
	check(t, "contexts", texts(r.Contexts()), []string{"mine"})
	check(t, "a decision's contexts", texts(blocked.Contexts()), []string{"mine"})
	for _, d := range []pipeline.PostDecision{accepted, blocked} {
		p := pipelinetest.New(t, nil, pipelinetest.Text("tool", "v"))
		p.PostExecute.Use("p", alwaysPost(d))
		check(t, "a decision's content", exec(p, "tool").Text(), "mine")
	}
}

// Images are found without rendering what is text anyway.
func TestImages(t *testing.T) {
	picture := tools.ImageContent("image/png", "AAAA")
	p := pipelinetest.New(t, nil, pipelinetest.Text("plain", "v"), pipelinetest.Tool("draws", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Content: []tools.Content{tools.TextContent("a"), picture}}, nil
	}))
	check(t, "of a text", len(exec(p, "plain").Images()), 0)
	check(t, "of a picture", exec(p, "draws").Images(), []tools.Content{picture})
	p.PostExecute.Use("p", alwaysPost(pipeline.AcceptContent([]tools.Content{picture})))
	check(t, "of replaced content", exec(p, "plain").Images(), []tools.Content{picture})
}

func TestProgress(t *testing.T) {
	var got []string
	p := pipelinetest.New(t, &pipeline.Options{Progress: func(c tools.Call, r tools.Progress) {
		got = append(got, c.ID()+" "+r.Message)
		panic("contained")
	}}, pipelinetest.Tool("tool", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Progress(tools.Progress{Message: "half"})
		return tools.Result{Value: tools.StringJSON("ok")}, nil
	}))
	check(t, "outcome", endOf(exec(p, "tool")), end{"ok", "", "done"})
	check(t, "reports", got, []string{"c1 half"})
}
