package jsvalue_test

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// large makes Decode copy out of a text, as it does with long ones.
var large = strings.Repeat(" ", 64<<10)

// reference builds what a text stands for as plainly as can be: one property
// defined after the other, every string made anew, without a bound.
type reference struct {
	vm   *goja.Runtime
	scan *jsonscan.Scanner
}

func (r *reference) value(tok jsonscan.Token) goja.Value {
	switch tok.Kind {
	case jsonscan.ObjectStart:
		return r.object()
	case jsonscan.ArrayStart:
		var items []any
		for {
			tok, _ := r.scan.Next()
			if tok.Kind == jsonscan.ArrayEnd {
				return r.vm.NewArray(items...)
			}
			items = append(items, r.value(tok))
		}
	case jsonscan.String:
		return jsvalue.String(r.vm, jsonscan.Unquote(tok.Raw))
	case jsonscan.Number:
		return r.number(tok.Raw)
	case jsonscan.Null:
		return goja.Null()
	default:
		return r.vm.ToValue(tok.Kind == jsonscan.True)
	}
}

func (r *reference) object() goja.Value {
	type member struct {
		key   string
		value goja.Value
	}
	var members []member
	for {
		tok, _ := r.scan.Next()
		if tok.Kind == jsonscan.ObjectEnd {
			break
		}
		key := jsonscan.Unquote(tok.Raw)
		tok, _ = r.scan.Next()
		members = append(members, member{key, r.value(tok)})
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(index(a.key), index(b.key)) })
	object := r.vm.NewObject()
	define, _ := goja.AssertFunction(r.vm.GlobalObject().Get("Object").ToObject(r.vm).Get("defineProperty"))
	for _, m := range members {
		full := r.vm.NewObject()
		for name, v := range map[string]any{"value": m.value, "writable": true, "enumerable": true, "configurable": true} {
			_ = full.Set(name, v)
		}
		if _, err := define(goja.Undefined(), object, jsvalue.String(r.vm, m.key), full); err != nil {
			panic(err)
		}
	}
	return object
}

func index(name string) uint64 {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == name {
		return n
	}
	return math.MaxUint64
}

func (r *reference) number(raw string) goja.Value {
	if n, ok := new(big.Int).SetString(raw, 10); ok && raw != "-0" {
		if n.IsInt64() && n.Int64() <= 1<<53-1 && n.Int64() >= -(1<<53-1) {
			return r.vm.ToValue(n.Int64())
		}
		return r.vm.ToValue(n)
	}
	f, _ := strconv.ParseFloat(raw, 64)
	return r.vm.ToValue(f)
}

// FuzzDecode: what Decode builds is what the reference builds, of short texts and
// of those it copies out of, and every place of it is its own.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`[{"id":1,"name":"a","tags":["a","b"]},{"id":2,"name":"b","tags":[]},{"name":"a","id":3}]`,
		`[{"a":1,"b":{"a":"x","c":2}},{"a":1,"b":{"a":"x","c":2}},{"b":{"a":null}},{"a":1,"a":2}]`,
		`{"__proto__":[1],"constructor":{"prototype":{"toString":"a"}},"toString":"a","a":"constructor"}`,
		`{"2":"x","1":"x","x":"2","01":1,"4294967295":"4294967294","4294967294":1}`,
		`["é","é","\u00e9","\ud83d\ude00","😀","\ud83d","a\nb","a\nb","` + strings.Repeat("long ", 9) + `","` + strings.Repeat("long ", 9) + `"]`,
		`[0,-0,0.0,1e3,1e400,-1e400,9007199254740991,9007199254740992,-9007199254740993,1.5]`,
		`[{"\ud800":1,"x":2},{"\ud800":1,"x":2}]`, `[[],[[]],{},[{}]]`, `"plain"`, `[true,false,null,"true","false","null","1",""]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := tokensOf(text); err != nil {
			t.Skip()
		}
		vm := goja.New()
		print, _ := goja.AssertFunction(run(t, vm, show))
		shown := func(v goja.Value) string {
			s, err := print(goja.Undefined(), v)
			if err != nil {
				t.Fatal(err)
			}
			return s.String()
		}
		scan := jsonscan.New(text)
		first, _ := scan.Next()
		want := shown((&reference{vm, scan}).value(first))
		for _, padding := range []string{"", large} {
			v, err := jsvalue.Decode(vm, text+padding, jsvalue.DecodeOptions{Infinity: true})
			if err != nil {
				t.Fatalf("Decode(%q): %v", text, err)
			}
			if got := shown(v); got != want {
				t.Errorf("%d spaces behind %q\n got %s\nwant %s", len(padding), text, got, want)
			}
		}
	})
}

// tokensOf counts the tokens of a text that is shallow and without numbers that
// are too long.
func tokensOf(text string) (n int, err error) {
	scan := jsonscan.New(text)
	for ; ; n++ {
		tok, err := scan.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			return n, err
		}
		if scan.Depth() > 100 || tok.Kind == jsonscan.Number && len(tok.Raw) > 10_000 {
			return n, fmt.Errorf("too much at %d", tok.Offset)
		}
	}
}

// TestDecodeCopies: what repeats in a long text is shared where that cannot be
// seen, and only there.
func TestDecodeCopies(t *testing.T) {
	vm := goja.New()
	text := `[{"id":1000,"s":"same","o":{"k":"same"}},{"id":1000,"s":"same","o":{"k":"same"}},` +
		`{"s":"other","id":1,"extra":1},{"id":2,"s":"same"}]` + large
	v, err := jsvalue.Decode(vm, text, jsvalue.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Set("v", v); err != nil {
		t.Fatal(err)
	}
	program := `v[0].o.k = "changed"; v[0].s += "!"; v[0].added = 1;
		[v[0].s, v[1].s, v[1].o.k, v[3].s, Object.keys(v[1]), Object.keys(v[2]), v[0] === v[1], v[0].o === v[1].o,
		Object.getPrototypeOf(v[0]) === Object.prototype, Object.getPrototypeOf(v[0].o) === Object.prototype].join()`
	if got, want := run(t, vm, program).String(), "same!,same,same,same,id,s,o,s,id,extra,false,false,true,true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDecodeManyNames: more names than are remembered.
func TestDecodeManyNames(t *testing.T) {
	const names = 6000
	var row strings.Builder
	for i := range names {
		fmt.Fprintf(&row, `,"name %d":%d`, i, i)
	}
	vm := goja.New()
	v, err := jsvalue.Decode(vm, strings.Repeat("[{"+row.String()[1:]+"},", 2)+"0]]", jsvalue.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.Set("v", v); err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, vm, `[v[0], v[1][0]].map(o => [Object.keys(o).length, Object.entries(o).every(([k, n], i) => n === i && k === "name " + i)].join()).join()`).String(), "6000,true,6000,true"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
