package jslib_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// said is what the console said, a line an entry with its level.
func (e *engine) said() string {
	var b strings.Builder
	for _, entry := range e.entries {
		fmt.Fprintf(&b, "%s: %s\n", entry.level, entry.text)
	}
	return b.String()
}

func TestConsoleMethods(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"levels", `console.log("a"); console.info("b"); console.warn("c"); console.error("d"); console.debug("e")`, "log: a\ninfo: b\nwarn: c\nerror: d\ndebug: e\n"},
		{"no arguments", `console.log()`, "log: \n"},
		{"assert", `console.assert(true, "x"); console.assert(1 > 2, "math %s", "broke"); console.assert(false); console.assert(false, {a: 1})`,
			"warn: Assertion failed: math broke\nwarn: Assertion failed\nwarn: Assertion failed: { a: 1 }\n"},
		{"count", `console.count(); console.count(); console.count("x"); console.countReset(); console.count(); console.countReset("nope")`,
			"log: default: 1\nlog: default: 2\nlog: x: 1\nlog: default: 1\nwarn: Count for 'nope' does not exist\n"},
		{"group", `console.group("G"); console.log("in\nside"); console.group(); console.warn({a: 1}); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("out")`,
			"log: G\nlog:   in\n  side\nwarn:     { a: 1 }\nlog: out\n"},
		{"dir", `console.dir({a: {b: {c: {}}}}, {depth: 0}); console.dir({a: {b: 1}}); console.dir("s")`, "log: { a: [Object] }\nlog: { a: { b: 1 } }\nlog: 's'\n"},
		{"dir of everything", `console.dir({a: {b: {c: {d: {e: {f: {g: 1}}}}}}}, {depth: null})`, "log: {\n  a: {\n    b: {\n      c: {\n        d: { e: { f: { g: 1 } } }\n      }\n    }\n  }\n}\n"},
		{"dir with limits", `console.dir({a: [1, 2, 3], b: "xyz"}, {maxArrayLength: 1, maxStringLength: 1}); console.dir([1, "x"], {maxArrayLength: 0, maxStringLength: 0}); console.dir(Array(101).fill(0).length, {maxArrayLength: null})`,
			"log: { a: [ 1, ... 2 more items ], b: 'x'... 2 more characters }\nlog: [ ... 2 more items ]\nlog: 101\n"},
		{"dir sorted and narrow", `console.dir({b: 1, a: {c: 2}}, {sorted: true, breakLength: 5})`, "log: {\n  a: {\n    c: 2\n  },\n  b: 1\n}\n"},
		{"dir calls no getter", `console.dir({get a() { throw 1 }}, {getters: true})`, "log: { a: [Getter] }\n"},
		{"prototypes of the engine", `console.log(Number.prototype, Date.prototype, Map.prototype)`, "log: {} {} Object [Map] {}\n"},
		{"%s of a toString that gives no string", `console.log("%s", {toString() { return 5 }})`, "log: 5\n"},
		{"%j asks toJSON and leaves out what JSON does", `console.log("%j %j", {a: undefined, toJSON() { return {b: 1, c() {}} }}, [undefined])`, "log: {\"b\":1} [null]\n"},
		{"a search query", `console.log([new URLSearchParams("a=1&a=2")], new Proxy(new URLSearchParams("b=1"), {}))`, "log: [ URLSearchParams { 'a' => '1', 'a' => '2' } ] URLSearchParams { 'b' => '1' }\n"},
		{"iterators", `console.log([1].values(), new Map().keys(), (function* () {})(), [].values().map(String))`, "log: Object [Array Iterator] {} Object [Map Iterator] {} Object [Generator] {} Object [Iterator Helper] {}\n"},
		{"table of objects", `console.table([{a: 1, b: "x"}, {a: 2, c: true}])`,
			"log: ┌─────────┬───┬─────┬──────┐\n│ (index) │ a │ b   │ c    │\n├─────────┼───┼─────┼──────┤\n│ 0       │ 1 │ 'x' │      │\n│ 1       │ 2 │     │ true │\n└─────────┴───┴─────┴──────┘\n"},
		{"table of primitives", `console.table(["p", 1])`,
			"log: ┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 'p'    │\n│ 1       │ 1      │\n└─────────┴────────┘\n"},
		{"table with chosen columns", `console.table([{a: 1, b: 2}], ["b"])`,
			"log: ┌─────────┬───┐\n│ (index) │ b │\n├─────────┼───┤\n│ 0       │ 2 │\n└─────────┴───┘\n"},
		{"table of a Map", `console.table(new Map([["k", 1]]))`,
			"log: ┌───────────────────┬─────┬────────┐\n│ (iteration index) │ Key │ Values │\n├───────────────────┼─────┼────────┤\n│ 0                 │ 'k' │ 1      │\n└───────────────────┴─────┴────────┘\n"},
		{"table of anything else", `console.table(5); console.table(null)`, "log: 5\nlog: null\n"},
		{"timers of no name", `console.timeEnd("q")`, "warn: No such label 'q' for console.timeEnd()\n"},
		{"a name the engine's API cannot spell", `console.log({"\ud800": 1, b: 2})`, "log: { '\ufffd': [value that cannot be shown], b: 2 }\n"},
		{"getters and traps are not called", `let hits = 0; const h = {get() { hits++ }, ownKeys() { hits++; return [] }, getPrototypeOf() { hits++; return null }, getOwnPropertyDescriptor() { hits++ }, has() { hits++ }};
			console.log({get a() { hits++ }}, new Proxy({b: 1}, h), [new Proxy([2], h)]); console.log(hits)`, "log: { a: [Getter] } { b: 1 } [ [ 2 ] ]\nlog: 0\n"},
		{"a toString that throws", `console.log("%s", {toString() { throw new Error("no") }}); console.log("%d", {valueOf() { throw 1 }}); console.log({toString() { throw 2 }, [Symbol.toPrimitive]() { throw 3 }})`,
			"log: { toString: [Function: toString] }\nlog: NaN\nlog: {\n  toString: [Function: toString],\n  [Symbol(Symbol.toPrimitive)]: [Function: [Symbol.toPrimitive]]\n}\n"},
		{"Symbol.toStringTag that throws", `console.log({get [Symbol.toStringTag]() { throw 1 }, a: 1})`, "log: { a: 1, [Symbol(Symbol.toStringTag)]: [Getter] }\n"},
		{"replaced intrinsics", `Object.getOwnPropertyDescriptor = Object.keys = () => { throw 1 }; Array.prototype.join = null; Map.prototype.get = null; console.log({a: [1]}, new Set([1]))`, "log: { a: [ 1 ] } Set(1) { 1 }\n"},
		{"a Map that never ends", `class Endless extends Map { *[Symbol.iterator]() { for (;;) yield [1, 2] } }; console.log(new Endless([[1, 2]]), new Map([[3, 4]]))`, "log: Endless(1) [Map] { 1 => 2 } Map(1) { 3 => 4 }\n"},
		{"a poisoned Object.prototype", `Object.prototype.get = () => 1; Object.prototype.value = 2; console.log({a: 1}, [2])`, "log: { a: 1 } [ 2 ]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			e.run(t, tt.program)
			if diff := cmp.Diff(tt.want, e.said()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.program, diff)
			}
		})
	}
}

