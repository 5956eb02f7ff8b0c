// Package replay runs the program of a run_code call in a log again and says
// where it does something else than it did: of a program that was changed, or
// under another version of the engine.
//
// No tool runs and nobody is asked. Every call is answered with what the log
// says it gave, a denial as well as a value, so a recorded grant opens nothing.
//
// The log of a recorded run (codemode.Options.Record) has all that a replay needs
// but for one thing: its timers pass real time, as they did. So a timer and a
// result, or the end of a call's own time and its result, that were milliseconds
// apart may change places. Where that, or anything else, is taken for given, the
// Report says so.
package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/worker"
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
	// Redact is what took secrets out of the log. What the program does now passes
	// it before it is compared. Nil: nothing is taken out.
	Redact func(tools.JSON) tools.JSON
	// Runtime runs the program; it is not closed. Nil: one in this process.
	Runtime runtime.Runtime
	// Limits bounds the replay. Zero: those of the recorded run, as far as the log
	// has them, with half as much again for the engine. A replay that hangs is ended a minute after the time that the
	// recorded run took, unless Wall is set.
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
	p := newPlayer(run, o)
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
	p.outcomeCut = err != nil
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
	world := p.world(ctx)
	if p.verdict != "" {
		return nil
	}
	limits, err := p.limits(o, world)
	if err != nil {
		return err
	}
	bound, err := p.bindings(world)
	if err != nil {
		return err
	}
	if p.paced = timed.MatchString(program); p.paced {
		p.assume("timers pass real time, so results come no sooner than they did; a timer and a result that were milliseconds apart may change places")
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.running, p.cancel = inner, cancel
	res, err := rt.Run(inner, runtime.Request{
		Program: program, Bindings: bound, Input: world.Input.String(), Limits: limits,
		Parallel: p.parallel(), Clock: func() time.Time { return world.Start }, Seed: &world.Seed,
	})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return p.judge(ctx, res)
}

// limits are those of the replay.
func (p *player) limits(o Options, w *trace.World) (runtime.Limits, error) {
	given := o.Limits
	recorded := runtime.Limits{}
	if !w.Limits.IsZero() {
		if err := w.Limits.Unmarshal(&recorded); err != nil {
			return given, fmt.Errorf("the limits of the run in the log cannot be read: %w", err)
		}
	}
	wall := given.Wall
	if wall == 0 {
		wall = min(p.run.Took+time.Minute, runtime.MaxWall)
	}
	if given == (runtime.Limits{}) {
		given = recorded
		if c := recorded.Compute; 0 < c && c <= runtime.MaxWall {
			// The machine may be slower or busier than that of the record.
			given.Compute = min(c+max(c/2, 500*time.Millisecond), runtime.MaxWall)
		}
	}
	given.Wall = wall
	if _, ok := o.Runtime.(*worker.Runtime); ok && given.Heap > 0 {
		given.Heap = max(given.Heap, worker.MinHeap)
	}
	return given, nil
}

