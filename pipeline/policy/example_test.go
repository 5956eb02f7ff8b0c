package policy_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// newPipeline is a pipeline over one tool.
func newPipeline(def *tools.Definition) *pipeline.Pipeline {
	reg, err := tools.NewRegistry(def)
	if err != nil {
		panic(err)
	}
	return pipeline.New(reg, nil)
}

func call(p *pipeline.Pipeline, name string) pipeline.Outcome {
	return p.Execute(context.Background(), pipeline.Request{Name: name})
}

// All three wrappers, in the order in which they belong: each attempt waits for
// its own permit and has its own time.
func Example() {
	attempts := 0
	p := newPipeline(&tools.Definition{
		Name:        "fetch",
		Timeout:     time.Minute,
		Annotations: tools.Annotations{Idempotent: true},
		Handler: func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			_, timed := ctx.Deadline()
			if attempts++; attempts == 1 {
				return tools.Result{}, &policy.TimeoutError{After: time.Minute} // as if it had taken too long
			}
			return tools.Result{Value: tools.StringJSON(fmt.Sprintf("attempt %d, timed: %v", attempts, timed))}, nil
		},
	})
	p.Execution.Use("retry", policy.Retry(&policy.RetryOptions{Backoff: time.Millisecond}))
	p.Execution.Use("limit", policy.Limit(policy.LimitOptions{Concurrent: 4, PerTool: true}))
	p.Execution.Use("timeout", policy.Timeout())
	fmt.Println(p.Execution.Names(), "around the body")
	fmt.Println(call(p, "fetch").Text())
	// Output:
	// [retry limit timeout] around the body
	// attempt 2, timed: true
}

func ExampleTimeout() {
	p := newPipeline(&tools.Definition{
		Name:    "wait",
		Timeout: 10 * time.Millisecond,
		Handler: func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		},
	})
	p.Execution.Use("timeout", policy.Timeout())
	o := call(p, "wait")
	fmt.Println(o.Text(), o.Info().Code)
	// Output: Error: tool call timed out after 10ms TOOL_TIMEOUT
}

// Only failures with a code of the host's own are tried again.
func ExampleRetry() {
	attempts := 0
	p := newPipeline(&tools.Definition{
		Name:        "query",
		Annotations: tools.Annotations{ReadOnly: true},
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			if attempts++; attempts < 3 {
				return tools.Result{}, &tools.Error{Name: "DBError", Code: "DB_BUSY", Message: "the database is busy"}
			}
			return tools.Result{Value: tools.MustJSON(`{"rows":7}`)}, nil
		},
	})
	p.Execution.Use("retry", policy.Retry(&policy.RetryOptions{Codes: []string{"DB_BUSY"}, Backoff: time.Millisecond}))
	fmt.Println(call(p, "query").Text(), attempts)
	// Output: {"rows":7} 3
}

// One call of the search tools at a time, and no more than sixty in a minute;
// other tools are not limited.
func ExampleLimit() {
	p := newPipeline(&tools.Definition{
		Name: "mcp__search__web",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON("found")}, nil
		},
	})
	p.Execution.Use("search", policy.Limit(policy.LimitOptions{
		Tools: policy.ToolNames{"mcp__search__*"}, Concurrent: 1, Rate: 60, Per: time.Minute,
	}))
	fmt.Println(call(p, "mcp__search__web").Text())
	// Output: found
}

func ExampleRepeat() {
	p := newPipeline(&tools.Definition{
		Name: "status",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON("pending")}, nil
		},
	})
	repeat := policy.NewRepeat(nil)
	p.PostExecute.Use("repeat", repeat.PostExecute)
	for range 3 {
		for _, m := range call(p, "status").Contexts() {
			fmt.Println(tools.ContentString(m.Content))
		}
	}
	repeat.Reset(nil) // a message of the user
	// Output: You have called "status" 3 times in a row with the same arguments. If the answer does not help, change the arguments or try something else.
}

// In a harness save is the Save of a spill.Store.
func ExampleSpill() {
	save := func(_ context.Context, _, text string) (string, error) { return "session.spill/4f1c", nil }
	p := newPipeline(&tools.Definition{
		Name: "log",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON(strings.Repeat("started\n", 50) + "failed: disk full")}, nil
		},
	})
	p.PostExecute.Prepend("spill", policy.Spill(save, &policy.SpillOptions{MaxBytes: 160}))
	fmt.Println(call(p, "log").Text())
	// Output:
	// started
	// started
	// started
	// started
	// started
	// started
	// starte
	// ...
	//
	// started
	// failed: disk full
	//
	// (Omitted 337 bytes. Full formatted result stored at: session.spill/4f1c.)
}

func ExampleMetrics() {
	p := newPipeline(&tools.Definition{
		Name: "echo",
		Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
			return tools.Result{Value: run.Args()}, nil
		},
	})
	var metrics policy.Metrics
	p.OnResult("metrics", metrics.Observe)
	call(p, "echo")
	call(p, "echo")
	call(p, "ecko")
	for _, s := range metrics.Snapshot() {
		fmt.Println(s.Tool, s.State, s.Calls)
	}
	// Output:
	// (other) not-started 1
	// echo done 2
}
