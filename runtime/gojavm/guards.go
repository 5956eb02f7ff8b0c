package gojavm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/runcode-go/runcode/runtime"
)

const (
	// slot is what one element of an array takes, in bytes.
	slot = 16
	// maxEvalSource is the longest text that eval and the Function constructors
	// compile.
	maxEvalSource = 64 << 10
)

// installGuards replaces the library functions of which one call can exhaust
// memory by functions that measure first, and closes Object.prototype, so that
// a program cannot make every value a thenable or give it a toJSON. What the
// program cannot get hold of stays as it is. Of the operators, ** and the shifts are
// guarded in the syntax tree (guardOperator); + and spread are not.
func (r *run) installGuards() error {
	for _, guard := range []func() error{r.guardStrings, r.guardFlat, r.installSorting, r.guardArrays, r.guardCalls, r.guardBigInts, r.guardPatterns} {
		if err := guard(); err != nil {
			return err
		}
	}
	r.real.arrayToString = r.vm.NewArray().Get("toString").ToObject(r.vm)
	if !r.reach.hasAny(nameless...) {
		return nil // nothing leads to it
	}
	return r.real.preventExtensions(r.real.objectPrototype())
}

// guardProgram installs the guards that depend on what the program is, and those of
// globals that few programs name.
func (r *run) guardProgram() error {
	for _, guard := range []func() error{r.guardGenerators, r.guardMatching, r.guardBuffers, r.guardDates, r.guardCode, r.guardReactions} {
		if err := guard(); err != nil {
			return err
		}
	}
	return nil
}

// exhausted ends the run: one step alone would take more than the heap.
func (r *run) exhausted(what string, size float64) goja.Value {
	f := runtime.Failure{
		Kind:    runtime.MemoryLimit,
		Message: fmt.Sprintf("%s would take about %.0f bytes; the heap limit is %d bytes", what, size, r.lim.Heap),
		Hint:    "process data in smaller parts",
	}
	r.stopWith(r.placed(f, r.siteOf(r.vm.CaptureCallStack(stackDepth, nil))))
	return goja.Undefined()
}

