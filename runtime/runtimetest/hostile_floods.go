package runtimetest

import "github.com/runcode-go/runcode/runtime"

// floodingPrograms send the host more than it should take.
func floodingPrograms() []attacks {
	over := ends(runtime.OutputLimit, "outer output exceeded 65536 bytes")
	return []attacks{
		{family: "output", limits: byOutput, fails: over, programs: []program{
			{name: "lines", code: "for (;;) console.log('tick'.repeat(64))"},
			{name: "empty lines", code: "for (;;) console.log()"},
			{name: "lines that are caught", code: "for (;;) try { console.log('tick') } catch {} finally {}"},
			{name: "lines of every level", code: "for (;;) { console.error(1); console.warn(2); console.debug(3); console.info(4) }"},
			{name: "lines in microtasks", code: "const f = () => { console.log('x'); queueMicrotask(f) }; f(); await tools.hold({})"},
			{name: "lines in timers", code: "setInterval(() => console.log('x'.repeat(1000)), 0); await tools.hold({})"},
			{name: "one line of 50 MB", code: "console.log('x'.repeat(50e6))"},
			{name: "one line by a format", code: "console.log('%s'.repeat(1000), ...Array(1000).fill('x'.repeat(1000)))"},
			{name: "one line of many arguments", code: "console.log(...Array(1e5).fill('xxxxxxxx'))"},
			{name: "values that print long", code: "for (;;) console.log(Array(200).fill({ a: 'x'.repeat(50) }))"},
			{name: "groups", code: "for (;;) console.group('x')"},
			{name: "lines behind a deep indent", code: "for (let i = 0; i < 1e4; i++) console.group(); for (;;) console.log('x\\nx')"},
			{name: "traces", code: "for (;;) console.trace('x')"},
			{name: "assertions", code: "for (;;) console.assert(false, 'x')"},
			{name: "counts", code: "for (;;) console.count()"},
			{name: "times", code: "console.time('a'); for (;;) console.timeLog('a')"},
			{name: "errors that print long", code: "for (;;) console.log(new Error('x'.repeat(1000)))"},
			{name: "a value", code: "return 'x'.repeat(1e6)"},
			{name: "a value of many parts", code: "return Array.from({ length: 1e5 }, (_, i) => i)"},
			{name: "a shared tree as the value", code: dag + "return a"},
			{name: "an error text", code: "throw new Error('x'.repeat(5e6))"},
			{name: "an error name", code: "const e = new Error('x'); e.name = 'N'.repeat(1e6); throw e"},
			{name: "a text that is thrown", code: "throw 'x'.repeat(5e6)"},
		}},
		{family: "calls", limits: byCalls, fails: ends(runtime.CallLimit, "call limit reached (50 calls)"), programs: []program{
			{name: "one after the other", code: "for (;;) await tools.echo({})"},
			{name: "caught", code: "for (;;) try { await tools.echo({}) } catch {} finally {}"},
			{name: "that fail", code: "for (;;) await tools.fail({ message: 'x' }).catch(() => 0)"},
			{name: "floating", code: "for (let i = 0; i < 1e5; i++) tools.echo({ i })"},
			{name: "at once", code: "await Promise.all(Array.from({ length: 1e5 }, (_, i) => tools.echo({ i })))"},
			{name: "from callbacks", code: "const f = () => tools.echo({}).then(f); await f()"},
			{name: "from timers", code: "setInterval(() => tools.echo({}), 0); await tools.hold({})"},
			{name: "from a getter", code: "for (;;) await tools.echo({ get a() { tools.echo({}); return 1 } })"},
			{name: "that are given up", code: "for (;;) { const c = new AbortController(); const p = tools.echo({}, { signal: c.signal }); c.abort(); await p.catch(() => 0) }"},
			{name: "that time out", code: "for (;;) await tools.hold({}, { timeoutMs: 1 }).catch(() => 0)"},
			{name: "that panic", code: "for (;;) await tools.panics({}).catch(() => 0)"},
			{name: "under another name", code: "const { echo } = tools, f = echo.bind(null, {}); for (;;) await f()"},
		}},
		{family: "floods that are cut", limits: byOutput, programs: []program{
			{name: "a table", code: "console.table(Array.from({ length: 1e4 }, (_, i) => ({ i, j: i }))); return 1", value: "1"},
			{name: "a long array", code: "console.log(Array.from({ length: 1e6 }, (_, i) => i)); return 1", value: "1"},
			{name: "a wide object", code: "console.log(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => ['k' + i, i]))); return 1", value: "1"},
			{name: "a long text in an object", code: "console.log({ a: 'x'.repeat(1e7) }); return 1", value: "1"},
		}},
		{family: "bytes", limits: byBytes, fails: ends(runtime.BytesLimit, "exceed 1048576 bytes"), programs: []program{
			{name: "in the queue", code: "tools.hold({}); for (let i = 0; i < 2000; i++) tools.echo({ s: 'x'.repeat(1000) })"},
			{name: "one text many times", code: "const s = 'x'.repeat(1e5); for (let i = 0; i < 1000; i++) tools.echo({ s })"},
			{name: "in results", code: "const s = 'x'.repeat(6e5); await tools.echo({ s })"},
		}},
		{family: "many large calls", fails: ends(runtime.BytesLimit, "exceed 67108864 bytes"), programs: []program{
			{name: "a thousand that share one text", code: "const s = 'x'.repeat(4 * 1024 * 1024 - 20); for (let i = 0; i < 1000; i++) tools.echo({ s })"},
		}},
		{family: "large arguments and results", limits: runtime.Limits{Argument: 1000, Result: 1000, ResultNodes: 100, Heap: 256 << 20}, programs: []program{
			{name: "argument", code: codeOf("tools.echo({ s: 'x'.repeat(1000) })"), value: `"ARGUMENT_TOO_LARGE"`},
			{name: "argument of 50 MB", code: codeOf("tools.echo({ s: 'x'.repeat(5e7) })"), value: `"ARGUMENT_TOO_LARGE"`},
			{name: "argument of many parts", code: codeOf("tools.echo({ a: Array(1e6).fill(1) })"), value: `"INVALID_ARGS"`},
			{name: "argument that claims a length", code: codeOf("tools.echo({ a: Array(4e9) })"), value: `"INVALID_ARGS"`},
			{name: "argument that is a proxy of an endless array", code: codeOf("tools.echo({ a: new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 32 - 1 : 0 }) })"), value: `"INVALID_ARGS"`},
			{name: "result", code: codeOf("tools.raw({ json: '\"' + 'x'.repeat(900) + '\"' }); await tools.big({ n: 1001 })"), value: `"RESULT_TOO_LARGE"`},
			{name: "result of many parts", code: codeOf("tools.raw({ json: '[' + '1,'.repeat(200) + '1]' })"), value: `"RESULT_TOO_LARGE"`},
		}},
		{family: "storms that pass", limits: runtime.Limits{Heap: 256 << 20}, programs: []program{
			{name: "timers that are left", code: "for (let i = 0; i < 100_000; i++) setTimeout(() => {}, 1e6); return 'set'", value: `"set"`},
			{name: "rejections that are handled late", code: "const a = Array.from({ length: 1e4 }, () => Promise.reject(1)); await null; return (await Promise.allSettled(a)).length", value: "10000"},
			{name: "signals", code: "const c = new AbortController(), a = Array.from({ length: 1e4 }, () => AbortSignal.any([c.signal])); c.abort(); return a.every(s => s.aborted)", value: "true"},
			{name: "finalizers", code: "const r = new FinalizationRegistry(() => { for (;;) {} }); for (let i = 0; i < 1e4; i++) r.register({}, i); return 1", value: "1"},
			{name: "an infinite loop after the return", code: "setTimeout(() => { for (;;) {} }, 0); queueMicrotask(() => {}); return 1", value: "1"},
			{name: "a listener after the return", code: "AbortSignal.timeout(0).addEventListener('abort', () => { for (;;) {} }); return 1", value: "1"},
			{name: "names in a wide object", code: "const o = {}; for (let i = 0; i < 1e5; i++) o['k' + i] = i; return Object.keys(o).length", value: "100000"},
			{name: "names that hash alike", code: "const m = new Map(); for (let i = 0; i < 1e5; i++) m.set(i * 2 ** 32, i); return m.size", value: "100000"},
		}},
		{family: "garbage beside what is kept", grows: true, limits: runtime.Limits{Heap: 256 << 20}, programs: []program{
			{name: "texts", code: "const keep = []; for (let i = 0; i < 160; i++) keep.push('x'.repeat(1e6) + i); let n = 0; for (let i = 0; i < 400; i++) n += ('y'.repeat(1e6) + i).length > 0; return n", value: "400"},
		}},
		{family: "rejections that nobody handles", limits: runtime.Limits{Heap: 256 << 20}, fails: ends(runtime.Exception, "x"), programs: []program{
			{name: "many", code: "for (let i = 0; i < 1e4; i++) Promise.reject(new Error('x')); await tools.echo({})"},
			{name: "in timers", code: "for (let i = 0; i < 100; i++) setTimeout(() => { throw new Error('x') }, 0); await tools.hold({})"},
			{name: "in microtasks", code: "queueMicrotask(() => { throw new Error('x') }); await tools.echo({})"},
			{name: "of a cycle", code: "const e = new Error('x'); e.cause = e; throw e"},
			{name: "of many errors", code: "throw new AggregateError(Array.from({ length: 1e5 }, () => new Error('y')), 'x')"},
		}},
	}
}

