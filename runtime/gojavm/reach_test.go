package gojavm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja/unistring"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func TestReach(t *testing.T) {
	const (
		little = "the names of its text"
		any    = "any property"
		all    = "any property and any global"
	)
	for _, tt := range []struct{ name, program, want string }{
		{"nothing", "", little},
		{"calls", "const r = await tools.ping({ text: 'a' })\nreturn r.items.map(x => x.id)", little},
		{"a loop over an index", "const out = []\nfor (let i = 0; i < rows.length; i++) out.push(rows[i])", little},
		{"a step back", "return rows[rows.length - 1]", little},
		{"an index that is computed", "let i = 0, j = i + 1\ni += 2\nj = i * 2\nreturn rows[i + j]", little},
		{"an index that becomes a text", "let i = 0\ni += name\nreturn rows[i]", any},
		{"a text that grows", "let k = 'to'\nk += 'Sorted'\nreturn [1][k]", any},
		{"a key that is written out", "return row['first name'] + row[`last`]", little},
		{"a constant", "const KEY = 'total'\nreturn row[KEY]", little},
		{"one of two constants", "let k = a ? 'x' : 'y'\nreturn row[k ?? 'z']", little},
		{"a constant that is shadowed by a parameter", "const k = 'x'\nreturn (k => row[k])(name)", any},
		{"a constant that is changed in a pattern", "let k = 'x';\n[k] = names\nreturn row[k]", any},
		{"a constant that is changed in an object pattern", "let k = 'x';\n({ a: k } = names)\nreturn row[k]", any},
		{"a constant that is changed with a default", "let k = 'x';\n({ k = 'y' } = names)\nreturn row[k]", any},
		{"a constant that for of changes", "let k = 'x'\nfor (k of names) row[k]", any},
		{"a constant that for in changes", "let k = 'x'\nfor (k in names) row[k]", any},
		{"a variable without a value", "let k\nreturn row[k]", little},
		{"a name that is a function", "let k = 1\nfunction k2() {}\nreturn row[k2]", any},
		{"a name that is a class", "{ let k = 1 }\n{ class k {} ; row[k] }", any},
		{"a name that is caught", "let e = 1\ntry {} catch (e) { return row[e] }", any},
		{"a name of the host", "{ let input = 'x' }\nreturn row[input]", any},
		{"a variable of the global object", "{ let k = 'x' }\nglobalThis.k = name\nreturn row[k]", all},
		{"a variable of this", "{ let k = 'x' }\nthis.k = name\nreturn row[k]", all},
		{"an unknown key", "return rows.map(r => r[input.key])", any},
		{"an unknown key, and this", "return rows.map(r => this[input.key])", all},
		{"an unknown key, optional", "return row?.[input.key]", any},
		{"an unknown key in a pattern", "const { [input.key]: v } = row\nreturn v", any},
		{"an unknown key in a literal", "return { [input.key]: 1 }", little},
		{"an unknown name of a method", "class A { [input.key]() {} }", little},
		{"an unknown name of a tool", "return tools[input.key]()", little},
		{"a tool that is a parameter", "return rows.map(tools => tools[input.key])", any},
		{"an unknown name in a tool's result", "return tools.a[input.key]()", any},
		{"in with a text", "return 'x' in row", little},
		{"in with a name", "return input.key in row", any},
		{"delete", "delete row[input.key]", any},
		{"super", "class A extends B { m(k) { return super[k] } }", any},
		{"a symbol of the language", "return row[Symbol.iterator]", little},
		{"a symbol of another Symbol", "const Symbol = input\nreturn row[Symbol.iterator]", any},
		{"another symbol", "return row[Symbol.for(name)]", any},
		{"a constructor of its own", "class A { constructor(x) { this.x = x } }\nreturn new A(1).x", little},
		{"the constructor", "return (() => {}).constructor('return 1')()", all},
		{"the constructor by a text", "return (() => {})['constructor']('return 1')()", all},
		{"the constructor in a pattern", "const { constructor: F } = () => {}\nreturn F('return 1')()", all},
		{"eval", "return eval(name)", all},
		{"eval by another name", "return (0, eval)(name)", all},
		{"Function", "return new Function(name)()", all},
		{"escapes", `return \u0065val(name)`, all},
		{"a prototype", "Array.prototype.last = function () { return this.at(-1) }", any + ", "},
		{"__proto__", "return [].__proto__", any},
		{"__proto__ in a literal", "return { __proto__: row }", any},
		{"Reflect", "return Reflect.ownKeys([])", any},
		{"Proxy", "return new Proxy([], { get: (t, k) => k })", any},
		{"own names", "return Object.getOwnPropertyNames(Math)", any},
		{"hasOwnProperty", "return row.hasOwnProperty(input.key)", any},
		{"a replacer that is a function", "return JSON.stringify(row, (k, v) => v, 2)", little},
		{"a replacer that is nothing", "return JSON.stringify(row, null, 2)", little},
		{"a replacer that may be a list", "return JSON.stringify(row, names)", any},
		{"arguments that may hold one", "return JSON.stringify(...args)", any},
		{"stringify as a value", "return rows.map(JSON.stringify)", any},
		{"stringify in a pattern", "const { stringify } = JSON\nreturn stringify(row, names)", any},
		{"a hidden property", "console.log(`at %o`, Promise)", any},
		{"hidden properties", "console.dir(Promise, { showHidden: true })", any},
		{"a table of columns", "console.table(rows, names)", any},
		{"a replacer that is a variable", "const f = (k, v) => v\nreturn JSON.stringify(row, f)", little},
		{"a replacer that may be another", "let f = (k, v) => v\nif (x) f = names\nreturn JSON.stringify(row, f)", any},
		{"a key that is a function", "const f = () => 1\nf.toString = () => name\nreturn row[f]", any},
		{"a key of Symbol that is none of the language's", "Symbol.k = name\nreturn row[Symbol.k]", any},
		{"a global that is a variable elsewhere", "{ let Math = 'x' }\nMath.toString = () => name\nreturn row[Math]", any},
		{"a function of the host that is a variable elsewhere", "{ let setTimeout = 'x' }\nreturn row[setTimeout]", any},
		{"prints", "console.log('rows', rows.map(Number), Object.assign({}, row))\nconsole.log(rows)\nconsole.error(`${rows.length} rows`)", little},
		{"prints of many values", "console.log(name, rows.length, ...rows)\nconsole.dir(rows, { depth: 3 })\nconsole.assert(ok, name)\nconsole.log()", little},
		{"a format with an object of the language", "console.log(name, Map)", any},
		{"a format that is spread", "console.log(...names, Map)", any},
		{"a format for assert", "console.assert(false, name, Map)", any},
		{"a format for a method that is passed on", "names.forEach(console.log)\nreturn [Map]", any},
		{"a format that is written out", "console.log('%s and %d', Map, 1)\nreturn names.map(Number)", little},
		{"a format with this", "console.log(name, this)", all},
		{"options for dir", "console.dir(Map, name)", any},
		{"options for dir with a computed name", "console.dir(Map, { [name]: true })", any},
		{"options for dir that are spread", "console.dir(Map, { ...name })", any},
		{"the console as a value", "return Object.values(console)", any},
		{"the console in a pattern", "const { log, ...rest } = console", any},
		{"properties for an object of the language", "Object.assign(Map, row)", any},
		{"properties for the global object", "Object.assign(globalThis, row)", all},
		{"properties for this", "Object.assign(this, row)", all},
		{"properties for a pattern", "Object.assign(/a/, row)", any},
		{"properties for an object of the program", "const o = {}\nObject.assign(o, row)\nreturn new Map(Object.entries(o)) instanceof Map || Math.max(Infinity, NaN)", little},
		{"properties for a function of an object of the language", "Math.f = [].reverse\nObject.assign(Math.f(), row)", any},
		{"properties for what species gives", "Object.assign(Map[Symbol.species], row)", any},
		{"objects of the language that are used", "class A extends Map {}\nreturn rows.filter(Boolean).map(Number).some(x => x instanceof Error)", little},
		{"a global that the library writes itself", "return new URL('http://a/').host", all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, failure := transpile("program.ts", tt.program, "console", "input", "tools", "ToolCallError")
			if failure != nil {
				t.Fatal(failure)
			}
			got := little
			switch {
			case p.reach.any && p.reach.globals:
				got = all
			case p.reach.any:
				got = any
			}
			if want, _, either := strings.Cut(tt.want, ", "); got != want && !(either && got == all) {
				t.Errorf("the program reaches %s, want %s", got, tt.want)
			}
		})
	}
}

