package jslib

import "github.com/dop251/goja"

// zero is the number 0, which strictly equals -0.
var zero = goja.New().ToValue(0)

// installSearches replaces the searches in arrays that do not find -0, where the
// engine holds it for another number than 0.
func (l *lib) installSearches() error {
	if l.has("includes") {
		if err := l.installIncludes(); err != nil {
			return err
		}
	}
	if !l.has(typedSearches...) || !l.hasGlobal(typedArrays...) {
		return nil
	}
	bytes, err := l.prototype("Uint8Array")
	if err != nil {
		return err
	}
	typed := bytes.Prototype() // of all typed arrays
	for _, name := range typedSearches {
		f, err := ownMethod(typed, name)
		if err != nil {
			return err
		}
		l.method(typed, name, 1, l.floatSearch(name, f))
	}
	return nil
}

var (
	typedSearches = []string{"includes", "indexOf", "lastIndexOf"}
	typedArrays   = []string{
		"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	}
)

// installIncludes replaces that of arrays.
func (l *lib) installIncludes() error {
	array, err := l.prototype("Array")
	if err != nil {
		return err
	}
	includes, err := ownMethod(array, "includes")
	if err != nil {
		return err
	}
	indexOf, err := ownMethod(array, "indexOf")
	if err != nil {
		return err
	}
	l.method(array, "includes", 1, func(call goja.FunctionCall) goja.Value {
		if !zero.StrictEquals(call.Argument(0)) {
			return includes(call)
		}
		return l.vm.ToValue(indexOf(call).ToInteger() >= 0) // it finds either zero
	})
	return nil
}

// floatSearch is the search f of typed arrays, which finds zeros of either sign.
func (l *lib) floatSearch(name string, f native) native {
	return func(call goja.FunctionCall) goja.Value {
		found := f(call)
		if !zero.StrictEquals(call.Argument(0)) {
			return found
		}
		var index int64
		switch list := call.This.Export().(type) {
		case []float32:
			index = zeroIn(list, name == "lastIndexOf", call.Arguments)
		case []float64:
			index = zeroIn(list, name == "lastIndexOf", call.Arguments)
		default:
			return found
		}
		if name == "includes" {
			return l.vm.ToValue(index >= 0)
		}
		return l.vm.ToValue(index)
	}
}

// zeroIn is the index of the first zero, or the last, or -1; the second argument
// says where to begin.
func zeroIn[F float32 | float64](list []F, last bool, args []goja.Value) int64 {
	length, step := int64(len(list)), int64(1)
	var at int64
	if last {
		at, step = length-1, -1
	}
	if len(args) > 1 {
		if at = args[1].ToInteger(); at < 0 {
			at += length
		}
	}
	if last {
		at = min(at, length-1)
	} else {
		at = max(at, 0)
	}
	for ; 0 <= at && at < length; at += step {
		if list[at] == 0 {
			return at
		}
	}
	return -1
}
