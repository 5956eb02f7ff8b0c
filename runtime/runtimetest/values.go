package runtimetest

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// exact holds expressions and the JSON text they cross as, in either direction.
var exact = []struct{ name, code, text string }{
	{"null", `null`, `null`},
	{"booleans", `[true, false]`, `[true,false]`},
	{"string", `'a"b\\c/d'`, `"a\"b\\c/d"`},
	{"control characters", `'\b\f\n\r\t\0\x1f\x7f'`, "\"\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\""},
	{"characters outside the first plane", `'é€😀'`, `"é€😀"`},
	{"separators", `'\u2028\u2029'`, "\"\u2028\u2029\""},
	{"lone surrogates", `'\ud800x\udfff'`, `"\ud800x\udfff"`},
	{"lone surrogate in a key", `({'\udc00': 1})`, `{"\udc00":1}`},
	{"empty string and key", `({'': ''})`, `{"":""}`},
	{"integers", `[0, 1, -1, 9007199254740991, -9007199254740991]`, `[0,1,-1,9007199254740991,-9007199254740991]`},
	{"negative zero", `[-0, 0]`, `[-0,0]`},
	{"fractions", `[0.1, 1.5, -2.25, 0.1 + 0.2]`, `[0.1,1.5,-2.25,0.30000000000000004]`},
	{"extremes", `[5e-324, 1.7976931348623157e308, 1e21, 1e-7]`, `[5e-324,1.7976931348623157e+308,1e+21,1e-7]`},
	{"big integers", `[9007199254740993n, -(2n ** 70n)]`, `[9007199254740993,-1180591620717411303424]`},
	{"empty containers", `[[], {}]`, `[[],{}]`},
	{"nested", `({a: [{b: [1, {c: null}]}]})`, `{"a":[{"b":[1,{"c":null}]}]}`},
	{"key order", `({z: 1, a: 2, m: 3})`, `{"z":1,"a":2,"m":3}`},
	{"index keys come first", `({b: 1, 10: 2, 9: 3})`, `{"9":3,"10":2,"b":1}`},
	{"lone surrogates in keys among others", `({b: 1, '\ud800': {'\udfffx': [2]}, '\ufffd': 3})`, "{\"b\":1,\"\\ud800\":{\"\\udfffx\":[2]},\"\ufffd\":3}"},
	{"own __proto__", `({['__proto__']: {x: 1}, a: 2})`, `{"__proto__":{"x":1},"a":2}`},
	{"names of Object's own methods", `({toString: 1, constructor: 2, hasOwnProperty: 3, then: 4, toJSON: 5})`, `{"toString":1,"constructor":2,"hasOwnProperty":3,"then":4,"toJSON":5}`},
}

// lossy holds expressions and the JSON text they leave as: what JSON.stringify
// does too.
var lossy = []struct{ name, code, text string }{
	{"undefined property is dropped", `({a: undefined, b: 1})`, `{"b":1}`},
	{"small BigInt", `[10n, 0n, -5n]`, `[10,0,-5]`},
	{"Date", `[new Date(0), {d: new Date(86400000)}]`, `["1970-01-01T00:00:00.000Z",{"d":"1970-01-02T00:00:00.000Z"}]`},
	{"toJSON is data, not called", `({a: 1, toJSON: 2})`, `{"a":1,"toJSON":2}`},
	{"inherited properties are no data", `Object.assign(Object.create(null), {a: 1})`, `{"a":1}`},
	{"getters are read", `({get a() { return 1 }})`, `{"a":1}`},
	{"shared values are repeated", `(s => ({a: s, b: s}))({n: 1})`, `{"a":{"n":1},"b":{"n":1}}`},
	{"frozen", `Object.freeze({a: Object.freeze([1])})`, `{"a":[1]}`},
	{"a proxy of plain data", `new Proxy({a: 1}, {})`, `{"a":1}`},
	{"a match is its texts", `[...'a1b2'.matchAll(/(?<letter>[a-z])(\d)/g)]`, `[["a1","a","1"],["b2","b","2"]]`},
	{"rawJSON", `({a: JSON.rawJSON('12345678901234567890')})`, `{"a":12345678901234567890}`},
}

