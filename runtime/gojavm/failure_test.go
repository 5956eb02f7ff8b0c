package gojavm

import (
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

func TestThrownValues(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, message string }{
		{"throw new Error('x')", "Error: x"},
		{"throw new RangeError('')", "RangeError"},
		{"const e = new Error('m'); e.name = ''; throw e", "m"},
		{"const e = new Error('m'); e.stack = undefined; throw e", "Error: m"},
		{"const e = new Error('m'); e.stack = 5; throw e", "Error: m"},
		{"throw 'xy'", "xy"},
		{"throw ''", ""},
		{"throw null", "null"},
		{"throw undefined", "undefined"},
		{"throw 12.5", "12.5"},
		{"throw 7n", "7"},
		{"throw Symbol('s')", "Symbol(s)"},
		{"throw { code: 1, list: [1, 2] }", "{ code: 1, list: [ 1, 2 ] }"},
		{"throw ['a']", "[ 'a' ]"},
		{"throw { toString() { return 'own text' } }", "own text"},
		{"throw { toString() { throw 1 } }", unrenderable},
		{"throw { get message() { throw 1 }, toString() { throw 2 } }", unrenderable},
		{"const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e", unrenderable},
		{"const e = new Error('x'); e.message = Symbol('s'); throw e", unrenderable},
		{"throw new Proxy({}, { get() { throw new Error('trap') } })", unrenderable},
		{"const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy", unrenderable},
		{"throw '\\ud800'", "\xed\xa0\x80"},
		{"null.x", "TypeError: Cannot read properties of null (reading 'x')"},
	} {
		res := execute(t, rt, runtime.Request{Program: tc.code})
		if res.Failure == nil || res.Failure.Kind != runtime.Exception || res.Failure.Message != tc.message {
			t.Errorf("%s: %+v, want %q", tc.code, res.Failure, tc.message)
		}
	}
}

func TestFailureFields(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "const a = 1\nasync function save() {\n  await tools.fail({ a })\n}\nawait save()"})
	f := res.Failure
	if f == nil {
		t.Fatal("no failure")
	}
	if f.Kind != runtime.Exception || f.Message != "ToolCallError: it broke" || f.Name != "ToolCallError" || f.Code != "BROKEN" || f.Tool != "fail" {
		t.Errorf("failure %+v", f)
	}
	if f.Site != (runtime.Site{Line: 3, Column: 15}) || !strings.Contains(f.Frame, "> 3 |   await tools.fail({ a })\n    |               ^") {
		t.Errorf("at %v\n%s", f.Site, f.Frame)
	}
	if len(f.Stack) == 0 || f.Stack[0].Function != "save" || f.Stack[0].Site != f.Site {
		t.Errorf("stack %+v", f.Stack)
	}
}

// Text of thrown values is made by the program's own code, so the limits hold.
func TestRenderingIsBounded(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, code := range []string{
		"const e = new Error('m'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
		"throw { toString() { for (;;); } }",
		"return { get a() { for (;;); } }",
		"return new Proxy({}, { ownKeys() { for (;;); } })",
		"return { then(r) { for (;;); } }",
	} {
		res := execute(t, rt, runtime.Request{Program: code, Limits: runtime.Limits{Compute: 50 * time.Millisecond}})
		if res.Failure == nil || res.Failure.Kind != runtime.Timeout || res.Failure.Message != "compute budget exhausted (50ms busy)" {
			t.Errorf("%s: %+v", code, res.Failure)
		}
	}
}

func TestWaitingForNothing(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name, code string
		site       runtime.Site
	}{
		{"at the top", "const a = 1\nawait new Promise(() => {})", runtime.Site{Line: 2, Column: 1}},
		{"after other awaits", "await tools.ping()\nawait null\n  await new Promise(() => {})", runtime.Site{Line: 3, Column: 3}},
		{"in a function", "async function f() {\n  await new Promise(() => {})\n}\nawait f()", runtime.Site{Line: 4, Column: 1}},
		{"an unrelated then came first", "new Promise(() => {}).then(() => {})\nconst p = new Promise(() => {})\nawait p", runtime.Site{Line: 3, Column: 1}},
		{"a thenable that never answers", "const a = { then() {} }\nawait a", runtime.Site{Line: 2, Column: 1}},
		{"in a loop", "for (let i = 0; i < 3; i++) {\n  await (i < 2 ? tools.ping() : new Promise(() => {}))\n}", runtime.Site{Line: 2, Column: 3}},
		{"in an async generator", "async function* g() {\n  yield await null\n  yield await new Promise(() => {})\n}\nfor await (const x of g());", runtime.Site{Line: 5, Column: 1}},
		{"a cleared timer", "await new Promise(r => { const t = setTimeout(r, 1e6); clearTimeout(t) })", runtime.Site{Line: 1, Column: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.code})
			f := res.Failure
			if f == nil || f.Kind != runtime.Exception || f.Message != "the program waits for a promise that nothing can settle" {
				t.Fatalf("failure %+v", f)
			}
			if f.Site != tc.site {
				t.Errorf("at %v, want %v", f.Site, tc.site)
			}
		})
	}
}

