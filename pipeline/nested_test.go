package pipeline_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// composite is a pipeline whose tool "outer" runs do with its handle; "inner"
// is the other tool.
func composite(t *testing.T, opts *pipeline.Options, inner *tools.Definition, do func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error) *pipeline.Pipeline {
	t.Helper()
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, opts, inner, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		return tools.Result{}, do(ctx, p, run)
	}))
	return p
}

func TestNestedIdentity(t *testing.T) {
	type key struct{}
	var calls []tools.Call
	p := composite(t, nil, pipelinetest.Tool("inner", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		check(t, "the outer context's value", ctx.Value(key{}), any("v"))
		return tools.Result{}, nil
	}), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
		p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "inner", Agent: "a", Parent: run, Site: tools.Site{Line: 2, Column: 3}})
		return nil
	})
	p.OnResult("o", func(o pipeline.Outcome) { calls = append(calls, o.Call()) })
	p.Execute(context.WithValue(context.Background(), key{}, "v"), pipeline.Request{ID: "c1", Name: "outer", Agent: "a"})
	inner, outer := calls[0], calls[1]
	check(t, "ids", []string{inner.ID(), inner.ParentID(), inner.RootID()}, []string{"c1:code:1", "c1", "c1"})
	check(t, "origins", []tools.Origin{inner.Origin(), outer.Origin()}, []tools.Origin{tools.OriginScript, tools.OriginModel})
	check(t, "site", inner.Site(), tools.Site{Line: 2, Column: 3})
	if inner.Parent() != outer.Token() || inner.Token() == outer.Token() {
		t.Error("the parent's token is not the outer call's")
	}
}

// TestForgedParents: only the handle of a running body of this pipeline and
// agent makes a nested call.
func TestForgedParents(t *testing.T) {
	other := pipelinetest.New(t, nil)
	notRunning := "the handle is not that of a body running in this pipeline"
	for _, tt := range []struct {
		name string
		call func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) pipeline.Outcome
		want string
	}{
		{"a handle made from the call a listener sees", func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{Name: "inner", Parent: tools.NewRun(run.Call(), tools.RunHooks{})})
		}, notRunning},
		{"an empty handle", func(ctx context.Context, p *pipeline.Pipeline, _ *tools.Run) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{Name: "inner", Parent: &tools.Run{}})
		}, notRunning},
		{"another pipeline's", func(ctx context.Context, _ *pipeline.Pipeline, run *tools.Run) pipeline.Outcome {
			return other.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
		}, notRunning},
		{"another agent", func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run, Agent: "b"})
		}, "the parent acts for another agent"},
		{"no agent", func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
		}, "the parent acts for another agent"},
		{"an agent that == cannot compare", func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) pipeline.Outcome {
			return p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run, Agent: []int{1}})
		}, "the parent acts for another agent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			var got pipeline.Outcome
			p := composite(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("inner", func(context.Context, *tools.Run) (tools.Result, error) {
				t.Error("the body ran")
				return tools.Result{}, nil
			}), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
				got = tt.call(ctx, p, run)
				return nil
			})
			p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "outer", Agent: "a"})
			if !strings.Contains(got.Text(), tt.want) || got.State() != pipeline.StateNotStarted {
				t.Errorf("outcome = %q (%s), want %q in it", got.Text(), got.State(), tt.want)
			}
			check(t, "log", rec.Calls(), steps("call c1", "result c1"))
		})
	}
}

func TestHandleDiesWithItsBody(t *testing.T) {
	var kept *tools.Run
	p := composite(t, nil, pipelinetest.Text("inner", "ran"), func(_ context.Context, _ *pipeline.Pipeline, run *tools.Run) error {
		kept = run
		return nil
	})
	exec(p, "outer")
	o := p.Execute(context.Background(), pipeline.Request{Name: "inner", Parent: kept})
	if !strings.Contains(o.Text(), "before it returns") {
		t.Errorf("outcome = %q, want a refusal", o.Text())
	}
}

// TestNestedPolicy: one policy inside and out.
func TestNestedPolicy(t *testing.T) {
	var seen []string
	vault := func(c tools.Call) string {
		seen = append(seen, c.Name()+" under "+c.ParentID())
		if c.Name() == "read_file" && strings.Contains(c.Args().String(), "/vault") {
			return "the vault is closed"
		}
		return ""
	}
	var nested pipeline.Outcome
	p := composite(t, nil, pipelinetest.Text("read_file", "secret"), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
		nested = p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "read_file", Args: `{"path":"/vault/x"}`, Parent: run})
		return nil
	})
	p.Guards.Use("vault", vault)
	direct := p.Execute(context.Background(), pipeline.Request{ID: "c0", Name: "read_file", Args: `{"path":"/vault/x"}`})
	exec(p, "outer")
	want := end{"Error: the vault is closed", tools.CodeDeniedByGuard, "not-started"}
	check(t, "direct", endOf(direct), want)
	check(t, "nested", endOf(nested), want)
	check(t, "what the guard sees", seen, []string{"read_file under ", "outer under ", "read_file under c1"})
}

