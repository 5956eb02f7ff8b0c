package proc

import (
	"os"
	"time"
)

// Process is a child that its owner talks to over its standard input and output
// while it runs.
type Process struct {
	// Stdin and Stdout are the owner's ends of the child's pipes. End closes
	// both, which also ends a Read or Write that waits.
	Stdin, Stdout *os.File

	exited <-chan struct{}
	stderr func() Output
	end    func(grace time.Duration) Result
}

// Start starts a process as Run does and returns at once. Command.Stdin, Timeout
// and MaxStdout mean nothing here. The owner must call End in the end, also of a
// process that has exited. The methods are safe for concurrent use.
func Start(c Command) (*Process, error) { return launch(c) }

// Exited is closed when the process itself has ended; what it has started may
// still run.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stderr is what is kept so far of the standard error.
func (p *Process) Stderr() Output { return p.stderr() }

// End closes the standard input, which asks most servers to leave, gives the
// process that long to do so, and then ends it and everything it has started, as
// Run does. Result.End is Cancelled if it had to be ended; Result.Stdout is
// empty. Later calls wait for the first and return the same.
func (p *Process) End(grace time.Duration) Result { return p.end(grace) }
