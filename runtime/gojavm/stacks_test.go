package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// What scripts read has the form V8 gives it: the author's frames alone.
func TestStacksAsScriptsReadThem(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, want string }{
		{"a new error", "function f() { return new Error('x').stack }\nreturn f()", "Error: x\n    at f (program.ts:1:23)\n    at program.ts:2:8"},
		{"after an await", "async function g() { await null; null.x }\ntry { await g() } catch (e) { return e.stack }", "TypeError: Cannot read properties of null (reading 'x')\n    at g (program.ts:1:39)\n    at program.ts:2:7"},
		{"through the engine's own functions", "try { [1].map(() => { throw new RangeError('r') }) } catch (e) { return e?.stack }", "RangeError: r\n    at program.ts:1:29\n    at program.ts:1:11"},
		{"of a class of the program's", "class A extends Error {\n  constructor(m) { super(m) } }\nreturn new A('k')['stack']", "Error: k\n    at program.ts:3:8"},
		{"a failed call", "try { await tools.fail({}) } catch (e) { return e.stack }", "ToolCallError: it broke\n    at program.ts:1:19"},
		{"taken apart", "const { stack, message: m } = new Error('x'); return stack", "Error: x\n    at program.ts:1:31"},
		{"in a text", "try { throw new Error('x') } catch (e) { return `${e.stack || e}` }", "Error: x\n    at program.ts:1:13"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.code})
			if res.Value != quoted(tc.want) {
				t.Errorf("%s (%+v), want %s", res.Value, res.Failure, quoted(tc.want))
			}
		})
	}
}

// The care for stacks changes nothing else about properties of that name.
func TestPropertiesNamedStack(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, want string }{
		{"class S { stack = []; push(x) { this.stack.push(x); return this } } try { return new S().push(1).stack } catch {}", "[1]"},
		{"const o = { stack: 1 }; o.stack += 2; o.stack++; const p = [o.stack, delete o.stack, 'stack' in o]; return p // Error", `[4,true,false]`},
		{"let o; const p = [o?.stack, o?.a.stack, o?.a?.stack, { a: { stack: 3 } }?.a.stack]; return p.map(x => x ?? null) // Error", "[null,null,null,3]"},
		{"const e = new Error('x'); e.stack = 'mine'; return [e.stack, Object.keys(e)]", `["mine",[]]`},
		{"const e = new Error('x'); e.stack; const d = Object.getOwnPropertyDescriptor(e, 'stack'); return [d.writable, d.enumerable, d.configurable, typeof d.value]", `[true,false,true,"string"]`},
		{"const e = Object.freeze(new Error('x')); return typeof e.stack", `"string"`},
		{"class B extends Error { get stack() { return super.stack === undefined } } return typeof new B('x').stack", `"string"`},
		{"try { null.stack } catch (e) { return e.message }", `"Cannot read properties of null (reading 'stack')"`},
		{"const f = (stack) => stack; return f(1) // Error", "1"},
	} {
		res := execute(t, rt, runtime.Request{Program: tc.code})
		if res.Failure != nil || res.Value != tc.want {
			t.Errorf("%s\n gives %s (%+v), want %s", tc.code, res.Value, res.Failure, tc.want)
		}
	}
}

// Values that are no errors carry no stack of their own.
func TestPlacesOfThrownValues(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name, code, message string
		site                runtime.Site
	}{
		{"thrown at once", "const a = 1\nthrow 'x'", "x", runtime.Site{Line: 2, Column: 1}},
		{"thrown after an await", "await null\n  throw 'x'", "x", runtime.Site{Line: 2, Column: 3}},
		{"an object", "await null\nthrow { code: 1 }", "{ code: 1 }", runtime.Site{Line: 2, Column: 1}},
		{"thrown again", "try {\n  throw 5\n} catch (e) {\n  throw e\n}", "5", runtime.Site{Line: 4, Column: 3}},
		{"in a function nobody awaits", "async function h() {\n  await null; throw 5\n}\nh(); await null; await null; await null; return 1", "unhandled rejection: 5", runtime.Site{Line: 2, Column: 15}},
		{"in a microtask", "queueMicrotask(() => {\n  throw 'micro'\n})\nawait null; return 1", "unhandled rejection: micro", runtime.Site{Line: 2, Column: 3}},
		{"an error in a microtask", "queueMicrotask(() => {\n  throw new Error('micro')\n})\nawait null; return 1", "unhandled rejection: Error: micro", runtime.Site{Line: 2, Column: 9}},
		{"in a timer", "setTimeout(() => {\n  throw 'late'\n})\nawait new Promise(() => {})", "late", runtime.Site{Line: 2, Column: 3}},
		{"a rejection that is awaited", "const p = new Promise((_, no) => setTimeout(() => no('later'), 1))\nawait p", "later", runtime.Site{Line: 2, Column: 1}},
		{"an error of the engine's without a stack", "\nawait Promise.any([Promise.reject(1)])", "AggregateError\n  [error 1] 1", runtime.Site{Line: 2, Column: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
			if f == nil || f.Message != tc.message || f.Site != tc.site || f.Frame == "" {
				t.Errorf("%+v, want %q at %v", f, tc.message, tc.site)
			}
		})
	}
}
