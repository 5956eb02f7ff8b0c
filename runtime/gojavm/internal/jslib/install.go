package jslib

import (
	_ "embed"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"golang.org/x/text/collate"
)

// lib is the library of one engine.
type lib struct {
	collators map[collation]*collate.Collator

	vm        *goja.Runtime
	host      Host
	inspector *Inspector
	start     time.Time    // origin of performance.now
	web       *goja.Object // what js/web.js made, nil until a program needs it
	uint8     goja.Value   // the engine's Uint8Array
	errors    map[string]*goja.Object
	json      jsonLib
}

func (l *lib) install() error {
	inspector, err := NewInspector(l.vm)
	if err != nil {
		return err
	}
	l.inspector = inspector
	l.start = l.host.Now()
	for _, part := range []func() error{
		l.captureErrors,
		l.installConsole,
		l.installLibrary,
		l.installJSON,
		l.installLocale,
		l.installGlobals,
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
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

func (l *lib) installLibrary() error {
	native := l.vm.NewObject()
	l.method(native, "wellFormed", 1, func(call goja.FunctionCall) goja.Value {
		return l.vm.ToValue(wellFormed(call.Argument(0)))
	})
	l.method(native, "toWellFormed", 1, func(call goja.FunctionCall) goja.Value {
		// The engine's UTF-8 has U+FFFD for every unpaired surrogate.
		return l.vm.ToValue(call.Argument(0).String())
	})
	l.method(native, "regExpEscape", 1, l.regExpEscape)
	define := func(onlyMissing bool, writable goja.Flag) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			target, members := call.Argument(0).(*goja.Object), call.Argument(1).(*goja.Object)
			for _, name := range members.Keys() {
				if onlyMissing && target.Get(name) != nil {
					continue
				}
				_ = target.DefineDataProperty(name, members.Get(name), writable, writable, goja.FLAG_FALSE)
			}
			return goja.Undefined()
		}
	}
	l.method(native, "hide", 2, define(false, goja.FLAG_TRUE))
	l.method(native, "missing", 2, define(true, goja.FLAG_TRUE))
	l.method(native, "symbols", 2, define(true, goja.FLAG_FALSE))
	_, err := l.call(libraryProgram, native)
	return err
}

// lazyWeb is the globals of js/web.js, made when a program first reads one.
var lazyWeb = []string{
	"DOMException", "Event", "CustomEvent", "EventTarget", "AbortSignal", "AbortController", "TextEncoder", "TextDecoder",
	"Crypto", "crypto", "Performance", "performance", "WeakRef", "FinalizationRegistry", "structuredClone", "URL", "URLSearchParams",
}

func (l *lib) installGlobals() error {
	l.uint8 = l.vm.Get("Uint8Array")
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{"atob": l.atob, "btoa": l.btoa} {
		if err := l.define(name, l.function(name, 1, f)); err != nil {
			return err
		}
	}
	for _, name := range lazyWeb {
		if err := l.lazy(name, func() (goja.Value, error) { return l.webGlobal(name) }); err != nil {
			return err
		}
	}
	for name, build := range map[string]func() (goja.Value, error){
		"Buffer": l.bufferGlobal,
		"Intl":   l.intlGlobal,
	} {
		if err := l.lazy(name, build); err != nil {
			return err
		}
	}
	return nil
}

// define makes a global the way the engine makes its own: writable,
// configurable, not enumerable.
func (l *lib) define(name string, v goja.Value) error {
	return l.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// lazy makes a global that becomes an ordinary one when it is read or written.
func (l *lib) lazy(name string, build func() (goja.Value, error)) error {
	var made goja.Value
	get := l.function("get "+name, 0, func(goja.FunctionCall) goja.Value {
		if made == nil {
			v, err := build()
			if err != nil {
				panic(l.failure(err))
			}
			made = v
			_ = l.define(name, v) // a frozen global object keeps the accessor
		}
		return made
	})
	set := l.function("set "+name, 0, func(call goja.FunctionCall) goja.Value {
		if err := l.define(name, call.Argument(0)); err != nil {
			panic(l.failure(err))
		}
		return goja.Undefined()
	})
	return l.vm.GlobalObject().DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// method adds a native method of a given name and length to an object.
func (l *lib) method(o *goja.Object, name string, length int, f func(goja.FunctionCall) goja.Value) {
	_ = o.DefineDataProperty(name, l.function(name, length, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
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

// captureErrors keeps the engine's own error constructors.
func (l *lib) captureErrors() error {
	l.errors = map[string]*goja.Object{}
	for _, name := range []string{"SyntaxError", "RangeError"} {
		constructor, ok := l.vm.Get(name).(*goja.Object)
		if !ok {
			return fmt.Errorf("the engine has no %s", name)
		}
		l.errors[name] = constructor
	}
	return nil
}

// throw panics with an error of the engine's.
func (l *lib) throw(name, message string) {
	if constructor := l.errors[name]; constructor != nil {
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

func wellFormed(v goja.Value) bool {
	s, ok := v.(goja.String)
	if !ok || !strings.ContainsRune(s.String(), '\uFFFD') {
		return true
	}
	for i, n := 0, s.Length(); i < n; i++ {
		switch c := s.CharAt(i); {
		case 0xD800 <= c && c < 0xDC00:
			if i+1 == n || s.CharAt(i+1)&0xFC00 != 0xDC00 {
				return false
			}
			i++
		case 0xDC00 <= c && c < 0xE000:
			return false
		}
	}
	return true
}
