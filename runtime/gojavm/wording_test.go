package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// The messages are V8's but where it tells undefined from null.
func TestWording(t *testing.T) {
	rt := newRuntime(t, nil)
	const lookAt = " is undefined or null here; look at what it holds, or read it with ?."
	for _, tc := range []struct{ code, message, hint string }{
		{"const a = { b: {} }; a.b.c.d", "TypeError: Cannot read properties of undefined (reading 'd')", "a.b.c" + lookAt},
		{"const a = {}; a.b.c()", "TypeError: Cannot read properties of undefined (reading 'c')", "a.b" + lookAt},
		{"const a = []; return a[0].id", "TypeError: Cannot read properties of undefined (reading 'id')", "a[0]" + lookAt},
		{"const a = {}, k = 'q'; return a[k][k]", "TypeError: Cannot read properties of undefined (reading 'q')", "a[k]" + lookAt},
		{"const r = await tools.ping({}); r.rows\n  .filter(x => x)\n  .map(x => x)", "TypeError: Cannot read properties of undefined (reading 'filter')", "r.rows" + lookAt},
		{"const f = () => null; f(1, [2]).x", "TypeError: Cannot read properties of undefined (reading 'x')", "f(...)" + lookAt},
		{"null.x", "TypeError: Cannot read properties of null (reading 'x')", ""},
		{"const a = undefined; a.x = 1", "TypeError: Cannot set properties of undefined (setting 'x')", "a is undefined or null here; look at what it holds"},
		{"const a = {}; a.b.c = 1", "TypeError: Cannot set properties of undefined (setting 'c')", "a.b is undefined or null here; look at what it holds"},
		{"undefined.x", "TypeError: Cannot read properties of undefined (reading 'x')", ""},
		{"const a = undefined; a[0] = 1", "TypeError: Cannot set properties of undefined (setting '0')", ""},
		{"Object.keys(undefined)", "TypeError: Cannot convert undefined or null to object", ""},

		{"console.logg(1)", "TypeError: console.logg is not a function", "did you mean log?"},
		{"console.log = 1\nconsole.log(2)", "TypeError: console.log is not a function", ""},
		{"const g = undefined\ng(1)", "TypeError: g is not a function", ""},
		{"const o = { a: {} }; o.a.b(1)", "TypeError: o.a.b is not a function", ""},
		{"const o = { a: 1 }; o.a?.()", "TypeError: o.a is not a function", ""},
		{"const o = {}, k = 'go'; o[k](1)", "TypeError: o[k] is not a function", ""},
		{"const f = () => 1; f()()", "TypeError: f(...) is not a function", ""},
		{"[1].map(x => x).foo()", "TypeError: [1].map(...).foo is not a function", ""},
		{"[1]\n  .map(x => x)\n  .foo()", "TypeError: [1].map(...).foo is not a function", ""},
		{"({}).foo()", "TypeError: (intermediate value).foo is not a function", ""},
		{"const r = { items: [1] }; r.map(x => x)", "TypeError: r.map is not a function", "r is not an array"},
		{"const n = 5; n.split(',')", "TypeError: n.split is not a function", "n is not a text"},
		{"'a'.toUppercase()", "TypeError: 'a'.toUppercase is not a function", "did you mean toUpperCase?"},
		{"const n = 3\n`x`", "TypeError: 3 is not a function", "end the line before one that begins with ` with a semicolon"},
		{"const n = 3\n(function () {})()", "TypeError: 3 is not a function", "end the line before one that begins with ( with a semicolon"},
		{"const n = 3\n[1, 2].map(x => x)", "TypeError: Cannot read properties of undefined (reading 'map')", "end the line before one that begins with [ with a semicolon"},
		{"tools('ping', {})", "TypeError: tools is not a function", "a tool is called as await tools.name({ … })"},
		{"const o = Object.create(null); o.self = o; `${o}`", "TypeError: Cannot convert object to primitive value", ""},
		{"new Map([1])", "TypeError: Iterator value 1 is not an entry object", ""},
		{"[1].map(5)", "TypeError: 5 is not a function", ""},
		{"new Promise()", "TypeError: Promise resolver undefined is not a function", ""},
		{"const f = () => 1; new f()", "TypeError: f is not a constructor", ""},
		{"const o = {}; new o.X()", "TypeError: o.X is not a constructor", ""},
		{"class A {}; A()", "TypeError: Class constructor A cannot be invoked without 'new'", ""},
		{"Object.setPrototypeOf(1, 2)", "TypeError: Object prototype may only be an Object or null: 2", ""},
		{"Reflect.ownKeys(1)", "TypeError: Value is not an object: 1", ""},

		{"for (const x of 5) {}", "TypeError: 5 is not iterable", ""},
		{"const o = {}\nfor (const x of o.list) {}", "TypeError: o.list is not iterable", ""},
		{"const o = {}; return [...o]", "TypeError: o is not iterable", ""},
		{"const o = 5, [a] = o", "TypeError: o is not iterable", ""},
		{"const o = {}; return Math.max(...o.list)", "TypeError: o.list is not iterable", ""},
		{"let u; (() => { const [a] = u })()", "TypeError: u is not iterable", ""},
		{"const [u] = []\nconst { a, b } = u;", "TypeError: Cannot destructure property 'a' of 'u' as it is undefined", ""},
		{"function f({ a }) { return a } f()", "TypeError: Cannot destructure property 'a' of a parameter as it is undefined", ""},
		{"const { a } = undefined", "TypeError: Cannot destructure property 'a' of 'undefined' as it is undefined", ""},
		{"const f = ({ a }) => a; f()", "TypeError: Cannot destructure property 'a' of a parameter as it is undefined", ""},
		{"'a' in 'abc'", "TypeError: Cannot use 'in' operator to search in abc", ""},
		{"1 instanceof 5", "TypeError: Right-hand side of 'instanceof' is not callable: 5", ""},
		{"[].reduce((a, b) => a)", "TypeError: Reduce of empty array with no initial value", ""},
		{"decodeURIComponent('%')", "URIError: URI malformed", ""},

		{"return x; let x = 1", "ReferenceError: Cannot access 'x' before initialization", ""},
		{"const results = []; return reslts", "ReferenceError: reslts is not defined", "did you mean results?"},
		{"return new RegExp('a', 'v')", "SyntaxError: Invalid flags supplied to RegExp constructor 'v'", "the flags d and v are not supported here; match.index and the lengths of groups give places"},
		{"return JSON.parse({ a: 1 })", "SyntaxError: JSON.parse: unexpected character 'o', expected a value at position 1 (line 1 column 2), near \"[object Object]\"", "it is a value already, not JSON text; use it without JSON.parse"},
		{"const o = {}; return JSON.parse(o.text)", "SyntaxError: JSON.parse: unexpected character 'u', expected a value at position 0 (line 1 column 1), near \"undefined\"", "what is parsed is undefined"},
		{"throw new TypeError('own text')", "TypeError: own text", ""},
	} {
		f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
		if f == nil || f.Message != tc.message || f.Hint != tc.hint {
			t.Errorf("%s:\n%+v\nwant %q, hint %q", tc.code, f, tc.message, tc.hint)
		}
	}
}

