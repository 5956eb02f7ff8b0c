package runtimetest

import "testing"

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
