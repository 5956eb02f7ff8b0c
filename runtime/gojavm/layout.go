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
	l.known = l.known && l.integer.Kind() == reflect.Int64 && l.float.Kind() == reflect.Float64 &&
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

// heldBy is what an object is to the engine.
func (l *layout) heldBy(object *goja.Object) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(object).Elem().FieldByIndex(l.self).Elem())
}

// plainArray says whether an object is an array of which every element is there and
// is data that may be written, so that the engine, too, goes over its elements
// without asking.
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

// step leads from a value to a part of it: by a name, or by an index where that is
// empty.
type step struct {
	name  string
	key   reflect.Value // of name, as the engine holds it
	index int
}

// number is the number that stands at the end of a path of own properties that hold
// data, each but the last an object or an array. It is not ok for anything else.
func (l *layout) number(v goja.Value, path []step) (n float64, ok bool) {
	if text, ok := v.(goja.String); ok && len(path) == 1 && path[0].name == "length" {
		return float64(text.Length()), true
	}
	if !l.known {
		return 0, false
	}
	at := reflect.ValueOf(v)
	for _, s := range path {
		if at.Type() != objectType {
			return 0, false
		}
		if at = l.property(at, s); !at.IsValid() {
			return 0, false
		}
	}
	switch at.Type() {
	case l.integer:
		return float64(at.Int()), true
	case l.float:
		return at.Float(), true
	case lengthType:
		return float64(at.Uint()), true
	}
	return 0, false
}

var (
	objectType = reflect.TypeFor[*goja.Object]()
	lengthType = reflect.TypeFor[uint32]()
)

// property is what an own property of an object holds; it is not valid where that is
// not known.
func (l *layout) property(object reflect.Value, s step) (v reflect.Value) {
	held := reflect.Indirect(object.Elem().FieldByIndex(l.self).Elem())
	switch held.Type() {
	case l.object:
		if s.name != "" {
			v = held.FieldByIndex(l.properties).MapIndex(s.key)
		}
	case l.array:
		if values := held.FieldByIndex(l.values); s.name == "" && s.index < values.Len() {
			v = values.Index(s.index)
		} else if s.name == "length" {
			return held.FieldByIndex(l.length)
		}
	}
	if v.IsValid() {
		return v.Elem()
	}
	return v
}
