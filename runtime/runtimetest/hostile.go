package runtimetest

import (
	"slices"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// attacks are hostile programs that end in the same way. One limit of theirs is
// tight and the others are far away, so that the ending names the limit that
// fired.
type attacks struct {
	family   string
	limits   runtime.Limits
	fails    *failure  // nil: they succeed, each with its value
	beyond   string    // why an engine in this process cannot be stopped: a phrase of package gojavm's doc
	bounded  bool      // they need a bound on memory that the system keeps
	grows    bool      // they are stopped by what the process holds: in the host's, one runs at a time
	programs []program // of one family, all names differ
}

// program is one of them.
type program struct {
	name, code string
	value      string // of one that succeeds
}

// Hostile runs programs that mean to take the host down, or to go on for ever.
// Each must end with the kind of failure that its limit has, and a good program
// must run after it. Programs that nothing in this process can stop need Kills.
//
// Several run at a time; it takes about a minute.
func (s Suite) Hostile(t *testing.T) {
	rt := s.open(t)
	s.shared = rt
	t.Run("each limit", s.eachLimit)
	for _, a := range hostile() {
		t.Run(a.family, func(t *testing.T) {
			if why := s.without(a); why != "" {
				t.Skip(why)
			}
			for _, p := range a.programs {
				t.Run(p.name, func(t *testing.T) {
					if s.Kills || !a.grows {
						t.Parallel()
					}
					row{code: p.code, limits: a.limits, fails: a.fails, value: p.value, loose: true}.check(t, rt)
					row{code: "return (await tools.echo({ a: 1 })).a", value: "1"}.check(t, rt)
				})
			}
		})
	}
}

// without says why a family is left out, if it is.
func (s Suite) without(a attacks) string {
	switch {
	case a.beyond != "" && !s.Kills:
		return "nothing in this process stops it: " + a.beyond
	case a.bounded && !s.Bounded, a.grows && s.Kills && !s.Bounded:
		return "the system bounds no memory here"
	case a.grows && !s.Kills && testing.Short():
		return "filling the host's own memory takes long; -short leaves it out"
	}
	return ""
}

// Beyond lists why hostile programs are left out where nothing can be killed, in
// the words of package gojavm's documentation.
func Beyond() []string {
	var reasons []string
	for _, a := range hostile() {
		if a.beyond != "" && !slices.Contains(reasons, a.beyond) {
			reasons = append(reasons, a.beyond)
		}
	}
	return reasons
}

// Limits of which one is tight.
var (
	// The time is short and the memory ample.
	byCompute = runtime.Limits{Compute: 200 * time.Millisecond, Heap: 256 << 20, Output: 1 << 20}
	byWall    = runtime.Limits{Wall: 5 * time.Second, Heap: 256 << 20, Output: 1 << 20}
	byHeap    = runtime.Limits{Heap: 32 << 20}
	byDepth   = runtime.Limits{Depth: 400, Heap: 256 << 20}
	byOutput  = runtime.Limits{Output: 64 << 10, Heap: 256 << 20}
	byCalls   = runtime.Limits{Calls: 50, Heap: 256 << 20}
	byBytes   = runtime.Limits{Bytes: 1 << 20, Heap: 256 << 20}
)

func hostile() []attacks {
	return slices.Concat(endlessPrograms(), recursivePrograms(), greedyPrograms(), longPrograms(), floodingPrograms(), tamperingPrograms(), bombs())
}
