package runtimetest

import (
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// What package gojavm's documentation says of memory.
const (
	beyondKept = "memory that a program keeps"
	beyondStep = "one step that asks for more memory than there is"
)

// greedyPrograms take memory, in one step or in many.
func greedyPrograms() []attacks {
	measured := ends(runtime.MemoryLimit, "would take about")
	reached := ends(runtime.MemoryLimit, "heap limit")
	return []attacks{
		{family: "one large step that is measured", limits: runtime.Limits{Heap: 256 << 20}, fails: measured, programs: sized([]program{
			{name: "repeat", code: "'x'.repeat(2 ** 40)"},
			{name: "repeat of one GB", code: "'x'.repeat(2 ** 30)"},
			{name: "repeat of wide characters", code: "'é'.repeat(2 ** 28)"},
			{name: "repeat without end", code: "'x'.repeat(Infinity)"},
			{name: "ArrayBuffer of everything", code: "new ArrayBuffer(2 ** 53)"},
			{name: "repeat in a callback", code: "['x'].map(s => s.repeat(2 ** 40))"},
			{name: "padEnd", code: "'x'.padEnd(2 ** 30)"},
			{name: "padStart", code: "'x'.padStart(2 ** 36, 'ab')"},
			{name: "ArrayBuffer", code: "new ArrayBuffer(8e9)"},
			{name: "Uint8Array", code: "new Uint8Array(2 ** 32)"},
			{name: "Float64Array", code: "new Float64Array(2 ** 29)"},
			{name: "BigInt64Array", code: "new BigInt64Array(2 ** 29)"},
			{name: "Reflect.construct", code: "Reflect.construct(Uint8Array, [8e9])"},
			{name: "a subclass", code: "new (class extends Uint8Array {})(8e9)"},
			{name: "the constructor of a buffer", code: "new (new Uint8Array(1).constructor)(8e9)"},
			{name: "fill", code: "new Array(2 ** 30).fill(0)"},
			{name: "join", code: "new Array(1e9).join('x')"},
			{name: "join with a long separator", code: "new Array(1e6).join('x'.repeat(1e4))"},
			{name: "join of what claims a length", code: "[].join.call({ length: 2 ** 53 - 1 })"},
			{name: "an array as text", code: "String(new Array(1e9))"},
			{name: "an array in a template", code: "`${new Array(1e9)}`"},
			{name: "sort", code: "new Array(2 ** 32 - 1).sort()"},
			{name: "toSorted", code: "new Array(2 ** 32 - 1).toSorted()"},
			{name: "reverse", code: "(a => { a.length = 4e9; return a.reverse() })([])"},
			{name: "toReversed", code: "new Array(2 ** 32 - 1).toReversed()"},
			{name: "with", code: "new Array(2 ** 32 - 1).with(0, 1)"},
			{name: "slice", code: "new Array(2 ** 32 - 1).slice()"},
			{name: "splice", code: "new Array(2 ** 32 - 1).splice(1, 1)"},
			{name: "unshift", code: "new Array(4e9).unshift(1)"},
			{name: "copyWithin", code: "new Array(2 ** 32 - 1).copyWithin(1, 0)"},
			{name: "includes", code: "[].includes.call({ length: 2 ** 53 - 1 }, 1)"},
			{name: "indexOf", code: "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)"},
			{name: "lastIndexOf", code: "[].lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)"},
			{name: "Array.from", code: "Array.from({ length: 1e9 })"},
			{name: "Array.from with a callback", code: "Array.from({ length: 1e9 }, () => 0)"},
			{name: "a shift of everything", code: "1n << 2n ** 40n"},
			{name: "a shift with assignment", code: "(a => { a <<= 2n ** 40n; return a })(1n)"},
			{name: "a negative shift to the right", code: "1n >> -(2n ** 40n)"},
			{name: "a power", code: "2n ** 2n ** 40n"},
			{name: "a power with assignment", code: "(a => { a **= 2n ** 40n; return a })(3n)"},
			{name: "BigInt.asUintN", code: "BigInt.asUintN(2 ** 40, -1n)"},
		})},
		{family: "sizes that are refused", limits: runtime.Limits{Heap: 256 << 20}, fails: ends(runtime.Exception, "RangeError"), programs: sized([]program{
			{name: "Buffer.alloc", code: "Buffer.alloc(8e9)"},
			{name: "Buffer.allocUnsafe", code: "Buffer.allocUnsafe(8e9)"},
			{name: "Buffer.concat", code: "Buffer.concat([], 8e9)"},
			{name: "btoa", code: "btoa('x'.repeat(6e7))"},
			{name: "a shift", code: "1n << 2n ** 31n"},
			{name: "an array", code: "new Array(2 ** 32)"},
			{name: "repeat", code: "'x'.repeat(-1)"},
			{name: "digits", code: "(1).toFixed(1e9)"},
		})},
		{family: "too many timers", limits: runtime.Limits{Heap: 256 << 20}, fails: ends(runtime.Exception, "more than 100000 timers"), programs: []program{
			{name: "in a loop", code: "for (let i = 0; ; i++) setTimeout(() => i, 1e9)"},
			{name: "two for one", code: "const f = () => { setTimeout(f, 1); setTimeout(f, 1) }; f(); await new Promise(() => {})"},
		}},
		{family: "one large step", limits: byHeap, fails: reached, beyond: beyondStep, bounded: true, programs: sized([]program{
			{name: "join of long texts", code: "Array(1e5).fill('x'.repeat(1e6)).join('')"},
			{name: "an array of long texts as text", code: "String(Array(1e5).fill('x'.repeat(1e6)))"},
			{name: "concat of long texts", code: "''.concat(...Array(1e4).fill('x'.repeat(1e6)))"},
			{name: "concat of long arrays", code: "[].concat(...Array(1e4).fill(Array(1e6).fill(0)))"},
			{name: "flat of long arrays", code: "Array(1e4).fill(Array(1e6).fill(0)).flat()"},
			{name: "replaceAll", code: "'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6))"},
			{name: "replaceAll with what matched", code: "'x'.repeat(1e6).replaceAll('x', '$`')"},
			{name: "replace with a pattern", code: "'x'.repeat(1e6).replace(/x/g, 'y'.repeat(1e6))"},
			{name: "String.raw", code: "String.raw({ raw: Array(1e5).fill('x'.repeat(1e6)) })"},
			{name: "JSON.stringify of long texts", code: "JSON.stringify(Array(1e5).fill('x'.repeat(1e6)))"},
			{name: "a power that is evaluated", code: "String(eval('2n ** 2n ** 40n'))"},
			{name: "split", code: "'x'.repeat(5e7).split('')"},
			{name: "match", code: "'x'.repeat(5e7).match(/x/g)"},
			{name: "spread of a text", code: "[...'x'.repeat(5e7)]"},
			{name: "spread of holes", code: "[...Array(2e7)]"},
			{name: "arguments", code: "Math.max(...Array(2e7))"},
			{name: "arguments that claim a length", code: "Math.max.apply(null, { length: 1e9 })"},
			{name: "Reflect.apply", code: "Reflect.apply(Math.max, null, { length: 1e9 })"},
			{name: "fromCharCode", code: "String.fromCharCode.apply(null, { length: 1e9 })"},
			{name: "normalize", code: "'\\ufdfa'.repeat(2e7).normalize('NFKD')"},
			{name: "toUpperCase", code: "'\\u0149'.repeat(3e7).toUpperCase()"},
			{name: "encodeURIComponent", code: "encodeURIComponent('é'.repeat(3e7))"},
			{name: "escape", code: "escape('\\u20ac'.repeat(3e7))"},
			{name: "TextEncoder", code: "new TextEncoder().encode('\\u20ac'.repeat(3e7))"},
			{name: "hex", code: "Buffer.alloc(6e7).toString('hex')"},
			{name: "toHex", code: "new Uint8Array(6e7).toHex()"},
			{name: "Object.fromEntries", code: "Object.fromEntries(Array.from(Array(3e6), (_, i) => ['k' + i, i]))"},
			{name: "structuredClone", code: "structuredClone(Array(3e6).fill().map((_, i) => ({ i })))"},
		})},
		{family: "memory that is kept", limits: byHeap, fails: reached, beyond: beyondKept, bounded: true, programs: []program{
			{name: "a text that doubles", code: "let s = 'x'; for (;;) s += s"},
			{name: "a template that doubles", code: "let s = 'xy'; for (;;) s = `${s}${s}`"},
			{name: "a text that doubles by replacement", code: "let s = 'x'; for (;;) s = s.replaceAll('x', 'xx')"},
			{name: "a text that doubles as JSON", code: "let s = '\"'; for (;;) s = JSON.stringify(s)"},
			{name: "a text that doubles as a URI", code: "let s = '%'; for (;;) s = encodeURIComponent(s) + s"},
			{name: "an array of texts", code: "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)"},
			{name: "an array that is spread", code: "let a = Array(1e5).fill(0); for (;;) a = [...a, ...a]"},
			{name: "an array that is joined to itself", code: "let a = [0]; for (;;) a = a.concat(a)"},
			{name: "arguments that double", code: "let a = Array(1e5); for (;;) { a.push(...a) }"},
			{name: "nested arrays", code: "let a = []; for (;;) a = [a, Array(100).fill(a)]"},
			{name: "objects", code: "const o = {}; for (let i = 0; ; i++) o['k' + i] = { i }"},
			{name: "a map", code: "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })"},
			{name: "a set", code: "const m = new Set(); for (let i = 0; ; i++) m.add('k' + i)"},
			{name: "a weak map", code: "const m = new WeakMap(), a = []; for (let i = 0; ; i++) { const k = {}; a.push(k); m.set(k, { i }) }"},
			{name: "closures", code: "const a = []; for (;;) { const big = new Array(1e4).fill(a.length); a.push(() => big) }"},
			{name: "typed arrays", code: "const a = []; for (;;) a.push(new Float64Array(1e5))"},
			{name: "buffers", code: "const a = []; for (;;) a.push(Buffer.from('x'.repeat(1e5)))"},
			{name: "BigInts", code: "const a = []; for (let n = 1n << 1000000n; ; n++) a.push(n)"},
			{name: "errors", code: "const a = []; for (;;) a.push(new Error('x'.repeat(1e4) + a.length))"},
			{name: "causes", code: "let e; for (;;) e = new Error('x'.repeat(1000), { cause: e })"},
			{name: "promises", code: "const a = []; for (;;) a.push(new Promise(() => {}))"},
			{name: "reactions", code: "const p = tools.hold({}); for (;;) p.then(() => 'x'.repeat(1000))"},
			{name: "microtasks", code: "for (let i = 0; ; i++) queueMicrotask(() => i)"},
			{name: "async functions", code: "const p = tools.hold({}), f = async i => { await p; return i }; for (let i = 0; ; i++) f(i)"},
			{name: "generators", code: "const a = []; for (;;) { const g = (function* () { yield Array(100).fill(1) })(); g.next(); a.push(g) }"},
			{name: "proxies", code: "const a = []; for (;;) a.push(new Proxy({}, {}))"},
			{name: "bound functions", code: "let f = () => 1; for (;;) f = f.bind(null, f)"},
			{name: "symbols", code: "for (let i = 0; ; i++) Symbol.for('k'.repeat(100) + i)"},
			{name: "patterns", code: "const a = []; for (let i = 0; ; i++) a.push(new RegExp('(a|b)*c' + i))"},
			{name: "dates", code: "const a = []; for (let i = 0; ; i++) a.push(new Date(i))"},
			{name: "compiled texts", code: "const a = []; for (let i = 0; ; i++) a.push(new Function('let x = ' + i + ';' + 'x=1;'.repeat(10000)))"},
			{name: "evaluated texts", code: "for (let i = 0; ; i++) eval('globalThis.f' + i + ' = function () { return ' + i + ' }')"},
			{name: "parsed JSON", code: "const s = JSON.stringify(Array(1000).fill({ a: [1] })), a = []; for (;;) a.push(JSON.parse(s))"},
			{name: "replaced texts", code: "let s = 'ab'.repeat(1e6); for (;;) s = s.replaceAll('a', s.slice(0, 1000))"},
			{name: "search parameters", code: "const u = new URLSearchParams(); for (let i = 0; ; i++) u.append('k' + i, 'v'.repeat(1000))"},
			{name: "abort signals", code: "const c = new AbortController(); for (;;) AbortSignal.any([c.signal])"},
			{name: "weak references", code: "const a = []; for (let i = 0; ; i++) a.push(new WeakRef({ i }))"},
			{name: "console.count", code: "for (let i = 0; ; i++) { try { console.count('x'.repeat(1e5) + i) } catch {} }"},
			{name: "console.time", code: "for (let i = 0; ; i++) console.time('x'.repeat(1e5) + i)"},
			{name: "number formats", code: "const a = []; for (;;) a.push(new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }))"},
			{name: "results", code: "const a = []; for (;;) a.push(await tools.echo({ s: 'x'.repeat(1e6) }))"},
			{name: "a typed array that is sorted", code: "const a = new Float64Array(3e7).map(() => Math.random()); return a.sort().length"},
			{name: "keys of a text", code: "return Object.keys('x'.repeat(5e7)).length"},
		}},
	}
}

// sized has each program return a size of what its code makes, from line 2.
func sized(programs []program) []program {
	for i, p := range programs {
		programs[i].code = "const a = 1;\nreturn (" + strings.TrimSuffix(p.code, ";") + ").length"
	}
	return programs
}
