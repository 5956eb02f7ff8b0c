package pipeline_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// The behaviours of DSH's pipeline that no other test of this package states.
// docs/dsh-cases.md names the test of every case.

// Scopes belong to agents; without one there is nothing to restrict.
func TestScopeOfNoAgent(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Text("read", ""))
	for _, tt := range []struct {
		name  string
		agent any
		want  string
	}{
		{"nil", nil, "For(nil)"},
		{"an agent that == cannot compare", []int{1}, "must be comparable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, tt.want) {
					t.Errorf("panic = %q, want one with %q", r, tt.want)
				}
			}()
			p.For(tt.agent)
		})
	}
}

// What a model may send and what becomes of it. DSH reads the text into an
// object and refuses what JavaScript cannot hold; here it stays a text, and
// what two readers could understand differently is refused.
func TestArgumentTexts(t *testing.T) {
	deepest := `{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + "}"
	all := steps("pre echo", "guard echo", "execute echo", "executed echo", "post echo", "result echo")
	final := steps("result echo")
	tests := []struct {
		name, args string
		want       end
		stages     []string
	}{
		{"the order of the names stays", `{"b":1,"a":2}`, end{`{"b":1,"a":2}`, "", "done"}, all},
		{"a number keeps its spelling", `{"n":[1.0,1e2,0.10,-0.0]}`, end{`{"n":[1.0,1e2,0.10,-0.0]}`, "", "done"}, all},
		{"an unpaired surrogate stays an escape", `{"s":"\uD800"}`, end{`{"s":"\ud800"}`, "", "done"}, all},
		{"white space goes", " { \"a\" : 1 } ", end{`{"a":1}`, "", "done"}, all},
		{"ten thousand levels pass", deepest, end{deepest, "", "done"}, all},
		{"null is no object", `null`, end{`Error: invalid arguments: "arguments" must be an object, got null`, tools.CodeInvalidArgs, "not-started"}, all},
		// DSH refuses a function before policy, without a code.
		{"a function is no JSON", `{"f":()=>1}`, end{`Error: invalid arguments: "arguments" must be an object`, tools.CodeInvalidArgs, "not-started"}, all},
		{"nor is NaN", `{"n":NaN}`, end{`Error: invalid arguments: "arguments" must be an object`, tools.CodeInvalidArgs, "not-started"}, all},
		// A tool that ignores case would take the one policy did not read.
		{"names that differ only in case", `{"path":"ok","Path":"/etc/passwd"}`,
			end{`Error: invalid arguments: properties "path" and "Path" differ only in case; send one of them`, tools.CodeInvalidArgs, "not-started"}, all},
		{"a name given twice, once escaped", `{"path":"ok","p\u0061th":"/etc/passwd"}`,
			end{"Error: invalid arguments: invalid JSON at byte 13 (/path): the property name is given twice; send it once", tools.CodeInvalidArgs, "not-started"}, final},
		{"one surrogate, spelled twice", `{"\ud800":1,"\uD800":2}`,
			end{"Error: invalid arguments: invalid JSON at byte 12 (/\uFFFD): the property name is given twice; send it once", tools.CodeInvalidArgs, "not-started"}, final},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Echo("echo"))
			trace := traced(p)
			o := p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "echo", Args: tt.args})
			check(t, "outcome", endOf(o), tt.want)
			check(t, "stages", trace.Steps(), tt.stages)
			var data struct {
				Arguments string `json:"arguments"`
			}
			if err := rec.Data(pipeline.EventToolCall)[0].Unmarshal(&data); err != nil || data.Arguments != tt.args {
				t.Errorf("the log has the arguments %q (error %v), want the text of the model", data.Arguments, err)
			}
			if len(tt.stages) == 1 && !o.Call().Args().IsZero() {
				t.Errorf("observers see the arguments %s, want none", o.Call().Args())
			}
		})
	}
}

// Whoever is given arguments may write into its copy of them. In DSH the first
// object is frozen; its listeners can put another one in its place.
func TestArgumentsCannotBeChanged(t *testing.T) {
	var seen []string
	scribble := func(args tools.JSON) {
		seen = append(seen, args.String())
		b := args.Bytes()
		for i := range b {
			b[i] = '!'
		}
	}
	p := pipelinetest.New(t, nil, pipelinetest.Tool("x", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		scribble(run.Args())
		scribble(run.Call().Args())
		return tools.Result{}, nil
	}))
	p.PreExecute.Use("scribbles", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		scribble(c.Args())
		return next(ctx)
	})
	p.Guards.Use("scribbles", func(c tools.Call) string { scribble(c.Args()); return "" })
	p.OnResult("scribbles", func(o pipeline.Outcome) { scribble(o.Call().Args()) })
	o := p.Execute(context.Background(), pipeline.Request{Name: "x", Args: `{"path":"a"}`})
	scribble(o.Call().Args())
	for _, args := range seen {
		check(t, "arguments", args, `{"path":"a"}`)
	}
	check(t, "times seen", len(seen), 6)
}

// No listener can name another tool, change arguments or put one call in the
// place of another: the types let it change nothing but its own copy. DSH runs
// the other tool.
func TestCallsCannotBeChanged(t *testing.T) {
	for _, handed := range []reflect.Type{
		reflect.TypeFor[tools.Call](), reflect.TypeFor[pipeline.Decision](), reflect.TypeFor[pipeline.PostDecision](),
		reflect.TypeFor[pipeline.Result](), reflect.TypeFor[pipeline.Outcome](),
	} {
		for i := range handed.NumField() {
			if f := handed.Field(i); f.IsExported() {
				t.Errorf("%v has the field %s, which anybody can set", handed, f.Name)
			}
		}
		if own, all := handed.NumMethod(), reflect.PointerTo(handed).NumMethod(); all != own {
			t.Errorf("%v has %d methods on its pointer, which could change it", handed, all-own)
		}
	}

	var ran []string
	body := func(_ context.Context, run *tools.Run) (tools.Result, error) {
		ran = append(ran, run.Call().Name()+" "+run.Args().String())
		return tools.Result{}, nil
	}
	p := pipelinetest.New(t, nil, pipelinetest.Tool("read", body), pipelinetest.Tool("wipe", body))
	other := tools.NewCall(tools.CallSpec{ID: "c9", Name: "wipe", Args: tools.MustJSON(`{"all":true}`), Tool: p.Registry().Lookup("wipe")})
	p.PreExecute.Use("renames", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		c = other
		_ = c
		return next(ctx)
	})
	p.Execution.Use("renames", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		d.Call, d.Tool = other, p.Registry().Lookup("wipe")
		_ = d
		return next(ctx)
	})
	p.PostExecute.Use("renames", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		s.Call = other
		_ = s
		return next(ctx)
	})
	var posted string
	p.PostExecute.Use("inner", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		posted = s.Call.Name()
		return next(ctx)
	})
	o := p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "read", Args: `{"path":"a"}`})
	check(t, "bodies", ran, []string{`read {"path":"a"}`})
	check(t, "the call post-execute sees", posted, "read")
	check(t, "the call of the outcome", o.Call().ID(), "c1")
}

// A request is read when the call is made; what becomes of it later is the
// caller's business.
func TestRequestIsReadOnce(t *testing.T) {
	var told []string
	p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"), pipelinetest.Text("wipe", "wiped"))
	p.Guards.For("a").Use("a", func(tools.Call) string { told = append(told, "a"); return "" })
	p.Guards.For("b").Use("b", func(tools.Call) string { told = append(told, "b"); return "" })
	req := pipeline.Request{ID: "c1", Name: "echo", Args: `{"n":1}`, Agent: "a"}
	p.PreExecute.Use("drifts", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		req = pipeline.Request{ID: "c2", Name: "wipe", Args: `{"n":2}`, Agent: "b"}
		return next(ctx)
	})
	s := p.Begin(context.Background(), req)
	o := s.Settle()
	check(t, "outcome", []string{o.Call().ID(), o.Call().Name(), o.Text()}, []string{"c1", "echo", `{"n":1}`})
	check(t, "guards asked", told, []string{"a"})
}

// What a schema says of arguments, as the model reads it. DSH knows a subset of
// JSON Schema and refuses the rest at registration; here schemas of all common
// dialects hold, whoever wrote the definition.
func TestArgumentSchemas(t *testing.T) {
	for _, tt := range []struct {
		name, schema, args string
		want               string // the text; the arguments where they pass
	}{
		{"an undeclared name in an open object", `{"properties":{"a":{}}}`, `{"a":1,"z":2}`, `{"a":1,"z":2}`},
		{"an undeclared name in a closed object", `{"properties":{"o":{"type":"object","properties":{"a":{}},"additionalProperties":false}}}`, `{"o":{"z":1}}`,
			`Error: invalid arguments: unknown property "o.z"; allowed: a`},
		{"a default is not filled in", `{"properties":{"n":{"type":"number","default":7}}}`, `{}`, `{}`},
		{"a value that fits two branches of oneOf", `{"properties":{"v":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"v":5}`,
			`Error: invalid arguments: "v" must match exactly one oneOf branch (matched 2), got the number 5`},
		{"anyOf", `{"properties":{"v":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"v":5}`, `Error: invalid arguments: "v" must be a string or null, got the number 5`},
		{"a pattern", `{"properties":{"v":{"pattern":"^a"}}}`, `{"v":"b"}`, `Error: invalid arguments: "v" must match the pattern ^a, got the string "b"`},
		{"a list of types", `{"properties":{"v":{"type":["string","null"]}}}`, `{"v":5}`, `Error: invalid arguments: "v" must be a string or null, got the number 5`},
		{"a schema for undeclared names", `{"additionalProperties":{"type":"string"}}`, `{"v":5}`, `Error: invalid arguments: "v" must be a string, got the number 5; put it in quotes`},
		{"every problem at once", `{"required":["a"],"properties":{"a":{},"b":{"type":"string"},"c":{"type":"null"}}}`, `{"b":1,"c":1}`,
			`Error: invalid arguments: missing required property "a"; "b" must be a string, got the number 1; put it in quotes; "c" must be null, got the number 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			def := pipelinetest.Echo("echo")
			def.Input = tools.MustJSON(tt.schema)
			p := pipelinetest.New(t, nil, def)
			o := p.Execute(context.Background(), pipeline.Request{Name: "echo", Args: tt.args})
			check(t, "text", o.Text(), tt.want)
			check(t, "code", o.Info().Code == tools.CodeInvalidArgs, strings.HasPrefix(tt.want, "Error: "))
		})
	}
}

