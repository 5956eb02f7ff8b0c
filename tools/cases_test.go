package tools_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// The behaviours of DSH's tool registry that no other test of this package
// states. docs/dsh-cases.md names the test of every case.

// A definition needs a name and a body. DSH refuses one without an output
// schema, here it may return any value.
func TestLeastDefinition(t *testing.T) {
	t.Parallel()
	reg := newRegistry(t, named("x"))
	for _, value := range []string{`{"a":[1]}`, `"text"`, `null`} {
		if err := reg.Lookup("x").CheckOutput(tools.MustJSON(value)); err != nil {
			t.Errorf("the value %s of a tool without an output schema: %v", value, err)
		}
	}
}

// A timeout is a Go duration: zero is none, and NaN or infinity cannot be said.
func TestTimeoutOfADefinition(t *testing.T) {
	t.Parallel()
	typed := func(d time.Duration) *tools.Definition {
		return tools.DefineWith(tools.Definition{Name: "x", Timeout: d}, func(context.Context, *tools.Run, struct{}) (int, error) { return 0, nil })
	}
	raw := func(d time.Duration) *tools.Definition {
		return &tools.Definition{Name: "x", Handler: nothing, Timeout: d}
	}
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		refused bool
	}{
		{"none", 0, false},
		{"the shortest", 1, false},
		{"the longest", math.MaxInt64, false},
		{"negative", -1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for how, define := range map[string]func(time.Duration) *tools.Definition{"raw": raw, "typed": typed} {
				_, err := tools.NewRegistry(define(tt.timeout))
				if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "a timeout is positive, or zero for none") {
					t.Errorf("%s definition: %v, refused must be %v", how, err, tt.refused)
				}
			}
		})
	}
}

// A schema is JSON text, so it cannot hold what JSON has no form for.
func TestSchemasAreJSON(t *testing.T) {
	t.Parallel()
	if _, err := tools.ParseJSON(`{"properties":{"n":{"default":NaN}}}`); err == nil || !strings.Contains(err.Error(), "/properties/n/default") {
		t.Errorf("a text with NaN: %v, want an error with the place", err)
	}
	if _, err := tools.ToJSON(map[string]any{"default": math.NaN()}); err == nil {
		t.Error("a Go value with NaN became JSON")
	}
	schema := tools.MustJSON(`{"properties":{"n":{"default":-0,"examples":[1.0]}}}`)
	reg := newRegistry(t, &tools.Definition{Name: "x", Handler: nothing, Input: schema})
	if got := reg.Lookup("x").Definition().Input; got != schema {
		t.Errorf("the schema became %s, want it as it was given", got)
	}
}

// A list of definitions is registered whole or not at all. DSH asks listeners,
// one of which may fail; here nobody is asked, so only the list itself can be
// at fault.
func TestAddIsAllOrNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		bad  *tools.Definition
	}{
		{"a name that is taken", named("taken")},
		{"a name twice in the list", named("first")},
		{"a reserved name", named(tools.TransportName)},
		{"a bad schema", &tools.Definition{Name: "x", Handler: nothing, Input: tools.MustJSON(`{"type":"objekt"}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reg := newRegistry(t, named("taken"))
			before := reg.Lookup("taken")
			if _, err := reg.Add(named("first"), tt.bad, named("last")); err == nil {
				t.Fatal("no error")
			}
			if reg.Lookup("first") != nil || reg.Lookup("last") != nil || reg.Lookup("taken") != before {
				t.Errorf("the registry holds %v, want the one tool it had", names(reg))
			}
		})
	}
}
