package gojavm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// wantsAll is a program that gets the whole library.
const wantsAll = `const key = ["index", "Of"].join(""); return "abc"[key]("b")`

// spared is a runtime that has run a program and has a spare.
func spared(t *testing.T) *Runtime {
	t.Helper()
	rt := newRuntime(t, nil)
	execute(t, rt, runtime.Request{Program: wantsAll})
	rt.runs.Wait()
	if spareOf(rt) == nil {
		t.Fatal("no engine is equipped after a run")
	}
	return rt
}

func spareOf(rt *Runtime) *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.spare
}

func TestSparesAreUsedOnce(t *testing.T) {
	rt := spared(t)
	first := spareOf(rt)
	for range 3 {
		res := execute(t, rt, runtime.Request{Program: "globalThis.seen = (globalThis.seen ?? 0) + 1\nObject.seen = 1\nreturn [seen, typeof URL, typeof Map.groupBy, typeof setTimeout]"})
		if want := `[1,"function","function","function"]`; res.Value != want {
			t.Errorf("the program returned %s, failure %v; want %s", res.Value, res.Failure, want)
		}
		rt.runs.Wait()
		if spare := spareOf(rt); spare == first || spare == nil {
			t.Errorf("the next spare is %p, want another than %p", spare, first)
		}
	}
}

// The library of a spare is older than its program; the program's clock is not.
func TestSparesBeginWithTheirProgram(t *testing.T) {
	rt := spared(t)
	before := time.Now()
	res := execute(t, rt, runtime.Request{Program: "return performance.timeOrigin"})
	var origin float64
	if err := json.Unmarshal([]byte(res.Value), &origin); err != nil {
		t.Fatal(err)
	}
	if earliest := float64(before.UnixMicro()) / 1000; origin < earliest {
		t.Errorf("performance.timeOrigin is %v, want %v at least", origin, earliest)
	}
}

func TestSparesAreForProgramsWithoutAWorldOfTheirOwn(t *testing.T) {
	seed := uint64(7)
	for _, tt := range []struct {
		name    string
		program string
		req     runtime.Request
		taken   bool
	}{
		{"a program that wants all", wantsAll, runtime.Request{}, true},
		{"another of these", wantsAll + " + 1", runtime.Request{}, true},
		{"one that wants little", "return 1", runtime.Request{}, false},
		{"a clock", wantsAll, runtime.Request{Clock: func() time.Time { return time.UnixMilli(5) }}, false},
		{"a seed", wantsAll, runtime.Request{Seed: &seed}, false},
		{"a check", wantsAll, runtime.Request{CheckOnly: true}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt := spared(t)
			first := spareOf(rt)
			tt.req.Program = tt.program
			execute(t, rt, tt.req)
			rt.runs.Wait()
			if taken := spareOf(rt) != first; taken != tt.taken {
				t.Errorf("the spare was taken: %v, want %v", taken, tt.taken)
			}
		})
	}
}

// What a check does not equip it does not replace.
func TestACheckMakesNoSpare(t *testing.T) {
	rt := newRuntime(t, nil)
	execute(t, rt, runtime.Request{Program: "return 1", CheckOnly: true})
	rt.runs.Wait()
	if spareOf(rt) != nil {
		t.Error("a check made a spare")
	}
}

func TestCloseDropsTheSpare(t *testing.T) {
	rt := newRuntime(t, nil)
	execute(t, rt, runtime.Request{Program: wantsAll}) // its spare may still be in the making
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if spareOf(rt) != nil {
		t.Error("a closed runtime keeps a spare")
	}
}
