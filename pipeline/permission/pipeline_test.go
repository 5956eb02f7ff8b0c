package permission_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// pipeline makes a pipeline over the world's tools, with the rules and a tool
// "program" whose body makes one call.
func (w *world) pipeline(t *testing.T, rules lists, opts *pipeline.Options, inner pipeline.Request) *pipeline.Pipeline {
	t.Helper()
	var p *pipeline.Pipeline
	var defs []*tools.Definition
	for _, tool := range w.registry.All() {
		def := tool.Definition()
		defs = append(defs, &def)
	}
	defs = append(defs, pipelinetest.Tool("program", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		inner.ID, inner.Parent = "c1:code:1", run
		return tools.Result{Value: tools.StringJSON(outcome(p.Execute(ctx, inner)))}, nil
	}))
	p = pipelinetest.New(t, opts, defs...)
	policy, err := permission.New(p.Registry(), []*permission.Settings{rules.settings(t)}, permission.Options{Root: w.root, FoldCase: &caseMatters})
	if err != nil {
		t.Fatal(err)
	}
	p.UseRule("permissions", policy.Rule)
	return p
}

func outcome(o pipeline.Outcome) string {
	return fmt.Sprintf("%s %s", tools.InfoOf(o.Err()).Code, o.Text())
}

// A call fares the same whether a model or a program makes it.
func TestDirectAndNested(t *testing.T) {
	w := newWorld(t, workspace(t))
	for _, tt := range []struct {
		name       string
		tool, args string
		answers    []pipeline.Answer
		want       string
	}{
		{"denied", "read", `{"path":"docs/key"}`, nil, "DENIED_BY_POLICY Error: permission rule Read(./secrets/**) in policy.json denies reading docs/key (which is secrets/key)"},
		{"asked and granted", "edit", `{"path":"notes.md"}`, []pipeline.Answer{pipeline.AllowedOnce}, ` {"path":"notes.md"}`},
		{"asked and refused", "edit", `{"path":"notes.md"}`, []pipeline.Answer{pipeline.Rejected}, `APPROVAL_REJECTED Error: the user rejected tool "edit"`},
		{"allowed", "edit", `{"path":"src/a.go"}`, nil, ` {"path":"src/a.go"}`},
		{"arguments that do not fit", "edit", `{"file":"src/a.go"}`, nil,
			`INVALID_ARGS Error: invalid arguments: missing required property "path"; unknown property "file"; allowed: path`},
		{"arguments that do not fit a denied tool", "bash", `{"path":"src/a.go"}`, nil, "DENIED_BY_POLICY Error: permission rule Bash in policy.json denies every call of bash"},
		{"nobody knows what it touches", "read", `{"path":"lost"}`, nil, " Error: nobody can say where lost is"},
		{"unknown", "mcp__nobody__x", `{}`, nil, `UNKNOWN_TOOL Error: unknown tool "mcp__nobody__x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := lists{Deny: []string{"Read(./secrets/**)", "Bash"}, Ask: []string{"Edit(notes.md)"}, Allow: []string{"Edit"}}
			call := pipeline.Request{Name: tt.tool, Args: tt.args}
			direct := w.pipeline(t, rules, &pipeline.Options{Approver: pipelinetest.NewApprover(tt.answers...)}, call)
			check(t, "direct", outcome(direct.Execute(context.Background(), call)), tt.want)
			nested := w.pipeline(t, rules, &pipeline.Options{Approver: pipelinetest.NewApprover(tt.answers...)}, call)
			check(t, "nested", outcome(nested.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "program"})), " "+tt.want)
		})
	}
}

// Where nobody can be asked, the model reads why.
func TestAskWithoutAnybody(t *testing.T) {
	w := newWorld(t, workspace(t))
	p := w.pipeline(t, lists{}, nil, pipeline.Request{})
	got := outcome(p.Execute(context.Background(), pipeline.Request{Name: "write", Args: `{"path":"notes.md"}`}))
	check(t, "outcome", got, "APPROVAL_UNAVAILABLE Error: write changes notes.md and no rule allows it")
}

// Explain of a pipeline knows the rules without making the call.
func TestPipelineExplain(t *testing.T) {
	w := newWorld(t, workspace(t))
	p := w.pipeline(t, lists{Deny: []string{"Read(.env)"}}, nil, pipeline.Request{})
	check(t, "findings", p.Explain(pipeline.Request{Name: "read", Args: `{"path":"src/.env"}`}).Findings, []pipeline.Finding{{
		Stage: "pre-execute", Name: "permissions", Evaluated: true, Verdict: pipeline.VerdictDeny,
		Reason: "permission rule Read(.env) in policy.json denies reading src/.env",
	}})
}