func TestConsoleTimers(t *testing.T) {
	now := time.UnixMilli(0)
	e := newEngine(t, jslib.Host{Now: func() time.Time { return now }})
	e.run(t, `console.time("a"); console.time("a")`)
	now = now.Add(1500 * time.Microsecond)
	e.run(t, `console.timeLog("a", {x: 1})`)
	now = now.Add(2 * time.Second)
	e.run(t, `console.timeEnd("a"); console.timeEnd("a")`)
	want := "warn: Label 'a' already exists for console.time()\nlog: a: 1.5ms { x: 1 }\nlog: a: 2.002s\nwarn: No such label 'a' for console.timeEnd()\n"
	if diff := cmp.Diff(want, e.said()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConsoleShowsErrors(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"name and message", `console.log(new TypeError("bad"))`, "[TypeError: bad]"},
		{"own properties", `console.log(Object.assign(new Error("m"), {code: "E1", status: 4}))`, "[Error: m] { code: 'E1', status: 4 }"},
		{"class name", `class MyError extends Error {}; console.log(new MyError("m"))`, "[MyError: m]"},
		{"class with a name", `class ToolCallError extends Error { constructor(m) { super(m); this.name = "ToolCallError"; this.toolName = "read" } }; console.log(new ToolCallError("no"))`, "[ToolCallError: no] { toolName: 'read' }"},
		{"cause", `console.log(new Error("outer", {cause: new RangeError("inner")}))`, "[Error: outer] { [cause]: [RangeError: inner] }"},
		{"aggregate", `console.log(new AggregateError([new Error("a"), 2], "many"))`, "[AggregateError: many] { [errors]: [ [Error: a], 2 ] }"},
		{"inside an object", `console.log({e: new Error("x")})`, "{ e: [Error: x] }"},
		{"no message", `console.log(new Error())`, "[Error]"},
		{"a message that is a getter", `const e = new Error("x"); Object.defineProperty(e, "message", {get() { throw 1 }}); console.log(e)`, "[Error]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{Stack: func(string) string { return "" }})
			e.run(t, tt.program)
			if len(e.entries) != 1 || e.entries[0].text != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.program, e.said(), tt.want)
			}
		})
	}
	t.Run("frames of the engine are left out", func(t *testing.T) {
		e := newEngine(t, jslib.Host{})
		e.run(t, `try { JSON.parse("x") } catch (e) { console.log(e) }`)
		if got := e.entries[0].text; strings.Contains(got, "native") || !strings.Contains(got, "\n    at <eval>:1:") {
			t.Errorf("got %q, want the program's frames alone", got)
		}
	})
	t.Run("frames go through the host", func(t *testing.T) {
		got := ""
		e := newEngine(t, jslib.Host{Stack: func(frames string) string { got = frames; return "    at yourCode (program.ts:1:2)" }})
		e.run(t, `function f() { return new Error("x") }; console.log(f())`)
		if want := "Error: x\n    at yourCode (program.ts:1:2)"; e.entries[0].text != want {
			t.Errorf("got %q, want %q", e.entries[0].text, want)
		}
		if !strings.HasPrefix(got, "    at f (<eval>:1:") || strings.Contains(got, "))") {
			t.Errorf("the host got %q, want frames without counters", got)
		}
	})
}

