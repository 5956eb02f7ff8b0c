package runtimetest

import "testing"

// language runs what a program may be written in.
func (s Suite) language(t *testing.T) {
	s.rows(t, []row{
		// The body of an async function.
		{name: "return", code: `return 1 + 2`, value: `3`},
		{name: "no return", code: `const a = 1;`},
		{name: "empty program", code: ``},
		{name: "only a comment", code: `// nothing to do`},
		{name: "return without a value", code: `return`},
		{name: "return null", code: `return null`, value: `null`},
		{name: "top-level await", code: `const a = await Promise.resolve(4); return a`, value: `4`},
		{name: "a returned promise is awaited", code: `return Promise.resolve({a: 1})`, value: `{"a":1}`},
		{name: "a comment on the last line", code: "return 7 // done", value: `7`},
		{name: "byte order mark", code: "\ufeffreturn 7", value: `7`},
		{name: "CRLF", code: "const a = 1;\r\nreturn a;\r\n", value: `1`},
		{name: "line separator in a string", code: "return 'a\u2028b'", value: "\"a\u2028b\""},
		{name: "use strict", code: "'use strict'; return (function () { return this === undefined })()", value: `true`},
		{name: "hoisting", code: `return f(); function f() { return v === undefined; var v = 1 }`, value: `true`},
		{name: "early return", code: `for (const n of [1, 2, 3]) { if (n === 2) return n } return 9`, value: `2`},

		// Shapes that are no body of a function, and bodies without a return.
		{name: "a fence", code: "```ts\nreturn 1\n```", value: `1`, notes: []string{"fence"}},
		{name: "sentences and a fence", code: "Here is the program you asked for.\n\n```js\nreturn 1\n```\n", value: `1`, notes: []string{"fence"}},
		{name: "a whole arrow", code: "async () => { return (await tools.echo({ a: 1 })).a }", value: `1`, notes: []string{"was called"}},
		{name: "a lone function", code: "async function main() { return 2 }", value: `2`, notes: []string{"was called"}},
		{name: "two functions", code: "function a() { return 1 }\nfunction b() { return 2 }", notes: []string{"calls none"}},
		{name: "export default", code: "export default async function main() { return helper() }\nconst helper = () => 3", value: `3`, notes: []string{"by default"}},
		{name: "export and an import of types", code: "import type { T } from './t'\nexport const a: T = 4\nreturn a", value: `4`, notes: []string{"types", "export"}},
		{name: "a last expression", code: "const t = await tools.echo({ paid: 5, refunded: 2 });\nt.paid - t.refunded;", value: `3`, notes: []string{"last expression"}},
		{name: "a last call", code: "await tools.echo({ a: 1 })", value: `{"a":1}`, notes: []string{"last expression"}},
		{name: "a last call of several", code: "await tools.echo(1)\nawait tools.echo(2)"},
		{name: "a last call beside what prints", code: "console.log('a')\nawait tools.echo(2)", logs: []string{"a"}},
		{name: "a last call of an async function that prints", code: "async function main() { console.log(await tools.echo(2)) }\nmain()", logs: []string{"2"}, notes: []string{"awaited"}},
		{name: "a last value that is no JSON", code: "new Map()", notes: []string{"a Map"}},
		{name: "a last expression beside a return", code: "if (false) return 1\n2"},

		// TypeScript.
		{name: "annotations and casts", code: "interface P { n: number }\nconst p: P = { n: 3 } as P;\nconst q = <any>p;\nreturn p.n satisfies number", value: `3`},
		{name: "type aliases and generics", code: "type M<T> = { [k: string]: T };\nfunction id<T extends object>(x: T): T { return x }\nreturn id<M<number>>({ a: 1 })", value: `{"a":1}`},
		{name: "enum", code: "enum Size { Small = 1, Large }\nreturn [Size.Small, Size[2], Size.Large]", value: `[1,"Large",2]`},
		{name: "const enum", code: "const enum E { A = 'x', B = 'y' }\nreturn E.B", value: `"y"`},
		{name: "parameter properties", code: "class P { constructor(private readonly x: number, public y = 2) {} sum() { return this.x + this.y } }\nreturn new P(1).sum()", value: `3`},
		{name: "abstract classes and overloads", code: "abstract class A { abstract f(): number; g() { return this.f() + 1 } }\nclass B extends A { f(): number; f(x?: string): number { return 1 } }\nreturn new B().g()", value: `2`},
		{name: "non-null and optional", code: "const a: { b?: { c: number } } = { b: { c: 5 } };\nreturn a!.b!.c", value: `5`},
		{name: "type guards", code: "function isS(x: unknown): x is string { return typeof x === 'string' }\nreturn [1, 'a'].filter(isS)", value: `["a"]`},
		{name: "declare", code: "declare const missing: number;\nreturn typeof missing", value: `"undefined"`},
		{name: "decorators", code: "function twice(f: any, c: any) { return function (this: any) { return f.call(this) * 2 } }\nclass C { @twice m() { return 21 } }\nreturn new C().m()", value: `42`},
		{name: "array casts of a tool's rows", code: "const r = (await tools.echo({ rows: [{ n: 1 }] })) as { rows: Array<{ n: number }> };\nreturn r.rows.map((x): number => x.n)", value: `[1]`},

		// Classes.
		{name: "fields, private names, statics", code: "class C { static #n = 0; #v = 1; w = 2; static inc() { return ++C.#n } has(o) { return #v in o } get v() { return this.#v } set v(x) { this.#v = x } static { C.inc() } }\nconst c = new C(); c.v = 5;\nreturn [C.inc(), c.v, c.w, c.has(c), c.has({})]", value: `[2,5,2,true,false]`},
		{name: "extends and super", code: "class A { f() { return 'a' } static s() { return 's' } }\nclass B extends A { f() { return super.f() + 'b' } static s() { return super.s() + 't' } }\nreturn [new B().f(), B.s(), new B() instanceof A]", value: `["ab","st",true]`},
		{name: "extends Array and Error", code: "class L extends Array { last() { return this[this.length - 1] } }\nclass E extends Error { constructor(m) { super(m); this.name = 'E' } }\nconst l = L.from([1, 2]); const e = new E('m');\nreturn [l.last(), l.length, e instanceof Error, String(e)]", value: `[2,2,true,"E: m"]`},
		{name: "new.target", code: "function F() { return new.target === F }\nclass K { constructor() { this.n = new.target.name } }\nreturn [new K().n, F()]", value: `["K",false]`},

		// Iteration.
		{name: "generators", code: "function* g(n) { for (let i = 0; i < n; i++) { const r = yield i; if (r) return r } }\nconst it = g(5); it.next();\nreturn [[...g(3)], it.next('x')]", value: `[[0,1,2],{"value":"x","done":true}]`},
		{name: "yield delegation and finally", code: "const log = [];\nfunction* a() { try { yield 1; yield 2 } finally { log.push('closed') } }\nfunction* b() { yield* a() }\nfor (const x of b()) { log.push(x); break }\nreturn log", value: `[1,"closed"]`},
		{name: "custom iterators", code: "const r = { *[Symbol.iterator]() { yield 'a'; yield 'b' } };\nreturn [...r, ...new Set(r)]", value: `["a","b","a","b"]`},
		{name: "async generators and for await", code: "async function* pages() { for (let p = 1; p <= 3; p++) { const r = await tools.echo({ p }); yield r.p } }\nconst out = [];\nfor await (const p of pages()) out.push(p);\nreturn out", value: `[1,2,3]`},
		{name: "for await over promises", code: "const out = [];\nfor await (const x of [Promise.resolve(1), 2]) out.push(x);\nreturn out", value: `[1,2]`},
		{name: "async iteration closes", code: "const log = [];\nasync function* g() { try { yield 1; yield 2 } finally { await null; log.push('closed') } }\nfor await (const x of g()) { log.push(x); break }\nreturn log", value: `[1,"closed"]`},
		{name: "async generator methods", code: "class Q { async *items() { yield* [1, 2] } }\nconst out = [];\nfor await (const x of new Q().items()) out.push(x);\nreturn out", value: `[1,2]`},
		{name: "async generators take requests in order", code: "async function* g() { const a = yield 1; const b = yield a; return b }\nconst it = g();\nreturn await Promise.all([it.next(), it.next('a'), it.next('b'), it.next()])", value: `[{"value":1,"done":false},{"value":"a","done":false},{"value":"b","done":true},{"done":true}]`},
		{name: "async delegation passes throw and return on", code: "const log = [];\nasync function* a() { try { yield 1; yield 2 } catch (e) { yield 'c' + e } finally { await null; log.push('a') } }\nasync function* b() { try { yield* a() } finally { log.push('b') } }\nconst it = b(); await it.next();\nreturn [await it.throw('x'), await it.return('r'), log]", value: `[{"value":"cx","done":false},{"value":"r","done":true},["a","b"]]`},
		{name: "an async iterator that gives no object", code: "try { for await (const x of { [Symbol.asyncIterator]: () => ({ next: async () => 5 }) }); } catch (e) { return e.name }", value: `"TypeError"`},
		{name: "yield delegation takes the sync iterator", code: "const both = { *[Symbol.iterator]() { yield 's' }, async *[Symbol.asyncIterator]() { yield 'a' } };\nfunction* g() { yield* both }\nreturn [...g()]", value: `["s"]`},
		{name: "labelled loops", code: "const out = [];\nouter: for (let i = 0; i < 3; i++) { for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; out.push(i + '' + j) } }\nreturn out", value: `["00","10"]`},
		{name: "closures keep their iteration", code: "const fs = [];\nfor (let i = 0; i < 3; i++) fs.push(() => i);\nreturn fs.map(f => f())", value: `[0,1,2]`},

		// Binding and expressions.
		{name: "destructuring", code: "const { a, b: { c = 3, ...rest }, ...others } = { a: 1, b: { d: 4, e: 5 }, f: 6 };\nconst [x, , y = 9, ...z] = [1, 2, undefined, 4, 5];\nreturn { a, c, rest, others, x, y, z }", value: `{"a":1,"c":3,"rest":{"d":4,"e":5},"others":{"f":6},"x":1,"y":9,"z":[4,5]}`},
		{name: "parameters", code: "const f = (a, b = a + 1, { c } = { c: 3 }, ...d) => [a, b, c, d];\nreturn f(1, undefined, undefined, 7, 8)", value: `[1,2,3,[7,8]]`},
		{name: "short circuits", code: "let a = null, b = 0, c = 1;\na ??= 'd'; b ||= 'e'; c &&= 'f';\nreturn [a, b, c, null ?? 1, undefined?.x === undefined, ({}).y?.z.w ?? 'none', tools.nope?.() === undefined]", value: `["d","e","f",1,true,"none",true]`},
		{name: "templates", code: "const tag = (s, ...v) => s.raw.join('|') + v.join(',');\nreturn [`a${1 + 1}b`, tag`x${1}\\n${2}`]", value: `["a2b","x|\\n|1,2"]`},
		{name: "spread", code: "return [{ ...{ a: 1 }, ...null, b: 2 }, [...'ab', ...[1]], Math.max(...[1, 5, 2])]", value: `[{"a":1,"b":2},["a","b",1],5]`},
		{name: "computed keys and accessors", code: "const k = 'x';\nconst o = { [k + 1]: 1, get y() { return 2 }, set y(v) {}, ['m']() { return 3 } };\nreturn [o.x1, o.y, o.m()]", value: `[1,2,3]`},
		{name: "exponent and numeric separators", code: "return [2 ** 10, 1_000_000, 0b101, 0o17, 0xff]", value: `[1024,1000000,5,15,255]`},
		{name: "BigInt", code: "const n = 2n ** 64n - 1n;\nreturn [typeof n, n, n / 3n, BigInt.asUintN(8, 257n), 5n > 4, 1n == 1]", value: `["bigint",18446744073709551615,6148914691236517205,1,true,true]`},
		{name: "loose equality", code: "const s = '6.00', n = 6;\nreturn [s == n, n == s, s != n, true == '1.0', '1e3' == 1000, ['7.0'] == 7, null == 0, '6' == 6n]", value: `[true,true,false,true,true,true,false,true]`},
		{name: "switch and try", code: "const out = [];\nfor (const x of [1, 2, 3]) { switch (x) { case 1: out.push('one'); case 2: out.push('two'); break; default: out.push('more') } }\ntry { try { null.x } finally { out.push('f') } } catch { out.push('c') }\nreturn out", value: `["one","two","two","more","f","c"]`},
		{name: "comma, void, typeof, delete, in", code: "const o = { a: 1 }; delete o.a;\nreturn [(1, 2), void 0 === undefined, typeof o, 'a' in o, typeof nothing]", value: `[2,true,"object",false,"undefined"]`},
		{name: "an undeclared name is assigned", code: "x = 5; return x", value: `5`},
		{name: "eval and Function compute", code: "return [eval('1 + 1'), new Function('a', 'return a * 2')(4)]", value: `[2,8]`},
		{name: "using", code: "const log = [];\n{ using r = { [Symbol.dispose]() { log.push('disposed') } }; log.push('body') }\nreturn log", value: `["body","disposed"]`},
		{name: "await using", code: "const log = [];\n{ await using r = { async [Symbol.asyncDispose]() { await null; log.push('disposed') } }; log.push('body') }\nreturn log", value: `["body","disposed"]`},
		{name: "highest code point", code: `return ['\u{10FFFF}'.codePointAt(0), "\u{1F600}".length]`, value: `[1114111,2]`},

		// Promises.
		{name: "combinators", code: "const [a, b] = await Promise.all([tools.echo(1), 2]);\nconst s = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error('no'))]);\nconst any = await Promise.any([Promise.reject(1), Promise.resolve('any')]);\nconst race = await Promise.race([new Promise(() => {}), Promise.resolve('race')]);\nreturn [a, b, s.map(x => x.status), s[1].reason.message, any, race]", value: `[1,2,["fulfilled","rejected"],"no","any","race"]`},
		{name: "order of jobs", code: "const out = [];\nPromise.resolve().then(() => out.push('then'));\nqueueMicrotask(() => out.push('microtask'));\n(async () => { out.push('sync'); await null; out.push('resumed') })();\nout.push('first');\nawait new Promise(r => setTimeout(r, 0));\nreturn out", value: `["sync","first","then","microtask","resumed"]`},
		{name: "finally and rethrow", code: "const out = [];\nawait Promise.reject(new Error('e')).finally(() => out.push('f')).catch(e => out.push(e.message));\nreturn out", value: `["f","e"]`},
		{name: "AggregateError", code: "try { await Promise.any([Promise.reject(1), Promise.reject(2)]) } catch (e) { return [e.name, e.errors] }", value: `["AggregateError",[1,2]]`},
		{name: "thenables", code: "return await { then(r) { r({ then(q) { q(5) } }) } }", value: `5`},
	})
}

