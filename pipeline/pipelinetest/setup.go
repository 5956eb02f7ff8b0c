package pipelinetest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// New makes a pipeline over the given tools. Options that are not set become
// reproducible: the clock of Clock, the ids of IDs, and a logger that says
// nothing.
func New(t testing.TB, opts *pipeline.Options, defs ...*tools.Definition) *pipeline.Pipeline {
	t.Helper()
	reg, err := tools.NewRegistry(defs...)
	if err != nil {
		t.Fatalf("cannot register the tools of the test: %v", err)
	}
	var o pipeline.Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = Clock()
	}
	if o.NewID == nil {
		o.NewID = IDs("id")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return pipeline.New(reg, &o)
}

// Clock makes a clock that starts at the beginning of 2026 and moves on by one
// millisecond each time it is read.
func Clock() func() time.Time {
	var reads atomic.Int64
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time { return start.Add(time.Duration(reads.Add(1)) * time.Millisecond) }
}

// IDs makes a source of the ids prefix1, prefix2 and so on.
func IDs(prefix string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("%s%d", prefix, n.Add(1)) }
}

// Tool is a tool with a body and nothing else.
func Tool(name string, body func(ctx context.Context, run *tools.Run) (tools.Result, error)) *tools.Definition {
	return &tools.Definition{Name: name, Description: name, Handler: body}
}

// Echo is a tool that returns its arguments.
func Echo(name string) *tools.Definition {
	return Tool(name, func(_ context.Context, run *tools.Run) (tools.Result, error) {
		return tools.Result{Value: run.Args()}, nil
	})
}

// Text is a tool that returns a text.
func Text(name, text string) *tools.Definition {
	return Tool(name, func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON(text)}, nil
	})
}

// Failing is a tool that fails with err.
func Failing(name string, err error) *tools.Definition {
	return Tool(name, func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, err })
}

// Concurrent marks a tool as one whose calls may overlap and returns it.
func Concurrent(def *tools.Definition) *tools.Definition {
	def.Concurrent = func(tools.JSON) bool { return true }
	return def
}

// Trace records the order of what several functions do. The zero value is
// ready; it is safe for concurrent use.
type Trace struct {
	mu    sync.Mutex
	steps []string
}

// Add records a step.
func (t *Trace) Add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps = append(t.steps, fmt.Sprintf(format, args...))
}

// Steps is a copy of the steps so far; it is never nil.
func (t *Trace) Steps() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string{}, t.steps...)
}
