package jsvalue

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// What the engine says an object would export as tells built-in kinds apart by
// their internal slots, which a program cannot forge by changing prototypes.
var (
	typePlain   = reflect.TypeFor[map[string]any]()
	typeProxy   = reflect.TypeFor[goja.Proxy]()
	typePromise = reflect.TypeFor[*goja.Promise]()
	typeBuffer  = reflect.TypeFor[goja.ArrayBuffer]()
	typeMap     = reflect.TypeFor[[][2]any]()
	typeSet     = reflect.TypeFor[[]any]()
)

// object writes an object that stands for a primitive, or begins a container.
func (e *encoder) object(o *goja.Object) error {
	if e.onPath(o) {
		return e.refuse("is a cycle: it contains itself")
	}
	if done, err := e.repeat(o); done {
		return err
	}
	exported := o.ExportType()
	if exported == typeProxy {
		return e.proxy(o)
	}
	switch class := o.ClassName(); class {
	case "Object":
		return e.ordinary(o, exported)
	case "Array":
		if o.Prototype() != e.o.Prototypes.array {
			return e.refuse("is " + instance(o) + "; copy it into a plain array")
		}
		return e.array(o)
	case "Date":
		t, ok := o.Export().(time.Time)
		if !ok {
			return e.refuse("is an invalid Date")
		}
		e.out = jsonscan.AppendQuote(e.out, ISOTime(t))
		return nil
	case "Error":
		if !e.o.Errors {
			return e.refuse("is an Error; send its message instead")
		}
		return e.errorObject(o)
	case "RawJSON":
		return e.raw(o)
	case "Function", "AsyncFunction", "GeneratorFunction":
		return e.refuse("is a function")
	case "RegExp":
		return e.refuse("is a RegExp; send its source instead")
	case "Number", "String", "Boolean":
		return e.refuse("is a boxed " + class + "; use the plain value")
	case "Arguments":
		return e.refuse("is an arguments object; use [...arguments]")
	default:
		return e.refuse("is " + article(class))
	}
}

// raw writes the text of a JSON.rawJSON object, which the engine has checked.
func (e *encoder) raw(o *goja.Object) error {
	text, ok := o.Get("rawJSON").(goja.String)
	if !ok {
		return e.refuse("is a JSON.rawJSON object that cannot be read")
	}
	e.out = append(e.out, WTF8(text)...)
	return nil
}

// ordinary is for objects without a class of their own: plain data, and the
// collections that goja gives no class name.
func (e *encoder) ordinary(o *goja.Object, exported reflect.Type) error {
	switch exported {
	case typePlain:
	case typePromise:
		return &Error{Path: e.path(), Problem: "is a promise", Promise: true}
	case typeBuffer:
		return e.refuse("is an ArrayBuffer; send text, for example base64")
	case typeMap:
		return e.refuse("is a Map; use Object.fromEntries(map) or [...map]")
	case typeSet:
		return e.refuse("is a Set; use [...set]")
	default:
		switch exported.Kind() {
		case reflect.Slice:
			return e.refuse("is a typed array; use Array.from(array)")
		case reflect.Func:
			return e.refuse("is a function")
		default:
			return e.refuse("is a boxed primitive; use the plain value")
		}
	}
	if proto := o.Prototype(); proto != nil && proto != e.o.Prototypes.object {
		return e.refuse("is " + instance(o) + "; copy what is needed into a plain object")
	}
	if len(o.Symbols()) > 0 {
		return e.refuse(symbolProperty)
	}
	return e.plain(o)
}

// proxy reads a Proxy as the plain data it pretends to be.
func (e *encoder) proxy(o *goja.Object) error {
	if o.ClassName() == "Function" { // throws when the Proxy is revoked
		return e.refuse("is a function")
	}
	target := o
	for target != nil && target.ExportType() == typeProxy {
		p, ok := target.Export().(goja.Proxy)
		if !ok {
			break
		}
		target = p.Target()
	}
	if target == nil {
		return e.refuse("is a revoked Proxy")
	}
	proto := o.Prototype()
	if target.ClassName() == "Array" {
		if proto != e.o.Prototypes.array {
			return e.refuse("is a Proxy that is not a plain array")
		}
		return e.array(o)
	}
	if proto != nil && proto != e.o.Prototypes.object {
		return e.refuse("is a Proxy that is not plain data")
	}
	if len(o.Symbols()) > 0 {
		return e.refuse(symbolProperty)
	}
	return e.plain(o)
}

// array begins an array. What it has beside its elements has no place in JSON
// and is refused, but for what a match of a regular expression has: programs
// take matches for arrays of texts.
func (e *encoder) array(o *goja.Object) error {
	length := 0
	if v := o.Get("length"); v != nil {
		length = int(max(v.ToInteger(), 0))
	}
	own, bare := bareElements(o)
	if !bare {
		keys := o.Keys() // indices first, in order
		own = ownElements(keys, length)
		if names := besideElements(keys[own:], length); len(names) > 0 {
			return e.refuse(fmt.Sprintf("is an array with the property %.60q; use an object, or [...array] for the elements alone", names[0]))
		}
	}
	if len(o.Symbols()) > 0 {
		return e.refuse(symbolProperty)
	}
	if o.ExportType() == typeProxy {
		own = length // what it says its elements are
	}
	return e.push(frame{object: o, array: true, length: length, own: own})
}

