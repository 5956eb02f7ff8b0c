package jslib_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// libraryGolden is what Node says of the ECMAScript 2025 library.
type libraryGolden struct {
	Surface []struct{ Name, Kind string }
	Cases   []struct{ Name, Expression, Want string }
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// show gives the engine the function of testdata/show.js.
func (e *engine) show(t testing.TB) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "show.js"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.vm.Set("show", e.run(t, string(source))); err != nil {
		t.Fatal(err)
	}
}

// missing is what of the standard library is absent, by the beginning of the
// name, and what a program that uses it is told. The methods are those the
// standard lists for old web pages.
var missing = []struct{ name, use, says string }{
	{"Atomics", `Atomics.load(new Int32Array(1), 0)`, "ReferenceError: Atomics is not defined"},
	{"SharedArrayBuffer", `new SharedArrayBuffer(1)`, "ReferenceError: SharedArrayBuffer is not defined"},
	{"Float16Array", `new Float16Array(1)`, "ReferenceError: Float16Array is not defined"},
	{"Date.prototype.getYear", `new Date(0).getYear()`, "TypeError: Object has no member 'getYear'"},
	{"Date.prototype.setYear", `new Date(0).setYear(95)`, "TypeError: Object has no member 'setYear'"},
	{"Date.prototype.toGMTString", `new Date(0).toGMTString()`, "TypeError: Object has no member 'toGMTString'"},
	{"Object.prototype.__defineGetter__", `({}).__defineGetter__("a", () => 1)`, "TypeError: Object has no member '__defineGetter__'"},
	{"Object.prototype.__defineSetter__", `({}).__defineSetter__("a", () => 1)`, "TypeError: Object has no member '__defineSetter__'"},
	{"Object.prototype.__lookupGetter__", `({}).__lookupGetter__("a")`, "TypeError: Object has no member '__lookupGetter__'"},
	{"Object.prototype.__lookupSetter__", `({}).__lookupSetter__("a")`, "TypeError: Object has no member '__lookupSetter__'"},
	{"String.prototype.anchor", `"".anchor("x")`, "TypeError: Object has no member 'anchor'"},
	{"String.prototype.big", `"".big()`, "TypeError: Object has no member 'big'"},
	{"String.prototype.blink", `"".blink()`, "TypeError: Object has no member 'blink'"},
	{"String.prototype.bold", `"".bold()`, "TypeError: Object has no member 'bold'"},
	{"String.prototype.fixed", `"".fixed()`, "TypeError: Object has no member 'fixed'"},
	{"String.prototype.fontcolor", `"".fontcolor("x")`, "TypeError: Object has no member 'fontcolor'"},
	{"String.prototype.fontsize", `"".fontsize(1)`, "TypeError: Object has no member 'fontsize'"},
	{"String.prototype.italics", `"".italics()`, "TypeError: Object has no member 'italics'"},
	{"String.prototype.link", `"".link("x")`, "TypeError: Object has no member 'link'"},
	{"String.prototype.small", `"".small()`, "TypeError: Object has no member 'small'"},
	{"String.prototype.strike", `"".strike()`, "TypeError: Object has no member 'strike'"},
	{"String.prototype.sub", `"".sub()`, "TypeError: Object has no member 'sub'"},
	{"String.prototype.sup", `"".sup()`, "TypeError: Object has no member 'sup'"},
}

// otherKinds are the names that are plain properties here: in the standard an
// assignment to them is passed on, so that code older than they are still works.
var otherKinds = map[string]string{
	"Iterator.prototype.constructor":         "function 0",
	"Iterator.prototype[Symbol.toStringTag]": "string",
}

func isMissing(name string) bool {
	for _, m := range missing {
		if name == m.name || strings.HasPrefix(name, m.name+".") || strings.HasPrefix(name, m.name+"[") {
			return true
		}
	}
	return false
}

// TestES2025Names checks that every name of the standard library is there, as
// the standard has it, or known to be missing.
func TestES2025Names(t *testing.T) {
	var golden libraryGolden
	readGolden(t, "es2025.json", &golden)
	covered := map[string]bool{}
	for _, c := range golden.Cases {
		covered[c.Name] = true
	}
	e := newEngine(t, jslib.Host{})
	if err := e.vm.Set("kind", e.run(t, `(path) => {
		const [, root, rest] = /^(%?\w+%?)(.*)$/.exec(path);
		let o = root === "%TypedArray%" ? Object.getPrototypeOf(Int8Array) : globalThis[root], kind = typeof o, name = root;
		if (o === undefined && !(root in globalThis)) return "absent";
		for (const [, key, symbol] of rest.matchAll(/\.(\w+)|\[Symbol\.(\w+)\]/g)) {
			const d = Object.getOwnPropertyDescriptor(o, key ?? Symbol[symbol]);
			if (!d) return "absent";
			o = d.value;
			kind = d.get ? "accessor" : typeof o;
			if (d.enumerable) kind = "enumerable " + kind;
		}
		return kind === "function" ? kind + " " + o.length : kind;
	}`)); err != nil {
		t.Fatal(err)
	}
	if len(golden.Surface) < 500 {
		t.Fatalf("only %d names; see testdata/es2025.mjs", len(golden.Surface))
	}
	for _, s := range golden.Surface {
		_ = e.vm.Set("path", s.Name)
		got, want := e.run(t, `kind(path)`).String(), s.Kind
		if isMissing(s.Name) {
			want = "absent"
		} else if here, ok := otherKinds[s.Name]; ok {
			want = here
		}
		if got != want {
			t.Errorf("%s is %s, want %s", s.Name, got, want)
		}
		if want != "absent" && !covered[s.Name] {
			t.Errorf("testdata/es2025.txt has no case for %s", s.Name)
		}
	}
}

