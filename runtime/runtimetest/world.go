package runtimetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// fixedClock is a clock that stands still.
func fixedClock() time.Time { return time.Date(2024, 2, 29, 12, 0, 0, 123e6, time.UTC) }

// globals are the names a program may find on the global object, beside those it
// was given: ECMA-262's and the web's.
const globals = `
globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array
Float32Array Float64Array Function Int8Array Int16Array Int32Array Iterator Map Number Object Promise Proxy RangeError ReferenceError RegExp Set
String SuppressedError Symbol SyntaxError TypeError Uint8Array Uint8ClampedArray Uint16Array Uint32Array URIError WeakMap WeakRef WeakSet
Atomics Intl JSON Math Reflect
console setTimeout clearTimeout setInterval clearInterval setImmediate clearImmediate queueMicrotask structuredClone
TextEncoder TextDecoder URL URLSearchParams atob btoa AbortController AbortSignal Event EventTarget CustomEvent DOMException crypto Crypto performance Performance Buffer`

// world checks that every run has a world of its own with nothing of the host's
// in it.
func (s Suite) world(t *testing.T) {
	s.rows(t, []row{
		{name: "write a global", code: `globalThis.left = 1; Array.prototype.left = 2; String.prototype.left = 3; console.left = 4; Math.left = 5; return 1`, value: `1`},
		{name: "the next run does not see it", code: `return [typeof left, typeof [].left, typeof ''.left, typeof console.left, typeof Math.left]`, value: `["undefined","undefined","undefined","undefined","undefined"]`},
		{name: "break the library", code: `JSON.parse = () => 'broken'; Promise.prototype.then = null; delete globalThis.Array; return 1`, value: `1`},
		{name: "the next run has a whole one", code: `return [JSON.parse('[1]'), await Promise.resolve(1).then(x => x + 1), Array.isArray([])]`, value: `[[1],2,true]`},
		{name: "nothing of the host", code: `return [typeof process, typeof require, typeof module, typeof exports, typeof fetch, typeof global, typeof Deno, typeof Bun, typeof XMLHttpRequest, typeof WebSocket, typeof WebAssembly, typeof __dirname, typeof importScripts].filter(t => t !== 'undefined')`, value: `[]`},
		{name: "nothing behind Function", code: `return [].constructor.constructor('return typeof process + typeof require')()`, value: `"undefinedundefined"`},
		{name: "no modules", code: `const out = []; for (const n of ['fs', 'node:fs', './x.json', '/etc/passwd', 'process', 'buffer']) { try { await import(n); out.push(n) } catch (e) {} } return out`, value: `[]`},
		{name: "no file through a source map", code: "return eval('1\\n//# sourceMappingURL=file:///etc/passwd')", value: `1`},
		{name: "no more globals than documented", code: `const known = new Set(` + quote(strings.Join(strings.Fields(globals), " ")) + `.split(' ').concat('tools', 'ToolCallError')); return Object.getOwnPropertyNames(globalThis).filter(k => !known.has(k))`, value: `[]`},
		{name: "what was added is hidden", code: `return Object.keys(globalThis).filter(k => k !== 'tools' && k !== 'ToolCallError')`, value: `[]`},
		{name: "native functions do not show the host", code: `return [setTimeout, queueMicrotask, console.log, atob, structuredClone, tools.echo, crypto.randomUUID].filter(f => /\.go|goja|func\d|\//.test(f.name + String(f))).map(f => String(f))`, value: `[]`},
		{name: "errors do not show the host", code: `const out = []; for (const f of [() => atob('%'), () => new URL('x'), () => structuredClone(() => 1), () => JSON.parse('{'), () => tools.echo(Symbol('s'))]) { try { await f(); out.push('none') } catch (e) { if (/\.go:|goja|runtime error|0x[0-9a-f]{6}/.test(e.stack + e.message)) out.push(e.message) } } return out`, value: `[]`},
		{name: "a program cannot reach itself", code: `return (function () { return arguments.callee.caller })() ?? 'none'`, value: `"none"`},
	})
}

