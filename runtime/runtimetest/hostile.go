package runtimetest

import (
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// program is a row of which nothing but the source differs.
type program struct{ name, code string }

// hostile runs programs that mean to take the host down, or to go on for ever.
// Each must end with a clear kind, and a good program must run after it.
func (s Suite) hostile(t *testing.T) {
	quick := runtime.Limits{Wall: 10 * time.Second, Compute: 200 * time.Millisecond, Heap: 256 << 20, Output: 1 << 20}
	var rows []row
	add := func(f *failure, name, code string) {
		rows = append(rows, row{name: name, code: code, limits: quick, fails: f, loose: true})
	}
	for _, c := range []program{
		{"endless loop", "while (true) {}"},
		{"loop that allocates", "for (;;) (() => ({}))()"},
		{"loop in try and finally", "for (;;) { try { continue } finally { continue } }"},
		{"catch and retry", "for (;;) { try { for (;;) {} } catch {} }"},
		{"return in a finally", "function f() { try { for (;;) {} } finally { return 1 } } return f()"},
		{"microtask loop", "const f = () => Promise.resolve().then(f); await f()"},
		{"await loop", "for (;;) await null"},
		{"loop after an await", "await tools.echo({}); while (true) {}"},
		{"loop in a timer", "await new Promise(() => setTimeout(() => { for (;;) {} }, 0))"},
		{"loop in a callback of a call", "await tools.echo({}).then(() => { for (;;) {} })"},
		{"spread of an endless iterator", "[...(function* () { while (true) yield 0 })()].length"},
		{"endless getter", "return { get a() { for (;;) {} } }"},
		{"endless getter in an argument", "await tools.echo({ get a() { for (;;) {} } })"},
		{"endless toString", "`${{ toString() { for (;;) {} } }}`"},
		{"endless error message", "throw { get message() { for (;;) {} }, get stack() { for (;;) {} }, toString() { for (;;) {} } }"},
		{"endless error name", "const e = new Error('x'); Object.defineProperty(e, 'name', { get() { for (;;) {} } }); throw e"},
		{"endless proxy in the result", "return new Proxy({}, { ownKeys() { for (;;) {} } })"},
		{"endless proxy that is printed", "console.log(new Proxy({}, { ownKeys() { for (;;) {} }, get() { for (;;) {} } })); for (;;) {}"},
		{"endless sort", "[1, 2, 3].sort(() => { for (;;) {} })"},
		{"endless replacer", "JSON.stringify({ a: 1 }, () => { for (;;) {} })"},
		{"endless loop in eval", "eval('for (;;) {}')"},
		{"a promise chain without end", "let p = Promise.resolve(); const g = () => { p = p.then(g) }; g(); for (;;) await p"},
	} {
		add(ends(runtime.Timeout, "compute budget exhausted ("), c.name, c.code)
	}
	for _, c := range []program{
		{"timers that set timers", "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})"},
		{"an interval for ever", "setInterval(() => {}, 0); await new Promise(() => {})"},
	} {
		rows = append(rows, row{name: c.name, code: c.code, limits: runtime.Limits{Wall: 200 * time.Millisecond, Compute: 5 * time.Second}, fails: ends(runtime.Timeout, "wall-clock"), loose: true})
	}
	for _, c := range []program{
		{"repeat", "'x'.repeat(2 ** 40)"},
		{"repeat of one GB", "'x'.repeat(2 ** 30)"},
		{"padEnd", "'x'.padEnd(2 ** 30)"},
		{"padStart", "'x'.padStart(2 ** 36, 'ab')"},
		{"ArrayBuffer", "new ArrayBuffer(8e9)"},
		{"Uint8Array", "new Uint8Array(2 ** 32)"},
		{"Float64Array", "new Float64Array(2 ** 29)"},
		{"fill", "new Array(2 ** 30).fill(0)"},
		{"join", "new Array(1e9).join('x')"},
		{"sort", "new Array(2 ** 32 - 1).sort()"},
		{"from a length", "Array.from({ length: 1e9 })"},
		{"repeat in an array", "['x'].map(s => s.repeat(2 ** 40))"},
	} {
		add(&failure{kind: runtime.MemoryLimit, line: 2}, "memory: "+c.name, "const a = 1;\nreturn ("+c.code+").length")
	}
	// What takes a parser's stack, at most a little under the source limit and
	// well over it.
	for _, c := range []struct{ name, open, middle, close string }{
		{"parentheses", "(", "1", ")"},
		{"arrays", "[", "", "]"},
		{"objects", "{a:", "1", "}"},
		{"not", "!", "1", ""},
		{"minus", "-(", "1", ")"},
		{"templates", "`${", "1", "}`"},
		{"arrows", "()=>", "1", ""},
		{"sums", "1+", "1", ""},
		{"conditionals", "1?1:", "1", ""},
		{"blocks", "{", "", "}"},
		{"typeof", "typeof ", "1", ""},
		{"calls", "f(", "1", ")"},
		{"exponents", "2**", "1", ""},
		{"await", "await ", "1", ""},
	} {
		for _, size := range []int{250_000, 1_000_000} {
			n := size / (len(c.open) + len(c.close))
			lead := "const x = "
			if c.name == "blocks" {
				lead = ""
			}
			add(ends(runtime.InvalidInput), "source: "+c.name+map[bool]string{true: " over the limit"}[size > 500_000],
				lead+strings.Repeat(c.open, n)+c.middle+strings.Repeat(c.close, n))
		}
	}
	for _, c := range []program{
		{"recursion", "function f() { return f() } f()"},
		{"recursion that is caught", "function f() { try { return f() } catch { return f() } } f()"},
		{"recursion through map", "const f = () => [1].map(f); f()"},
		{"recursion through toString", "const o = { toString() { return String(o) } }; String(o)"},
		{"recursion through a proxy", "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.a"},
		{"recursion through sort", "const f = () => [2, 1].sort(f); f()"},
		{"recursion through replace", "const f = () => 'x'.replace('x', f); f()"},
		{"recursion of a constructor", "function A() { return new A() } new A()"},
		{"recursion of async function", "async function f() { return f() } await f()"},
		{"recursion through JSON", "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)"},
	} {
		rows = append(rows, row{name: c.name, code: c.code, limits: runtime.Limits{Depth: 400}, fails: ends(runtime.Exception, "call depth exceeded"), loose: true})
	}
	// What nests without a bracket or an operator may run or fail, but must end.
	for _, c := range []program{
		{"if", strings.Repeat("if(1)", 40_000) + ";"},
		{"else", strings.Repeat("if(0);else ", 20_000) + ";"},
		{"labels", strings.Repeat("a:{break a}", 20_000)},
		{"types", "let x: " + strings.Repeat("A<", 50_000) + "B" + strings.Repeat(">", 50_000)},
		{"loops", strings.Repeat("for(;0;)", 30_000) + ";"},
		{"new", strings.Repeat("new ", 50_000) + "f"},
		{"commas", "0" + strings.Repeat(",0", 100_000)},
		{"statements", strings.Repeat(";", 200_000)},
		{"a pattern", "/" + strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000) + "/"},
		{"text without end", "`" + strings.Repeat("${`", 100)},
		{"bytes that are no text", "return '\xff\xfe\x00'"},
	} {
		rows = append(rows, row{name: "source: " + c.name, code: c.code, limits: runtime.Limits{Wall: 2 * time.Second}, any: true})
	}
	rows = append(rows,
		row{name: "evaluated source has the same limits", code: "try { eval('('.repeat(1e6) + '1' + ')'.repeat(1e6)); return 'ran' } catch (e) { return e instanceof Error }", value: `true`},
		row{name: "a function of evaluated source has them too", code: "try { new Function('return ' + '!'.repeat(1e6) + '1'); return 'made' } catch (e) { return e instanceof Error }", value: `true`},
		row{name: "a pattern that is linear", code: "return /^(a+)+$/.test('a'.repeat(40) + 'b')", value: `false`},
		row{name: "a million timers", limits: runtime.Limits{Wall: 15 * time.Second}, code: "for (let i = 0; i < 100_000; i++) setTimeout(() => {}, 1e6); return 'set'", value: `"set"`},
		row{name: "many floating calls", code: "for (let i = 0; i < 2_000; i++) tools.echo({ i }); return 'made'", value: `"made"`, notes: []string{"further calls"}},
		row{name: "a cycle that is thrown", code: "const a = {}; a.a = a; throw a", fails: ends(runtime.Exception)},
		row{name: "a shared tree as an argument", limits: runtime.Limits{Argument: 64 << 10}, code: "let a = {}; for (let i = 0; i < 40; i++) a = { l: a, r: a };\ntry { await tools.echo(a) } catch (e) { return e instanceof ToolCallError }", value: `true`},
		row{name: "a line that is too long to print", limits: runtime.Limits{Output: 1000}, code: "console.log('x'.repeat(50e6))", fails: ends(runtime.OutputLimit), loose: true},
		row{name: "a good program after all that", code: `return (await tools.echo({ a: 1 })).a`, value: `1`},
	)
	if s.Kills {
		rows = append(rows, killed(quick)...)
	}
	s.rows(t, rows)
}

