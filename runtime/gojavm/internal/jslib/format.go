package jslib

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// format joins console arguments as Node does: a first string with % codes
// consumes arguments, strings stand raw, everything else is inspected, one
// space between them. The text is bounded while it is made.
func (l *lib) format(args []goja.Value, o InspectOptions) string {
	f := &formatter{lib: l, args: args, o: o, left: l.host.MaxConsoleBytes}
	f.run()
	return cut(f.out.String(), l.host.MaxConsoleBytes)
}

type formatter struct {
	lib  *lib
	args []goja.Value
	o    InspectOptions
	out  strings.Builder
	left int
}

func (f *formatter) run() {
	next, join := 0, ""
	if first, ok := f.first(); ok && len(f.args) > 1 {
		if used := f.codes(first); used > 0 {
			next, join = used, " "
		}
	}
	for ; next < len(f.args); next++ {
		if f.left <= 0 {
			// One byte more than fits makes the cut visible.
			f.out.WriteString(cutMark)
			return
		}
		f.write(join)
		f.write(f.plain(f.args[next]))
		join = " "
	}
}

func (f *formatter) first() (string, bool) {
	if len(f.args) == 0 {
		return "", false
	}
	s, ok := f.args[0].(goja.String)
	if !ok || s.Length() > f.lib.host.MaxConsoleBytes {
		return "", false
	}
	return text(s), true
}

// text is a string for people: unpaired surrogates become U+FFFD.
func text(s goja.String) string { return s.String() }

func (f *formatter) write(s string) {
	if f.left < 0 {
		return
	}
	f.out.WriteString(s)
	f.left -= len(s)
}

// plain is an argument that no % code consumed.
func (f *formatter) plain(v goja.Value) string {
	if s, ok := v.(goja.String); ok {
		return f.short(s)
	}
	o := f.o
	o.MaxBytes = max(f.left, 64)
	return f.lib.inspector.inspect(v, o)
}

// short is a string without the part that would be cut anyway.
func (f *formatter) short(s goja.String) string {
	if most := max(f.left, 0) + 1; s.Length() > most {
		if part, ok := s.Substring(0, most).(goja.String); ok {
			s = part
		}
	}
	return text(s)
}

// codes writes the first argument with its % codes replaced and returns how
// many arguments that took, itself included; 0 when it holds none.
func (f *formatter) codes(first string) int {
	used, last := 0, 0
	replaced := false
	for i := 0; i < len(first)-1; i++ {
		if first[i] != '%' {
			continue
		}
		i++
		code := first[i]
		if code == '%' {
			f.write(first[last:i])
			last, replaced = i+1, true
			continue
		}
		if used+1 == len(f.args) || !strings.ContainsRune("sdifjoOc", rune(code)) {
			continue
		}
		used++
		f.write(first[last : i-1])
		f.write(f.code(code, f.args[used]))
		last, replaced = i+1, true
	}
	if !replaced {
		return 0
	}
	f.write(first[last:])
	return used + 1
}

func (f *formatter) code(code byte, v goja.Value) string {
	o := f.o
	o.MaxBytes = max(f.left, 64)
	switch code {
	case 's':
		return f.asString(v)
	case 'd':
		return f.number(v, func(v goja.Value) float64 { return v.ToFloat() })
	case 'i':
		return f.number(v, func(v goja.Value) float64 { return parseInt(v.String()) })
	case 'f':
		if goja.IsBigInt(v) {
			return v.String()
		}
		return f.number(v, func(v goja.Value) float64 { return parseFloat(v.String()) })
	case 'j':
		return f.json(v)
	case 'o':
		o.Depth, o.Hidden = 4, true
		return f.lib.inspector.inspect(v, o)
	case 'O':
		return f.lib.inspector.inspect(v, o)
	default: // 'c': styles are dropped
		return ""
	}
}

// asString is %s: primitives as they print, an object that has a toString of
// its own by it, any other inspected without its inner objects.
func (f *formatter) asString(v goja.Value) string {
	switch v := v.(type) {
	case goja.String:
		return f.short(v)
	case *goja.Symbol:
		return symbolText(v)
	case *goja.Object:
		if s, ok := f.ownText(v); ok {
			return s
		}
		o := f.o
		o.Depth, o.MaxBytes = depthZero, max(f.left, 64)
		return f.lib.inspector.inspect(v, o)
	}
	return f.lib.inspector.inspect(v, f.o)
}

// ownText calls a toString the program defined. One that throws is ignored.
func (f *formatter) ownText(o *goja.Object) (string, bool) {
	in := f.lib.inspector
	if strings.HasSuffix(o.ClassName(), "Function") {
		return f.callToString(o)
	}
	for p := o; p != nil && !isProxy(p); p = p.Prototype() {
		if _, ok := in.data(p, "toString").(*goja.Object); !ok {
			continue
		}
		if p == in.plain || p != o && in.builtIn(p) {
			return "", false
		}
		return f.callToString(o)
	}
	return "", false
}

func (f *formatter) callToString(o *goja.Object) (text string, ok bool) {
	ex := f.lib.vm.Try(func() {
		text, ok = f.short(f.lib.toString(o)), true
	})
	return text, ok && ex == nil
}

func (f *formatter) number(v goja.Value, parse func(goja.Value) float64) string {
	if _, ok := v.(*goja.Symbol); ok {
		return "NaN"
	}
	if goja.IsBigInt(v) {
		return numberText(v)
	}
	n := math.NaN()
	if ex := f.lib.vm.Try(func() { n = parse(v) }); ex != nil {
		return "NaN"
	}
	return numberText(f.lib.vm.ToValue(n))
}

// json is %j: JSON.stringify, save that what it refuses is inspected.
func (f *formatter) json(v goja.Value) string {
	s := &stringifier{lib: f.lib, open: map[*goja.Object]struct{}{}, most: max(f.left, 64)}
	text := "undefined"
	ex := f.lib.vm.Try(func() {
		if s.value(nil, "", v) {
			text = string(s.out)
		}
	})
	switch {
	case ex == nil:
		return text
	case s.circular:
		return "[Circular]"
	case s.tooLong:
		return string(s.out) // and more than fits, so that it is cut
	default:
		return f.lib.inspector.inspect(v, f.o)
	}
}

// parseInt and parseFloat read the number at the start of a string as the
// functions of the same names do.
func parseInt(s string) float64 {
	s = strings.TrimSpace(s)
	sign := 1.0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		if n, err := strconv.ParseUint(prefixOf(s[2:], "0123456789abcdefABCDEF"), 16, 64); err == nil {
			return sign * float64(n)
		}
		return math.NaN()
	}
	n, err := strconv.ParseFloat(prefixOf(s, "0123456789"), 64)
	if err != nil {
		return math.NaN()
	}
	return sign * n
}

func prefixOf(s, set string) string {
	return s[:len(s)-len(strings.TrimLeft(s, set))]
}

func parseFloat(s string) float64 {
	s = strings.TrimSpace(s)
	for _, infinity := range []string{"Infinity", "+Infinity"} {
		if strings.HasPrefix(s, infinity) {
			return math.Inf(1)
		}
	}
	if strings.HasPrefix(s, "-Infinity") {
		return math.Inf(-1)
	}
	candidate := prefixOf(s, "0123456789+-.eE")
	for ; candidate != ""; candidate = candidate[:len(candidate)-1] {
		if n, err := strconv.ParseFloat(candidate, 64); err == nil {
			return n
		}
	}
	return math.NaN()
}
