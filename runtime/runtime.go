package runtime

import (
	"context"
	"errors"
	"time"
)

// Runtime runs programs. Implementations are safe for concurrent use; every run
// has a world of its own.
type Runtime interface {
	// Run executes one program and always settles: a program's bad end is data
	// in the Result. The error is for misuse alone: a closed runtime, a
	// namespace or limit that cannot be (see Request.Validate).
	//
	// Run returns when the program has settled and every call it started has
	// returned. Cancelling ctx ends the run with the kind abort and the text of
	// context.Cause.
	Run(ctx context.Context, req Request) (Result, error)
	// Close ends live runs as aborted ("runtime disposed"), waits for them and
	// frees everything. It may be called twice.
	Close() error
}

// ErrClosed is the error of Run after Close.
var ErrClosed = errors.New("run after close: the runtime is closed; make a new one")

// Request is one program to run. All that a program can observe comes through
// it, so that a run can be repeated.
type Request struct {
	Program  string // the body of an async function, JavaScript or TypeScript
	Name     string // names the source in stack traces; empty: "program.ts"
	Bindings []Binding
	Input    string // JSON text of the global input; empty: no such global
	Limits   Limits
	// Parallel is how many calls may be out at once; the rest queue inside the
	// runtime in the order they were made. Zero means 1: serialized.
	Parallel int
	// Log receives console lines as they are produced, in order, from one
	// goroutine at a time. It may be nil, and a panic in it is contained. It must
	// not block for long: a limit stops the program meanwhile, but Run may not
	// return before Log and Clock have.
	Log func(Line)
	// Clock and Seed make a run repeatable. Nil Clock is the real time, nil
	// Seed real randomness. A Clock may stand still: the program then sees time
	// pass with the answers it takes (Reply.Time) and with its timers, which wait
	// for as long as ever and after which the clock shows at least the time they
	// were set for.
	Clock func() time.Time
	Seed  *uint64
	// Nested marks a run inside another run, which must never wait for a slot
	// its ancestor holds.
	Nested bool
	// Trust keeps runs apart that must not meet in one process: an implementation
	// that uses a process for several runs does so only for runs with equal Trust.
	// It must be comparable. Nil is a value like any other.
	Trust any
	// CheckOnly compiles the program and runs nothing of it: the Result has a
	// Failure if it could not run, and notes about what would go wrong.
	CheckOnly bool
}

// Binding connects a namespace with what answers its calls in this run.
type Binding struct {
	Namespace *Namespace
	// Call answers one call. It runs on a goroutine of the runtime's, at most
	// Request.Parallel at once; ctx ends with the run, or with the call when the
	// program cancels it. A panic in it becomes a failed call, and so does the end
	// of its goroutine.
	Call func(ctx context.Context, call Invocation) (Reply, error)
}

// Invocation is one call a program made.
type Invocation struct {
	// Seq numbers the calls of a run from 1, without gaps, in the order the
	// runtime handed them out, which is the order the program made them.
	Seq    int
	Global string // the namespace's Global
	Member string // the member's Name
	Args   string // JSON text as the runtime's value walker wrote it
	Site   Site   // where the program made the call
	// Answer gives the answer before Call returns. Where calls overlap, answers
	// reach the program in the order in which they are given, and Calls return in
	// any order. The first answer counts: another one, or what Call returns after it,
	// is ignored. Run still waits for Call, which should return soon after. Answer may
	// be called from any goroutine; it may be nil where Request.Parallel is 1.
	Answer func(Reply, error)
}

// Reply is the answer to a call that succeeded.
type Reply struct {
	Value string // canonical JSON text; empty: undefined
	// Time is what the program's clock shows at least once the program has taken
	// the answer, that of a failed call too. Zero is no time, and without a
	// Request.Clock it is ignored. A call that the program has given up on has no
	// answer and moves no clock.
	Time time.Time
}

// CallError is an answer that makes the call throw. Any other error throws with
// its text alone.
type CallError struct {
	Message string
	Code    string            // own property code, empty: absent
	CallID  string            // own property callId, empty: absent
	Extra   map[string]string // further own string properties, for example a denial's origin
}

// Error is the message alone.
func (e *CallError) Error() string { return e.Message }

// Site is a place in the author's program: 1-based line and column, the column
// in characters. The zero Site is unknown.
type Site struct{ Line, Column int }

// Line is one console call.
type Line struct {
	Level string // "log", "info", "warn", "error", "debug"
	Text  string
}

// Result is how a run ended: with a value, or with a failure.
type Result struct {
	Value   string   // JSON text of the completion; empty: undefined
	Logs    []string // one entry a console call
	Failure *Failure // nil: success
	Notes   []string // what the run's reader should know: input that was forgiven, calls nobody awaited
	Usage   Usage
}

// Usage says what a run cost.
type Usage struct {
	Isolation  string        // "in-process" or "worker"
	Missing    []string      // names of the layers of protection that did not hold, of those the isolation has
	Wall       time.Duration // less the time an approver was asked
	Compute    time.Duration // the engine was busy
	Calls      int           // calls the runtime handed out
	NotStarted []Invocation  // calls that were queued when the run ended and never handed out, without their Args
	BytesIn    int64         // results handed to the program
	BytesOut   int64         // arguments handed to the host
}

// Kind classifies a failure.
type Kind string

// The kinds of failure. The first seven are DSH's.
const (
	Exception         Kind = "exception"
	Timeout           Kind = "timeout"
	Abort             Kind = "abort"
	WorkerExit        Kind = "worker-exit"
	InvalidOutput     Kind = "invalid-output"
	OutputLimit       Kind = "output-limit"
	MemoryLimit       Kind = "memory-limit"
	CallLimit         Kind = "call-limit"
	BytesLimit        Kind = "bytes-limit"
	InvalidInput      Kind = "invalid-input"
	WorkerUnavailable Kind = "worker-unavailable"
)

// Failure is a program's bad end.
type Failure struct {
	Kind    Kind
	Message string // what went wrong, one sentence or the thrown error's "Name: message" with its causes, a line each
	Name    string // the thrown error's name, empty if none was thrown
	Code    string // the thrown error's code, if it has one
	Tool    string // of an uncaught ToolCallError: the member that failed
	Site    Site   // zero if unknown
	Frame   string // the source lines around Site with a caret, empty if unknown
	Stack   []Frame
	Hint    string // at most one sentence on what to try
}

// Frame is one stack frame in the author's program.
type Frame struct {
	Function string // empty at the top level
	Site     Site
}