// library runs what a program may use beside the syntax.
func (s Suite) library(t *testing.T) {
	s.rows(t, []row{
		{name: "arrays", code: "const a = [3, 1, 2];\nreturn [a.toSorted(), a.toReversed(), a.with(0, 9), a.at(-1), a.findLast(x => x > 1), a.flatMap(x => [x, x]).length, [1, [2, [3]]].flat(Infinity), a.includes(2), a.toSpliced(0, 1)]", value: `[[1,2,3],[2,1,3],[9,1,2],2,2,6,[1,2,3],true,[1,2]]`},
		{name: "stable sort", code: "return [{ k: 1, v: 'a' }, { k: 0, v: 'b' }, { k: 1, v: 'c' }, { k: 0, v: 'd' }].sort((x, y) => x.k - y.k).map(x => x.v).join('')", value: `"bdac"`},
		{name: "grouping", code: "return [Object.groupBy([1, 2, 3], n => n % 2 ? 'odd' : 'even'), [...Map.groupBy([1, 2, 3], n => n % 2)]]", value: `[{"odd":[1,3],"even":[2]},[[1,[1,3]],[0,[2]]]]`},
		{name: "objects", code: "return [Object.entries({ a: 1 }), Object.fromEntries([['b', 2]]), Object.hasOwn({ c: 1 }, 'c'), Object.assign({}, { d: 1 })]", value: `[[["a",1]],{"b":2},true,{"d":1}]`},
		{name: "strings", code: "return ['a-b-c'.replaceAll('-', '+'), 'x'.padStart(3, '.'), ' t '.trim(), 'abc'.at(-1), 'é'.normalize('NFD').length, 'a,b'.split(','), 'ab'.isWellFormed(), '\\ud800'.toWellFormed() === '\\ufffd']", value: `["a+b+c","..x","t","c",2,["a","b"],true,true]`},
		{name: "patterns", code: "const m = '2024-05-06'.match(/(?<y>\\d+)-(?<m>\\d+)/);\nreturn [m.groups.y, [...'a1b2'.matchAll(/[a-z](\\d)/g)].map(x => x[1]), 'aXbX'.replace(/x/gi, c => c + '!'), /(?<=\\$)\\d+/.exec('$42')[0], 'a.b'.split(/\\./)]", value: `["2024",["1","2"],"aX!bX!","42",["a","b"]]`},
		{name: "Unicode properties in patterns", code: "return ['naïve café'.match(/\\p{L}+/gu), 'a1 β2'.replace(/\\P{L}/gu, ''), /[\\p{Lu}]/u.test('É'), /\\p{Script=Greek}/u.test('α'), new RegExp('^\\\\p{Emoji_Presentation}$', 'u').test('😀'), 'x, y; z'.split(/[^\\p{L}]+/u)]", value: `[["naïve","café"],"aβ",true,true,true,["x","y","z"]]`},
		{name: "patterns show what was written", code: "return [/\\p{L}/u.source, String(/a\\/b[/]/g), String(new RegExp('\\\\p{Script=Greek}', 'u'))]", value: `["\\p{L}","/a\\/b[/]/g","/\\p{Script=Greek}/u"]`},
		{name: "code points in patterns", code: "return [/[\\u{10000}-\\u{10FFFF}]/u.test('😀'), /^.$/u.test('😀'), /\\u{10FFFF}/u.test('\\u{10FFFF}')]", value: `[true,true,true]`},
		{name: "patterns in evaluated text are not answered wrongly", code: "try { return eval('/\\\\p{L}/u.test(\"é\")') } catch (e) { return e.name }", value: `"TypeError"`},
		{name: "a Unicode property that is none", code: "try { new RegExp('\\\\p{Nope}', 'u') } catch (e) { return e instanceof SyntaxError }", value: `true`},
		{name: "collections", code: "const m = new Map([['a', 1]]); m.set('b', 2);\nconst u = new Set([1, 2]).union(new Set([3]));\nconst w = new WeakMap(); w.set(m, 1);\nreturn [[...m.keys()], m.size, [...u], w.get(m)]", value: `[["a","b"],2,[1,2,3],1]`},
		{name: "dates", code: "const d = new Date('2024-02-29T12:00:00Z');\nreturn [d.getTime(), d.toISOString(), d.getUTCDay(), new Date(Date.UTC(2020, 0, 1)).toJSON(), Date.parse('2024-05-05')]", value: `[1709208000000,"2024-02-29T12:00:00.000Z",4,"2020-01-01T00:00:00.000Z",1714867200000]`},
		{name: "numbers", code: "return [(1234.5678).toFixed(2), (255).toString(16), Number('0x10'), parseInt('12px'), parseFloat('1.5e3'), Number.isInteger(5.0), Math.trunc(-1.5), Math.hypot(3, 4), 0.1 + 0.2]", value: `["1234.57","ff",16,12,1500,true,-1,5,0.30000000000000004]`},
		{name: "JSON", code: "return [JSON.stringify({ b: [1, { c: undefined }], d: new Date(0) }), JSON.parse('{\"a\":[1,2]}', (k, v) => Array.isArray(v) ? v.length : v), JSON.stringify({ a: 1 }, null, 2)]", value: `["{\"b\":[1,{}],\"d\":\"1970-01-01T00:00:00.000Z\"}",{"a":2},"{\n  \"a\": 1\n}"]`},
		{name: "JSON.parse refuses what is no JSON", code: "const out = [];\nfor (const t of ['{', '[1,]', 'undefined', \"{'a':1}\", '', '01', '\"\\\\x\"']) { try { JSON.parse(t); out.push(t) } catch (e) { if (!(e instanceof SyntaxError)) out.push(e.name) } }\nreturn out", value: `[]`},
		{name: "JSON.parse of a million brackets can be caught", code: "try { JSON.parse('['.repeat(200_000)); return 'parsed' } catch (e) { return e instanceof Error }", value: `true`},
		{name: "typed arrays", code: "const b = new Uint8Array([1, 2, 300]);\nconst v = new DataView(b.buffer);\nreturn [[...b], v.getUint16(0), b instanceof Uint8Array, Array.from(new Float64Array(2))]", value: `[[1,2,44],258,true,[0,0]]`},
		{name: "proxies and reflection", code: "const p = new Proxy({}, { get: (t, k) => typeof k === 'string' ? k.toUpperCase() : undefined });\nreturn [p.abc, Reflect.ownKeys({ a: 1, [Symbol.iterator]: 1 }).length]", value: `["ABC",2]`},
		{name: "structuredClone", code: "const a = { d: new Date(5), m: new Map([[1, { x: 1 }]]) }; a.self = a;\nconst b = structuredClone(a);\nreturn [b !== a, b.self === b, b.d.getTime(), b.m.get(1).x, b.m.get(1) !== a.m.get(1)]", value: `[true,true,5,1,true]`},
		{name: "text encoding", code: "const b = new TextEncoder().encode('é😀');\nreturn [[...b], new TextDecoder().decode(b), atob(btoa('hi')), btoa('hi')]", value: `[[195,169,240,159,152,128],"é😀","hi","aGk="]`},
		{name: "URL", code: "const u = new URL('/p/../q?a=1&b=x%20y#h', 'https://ex.com:8080');\nu.searchParams.append('c', 'd&e');\nreturn [u.href, u.host, u.searchParams.get('b'), new URLSearchParams({ k: 'v w' }).toString()]", value: `["https://ex.com:8080/q?a=1&b=x+y&c=d%26e#h","ex.com:8080","x y","k=v+w"]`},
		{name: "Buffer", code: "return [Buffer.from('héllo').toString('base64'), Buffer.from('aGk=', 'base64').toString(), Buffer.from('ff', 'hex')[0]]", value: `["aMOpbGxv","hi",255]`},
		{name: "AbortController", code: "const c = new AbortController(); const out = [c.signal.aborted];\nc.signal.addEventListener('abort', () => out.push('heard'));\nc.abort(new Error('why'));\ntry { c.signal.throwIfAborted() } catch (e) { out.push(e.message) }\nreturn [...out, c.signal.aborted]", value: `[false,"heard","why",true]`},
		{name: "crypto", code: "const u = crypto.randomUUID(); const b = crypto.getRandomValues(new Uint8Array(8));\nreturn [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u), b.length, u !== crypto.randomUUID()]", value: `[true,8,true]`},
		{name: "performance", code: "const a = performance.now(); return [typeof a, performance.now() >= a]", value: `["number",true]`},
		{name: "promise helpers", code: "const { promise, resolve } = Promise.withResolvers(); resolve(1);\nreturn [await promise, await Promise.try(() => 2), await Array.fromAsync([3, Promise.resolve(4)])]", value: `[1,2,[3,4]]`},
		{name: "iterator helpers", code: "function* n() { let i = 0; while (true) yield i++ }\nreturn [n().filter(x => x % 2).map(x => x * x).take(3).toArray(), Iterator.from([1, 2]).reduce((a, b) => a + b)]", value: `[[1,9,25],3]`},
		{name: "locale numbers", code: "return [(1234567.891).toLocaleString(), (1234567.891).toLocaleString('en-US'), (0.256).toLocaleString('en-US', { style: 'percent' }), (12.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' })]", value: `["1,234,567.891","1,234,567.891","26%","$12.50"]`},
		{name: "comparing texts", code: "return [['v10', 'v9'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })), 'a'.localeCompare('Á', 'en', { sensitivity: 'base' }), ['b', 'a', 'C', 'ä'].sort((a, b) => a.localeCompare(b)).join('')]", value: `[["v9","v10"],0,"aäbC"]`},
		{name: "error classes", code: "const e = new TypeError('t', { cause: 'c' });\nreturn [e.name, e.message, e.cause, e instanceof Error, Object.prototype.toString.call(e), typeof e.stack]", value: `["TypeError","t","c",true,"[object Error]","string"]`},
		{name: "input", code: "return [input.who, Object.keys(input)]", input: `{"who":"ann","__proto__":1}`, value: `["ann",["who","__proto__"]]`},
		{name: "input may be any JSON", code: "return input === null", input: `null`, value: `true`},
		{name: "input that is no JSON", code: `return 1`, input: `{"a":}`, fails: &failure{kind: "invalid-input", says: []string{"input"}}},
		{name: "no input, no global", code: "return typeof input", value: `"undefined"`},
	})
}
