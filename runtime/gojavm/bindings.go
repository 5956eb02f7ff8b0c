package gojavm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// maxMissed is how many unknown names are remembered for the texts of errors.
const maxMissed = 1_000

// boundNamespace is a namespace in one run.
type boundNamespace struct {
	binding runtime.Binding
	class   *errorClass // nil: not needed yet
}

func (b *boundNamespace) global() string { return b.binding.Namespace.Global() }

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// spell is how a program writes a member.
func (b *boundNamespace) spell(member string) string { return access(b.global(), member) }

func access(object, member string) string {
	if plainName.MatchString(member) {
		return object + "." + member
	}
	return fmt.Sprintf("%s[%q]", object, member)
}

// installBindings defines the namespaces and their error classes as globals
// that cannot be replaced, except for those that the program cannot name.
func (r *run) installBindings() error {
	for _, binding := range r.req.Bindings {
		if err := r.install(&boundNamespace{binding: binding}); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) install(b *boundNamespace) error {
	if class := b.binding.Namespace.Class().Name; class != "" && r.mayName(class) {
		made, err := r.errorClassOf(b)
		if err != nil {
			return err
		}
		if err := r.lockGlobal(class, made.constructor); err != nil {
			return err
		}
	}
	if !r.mayName(b.global()) {
		return nil
	}
	object, err := r.namespaceObject(b)
	if err != nil {
		return err
	}
	return r.lockGlobal(b.global(), object)
}

// mayName says whether the program can get hold of a global of this name, or may
// change what is made later.
func (r *run) mayName(global string) bool {
	return r.reach.Everything() || r.reach.HasGlobal(global)
}

// memberFunction is the function of one member. That of a member named "then"
// also makes await work on the object: the engine calls it with two functions,
// which no tool can take as arguments.
func (r *run) memberFunction(b *boundNamespace, n *node, name string) goja.Value {
	member := n.function[name]
	if name == "then" {
		return r.native(name, 0, func(c goja.FunctionCall) goja.Value {
			if resolve, ok := thenable(c); ok {
				return r.adopt(b, n, resolve)
			}
			return r.call(b, member, c.Arguments)
		})
	}
	return r.native(name, 0, func(c goja.FunctionCall) goja.Value { return r.call(b, member, c.Arguments) })
}

// thenable says whether a function named then is called by the engine and not by
// the program.
func thenable(c goja.FunctionCall) (resolve *goja.Object, ok bool) {
	if len(c.Arguments) != 2 {
		return nil, false
	}
	_, first := goja.AssertFunction(c.Arguments[0])
	_, second := goja.AssertFunction(c.Arguments[1])
	if !first || !second {
		return nil, false
	}
	return c.Arguments[0].(*goja.Object), true
}

// adopt resolves an awaited namespace with a copy of it in which then cannot be
// found, for the engine would ask the original for ever.
func (r *run) adopt(b *boundNamespace, n *node, resolve *goja.Object) goja.Value {
	copied := *n
	copied.names = slices.DeleteFunc(slices.Clone(n.names), func(name string) bool { return name == "then" })
	copied.function = map[string]string{}
	for _, name := range copied.names {
		if member, ok := n.function[name]; ok {
			copied.function[name] = member
		}
	}
	object, err := r.nodeObject(b, &copied)
	if err != nil {
		panic(r.vm.NewTypeError("%s cannot be awaited", n.label))
	}
	if resolve := plainCall(resolve); resolve != nil { // each await of a loop would stand inside the one before
		resolve(goja.FunctionCall{This: goja.Undefined(), Arguments: []goja.Value{object}})
		return goja.Undefined()
	}
	call, _ := goja.AssertFunction(resolve)
	must(call(goja.Undefined(), object))
	return goja.Undefined()
}

// unknownMember answers a read of a name the namespace does not have: nil, the
// engine's undefined, unless the program text calls it right there.
func (r *run) unknownMember(b *boundNamespace, n *node, name string) goja.Value {
	if r.prog == nil || r.dead() {
		return nil
	}
	if len(r.missed) < maxMissed {
		put(&r.missed, name, n.label)
	}
	if !r.calledHere(name) {
		return nil
	}
	return r.native(name, 0, func(goja.FunctionCall) goja.Value {
		return r.refuseCall(b, name, codeUnknown, n.unknown(name))
	})
}

// unknown is the sentence about a name that is no member.
func (n *node) unknown(name string) string {
	spelled := access(n.label, name)
	if name == "run_code" {
		return fmt.Sprintf("%s is not callable inside a program; %s", spelled, n.listed())
	}
	if near := nearest.Names(name, n.names, 3); len(near) > 0 {
		for i := range near {
			near[i] = access(n.label, near[i])
		}
		return fmt.Sprintf("%s is not a tool; did you mean %s?", spelled, strings.Join(near, ", "))
	}
	return fmt.Sprintf("%s is not a tool; %s", spelled, n.listed())
}

// listed names what is there, up to a dozen.
func (n *node) listed() string {
	if len(n.names) == 0 {
		return "there are none"
	}
	const most = 12
	text := strings.Join(n.names[:min(len(n.names), most)], ", ")
	if rest := len(n.names) - most; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return n.label + " has " + text
}

// calledHere says whether the program text at the current position reads the
// member and calls it: tools.name( or tools["name"](.
func (r *run) calledHere(name string) bool {
	frames := r.vm.CaptureCallStack(1, nil)
	if len(frames) == 0 {
		return false
	}
	site, ok := r.authorSite(&frames[0])
	if !ok {
		return false
	}
	text := r.prog.textAt(site)
	for {
		rest := strings.TrimLeft(text[wordLen(text):], " \t\r\n!")
		if read, ok := strings.CutPrefix(rest, "."); ok {
			text = strings.TrimLeft(read, " \t\r\n")
			if n := wordLen(text); n == 0 {
				return false
			} else if text[:n] == name {
				return strings.HasPrefix(strings.TrimLeft(text[n:], " \t\r\n"), "(")
			}
			continue
		}
		for _, quote := range []string{`"`, `'`, "`"} {
			if called, ok := strings.CutPrefix(rest, "["+quote+name+quote+"]"); ok {
				return strings.HasPrefix(strings.TrimLeft(called, " \t\r\n"), "(")
			}
		}
		return false
	}
}

func wordLen(text string) int {
	for i := range len(text) {
		if !isWord(text[i]) {
			return i
		}
	}
	return len(text)
}

// call is a member called by the program.
func (r *run) call(b *boundNamespace, member string, args []goja.Value) goja.Value {
	if r.dead() {
		return goja.Undefined()
	}
	c := &call{owner: b, member: member, stack: r.vm.CaptureCallStack(stackDepth, nil)}
	c.site = r.siteOf(c.stack)
	promise, resolve, reject := r.vm.NewPromise()
	c.resolve, c.reject = resolve, reject
	if failure := r.arguments(c, args); failure != nil {
		throwUncatchable(c.reject(r.newCallError(c, failure)))
	} else if !c.over {
		r.submit(c)
	}
	return r.vm.ToValue(promise)
}

// refuseCall is a call that fails before it is one.
func (r *run) refuseCall(b *boundNamespace, member, code, message string) goja.Value {
	c := &call{owner: b, member: member, stack: r.vm.CaptureCallStack(stackDepth, nil)}
	promise, _, reject := r.vm.NewPromise()
	throwUncatchable(reject(r.newCallError(c, &runtime.CallError{Code: code, Message: message})))
	return r.vm.ToValue(promise)
}

// throwUncatchable panics with an interrupt or a stack overflow, the only errors
// that resolving a promise returns.
func throwUncatchable(err error) {
	if err != nil {
		panic(err)
	}
}

// arguments reads what a member was called with: one JSON value and options.
func (r *run) arguments(c *call, args []goja.Value) error {
	if len(args) > 2 {
		return invalidArgs("%s takes one object of arguments and one of options; it was called with %d arguments", c.label(), len(args))
	}
	text, err := r.encodeArgs(c, args)
	if err != nil {
		return err
	}
	c.args = text
	if len(args) < 2 {
		return nil
	}
	return r.options(c, args[1])
}

func invalidArgs(format string, args ...any) error {
	return &runtime.CallError{Code: codeInvalidArgs, Message: fmt.Sprintf(format, args...)}
}

// encodeArgs is the JSON text of the arguments; none at all are an empty object.
func (r *run) encodeArgs(c *call, args []goja.Value) (string, error) {
	if len(args) == 0 || goja.IsUndefined(args[0]) {
		return "{}", nil
	}
	text, err := jsvalue.Encode(r.vm, args[0], jsvalue.EncodeOptions{
		Root: "args", Bytes: r.lim.Argument, Nodes: r.lim.ResultNodes, Stop: r.dead, Prototypes: r.real.plain,
	})
	if err == nil {
		return text, nil
	}
	if jsvalue.Uncatchable(err) {
		panic(err)
	}
	if e, ok := err.(*jsvalue.Error); ok && e.Limit == jsvalue.LimitBytes {
		return "", &runtime.CallError{
			Code:    codeArgsSize,
			Message: fmt.Sprintf("the arguments of %s are larger than %d bytes (the argument limit)", c.label(), r.lim.Argument),
		}
	}
	return "", invalidArgs("the arguments of %s cannot be sent: %v", c.label(), err)
}

// options reads {signal, timeoutMs}.
func (r *run) options(c *call, v goja.Value) error {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return nil
	}
	object, ok := v.(*goja.Object)
	if _, callable := goja.AssertFunction(v); !ok || callable || object.ClassName() == "Array" {
		return invalidArgs("the second argument of %s is %s; it takes options {signal, timeoutMs}, and all arguments go into the first object", c.label(), kindOf(v))
	}
	var err error
	if ex := r.vm.Try(func() { err = r.readOptions(c, object) }); ex != nil {
		return invalidArgs("the options of %s cannot be read: %s", c.label(), r.thrownText(ex.Value()))
	}
	return err
}