// tampering checks that a program which replaces what it can reach harms nobody
// but itself.
func (s Suite) tampering(t *testing.T) {
	const use = `; const r = await tools.echo({ a: [1, { b: 'x' }] }); let m; try { await tools.fail({ message: 'm' }) } catch (e) { m = e instanceof ToolCallError && e.message } console.log('line', 1); return { r, m }`
	const value = `{"r":{"a":[1,{"b":"x"}]},"m":"m"}`
	var rows []row
	for _, c := range []struct{ name, code string }{
		{"JSON", `JSON.stringify = JSON.parse = () => 'hijack'; globalThis.JSON = null`},
		{"Promise", `globalThis.Promise = function () { throw 1 }`},
		{"Promise.prototype.then", `Promise.prototype.then = Promise.prototype.catch = function () { return 'hijack' }`},
		{"array iterator", `Array.prototype[Symbol.iterator] = function* () { yield 'hijack' }`},
		{"array methods", `for (const k of ['push', 'map', 'join', 'forEach', 'slice', 'concat', 'indexOf', 'keys']) Array.prototype[k] = () => { throw 'hijack' }`},
		{"array setter", `Object.defineProperty(Array.prototype, 0, { set() { throw 'hijack' }, get() { return 'hijack' }, configurable: true })`},
		{"Object.keys and friends", `for (const k of Object.getOwnPropertyNames(Object)) { try { Object[k] = () => { throw 'hijack' } } catch {} }`},
		{"Object.prototype accessors", `try { Object.defineProperty(Object.prototype, 'a', { get() { return 'hijack' }, set() {} }) } catch {}`},
		{"descriptor poison", `try { Object.prototype.get = () => 'hijack' } catch {} try { Object.prototype.value = 'hijack' } catch {} try { Object.prototype.enumerable = false } catch {}`},
		{"then", `try { Object.prototype.then = function (r) { r('hijack') } } catch {}`},
		{"toJSON", `try { Object.prototype.toJSON = () => 'hijack' } catch {} Array.prototype.toJSON = String.prototype.toJSON = () => 'hijack'`},
		{"__proto__", `try { delete Object.prototype.__proto__ } catch {}`},
		{"Error", `globalThis.Error = function () { throw 'hijack' }`},
		{"error prototype", `Object.defineProperty(Error.prototype, 'message', { get() { return 'hijack' }, configurable: true }); Error.prototype.toString = () => 'hijack'`},
		{"class prototype", `ToolCallError.prototype.x = 1; try { ToolCallError.prototype = {} } catch {}`},
		{"string methods", `for (const k of ['split', 'replace', 'slice', 'charCodeAt', 'toString', 'valueOf']) String.prototype[k] = () => { throw 'hijack' }`},
		{"Reflect and Proxy", `globalThis.Reflect = globalThis.Proxy = undefined`},
		{"Symbol", `globalThis.Symbol = undefined`},
		{"Function.prototype", `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 'hijack' }; Function.prototype.toString = () => 'function Object() { [native code] }'`},
		{"Map and Set", `Map.prototype.get = Map.prototype.set = Set.prototype.has = () => { throw 'hijack' }; globalThis.Map = null`},
		{"every global deleted", `for (const k of Object.getOwnPropertyNames(globalThis)) { if (!['tools', 'console', 'ToolCallError'].includes(k)) try { delete globalThis[k] } catch {} }`},
		{"a frozen global object", `Object.freeze(globalThis)`},
		{"frozen prototypes", `for (const c of [Object, Array, Function, Promise, Error, String]) Object.freeze(c.prototype)`},
		{"Date and Math", `Date.now = () => NaN; globalThis.Date = null; Math.random = () => { throw 1 }`},
		{"species", `Object.defineProperty(Promise, Symbol.species, { get() { throw 'hijack' } }); Object.defineProperty(Array, Symbol.species, { get() { throw 'hijack' } })`},
	} {
		rows = append(rows, row{name: c.name, code: c.code + use, value: value, logs: []string{"line 1"}})
	}
	rows = append(rows,
		row{name: "the console deleted", code: `delete globalThis.console; return await tools.echo({ a: 1 })`, value: `{"a":1}`},
		row{name: "an impostor constructor as an argument", code: `function Object() {} try { await tools.echo(new Object()) } catch (e) { return e instanceof ToolCallError }`, value: `true`, calls: []string{}},
		row{name: "then is still an ordinary property", code: `const o = {}; o.then = 1; o.toJSON = 2; return o`, value: `{"then":1,"toJSON":2}`},
		row{name: "a failure's text after the library is gone", code: "for (const k of ['String', 'Error', 'Object', 'JSON', 'Symbol']) globalThis[k] = () => { throw 'hijack' };\nnull.x", fails: throws(2, "TypeError", "")},
	)
	s.rows(t, rows)
}