func TestConsoleIsBounded(t *testing.T) {
	tests := []struct{ name, program string }{
		{"a long string", `console.log("x".repeat(1e6))`},
		{"many strings", `console.log(..."x".repeat(1e5).split(""), {a: 1})`},
		{"a wide and deep value", `let x = "leaf"; for (let i = 0; i < 6; i++) x = Array(100).fill(x); console.log(x)`},
		{"many properties", `const o = {}; for (let i = 0; i < 1e5; i++) o["k" + i] = i; console.log(o)`},
		{"an error with a long message", `console.log(new Error("m".repeat(1e6)))`},
		{"a format with a long argument", `console.log("%s and %s", "x".repeat(1e6), "y".repeat(1e6))`},
		{"JSON of a large value", `console.log("%j", Array(1e5).fill("abc"))`},
		{"a huge sparse array", `const a = []; a[4294967294] = 1; console.log(a, new Array(4294967295))`},
		{"a long symbol and key", `console.log({["k".repeat(1e6)]: Symbol("s".repeat(1e6))})`},
		{"a large table", `console.table(Array(5000).fill({a: "x".repeat(1000)}))`},
		{"a long class name", `console.log(Object.defineProperty(function () {}, "name", {value: "n".repeat(1e6)}))`},
		{"a large map", `console.log(new Map(Array.from({length: 1e4}, (_, i) => [{i}, "v".repeat(100)])))`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{MaxConsoleBytes: 1000})
			e.run(t, tt.program)
			if len(e.entries) != 1 {
				t.Fatalf("got %d entries, want 1", len(e.entries))
			}
			if n := len(e.entries[0].text); n > 1000 || n == 0 {
				t.Errorf("the entry is %d bytes long, want 1 to 1000", n)
			}
		})
	}
	t.Run("what is cut says so", func(t *testing.T) {
		e := newEngine(t, jslib.Host{MaxConsoleBytes: 20})
		e.run(t, `console.log("é".repeat(100))`)
		if got, want := e.entries[0].text, "ééééé… (cut)"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestConsoleHandsInterruptsOn(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	_ = e.vm.Set("halt", func(goja.FunctionCall) goja.Value { e.vm.Interrupt("enough"); return goja.Undefined() })
	_, err := e.vm.RunString(`try { console.log("%s", {toString() { halt(); for (;;); }}) } catch {}`)
	if _, ok := err.(*goja.InterruptedError); !ok {
		t.Errorf("got %v, want the interrupt", err)
	}
}

func TestInspect(t *testing.T) {
	vm := goja.New()
	v, err := vm.RunString(`globalThis.job = 0; Promise.resolve().then(() => {}); ({a: {b: {c: 1}}, s: "x".repeat(300)})`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := jslib.Inspect(vm, v, jslib.InspectOptions{Depth: 1, MaxBytes: 40}), "{\n  a: { b: [Object] },\n  s:"; !strings.HasPrefix(got, want) || len(got) > 40 {
		t.Errorf("got %q, want at most 40 bytes that begin with %q", got, want)
	}
	if got := jslib.Inspect(vm, nil, jslib.InspectOptions{}); got != "undefined" {
		t.Errorf("got %q for no value, want undefined", got)
	}
}

func TestInspectorRunsNoJobs(t *testing.T) {
	vm := goja.New()
	in, err := jslib.NewInspector(vm)
	if err != nil {
		t.Fatal(err)
	}
	// A native function that is itself a reaction runs while other jobs wait and
	// no program is on the stack.
	shown, ran := "", int64(-1)
	_ = vm.Set("look", func(call goja.FunctionCall) goja.Value {
		shown = in.Inspect(vm.Get("o"), jslib.InspectOptions{})
		ran = vm.Get("ran").ToInteger()
		return goja.Undefined()
	})
	if _, err := vm.RunString(`var ran = 0; var o = {get x() { return 1 }, y: [1, {z: 2}]}; const p = Promise.resolve(); p.then(look); p.then(() => { ran++ })`); err != nil {
		t.Fatal(err)
	}
	if want := "{ x: [Getter], y: [ 1, { z: 2 } ] }"; shown != want {
		t.Errorf("got %s, want %s", shown, want)
	}
	if ran != 0 {
		t.Errorf("inspecting ran %d jobs, want none", ran)
	}
}
