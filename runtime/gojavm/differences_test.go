package gojavm_test

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// TestKnownDifferences holds docs/conformance.md to what it says differs from
// Node. A row that fails may be good news: then the page has to lose a line.
func TestKnownDifferences(t *testing.T) {
	rt := newRuntime(t)
	for _, tt := range []struct{ name, program, value, failure string }{
		{name: "text equal to an integer in evaluated text", program: `return [eval("'6.00' == 6"), eval("6 == '6.00'")]`, value: `[false,true]`},
		{name: "last digits", program: `return [Math.tan(Math.PI / 4), 1.1 ** 10, Math.acos(0.5)]`, value: `[1,2.593742460100002,1.0471975511965976]`},
		{name: "big integers", program: `const n = JSON.parse('9007199254740993'); return [typeof n, JSON.stringify({n}), typeof JSON.parse('9007199254740993.0')]`, value: `["bigint","{\"n\":9007199254740993}","number"]`},
		{name: "source of a function", program: `return String(function f(a){ return a })`, value: `"function f(a) {\n    return a;\n  }"`},
		{name: "locales of text", program: `return ['i'.toLocaleUpperCase('tr')]`, value: `["I"]`},
		{name: "import.meta", program: `return import.meta`, value: `{}`},
		{name: "weak references are strong", program: `return new WeakRef({a: 1}).deref()`, value: `{"a":1}`},
		{name: "absent", program: `return [typeof Temporal, typeof Atomics, typeof SharedArrayBuffer, typeof Intl.Segmenter]`, value: `["undefined","undefined","undefined","undefined"]`},
		{name: "Object.prototype is closed", program: `Object.prototype.foo = 1; return typeof ({}).foo`, value: `"undefined"`},
		{name: "sloppy", program: `undeclared = 1; return undeclared`, value: `1`},
		{name: "namespace", program: `namespace N { export const a = 1 } return N.a`, failure: `namespace on line 1: a program is the body of a function, which holds no namespaces`},
		{name: "flag d", program: `return /a/d`, failure: `SyntaxError: Invalid flags supplied to RegExp constructor 'd'`},
		{name: "flag v", program: `return new RegExp('a', 'v')`, failure: `SyntaxError: Invalid flags supplied to RegExp constructor 'v'`},
		{name: "other locales", program: `return (1234.5).toLocaleString('de-DE')`, failure: `RangeError: formatting numbers for the locale "de-DE" is not supported here; use en-US`},
		{name: "property of null", program: `const a = null; return a.x`, failure: `TypeError: Cannot read properties of undefined (reading 'x')`},
		{name: "texts of errors outside catch", program: `const [r] = await Promise.allSettled([(async () => null.x)()]); return r.reason.message`, value: `"Cannot read property 'x' of undefined"`},
		{name: "depth is not caught", program: `try { (function f() { f() })() } catch (e) { return e.name }`, failure: `call depth exceeded (1024 nested calls)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := rt.Run(t.Context(), runtime.Request{Program: tt.program})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if res.Failure != nil {
				got = res.Failure.Message
			}
			if res.Value != tt.value || got != tt.failure {
				t.Errorf("value %s, failure %q; want %s, %q", res.Value, got, tt.value, tt.failure)
			}
		})
	}
}
