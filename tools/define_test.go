package tools_test

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// call runs a definition's body as the pipeline does: arguments and value are
// checked.
func call(t *testing.T, def *tools.Definition, args string) (tools.Result, error) {
	t.Helper()
	tool, err := tools.NewTool(def)
	if err != nil {
		t.Fatal(err)
	}
	j := tools.MustJSON(args)
	if err := tool.CheckArgs(j); err != nil {
		return tools.Result{}, err
	}
	r, err := def.Handler(context.Background(), tools.NewRun(tools.NewCall(tools.CallSpec{ID: "1", Name: def.Name, Args: j}), tools.RunHooks{}))
	if err == nil {
		err = tool.CheckOutput(r.Value)
	}
	return r, err
}

type base struct {
	Owner string `json:"owner"`
}

// odd marshals itself to something its fields do not tell.
type odd struct{ n int }

func (o odd) MarshalJSON() ([]byte, error)     { return fmt.Appendf(nil, `{"odd":%d}`, o.n), nil }
func (o *odd) UnmarshalJSON(text []byte) error { o.n = len(text); return nil }

type level int

func (l level) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "level-%d", int(l)), nil }

// wire has everything a Go struct may hold that JSON writes another way.
type wire struct {
	base
	Items  []int              `json:"items"`
	Empty  string             `json:"empty,omitempty"`
	When   time.Time          `json:"when"`
	Data   []byte             `json:"data"`
	Raw    stdjson.RawMessage `json:"raw"`
	Value  tools.JSON         `json:"value"`
	Odd    odd                `json:"odd"`
	Level  level              `json:"level"`
	Wait   time.Duration      `json:"wait"`
	Big    *big.Int           `json:"big"`
	Any    any                `json:"any"`
	Sum    [2]byte            `json:"sum"`
	Map    map[string]base    `json:"map"`
	Ptr    *base              `json:"ptr"`
	Hidden string             `json:"-"`
	secret string
}

