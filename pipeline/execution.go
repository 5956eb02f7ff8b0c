package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// route says what a call does next.
type route uint8

const (
	toPrepare  route = iota // policy has not been through with it
	toDispatch              // the body may run
	toPost                  // post-execute sees the result
	toFinish                // the result is final: post-execute is skipped
)

// execution is the record of one call on its way through the stages. One
// goroutine at a time drives it; only mu's fields are touched by wrappers'
// goroutines.
type execution struct {
	p         *Pipeline
	req       Request
	ctx       context.Context // the caller's: cancellation always asks this one, whatever wrappers pass on
	call      tools.Call
	tool      *tools.Tool // what the name meant when the call was made; nil: unknown
	finalizer func(tools.Call, tools.Final) ([]tools.Content, bool)
	scopes    []any     // the agent and its ancestors
	parent    *attempt  // the body that made a nested call
	host      *attempt  // the body with whose context a call without a parent was made
	ends      ends      // of the wait for the call
	declined  *declined // ownDeclined of the outermost call
	asked     *Decision // the ask a person has granted
	faulty    error     // what is wrong with the request
	outcast   bool      // the parent was refused: no log, no observers
	started   time.Time
	callSeq   uint64 // of the event that announced the call

	step       sync.Mutex // held while a scheduler takes a step; guards the two
	dispatched bool
	committed  bool

	route  route
	result Result

	mu    sync.Mutex
	last  *attempt        // the latest body start, nil for none
	spent bool            // the grant of asked has let a body start
	gone  *AbandonedError // of a body that was abandoned

	// What most calls have one of stands here, so that a call is few objects.
	ownDeclined declined
	staged      Staged
	first       attempt // the first body start
	settled     outcome // never changed once it is handed out
}

// then leaves a result for the given stage.
func (x *execution) then(next route, r Result) { x.route, x.result = next, r }

// finally leaves a failure that post-execute does not see.
func (x *execution) finally(err error) { x.then(toFinish, Failure(err)) }

// orAbort is err, or an abort if err is only the end of the caller's context
// handed on.
func (x *execution) orAbort(err error) error {
	if isAbortOf(x.ctx, err) {
		return aborted(x.ctx, x.bodyRan())
	}
	x.p.logIfPanic(err, x.call)
	return err
}

// settleCrash ends the call with a failure if its own machinery, or foreign
// code at a place nobody expected, panics. It is deferred.
func (x *execution) settleCrash(where string) {
	if r := recover(); r != nil {
		err := panicked(where, r)
		x.p.logPanic(err, x.call)
		x.finally(err)
	}
}

// settleExit ends a call whose foreign code left the goroutine (runtime.Goexit,
// which t.FailNow calls) instead of returning, so that the call is still at the
// given stage. It is deferred.
func (x *execution) settleExit(stage route) {
	if x.route == stage {
		err := &tools.PanicError{Where: fmt.Sprintf("tool %q", x.call.Name()), Value: errGoexit}
		x.p.logPanic(err, x.call)
		x.finally(err)
	}
}

var errGoexit = errors.New("the call's goroutine was ended by runtime.Goexit")

// contain reports a panic of foreign code whose answer nobody waits for. It is
// deferred.
func (x *execution) contain(where string) {
	if r := recover(); r != nil {
		x.p.logPanic(panicked(where, r), x.call)
	}
}

func (x *execution) bodyRan() bool { return x.lastAttempt() != nil }

// takeGrant reports whether a person's grant is there for the body that is
// about to start. It is for the first to ask: wrappers may start several.
func (x *execution) takeGrant() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := !x.spent
	x.spent = true
	return taken
}

func (x *execution) lastAttempt() *attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.last
}

// attempt is one start of a body. Its contexts and conclusion belong to it
// alone, so a retry does not inherit what a failed attempt left.
type attempt struct {
	x     *execution
	run   tools.Run // its address is the handle the body holds
	below below
	away  detached // if the body runs on another goroutine
	made  core     // of the first value that became a result

	mu        sync.Mutex
	contexts  []tools.Message
	concluded bool
	over      bool
	runners   []*runner // that wait for the next call nested under the body
}

func (x *execution) newAttempt() *attempt {
	a := x.nextAttempt()
	hooks := tools.RunHooks{Defer: a.deferContext, Conclude: a.conclude}
	if x.p.opts.Progress != nil {
		hooks.Progress = a.progress
	}
	a.run = *tools.NewRun(x.call, hooks)
	x.p.live.add(a)
	return a
}

func (x *execution) nextAttempt() *attempt {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := &x.first
	if x.last != nil {
		a = &attempt{}
	}
	a.x, x.last = x, a
	return a
}

// end closes the handle: nothing can be deferred on it, reported through it or
// nested under it now.
func (a *attempt) end() {
	a.x.p.live.remove(a)
	a.mu.Lock()
	a.over = true
	a.dismissRunners()
	a.mu.Unlock()
}

func (a *attempt) deferContext(m tools.Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return false
	}
	m.Content = slices.Clone(m.Content)
	a.contexts = append(a.contexts, m)
	return true
}

func (a *attempt) conclude() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.concluded = true
	}
}

func (a *attempt) progress(report tools.Progress) {
	if a.isOver() {
		return
	}
	defer a.x.contain("Progress")
	a.x.p.opts.Progress(a.x.call, report)
}

func (a *attempt) isOver() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// deferred is what the body deferred; a may be nil.
func (a *attempt) deferred() []tools.Message {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return cloneMessages(a.contexts)
}

// concludes may be asked of a nil attempt.
func (a *attempt) concludes() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.concluded
}
