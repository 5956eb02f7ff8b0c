package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// Answer is what an Approver says. The zero Answer is Unavailable.
type Answer uint8

// The answers. Only AllowedOnce and Granted let a call proceed.
const (
	Unavailable Answer = iota
	AllowedOnce
	Rejected
	Cancelled
	// Granted allows the call without anybody having been asked about it: by a
	// standing answer or a rule. It is no question for Options.MaxAsks.
	Granted

	unanswered // not an Approver's: the time was up
)

// String is the answer's name in the log, DSH's vocabulary and "granted".
func (a Answer) String() string {
	switch a {
	case AllowedOnce:
		return "allowed-once"
	case Rejected:
		return "rejected"
	case Cancelled:
		return "cancelled"
	case Granted:
		return "granted"
	}
	return "unavailable"
}

// ApprovalRequest is one question to an Approver. Call holds the full arguments
// and, of a call a program makes, its parent and its place in the program.
type ApprovalRequest struct {
	ID     string // of the question, as it stands in the log
	Call   tools.Call
	Reason string // the listener's, may be empty
	By     string // the listener that asks
}

// Digest is the SHA-256 of the canonical arguments in hexadecimal. A person who
// is shown a part of them can hold an answer to the whole by it.
func (a ApprovalRequest) Digest() string {
	sum := sha256.Sum256(a.Call.Args().Bytes())
	return hex.EncodeToString(sum[:])
}

// Approver answers for a person (or for a rule that stands in for one). An
// error, a panic or an unknown answer counts as Unavailable; the text of an
// error goes into the denial, which a model reads. When ctx ends the call
// settles at once and a later answer is discarded, so Approve should return soon
// after. Of an agent and those below it one question is open at a time: the
// others wait for their turn, and their time begins with it. Those of agents
// that have no ancestor in common are asked at the same time, from several
// goroutines. An approver that makes tool calls with its ctx is not asked about
// these: they are denied.
//
// In contrast to DSH calls without an agent are asked too; package approval
// chooses among several approvers, by agent too.
type Approver interface {
	Approve(ctx context.Context, ask ApprovalRequest) (Answer, error)
}

// ApproverFunc is a function as an Approver.
type ApproverFunc func(ctx context.Context, ask ApprovalRequest) (Answer, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, ask ApprovalRequest) (Answer, error) {
	return f(ctx, ask)
}

// maxRejections is how many refusals under one root call say that a person
// wants no more questions.
const maxRejections = 3

// declined remembers, for all calls under one root call, what a person has
// refused: a tool of the same name with the same arguments is not asked about
// again, also if its definition has changed, since a server could ask for ever by
// changing it; and after some refusals or many questions nothing is.
type declined struct {
	mu   sync.Mutex
	what map[declinedKey]*DeniedError
	asks int
}

type declinedKey struct {
	tool string
	args tools.JSON
}

// refusal is why a call is not asked about, nil for one that is.
func (d *declined) refusal(call tools.Call, by string, maxAsks int) *DeniedError {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.what[declinedKey{call.Name(), call.Args()}]; before != nil {
		return before
	}
	switch {
	case len(d.what) >= maxRejections:
		return unapproved(tools.CodeApprovalRejected, by, "tool %q requires approval, and the user is not asked again after rejecting %d calls; end the program and ask what is wanted", call.Name(), len(d.what))
	case d.asks >= maxAsks:
		return unapproved(tools.CodeApprovalUnavailable, by, "tool %q requires approval, and the user has been asked %d times by one call already; do the rest in another call", call.Name(), d.asks)
	}
	return nil
}

// count counts a question that has been put to somebody.
func (d *declined) count() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asks++
}

func (d *declined) remember(call tools.Call, err *DeniedError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.what == nil {
		d.what = map[declinedKey]*DeniedError{}
	}
	d.what[declinedKey{call.Name(), call.Args()}] = err
}

// unapproved is a denial for want of an answer that allows the call.
func unapproved(code, by, format string, args ...any) *DeniedError {
	return &DeniedError{Code: code, Origin: OriginApproval, By: by, Reason: fmt.Sprintf(format, args...)}
}

