package gojavm

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// errorClass is the class of failed calls in one run.
type errorClass struct {
	runtime.ErrorClass
	constructor *goja.Object
	construct   goja.Constructor
	prototype   *goja.Object
}

// classMaker makes the class: a real subclass of Error, which a program may
// construct and extend as well. It uses nothing that a program could replace.
var classMaker = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("errors.js", `(function (name, Base) {
	"use strict";
	return { [name]: class extends Base {} }[name];
})`, true)
})

// errorClassOf is the class of a namespace, which is made when it is first needed.
func (r *run) errorClassOf(b *boundNamespace) (*errorClass, error) {
	if b.class != nil {
		return b.class, nil
	}
	class, err := r.newErrorClass(b.binding.Namespace.Class())
	if err != nil {
		return nil, err
	}
	b.class = class
	r.classes = append(r.classes, class)
	return class, nil
}

// newErrorClass makes the class; the zero class is the engine's Error.
func (r *run) newErrorClass(class runtime.ErrorClass) (*errorClass, error) {
	made := &errorClass{ErrorClass: class, constructor: r.real.get("Error", "")}
	if class.Name != "" {
		maker, err := r.vm.RunProgram(classMaker())
		if err != nil {
			return nil, err
		}
		name := r.vm.ToValue(class.Name)
		make, _ := goja.AssertFunction(maker)
		v, err := make(goja.Undefined(), name, made.constructor)
		if err != nil {
			return nil, err
		}
		made.constructor = v.ToObject(r.vm)
		made.prototype = made.constructor.Get("prototype").ToObject(r.vm)
		if err := made.prototype.DefineDataProperty("name", name, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return nil, err
		}
	}
	made.construct, _ = goja.AssertConstructor(made.constructor)
	return made, nil
}

// callErrors knows where failed calls were made, by the errors that they threw.
// It keeps none of these: a program may meet many in one run.
type callErrors struct {
	stacks map[weak.Pointer[goja.Object]][]goja.StackFrame
	most   int // how many there may be before those of errors that are gone are dropped
}

func (e *callErrors) add(thrown *goja.Object, stack []goja.StackFrame) {
	if e.stacks == nil {
		e.stacks = map[weak.Pointer[goja.Object]][]goja.StackFrame{}
	}
	if len(e.stacks) >= e.most {
		maps.DeleteFunc(e.stacks, func(thrown weak.Pointer[goja.Object], _ []goja.StackFrame) bool { return thrown.Value() == nil })
		e.most = max(2*len(e.stacks), 100)
	}
	e.stacks[weak.Make(thrown)] = stack
}

// at is where the call was made that threw the error, if it is one of a call.
func (e *callErrors) at(thrown *goja.Object) (stack []goja.StackFrame, ok bool) {
	stack, ok = e.stacks[weak.Make(thrown)]
	return stack, ok
}

// newCallError is the error of a failed call: its class's own properties name
// and member, message, code, callId and what else the host says, and the stack
// of the place where the program made the call.
func (r *run) newCallError(c *call, err error) *goja.Object {
	call := &runtime.CallError{}
	if !errors.As(err, &call) {
		call = &runtime.CallError{Message: err.Error()}
	}
	class, failed := r.errorClassOf(c.owner)
	if failed != nil {
		panic(failed)
	}
	object, failed := class.construct(nil, r.vm.ToValue(call.Message))
	if failed != nil {
		panic(failed)
	}
	own := func(name, value string) {
		// A fresh object accepts every property.
		_ = object.DefineDataProperty(name, r.vm.ToValue(value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	name := "Error"
	if class.Name != "" {
		name = class.Name
		own("name", name)
		own(class.Property, c.member)
	}
	if call.Code != "" {
		own("code", call.Code)
	}
	if call.CallID != "" {
		own("callId", call.CallID)
	}
	for _, key := range sortedKeys(call.Extra) {
		if !slices.Contains([]string{"name", "message", "stack", "code", "callId", class.Property}, key) {
			own(key, call.Extra[key])
		}
	}
	stack := name + ": " + call.Message + r.stackText(c.stack)
	_ = object.DefineDataProperty("stack", r.vm.ToValue(stack), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	r.thrown.add(object, c.stack)
	return object
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, strings.Compare)
	return keys
}
