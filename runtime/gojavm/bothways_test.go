package gojavm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// moreTools are members that the programs of testdata/broken call.
var moreTools = []runtime.Member{{Name: "list_orders"}, {Name: "get_order"}, {Name: "search"}, {Name: "big_id"}}

// outcomeOf is all that a host and a model see of a run.
func outcomeOf(t testing.TB, rt *Runtime, text string) runtime.Result {
	t.Helper()
	res := execute(t, rt, runtime.Request{
		Program:  text,
		Seed:     new(uint64),
		Limits:   runtime.Limits{Compute: 2 * time.Second, Wall: 5 * time.Second},
		Bindings: []runtime.Binding{{Namespace: toolset(t, moreTools...), Call: serve}},
	})
	res.Usage = runtime.Usage{Missing: res.Usage.Missing} // times, and calls that may begin or not
	return res
}

// bothRuntimes are one that reads plain JavaScript itself, and one that leaves all
// to esbuild.
func bothRuntimes(t testing.TB) (direct, lowered *Runtime) {
	direct, lowered = newRuntime(t, nil), newRuntime(t, nil)
	lowered.LeaveToEsbuild()
	return direct, lowered
}

// TestBothWays runs programs that are read directly, and again by way of esbuild.
func TestBothWays(t *testing.T) {
	direct, lowered := bothRuntimes(t)
	texts := seeds(t)
	taken := 0
	for name, text := range texts {
		p, failure := transpile("", text, "tools")
		if failure != nil || !p.places.written {
			continue
		}
		taken++
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(outcomeOf(t, lowered, text), outcomeOf(t, direct, text)); diff != "" {
				t.Errorf("%s\noutcome (-esbuild +direct):\n%s", text, diff)
			}
		})
	}

	t.Logf("%d of %d programs", taken, len(texts))
}

// TestBothWaysOfOneProperty says where a property's value is that is a missing name.
func TestBothWaysOfOneProperty(t *testing.T) {
	direct, lowered := bothRuntimes(t)
	for _, text := range []string{
		"return { a: a }", "return { 'a': a }", "return { a: b }", "return { [a]: a }", "return { a }",
		"return { b: 1, a\n: a }", "return { a: (a) }", "return { a: a.b }", "return { a: a() }",
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(outcomeOf(t, lowered, text), outcomeOf(t, direct, text)); diff != "" {
				t.Errorf("outcome (-esbuild +direct):\n%s", diff)
			}
		})
	}
}
