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

// intrinsics are objects of the engine, as they were before a program could replace
// them.
type intrinsics struct {
	vm    *goja.Runtime
	plain *jsvalue.Prototypes
	found map[string]*goja.Object
	// arrayToString is the guarded one.
	arrayToString *goja.Object
	date          *goja.Object // in programs that name it
}

// alterable are those that are asked for after a program began, by global and path.
var alterable = [...]struct{ global, path string }{
	{"Object", "getOwnPropertyDescriptor"}, {"Object", "defineProperty"}, {"Object", "getOwnPropertySymbols"}, {"Object", "preventExtensions"},
	{"Error", ""}, {"RangeError", ""},
}

// capture takes what the program could alter; the rest is the engine's own whenever
// it is asked for.
func (i *intrinsics) capture(vm *goja.Runtime, reach *reach) {
	i.vm, i.plain, i.found = vm, jsvalue.PrototypesOf(vm), map[string]*goja.Object{}
	for _, x := range alterable {
		if reach.HasGlobal(x.global) || reach.hasAny(nameless...) {
			i.get(x.global, x.path)
		}
	}
	if reach.hasAny(nameless...) {
		i.objectToString()
	}
}

// get is a global of the engine, or what it holds.
func (i *intrinsics) get(global, path string) *goja.Object {
	key := global + "." + path
	found := i.found[key]
	if found == nil {
		found = i.vm.Get(global).ToObject(i.vm)
		if path != "" {
			found = found.Get(path).ToObject(i.vm)
		}
		i.found[key] = found
	}
	return found
}

func (i *intrinsics) objectToString() *goja.Object {
	const key = "Object.prototype.toString"
	if i.found[key] == nil {
		i.found[key] = i.objectPrototype().Get("toString").ToObject(i.vm)
	}
	return i.found[key]
}

func (i *intrinsics) objectPrototype() *goja.Object { return i.vm.NewObject().Prototype() }

// call calls a function of the engine's Object.
func (i *intrinsics) call(function string, arguments ...goja.Value) (goja.Value, error) {
	f, ok := goja.AssertFunction(i.get("Object", function))
	if !ok {
		return nil, fmt.Errorf("the engine has no Object.%s", function)
	}
	return f(goja.Undefined(), arguments...)
}

func (i *intrinsics) preventExtensions(object *goja.Object) error {
	_, err := i.call("preventExtensions", object)
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
	if r.reach.HasGlobal("GoError") {
		if err := r.vm.GlobalObject().Delete("GoError"); err != nil {
			return err // goja's own global would name the host's language
		}
	}
	host := jslib.Host{
		Console: r.console,
		Stack:   authorFrames,
		Start:   func() time.Time { return r.began },
		Now:     r.now,
		Rand:    random,
		After:   r.after,
		Stop:    r.dead,
	}
	if r.reach != nil {
		host.Reach = r.reach
	}
	return jslib.Install(r.vm, host)
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
