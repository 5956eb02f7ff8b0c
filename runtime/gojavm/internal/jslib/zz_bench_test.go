package jslib_test

import (
	"testing"

	"github.com/dop251/goja"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

func BenchmarkZZ(b *testing.B) {
	for _, src := range []string{`"Hello World".toLowerCase()`, `"  Hello World ".trim()`, `"Grüße Österreich 😀 aus Wien".toLowerCase()`, `" Grüße Österreich 😀 aus Wien ".trim()`, `"Grüße Österreich".normalize("NFD")`, `a.includes(7)`, `a.includes(0)`, `f.includes(7)`, `new Date()`, `new Date(5)`, `new Date("2024-01-01T00:00:00Z")`,`new Date("Jan 5 2024 10:00")`, `d instanceof Date`, `Date.now()`, `Date.parse("2024-01-01")`, `new Date(2024,1,1)`} {
		for _, lib := range []bool{false, true} {
			name := src + "/engine"
			if lib {
				name = src + "/library"
			}
			b.Run(name, func(b *testing.B) {
				vm := goja.New()
				if lib {
					if err := jslib.Install(vm, jslib.Host{}); err != nil {
						b.Fatal(err)
					}
				}
				v, err := vm.RunString(`const a = [1,2,3,4,5,6,7], f = new Float64Array(a), d = new Date(); (n) => { for (let i = 0; i < n; i++) ` + src + ` }`)
				if err != nil {
					b.Fatal(err)
				}
				fn, _ := goja.AssertFunction(v)
				b.ResetTimer()
				if _, err := fn(goja.Undefined(), vm.ToValue(b.N)); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