// refused holds what JSON cannot say, as `x` in {list: [1, 2, {total: x}]}, and
// what the refusal must name beside the path list[2].total.
var refused = []struct {
	name, code string
	says       []string
}{
	{"NaN", `NaN`, []string{"NaN"}},
	{"Infinity", `Infinity`, []string{"Infinity"}},
	{"-Infinity", `-Infinity`, []string{"-Infinity"}},
	{"symbol", `Symbol('s')`, []string{"symbol"}},
	{"function", `() => 1`, []string{"function"}},
	{"class", `class K {}`, []string{""}},
	{"Map", `new Map([[1, 2]])`, []string{"Map"}},
	{"Set", `new Set([1])`, []string{"Set"}},
	{"WeakMap", `new WeakMap()`, []string{"WeakMap"}},
	{"RegExp", `/x/`, []string{"RegExp"}},
	{"Uint8Array", `new Uint8Array([1])`, []string{"typed array"}},
	{"ArrayBuffer", `new ArrayBuffer(8)`, []string{"ArrayBuffer"}},
	{"class instance", `new (class Money { constructor() { this.n = 1 } })()`, []string{"Money"}},
	{"boxed number", `new Number(1)`, []string{"Number"}},
	{"boxed string", `new String('s')`, []string{"String"}},
	{"invalid Date", `new Date(NaN)`, []string{"Date"}},
	{"promise", `Promise.resolve(1)`, []string{"promise", "await"}},
	{"un-awaited call", `tools.echo({})`, []string{"promise", "await"}},
	{"undefined in an array", `[undefined]`, []string{"[0]", "undefined"}},
	{"hole", `[1, , 3]`, []string{"[1]"}},
	{"function in an array", `[() => 1]`, []string{"[0]", "function"}},
	{"symbol key", `({a: 1, [Symbol('s')]: 2})`, []string{"symbol"}},
	{"array with a property", `Object.assign([1], {sum: 1})`, []string{`"sum"`, "[...array]"}},
	{"array of a class", `new (class Rows extends Array {})()`, []string{"Rows"}},
	{"symbol key of an array", `Object.assign([1], {[Symbol('s')]: 2})`, []string{"symbol"}},
	{"generator", `(function* () {})()`, []string{""}},
}

func (s Suite) values(t *testing.T) {
	t.Run("completion", s.completions)
	t.Run("argument", s.arguments)
	t.Run("result of a call", s.results)
}

