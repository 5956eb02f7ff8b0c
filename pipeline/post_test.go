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

func TestPostExecute(t *testing.T) {
	overrule := func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		_, _ = next(ctx)
		return pipeline.Accept(), nil
	}
	addContext := func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		d, err := next(ctx)
		return d.WithContexts(note("outer")), err
	}
	fail := func(err error) postListener {
		return func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) {
			return pipeline.PostDecision{}, err
		}
	}
	crash := func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) { panic("secret") }
	twice := func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		_, _ = next(ctx)
		return next(ctx)
	}
	reasoning := []tools.Content{tools.TextContent("no"), {Type: "reasoning", Text: "because"}}
	tests := []struct {
		name      string
		tool      string // "count" yields 1, "fails" fails
		listeners []postListener
		want      end
		value     string
		message   string // of the error
		contexts  []string
	}{
		{"no listener", "count", nil, end{"1", "", "done"}, "1", "", nil},
		{"accept changes nothing", "count", []postListener{alwaysPost(pipeline.Accept())}, end{"1", "", "done"}, "1", "", nil},
		{"other content, same value", "count", []postListener{alwaysPost(pipeline.AcceptContent(text("one")))}, end{"one", "", "done"}, "1", "", nil},
		{"another value is rendered", "count", []postListener{alwaysPost(pipeline.AcceptValue(tools.MustJSON("2")))}, end{"2", "", "done"}, "2", "", nil},
		// Both at once cannot be said with the constructors.
		{"another value is validated", "count", []postListener{alwaysPost(pipeline.AcceptValue(tools.StringJSON("x")))},
			end{`Error: tool "count" returned invalid output: "value" must be a number`, tools.CodeInvalidOutput, "failed"}, "", `"value" must be a number`, nil},
		{"a value its schema only describes", "described", nil, end{"one", "", "done"}, `"one"`, "", nil},
		{"another value its schema only describes", "described", []postListener{alwaysPost(pipeline.AcceptValue(tools.StringJSON("x")))}, end{"x", "", "done"}, `"x"`, "", nil},
		{"a failure has no value to replace", "fails", []postListener{alwaysPost(pipeline.AcceptValue(tools.MustJSON("2")))},
			end{"Error: tools/post-execute cannot replace the value of a failed result", "", "failed"}, "", "cannot replace the value", nil},
		{"another text leaves a failure one", "fails", []postListener{alwaysPost(pipeline.AcceptContent(text("gently")))},
			end{"gently", "", "failed"}, "", "it broke", nil},
		{"a block's feedback is the text as it is", "count", []postListener{alwaysPost(pipeline.Block(text("hidden")))},
			end{"hidden", "", "failed"}, "", "hidden", nil},
		// DSH leaves the model without any text here.
		{"a block without feedback", "count", []postListener{alwaysPost(pipeline.Block(nil))},
			end{"Error: tool result blocked by post-execute policy", "", "failed"}, "", "tool result blocked by post-execute policy", nil},
		{"a block with another kind of block", "count", []postListener{alwaysPost(pipeline.Block(reasoning))},
			end{"no\n[reasoning content]", "", "failed"}, "", "no\n[reasoning content]", nil},
		{"an error loses contexts", "count", []postListener{addContext, fail(coded("gone"))}, end{"Error: gone", "FS_NOT_FOUND", "failed"}, "", "gone", nil},
		{"a panic", "count", []postListener{crash}, end{`Error: post-execute listener "l1" crashed`, tools.CodePanic, "failed"}, "", "crashed", nil},
		{"the zero decision fails the call", "count", []postListener{alwaysPost(pipeline.PostDecision{})},
			end{`Error: post-execute listener "l1" returned no decision; use Accept, AcceptContent, AcceptValue or Block`, "", "failed"}, "", "no decision", nil},
		{"asking next twice fails the call", "count", []postListener{twice},
			end{`Error: post-execute listener "l1" called next twice; ask once and keep the answer`, "", "failed"}, "", "twice", nil},
		{"a context goes with an inner block", "count", []postListener{addContext, alwaysPost(pipeline.Block(text("hidden")))},
			end{"hidden", "", "failed"}, "", "hidden", []string{"outer"}},
		{"a context goes with an inner value", "count", []postListener{addContext, alwaysPost(pipeline.AcceptValue(tools.MustJSON("2")).WithContexts(note("inner")))},
			end{"2", "", "done"}, "2", "", []string{"inner", "outer"}},
		// DSH lets the outer answer win in the next two.
		{"an outer accept cannot undo an inner block", "count", []postListener{overrule, alwaysPost(pipeline.Block(text("hidden")))},
			end{"hidden", "", "failed"}, "", "hidden", nil},
		{"an outer accept cannot undo an inner error", "count", []postListener{overrule, fail(errPlain)}, end{"Error: it broke", "", "failed"}, "", "it broke", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			count := pipelinetest.Tool("count", func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{Value: tools.MustJSON("1"), Detail: "kept"}, nil
			})
			count.Output = tools.MustJSON(`{"type":"number"}`)
			described := pipelinetest.Tool("described", func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{Value: tools.StringJSON("one"), Detail: "kept"}, nil
			})
			described.Output, described.OutputDescribes = count.Output, true
			p := pipelinetest.New(t, nil, count, described, pipelinetest.Failing("fails", errPlain))
			for i, l := range tt.listeners {
				p.PostExecute.Use([]string{"l1", "l2"}[i], l)
			}
			o := exec(p, tt.tool)
			check(t, "outcome", endOf(o), tt.want)
			check(t, "value", o.Value().String(), tt.value)
			if !o.IsError() {
				check(t, "detail", o.Detail(), any("kept"))
			} else if !strings.Contains(o.Err().Error(), tt.message) {
				t.Errorf("error = %q, want %q in it", o.Err(), tt.message)
			}
			if tt.contexts == nil {
				tt.contexts = []string{}
			}
			check(t, "contexts", texts(o.Contexts()), tt.contexts)
		})
	}
}

