package gojavm

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

const (
	// stackDepth is how many frames of a call's stack are kept.
	stackDepth = 10
	// maxFrames is how many frames a failure shows.
	maxFrames = 10
	// shownValue is how much of a thrown value that is no error is shown.
	shownValue = 2_000
)

// unrenderable is what is said of a thrown value whose text cannot be had; DSH's
// words.
const unrenderable = "program threw an unrenderable value"

// engineFailed is the failure of a run in which the engine itself panicked. A slice
// that Go refuses to make was more than any memory holds.
func engineFailed(x any) runtime.Failure {
	if text := fmt.Sprint(x); strings.Contains(text, "makeslice") || strings.Contains(text, "growslice") {
		return runtime.Failure{
			Kind:    runtime.MemoryLimit,
			Message: "one step asked for more memory than there can be",
			Hint:    "process data in smaller parts",
		}
	}
	return runtime.Failure{Kind: runtime.Exception, Message: fmt.Sprintf("the engine failed: %v", x)}
}

// caught ends the run with what a turn returned. It runs inside the turn, so
// that the limits hold while a thrown value is rendered.
func (r *run) caught(err error) {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	var exception *goja.Exception
	switch {
	case errors.As(err, &interrupted):
		r.stoppedAt(interrupted.Stack())
	case errors.As(err, &overflow):
		r.stopWith(r.placed(r.tooDeep(), r.siteOf(overflow.Stack())))
	case errors.As(err, &exception):
		r.threw(exception.Value(), exception.Stack())
	default:
		r.stopWith(engineFailed(err))
	}
}

// tooDeep is the failure of a program whose calls nest beyond the limit.
func (r *run) tooDeep() runtime.Failure {
	return runtime.Failure{
		Kind:    runtime.Exception,
		Message: fmt.Sprintf("call depth exceeded (%d nested calls)", r.lim.Depth),
		Hint:    "replace the recursion by a loop",
	}
}

// stoppedAt adds the place where the program was stopped to the failure.
func (r *run) stoppedAt(stack []goja.StackFrame) {
	site := r.siteOf(stack)
	if site.Line == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil && r.failure.Site.Line == 0 && !r.settled {
		f := r.placed(*r.failure, site)
		r.failure = &f
	}
}

// placed gives a failure a place and its source lines.
func (r *run) placed(f runtime.Failure, site runtime.Site) runtime.Failure {
	f.Site = site
	if site.Line > 0 {
		f.Frame = runtime.CodeFrame(r.req.Program, site)
	}
	return f
}

// threw ends the run with a value that the program threw.
func (r *run) threw(v goja.Value, stack []goja.StackFrame) {
	var f runtime.Failure
	err := contained(func() error {
		f = r.describe(v, stack)
		return nil
	})
	if err != nil {
		f = runtime.Failure{Message: unrenderable}
	}
	f.Kind = runtime.Exception
	r.stopWith(f)
}

// describe renders a thrown value. It may panic with an interrupt.
func (r *run) describe(v goja.Value, stack []goja.StackFrame) runtime.Failure {
	f := r.describeValue(v, stack)
	if f.Site.Line == 0 {
		f = r.placed(f, r.ended)
	}
	return f
}

func (r *run) describeValue(v goja.Value, stack []goja.StackFrame) runtime.Failure {
	object, isObject := v.(*goja.Object)
	if !isObject {
		return r.placed(runtime.Failure{Message: primitiveText(v)}, r.thrownAt(v, stack))
	}
	if !r.isError(object) {
		return r.placed(runtime.Failure{Message: r.thrownText(v)}, r.thrownAt(v, stack))
	}
	f := runtime.Failure{Message: unrenderable}
	var stackText string
	ex := r.vm.Try(func() {
		name, message := r.textOf(object, "name", "Error"), r.textOf(object, "message", "")
		f.Name, f.Message = name, joinError(name, message)
		f.Code = r.ownText(object, "code")
		stackText = r.ownText(object, "stack")
		for _, class := range r.classes {
			if class.Property != "" && r.inherits(object, class.prototype) {
				f.Tool = r.ownText(object, class.Property)
			}
		}
	})
	if ex != nil {
		return r.placed(runtime.Failure{Message: unrenderable}, r.siteOf(stack))
	}
	if own, ok := r.thrown.at(object); ok {
		f.Stack = r.frames(own)
	} else if f.Stack = r.parseStack(stackText); len(f.Stack) == 0 {
		f.Stack = r.frames(stack)
	}
	f.Stack = r.withoutConstructors(f.Stack)
	if len(f.Stack) > 0 {
		f = r.placed(f, f.Stack[0].Site)
	}
	r.explain(&f, byNative(stackText))
	f.Message += r.reasons(object)
	return f
}

