package gojavm

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/dop251/goja"
)

// sorting is sort and toSorted of arrays, in place of the engine's: these call a
// comparator more often, on an array that the comparator sees half sorted, and
// take -0 for less than nothing.
type sorting struct {
	*run
	apply, has, source goja.Callable // Function.prototype.apply, Reflect.has, Function.prototype.toString
	noting             *goja.Object  // a function that keeps its arguments in noted
	noted              []goja.Value

	comparators     map[string]*comparator // by text; nil: not known
	stringPrototype *goja.Object
	ownLocale       goja.Value // its localeCompare, if the program has not replaced it
	localeCompare   func(goja.FunctionCall) goja.Value
}

// installSorting replaces the methods, for programs that can get hold of one.
func (r *run) installSorting() error {
	if !r.reach.hasAny("sort", "toSorted") {
		return nil
	}
	s := r.newSorting()
	array := r.vm.Get("Array").ToObject(r.vm).Get("prototype").ToObject(r.vm)
	for _, m := range []struct {
		name   string
		method func(goja.FunctionCall) goja.Value
	}{{"sort", s.sort}, {"toSorted", s.toSorted}} {
		if err := array.DefineDataProperty(m.name, r.native(m.name, 1, m.method), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// newSorting takes what the methods need of the engine before a program can replace
// it.
func (r *run) newSorting() *sorting {
	s := &sorting{run: r, comparators: map[string]*comparator{}}
	function := r.vm.Get("Function").ToObject(r.vm).Get("prototype").ToObject(r.vm)
	s.apply, _ = goja.AssertFunction(function.Get("apply"))
	s.source, _ = goja.AssertFunction(function.Get("toString"))
	if r.reach.hasAny(nameless...) {
		s.keepHas()
	}
	s.noting = r.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		s.noted = c.Arguments
		return goja.Undefined()
	}).(*goja.Object)
	if r.reach.Has("localeCompare") {
		s.stringPrototype = r.vm.Get("String").ToObject(r.vm).Get("prototype").ToObject(r.vm)
		s.ownLocale = s.stringPrototype.Get("localeCompare")
		s.localeCompare = callOf(s.ownLocale.ToObject(r.vm))
	}
	return s
}

var proxyType = reflect.TypeFor[goja.Proxy]()

// sort is Array.prototype.sort.
func (s *sorting) sort(c goja.FunctionCall) goja.Value {
	compare := s.callable(c.Argument(0))
	object := c.This.ToObject(s.vm)
	if elements, ok := s.elements(object); ok {
		list := slices.Clone(elements)
		s.order(list, compare)
		// The comparator may have made anything else of the array.
		if elements, ok = s.elements(object); ok && len(elements) >= len(list) {
			copy(elements, list)
			return object
		}
		s.write(object, list, len(list))
		return object
	}
	length := lengthOfArrayLike(object)
	list := s.read(object, length, false)
	s.order(list, compare)
	s.write(object, list, length)
	return object
}

// toSorted is Array.prototype.toSorted.
func (s *sorting) toSorted(c goja.FunctionCall) goja.Value {
	compare := s.callable(c.Argument(0))
	object := c.This.ToObject(s.vm)
	var list []goja.Value
	if elements, ok := s.elements(object); ok {
		list = slices.Clone(elements)
	} else {
		length := lengthOfArrayLike(object)
		if length > math.MaxUint32 {
			panic(must(s.vm.New(s.real.get("RangeError", ""), s.vm.ToValue("Invalid array length"))))
		}
		list = s.read(object, length, true)
	}
	s.order(list, compare)
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return s.vm.NewArray(values...)
}

// callable is the comparator that a method was given, or nil for undefined.
func (s *sorting) callable(v goja.Value) *goja.Object {
	if goja.IsUndefined(v) {
		return nil
	}
	if _, ok := goja.AssertFunction(v); !ok {
		panic(s.vm.NewTypeError("The comparison function must be either a function or undefined"))
	}
	return v.(*goja.Object)
}

// lengthOfArrayLike is ECMA-262's.
func lengthOfArrayLike(object *goja.Object) int {
	v := object.Get("length")
	if v == nil {
		return 0
	}
	return int(min(max(v.ToNumber().ToInteger(), 0), 1<<53-1))
}

// elements are those of an array that has nothing but data for each of its indices.
// They are the engine's own: what is written to them stands in the array.
func (s *sorting) elements(object *goja.Object) (elements []goja.Value, ok bool) {
	if !engineLayout().plainArray(object) {
		return nil, false
	}
	if _, err := s.apply(s.noting, goja.Undefined(), object); err != nil {
		panic(err)
	}
	elements, s.noted = s.noted, nil
	return elements, !slices.Contains(elements, nil)
}

// read takes the elements of what looks like an array, without or with the holes.
func (s *sorting) read(object *goja.Object, length int, holes bool) (list []goja.Value) {
	asks := hasProxy(object)
	for i := range length {
		s.askNow(i)
		name := strconv.Itoa(i)
		if asks && !holes && !s.hasProperty(object, name) {
			continue
		}
		v := object.Get(name)
		switch {
		case v != nil:
			list = append(list, v)
		case asks || holes:
			list = append(list, goja.Undefined())
		}
	}
	return list
}

// hasProperty is ECMA-262's.
func (s *sorting) hasProperty(object *goja.Object, name string) bool {
	if s.has == nil {
		s.keepHas() // of a program that could not have replaced it
	}
	return must(s.has(goja.Undefined(), object, s.vm.ToValue(name))).ToBoolean()
}

func (s *sorting) keepHas() {
	s.has, _ = goja.AssertFunction(s.vm.Get("Reflect").ToObject(s.vm).Get("has"))
}

// hasProxy says whether an object is a Proxy or inherits from one: only there a
// property that is not there looks like one that is undefined.
func hasProxy(object *goja.Object) bool {
	for ; object != nil; object = object.Prototype() {
		if object.ExportType() == proxyType {
			return true
		}
	}
	return false
}

// write gives an object the elements, and deletes as many as there were holes.
func (s *sorting) write(object *goja.Object, list []goja.Value, length int) {
	for i, v := range list {
		s.askNow(i)
		if err := object.Set(strconv.Itoa(i), v); err != nil {
			panic(s.notWritten(object, i, err))
		}
	}
	for i := len(list); i < length; i++ {
		s.askNow(i)
		if err := object.Delete(strconv.Itoa(i)); err != nil {
			panic(err)
		}
	}
}

// notWritten is what is thrown where an element could not be written. The engine says
// nothing of a frozen one.
func (s *sorting) notWritten(object *goja.Object, i int, err error) any {
	if hasProxy(object) || object.ClassName() != "Array" {
		return err
	}
	d, _ := must(s.real.call("getOwnPropertyDescriptor", object, s.vm.ToValue(i))).(*goja.Object)
	if d == nil {
		return err
	}
	if writable := d.Get("writable"); writable == nil || writable.ToBoolean() {
		return err
	}
	return s.vm.NewTypeError("Cannot assign to read only property '%d' of object '[object Array]'", i)
}

// askNow is ask, at every so many steps.
func (s *sorting) askNow(step int) {
	if step%askEvery == 0 {
		s.ask()
	}
}

// ask throws if the run was stopped.
func (s *sorting) ask() {
	if s.dead() {
		panic(s.vm.NewTypeError("sort: the run was stopped"))
	}
}

// order sorts a list of elements: undefined is last, whatever the comparator.
func (s *sorting) order(list []goja.Value, compare *goja.Object) {
	defined := list[:0]
	for _, v := range list {
		if !goja.IsUndefined(v) {
			defined = append(defined, v)
		}
	}
	for i := len(defined); i < len(list); i++ {
		list[i] = goja.Undefined()
	}
	switch {
	case len(defined) < 2:
	case compare == nil:
		s.byText(defined)
	case !s.byComparator(defined, compare):
		sortStable(defined, before(compare), s.ask)
	}
}

// before asks a comparator.
func before(compare *goja.Object) func(x, y goja.Value) bool {
	call := callOf(compare)
	args := make([]goja.Value, 2)
	return func(x, y goja.Value) bool {
		args[0], args[1] = x, y
		v := call(goja.FunctionCall{This: goja.Undefined(), Arguments: args})
		return v != nil && v.ToNumber().ToFloat() < 0
	}
}

// callOf is a function as the engine calls it. What it throws goes on its way, as in
// the engine's own methods, where a goja.Callable would catch it each time.
func callOf(function *goja.Object) func(goja.FunctionCall) goja.Value {
	if call, ok := function.Export().(func(goja.FunctionCall) goja.Value); ok && call != nil {
		return call
	}
	call, _ := goja.AssertFunction(function)
	return func(c goja.FunctionCall) goja.Value { return must(call(c.This, c.Arguments...)) }
}

// keyed is an element with what it is sorted by.
type keyed[K any] struct {
	key   K
	value goja.Value
}

// sortKeyed sorts elements whose keys are known.
func sortKeyed[K any](s *sorting, list []goja.Value, keys []K, before func(x, y K) bool) {
	pairs := make([]keyed[K], len(list))
	for i, v := range list {
		pairs[i] = keyed[K]{keys[i], v}
	}
	sortStable(pairs, func(x, y keyed[K]) bool { return before(x.key, y.key) }, s.ask)
	for i, p := range pairs {
		list[i] = p.value
	}
}

// byText sorts without a comparator: by the code units of the texts.
func (s *sorting) byText(list []goja.Value) {
	texts, narrow := make([]goja.String, len(list)), true
	for i, v := range list {
		s.askNow(i)
		if _, ok := v.(*goja.Object); ok {
			// Its text is the program's to give, in each comparison anew.
			sortStable(list, func(x, y goja.Value) bool { return s.text(x).CompareTo(s.text(y)) < 0 }, s.ask)
			return
		}
		texts[i] = s.text(v)
		narrow = narrow && texts[i].Length() == len(texts[i].String())
	}
	if !narrow {
		sortKeyed(s, list, texts, func(x, y goja.String) bool { return x.CompareTo(y) < 0 })
		return
	}
	ascii := make([]string, len(list))
	for i, text := range texts {
		ascii[i] = text.String()
	}
	sortKeyed(s, list, ascii, func(x, y string) bool { return x < y })
}

// text is ECMA-262's ToString. The engine's own leaves numbers and symbols as they
// are.
func (s *sorting) text(v goja.Value) goja.String {
	switch text := v.ToString().(type) {
	case goja.String:
		return text
	case *goja.Symbol:
		panic(s.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	default:
		return s.vm.ToValue(text.String()).(goja.String)
	}
}

// localeCompareStands says whether localeCompare is still the library's.
func (s *sorting) localeCompareStands() bool {
	if s.localeCompare == nil {
		return false
	}
	d, ok := must(s.real.call("getOwnPropertyDescriptor", s.stringPrototype, s.vm.ToValue("localeCompare"))).(*goja.Object)
	if !ok {
		return false
	}
	v := d.Get("value")
	return v != nil && v.StrictEquals(s.ownLocale)
}
