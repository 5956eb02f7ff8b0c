package jsvalue_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

func run(t testing.TB, vm *goja.Runtime, program string) goja.Value {
	t.Helper()
	v, err := vm.RunString(program)
	if err != nil {
		t.Fatalf("program %q: %v", program, err)
	}
	return v
}

func TestEncodeWrites(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"undefined is no value", `undefined`, ``},
		{"null", `null`, `null`},
		{"booleans", `[true, false]`, `[true,false]`},
		{"integers", `[0, -1, 2**53-1, 2**53, 1e20]`, `[0,-1,9007199254740991,9007199254740992,100000000000000000000]`},
		{"doubles", `[0.1, 1e21, 1.5e-7, 5e-324, 1.7976931348623157e308]`, `[0.1,1e+21,1.5e-7,5e-324,1.7976931348623157e+308]`},
		{"negative zero", `[-0, 0]`, `[-0,0]`},
		{"bigint", `[1n, -9007199254740993n]`, `[1,-9007199254740993]`},
		{"raw JSON", `({id: JSON.rawJSON("1e1000"), s: JSON.rawJSON('"x"')})`, `{"id":1e1000,"s":"x"}`},
		{"strings", `["é😀", "\"\\\n\u0001\u007f\u2028"]`, "[\"é😀\",\"\\\"\\\\\\n\\u0001\u007f\u2028\"]"},
		{"unpaired surrogates", `["\ud800", "a\udc00b", "\ud83d\ude00", "\ufffd"]`, `["\ud800","a\udc00b","😀","` + "\ufffd" + `"]`},
		{"unpaired surrogates in keys", `({"\ud800": 1, b: 2, get c() { return 3 }, "\ufffd": 4})`, `{"\ud800":1,"b":2,"c":3,"` + "\ufffd" + `":4}`},
		{"key order is the engine's", `({b: 1, a: 2, 10: 3, 9: 4})`, `{"9":4,"10":3,"b":1,"a":2}`},
		{"undefined properties are dropped", `({a: undefined, b: 1, c: undefined})`, `{"b":1}`},
		{"hidden properties are dropped", `Object.defineProperty({a: 1}, "b", {value: 2})`, `{"a":1}`},
		{"accessors run once", `(() => { let n = 0; return {get a() { return ++n }, get b() { return n }} })()`, `{"a":1,"b":1}`},
		{"own __proto__ key", `JSON.parse('{"__proto__": {"a": 1}}')`, `{"__proto__":{"a":1}}`},
		{"null prototype", `Object.assign(Object.create(null), {a: 1})`, `{"a":1}`},
		{"frozen", `Object.freeze([Object.freeze({a: 1})])`, `[{"a":1}]`},
		{"date", `new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		{"date before year 0 and after 9999", `[new Date(-1e14), new Date(1e15)]`, `["-001199-02-15T14:13:20.000Z","+033658-09-27T01:46:40.000Z"]`},
		{"shared parts are duplicated", `(() => { const s = {x: 1}; return [s, s] })()`, `[{"x":1},{"x":1}]`},
		{"toJSON is not called", `({toJSON: undefined, a: 1})`, `{"a":1}`},
		{"empty containers", `[{}, []]`, `[{},[]]`},
		{"match result keeps its elements", `[/(?<a>b)(x)?/.exec("abc").slice(0, 2), ["abc".match(/(?<a>b)/), [..."abab".matchAll(/b/g)]]]`, `[["b","b"],[["b","b"],[["b"],["b"]]]]`},
		{"hidden properties of arrays are dropped", "[Object.defineProperty([1], 'n', {value: 2}), ((texts) => texts)`a${1}b`]", `[[1],["a","b"]]`},
		{"proxy of an object", `new Proxy({a: 1}, {})`, `{"a":1}`},
		{"proxy of an array", `new Proxy([1, 2], {})`, `[1,2]`},
		{"proxy with traps", `new Proxy({}, {ownKeys: () => ["x"], getOwnPropertyDescriptor: () => ({value: 0, enumerable: true, configurable: true}), get: (t, k) => k + "!"})`, `{"x":"x!"}`},
		{"poisoned Object.prototype.toJSON", `Object.prototype.toJSON = () => "hijack"; [{a: 1}]`, `[{"a":1}]`},
		{"elements on Array.prototype", `Array.prototype[0] = "inherited"; Object.defineProperty(Object.prototype, 1, {get() { return "inherited" }}); [["own", 2], []]`, `[["own",2],[]]`},
		{"shared parts of any size", `(() => { const part = Array.from({length: 40}, (_, i) => i % 2 ? i : {i}); return {a: part, b: [part, [part]]} })()`, sharedParts()},
		{"replaced intrinsics", `Array.isArray = () => false; Object.keys = () => []; JSON.stringify = null; Array.prototype[Symbol.iterator] = null; globalThis.Array = globalThis.Object = null; [{a: [1]}]`, `[{"a":[1]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			got, err := jsvalue.Encode(vm, run(t, vm, tt.program), jsvalue.EncodeOptions{Root: "result"})
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("Encode(%s)\n got %s\nwant %s", tt.program, got, tt.want)
			}
		})
	}
}

