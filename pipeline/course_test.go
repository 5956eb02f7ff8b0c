package pipeline_test

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// bash is a pipeline with a tool that would remove something, and the record of
// what happened.
func bash(t *testing.T, opts *pipeline.Options) (*pipeline.Pipeline, *pipelinetest.Trace) {
	t.Helper()
	var trace *pipelinetest.Trace
	def := tracedTool("bash", &trace)
	def.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) {
		trace.Add("finalize bash")
		return nil, false
	}
	o := pipeline.Options{}
	if opts != nil {
		o = *opts
	}
	o.Sink = pipeline.SinkFunc(func(e pipeline.Event) error { trace.Add("event %s", e.Type); return nil })
	p := pipelinetest.New(t, &o, def)
	trace = traced(p)
	return p, trace
}

func rm(p *pipeline.Pipeline) pipeline.Outcome {
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "bash", Args: `{"command":"rm -rf build/"}`})
}

func sandbox(tools.Call) string { return "build/ is outside the sandbox" }

// Scenario A, where everybody lets the call pass, is TestStageOrder.

// Scenario B: a guard has a reason.
func TestScenarioB(t *testing.T) {
	p, trace := bash(t, nil)
	p.Guards.Use("sandbox", sandbox)
	check(t, "outcome", endOf(rm(p)), end{"Error: build/ is outside the sandbox", tools.CodeDeniedByGuard, "not-started"})
	check(t, "body and wrappers are skipped, the rest is not", trace.Steps(), steps(
		"event tool/call", "pre bash", "guard bash", "post bash", "finalize bash", "result bash", "event tool/result"))
}

// Scenario C: a listener in front of all others says allow and asks nobody.
func TestScenarioC(t *testing.T) {
	p, trace := bash(t, nil)
	p.PreExecute.Use("polite", always(pipeline.Deny("please do not")))
	remove := p.Guards.Use("sandbox", sandbox)
	p.PreExecute.Prepend("hostile", always(pipeline.Allow()))
	check(t, "with a guard", endOf(rm(p)), end{"Error: build/ is outside the sandbox", tools.CodeDeniedByGuard, "not-started"})
	check(t, "it silences later listeners, not the guard", trace.Steps(), steps(
		"event tool/call", "guard bash", "post bash", "finalize bash", "result bash", "event tool/result"))
	remove()
	check(t, "without a guard it wins", endOf(rm(p)), end{"ok", "", "done"})
}

// The exercise: an asking bridge, a white list that allows, and a sandbox
// guard; who is asked, and what the model reads.
func TestExercise(t *testing.T) {
	denied := end{"Error: build/ is outside the sandbox", tools.CodeDeniedByGuard, "not-started"}
	for _, tt := range []struct {
		name     string
		answers  []pipeline.Answer // nil: nobody can be asked
		swapped  bool              // the white list comes first
		want     end
		listened []string
		asked    int
	}{
		{"the bridge asks and nobody can be asked", nil, false,
			end{"Error: rm needs a look", tools.CodeApprovalUnavailable, "not-started"}, steps("bridge"), 0},
		{"the person rejects, and the guard is not consulted", []pipeline.Answer{pipeline.Rejected}, false,
			end{`Error: the user rejected tool "bash"`, tools.CodeApprovalRejected, "not-started"}, steps("bridge"), 1},
		{"the person allows, and the guard denies", []pipeline.Answer{pipeline.AllowedOnce}, false, denied, steps("bridge", "guard"), 1},
		{"the white list first, and the bridge is not reached", []pipeline.Answer{pipeline.AllowedOnce}, true, denied, steps("white list", "guard"), 0},
		{"the guard denies in that order too", nil, true, denied, steps("white list", "guard"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			listened := &pipelinetest.Trace{}
			approver := pipelinetest.NewApprover(tt.answers...)
			opts := &pipeline.Options{}
			if tt.answers != nil {
				opts.Approver = approver
			}
			p := pipelinetest.New(t, opts, pipelinetest.Text("bash", "removed"))
			bridge := func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
				listened.Add("bridge")
				return pipeline.Ask("rm needs a look"), nil
			}
			whiteList := func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
				listened.Add("white list")
				return pipeline.Allow(), nil
			}
			p.PreExecute.Use("bridge", bridge)
			if tt.swapped {
				p.PreExecute.Prepend("white list", whiteList)
			} else {
				p.PreExecute.Use("white list", whiteList)
			}
			p.Guards.Use("sandbox", func(c tools.Call) string { listened.Add("guard"); return sandbox(c) })
			check(t, "outcome", endOf(rm(p)), tt.want)
			check(t, "who was heard", listened.Steps(), tt.listened)
			check(t, "times asked", len(approver.Asked()), tt.asked)
		})
	}
}
