package runtimetest

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// Attack is one of the programs of Suite.Hostile.
type Attack struct {
	Name string
	// Check runs it in rt and fails t unless it ends as it must. Several may run
	// at once, each with a t of its own.
	Check func(t *testing.T, rt runtime.Runtime)
}

// Attacks lists the programs that Hostile runs, for tests that mix them with
// others.
func (s Suite) Attacks() []Attack {
	var all []Attack
	for _, a := range hostile() {
		if s.without(a) != "" {
			continue
		}
		for _, p := range a.programs {
			attack := row{code: p.code, limits: a.limits, fails: a.fails, value: p.value, loose: true}
			all = append(all, Attack{Name: a.family + "/" + p.name, Check: attack.check})
		}
	}
	return all
}
