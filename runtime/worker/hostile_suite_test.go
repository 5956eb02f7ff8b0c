package worker_test

import (
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/runtimetest"
	"github.com/runcode-go/runcode/runtime/worker"
)

// TestHostilePrograms runs the hostile programs, also those that only the death
// of a process ends. Through all of them this process, the host, stays small.
func TestHostilePrograms(t *testing.T) {
	r := startWorkers(t)
	grown := measureGrowth(t)
	runtimetest.Suite{
		Open:    func(*testing.T) runtime.Runtime { return r },
		Kills:   true,
		Bounded: bounded(r),
	}.Hostile(t)
	const most = 200 << 20
	if n := grown(); n > most && bounded(r) {
		t.Errorf("the host grew by %d MiB at its peak, want at most %d", n>>20, most>>20)
	} else {
		t.Logf("the host grew by %d MiB at its peak", n>>20)
	}
}

func BenchmarkStop(b *testing.B) { runtimetest.BenchmarkStops(b, startWorkers(b), true) }

func startWorkers(t testing.TB) *worker.Runtime {
	t.Helper()
	r, err := worker.New(t.Context(), &worker.Options{MaxWorkers: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// bounded says whether the system bounds the memory of r's workers.
func bounded(r *worker.Runtime) bool {
	return slices.ContainsFunc(r.Layers(), func(l worker.Layer) bool {
		return l.Name == worker.LayerMemory && l.State == worker.LayerOn
	})
}

// measureGrowth begins to watch the memory of this process. The returned function
// says by how many bytes its peak exceeds what there was at the beginning; zero
// where the system does not tell.
func measureGrowth(t *testing.T) (peak func() int64) {
	debug.FreeOSMemory()
	// Five makes the peak begin anew.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Log("the host's peak of memory is not measured: ", err)
		return func() int64 { return 0 }
	}
	begin := memory("VmRSS")
	return func() int64 { return memory("VmHWM") - begin }
}

// memory is a size of this process in bytes.
func memory(name string) int64 { return sizeIn("/proc/self/status", name) }

// sizeIn is a size that a file of /proc names, in bytes; zero if there is none.
func sizeIn(file, name string) int64 {
	text, _ := os.ReadFile(file)
	found := regexp.MustCompile(`(?m)^` + name + `:\s*(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return n << 10
}