func TestES2025Behaviour(t *testing.T) {
	var golden libraryGolden
	readGolden(t, "es2025.json", &golden)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			e.show(t)
			_ = e.vm.Set("expression", c.Expression)
			got := e.settle(t, `try { return show(await (0, eval)("(async function () { return (" + expression + ") }).call(globalThis)")) } catch (e) { return "throws " + e?.name }`)
			if got != c.Want {
				t.Errorf("%s\n got %s\nwant %s", c.Expression, got, c.Want)
			}
		})
	}
}

func TestES2025Missing(t *testing.T) {
	for _, m := range missing {
		t.Run(m.name, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			if got := e.settle(t, m.use); got != "rejected: "+m.says {
				t.Errorf("%s: got %s, want rejected: %s", m.use, got, m.says)
			}
			if !strings.Contains(m.name, ".") && e.run(t, "typeof "+m.name).String() != "undefined" {
				t.Errorf("typeof %s must say undefined, which programs ask before use", m.name)
			}
		})
	}
}

// TestES2025Details are rules that no answer of Node's shows.
func TestES2025Details(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"resizing says what to do", `new ArrayBuffer(1).resize(2)`, "rejected: TypeError: ArrayBuffer.prototype.resize: buffers have a fixed length here; use transfer(newLength)"},
		{"transfer is bounded", `new ArrayBuffer(1).transfer(2 ** 40)`, "rejected: RangeError: ArrayBuffer.prototype.transfer: 1099511627776 bytes are more than the 67108864 allowed; work in parts"},
		{"a helper that is running", `let it; it = [1].values().map(() => it.next()); try { it.next() } catch (e) { return e.name }`, "TypeError"},
		{"helpers do not use what a program replaced", `
			const made = [1, 2].values(); Array.prototype.next = Reflect.apply = Function.prototype.call = Function.prototype.apply = () => { throw 1 };
			Object.getPrototypeOf(function* () {}).prototype.next = () => { throw 2 };
			return made.map((x) => x * 2).filter(Boolean).toArray().length`, "2"},
		{"groupBy does not use what a program replaced", `Map.prototype.get = Map.prototype.set = Map.prototype.has = () => { throw 1 }; return Map.groupBy([1, 2], (x) => x).size`, "2"},
		{"queueMicrotask does not use what a program replaced", `let ran = 0; const { then } = Promise.prototype; Promise.prototype.then = () => { throw 1 }; queueMicrotask(() => { ran++ }); Promise.prototype.then = then; await null; await null; return ran`, "1"},
		{"an endless iterator stays lazy", `function* numbers() { for (let i = 0; ; i++) yield i } return numbers().filter((x) => x % 2).map((x) => x * x).drop(1).take(3).toArray().join()`, "9,25,49"},
		{"descriptors of a Proxy", `return JSON.stringify(Object.getOwnPropertyDescriptors(new Proxy({a: 1}, {ownKeys: () => ["a"]})))`, `{"a":{"value":1,"writable":true,"enumerable":true,"configurable":true}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newEngine(t, jslib.Host{}).settle(t, tt.body); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.body, got, tt.want)
			}
		})
	}
}

// TestHalves compares with the table of all 65,536 numbers of 16 bits: each comes
// back as itself, and what lies between two goes to the nearer one.
func TestHalves(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	program := `
		const view = new DataView(new ArrayBuffer(2)), wrong = [];
		const half = (bits) => { view.setUint16(0, bits); return view.getFloat16(0) };
		for (let bits = 0; bits < 65536; bits++) {
			const value = half(bits);
			if (value !== value) continue;
			view.setFloat16(0, value);
			if (view.getUint16(0) !== bits) wrong.push("back " + bits);
			if ((bits & 0x7fff) >= 0x7bff) continue;
			const next = half(bits + 1), middle = (value + next) / 2;
			if (Math.f16round(middle) !== (bits % 2 ? next : value)) wrong.push("tie " + bits);
			if (Math.f16round(value + (next - value) * 0.49) !== value || Math.f16round(value + (next - value) * 0.51) !== next) wrong.push("near " + bits);
		}
		wrong.slice(0, 5).join()`
	if got := e.run(t, program).String(); got != "" {
		t.Errorf("wrong: %s", got)
	}
}
