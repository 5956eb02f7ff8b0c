package jsvalue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// show is a program that prints what Decode built, types included.
const show = `(function show(v) {
	if (v === null) return "null";
	if (Array.isArray(v)) return "[" + v.map(show).join(", ") + "]";
	if (typeof v === "object") return "{" + Object.getOwnPropertyNames(v).map(k => {
		const d = Object.getOwnPropertyDescriptor(v, k);
		return (d.writable && d.enumerable && d.configurable ? "" : "!") + JSON.stringify(k) + ": " + show(d.value);
	}).join(", ") + "}";
	if (typeof v === "bigint") return v + "n";
	if (typeof v === "string") return JSON.stringify(v);
	return Object.is(v, -0) ? "-0" : String(v);
})`

func TestDecodeBuilds(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no value", ``, `undefined`},
		{"literals", ` [ null , true , false ] `, `[null, true, false]`},
		{"numbers", `[0, -0, 1, -1, 1.5, 1e3, 1E+2, -0.0, 1.0]`, `[0, -0, 1, -1, 1.5, 1000, 100, -0, 1]`},
		{"largest safe integer is a number", `[9007199254740991, -9007199254740991]`, `[9007199254740991, -9007199254740991]`},
		{"integers beyond are bigints", `[9007199254740992, -9007199254740993, 123456789012345678901234567890]`, `[9007199254740992n, -9007199254740993n, 123456789012345678901234567890n]`},
		{"fractions and exponents are doubles", `[9007199254740993.0, 1e25]`, `[9007199254740992, 1e+25]`},
		{"underflow is zero", `[1e-400, -1e-400]`, `[0, -0]`},
		{"strings", `["", "a", "é", "😀", "\u00e9\n", "\ud83d\ude00", "a longer string of ascii", "a longer string with é"]`,
			`["", "a", "é", "😀", "é\n", "😀", "a longer string of ascii", "a longer string with é"]`},
		{"unpaired surrogates", `["\ud800", "x\uDC00y"]`, `["\ud800", "x\udc00y"]`},
		{"unpaired surrogates in keys", `{"a": 1, "\ud800": 2, "b": 3}`, `{"a": 1, "\ud800": 2, "b": 3}`},
		{"key order", `{"z": 1, "a": 2, "": 3, "10": 4, "9": 5}`, `{"9": 5, "10": 4, "z": 1, "a": 2, "": 3}`},
		{"array indices among names", `{"b": 1, "20": 2, "3": 3, "a": {"1": [], "0": {}}, "03": 4, "+1": 5, "-1": 6, "4294967294": 7, "4294967295": 8, "20": 9, "1.5": 10}`,
			`{"3": 3, "20": 9, "4294967294": 7, "b": 1, "a": {"0": {}, "1": []}, "03": 4, "+1": 5, "-1": 6, "4294967295": 8, "1.5": 10}`},
		{"a repeated name with an unpaired surrogate", `{"\ud800": 1, "__proto__": 2, "\ud800": 3}`, `{"\ud800": 3, "__proto__": 2}`},
		{"last of a repeated name wins", `{"a": 1, "b": 2, "a": 3}`, `{"a": 3, "b": 2}`},
		{"reserved names are plain", `{"__proto__": {"x": 1}, "constructor": null, "toString": 1, "length": 2}`, `{"__proto__": {"x": 1}, "constructor": null, "toString": 1, "length": 2}`},
		{"nested", `[[], {}, [[1], {"a": [2, {"b": []}]}]]`, `[[], {}, [[1], {"a": [2, {"b": []}]}]]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vm := goja.New()
			print, _ := goja.AssertFunction(run(t, vm, show))
			v, err := jsvalue.Decode(vm, tt.text, jsvalue.DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := print(goja.Undefined(), v)
			if err != nil || got.String() != tt.want {
				t.Errorf("Decode(%s)\n got %v, %v\nwant %s", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestDecodeIgnoresPoisonedPrototypes(t *testing.T) {
	vm := goja.New()
	run(t, vm, `
		var hits = 0;
		Object.defineProperty(Object.prototype, "a", {set() { hits++ }, configurable: true});
		Object.defineProperty(Array.prototype, 0, {set() { hits++ }, configurable: true});
		Object.defineProperty(Object.prototype, "b", {value: 0, writable: false});
		Object.defineProperty(Object.prototype, "get", {get() { hits++ }, configurable: true});
		Object.freeze(Object.prototype);
		globalThis.Object = globalThis.Array = function () { hits++ };`)
	v, err := jsvalue.Decode(vm, `{"a": [1], "\ud800": 1, "b": 2, "__proto__": 3}`, jsvalue.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Set("v", v); err != nil {
		t.Fatal(err)
	}
	if got := run(t, vm, `[hits, v.a[0], v["\ud800"], v.b, v.__proto__, v instanceof ({}).constructor, Array.isArray === undefined].join()`).String(); got != "0,1,1,2,3,true,true" {
		t.Errorf("got %s, want 0,1,1,2,3,true,true", got)
	}
}

// TestDecodeOddNames: the work for names with unpaired surrogates grows with
// their number, not with its square.
func TestDecodeOddNames(t *testing.T) {
	allocations := func(names int) float64 {
		var text strings.Builder
		for i := range names {
			fmt.Fprintf(&text, `,"\ud800%d":0`, i)
		}
		vm := goja.New()
		return testing.AllocsPerRun(1, func() {
			if _, err := jsvalue.Decode(vm, "{"+text.String()[1:]+"}", jsvalue.DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocations(100), allocations(1600); many > few*32 {
		t.Errorf("%v allocations for 100 names, %v for 16 times as many", few, many)
	}
}

func TestDecodeIsNative(t *testing.T) {
	vm := goja.New()
	v, err := jsvalue.Decode(vm, `{"items": [1, 2], "o": {}}`, jsvalue.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Set("v", v); err != nil {
		t.Fatal(err)
	}
	program := `[Array.isArray(v.items), v.items.map(x => x * 2).join("+"), Object.isExtensible(v.o), delete v.o, "o" in v, Object.isFrozen(Object.freeze(v)), typeof v.MarshalJSON].join()`
	if got, want := run(t, vm, program).String(), "true,2+4,true,true,false,true,undefined"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	tests := []struct {
		name, text string
		options    jsvalue.DecodeOptions
		limit      jsvalue.Limit // of a *RangeError
		want       string
	}{
		{"bytes", `"12345"`, jsvalue.DecodeOptions{Bytes: 6}, jsvalue.LimitBytes, "the value is 7 bytes long, more than 6"},
		{"nodes", `[1,2,3]`, jsvalue.DecodeOptions{Nodes: 3}, jsvalue.LimitNodes, "the value holds more than 3 values"},
		{"depth", `[[[1]]]`, jsvalue.DecodeOptions{Depth: 2}, jsvalue.LimitDepth, "the value is nested deeper than 2 levels"},
		{"deepest", deep, jsvalue.DecodeOptions{}, jsvalue.LimitDepth, "the value is nested deeper than 10000 levels"},
		{"number out of range", `[1, -1e400]`, jsvalue.DecodeOptions{}, "", "the number -1e400 is out of range; numbers reach up to about 1.8e308"},
		{"endless integer", strings.Repeat("9", 20000), jsvalue.DecodeOptions{}, "", "the integer " + strings.Repeat("9", 24) + "… has more than 10000 digits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jsvalue.Decode(goja.New(), tt.text, tt.options)
			var problem *jsvalue.RangeError
			if !errors.As(err, &problem) {
				t.Fatalf("got %v, want a *RangeError", err)
			}
			if problem.Limit != tt.limit || err.Error() != tt.want {
				t.Errorf("got limit %q, %s\nwant limit %q, %s", problem.Limit, err, tt.limit, tt.want)
			}
		})
	}
	t.Run("grammar", func(t *testing.T) {
		_, err := jsvalue.Decode(goja.New(), `{"a": 01}`, jsvalue.DecodeOptions{})
		var syntax *jsonscan.Error
		if !errors.As(err, &syntax) || syntax.Offset != 6 {
			t.Errorf("got %v, want a *jsonscan.Error at 6", err)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		asked := 0
		_, err := jsvalue.Decode(goja.New(), "["+strings.Repeat("1,", 100_000)+"1]", jsvalue.DecodeOptions{Stop: func() bool { asked++; return asked == 3 }})
		if !errors.Is(err, jsvalue.ErrStopped) || asked != 3 {
			t.Errorf("got %v after %d questions, want ErrStopped after 3", err, asked)
		}
	})
	t.Run("infinity on request", func(t *testing.T) {
		v, err := jsvalue.Decode(goja.New(), `-1e400`, jsvalue.DecodeOptions{Infinity: true})
		if err != nil || v.String() != "-Infinity" {
			t.Errorf("got %v, %v, want -Infinity", v, err)
		}
	})
}