func TestReachOfIterators(t *testing.T) {
	for _, tt := range []struct {
		name, program string
		want          bool
	}{
		{"none", "return rows.map(x => x.id)", false},
		{"functions of Object", "return Object.entries(row).map(([k, v]) => Object.keys(v).length + Object.values(v).length)", false},
		{"for of", "for (const x of rows) tools.ping(x)", false},
		{"an index", "for (let i = 0; i < 3; i++) rows[i].map(f)", false},
		{"values", "return rows.values().map(f).toArray()", true},
		{"values in a pattern", "const { values } = rows\nreturn values.call(rows).map(f)", true},
		{"values by a text", "return rows['values']().map(f)", true},
		{"values by a constant", "const k = 'values'\nreturn rows[k]().map(f)", true},
		{"another Object", "const Object = new Map()\nreturn Object.entries().map(f)", true},
		{"Symbol.iterator", "return rows[Symbol.iterator]().map(f)", true},
		{"the symbol in a pattern", "const { iterator } = Symbol\nreturn rows[iterator]().map(f)", true},
		{"a generator", "function* g() { yield 1 }\nreturn g().map(f)", true},
		{"a generator of a class", "class A { *g() { yield 1 } }\nreturn new A().g().map(f)", true},
		{"matchAll", "return text.matchAll(/a/g).map(f)", true},
		{"Iterator", "return Iterator.from({ next() { return { done: true } } }).map(f)", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, failure := transpile("program.ts", tt.program, "tools")
			if failure != nil {
				t.Fatal(failure)
			}
			if got := p.reach.Iterators(); got != tt.want {
				t.Errorf("iterators are within reach: %v, want %v", got, tt.want)
			}
		})
	}
}

