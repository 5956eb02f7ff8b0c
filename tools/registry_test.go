package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func nothing(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil }

func named(name string) *tools.Definition { return &tools.Definition{Name: name, Handler: nothing} }

func names(reg *tools.Registry) []string {
	list := []string{}
	for _, tool := range reg.All() {
		list = append(list, tool.Name())
	}
	return list
}

func newRegistry(t *testing.T, defs ...*tools.Definition) *tools.Registry {
	t.Helper()
	reg, err := tools.NewRegistry(defs...)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		def  *tools.Definition
		want string
		code string
	}{
		{"nil", nil, `cannot register a nil tool definition`, ""},
		{"reserved name", named("run_code"), `tool name "run_code" is reserved for the Code Mode presentation transport and cannot be registered or shadowed`, ""},
		{"no name", named(""), `a tool has no name; give it one`, ""},
		{"taken", named("taken"), `tool "taken" is already registered here; remove it first, choose another name, or register this one for a single agent`, ""},
		{"a long name", named("nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnné" + strings.Repeat("n", 216)), `the tool name that begins with "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" has 257 bytes; at most 256 are accepted`, ""},
		{"a name that is no text", named("x\xff"), `tool name "x\xff" is not valid UTF-8, so no program and no log could spell it; rename the tool`, ""},
		{"no handler", &tools.Definition{Name: "x"}, `tool "x" has no handler`, ""},
		{"negative timeout", &tools.Definition{Name: "x", Handler: nothing, Timeout: -time.Second}, `tool "x" has the timeout -1s; a timeout is positive, or zero for none`, ""},
		{"input schema", &tools.Definition{Name: "x", Handler: nothing, Input: tools.MustJSON(`{"type":"objekt"}`)},
			`tool "x": input schema: at /type: "type" fits none of its 2 allowed forms; for the closest, number 1: "type" must be one of ["array","boolean","integer","null","number","object","string"], got the string "objekt"; did you mean "object"?`, tools.CodeUnsupportedSchema},
		{"output schema", &tools.Definition{Name: "x", Handler: nothing, Output: tools.MustJSON(`{"$ref":"https://example.com/a.json"}`)},
			`tool "x": output schema: it refers to "https://example.com/a.json", which lies outside the schema and is not loaded; only references inside the schema work, such as "#/$defs/name"`, tools.CodeUnsupportedSchema},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reg := newRegistry(t, named("taken"))
			remove, err := reg.Add(named("first"), tt.def)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("error %v\nwant  %s", err, tt.want)
			}
			if got := tools.InfoOf(err).Code; got != tt.code {
				t.Errorf("code %q, want %q", got, tt.code)
			}
			if remove != nil {
				t.Error("a failed Add returns a remove function")
			}
			if d := cmp.Diff([]string{"taken"}, names(reg)); d != "" {
				t.Errorf("after a failed Add (-want +got):\n%s", d)
			}
		})
	}
	if _, err := tools.NewRegistry(named("a"), named("a")); err == nil || err.Error() != `tool "a" is already registered here; remove it first, choose another name, or register this one for a single agent` {
		t.Errorf("twice in one list: %v", err)
	}
}

func TestZeroRegistry(t *testing.T) {
	t.Parallel()
	var reg tools.Registry
	if reg.Lookup("a") != nil || len(reg.All()) != 0 {
		t.Error("the zero registry holds tools")
	}
	if _, err := reg.Add(named("a")); err != nil || reg.Lookup("a") == nil {
		t.Errorf("Add to the zero registry: %v, found %v", err, reg.Lookup("a"))
	}
}

