package codemode_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// The behaviours of DSH's pipeline that show in programs and in model requests
// and that no other test states. docs/dsh-cases.md names the test of every case.

// A model is told the name, the description and the parameters of a tool, and
// what a host does to the list it was given changes nothing.
func TestToolsOnTheWire(t *testing.T) {
	def := echo()
	def.Input, def.Output = tools.MustJSON(`{"type":"object","properties":{"a":{}}}`), tools.MustJSON(`{"type":"object"}`)
	def.Timeout, def.Annotations = time.Second, tools.Annotations{ReadOnly: true}
	def.Concurrent = func(tools.JSON) bool { return true }
	def.Finalize = func(tools.Call, tools.Final) ([]tools.Content, bool) { return nil, false }
	def.PresentCall = func(tools.JSON) tools.Card { return tools.Card{} }
	cm := open(t, pipeline.New(registry(t, def), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, Mode: codemode.ModeBoth})
	present := func() []codemode.ToolSchema {
		p, err := cm.Present()
		if err != nil {
			t.Fatal(err)
		}
		return p.Tools
	}
	first := present()
	want, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	var wire []map[string]json.RawMessage
	if err := json.Unmarshal(want, &wire); err != nil || len(wire) != 2 {
		t.Fatalf("on the wire are %s, %v", want, err)
	}
	for _, tool := range wire {
		if diff := cmp.Diff([]string{"description", "name", "parameters"}, slices.Sorted(maps.Keys(tool))); diff != "" {
			t.Errorf("what a model is told of a tool (-want +got):\n%s", diff)
		}
	}
	if got := string(wire[0]["parameters"]); got != def.Input.String() {
		t.Errorf("parameters %s, want %s", got, def.Input)
	}
	b := first[0].Parameters.Bytes()
	b[0] = '!'
	first[0], first[1] = codemode.ToolSchema{}, codemode.ToolSchema{}
	if again, err := json.Marshal(present()); err != nil || string(again) != string(want) {
		t.Errorf("after an edit by the host: %s, %v; want %s", again, err, want)
	}
}

