package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// player answers the calls of a program from a log.
type player struct {
	run        *trace.Call
	fetch      trace.Fetch
	outcomeCut bool
	running    context.Context         // of the program
	cancel     context.CancelCauseFunc // nil before it runs

	mu          sync.Mutex
	changed     *sync.Cond
	turn        int          // the Seq that is compared next
	calls       int          // made so far
	lookUps     int          // touched by whose turn it is
	overlapping bool         // several calls were out at once in the record
	released    int          // results that have been given out
	waiting     map[int]bool // the numbers of calls that wait for the results before theirs
	now         time.Time    // of the program's clock
	verdict     Verdict
	at, line    int
	what, diff  string
	assumptions []string
}

// errOver ends a program that has nothing more to show.
var errOver = errors.New("the replay is over")

func newPlayer(run *trace.Call, fetch trace.Fetch) *player {
	p := &player{run: run, fetch: fetch, turn: 1, waiting: map[int]bool{}, now: run.Started}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// finish notes the first verdict and ends the program.
func (p *player) finish(v Verdict, call, line int, what, diff string) {
	p.mu.Lock()
	if p.verdict == "" {
		p.verdict, p.at, p.line, p.what, p.diff = v, call, line, what, diff
	}
	p.mu.Unlock()
	if p.cancel != nil {
		p.cancel(errOver)
	}
}

// assume notes once what the log does not say.
func (p *player) assume(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.assumptions, what) {
		p.assumptions = append(p.assumptions, what)
	}
}

func (p *player) report() *Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.calls
	if p.verdict != Identical && p.at > 0 {
		same = min(same, p.at-1)
	}
	return &Report{
		Verdict: p.verdict, CallID: p.run.ID, Calls: same, Call: p.at, Line: p.line,
		What: p.what, Diff: p.diff, Assumptions: slices.Clone(p.assumptions),
	}
}

// seed and input are what the program takes from the world around it, as far as
// the log has it.
func (p *player) seed() uint64 {
	if w := p.run.World; w != nil {
		p.now = w.Start
		return w.Seed
	}
	p.assume("the log does not have the program's world (an event code/world): its clock begins when the call began and moves on with the results, its random numbers are those of the seed 0, and it has no input")
	return 0
}

func (p *player) input() string {
	if w := p.run.World; w != nil {
		return w.Input.String()
	}
	return ""
}

// clock stands still while the program computes, and moves on to the time of
// each result that is given out.
func (p *player) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// parallel finds out how many calls were out at once in the record.
func (p *player) parallel() int {
	most := 1
	for i, c := range p.run.Calls {
		out := 1
		for _, before := range p.run.Calls[max(i-runtime.MaxParallel, 0):i] {
			if before.Rank == 0 || before.Ended.After(c.Started) {
				out++
			}
		}
		most = max(most, out)
	}
	p.overlapping = most > 1
	return min(most, runtime.MaxParallel)
}

// call answers one call of a tool.
func (p *player) call(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	recorded, n := p.take(inv)
	if recorded == nil {
		return runtime.Reply{}, errOver
	}
	return p.answer(ctx, recorded, n, inv)
}

// take compares a call with the recorded one, which it returns, nil if the
// replay is over. Calls are compared in the order in which the program made
// them; one that it has given up meanwhile was made too.
func (p *player) take(inv runtime.Invocation) (recorded *trace.Call, n int) {
	if !p.myTurn(inv) {
		return nil, 0
	}
	defer p.pass()
	p.mu.Lock()
	p.calls++
	n = p.calls
	p.mu.Unlock()
	if n > len(p.run.Calls) {
		p.finish(Diverged, n, inv.Site.Line, fmt.Sprintf("the program calls %s with %s, and no further call is recorded", inv.Member, shorten(inv.Args)), "")
		return nil, 0
	}
	recorded = p.run.Calls[n-1]
	if err := recorded.Restore(p.running, p.fetch); err != nil {
		p.finish(Incomplete, n, inv.Site.Line, fmt.Sprintf("the replay cannot go on: %v", err), "")
		return nil, 0
	}
	if !p.same(recorded, n, inv) {
		return nil, 0
	}
	return recorded, n
}

// myTurn waits until all calls before this one have been compared.
func (p *player) myTurn(inv runtime.Invocation) bool {
	return p.wait(p.running, func() bool { return p.turn == inv.Seq })
}

// pass gives the turn to the next call.
func (p *player) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn++
	p.changed.Broadcast()
}

// wait waits until something is so, or ctx ends.
func (p *player) wait(ctx context.Context, so func() bool) bool {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !so() {
		if ctx.Err() != nil {
			return false
		}
		p.changed.Wait()
	}
	return ctx.Err() == nil
}

// same compares a call with the recorded one.
func (p *player) same(recorded *trace.Call, n int, inv runtime.Invocation) bool {
	if recorded.Tool != inv.Member {
		p.finish(Diverged, n, inv.Site.Line, fmt.Sprintf("the program calls %s, recorded is %s", inv.Member, recorded.Tool),
			diff(recorded.Tool+" "+pretty(recorded.Arguments.String()), inv.Member+" "+pretty(inv.Args)))
		return false
	}
	if want, made := sorted(recorded.Arguments.String()), sorted(inv.Args); want != made {
		p.finish(Diverged, n, inv.Site.Line, fmt.Sprintf("the program calls %s with other arguments", inv.Member), diff(pretty(want), pretty(made)))
		return false
	}
	return true
}