// codeOf is a program that returns the code of the error that call throws.
func codeOf(call string) string {
	return "try { await " + call + "; return 'passed' } catch (e) { return e.code }"
}

// tamperingPrograms replace what they can reach and look for a way out.
func tamperingPrograms() []attacks {
	return []attacks{
		{family: "ways out", limits: runtime.Limits{Heap: 256 << 20}, programs: []program{
			{name: "the host's objects", code: "return ['process', 'require', 'module', 'exports', 'Deno', 'Bun', 'window', 'self', 'fetch', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'importScripts', '__dirname', 'GoError'].filter(k => k in globalThis)", value: "[]"},
			{name: "constructor of a constructor", code: "return [].constructor.constructor('return typeof process + typeof require')()", value: `"undefinedundefined"`},
			{name: "constructor of a tool", code: "return tools.echo.constructor('return typeof process')()", value: `"undefined"`},
			{name: "prototype of the tools", code: "return [Object.getPrototypeOf(tools), Object.isFrozen(tools), typeof tools.__proto__, typeof tools.constructor]", value: `[null,true,"undefined","undefined"]`},
			{name: "this at the top", code: "return (function () { return this === globalThis })()", value: "true"},
			{name: "callers", code: "function f() { try { return f.caller ?? null } catch { return null } } return f()", value: "null"},
			{name: "frames of the host", code: "return /\\.go|goja|native/.test(new Error().stack)", value: "false"},
			{name: "text of a tool", code: "return /\\.go|goja|func\\d|runcode/.test(String(tools.echo) + tools.echo.name)", value: "false"},
			{name: "text of the library", code: "return [String.prototype.repeat, Array.from, setTimeout, eval, console.log, structuredClone].filter(f => /\\.go|goja|func\\d|runcode/.test(String(f) + f.name)).length", value: "0"},
		}},
	}
}
