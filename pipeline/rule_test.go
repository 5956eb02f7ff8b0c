package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func rule(d pipeline.Decision) pipeline.Rule { return func(tools.Call) pipeline.Decision { return d } }

// Of a rule and what lies further in, the stricter wins.
func TestRuleFoldsTheStrictest(t *testing.T) {
	for _, tt := range []struct {
		name         string
		outer, inner pipeline.Decision
		want         string
	}{
		{"both allow", pipeline.Allow(), pipeline.Allow(), "ok"},
		{"outer asks", pipeline.Ask("outer asks"), pipeline.Allow(), "Error: outer asks"},
		{"inner asks", pipeline.Allow(), pipeline.Ask("inner asks"), "Error: inner asks"},
		{"outer asks, inner denies", pipeline.Ask("outer asks"), pipeline.Deny("inner denies"), "Error: inner denies"},
		{"outer denies", pipeline.Deny("outer denies"), pipeline.Allow(), "Error: outer denies"},
		{"no decision", pipeline.Decision{}, pipeline.Allow(), `Error: policy "outer" returned no decision`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Text("x", "ok"))
			p.UseRule("outer", rule(tt.outer))
			remove := p.UseRule("inner", rule(tt.inner))
			check(t, "text", exec(p, "x").Text(), tt.want)
			remove()
			check(t, "names", p.PreExecute.Names(), []string{"outer"})
		})
	}
}

func TestUseRulePanics(t *testing.T) {
	p := pipelinetest.New(t, nil)
	for name, use := range map[string]func(){
		"no name": func() { p.UseRule("", rule(pipeline.Allow())) },
		"no rule": func() { p.UseRule("x", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: UseRule accepts it", name)
				}
			}()
			use()
		}()
	}
}

// Explain asks what is pure, in order, and starts nothing else.
func TestExplain(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	started := false
	def := pipelinetest.Text("x", "ok")
	def.Input = tools.MustJSON(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	def.Handler = func(context.Context, *tools.Run) (tools.Result, error) { started = true; return tools.Result{}, nil }
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
		started = true
		return pipeline.AllowedOnce, nil
	})}, def)
	p.UseRule("asks", rule(pipeline.Ask("because")))
	p.PreExecute.Use("hook", func(ctx context.Context, _ tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		started = true
		return next(ctx)
	})
	p.UseRule("crashes", func(tools.Call) pipeline.Decision { panic("secret") })
	p.Guards.For("me").Use("mine", func(tools.Call) string { return "mine only" })
	p.Guards.Use("everybody's", func(tools.Call) string { return "" })

	e := p.Explain(pipeline.Request{Name: "x", Args: `{"n":1}`, Agent: "me"})
	want := []pipeline.Finding{
		{Stage: "pre-execute", Name: "asks", Evaluated: true, Verdict: pipeline.VerdictAsk, Reason: "because"},
		{Stage: "pre-execute", Name: "hook"},
		{Stage: "pre-execute", Name: "crashes", Evaluated: true, Verdict: pipeline.VerdictDeny, Reason: `rule "crashes" crashed, so the call fails`},
		{Stage: "guard", Name: "everybody's", Evaluated: true, Verdict: pipeline.VerdictAllow},
		{Stage: "guard", Name: "mine", Evaluated: true, Verdict: pipeline.VerdictDeny, Reason: "mine only"},
	}
	if diff := cmp.Diff(want, e.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	check(t, "verdict", e.Verdict, pipeline.VerdictDeny)
	lenient := pipelinetest.New(t, nil, def)
	lenient.UseRule("asks", rule(pipeline.Ask("because")))
	lenient.UseRule("allows", rule(pipeline.Allow()))
	check(t, "the strictest verdict", lenient.Explain(pipeline.Request{Name: "x", Args: `{"n":1}`}).Verdict, pipeline.VerdictAsk)
	check(t, "problem", e.Problem, nil)
	check(t, "something was started", started, false)
	check(t, "events", len(rec.Events()), 0)

	for name, want := range map[string]string{"": `unknown tool ""`, "y": `unknown tool "y"`} {
		if err := p.Explain(pipeline.Request{Name: name}).Problem; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problem of tool %q = %v, want %s", name, err, want)
		}
	}
	if err := p.Explain(pipeline.Request{Name: "x"}).Problem; tools.InfoOf(err).Code != tools.CodeInvalidArgs {
		t.Errorf("problem of missing arguments = %v", err)
	}
}

// Policy and the body see the same subjects, found once.
func TestSubjectsAreFoundOnce(t *testing.T) {
	found := 0
	def := pipelinetest.Text("x", "ok")
	def.Subjects = func(args tools.JSON) ([]tools.Subject, error) {
		found++
		return []tools.Subject{{Access: tools.AccessRead, Path: args.String()}}, nil
	}
	var judged, opened []tools.Subject
	def.Handler = func(_ context.Context, run *tools.Run) (tools.Result, error) {
		opened, _ = run.Call().Subjects()
		return tools.Result{}, nil
	}
	p := pipelinetest.New(t, nil, def)
	p.UseRule("judge", func(c tools.Call) pipeline.Decision {
		judged, _ = c.Subjects()
		judged[0].Real = "a copy"
		return pipeline.Allow()
	})
	exec(p, "x")
	check(t, "times found", found, 1)
	check(t, "judged", judged, []tools.Subject{{Access: tools.AccessRead, Path: "{}", Real: "a copy"}})
	check(t, "opened", opened, []tools.Subject{{Access: tools.AccessRead, Path: "{}"}})
}

// A call whose subjects cannot be found does not run: policy could not have
// judged it. Its error is the one the definition gave.
func TestUnknownSubjectsFailTheCall(t *testing.T) {
	for name, tt := range map[string]struct {
		find func(tools.JSON) ([]tools.Subject, error)
		code string
		text string
	}{
		"error": {func(tools.JSON) ([]tools.Subject, error) {
			return nil, &tools.Error{Name: "FSError", Code: "FS_SANDBOX_DENIED", Message: "outside"}
		}, "FS_SANDBOX_DENIED", "Error: outside"},
		"panic": {func(tools.JSON) ([]tools.Subject, error) { panic("secret") }, tools.CodePanic, `Error: finding the subjects of tool "x" crashed`},
	} {
		t.Run(name, func(t *testing.T) {
			def := pipelinetest.Text("x", "ok")
			def.Subjects = tt.find
			def.Handler = func(context.Context, *tools.Run) (tools.Result, error) {
				t.Error("the body ran")
				return tools.Result{}, nil
			}
			var logs logBuffer
			o := exec(pipelinetest.New(t, &pipeline.Options{Logger: logs.logger()}, def), "x")
			check(t, "code", o.Info().Code, tt.code)
			check(t, "text", o.Text(), tt.text)
			check(t, "state", o.State(), pipeline.StateNotStarted)
			problem := pipelinetest.New(t, nil, def).Explain(pipeline.Request{Name: "x"}).Problem
			check(t, "explained", tools.InfoOf(problem).Code, tt.code)
		})
	}
}