// guard replaces a method by one that asks cost, in bytes, before it calls the
// original. A method that the program cannot get hold of stays, unless the language
// calls it.
func (r *run) guard(holder *goja.Object, label, name string, cost func(goja.FunctionCall) float64) error {
	if !r.reach.Has(name) && !slices.Contains(calledUnnamed, name) {
		return nil
	}
	v := holder.Get(name)
	original, ok := goja.AssertFunction(v)
	if !ok {
		return nil // this engine has no such method
	}
	guarded := r.native(name, int(v.ToObject(r.vm).Get("length").ToInteger()), func(c goja.FunctionCall) goja.Value {
		if size := cost(c); size > float64(r.lim.Heap) {
			return r.exhausted(label+name, size)
		}
		r.within++
		defer func() { r.within-- }()
		// The engine's own code around this may have much to do before it comes to
		// an instruction, at which it is stopped: an error ends it now.
		if r.within > r.lim.Depth {
			r.tooDeepHere()
		}
		if r.dead() {
			panic(r.vm.NewTypeError("%s%s: the run was stopped", label, name))
		}
		return must(original(c.This, c.Arguments...))
	})
	return holder.DefineDataProperty(name, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// must passes on what a function of the engine threw.
func must(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

func (r *run) guardStrings() error {
	if !r.reach.hasAny("repeat", "padStart", "padEnd", "concat", "replaceAll") {
		return nil
	}
	proto := r.vm.Get("String").ToObject(r.vm).Get("prototype").ToObject(r.vm)
	pad := func(c goja.FunctionCall) float64 {
		return toNumber(c.Argument(0)) * float64(max(unitBytes(c.This), unitBytes(c.Argument(1))))
	}
	for _, method := range []struct {
		name string
		cost func(goja.FunctionCall) float64
	}{
		{"repeat", func(c goja.FunctionCall) float64 {
			return float64(stringBytes(c.This)) * math.Max(toNumber(c.Argument(0)), 0)
		}},
		{"padStart", pad},
		{"padEnd", pad},
		{"concat", func(c goja.FunctionCall) float64 {
			size := stringBytes(c.This)
			for _, v := range c.Arguments {
				size += stringBytes(v)
			}
			return float64(size)
		}},
	} {
		if err := r.guard(proto, "String.prototype.", method.name, method.cost); err != nil {
			return err
		}
	}
	if !r.reach.Has("replaceAll") {
		return nil
	}
	return r.guardReplaceAll(proto)
}

// guardReplaceAll gives replaceAll of an empty text the pattern that matches the
// same: in a text with wide characters the engine's search for it has no end.
func (r *run) guardReplaceAll(proto *goja.Object) error {
	original, ok := goja.AssertFunction(proto.Get("replaceAll"))
	if !ok {
		return nil // this engine has no such method
	}
	empty, err := r.vm.New(r.vm.Get("RegExp"), r.vm.ToValue("(?:)"), r.vm.ToValue("g"))
	if err != nil {
		return err
	}
	guarded := r.native("replaceAll", 2, func(c goja.FunctionCall) goja.Value {
		args := slices.Clone(c.Arguments)
		if len(args) > 0 {
			if object, ok := args[0].(*goja.Object); ok && isAbsent(object.GetSymbol(goja.SymReplace)) {
				args[0] = object.ToString() // once: it may be the program's own code
			}
			if text, ok := args[0].(goja.String); ok && text.Length() == 0 {
				args[0] = empty
			}
		}
		return must(original(c.This, args...))
	})
	return proto.DefineDataProperty("replaceAll", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// isAbsent says whether a property is not there, or holds nothing.
func isAbsent(v goja.Value) bool { return v == nil || goja.IsUndefined(v) || goja.IsNull(v) }

// stringBytes is the memory of a string; one byte for what is none yet.
func stringBytes(v goja.Value) int {
	if s, ok := v.(goja.String); ok {
		return s.Length() * unitBytes(v)
	}
	return 1
}

// unitBytes is the width of a string's code units in memory.
func unitBytes(v goja.Value) int {
	if s, ok := v.(goja.String); ok && s.Length() > 0 {
		if _, wide := s.Export().(string); wide && len(s.String()) != s.Length() {
			return 2
		}
	}
	return 1
}

// toNumber is a number without calling the program's code; zero for objects,
// which the original converts itself.
func toNumber(v goja.Value) float64 {
	if _, ok := v.(*goja.Object); ok || v == nil {
		return 0
	}
	if _, ok := v.(*goja.Symbol); ok {
		return 0
	}
	n := v.ToFloat()
	if math.IsNaN(n) {
		return 0
	}
	return n
}

// arrayMethods walk every index up to length, in one step the engine cannot be
// stopped in.
var arrayMethods = []string{
	"flat", "fill", "join", "includes", "indexOf", "lastIndexOf", "reverse", "sort", "copyWithin", "slice", "splice",
	"toReversed", "toSorted", "toSpliced", "with", "unshift", "shift", "toString", "toLocaleString",
}

// arrayWalks do so over holes alone.
var arrayWalks = []string{"forEach", "map", "filter", "some", "every", "reduce", "reduceRight", "flatMap"}

// calledUnnamed are the methods that make a text of an array.
var calledUnnamed = []string{"toString", "join"}

func (r *run) guardArrays() error {
	proto := r.vm.NewArray().Prototype()
	length := func(c goja.FunctionCall) float64 { return slot * r.lengthOf(c.This) }
	for _, name := range slices.Concat(arrayMethods, arrayWalks) {
		cost := length
		if name == "join" {
			cost = func(c goja.FunctionCall) float64 {
				return math.Max(length(c), r.lengthOf(c.This)*float64(stringBytes(c.Argument(0))))
			}
		}
		if err := r.guard(proto, "Array.prototype.", name, cost); err != nil {
			return err
		}
	}
	concat := func(c goja.FunctionCall) float64 {
		size := length(c)
		for _, v := range c.Arguments {
			size += slot * r.lengthOf(v)
		}
		return size
	}
	if err := r.guard(proto, "Array.prototype.", "concat", concat); err != nil {
		return err
	}
	if !r.reach.Has("from") {
		return nil
	}
	return r.guard(r.vm.Get("Array").ToObject(r.vm), "Array.", "from", func(c goja.FunctionCall) float64 {
		if _, ok := c.Argument(0).(*goja.Object); !ok {
			return 0
		}
		return slot * r.lengthOf(c.Argument(0))
	})
}

// guardCalls bounds the arguments that apply and construct take from an array.
func (r *run) guardCalls() error {
	for _, f := range []struct {
		holder, name string
		list         int // which argument is the array
	}{
		{"Function.prototype", "apply", 1}, {"Reflect", "apply", 2}, {"Reflect", "construct", 1},
	} {
		if !r.reach.Has(f.name) {
			continue
		}
		holder := r.vm.GlobalObject()
		for name := range strings.SplitSeq(f.holder, ".") {
			holder = holder.Get(name).ToObject(r.vm)
		}
		if err := r.guard(holder, f.holder+".", f.name, func(c goja.FunctionCall) float64 {
			return slot * r.lengthOf(c.Argument(f.list))
		}); err != nil {
			return err
		}
	}
	return nil
}

// lengthOf is the length of an array or of what looks like one. A getter is not
// called: it is the program's own code, and what it says may change.
func (r *run) lengthOf(v goja.Value) float64 {
	object, ok := v.(*goja.Object)
	if !ok {
		return 0
	}
	if object.ClassName() == "Array" {
		return toNumber(object.Get("length"))
	}
	if object.ExportType() == proxyType {
		return 0
	}
	d, err := r.real.call("getOwnPropertyDescriptor", object, r.vm.ToValue("length"))
	if err != nil {
		panic(err)
	}
	if d, ok := d.(*goja.Object); ok {
		if value := d.Get("value"); value != nil {
			return toNumber(value)
		}
	}
	return 0
}

// guardReactions shows what rejects a promise to catching before a handler of the
// program gets it, as a catch clause does. Of await the engine takes care itself,
// and a promise of another kind is none of the engine's.
func (r *run) guardReactions() error {
	if !r.programReach().hasAny("then", "catch", "allSettled", "any") {
		return nil
	}
	proto := r.vm.Get("Promise").ToObject(r.vm).Get("prototype").ToObject(r.vm)
	original, _ := goja.AssertFunction(proto.Get("then"))
	then := r.native("then", 2, func(c goja.FunctionCall) goja.Value {
		args := slices.Clone(c.Arguments)
		if handle, ok := goja.AssertFunction(c.Argument(1)); ok {
			args[1] = r.vm.ToValue(func(c goja.FunctionCall) goja.Value {
				r.catching(c)
				return must(handle(goja.Undefined(), c.Arguments...))
			})
		}
		return must(original(c.This, args...))
	})
	return proto.DefineDataProperty("then", then, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// buffers are the constructors of binary data with the bytes of an element.
var buffers = []struct {
	name  string
	bytes float64
}{
	{"ArrayBuffer", 1}, {"Int8Array", 1}, {"Uint8Array", 1}, {"Uint8ClampedArray", 1}, {"Int16Array", 2}, {"Uint16Array", 2},
	{"Int32Array", 4}, {"Uint32Array", 4}, {"Float32Array", 4}, {"Float64Array", 8}, {"BigInt64Array", 8}, {"BigUint64Array", 8},
}

func (r *run) guardBuffers() error {
	for _, b := range buffers {
		if !r.programReach().HasGlobal(b.name) {
			continue
		}
		v := r.vm.Get(b.name)
		if v == nil {
			continue
		}
		if err := r.guardConstructor(b.name, v.ToObject(r.vm), func(c goja.ConstructorCall) float64 {
			if object, ok := c.Argument(0).(*goja.Object); ok {
				if object.ClassName() == "Array" {
					return b.bytes * r.lengthOf(object)
				}
				return 0
			}
			return b.bytes * toNumber(c.Argument(0))
		}); err != nil {
			return err
		}
	}
	return nil
}

// guardConstructor replaces a global constructor by one that measures first.
func (r *run) guardConstructor(name string, original *goja.Object, cost func(goja.ConstructorCall) float64) error {
	guarded, err := r.guarded(name, original, func(c goja.ConstructorCall) bool {
		size, limit := cost(c), float64(r.lim.Heap)
		if size > limit {
			r.exhausted("new "+name, size)
		}
		return size <= limit
	})
	if err != nil {
		return err
	}
	return r.defineGlobal(name, guarded)
}

// guarded is a function that asks whether it may and then constructs through the
// original. It has the original's prototype and static side, so that instanceof,
// subclasses and from still work.
func (r *run) guarded(name string, original *goja.Object, may func(goja.ConstructorCall) bool) (*goja.Object, error) {
	construct, ok := goja.AssertConstructor(original)
	if !ok {
		return original, nil
	}
	var guarded *goja.Object
	guarded = r.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		c.Arguments = slices.Clone(c.Arguments) // may changes them
		if !may(c) {
			return r.vm.NewObject()
		}
		target := c.NewTarget
		if target == nil || target == guarded {
			target = original
		}
		made, err := construct(target, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return made
	}).(*goja.Object)
	return guarded, r.mimic(name, original, guarded)
}

// mimic makes guarded look like the constructor it stands for. Its own
// properties and its prototype do not lead to the original.
func (r *run) mimic(name string, original, guarded *goja.Object) error {
	parent := original.Prototype()
	if stands, ok := r.standsIn[parent]; ok {
		parent = stands
	}
	if r.standsIn == nil {
		r.standsIn = map[*goja.Object]*goja.Object{}
	}
	r.standsIn[original] = guarded
	if err := guarded.SetPrototype(parent); err != nil {
		return err
	}
	proto := original.Get("prototype").ToObject(r.vm)
	for _, own := range []struct {
		property string
		value    goja.Value
	}{{"length", original.Get("length")}, {"name", r.vm.ToValue(name)}} {
		if err := guarded.DefineDataProperty(own.property, own.value, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	if err := guarded.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		return err
	}
	keys, err := r.keysOf(original)
	if err != nil {
		return err
	}
	for _, key := range keys {
		d, err := r.real.call("getOwnPropertyDescriptor", original, key)
		if err != nil {
			return err
		}
		if _, err := r.real.call("defineProperty", guarded, key, d); err != nil {
			return err
		}
	}
	return proto.DefineDataProperty("constructor", guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// keysOf are the properties of a constructor that are its own and that not every
// constructor has.
func (r *run) keysOf(constructor *goja.Object) (keys []goja.Value, err error) {
	for _, name := range constructor.GetOwnPropertyNames() {
		if name != "name" && name != "length" && name != "prototype" {
			keys = append(keys, r.vm.ToValue(name))
		}
	}
	symbols, err := r.real.call("getOwnPropertySymbols", constructor)
	if err != nil {
		return nil, err
	}
	list := symbols.ToObject(r.vm)
	for i := range list.Get("length").ToInteger() {
		keys = append(keys, list.Get(strconv.FormatInt(i, 10)))
	}
	return keys, nil
}

// functionMakers gives the constructors of the kinds of function that have no
// global.
var functionMakers = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("functions.js", `[(function* () {}).constructor, (async () => {}).constructor]`, true)
})

// guardCode bounds the text that eval and the Function constructors compile, for
// the engine's parser recurses. eval through the guard sees globals only.
func (r *run) guardCode() error {
	if !r.programReach().hasAny(codeNames...) {
		return nil
	}
	compile, _ := goja.AssertFunction(r.vm.Get("eval"))
	eval := r.native("eval", 1, func(c goja.FunctionCall) goja.Value {
		if text, ok := c.Argument(0).(goja.String); ok {
			r.checkCode("eval", text.String())
			r.checkPatterns("eval", text.String())
		}
		return must(compile(goja.Undefined(), c.Arguments...))
	})
	if err := r.defineGlobal("eval", eval); err != nil {
		return err
	}
	function := r.vm.Get("Function").ToObject(r.vm)
	guarded, err := r.guardMaker("Function", function)
	if err != nil {
		return err
	}
	if err := r.defineGlobal("Function", guarded); err != nil {
		return err
	}
	hidden, err := r.vm.RunProgram(functionMakers())
	if err != nil {
		return err
	}
	for i, name := range []string{"GeneratorFunction", "AsyncFunction"} {
		if _, err := r.guardMaker(name, hidden.ToObject(r.vm).Get(strconv.Itoa(i)).ToObject(r.vm)); err != nil {
			return err
		}
	}
	return nil
}

// guardMaker puts a guard in front of a constructor of functions. What it is given
// becomes text here, once, for that may be the program's own code, and is checked
// as the one text that it is to the engine.
func (r *run) guardMaker(name string, original *goja.Object) (*goja.Object, error) {
	return r.guarded(name, original, func(c goja.ConstructorCall) bool {
		texts := make([]string, len(c.Arguments))
		for i, v := range c.Arguments {
			if object, ok := v.(*goja.Object); ok {
				c.Arguments[i] = object.ToString()
			}
			texts[i] = c.Arguments[i].String()
		}
		r.checkCode(name, strings.Join(texts, ","))
		for _, text := range texts {
			r.checkPatterns(name, text)
		}
		return true
	})
}

// checkCode throws if a text must not reach the engine's parser.
func (r *run) checkCode(what, text string) {
	lim := r.lim
	lim.Source = min(maxEvalSource, lim.Source)
	if failure := precheck(text, lim); failure != nil {
		panic(r.vm.NewTypeError("%s: %s", what, failure.Message))
	}
}

// checkPatterns throws if a text holds a pattern that would never match.
func (r *run) checkPatterns(what, text string) {
	if literal := silentPattern(text); literal != "" {
		panic(r.vm.NewTypeError("%s: the pattern %s would match nothing here; write new RegExp(text, flags) instead", what, literal))
	}
}

// silentPattern is a regular expression in a text to evaluate that the engine
// takes and never matches as it should. In the program itself such literals are
// rewritten, or refused.
func silentPattern(text string) (literal string) {
	if !hasProperty(text) && !repeatsGroupName(text) {
		return ""
	}
	tree, err := parser.ParseFile(nil, compiledName, "(async function* () {"+text+"\n})", 0, parser.WithDisableSourceMaps)
	if err != nil {
		return "" // the engine says what is wrong
	}
	eachNodeOf(tree.Body, func(x any) bool {
		if p, ok := x.(*ast.RegExpLiteral); ok && (strings.Contains(p.Flags, "u") && hasProperty(p.Pattern) || repeatsGroupName(p.Pattern)) {
			literal = p.Literal
		}
		return true
	})
	return literal
}
