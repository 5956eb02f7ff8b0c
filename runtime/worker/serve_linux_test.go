package worker

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// A worker's main thread has nothing to do with its runs: each frame that it served
// would take a switch to it and one back.
func TestMainThreadServesNothing(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	const calls = 200
	run := func() {
		req := runtime.Request{Program: fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.a()", calls), Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{}, nil
		})}
		if res := mustRun(t, c, req); res.Failure != nil || res.Usage.Calls != calls {
			t.Fatalf("%+v %+v", res, res.Failure)
		}
	}
	run()
	before := waits(t, c.nth(0).pid)
	run()
	if n := waits(t, c.nth(0).pid) - before; n > calls/10 {
		t.Errorf("the main thread went to sleep %d times in %d calls", n, calls)
	}
}

// waits is how often the main thread of a process has gone to sleep.
func waits(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)$`).FindSubmatch(text)
	if found == nil {
		t.Skip("this kernel does not count the switches of a thread")
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
