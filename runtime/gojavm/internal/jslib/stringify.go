package jslib

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// maxReplacer bounds the names in an array that selects properties.
const maxReplacer = 100_000

// stringify is JSON.stringify (ECMA-262 25.5.4) that prints a bigint as the
// integer it is. Unlike the engine's it finds cycles in constant time, and its
// depth and its text are bounded, so that no value can end the process.
func (l *lib) stringify(call goja.FunctionCall) goja.Value {
	s := &stringifier{lib: l, open: map[*goja.Object]struct{}{}, most: l.host.MaxBytes}
	s.replacement(call.Argument(1))
	s.gap = l.gap(call.Argument(2))
	value := call.Argument(0)
	var holder *goja.Object
	if s.replacer != nil {
		holder = l.vm.NewObject()
		_ = holder.DefineDataProperty("", value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	if !s.value(holder, "", value) {
		return goja.Undefined()
	}
	return jsvalue.String(l.vm, string(s.out))
}

type stringifier struct {
	lib         *lib
	replacer    goja.Callable
	only        []string // the properties to show, nil: all
	selects     bool
	gap, indent string
	out         []byte
	open        map[*goja.Object]struct{} // the containers that are being written
	nodes       int
	most        int // longest text
	// circular and tooLong are why it threw.
	circular, tooLong bool
}

// replacement reads the second argument: a function or a list of names.
func (s *stringifier) replacement(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok {
		return
	}
	if f, ok := goja.AssertFunction(o); ok {
		s.replacer = f
		return
	}
	if !isList(o) {
		return
	}
	length := o.Get("length").ToInteger()
	if length > maxReplacer {
		s.lib.throw("RangeError", fmt.Sprintf("JSON.stringify: the list of property names is longer than %d", maxReplacer))
	}
	s.selects = true
	seen := map[string]bool{}
	for i := range length {
		name, ok := s.lib.propertyName(o.Get(strconv.FormatInt(i, 10)))
		if ok && !seen[name] {
			seen[name] = true
			s.only = append(s.only, name)
		}
	}
}

// propertyName is an element of a list of names: strings and numbers, boxed or
// not.
func (l *lib) propertyName(v goja.Value) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case goja.String:
		return jsvalue.WTF8(v), true
	case *goja.Object:
		if class := kind(v); class == "String" || class == "Number" {
			return jsvalue.WTF8(l.toString(v)), true
		}
		return "", false
	}
	if goja.IsNumber(v) {
		return v.String(), true
	}
	return "", false
}

// gap reads the third argument: how far to indent.
func (l *lib) gap(v goja.Value) string {
	const most = 10
	if o, ok := v.(*goja.Object); ok {
		switch kind(o) {
		case "Number":
			v = o.ToNumber()
		case "String":
			v = l.toString(o)
		}
	}
	if s, ok := v.(goja.String); ok {
		if s.Length() > most {
			s, _ = s.Substring(0, most).(goja.String)
		}
		return jsvalue.WTF8(s)
	}
	if goja.IsNumber(v) {
		return strings.Repeat(" ", int(min(max(v.ToInteger(), 0), most)))
	}
	return ""
}

// isList is Array.isArray.
func isList(o *goja.Object) bool {
	for isProxy(o) {
		p, ok := o.Export().(goja.Proxy)
		if !ok || p.Target() == nil {
			return false
		}
		o = p.Target()
	}
	return o.ClassName() == "Array"
}

// value writes the value of a property, or reports that it has no JSON form.
func (s *stringifier) value(holder *goja.Object, key string, v goja.Value) bool {
	s.check()
	v = s.transform(holder, key, v)
	switch v := v.(type) {
	case nil, *goja.Symbol:
		return false
	case goja.String:
		s.out = jsonscan.AppendQuote(s.out, jsvalue.WTF8(v))
		return true
	case *goja.Object:
		return s.object(v)
	}
	switch {
	case goja.IsUndefined(v):
		return false
	case goja.IsNull(v):
		s.out = append(s.out, "null"...)
	case goja.IsBigInt(v):
		s.bigInt(v)
	case v.ExportType().Kind() == reflect.Bool:
		s.out = strconv.AppendBool(s.out, v.ToBoolean())
	default:
		if f := v.ToFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
			s.out = append(s.out, "null"...)
		} else {
			s.out = append(s.out, v.String()...) // -0 prints as 0
		}
	}
	return true
}

// check keeps the text and the time in bounds.
func (s *stringifier) check() {
	if len(s.out) > s.most {
		s.tooLong = true
		s.lib.throw("RangeError", fmt.Sprintf("JSON.stringify: the text is longer than %d bytes", s.most))
	}
	s.nodes++
	if s.nodes%4096 == 0 && s.lib.host.Stop != nil && s.lib.host.Stop() {
		s.lib.throw("RangeError", "JSON.stringify was stopped")
	}
}

