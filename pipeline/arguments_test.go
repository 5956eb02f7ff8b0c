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

// TestArguments: how the text a model sent becomes the arguments, and what
// fails before policy. What a JavaScript value may do while it is read cannot
// happen here: arguments are an immutable text.
func TestArguments(t *testing.T) {
	deep := strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001)
	all := steps("pre echo", "guard echo", "execute echo", "executed echo", "post echo", "result echo")
	final := steps("result echo")
	tests := []struct {
		name, args string
		want       end
		stages     []string
	}{
		{"a __proto__ key is data", `{"__proto__": 1}`, end{`{"__proto__":1}`, "", "done"}, all},
		{"an empty text means {}", "", end{"{}", "", "done"}, all},
		{"text that is no JSON is that string, which the schema refuses", "{oops",
			end{`Error: invalid arguments: "arguments" must be an object`, tools.CodeInvalidArgs, "not-started"}, all},
		// DSH refuses both numbers; for us they are exact texts.
		{"-0 and 1e999 stay as written", `{"a": -0, "b": 1e999}`, end{`{"a":-0,"b":1e999}`, "", "done"}, all},
		{"integers beyond 2^53 stay as written", `{"n": 9007199254740993}`, end{`{"n":9007199254740993}`, "", "done"}, all},
		// DSH silently keeps the last of two values.
		{"a name given twice is refused, with its place", `{"a":{"b":1,"\u0062":2}}`,
			end{"Error: invalid arguments: invalid JSON at byte 12 (/a/b): the property name is given twice; send it once", tools.CodeInvalidArgs, "not-started"}, final},
		{"nesting without end is refused", deep,
			end{"Error: invalid arguments: invalid JSON at byte 10000 (" + strings.Repeat("/0", 10_000) + "): nested deeper than 10000 levels", tools.CodeInvalidArgs, "not-started"}, final},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
			trace := traced(p)
			o := p.Execute(context.Background(), pipeline.Request{Name: "echo", Args: tt.args})
			check(t, "outcome", endOf(o), tt.want)
			check(t, "stages", trace.Steps(), tt.stages)
		})
	}
}

// The call every stage sees is one value with one token.
func TestOneCallForAllStages(t *testing.T) {
	var seen []tools.Call
	p := pipelinetest.New(t, nil, pipelinetest.Tool("echo", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		seen = append(seen, run.Call())
		return tools.Result{}, nil
	}))
	p.PreExecute.Use("x", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		seen = append(seen, c)
		return next(ctx)
	})
	p.Guards.Use("x", func(c tools.Call) string { seen = append(seen, c); return "" })
	p.Execution.Use("x", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		seen = append(seen, d.Call)
		return next(ctx)
	})
	p.PostExecute.Use("x", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		seen = append(seen, s.Call)
		return next(ctx)
	})
	seen = append(seen, p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "echo"}).Call())
	check(t, "number of stages", len(seen), 6)
	for _, c := range seen {
		if c != seen[0] || c.Token().IsZero() {
			t.Errorf("a stage saw another call than the first: %+v", c)
		}
	}
	other := p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "echo"})
	if other.Call().Token() == seen[0].Token() {
		t.Error("two calls have one token")
	}
	check(t, "root", []string{seen[0].ID(), seen[0].RootID(), seen[0].ParentID()}, []string{"c1", "c1", ""})
}

