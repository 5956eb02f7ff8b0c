package tools

import "context"

// Result is what a tool body returns: the value programs compute with and,
// when the body wants another text than the rendered value, the blocks a model
// reads. Both may be left zero.
type Result struct {
	Value   JSON      // zero: no value, which a program sees as undefined
	Content []Content // nil: rendered from Value when somebody needs it
	Detail  any       // host side only: never logged, never seen by a model or a program
}

// Handler is a tool's body. It must watch ctx and return soon after its end: the
// call waits for it, unless it was made by a program whose run is over, which
// abandons the body after a time (see pipeline.Request.Over). A panic becomes an
// error result. Handlers of concurrent tools must be safe for concurrent use, and
// so must those of all others as far as a body that was abandoned may run on
// beside the next one.
type Handler func(ctx context.Context, run *Run) (Result, error)

// Run is the body's handle on its execution. It is valid until the body returns
// or is abandoned. Holding it is what permits nested calls under this execution
// (see pipeline.Request.Parent), so a body must not hand it to code it does not
// trust. Its methods are safe for concurrent use.
type Run struct {
	call  Call
	hooks RunHooks
}

// RunHooks connects a Run to what executes it. Nil fields do nothing.
type RunHooks struct {
	Defer    func(Message) bool // false: the handle is not valid any more
	Conclude func()
	Progress func(Progress)
}

// NewRun makes the handle for one body start. The pipeline is its normal user,
// tests of handlers the other.
func NewRun(call Call, hooks RunHooks) *Run { return &Run{call: call, hooks: hooks} }

// Call is the call being executed.
func (r *Run) Call() Call { return r.call }

// Args is the call's canonical arguments.
func (r *Run) Args() JSON { return r.call.Args() }

// Defer adds a message for the next model request, to follow this call's
// result. It reports false, and does nothing, once the handle is not valid. What
// a failed attempt deferred does not reach the next attempt.
func (r *Run) Defer(m Message) bool {
	if r.hooks.Defer == nil {
		return false
	}
	return r.hooks.Defer(m)
}

// Conclude asks the agent loop to stop after this batch, if the call succeeds.
func (r *Run) Conclude() {
	if r.hooks.Conclude != nil {
		r.hooks.Conclude()
	}
}

// Progress is how far a body has come. Total zero means unknown.
type Progress struct {
	Done, Total float64
	Message     string
}

// Progress reports to whoever watches the call. It never blocks for long and
// may be dropped.
func (r *Run) Progress(p Progress) {
	if r.hooks.Progress != nil {
		r.hooks.Progress(p)
	}
}
