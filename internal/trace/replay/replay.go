// Package replay runs the program of a run_code call in a log again and says
// where it does something else than it did: of a program that was changed, or
// under another version of the engine.
//
// No tool runs and nobody is asked. Every call is answered with what the log
// says it gave, a denial as well as a value, so a recorded grant opens nothing.
package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/tools"
)

// Options changes a replay. The zero value is useful.
type Options struct {
	// CallID is the call of run_code. Empty: the only one of the trace.
	CallID string
	// Program runs in the place of the recorded program. Empty: that one.
	Program string
	// Fetch gets what was cut in the log. Nil: the replay ends at a call that was
	// cut.
	Fetch trace.Fetch
	// Runtime runs the program; it is not closed. Nil: one in this process, which
	// alone keeps the order of results of calls that overlapped.
	Runtime runtime.Runtime
	// Limits bounds the replay. A zero Wall is the time the recorded run took and
	// a minute.
	Limits runtime.Limits
}

// Verdict is what a replay comes to.
type Verdict string

// The verdicts.
const (
	Identical  Verdict = "identical"  // the same calls in the same order, and the same outcome
	Diverged   Verdict = "diverged"   // something else: Report.What and Diff say what
	Incomplete Verdict = "incomplete" // the log does not say enough to go on
)

// Report is what a replay found, the first difference only.
type Report struct {
	Verdict Verdict
	CallID  string
	Calls   int    // made as they are recorded, one after the other
	Call    int    // the number of the call that differs, from 1; 0: what differs is the end
	Line    int    // of the program, where that call was made; 0: unknown
	What    string // a sentence; empty for an identical run
	Diff    string // a unified diff from what was recorded to what was made
	// Assumptions is what the log does not say and the replay took as given, a
	// sentence each. A divergence may come from them.
	Assumptions []string
}

// String is the report in lines for a person. Its texts are a program's; they
// are not escaped.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay of %s: %s, %d calls as recorded\n", r.CallID, r.Verdict, r.Calls)
	if r.What != "" {
		where := ""
		if r.Call > 0 {
			where = fmt.Sprintf("call %d", r.Call)
			if r.Line > 0 {
				where += fmt.Sprintf(", line %d", r.Line)
			}
			where += ": "
		}
		fmt.Fprintf(&b, "%s%s\n", where, r.What)
	}
	b.WriteString(r.Diff)
	for _, a := range r.Assumptions {
		fmt.Fprintf(&b, "assumed: %s\n", a)
	}
	return b.String()
}

// Run replays one program of a trace. What it restores of calls that were cut
// stays in the trace. The error is for a call that is not there or has no
// program, and for a runtime that cannot run; ctx ending is one too. Nil is
// Options of nothing.
func Run(ctx context.Context, t *trace.Trace, opts *Options) (*Report, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	run, err := find(t, o.CallID)
	if err != nil {
		return nil, fmt.Errorf("cannot replay: %w", err)
	}
	p := newPlayer(run, o.Fetch)
	program := p.program(ctx, o.Program)
	if p.verdict == "" {
		if err := p.play(ctx, program, o); err != nil {
			return nil, fmt.Errorf("cannot replay call %s: %w", run.ID, err)
		}
	}
	return p.report(), nil
}

