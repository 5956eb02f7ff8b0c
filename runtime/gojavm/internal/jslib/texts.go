package jslib

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/dop251/goja"
)

// native is a function of the engine's.
type native = func(goja.FunctionCall) goja.Value

// ownMethod is a method of the engine's, called without the engine's machinery.
func ownMethod(proto *goja.Object, name string) (native, error) {
	if v := proto.Get(name); v != nil {
		if f, ok := v.Export().(native); ok {
			return f, nil
		}
	}
	return nil, fmt.Errorf("the engine has no method %s", name)
}

// installTexts replaces the methods of String that lose unpaired surrogates: the
// engine's go through UTF-8.
func (l *lib) installTexts() error {
	if !l.has("normalize", "toLowerCase", "toUpperCase", "toLocaleLowerCase", "toLocaleUpperCase", "trim", "trimStart", "trimLeft", "trimEnd", "trimRight") {
		return nil
	}
	proto, err := l.prototype("String")
	if err != nil {
		return err
	}
	for _, name := range [...]string{"normalize", "toLowerCase", "toUpperCase"} {
		if !l.has(name, strings.Replace(name, "to", "toLocale", 1)) {
			continue
		}
		f, err := ownMethod(proto, name)
		if err != nil {
			return err
		}
		l.method(proto, name, 0, l.byParts(name, f))
	}
	for _, t := range [...]struct {
		name, alias string
		start, end  bool
	}{{"trim", "", true, true}, {"trimStart", "trimLeft", true, false}, {"trimEnd", "trimRight", false, true}} {
		if !l.has(t.name, t.alias) {
			continue
		}
		l.method(proto, t.name, 0, l.trim(t.name, t.start, t.end))
		if t.alias != "" {
			_ = proto.DefineDataProperty(t.alias, proto.Get(t.name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	return nil
}

// byParts calls f on what stands between the unpaired surrogates. The result is
// that of the whole: to Unicode such a surrogate is no letter and no mark, so
// that no rule reaches across.
func (l *lib) byParts(name string, f native) native {
	return func(call goja.FunctionCall) goja.Value {
		s, args := l.this(call, name), call.Arguments
		at := unpaired(s, 0)
		if at < 0 {
			return f(goja.FunctionCall{This: s, Arguments: args})
		}
		if len(args) > 0 && !goja.IsUndefined(args[0]) {
			args = slices.Clone(args)
			args[0] = l.toString(args[0]) // once: it may be the program's own code
		}
		var out goja.StringBuilder
		from, length := 0, s.Length()
		for {
			end := at
			if at < 0 {
				end = length
			}
			out.WriteString(l.toString(f(goja.FunctionCall{This: s.Substring(from, end), Arguments: args})))
			if at < 0 {
				return out.String()
			}
			out.WriteString(s.Substring(at, at+1))
			from = at + 1
			at = unpaired(s, from)
		}
	}
}

// trim is trim, trimStart or trimEnd.
func (l *lib) trim(name string, start, end bool) native {
	return func(call goja.FunctionCall) goja.Value {
		s := l.this(call, name)
		from, to := 0, s.Length()
		for start && from < to && isSpace(s.CharAt(from)) {
			from++
		}
		for end && from < to && isSpace(s.CharAt(to-1)) {
			to--
		}
		if to-from == s.Length() {
			return s
		}
		return s.Substring(from, to)
	}
}

// isSpace says whether a code unit is white space or ends a line.
func isSpace(c uint16) bool {
	if c < 0x80 {
		return c == ' ' || '\t' <= c && c <= '\r'
	}
	return c == 0xFEFF || c == 0x2028 || c == 0x2029 || unicode.Is(unicode.Zs, rune(c))
}

// ascii is the type of the engine's strings without other characters.
var ascii = reflect.TypeOf(goja.StringFromUTF16([]uint16{'a'}))

// unpaired is the index of the first surrogate without its other half, not before
// from, or -1.
func unpaired(s goja.String, from int) int {
	if reflect.TypeOf(s) == ascii {
		return -1
	}
	for i, n := from, s.Length(); i < n; i++ {
		c := s.CharAt(i)
		if c&0xF800 != 0xD800 {
			continue
		}
		if c >= 0xDC00 || i+1 == n || s.CharAt(i+1)&0xFC00 != 0xDC00 {
			return i
		}
		i++
	}
	return -1
}
