//go:build !race

// Under the race detector everything is larger, and 100,000 calls take long.

package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// liveHeap is what a collection leaves, in bytes. What pools hold takes two.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestManyNestedCallsStayFlat: a body that makes 100,000 calls, whether or not they
// could be abandoned, holds on to none of them. Each is more than a kilobyte.
func TestManyNestedCallsStayFlat(t *testing.T) {
	const warm, calls, most = 1_000, 100_000, 4 << 20
	for name, over := range map[string]chan struct{}{"nested": nil, "with an end": make(chan struct{})} {
		t.Run(name, func(t *testing.T) {
			var p *pipeline.Pipeline
			p = listenedTo(quickPipeline(t, &pipeline.Options{Sink: nowhere}, &tools.Definition{Name: "outer", Handler: func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				req := quickCall
				req.Parent, req.Over = run, over
				nested := func(n int) {
					for range n {
						mustExecute(ctx, t, p, req)
					}
				}
				nested(warm)
				before := liveHeap()
				nested(calls)
				if grown := liveHeap() - before; grown > most {
					t.Errorf("%d calls hold %d bytes, want %d at most", calls, grown, most)
				}
				return tools.Result{}, nil
			}}), 1, 1)
			mustExecute(t.Context(), t, p, pipeline.Request{ID: "c0", Name: "outer"})
		})
	}
}

// TestIdleRegistry: a registry of 50 tools that nobody calls is small.
func TestIdleRegistry(t *testing.T) {
	const most = 512 << 10
	before := liveHeap()
	var defs []*tools.Definition
	for n := range 50 {
		def := quickTool()
		def.Name, def.Description = fmt.Sprint("tool", n), "A tool that does something."
		def.Input = tools.MustJSON(fmt.Sprintf(`{"type":"object","properties":{"path%d":{"type":"string"},"limit":{"type":"integer","minimum":1},
			"tags":{"type":"array","items":{"type":"string"}}},"required":["path%[1]d"],"additionalProperties":false}`, n))
		defs = append(defs, def)
	}
	reg, err := tools.NewRegistry(defs...)
	if err != nil {
		t.Fatal(err)
	}
	held := liveHeap() - before
	t.Logf("50 tools hold %d bytes", held)
	if held > most {
		t.Errorf("50 tools hold %d bytes, want %d at most", held, most)
	}
	runtime.KeepAlive(reg)
	runtime.KeepAlive(defs)
}