// A refused nested call passes the stages a refused direct call passes, and
// says that nothing ran.
func TestNestedDenialBeforeItBegan(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	var o pipeline.Outcome
	p := composite(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("wipe_disk", "wiped"), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
		o = p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "wipe_disk", Parent: run})
		return nil
	})
	p.PreExecute.Use("careful", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if c.Name() == "wipe_disk" {
			return pipeline.Deny("never"), nil
		}
		return next(ctx)
	})
	var post []string
	p.PostExecute.Use("p", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		post = append(post, s.Call.Name())
		return next(ctx)
	})
	exec(p, "outer")
	check(t, "outcome", endOf(o), end{"Error: never", tools.CodeDeniedByPolicy, "not-started"})
	check(t, "the thrown text is the reason alone", o.Err().Error(), "never")
	check(t, "post-execute", post, []string{"wipe_disk", "outer"})
	check(t, "log", rec.Calls(), steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "result c1"))
}

func TestNestedContexts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		drop    bool
		fail    bool // the outer body fails afterwards
		outer   []string
		inner   []string
		dropped int
	}{
		{"deferred on the parent, in order of the calls", false, false, []string{"own", "inner 1", "inner 2"}, []string{"inner 2"}, 0},
		{"also when the parent fails", false, true, []string{"own", "inner 1", "inner 2"}, []string{"inner 2"}, 0},
		{"dropped and counted", true, false, []string{"own"}, []string{}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			var last pipeline.Outcome
			p := composite(t, nil, pipelinetest.Tool("inner", func(_ context.Context, run *tools.Run) (tools.Result, error) {
				n++
				run.Defer(note("inner " + string(rune('0'+n))))
				return tools.Result{}, errPlain
			}), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
				run.Defer(note("own"))
				for range 2 {
					last = p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run, DropContexts: tt.drop})
				}
				if tt.fail {
					return errors.New("later")
				}
				return nil
			})
			o := exec(p, "outer")
			check(t, "outer contexts", texts(o.Contexts()), tt.outer)
			check(t, "inner contexts", texts(last.Contexts()), tt.inner)
			check(t, "dropped", last.Dropped(), tt.dropped)
		})
	}
}

// A nested conclusion is the parent's if both succeed.
func TestNestedConclude(t *testing.T) {
	for _, tt := range []struct {
		name  string
		block bool
		fail  bool
		want  bool
	}{
		{"both succeed", false, false, true},
		{"policy blocks the nested result and the parent recovers", true, false, false},
		{"the parent fails", false, true, false},
	} {
		t.Run(""+tt.name, func(t *testing.T) {
			p := composite(t, nil, pipelinetest.Tool("inner", func(_ context.Context, run *tools.Run) (tools.Result, error) {
				run.Conclude()
				return tools.Result{}, nil
			}), func(ctx context.Context, p *pipeline.Pipeline, run *tools.Run) error {
				p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
				if tt.fail {
					return errPlain
				}
				return nil
			})
			p.PostExecute.Use("p", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if tt.block && s.Call.Name() == "inner" {
					return pipeline.Block(text("no")), nil
				}
				return next(ctx)
			})
			check(t, "concludes", exec(p, "outer").Concludes(), tt.want)
		})
	}
}

