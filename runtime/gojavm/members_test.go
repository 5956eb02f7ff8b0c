package gojavm

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// oddMembers have names that mean something to the engine, and paths.
var oddMembers = append(
	named("web-search", "2fa.verify", "delete", "__proto__", "constructor", "toString", "hasOwnProperty", "length", "1", "0", "get", "ownKeys"),
	runtime.Member{Name: "mcp__github__search", Path: []string{"github", "search"}},
	runtime.Member{Name: "mcp__github__issues", Path: []string{"github", "issues"}},
	runtime.Member{Name: "mcp__deep__a", Path: []string{"deep", "down", "a"}},
)

// completed is a program's beginning that has all members made.
const completed = "for (const o of [tools, tools.github, tools.deep, tools.deep.down]) Object.isFrozen(o); "

// useStrict is where a program is strict: nothing may stand before it.
const useStrict = "'use strict'; "

// TestNobodySeesThatMembersAreMadeLate is about objects whose members are made
// when they are first read: what a program finds is what it would find if they all
// were there from the beginning.
func TestNobodySeesThatMembersAreMadeLate(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, program, want string }{
		{`the same function each time`, `return [tools.ping === tools.ping, tools['ping'] === tools.ping, tools.github === tools.github, tools.github.search === tools.github.search, tools.github.search === tools.mcp__github__search]`, `[true,true,true,true,false]`},
		{`the same before and after`, `const before = tools.ping; const inner = tools.github; Object.keys(tools); return [before === tools.ping, inner === tools.github, Object.getOwnPropertyDescriptor(tools, 'ping').value === before, Object.values(tools).includes(inner)]`, `[true,true,true,true]`},
		{`keys`, `return [Object.keys(tools), Object.keys(tools.github), Object.keys(tools.deep)]`, `[["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","ping","toString","web-search","deep","github"],["issues","search"],["down"]]`},
		{`keys after some were read`, `tools.web; tools['web-search']; tools.ping; tools.deep; return Object.keys(tools)`, `["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","ping","toString","web-search","deep","github"]`},
		{`own keys`, `return [Reflect.ownKeys(tools), Object.getOwnPropertyNames(tools.deep), Object.getOwnPropertySymbols(tools)]`, `[["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","ping","toString","web-search","deep","github"],["down"],[]]`},
		{`for in`, `const seen = []; for (const k in tools) seen.push(k); return seen`, `["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","ping","toString","web-search","deep","github"]`},
		{`for in of an heir`, `const heir = Object.create(tools); heir.own = 1; const seen = []; for (const k in heir) seen.push(k); return [seen, typeof heir.ping, 'ping' in heir, heir.hasOwnProperty === tools.hasOwnProperty]`, `[["own"],"function",true,true]`},
		{`an heir takes no member's name`, `'use strict'; const heir = Object.create(tools); try { heir.ping = 1 } catch (e) { return [e.name, e.message] }`, `["TypeError","Cannot assign to read only property 'ping'"]`},
		{`in`, `return ['ping' in tools, 'nope' in tools, 0 in tools, '0' in tools, 7 in tools, Symbol.iterator in tools, 'search' in tools.github, 'toString' in tools, 'valueOf' in tools, Reflect.has(tools, 'big')]`, `[true,false,true,true,false,false,true,true,false,true]`},
		{`own`, `return [Object.hasOwn(tools, 'ping'), Object.hasOwn(tools, 'nope'), Object.prototype.hasOwnProperty.call(tools.github, 'search'), Object.prototype.propertyIsEnumerable.call(tools, 'ping')]`, `[true,false,true,true]`},
		{`descriptors`, `const d = Object.getOwnPropertyDescriptor(tools, 'ping'); return [typeof d.value, d.writable, d.enumerable, d.configurable, Object.getOwnPropertyDescriptor(tools, 'nope') === undefined, Object.getOwnPropertyDescriptor(tools, 0).configurable, Object.getOwnPropertyDescriptor(tools, Symbol.iterator) === undefined]`, `["function",false,true,false,true,false,true]`},
		{`all descriptors`, `return Object.entries(Object.getOwnPropertyDescriptors(tools.github)).map(([k, d]) => [k, typeof d.value, d.writable, d.enumerable, d.configurable])`, `[["issues","function",false,true,false],["search","function",false,true,false]]`},
		{`frozen`, `return [Object.isFrozen(tools), Object.isSealed(tools), Object.isExtensible(tools), Reflect.isExtensible(tools.github), Object.isFrozen(tools.deep.down)]`, `[true,true,false,false,true]`},
		{`frozen again`, `return [Object.freeze(tools) === tools, Object.seal(tools.github) === tools.github, Object.preventExtensions(tools) === tools, Reflect.preventExtensions(tools.deep), Object.keys(tools.deep)]`, `[true,true,true,true,["down"]]`},
		{`prototype`, `return [Object.getPrototypeOf(tools), tools.__proto__ === tools['__proto__'], typeof tools.__proto__, Reflect.getPrototypeOf(tools.github), tools instanceof Object, Object.prototype.isPrototypeOf(tools)]`, `[null,true,"function",null,false,false]`},
		{`set`, `tools.ping = 1; tools.nope = 1; tools[0] = 1; tools[Symbol.iterator] = 1; tools.github.search = 1; return [typeof tools.ping, typeof tools.nope, typeof tools[0], typeof tools[Symbol.iterator], typeof tools.github.search, Reflect.set(tools, 'ping', 1), Reflect.set(tools, 'nope', 1)]`, `["function","undefined","function","undefined","function",false,false]`},
		{`set, strictly`, `'use strict'; return [() => { tools.ping = 1 }, () => { tools.nope = 1 }, () => { tools[0] = 1 }, () => { tools[9] = 1 }, () => { tools[Symbol.iterator] = 1 }, () => { tools.github.search = 1 }, () => { tools.github = 1 }].map(f => { try { f(); return 'done' } catch (e) { return e.name + ': ' + e.message } })`, `["TypeError: Cannot assign to read only property 'ping'","TypeError: Cannot define property nope, object is not extensible","TypeError: Cannot assign to read only property '0'","TypeError: Cannot define property 9, object is not extensible","TypeError: Cannot define property Symbol(Symbol.iterator), object is not extensible","TypeError: Cannot assign to read only property 'search'","TypeError: Cannot assign to read only property 'github'"]`},
		{`set at another`, `const o = {}; return [Reflect.set(tools, 'ping', 1, o), Reflect.set(tools, 'nope', 1, o), o]`, `[false,true,{"nope":1}]`},
		{`delete`, `return [delete tools.ping, delete tools.nope, delete tools[0], delete tools.github, delete tools[Symbol.iterator], Reflect.deleteProperty(tools, 'ping'), Reflect.deleteProperty(tools, 'nope'), typeof tools.ping]`, `[false,true,false,false,true,false,true,"function"]`},
		{`delete, strictly`, `'use strict'; return [() => delete tools.ping, () => delete tools.nope, () => delete tools[0], () => delete tools.github.search].map(f => { try { return f() } catch (e) { return e.name + ': ' + e.message } })`, `["TypeError: Cannot delete property 'ping' of [object Object]",true,"TypeError: Cannot delete property '0' of [object Object]","TypeError: Cannot delete property 'search' of [object Object]"]`},
		{`define`, `return [() => Object.defineProperty(tools, 'ping', { value: 1 }), () => Object.defineProperty(tools, 'nope', { value: 1 }), () => Object.defineProperty(tools, 0, { value: 1 }), () => Object.defineProperty(tools, Symbol.iterator, { value: 1 }), () => Object.defineProperty(tools, 'ping', { value: tools.ping }) === tools, () => Reflect.defineProperty(tools, 'ping', { value: 1 }), () => Reflect.defineProperty(tools, 'nope', { value: 1 }), () => Reflect.defineProperty(tools, 'big', { writable: false })].map(f => { try { return f() } catch (e) { return e.name + ': ' + e.message } })`, `["TypeError: Cannot redefine property: ping","TypeError: Cannot define property nope, object is not extensible","TypeError: Cannot redefine property: 0","TypeError: Cannot define property Symbol(Symbol.iterator), object is not extensible",true,false,false,true]`},
		{`set a prototype`, `return [() => Object.setPrototypeOf(tools, {}), () => Object.setPrototypeOf(tools, null) === tools, () => Reflect.setPrototypeOf(tools, {}), () => Reflect.setPrototypeOf(tools.github, null)].map(f => { try { return f() } catch (e) { return e.name } })`, `["TypeError",true,false,true]`},
		{`spread`, `const copy = { ...tools }; return [Object.keys(copy), copy.ping === tools.ping, Object.keys({ ...tools.github })]`, `[["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","ping","toString","web-search","deep","github"],true,["issues","search"]]`},
		{`assign`, `const copy = Object.assign({}, tools.github); return [Object.keys(copy), copy.search === tools.github.search]`, `[["issues","search"],true]`},
		{`rest`, `const { ping, github: { search }, nope, ...rest } = tools; return [typeof ping, typeof search, nope === undefined, Object.keys(rest)]`, `["function","function",true,["0","1","2fa.verify","__proto__","big","constructor","delete","echo","fail","get","hasOwnProperty","hold","length","mcp__deep__a","mcp__github__issues","mcp__github__search","ownKeys","toString","web-search","deep"]]`},
		{`destructured alone`, `const { ping, echo, nope } = tools; return [(await ping()).n, await echo(1), typeof nope]`, `[1,1,"undefined"]`},
		{`entries`, `return Object.entries(tools).map(([k, v]) => [k, typeof v, v === tools[k]])`, `[["0","function",true],["1","function",true],["2fa.verify","function",true],["__proto__","function",true],["big","function",true],["constructor","function",true],["delete","function",true],["echo","function",true],["fail","function",true],["get","function",true],["hasOwnProperty","function",true],["hold","function",true],["length","function",true],["mcp__deep__a","function",true],["mcp__github__issues","function",true],["mcp__github__search","function",true],["ownKeys","function",true],["ping","function",true],["toString","function",true],["web-search","function",true],["deep","object",true],["github","object",true]]`},
		{`values`, `return [Object.values(tools).map(v => typeof v), Object.values(tools.github).map(f => f.name)]`, `[["function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","function","object","object"],["issues","search"]]`},
		{`as JSON`, `return [JSON.stringify(tools), JSON.stringify(tools.github), JSON.stringify({ tools }), JSON.stringify([tools.deep])]`, `["{\"deep\":{\"down\":{}},\"github\":{}}","{}","{\"tools\":{\"deep\":{\"down\":{}},\"github\":{}}}","[{\"down\":{}}]"]`},
		{`printed`, `console.log(tools); console.log(tools.github); console.log([tools.deep]); console.log('%o %O %j', tools.deep, tools.deep, tools.deep)`, "[Object: null prototype] {\n  '0': [Function: 0],\n  '1': [Function: 1],\n  '2fa.verify': [Function: 2fa.verify],\n  ['__proto__']: [Function: __proto__],\n  big: [Function: big],\n  constructor: [Function: constructor],\n  delete: [Function: delete],\n  echo: [Function: echo],\n  fail: [Function: fail],\n  get: [Function: get],\n  hasOwnProperty: [Function: hasOwnProperty],\n  hold: [Function: hold],\n  length: [Function: length],\n  mcp__deep__a: [Function: mcp__deep__a],\n  mcp__github__issues: [Function: mcp__github__issues],\n  mcp__github__search: [Function: mcp__github__search],\n  ownKeys: [Function: ownKeys],\n  ping: [Function: ping],\n  toString: [Function: toString],\n  'web-search': [Function: web-search],\n  deep: [Object: null prototype] {\n    down: [Object: null prototype] { a: [Function: a] }\n  },\n  github: [Object: null prototype] {\n    issues: [Function: issues],\n    search: [Function: search]\n  }\n}\n[Object: null prototype] {\n  issues: [Function: issues],\n  search: [Function: search]\n}\n[\n  [Object: null prototype] {\n    down: [Object: null prototype] { a: [Function: a] }\n  }\n]\n[Object: null prototype] {\n  down: [Object: null prototype] {\n    a: [Function: a] { [length]: 0, [name]: 'a' }\n  }\n} [Object: null prototype] {\n  down: [Object: null prototype] { a: [Function: a] }\n} {\"down\":{}}\n"},
		{`printed in part`, `tools.ping; console.log({ tools }); console.table(tools.github); console.dir(tools.deep.down)`, "{\n  tools: [Object: null prototype] {\n    '0': [Function: 0],\n    '1': [Function: 1],\n    '2fa.verify': [Function: 2fa.verify],\n    ['__proto__']: [Function: __proto__],\n    big: [Function: big],\n    constructor: [Function: constructor],\n    delete: [Function: delete],\n    echo: [Function: echo],\n    fail: [Function: fail],\n    get: [Function: get],\n    hasOwnProperty: [Function: hasOwnProperty],\n    hold: [Function: hold],\n    length: [Function: length],\n    mcp__deep__a: [Function: mcp__deep__a],\n    mcp__github__issues: [Function: mcp__github__issues],\n    mcp__github__search: [Function: mcp__github__search],\n    ownKeys: [Function: ownKeys],\n    ping: [Function: ping],\n    toString: [Function: toString],\n    'web-search': [Function: web-search],\n    deep: [Object: null prototype] {\n      down: [Object: null prototype] { a: [Function: a] }\n    },\n    github: [Object: null prototype] {\n      issues: [Function: issues],\n      search: [Function: search]\n    }\n  }\n}\n[Object: null prototype] {\n  issues: [Function: issues],\n  search: [Function: search]\n}\n[Object: null prototype] { a: [Function: a] }\n"},
		{`as a text`, `return [String(Object.prototype.toString.call(tools)), (() => { try { return String(tools.github) } catch (e) { return e.name + ': ' + e.message } })(), (() => { try { return tools + '' } catch (e) { return e.name } })(), typeof tools, Array.isArray(tools)]`, `["[object Object]","TypeError: Cannot convert object to primitive value","TypeError","object",false]`},
		{`returned`, `return tools`, "program completion must be lossless JSON: [\"0\"] is a function\n"},
		{`returned inside`, `return { github: tools.github }`, "program completion must be lossless JSON: github.issues is a function\n"},
		{`cloned`, `try { structuredClone(tools) } catch (e) { return [e.name, e.message] }`, `["DataCloneError","[Object: null prototype] {\n  '0': [Function: 0],\n  '1': [Function: 1],\n  '2fa.verify': [Function: 2fa.verify],\n  ['__proto__']: [Function: __proto__],\n  big: [Function: big],\n  constructor: [… (cut) could not be cloned."]`},
		{`sent`, `try { await tools.echo(tools) } catch (e) { return [e.name, e.message] }`, `["ToolCallError","the arguments of tools.echo cannot be sent: args[\"0\"] is a function"]`},
		{`a member's properties`, `return [tools.ping.name, tools.ping.length, String(tools.ping), Object.keys(tools.ping), tools.github.search.name, tools.mcp__github__search.name, typeof tools.ping.prototype, tools[0].name]`, `["ping",0,"function ping() { [native code] }",[],"search","mcp__github__search","undefined","0"]`},
		{`members can have properties`, `tools.ping.mine = 1; Object.keys(tools); return [tools.ping.mine, { ...tools }.ping.mine]`, `[1,1]`},
		{`called`, `return [await tools.ping(), await tools['web-search'](), await tools.github.search({}), await tools.deep.down.a(), await tools[1](), await tools.__proto__(), await tools.get(), await tools.constructor()]`, `[{"n":1},"web-search","mcp__github__search","mcp__deep__a","1","__proto__","get","constructor"]`},
		{`called after a look`, `Object.keys(tools); return [await tools.ping(), await tools.github.issues(), await tools.toString()]`, `[{"n":1},"mcp__github__issues","toString"]`},
		{`awaited`, `const t = await tools; return [t === tools, t === await Promise.resolve(tools), Object.keys(await tools.github)]`, `[true,true,["issues","search"]]`},
		{`read by Reflect`, `return [Reflect.get(tools, 'ping') === tools.ping, Reflect.get(tools, 'ping', {}) === tools.ping, typeof Reflect.get(tools, 'nope'), typeof Reflect.get(tools, Symbol.toPrimitive), typeof Reflect.get(tools, 0)]`, `[true,true,"undefined","undefined","function"]`},
		{`an unknown name`, `try { await tools.pong({}) } catch (e) { return [e.name, e.message, e.code] }`, `["ToolCallError","tools.pong is not a tool; did you mean tools.ping?","UNKNOWN_TOOL"]`},
		{`an unknown name inside`, `Object.keys(tools); try { await tools.github.serch({}) } catch (e) { return [e.name, e.message, e.code] }`, `["ToolCallError","tools.github.serch is not a tool; did you mean tools.github.search?","UNKNOWN_TOOL"]`},
		{`an unknown name, uncaught`, `await tools.pong({})`, "ToolCallError: tools.pong is not a tool; did you mean tools.ping?\n"},
		{`an unknown name, taken apart`, `const { pong } = tools; await pong({})`, "TypeError: pong is not a function; tools.pong is not a tool\ndid you mean tools.ping?"},
		{`unknown names are as in any object`, `return [typeof tools.nope, tools.nope?.x === undefined, (tools.github.nope ?? 1), tools['no' + 'pe'] === undefined]`, `["undefined",true,1,true]`},
		{`a proxy around it`, `const seen = []; const p = new Proxy(tools, { get(t, k, r) { seen.push(String(k)); return Reflect.get(t, k, r) }, has(t, k) { seen.push('has ' + String(k)); return Reflect.has(t, k) } }); return [(await p.ping()).n, 'big' in p, Object.keys(p).length, p.github === tools.github, seen]`, `[1,true,22,true,["ping","has big","github"]]`},
		{`a proxy that lies`, `const p = new Proxy(tools, { get: () => 1 }); try { return p.ping } catch (e) { return [e.name, e.message] }`, `["TypeError","'get' on proxy: property 'ping' is a read-only and non-configurable data property on the proxy target but the proxy did not return its actual value (expected 'function ping() { [native code] }' but got '{}')"]`},
		{`a proxy that hides`, `const p = new Proxy(tools, { ownKeys: () => ['ping'] }); try { return Object.keys(p) } catch (e) { return [e.name, e.message] }`, `["TypeError","'ownKeys' on proxy: trap result did not include '0'"]`},
		{`the traps of others`, `Object.prototype.has = () => true; Object.prototype.ownKeys = () => ['x']; Object.prototype.get = () => 1; const out = ['nope' in tools, Object.keys(tools.github), typeof tools.ping]; delete Object.prototype.has; delete Object.prototype.ownKeys; delete Object.prototype.get; return out`, `[false,["issues","search"],"function"]`},
		{`a replaced Proxy`, `globalThis.Proxy = undefined; Object.preventExtensions = () => { throw new Error('no') }; Reflect.ownKeys = undefined; return [Object.keys(tools.github), Object.isFrozen(tools.deep), await tools.deep.down.a()]`, `[["issues","search"],true,"mcp__deep__a"]`},
		{`as a callback`, `const got = []; const done = Promise.resolve(tools).then(Object.keys).then(k => got.push(k.length)); Promise.resolve().then(() => got.push('before')); await done; await null; return got`, `["before",22]`},
		{`in jobs of their own`, `const order = []; const a = Promise.resolve('github').then(k => { order.push('a'); return Reflect.ownKeys(tools[k]) }); const b = Promise.resolve().then(() => order.push('b')); await Promise.all([a, b]); return [order, await a]`, `[["a","b"],["issues","search"]]`},
		{`a native callback in a job`, `const order = []; const a = Promise.resolve(tools).then(Reflect.ownKeys); Promise.resolve().then(() => order.push(1)); Promise.resolve().then(() => order.push(2)); a.then(k => order.push(k.length)); await a; await null; await null; return order`, `[1,2,22]`},
		{`a native reader in a job`, `const order = []; const read = Reflect.get.bind(null, tools); const a = Promise.resolve('github').then(read); Promise.resolve().then(() => order.push(1)); Promise.resolve().then(() => order.push(2)); a.then(o => order.push(Object.keys(o).length)); await a; await null; await null; return order`, `[1,2,2]`},
		{`with`, `with (tools) { return [typeof ping, typeof nope, (await echo({ a: 1 })).a] }`, `["function","undefined",1]`},
		{`the global`, `return [Object.getOwnPropertyDescriptor(globalThis, 'tools').writable, globalThis.tools === tools, Object.keys(globalThis).includes('tools')]`, `[false,true,false]`},
		{`a map of members`, `const m = new Map(Object.entries(tools)); const w = new WeakMap([[tools.ping, 1], [tools, 2]]); return [m.get('ping') === tools.ping, w.get(tools.ping), w.get(tools), new Set([tools.ping, tools.ping]).size]`, `[true,1,2,1]`},
		{`equal`, `return [Object.is(tools, globalThis.tools), Object.is(tools.ping, Reflect.get(tools, 'ping')), Object.is(Object.getOwnPropertyDescriptor(tools, 'github').value, tools.github)]`, `[true,true,true]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, before := range []string{"", completed} {
				program, strict := strings.CutPrefix(tt.program, useStrict)
				if strict {
					program = useStrict + before + program
				} else {
					program = before + program
				}
				res := execute(t, rt, runtime.Request{
					Program:  program,
					Bindings: []runtime.Binding{{Namespace: toolset(t, oddMembers...), Call: serve}},
				})
				got := strings.Join(append(res.Logs, res.Value), "\n")
				if res.Failure != nil {
					got = res.Failure.Message + "\n" + res.Failure.Hint
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("after %q (-want +got):\n%s", before, diff)
				}
			}
		})
	}
}

// TestNobodySeesThatErrorClassesAreMadeLate has failed calls in programs that do
// not name the class, so that it is made for the first of them, and in the same
// programs after they have named it.
func TestNobodySeesThatErrorClassesAreMadeLate(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, program string }{
		{"a tool that fails", "try { await tools.fail() } catch (e) { return [e.name, e.message, String(e), e.toolName, e.code, e instanceof Error, JSON.stringify(e), Object.keys(e), e.stack] }"},
		{"arguments that are refused", "try { await tools.echo({ n: NaN }) } catch (e) { return [e.name, e.message, e.stack] }"},
		{"deep in the program", "async function f(n) { return n ? await f(n - 1) : await tools.echo(f) }; try { await f(20) } catch (e) { return [e.name, e.message, e.stack] }"},
		{"printed", "try { await tools.fail() } catch (e) { console.log(e); console.log('%s', e); console.error({ e }) }"},
		{"two classes", "const out = []; for (const f of [tools.fail, helpers.fail, tools.fail]) await f().catch(e => out.push([e.name, e.toolName, e.helperName])); return out"},
		{"no class", "try { await plain.fail() } catch (e) { return [e.name, e.message, Object.keys(e)] }"},
		{"an unknown tool", "try { await tools.pong() } catch (e) { return [e.name, e.message] }"},
		{"uncaught", "await tools.fail()"},
		{"rejected", "tools.fail(); await tools.ping()"},
		{"by the engine, between jobs", "const order = []; const a = Promise.resolve({ n: NaN }).then(tools.echo).catch(e => order.push(e.name)); Promise.resolve().then(() => order.push(1)).then(() => order.push(2)); await a; await null; return order"},
		{"an Error of the program's own", "Error = class {}; try { await tools.fail() } catch (e) { return [e.name, e.message] }"},
		{"an Object of the program's own", "Object.defineProperty = undefined; Object = undefined; try { await tools.fail() } catch (e) { return [e.name, e.message] }"},
		{"where there is no more room", "let n = 0; async function f() { n++; try { await f() } finally { } }; await f()"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want string
			for _, before := range []string{"[ToolCallError, HelperCallError]; ", "[        'no',            'no' ]; "} { // of one length
				res := execute(t, rt, runtime.Request{Program: before + tt.program, Bindings: []runtime.Binding{
					{Namespace: toolset(t), Call: serve},
					{Namespace: space(t, "helpers", runtime.ErrorClass{Name: "HelperCallError", Property: "helperName"}), Call: serve},
					{Namespace: space(t, "plain", runtime.ErrorClass{}), Call: serve},
				}})
				got := fmt.Sprintf("%q %s %q", res.Logs, res.Value, res.Notes)
				if f := res.Failure; f != nil {
					got += fmt.Sprintf(" %s %q tool %s %v", f.Name, f.Message, f.Tool, f.Stack)
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("made late:  %s\nmade early: %s", got, want)
				}
			}
		})
	}
}

func space(t *testing.T, global string, class runtime.ErrorClass) *runtime.Namespace {
	t.Helper()
	n, err := runtime.NewNamespace(global, class, named("fail"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGlobalsOfNamespacesAreFound is about globals that are defined only for
// programs that can name them.
func TestGlobalsOfNamespacesAreFound(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, program, want string }{
		{"by name", "return [typeof tools, typeof ToolCallError]", `["object","function"]`},
		{"of globalThis", "const { tools: t, ToolCallError: e } = globalThis; return [typeof t, typeof e]", `["object","function"]`},
		{"by a text", "return [typeof globalThis['tools'], typeof this['ToolCallError']]", `["object","function"]`},
		{"by a text that is put together", "return [typeof globalThis['to' + 'ols'], typeof globalThis[input.name]]", `["object","function"]`},
		{"by a text, of this", "return ((k) => typeof this[k])(input.name)", `"function"`},
		{"in a list", "return Object.getOwnPropertyNames(globalThis).filter(k => k.startsWith('t') && k.length === 5 || k.startsWith('Tool'))", `["tools","ToolCallError"]`},
		{"in eval", "return [eval('typeof ' + input.name), eval('typeof to' + 'ols')]", `["function","object"]`},
		{"in a function of a text", "return Function('return typeof to' + 'ols')()", `"object"`},
		{"by with", "with (globalThis) { return typeof tools }", `"object"`},
		{"as a parameter", "return (async ({ tools }) => typeof tools)(globalThis)", `"object"`},
		{"as the parameter of the whole program", "async function main(tools) { return typeof tools.ping }", `"function"`},
		{"in a pattern that is computed", "const { [input.name]: e } = globalThis; return typeof e", `"function"`},
		{"nowhere", "return 1", `1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tt.program, Input: `{"name":"ToolCallError"}`})
			got := res.Value
			if tt.name == "in a list" { // the order is not promised
				got = strings.ReplaceAll(got, `["ToolCallError","tools"]`, `["tools","ToolCallError"]`)
			}
			if res.Failure != nil || got != tt.want {
				t.Errorf("%s (%+v), want %s", res.Value, res.Failure, tt.want)
			}
		})
	}
}

func TestTreesLastAsLongAsTheirNamespaces(t *testing.T) {
	namespace := space(t, "tools", runtime.ErrorClass{})
	of := func() *node { return (&boundNamespace{binding: runtime.Binding{Namespace: namespace}}).tree() }
	if of() != of() {
		t.Error("a tree is made again")
	}
	key := weak.Make(namespace)
	goruntime.KeepAlive(namespace)
	namespace = nil
	for known := true; known; _, known = trees.Load(key) {
		goruntime.GC()
	}
}