// bareElements counts the elements before the first hole of an array that has
// nothing beside its elements. It looks at how the engine holds an array, since
// to list the keys of a long one takes longer than to write it. It reports false
// where that is not as known, and the keys tell.
func bareElements(o *goja.Object) (own int, bare bool) {
	layout := arrayLayout()
	self := reflect.ValueOf(o).Elem().Field(0)
	if layout.array == nil || self.Elem().Type() != layout.array {
		return 0, false
	}
	array := self.Elem().Elem()
	if array.FieldByIndex(layout.names).Len() != 1 { // length
		return 0, false
	}
	for values := array.FieldByIndex(layout.values); own < values.Len() && !values.Index(own).IsNil(); {
		own++
	}
	return own, true
}

// layout is how the engine holds an array.
type layout struct {
	array         reflect.Type // nil: not as known here
	names, values []int        // the fields with the names of properties and with the elements
}

var arrayLayout = sync.OnceValue(func() layout {
	self := reflect.ValueOf(goja.New().NewArray()).Elem().Field(0)
	if self.Kind() != reflect.Interface || self.Elem().Kind() != reflect.Pointer {
		return layout{}
	}
	array := self.Elem().Type()
	names, hasNames := array.Elem().FieldByName("propNames")
	values, hasValues := array.Elem().FieldByName("values")
	if !hasNames || !hasValues || names.Type.Kind() != reflect.Slice || values.Type != reflect.TypeFor[[]goja.Value]() {
		return layout{}
	}
	return layout{array, names.Index, values.Index}
})

// ownElements counts the elements before the first hole by an array's keys.
func ownElements(keys []string, length int) int {
	own := min(length, len(keys))
	for own > 0 && keys[own-1] != strconv.Itoa(own-1) { // there is a hole before it
		own--
	}
	return own
}

// besideElements lists the keys that are no indices of an array of that length,
// without those of a match.
func besideElements(keys []string, length int) []string {
	var names []string
	for _, key := range keys {
		if i := arrayIndex(key); i == noIndex || int(i) >= length {
			names = append(names, key)
		}
	}
	if slices.Contains(names, "index") && slices.Contains(names, "input") && slices.Contains(names, "groups") {
		return slices.DeleteFunc(names, func(name string) bool {
			return name == "index" || name == "input" || name == "groups" || name == "indices"
		})
	}
	return names
}

const symbolProperty = "has a property whose name is a symbol"

func (e *encoder) plain(o *goja.Object) error {
	f := frame{object: o, keys: o.Keys()}
	if hasOddKey(f.keys) {
		var err error
		if f.keys, f.values, err = Entries(e.vm, o); err != nil {
			return err
		}
	}
	return e.push(f)
}

// hasOddKey reports whether a key may have an unpaired surrogate: the engine's
// string API shows it as U+FFFD, and would not find the property again.
func hasOddKey(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return strings.ContainsRune(key, utf8.RuneError) })
}

// errorObject writes {name, message} and the own enumerable data beside them.
func (e *encoder) errorObject(o *goja.Object) error {
	keys, values := o.Keys(), []goja.Value(nil)
	if hasOddKey(keys) {
		var err error
		if keys, values, err = Entries(e.vm, o); err != nil {
			return err
		}
	}
	f := frame{object: o, keys: []string{"name", "message"}}
	f.values = []goja.Value{textOf(o.Get("name"), "Error"), textOf(o.Get("message"), "")}
	for i, key := range keys {
		if key == "name" || key == "message" || key == "stack" {
			continue
		}
		v := o.Get(key)
		if values != nil {
			v = values[i]
		}
		if isFunction(v) {
			continue
		}
		f.keys, f.values = append(f.keys, key), append(f.values, v)
	}
	return e.push(f)
}

func textOf(v goja.Value, absent string) goja.Value {
	if s, ok := v.(goja.String); ok {
		return s
	}
	return goja.StringFromUTF16(utf16.Encode([]rune(absent)))
}

func isFunction(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && strings.HasSuffix(o.ClassName(), "Function")
}

// instance names the class of an object for messages.
func instance(o *goja.Object) string {
	name := ""
	if proto := o.Prototype(); proto != nil {
		if c, ok := proto.Get("constructor").(*goja.Object); ok {
			if s, ok := c.Get("name").(goja.String); ok && s.Length() <= 60 {
				name = s.String()
			}
		}
	}
	if name == "" || name == "Object" || name == "Array" {
		return "an object with a prototype of its own"
	}
	return "an instance of " + name
}

func article(word string) string {
	if word != "" && strings.ContainsRune("AEIOU", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

// entriesProgram lists the own enumerable string properties of an object as a
// linked list, last first. It uses syntax alone, nothing a program can replace.
var entriesProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("entries", `(function(o){const c={__proto__:null,...o};let r=null;for(const k in c)r={k,v:c[k],r};return r})`, true)
})

// Entries reads the own enumerable properties of an object, each once, also
// those whose names have unpaired surrogates, which the string API of the engine
// cannot spell. The names come back in WTF-8. It is slow; use it only for such
// objects.
func Entries(vm *goja.Runtime, o *goja.Object) (keys []string, values []goja.Value, err error) {
	fn, err := vm.RunProgram(entriesProgram())
	if err != nil {
		return nil, nil, err
	}
	call, _ := goja.AssertFunction(fn)
	list, err := call(goja.Undefined(), o)
	if err != nil {
		return nil, nil, err
	}
	for {
		node, ok := list.(*goja.Object)
		if !ok {
			break
		}
		key := ""
		if s, ok := node.Get("k").(goja.String); ok {
			key = WTF8(s)
		}
		keys, values = append(keys, key), append(values, node.Get("v"))
		list = node.Get("r")
	}
	for i, j := 0, len(keys)-1; i < j; i, j = i+1, j-1 {
		keys[i], keys[j] = keys[j], keys[i]
		values[i], values[j] = values[j], values[i]
	}
	return keys, values, nil
}