// TestValidation: arguments and values against their schemas. How a schema is
// read is the business of package tools.
func TestValidation(t *testing.T) {
	schema := tools.MustJSON(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	result := func(r tools.Result) func(context.Context, *tools.Run) (tools.Result, error) {
		return func(context.Context, *tools.Run) (tools.Result, error) { return r, nil }
	}
	number := tools.MustJSON(`{"type":"number"}`)
	badRender := func(tools.JSON, tools.JSON) ([]tools.Content, error) { return nil, errors.New("no template") }
	crashRender := func(tools.JSON, tools.JSON) ([]tools.Content, error) { panic("secret") }
	all := steps("pre tool", "guard tool", "execute tool", "executed tool", "post tool", "result tool")
	tests := []struct {
		name string
		def  tools.Definition
		args string
		want end
	}{
		// DSH hands a raw tool's arguments over unchecked; a
		// definition's schema holds here whoever wrote it.
		{"a missing argument fails the body, between pre-execute and post-execute",
			tools.Definition{Input: schema, Handler: result(tools.Result{})}, `{}`,
			end{`Error: invalid arguments: missing required property "path"`, tools.CodeInvalidArgs, "not-started"}},
		{"an undeclared argument is kept",
			tools.Definition{Input: schema, Handler: pipelinetest.Echo("").Handler}, `{"path":"a","x":1}`, end{`{"path":"a","x":1}`, "", "done"}},
		{"a value off its schema",
			tools.Definition{Output: number, Handler: result(tools.Result{Value: tools.StringJSON("x")})}, "",
			end{`Error: tool "tool" returned invalid output: "value" must be a number`, tools.CodeInvalidOutput, "failed"}},
		{"a Render that fails",
			tools.Definition{Render: badRender, Handler: result(tools.Result{Value: tools.StringJSON("x")})}, "",
			end{`Error: tool "tool" returned invalid output: output.render failed: no template`, tools.CodeInvalidOutput, "failed"}},
		{"a Render that panics",
			tools.Definition{Render: crashRender, Handler: result(tools.Result{Value: tools.StringJSON("x")})}, "",
			end{`Error: tool "tool" returned invalid output: output.render failed: the output.render of tool "tool" crashed`, tools.CodeInvalidOutput, "failed"}},
		{"blocks of the body's own are taken",
			tools.Definition{Render: badRender, Handler: result(tools.Result{Value: tools.StringJSON("x"), Content: text("own")})}, "",
			end{"own", "", "done"}},
		{"a string is its own text", tools.Definition{Handler: result(tools.Result{Value: tools.StringJSON("a\nb")})}, "", end{"a\nb", "", "done"}},
		{"another value is printed as JSON", tools.Definition{Handler: result(tools.Result{Value: tools.MustJSON(`[1, 2]`)})}, "", end{"[1,2]", "", "done"}},
		{"no value has no text", tools.Definition{Handler: result(tools.Result{})}, "", end{"", "", "done"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.def.Name = "tool"
			p := pipelinetest.New(t, nil, &tt.def)
			trace := traced(p)
			o := p.Execute(context.Background(), pipeline.Request{Name: "tool", Args: tt.args})
			check(t, "outcome", endOf(o), tt.want)
			check(t, "stages", trace.Steps(), all)
			if o.IsError() && !o.Value().IsZero() {
				t.Errorf("a failure carries the value %s", o.Value())
			}
		})
	}
}

// The blocks of a nested call are rendered when somebody reads them, once, and
// a Render that fails then spoils only the blocks: the program has the value.
func TestNestedCallsRenderOnDemand(t *testing.T) {
	for _, tt := range []struct {
		name     string
		read     bool
		fail     bool
		rendered int
		text     string
	}{
		{"nobody reads", false, false, 0, ""},
		{"read twice", true, false, 1, "rendered"},
		{"read twice and failing", true, true, 1, `Error: tool "inner" returned invalid output: output.render failed: no template`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rendered := 0
			inner := pipelinetest.Text("inner", "value")
			inner.Render = func(tools.JSON, tools.JSON) ([]tools.Content, error) {
				rendered++
				if tt.fail {
					return nil, errors.New("no template")
				}
				return text("rendered"), nil
			}
			var p *pipeline.Pipeline
			p = pipelinetest.New(t, nil, inner, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				o := p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
				check(t, "value", o.Value().String(), `"value"`)
				if tt.read {
					check(t, "text", o.Text(), tt.text)
					check(t, "text again", o.Text(), tt.text)
				}
				return tools.Result{}, nil
			}))
			exec(p, "outer")
			check(t, "times rendered", rendered, tt.rendered)
		})
	}
}

// Nothing a caller does to what it was given changes the outcome.
func TestOutcomeIsImmutable(t *testing.T) {
	blocks := text("original")
	message := note("original")
	p := pipelinetest.New(t, nil, pipelinetest.Tool("tool", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		early := note("original")
		run.Defer(early)
		early.Content[0].Text = "edited"
		run.Defer(message)
		return tools.Result{Value: tools.StringJSON("v"), Content: blocks}, nil
	}))
	var kept pipeline.Result
	p.PostExecute.Use("edits", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		kept = s.Result
		s.Result.Content()[0].Text = "edited"
		s.Result.Contexts()[0].Content[0].Text = "edited"
		return next(ctx)
	})
	o := exec(p, "tool")
	blocks[0].Text, message.Content[0].Text = "edited", "edited"
	o.Content()[0].Text = "edited"
	o.Contexts()[0].Content[0].Text = "edited"
	check(t, "content", o.Text(), "original")
	check(t, "contexts", texts(o.Contexts()), []string{"original", "original"})
	check(t, "the result a listener kept", kept.Content()[0].Text, "original")
}
