package worker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

const smaller = "process data in smaller parts and keep only what the result needs"

// Every way a worker can end is one kind of failure, with words about it and what
// to do.
func TestExitFailures(t *testing.T) {
	limits := runtime.Limits{Heap: 64 << 20, Compute: 5 * time.Second}
	memory := runtime.Failure{Kind: runtime.MemoryLimit, Message: "heap limit reached (67108864 bytes)", Hint: smaller}
	short := memory
	short.Message = "out of memory: the system gave the worker no more (the heap limit is 67108864 bytes)"
	compute := runtime.Failure{Kind: runtime.Timeout, Message: "compute budget exhausted (5000ms busy)"}
	depth := runtime.Failure{Kind: runtime.Exception, Message: "call depth exceeded"}
	exit := func(message, hint string) runtime.Failure {
		return runtime.Failure{Kind: runtime.WorkerExit, Message: "worker " + message, Hint: hint}
	}
	fatal, signal := exitStatus{Code: 2}, func(name string) exitStatus { return exitStatus{Code: -1, Signal: name} }
	for _, tt := range []struct {
		name   string
		status exitStatus
		said   string
		want   runtime.Failure
		bare   bool // without RLIMIT_DATA
	}{
		{name: "allocation", status: fatal, said: "runtime: out of memory: cannot allocate 4194304-byte block (60000000 in use)\nfatal error: out of memory", want: memory},
		{name: "allocation where the system sets the limit", status: fatal, said: "fatal error: out of memory", want: short, bare: true},
		{name: "arena", status: fatal, said: "fatal error: runtime: out of memory", want: memory},
		{name: "page", status: fatal, said: "fatal error: runtime: cannot allocate memory", want: memory},
		{name: "stack of a goroutine", status: fatal, said: "fatal error: out of memory (stackalloc)", want: memory},
		{name: "metadata", status: fatal, said: "fatal error: out of memory allocating heap arena metadata", want: memory},
		{name: "summary", status: fatal, said: "fatal error: failed to reserve page summary memory", want: memory},
		{name: "alignment", status: fatal, said: "fatal error: failed to allocate aligned heap memory; too many retries", want: memory},
		{name: "stack of a thread", status: exitStatus{Code: 1}, said: "runtime: failed to allocate stack for the new OS thread", want: memory},
		{name: "thread, for want of memory", status: fatal, said: "runtime: failed to create new OS thread (have 5 already; errno=12)\nfatal error: newosproc", want: memory},
		{name: "thread of C", status: fatal, said: "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f m=4 sigcode=18446744073709551610", want: memory},
		{name: "thread of C where the system sets the limit", status: fatal, said: "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f m=4 sigcode=18446744073709551610", bare: true,
			want: exit("exited with code 2 before completing: runtime/cgo: pthread_create failed: Resource temporarily unavailable", noThread)},
		{name: "thread, for want of threads", status: fatal, said: "runtime: failed to create new OS thread (have 5 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc",
			want: exit("exited with code 2 before completing: runtime: failed to create new OS thread (have 5 already; errno=11)", noThread)},
		{name: "the collector's own tables", status: fatal, said: "SIGSEGV: segmentation violation\nPC=0x4399fd m=3 sigcode=1 addr=0x0", want: memory},
		{name: "the collector's own tables, on a goroutine", status: fatal, said: "fatal error: unexpected signal during runtime execution\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x41]", want: memory},
		{name: "the same with no limit of memory", status: fatal, said: "SIGSEGV: segmentation violation\nPC=0x4399fd m=3 sigcode=1 addr=0x0", bare: true,
			want: exit("exited with code 2 before completing: SIGSEGV: segmentation violation", engineFault)},
		{name: "the signal, sent by another process", status: fatal, said: "SIGSEGV: segmentation violation\nPC=0x4399fd m=0 sigcode=0",
			want: exit("exited with code 2 before completing: SIGSEGV: segmentation violation", tryAgain)},
		{name: "quit, sent by another process", status: fatal, said: "SIGQUIT: quit\nPC=0x4399fd m=0 sigcode=0",
			want: exit("exited with code 2 before completing: SIGQUIT: quit", tryAgain)},
		{name: "nil in Go code", status: fatal, said: "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]",
			want: exit("exited with code 2 before completing: panic: runtime error: invalid memory address or nil pointer dereference", engineFault)},
		{name: "a panic with a program's words", status: fatal, said: "panic: Error: out of memory [recovered]",
			want: exit("exited with code 2 before completing: panic: Error: out of memory [recovered]", engineFault)},
		{name: "concurrent map writes", status: fatal, said: "fatal error: concurrent map writes",
			want: exit("exited with code 2 before completing: fatal error: concurrent map writes", engineFault)},
		{name: "fault in mapped memory", status: fatal, said: "unexpected fault address 0x7f0000\nfatal error: fault\n[signal SIGBUS: bus error code=0x2 addr=0x7f0000 pc=0x41]",
			want: exit("exited with code 2 before completing: unexpected fault address 0x7f0000", engineFault)},
		{name: "stack", status: fatal, said: "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow", want: depth},
		{name: "what package initialisation printed comes first", status: fatal, said: "early: ready, out of memory is not a problem here\nfatal error: concurrent map writes",
			want: exit("exited with code 2 before completing: fatal error: concurrent map writes", engineFault)},
		{name: "what package initialisation printed before memory ran out", status: fatal, said: "early: ready\nfatal error: out of memory", want: memory},
		{name: "those words of another", status: exitStatus{Code: 1}, said: "out of memory", want: exit("exited with code 1 before completing: out of memory", tryAgain)},
		{name: "those words and another code", status: exitStatus{Code: 3}, said: "fatal error: out of memory", want: exit("exited with code 3 before completing: fatal error: out of memory", tryAgain)},
		{name: "silent", status: exitStatus{}, want: exit("exited with code 0 before completing", tryAgain)},
		{name: "silent with a code", status: exitStatus{Code: 7}, want: exit("exited with code 7 before completing", tryAgain)},
		{name: "first line alone", status: exitStatus{Code: 3}, said: "\n\nfirst\nsecond", want: exit("exited with code 3 before completing: first", tryAgain)},
		{name: "killed by the system", status: signal("9 (killed)"), want: exit("was ended by signal 9 (killed) before completing", systemKill)},
		{name: "ended by another", status: signal("15 (terminated)"), want: exit("was ended by signal 15 (terminated) before completing", tryAgain)},
		{name: "the processor limit", status: exitStatus{Code: -1, Signal: "24 (CPU time limit exceeded)", OutOfCPU: true}, want: compute},
		{name: "the system call filter", status: exitStatus{Code: -1, Signal: "31 (bad system call)", Intruder: true}, want: exit("was ended by signal 31 (bad system call) before completing", intruder)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{status: tt.status, diag: &diagnostics{}, layers: []Layer{{Name: LayerMemory, State: LayerOn}}}
			if tt.bare {
				p.layers = nil
			}
			p.diag.Write([]byte(tt.said))
			if diff := cmp.Diff(&tt.want, exitFailure(p, limits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStartErrorsAreShort shows that the error of a start quotes what the process
// said and not what Go dumps of one that ends itself.
func TestStartErrorsAreShort(t *testing.T) {
	for _, tt := range []struct{ name, said, want string }{
		{"words", "a banner\nand more", "a banner\nand more"},
		{"a dump", "a banner\nruntime: failed to create new OS thread\nfatal error: newosproc\n\ngoroutine 1 [running]:\nmain.main()", "a banner\nruntime: failed to create new OS thread"},
		{"a dump alone", "fatal error: out of memory\n\ngoroutine 1", "fatal error: out of memory"},
	} {
		if got := withoutDump(tt.said); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