// approve asks for the call. It returns nil to go on, an *AbortError if ctx
// ended meanwhile, else a *DeniedError.
func (x *execution) approve(ctx context.Context, ask Decision) error {
	name := x.call.Name()
	switch {
	case x.p.opts.Approver == nil && ask.reason != "":
		return unapproved(tools.CodeApprovalUnavailable, ask.by, "%s", ask.reason)
	case x.p.opts.Approver == nil:
		return unapproved(tools.CodeApprovalUnavailable, ask.by, "tool %q requires approval (not yet supported)", name)
	case ctx.Value(askingKey{}) != nil:
		return unapproved(tools.CodeApprovalUnavailable, ask.by, "tool %q requires approval, and it is called on behalf of an approver, which cannot be asked meanwhile", name)
	}
	if denied := x.refusal(ask); denied != nil {
		return denied
	}
	if ctx.Err() == nil {
		defer x.pauseForApproval()()
		leave, err := x.p.asking.enter(ctx, x.session())
		if err != nil {
			return aborted(ctx, x.bodyRan())
		}
		defer leave()
		if denied := x.refusal(ask); denied != nil { // of a call that was asked about meanwhile
			return denied
		}
	}
	return x.ask(ctx, ask)
}

func (x *execution) refusal(ask Decision) *DeniedError {
	return x.declined.refusal(x.call, ask.by, x.p.opts.MaxAsks)
}

// askingKey marks the context of an approver.
type askingKey struct{}

// ask puts the question, whose turn it is, logs it and what became of it, and
// returns what approve does. A caller that has left is logged as a question
// that was cancelled, and nobody is asked.
func (x *execution) ask(ctx context.Context, ask Decision) error {
	began := x.clock()
	question := ApprovalRequest{ID: x.p.newID(), Call: x.call, Reason: ask.reason, By: ask.by}
	if err := x.p.journal.asked(question); err != nil {
		return x.denial(Unavailable, ask.by, err)
	}
	answer, err := Cancelled, error(nil)
	if ctx.Err() == nil {
		if answer, err = x.wait(ctx, question); answer != Granted {
			x.declined.count() // also for a caller that leaves, or a program could ask for ever
		}
	}
	left := ctx.Err() != nil && answer != Rejected // what comes too late counts for nothing
	if left {
		answer, err = Cancelled, nil
	}
	x.p.journal.decided(question, answer)
	x.record(StageApproval, ask.by, answer.String(), textOf(err), began)
	if left {
		return aborted(ctx, x.bodyRan())
	}
	return x.denial(answer, ask.by, err)
}

// denial is what an answer comes to, nil if it allows the call. The error is the
// approver's.
func (x *execution) denial(answer Answer, by string, err error) error {
	name := x.call.Name()
	switch answer {
	case AllowedOnce, Granted:
		return nil
	case Rejected:
		denied := unapproved(tools.CodeApprovalRejected, by, "the user rejected tool %q", name)
		x.declined.remember(x.call, denied)
		return denied
	case Cancelled:
		return unapproved(tools.CodeApprovalCancelled, by, "approval for tool %q was cancelled", name)
	case unanswered:
		return unapproved(tools.CodeApprovalUnavailable, by, "tool %q requires approval, and nobody answered within %v", name, x.p.opts.ApprovalTimeout)
	}
	because := ""
	if err != nil {
		because = ": " + textOf(err)
	}
	return unapproved(tools.CodeApprovalUnavailable, by, "tool %q requires approval, but no approval channel is available%s", name, because)
}

// session is the topmost agent, of whose calls one is asked about at a time.
func (x *execution) session() any {
	if len(x.scopes) == 0 {
		return nil
	}
	return x.scopes[len(x.scopes)-1]
}

// wait waits for the approver, for the end of ctx or for the end of the time a
// question may stay open, whichever comes first. The error is the approver's;
// the answer is Unavailable then.
func (x *execution) wait(ctx context.Context, ask ApprovalRequest) (Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, askingKey{}, true), x.p.opts.ApprovalTimeout)
	defer cancel()
	replied := make(chan reply, 1)
	go func() {
		var r reply
		defer func() {
			if v := recover(); v != nil {
				x.p.logPanic(panicked("approver", v), x.call)
				r = reply{}
			}
			replied <- r
		}()
		answer, err := x.p.opts.Approver.Approve(ctx, ask)
		switch {
		case err != nil:
			x.p.log.Info("approver failed", "tool", x.call.Name(), "call", x.call.ID(), "error", textOf(err))
			r.err = err
		case answer < unanswered:
			r.answer = answer
		}
	}()
	select {
	case r := <-replied:
		return r.answer, r.err
	case <-ctx.Done():
		return unanswered, nil // unless the caller has left, which approve looks at
	}
}

// reply is what an Approver has returned.
type reply struct {
	answer Answer
	err    error
}

// pauseForApproval tells the caller that a person is being waited for; the
// result ends the pause.
func (x *execution) pauseForApproval() (resume func()) {
	if x.req.OnApproval == nil {
		return func() {}
	}
	resume = func() {}
	defer x.contain("OnApproval")
	end := x.req.OnApproval()
	return func() {
		if end != nil {
			defer x.contain("the function OnApproval returned")
			end()
		}
	}
}
