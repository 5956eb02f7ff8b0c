package jsvalue_test

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// What a program returns becomes JSON text, or an error that says where it
// cannot.
func ExampleEncode() {
	vm := goja.New()
	for _, program := range []string{
		`({id: 9007199254740993n, when: new Date(0), skip: undefined, zero: -0})`,
		`({list: [1, 2, {total: 0 / 0}]})`,
		`({heads: [Promise.resolve(1)]})`,
	} {
		v, _ := vm.RunString(program)
		text, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{Root: "args"})
		fmt.Println(text, err)
	}
	// Output:
	// {"id":9007199254740993,"when":"1970-01-01T00:00:00.000Z","zero":-0} <nil>
	//  args.list[2].total is NaN
	//  promise at args.heads[0]; use await Promise.all
}

// A tool's result becomes native values: integers that no double can hold are
// BigInts.
func ExampleDecode() {
	vm := goja.New()
	v, err := jsvalue.Decode(vm, `{"id":9007199254740993,"items":[1,2.5]}`, jsvalue.DecodeOptions{})
	if err != nil {
		panic(err)
	}
	_ = vm.Set("result", v)
	shown, _ := vm.RunString("typeof result.id + ' ' + result.id + ' ' + result.items.map(x => x * 2)")
	fmt.Println(shown)
	// Output: bigint 9007199254740993 2,5
}
