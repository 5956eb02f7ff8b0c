package proc

import (
	"context"
	"time"
)

// Command is one process to run.
type Command struct {
	Path  string   // of the program, as a path; PATH is not searched
	Args  []string // without the program's own name
	Dir   string   // working directory, empty for the parent's
	Env   []string // the whole environment; see Environ
	Stdin string   // written to standard input, which is then closed
	// Timeout ends the process; zero: only the context does.
	Timeout time.Duration
	// MaxStdout and MaxStderr are how many bytes of each stream are kept. All
	// others are read, counted and thrown away.
	MaxStdout, MaxStderr int
	// KeepTail keeps the end of a stream longer than that too: half of the
	// bytes are of its beginning, half of its end. False: all are of its
	// beginning.
	KeepTail bool
}

// End says how a process came to its end.
type End uint8

// The ends of a process.
const (
	Exited    End = iota // by itself, with Result.Code
	Signaled             // by a signal that did not come from Run
	TimedOut             // ended by Run after Command.Timeout
	Cancelled            // ended by Run because the context ended
)

func (e End) String() string {
	switch e {
	case Exited:
		return "exited"
	case Signaled:
		return "signaled"
	case TimedOut:
		return "timed out"
	}
	return "cancelled"
}

// Output is what was kept of a stream, byte by byte: a character may be cut in
// two.
type Output struct {
	Head string // its beginning, or all of it
	Tail string // its end, only if it is longer than what is kept and Command.KeepTail
	Size int64  // of all of it in bytes
}

// Left is how many bytes between Head and Tail were thrown away.
func (o Output) Left() int64 { return o.Size - int64(len(o.Head)) - int64(len(o.Tail)) }

// Cut reports whether Head and Tail are not all of the stream.
func (o Output) Cut() bool { return o.Left() > 0 }

// Result is what a process leaves.
type Result struct {
	End            End
	Code           int    // the exit code, -1 unless End is Exited
	Signal         string // the signal in words ("terminated"), only if End is Signaled
	SignalName     string // the same as systems name it ("SIGTERM")
	Stdout, Stderr Output
	Took           time.Duration
	// Left counts processes that could not be ended because they belong to
	// another user or are stuck in the kernel. It is at least 1 if an output
	// stream is still held open by a process that was not found.
	Left int
}

// Run starts the process, waits for it and ends everything that it has started
// and that still runs: its process group, its session, on Linux also what has
// left the session. A background job does not outlive the process it belongs
// to; once that has exited, jobs that still hold an output stream get a quarter
// of a second to finish writing.
//
// The error is for a process that never ran. All else is a Result. Run is safe
// for concurrent use and leaves no goroutine and no descriptor behind.
//
// Nothing is ended if this process itself is killed. Three things escape: on Linux a process that left the session, cleared its
// environment and lost its parent before the end came; elsewhere every process
// that left the group; anywhere one of another user (sudo).
func Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return run(ctx, c)
}
