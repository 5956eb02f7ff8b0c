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
	// MaxStdout and MaxStderr are how many bytes of each stream are kept. What
	// follows is read, counted and thrown away.
	MaxStdout, MaxStderr int
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

// Output is the beginning of a stream and the size of all of it in bytes.
type Output struct {
	Head string
	Size int64
}

// Cut reports whether Head is not all of the stream.
func (o Output) Cut() bool { return o.Size > int64(len(o.Head)) }

// Result is what a process leaves.
type Result struct {
	End            End
	Code           int    // the exit code, -1 unless End is Exited
	Signal         string // the signal's name, only if End is Signaled
	Stdout, Stderr Output
	Took           time.Duration
	// Left counts processes that could not be ended because they belong to
	// another user or are stuck in the kernel.
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
// Three things escape: on Linux a process that left the session, cleared its
// environment and lost its parent before the end came; elsewhere every process
// that left the group; anywhere one of another user (sudo).
func Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return run(ctx, c)
}