// withoutConstructors drops the leading frames that are calls of super: the
// author wants to see where the error was made, not its class.
func (r *run) withoutConstructors(frames []runtime.Frame) []runtime.Frame {
	for len(frames) > 1 && strings.HasPrefix(r.prog.textAt(frames[0].Site), "super") {
		frames = frames[1:]
	}
	return frames
}

// joinError is ECMA-262's Error.prototype.toString.
func joinError(name, message string) string {
	switch {
	case name == "":
		return message
	case message == "":
		return name
	}
	return name + ": " + message
}

// mixedNumbers is what the engine says of 1n + 1. Programs meet it without
// writing a BigInt: large integers of tools are some.
const mixedNumbers = "Cannot mix BigInt and other types, use explicit conversions"

// mixedAdvice is what a program's author is told about it.
const mixedAdvice = "; a large integer is a BigInt: use Number(x) or String(x)"

// catching is the function that a caught value is shown to first: what the engine
// says of an error becomes what the author's text shows. What throws here, such
// as a revoked Proxy, is the program's to meet.
func (r *run) catching(c goja.FunctionCall) goja.Value {
	object, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return goja.Undefined()
	}
	_ = r.vm.Try(func() {
		if object.ClassName() != "Error" {
			return
		}
		if text, ok := object.Get("message").(goja.String); ok {
			r.reword(object, text.String())
		}
	})
	return goja.Undefined()
}