func TestDefineWireForm(t *testing.T) {
	t.Parallel()
	def := tools.Define("go_thing", "Return a Go value.", func(context.Context, struct{}) (wire, error) {
		return wire{
			base: base{"ann"}, When: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Data: []byte("hi"), Raw: stdjson.RawMessage(`{"b" : 1}`),
			Value: tools.MustJSON(`[9007199254740993]`), Odd: odd{3}, Level: 2, Wait: time.Millisecond, Big: big.NewInt(5), Hidden: "x", secret: "y",
		}, nil
	})
	got, err := call(t, def, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"owner":"ann","items":[],"when":"2026-01-02T03:04:05Z","data":"aGk=","raw":{"b":1},"value":[9007199254740993],` +
		`"odd":{"odd":3},"level":"level-2","wait":1000000,"big":5,"any":null,"sum":"AAA=","map":{},"ptr":null}`
	if got.Value.String() != want {
		t.Errorf("value %s\nwant  %s", got.Value, want)
	}
	// The inferred schema describes what is really written.
	raw := *def
	raw.Handler = func(context.Context, *tools.Run) (tools.Result, error) { return got, nil }
	copied := tools.Definition{Name: "raw", Output: def.Output, Handler: raw.Handler}
	if _, err := call(t, &copied, `{}`); err != nil {
		t.Errorf("the value does not fit its own schema %s: %v", def.Output, err)
	}
}

func TestDefineSchemas(t *testing.T) {
	t.Parallel()
	type in struct {
		base
		Pattern string         `json:"pattern" jsonschema:"RE2 pattern"`
		Limit   int            `json:"limit,omitempty" jsonschema:"most matches to return"`
		Case    *bool          `json:"case"`
		Tags    []string       `json:"tags"`
		When    time.Time      `json:"when,omitzero"`
		Data    []byte         `json:"data,omitempty"`
		Extra   tools.JSON     `json:"extra,omitzero"`
		Odd     odd            `json:"odd,omitzero"`
		Wait    time.Duration  `json:"wait,omitempty"`
		Map     map[string]int `json:"map,omitempty"`
		Plain   float64
	}
	def := tools.Define("t", "", func(context.Context, in) ([]base, error) { return nil, nil })
	wantIn := `{"type":"object","properties":{"owner":{"type":"string"},"pattern":{"type":"string","description":"RE2 pattern"},` +
		`"limit":{"type":"integer","description":"most matches to return"},"case":{"type":["null","boolean"]},` +
		`"tags":{"type":"array","items":{"type":"string"}},"when":{"type":"string","format":"date-time"},` +
		`"data":{"type":"string","contentEncoding":"base64"},"extra":true,"odd":true,` +
		`"wait":{"type":"integer","description":"nanoseconds"},"map":{"type":"object","additionalProperties":{"type":"integer"}},` +
		`"Plain":{"type":"number"}},"required":["owner","pattern","tags","Plain"],"additionalProperties":false}`
	compareJSON(t, "input", wantIn, def.Input)
	compareJSON(t, "output", `{"type":"array","items":{"type":"object","properties":{"owner":{"type":"string"}},"required":["owner"],"additionalProperties":false}}`, def.Output)
	if names := propertyOrder(t, def.Input); names != "owner pattern limit case tags when data extra odd wait map Plain" {
		t.Errorf("properties in the order %s", names)
	}
}

func compareJSON(t *testing.T, what, want string, got tools.JSON) {
	t.Helper()
	var w, g any
	if err := stdjson.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := got.Unmarshal(&g); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Errorf("%s %s (-want +got):\n%s", what, got, d)
	}
}

func propertyOrder(t *testing.T, schema tools.JSON) string {
	t.Helper()
	var s struct {
		Properties stdjson.RawMessage `json:"properties"`
	}
	if err := schema.Unmarshal(&s); err != nil {
		t.Fatal(err)
	}
	dec := stdjson.NewDecoder(strings.NewReader(string(s.Properties)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var skip stdjson.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(names, " ")
}

func TestDefineArguments(t *testing.T) {
	t.Parallel()
	type in struct {
		Path string     `json:"path"`
		N    *int8      `json:"n"`
		When *time.Time `json:"when"`
		Data []byte     `json:"data,omitempty"`
		List []struct {
			ID uint64 `json:"id"`
		} `json:"list,omitempty"`
	}
	def := tools.Define("t", "", func(_ context.Context, in in) (string, error) {
		return fmt.Sprintf("%s %v %v %s %v", in.Path, in.N != nil && *in.N == 5, in.When != nil, in.Data, in.List), nil
	})
	for _, tt := range []struct{ name, args, want, err string }{
		{"all", `{"path":"a","n":5,"when":"2026-01-02T03:04:05Z","data":"aGk=","list":[{"id":18446744073709551615}]}`, `"a true true hi [{18446744073709551615}]"`, ""},
		{"optional left out", `{"path":"a"}`, `"a false false  []"`, ""},
		{"optional null", `{"path":"a","n":null,"when":null}`, `"a false false  []"`, ""},
		{"missing", `{"n":5}`, "", `invalid arguments: missing required property "path"`},
		{"another case", `{"Path":"a"}`, "", `invalid arguments: missing required property "path"; you sent "Path", rename it to "path"`},
		{"both cases", `{"path":"ok","Path":"/etc/passwd"}`, "", `invalid arguments: unknown property "Path"; allowed: path, n, when, data, list; "path" was sent too, send only that`},
		{"out of range", `{"path":"a","n":128}`, "", `invalid arguments: "n" must be at most 127, got the number 128`},
		{"beyond 64 bits", `{"path":"a","list":[{"id":18446744073709551616}]}`, "", `invalid arguments: "list[0].id" does not fit a uint64`},
		{"whole number with a point", `{"path":"a","n":5.0}`, "", `invalid arguments: "n" must be a whole number without point or exponent`},
		{"no date", `{"path":"a","when":"tomorrow"}`, "", `invalid arguments: "when" must be a date-time such as "2026-01-02T15:04:05Z"`},
		{"no base64", `{"path":"a","data":"%%"}`, "", `invalid arguments: "data" must be base64 text`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, def, tt.args)
			if tt.err != "" {
				var bad *tools.ArgsError
				if !errors.As(err, &bad) || err.Error() != tt.err || bad.Tool != "t" || tools.InfoOf(err).Code != tools.CodeInvalidArgs {
					t.Errorf("error %v\nwant  %s", err, tt.err)
				}
				return
			}
			if err != nil || got.Value.String() != tt.want {
				t.Errorf("value %s, error %v; want %s", got.Value, err, tt.want)
			}
		})
	}
}

func TestDefineResults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	result := tools.Result{Value: tools.MustJSON(`{"a":1}`), Content: []tools.Content{tools.TextContent("one")}}
	oneNumber := tools.MustJSON(`{"type":"number"}`)
	for _, tt := range []struct {
		name string
		def  *tools.Definition
		want tools.Result
		err  string
	}{
		{"JSON", tools.Define("t", "", func(context.Context, struct{}) (tools.JSON, error) { return tools.MustJSON(`[1.0]`), nil }), tools.Result{Value: tools.MustJSON(`[1.0]`)}, ""},
		{"no JSON", tools.Define("t", "", func(context.Context, struct{}) (tools.JSON, error) { return tools.JSON{}, nil }), tools.Result{}, ""},
		{"result", tools.Define("t", "", func(context.Context, struct{}) (tools.Result, error) { return result, nil }), result, ""},
		{"any", tools.Define("t", "", func(context.Context, struct{}) (any, error) { return []int{1}, nil }), tools.Result{Value: tools.MustJSON(`[1]`)}, ""},
		{"error", tools.Define("t", "", func(context.Context, struct{}) (int, error) { return 7, broken }), tools.Result{}, "broken"},
		{"given output, fits", tools.DefineWith(tools.Definition{Name: "t", Output: oneNumber}, func(context.Context, *tools.Run, struct{}) (any, error) { return 1.5, nil }), tools.Result{Value: tools.MustJSON(`1.5`)}, ""},
		{"given output, does not", tools.DefineWith(tools.Definition{Name: "t", Output: oneNumber}, func(context.Context, *tools.Run, struct{}) (any, error) { return "x", nil }), tools.Result{}, `tool "t" returned invalid output: "value" must be a number, got the string "x"`},
		{"result is not trusted", tools.DefineWith(tools.Definition{Name: "t", Output: oneNumber}, func(context.Context, *tools.Run, struct{}) (tools.Result, error) { return result, nil }), tools.Result{}, `tool "t" returned invalid output: "value" must be a number, got an object with a`},
		{"no JSON form", tools.Define("t", "", func(context.Context, struct{}) (map[string]float64, error) {
			return map[string]float64{"total": math.NaN()}, nil
		}), tools.Result{}, `tool "t" returned invalid output: "total": unsupported value: NaN`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, tt.def, `{}`)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v\nwant  %s", err, tt.err)
				}
				return
			}
			if d := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b tools.JSON) bool { return a == b })); d != "" || err != nil {
				t.Errorf("error %v, result (-want +got):\n%s", err, d)
			}
		})
	}
	if _, err := call(t, tools.Define("t", "", func(context.Context, struct{}) (int, error) { return 0, broken }), `{}`); err != broken {
		t.Errorf("the error of the function lost its identity: %v", err)
	}
}

func TestDefineArgumentTypes(t *testing.T) {
	t.Parallel()
	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		got, err := call(t, tools.Define("t", "", func(_ context.Context, in tools.JSON) (tools.JSON, error) { return in, nil }), `{"b":1.0,"a":-0}`)
		if err != nil || got.Value.String() != `{"b":1.0,"a":-0}` {
			t.Errorf("%s, %v", got.Value, err)
		}
	})
	t.Run("map", func(t *testing.T) {
		t.Parallel()
		def := tools.Define("t", "", func(_ context.Context, in map[string]int) (int, error) { return len(in), nil })
		if got, err := call(t, def, `{"a":1,"b":2}`); err != nil || got.Value.String() != `2` {
			t.Errorf("%s, %v", got.Value, err)
		}
		if _, err := call(t, def, `{"a":"x"}`); err == nil || err.Error() != `invalid arguments: "a" must be an integer, got the string "x"` {
			t.Errorf("%v", err)
		}
	})
	t.Run("pointer", func(t *testing.T) {
		t.Parallel()
		got, err := call(t, tools.Define("t", "", func(_ context.Context, in *base) (string, error) { return in.Owner, nil }), `{"owner":"ann"}`)
		if err != nil || got.Value.String() != `"ann"` {
			t.Errorf("%s, %v", got.Value, err)
		}
	})
	t.Run("own codec", func(t *testing.T) {
		t.Parallel()
		got, err := call(t, tools.Define("t", "", func(_ context.Context, in odd) (int, error) { return in.n, nil }), `{"abc":1}`)
		if err != nil || got.Value.String() != `9` {
			t.Errorf("%s, %v", got.Value, err)
		}
	})
	t.Run("given input", func(t *testing.T) {
		t.Parallel()
		def := tools.DefineWith(tools.Definition{Name: "t", Input: tools.MustJSON(`{"properties":{"owner":{"minLength":3}}}`)},
			func(_ context.Context, _ *tools.Run, in base) (string, error) { return in.Owner, nil })
		if got, err := call(t, def, `{"owner":"ann","more":1}`); err != nil || got.Value.String() != `"ann"` {
			t.Errorf("%s, %v", got.Value, err)
		}
		if _, err := call(t, def, `{"owner":"a"}`); err == nil || err.Error() != `invalid arguments: "owner" must have at least 3 characters, got 1` {
			t.Errorf("%v", err)
		}
	})
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		def := tools.DefineWith(tools.Definition{Name: "t"}, func(_ context.Context, run *tools.Run, _ struct{}) (string, error) { return run.Call().ID(), nil })
		if got, err := call(t, def, `{}`); err != nil || got.Value.String() != `"1"` {
			t.Errorf("%s, %v", got.Value, err)
		}
	})
}

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children"`
}