func (r *run) readOptions(c *call, object *goja.Object) error {
	for _, key := range object.Keys() {
		if key != "signal" && key != "timeoutMs" {
			return invalidArgs("%s does not know the option %q; options are signal and timeoutMs, and arguments go into the first object", c.label(), key)
		}
	}
	if v := object.Get("timeoutMs"); v != nil && !goja.IsUndefined(v) {
		ms := v.ToFloat()
		if _, isNumber := v.Export().(string); isNumber || !(ms > 0 && ms <= maxDelay) {
			return invalidArgs("timeoutMs of %s is %s; it must be a number of milliseconds between 1 and %d", c.label(), v.String(), maxDelay)
		}
		c.timeout = time.Duration(ms * float64(time.Millisecond))
	}
	if v := object.Get("signal"); v != nil && !goja.IsUndefined(v) && !goja.IsNull(v) {
		return r.listen(c, v)
	}
	return nil
}

// listen ties a call to an AbortSignal.
func (r *run) listen(c *call, v goja.Value) error {
	signal, ok := v.(*goja.Object)
	var add, remove goja.Callable
	if ok {
		add, ok = goja.AssertFunction(signal.Get("addEventListener"))
	}
	if !ok {
		return invalidArgs("signal of %s is %s; it must be the signal of an AbortController", c.label(), kindOf(v))
	}
	if aborted := signal.Get("aborted"); aborted != nil && aborted.ToBoolean() {
		c.over = true
		throwUncatchable(c.reject(r.newCallError(c, r.abortedBy(c, signal))))
		return nil
	}
	event := r.vm.ToValue("abort")
	listener := r.native("", 0, func(goja.FunctionCall) goja.Value {
		throwUncatchable(r.abort(c, codeAborted, r.abortedBy(c, signal).Message))
		return goja.Undefined()
	})
	if _, err := add(signal, event, listener); err != nil {
		panic(err)
	}
	remove, _ = goja.AssertFunction(signal.Get("removeEventListener"))
	c.unlisten = func() {
		if remove != nil {
			_, err := remove(signal, event, listener)
			if jsvalue.Uncatchable(err) {
				panic(err)
			}
		}
	}
	return nil
}

func (r *run) abortedBy(c *call, signal *goja.Object) *runtime.CallError {
	text := c.label() + " was aborted"
	if ex := r.vm.Try(func() {
		if reason := signal.Get("reason"); reason != nil && !goja.IsUndefined(reason) {
			text += ": " + r.thrownText(reason)
		}
	}); ex != nil {
		text = c.label() + " was aborted"
	}
	return &runtime.CallError{Code: codeAborted, Message: text}
}

// kindOf names a value for a sentence.
func kindOf(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if _, ok := goja.AssertFunction(v); ok {
		return "a function"
	}
	if o, ok := v.(*goja.Object); ok {
		if o.ClassName() == "Array" {
			return "an array"
		}
		return "an object"
	}
	switch v.Export().(type) {
	case string:
		return "the string " + shorten(fmt.Sprintf("%q", v.String()), 60)
	case bool:
		return "the boolean " + v.String()
	case int64, float64:
		return "the number " + v.String()
	}
	return "a " + v.ExportType().String()
}

func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "…"
}
