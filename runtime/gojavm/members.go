package gojavm

import (
	goruntime "runtime"
	"sync"
	"weak"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// node is one object of a namespace: functions, and the objects that paths lead
// through. It is not changed once it is made, and serves all runs.
type node struct {
	label    string // how a program writes it
	names    []string
	function map[string]string // name -> member
	inner    map[string]*node
}

func newNode(label string) *node {
	return &node{label: label, function: map[string]string{}, inner: map[string]*node{}}
}

// trees are those of the namespaces that are alive and were asked for one, by
// weak pointers to them: a namespace is immutable, and serves many runs.
var trees sync.Map

// tree is the members of the namespace, arranged by name and path.
func (b *boundNamespace) tree() *node {
	key := weak.Make(b.binding.Namespace)
	if known, ok := trees.Load(key); ok {
		return known.(*node)
	}
	root, other := trees.LoadOrStore(key, newTree(b.binding.Namespace))
	if !other {
		goruntime.AddCleanup(b.binding.Namespace, func(key weak.Pointer[runtime.Namespace]) { trees.Delete(key) }, key)
	}
	return root.(*node)
}

func newTree(namespace *runtime.Namespace) *node {
	root := newNode(namespace.Global())
	for _, m := range namespace.Members() {
		root.add(m.Name, m.Name)
	}
	for _, m := range namespace.Members() {
		if len(m.Path) == 0 {
			continue
		}
		at := root
		for _, part := range m.Path[:len(m.Path)-1] {
			if at.inner[part] == nil {
				at.inner[part] = newNode(access(at.label, part))
				at.names = append(at.names, part)
			}
			at = at.inner[part]
		}
		at.add(m.Path[len(m.Path)-1], m.Name)
	}
	return root
}

func (n *node) add(name, member string) {
	if _, ok := n.function[name]; !ok {
		n.names = append(n.names, name)
		n.function[name] = member
	}
}

// namespaceProxy makes the objects of namespaces.
type namespaceProxy struct {
	make   func(goja.FunctionCall) goja.Value // Proxy.revocable
	read   *goja.Object                       // the trap get
	latest *goja.Object                       // handler of the last object that was read
	node   *lazyNode                          // the same, so that Go need not be asked for it again
}

// capture takes what a program may replace.
func (p *namespaceProxy) capture(r *run) {
	p.make = plainCall(r.real.get("Proxy", "revocable"))
	p.read = r.vm.ToValue(r.readMember).(*goja.Object)
}

// plainCall is a function of the engine as it is in Go. A goja.Callable would do
// what else the program has to do, such as its promises' callbacks, where it is
// the first that is called: objects of namespaces are made in the middle of other
// work.
func plainCall(function *goja.Object) func(goja.FunctionCall) goja.Value {
	f, _ := function.Export().(func(goja.FunctionCall) goja.Value)
	return f
}

// lazyNode is one object of a namespace in one run: a frozen object without
// prototype behind a Proxy, whose one trap makes a function of an unknown name
// that is called, so that the mistake gets an answer; everything else about
// unknown names is as usual.
//
// Most programs call a few of many members, so a member is made when it is first
// read. Whatever else is asked of the object is for all members to tell, and the
// Proxy leaves it to the object behind it: before it does it looks for a trap, and
// then the object is completed. Nobody sees an object that is not complete.
//
// It is the Proxy's handler, as a goja.DynamicObject.
type lazyNode struct {
	run      *run
	bound    *boundNamespace
	node     *node                 // nil: the namespace's own, not needed yet
	target   *goja.Object          // behind the Proxy
	made     map[string]goja.Value // members that were read
	complete bool                  // target has all members
}

// namespaceObject is the global of a namespace.
func (r *run) namespaceObject(b *boundNamespace) (goja.Value, error) { return r.nodeObject(b, nil) }

// nodeObject is the object of a node, that of the whole namespace for nil.
func (r *run) nodeObject(b *boundNamespace, n *node) (goja.Value, error) {
	if r.proxies.make == nil {
		r.proxies.capture(r)
	}
	l := &lazyNode{run: r, bound: b, node: n, target: r.vm.NewObject()}
	if err := l.target.SetPrototype(nil); err != nil {
		return nil, err
	}
	made := r.proxies.make(goja.FunctionCall{Arguments: []goja.Value{l.target, r.vm.NewDynamicObject(l)}})
	return made.(*goja.Object).Get("proxy"), nil
}

// Get is asked for a trap of the Proxy. Without one the Proxy turns to the object
// behind it.
func (l *lazyNode) Get(trap string) goja.Value {
	switch trap {
	case "get":
		return l.run.proxies.read
	case "getPrototypeOf": // is null in any case
	default:
		l.Complete()
	}
	return goja.Undefined()
}

// Has, Set, Delete and Keys make a goja.DynamicObject of it; nobody calls them.
func (l *lazyNode) Has(string) bool             { return false }
func (l *lazyNode) Set(string, goja.Value) bool { return false }
func (l *lazyNode) Delete(string) bool          { return false }
func (l *lazyNode) Keys() []string              { return nil }

// readMember is the trap get. It is nil, the engine's undefined, for symbols.
func (r *run) readMember(c goja.FunctionCall) goja.Value {
	name, ok := c.Argument(1).(goja.String)
	if !ok {
		return nil
	}
	p := &r.proxies
	if handler := c.This.(*goja.Object); handler != p.latest {
		p.latest, p.node = handler, handler.Export().(*lazyNode)
	}
	return p.node.read(name.String())
}

func (l *lazyNode) read(name string) goja.Value {
	if v := l.made[name]; v != nil {
		return v
	}
	if v := l.member(name); v != nil {
		return v
	}
	return l.run.unknownMember(l.bound, l.whole(), name)
}

// member makes a member, and remembers it; nil is for a name that is none.
func (l *lazyNode) member(name string) goja.Value {
	n := l.whole()
	v := l.made[name]
	switch {
	case v != nil:
		return v
	case n.inner[name] != nil:
		v = must(l.run.nodeObject(l.bound, n.inner[name]))
	case n.function[name] != "":
		v = l.run.memberFunction(l.bound, n, name)
	default:
		return nil
	}
	if l.made == nil {
		l.made = map[string]goja.Value{}
	}
	l.made[name] = v
	return v
}

func (l *lazyNode) whole() *node {
	if l.node == nil {
		l.node = l.bound.tree()
	}
	return l.node
}

// Complete gives the object behind the Proxy all its members.
func (l *lazyNode) Complete() {
	if l.complete {
		return
	}
	l.complete = true
	for _, name := range l.whole().names {
		// A fresh object accepts every property.
		_ = l.target.DefineDataProperty(name, l.member(name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	prevent := plainCall(l.run.real.get("Object", "preventExtensions"))
	prevent(goja.FunctionCall{Arguments: []goja.Value{l.target}})
}