// A value without a JSON form fails the call under the eyes of post-execute.
func TestValuesThatAreNotJSON(t *testing.T) {
	notANumber := tools.Define("x", "", func(context.Context, struct{}) (map[string]float64, error) {
		return map[string]float64{"total": math.NaN()}, nil
	})
	missing := pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil })
	missing.Output = tools.MustJSON(`{"type":"object"}`)
	negativeZero := tools.Define("x", "", func(context.Context, struct{}) (float64, error) { return math.Copysign(0, -1), nil })
	for _, tt := range []struct {
		name string
		def  *tools.Definition
		want end
	}{
		{"NaN, with its place", notANumber, end{`Error: tool "x" returned invalid output: "total": unsupported value: NaN`, tools.CodeInvalidOutput, "failed"}},
		{"no value where the schema wants one", missing, end{`Error: tool "x" returned invalid output: "value" is missing`, tools.CodeInvalidOutput, "failed"}},
		// DSH refuses it: its values pass through JavaScript.
		{"-0 is a number", negativeZero, end{"-0", "", "done"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, tt.def)
			saw := ""
			p.PostExecute.Use("audit", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				saw = tools.InfoOf(s.Result.Err()).Code
				return next(ctx)
			})
			o := exec(p, "x")
			check(t, "outcome", endOf(o), tt.want)
			check(t, "what post-execute saw", saw, tt.want.Code)
			check(t, "a failure has no value", o.IsError() && !o.Value().IsZero(), false)
		})
	}
}