// TestArgumentsOfPrograms: what a program may pass to a tool. What has no JSON
// form is refused where the call is made: it is neither numbered nor logged. DSH
// refuses more: -0, undefined properties, dates, big integers, matches of regular
// expressions and no argument at all.
func TestArgumentsOfPrograms(t *testing.T) {
	refused := func(problem string) string { return "the arguments of tools.echo cannot be sent: " + problem }
	for _, tt := range []struct {
		name, args string
		sent       string // what the tool gets
		message    string // of the error
	}{
		{"an object", `{ a: [1, "x", null, true] }`, `{"a":[1,"x",null,true]}`, ""},
		{"none", ``, `{}`, ""},
		{"undefined", `undefined`, `{}`, ""},
		{"an undefined property", `{ i: undefined, j: 1 }`, `{"j":1}`, ""},
		{"-0", `{ i: -0 }`, `{"i":-0}`, ""},
		{"a big integer", `{ i: 2n ** 64n }`, `{"i":18446744073709551616}`, ""},
		{"a date", `{ d: new Date(0) }`, `{"d":"1970-01-01T00:00:00.000Z"}`, ""},
		{"an unpaired surrogate", `{ s: "\ud800" }`, `{"s":"\ud800"}`, ""},
		{"one object twice", `(s => ({ a: s, b: s }))({ n: 1 })`, `{"a":{"n":1},"b":{"n":1}}`, ""},
		{"an object without a prototype", `Object.assign(Object.create(null), { a: 1 })`, `{"a":1}`, ""},
		{"a name of the engine's", `{ ["__proto__"]: { x: 1 } }`, `{"__proto__":{"x":1}}`, ""},
		{"an accessor is read once", `(n => ({ get a() { return ++n } }))(0)`, `{"a":1}`, ""},
		{"an accessor further in is read once", `(n => ({ o: [{ get a() { return ++n } }] }))(0)`, `{"o":[{"a":1}]}`, ""},
		{"a match, an array with properties, is its elements", `{ m: "abc".match(/b/) }`, `{"m":["b"]}`, ""},
		{"toJSON is data", `{ a: 1, toJSON: 2 }`, `{"a":1,"toJSON":2}`, ""},

		{"NaN", `{ list: [1, { total: NaN }] }`, "", refused("args.list[1].total is NaN")},
		{"infinity", `{ i: Infinity }`, "", refused("args.i is Infinity")},
		{"a symbol", `{ s: Symbol("x") }`, "", refused("args.s is a symbol")},
		{"a function", `{ f: () => 1 }`, "", refused("args.f is a function")},
		{"a Map", `{ m: new Map() }`, "", refused("args.m is a Map")},
		{"a class instance", `new (class Money { n = 1 })()`, "", refused("args is an instance of Money")},
		{"an array with a property", `{ l: Object.assign([1], { sum: 1 }) }`, "", refused(`args.l is an array with the property "sum"`)},
		{"a hole", `{ l: [1, , 3] }`, "", refused("args.l[1] is a hole")},
		{"undefined in an array", `{ l: [undefined] }`, "", refused("args.l[0] is undefined")},
		{"a name that is a symbol", `{ [Symbol("x")]: 1 }`, "", refused("args")},
		{"a cycle", `(a => (a.self = a))({})`, "", refused("args.self is a cycle")},
		{"an accessor that throws", `{ get a() { throw new Error("getter exploded") } }`, "", refused("args.a threw while it was read: Error: getter exploded")},
		{"too deep", `(a => { for (let i = 0; i < 10001; i++) a = [a]; return { a } })(1)`, "", refused("args.a")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			cm := open(t, pipeline.New(registry(t, echo()), &pipeline.Options{Sink: rec}), &codemode.Options{Isolation: codemode.IsolationInProcess})
			out := run(t, cm, `
				const results = []
				for (const call of [() => tools.echo(`+tt.args+`), () => tools.echo({ last: true })])
					try { results.push(await call()) } catch (e) { results.push([e.name, e.code, e.message]) }
				return results[0]`)
			if out.Err() != nil {
				t.Fatal(out.Err())
			}
			var value struct {
				Result tools.JSON `json:"result"`
			}
			if err := out.Value().Unmarshal(&value); err != nil {
				t.Fatal(err)
			}
			calls := []string{"call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1"}
			if tt.message == "" {
				if got := value.Result.String(); got != tt.sent {
					t.Errorf("the tool got %s, want %s", got, tt.sent)
				}
				calls = append(calls, "code-dispatch-start c1:code:2", "code-dispatch c1:code:2")
			} else {
				var caught []string
				if err := value.Result.Unmarshal(&caught); err != nil {
					t.Fatalf("the tool got %s, want a refusal", value.Result)
				}
				if caught[0] != "ToolCallError" || caught[1] != tools.CodeInvalidArgs || !strings.HasPrefix(caught[2], tt.message) {
					t.Errorf("caught %q, want an INVALID_ARGS with %q", caught, tt.message)
				}
			}
			if diff := cmp.Diff(append(calls, "result c1"), rec.Calls()); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// What a program does to an object once it has passed it on does not reach the
// tool.
func TestArgumentsAreReadWhenTheCallIsMade(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, echo()), nil), nil)
	got := succeed(t, cm, `const a = { n: 1, l: [1] }; const first = tools.echo({ before: true }), p = tools.echo(a); a.n = 2; a.l.push(2); await first; a.n = 3; return [await p, a.n]`)
	if want := `{"logs":[],"result":[{"n":1,"l":[1]},3]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
}

// An argument that is undefined is one that was not sent.
func TestUndefinedIsMissing(t *testing.T) {
	def := echo()
	def.Input = tools.MustJSON(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	cm := open(t, pipeline.New(registry(t, def), nil), nil)
	got := succeed(t, cm, `try { await tools.echo({ path: undefined }) } catch (e) { return [e.code, e.message] }`)
	if want := `{"logs":[],"result":["INVALID_ARGS","invalid arguments: missing required property \"path\""]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
}

// By default no call of a program begins in the log before the one before it has
// settled, though all are made at once and the tool would let them overlap. In
// DSH the next one may.
func TestSerialCallsInTheLog(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipeline.New(registry(t, pipelinetest.Concurrent(echo())), &pipeline.Options{Sink: rec, Stages: true})
	cm := open(t, p, nil)
	succeed(t, cm, `await Promise.all([1, 2, 3].map(n => tools.echo({ n })))`)
	want := []string{
		"call c1", "code-dispatch-start c1:code:1", "code-dispatch c1:code:1", "code-dispatch-start c1:code:2", "code-dispatch c1:code:2",
		"code-dispatch-start c1:code:3", "code-dispatch c1:code:3", "result c1",
	}
	if diff := cmp.Diff(want, rec.Calls()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	for _, problem := range pipelinetest.CheckLog(rec.Events()) {
		t.Error(problem)
	}
}

// The log of a run is sound however the run ends and however many of its calls
// overlap.
func TestLogsOfRuns(t *testing.T) {
	for _, parallel := range []int{0, 4} {
		for name, code := range map[string]string{
			"returns":            `return await Promise.all([1, 2, 3, 4, 5, 6].map(n => tools.echo({ n })))`,
			"throws":             `tools.echo({ n: 1 }); tools.alone({}); await tools.echo({ n: 2 }); throw new Error("boom")`,
			"awaits nothing":     `for (let n = 0; n < 6; n++) tools.echo({ n })`,
			"catches":            `return await Promise.allSettled([tools.broken({}), tools.denied({}), tools.asked({}), tools.echo({ a: 1, A: 2 })])`,
			"mixes":              `await Promise.all([tools.echo({}), tools.alone({}), tools.echo({}), tools.alone({})])`,
			"refuses an ask":     `await tools.asked({})`,
			"does not know":      `await tools["nope"]({})`,
			"is no program":      `return (`,
			"gives up":           `const c = new AbortController(); const p = tools.echo({}, { signal: c.signal }); c.abort(); await p`,
			"races":              `return await Promise.race([tools.echo({ n: 1 }), tools.echo({ n: 2 }), tools.alone({})])`,
			"waits for nothing":  `await tools.echo({}); await new Promise(() => {})`,
			"has too many calls": `for (let n = 0; n < 30; n++) await tools.echo({ n })`,
		} {
			t.Run(name, func(t *testing.T) {
				rec := &pipelinetest.Recorder{}
				alone, denied, asked := echo(), echo(), echo()
				alone.Name, denied.Name, asked.Name = "alone", "denied", "asked"
				p := pipeline.New(registry(t, pipelinetest.Concurrent(echo()), alone, denied, asked, failing("broken", 0)),
					&pipeline.Options{Sink: rec, Stages: true, Approver: pipelinetest.NewApprover(pipeline.Rejected)})
				p.UseRule("rule", func(c tools.Call) pipeline.Decision {
					switch c.Name() {
					case "denied":
						return pipeline.Deny("no")
					case "asked":
						return pipeline.Ask("sure?")
					}
					return pipeline.Allow()
				})
				cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: parallel, Limits: codemode.Limits{Calls: 20}})
				run(t, cm, code)
				for _, problem := range pipelinetest.CheckLog(rec.Events()) {
					t.Errorf("%s: %q", problem, rec.Calls())
				}
				if calls := rec.Calls(); calls[0] != "call c1" || calls[len(calls)-1] != "result c1" {
					t.Errorf("the log does not begin and end with the run: %q", calls)
				}
			})
		}
	}
}

