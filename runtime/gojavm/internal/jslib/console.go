package jslib

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// console is the state behind one console object.
type console struct {
	lib    *lib
	indent int
	counts map[string]int
	timers map[string]time.Time
}

// maxLabels and maxLabel, in bytes, bound what count and time remember.
const (
	maxLabels = 1000
	maxLabel  = 4096
)

// newConsole makes the global console.
func (l *lib) newConsole() *goja.Object {
	c := &console{lib: l, counts: map[string]int{}, timers: map[string]time.Time{}}
	object := l.vm.NewObject()
	print := func(level string) func(args []goja.Value) {
		return func(args []goja.Value) { c.print(level, args) }
	}
	for _, m := range []struct {
		name string
		f    func(args []goja.Value)
	}{ // in Node's order
		{"log", print("log")},
		{"warn", print("warn")},
		{"dir", c.dir},
		{"time", c.time},
		{"timeEnd", func(args []goja.Value) { c.elapsed(args, true) }},
		{"timeLog", func(args []goja.Value) { c.elapsed(args, false) }},
		{"trace", func(args []goja.Value) { c.write("error", c.trace(args)) }},
		{"assert", c.assert},
		{"clear", func([]goja.Value) {}},
		{"count", c.count},
		{"countReset", c.countReset},
		{"group", c.group},
		{"groupEnd", func([]goja.Value) { c.indent = max(c.indent-2, 0) }},
		{"table", c.table},
		{"debug", print("debug")},
		{"info", print("info")},
		{"dirxml", print("log")},
		{"error", print("error")},
		{"groupCollapsed", c.group},
	} {
		l.method(object, m.name, 0, func(call goja.FunctionCall) goja.Value {
			m.f(call.Arguments)
			return goja.Undefined()
		})
	}
	return object
}

func (c *console) options() InspectOptions {
	return InspectOptions{Stack: c.lib.host.Stack}
}

func (c *console) print(level string, args []goja.Value) {
	c.write(level, c.lib.format(args, c.options()))
}

// write hands one entry over, indented by the groups that are open.
func (c *console) write(level, text string) {
	if c.lib.host.Console == nil {
		return
	}
	if c.indent > 0 {
		pad := strings.Repeat(" ", c.indent)
		text = pad + strings.ReplaceAll(text, "\n", "\n"+pad)
		text = cut(text, c.lib.host.MaxConsoleBytes)
	}
	c.lib.host.Console(level, text)
}

func (c *console) trace(args []goja.Value) string {
	text := "Trace"
	if len(args) > 0 {
		text += ": " + c.lib.format(args, c.options())
	}
	var lines []string
	for i, frame := range c.lib.vm.CaptureCallStack(12, nil) {
		if i == 0 {
			continue // console.trace itself
		}
		at := frame.Position().String()
		if name := frame.FuncName(); name != "" {
			at = name + " (" + at + ")"
		}
		lines = append(lines, "    at "+at)
	}
	frames := strings.Join(lines, "\n")
	if c.lib.host.Stack != nil {
		frames = strings.TrimRight(c.lib.host.Stack(frames), "\n")
	}
	if frames == "" {
		return text
	}
	return text + "\n" + frames
}

func (c *console) assert(args []goja.Value) {
	if len(args) > 0 && args[0].ToBoolean() {
		return
	}
	message := []goja.Value{c.lib.vm.ToValue("Assertion failed")}
	if len(args) > 1 {
		if s, ok := args[1].(goja.String); ok {
			message = append([]goja.Value{c.lib.vm.ToValue("Assertion failed: " + s.String())}, args[2:]...)
		} else {
			message = append([]goja.Value{c.lib.vm.ToValue("Assertion failed:")}, args[1:]...)
		}
	}
	c.print("warn", message)
}

func (c *console) dir(args []goja.Value) {
	o := c.options()
	o.MaxBytes = c.lib.host.MaxConsoleBytes
	if len(args) > 1 {
		if settings, ok := args[1].(*goja.Object); ok {
			c.dirOptions(settings, &o)
		}
	}
	var v goja.Value = goja.Undefined()
	if len(args) > 0 {
		v = args[0]
	}
	c.write("log", c.lib.inspector.inspect(v, o))
}

// dirOptions reads the options of console.dir. Getters are never called, whatever
// getters says, and colors and compact change nothing.
func (c *console) dirOptions(settings *goja.Object, o *InspectOptions) {
	const deepest, most = 100, 1 << 20
	in := c.lib.inspector
	// limit reads a number of which null and Infinity mean all.
	limit := func(name string, zero, all int, into *int) {
		v := in.data(settings, name)
		switch {
		case v == nil || goja.IsUndefined(v):
		case goja.IsNull(v):
			*into = all
		case goja.IsNumber(v):
			if *into = int(min(max(v.ToFloat(), 0), float64(all))); *into == 0 {
				*into = zero
			}
		}
	}
	limit("depth", depthZero, deepest, &o.Depth)
	limit("maxArrayLength", -1, most, &o.Array)
	limit("maxStringLength", -1, most, &o.String)
	limit("breakLength", 1, most, &o.Break)
	flag := func(name string) bool {
		v := in.data(settings, name)
		return v != nil && v.ToBoolean()
	}
	o.Hidden, o.Sorted = flag("showHidden"), flag("sorted")
}

func (c *console) group(args []goja.Value) {
	if len(args) > 0 {
		c.print("log", args)
	}
	const deepest = 100
	c.indent = min(c.indent+2, deepest)
}

// label is the name a counter or a timer goes by.
func (c *console) label(args []goja.Value) string {
	if len(args) == 0 || goja.IsUndefined(args[0]) {
		return "default"
	}
	if symbol, ok := args[0].(*goja.Symbol); ok {
		return symbolText(symbol)
	}
	return cut(args[0].String(), maxLabel)
}

func (c *console) count(args []goja.Value) {
	label := c.label(args)
	if _, ok := c.counts[label]; !ok && len(c.counts) >= maxLabels {
		return
	}
	c.counts[label]++
	c.write("log", label+": "+strconv.Itoa(c.counts[label]))
}

func (c *console) countReset(args []goja.Value) {
	label := c.label(args)
	if _, ok := c.counts[label]; !ok {
		c.write("warn", "Count for '"+label+"' does not exist")
	}
	delete(c.counts, label)
}

func (c *console) time(args []goja.Value) {
	label := c.label(args)
	if _, ok := c.timers[label]; ok {
		c.write("warn", "Label '"+label+"' already exists for console.time()")
		return
	}
	if len(c.timers) < maxLabels {
		c.timers[label] = c.lib.host.Now()
	}
}

func (c *console) elapsed(args []goja.Value, end bool) {
	label := c.label(args)
	start, ok := c.timers[label]
	if !ok {
		name := "timeLog"
		if end {
			name = "timeEnd"
		}
		c.write("warn", "No such label '"+label+"' for console."+name+"()")
		return
	}
	text := label + ": " + duration(c.lib.host.Now().Sub(start))
	if end {
		delete(c.timers, label)
	} else if len(args) > 1 {
		text += " " + c.lib.format(args[1:], c.options())
	}
	c.write("log", text)
}

// duration prints elapsed time as Node does: 1.234ms, 2.000s, 1:02.500 (m:ss.mmm).
func duration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%d:%02d:%02d (h:mm:ss)", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d:%06.3f (m:ss.mmm)", int(d.Minutes()), (d % time.Minute).Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.3fs", d.Seconds())
	}
	ms := strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(ms, "0"), ".") + "ms"
}