// answer is the recorded result, when its turn has come.
func (p *player) answer(ctx context.Context, recorded *trace.Call, n int, inv runtime.Invocation) (runtime.Reply, error) {
	switch {
	case recorded.State == trace.StateOpen:
		p.finish(Incomplete, n, inv.Site.Line, fmt.Sprintf("the log has no result of this call of %s", recorded.Tool), "")
		return runtime.Reply{}, errOver
	case endedEarly(recorded):
		if p.run.Failure != nil {
			p.assume(fmt.Sprintf("call %d was ended from outside in the recorded run, and so is the replay", n))
			p.finish(Identical, n, inv.Site.Line, "", "")
			return runtime.Reply{}, errOver
		}
		<-ctx.Done() // the program gives the call up, as it did
		p.advance(recorded)
		p.release(recorded, n)
	default:
		if !p.inOrder(ctx, recorded, n) {
			return runtime.Reply{}, errOver
		}
	}
	if f := recorded.Failure; f != nil {
		e := &runtime.CallError{Message: f.Message, Code: f.Code, CallID: recorded.ID}
		if f.Origin != "" || f.By != "" {
			e.Extra = map[string]string{"origin": f.Origin, "by": f.By}
		}
		return runtime.Reply{}, e
	}
	return runtime.Reply{Value: p.value(recorded)}, nil
}

// endedEarly reports whether a call was given up, by the program or with the run.
func endedEarly(c *trace.Call) bool {
	return c.State == pipeline.StateAborted || c.State == pipeline.StateAbandoned ||
		c.Failure != nil && c.Failure.Code == tools.CodeAbortedBeforeDispatch
}

// inOrder waits until the program has taken the results that came before this
// one. A runtime ends the context of a call when its result is taken, or when
// the program gives it up.
func (p *player) inOrder(ctx context.Context, recorded *trace.Call, n int) bool {
	p.mu.Lock()
	p.waiting[n] = true
	p.mu.Unlock()
	ok := p.wait(ctx, func() bool { return p.released >= recorded.Rank-1 })
	switch {
	case over(ctx): // what waited still waits, for stuckOn to see
	case ok && p.overlapping:
		p.advance(recorded)
		context.AfterFunc(ctx, func() { p.release(recorded, n) })
	default:
		p.advance(recorded)
		p.release(recorded, n)
	}
	return ok
}

// over reports whether the run a call belongs to is ending.
func over(ctx context.Context) bool {
	select {
	case <-runtime.Over(ctx):
		return true
	default:
		return false
	}
}

// advance moves the program's clock on to the time of a result.
func (p *player) advance(recorded *trace.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if recorded.Ended.After(p.now) {
		p.now = recorded.Ended
	}
}

// release lets the results go that come after this one.
func (p *player) release(recorded *trace.Call, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, n)
	p.released = max(p.released, recorded.Rank)
	p.changed.Broadcast()
}

// stuckOn says which calls wait for results of calls the program has not made.
func (p *player) stuckOn() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.run.Calls {
		if c.Rank == p.released+1 && len(p.waiting) > 0 && c.N > p.calls {
			return fmt.Sprintf("call %d had its result first in the record, and the program does not make it before it has others", c.N)
		}
	}
	return ""
}

// value is what the program is given. A log without values has what a model
// reads; of most tools that is the value.
func (p *player) value(c *trace.Call) string {
	if !c.Value.IsZero() {
		return c.Value.String()
	}
	if len(c.Content) == 0 {
		return ""
	}
	p.assume("the log has no values of results: a result text that is JSON is taken for JSON, any other for a string")
	text := c.Text()
	if value, err := tools.ParseJSON(text); err == nil {
		return value.String()
	}
	return tools.StringJSON(text).String()
}

// lookUp answers one question to the catalog.
func (p *player) lookUp(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	if !p.myTurn(inv) {
		return runtime.Reply{}, errOver
	}
	defer p.pass()
	p.lookUps++
	if p.lookUps > len(p.run.Lookups) {
		p.finish(Diverged, 0, inv.Site.Line, fmt.Sprintf("the program asks catalog.%s with %s, and no further look-up is recorded", inv.Member, shorten(inv.Args)), "")
		return runtime.Reply{}, errOver
	}
	recorded := p.run.Lookups[p.lookUps-1]
	if want, made := sorted(recorded.Arguments.String()), sorted(inv.Args); recorded.Member != inv.Member || want != made {
		p.finish(Diverged, 0, inv.Site.Line, fmt.Sprintf("look-up %d of the catalog is another one", p.lookUps),
			diff(recorded.Member+" "+pretty(want), inv.Member+" "+pretty(made)))
		return runtime.Reply{}, errOver
	}
	if recorded.Error != "" {
		return runtime.Reply{}, &runtime.CallError{Message: recorded.Error, Code: tools.CodeInvalidArgs}
	}
	return runtime.Reply{Value: recorded.Result.String()}, nil
}

// sorted is JSON with the members of objects in order, numbers and strings as
// they are.
func sorted(text string) string {
	value := jsontext.Value(text)
	if err := value.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return text
	}
	return string(value)
}

// pretty is JSON over several lines.
func pretty(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// shorten is the beginning of a text.
func shorten(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
