package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// hostile makes a pre-execute listener that does something at random.
func hostile(r *rand.Rand) (what string, l preListener) {
	switch r.IntN(8) {
	case 0:
		return "allow", always(pipeline.Allow())
	case 1:
		return "ask", always(pipeline.Ask("?"))
	case 2:
		return "deny", always(pipeline.Deny("no"))
	case 3:
		return "error", failing(errPlain)
	case 4:
		return "panic", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { panic("x") }
	case 5:
		return "zero", always(pipeline.Decision{})
	case 6:
		return "overrule", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			_, _ = next(ctx)
			return pipeline.Allow(), nil
		}
	}
	return "delegate", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) { return next(ctx) }
}

// mayRun is the specification in one line a listener: the innermost first, what
// refuses stays refused, and an answer without asking hides what is further in.
func mayRun(listeners []string, approved bool) bool {
	verdict, refused := "allow", false
	for i := len(listeners) - 1; i >= 0; i-- {
		switch what := listeners[i]; what {
		case "delegate":
		case "overrule":
			verdict = "allow"
		case "allow", "ask":
			verdict, refused = what, false
		default:
			verdict, refused = what, true
		}
	}
	return !refused && (verdict == "allow" || verdict == "ask" && approved)
}

// TestRandomPolicies: whatever listeners, guards, wrappers and reviewers are
// combined, a body runs only if policy lets it and no guard has a reason, a
// call settles once and its log is a pair.
func TestRandomPolicies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		var listeners []string
		starts, settled := 0, 0
		rec := &pipelinetest.Recorder{}
		approved := r.IntN(2) == 0
		answer := pipeline.Rejected
		if approved {
			answer = pipeline.AllowedOnce
		}
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: pipeline.ApproverFunc(
			func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { return answer, nil })},
			pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
				starts++
				return tools.Result{Value: tools.StringJSON("ran")}, nil
			}))
		for i := range r.IntN(5) {
			what, l := hostile(r)
			listeners = append(listeners, what)
			p.PreExecute.Use(fmt.Sprint("l", i), l)
		}
		guarded := false
		for i := range r.IntN(4) {
			switch r.IntN(3) {
			case 0:
				guarded = true
				p.Guards.Use(fmt.Sprint("g", i), func(tools.Call) string { return "no" })
			case 1:
				guarded = true
				p.Guards.Use(fmt.Sprint("g", i), func(tools.Call) string { panic("x") })
			default:
				p.Guards.Use(fmt.Sprint("g", i), func(tools.Call) string { return "" })
			}
		}
		delegating := func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
			return next(ctx)
		}
		for i := range r.IntN(3) {
			p.Execution.Use(fmt.Sprint("w", i), delegating)
		}
		if r.IntN(2) == 0 {
			p.PostExecute.Use("softens", alwaysPost(pipeline.AcceptContent(text("all is well"))))
		}
		p.OnResult("o", func(pipeline.Outcome) { settled++ })
		o := exec(p, "tool")

		want := 0
		if mayRun(listeners, approved) && !guarded {
			want = 1
		}
		if starts != want || o.IsError() != (want == 0) {
			t.Fatalf("round %d: listeners %v, approved %v, guarded %v: %d body starts (error %v), want %d",
				round, listeners, approved, guarded, starts, o.Err(), want)
		}
		var denied *pipeline.DeniedError
		if guarded && mayRun(listeners, approved) && (!errors.As(o.Err(), &denied) || denied.Origin != pipeline.OriginGuard) {
			t.Fatalf("round %d: a guard denied and the outcome says %v", round, o.Err())
		}
		if got := fmt.Sprint(rec.Calls()); settled != 1 || got != "[call c1 result c1]" {
			t.Fatalf("round %d: settled %d times, log %s", round, settled, got)
		}
	}
}
