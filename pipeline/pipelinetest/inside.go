package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// SameInside checks the promise of one policy, inside and out, for a pipeline
// of the embedder's: it makes the calls in order on one pipeline, each as a
// model would, and on a second one each from within a call of run_code, and
// reports with Errorf every call whose two ends differ in state, code, origin,
// deciding name, text or value, in how often they came to a body, or in the
// calls that body made.
//
// newPipeline makes a pipeline without a transport, with the tools, policy and
// approver that are to be checked, and must make a fresh one each time, with
// fresh state behind its tools: a later call may build on an earlier one. Tools
// and policy have to give the same answer twice, and policy must let run_code
// pass, as the package comment of pipeline advises. Of the requests ID, Parent
// and Site are set here.
func SameInside(t testing.TB, newPipeline func() *pipeline.Pipeline, calls ...pipeline.Request) {
	t.Helper()
	SameWithin(t, newPipeline, composite, calls...)
}

// Within prepares a pipeline for nested calls and returns the function that
// makes one: within an outer call of its own that acts for req.Agent. The outer
// call must nest this call and no other.
type Within func(t testing.TB, p *pipeline.Pipeline) (call func(ctx context.Context, req pipeline.Request))

// SameWithin is SameInside with another way to nest, such as a real program of
// run_code: within calls codemode.New for the pipeline, and the function it
// returns runs the program that makes the call.
func SameWithin(t testing.TB, newPipeline func() *pipeline.Pipeline, within Within, calls ...pipeline.Request) {
	t.Helper()
	outside, inside := newPipeline(), newPipeline()
	if outside == inside {
		t.Fatalf("pipelinetest: newPipeline returned one pipeline twice; make a fresh one each time")
	}
	direct, nested := watch(outside), watch(inside)
	nest := within(t, inside)
	for i, req := range calls {
		req.ID, req.Parent, req.Site = fmt.Sprintf("call_%d", i+1), nil, tools.Site{}
		where := fmt.Sprintf("call %d of %d, %s %s", i+1, len(calls), req.Name, req.Args)
		outside.Execute(t.Context(), req)
		want, err := direct.take(tools.OriginModel)
		if err != nil {
			t.Fatalf("pipelinetest: %s, made directly: %v", where, err)
		}
		nest(t.Context(), req)
		got, err := nested.take(tools.OriginScript)
		if err != nil {
			t.Fatalf("pipelinetest: %s, made within another call: %v", where, err)
		}
		if diff := want.diff(got); diff != "" {
			t.Errorf("pipelinetest: %s: not the same within another call:\n%s", where, diff)
		}
	}
}

// composite nests each call under a run_code without a program.
func composite(t testing.TB, p *pipeline.Pipeline) func(context.Context, pipeline.Request) {
	t.Helper()
	var inner pipeline.Request
	tool, err := tools.NewTool(Tool(tools.TransportName, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		req := inner
		req.ID, req.Parent = run.Call().ID()+":code:1", run
		p.Execute(ctx, req)
		return tools.Result{}, nil
	}))
	if err == nil {
		err = p.InstallTransport(pipeline.Transport{Tool: tool})
	}
	if err != nil {
		t.Fatalf("pipelinetest: cannot nest calls in the pipeline: %v; leave the transport out, or nest with SameWithin", err)
	}
	return func(ctx context.Context, req pipeline.Request) {
		inner = req
		p.Execute(ctx, pipeline.Request{ID: req.ID, Name: tools.TransportName, Agent: req.Agent})
	}
}

// watcher notes what settles in a pipeline, and how often each call came to its
// body: whether that then ran is in the call's state.
type watcher struct {
	mu         sync.Mutex
	settled    []pipeline.Outcome
	dispatches map[tools.Token]int
}

func watch(p *pipeline.Pipeline) *watcher {
	w := &watcher{dispatches: map[tools.Token]int{}}
	p.Execution.Use("pipelinetest", func(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		w.mu.Lock()
		w.dispatches[d.Call.Token()]++
		w.mu.Unlock()
		return next(ctx)
	})
	p.OnResult("pipelinetest", func(o pipeline.Outcome) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.settled = append(w.settled, o)
	})
	return w
}

// take is how the watched call ended, the model's own or the one nested in it,
// and forgets it.
func (w *watcher) take(origin tools.Origin) (end, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.settled, w.dispatches = nil, map[tools.Token]int{} }()
	root := slices.IndexFunc(w.settled, func(o pipeline.Outcome) bool { return o.Call().Origin() == tools.OriginModel })
	if root < 0 {
		return end{}, fmt.Errorf("no call of a model settled")
	}
	outer := w.settled[root]
	if origin == tools.OriginModel {
		return w.end(outer), nil
	}
	var children []pipeline.Outcome
	for _, o := range w.settled {
		if o.Call().Parent() == outer.Call().Token() {
			children = append(children, o)
		}
	}
	if len(children) != 1 {
		return end{}, fmt.Errorf("%d calls were nested, want 1; policy must let %s itself pass (see Call.IsTransport), and it ended %s: %s",
			len(children), outer.Call().Name(), outer.State(), outer.Text())
	}
	return w.end(children[0]), nil
}

// end describes a call; what it led to are the calls below it.
func (w *watcher) end(o pipeline.Outcome) end {
	denied := &pipeline.DeniedError{}
	errors.As(o.Err(), &denied)
	return end{
		{"state", string(o.State())},
		{"code", o.Info().Code},
		{"origin", denied.Origin},
		{"by", denied.By},
		{"text", o.Text()},
		{"value", o.Value().String()},
		{"dispatches", fmt.Sprint(w.dispatches[o.Call().Token()])},
		{"calls it made", strings.Join(w.below(o.Call().Token()), "; ")},
	}
}

// below lists the calls under a token in an order that does not depend on
// which of them settled first.
func (w *watcher) below(token tools.Token) []string {
	var lines []string
	for _, o := range w.settled {
		c := o.Call()
		if c.Parent() != token {
			continue
		}
		line := fmt.Sprintf("%s %s %s, dispatches %d", c.Name(), c.Args(), o.State(), w.dispatches[c.Token()])
		if inner := w.below(c.Token()); len(inner) > 0 {
			line += " (" + strings.Join(inner, "; ") + ")"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// end is how a call ended, by named parts, always the same ones in one order.
type end []part

type part struct{ name, value string }

// diff lists the parts in which got differs, "" for none.
func (want end) diff(got end) string {
	var b strings.Builder
	for i, w := range want {
		if g := got[i]; g != w {
			fmt.Fprintf(&b, "  %s:\n    directly %q\n    within   %q\n", w.name, w.value, g.value)
		}
	}
	return b.String()
}
