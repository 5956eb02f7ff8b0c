package jslib_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// settle runs an async function body and gives what it resolved to as text.
func (e *engine) settle(t testing.TB, body string) string {
	t.Helper()
	v, err := e.vm.RunString("(async () => {" + body + "\n})()")
	if err != nil {
		t.Fatalf("program %s\n%v", body, err)
	}
	p, ok := v.Export().(*goja.Promise)
	if !ok {
		t.Fatalf("program gave %v, not a promise", v)
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result().String()
	case goja.PromiseStateRejected:
		return "rejected: " + p.Result().String()
	default:
		return "pending"
	}
}

func TestLibrary(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"well-known symbols", `return [Symbol.asyncIterator, Symbol.dispose, Symbol.asyncDispose].map(s => s.description).join()`, "Symbol.asyncIterator,Symbol.dispose,Symbol.asyncDispose"},
		{"Object.groupBy", `const g = Object.groupBy([1, 2, 3], n => n % 2 ? "odd" : "even"); return JSON.stringify(g) + Object.getPrototypeOf(g)`, `{"odd":[1,3],"even":[2]}null`},
		{"Map.groupBy", `const k = {}; const m = Map.groupBy([1, 2, 3], n => n > 1 ? k : -0); return m.get(k).join() + m.get(0).join()`, "2,31"},
		{"Array.fromAsync of promises", `return (await Array.fromAsync([Promise.resolve(1), 2], async n => n * 2)).join()`, "2,4"},
		{"Array.fromAsync of an async iterator", `let n = 0; return (await Array.fromAsync({[Symbol.asyncIterator]: () => ({next: async () => ({value: n, done: n++ > 2})})})).join()`, "0,1,2"},
		{"Array.fromAsync of an array-like", `return (await Array.fromAsync({length: 2, 0: "a", 1: Promise.resolve("b")})).join()`, "a,b"},
		{"Array.fromAsync closes its source", `let closed = 0; try { await Array.fromAsync({[Symbol.iterator]: () => ({next: () => ({value: 1, done: false}), return: () => { closed++; return {} }})}, () => { throw new Error("stop") }) } catch (e) { return e.message + closed }`, "stop1"},
		{"Promise.withResolvers", `const {promise, resolve} = Promise.withResolvers(); resolve(3); return await promise`, "3"},
		{"Promise.try", `return [await Promise.try((a, b) => a + b, 1, 2), await Promise.try(() => { throw 4 }).catch(e => e)].join()`, "3,4"},
		{"well-formed strings", `return ["ab".isWellFormed(), "a\ud800".isWellFormed(), "😀".isWellFormed(), "x\ud800y".toWellFormed() === "x\ufffdy"].join()`, "true,false,true,true"},
		{"changing case keeps unpaired surrogates", `return ["\ud800XÉ", "\udc00\ud83dΑΣ\ud800b"].map(s => s.toLowerCase() + s.toUpperCase() + s.toLocaleLowerCase()).join() === "\ud800xé\ud800XÉ\ud800xé,\udc00\ud83dας\ud800b\udc00\ud83dΑΣ\ud800B\udc00\ud83dας\ud800b"`, "true"},
		{"trimming keeps unpaired surrogates", `const s = " \t\ufeff\ud83d \n"; return [s.trim() === "\ud83d", s.trimStart() === "\ud83d \n", s.trimEnd() === " \t\ufeff\ud83d", "".trimLeft === "".trimStart, "".trimRight === "".trimEnd].join()`, "true,true,true,true,true"},
		{"normalizing keeps unpaired surrogates", `let asked = 0; const form = {toString() { asked++; return "NFD" }}; return ["e\u0301\ud800e\u0301".normalize() === "é\ud800é", "é\udc00é".normalize(form) === "e\u0301\udc00e\u0301", asked, (() => { try { "\ud800".normalize("X") } catch (e) { return e.name } })()].join()`, "true,true,1,RangeError"},
		{"comparing tells unpaired surrogates apart", `return ["\ud800".localeCompare("\ud801"), "\ud800b".localeCompare("\ud801a"), "\udc00".localeCompare("\ud800"), "\ud800".localeCompare("z"), "\ud800".localeCompare("\ud800")].join()`, "-1,-1,1,1,0"},
		{"an indent keeps unpaired surrogates", `return JSON.stringify([1], null, "\ud800") === "[\n\ud8001\n]"`, "true"},
		{"includes finds zeros of either sign", `return [[-0].includes(0), [0].includes(-0), [-0, 1].includes(0, 1), [1, -0].includes(0, -1), [NaN].includes(NaN), [,].includes(undefined), [1].includes(0)].join()`, "true,true,false,true,true,true,false"},
		{"typed arrays find zeros of either sign", `const f = new Float64Array([-0, 1, -0]), g = new Float32Array([-0]); return [f.includes(0), f.indexOf(0), f.indexOf(0, 1), f.indexOf(0, -9), f.lastIndexOf(-0), f.lastIndexOf(0, 1), f.lastIndexOf(0, -4), g.includes(0), g.indexOf(1), f.includes(NaN)].join()`, "true,0,2,0,2,0,-1,true,-1,false"},
		{"RegExp.escape", `return RegExp.escape("a.b*(c) d-1") + new RegExp(RegExp.escape("x+y?")).test("x+y?")`, `\x61\.b\*\(c\)\x20d\x2d1true`},
		{"iterator map, filter, take, drop, flatMap", `return [...[1, 2, 3, 4, 5, 6].values().filter(n => n % 2).map(n => n * 10).drop(1).take(2).flatMap(n => [n, n + 1])].join()`, "30,31,50,51"},
		{"iterator consumers", `const v = () => [1, 2, 3].values(); return [v().reduce((a, b) => a + b), v().toArray().length, v().some(n => n > 2), v().every(n => n > 2), v().find(n => n > 1), v().map(n => n).toArray().join("+")].join()`, "6,3,true,false,2,1+2+3"},
		{"iterator of an endless generator", `function* g() { let n = 0; try { for (;;) yield n++ } finally { closed = true } } let closed = false; return g().take(3).toArray().join() + closed`, "0,1,2true"},
		{"Iterator.from and the constructor", `return [Iterator.from({next() { return {done: true} }}).toArray().length, [].values() instanceof Iterator, (() => { try { new Iterator() } catch (e) { return e.name } })()].join()`, "0,true,TypeError"},
		{"new class extends Iterator", `class Up extends Iterator { n = 0; next() { return {value: this.n++, done: this.n > 3} } } return new Up().map(n => n * 2).toArray().join()`, "0,2,4"},
		{"Error.captureStackTrace", `const o = {name: "N", message: "m"}; Error.captureStackTrace(o); return o.stack.split("\n")[0] + Object.keys(o)`, "N: mname,message"},
		{"queueMicrotask", `let order = []; queueMicrotask(() => order.push("micro")); order.push("sync"); await null; return order.join()`, "sync,micro"},
		{"new methods are not enumerable", `const keys = []; for (const k in Object) keys.push(k); for (const k in [].values()) keys.push(k); for (const k in "") keys.push(k); for (const k in globalThis) keys.push(k); return keys.join()`, ""},
		{"structuredClone", `const d = new Date(5); const a = {n: [1, , 3], m: new Map([[{k: 1}, new Set([2])]]), d, r: /x/gi, u: new Uint8Array([1, 2]), e: new TypeError("t"), big: 1n, un: undefined}; a.self = a;
			const c = structuredClone(a);
			return [c !== a, c.self === c, c.n.length, 1 in c.n, [...c.m][0][0].k, [...c.m][0][1].has(2), c.d.getTime(), c.d !== d, c.r, c.u[1], c.e instanceof TypeError, c.e.message, c.big, "un" in c].join()`,
			"true,true,3,false,1,true,5,true,/x/gi,2,true,t,1,true"},
		{"structuredClone makes instances plain", `class P { constructor() { this.x = 1 } } const c = structuredClone(new P()); return [c.x, c.constructor === Object].join()`, "1,true"},
		{"structuredClone refuses functions", `try { structuredClone({f() {}}) } catch (e) { return [e.name, e.code, e instanceof DOMException, e instanceof Error, e.message].join("|") }`, "DataCloneError|25|true|true|[Function: f] could not be cloned."},
		{"structuredClone moves buffers", `const b = new Uint8Array([7, 8]); const c = structuredClone({b}, {transfer: [b.buffer]}); return [b.length, b.buffer.detached, c.b.length, c.b[1]].join()`, "0,true,2,8"},
		{"structuredClone that fails moves nothing", `const b = new ArrayBuffer(2); const fails = [() => structuredClone(() => 1, {transfer: [b]}), () => structuredClone(1, {transfer: [b, b]}), () => structuredClone(1, {transfer: [{}]})]; return fails.map((f) => { try { f() } catch (e) { return e.name } }).join() + b.byteLength`, "DataCloneError,DataCloneError,DataCloneError2"},
		{"structuredClone of deep data", `let x = []; for (let i = 0; i < 20000; i++) x = [x]; let c = structuredClone(x), n = 0; while (c.length) { c = c[0]; n++ } return n`, "20000"},
		{"structuredClone keeps shared parts", `const s = {}; const c = structuredClone([s, s]); return c[0] === c[1]`, "true"},
		{"TextEncoder", `return [...new TextEncoder().encode("é😀\ud800")].join()`, "195,169,240,159,152,128,239,191,189"},
		{"TextEncoder gives a Uint8Array", `const u = new TextEncoder().encode("a"); return [u instanceof Uint8Array, new TextEncoder().encoding].join()`, "true,utf-8"},
		{"encodeInto", `const u = new Uint8Array(4); return JSON.stringify(new TextEncoder().encodeInto("aé😀", u)) + [...u]`, `{"read":2,"written":3}97,195,169,0`},
		{"TextDecoder", `return new TextDecoder().decode(new Uint8Array([0xEF, 0xBB, 0xBF, 0x61, 0xC3, 0xA9, 0xFF, 0xF0, 0x9F, 0x98]))`, "aé\uFFFD\uFFFD"},
		{"TextDecoder of a DataView", `const b = new Uint8Array([97, 98, 99]).buffer; return new TextDecoder().decode(new DataView(b, 1, 2)) + new TextDecoder().decode(b)`, "bcabc"},
		{"TextDecoder streams", `const d = new TextDecoder(); let s = ""; for (const b of new TextEncoder().encode("é😀!")) s += d.decode(new Uint8Array([b]), {stream: true}); return s + d.decode()`, "é😀!"},
		{"TextDecoder fatal", `try { new TextDecoder("utf-8", {fatal: true}).decode(new Uint8Array([0xFF])) } catch (e) { return e.name }`, "TypeError"},
		{"TextDecoder labels", `try { new TextDecoder("klingon") } catch (e) { return e.name + new TextDecoder("latin1").decode(new Uint8Array([0xE9, 0x80])) }`, "RangeErroré€"},
		{"btoa and atob", `return [btoa("\u00ff\u0000a"), atob(" /w BhYg = = ").length, atob("YQ"), atob("YQ==")].join()`, "/wBh,4,a,a"},
		{"btoa refuses wide characters", `try { btoa("ä€") } catch (e) { return e.name }`, "InvalidCharacterError"},
		{"atob refuses", `return ["a", "a===", "a=bc", "?"].map(s => { try { atob(s); return "no" } catch (e) { return e.name } }).join()`, "InvalidCharacterError,InvalidCharacterError,InvalidCharacterError,InvalidCharacterError"},
		{"URL", `const u = new URL("/p?q=1#h", "https://user@example.com:8080/x"); u.searchParams.set("r", "a b"); return [u.href, u.host, u.searchParams.get("r")].join(" ")`, "https://user@example.com:8080/p?q=1&r=a+b#h example.com:8080 a b"},
		{"URL errors and canParse", `return [URL.canParse("https://x/"), URL.canParse("nope"), URL.parse("nope"), URL.parse("/a", "http://h").href, (() => { try { new URL("nope") } catch (e) { return e instanceof TypeError } })()].join()`, "true,false,,http://h/a,true"},
		{"URLSearchParams", `const p = new URLSearchParams({a: "1", b: "x y"}); p.append("a", "2"); return [p.toString(), p.getAll("a").join("+"), [...p].length].join(" ")`, "a=1&b=x+y&a=2 1+2 3"},
		{"Buffer", `return [Buffer.from("héllo").toString("base64"), Buffer.from("68656c6c6f", "hex").toString(), Buffer.from([1, 2]).length].join()`, "aMOpbGxv,hello,2"},
		{"Buffer encodings", `const b = Buffer.from("é€"); return [b.toString("hex"), b.toString("latin1").length, Buffer.from("__-_", "base64url").toString("hex"), Buffer.from("aGk=\n", "base64") + "", Buffer.from("hi", "utf16le").length, Buffer.byteLength("é")].join()`, "c3a9e282ac,5,ffffbf,hi,4,2"},
		{"Buffer searches", `const b = Buffer.from("abcabc"); return [b.lastIndexOf("abc"), b.lastIndexOf("abc", 2), b.lastIndexOf("abc", -4), b.lastIndexOf("z"), b.lastIndexOf(97), b.lastIndexOf(Buffer.from("c"), 3), b.indexOf("abc", 1), b.indexOf("abc", -3), b.indexOf("")].join()`, "3,0,0,-1,3,2,3,3,0"},
		{"Buffer statics", `return [Buffer.concat([Buffer.from("a"), new Uint8Array([98])]) + "", Buffer.alloc(3, "xy") + "", Buffer.isBuffer(Buffer.alloc(1)), Buffer.isBuffer(new Uint8Array(1)), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.isEncoding("hex"), Buffer.isEncoding("x")].join()`, "ab,xyx,true,false,-1,true,false"},
		{"Buffer is a Uint8Array", `const b = Buffer.from("hello"); const s = b.slice(1, 3); s[0] = 69; return [b instanceof Uint8Array, b.toString(), s.constructor === Buffer, b.indexOf("l"), b.includes("zz"), JSON.stringify(Buffer.from("a")), b.equals(Buffer.from("hEllo"))].join()`, `true,hEllo,true,2,false,{"type":"Buffer","data":[97]},true`},
		{"Buffer numbers", `const b = Buffer.alloc(16); b.writeUInt32BE(0xDEADBEEF, 0); b.writeInt16LE(-2, 4); b.writeDoubleBE(1.5, 8); return [b.readUInt32BE(0).toString(16), b.readInt16LE(4), b.readDoubleBE(8), b.readUint8(0), b.readUIntBE(0, 3).toString(16), b.readIntBE(0, 3)].join()`, "deadbeef,-2,1.5,222,deadbe,-2183746"},
		{"Buffer refuses what is too large", `return [() => Buffer.alloc(1e15), () => Buffer.from({length: 1e15}), () => Buffer.concat([], 1e15), () => Buffer.alloc(2).readUInt32BE(0), () => Buffer.from(5), () => Buffer.from("a", "nope")].map(f => { try { f(); return "no" } catch (e) { return e.name } }).join()`, "RangeError,RangeError,RangeError,RangeError,TypeError,TypeError"},
		{"AbortController", `const c = new AbortController(); const seen = []; c.signal.addEventListener("abort", e => seen.push(e.type), {once: true}); c.signal.onabort = () => seen.push("on"); c.abort(); c.abort();
			return [seen.join("+"), c.signal.aborted, c.signal.reason.name, (() => { try { c.signal.throwIfAborted() } catch (e) { return e.message } })()].join()`, "on+abort,true,AbortError,This operation was aborted"},
		{"AbortSignal.abort, any and a reason", `const a = new AbortController(); const s = AbortSignal.any([a.signal, new AbortController().signal]); a.abort("why"); return [s.aborted, s.reason, AbortSignal.abort().aborted, AbortSignal.any([AbortSignal.abort(7)]).reason].join()`, "true,why,true,7"},
		{"events", `const t = new EventTarget(); let n = 0; const f = e => { n += e.detail; e.preventDefault() }; t.addEventListener("x", f); t.addEventListener("x", f); t.addEventListener("x", {handleEvent() { n += 10 }}); const ok = t.dispatchEvent(new CustomEvent("x", {detail: 1, cancelable: true})); t.removeEventListener("x", f); t.dispatchEvent(new CustomEvent("x", {detail: 1})); return [n, ok].join()`, "21,false"},
		{"crypto", `const u = crypto.randomUUID(); const a = new Uint16Array(4); return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u), crypto.getRandomValues(a) === a].join()`, "true,true"},
		{"crypto refuses too much", `try { crypto.getRandomValues(new Uint8Array(65537)) } catch (e) { return e.name }`, "QuotaExceededError"},
		{"performance", `return [typeof performance.now(), performance.now() >= 0, typeof performance.timeOrigin].join()`, "number,true,number"},
		{"WeakRef", `const o = {}; return new WeakRef(o).deref() === o`, "true"},
		{"lazy globals can be replaced", `URL = 5; globalThis.TextEncoder = 6; return [URL, TextEncoder, typeof structuredClone, typeof structuredClone].join()`, "5,6,function,function"},
		{"lazy globals survive a frozen global object", `Object.freeze(globalThis); return [new URL("http://x/").href, URL === URL, typeof crypto.randomUUID()].join()`, "http://x/,true,string"},
		{"lazy globals are ordinary once read", `const c = crypto; const d = Object.getOwnPropertyDescriptor(globalThis, "crypto"); return [c === crypto, d.value === c, d.writable, d.enumerable, d.configurable].join()`, "true,true,true,false,true"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			if got := e.settle(t, tt.body); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"big integers are bigints", `const o = JSON.parse('{"id": 9007199254740993, "n": 1}'); return [typeof o.id, o.id, typeof o.n].join()`, "bigint,9007199254740993,number"},
		{"and go back out", `return JSON.stringify(JSON.parse('{"id":9007199254740993,"l":[12345678901234567890]}'))`, `{"id":9007199254740993,"l":[12345678901234567890]}`},
		{"stringify of a bigint", `return JSON.stringify([1n, {a: -2n}], null, 1)`, "[\n 1,\n {\n  \"a\": -2\n }\n]"},
		{"replacers see the bigint", `return JSON.stringify({a: 1n, b: 2}, (k, v) => typeof v === "bigint" ? v.toString() + "n" : v)`, `{"a":"1n","b":2}`},
		{"replacers may return one", `return JSON.stringify({a: 1}, (k, v) => k === "a" ? 5n : v)`, `{"a":5}`},
		{"a program's own BigInt.prototype.toJSON", `BigInt.prototype.toJSON = function () { return String(this) }; return JSON.stringify({a: 1n})`, `{"a":"1"}`},
		{"stringify keeps the rest", `return JSON.stringify({d: new Date(0), u: undefined, f() {}, n: NaN, t: {toJSON() { return 1 }}, s: "\ud800"}, ["d", "n", "t", "s", "u"])`, `{"d":"1970-01-01T00:00:00.000Z","n":null,"t":1,"s":"\ud800"}`},
		{"infinity and underflow", `return JSON.parse("[1e400, -1e400, 1e-400]").join()`, "Infinity,-Infinity,0"},
		{"unpaired surrogates", `return JSON.parse('["\\ud800", "\ud800"]').every(s => s.length === 1 && s.charCodeAt(0) === 0xd800)`, "true"},
		{"own __proto__", `const o = JSON.parse('{"__proto__": 1}'); return [Object.keys(o).join(), Object.getPrototypeOf(o) === Object.prototype].join()`, "__proto__,true"},
		{"last of a repeated name wins", `return JSON.stringify(JSON.parse('{"a":1,"b":2,"a":3}'))`, `{"a":3,"b":2}`},
		{"reviver", `return JSON.stringify(JSON.parse('{"a":[1,2,{"b":3}],"c":4,"d":null}', function (k, v) { return k === "c" ? undefined : typeof v === "number" ? v * 2 : v }))`, `{"a":[2,4,{"b":6}],"d":null}`},
		{"reviver order and holders", `const seen = []; JSON.parse('{"a":{"b":1},"c":[2]}', function (k, v) { seen.push(k + ":" + Array.isArray(this)); return v }); return seen.join()`, "b:false,a:false,0:true,c:false,:false"},
		{"reviver sees later changes", `return JSON.stringify(JSON.parse('{"a":1,"b":2}', function (k, v) { if (k === "a") this.b = 5; return v }))`, `{"a":1,"b":5}`},
		{"reviver that throws", `try { JSON.parse("[1]", () => { throw new RangeError("no") }) } catch (e) { return e.message }`, "no"},
		{"argument is made a string", `return [JSON.parse(5), JSON.parse(null), JSON.parse(true), JSON.parse({toString: () => "[7]"})[0]].join()`, "5,,true,7"},
		{"syntax errors say where", `try { JSON.parse('{"é": 1,\n "b": tru}') } catch (e) { return [e.name, e instanceof SyntaxError, e.message].join("|") }`,
			`SyntaxError|true|JSON.parse: unexpected character 't', expected a value at position 15 (line 2 column 7), near "{\"é\": 1,\n \"b\": tru}"`},
		{"empty text", `try { JSON.parse("") } catch (e) { return e.name + ": " + e.message }`, `SyntaxError: JSON.parse: unexpected end of text, expected a value at position 0 (line 1 column 1)`},
		{"undefined", `try { JSON.parse() } catch (e) { return e.name }`, `SyntaxError`},
		{"too deep is an ordinary error", `try { JSON.parse("[".repeat(1e6)) } catch (e) { return e.name + ": " + e.message }`, `RangeError: JSON.parse: the value is nested deeper than 10000 levels`},
		{"a reviver that never ends", `try { JSON.parse("[1]", (k, v) => v === 1 ? v : v) ; JSON.parse("[[1]]", function f(k, v) { if (k === "0") this[1] = 1; return v }); return "fine" } catch (e) { return e.name }`, "fine"},
		{"huge property list", `try { JSON.stringify({}, Array(4294967295)) } catch (e) { return e.name }`, `RangeError`},
		{"names", `return [JSON.parse.name, JSON.parse.length, JSON.stringify.name, JSON.stringify.length, String(JSON.parse)].join()`, "parse,2,stringify,3,function parse() { [native code] }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			if got := e.settle(t, tt.body); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
			}
		})
	}
}

