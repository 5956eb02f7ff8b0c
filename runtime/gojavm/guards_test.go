package gojavm

import (
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

func TestGuards(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, step := range []struct{ what, code string }{
		{"String.prototype.repeat", "'x'.repeat(2 ** 40)"},
		{"String.prototype.repeat", "'é'.repeat(300e6)"},
		{"String.prototype.padStart", "'x'.padStart(2 ** 40)"},
		{"String.prototype.padEnd", "'x'.padEnd(2 ** 40, 'ab')"},
		{"Array.prototype.fill", "Array(1e9).fill(1)"},
		{"Array.prototype.join", "new Array(1e9).join('x')"},
		{"Array.prototype.join", "new Array(1e6).join('x'.repeat(1e4))"},
		{"Array.prototype.sort", "new Array(2 ** 32 - 1).sort()"},
		{"Array.prototype.reverse", "(() => { const a = []; a.length = 4e9; a.reverse() })()"},
		{"Array.prototype.includes", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"},
		{"Array.from", "Array.from({ length: 1e9 })"},
		{"new ArrayBuffer", "new ArrayBuffer(8e9)"},
		{"new Float64Array", "new Float64Array(1e9)"},
		{"new Uint8Array", "Reflect.construct(Uint8Array, [8e9])"},
	} {
		t.Run(step.code, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{
				Program: "const before = 1\ntry { " + step.code + " } catch {} finally { console.log('went on') }\nfor (;;) {}",
				Limits:  runtime.Limits{Heap: 512 << 20},
			})
			if res.Failure == nil || res.Failure.Kind != runtime.MemoryLimit || !strings.HasPrefix(res.Failure.Message, step.what+" would take about ") {
				t.Fatalf("failure %+v, want memory-limit of %s", res.Failure, step.what)
			}
			if res.Failure.Site.Line != 2 || !strings.Contains(res.Failure.Message, "the heap limit is 536870912 bytes") {
				t.Errorf("line %d, %q", res.Failure.Site.Line, res.Failure.Message)
			}
			if len(res.Logs) != 0 {
				t.Errorf("the program went on: %q", res.Logs)
			}
		})
	}
}

func TestGuardedFunctionsWorkAsBefore(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, want string }{
		{"['ab'.repeat(3), 'a'.padStart(3, 'xy'), 'a'.padEnd(3), 'a'.repeat('2'), 'é'.repeat(2)]", `["ababab","xya","a  ","aa","éé"]`},
		{"(() => { try { 'a'.repeat(-1) } catch (e) { return e.name } })()", `"RangeError"`},
		{"(() => { try { String.prototype.repeat.call(null, 1) } catch (e) { return e.name } })()", `"TypeError"`},
		{"[[3, 1, 2].sort(), [1, 2].reverse(), [1, 2, 3].includes(2), [1, 2].join('-'), String([1, [2]]), [1, 2, 3].slice(1), Array(2).fill(0)]", `[[1,2,3],[2,1],true,"1-2","1,2",[2,3],[0,0]]`},
		{"[Array.from('ab'), Array.from({ length: 2 }, (_, i) => i), Array.from(new Set([1]))]", `[["a","b"],[0,1],[1]]`},
		{"[[].sort.name, [].fill.length, 'x'.repeat.name, 'x'.padEnd.length, Object.keys(Array.prototype)]", `["sort",1,"repeat",1,[]]`},
		{"(() => { const u = new Uint8Array([1, 2]); class B extends Uint8Array {}; return [u instanceof Uint8Array, [...u.map(x => x * 2)], new B(2) instanceof B, new B(2) instanceof Uint8Array, Uint8Array.from([1]).length, Uint8Array.name, u.constructor === Uint8Array, Uint8Array.BYTES_PER_ELEMENT, ArrayBuffer.isView(u), new ArrayBuffer(8).byteLength] })()",
			`[true,[2,4],true,true,1,"Uint8Array",true,1,true,8]`},
		{"[eval('1 + 1'), eval({}.x) === undefined, new Function('a', 'b', 'return a + b')(1, 2), Function('return 3')(), (() => 1) instanceof Function, (function () {}).constructor === Function, (async () => 1).constructor.name, await new (async () => 1).constructor('return 4')()]",
			`[2,true,3,3,true,true,"AsyncFunction",4]`},
		{"(() => { const o = {}; o.then = 1; o.toJSON = 2; return Object.keys(o) })()", `["then","toJSON"]`},
	} {
		res := execute(t, rt, runtime.Request{Program: "return " + tc.code})
		if res.Failure != nil || res.Value != tc.want {
			t.Errorf("%s\n gives %s (%+v)\n want  %s", tc.code, res.Value, res.Failure, tc.want)
		}
	}
}