// both runs a program with what it reaches and with the whole library.
func both(t *testing.T, lean, whole *Runtime, program string) (got, want runtime.Result) {
	t.Helper()
	got, want = execute(t, lean, runtime.Request{Program: program}), execute(t, whole, runtime.Request{Program: program})
	for _, res := range []*runtime.Result{&got, &want} {
		res.Usage = runtime.Usage{}
	}
	return got, want
}

// The order of properties is the same in every engine.
func TestOrderOfNames(t *testing.T) {
	program := "return [console, globalThis, Uint8Array, Function, RegExp].map(x => Object.getOwnPropertyNames(x))"
	first := execute(t, newRuntime(t, nil), runtime.Request{Program: program})
	if first.Failure != nil || !strings.HasPrefix(first.Value, `[["log","warn","dir",`) {
		t.Fatalf("the names are %.200s, failure %v; want the console's in Node's order first", first.Value, first.Failure)
	}
	for range 5 {
		if res := execute(t, newRuntime(t, nil), runtime.Request{Program: program}); res.Value != first.Value {
			t.Fatalf("the names are in another order (-first +now):\n%s", cmp.Diff(first.Value, res.Value))
		}
	}
}

// TestReachFindsAll reads every property and global of a whole engine in a program
// that does nothing else, and finds what it finds there.
func TestReachFindsAll(t *testing.T) {
	lean, whole := newRuntime(t, nil), newRuntime(t, nil)
	whole.whole = true
	listed := execute(t, whole, runtime.Request{Program: `
		const instances = {
			"''": String.prototype, "[]": Array.prototype, "0": Number.prototype, "true": Boolean.prototype, "0n": BigInt.prototype,
			"(() => 1)": Function.prototype, "/a/": RegExp.prototype, "new Map()": Map.prototype, "new Set()": Set.prototype,
			"new Date(0)": Date.prototype, "new ArrayBuffer(8)": ArrayBuffer.prototype, "new DataView(new ArrayBuffer(8))": DataView.prototype,
			"new Uint8Array(8)": Object.getPrototypeOf(Uint8Array.prototype), "new Float64Array(8)": Float64Array.prototype,
			"[].values()": Object.getPrototypeOf(Object.getPrototypeOf([].values())), "(async () => 1)()": Promise.prototype,
			"new Error('x')": Error.prototype, "({})": Object.prototype, "(function* () {})()": Object.getPrototypeOf(function* () {}).prototype,
		};
		for (const name of ["Object", "Array", "String", "Number", "Math", "JSON", "Map", "Set", "Promise", "Error", "RegExp", "Symbol", "Date", "BigInt", "Uint8Array", "Iterator", "console"])
			instances[name] = globalThis[name];
		const found = Object.getOwnPropertyNames(globalThis).filter(name => /^[A-Za-z]+$/.test(name));
		for (const [text, holder] of Object.entries(instances))
			for (const name of Object.getOwnPropertyNames(holder))
				if (/^[A-Za-z0-9$]+$/.test(name)) found.push(text + "." + name);
		return found.join("\n")`})
	if listed.Failure != nil {
		t.Fatal(listed.Failure)
	}
	properties := strings.Split(strings.Trim(listed.Value, `"`), `\n`)
	if len(properties) < 500 {
		t.Fatalf("a whole engine has %d properties, want 500 at least", len(properties))
	}
	little := 0
	for _, property := range properties {
		if property == "globalThis" || strings.HasSuffix(property, ".length") && strings.HasPrefix(property, "(a") {
			continue
		}
		program := fmt.Sprintf("const found = %s\nreturn [typeof found, `${found?.name}`, `${found?.length}`, typeof found == 'function' ? '' : `${typeof found}`]", property)
		got, want := both(t, lean, whole, program)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-whole library +what is reached):\n%s", property, diff)
		}
		if p, failure := transpile("program.ts", program); failure == nil && !p.reach.any {
			little++
		}
	}
	if little < 400 {
		t.Errorf("%d programs have little in reach, want 400 at least: the others show nothing", little)
	}
}