// runCode is a transport whose program calls echo.
func runCode(t *testing.T, p **pipeline.Pipeline) *tools.Tool {
	t.Helper()
	tool, err := tools.NewTool(pipelinetest.Tool(tools.TransportName, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		o := (*p).Execute(ctx, pipeline.Request{ID: run.Call().ID() + ":code:1", Name: "echo", Agent: run.Call().Agent(), Parent: run})
		return tools.Result{Value: tools.StringJSON("program: " + o.Text())}, o.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestTransport(t *testing.T) {
	coder, native := "coder", "native"
	isCoder := func(scopes []any) bool { return len(scopes) > 0 && scopes[0] == any(coder) }
	refusal := "unknown tool \"echo\": only `run_code` is callable directly — call `echo` from inside a `run_code` program instead"
	crash := func([]any) bool { panic("secret") }
	for _, tt := range []struct {
		name      string
		transport pipeline.Transport
		req       pipeline.Request
		want      end
		stages    int // notes of the trace; 1 is the observer alone
	}{
		{"run_code runs, and its nested call is no direct call", pipeline.Transport{Visible: isCoder, Collapse: isCoder},
			pipeline.Request{Name: "run_code", Agent: coder}, end{"program: {}", "", "done"}, 12},
		{"a direct call of a visible tool is refused before policy", pipeline.Transport{Visible: isCoder, Collapse: isCoder},
			pipeline.Request{Name: "echo", Agent: coder}, end{"Error: " + refusal, tools.CodeUnknownTool, "not-started"}, 1},
		{"a name nobody registered still meets policy", pipeline.Transport{Visible: isCoder, Collapse: isCoder},
			pipeline.Request{Name: "zzzzzzzz", Agent: coder}, end{`Error: unknown tool "zzzzzzzz"`, tools.CodeUnknownTool, "not-started"}, 6},
		{"bad arguments win over the collapse", pipeline.Transport{Collapse: isCoder},
			pipeline.Request{Name: "echo", Agent: coder, Args: `{"a":1,"a":2}`},
			end{"Error: invalid arguments: invalid JSON at byte 7 (/a): the property name is given twice; send it once", tools.CodeInvalidArgs, "not-started"}, 1},
		{"other agents are not concerned", pipeline.Transport{Visible: isCoder, Collapse: isCoder},
			pipeline.Request{Name: "echo", Agent: native}, end{"{}", "", "done"}, 6},
		{"run_code is unknown where it is not visible", pipeline.Transport{Visible: isCoder, Collapse: isCoder},
			pipeline.Request{Name: "run_code", Agent: native}, end{`Error: unknown tool "run_code"`, tools.CodeUnknownTool, "not-started"}, 6},
		{"without predicates run_code is visible and nothing collapses", pipeline.Transport{},
			pipeline.Request{Name: "echo"}, end{"{}", "", "done"}, 6},
		{"a crash hides run_code", pipeline.Transport{Visible: crash},
			pipeline.Request{Name: "run_code"}, end{`Error: unknown tool "run_code"`, tools.CodeUnknownTool, "not-started"}, 6},
		{"a crash collapses", pipeline.Transport{Collapse: crash},
			pipeline.Request{Name: "echo"}, end{"Error: " + refusal, tools.CodeUnknownTool, "not-started"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p *pipeline.Pipeline
			finalized := false
			echo := pipelinetest.Echo("echo")
			echo.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) {
				finalized = true
				return nil, false
			}
			p = pipelinetest.New(t, nil, echo)
			tt.transport.Tool = runCode(t, &p)
			if err := p.InstallTransport(tt.transport); err != nil {
				t.Fatal(err)
			}
			trace := traced(p)
			isTransport := false
			p.OnResult("o", func(o pipeline.Outcome) { isTransport = o.Call().IsTransport() })
			o := p.Execute(context.Background(), tt.req)
			check(t, "outcome", endOf(o), tt.want)
			check(t, "number of stages passed", len(trace.Steps()), tt.stages)
			collapsed := strings.Contains(o.Text(), "only `run_code` is callable")
			unknown := strings.Contains(o.Text(), "unknown tool")
			check(t, "the tool's finalizer ran", finalized, !collapsed && !unknown)
			check(t, "is the transport", isTransport, tt.req.Name == "run_code" && !o.IsError())
		})
	}
}

func TestInstallTransport(t *testing.T) {
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, nil)
	wrong, err := tools.NewTool(pipelinetest.Echo("other"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		tool *tools.Tool
		want string
	}{
		{"no tool", nil, `the transport must be a tool named "run_code"`},
		{"another name", wrong, `the transport must be a tool named "run_code"`},
		{"the first", runCode(t, &p), ""},
		{"a second", runCode(t, &p), "has a transport already"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := p.InstallTransport(pipeline.Transport{Tool: tt.tool})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

// A Render that ends its goroutine while the log entry is made costs the blocks
// and not the entry.
func TestNestedRenderThatLeaves(t *testing.T) {
	leaves := pipelinetest.Text("leaves", "x")
	leaves.Render = func(_, _ tools.JSON) ([]tools.Content, error) {
		goruntime.Goexit()
		return nil, nil
	}
	rec := &pipelinetest.Recorder{}
	var p *pipeline.Pipeline
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "leaves", Parent: run})
		}()
		<-done
		return tools.Result{}, nil
	})
	p = pipelinetest.New(t, &pipeline.Options{Sink: rec}, leaves, outer)
	exec(p, "outer")
	check(t, "log", rec.Calls(), steps("call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "result c1"))
	if data := rec.Data(pipeline.EventCodeDispatch); !strings.Contains(data[0].String(), "runtime.Goexit") {
		t.Errorf("the log does not say what became of the blocks: %s", data[0])
	}
}

// A value that no body returned is checked against the schema, also where a Go
// type vouches for what the body returns.
func TestSubstitutesAreValidated(t *testing.T) {
	number := tools.Define("number", "", func(context.Context, struct{}) (int, error) { return 1, nil })
	for name, add := range map[string]func(*pipeline.Pipeline){
		"a listener's value": func(p *pipeline.Pipeline) {
			p.PostExecute.Use("l", alwaysPost(pipeline.AcceptValue(tools.MustJSON(`{"bogus":true}`))))
		},
		"a wrapper's result": func(p *pipeline.Pipeline) {
			p.Execution.Use("w", instead(pipeline.Success(tools.Result{Value: tools.StringJSON("text")})))
		},
	} {
		p := pipelinetest.New(t, nil, number)
		add(p)
		if got := exec(p, "number").Info().Code; got != tools.CodeInvalidOutput {
			t.Errorf("%s of another type: code %q, want %q", name, got, tools.CodeInvalidOutput)
		}
	}
}