// TestStringifyIsTheEngines compares with the engine's own JSON.stringify where
// that is right.
func TestStringifyIsTheEngines(t *testing.T) {
	for _, args := range []string{
		`null`, `undefined`, `() => 1`, `Symbol()`, `1`, `-0`, `1e21`, `NaN`, `"x\u2028\ud800\u0001"`, `true`,
		`[]`, `{}`, `[[], {}]`, `[1, [2, {a: [3]}]]`, `[undefined, () => 1, Symbol(), NaN]`, `{a: undefined, b() {}, c: Symbol(), d: null}`,
		`{a: 1, b: [1, 2], c: {d: {}}}, null, 2`, `[[1], []], null, "--"`, `{a: 1}, null, 20`, `{a: [1]}, null, "abcdefghijklmn"`, `{a: 1}, null, new Number(3)`, `{a: 1}, null, -1`, `[], null, 2`, `{a: undefined}, null, 2`,
		`{a: 1, b: 2, c: {a: 3, d: 4}}, ["a", "c", "c"]`, `{1: "x", a: "y"}, [1, new String("a"), {}]`, `{a: 1}, []`,
		`{a: 1, b: [2, {c: 3}]}, (k, v) => typeof v === "number" ? v + 1 : v`, `{a: 1, b: 2}, (k, v) => k === "a" ? undefined : v`, `{a: {b: 1}}, function (k, v) { return k === "b" ? Object.keys(this).join() : v }`, `5, (k, v) => [k, v, k === "" ? 1 : 2].length > 2 && k === "" ? {z: 1} : v`,
		`[new Number(1), new String("s"), new Boolean(false)]`, `new Date(0)`, `{toJSON(k) { return "key:" + k }}`, `{x: {toJSON(k) { return "key:" + k }}}`, `[{toJSON(k) { return typeof k + k }}]`, `/x/`, `new Map([[1, 2]])`, `new Error("x")`, `Object.create({a: 1})`,
		`new Proxy([1, 2], {})`, `new Proxy({a: 1}, {})`, `JSON.rawJSON("1e1000")`, `{a: JSON.rawJSON('"x"')}`, `{"\ud800": 1, b: 2}`, `[1, , 3]`, `Object.assign([1], {x: 2})`, `{get a() { return 1 }}`, `new Uint8Array([1, 2])`, `"\ud83d\ude00é"`, `{"é\n": 1}`,
		`(() => { const a = {}; a.b = [a]; return a })()`, `{get a() { throw new Error("no") }}`, `{toJSON() { throw new Error("no") }}`, `[1], () => { throw new Error("no") }`,
	} {
		program := `(() => { try { return String(JSON.stringify(` + args + `)) } catch (e) { return e.name + ": " + e.message } })()`
		want, err := goja.New().RunString(program)
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		if got := newEngine(t, jslib.Host{}).run(t, program).String(); got != want.String() {
			t.Errorf("JSON.stringify(%s)\n got %s\nwant %s", args, got, want)
		}
	}
}