func (s Suite) completions(t *testing.T) {
	var rows []row
	for _, v := range exact {
		rows = append(rows, row{name: v.name, code: `return ` + v.code, value: v.text})
	}
	for _, v := range lossy {
		rows = append(rows, row{name: v.name, code: `return ` + v.code, value: v.text})
	}
	for _, v := range refused {
		rows = append(rows, row{
			name: v.name, code: `const x = ` + v.code + `; return {list: [1, 2, {total: x}]}`,
			fails: ends(runtime.InvalidOutput, append(v.says, "list[2].total")...),
		})
	}
	s.rows(t, append(rows,
		row{name: "undefined", code: `return undefined`},
		row{name: "NaN alone", code: `return NaN`, fails: ends(runtime.InvalidOutput, "NaN")},
		row{name: "Map alone", code: `return new Map()`, fails: ends(runtime.InvalidOutput, "Map")},
		row{name: "Error", code: `return Object.assign(new TypeError('x'), {code: 7})`, value: `{"name":"TypeError","message":"x","code":7}`},
		row{name: "Error inside", code: `return {e: [new Error('x')]}`, value: `{"e":[{"name":"Error","message":"x"}]}`},
		row{name: "promise among values", code: `return {heads: [Promise.resolve(1)]}`, fails: ends(runtime.InvalidOutput, "promise at heads[0]; use await Promise.all")},
		row{name: "cycle", code: `const a = {b: []}; a.b.push(a); return a`, fails: ends(runtime.InvalidOutput, "b[0]")},
		row{name: "depth 10,000", code: `let a = []; for (let i = 1; i < 10000; i++) a = [a]; return a`, value: strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)},
		row{name: "depth 10,001", code: `let a = []; for (let i = 0; i < 10000; i++) a = [a]; return a`, fails: ends(runtime.InvalidOutput, "10000")},
		row{name: "a shared tree of 2^40 values", code: `let a = {}; for (let i = 0; i < 40; i++) a = {l: a, r: a}; return a`, limits: runtime.Limits{Output: 1 << 20}, fails: &failure{kind: runtime.OutputLimit, or: runtime.InvalidOutput}},
		row{name: "a throwing getter", code: `return {a: {get b() { throw new RangeError('no b') }}}`, fails: &failure{kind: runtime.InvalidOutput, or: runtime.Exception, says: []string{"no b"}}},
		row{name: "a getter is read once", code: `let n = 0; return {get a() { return ++n }}`, value: `{"a":1}`},
		row{name: "an array that shrinks while it is read", code: `const a = [1, 2, 3]; Object.defineProperty(a, 0, {get() { a.length = 1; return 1 }, enumerable: true}); return a`, fails: ends(runtime.InvalidOutput)},
		row{name: "a function that poses as Object", code: `function Object() {} return new Object()`, fails: ends(runtime.InvalidOutput)},
		row{name: "a revoked proxy", code: `const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy`, fails: &failure{kind: runtime.InvalidOutput, or: runtime.Exception}},
	))
}

func (s Suite) arguments(t *testing.T) {
	var rows []row
	for _, v := range append(exact, lossy...) {
		rows = append(rows, row{name: v.name, code: `await tools.echo(` + v.code + `); return`, calls: []string{"echo " + v.text}})
	}
	for _, v := range refused {
		if v.name == "un-awaited call" {
			continue // it is a call
		}
		rows = append(rows, refusedArgument(v.name, `const x = `+v.code+`; try { await tools.echo({list: [1, 2, {total: x}]}) }`, append(v.says, "args.list[2].total")...))
	}
	s.rows(t, append(rows,
		row{name: "no argument means an empty object", code: `await tools.echo(); return`, calls: []string{"echo {}"}},
		row{name: "string, array, number and null are not emptied", code: `for (const a of ['notes.md', ['x'], 7, null, true]) await tools.echo(a)`, calls: []string{`echo "notes.md"`, `echo ["x"]`, `echo 7`, `echo null`, `echo true`}},
		row{name: "arguments are taken when the call is made", code: `const a = {n: 1}; const p = tools.echo(a); a.n = 2; return await p`, value: `{"n":1}`},
		refusedArgument("cycle", `const a = {b: []}; a.b.push(a); try { await tools.echo(a) }`, "b[0]"),
		refusedArgument("Error", `try { await tools.echo({e: new Error('x')}) }`, "args.e", "Error"),
		refusedArgument("depth 10,001", `let a = []; for (let i = 0; i < 10000; i++) a = [a]; try { await tools.echo(a) }`, "10000"),
		refusedArgument("a throwing getter", `try { await tools.echo({get a() { throw new RangeError('no a') }}) }`, "no a"),
		refusedArgument("a function alone", `try { await tools.echo(() => 1) }`, "function"),
		row{name: "depth 5,000 and back", code: `let a = []; for (let i = 1; i < 5000; i++) a = [a]; let r = await tools.echo(a), n = 0; while (r) { n++; r = r[0] } return n`, value: `5000`},
	))
}

