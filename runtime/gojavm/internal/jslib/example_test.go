package jslib_test

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// A fresh engine gets its globals; what the program prints comes to the host.
func ExampleInstall() {
	vm := goja.New()
	err := jslib.Install(vm, jslib.Host{Console: func(level, text string) { fmt.Println(level+":", text) }})
	if err != nil {
		panic(err)
	}
	_, err = vm.RunString(`
		console.log("%d rows", 3, { id: 1n, tags: new Set(["a"]) });
		console.warn(Object.groupBy([1, 2, 3], (n) => n % 2 ? "odd" : "even"));
		console.log((1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }));
	`)
	if err != nil {
		panic(err)
	}
	// Output:
	// log: 3 rows { id: 1n, tags: Set(1) { 'a' } }
	// warn: [Object: null prototype] { odd: [ 1, 3 ], even: [ 2 ] }
	// log: $1,234.50
}