func TestStringifyIsBounded(t *testing.T) {
	e := newEngine(t, jslib.Host{MaxBytes: 1 << 20})
	for body, want := range map[string]string{
		`let x = []; for (let i = 0; i < 1e5; i++) x = [x]; return JSON.stringify(x)`:         "rejected: RangeError: JSON.stringify: the value is nested deeper than 10000 levels",
		`let x = []; for (let i = 0; i < 9999; i++) x = [x]; return JSON.stringify(x).length`: "20000",
		`let x = ["leaf"]; for (let i = 0; i < 40; i++) x = [x, x]; return JSON.stringify(x)`: "rejected: RangeError: JSON.stringify: the text is longer than 1048576 bytes",
		`return JSON.stringify(new Array(4294967295))`:                                        "rejected: RangeError: JSON.stringify: the text is longer than 1048576 bytes",
		`return JSON.stringify({toJSON() { return {toJSON: this.toJSON, n: 1} }})`:            `{"n":1}`,
	} {
		if got := e.settle(t, body); got != want {
			t.Errorf("%s\n got %s\nwant %s", body, got, want)
		}
	}
	asked := 0
	stopped := newEngine(t, jslib.Host{Stop: func() bool { asked++; return true }})
	if got := stopped.settle(t, `return JSON.stringify(Array(1e5).fill(1))`); got != "rejected: RangeError: JSON.stringify was stopped" || asked != 1 {
		t.Errorf("got %s after %d questions", got, asked)
	}
	asked = 0
	if got := stopped.settle(t, `return JSON.parse("[" + "1,".repeat(1e5) + "1]")`); got != "rejected: RangeError: JSON.parse was stopped" || asked != 1 {
		t.Errorf("got %s after %d questions", got, asked)
	}
}