// find is the call of run_code that is meant.
func find(t *trace.Trace, id string) (*trace.Call, error) {
	var found, ids []string
	var run *trace.Call
	for _, c := range t.Programs() {
		ids = append(ids, c.ID)
		if id == "" || c.ID == id {
			run, found = c, append(found, c.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, errors.New("the log has no call of run_code")
	case len(found) == 0:
		return nil, fmt.Errorf("the log has no call of run_code with the id %q; it has %s", id, strings.Join(ids, ", "))
	case len(found) > 1 && id == "":
		return nil, fmt.Errorf("the log has %d calls of run_code; choose one of %s", len(found), strings.Join(ids, ", "))
	}
	return run, nil
}

// program is what is run. Without it, or the whole of it, the replay is over.
func (p *player) program(ctx context.Context, instead string) string {
	err := p.run.Restore(ctx, p.fetch)
	for _, cut := range p.run.Cuts {
		if err != nil && cut.OfCall && instead == "" {
			p.finish(Incomplete, 0, 0, err.Error(), "")
			return ""
		}
	}
	if err != nil {
		p.outcomeCut = true
		p.assume("the outcome of the run was cut in the log, so its end is not compared")
	}
	if instead != "" {
		return instead
	}
	if p.run.Program == "" {
		p.finish(Incomplete, 0, 0, "the log has no program for this call", "")
	}
	return p.run.Program
}

func (p *player) play(ctx context.Context, program string, o Options) error {
	rt := o.Runtime
	if rt == nil {
		own, err := gojavm.New(nil)
		if err != nil {
			return err
		}
		defer func() { _ = own.Close() }()
		rt = own
	}
	bound, err := p.bindings()
	if err != nil {
		return err
	}
	if o.Limits.Wall == 0 {
		o.Limits.Wall = min(p.run.Took+time.Minute, runtime.MaxWall)
	}
	seed, parallel := p.seed(), p.parallel()
	if o.Runtime != nil && p.overlapping {
		p.assume("results of calls that overlap reach the program in the order of the record, which a process of its own may change where they follow each other closely")
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.running, p.cancel = inner, cancel
	res, err := rt.Run(inner, runtime.Request{
		Program: program, Bindings: bound, Input: p.input(), Limits: o.Limits,
		Parallel: parallel, Clock: p.clock, Seed: &seed,
	})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return p.judge(res)
}

// bindings are the tools and the catalog of the program, with no tool behind
// them: those the recorded run called, since the log does not list others.
func (p *player) bindings() ([]runtime.Binding, error) {
	var list []*tools.Tool
	seen := map[string]bool{tools.TransportName: true}
	for _, c := range p.run.Calls {
		if seen[c.Tool] {
			continue
		}
		seen[c.Tool] = true
		tool, err := tools.NewTool(&tools.Definition{
			Name: c.Tool, Description: c.Tool,
			Handler: func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{}, errors.New("a replay runs no tools")
			},
		})
		if err != nil {
			return nil, err
		}
		list = append(list, tool)
	}
	catalog, _, err := bindings.New(list)
	if err != nil {
		return nil, err
	}
	return []runtime.Binding{
		{Namespace: catalog.Namespace(), Call: p.call},
		{Namespace: catalog.SearchNamespace(), Call: p.lookUp},
	}, nil
}

// judge compares how the program ended, unless the replay is over already.
func (p *player) judge(res runtime.Result) error {
	p.mu.Lock()
	over, made := p.verdict != "", p.calls
	p.mu.Unlock()
	switch {
	case over:
		return nil
	case p.stuckOn() != "" && res.Failure != nil && res.Failure.Kind == runtime.Timeout:
		p.finish(Diverged, 0, 0, p.stuckOn(), "")
		return nil
	case made < len(p.run.Calls):
		next := p.run.Calls[made]
		text, err := render(res)
		p.finish(Diverged, made+1, next.Line, fmt.Sprintf("the program ended without making it; recorded is %s with %s", next.Tool, shorten(next.Arguments.String())), "now it ends with:\n"+ended(text))
		return err
	case p.run.State == trace.StateOpen:
		p.finish(Incomplete, 0, 0, "the log has no outcome of the run; up to its last call it is the same", "")
		return nil
	case p.outcomeCut:
		p.finish(Identical, 0, 0, "", "")
		return nil
	}
	return p.compareEnd(res)
}

// compareEnd compares the outcome as a model reads it. What follows the failure
// of a run in its text, the ledger and the notes, is not the program's.
func (p *player) compareEnd(res runtime.Result) error {
	made, err := render(res)
	if err != nil {
		return err
	}
	recorded := ""
	if len(p.run.Content) > 0 {
		recorded = p.run.Content[0].Text
	}
	same := made == recorded
	if res.Failure != nil {
		same = recorded == made || strings.HasPrefix(recorded, made+"\n")
	}
	switch {
	case same:
		p.finish(Identical, 0, 0, "", "")
	case (res.Failure != nil) != (p.run.Failure != nil):
		p.finish(Diverged, 0, 0, fmt.Sprintf("the run %s, recorded is that it %s", fate(res.Failure != nil), fate(p.run.Failure != nil)), diff(recorded, made))
	default:
		p.finish(Diverged, 0, 0, "all calls are the same, and what the run printed or returned is not", diff(recorded, made))
	}
	return nil
}

func fate(failed bool) string {
	if failed {
		return "failed"
	}
	return "succeeded"
}

// finished is a Runtime whose run is over.
type finished struct{ res runtime.Result }

// Run implements runtime.Runtime.
func (f finished) Run(context.Context, runtime.Request) (runtime.Result, error) { return f.res, nil }

// Close implements runtime.Runtime.
func (f finished) Close() error { return nil }

// render is the outcome of a run as run_code words it, without notes.
func render(res runtime.Result) (string, error) {
	res.Notes, res.Usage = nil, runtime.Usage{}
	reg, err := tools.NewRegistry()
	if err != nil {
		return "", err
	}
	cm, err := codemode.New(pipeline.New(reg, nil), &codemode.Options{Runtime: finished{res}})
	if err != nil {
		return "", err
	}
	defer func() { _ = cm.Close() }()
	return cm.Run(context.Background(), codemode.Program{Code: "replayed"}).Text(), nil
}

func diff(recorded, made string) string {
	return udiff.Unified("recorded", "made", ended(recorded), ended(made))
}

// ended is a text that ends its last line.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