// killed are programs that only the death of a process ends.
func killed(quick runtime.Limits) []row {
	var rows []row
	add := func(f *failure, name, code string) {
		rows = append(rows,
			row{name: name, code: code, limits: quick, fails: f, loose: true},
			row{name: "after " + name, code: `return 1`, value: `1`})
	}
	for _, c := range []program{
		{"backtracking", `return /^(\w+\s?)+\1$/.test('word '.repeat(24) + '!')`},
		{"backtracking behind lookahead", `return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')`},
		{"forEach over a huge length", `[].forEach.call({ length: 2 ** 53 - 1 }, () => {}); for (;;) {}`},
	} {
		add(ends(runtime.Timeout), c.name, c.code)
	}
	for _, c := range []program{
		{"a shift of everything", `return String(1n << 2n ** 40n).length`},
		{"a string that doubles", `let s = 'x'; for (;;) s += s`},
		{"an array that grows", `const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)`},
		{"a map that grows", `const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })`},
		{"a power of powers", `return String(2n ** (2n ** 40n)).length`},
		{"arguments without end", `return Math.max.apply(null, { length: 1e8 })`},
		{"a spread of everything", `return Math.max(...Array(1e8))`},
		{"a tree that is flattened", `let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a.flat(Infinity).length`},
		{"a tree as text", `let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return String(a).length`},
		{"a replacement that grows", `let s = 'ab'.repeat(1e6); for (;;) s = s.replaceAll('a', s.slice(0, 1000))`},
		{"a long array reversed", `const a = []; a.length = 4e9; return a.reverse().length`},
		{"a search in nothing", `return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)`},
		{"a buffer that is sorted", `const a = new Float64Array(3e7).map(() => Math.random()); return a.sort().length`},
		{"clones of clones", `let a = ['x'.repeat(1e5)]; for (;;) a = structuredClone([a, a])`},
		{"errors without end", `const a = []; for (;;) a.push(new Error('x'.repeat(1e4) + a.length))`},
		{"closures without end", `const a = []; for (;;) { const big = new Array(1e4).fill(a.length); a.push(() => big) }`},
	} {
		// A runtime refused memory may die in any way; the row after it shows that
		// nobody else did.
		add(&failure{kind: runtime.MemoryLimit, or: runtime.Timeout, orElse: runtime.WorkerExit}, c.name, c.code)
	}
	return rows
}
