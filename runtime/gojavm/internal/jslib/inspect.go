package jslib

import (
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// InspectOptions shape the text of Inspect. Zero fields take the defaults,
// which are those of console.log.
type InspectOptions struct {
	Depth    int  // levels shown inside the outermost object; default 4, -1: not even that object's parts
	Array    int  // elements shown of one array, Set or Map; default 100, -1: none
	String   int  // characters shown of one string inside a value; default 10,000, -1: none
	Break    int  // columns after which a value is spread over lines; default 80
	MaxBytes int  // longest text; default 64 KiB
	Sorted   bool // properties by name, not in their order
	// Hidden also shows properties that are not enumerable.
	Hidden bool
	// Stack rewrites the frames of an error's stack, one a line, before they are
	// shown; an empty answer leaves them out. Nil: frames are shown as the
	// engine gives them, without its internal counters.
	Stack func(frames string) string
}

const (
	defaultInspectDepth  = 4
	defaultInspectArray  = 100
	defaultInspectBreak  = 80
	defaultInspectBytes  = 64 << 10
	defaultInspectString = 10_000
	maxInspectKeys       = 1_000
	// depthZero is the depth that shows an object and none inside it; -1 shows
	// no object at all.
	depthZero = -2
)

func (o InspectOptions) withDefaults() InspectOptions {
	switch o.Depth {
	case 0:
		o.Depth = defaultInspectDepth
	case depthZero:
		o.Depth = 0
	}
	o.Array = orDefault(o.Array, defaultInspectArray)
	o.String = orDefault(o.String, defaultInspectString)
	if o.Break <= 0 {
		o.Break = defaultInspectBreak
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultInspectBytes
	}
	return o
}

// orDefault is n, the default for 0, and 0 for less.
func orDefault(n, absent int) int {
	if n == 0 {
		return absent
	}
	return max(n, 0)
}

// Inspector shows the values of one engine as Node's util.inspect does. It never
// calls getters or Proxy traps, never throws, runs no job, and cuts what is too
// long.
type Inspector struct {
	vm    *goja.Runtime
	box   *goja.Object // holds the object that peek reads
	peek  *goja.Object // peek[key] is the property descriptor of box.o
	plain *goja.Object // Object.prototype
	apply goja.Value   // Reflect.apply, which a program may replace
	// iterators is %Iterator.prototype%, whose constructor is an accessor in the
	// standard and so names nothing. Nil: none is known.
	iterators *goja.Object
}

// peekProgram makes property descriptors, and the entries of a Map, readable
// without a call from Go, which would run the jobs that are queued. The box is an
// ordinary object, so that no invariant of the Proxy speaks about what the trap
// answers.
var peekProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("inspect", `(function (describe, apply, each) {
		const b = { __proto__: null, o: null, each: false };
		const entries = (o) => {
			const flat = { __proto__: null, length: 0 };
			apply(each, o, [(value, key) => { flat[flat.length++] = key; flat[flat.length++] = value; }]);
			return flat;
		};
		return { apply, b, p: new Proxy(b, { __proto__: null, get(t, k) { return t.each ? entries(t.o) : describe(t.o, k); } }) };
	})(Object.getOwnPropertyDescriptor, Function.prototype.call.bind(Function.prototype.apply), Map.prototype.forEach)`, true)
})

// NewInspector captures what it needs of vm, so it should be made before any
// program runs.
func NewInspector(vm *goja.Runtime) (*Inspector, error) {
	made, err := vm.RunProgram(peekProgram())
	if err != nil {
		return nil, err
	}
	pair, ok := made.(*goja.Object)
	if !ok {
		return nil, errors.New("the engine cannot be inspected")
	}
	in := &Inspector{vm: vm, plain: vm.NewObject().Prototype(), apply: pair.Get("apply")}
	in.box, _ = pair.Get("b").(*goja.Object)
	in.peek, _ = pair.Get("p").(*goja.Object)
	if in.box == nil || in.peek == nil {
		return nil, errors.New("the engine cannot be inspected")
	}
	return in, nil
}

// Inspect shows v as an Inspector made now would. Use an Inspector made before
// the program ran where the program may have replaced the engine's functions.
func Inspect(vm *goja.Runtime, v goja.Value, o InspectOptions) string {
	in, err := NewInspector(vm)
	if err != nil {
		return "[value that cannot be shown]"
	}
	return in.Inspect(v, o)
}

// Inspect shows v on one or more lines.
func (in *Inspector) Inspect(v goja.Value, o InspectOptions) (text string) {
	defer func() {
		if x := recover(); x != nil {
			text = "[value that cannot be shown]"
		}
	}()
	return in.inspect(v, o)
}

// inspect is Inspect that lets interrupts through.
func (in *Inspector) inspect(v goja.Value, o InspectOptions) string {
	o = o.withDefaults()
	c := &inspection{in: in, o: o, left: o.MaxBytes}
	text := "[value that cannot be shown]"
	if ex := in.vm.Try(func() { text = c.value(v, 0) }); ex != nil {
		text = "[value that cannot be shown]"
	}
	return cut(text, o.MaxBytes)
}

// cut shortens text to at most n bytes and says so.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const mark = "… (cut)"
	return strings.ToValidUTF8(text[:max(n-len(mark), 0)], "") + mark
}

// property is one own property as its descriptor says.
type property struct {
	value      goja.Value // nil for an accessor
	get, set   bool
	enumerable bool
}

// own reads the descriptor of an own property without calling a getter.
func (in *Inspector) own(o *goja.Object, key string) (property, bool) {
	return in.describe(o, func() goja.Value { return in.peek.Get(key) })
}

func (in *Inspector) ownSymbol(o *goja.Object, key *goja.Symbol) (property, bool) {
	return in.describe(o, func() goja.Value { return in.peek.GetSymbol(key) })
}

func (in *Inspector) describe(o *goja.Object, read func() goja.Value) (property, bool) {
	if err := in.box.Set("o", o); err != nil {
		return property{}, false
	}
	d, ok := read().(*goja.Object)
	if !ok {
		return property{}, false
	}
	p := property{value: goja.Undefined()}
	// Only own members count: the program may have given Object.prototype some.
	for _, member := range d.Keys() {
		switch v := d.Get(member); member {
		case "enumerable":
			p.enumerable = v.ToBoolean()
		case "value":
			p.value = v
		case "get":
			_, p.get = v.(*goja.Object)
		case "set":
			_, p.set = v.(*goja.Object)
		}
	}
	if p.get || p.set {
		p.value = nil
	}
	return p, true
}

// data is the value of an own data property, or nil.
func (in *Inspector) data(o *goja.Object, key string) goja.Value {
	if p, ok := in.own(o, key); ok {
		return p.value
	}
	return nil
}

// inherited is the value of a data property of o or of its prototypes, or nil.
func (in *Inspector) inherited(o *goja.Object, key string) goja.Value {
	for range 100 {
		if o == nil || isProxy(o) {
			return nil
		}
		if p, ok := in.own(o, key); ok {
			return p.value
		}
		o = o.Prototype()
	}
	return nil
}

// inheritedTag is Symbol.toStringTag, unless a getter gives it or it is an own
// enumerable property, which is shown with the others.
func (in *Inspector) tag(o *goja.Object) string {
	for p, own := o, true; p != nil && !isProxy(p); p, own = p.Prototype(), false {
		d, ok := in.ownSymbol(p, goja.SymToStringTag)
		if !ok {
			continue
		}
		s, ok := d.value.(goja.String)
		if !ok || own && d.enumerable {
			return ""
		}
		return s.String()
	}
	return ""
}