// bindings are the tools and the catalog of the program, with no tool behind
// them: those it could call, or that it called where the log does not list them.
func (p *player) bindings(w *trace.World) ([]runtime.Binding, error) {
	names := slices.Clone(w.Tools)
	for _, c := range p.run.Calls {
		names = append(names, c.Tool)
	}
	var list []*tools.Tool
	seen := map[string]bool{tools.TransportName: true}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		tool, err := tools.NewTool(&tools.Definition{
			Name: name, Description: name,
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
func (p *player) judge(ctx context.Context, res runtime.Result) error {
	p.mu.Lock()
	over, made := p.verdict != "", p.calls
	p.mu.Unlock()
	switch {
	case over:
		return nil
	case p.stuckOn() != "" && res.Failure != nil && res.Failure.Kind == runtime.Timeout:
		p.finish(Diverged, 0, 0, p.stuckOn(), "")
		return nil
	case made < len(p.run.Calls) && !p.tooLate(made, res):
		next := p.run.Calls[made]
		now, err := render(res)
		p.finish(Diverged, made+1, next.Line, fmt.Sprintf("the program ended without making it; recorded is %s with %s", next.Tool, shorten(next.Arguments.String())), "now it ends with:\n"+ended(now.text))
		return err
	case p.run.State == trace.StateOpen:
		p.finish(Incomplete, 0, 0, noOutcome, "")
		return nil
	case p.endedFromOutside():
		p.outside()
		return nil
	}
	now, err := render(res)
	if err != nil {
		return err
	}
	p.compareEnd(ctx, now)
	return nil
}

// kind is the kind of the recorded failure, "" if there is none.
func (p *player) kind() runtime.Kind {
	if p.run.Failure == nil {
		return ""
	}
	text, ok := strings.CutPrefix(p.run.Failure.Message, "code run failed (")
	if kind, _, found := strings.Cut(text, ")"); ok && found {
		return runtime.Kind(kind)
	}
	return ""
}

// endedFromOutside reports whether the recorded run was ended by what no replay can
// repeat: the caller left, its worker was lost, its time was over.
func (p *player) endedFromOutside() bool {
	switch p.kind() {
	case runtime.Abort, runtime.WorkerExit, runtime.WorkerUnavailable:
		return true
	case runtime.Timeout:
		return strings.Contains(p.run.Failure.Message, "wall-clock ceiling")
	}
	return false
}

// outside ends the replay where the recorded run was ended.
func (p *player) outside() {
	first, _, _ := strings.Cut(p.run.Failure.Message, "\n")
	p.assume(fmt.Sprintf("the recorded run was ended from outside (%s), and so is the replay; what the program printed last is not compared", first))
	p.finish(Identical, 0, 0, "", "")
}

// compareEnd compares the outcome: the value where the log has it, or else the text
// that a model reads.
func (p *player) compareEnd(ctx context.Context, now outcome) {
	failed := p.run.Failure != nil
	valued := !failed && !p.outcomeCut && !p.run.Value.IsZero()
	recorded, known := p.outcomeText(ctx, now)
	switch {
	case now.failed != failed:
		p.finish(Diverged, 0, 0, fmt.Sprintf("the run %s, recorded is that it %s", fate(now.failed), fate(failed)), diff(recorded, now.text))
	case failed && p.stoppedAlike(now):
		p.finish(Identical, 0, 0, "", "")
	case valued && p.hidden(now.value) != p.run.Value.String(), !valued && known && !p.sameText(now, recorded):
		p.finish(Diverged, 0, 0, "all calls are the same, and what the run printed or returned is not", diff(recorded, p.hiddenText(now.text)))
	case !valued && !known:
		p.finish(Incomplete, 0, 0, "the log has a part of the run's outcome only; up to there it is the same", "")
	case p.run.World != nil && !p.sameNotes(now):
		_, notes := parts(p.run.Content)
		p.finish(Diverged, 0, 0, "all calls are the same, and the notes on the run are not", diff(notes, p.hiddenText(now.notes)))
	default:
		p.finish(Identical, 0, 0, "", "")
	}
}

// stoppedAlike reports whether the recorded run and this one were stopped by the
// same limit at a place that depends on how fast or how full a machine is.
func (p *player) stoppedAlike(now outcome) bool {
	kind := p.kind()
	if kind != runtime.Timeout && kind != runtime.MemoryLimit || now.kind != kind {
		return false
	}
	p.assume("a limit stopped the run; where it stood then, and what it had printed, is not compared")
	return true
}

// ledger is how the account of a failed run's calls begins, which is the last of its
// text.
const ledger = "\nTool calls of this run: "

var queued = regexp.MustCompile(`(?m)^  - (.*): not started$`)

// neverStarted names the recorded calls that were still waiting when the program
// failed. Whether a call is handed out then is a matter of chance.
func (p *player) neverStarted() (names []string) {
	if p.run.Failure == nil {
		return nil
	}
	if at := strings.LastIndex(p.run.Failure.Message, ledger); at >= 0 {
		for _, call := range queued.FindAllStringSubmatch(p.run.Failure.Message[at:], -1) {
			names = append(names, call[1])
		}
	}
	return names
}

// tooLate reports whether the recorded calls from the given one on are those that
// were waiting when the program failed now.
func (p *player) tooLate(made int, res runtime.Result) bool {
	rest := p.run.Calls[made:]
	return res.Failure != nil && len(rest) <= len(res.Usage.NotStarted) &&
		!slices.ContainsFunc(rest, func(c *trace.Call) bool { return !endedEarly(c) || c.Tool != res.Usage.NotStarted[c.N-made-1].Member })
}

// sameText compares texts of outcomes. What follows the failure of a run in its
// text, notes on its calls and the ledger, is not the program's.
func (p *player) sameText(now outcome, recorded string) bool {
	made := p.hiddenText(now.text)
	if now.failed && p.calls+now.waiting > 0 {
		if at := strings.LastIndex(recorded, ledger); at >= 0 {
			recorded = recorded[:at]
		}
		if slices.ContainsFunc(p.run.Calls, func(c *trace.Call) bool { return c.State == pipeline.StateAbandoned }) {
			recorded, _, _ = strings.Cut(recorded, "\nnote: abandoned: ")
		}
	}
	return recorded == made
}

// sameNotes compares the notes on a success. Those of calls that were abandoned are
// not the program's.
func (p *player) sameNotes(now outcome) bool {
	_, notes := parts(p.run.Content)
	notes, _, _ = strings.Cut("\n"+notes, "\nnote: abandoned: ")
	return strings.TrimPrefix(notes, "\n") == p.hiddenText(now.notes)
}

func (p *player) hiddenText(text string) string {
	plain, _ := tools.MustJSON(p.hidden(tools.StringJSON(text).String())).Text()
	return plain
}

// clipped is how the text of an outcome begins that was too long for a model, with
// the locator of the whole.
var clipped = regexp.MustCompile(`^(Error: )?\(the output is \d+ bytes; shown are the first \d+ and the last \d+\. (?:The whole text is at (.*)\.\)\n)?`)

// outcomeText is the whole text of the recorded outcome, or what is known of it.
func (p *player) outcomeText(ctx context.Context, now outcome) (text string, whole bool) {
	text, _ = parts(p.run.Content)
	at := clipped.FindStringSubmatch(text)
	if p.outcomeCut || at == nil || text == p.hiddenText(now.text) {
		return text, !p.outcomeCut
	}
	if at[2] == "" || p.fetch == nil {
		return text, false
	}
	kept, err := p.fetch(ctx, at[2])
	if err != nil {
		return text, false
	}
	return at[1] + kept, true
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

// outcome is how a run ended, as run_code words it.
type outcome struct {
	text, value string // the whole text for a model; the value of a success
	notes       string // on a success; those on a failure are in its text
	failed      bool
	kind        runtime.Kind // of a failure
	waiting     int          // calls that never started
}

// render words the outcome of a run.
func render(res runtime.Result) (outcome, error) {
	now := outcome{failed: res.Failure != nil, waiting: len(res.Usage.NotStarted)}
	if now.failed {
		now.kind = res.Failure.Kind
	}
	res.Usage = runtime.Usage{}
	reg, err := tools.NewRegistry()
	if err != nil {
		return now, err
	}
	cm, err := codemode.New(pipeline.New(reg, nil), &codemode.Options{Runtime: finished{res}, MaxText: math.MaxInt})
	if err != nil {
		return now, err
	}
	defer func() { _ = cm.Close() }()
	out := cm.Run(context.Background(), codemode.Program{Code: "replayed"})
	now.value = out.Value().String()
	now.text, now.notes = parts(out.Content())
	return now, nil
}

// parts are the text of an outcome and the notes that follow it, which are the last
// block.
func parts(blocks []tools.Content) (text, notes string) {
	if len(blocks) == 0 {
		return "", ""
	}
	if last := blocks[len(blocks)-1]; len(blocks) > 1 && strings.HasPrefix(last.Text, "note: ") {
		notes = last.Text
	}
	return blocks[0].Text, notes
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
