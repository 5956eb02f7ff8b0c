package worker

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// TestAllocations counts what a run and a call allocate in the parent and in the
// worker together, without engine and tool: who changes one says so here.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	names := make([]string, 50)
	for i := range names {
		names[i] = strings.Repeat("n", i+1)
	}
	binding := []runtime.Binding{{Namespace: namespaceOf(t, "tools", names...), Call: echo}}
	calls := 0
	f := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		call := req.Bindings[0].Call
		for i := range calls {
			if _, err := call(ctx, runtime.Invocation{Seq: i + 1, Member: names[i%50], Args: `{"n":1}`, Site: runtime.Site{Line: 100, Column: 20}}); err != nil {
				return runtime.Result{}, err
			}
		}
		return runtime.Result{Value: "1"}, nil
	})
	run := func() {
		if res := mustRun(t, f, runtime.Request{Program: "return 1", Bindings: binding}); res.Failure != nil {
			t.Fatal(res.Failure)
		}
	}
	const many = 200 // a worker serves as many runs
	empty := testing.AllocsPerRun(many/4, run)
	calls = 100
	whole := testing.AllocsPerRun(many/4, run)
	perCall := math.Round((whole - empty) / float64(calls)) // of the calls of a run some share what grows
	for _, tt := range []struct {
		path      string
		got, want float64
	}{
		{"a run", empty, 59},
		{"a call", perCall, 9},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.path, tt.got, tt.want)
		}
	}
}
