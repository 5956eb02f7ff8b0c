package gojavm

import (
	"context"
	"fmt"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// Codes of calls that fail here and not in the host.
const (
	codeInvalidArgs = "INVALID_ARGS"
	codeArgsSize    = "ARGUMENT_TOO_LARGE"
	codeResult      = "INVALID_TOOL_OUTPUT"
	codeResultSize  = "RESULT_TOO_LARGE"
	codeAborted     = "ABORTED"
	codeTimeout     = "TOOL_TIMEOUT"
	codeUnknown     = "UNKNOWN_TOOL"
)

// call is one call a program made. It waits in the queue, is out with the host,
// and is answered. The engine's goroutine owns it, except what the host's
// goroutine fills before it puts the call into the inbox.
type call struct {
	owner    *boundNamespace
	member   string
	number   int // in order of submission, from 1
	sequence int // in order of handing out, from 1
	args     string
	site     runtime.Site
	stack    []goja.StackFrame
	resolve  func(any) error
	reject   func(any) error

	timeout  time.Duration // zero: none
	timer    *timer
	unlisten func()          // from the abort signal
	out      bool            // with the host
	over     bool            // the program has been answered
	ctx      context.Context // of the call with the host
	cancel   context.CancelCauseFunc
	held     int64 // bytes counted for it

	answered bool // by the host; guarded by run.mu
	reply    runtime.Reply
	err      error
}

// label is how texts name the call's function.
func (c *call) label() string { return c.owner.spell(c.member) }

// submit queues a call and hands it out when there is room. It says whether the
// run goes on.
func (r *run) submit(c *call) bool {
	r.mu.Lock()
	if r.settled {
		r.mu.Unlock()
		return false
	}
	r.made++
	c.number = r.made
	over := r.made > r.lim.Calls
	heavy, crowded := r.hold(c, len(c.args))
	r.mu.Unlock()
	switch {
	case over:
		r.stopWith(r.placed(runtime.Failure{
			Kind:    runtime.CallLimit,
			Message: fmt.Sprintf("call limit reached (%d calls)", r.lim.Calls),
			Hint:    "ask for more in one call instead of many small ones",
		}, c.site))
		return false
	case heavy, crowded:
		r.stopWith(r.placed(r.tooManyBytes(heavy), c.site))
		return false
	}
	r.mu.Lock()
	r.queue = append(r.queue, c)
	r.mu.Unlock()
	r.pump()
	return true
}

// hold counts bytes for a call, with r.mu held, and says which bound they break.
func (r *run) hold(c *call, size int) (own, process bool) {
	c.held += int64(size)
	r.bytes += int64(size)
	total := r.rt.bytes.Add(int64(size))
	return r.bytes > r.lim.Bytes, total > r.rt.opts.MaxBytes
}

func (r *run) tooManyBytes(own bool) runtime.Failure {
	limit, whose := r.lim.Bytes, "this run"
	if !own {
		limit, whose = r.rt.opts.MaxBytes, "all runs of this process"
	}
	return runtime.Failure{
		Kind:    runtime.BytesLimit,
		Message: fmt.Sprintf("arguments and results in flight of %s exceed %d bytes", whose, limit),
		Hint:    "await calls in smaller groups",
	}
}

// pump hands out queued calls while there is room.
func (r *run) pump() {
	for !r.cancelled() {
		r.mu.Lock()
		if r.settled || r.failure != nil || r.active >= r.req.Parallel || len(r.queue) == 0 {
			r.mu.Unlock()
			return
		}
		c := takeFirst(&r.queue)
		r.active++
		r.usage.Calls++
		c.sequence = r.usage.Calls
		r.usage.BytesOut += int64(len(c.args))
		h := r.takeHand()
		r.mu.Unlock()
		r.handOut(c, h)
	}
}

// takeFirst takes the first call of a queue that has one. A queue that is empty
// then keeps its room, for most have one call at a time.
func takeFirst(queue *[]*call) *call {
	q := *queue
	c := q[0]
	q[0] = nil
	if len(q) == 1 {
		*queue = q[:0]
	} else {
		*queue = q[1:]
	}
	return c
}

// handOut gives a call to the host, by the hand that was taken for it.
func (r *run) handOut(c *call, h *hand) {
	c.ctx, c.cancel = context.WithCancelCause(r.ctx)
	c.out = true
	if c.timeout > 0 {
		r.startTimeout(c)
	}
	h.call = c
	h.next <- struct{}{}
}

// startTimeout ends a call after its timeout.
func (r *run) startTimeout(c *call) {
	failure := &runtime.CallError{Code: codeTimeout, Message: c.label() + " timed out after " + runtime.Milliseconds(c.timeout)}
	// The timer tells the program; the context also ends the call when the
	// program has returned and no timer runs any more.
	timed, stop := context.WithTimeoutCause(c.ctx, c.timeout, failure)
	cancel := c.cancel
	c.ctx, c.cancel = timed, func(cause error) { cancel(cause); stop() }
	c.timer = r.timers.add(c.timeout, 0, func() error { return r.abort(c, failure.Code, failure.Message) })
}

// arrived puts a call into the inbox with its first answer, from any goroutine of
// the host's. It says whether h, the hand that has made the call and is free again,
// waits for another one; h is nil for an answer that comes by itself.
func (r *run) arrived(c *call, reply runtime.Reply, err error, h *hand) (waits bool) {
	if err != nil {
		if failure, ok := context.Cause(c.ctx).(*runtime.CallError); ok {
			err = failure
		}
	}
	r.mu.Lock()
	if waits = h != nil && !r.settled; waits {
		r.idleHands = append(r.idleHands, h) // before the program can make its next call
	}
	if c.answered {
		r.mu.Unlock()
		return waits
	}
	c.answered, c.reply, c.err = true, reply, err
	heavy, crowded := r.hold(c, len(reply.Value))
	r.inbox = append(r.inbox, c)
	r.mu.Unlock()
	if heavy || crowded {
		r.stopWith(r.placed(r.tooManyBytes(heavy), c.site))
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return waits
}

// answered takes the next call from the inbox, or nil.
func (r *run) answered() *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inbox) == 0 {
		return nil
	}
	c := takeFirst(&r.inbox)
	r.active--
	if c.over {
		r.givenUp--
	}
	return c
}

