package gojavm

import (
	"fmt"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// intrinsics are objects of the engine, taken before a program can replace them.
type intrinsics struct {
	objectPrototype  *goja.Object
	objectToString   *goja.Object
	arrayToString    *goja.Object // the guarded one
	errorConstructor *goja.Object
	errorPrototype   *goja.Object
	rangeError       *goja.Object
	date             *goja.Object // in programs that name it
	preventExtension goja.Callable
	ownProperty      goja.Callable // Object.getOwnPropertyDescriptor
	defineProperty   goja.Callable
	ownSymbols       goja.Callable // Object.getOwnPropertySymbols
	plain            *jsvalue.Prototypes
}

func (i *intrinsics) capture(vm *goja.Runtime) {
	object := vm.Get("Object").ToObject(vm)
	i.objectPrototype = object.Get("prototype").ToObject(vm)
	i.objectToString = i.objectPrototype.Get("toString").ToObject(vm)
	i.errorConstructor = vm.Get("Error").ToObject(vm)
	i.errorPrototype = i.errorConstructor.Get("prototype").ToObject(vm)
	i.rangeError = vm.Get("RangeError").ToObject(vm)
	i.ownProperty, _ = goja.AssertFunction(object.Get("getOwnPropertyDescriptor"))
	i.defineProperty, _ = goja.AssertFunction(object.Get("defineProperty"))
	i.ownSymbols, _ = goja.AssertFunction(object.Get("getOwnPropertySymbols"))
	i.preventExtension, _ = goja.AssertFunction(object.Get("preventExtensions"))
	i.plain = jsvalue.PrototypesOf(vm)
}

func (i *intrinsics) preventExtensions(object *goja.Object) error {
	_, err := i.preventExtension(goja.Undefined(), object)
	return err
}

// native makes a function with a name of its own, where goja would show a Go
// symbol.
func (r *run) native(name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
	object := r.vm.ToValue(f).(*goja.Object)
	// A fresh function accepts both, and has the length 0.
	_ = object.DefineDataProperty("name", r.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if length > 0 {
		_ = object.DefineDataProperty("length", r.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return object
}

// defineGlobal defines a global as the standard ones are.
func (r *run) defineGlobal(name string, v goja.Value) error {
	return r.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// lockGlobal defines a global that cannot be replaced or removed.
func (r *run) lockGlobal(name string, v goja.Value) error {
	return r.vm.GlobalObject().DefineDataProperty(name, v, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

// installLibrary defines console and what the engine's own library lacks.
func (r *run) installLibrary(random func([]byte)) error {
	if err := r.vm.GlobalObject().Delete("GoError"); err != nil {
		return err // goja's own global would name the host's language
	}
	return jslib.Install(r.vm, jslib.Host{
		Console: r.console,
		Stack:   authorFrames,
		Start:   func() time.Time { return r.began },
		Now:     r.now,
		Rand:    random,
		After:   r.after,
		Stop:    r.dead,
	})
}

// authorFrames drops the frames of the wrapper and of helpers.
func authorFrames(frames string) string {
	var kept strings.Builder
	for line := range strings.Lines(frames) {
		if !strings.Contains(line, "at "+compiledName+":") && !strings.Contains(line, "("+compiledName+":") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// console takes one finished line.
func (r *run) console(level, text string) {
	r.mu.Lock()
	if r.settled || r.failure != nil {
		r.mu.Unlock()
		return
	}
	fits := r.ledger.Log(text)
	r.mu.Unlock()
	if !fits {
		site := r.siteOf(r.vm.CaptureCallStack(stackDepth, nil))
		r.stopWith(r.placed(runtime.Failure{Kind: runtime.OutputLimit}, site))
		return
	}
	r.forward(runtime.Line{Level: level, Text: text})
}

// forward tells the host about a line and contains its panics.
func (r *run) forward(line runtime.Line) {
	if r.req.Log == nil {
		return
	}
	defer func() { _ = recover() }()
	r.req.Log(line)
}

// installInput defines the global input.
func (r *run) installInput() error {
	if r.req.Input == "" {
		return nil
	}
	v, err := jsvalue.Decode(r.vm, r.req.Input, jsvalue.DecodeOptions{Bytes: r.lim.Result, Nodes: r.lim.ResultNodes})
	if err != nil {
		r.stopWith(runtime.Failure{Kind: runtime.InvalidInput, Message: fmt.Sprintf("input cannot be used: %v", err)})
		return nil
	}
	return r.defineGlobal("input", v)
}