func TestPostDecisionAccessors(t *testing.T) {
	d := pipeline.Block(text("x")).WithContexts(note("a"), note("b"))
	check(t, "contexts", texts(d.Contexts()), []string{"a", "b"})
	check(t, "blocks", d.Blocks(), true)
	check(t, "accept blocks", pipeline.Accept().Blocks(), false)
}

func TestFinalize(t *testing.T) {
	cut := func(_ tools.Call, f tools.Final) ([]tools.Content, bool) {
		all := tools.ContentString(f.Content)
		if len(all) > 12 {
			return text(all[:12]), true
		}
		return nil, false
	}
	crash := func(tools.Call, tools.Final) ([]tools.Content, bool) { panic("secret") }
	for _, tt := range []struct {
		name     string
		args     string
		finalize func(tools.Call, tools.Final) ([]tools.Content, bool)
		pre      preListener
		want     end
	}{
		{"nothing returned keeps the blocks", "", cut, nil, end{"a", "", "done"}},
		{"a denial is finalized too", "", cut, always(pipeline.Deny("a rather long reason")), end{"Error: a rat", tools.CodeDeniedByPolicy, "not-started"}},
		{"so is a listener's error", "", cut, failing(errors.New("a rather long error")), end{"Error: a rat", "", "not-started"}},
		{"so are bad arguments", `{"a":1,"a":2}`, cut, nil, end{"Error: inval", tools.CodeInvalidArgs, "not-started"}},
		{"a crash is the outcome", "", crash, nil, end{`Error: the finalizer of tool "tool" crashed`, tools.CodePanic, "failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			def := pipelinetest.Text("tool", "a")
			def.Finalize = func(c tools.Call, f tools.Final) ([]tools.Content, bool) {
				calls++
				return tt.finalize(c, f)
			}
			p := pipelinetest.New(t, nil, def)
			if tt.pre != nil {
				p.PreExecute.Use("pre", tt.pre)
			}
			o := p.Execute(context.Background(), pipeline.Request{Name: "tool", Args: tt.args})
			check(t, "outcome", endOf(o), tt.want)
			check(t, "times finalized", calls, 1)
		})
	}
}

// What a finalizer does to the blocks it looks at stays with it.
func TestFinalizerGetsACopy(t *testing.T) {
	def := pipelinetest.Text("x", "ran")
	def.Finalize = func(_ tools.Call, f tools.Final) ([]tools.Content, bool) {
		f.Content[0].Text = "scribbled over"
		return nil, false
	}
	check(t, "text", exec(pipelinetest.New(t, nil, def), "x").Text(), "ran")
}

// The finalizer is the one the tool had when the call was made.
func TestFinalizerOutlivesItsTool(t *testing.T) {
	p := pipelinetest.New(t, nil)
	def := pipelinetest.Text("tool", "a")
	def.Finalize = func(_ tools.Call, f tools.Final) ([]tools.Content, bool) {
		check(t, "the error", f.IsError && f.Err.Error() == "gone", true)
		return text("final"), true
	}
	remove, err := p.Registry().Add(def)
	if err != nil {
		t.Fatal(err)
	}
	p.PreExecute.Use("l", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
		remove()
		return pipeline.Decision{}, errors.New("gone")
	})
	check(t, "text", exec(p, "tool").Text(), "final")
}

func TestObservers(t *testing.T) {
	var logs logBuffer
	trace := &pipelinetest.Trace{}
	p := pipelinetest.New(t, &pipeline.Options{Logger: logs.logger()}, pipelinetest.Text("tool", "a"))
	p.Execution.Use("replaces", instead(pipeline.Failure(errors.New("final"))))
	var seen []pipeline.Outcome
	p.OnResult("first", func(o pipeline.Outcome) { trace.Add("first"); seen = append(seen, o); panic("secret one") })
	remove := p.OnResult("second", func(o pipeline.Outcome) { trace.Add("second"); seen = append(seen, o) })
	p.OnResult("third", func(o pipeline.Outcome) { trace.Add("third"); panic("secret two") })
	o := exec(p, "tool")
	check(t, "all observers run", trace.Steps(), steps("first", "second", "third"))
	for _, s := range seen {
		if s != o {
			t.Error("an observer got another outcome than the caller")
		}
	}
	check(t, "they see the final outcome", endOf(seen[0]), end{"Error: final", "", "not-started"})
	for _, secret := range []string{"secret one", "secret two"} {
		if !strings.Contains(logs.String(), secret) {
			t.Errorf("the host's log lacks %q", secret)
		}
	}
	remove()
	exec(p, "tool")
	check(t, "after removal", trace.Steps()[3:], steps("first", "third"))
}

// Zero values are failures and say so.
func TestZeroValues(t *testing.T) {
	var o pipeline.Outcome
	check(t, "outcome", []any{o.IsError(), o.State(), o.Call().Name(), o.Dropped(), o.Concludes()},
		[]any{true, pipeline.StateNotStarted, "", 0, false})
	check(t, "verdict", pipeline.Decision{}.Verdict(), pipeline.VerdictDeny)
	check(t, "verdict names", []string{pipeline.Allow().Verdict().String(), pipeline.Ask("").Verdict().String(), pipeline.Deny("").Verdict().String()},
		[]string{"allow", "ask", "deny"})
	check(t, "result", pipeline.Result{}.IsError(), true)
	check(t, "answer", pipeline.Answer(0), pipeline.Unavailable)
}