// TestReachIsNotSeen runs programs that look for what they do not name.
func TestReachIsNotSeen(t *testing.T) {
	lean, whole := newRuntime(t, nil), newRuntime(t, nil)
	whole.whole = true
	for _, program := range []string{
		"const k = ['to', 'Sorted'].join('')\nreturn [3, 1][k]()",
		"let k = 'to'\nk = k + 'Sorted'\nreturn [3, 1][k]()",
		"const f = k => [3, 1][k]()\nreturn f('toSorted')",
		"return Object.entries({ toSorted: 1 }).map(([k]) => typeof [][k])",
		"for (const k in { toSorted: 1 }) return typeof [][k]",
		"return ['group' + 'By'].map(k => typeof Object[k])",
		"return JSON.parse('[\"groupBy\"]').map(k => typeof Object[k])",
		"const { ['group' + 'By']: f } = Object\nreturn typeof f",
		"return ['structured' + 'Clone'].map(k => typeof globalThis[k])",
		"return (function () { return typeof this['structured' + 'Clone'] })()",
		"const self = this\nreturn typeof self[['UR', 'L'].join('')]",
		"return eval('typeof ' + 'URL')",
		"return new Function('return typeof ' + 'URL')()",
		"return (() => {}).constructor('return typeof ' + 'URL')()",
		"return (async () => {}).constructor('return typeof [].to' + 'Sorted')().then(v => v)",
		"return setTimeout.constructor('return typeof [].to' + 'Sorted')()",
		"return [('to' + 'Sorted') in [], ('group' + 'By') in Object]",
		"return Object.getOwnPropertyNames(Object)",
		"return Reflect.ownKeys(''.__proto__).map(String)",
		"return Object.keys(Object.getOwnPropertyDescriptors(Map))",
		"return new Proxy([], { get: (t, k) => typeof t[k] }).toSorted",
		"return JSON.stringify(/a/, ['has' + 'Indices'])",
		"const s = JSON.stringify\nreturn s(/a/, ['has' + 'Indices'])",
		"return `${[1, [2, 3]]}` + [4]",
		"return String([1, , 3]) + [null]",
		"const a = []\na.length = 2\nreturn a + ''",
		"return JSON.stringify({ at: new Date(-1e15) })",
		"return { at: new Date(-62198755200001) }",
		"return 'x'.replace('x', 'toSorted')",
		"class A extends Array { m(k) { return typeof super[k] } }\nreturn new A().m('toSorted')",
		"return Array.from({ length: 2 }, (_, i) => 'ab'[i])",
		"Object.assign(Object, { getOwnPropertyDescriptor: 1, preventExtensions: 2, defineProperty: 3 })\ntry { null.x } catch (e) { console.log({ a: 1 }, e.stack); return e.stack }",
		"Error = RangeError = 5\ntry { null.x } catch (e) { return String(e) }",
		"console.log([1, 2].values(), new Map([[1, 2]]).entries(), function* () {}(), new Set([1]), /a/, new Date(0), Symbol.iterator, [,1])",
		"console.log(globalThis === this, console)",
		"return typeof GoError",
		"console.log('%o', Promise)\nconsole.dir(Map, { showHidden: true })",
		"try { await tools.fail() } catch (e) { return [String(e), e.name, e.toolName, e instanceof Error, Object.keys(e), e.stack] }",
		"Object = null\ntry { await tools.fail() } catch (e) { return [String(e), e.name, `${e.stack}`] }",
		"Error = null\ntry { await tools.fail() } catch (e) { return [String(e), e.name] }",
		"try { await tools.fail() } catch (e) { return e['construct' + 'or'].name }",
		"return typeof globalThis['Tool' + 'Call' + 'Error']",
		"{ let Math = 'x' }\nMath.toString = () => ['group', 'By'].join('')\nreturn typeof Object[Math]",
		"{ let ToolCallError = 'x' }\nError.toString = () => ['group', 'By'].join('')\nreturn typeof Object[ToolCallError]",
		"Symbol.k = ['group', 'By'].join('')\nreturn typeof Object[Symbol.k]",
		"const f = () => 1\nf.toString = () => ['group', 'By'].join('')\nreturn typeof Object[f]",
		"console.dir(Map, { ['show' + 'Hidden']: true })",
		"console.dir(Map, JSON.parse('{\"show\\\\u0048idden\":true}'))",
		"console.log('%' + 'o', Map)",
		"console.log(['%', 'o'].join(''), Array[Symbol.species])",
		"console.log(['%', 'o'].join(''), Math.valueOf())",
		"console.assert(false, '%' + 'o', Promise)",
		"return Object.values(console).length",
		"for (const f of Object.values(console)) if (f.name === 'ta' + 'ble') f([[]], ['to' + 'Sorted'])",
		"try { Object.assign(globalThis, { ['to' + 'ols']: 5 }) } catch (e) { return e.name }",
		"Object.assign(Object, { ['group' + 'By']: 5 })\nreturn Object.keys(Object)",
		"Math.f = [].reverse\nObject.assign(Math.f(), { ['f16' + 'round']: 5 })\nreturn Object.keys(Math)",
		"try { return Object.keys(Object.assign(/a/, { ['has' + 'Indices']: 1 })) } catch (e) { return e.name }",
		"Object.assign(globalThis, { ['Err' + 'or']: 5 })\ntry { await tools.fail() } catch (e) { return String(e) }",
		"await tools.fail()",
		"throw { a: 1 }",
		"throw [1, 2]",
		"throw { toString() { return 'mine' } }",
	} {
		t.Run(program, func(t *testing.T) {
			got, want := both(t, lean, whole, program)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with what is reached the program ends otherwise (-whole library +what is reached):\n%s", diff)
			}
			if want.Failure != nil && !strings.HasPrefix(program, "throw") && program != "await tools.fail()" {
				t.Errorf("the program failed: %v", want.Failure)
			}
		})
	}
}