// What a body keeps for a person's screen goes with the outcome, of nested calls
// too, and into no log; the cards are made of it by who draws them. DSH computes
// such data for direct calls alone and logs it.
func TestDetailStaysWithTheHost(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	read := pipelinetest.Tool("read", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON("text"), Detail: "secret of the host"}, nil
	})
	read.PresentResult = func(_ tools.JSON, f tools.Final) tools.Card {
		detail, _ := f.Detail.(string)
		return tools.Card{Title: "read", Description: detail}
	}
	var inner pipeline.Outcome
	p := composite(t, &pipeline.Options{Sink: rec}, read, func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
		inner = p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "read", Parent: run})
		return nil
	})
	exec(p, "outer")
	direct := p.Execute(context.Background(), pipeline.Request{ID: "c2", Name: "read"})
	for _, o := range []pipeline.Outcome{inner, direct} {
		check(t, "value and detail", []any{o.Value().String(), o.Detail()}, []any{`"text"`, "secret of the host"})
		card := o.Call().Tool().PresentResult(o.Call().Args(), tools.Final{Content: o.Content(), Value: o.Value(), Detail: o.Detail()})
		check(t, "card", card.Description, "secret of the host")
	}
	for _, line := range lines(rec) {
		if strings.Contains(line, "secret of the host") {
			t.Errorf("the log has the detail: %s", line)
		}
	}
}

