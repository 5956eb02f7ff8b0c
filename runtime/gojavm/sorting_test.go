package gojavm

import (
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// TestSorting holds sort and toSorted to ECMA-262; what is wanted is what Node says.
func TestSorting(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, program, want string }{
		{"holes and undefined", `const a = [3,,1,undefined,2]; a.sort(); return [a.join('|'), Object.keys(a).join(), a.length]`, `["1|2|3||","0,1,2,3",5]`},
		{"holes with a comparator", `const a = [3,,1,undefined,2]; const r = a.sort((x, y) => y - x); return [r === a, a.join('|'), Object.keys(a).join(), a.length]`, `[true,"3|2|1||","0,1,2,3",5]`},
		{"holes through which a prototype shows", `const p = ['p0','p1','p2']; const a = [,'b',,'a']; Object.setPrototypeOf(a, p); a.sort(); return [Object.keys(a).join(), a[0], a[1], a[2], a[3], a.length]`, `["0,1,2,3","a","b","p0","p2",4]`},
		{"toSorted fills holes", `const a = [3,,1]; const r = a.toSorted(); return [r.join('|'), Object.keys(r).join(), a.join('|'), r === a]`, `["1|3|","0,1,2","3||1",false]`},
		{"array-like", `const o = { length: 4, 0: 'c', 1: 'a', 3: 'b', x: 1 }; const r = Array.prototype.sort.call(o); return [r === o, JSON.stringify(o)]`, `[true,"{\"0\":\"a\",\"1\":\"b\",\"2\":\"c\",\"length\":4,\"x\":1}"]`},
		{"array-like toSorted", `const o = { length: 4, 0: 'c', 1: 'a', 3: 'b', x: 1 }; return [JSON.stringify(Array.prototype.toSorted.call(o)), JSON.stringify(o)]`, `["[\"a\",\"b\",\"c\",null]","{\"0\":\"c\",\"1\":\"a\",\"3\":\"b\",\"length\":4,\"x\":1}"]`},
		{"accessors", `const log = []; const o = { length: 2, get 0() { return 2 }, set 0(v) { log.push('set 0 ' + v) }, get 1() { return 1 }, set 1(v) { log.push('set 1 ' + v) } }; Array.prototype.sort.call(o, (a, b) => { log.push('compare'); return a - b }); return log`, `["compare","set 0 1","set 1 2"]`},
		{"proxy traps", `const log = []; const p = new Proxy([2,,1], { get(t, k, r) { log.push('get ' + String(k)); return Reflect.get(t, k, r) }, set(t, k, v, r) { log.push('set ' + String(k)); return Reflect.set(t, k, v, r) }, has(t, k) { log.push('has ' + String(k)); return Reflect.has(t, k) }, deleteProperty(t, k) { log.push('delete ' + String(k)); return Reflect.deleteProperty(t, k) }, getOwnPropertyDescriptor(t, k) { log.push('own ' + String(k)); return Reflect.getOwnPropertyDescriptor(t, k) }, defineProperty(t, k, d) { log.push('define ' + String(k)); return Reflect.defineProperty(t, k, d) } }); p.sort(); return log`, `["get sort","get length","has 0","get 0","has 1","has 2","get 2","set 0","own 0","define 0","set 1","own 1","define 1","delete 2"]`},
		{"proxy toSorted", `const log = []; const p = new Proxy([2,,1], { get(t, k, r) { log.push('get ' + String(k)); return Reflect.get(t, k, r) }, has(t, k) { log.push('has ' + String(k)); return Reflect.has(t, k) } }); const r = p.toSorted(); return [log.join(), r.join('|')]`, `["get toSorted,get length,get 0,get 1,get 2","1|2|"]`},
		{"a comparator that throws leaves the array", `const a = [3, 2, 1]; let n = 0; try { a.sort((x, y) => { if (n++) throw new Error('x'); return x - y }) } catch (e) { return [a.join(), e.message] }`, `["3,2,1","x"]`},
		{"values are read before", `const a = [3, 2, 1]; a.sort((x, y) => { a[0] = 9; a.length = 1; return x - y }); return [a.join(), a.length]`, `["1,2,3",3]`},
		{"array grows meanwhile", `const a = [3, 2, 1]; a.sort((x, y) => { a.push(7); return x - y }); return [a.slice(0, 3).join(), a.length > 3]`, `["1,2,3",true]`},
		{"array frozen meanwhile", `const a = [3, 2, 1]; try { a.sort((x, y) => { Object.freeze(a); return x - y }) } catch (e) { return [a.join(), e.name] }`, `["3,2,1","TypeError"]`},
		{"array with holes meanwhile", `const a = [3, 2, 1]; a.sort((x, y) => { delete a[0]; return x - y }); return [a.join(), Object.keys(a).join()]`, `["1,2,3","0,1,2"]`},
		{"getter put in meanwhile", `const a = [3, 2, 1]; const log = []; a.sort((x, y) => { Object.defineProperty(a, 0, { configurable: true, get() { return 'g' }, set(v) { log.push(v) } }); return x - y }); return [a.join(), log.join()]`, `["g,2,3","1"]`},
		{"result not a number", `return ['1', true, null, undefined, '-1', NaN, 'x', -0, {}].map(v => [1, 2, 3].sort(() => v).join(''))`, `["123","123","123","123","321","123","123","123","123"]`},
		{"result with valueOf", `let n = 0; const r = [1, 2].sort(() => ({ valueOf() { n++; return -1 } })); return [r.join(), n]`, `["2,1",1]`},
		{"negative zero is equal", `return [{ k: 1, v: 'a' }, { k: 1, v: 'b' }, { k: 0, v: 'c' }].sort((x, y) => -(x.k - y.k)).map(x => x.v).join('')`, `"abc"`},
		{"negative zero is equal, many", `return Array.from({ length: 40 }, (_, i) => ({ k: i % 2, v: i })).sort((x, y) => -(x.k - y.k)).map(x => x.v).join()`, `"1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38"`},
		{"symbol result", `try { [1, 2].sort(() => Symbol()) } catch (e) { return String(e) }`, `"TypeError: Cannot convert a Symbol value to a number"`},
		{"bigint result", `try { [1, 2].sort(() => 1n) } catch (e) { return String(e) }`, `"TypeError: Cannot convert a BigInt value to a number"`},
		{"not callable", `return [1, null, 'x', {}, /x/, Symbol()].map(v => { try { [].sort(v); return 'no' } catch (e) { return String(e) } })`, `["TypeError: The comparison function must be either a function or undefined","TypeError: The comparison function must be either a function or undefined","TypeError: The comparison function must be either a function or undefined","TypeError: The comparison function must be either a function or undefined","TypeError: The comparison function must be either a function or undefined","TypeError: The comparison function must be either a function or undefined"]`},
		{"not callable, toSorted", `try { [].toSorted(null) } catch (e) { return String(e) }`, `"TypeError: The comparison function must be either a function or undefined"`},
		{"comparator is looked at first", `try { Array.prototype.sort.call(null, 1) } catch (e) { return String(e) }`, `"TypeError: The comparison function must be either a function or undefined"`},
		{"null", `try { Array.prototype.sort.call(null) } catch (e) { return String(e) }`, `"TypeError: Cannot convert undefined or null to object"`},
		{"symbol element", `try { [Symbol('s'), 1].sort() } catch (e) { return String(e) }`, `"TypeError: Cannot convert a Symbol value to a string"`},
		{"one symbol", `return [Symbol('s'), undefined].sort().length`, `2`},
		{"undefined comparator", `return [3, 20, 1].sort(undefined).join()`, `"1,20,3"`},
		{"this of the comparator", `let seen; [2, 1].sort(function () { 'use strict'; seen = this; return 0 }); return String(seen)`, `"undefined"`},
		{"arguments of the comparator", `const seen = []; [3, 2, 1].sort((...args) => { seen.push(args.join()); return args[0] - args[1] }); return seen`, `["2,3","1,2"]`},
		{"arguments are kept", `const seen = []; [3, 2, 1].sort(function () { seen.push(arguments); return 0 }); return seen.map(a => [...a].join())`, `["2,3","1,2"]`},
		{"default order of numbers", `return [10, 9, 1, -1, -10, 1e21, 0.5, NaN, Infinity, -0, 0].sort().map(x => Object.is(x, -0) ? '-0' : String(x))`, `["-1","-10","-0","0","0.5","1","10","1e+21","9","Infinity","NaN"]`},
		{"default order of kinds", `return [true, 'b', null, 10, undefined, 2n, 'a', false, 'nul', [5, 1], {}, 'tru'].sort().map(x => String(x))`, `["10","2","5,1","[object Object]","a","b","false","nul","null","tru","true","undefined"]`},
		{"default order of code units", `return ['\uff5e', '\u{1f600}', 'a', '\ud800', 'é', 'z', ''].sort().map(s => [...s].map(c => c.codePointAt(0).toString(16)).join())`, `["","61","7a","e9","d800","1f600","ff5e"]`},
		{"default order calls toString", `let n = 0; const o = k => ({ toString() { n++; return k } }); const r = [o('b'), o('a')].sort(); return [r.join(), n]`, `["a,b",4]`},
		{"default order with toPrimitive", `return [{ [Symbol.toPrimitive](h) { return h === 'string' ? 5 : 1 } }, 49, 51].sort().map(String)`, `["49","5","51"]`},
		{"dates by default", `return [new Date(3), new Date(1)].sort().map(d => +d)`, `[3,1]`},
		{"bound comparator", `return [1, 3, 2].sort(((k, a, b) => k * (a - b)).bind(null, -1)).join()`, `"3,2,1"`},
		{"proxy comparator", `return [1, 3, 2].sort(new Proxy((a, b) => b - a, {})).join()`, `"3,2,1"`},
		{"native comparator", `return [1, 3, 2].sort(Math.max).join()`, `"1,3,2"`},
		{"class as comparator", `try { [1, 2].sort(class {}) } catch (e) { return e.name }`, `"TypeError"`},
		{"async comparator", `return [2, 1].sort(async () => -1).join()`, `"2,1"`},
		{"generator comparator", `return [2, 1].sort(function* () { return -1 }).join()`, `"2,1"`},
		{"subclass", `class A extends Array {} const a = A.from([2, 1]); const s = a.sort(), t = a.toSorted(); return [s instanceof A, t instanceof A, s.join(), t.join()]`, `[true,false,"1,2","1,2"]`},
		{"species is not asked", `const a = [2, 1]; a.constructor = { get [Symbol.species]() { throw 1 } }; return [a.sort().join(), a.toSorted().join()]`, `["1,2","1,2"]`},
		{"frozen", `const a = Object.freeze([2, 1]); try { a.sort() } catch (e) { return [a.join(), String(e), a.toSorted().join()] }`, `["2,1","TypeError: Cannot assign to read only property '0' of object '[object Array]'","1,2"]`},
		{"frozen and empty", `return Object.freeze([]).sort().length`, `0`},
		{"sealed", `return Object.seal([2, 1]).sort().join()`, `"1,2"`},
		{"length not writable", `return Object.defineProperty([2, 1], 'length', { writable: false }).sort().join()`, `"1,2"`},
		{"text", `try { Array.prototype.sort.call('ba') } catch (e) { return e.name }`, `"TypeError"`},
		{"text toSorted", `return Array.prototype.toSorted.call('ba').join()`, `"a,b"`},
		{"arguments object", `return (function () { return Array.prototype.sort.call(arguments)[0] })(2, 1)`, `1`},
		{"typed array through Array", `return [...Array.prototype.sort.call(new Uint8Array([3, 1, 2]))].join()`, `"1,2,3"`},
		{"sort in a sort", `return [3, 1, 2].sort((a, b) => [b, a].sort((x, y) => x - y)[0] === a ? -1 : 1).join()`, `"1,2,3"`},
		{"names and lengths", `return [[].sort.name, [].sort.length, [].toSorted.name, [].toSorted.length, Object.keys(Array.prototype).length]`, `["sort",1,"toSorted",1,0]`},
		{"numbers that are not", `return [[3, NaN, 1, 2, NaN, 0, 5, 4, 9, 8].sort((a, b) => a - b).join(), [Infinity, 1, -Infinity, 3, Infinity, 2, -Infinity, 7, 6, 5].sort((a, b) => b - a).join()]`, `["3,NaN,1,2,NaN,0,4,5,8,9","Infinity,Infinity,7,6,5,3,2,1,-Infinity,-Infinity"]`},
		{"mixed elements", `return [['10', 9, '8', 1, true, null, 7, 6, 5, 4].sort((a, b) => a - b).join(), [{ n: '10' }, { n: 9 }, { n: 1 }, { n: null }, {}, { n: 3 }, { n: 2 }, { n: 7 }].sort((a, b) => a.n - b.n).map(x => String(x.n)).join()]`, `[",1,true,4,5,6,7,8,9,10","null,1,2,3,7,9,10,undefined"]`},
		{"zeros stay", `return [0, -0, 0, -0, 1, -1, -0, 0, 2, 3].sort((a, b) => a - b).map(x => Object.is(x, -0) ? '-0' : String(x)).join()`, `"-1,0,-0,0,-0,-0,0,1,2,3"`},
		{"fields that call", `let n = 0; const o = k => ({ get k() { n++; return k } }); const r = [5, 3, 8, 1, 9, 2, 7, 4].map(o).sort((a, b) => a.k - b.k); return [n > 16, r.map(x => x.k).join('')]`, `[true,"12345789"]`},
		{"fields of proxies", `let n = 0; const o = k => new Proxy({ k }, { get(t, p) { n++; return t[p] } }); const r = [5, 3, 8, 1, 9, 2, 7, 4].map(o).sort((a, b) => a.k - b.k); return [n > 16, r.map(x => x.k).join('')]`, `[true,"12345789"]`},
		{"fields inherited", `class C { constructor(k) { this._k = k } get k() { return this._k } } return [5, 3, 8, 1, 9, 2, 7, 4].map(k => new C(k)).sort((a, b) => a.k - b.k).map(x => x.k).join('')`, `"12345789"`},
		{"fields of null", `try { [{ k: 1 }, null, { k: 2 }, { k: 3 }, { k: 3 }, { k: 3 }, { k: 3 }, { k: 3 }].sort((a, b) => a.k - b.k) } catch (e) { return e.name }`, `"TypeError"`},
		{"big integers", `try { [5n, 3n, 1n, 2n, 4n, 6n, 8n, 7n].sort((a, b) => a - b); return 'sorted' } catch (e) { return e.name }`, `"TypeError"`},
		{"localeCompare of others", `const o = k => ({ k, localeCompare(x) { return this.k - x.k } }); return [5, 3, 8, 1, 9, 2, 7, 4].map(o).sort((a, b) => a.localeCompare(b)).map(x => x.k).join('')`, `"12345789"`},
		{"localeCompare replaced", `const real = String.prototype.localeCompare; String.prototype.localeCompare = function (x) { return real.call(x, this) }; try { return [...'hgfedcbaij'].sort((a, b) => a.localeCompare(b)).join('') } finally { String.prototype.localeCompare = real }`, `"jihgfedcba"`},
		{"true is one", `return [3, 1, 2, 9, 8, 7, 6, 5].sort((a, b) => a > b).join()`, `"3,1,2,9,8,7,6,5"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tt.program})
			if res.Failure != nil || res.Value != tt.want {
				t.Errorf("value %s (%+v), want %s", res.Value, res.Failure, tt.want)
			}
		})
	}
}

// TestElements says of which arrays the elements are taken at once, and that they are
// the array's own.
func TestElements(t *testing.T) {
	s := newTestSorting(t)
	for _, tt := range []struct {
		object string
		want   bool
	}{
		{"[3, 1, 2]", true},
		{"[]", true},
		{"[undefined, null]", true},
		{"Object.seal([1])", false},
		{"Object.preventExtensions([1])", true},
		{"Object.assign([1], { x: 1 })", true},
		{"new (class extends Array {})(1, 2)", true},
		{"[1, , 2]", false},
		{"new Array(3)", false},
		{"(() => { const a = []; a[1e6] = 1; return a })()", false},
		{"Object.freeze([1])", false},
		{"Object.defineProperty([1, 2], 0, { get() { return 1 } })", false},
		{"(() => { const a = [1, , 2]; Object.defineProperty(a, 0, { value: 3 }); return a })()", false},
		{"new Proxy([1], {})", false},
		{"new Uint8Array(2)", false},
		{"(function () { return arguments })(1)", false},
		{"({ length: 1, 0: 1 })", false},
		{"new String('ab')", false},
	} {
		t.Run(tt.object, func(t *testing.T) {
			object := evaluate(t, s, tt.object).(*goja.Object)
			elements, ok := s.elements(object)
			if ok != tt.want {
				t.Fatalf("taken: %v, want %v", ok, tt.want)
			}
			if ok && len(elements) > 0 {
				elements[0] = s.vm.ToValue(77)
				if got := object.Get("0"); !got.SameAs(s.vm.ToValue(77)) {
					t.Errorf("the array holds %v still", got)
				}
			}
		})
	}
}
