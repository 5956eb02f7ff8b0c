package runtimetest

import (
	"context"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// A hostile program must say how it ends, and be found by its name.
func TestHostileTable(t *testing.T) {
	programs, stopped := 0, 0
	names := map[string]bool{}
	for _, a := range hostile() {
		if len(a.programs) == 0 {
			t.Errorf("%s has no programs", a.family)
		}
		if a.bounded && a.beyond == "" {
			t.Errorf("%s needs bounded memory and is not said to be beyond stopping", a.family)
		}
		programs += len(a.programs)
		if a.beyond == "" {
			stopped += len(a.programs)
		}
		for _, p := range a.programs {
			name := a.family + "/" + p.name
			if names[name] {
				t.Errorf("%s stands there twice", name)
			}
			names[name] = true
			if (a.fails == nil) == (p.value == "") {
				t.Errorf("%s must have a failure or a value, and not both", name)
			}
		}
	}
	t.Logf("%d programs, %d of them stopped in process too", programs, stopped)
	if programs < 400 {
		t.Errorf("%d programs, want at least 400: a family was lost", programs)
	}
}

// hasty is a Runtime whose runs are over before their programs have begun.
type hasty runtime.Kind

func (h hasty) Run(context.Context, runtime.Request) (runtime.Result, error) {
	return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Kind(h)}}, nil
}

func (hasty) Close() error { return nil }

// On a busy machine a limit of time is over before the program is under way: that is
// measured from the start of the run. Any other limit has not been measured.
func TestStopBeforeTheProgram(t *testing.T) {
	for _, tt := range []struct {
		name string
		stop stop
		want bool // it is measured
	}{
		{"wall", stop{limits: runtime.Limits{Wall: time.Millisecond}, kind: runtime.Timeout}, true},
		{"compute", stop{limits: runtime.Limits{Compute: time.Millisecond}, kind: runtime.Timeout}, true},
		{"calls", stop{limits: runtime.Limits{Calls: 2}, kind: runtime.CallLimit}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			measured := false
			testing.Benchmark(func(b *testing.B) {
				tt.stop.measure(b, hasty(tt.stop.kind), namespace(t, "tools", toolClass(), runtime.Member{Name: "mark"}))
				measured = true
			})
			if measured != tt.want {
				t.Errorf("measured: %v, want %v", measured, tt.want)
			}
		})
	}
}
