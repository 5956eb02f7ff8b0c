package runtimetest

import (
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// What package gojavm's documentation says of steps that take long.
const (
	beyondPattern = "a regular expression that backtracks"
	beyondArrays  = "functions of the engine on very long arrays, or objects that claim a length"
	beyondTexts   = "functions of the engine on very long texts"
	beyondBigInts = "arithmetic of BigInts that grow by multiplication"
	beyondReading = "reading the program"
)

// longPrograms ask for one step that takes very long.
func longPrograms() []attacks {
	exhausted := ends(runtime.Timeout, "compute budget exhausted (200ms")
	long := byCompute
	long.Heap = 1 << 30
	return []attacks{
		{family: "patterns that backtrack", limits: long, fails: exhausted, beyond: beyondPattern, programs: []program{
			{name: "a reference back", code: `return /^(\w+\s?)+\1$/.test('word '.repeat(24) + '!')`},
			{name: "behind a lookahead", code: `return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')`},
			{name: "behind a lookbehind", code: `return /(?<!b)^(a|aa)+$/.test('a'.repeat(60) + 'b')`},
			{name: "nested stars", code: `return /(?=)(x+x+)+y/.test('x'.repeat(40))`},
			{name: "dots", code: `return /(?=)(.*)*(.*)*x/.test('a'.repeat(5000))`},
			{name: "replace", code: `return 'a'.repeat(40).replace(/^(?=)(a+)+$\b\B/, '')`},
			{name: "split", code: `return 'a'.repeat(40).split(/(?=)(a+)+\1b/)`},
			{name: "matchAll", code: `return [...'a'.repeat(40).matchAll(/(?=)(a+)+\1b/g)]`},
			{name: "a sticky pattern", code: `return /(?=)(a+)+\1b/y.exec('a'.repeat(40))`},
		}},
		{family: "patterns that are linear", limits: runtime.Limits{Heap: 256 << 20}, programs: []program{
			{name: "nested pluses", code: "return /^(a+)+$/.test('a'.repeat(40) + 'b')", value: "false"},
			{name: "alternatives that overlap", code: `return /^(?=)(a|a)*$/.test('a'.repeat(40) + 'b')`, value: "false"},
			{name: "nested stars", code: "return /(x+x+)+y/.test('x'.repeat(1000))", value: "false"},
			{name: "spaces at the end", code: `return /\s+$/.test(' '.repeat(1e4) + 'x')`, value: "false"},
			{name: "optional letters", code: "return new RegExp('^' + 'a?'.repeat(40) + 'a'.repeat(40) + '$').test('a'.repeat(39))", value: "false"},
		}},
		{family: "steps over long arrays", limits: long, fails: exhausted, beyond: beyondArrays, programs: []program{
			{name: "a shared tree that is flattened", code: dag + "a.flat(Infinity)"},
			{name: "a set of holes", code: "new Set(Array(2 ** 32 - 1))"},
			{name: "sort with a comparison over holes", code: "[].sort.call(Array(15e6), () => 0)"},
			{name: "a typed array that is filled", code: "const a = new Uint8Array(5e8); for (;;) a.fill(1)"},
			{name: "elements put in front", code: "const a = Array(1e6).fill(0); for (;;) a.unshift(0)"},
			{name: "elements taken from the front", code: "const a = Array(1e6).fill(0); for (;;) { a.splice(0, 1); a.push(0) }"},
		}},
		{family: "steps over long texts", limits: long, fails: exhausted, beyond: beyondTexts, programs: []program{
			{name: "split", code: "const s = 'x'.repeat(5e6); for (;;) s.split('')"},
			{name: "replaceAll", code: "const s = 'x'.repeat(1e7); for (;;) s.replaceAll('x', 'y')"},
			{name: "normalize", code: "const s = 'é'.repeat(1e7); for (;;) s.normalize('NFD')"},
			{name: "localeCompare", code: "const s = 'é'.repeat(1e6); for (;;) s.localeCompare(s + 'x')"},
			{name: "toUpperCase", code: "const s = 'é'.repeat(1e7); for (;;) s.toUpperCase()"},
			{name: "encodeURIComponent", code: "const s = 'é'.repeat(1e7); for (;;) encodeURIComponent(s)"},
			{name: "JSON.parse", code: "const s = '[' + '1,'.repeat(2e6) + '1]'; for (;;) JSON.parse(s)"},
			{name: "search parameters", code: "const s = 'a=b&'.repeat(1e6); for (;;) new URLSearchParams(s)"},
			{name: "atob", code: "const s = 'AAAA'.repeat(1e7); for (;;) atob(s)"},
			{name: "matchAll", code: "const s = 'x'.repeat(1e6); for (;;) [...s.matchAll(/x/g)]"},
		}},
		{family: "arithmetic of BigInts", limits: long, fails: exhausted, beyond: beyondBigInts, programs: []program{
			{name: "squares", code: "for (let n = 3n; ; n *= n) if (n > 1n << 50000000n) n = 3n"},
			{name: "division", code: "const n = 3n ** 4000000n, m = 7n ** 1000000n; for (;;) n / m"},
			{name: "decimal text", code: "const n = 3n ** 10000000n; for (;;) String(n)"},
			{name: "from decimal text", code: "const s = '9'.repeat(1e7); for (;;) BigInt(s)"},
			{name: "powers", code: "for (;;) 3n ** 30000000n"},
		}},
		{family: "programs that take long to read", limits: long, fails: exhausted, beyond: beyondReading, programs: []program{
			{name: "names declared again", code: strings.Repeat("let a;", 40_000)},
		}},
		{family: "programs that are read again and again", limits: long, fails: ends(runtime.InvalidInput, "more than"), programs: []program{
			{name: "defaults of arrows in defaults of arrows", code: "return " + strings.Repeat("((b = ", 40) + "1" + strings.Repeat(") => b)()", 40)},
			{name: "arrows whose results have types", code: "return " + strings.Repeat("((b = ", 40) + "1" + strings.Repeat("): number => b)()", 40)},
			{name: "yields of what cannot be", code: "function* g() { " + strings.Repeat("yield (", 300) + "1" + strings.Repeat(") = 1", 300) + " }"},
			{name: "comparisons in a list", code: "return [" + strings.Repeat("a<(b),", 40_000) + "1]"},
		}},
		// Each is over before a stopped program has to be left behind.
		{family: "steps that are short enough", limits: long, fails: exhausted, programs: []program{
			{name: "a shared tree of objects that is cloned", code: "let a = {}; for (let i = 0; i < 1e6; i++) a['k' + i] = { i }; for (;;) structuredClone(a)"},
			{name: "a random comparison", code: "const a = Array.from({ length: 1e6 }, (_, i) => i); for (;;) a.sort(() => Math.random() - 0.5)"},
			{name: "texts that are compared", code: "const s = 'x'.repeat(1e5), a = Array.from({ length: 1e4 }, (_, i) => s + i); for (;;) a.sort((x, y) => x.localeCompare(y))"},
			{name: "a typed array that is sorted", code: "const a = new Float64Array(2e7); for (let i = 0; i < 1e5; i++) a[i] = -i; for (;;) a.sort((x, y) => x - y)"},
			{name: "lastIndexOf", code: "const s = 'a'.repeat(1e6), t = 'b' + 'a'.repeat(5e5); for (;;) s.lastIndexOf(t)"},
			{name: "indexOf", code: "const s = 'aé'.repeat(1e6), t = 'aé'.repeat(5e5) + 'b'; for (;;) s.indexOf(t)"},
			{name: "parseInt", code: "const s = '9'.repeat(1e7); for (;;) parseInt(s)"},
			{name: "Number", code: "const s = '9'.repeat(1e7); for (;;) Number(s)"},
			{name: "Date", code: "const s = '1'.repeat(1e7); for (;;) new Date(s)"},
			{name: "URL", code: "const s = 'https://x/' + 'e'.repeat(1e5); for (;;) new URL(s)"},
			{name: "decode", code: "const b = new Uint8Array(5e7); for (;;) new TextDecoder().decode(b)"},
		}},
		// The library asks whether the run was stopped. What it makes may grow too long before.
		{family: "long work of the library", limits: byCompute, fails: exhausted, programs: []program{
			{name: "JSON.stringify of a shared tree", code: dag + "for (;;) try { JSON.stringify(a) } catch {}"},
			{name: "JSON.stringify with an indent", code: dag + "for (;;) try { JSON.stringify(a, null, 2) } catch {}"},
			{name: "a shared tree as text", code: dag + "for (;;) try { String(a) } catch {}"},
			{name: "a shared tree that is joined", code: dag + "for (;;) try { a.join() } catch {}"},
			{name: "number formats", code: "for (;;) (1234.5).toLocaleString('en-US')"},
			{name: "date formats", code: "for (let i = 0; ; i++) new Date(i).toLocaleString('en-US', { dateStyle: 'full', timeStyle: 'long' })"},
			{name: "Intl objects", code: "for (;;) new Intl.DateTimeFormat('en-US', { month: 'long' }).format()"},
			{name: "clones", code: "const a = Array.from({ length: 100 }, (_, i) => ({ i })); for (;;) structuredClone(a)"},
			{name: "random bytes", code: "for (;;) crypto.getRandomValues(new Uint8Array(65536))"},
			{name: "UUIDs", code: "for (;;) crypto.randomUUID()"},
			{name: "small sorts", code: "for (;;) [3, 1, 2].sort((a, b) => a - b)"},
			{name: "small patterns", code: "for (;;) 'a1b2'.replace(/\\d/g, '')"},
		}},
		{family: "shared trees", limits: runtime.Limits{Argument: 64 << 10, Heap: 256 << 20}, programs: []program{
			{name: "as an argument", code: dag + "try { await tools.echo({ a }) } catch (e) { return e instanceof ToolCallError }", value: "true"},
			{name: "printed", code: dag + "console.log(a); return 1", value: "1"},
			{name: "cloned", code: dag + "return structuredClone(a).length", value: "2"},
			{name: "in a set", code: dag + "return new Set([a, a]).size", value: "1"},
		}},
	}
}

// dag makes an array a that stands for 2^40 elements.
const dag = "let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; "
