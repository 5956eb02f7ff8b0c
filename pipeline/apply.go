package pipeline

import (
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

func noPostDecision(name string) error {
	return fmt.Errorf("post-execute listener %q returned no decision; use Accept, AcceptContent, AcceptValue or Block", name)
}

var (
	errFailedValue = errors.New("tools/post-execute cannot replace the value of a failed result")
	errBlocked     = errors.New("tool result blocked by post-execute policy")
)

// applyPost is the result after a post-execute decision.
func (x *execution) applyPost(d PostDecision) Result {
	r := x.result
	if d.kind == postBlock {
		return Result{core: blocked(d.content), contexts: d.contexts}
	}
	if d.hasValue {
		if r.IsError() {
			return Failure(errFailedValue)
		}
		r.core = x.replaceValue(r.core, d.value)
	}
	if d.hasContent && (!d.hasValue || r.core.err == nil) { // the blocks are of the value that failed
		r.core = r.get().withContent(d.content)
	}
	return r.WithContexts(d.contexts...)
}

// blocked is the failure a Block makes: the model reads the feedback as it is.
func blocked(feedback []tools.Content) *core {
	if len(feedback) == 0 {
		return failure(errBlocked)
	}
	c := failure(errors.New(tools.ContentString(feedback)))
	c.blocks = feedback
	return c
}

// replaceValue is old with another value, checked and rendered like a body's.
func (x *execution) replaceValue(old *core, value tools.JSON) *core {
	tool, err := x.current()
	if err != nil {
		return failure(err)
	}
	return x.substitute(tool, old.attempt, tools.Result{Value: value, Detail: old.detail})
}

// finalize lets the tool shape the blocks of any outcome, once.
func (x *execution) finalize() {
	if x.finalizer == nil {
		return
	}
	where := fmt.Sprintf("the finalizer of tool %q", x.call.Name())
	began, decision := x.clock(), "error"
	defer func() { x.record(StageFinalize, "", decision, x.result.get().message, began) }()
	defer x.settleCrash(where)
	r := x.result
	x.finally(&tools.PanicError{Where: where, Value: errGoexit}) // which stands if the finalizer does not come back
	blocks, replaced := x.finalizer(x.call, tools.Final{
		IsError: r.IsError(), Content: r.Content(), Value: r.Value(), Err: r.Err(), Detail: r.Detail(),
	})
	x.result, decision = r, "keep"
	if replaced {
		decision = "replace"
		x.result.core = r.get().withContent(blocks)
	}
}

// outcome is how the call ended, once the record is closed.
func (x *execution) outcome() Outcome { return Outcome{&x.settled} }

// close closes the record: contexts get their ids and go where they belong.
func (x *execution) close() {
	o := &x.settled
	*o = outcome{call: x.call, result: x.result, started: x.started, state: x.state()}
	o.result.contexts = x.p.identified(x.result.contexts)
	if x.parent != nil {
		o.dropped = x.handUp(&o.result)
	}
	o.took = x.p.now().Sub(x.started)
}

// handUp gives the parent what a nested call leaves for it, and counts the
// contexts that go nowhere.
func (x *execution) handUp(r *Result) (dropped int) {
	if r.Concludes() {
		x.parent.conclude()
	}
	kept := r.contexts[:0:0]
	for _, m := range r.contexts {
		if !x.req.DropContexts && x.parent.deferContext(m) {
			kept = append(kept, m)
		}
	}
	dropped = len(r.contexts) - len(kept)
	r.contexts = kept
	return dropped
}

func (x *execution) state() State {
	switch err := x.result.Err(); {
	case err == nil:
		return StateDone
	case !x.bodyRan():
		return StateNotStarted
	case x.abandoned() != nil:
		return StateAbandoned
	case has[*AbortError](err):
		return StateAborted
	}
	return StateFailed
}

// identified gives messages an id and a role where they have none.
func (p *Pipeline) identified(messages []tools.Message) []tools.Message {
	out := cloneMessages(messages)
	for i := range out {
		if out[i].ID == "" {
			out[i].ID = p.newID()
		}
		if out[i].Role == "" {
			out[i].Role = "user"
		}
	}
	return out
}