// sharedParts is one array of 40 elements in three places.
func sharedParts() string {
	var part []string
	for i := range 40 {
		if i%2 == 0 {
			part = append(part, fmt.Sprintf(`{"i":%d}`, i))
		} else {
			part = append(part, strconv.Itoa(i))
		}
	}
	text := "[" + strings.Join(part, ",") + "]"
	return `{"a":` + text + `,"b":[` + text + `,[` + text + `]]}`
}

// TestEncodeSharedGraph: a graph of 41 objects whose text would have 2^40 parts is
// refused after little work.
func TestEncodeSharedGraph(t *testing.T) {
	for _, tt := range []struct{ name, program, want string }{
		{"arrays", `(() => { let x = ["leaf"]; for (let i = 0; i < 40; i++) x = [x, x]; return x })()`, "result has more than 10000000 values"},
		{"objects", `(() => { let x = {}; for (let i = 0; i < 40; i++) x = {a: x, b: x}; return x })()`, "result is larger than 67108864 bytes"},
		{"too deep in its second place", `(() => { let x = Array(40).fill(0); for (let i = 0; i < 9990; i++) x = [x]; const first = x; for (let i = 0; i < 20; i++) x = [x]; return [first, x] })()`,
			"result[1]" + strings.Repeat("[0]", 11) + "..." + strings.Repeat("[0]", 4) + " is nested deeper than 10000 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			asked := 0
			_, err := jsvalue.Encode(vm, run(t, vm, tt.program), jsvalue.EncodeOptions{Root: "result", Stop: func() bool { asked++; return asked > 40 }})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v after %d questions, want %s", err, asked, tt.want)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"NaN deep inside", `({list: [0, 1, {total: NaN}]})`, `args.list[2].total is NaN`},
		{"infinities", `({"a b": [-Infinity]})`, `args["a b"][0] is -Infinity`},
		{"root", `Infinity`, `args is Infinity`},
		{"promise", `({heads: [Promise.resolve(1)]})`, `promise at args.heads[0]; use await Promise.all`},
		{"undefined in an array", `[1, undefined]`, `args[1] is undefined; use null or leave it out`},
		{"hole", `[1, , 3]`, `args[1] is a hole in an array; fill it or filter the array`},
		{"hole before an element of Array.prototype", `Array.prototype[1] = "inherited"; ({list: [1, , 3]})`, `args.list[1] is a hole in an array; fill it or filter the array`},
		{"hole at the end", `Array.prototype[7] = 7; [1, ,]`, `args[1] is a hole in an array; fill it or filter the array`},
		{"hole before an element further up", `Object.setPrototypeOf(Array.prototype, {1: "inherited", __proto__: Object.prototype}); [1, , 3]`, `args[1] is a hole in an array; fill it or filter the array`},
		{"hole where an element was", `(() => { const a = [1, 2, 3]; a.length = 2; a.length = 3; Array.prototype[2] = "inherited"; return a })()`, `args[2] is a hole in an array; fill it or filter the array`},
		{"hole in a huge array", `(() => { const a = [1]; a[1e9] = 2; Array.prototype[1] = "inherited"; return a })()`, `args[1] is a hole in an array; fill it or filter the array`},
		{"array with a property", `({rows: [Object.assign([1, 2], {total: 3})]})`, `args.rows[0] is an array with the property "total"; use an object, or [...array] for the elements alone`},
		{"array with an odd property", `Object.assign([1], {"-1": 2})`, `args is an array with the property "-1"; use an object, or [...array] for the elements alone`},
		{"array that is almost a match", `Object.assign([1], {index: 0, input: ""})`, `args is an array with the property "index"; use an object, or [...array] for the elements alone`},
		{"match with one more property", `Object.assign("abc".match(/b/), {note: 1})`, `args is an array with the property "note"; use an object, or [...array] for the elements alone`},
		{"sparse array with a property", `(() => { const a = []; a[1e9] = 1; a.note = 1; return a })()`, `args is an array with the property "note"; use an object, or [...array] for the elements alone`},
		{"array with a symbol key", `(() => { const a = [1]; a[Symbol("s")] = 1; return a })()`, `args has a property whose name is a symbol`},
		{"proxy of an array with a property", `new Proxy(Object.assign([1], {note: 1}), {})`, `args is an array with the property "note"; use an object, or [...array] for the elements alone`},
		{"proxy with a symbol key", `new Proxy({[Symbol("s")]: 1}, {})`, `args has a property whose name is a symbol`},
		{"huge sparse array", `new Array(2**32-1)`, `args[0] is a hole in an array; fill it or filter the array`},
		{"function in an array", `[() => 1]`, `args[0] is a function`},
		{"function as a property", `({f() {}})`, `args.f is a function`},
		{"async function and class", `({f: [async () => {}]})`, `args.f[0] is a function`},
		{"class", `({f: class A {}})`, `args.f is a function`},
		{"symbol", `({s: Symbol("s")})`, `args.s is a symbol`},
		{"symbol key", `({[Symbol("s")]: 1})`, `args has a property whose name is a symbol`},
		{"Map", `({m: new Map([[1, 2]])})`, `args.m is a Map; use Object.fromEntries(map) or [...map]`},
		{"Set", `new Set([1])`, `args is a Set; use [...set]`},
		{"disguised Map", `Object.setPrototypeOf(new Map(), Object.prototype)`, `args is a Map; use Object.fromEntries(map) or [...map]`},
		{"WeakMap", `new WeakMap()`, `args is an instance of WeakMap; copy what is needed into a plain object`},
		{"RegExp", `/x/g`, `args is a RegExp; send its source instead`},
		{"typed array", `new Uint8Array([1])`, `args is a typed array; use Array.from(array)`},
		{"ArrayBuffer", `new ArrayBuffer(1)`, `args is an ArrayBuffer; send text, for example base64`},
		{"DataView", `new DataView(new ArrayBuffer(1))`, `args is an instance of DataView; copy what is needed into a plain object`},
		{"boxed number", `new Number(1)`, `args is a boxed Number; use the plain value`},
		{"boxed string", `new String("x")`, `args is a boxed String; use the plain value`},
		{"boxed bigint", `Object(1n)`, `args is a boxed primitive; use the plain value`},
		{"class instance", `new (class Money { constructor() { this.n = 1 } })()`, `args is an instance of Money; copy what is needed into a plain object`},
		{"array subclass", `new (class Rows extends Array {})()`, `args is an instance of Rows; copy it into a plain array`},
		{"impostor prototype", `(() => { const fake = {constructor: Object}; return Object.create(fake) })()`, `args is an object with a prototype of its own; copy what is needed into a plain object`},
		{"replaced Object", `globalThis.Object = function () {}; new Object()`, `args is an object with a prototype of its own; copy what is needed into a plain object`},
		{"error", `new TypeError("x")`, `args is an Error; send its message instead`},
		{"invalid date", `({d: [new Date(NaN)]})`, `args.d[0] is an invalid Date`},
		{"arguments", `(function () { return arguments })(1)`, `args is an arguments object; use [...arguments]`},
		{"cycle", `(() => { const a = {b: [{}]}; a.b[0].c = a; return a })()`, `args.b[0].c is a cycle: it contains itself`},
		{"deep cycle", `(() => { const a = {}; let x = a; for (let i = 0; i < 40; i++) x = x.n = {}; x.n = a; return a })()`,
			`args.n.n.n.n.n.n.n.n.n.n.n.n....n.n.n.n is a cycle: it contains itself`},
		{"revoked proxy", `(() => { const p = Proxy.revocable({}, {}); p.revoke(); return {p: p.proxy} })()`, `args.p threw while it was read: TypeError: proxy has been revoked`},
		{"proxy of a function", `new Proxy(() => 1, {})`, `args is a function`},
		{"proxy of a class instance", `new Proxy(new (class A {})(), {})`, `args is a Proxy that is not plain data`},
		{"proxy of an array subclass", `new Proxy(new (class A extends Array {})(), {})`, `args is a Proxy that is not a plain array`},
		{"getter throws", `({a: [{get x() { throw new RangeError("no x") }}]})`, `args.a[0].x threw while it was read: RangeError: no x`},
		{"getter throws something unprintable", `({get x() { throw {toString() { throw 1 }} }})`, `args.x threw while it was read: a value that cannot be shown`},
		{"array that shrinks while read", `(() => { const a = [{get x() { a.length = 1; return 1 }}, 2]; return a })()`, `args[1] is a hole in an array; fill it or filter the array`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			text, err := jsvalue.Encode(vm, run(t, vm, tt.program), jsvalue.EncodeOptions{Root: "args"})
			var problem *jsvalue.Error
			if !errors.As(err, &problem) {
				t.Fatalf("Encode(%s) = %q, %v; want an *Error", tt.program, text, err)
			}
			if err.Error() != tt.want {
				t.Errorf("Encode(%s)\n got %s\nwant %s", tt.program, err, tt.want)
			}
			if problem.Limit != "" {
				t.Errorf("Limit = %q, want none: the kind is the problem", problem.Limit)
			}
		})
	}
}

