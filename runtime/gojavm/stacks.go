package gojavm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// thrownPlace is where the program last threw a value that was there before.
type thrownPlace struct {
	value goja.Value
	stack []goja.StackFrame
}

// throwing is the function that what is thrown passes through unless it is made
// right there. Errors know their place themselves.
func (r *run) throwing(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if object, ok := v.(*goja.Object); ok && r.isError(object) {
		return v
	}
	r.throw.value = v
	r.throw.stack = r.vm.CaptureCallStack(stackDepth, r.throw.stack[:0])
	return v
}

// thrownAt is the place of a thrown value that is no error: where the engine
// says, or else the last throw of that value.
func (r *run) thrownAt(v goja.Value, stack []goja.StackFrame) runtime.Site {
	if site := r.siteOf(stack); site.Line > 0 || r.throw.value == nil || v == nil || !r.throw.value.SameAs(v) {
		return site
	}
	return r.siteOf(r.throw.stack)
}

// engineStack begins the frames of a stack as the engine writes them.
const engineStack = "\n\tat "

// tidyStack is the function that an object passes through before its property
// stack is read. The stack that the engine made becomes one like V8's: the
// author's frames alone, without the engine's counters.
func (r *run) tidyStack(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	object, ok := v.(*goja.Object)
	if !ok || object.ClassName() != "Error" {
		return v
	}
	d, err := r.real.call("getOwnPropertyDescriptor", object, r.vm.ToValue("stack"))
	if err != nil {
		panic(err)
	}
	descriptor, ok := d.(*goja.Object)
	if !ok {
		return v
	}
	text, ok := descriptor.Get("value").(goja.String)
	if !ok {
		return v
	}
	head, frames, ok := strings.Cut(text.String(), engineStack)
	if !ok {
		return v
	}
	var b strings.Builder
	b.WriteString(head)
	for _, f := range r.withoutConstructors(r.parseStack(engineStack + frames)) {
		writeFrame(&b, r.prog.name, f)
	}
	// A frozen error keeps what it has.
	_ = object.DefineDataProperty("stack", r.vm.ToValue(b.String()), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return v
}

// frames translates a stack and drops what is not the author's.
func (r *run) frames(stack []goja.StackFrame) []runtime.Frame {
	var frames []runtime.Frame
	for i := range stack {
		if site, ok := r.authorSite(&stack[i]); ok && len(frames) < maxFrames {
			frames = append(frames, runtime.Frame{Function: functionName(stack[i].FuncName()), Site: site})
		}
	}
	return frames
}

func functionName(name string) string {
	if name == "<anonymous>" || name == exportName.String() {
		return ""
	}
	return name
}

// stackText is a stack as scripts know it, each frame on a line.
func (r *run) stackText(stack []goja.StackFrame) string {
	var b strings.Builder
	for _, f := range r.frames(stack) {
		writeFrame(&b, r.prog.name, f)
	}
	return b.String()
}

func writeFrame(b *strings.Builder, name string, f runtime.Frame) {
	place := fmt.Sprintf("%s:%d:%d", name, f.Site.Line, f.Site.Column)
	if f.Function != "" {
		place = f.Function + " (" + place + ")"
	}
	b.WriteString("\n    at " + place)
}

// stackLine is a frame in the text of a stack: a place, behind which the engine
// writes a counter of its own.
var stackLine = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+?):(\d+):(\d+)(?:\(\d+\))?\)?$`)

// parseStack reads the frames of the author's program from the text of an
// error's stack, which is where the engine keeps them.
func (r *run) parseStack(text string) []runtime.Frame {
	var frames []runtime.Frame
	for line := range strings.Lines(text) {
		if f, ok := r.parseFrame(strings.TrimRight(line, "\n")); ok && len(frames) < maxFrames {
			frames = append(frames, f)
		}
	}
	return frames
}

// byNative says whether the first frame of an engine's stack is one of its own
// functions.
func byNative(stack string) bool {
	_, frames, _ := strings.Cut(stack, engineStack)
	first, _, _ := strings.Cut(frames, "\n")
	return strings.HasSuffix(first, "(native)")
}

func (r *run) parseFrame(line string) (runtime.Frame, bool) {
	m := stackLine.FindStringSubmatch(line)
	if m == nil || m[2] != r.prog.name {
		return runtime.Frame{}, false
	}
	row, _ := strconv.Atoi(m[3])
	column, _ := strconv.Atoi(m[4])
	site := runtime.Site{Line: row, Column: column}
	return runtime.Frame{Function: m[1], Site: site}, row >= 1 && row <= len(r.prog.lines)
}