func TestUnhandledRejections(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, message string }{
		{"an error", "Promise.reject(new Error('x')); return 1", "unhandled rejection: Error: x"},
		{"a text", "Promise.reject('x'); return 1", "unhandled rejection: x"},
		{"in an async function nobody awaits", "(async () => { throw new Error('lost') })(); await null; return 1", "unhandled rejection: Error: lost"},
		{"in a microtask", "queueMicrotask(() => { throw new Error('micro') }); await null; return 1", "unhandled rejection: Error: micro"},
		{"handled in time", "const p = Promise.reject(new Error('x')); await null; p.catch(() => {}); return 1", ""},
		{"handled by allSettled", "await Promise.allSettled([Promise.reject(1)]); return 1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.code})
			got := ""
			if res.Failure != nil {
				got = res.Failure.Message
			}
			if got != tc.message {
				t.Errorf("failure %q, want %q", got, tc.message)
			}
		})
	}
}

func TestCompletionValues(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		code, value string
		kind        runtime.Kind
		message     string
	}{
		{code: "return", value: ""},
		{code: "return null", value: "null"},
		{code: "return tools.echo([1])", value: "[1]"},
		{code: "return new Error('x')", value: `{"name":"Error","message":"x"}`},
		{code: "return [1, NaN]", kind: runtime.InvalidOutput, message: "program completion must be lossless JSON: [1] is NaN"},
		{code: "return { heads: [Promise.resolve(1)] }", kind: runtime.InvalidOutput, message: "program completion must be lossless JSON: promise at heads[0]; use await Promise.all"},
		{code: "return 'x'.repeat(100)", kind: runtime.OutputLimit, message: "outer output exceeded 90 bytes"},
	} {
		res := execute(t, rt, runtime.Request{Program: tc.code, Limits: runtime.Limits{Output: 90}})
		f := res.Failure
		if tc.kind == "" {
			if f != nil || res.Value != tc.value {
				t.Errorf("%s: %s (%+v), want %s", tc.code, res.Value, f, tc.value)
			}
		} else if f == nil || f.Kind != tc.kind && f.Kind != runtime.OutputLimit || tc.kind == runtime.OutputLimit && f.Message != tc.message {
			t.Errorf("%s: %+v, want %s %q", tc.code, f, tc.kind, tc.message)
		}
		if tc.kind != runtime.InvalidOutput {
			continue
		}
		res = execute(t, rt, runtime.Request{Program: tc.code})
		if res.Failure == nil || res.Failure.Kind != tc.kind || res.Failure.Message != tc.message {
			t.Errorf("%s: %+v, want %s %q", tc.code, res.Failure, tc.kind, tc.message)
		}
	}
}

func TestDepth(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "const a = 1\nfunction f() { try { f() } catch { return 1 } finally { console.log('caught') } }\nf()\nreturn 1"})
	f := res.Failure
	if f == nil || f.Kind != runtime.Exception || f.Message != "call depth exceeded (1024 nested calls)" || f.Site.Line != 2 || len(res.Logs) > 0 {
		t.Errorf("failure %+v, logs %q", f, res.Logs)
	}
	own := newRuntime(t, &Options{OwnProcess: true})
	program := "function f(n) { return n ? 1 + f(n - 1) : 0 }\nreturn f(3000)"
	if res := execute(t, own, runtime.Request{Program: program}); res.Value != "3000" {
		t.Errorf("in a process of its own: %+v", res.Failure)
	}
	if res := execute(t, rt, runtime.Request{Program: program, Limits: runtime.Limits{Depth: 4_000}}); res.Value != "3000" {
		t.Errorf("with a higher limit: %+v", res.Failure)
	}
}

