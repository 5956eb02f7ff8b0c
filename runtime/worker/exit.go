package worker

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// goFatal is the exit code of a Go process that ends itself in a fatal error.
const goFatal = 2

// exitFailure says why a worker that left in the middle of a run did so, as far
// as its status and its last words tell.
func exitFailure(p *process, limits runtime.Limits) *runtime.Failure {
	status, said := p.status, p.diag.String()
	if status.OutOfCPU {
		f := runtime.ComputeExhausted(limits.Compute)
		return &f
	}
	if status.Code == goFatal {
		switch {
		case p.has(LayerMemory) && strings.HasPrefix(said, "SIGSEGV"):
			// Go code that follows nil panics. This is the collector, which was
			// refused memory for its own tables and did not check.
			return memoryFailure(limits)
		case strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory"):
			return memoryFailure(limits)
		case strings.Contains(said, "stack exceeds") || strings.Contains(said, "stack overflow"):
			return &runtime.Failure{Kind: runtime.Exception, Message: depthExceeded}
		}
	}
	message := fmt.Sprintf("worker %v before completing", status)
	if line := p.diag.firstLine(); line != "" {
		message += ": " + line
	}
	failure := &runtime.Failure{Kind: runtime.WorkerExit, Message: message}
	if status.Intruder {
		failure.Hint = "it asked the system for what no program may have, and was ended for it"
	} else if status.Code < 0 {
		failure.Hint = "a worker that the system ends is often one for which it had no memory"
	}
	return failure
}

// memoryFailure names the limit that an allocation broke.
func memoryFailure(limits runtime.Limits) *runtime.Failure {
	return &runtime.Failure{
		Kind:    runtime.MemoryLimit,
		Message: fmt.Sprintf("heap limit reached (%d bytes)", limits.Heap),
		Hint:    "process data in smaller parts and keep only what the result needs",
	}
}
