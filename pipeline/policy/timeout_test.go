package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// stubborn is a body that does not watch its context.
func stubborn(d time.Duration, r tools.Result, err error) body {
	return func(context.Context, *tools.Run) (tools.Result, error) {
		time.Sleep(d)
		return r, err
	}
}

func TestTimeout(t *testing.T) {
	fine := tools.Result{Value: tools.StringJSON("done")}
	late := end{"Error: tool call timed out after 1000ms", tools.CodeToolTimeout, pipeline.StateFailed}
	tests := []struct {
		name    string
		timeout time.Duration
		caller  time.Duration // when the caller gives up; 0: never
		body    body
		want    end
		took    time.Duration
	}{
		{"in time", time.Second, 0, sleeper(999 * time.Millisecond), end{"done", "", pipeline.StateDone}, 999 * time.Millisecond},
		{"too late", time.Second, 0, sleeper(time.Minute), late, time.Second},
		{"a late success is none", time.Second, 0, stubborn(2*time.Second, fine, nil), late, 2 * time.Second},
		{"a late failure too", time.Second, 0, stubborn(2*time.Second, tools.Result{}, errors.New("gone")), late, 2 * time.Second},
		{"a failure in time stays", time.Second, 0, stubborn(0, tools.Result{}, errors.New("gone")),
			end{"Error: gone", "", pipeline.StateFailed}, 0},
		{"no timeout", 0, 0, sleeper(time.Hour), end{"done", "", pipeline.StateDone}, time.Hour},
		{"the caller was first", time.Second, time.Second / 2, sleeper(time.Minute),
			end{"Error: tool call aborted", tools.CodeAborted, pipeline.StateAborted}, time.Second / 2},
		{"the timeout was first", time.Second, 3 * time.Second / 2, stubborn(2*time.Second, fine, nil), late, 2 * time.Second},
		{"less than a millisecond", time.Millisecond / 4, 0, sleeper(time.Second),
			end{"Error: tool call timed out after 0.25ms", tools.CodeToolTimeout, pipeline.StateFailed}, time.Millisecond / 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := pipelinetest.New(t, nil, timed("x", tt.timeout, tt.body))
				p.Execution.Use("timeout", policy.Timeout())
				ctx := context.Background()
				if tt.caller > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.caller)
					defer cancel()
				}
				start := time.Now()
				check(t, "end", endOf(p.Execute(ctx, pipeline.Request{Name: "x"})), tt.want)
				check(t, "took", time.Since(start), tt.took)
			})
		})
	}
}

func TestTimeoutLeavesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pipelinetest.New(t, nil)
		p.Execution.Use("timeout", policy.Timeout())
		install(t, p, timed(tools.TransportName, time.Second, sleeper(time.Hour)))
		check(t, "run_code", endOf(exec(p, tools.TransportName)), end{"done", "", pipeline.StateDone})
		check(t, "unknown", exec(p, "nope").Info().Code, tools.CodeUnknownTool)
	})
}

// A body has a deadline only if its definition gives it one, and always what the
// caller's context holds.
func TestTimeoutContext(t *testing.T) {
	type key struct{}
	caller := context.WithValue(t.Context(), key{}, "the caller's")
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		want    string
	}{
		{"none", 0, "the caller's, deadline false"},
		{"some", time.Hour, "the caller's, deadline true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, timed("x", tt.timeout, func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
				_, has := ctx.Deadline()
				return text(fmt.Sprintf("%v, deadline %v", ctx.Value(key{}), has))
			}))
			p.Execution.Use("timeout", policy.Timeout())
			check(t, "context", p.Execute(caller, pipeline.Request{Name: "x"}).Text(), tt.want)
		})
	}
}

// The time is that of the definition the call means.
func TestTimeoutOfAgentsTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pipelinetest.New(t, nil, timed("x", time.Hour, sleeper(2*time.Second)))
		if _, err := p.For("hasty").Add(timed("x", time.Second, sleeper(2*time.Second))); err != nil {
			t.Fatal(err)
		}
		p.Execution.Use("timeout", policy.Timeout())
		check(t, "the agent's", p.Execute(t.Context(), pipeline.Request{Name: "x", Agent: "hasty"}).Info().Code, tools.CodeToolTimeout)
		check(t, "the others'", p.Execute(t.Context(), pipeline.Request{Name: "x", Agent: "patient"}).Text(), "done")
	})
}

// A call inside one whose time is over is aborted; it has not timed out itself.
func TestTimeoutNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *pipeline.Pipeline
		var inner pipeline.Outcome
		p = pipelinetest.New(t, nil,
			timed("outer", time.Second, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				inner = p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
				return text("done")
			}),
			timed("inner", time.Minute, sleeper(time.Hour)))
		p.Execution.Use("timeout", policy.Timeout())
		check(t, "outer", exec(p, "outer").Info().Code, tools.CodeToolTimeout)
		check(t, "inner", inner.Info().Code, tools.CodeAborted)
	})
}

func TestTimeoutError(t *testing.T) {
	var timeout interface{ Timeout() bool }
	err := error(&policy.TimeoutError{After: time.Second})
	check(t, "is a timeout", errors.As(err, &timeout) && timeout.Timeout(), true)
	check(t, "name", tools.InfoOf(err).Name, "ToolTimeoutError")
}