// TestReachOfVariables says what is known of variables that are set to one another.
func TestReachOfVariables(t *testing.T) {
	row := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "let a%d = a%d\n", i, i+1)
		}
		fmt.Fprintf(&b, "let a%d = %s\nreturn x[a0]", n, last)
		return b.String()
	}
	for _, tt := range []struct {
		name, source string
		everything   bool
		met          bool // a0 is taken to hold a known key
	}{
		{"numbers", row(maxPasses/2, "1"), false, true},
		{"as many numbers as one likes", row(10*maxPasses, "1"), false, true},
		{"what is computed", row(maxPasses/2, "f()"), true, false},
		{"what is computed, far away", row(10*maxPasses, "f()"), true, false},
		{"a circle", "let a0 = a1, a1 = a0\nreturn x[a0]", false, true},
		{"set twice", "let a0 = 1\na0 = f()\nreturn x[a0]", true, false},
		{"set by a loop", "let a0 = 1\nfor (a0 of x);\nreturn x[a0]", true, false},
		{"not declared", "a0 = 1\nreturn x[a0]", true, false},
		{"never a key", "let a0 = f()\nreturn a0", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, failure := transpile("program.ts", tt.source)
			if failure != nil {
				t.Fatal(failure)
			}
			if got := p.reach.Everything(); got != tt.everything {
				t.Errorf("it reaches everything: %v, want %v", got, tt.everything)
			}
			if got := p.reach.meets("a0"); got != tt.met {
				t.Errorf("a0 holds a known key: %v, want %v", got, tt.met)
			}
			for name, want := range map[string]bool{"a0": true, "nowhere": tt.everything} {
				if got := p.reach.Has(name); got != want {
					t.Errorf("has %s: %v, want %v", name, got, want)
				}
			}
		})
	}
}

// The names that have a capital letter are all that may be held.
func TestHeldNames(t *testing.T) {
	for name, held := range globalNames() {
		if got := isHeld(name); got != held {
			t.Errorf("%s is held: %v, want %v", name, got, held)
		}
	}
	for _, name := range []unistring.String{"", "a", "Zzz", unistring.NewFromString("É")} {
		if isHeld(name) {
			t.Errorf("%q is held", name)
		}
	}
}