// What went wrong with a promise is that nobody waited for it.
func TestUnawaitedHints(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, hint string }{
		{"a member of a member", "const r = tools.ping({})\nreturn r.rows.length", "r is a promise; write await before tools.ping(…)"},
		{"a method", "const r = tools.ping({})\nreturn r.map(x => x)", "r is a promise; write await before tools.ping(…)"},
		{"walked", "const r = tools.ping({})\nfor (const x of r) {}", "r is a promise; write await before tools.ping(…)"},
		{"walked at once", "return [...tools.ping({})]", "write await before tools.ping(…)"},
		{"taken apart", "const { rows } = tools.ping({})\nreturn rows.length", "rows was taken out of a promise; write await before tools.ping(…)"},
		{"an async map", "const rs = [1, 2].map(async (n) => await tools.echo({ n }))\nreturn rs.map(r => r.n.length)", "rs holds promises; write await Promise.all(rs)"},
		{"an async map in a loop", "const rs = [1, 2].map(async n => tools.echo({ n }))\nfor (const r of rs) r.n.length", "rs holds promises; write await Promise.all(rs)"},
		{"an async map that was awaited", "const rs = await Promise.all([1, 2].map(async n => tools.echo({ n })))\nreturn rs.map(r => r.m.length)", "r.m is undefined or null here; look at what it holds, or read it with ?."},
		{"awaited", "const r = await tools.ping({})\nreturn r.rows.length", "r.rows is undefined or null here; look at what it holds, or read it with ?."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f := execute(t, rt, runtime.Request{Program: tc.code}).Failure; f == nil || f.Hint != tc.hint {
				t.Errorf("%+v, want the hint %q", f, tc.hint)
			}
		})
	}
}

// A program that catches an error reads the same words.
func TestCaughtWording(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, want string }{
		{"const o = {}; try { o.go() } catch (e) { return [e.message, e.stack.split('\\n')[0], e.name] }", `["o.go is not a function","TypeError: o.go is not a function","TypeError"]`},
		{"const o = {}; try { o.a.b } catch (e) { return String(e) }", `"TypeError: Cannot read properties of undefined (reading 'b')"`},
		{"try { try { null.x } catch (e) { throw e } } catch (e) { return e.message }", `"Cannot read properties of null (reading 'x')"`},
		{"const e = Object.freeze(new TypeError(\"Object has no member 'x'\")); try { throw e } catch (f) { return f.message }", `"Object has no member 'x'"`},
		{"try { throw new TypeError('mine') } catch (e) { return e.message }", `"mine"`},
	} {
		res := execute(t, rt, runtime.Request{Program: tc.code})
		if res.Value != tc.want {
			t.Errorf("%s gives %s (%+v), want %s", tc.code, res.Value, res.Failure, tc.want)
		}
	}
}

// Errors of operators that the engine gives no place have that of their own
// statement, not of an earlier one.
func TestPlacesOfOperators(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		code string
		site runtime.Site
	}{
		{"Math.abs(1)\nfor (const x of 5) {}", runtime.Site{Line: 2, Column: 1}},
		{"Math.abs(1)\nconst { a } = undefined", runtime.Site{Line: 2, Column: 1}},
		{"let a\nMath.abs(1);\n[a] = 5", runtime.Site{Line: 3, Column: 1}},
		{"const k = 'x'\nMath.abs(1)\nreturn k in 'abc'", runtime.Site{Line: 3, Column: 8}},
		{"const k = 'x'\nMath.abs(1)\nreturn k instanceof 5", runtime.Site{Line: 3, Column: 8}},
		{"const a = Math.abs(1)\nconst b = 10n\nreturn b * a", runtime.Site{Line: 3, Column: 8}},
		{"class Fail {}\nthrow new Fail()", runtime.Site{Line: 2, Column: 1}},
		{"Math.abs(1)\nconst n = 3\n`x`", runtime.Site{Line: 2, Column: 11}},
	} {
		f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
		if f == nil || f.Site != tc.site {
			t.Errorf("%q: %+v, want %v", tc.code, f, tc.site)
		}
	}
}
