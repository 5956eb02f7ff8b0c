package jslib

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// installJSON replaces JSON.parse, which in the engine rounds integers, loses
// unpaired surrogates and gives no positions, and JSON.stringify, which refuses
// bigints.
func (l *lib) installJSON() error {
	if !l.hasGlobal("JSON") {
		return nil
	}
	object, err := l.object("JSON")
	if err != nil {
		return err
	}
	l.method(object, "parse", 2, l.parse)
	l.method(object, "stringify", 3, l.stringify)
	return nil
}

// parse is JSON.parse with integers beyond ±(2^53-1) as bigints.
func (l *lib) parse(call goja.FunctionCall) goja.Value {
	text := jsvalue.WTF8(l.toString(call.Argument(0)))
	if !utf8.ValidString(text) {
		text = escapeSurrogates(text)
	}
	v, err := l.decodeJSON(text)
	if err != nil {
		l.throwJSON(text, err)
	}
	if reviver, ok := goja.AssertFunction(call.Argument(1)); ok {
		root := l.vm.NewObject()
		_ = root.DefineDataProperty("", v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		r := &revival{lib: l, reviver: reviver}
		return r.walk(root, "", 0)
	}
	return v
}

func (l *lib) decodeJSON(text string) (goja.Value, error) {
	if text == "" {
		return nil, &jsonscan.Error{Problem: "unexpected end of text, expected a value"}
	}
	return jsvalue.Decode(l.vm, text, jsvalue.DecodeOptions{Infinity: true, Stop: l.host.Stop, Bytes: l.host.MaxBytes})
}

// escapeSurrogates spells unpaired surrogates, which a script's string may hold
// as they are, as escapes.
func escapeSurrogates(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := jsonscan.DecodeRune(text[i:])
		if 0xD800 <= r && r < 0xE000 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// throwJSON says what is wrong with a text and where.
func (l *lib) throwJSON(text string, err error) {
	var syntax *jsonscan.Error
	var bound *jsvalue.RangeError
	switch {
	case errors.As(err, &syntax):
		l.throw("SyntaxError", "JSON.parse: "+syntax.Problem+" "+place(text, syntax.Offset))
	case errors.As(err, &bound):
		l.throw("RangeError", "JSON.parse: "+bound.Problem)
	case errors.Is(err, jsvalue.ErrStopped):
		l.throw("RangeError", "JSON.parse was stopped")
	}
	panic(l.failure(err))
}

// place describes an offset in bytes as scripts count, with the text around it.
func place(text string, offset int) string {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	line := strings.Count(before, "\n") + 1
	column := width(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	near := strings.ToValidUTF8(text[max(offset-20, 0):min(offset+20, len(text))], "")
	out := fmt.Sprintf("at position %d (line %d column %d)", width(before), line, column)
	if near != "" {
		out += ", near " + strconv.Quote(near)
	}
	return out
}

// revival is one walk of a reviver over what JSON.parse built.
type revival struct {
	lib     *lib
	reviver goja.Callable
}

// walk revives the children of holder[key] and then itself. A reviver may keep
// adding levels, so depth is bounded.
func (r *revival) walk(holder *goja.Object, key string, depth int) goja.Value {
	if depth > 2*jsvalue.MaxDepth {
		r.lib.throw("RangeError", fmt.Sprintf("JSON.parse: the reviver nests deeper than %d levels", 2*jsvalue.MaxDepth))
	}
	value := holder.Get(key)
	if value == nil {
		value = goja.Undefined()
	}
	if o, ok := value.(*goja.Object); ok {
		r.children(o, depth)
	}
	out, err := r.reviver(holder, r.lib.vm.ToValue(key), value)
	if err != nil {
		panic(r.lib.failure(err))
	}
	return out
}

func (r *revival) children(o *goja.Object, depth int) {
	if isArray(o) {
		for i := int64(0); i < o.Get("length").ToInteger(); i++ {
			r.child(o, strconv.FormatInt(i, 10), depth)
		}
		return
	}
	for _, key := range o.Keys() {
		r.child(o, key, depth)
	}
}

func (r *revival) child(o *goja.Object, key string, depth int) {
	v := r.walk(o, key, depth+1)
	if goja.IsUndefined(v) {
		_ = o.Delete(key)
		return
	}
	_ = o.DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
