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
		{name: "source of a function in TypeScript", program: `return String(function f(a: any){ return a })`, value: `"function f(a) {\n    return a;\n  }"`},
		{name: "locales of text", program: `return ['i'.toLocaleUpperCase('tr')]`, failure: `RangeError: changing case for the language "tr" is not supported here; use toLowerCase() or toUpperCase()`},
		{name: "comparisons of comparisons in evaluated text", program: `return [eval('1 < 2 < 3'), 1 < 2 < 3]`, value: `[false,true]`},
		{name: "finally that throws in evaluated text", program: `const log = []; new Function('log', 'try { try { } catch (e) { log.push(e) } finally { throw 1 } } catch (e) { log.push("o" + e) }')(log); return log`, value: `[1,"o1"]`},
		{name: "digits of other radixes", program: `return (1e21).toString(36)`, value: `"5v1j4f4ds79m9s"`},
		{name: "a date of many digits in evaluated text", program: `return eval("new Date('1704067200000')").getUTCFullYear()`, value: `0`},
		{name: "negative zero of integers", program: `const n = 0; return [Object.is(n * -2, 0), Object.is(n * -1, -0)]`, value: `[true,true]`},
		{name: "integer operators on very large numbers", program: `return [1e21 | 0, 2 ** 40 | 0, (2 ** 40 + 5) >>> 0]`, value: `[0,0,5]`},
		{name: "await in the default of a parameter", program: `const f = (g = async () => await 5) => g(); return f()`, failure: `SyntaxError: Illegal await-expression in formal parameters of async function`},
		{name: "finally that throws in a generator that is ended", program: `function* f() { try { try { yield 1 } finally { throw 2 } } catch (e) { return 'c' + e } } const g = f(); g.next(); return g.return(3)`, failure: `2`},
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
		{name: "texts of errors in evaluated code", program: `return eval("try { null.x } catch (e) { e.message }")`, value: `"Cannot read property 'x' of undefined"`},
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
