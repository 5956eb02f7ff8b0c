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

// jsonLib is the engine's own functions behind JSON.
type jsonLib struct {
	stringify goja.Callable
	raw       goja.Callable
}

// installJSON replaces JSON.parse, which in the engine rounds integers, loses
// unpaired surrogates and gives no positions, and teaches JSON.stringify to
// print bigints as integers.
func (l *lib) installJSON() error {
	object, ok := l.vm.Get("JSON").(*goja.Object)
	if !ok {
		return errors.New("the engine has no JSON")
	}
	l.json.stringify, _ = goja.AssertFunction(object.Get("stringify"))
	l.json.raw, _ = goja.AssertFunction(object.Get("rawJSON"))
	bigInt, ok := l.vm.Get("BigInt").(*goja.Object)
	if !ok || l.json.stringify == nil || l.json.raw == nil {
		return errors.New("the engine's JSON or BigInt is not complete")
	}
	proto, ok := bigInt.Get("prototype").(*goja.Object)
	if !ok {
		return errors.New("the engine's BigInt has no prototype")
	}
	l.method(proto, "toJSON", 0, func(call goja.FunctionCall) goja.Value { return l.rawInteger(call.This) })
	l.method(object, "parse", 2, l.parse)
	l.method(object, "stringify", 3, l.stringify)
	return nil
}

// rawInteger is the JSON.rawJSON object that prints a bigint.
func (l *lib) rawInteger(v goja.Value) goja.Value {
	raw, err := l.json.raw(goja.Undefined(), v.ToString())
	if err != nil {
		panic(l.failure(err))
	}
	return raw
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
	return jsvalue.Decode(l.vm, text, jsvalue.DecodeOptions{Infinity: true, Bytes: l.host.MaxBytes})
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

// maxReplacer bounds an array of property names: the engine makes room for all
// of them first.
const maxReplacer = 100_000

// stringify is JSON.stringify whose function replacers see bigints as they are
// and may return them.
func (l *lib) stringify(call goja.FunctionCall) goja.Value {
	args := append([]goja.Value(nil), call.Arguments...)
	if len(args) > 1 {
		if isArray(args[1]) && args[1].(*goja.Object).Get("length").ToInteger() > maxReplacer {
			l.throw("RangeError", fmt.Sprintf("JSON.stringify: the list of property names is longer than %d", maxReplacer))
		}
		if replacer, ok := goja.AssertFunction(args[1]); ok {
			args[1] = l.replacer(replacer)
		}
	}
	out, err := l.json.stringify(call.This, args...)
	if err != nil {
		panic(l.failure(err))
	}
	return out
}

func (l *lib) replacer(replacer goja.Callable) goja.Value {
	return l.function("replacer", 2, func(call goja.FunctionCall) goja.Value {
		key, value := call.Argument(0), call.Argument(1)
		if holder, ok := call.This.(*goja.Object); ok {
			// toJSON has turned a bigint into its text by now.
			if p, ok := l.inspector.own(holder, key.String()); ok && p.value != nil && goja.IsBigInt(p.value) && isRaw(value) {
				value = p.value
			}
		}
		out, err := replacer(call.This, key, value)
		if err != nil {
			panic(l.failure(err))
		}
		if goja.IsBigInt(out) {
			return l.rawInteger(out)
		}
		return out
	})
}

func isRaw(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && !isProxy(o) && o.ClassName() == "RawJSON"
}
