package gojavm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// textless are objects that have no text of their own. The engine formats some as
// they lie in memory.
var textless = []struct{ name, make string }{
	{"no prototype", "Object.create(null)"},
	{"tools", "tools"},
	{"proxy", "new Proxy(Object.create(null), {})"},
	{"function", "Object.setPrototypeOf(() => 1, null)"},
	{"toString of an object", "({ toString() { return {} }, valueOf() { return {} } })"},
	{"toString that throws", "({ toString() { throw new Error('own') } })"},
	{"array", "Object.setPrototypeOf([1, {}], null)"},
	{"Map", "Object.setPrototypeOf(new Map([[1, {}]]), null)"},
	{"names like an end", "({ __proto__: null, ') is not a function': {}, \") is not extensible\": {} })"},
	{"Symbol", "Symbol('s')"},
	{"console", "console"},
	{"function of the host", "tools.ping"},
}

// namers are what makes the engine name a value in an error.
var namers = []string{
	"`${o}`", "'' + o", "+o", "o * 2", "o < 1", "Number(o)", "BigInt(o)", "[o].join()", "({})[o]",
	"undefined[o]", "null[o]", "undefined[o]()", "undefined[o] = 1", "delete undefined[o]", "const { [o]: a } = null",
	"o in {}", "({}) instanceof o", "new o()", "o()", "[1].map(o)", "[1].reduce(o)", "[1].reduceRight(o)", "[1].filter(o)", "[1].find(o)", "[1].sort(o)",
	"[{ toLocaleString: 1, __proto__: null }].toLocaleString()", "Object.setPrototypeOf(Object.preventExtensions(o), {})", "Object.setPrototypeOf(o, {})",
	"Object.setPrototypeOf({}, o)", "Object.create(o)", "Object.defineProperty({}, 'x', o)", "Object.defineProperty({}, 'x', { get: o })", "Object.defineProperty(o, o, o)",
	"new Map([[1, 1]]).forEach(o)", "new Set([1]).forEach(o)", "new Map([o])", "new Promise(o)", "Promise.prototype.then.call(o)", "Array.from([1], o)",
	"Date.prototype[Symbol.toPrimitive].call({}, o)", "Date.prototype[Symbol.toPrimitive].call(new Date(0), o)", "new Date(o)",
	"Number.prototype.toFixed.call(o)", "Number.prototype.toString.call(o)", "ArrayBuffer.prototype.slice.call(o)", "new DataView(o)",
	"Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get.call(o)", "new Uint8Array(2).map(o)", "Uint8Array.from([1], o)",
	"new Proxy(Object.freeze({ x: 1 }), { get: () => o }).x", "new Proxy(Object.freeze({ x: o }), { get: () => 1 }).x", "new Proxy(Object.freeze({ x: o }), { get: () => Object.create(null) }).x",
	"new Proxy(Object.defineProperty({}, 'x', { set() {} }), { get: () => o }).x", "Object.keys(new Proxy({}, { ownKeys: () => [o] }))",
	"Reflect.ownKeys(o)", "Reflect.apply(o)", "Reflect.construct(o, [])", "Symbol.keyFor(o)", "'x'.repeat(o)", "'x'.replace(o, '')", "new RegExp('x', o)", "String.raw(o)",
	"for (const x of o) {}", "const [a] = o", "[...o]", "class A extends o {}", "await tools[o]()", "tools.ping = o", "throw new Error('with', { cause: o })",
}

// readers are the ways in which a program, or who reads its end, gets to see an error.
var readers = []struct{ name, before, after string }{
	{"catch", "try {\n", "\n} catch (e) { return [e.message, e.stack] }"},
	{"catch taken apart", "try {\n", "\n} catch ({ message, stack }) { return [message, stack] }"},
	{"end", "", ""},
	{"catch of a promise", "return (async () => { await null\n", "\n})().catch(e => [e.message, e.stack])"},
	{"then by name", "const f = e => [e.message, e.stack]; return (async () => { await null\n", "\n})().then(() => 1).then(null, f)"},
	{"allSettled", "const [r] = await Promise.allSettled([(async () => { await null\n", "\n})()]); return [r.reason?.message, r.reason?.stack]"},
	{"any", "try { await Promise.any([(async () => { await null\n", "\n})()]) } catch (e) { return [e.errors[0].message, e.errors[0].stack] }"},
	{"cause", "try {\n", "\n} catch (e) { throw new Error('outer', { cause: e }) }"},
	{"end of any", "await Promise.any([(async () => { await null\n", "\n})()])"},
	{"console", "await (async () => { await null\n", "\n})().catch(e => { console.log(e); console.log('%s %o', e, { e }) })"},
	{"value", "return (async () => { await null\n", "\n})().catch(e => e)"},
}

// What a program and its reader see says nothing of how the engine keeps values.
func TestErrorsShowNoInsides(t *testing.T) {
	rt := newRuntime(t, nil)
	for i, o := range textless {
		t.Run(o.name, func(t *testing.T) {
			ways := readers
			if i > 1 {
				ways = readers[:1] // the errors are the same
			}
			for _, reader := range ways {
				for _, namer := range namers {
					code := "const o = " + o.make + "\n" + reader.before + namer + reader.after
					res := execute(t, rt, runtime.Request{Program: code})
					seen, err := json.Marshal(res)
					if err != nil {
						t.Fatal(err)
					}
					for _, insides := range []string{"\\u0026{", "%!", "0x", "PANIC", "goja", "map[", "<nil>", "\\u003cnil"} {
						if strings.Contains(string(seen), insides) {
							t.Errorf("%s, %s: %q in %s", reader.name, namer, insides, seen)
						}
					}
				}
			}
		})
	}
}

func TestWithoutInsides(t *testing.T) {
	const dump = "(PANIC=String method: TypeError: Could not convert &{Object 0xc000 <nil> map[) is not a function:0xc0001]} (*goja.baseObject) to primitive)"
	for _, tc := range []struct{ text, want string }{
		{"Could not convert &{Object 0xc000} to primitive", "Cannot convert object to primitive value"},
		{"%!s" + dump + " is not extensible", "#<Object> is not extensible"},
		{"%!v" + dump + " is not a function", "#<Object> is not a function"},
		{"Property 'toLocaleString' of object %!s" + dump + " is not a function", "Property 'toLocaleString' of object #<Object> is not a function"},
		{"Invalid hint: %!s" + dump, "Invalid hint: #<Object>"},
		{"Cannot read property '%!s" + dump + "' of undefined", "Cannot read property '#<Object>' of undefined"},
		{"Cannot read property '%!s" + dump + "' of undefined or null", "Cannot read property '#<Object>' of undefined or null"},
		{"(expected '%!s" + dump + "' but got '%!s" + dump + "')", "(expected '#<Object>')"},
		{"Cannot convert %!s" + dump + " to a BigInt", "Cannot convert #<Object> to a BigInt"},
		{"object is not a function %!s(MISSING)", "object is not a function"},
		{"own text", "own text"},
	} {
		if got := withoutInsides(tc.text); got != tc.want {
			t.Errorf("%s:\n%s\nwant %s", tc.text, got, tc.want)
		}
		if tc.text != tc.want && !saysAny(tc.text) {
			t.Errorf("%s: not seen", tc.text)
		}
	}
}