// nested checks runs inside runs.
func (s Suite) nested(t *testing.T) {
	s.rows(t, []row{
		{name: "one", code: `return await tools.nested({ code: 'return 1 + (await tools.echo({ n: 1 })).n' })`, value: `2`},
		{name: "three deep", code: "return await tools.nested({ code: `return await tools.nested({ code: \"return await tools.nested({ code: 'return 4' })\" })` })", value: `4`},
		{name: "its failure is the call's", code: `try { await tools.nested({ code: 'throw new Error("in")' }) } catch (e) { return e.message }`, value: `"inner run: Error: in"`},
		{name: "its world is its own", code: `globalThis.x = 1; return [await tools.nested({ code: 'return typeof x' }), x]`, value: `["undefined",1]`},
		{name: "the outer wall stands still while the inner run is paused", limits: runtime.Limits{Wall: 1500 * time.Millisecond}, code: `return await tools.nested({ code: 'return await tools.pause({ ms: 1800 })' })`, value: `true`},
		{name: "the outer end ends it", limits: runtime.Limits{Wall: time.Second}, code: `await tools.nested({ code: 'await tools.hold({})' })`, fails: ends(runtime.Timeout, "wall-clock ceiling reached (1000ms)")},
	})
	t.Run("many at once", func(t *testing.T) {
		rt := s.open(t)
		s.each(t, 8, func(n int) {
			res := newHost(t, rt).run(t.Context(), runtime.Request{Program: fmt.Sprintf(`return await tools.nested({ code: 'return (await tools.echo({ n: %d })).n' })`, n)})
			if want := fmt.Sprint(n); res.Value != want {
				t.Errorf("got %s %+v, want %s", res.Value, res.Failure, want)
			}
		})
	})
}

// crowd checks that runs at once do not meet.
func (s Suite) crowd(t *testing.T) {
	rt := s.open(t)
	s.each(t, 8, func(n int) {
		h := newHost(t, rt)
		res := h.run(t.Context(), runtime.Request{Program: fmt.Sprintf(`
globalThis.me = %d;
const out = [];
for (let i = 0; i < 20; i++) { out.push((await tools.echo({ n: me * 100 + i })).n); console.log(me); if (i %% 5 === 0) await new Promise(r => setTimeout(r, 1)) }
return [me, out.length, out[19]]`, n)})
		if want := fmt.Sprintf("[%d,20,%d]", n, n*100+19); res.Value != want {
			t.Errorf("got %s %+v, want %s", res.Value, res.Failure, want)
		}
		if got, want := strings.Join(res.Logs, ""), strings.Repeat(fmt.Sprint(n), 20); got != want {
			t.Errorf("logs %s, want %s", got, want)
		}
		if len(h.calls) != 20 {
			t.Errorf("%d calls, want 20", len(h.calls))
		}
	})
	t.Run("good runs beside bad ones", func(t *testing.T) {
		s.each(t, 6, func(n int) {
			req := runtime.Request{Program: `return (await tools.echo({ a: 1 })).a`}
			if n%2 == 0 {
				req = runtime.Request{Program: `while (true) {}`, Limits: runtime.Limits{Compute: 100 * time.Millisecond}}
			}
			res := newHost(t, rt).run(t.Context(), req)
			switch {
			case n%2 == 0:
				ends(runtime.Timeout, "compute").check(t, res)
			case res.Value != "1":
				t.Errorf("got %s %+v, want 1", res.Value, res.Failure)
			}
		})
	})
}

// each calls f with 1 to n at once and waits for all.
func (Suite) each(t *testing.T, n int, f func(n int)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i + 1) })
	}
	wg.Wait()
}