// Contexts that are deferred by option follow the result in the order of the
// calls, of denied ones too, and when the program fails afterwards.
func TestDeferredContextsOfAFailedProgram(t *testing.T) {
	p := pipeline.New(registry(t, echo()), nil)
	p.UseRule("rule", func(c tools.Call) pipeline.Decision {
		if strings.Contains(c.Args().String(), `"deny"`) {
			return pipeline.Deny("no")
		}
		return pipeline.Allow()
	})
	p.PostExecute.Use("reminder", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		d, err := next(ctx)
		if s.Call.IsTransport() {
			return d, err
		}
		return d.WithContexts(tools.ContextMessage("reminder", "about "+s.Call.ID())), err
	})
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Contexts: codemode.DeferContexts})
	out := run(t, cm, `await tools.echo({}); await tools.echo({ deny: 1 }).catch(() => {}); await tools.echo({}); throw new Error("boom")`)
	if out.Err() == nil {
		t.Fatal("the program did not fail")
	}
	var got []string
	for _, m := range out.Contexts() {
		got = append(got, tools.ContentString(m.Content))
	}
	if diff := cmp.Diff([]string{"about c1:code:1", "about c1:code:2", "about c1:code:3"}, got); diff != "" {
		t.Errorf("contexts of the outer result (-want +got):\n%s", diff)
	}
}
