//go:build !race

// The race detector makes allocations of its own, and lets pools forget.

package pipeline_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

// TestOwnAllocations holds calls to the allocations that they make now, in either
// direction: who changes one says so here. Reading and checking small arguments
// makes none.
func TestOwnAllocations(t *testing.T) {
	log, err := eventlog.Open(filepath.Join(t.TempDir(), "log.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := quickPipeline(t, nil)
	parse, validate := parseAndValidate(t, p)
	scoped, ofScope := ofAgent(t)
	direct := func(p *pipeline.Pipeline, req pipeline.Request) float64 {
		return testing.AllocsPerRun(100, func() { mustExecute(t.Context(), t, p, req) })
	}
	for _, tt := range []struct {
		path string
		want float64
		got  float64
	}{
		{"arguments are read", 0, testing.AllocsPerRun(100, parse)},
		{"arguments are checked", 0, testing.AllocsPerRun(100, validate)},
		// The record of the call, its Call and token, and two functions of the handle.
		{"nobody listens", 5, direct(p, quickCall)},
		// Two events, their data each; the id of a message; the source of an event.
		{"a sink", 9, direct(quickPipeline(t, &pipeline.Options{Sink: nowhere}), quickCall)},
		{"a log in a file", 9, direct(quickPipeline(t, &pipeline.Options{Sink: log}), quickCall)},
		// For each stage the pass, its judge, a turn and its next; the body's context.
		{"a listener of each stage and a guard", 19, direct(listenedTo(quickPipeline(t, nil), 1, 1), quickCall)},
		{"six listeners and four guards", 25, direct(listenedTo(quickPipeline(t, nil), 2, 4), quickCall)},
		{"three ancestors and a restriction", 10, direct(scoped, ofScope)},
		{"nested", 5, nestedAllocations(t, nil)},
		{"nested, with an end", 5, nestedAllocations(t, make(chan struct{}))},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.path, tt.got, tt.want)
		}
	}
}

// nestedAllocations are those of one call nested under a body, among many.
func nestedAllocations(t *testing.T, over chan struct{}) (n float64) {
	var p *pipeline.Pipeline
	p = quickPipeline(t, nil, &tools.Definition{Name: "outer", Handler: func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		req := quickCall
		req.Parent, req.Over = run, over
		n = testing.AllocsPerRun(100, func() { mustExecute(ctx, t, p, req) })
		return tools.Result{}, nil
	}})
	mustExecute(t.Context(), t, p, pipeline.Request{ID: "c0", Name: "outer"})
	return n
}
