package gojavm_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

func openRuntime(t testing.TB) *gojavm.Runtime {
	t.Helper()
	rt, err := gojavm.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	return rt
}

// TestHostilePrograms runs the hostile programs that an engine in this process
// stops: none of them may be left behind.
func TestHostilePrograms(t *testing.T) {
	rt := openRuntime(t)
	runtimetest.Suite{Open: func(*testing.T) runtime.Runtime { return rt }}.Hostile(t)
	if n := rt.Stuck(); n != 0 {
		t.Errorf("%d programs could not be stopped", n)
	}
}

// The documentation lists what is not stopped in process: everything the hostile
// programs leave out, and nothing that none of them tries.
func TestWhatIsNotStoppedIsDocumented(t *testing.T) {
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(source), "//", "")), " ")
	_, text, ok := strings.Cut(text, "What nothing in the process of the host can stop")
	if !ok {
		t.Fatal("doc.go does not say what nothing can stop")
	}
	reasons := runtimetest.Beyond()
	for _, reason := range reasons {
		if !strings.Contains(text, " - "+reason) {
			t.Errorf("doc.go does not list %q", reason)
		}
	}
	for _, item := range strings.Split(text, " - ")[1:] {
		if !slices.ContainsFunc(reasons, func(reason string) bool { return strings.HasPrefix(item, reason) }) {
			t.Errorf("no hostile program tries what doc.go lists: %.80s", item)
		}
	}
}

func BenchmarkStop(b *testing.B) { runtimetest.BenchmarkStops(b, openRuntime(b), false) }
