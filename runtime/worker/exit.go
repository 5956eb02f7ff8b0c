package worker

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// Exit codes of a Go process that ends itself: in a fatal error, and where it
// cannot even print one.
const (
	goFatal = 2
	goExit  = 1
)

// What to do about a run whose worker is gone. None says that the program is to
// blame where that is not known.
const (
	engineFault = "the engine failed at something in this program; write that part in another way"
	tryAgain    = "nothing is known against the program; it can be run again once it is clear which of its calls took effect"
	systemKill  = "a worker that the system ends is often one for which it had no memory; process data in smaller parts"
	intruder    = "it asked the system for what no program may have, and was ended for it"
	noThread    = "the system is short of processes or threads; the program can be run again later"
)

// exitFailure says why a worker that left in the middle of a run did so, as far
// as its status and its last words tell. Everything that is not certainly a limit
// is worker-exit.
func exitFailure(p *process, limits runtime.Limits) *runtime.Failure {
	status, said := p.status, p.diag.String()
	words, fatal := lastWords(said)
	if status.OutOfCPU {
		f := runtime.ComputeExhausted(limits.Compute)
		return &f
	}
	if fatal && (status.Code == goFatal || status.Code == goExit) {
		switch {
		case outOfMemory.MatchString(words):
			return memoryFailure(p, limits)
		case p.has(LayerMemory) && unchecked.MatchString(words):
			return memoryFailure(p, limits)
		case outOfStack.MatchString(words):
			return &runtime.Failure{Kind: runtime.Exception, Message: depthExceeded}
		}
	}
	message := fmt.Sprintf("worker %v before completing", status)
	if line := firstLine(words); line != "" {
		message += ": " + line
	}
	return &runtime.Failure{Kind: runtime.WorkerExit, Message: message, Hint: exitHint(status, words, fatal)}
}

// killed says whether the process was ended by a signal that it cannot catch: the
// system's, or this process's own.
func (s exitStatus) killed() bool { return strings.HasPrefix(s.Signal, "9 ") }

func exitHint(status exitStatus, words string, fatal bool) string {
	switch {
	case status.Intruder:
		return intruder
	case status.killed():
		return systemKill
	case fatal && noNewThread.MatchString(words):
		return noThread
	case fatal && status.Code == goFatal && !asked.MatchString(words):
		return engineFault
	}
	return tryAgain
}

// Forms of what Go prints when it gives up. A program's own texts come in a panic
// at most, which these leave out.
var (
	goodbye     = regexp.MustCompile(`(?m)^(fatal error: |panic: |runtime: |runtime/cgo: |SIG[A-Z]+: |Exception 0x|unexpected fault address )`)
	outOfMemory = regexp.MustCompile(`(?m)^(fatal error|runtime): .*(out of memory|cannot allocate memory|failed to (reserve|allocate|commit)|too many retries)|^runtime: failed to create new OS thread .*errno=(12|8|1455)\)`)
	// What was refused memory for the runtime's own tables, or for the stack of a
	// thread of C's, and has no words for it. Go code that follows nil panics, and
	// what another process sends has the code 0.
	unchecked   = regexp.MustCompile(`(?s)^SIGSEGV: .*sigcode=[1-9]|^Exception 0xc0000005 |^fatal error: unexpected signal during runtime execution\n\[signal (SIGSEGV|0xc0000005)|^runtime/cgo: pthread_create failed`)
	outOfStack  = regexp.MustCompile(`(?m)^runtime: goroutine stack exceeds|^fatal error: stack overflow`)
	noNewThread = regexp.MustCompile(`^runtime: failed to create new OS thread|^runtime/cgo: pthread_create failed`)
	asked       = regexp.MustCompile(`(?s)^SIG[A-Z]+: .*sigcode=0\b`) // by another process
)

// lastWords is what Go said when it ended the process. Package initialisation may
// have printed before that. Without any, it is all that was printed.
func lastWords(said string) (words string, fatal bool) {
	if at := goodbye.FindStringIndex(said); at != nil {
		return said[at[0]:], true
	}
	return said, false
}

// memoryFailure names the limit that an allocation broke, or says that the system
// had less.
func memoryFailure(p *process, limits runtime.Limits) *runtime.Failure {
	f := &runtime.Failure{
		Kind:    runtime.MemoryLimit,
		Message: fmt.Sprintf("heap limit reached (%d bytes)", limits.Heap),
		Hint:    "process data in smaller parts and keep only what the result needs",
	}
	if !p.has(LayerMemory) {
		f.Message = fmt.Sprintf("out of memory: the system gave the worker no more (the heap limit is %d bytes)", limits.Heap)
	}
	return f
}

// withoutDump is what a process printed with the first line alone of what Go prints
// of a process that ends itself.
func withoutDump(said string) string {
	words, fatal := lastWords(said)
	if !fatal {
		return said
	}
	return strings.TrimSpace(strings.TrimSuffix(said, words) + firstLine(words))
}
