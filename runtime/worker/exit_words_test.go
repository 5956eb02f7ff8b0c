package worker

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// What Go prints on Windows when the system refuses it memory is memory-limit too.
func TestLastWordsOnWindows(t *testing.T) {
	const commit = "runtime: VirtualAlloc of 4194304 bytes failed with errno=1455\n"
	for _, tt := range []struct {
		name, said string
		limited    bool // the layer memory-limit holds
		want       runtime.Kind
	}{
		{"heap", commit + "fatal error: out of memory", true, runtime.MemoryLimit},
		{"heap, for another reason", "runtime: VirtualAlloc of 4096 bytes failed with errno=87\nfatal error: runtime: failed to commit pages", true, runtime.MemoryLimit},
		{"thread", "runtime: failed to create new OS thread (have 5 already; errno=1455)\nfatal error: runtime.newosproc", true, runtime.MemoryLimit},
		{"thread, of an older system", "runtime: failed to create new OS thread (have 5 already; errno=8)\nfatal error: runtime.newosproc", true, runtime.MemoryLimit},
		{"the collector's own tables", "Exception 0xc0000005 0x1 0x0 0x140012345\nPC=0x140012345", true, runtime.MemoryLimit},
		{"the same with no limit of memory", "Exception 0xc0000005 0x1 0x0 0x140012345\nPC=0x140012345", false, runtime.WorkerExit},
		{"the same on a goroutine", "fatal error: unexpected signal during runtime execution\n[signal 0xc0000005 code=0x1 addr=0x0 pc=0x140012345]", true, runtime.MemoryLimit},
		{"nil in Go code", "panic: runtime error: invalid memory address or nil pointer dereference\n[signal 0xc0000005 code=0x0 addr=0x0 pc=0x140012345]", true, runtime.WorkerExit},
		{"another exception", "Exception 0xc000001d 0x0 0x0 0x140012345\nPC=0x140012345", true, runtime.WorkerExit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{status: exitStatus{Code: goFatal}, diag: &diagnostics{}}
			p.diag.Write([]byte(tt.said))
			if tt.limited {
				p.layers = []Layer{{Name: LayerMemory, State: LayerOn}}
			}
			if f := exitFailure(p, runtime.Limits{Heap: 64 << 20}); f.Kind != tt.want {
				t.Errorf("%s %q, want %s", f.Kind, f.Message, tt.want)
			}
		})
	}
}
