package pipeline

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// State says how far a call came.
type State string

// The states of a settled call.
const (
	StateDone       State = "done"        // it succeeded
	StateFailed     State = "failed"      // the body ran, the outcome is a failure
	StateAborted    State = "aborted"     // the body ran and the caller's context ended
	StateAbandoned  State = "abandoned"   // the body ran on although nobody waited for it any more (see Request.Over), and may still act
	StateNotStarted State = "not-started" // a failure, and no body ran: denied, bad arguments, unknown tool, aborted early
)

// Outcome is how a call ended. It is an immutable value but for Logged, and safe
// for concurrent use; the zero Outcome is a failure of an empty call.
type Outcome struct{ o *outcome }

type outcome struct {
	call    tools.Call
	result  Result
	state   State
	started time.Time
	took    time.Duration
	dropped int
	logged  atomic.Int64 // milliseconds since the epoch; the one field that is set later
}

var noOutcome outcome

func (o Outcome) get() *outcome {
	if o.o == nil {
		return &noOutcome
	}
	return o.o
}

// Call is the call.
func (o Outcome) Call() tools.Call { return o.get().call }

// IsError reports whether the call failed.
func (o Outcome) IsError() bool { return o.get().result.IsError() }

// Value is the canonical value of a success, the zero JSON for none.
func (o Outcome) Value() tools.JSON { return o.get().result.Value() }

// Content is a copy of the blocks a model reads.
func (o Outcome) Content() []tools.Content { return o.get().result.Content() }

// Images is the image blocks of Content. It renders nothing for a tool whose
// value is printed as text, so that asking is free for most calls.
func (o Outcome) Images() []tools.Content {
	c := o.get().result.get()
	if c.plain {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.content()), func(b tools.Content) bool { return b.Type != tools.ContentImage })
}

// Text is Content as one text.
func (o Outcome) Text() string { return tools.ContentString(o.get().result.get().content()) }

// Err is the failure, nil for a success. Its text has no "Error: " before it.
func (o Outcome) Err() error { return o.get().result.Err() }

// Message is the text of Err, "" for a success. It was read once, so that the
// model, a program and the log are told the same by an error whose text changes
// or whose Error method panics.
func (o Outcome) Message() string {
	if !o.IsError() {
		return ""
	}
	return o.get().result.get().message
}

// Info is the identity of the failure, zero for none.
func (o Outcome) Info() tools.ErrorInfo { return infoOf(o.Err()) }

// Contexts is a copy of the messages that are to follow the result, IDs given.
// Those of a nested call have already been deferred on its parent, or dropped
// (see Request.DropContexts) and then are not here.
func (o Outcome) Contexts() []tools.Message { return o.get().result.Contexts() }

// Dropped is the number of contexts of a nested call that go nowhere.
func (o Outcome) Dropped() int { return o.get().dropped }

// Concludes reports whether the agent loop should stop after this batch. A host
// that has contexts to add decides itself which of the two wins; DSH makes one
// more request.
func (o Outcome) Concludes() bool { return o.get().result.Concludes() }

// Detail is what the body kept for the host.
func (o Outcome) Detail() any { return o.get().result.Detail() }

// State says how far the call came.
func (o Outcome) State() State {
	if s := o.get().state; s != "" {
		return s
	}
	return StateNotStarted
}

// Started is when the pipeline took the call on.
func (o Outcome) Started() time.Time { return o.get().started }

// Took is the time from Started to the settled outcome.
func (o Outcome) Took() time.Duration { return o.get().took }

// Logged is the time of the event that tells of the result, to the millisecond: as
// the log has it, so that who reads the log knows it too. Zero: it is not written,
// as while observers are told, or where there is no Sink.
func (o Outcome) Logged() time.Time {
	if ms := o.get().logged.Load(); ms != 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}