// The engine itself keeps no place for loops without calls.
func TestPlacesOfLoops(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		code    string
		entered int // loops, when the last of them does not end
		line    int
	}{
		{"while (true) {}", 1, 1},
		{"f()\nfunction f() {\n  while (true) {}\n}", 1, 3},
		{"const a = Math.abs(1)\nwhile (true) {}", 1, 2},
		{"Math.abs(1)\nlet i = 0\nwhile (true) { i++ }", 1, 3},
		{"Math.abs(1)\nfor (;;);", 1, 2},
		{"Math.abs(1)\n\nfor (let i = 0; ; i++) {}", 1, 3},
		{"Math.abs(1)\ndo {} while (1)", 1, 2},
		{"Math.abs(1)\nouter: for (;;) {\n  for (;;) { continue outer }\n}", 1_000, 2},
		{"Math.abs(1)\nif (true)\n  for (;;);", 1, 3},
		{"Math.abs(1)\nif (false) {} else while (true);", 1, 2},
		{"Math.abs(1)\nswitch (1) {\n  case 1:\n    for (;;);\n}", 1, 4},
		{"const f = () => {\n  for (;;);\n}\n[1].map(f)", 1, 2},
		{"class A { static {\n  for (;;);\n} }", 1, 2},
		{"await null\nfor (;;);", 1, 2},
		{"async function* g() {\n  for (;;);\n  yield 1\n}\nfor await (const x of g());", 2, 2},
	} {
		f := stoppedInLoop(t, rt, tc.code, tc.entered)
		// A loop in a loop may be stopped in either.
		if f.Site.Line != tc.line && !(strings.Contains(tc.code, "outer") && f.Site.Line == tc.line+1) {
			t.Errorf("%q: line %d, want %d", tc.code, f.Site.Line, tc.line)
		}
	}
}

// stoppedInLoop runs a program until it has come to loops so many times and then
// has another goroutine stop it, as a limit does.
func stoppedInLoop(t *testing.T, rt *Runtime, code string, entered int) runtime.Failure {
	t.Helper()
	lim, err := rt.limits(runtime.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t.Context(), rt, runtime.Request{Program: code}, lim)
	r.meter = newMeter(lim.Compute, func() { r.stopWith(runtime.ComputeExhausted(lim.Compute)) })
	if !r.prepare() {
		t.Fatalf("%q: %+v", code, r.failure)
	}
	helpers := r.helpers()
	// A loop begins with a look at the first one's length; see mark.
	seen := r.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if entered--; entered == 0 {
			go r.stopWith(runtime.Failure{Kind: runtime.Timeout})
		}
		return goja.Undefined()
	})
	if err := helpers[0].ToObject(r.vm).DefineAccessorProperty("length", seen, nil, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		t.Fatal(err)
	}
	if r.turn(func() error { return r.startWith(helpers) }) {
		t.Fatalf("%q ends, %d loops short", code, entered)
	}
	if entered > 0 {
		t.Errorf("%q: %+v, %d loops short", code, r.failure, entered)
	}
	return *r.failure
}

func TestMarksChangeNothing(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, want string }{
		{"const out = []; a: for (let i = 0; i < 3; i++) { b: for (let j = 0; j < 3; j++) { if (j === 1) continue a; if (i === 2) break a; out.push(i, j) } } return out", "[0,0,1,0]"},
		{"let n = 0; if (n === 0) while (n < 3) n++; else for (;;); return n", "3"},
		{"let n = 0; if (true) a: do { n++; if (n > 2) break a; continue a } while (true); return n", "3"},
		{"'use strict'; for (let i = 0; i < 1; i++); return (function () { 'use strict'; for (;;) return this === undefined })()", "true"},
		{"const fs = []; for (let i = 0; i < 2; i++) fs.push(async () => (await null, i)); return await Promise.all(fs.map(f => f()))", "[0,1]"},
		{"const o = { await: 1 }; return await (await Promise.resolve(o)).await", "1"},
		{"return [await 1, await { then(r) { r(2) } }, await undefined === undefined]", "[1,2,true]"},
		{"const o = { f() { return this === o } }; return await o.f()", "true"},
		{"class A { static x = (() => { for (;;) return 5 })(); async m(v = 1) { return await v } } return [A.x, await new A().m()]", "[5,1]"},
		{"function* g() { for (let i = 0; i < 2; i++) yield i } return [...g()]", "[0,1]"},
		{"try { await Promise.reject(new Error('x')) } catch (e) { return e.message } finally { await null }", `"x"`},
	} {
		res := execute(t, rt, runtime.Request{Program: tc.code})
		if res.Failure != nil || res.Value != tc.want {
			t.Errorf("%s\n gives %s (%+v), want %s", tc.code, res.Value, res.Failure, tc.want)
		}
	}
}

func TestEngineFailures(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "try { return eval('1n << 2n ** 64n - 1n') } catch { return 'caught' }"})
	if f := res.Failure; f == nil || f.Kind != runtime.MemoryLimit || f.Message != "one step asked for more memory than there can be" {
		t.Errorf("%s %+v", res.Value, res.Failure)
	}
	if f := engineFailed("odd"); f.Kind != runtime.Exception || f.Message != "the engine failed: odd" {
		t.Errorf("%+v", f)
	}
}