func TestRegistryAddRemove(t *testing.T) {
	t.Parallel()
	reg := newRegistry(t, named("m"))
	remove, err := reg.Add(named("z"), named("a"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a", "m", "z"}, names(reg)); d != "" {
		t.Errorf("after Add (-want +got):\n%s", d)
	}
	snapshot := reg.All()
	old := reg.Lookup("a")
	remove()
	if d := cmp.Diff([]string{"m"}, names(reg)); d != "" {
		t.Errorf("after remove (-want +got):\n%s", d)
	}
	if len(snapshot) != 3 {
		t.Error("a list handed out changed")
	}
	if reg.Lookup("a") != nil {
		t.Error("a removed tool is found")
	}
	if _, err := reg.Add(named("a")); err != nil {
		t.Fatal(err)
	}
	remove() // again, with another tool of the same name in place
	if again := reg.Lookup("a"); again == nil || again == old {
		t.Errorf("the second remove took a tool it had not added")
	}
}

func TestToolIsACopy(t *testing.T) {
	t.Parallel()
	def := named("a")
	reg := newRegistry(t, def)
	def.Name, def.Description = "b", "changed"
	copied := reg.Lookup("a").Definition()
	copied.Description = "changed too"
	if got := reg.Lookup("a").Definition(); got.Name != "a" || got.Description != "" {
		t.Errorf("the registered definition changed: %+v", got)
	}
}

func TestToolConcurrent(t *testing.T) {
	t.Parallel()
	number := tools.MustJSON(`{"properties":{"n":{"type":"integer"}}}`)
	for _, tt := range []struct {
		name  string
		class func(tools.JSON) bool
		args  string
		want  bool
	}{
		{"none", nil, `{}`, false},
		{"yes", func(tools.JSON) bool { return true }, `{"n":1}`, true},
		{"no", func(tools.JSON) bool { return false }, `{}`, false},
		{"invalid arguments", func(tools.JSON) bool { return true }, `{"n":"x"}`, false},
		{"panic", func(tools.JSON) bool { panic("no") }, `{}`, false},
		{"by arguments", func(args tools.JSON) bool { return args.String() == `{"n":2}` }, `{"n":2}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tool, err := tools.NewTool(&tools.Definition{Name: "x", Input: number, Handler: nothing, Concurrent: tt.class})
			if err != nil {
				t.Fatal(err)
			}
			if got := tool.Concurrent(tools.MustJSON(tt.args)); got != tt.want {
				t.Errorf("Concurrent(%s) = %v", tt.args, got)
			}
		})
	}
}

func TestToolChecks(t *testing.T) {
	t.Parallel()
	open, err := tools.NewTool(named("x"))
	if err != nil {
		t.Fatal(err)
	}
	typed, err := tools.NewTool(&tools.Definition{Name: "x", Handler: nothing, Output: tools.MustJSON(`{"type":"integer"}`)})
	if err != nil {
		t.Fatal(err)
	}
	describing, err := tools.NewTool(&tools.Definition{Name: "x", Handler: nothing, Output: tools.MustJSON(`{"type":"integer"}`), OutputDescribes: true})
	if err != nil {
		t.Fatal(err)
	}
	inferred := tools.Define("x", "", func(context.Context, struct{}) (int, error) { return 1, nil })
	trusted, err := tools.NewTool(inferred)
	if err != nil {
		t.Fatal(err)
	}
	inferred.Output = tools.MustJSON(`{"type":"string"}`)
	replaced, err := tools.NewTool(inferred)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		got  error
		want string
	}{
		{"any object", open.CheckArgs(tools.MustJSON(`{"a":[1]}`)), ""},
		{"no object", open.CheckArgs(tools.MustJSON(`[1]`)), `invalid arguments: "arguments" must be an object, got an array of 1 item`},
		{"no arguments", open.CheckArgs(tools.JSON{}), `invalid arguments: "arguments" is missing`},
		{"names that differ in case", open.CheckArgs(tools.MustJSON(`{"a":1,"A":2}`)), `invalid arguments: properties "a" and "A" differ only in case; send one of them`},
		{"any value", open.CheckOutput(tools.MustJSON(`"x"`)), ""},
		{"no value", open.CheckOutput(tools.JSON{}), ""},
		{"typed value", typed.CheckOutput(tools.MustJSON(`1`)), ""},
		{"wrong value", typed.CheckOutput(tools.MustJSON(`"x"`)), `tool "x" returned invalid output: "value" must be an integer, got the string "x"`},
		{"value missing", typed.CheckOutput(tools.JSON{}), `tool "x" returned invalid output: "value" is missing`},
		{"substitute that fits", typed.CheckSubstitute(tools.MustJSON(`1`)), ""},
		{"substitute that does not", typed.CheckSubstitute(tools.MustJSON(`"x"`)), `tool "x" returned invalid output: "value" must be an integer, got the string "x"`},
		{"described value", describing.CheckOutput(tools.MustJSON(`"x"`)), ""},
		{"described value missing", describing.CheckOutput(tools.JSON{}), ""},
		{"described substitute", describing.CheckSubstitute(tools.MustJSON(`"x"`)), ""},
		{"what the description says", describing.CheckValue(tools.MustJSON(`"x"`)), `tool "x" returned invalid output: "value" must be an integer, got the string "x"`},
		{"value of a Go type", trusted.CheckOutput(tools.MustJSON(`"x"`)), ""},
		{"substitute for a value of a Go type", trusted.CheckSubstitute(tools.MustJSON(`"x"`)), `tool "x" returned invalid output: "value" must be an integer, got the string "x"`},
		{"value under a replaced schema", replaced.CheckOutput(tools.MustJSON(`1`)), `tool "x" returned invalid output: "value" must be a string, got the number 1; put it in quotes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if tt.got != nil {
				got = tt.got.Error()
			}
			if got != tt.want {
				t.Errorf("error %q\nwant  %q", got, tt.want)
			}
		})
	}
	var bad *tools.ArgsError
	if err := open.CheckArgs(tools.MustJSON(`1`)); !errors.As(err, &bad) || bad.Tool != "x" || tools.InfoOf(err) != (tools.ErrorInfo{Name: "ToolArgsError", Code: "INVALID_ARGS"}) {
		t.Errorf("error %#v", err)
	}
	var out *tools.OutputError
	if err := typed.CheckOutput(tools.MustJSON(`""`)); !errors.As(err, &out) || out.Tool != "x" || tools.InfoOf(err) != (tools.ErrorInfo{Name: "ToolOutputError", Code: "INVALID_TOOL_OUTPUT"}) {
		t.Errorf("error %#v", err)
	}
}

// TestRegistryConcurrentUse has its meaning under the race detector.
func TestRegistryConcurrentUse(t *testing.T) {
	t.Parallel()
	shared := tools.MustJSON(`{"properties":{"n":{"type":"integer","pattern":"^(?=a)"}},"additionalProperties":false}`)
	reg := newRegistry(t, &tools.Definition{Name: "stays", Input: shared, Handler: nothing})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				remove, err := reg.Add(named(fmt.Sprintf("g%d-%d", g, i)))
				if err != nil {
					t.Error(err)
					return
				}
				if reg.Lookup("stays").CheckArgs(tools.MustJSON(`{"n":"x","m":1}`)) == nil {
					t.Error("the shared tool accepts wrong arguments")
				}
				if len(reg.All()) < 2 {
					t.Error("tools are missing")
				}
				remove()
				remove()
			}
		})
	}
	wg.Wait()
	if d := cmp.Diff([]string{"stays"}, names(reg)); d != "" {
		t.Errorf("in the end (-want +got):\n%s", d)
	}
}