func TestEncodeEmptyRootLabel(t *testing.T) {
	vm := goja.New()
	for program, want := range map[string]string{
		`({heads: [Promise.resolve()]})`: `promise at heads[0]; use await Promise.all`,
		`[[NaN]]`:                        `[0][0] is NaN`,
		`NaN`:                            `the value is NaN`,
	} {
		_, err := jsvalue.Encode(vm, run(t, vm, program), jsvalue.EncodeOptions{})
		if err == nil || err.Error() != want {
			t.Errorf("Encode(%s): got %v, want %s", program, err, want)
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"plain", `new TypeError("bad")`, `{"name":"TypeError","message":"bad"}`},
		{"own data", `Object.assign(new Error("e"), {code: "E1", at: {line: 3}, f() {}})`, `{"name":"Error","message":"e","code":"E1","at":{"line":3}}`},
		{"own data of an odd name", `Object.assign(new Error("e"), {"\ud800": 1, code: 2})`, `{"name":"Error","message":"e","\ud800":1,"code":2}`},
		{"inside a container", `[new (class Mine extends Error { constructor() { super("m"); this.name = "Mine" } })()]`, `[{"name":"Mine","message":"m"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			got, err := jsvalue.Encode(vm, run(t, vm, tt.program), jsvalue.EncodeOptions{Errors: true})
			if err != nil || got != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// TestEncodeLongArrays: the keys of an array without properties are not listed,
// which would take several allocations each.
func TestEncodeLongArrays(t *testing.T) {
	vm := goja.New()
	v := run(t, vm, `Array(10_000).fill(1)`)
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{}); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 15_000 {
		t.Errorf("%v allocations for 10,000 elements", allocations)
	}
}

func TestEncodeLimits(t *testing.T) {
	tests := []struct {
		name, program string
		options       jsvalue.EncodeOptions
		limit         jsvalue.Limit
		want          string
	}{
		{"bytes", `["x".repeat(100)]`, jsvalue.EncodeOptions{Bytes: 100}, jsvalue.LimitBytes, "args is larger than 100 bytes"},
		{"bytes by escapes", `"\u0001".repeat(50)`, jsvalue.EncodeOptions{Bytes: 100}, jsvalue.LimitBytes, "args is larger than 100 bytes"},
		{"bytes by a bigint", `2n ** 4096n`, jsvalue.EncodeOptions{Bytes: 100}, jsvalue.LimitBytes, "args is larger than 100 bytes"},
		{"bytes by a final bracket", `[[[[[[]]]]]]`, jsvalue.EncodeOptions{Bytes: 11}, jsvalue.LimitBytes, "args is larger than 11 bytes"},
		{"nodes", `Array(100).fill(0)`, jsvalue.EncodeOptions{Nodes: 100}, jsvalue.LimitNodes, "args has more than 100 values"},
		{"nodes of a shared graph", `(() => { let x = []; for (let i = 0; i < 40; i++) x = [x, x]; return x })()`, jsvalue.EncodeOptions{Nodes: 10000}, jsvalue.LimitNodes, "args has more than 10000 values"},
		{"depth", `[[[[]]]]`, jsvalue.EncodeOptions{Depth: 3}, jsvalue.LimitDepth, "args[0][0][0] is nested deeper than 3 levels"},
		{"deepest", `(() => { let x = []; for (let i = 0; i < 10000; i++) x = [x]; return x })()`, jsvalue.EncodeOptions{}, jsvalue.LimitDepth,
			"args" + strings.Repeat("[0]", 12) + "..." + strings.Repeat("[0]", 4) + " is nested deeper than 10000 levels"},
		{"endless proxy", `(() => { const h = {get: (t, k) => k === "length" ? 1 : new Proxy([], h)}; return new Proxy([], h) })()`, jsvalue.EncodeOptions{Depth: 50}, jsvalue.LimitDepth,
			"args" + strings.Repeat("[0]", 12) + "..." + strings.Repeat("[0]", 4) + " is nested deeper than 50 levels"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			tt.options.Root = "args"
			_, err := jsvalue.Encode(vm, run(t, vm, tt.program), tt.options)
			var problem *jsvalue.Error
			if !errors.As(err, &problem) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if problem.Limit != tt.limit || err.Error() != tt.want {
				t.Errorf("got limit %q, %s\nwant limit %q, %s", problem.Limit, err, tt.limit, tt.want)
			}
		})
	}
	t.Run("exactly at the bounds", func(t *testing.T) {
		vm := goja.New()
		got, err := jsvalue.Encode(vm, run(t, vm, `[1,[2]]`), jsvalue.EncodeOptions{Bytes: 7, Nodes: 4, Depth: 2})
		if err != nil || got != "[1,[2]]" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("ten thousand levels", func(t *testing.T) {
		vm := goja.New()
		got, err := jsvalue.Encode(vm, run(t, vm, `(() => { let x = []; for (let i = 0; i < 9999; i++) x = [x]; return x })()`), jsvalue.EncodeOptions{})
		if err != nil || len(got) != 20000 {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

func TestEncodeStops(t *testing.T) {
	vm := goja.New()
	asked := 0
	_, err := jsvalue.Encode(vm, run(t, vm, `Array(100000).fill(0)`), jsvalue.EncodeOptions{Stop: func() bool { asked++; return asked == 3 }})
	if !errors.Is(err, jsvalue.ErrStopped) || asked != 3 {
		t.Errorf("got %v after %d questions, want ErrStopped after 3", err, asked)
	}
}

func TestEncodeHandsInterruptsOn(t *testing.T) {
	vm := goja.New()
	if err := vm.Set("halt", func(goja.FunctionCall) goja.Value { vm.Interrupt("enough"); return goja.Undefined() }); err != nil {
		t.Fatal(err)
	}
	v := run(t, vm, `({get x() { halt(); for (;;); }})`)
	_, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{})
	var interrupted *goja.InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Value() != "enough" {
		t.Errorf("got %T %v, want the interrupt", err, err)
	}
	if !jsvalue.Uncatchable(err) {
		t.Error("Uncatchable = false for an interrupt")
	}
	var problem *jsvalue.Error
	if errors.As(err, &problem) {
		t.Error("an interrupt must not look like a value that cannot be sent")
	}
}

func TestEncodeKeepsException(t *testing.T) {
	vm := goja.New()
	_, err := jsvalue.Encode(vm, run(t, vm, `({get x() { throw new RangeError("no") }})`), jsvalue.EncodeOptions{})
	var ex *goja.Exception
	if !errors.As(err, &ex) {
		t.Errorf("got %v, want the exception inside", err)
	}
}

// FuzzEncodeNumber: numbers are written as the engine prints them.
func FuzzEncodeNumber(f *testing.F) {
	for _, n := range []float64{0, 1, -1, 0.1, 1e20, 1e21, 1.5e21, 123456789012345680000, 999999999999999900000, 1e-6, 1e-7, 1.5e-7, 1e-10, 1e100, 1e-100,
		math.MaxFloat64, math.SmallestNonzeroFloat64, 5e-324, 9007199254740993, 0.000001234, 4.35, 2.5e-8, 1 << 53, 1e22, 3.0e-9, 20e-8} {
		f.Add(math.Float64bits(n))
		f.Add(math.Float64bits(-n))
	}
	vm := goja.New()
	f.Fuzz(func(t *testing.T, bits uint64) {
		n := math.Float64frombits(bits)
		if math.IsNaN(n) || math.IsInf(n, 0) || n == 0 && math.Signbit(n) {
			return
		}
		v := vm.ToValue(n)
		if got, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{}); err != nil || got != v.String() {
			t.Errorf("got %s, %v, want %s", got, err, v)
		}
	})
}