func TestDefineRecursiveOutput(t *testing.T) {
	t.Parallel()
	def := tools.Define("t", "", func(context.Context, struct{}) (tree, error) { return tree{"a", []tree{{Name: "b"}}}, nil })
	if !def.Output.IsZero() {
		t.Errorf("output schema %s", def.Output)
	}
	if got, err := call(t, def, `{}`); err != nil || got.Value.String() != `{"name":"a","children":[{"name":"b","children":[]}]}` {
		t.Errorf("%s, %v", got.Value, err)
	}
}

func TestDefinePanics(t *testing.T) {
	t.Parallel()
	type named struct {
		base `json:"base"`
	}
	for _, tt := range []struct {
		name, want string
		define     func()
	}{
		{"number", `tools.Define: tool "t": arguments of type int: arguments are a JSON object; use a struct with a field for each argument`,
			func() { tools.Define("t", "", func(context.Context, int) (int, error) { return 0, nil }) }},
		{"slice", `arguments are a JSON object`, func() { tools.Define("t", "", func(context.Context, []int) (int, error) { return 0, nil }) }},
		{"interface", `arguments are a JSON object`, func() { tools.Define("t", "", func(context.Context, any) (int, error) { return 0, nil }) }},
		{"time", `arguments are a JSON object`, func() { tools.Define("t", "", func(context.Context, time.Time) (int, error) { return 0, nil }) }},
		{"channel inside", `unsupported`, func() {
			tools.Define("t", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil })
		}},
		{"cycle", `the type contains itself, which cannot be inferred; give the schema as Input in DefineWith`, func() {
			tools.Define("t", "", func(context.Context, tree) (int, error) { return 0, nil })
		}},
		{"named embedded field", `the embedded field base has a JSON name`, func() {
			tools.Define("t", "", func(context.Context, named) (int, error) { return 0, nil })
		}},
		{"result without a JSON form", `result of type func()`, func() {
			tools.Define("t", "", func(context.Context, struct{}) (func(), error) { return nil, nil })
		}},
		{"no function", `tool "t" has no function`, func() { tools.Define[struct{}, int]("t", "", nil) }},
		{"two bodies", `leave Handler nil`, func() {
			tools.DefineWith(tools.Definition{Name: "t", Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil }},
				func(context.Context, *tools.Run, struct{}) (int, error) { return 0, nil })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tt.want) {
					t.Errorf("panic %q\nmust contain %q", got, tt.want)
				}
			}()
			tt.define()
		})
	}
}
