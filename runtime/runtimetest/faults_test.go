package runtimetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

// faultVariable names the fault that TestFaulty's runtime has.
const faultVariable = "RUNTIMETEST_FAULT"

// faults are defects that an implementation could have, each with a part of the
// suite that must see it.
var faults = map[string]struct {
	part   string
	change func(*runtime.Request) func(*runtime.Result)
}{
	"negative zero loses its sign": {"values", func(*runtime.Request) func(*runtime.Result) {
		return func(res *runtime.Result) { res.Value = strings.ReplaceAll(res.Value, "-0", "0") }
	}},
	"calls overlap": {"lane", func(req *runtime.Request) func(*runtime.Result) {
		req.Parallel = max(req.Parallel, 2)
		return nil
	}},
	"logs of a failed run are lost": {"failures", func(*runtime.Request) func(*runtime.Result) {
		return func(res *runtime.Result) {
			if res.Failure != nil {
				res.Logs = nil
			}
		}
	}},
	"every timeout is an exception": {"limits", func(*runtime.Request) func(*runtime.Result) {
		return func(res *runtime.Result) {
			if res.Failure != nil && res.Failure.Kind == runtime.Timeout {
				res.Failure.Kind = runtime.Exception
			}
		}
	}},
	"lines are off by one": {"syntax errors", func(*runtime.Request) func(*runtime.Result) {
		return func(res *runtime.Result) {
			if res.Failure != nil && res.Failure.Site.Line > 1 {
				res.Failure.Site.Line--
			}
		}
	}},
	"the limit of calls is one too high": {"limits", func(req *runtime.Request) func(*runtime.Result) {
		if req.Limits.Calls > 0 {
			req.Limits.Calls++
		}
		return nil
	}},
	"the seed is not used": {"replay", func(req *runtime.Request) func(*runtime.Result) {
		req.Seed = nil
		return nil
	}},
	"notes are lost": {"outstanding", func(*runtime.Request) func(*runtime.Result) {
		return func(res *runtime.Result) { res.Notes = nil }
	}},
}

// faulty is a good runtime with one fault.
type faulty struct {
	runtime.Runtime
	change func(*runtime.Request) func(*runtime.Result)
}

func (f faulty) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	after := f.change(&req)
	res, err := f.Runtime.Run(ctx, req)
	if after != nil {
		after(&res)
	}
	return res, err
}

// TestFaulty runs the suite over the runtime with the fault that the environment
// names. It is started by TestSuiteSeesFaults alone, which expects it to fail.
func TestFaulty(t *testing.T) {
	fault, ok := faults[os.Getenv(faultVariable)]
	if !ok {
		t.Skip("no fault is named; TestSuiteSeesFaults names one")
	}
	runtimetest.Run(t, func(t *testing.T) runtime.Runtime {
		rt, err := gojavm.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return faulty{rt, fault.change}
	})
}

func TestSuiteSeesFaults(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFaulty$/^"+strings.ReplaceAll(fault.part, " ", "_")+"$")
			cmd.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("the part %q passes:\n%s", fault.part, out)
			} else if !strings.Contains(string(out), "--- FAIL: TestFaulty/"+strings.ReplaceAll(fault.part, " ", "_")) {
				t.Errorf("the part %q did not fail as a test does: %v\n%s", fault.part, err, out)
			}
		})
	}
}
