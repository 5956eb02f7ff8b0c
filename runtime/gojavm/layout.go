package gojavm

import (
	"reflect"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

// layout is how the engine holds values. A look at them is no more than a look, where
// every other way takes longer and may run the program's own code. The fields of
// another engine may be others; then nothing is known, and the long way is taken.
type layout struct {
	known          bool
	integer, float reflect.Type // of numbers
	accessor       reflect.Type // of what stands for a property that is more than a value
	self           []int        // the field of a goja.Object that holds what it is
	object, array  reflect.Type // of a plain object and of an array, there

	properties                       []int // fields of an object
	values, length, count, accessors []int // fields of an array
}

var engineLayout = sync.OnceValue(func() *layout {
	vm := goja.New()
	l := &layout{known: true, integer: reflect.TypeOf(vm.ToValue(1)), float: reflect.TypeOf(vm.ToValue(1.5))}
	l.self = l.field(reflect.TypeFor[goja.Object](), "self", reflect.Interface)
	if !l.known {
		return l
	}
	l.object, l.array = l.heldBy(vm.NewObject()).Type(), l.heldBy(vm.NewArray()).Type()
	l.properties = l.field(l.object, "values", reflect.Map)
	l.values = l.field(l.array, "values", reflect.Slice)
	l.length = l.field(l.array, "length", reflect.Uint32)
	l.count = l.field(l.array, "objCount", reflect.Int)
	l.accessors = l.field(l.array, "propValueCount", reflect.Int)
	if !l.known {
		return l
	}
	l.accessor = l.typeOfAccessor(vm.NewObject())
	l.known = l.accessor != nil && sharesElements(vm) && l.integer.Kind() == reflect.Int64 && l.float.Kind() == reflect.Float64 &&
		l.object.FieldByIndex(l.properties).Type == reflect.TypeFor[map[unistring.String]goja.Value]() &&
		l.array.FieldByIndex(l.values).Type == reflect.TypeFor[[]goja.Value]()
	return l
})

// field finds a field of a struct.
func (l *layout) field(t reflect.Type, name string, kind reflect.Kind) []int {
	if t.Kind() == reflect.Struct {
		if f, ok := t.FieldByName(name); ok && f.Type.Kind() == kind {
			return f.Index
		}
	}
	l.known = false
	return nil
}

// typeOfAccessor gives an object a property that may not be written, and looks.
func (l *layout) typeOfAccessor(object *goja.Object) reflect.Type {
	_ = object.DefineDataProperty("x", goja.Undefined(), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	for _, held := range l.heldBy(object).FieldByIndex(l.properties).Seq2() {
		return held.Elem().Type()
	}
	return nil
}

// sharesElements says whether a function that is applied to an array gets the elements
// themselves and not a copy.
func sharesElements(vm *goja.Runtime) bool {
	apply, ok := goja.AssertFunction(vm.Get("Function").ToObject(vm).Get("prototype").ToObject(vm).Get("apply"))
	if !ok {
		return false
	}
	array := vm.NewArray(1)
	_, err := apply(vm.ToValue(func(c goja.FunctionCall) goja.Value {
		c.Arguments[0] = vm.ToValue(2)
		return goja.Undefined()
	}), goja.Undefined(), array)
	return err == nil && array.Get("0").ToInteger() == 2
}

// heldBy is what an object is to the engine.
func (l *layout) heldBy(object *goja.Object) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(object).Elem().FieldByIndex(l.self).Elem())
}

// plainArray says whether an object is an array of which every element is there and
// is data that may be written. The engine, too, then goes over the elements without
// asking, and apply passes them on.
func (l *layout) plainArray(object *goja.Object) bool {
	if !l.known {
		return false
	}
	array := l.heldBy(object)
	if array.Type() != l.array {
		return false
	}
	length := array.FieldByIndex(l.values).Len()
	return array.FieldByIndex(l.accessors).Int() == 0 &&
		array.FieldByIndex(l.length).Uint() == uint64(length) &&
		array.FieldByIndex(l.count).Int() == int64(length)
}

// step leads from a value to a part of it: by a name, or by an index that is not
// negative.
type step struct {
	name  string
	key   reflect.Value // of name, as the engine holds it
	index int
}

// isNumber says whether a value is a number.
func (l *layout) isNumber(v goja.Value) bool {
	t := reflect.TypeOf(v)
	return t == l.integer || t == l.float
}

// holdsData says whether an object has a part of its own that is no more than a value.
func (l *layout) holdsData(object *goja.Object, s step) bool {
	held := l.heldBy(object)
	var part reflect.Value
	switch held.Type() {
	case l.object:
		if s.index < 0 {
			part = held.FieldByIndex(l.properties).MapIndex(s.key)
		}
	case l.array:
		if values := held.FieldByIndex(l.values); s.index >= 0 && s.index < values.Len() {
			part = values.Index(s.index)
		} else {
			return s.index < 0 && s.name == "length"
		}
	}
	return part.IsValid() && !part.IsNil() && part.Elem().Type() != l.accessor
}
