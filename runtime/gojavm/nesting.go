package gojavm

import (
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// The engine does not count how deep its own code stands inside itself. A program
// in which it has no end would use up the stack of the process, from which there
// is no recovery, so the two ways that happen by accident are counted here.

// tooDeepHere ends the run at the place the program has come to.
func (r *run) tooDeepHere() goja.Value {
	r.stopWith(r.placed(r.tooDeep(), r.siteOf(r.vm.CaptureCallStack(stackDepth, nil))))
	return goja.Undefined()
}

// generatorPrototype gives the prototype that all generators share.
var generatorPrototype = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("generators.js", `Object.getPrototypeOf(function* () {}).prototype`, true)
})

// mayDelegate says whether a program may have a yield* of its own or in a text that
// it compiles. In others the guard would only slow generators down.
func mayDelegate(source string) bool {
	for _, word := range []string{"eval", "Function", "constructor"} {
		if strings.Contains(source, word) {
			return true
		}
	}
	for found := true; found; {
		if _, source, found = strings.Cut(source, "yield"); found {
			next := strings.TrimLeft(source, "\t\n\f\r ")
			if strings.HasPrefix(next, "*") || strings.HasPrefix(next, "/") {
				return true
			}
		}
	}
	return false
}

// guardGenerators counts how many generators stand inside each other by yield*.
// The engine resumes each from the one around it in its own code, which its call
// depth does not count, so that a walk over a tree with a cycle would use up the
// stack of the process.
func (r *run) guardGenerators() error {
	if !r.prog.marks.delegates {
		return nil
	}
	v, err := r.vm.RunProgram(generatorPrototype())
	if err != nil {
		return err
	}
	proto, nested := v.ToObject(r.vm), 0
	for _, name := range []string{"next", "return", "throw"} {
		original, ok := goja.AssertFunction(proto.Get(name))
		if !ok {
			continue
		}
		guarded := r.native(name, 1, func(c goja.FunctionCall) goja.Value {
			if nested > r.lim.Depth {
				return r.tooDeepHere()
			}
			nested++
			defer func() { nested-- }()
			return must(original(c.This, c.Arguments...))
		})
		if err := proto.DefineDataProperty(name, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	return nil
}

// guardFlat has flat go no deeper than calls may, and ends the run if arrays are
// left then, as they are in an array that holds itself.
func (r *run) guardFlat() error {
	if !r.reach.Has("flat") {
		return nil
	}
	array := r.vm.Get("Array").ToObject(r.vm)
	proto := array.Get("prototype").ToObject(r.vm)
	flat, _ := goja.AssertFunction(proto.Get("flat"))
	some, _ := goja.AssertFunction(proto.Get("some"))
	isArray := array.Get("isArray")
	guarded := r.native("flat", 0, func(c goja.FunctionCall) goja.Value {
		if goja.IsUndefined(c.Argument(0)) {
			return must(flat(c.This))
		}
		depth := c.Argument(0).ToNumber() // once: it may be the program's own code
		if depth.ToFloat() > float64(r.lim.Depth) {
			flattened := must(flat(c.This, r.vm.ToValue(r.lim.Depth)))
			if must(some(flattened, isArray)).ToBoolean() {
				return r.tooDeepHere()
			}
			return flattened
		}
		return must(flat(c.This, depth))
	})
	return proto.DefineDataProperty("flat", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
