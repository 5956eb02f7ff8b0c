package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	redact     func(tools.JSON) tools.JSON
	paced      bool // results come no sooner than they did
	outcomeCut bool
	running    context.Context         // of the program
	cancel     context.CancelCauseFunc // nil before it runs

	mu          sync.Mutex
	changed     *sync.Cond
	turn        int          // the Seq that is compared next
	calls       int          // made so far
	lookUps     int          // touched by whose turn it is
	released    int          // results that have been given out
	waiting     map[int]bool // the numbers of calls that wait for the results before theirs
	verdict     Verdict
	at, line    int
	what, diff  string
	assumptions []string
}

// noOutcome is what is said of a run that has not ended in the log.
const noOutcome = "the log has no outcome of the run; up to its last call it is the same"

// errOver ends a program that has nothing more to show.
var errOver = errors.New("the replay is over")

func newPlayer(run *trace.Call, o Options) *player {
	p := &player{run: run, fetch: o.Fetch, redact: o.Redact, turn: 1, waiting: map[int]bool{}}
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
	same := min(p.calls, len(p.run.Calls))
	if p.verdict != Identical && p.at > 0 {
		same = min(same, p.at-1)
	}
	return &Report{
		Verdict: p.verdict, CallID: p.run.ID, Calls: same, Call: p.at, Line: p.line,
		What: p.what, Diff: p.diff, Assumptions: slices.Clone(p.assumptions),
	}
}

// world is what the program takes from the world around it, as far as the log has
// it.
func (p *player) world(ctx context.Context) *trace.World {
	if p.run.World == nil {
		p.assume("the log does not have the program's world (an event code/world): its clock begins when the call began and moves on with the results, its random numbers are those of the seed 0, and it has no input and no tools but those it called")
		return &trace.World{Start: p.run.Started}
	}
	if err := p.run.RestoreWorld(ctx, p.fetch); err != nil {
		p.finish(Incomplete, 0, 0, err.Error(), "")
	}
	w := p.run.World
	p.noteRedacted(p.run.Program + w.Input.String())
	if here := w.Start.Local().Format("MST -07:00"); w.Zone != "" && w.Zone != here {
		p.assume(fmt.Sprintf("dates are shown in the time zone of this machine, %s; the recorded run was in %s", here, w.Zone))
	}
	return w
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
		switch waiting := p.neverStarted(); {
		case p.run.State == trace.StateOpen:
			p.finish(Incomplete, 0, 0, noOutcome, "")
			return nil, 0
		case p.endedFromOutside():
			p.outside()
			return nil, 0
		case n-len(p.run.Calls) <= len(waiting) && waiting[n-len(p.run.Calls)-1] == inv.Member:
			return nil, 0 // the program failed before it was handed out, as it will
		}
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
	p.noteRedacted(recorded.Value.String() + recorded.Text())
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
			diff(recorded.Tool+" "+pretty(recorded.Arguments.String()), inv.Member+" "+pretty(p.hidden(inv.Args))))
		return false
	}
	if want, made := sorted(recorded.Arguments.String()), sorted(p.hidden(inv.Args)); want != made {
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
		if p.endedFromOutside() && p.last(recorded) {
			p.outside()
			return runtime.Reply{}, errOver
		}
		<-ctx.Done() // the program gives the call up, as it did
		p.comesNext(ctx, recorded)
		p.release(recorded, n)
	default:
		return p.inOrder(ctx, recorded, n, inv.Answer)
	}
	return runtime.Reply{}, thrown(recorded)
}

// thrown is what a recorded failure throws, nil for a success.
func thrown(recorded *trace.Call) error {
	f := recorded.Failure
	if f == nil {
		return nil
	}
	e := &runtime.CallError{Message: f.Message, Code: f.Code, CallID: recorded.ID}
	if f.Origin != "" || f.By != "" {
		e.Extra = map[string]string{"origin": f.Origin, "by": f.By}
	}
	return e
}

// last reports whether nothing came after a call but others that were ended with
// the run.
func (p *player) last(c *trace.Call) bool {
	for _, other := range p.run.Calls {
		if other.Started.After(c.Ended) || other.Rank > c.Rank && !endedEarly(other) {
			return false
		}
	}
	return true
}

// endedEarly reports whether a call was given up, by the program or with the run.
func endedEarly(c *trace.Call) bool {
	return c.State == pipeline.StateAborted || c.State == pipeline.StateAbandoned ||
		c.Failure != nil && c.Failure.Code == tools.CodeAbortedBeforeDispatch
}

// inOrder gives the answer when its time has come and the results that came before
// it have been given.
func (p *player) inOrder(ctx context.Context, recorded *trace.Call, n int, early func(runtime.Reply, error)) (runtime.Reply, error) {
	p.mu.Lock()
	p.waiting[n] = true
	p.mu.Unlock()
	reply, err := runtime.Reply{Time: recorded.Settled}, thrown(recorded)
	if err == nil {
		reply.Value = p.value(recorded)
	}
	p.pace(ctx, recorded)
	if !p.comesNext(ctx, recorded) { // what waited still waits, for stuckOn to see
		return runtime.Reply{}, errOver
	}
	if early != nil {
		early(reply, err)
	}
	p.release(recorded, n)
	return reply, err
}

// comesNext waits for the results that came before a call's, which has its place
// among them also if the program has given it up. It reports false if the run ends
// first.
func (p *player) comesNext(call context.Context, recorded *trace.Call) bool {
	ctx, cancel := context.WithCancel(p.running)
	defer cancel()
	go func() {
		select {
		case <-runtime.Over(call):
			cancel()
		case <-ctx.Done():
		}
	}()
	return p.wait(ctx, func() bool { return p.released >= recorded.Rank-1 })
}

// timed finds what a program has that may come before a result.
var timed = regexp.MustCompile(`\b(?:setTimeout|setInterval|setImmediate|AbortSignal|timeoutMs)\b`)

// pace waits for as long as a call took, in a program in which timers may come
// first, unless the program gives it up.
func (p *player) pace(ctx context.Context, recorded *trace.Call) {
	if !p.paced {
		return
	}
	wait := time.NewTimer(recorded.Took)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
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
	if !c.Value.IsZero() || p.run.World != nil { // where values are logged, no value is one
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
	if want, made := sorted(recorded.Arguments.String()), sorted(p.hidden(inv.Args)); recorded.Member != inv.Member || want != made {
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

// noteRedacted says that a program is not given what it was given, if that is so.
func (p *player) noteRedacted(given string) {
	if strings.Contains(given, "[redacted") {
		p.assume("secrets were taken out of the log, and the program gets what stands in their place")
	}
}

// hidden is JSON as the log would have it.
func (p *player) hidden(text string) string {
	if p.redact == nil {
		return text
	}
	value, err := tools.ParseJSON(text)
	if err != nil {
		return text
	}
	return p.redact(value).String()
}