// refusedArgument is a row whose call the runtime refuses before the host sees
// it; what the error says is logged.
func refusedArgument(name, code string, says ...string) row {
	var tests []string
	for _, part := range says {
		tests = append(tests, `m.includes(`+quote(strings.ToLower(part))+`)`)
	}
	return row{
		name:  name,
		code:  code + ` catch (e) { const m = e.message.toLowerCase(); return e instanceof ToolCallError && e.toolName === 'echo' && ` + strings.Join(tests, " && ") + ` ? 'refused' : [e.name, e.toolName, e.message] } return 'no error'`,
		value: `"refused"`, calls: []string{},
	}
}

// quote is a JavaScript string literal of plain text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `\'`) + "'" }

func (s Suite) results(t *testing.T) {
	var rows []row
	for _, v := range exact {
		rows = append(rows, row{name: v.name, code: `return await tools.raw(input)`, input: `{"json":` + jsonString(v.text) + `}`, value: v.text})
	}
	raw := func(name, text, code, value string) row {
		return row{name: name, code: `const r = await tools.raw(input); ` + code, input: `{"json":` + jsonString(text) + `}`, value: value}
	}
	for _, text := range []string{"00420", "1e3", "true", "null", `"quoted"`, `{"a":1}`, ""} {
		rows = append(rows, raw("text that looks like data: "+text, jsonString(text), `return [typeof r, r]`, `["string",`+jsonString(text)+`]`))
	}
	s.rows(t, append(rows,
		raw("no value", ``, `return r === undefined`, `true`),
		raw("plain objects", `{"items":[{"a":1}]}`, `return [Object.getPrototypeOf(r) === Object.prototype, Array.isArray(r.items), typeof r.MarshalJSON, Object.keys(r)]`, `[true,true,"undefined",["items"]]`),
		raw("values are the program's own", `{"a":{"n":1}}`, `r.a.n = 2; r.b = 3; delete r.a.x; return [r, (await tools.raw(input)).a.n]`, `[{"a":{"n":2},"b":3},1]`),
		raw("__proto__ is an own key", `{"__proto__":{"evil":true}}`, `return [r.evil === undefined, Object.keys(r), ({}).evil === undefined]`, `[true,["__proto__"],true]`),
		raw("the first integer that is no number", `[9007199254740991,9007199254740992,-9007199254740991,-9007199254740992]`, `return r.map(x => typeof x)`, `["number","bigint","number","bigint"]`),
		raw("a fraction or an exponent makes a number", `[9007199254740993.0,1e30]`, `return r.map(x => typeof x)`, `["number","number"]`),
		raw("arithmetic with a big integer", `9007199254740993`, `return [r + 1n, String(r), Number(r) === 9007199254740992, JSON.stringify({r})]`, `[9007199254740994,"9007199254740993",true,"{\"r\":9007199254740993}"]`),
		row{name: "mixing a big integer and a number says what to do", code: "const r = 9007199254740993n;\nreturn r + 1", fails: throws(2, "TypeError", "Number(")},
		row{name: "JSON.parse keeps big integers", code: `const r = JSON.parse('{"id":9007199254740993,"n":1.5}'); return [typeof r.id, r, JSON.stringify(r)]`, value: `["bigint",{"id":9007199254740993,"n":1.5},"{\"id\":9007199254740993,\"n\":1.5}"]`},
		row{name: "console prints a big integer with its n", code: `console.log(9007199254740993n)`, logs: []string{"9007199254740993n"}},
		raw("many values", `[`+strings.Repeat(`{"id":1,"name":"row"},`, 4_999)+`{"id":2}]`, `return [r.length, r[4999].id, r[17].name]`, `[5000,2,"row"]`),
		raw("a long text", jsonString(strings.Repeat("é", 100_000)), `return [r.length, r === 'é'.repeat(100000)]`, `[100000,true]`),
		raw("depth 5,000", strings.Repeat("[", 5_000)+strings.Repeat("]", 5_000), `let n = 0, x = r; while (x) { n++; x = x[0] } return n`, `5000`),
	))
}

// jsonString is text as a JSON string. Escapes that text spells out stay as they
// are: the suite's texts are JSON themselves.
func jsonString(text string) string {
	out := []byte{'"'}
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = append(out, "\\u00"...)
			out = append(out, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}