func TestNoRequireAndNoHost(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	program := `Buffer.from("x"); new URL("http://x/"); [typeof require, typeof process, typeof module, typeof exports, typeof global].join()`
	if got, want := e.run(t, program).String(), "undefined,undefined,undefined,undefined,undefined"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNativeFunctionsHideTheirGoNames(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	program := `
		const bad = [];
		const seen = new Set();
		(function visit(o, path, depth) {
			if (o === null || typeof o !== "object" && typeof o !== "function" || seen.has(o) || depth > 6) return;
			seen.add(o);
			if (typeof o === "function") {
				const text = Function.prototype.toString.call(o);
				if (/github|jslib|func\d|goja/.test(text + o.name)) bad.push(path + ": " + o.name);
			}
			for (const k of Reflect.ownKeys(o)) {
				const d = Object.getOwnPropertyDescriptor(o, k);
				if ("value" in d) visit(d.value, path + "." + String(k), depth + 1);
				else { const lazy = path === "" ? o[k] : null; visit(lazy, path + "." + String(k), depth + 1); visit(d.get, path + ".get " + String(k), depth + 1) }
			}
		})(globalThis, "", 0);
		bad.join("\n")`
	if got := e.run(t, program).String(); got != "" {
		t.Errorf("functions with Go names:\n%s", got)
	}
}

func TestHostGivesTimeAndRandomness(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	e := newEngine(t, jslib.Host{
		Now:  func() time.Time { now = now.Add(1500 * time.Microsecond); return now },
		Rand: func(b []byte) { copy(b, strings.Repeat("\x11", len(b))) },
	})
	program := `[performance.now(), performance.timeOrigin, crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(2))]].join()`
	if got, want := e.run(t, program).String(), "1.5,1000001.5,11111111-1111-4111-9111-111111111111,17,17"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAbortSignalTimeoutUsesTheHost(t *testing.T) {
	var fire func()
	var after time.Duration
	e := newEngine(t, jslib.Host{After: func(d time.Duration, f func()) func() { after, fire = d, f; return func() {} }})
	e.run(t, `var signal = AbortSignal.timeout(250)`)
	if after != 250*time.Millisecond || e.run(t, `signal.aborted`).ToBoolean() {
		t.Fatalf("armed for %v, want 250ms and no abort yet", after)
	}
	fire()
	if got := e.run(t, `[signal.aborted, signal.reason.name, signal.reason.message].join()`).String(); got != "true,TimeoutError,The operation was aborted due to timeout" {
		t.Errorf("got %s", got)
	}
	without := newEngine(t, jslib.Host{})
	if got := without.settle(t, `AbortSignal.timeout(1)`); got != "rejected: TypeError: AbortSignal.timeout is not available here" {
		t.Errorf("without a timer: got %s", got)
	}
}

func TestInterruptsPassThroughNatives(t *testing.T) {
	for name, program := range map[string]string{
		"reviver":     `try { JSON.parse("[1]", () => { halt(); for (;;); }) } catch { survived() }`,
		"replacer":    `try { JSON.stringify([1], () => { halt(); for (;;); }) } catch { survived() }`,
		"toString":    `try { console.log("%s", {toString() { halt(); for (;;); }}) } catch { survived() }`,
		"text":        `try { JSON.parse({toString() { halt(); for (;;); }}) } catch { survived() }`,
		"URL.parse":   `try { URL.parse({toString() { halt(); for (;;); }}) } catch { survived() }`,
		"lazy global": `try { globalThis.Object.defineProperty = () => { halt(); for (;;); }; halt(); structuredClone(1); for (;;); } catch { survived() }`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			survived := false
			_ = e.vm.Set("halt", func(goja.FunctionCall) goja.Value { e.vm.Interrupt("enough"); return goja.Undefined() })
			_ = e.vm.Set("survived", func(goja.FunctionCall) goja.Value { survived = true; return goja.Undefined() })
			_, err := e.vm.RunString(program)
			var interrupted *goja.InterruptedError
			if !errors.As(err, &interrupted) || survived {
				t.Errorf("got %v, survived %v; want the interrupt to end the program", err, survived)
			}
		})
	}
}

// Long work asks whether the run was stopped.
func TestStopEndsLongWork(t *testing.T) {
	for name, program := range map[string]string{
		"JSON.stringify": `JSON.stringify(Array(10000).fill(1))`,
		"JSON.parse":     `JSON.parse("[" + "1,".repeat(10000) + "1]")`,
	} {
		t.Run(name, func(t *testing.T) {
			stopped := false
			e := newEngine(t, jslib.Host{Stop: func() bool { return stopped }})
			if _, err := e.vm.RunString(program); err != nil {
				t.Fatal(err)
			}
			stopped = true
			if _, err := e.vm.RunString(program); err == nil {
				t.Error("it went on")
			}
		})
	}
}

func BenchmarkInstall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := jslib.Install(goja.New(), jslib.Host{}); err != nil {
			b.Fatal(err)
		}
	}
}
