package runtimetest

import "github.com/runcode-go/runcode/runtime"

// recursivePrograms use up the stack: of the engine, or of the host's own
// recursive code.
func recursivePrograms() []attacks {
	deep := ends(runtime.Exception, "call depth exceeded")
	return []attacks{
		{family: "recursion", limits: byDepth, fails: deep, programs: []program{
			{name: "plain", code: "function f() { return f() } f()"},
			{name: "caught", code: "function f() { try { return f() } catch { return f() } } f()"},
			{name: "caught at the top", code: "function f() { return f() } try { f() } catch { return 'survived' } finally { return 'survived' }"},
			{name: "mutual", code: "const f = () => g(), g = () => f(); f()"},
			{name: "a million deep", code: "const f = n => n ? f(n - 1) : 0; return f(1e6)"},
			{name: "default parameter", code: "function f(a = f()) {} f()"},
			{name: "getter", code: "const o = { get a() { return this.a } }; o.a"},
			{name: "setter", code: "const o = { set a(v) { this.a = v } }; o.a = 1"},
			{name: "toString", code: "const o = { toString() { return String(o) } }; String(o)"},
			{name: "toString in a template", code: "const o = { toString() { return `${o}` } }; `${o}`"},
			{name: "valueOf", code: "const o = { valueOf() { return +o } }; +o"},
			{name: "toPrimitive", code: "const o = { [Symbol.toPrimitive]() { return o + 1 } }; o + 1"},
			{name: "proxy get", code: "const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.a"},
			{name: "proxy has", code: "const p = new Proxy({}, { has(t, k) { return k in p } }); 'a' in p"},
			{name: "proxy apply", code: "const p = new Proxy(() => {}, { apply() { return p() } }); p()"},

			{name: "Reflect.get", code: "const o = { get a() { return Reflect.get(o, 'a') } }; o.a"},
			{name: "Reflect.apply", code: "function f() { return Reflect.apply(f, null, []) } f()"},
			{name: "call and apply", code: "function f() { return f.call(null) || f.apply(null) } f()"},
			{name: "bind", code: "let f = () => g(); const g = f.bind(); g()"},
			{name: "constructor", code: "function A() { return new A() } new A()"},
			{name: "class", code: "class A { constructor() { new A() } } new A()"},
			{name: "class field", code: "class A { a = new A() } new A()"},
			{name: "flat of an array in itself", code: "const a = [1]; a.push(a); a.flat(Infinity)"},
			{name: "flat with a depth that is code", code: "const a = [1]; a.push(a); a.flat({ valueOf: () => Infinity })"},
			{name: "flat of a deep array", code: deepValue + "return a.flat(Infinity).length"},
			{name: "async function", code: "async function f() { return f() } await f()"},
			{name: "promise executor", code: "const f = r => new Promise(f); f()"},
			{name: "thenable getter", code: "const t = { get then() { return Promise.resolve(t) } }; await t"},
			{name: "generator", code: "function* f() { yield* f() } f().next()"},
			{name: "generator that catches", code: "function* f() { try { yield* f() } catch { yield 1 } } [...f()]"},
			{name: "generator that is evaluated", code: "eval('function* f() { yield* f() } f().next()')"},
			{name: "generator that walks a cycle", code: "function* walk(n) { yield n; for (const c of n.kids) yield* walk(c) } const n = {}; n.kids = [n]; for (const x of walk(n));"},
			{name: "async generator", code: "async function* f() { yield* f() } await f().next()"},
			{name: "generator that is spread", code: "function* f() { yield [...f()] } [...f()]"},
			{name: "iterator", code: "const o = { [Symbol.iterator]() { return [...o] } }; [...o]"},
			{name: "destructuring", code: "const o = { get a() { const { a } = o; return a } }; o.a"},
			{name: "tagged template", code: "const f = () => f``; f()"},
			{name: "map", code: "const f = () => [1].map(f); f()"},
			{name: "forEach", code: "const f = () => [1].forEach(f); f()"},
			{name: "reduce", code: "const f = () => [1, 2].reduce(f); f()"},
			{name: "sort", code: "const f = () => [2, 1].sort(f); f()"},
			{name: "Array.from", code: "const f = () => Array.from([1], f); f()"},
			{name: "join", code: "const o = { toString() { return [o].join() } }; `${o}`"},
			{name: "toLocaleString", code: "const o = { toLocaleString() { return [o].toLocaleString() } }; o.toLocaleString()"},
			{name: "replace", code: "const f = () => 'x'.replace('x', f); f()"},
			{name: "replace with a pattern", code: "const f = () => 'x'.replace(/x/g, f); f()"},
			{name: "split", code: "const o = { [Symbol.split]() { return 'x'.split(o) } }; 'x'.split(o)"},
			{name: "toJSON", code: "const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)"},
			{name: "replacer", code: "const f = () => JSON.stringify(1, f); f()"},
			{name: "reviver", code: "const f = () => JSON.parse('1', f); f()"},
			{name: "structuredClone", code: "const o = { get a() { return structuredClone(o) } }; structuredClone(o)"},
			{name: "Object.assign", code: "const o = { get a() { return Object.assign({}, o) } }; o.a"},
			{name: "hasInstance", code: "const o = { [Symbol.hasInstance]() { return 1 instanceof o } }; 1 instanceof o"},
			{name: "eval", code: "globalThis.f = () => eval('f()'); f()"},
			{name: "Function", code: "globalThis.f = () => new Function('f()')(); f()"},
			{name: "an abort listener", code: "function f() { const c = new AbortController(); c.signal.addEventListener('abort', f); c.abort() } f()"},
			{name: "getter in the result", code: "return { get a() { return this.a } }"},
			{name: "getter in an argument", code: "const o = { get a() { return tools.echo(o) } }; await tools.echo(o)"},
			{name: "text that is printed", code: "const o = { toString() { console.log('%s', o); return '' } }; console.log('%s', o)"},
		}},
		{family: "recursion while an error is read", limits: byDepth, fails: ends(runtime.Exception, "unrenderable"), programs: []program{
			{name: "message", code: "class E extends Error { get message() { return this.message } } throw new E()"},
			{name: "toString", code: "const e = { toString() { return String(e) } }; throw e"},
		}},
		// The host's code walks these with a stack of its own or a bound.
		{family: "deep values", limits: runtime.Limits{Heap: 512 << 20}, programs: []program{
			{name: "argument", code: deepValue + "try { await tools.echo({ a }) } catch (e) { return e instanceof ToolCallError }", value: "true"},
			{name: "JSON.stringify", code: deepValue + "try { JSON.stringify(a) } catch (e) { return e instanceof Error }", value: "true"},
			{name: "JSON.parse", code: "try { JSON.parse('['.repeat(1e6) + ']'.repeat(1e6)) } catch (e) { return e instanceof Error }", value: "true"},
			{name: "JSON.parse of objects", code: "try { JSON.parse('{\"a\":'.repeat(1e5) + '1' + '}'.repeat(1e5)) } catch (e) { return e instanceof Error }", value: "true"},
			{name: "structuredClone", code: "let a = []; for (let i = 0; i < 2e4; i++) a = [a]; try { return typeof structuredClone(a) } catch (e) { return 'object' }", value: `"object"`},
			{name: "console.log", code: deepValue + "console.log(a); console.dir(a, { depth: Infinity }); return 1", value: "1"},
			{name: "console.log of an error", code: "let e = new Error('x'); for (let i = 0; i < 1e4; i++) e = new Error('x', { cause: e }); console.log(e); return 1", value: "1"},
			{name: "a tool's result", code: "try { await tools.raw({ json: '['.repeat(20000) + ']'.repeat(20000) }) } catch (e) { return e instanceof ToolCallError }", value: "true"},
			{name: "promises in promises", code: "let p = Promise.resolve(1); for (let i = 0; i < 2e4; i++) { const q = p; p = new Promise(r => r(q)) } return await p", value: "1"},
			{name: "a promise chain", code: "let p = Promise.resolve(0); for (let i = 0; i < 2e4; i++) p = p.then(n => n + 1); return await p", value: "20000"},
			{name: "Promise.all", code: "return (await Promise.all(Array.from({ length: 2e4 }, (_, i) => i))).length", value: "20000"},
			{name: "prototypes", code: "let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); return [o.a ?? null, 'a' in o]", value: "[null,false]"},
		}},
		{family: "a deep value that is returned", fails: ends(runtime.InvalidOutput, "10000"), programs: []program{
			{name: "arrays", code: deepValue + "return a"},
			{name: "objects", code: "let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return a"},
		}},
		{family: "chains of the engine's own calls", limits: runtime.Limits{Heap: 512 << 20}, programs: []program{
			{name: "bind", code: "let f = () => 1; for (let i = 0; i < 1e3; i++) f = f.bind(); return f()", value: "1"},
			{name: "proxies", code: "let p = { a: 1 }; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.a", value: "1"},
			{name: "a generator's methods", code: "function* f() { try { yield* [1, 2] } catch (e) { yield e } finally { yield 3 } } const i = f(), j = f(), k = f(), P = Object.getPrototypeOf(f).prototype; j.next(); k.next(); return [[...i], j.return(4).value, j.next().value, k.throw(5).value instanceof TypeError, k.next().value, k.next().done, P.next.name, P.return.length, Object.keys(P)]", value: `[[1,2,3],3,4,true,3,true,"next",1,[]]`},
			{name: "flat", code: "let a = [1]; for (let i = 0; i < 1000; i++) a = [a]; return [a.flat(Infinity), [[1, [2]], 3].flat(), [1, [2, [3]]].flat(1e9)]", value: "[[1],[1,[2],3],[1,2,3]]"},
			{name: "classes", code: "let A = class {}; for (let i = 0; i < 1e4; i++) A = class extends A {}; return typeof new A()", value: `"object"`},
			{name: "generators", code: "function* g() { yield 1 } let f = g(); for (let i = 0; i < 800; i++) { const h = f; f = (function* () { yield* h })() } return f.next().value", value: "1"},
		}},
		// Each ends a process in its stack, which the worker's parent knows.
		{family: "recursion of the engine itself", limits: runtime.Limits{Heap: 512 << 20}, fails: deep, beyond: beyondStack, programs: []program{
			{name: "a proxy that is its own prototype", code: "const p = new Proxy({}, {}); Object.setPrototypeOf(p, p); return p.a"},
			{name: "a proxy that is its own prototype, by Reflect", code: "const p = new Proxy({}, {}); Reflect.setPrototypeOf(p, Object.create(p)); return p.a"},
			{name: "a proxy that is its own prototype, asked with in", code: "const p = new Proxy({}, {}); p.__proto__ = p; return 'a' in p"},
		}},
		{family: "deep arrays as text", limits: runtime.Limits{Heap: 512 << 20}, fails: deep, programs: []program{
			{name: "String", code: deepValue + "return String(a).length"},
			{name: "join", code: deepValue + "return a.join().length"},
		}},
	}
}

// What package gojavm's documentation says of the stack.
const beyondStack = "recursion of the engine's own code"

// deepValue makes an array a that holds an array, a hundred thousand times.
const deepValue = "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; "
