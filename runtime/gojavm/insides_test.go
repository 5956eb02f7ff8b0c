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

// A clause that takes apart what it catches is compiled as one that names it.
func TestCatchTakenApart(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, want string }{
		{"properties", "try { throw { a: 1, b: { c: [2, 3] } } } catch ({ a, b: { c: [, d] } }) { return [a, d] }", "[1,3]"},
		{"defaults see what is before them", "try { throw { a: 1 } } catch ({ a, b = a + 1, ...rest }) { return [a, b, rest] }", "[1,2,{}]"},
		{"an array", "try { throw [1, 2, 3] } catch ([a, ...b]) { return [a, b] }", "[1,[2,3]]"},
		{"the body shadows", "try { throw { a: 1 } } catch ({ a }) { { let a = 2 } return a }", "1"},
		{"assigned to", "try { throw { a: 1 } } catch ({ a }) { a++; return a }", "2"},
		{"closures", "const f = []; for (const x of [1, 2]) { try { throw { x } } catch ({ x: y }) { f.push(() => y) } } return f.map(g => g())", "[1,2]"},
		{"var in the body", "try { throw { a: 1 } } catch ({ a }) { var b = a } return b", "1"},
		{"functions in the body", "try { throw { a: 1 } } catch ({ a }) { return f(); function f() { return a } }", "1"},
		{"finally", "const seen = []; try { try { throw { a: 1 } } catch ({ a }) { seen.push(a) } finally { seen.push(2) } } finally { return seen }", "[1,2]"},
		{"it throws", "try { try { throw null } catch ({ a }) { return 1 } } catch (e) { return e.name }", `"TypeError"`},
		{"inside one another", "try { try { throw { a: 1 } } catch ({ a }) { throw { a: a + 1 } } } catch ({ a }) { return a }", "2"},
		{"await in a default", "try { throw {} } catch ({ a = await tools.ping({}) }) { return typeof a }", `"object"`},
		{"break and continue", "const seen = []; for (const x of [1, 2, 3]) { try { throw { x } } catch ({ x: y }) { if (y === 1) continue; if (y === 3) break; seen.push(y) } } return seen", "[2]"},
		{"of the engine", "try { null.x } catch ({ name, message }) { return [name, message] }", `["TypeError","Cannot read properties of null (reading 'x')"]`},
		{"nothing taken", "try { throw 1 } catch { return 2 }", "2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := execute(t, rt, runtime.Request{Program: tc.code}); res.Failure != nil || res.Value != tc.want {
				t.Errorf("%s %+v, want %s", res.Value, res.Failure, tc.want)
			}
		})
	}
}

// then is the engine's own to a program.
func TestGuardedReactions(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, want string }{
		{"what it looks like", "const d = Object.getOwnPropertyDescriptor(Promise.prototype, 'then'); return [d.value.name, d.value.length, d.writable, d.enumerable, d.configurable, 'prototype' in d.value]", `["then",2,true,false,true,false]`},
		{"no constructor", "try { new (Promise.prototype.then)() } catch (e) { return e.name }", `"TypeError"`},
		{"what is no function is passed over", "return [await Promise.resolve(1).then(5, 6), await Promise.reject(2).then(1, null).catch(x => x), await Promise.reject(3).catch().catch(x => x)]", "[1,2,3]"},
		{"arguments", "return await Promise.reject(1).then(null, (...args) => args)", "[1]"},
		{"what the handler returns", "return await Promise.reject(1).catch(() => Promise.resolve(2))", "2"},
		{"what the handler throws", "return await Promise.reject(1).catch(x => { throw x + 1 }).catch(x => x)", "2"},
		{"a class of promises", "class P extends Promise {} const p = P.reject(1).catch(x => x); return [p instanceof P, await p]", "[true,1]"},
		{"another this", "try { Promise.prototype.then.call({}, null, () => 1) } catch (e) { return e.name }", `"TypeError"`},
		{"the same error", "const e = new Error('a'); return await Promise.reject(e).catch(x => x === e && x.message)", `"a"`},
		{"a frozen error", "return await Promise.reject(Object.freeze(new TypeError('No initial value'))).catch(e => e.message)", `"No initial value"`},
		{"order", `const seen = []
const say = x => () => { seen.push(x) }
Promise.reject().catch(say('a')).then(say('d'))
Promise.resolve().then(say('b')).then(say('e'))
Promise.reject().then(null, say('c')).finally(say('f'))
await new Promise(r => setTimeout(r, 1))
return seen.join('')`, `"abcdef"`},
		{"of the engine", "return await Promise.resolve().then(() => null.x).catch(e => e.message)", `"Cannot read properties of null (reading 'x')"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if res := execute(t, rt, runtime.Request{Program: tc.code}); res.Failure != nil || res.Value != tc.want {
				t.Errorf("%s %+v, want %s", res.Value, res.Failure, tc.want)
			}
		})
	}
}

// What evaluated code has caught went past everything else.
func TestCausesShowNoInsides(t *testing.T) {
	code := `eval("try { undefined[Object.create(null)] } catch (e) { throw new Error('outer', { cause: e }) }")`
	f := execute(t, newRuntime(t, nil), runtime.Request{Program: code}).Failure
	if want := "Error: outer\n  [cause] TypeError: Cannot read property '#<Object>' of undefined"; f == nil || f.Message != want {
		t.Errorf("%+v, want %q", f, want)
	}
}
