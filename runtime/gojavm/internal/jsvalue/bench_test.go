package jsvalue_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// rows is a JSON array of n objects of about 200 bytes.
func rows(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"customer %d","email":"customer%d@example.com","active":%t,"balance":%d.25,"tags":["a","b"],"address":{"city":"Zürich","zip":"80%02d"},"note":null}`,
			i, i, i, i%2 == 0, i, i%100)
	}
	b.WriteByte(']')
	return b.String()
}

func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		text := rows(n)
		b.Run(fmt.Sprintf("native/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsvalue.Decode(goja.New(), text, jsvalue.DecodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("engine-parse/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				vm := goja.New()
				parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
				if _, err := parse(goja.Undefined(), vm.ToValue(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("encoding-json/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		text := rows(n)
		vm := goja.New()
		v, err := jsvalue.Decode(vm, text, jsvalue.DecodeOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("native/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("engine-stringify/%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			stringify, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("stringify"))
			for b.Loop() {
				if _, err := stringify(goja.Undefined(), v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