// A call that belongs to no turn is asked about like any other. DSH fails it.
func TestAskOutsideATurn(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: approver}, pipelinetest.Echo("echo"))
	p.PreExecute.Use("asker", always(pipeline.Ask("sure?")))
	check(t, "outcome", endOf(exec(p, "echo")), end{"{}", "", "done"})
	check(t, "times asked", len(approver.Asked()), 1)
	check(t, "events", rec.Types(), steps(pipeline.EventToolCall, pipeline.EventApprovalAsked, pipeline.EventApprovalDecided, pipeline.EventToolResult))
	check(t, "problems of the log", len(pipelinetest.CheckLog(rec.Events())), 0)
}

// A guard says "" for nothing and any other text for a reason: it has no other
// answers, so none can be mistaken for a yes. In DSH null and false deny.
func TestGuardAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         end
	}{
		{"nothing abstains", "", end{"{}", "", "done"}},
		{"a blank is a reason", " ", end{"Error:  ", tools.CodeDeniedByGuard, "not-started"}},
		{"a word is a reason, whatever it says", "allow", end{"Error: allow", tools.CodeDeniedByGuard, "not-started"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
			p.Guards.Use("g", func(tools.Call) string { return tt.answer })
			check(t, "outcome", endOf(exec(p, "echo")), tt.want)
		})
	}
}

// One decision replaces the content or the value, never both: there is a
// constructor for each. What two listeners say builds on each other, unlike in
// DSH: a value an inner one took out does not come back.
func TestContentAndValue(t *testing.T) {
	answering := func(d pipeline.PostDecision) postListener {
		return func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
			_, err := next(ctx)
			return d, err
		}
	}
	value, content := pipeline.AcceptValue(tools.MustJSON("2")), pipeline.AcceptContent(text("one"))
	for _, tt := range []struct {
		name         string
		outer, inner pipeline.PostDecision
		want         []string // text and value
	}{
		{"a value over a content", value, content, []string{"2", "2"}},
		{"a content over a value", content, value, []string{"one", "2"}},
		{"nothing over a value", pipeline.Accept(), value, []string{"2", "2"}},
		{"nothing over a content", pipeline.Accept(), content, []string{"one", "1"}},
		{"a value over a value", pipeline.AcceptValue(tools.MustJSON("3")), value, []string{"3", "3"}},
		{"a content over a content", pipeline.AcceptContent(text("other")), content, []string{"other", "1"}},
		{"a block over a value", pipeline.Block(text("no")), value, []string{"no", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{Value: tools.MustJSON("1")}, nil
			}))
			p.PostExecute.Use("outer", answering(tt.outer))
			p.PostExecute.Use("inner", alwaysPost(tt.inner))
			o := exec(p, "x")
			check(t, "text and value", []string{o.Text(), o.Value().String()}, tt.want)
		})
	}
}

// Blocks are plain values, so a listener cannot hand over one that has no JSON
// form; a text that is not UTF-8 is the nearest to it, and the log can hold it.
func TestBlocksThatAreNoText(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("x", "ok"))
	p.PostExecute.Use("p", alwaysPost(pipeline.Block([]tools.Content{{Type: "odd\xff", Text: "\xfe", Data: "\xfd"}})))
	o := exec(p, "x")
	check(t, "state", o.State(), pipeline.StateFailed)
	for _, line := range lines(rec) {
		if _, err := tools.ParseJSON(line); err != nil {
			t.Errorf("%v in %s", err, line)
		}
	}
	check(t, "events", rec.Types(), steps(pipeline.EventToolCall, pipeline.EventToolResult))
}

// The error of a Render that fails is shaped by the finalizer like any other
// text, and both run once.
func TestFailingRenderIsFinalizedOnce(t *testing.T) {
	rendered, finalized := 0, 0
	def := pipelinetest.Text("x", "ok")
	def.Render = func(tools.JSON, tools.JSON) ([]tools.Content, error) {
		rendered++
		return nil, errors.New("no template")
	}
	def.Finalize = func(_ tools.Call, f tools.Final) ([]tools.Content, bool) {
		finalized++
		return text(tools.ContentString(f.Content)[:32]), true
	}
	o := exec(pipelinetest.New(t, nil, def), "x")
	check(t, "outcome", endOf(o), end{`Error: tool "x" returned invalid`, tools.CodeInvalidOutput, "failed"})
	check(t, "times", []int{rendered, finalized}, []int{1, 1})
}