// reword replaces the message of an engine's error, and with it the first line of
// its stack. A frozen error keeps what it says.
func (r *run) reword(object *goja.Object, text string) {
	said, stack := text, r.ownText(object, "stack")
	switch {
	case text == mixedNumbers:
		said += mixedAdvice
	case saysAny(text):
		if saysInsides(text) {
			said = withoutInsides(text)
		}
		if frames := r.parseStack(stack); len(frames) > 0 {
			said = r.prog.reworded(said, frames[0].Site, byNative(stack))
		}
	}
	if said == text {
		return
	}
	for name, value := range map[string]string{"message": said, "stack": strings.Replace(stack, text, said, 1)} {
		_ = object.DefineDataProperty(name, r.vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// explain makes of what the engine says what the author's text shows, and adds a
// hint: for a name that is not there, a call of what is no function, a member of
// what is not there. native says that a function of the engine's own threw.
func (r *run) explain(f *runtime.Failure, native bool) {
	text, ok := strings.CutPrefix(f.Message, f.Name+": ")
	if !ok {
		return
	}
	switch f.Name {
	case "ReferenceError":
		r.explainName(f, text)
	case "TypeError":
		if r.explainMissed(f, text) {
			return
		}
		if text == mixedNumbers {
			f.Message += mixedAdvice
			return
		}
		text = r.prog.reworded(text, f.Site, native)
		f.Message, f.Hint = "TypeError: "+text, r.prog.advise(text, f.Site)
		f.Hint = cmp.Or(r.unawaited(text, f.Site), f.Hint)
	default:
		f.Message, f.Hint = f.Name+": "+r.prog.reworded(text, f.Site, native), r.prog.syntaxHint(text, runtime.Site{})
	}
}

// explainName is explain for a name that cannot be used.
func (r *run) explainName(f *runtime.Failure, text string) {
	name, missing := strings.CutSuffix(text, " is not defined")
	switch {
	case name == "require" && strings.HasPrefix(r.prog.textAt(f.Site), "import"):
		f.Message, f.Hint = "ReferenceError: import() is not available", noModules.says
	case missing:
		if f.Hint = r.hintFor(name); f.Hint == "" {
			f.Hint = r.prog.nearWord(name)
		}
	default:
		f.Message = "ReferenceError: " + r.prog.reworded(text, f.Site, false)
	}
}

// explainMissed is explain for a call of what was read from a namespace and is
// not there.
func (r *run) explainMissed(f *runtime.Failure, text string) bool {
	name := ""
	switch {
	case text == saysNotObject+"undefined":
		name = r.prog.textAt(f.Site)
		name = name[:wordLen(name)]
	case strings.HasPrefix(text, saysMember):
		name = strings.TrimSuffix(text[len(saysMember):], "'")
	}
	owner, ok := r.missed[name]
	if !ok {
		return false
	}
	f.Message = fmt.Sprintf("TypeError: %s is not a tool", access(owner, name))
	if text == saysNotObject+"undefined" {
		f.Message = fmt.Sprintf("TypeError: %s is not a function; %s is not a tool", name, access(owner, name))
	}
	f.Hint = r.memberHint(name)
	return true
}

// primitiveText is a thrown primitive as text; a string is itself.
func primitiveText(v goja.Value) string {
	if v == nil {
		return "undefined"
	}
	if s, ok := v.(goja.String); ok {
		return jsvalue.WTF8(s)
	}
	if s, ok := v.(*goja.Symbol); ok {
		return "Symbol(" + s.String() + ")"
	}
	return v.String()
}

// thrownText renders a value that is no error: by its own toString if it has
// one, else as console.log would.
func (r *run) thrownText(v goja.Value) string {
	object, ok := v.(*goja.Object)
	if !ok {
		return primitiveText(v)
	}
	text := unrenderable
	if ex := r.vm.Try(func() {
		if r.isError(object) {
			message := r.textOf(object, "message", "")
			if saysInsides(message) {
				message = withoutInsides(message)
			}
			text = joinError(r.textOf(object, "name", "Error"), message)
			return
		}
		if own, ok := object.Get("toString").(*goja.Object); ok && own != r.real.objectToString() && own != r.real.arrayToString {
			text = jsvalue.WTF8(object.ToString().(goja.String))
			return
		}
		text = jslib.Inspect(r.vm, v, jslib.InspectOptions{MaxBytes: shownValue})
	}); ex != nil {
		return unrenderable
	}
	return text
}

// isError says whether an object is an Error or inherits from one.
func (r *run) isError(object *goja.Object) bool {
	yes := false
	_ = r.vm.Try(func() { yes = object.ClassName() == "Error" || r.inherits(object, r.real.get("Error", "prototype")) })
	return yes
}

// inherits walks the prototypes of object, a bounded number of them.
func (r *run) inherits(object, prototype *goja.Object) bool {
	if prototype == nil {
		return false
	}
	for range 100 {
		object = object.Prototype()
		if object == nil {
			return false
		}
		if object == prototype {
			return true
		}
	}
	return false
}

// textOf reads a property as text.
func (r *run) textOf(object *goja.Object, name, missing string) string {
	v := object.Get(name)
	if v == nil || goja.IsUndefined(v) {
		return missing
	}
	if _, ok := v.(*goja.Symbol); ok {
		panic(r.vm.NewTypeError("not a text"))
	}
	return jsvalue.WTF8(v.ToString().(goja.String))
}

// ownText reads a property that is text or a number, and is empty otherwise.
func (r *run) ownText(object *goja.Object, name string) string {
	v := object.Get(name)
	switch v.(type) {
	case nil, *goja.Object, *goja.Symbol:
		return ""
	}
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}

// siteOf is the first place in the author's text.
func (r *run) siteOf(stack []goja.StackFrame) runtime.Site {
	for i := range stack {
		if site, ok := r.authorSite(&stack[i]); ok {
			return site
		}
	}
	return runtime.Site{}
}

func (r *run) authorSite(f *goja.StackFrame) (runtime.Site, bool) {
	if r.prog == nil || f.SrcName() != r.prog.file.Name() {
		return runtime.Site{}, false
	}
	site, known := r.sites[*f]
	if !known {
		if position := f.Position(); position.Filename == r.prog.name {
			site = runtime.Site{Line: position.Line, Column: position.Column}
		}
		put(&r.sites, *f, site)
	}
	return site, site.Line > 0
}