// No way leads from a constructor that measures to the one of the engine.
func TestGuardsHideTheOriginals(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: `
const functions = [Function, (function* () {}).constructor, (async () => 1).constructor]
const all = [...functions, RegExp, ArrayBuffer, Uint8Array, Float64Array]
const parents = all.map(Object.getPrototypeOf)
return [
	parents.map(p => p === Function.prototype ? 0 : p === Object.getPrototypeOf(Int8Array) ? 2 : 1),
	all.every(c => c.prototype.constructor === c),
	Object.getOwnPropertyNames(Uint8Array).sort(), Object.getOwnPropertyNames(ArrayBuffer).sort(),
	ArrayBuffer.isView(new Uint8Array(1)), RegExp[Symbol.species] === RegExp, Uint8Array.of(1, 2).length, Function[Symbol.hasInstance] !== undefined,
	new (class extends Function {})('return 1')(),
]`})
	if want := `[[0,0,0,0,0,2,2],true,["BYTES_PER_ELEMENT","fromBase64","fromHex","length","name","prototype"],["isView","length","name","prototype"],true,true,2,true,1]`; res.Value != want {
		t.Errorf("%s (%+v)\n want %s", res.Value, res.Failure, want)
	}
}

func TestCompiledTextIsChecked(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, text string }{
		{"eval('!'.repeat(1e7) + '1')", "eval: the program is 10000001 bytes long; the source limit is 65536 bytes"},
		{"eval('['.repeat(600) + ']'.repeat(600))", "eval: more than 500 brackets"},
		{"(0, eval)('1' + '+1'.repeat(5000))", "eval: more than 2000 operators"},
		{"new Function('return ' + '('.repeat(600) + '1' + ')'.repeat(600))", "Function: more than 500 brackets"},
		{"[].constructor.constructor('return ' + '!'.repeat(5000) + '1')", "Function: more than 2000 operators"},
		{"(function* () {}).constructor('x='.repeat(5000) + '1')", "GeneratorFunction: more than 2000 operators"},
		{"Function({ toString: () => '!'.repeat(1e6) + '1' })", "Function: the program is 1000001 bytes long"},
		{"new Function(Array(2e4).fill('1').join('+'), '1')", "Function: more than 2000 operators"},
		{"new Function(...Array(200).fill('a=' + '('.repeat(9) + '1'), '1')", "Function: more than 500 brackets"},
		{"new Function(...Array(9).fill('a'.repeat(9000)), '1')", "Function: the program is 81010 bytes long"},
		{"(async () => {}).constructor('a'.repeat(70000))", "AsyncFunction: the program is 70000 bytes long"},
	} {
		res := execute(t, rt, runtime.Request{Program: "try { " + tc.code + " } catch (e) { return [e instanceof TypeError, e.message] }"})
		if res.Failure != nil || !strings.HasPrefix(res.Value, `[true,"`+tc.text) {
			t.Errorf("%s gives %s (%+v), want %q", tc.code, res.Value, res.Failure, tc.text)
		}
	}
}

func TestObjectPrototypeIsClosed(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: `
Object.prototype.then = function (r) { r('hijack') };
Object.prototype.toJSON = () => 'hijack';
Object.defineProperty(Array.prototype, 'toJSON', { value: () => 'hijack' });
const r = await tools.echo({ a: [1] });
return r`})
	if res.Failure != nil || res.Value != `{"a":[1]}` {
		t.Errorf("%s (%+v)", res.Value, res.Failure)
	}
}

// The library asks whether the run was stopped, where an interrupt cannot reach.
func TestLongLibraryCallsStop(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{
		Program: "let d = [1]\nfor (let i = 0; i < 40; i++) d = [d, d]\nreturn JSON.stringify(d).length",
		Limits:  runtime.Limits{Compute: 50 * time.Millisecond},
	})
	if res.Failure == nil || res.Failure.Message != "compute budget exhausted (50ms busy)" {
		t.Errorf("failure %+v", res.Failure)
	}
	if n := rt.Stuck(); n != 0 {
		t.Errorf("%d programs could not be stopped", n)
	}
}
