package jslib

import (
	_ "embed"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"golang.org/x/text/collate"
)

// lib is the library of one engine.
type lib struct {
	collators map[collation]*collate.Collator

	vm        *goja.Runtime
	host      Host
	inspector *Inspector              // see needInspector
	web       *goja.Object            // what js/web.js made, nil until a program needs it
	made      map[string]goja.Value   // lazy globals that were read
	owned     map[string]*goja.Object // see own
}

func (l *lib) install() error {
	for _, part := range []func() error{
		l.capture,
		l.installTexts, // js/library.js builds on them
		l.installLibrary,
		l.installSearches,
		l.installMethods,
		l.installAccessors,
		l.installJSON,
		l.installGlobals,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// has says whether the program can get hold of a property of one of these names.
func (l *lib) has(names ...string) bool { return slices.ContainsFunc(names, l.host.Reach.Has) }

// hasGlobal is has for globals.
func (l *lib) hasGlobal(names ...string) bool {
	return slices.ContainsFunc(names, l.host.Reach.HasGlobal)
}

//go:embed js/library.js
var librarySource string

//go:embed js/web.js
var webSource string

//go:embed js/buffer.js
var bufferSource string

//go:embed js/intl.js
var intlSource string

// The programs are compiled once; they hold no state.
var (
	libraryProgram = sync.OnceValues(func() (*goja.Program, error) { return compile("library", librarySource) })
	bufferProgram  = sync.OnceValues(func() (*goja.Program, error) { return compile("buffer", bufferSource) })
	intlProgram    = sync.OnceValues(func() (*goja.Program, error) { return compile("intl", intlSource) })
	webProgram     = sync.OnceValues(func() (*goja.Program, error) { return compile("web", webSource) })
)

func compile(name, source string) (*goja.Program, error) {
	parsed, err := goja.Parse(name, source, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(parsed, true)
}

// call runs a program that gives one function, and calls that.
func (l *lib) call(program func() (*goja.Program, error), argument goja.Value) (goja.Value, error) {
	compiled, err := program()
	if err != nil {
		return nil, err
	}
	v, err := l.vm.RunProgram(compiled)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, errors.New("the library is not a function")
	}
	return f(goja.Undefined(), argument)
}

// wellKnown are the symbols the engine lacks. As its own they are the same in all
// engines.
var wellKnown = [...]struct {
	name  string
	value *goja.Symbol
}{
	{"asyncIterator", goja.NewSymbol("Symbol.asyncIterator")},
	{"dispose", goja.NewSymbol("Symbol.dispose")},
	{"asyncDispose", goja.NewSymbol("Symbol.asyncDispose")},
}

// libraryNames are the properties that js/library.js defines, without those of
// iterators.
var libraryNames = []string{
	"getOwnPropertyDescriptors", "groupBy", "getOrInsert", "getOrInsertComputed", "fromAsync", "toLocaleLowerCase", "toLocaleUpperCase",
	"toLocaleString", "withResolvers", "try", "captureStackTrace",
}

// iteratorNames are those of iterators.
var iteratorNames = []string{"map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "every", "find", "dispose"}

// installLibrary runs js/library.js, which defines what the program can get hold
// of, and the symbols the engine lacks.
func (l *lib) installLibrary() error {
	for _, symbol := range wellKnown {
		if !l.has(symbol.name) {
			continue
		}
		constructor, err := l.object("Symbol")
		if err != nil {
			return err
		}
		_ = constructor.DefineDataProperty(symbol.name, symbol.value, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	iterators := l.host.Reach.Iterators() && l.has(iteratorNames...) || l.hasGlobal("Iterator")
	if !iterators && !l.has(libraryNames...) && !l.hasGlobal("queueMicrotask") {
		return nil
	}
	native := l.vm.NewObject()
	if err := l.needInspector(); err != nil {
		return err
	}
	_ = native.Set("apply", l.inspector.apply)
	_ = native.Set("iterators", iterators)
	for _, symbol := range wellKnown {
		_ = native.Set(symbol.name, symbol.value)
	}
	l.method(native, "define", 2, l.defineMembers)
	l.method(native, "checkCase", 1, l.checkCase)
	l.method(native, "has", 1, func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(l.has(call.Argument(0).String())) })
	l.method(native, "hasGlobal", 1, func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(l.hasGlobal(call.Argument(0).String())) })
	_, err := l.call(libraryProgram, native)
	return err
}

// needInspector makes the inspector. Where the program can alter what that is made
// of, it was made before the program; see capture.
func (l *lib) needInspector() error {
	if l.inspector != nil {
		return nil
	}
	made, err := NewInspector(l.vm)
	if err != nil {
		return err
	}
	values, ok := goja.AssertFunction(l.vm.NewArray().Get("values"))
	if !ok {
		return errors.New("the engine's arrays have no iterators")
	}
	iterator, err := values(l.vm.NewArray())
	if err != nil {
		return err
	}
	made.iterators = iterator.ToObject(l.vm).Prototype().Prototype()
	l.inspector = made
	return nil
}

// defineMembers gives an object the members of another, not enumerable.
func (l *lib) defineMembers(call goja.FunctionCall) goja.Value {
	target, members := call.Argument(0).(*goja.Object), call.Argument(1).(*goja.Object)
	for _, name := range members.Keys() {
		_ = target.DefineDataProperty(name, members.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	for _, symbol := range members.Symbols() {
		_ = target.DefineDataPropertySymbol(symbol, members.GetSymbol(symbol), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return goja.Undefined()
}

// installMethods replaces methods of the engine's that are wrong: the toLocale
// methods and localeCompare take no locale, Number's even throws for one, and
// toISOString prints years before 0 with four digits; and adds some.
func (l *lib) installMethods() error {
	for _, t := range []struct {
		constructor, method string
		length              int
		f                   func(goja.FunctionCall) goja.Value
	}{
		{"Number", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeNumber("Number", call) }},
		{"BigInt", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeNumber("BigInt", call) }},
		{"Date", "toISOString", 0, l.isoString},
		{"Date", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, true, true) }},
		{"Date", "toLocaleDateString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, true, false) }},
		{"Date", "toLocaleTimeString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, false, true) }},
		{"String", "localeCompare", 1, l.localeCompare},
		{"String", "isWellFormed", 0, l.isWellFormed},
		{"String", "toWellFormed", 0, l.toWellFormed},
		{"ArrayBuffer", "resize", 1, l.resize},
		{"ArrayBuffer", "transfer", 0, l.transfer},
		{"ArrayBuffer", "transferToFixedLength", 0, l.transfer},
		{"DataView", "getFloat16", 1, l.getFloat16},
		{"DataView", "setFloat16", 2, l.setFloat16},
	} {
		// JSON.stringify calls toISOString, whatever the program names.
		if !l.has(t.method) && (t.method != "toISOString" || !l.hasGlobal("Date")) {
			continue
		}
		proto, err := l.prototype(t.constructor)
		if err != nil {
			return err
		}
		l.method(proto, t.method, t.length, t.f)
	}
	if l.has("f16round") {
		l.method(l.vm.Get("Math").ToObject(l.vm), "f16round", 1, l.f16round)
	}
	if l.has("escape") {
		l.method(l.vm.Get("RegExp").ToObject(l.vm), "escape", 1, l.regExpEscape)
	}
	return nil
}

// installAccessors defines the read-only properties the engine lacks.
func (l *lib) installAccessors() error {
	for _, a := range []struct {
		constructor, name string
		get               func(this goja.Value) goja.Value
	}{
		{"ArrayBuffer", "detached", func(this goja.Value) goja.Value { return l.vm.ToValue(l.arrayBuffer(this).Detached()) }},
		{"ArrayBuffer", "maxByteLength", func(this goja.Value) goja.Value { return l.vm.ToValue(len(l.arrayBuffer(this).Bytes())) }},
		{"ArrayBuffer", "resizable", func(this goja.Value) goja.Value { l.arrayBuffer(this); return l.vm.ToValue(false) }},
		// The engine has neither of the flags d and v.
		{"RegExp", "hasIndices", l.noFlag},
		{"RegExp", "unicodeSets", l.noFlag},
	} {
		if !l.has(a.name) {
			continue
		}
		proto, err := l.prototype(a.constructor)
		if err != nil {
			return err
		}
		get := l.function("get "+a.name, 0, func(call goja.FunctionCall) goja.Value { return a.get(call.This) })
		if err := proto.DefineAccessorProperty(a.name, get, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// noFlag is false for an expression and undefined for RegExp.prototype.
func (l *lib) noFlag(this goja.Value) goja.Value {
	o, ok := this.(*goja.Object)
	switch {
	case ok && kind(o) == "RegExp":
		return l.vm.ToValue(false)
	case ok && o == l.ownPrototype("RegExp"):
		return goja.Undefined()
	}
	panic(l.vm.NewTypeError("the property needs a RegExp"))
}

// object is a global of the engine's.
func (l *lib) object(name string) (*goja.Object, error) {
	if o, ok := l.vm.Get(name).(*goja.Object); ok {
		return o, nil
	}
	return nil, fmt.Errorf("the engine has no %s", name)
}

// prototype is the prototype object of a constructor of the engine's.
func (l *lib) prototype(constructor string) (*goja.Object, error) {
	o, err := l.object(constructor)
	if err != nil {
		return nil, err
	}
	if proto, ok := o.Get("prototype").(*goja.Object); ok {
		return proto, nil
	}
	return nil, fmt.Errorf("the engine's %s has no prototype", constructor)
}

// Scripted are the globals that are made by programs of the library's own. These,
// and what they make, may use any other part of the library.
var Scripted = []string{
	"DOMException", "Event", "CustomEvent", "EventTarget", "AbortSignal", "AbortController", "TextEncoder", "TextDecoder",
	"Crypto", "crypto", "Performance", "performance", "WeakRef", "FinalizationRegistry", "structuredClone", "URL", "URLSearchParams",
	"Buffer", "Intl", "atob", "btoa",
}

// lazyGlobals are made when a program first reads them.
var lazyGlobals = func() (names []lazyName) {
	for _, name := range append([]string{"console"}, Scripted...) {
		if name != "atob" && name != "btoa" { // functions as others; only their errors are made there
			names = append(names, lazyName{name, "get " + name, "set " + name})
		}
	}
	return names
}()

// lazyName is a global's name and those of its accessor functions.
type lazyName struct{ name, get, set string }

func (l *lib) installGlobals() error {
	for _, g := range []struct {
		name string
		f    func(goja.FunctionCall) goja.Value
	}{{"atob", l.atob}, {"btoa", l.btoa}} {
		if !l.hasGlobal(g.name) {
			continue
		}
		if err := l.define(g.name, l.function(g.name, 1, g.f)); err != nil {
			return err
		}
	}
	for i := range lazyGlobals {
		if !l.hasGlobal(lazyGlobals[i].name) {
			continue
		}
		if err := l.lazy(&lazyGlobals[i]); err != nil {
			return err
		}
	}
	return nil
}

// build makes a global of lazyGlobals.
func (l *lib) build(name string) (goja.Value, error) {
	if err := l.needInspector(); err != nil {
		return nil, err
	}
	switch name {
	case "Buffer":
		return l.bufferGlobal()
	case "Intl":
		return l.intlGlobal()
	case "console":
		return l.newConsole(), nil
	}
	return l.webGlobal(name)
}

// define makes a global the way the engine makes its own: writable,
// configurable, not enumerable.
func (l *lib) define(name string, v goja.Value) error {
	return l.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// lazy makes a global that becomes an ordinary one when it is read or written.
func (l *lib) lazy(g *lazyName) error {
	get := l.function(g.get, 0, func(goja.FunctionCall) goja.Value {
		if v, ok := l.made[g.name]; ok {
			return v
		}
		v, err := l.build(g.name)
		if err != nil {
			panic(l.failure(err))
		}
		if l.made == nil {
			l.made = map[string]goja.Value{}
		}
		l.made[g.name] = v
		_ = l.define(g.name, v) // a frozen global object keeps the accessor
		return v
	})
	set := l.function(g.set, 0, func(call goja.FunctionCall) goja.Value {
		if err := l.define(g.name, call.Argument(0)); err != nil {
			panic(l.failure(err))
		}
		return goja.Undefined()
	})
	return l.vm.GlobalObject().DefineAccessorProperty(g.name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// method adds a native method of a given name and length to an object.
func (l *lib) method(o *goja.Object, name string, length int, f func(goja.FunctionCall) goja.Value) {
	_ = o.DefineDataProperty(name, l.function(name, length, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// natives makes an object of native functions for a program of the library.
func (l *lib) natives(members map[string]func(goja.FunctionCall) goja.Value) *goja.Object {
	o := l.vm.NewObject()
	for name, f := range members {
		l.method(o, name, 0, f)
	}
	return o
}

// function makes a native function that never panics with anything but what the
// engine throws and never returns nil.
func (l *lib) function(name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
	fn, _ := l.vm.ToValue(func(call goja.FunctionCall) (v goja.Value) {
		defer l.contain(name)
		if v = f(call); v == nil {
			v = goja.Undefined()
		}
		return v
	}).(*goja.Object)
	// The engine names native functions after their Go symbol.
	_ = fn.DefineDataProperty("name", l.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if length > 0 {
		_ = fn.DefineDataProperty("length", l.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return fn
}

// contain turns a Go fault into an error that the program can catch.
func (l *lib) contain(name string) {
	x := recover()
	if x == nil {
		return
	}
	if _, fault := x.(goruntime.Error); fault {
		panic(l.vm.NewTypeError("%s failed", name))
	}
	if text, ok := x.(string); ok {
		panic(l.vm.NewTypeError("%s", fmt.Sprintf("%s failed: %s", name, text)))
	}
	panic(x)
}

// failure is what to panic with for an error from the engine: an exception
// stays itself, an interrupt goes on.
func (l *lib) failure(err error) any {
	var ex *goja.Exception
	if errors.As(err, &ex) {
		return ex.Value()
	}
	if uncatchable(err) {
		return err
	}
	return l.vm.NewTypeError("%s", err.Error())
}

// capture keeps what of the engine's own is needed after a program ran, if the
// program can alter it: a global that it names, and what functions are made of.
func (l *lib) capture() error {
	for _, name := range captured {
		if l.hasGlobal(name) {
			if _, err := l.own(name); err != nil {
				return err
			}
		}
	}
	if l.has("prototype") || l.hasGlobal("Object") {
		return l.needInspector()
	}
	return nil
}

// captured are the globals of the engine that the library uses while a program
// runs.
var captured = []string{"SyntaxError", "RangeError", "RegExp", "BigInt", "Uint8Array"}

// own is one of captured, as the engine made it.
func (l *lib) own(name string) (*goja.Object, error) {
	if o := l.owned[name]; o != nil {
		return o, nil
	}
	o, err := l.object(name)
	if err != nil {
		return nil, err
	}
	if l.owned == nil {
		l.owned = map[string]*goja.Object{}
	}
	l.owned[name] = o
	return o, nil
}

// setOwn gives an object for a program of the library one of captured.
func (l *lib) setOwn(o *goja.Object, name string) {
	if v, err := l.own(name); err == nil {
		_ = o.Set(name, v)
	}
}

// ownPrototype is the prototype of one of captured, which no program can replace.
func (l *lib) ownPrototype(name string) *goja.Object {
	o, err := l.own(name)
	if err != nil {
		return nil
	}
	proto, _ := o.Get("prototype").(*goja.Object)
	return proto
}

// throw panics with an error of the engine's.
func (l *lib) throw(name, message string) {
	if constructor, err := l.own(name); err == nil {
		if o, err := l.vm.New(constructor, l.vm.ToValue(message)); err == nil {
			panic(o)
		}
	}
	panic(l.vm.NewTypeError("%s", message))
}

// builtIns are the constructors whose toString says less than an inspection.
var builtIns = map[string]bool{
	"Object": true, "Array": true, "Function": true, "Error": true, "AggregateError": true, "EvalError": true,
	"RangeError": true, "ReferenceError": true, "SyntaxError": true, "TypeError": true, "URIError": true,
	"Date": true, "RegExp": true, "Map": true, "Set": true, "WeakMap": true, "WeakSet": true, "Promise": true,
	"Number": true, "String": true, "Boolean": true, "Symbol": true, "BigInt": true, "ArrayBuffer": true,
	"DataView": true, "TypedArray": true, "Uint8Array": true, "Buffer": true,
}

// builtIn reports whether proto belongs to a constructor of the engine's.
func (in *Inspector) builtIn(proto *goja.Object) bool {
	constructor, ok := in.data(proto, "constructor").(*goja.Object)
	return ok && builtIns[textOr(in.data(constructor, "name"), "")]
}

func (l *lib) isWellFormed(call goja.FunctionCall) goja.Value {
	return l.vm.ToValue(unpaired(l.this(call, "isWellFormed"), 0) < 0)
}

// toWellFormed gives U+FFFD for every unpaired surrogate, as the engine's UTF-8
// does.
func (l *lib) toWellFormed(call goja.FunctionCall) goja.Value {
	return l.vm.ToValue(l.this(call, "toWellFormed").String())
}

// this is the receiver of a String method as a string.
func (l *lib) this(call goja.FunctionCall, method string) goja.String {
	if goja.IsUndefined(call.This) || goja.IsNull(call.This) {
		panic(l.vm.NewTypeError("String.prototype.%s called on null or undefined", method))
	}
	return l.toString(call.This)
}