// transform applies toJSON, the replacer, and unboxes.
func (s *stringifier) transform(holder *goja.Object, key string, v goja.Value) goja.Value {
	if o, ok := v.(*goja.Object); ok {
		v = s.toJSON(o.Get("toJSON"), v, key)
	} else if v != nil && goja.IsBigInt(v) {
		v = s.toJSON(s.lib.ownPrototype("BigInt").Get("toJSON"), v, key)
	}
	if s.replacer != nil {
		if v == nil {
			v = goja.Undefined()
		}
		out, err := s.replacer(holder, jsvalue.String(s.lib.vm, key), v)
		if err != nil {
			panic(s.lib.failure(err))
		}
		v = out
	}
	if o, ok := v.(*goja.Object); ok {
		switch kind(o) {
		case "Number":
			return o.ToNumber()
		case "String":
			return s.lib.toString(o)
		case "Boolean":
			b, _ := o.Export().(bool)
			return s.lib.vm.ToValue(b)
		case "BigInt":
			if n, ok := o.Export().(*big.Int); ok {
				return s.lib.vm.ToValue(n)
			}
		}
	}
	return v
}

func (s *stringifier) toJSON(method, v goja.Value, key string) goja.Value {
	f, ok := goja.AssertFunction(method)
	if !ok {
		return v
	}
	out, err := f(v, jsvalue.String(s.lib.vm, key))
	if err != nil {
		panic(s.lib.failure(err))
	}
	return out
}

func (s *stringifier) bigInt(v goja.Value) {
	n, ok := v.Export().(*big.Int)
	if !ok || n.BitLen()/4 > s.most {
		s.lib.throw("RangeError", "JSON.stringify: the bigint is too large")
	}
	s.out = n.Append(s.out, 10)
}

func (s *stringifier) object(o *goja.Object) bool {
	if isRaw(o) {
		s.out = append(s.out, jsvalue.WTF8(s.lib.toString(o.Get("rawJSON")))...)
		return true
	}
	if _, callable := goja.AssertFunction(o); callable {
		return false
	}
	if _, cycle := s.open[o]; cycle {
		s.circular = true
		panic(s.lib.vm.NewTypeError("Converting circular structure to JSON"))
	}
	if len(s.open) >= jsvalue.MaxDepth {
		s.lib.throw("RangeError", fmt.Sprintf("JSON.stringify: the value is nested deeper than %d levels", jsvalue.MaxDepth))
	}
	s.open[o] = struct{}{}
	outer := s.indent
	s.indent += s.gap
	if isList(o) {
		s.array(o, outer)
	} else {
		s.members(o, outer)
	}
	s.indent = outer
	delete(s.open, o)
	return true
}

// line begins a new line where the text is indented.
func (s *stringifier) line(indent string) {
	if s.gap != "" {
		s.out = append(append(s.out, '\n'), indent...)
	}
}

func (s *stringifier) array(o *goja.Object, outer string) {
	length := o.Get("length").ToInteger()
	s.out = append(s.out, '[')
	for i := range length {
		if i > 0 {
			s.out = append(s.out, ',')
		}
		s.line(s.indent)
		key := strconv.FormatInt(i, 10)
		if !s.value(o, key, o.Get(key)) {
			s.out = append(s.out, "null"...)
		}
	}
	if length > 0 {
		s.line(outer)
	}
	s.out = append(s.out, ']')
}

func (s *stringifier) members(o *goja.Object, outer string) {
	keys := s.only
	if !s.selects {
		keys = o.Keys()
	}
	var values map[string]goja.Value
	for _, key := range keys {
		if strings.ContainsRune(key, utf8.RuneError) || !utf8.ValidString(key) {
			values = s.odd(o, &keys)
			break
		}
	}
	s.out = append(s.out, '{')
	wrote := false
	for _, key := range keys {
		start := len(s.out)
		if wrote {
			s.out = append(s.out, ',')
		}
		s.line(s.indent)
		s.out = append(jsonscan.AppendQuote(s.out, key), ':')
		if s.gap != "" {
			s.out = append(s.out, ' ')
		}
		v, known := values[key]
		if !known {
			v = o.Get(key)
		}
		if !s.value(o, key, v) {
			s.out = s.out[:start]
			continue
		}
		wrote = true
	}
	if wrote {
		s.line(outer)
	}
	s.out = append(s.out, '}')
}

// odd reads an object whose names the engine's string API cannot spell.
func (s *stringifier) odd(o *goja.Object, keys *[]string) map[string]goja.Value {
	names, values, err := jsvalue.Entries(s.lib.vm, o)
	if err != nil {
		panic(s.lib.failure(err))
	}
	byName := make(map[string]goja.Value, len(names))
	for i, name := range names {
		byName[name] = values[i]
	}
	if !s.selects {
		*keys = names
	}
	return byName
}

func isRaw(o *goja.Object) bool { return !isProxy(o) && o.ClassName() == "RawJSON" }