// forget ends the accounts of a call.
func (r *run) forget(c *call) {
	if c.cancel != nil {
		c.cancel(errOver)
	}
	if c.timer != nil {
		r.timers.remove(c.timer.id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.released {
		r.bytes -= c.held
		r.rt.bytes.Add(-c.held)
		c.held = 0
	}
}

// release ends the accounts of calls that were never forgotten.
func (r *run) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rt.bytes.Add(-r.bytes)
	r.bytes, r.released = 0, true
}

// settle answers the program. It runs in a turn. The accounts end before the
// program goes on, which may make its next call at once.
func (r *run) settle(c *call) error {
	if c.over {
		r.forget(c)
		return nil // it was cancelled, and the program knows
	}
	r.finish(c)
	r.show(c.reply.Time)
	var value goja.Value
	err := c.err
	if err == nil {
		value, err = r.decode(c)
	}
	r.forget(c)
	if err != nil {
		if jsvalue.Uncatchable(err) {
			return err
		}
		return c.reject(r.newCallError(c, err))
	}
	r.mu.Lock()
	r.usage.BytesIn += int64(len(c.reply.Value))
	r.mu.Unlock()
	return c.resolve(value)
}

// finish marks a call as answered and drops its listener.
func (r *run) finish(c *call) {
	c.over = true
	if c.unlisten != nil {
		c.unlisten()
		c.unlisten = nil
	}
}

// decode makes the value the program gets.
func (r *run) decode(c *call) (goja.Value, error) {
	text := c.reply.Value
	if len(text) > r.lim.Result {
		return nil, &runtime.CallError{
			Code:    codeResultSize,
			Message: fmt.Sprintf("the result of %s is %d bytes; the result limit is %d bytes", c.label(), len(text), r.lim.Result),
		}
	}
	value, err := jsvalue.Decode(r.vm, text, jsvalue.DecodeOptions{Bytes: r.lim.Result, Nodes: r.lim.ResultNodes})
	if err == nil {
		return value, nil
	}
	if jsvalue.Uncatchable(err) {
		return nil, err
	}
	code := codeResult
	if e, ok := err.(*jsvalue.RangeError); ok && e.Limit == jsvalue.LimitNodes {
		return nil, &runtime.CallError{
			Code:    codeResultSize,
			Message: fmt.Sprintf("the result of %s holds more than %d values (the limit of result nodes); it is %d bytes", c.label(), r.lim.ResultNodes, len(text)),
		}
	}
	return nil, &runtime.CallError{Code: code, Message: fmt.Sprintf("the result of %s cannot be used: %v", c.label(), err)}
}

// abort answers a call with a failure before the host does: a queued call is
// dropped, one that is out is cancelled. Its place in the lane is free once the
// host has returned.
func (r *run) abort(c *call, code, message string) error {
	if c.over {
		return nil
	}
	r.finish(c)
	failure := &runtime.CallError{Code: code, Message: message}
	if c.out {
		r.givenUp++
		c.cancel(failure)
	} else {
		r.dequeue(c)
		r.forget(c)
	}
	return c.reject(r.newCallError(c, failure))
}

func (r *run) dequeue(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, queued := range r.queue {
		if queued == c {
			r.queue = append(r.queue[:i:i], r.queue[i+1:]...)
			return
		}
	}
}

// maxLooseNotes is how many calls nobody awaited get a note of their own.
const maxLooseNotes = 10

// noteLoose tells how a call ended that nobody awaited.
func (r *run) noteLoose(c *call, n int) {
	if n > maxLooseNotes {
		return
	}
	outcome := "it succeeded"
	if c.err != nil {
		outcome = "it failed: " + shorten(c.err.Error(), 500)
	}
	r.note(fmt.Sprintf("call %d, %s, was not awaited when the program returned; %s", c.number, c.label(), outcome))
}

func looseRest(n int) string {
	return fmt.Sprintf("%d further calls were not awaited when the program returned", n)
}
