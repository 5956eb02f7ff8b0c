package jslib

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// The types the engine says it would export objects as; they tell built-in
// kinds apart that a prototype can hide.
var (
	exportsProxy   = reflect.TypeFor[goja.Proxy]()
	exportsPromise = reflect.TypeFor[*goja.Promise]()
	exportsBuffer  = reflect.TypeFor[goja.ArrayBuffer]()
	exportsMap     = reflect.TypeFor[[][2]any]()
	exportsSet     = reflect.TypeFor[[]any]()
	exportsPlain   = reflect.TypeFor[map[string]any]()
)

func isProxy(o *goja.Object) bool { return o.ExportType() == exportsProxy }

// inspection is one walk over a value. The layout rules, widths and texts are
// those of Node 20.
type inspection struct {
	in       *Inspector
	o        InspectOptions
	left     int // bytes that may still be written
	nodes    int
	indent   int
	current  int // depth of the innermost object that was formatted last
	seen     []*goja.Object
	circular map[*goja.Object]int
}

// cutMark stands for what no longer fits.
const cutMark = "…"

// maxInspectNodes bounds the work for values that print to little text.
const maxInspectNodes = 50_000

// value shows any value. level counts the objects around it.
func (c *inspection) value(v goja.Value, level int) string {
	c.nodes++
	if c.left <= 0 || c.nodes > maxInspectNodes {
		return cutMark
	}
	o, ok := v.(*goja.Object)
	if !ok {
		text := c.primitive(v)
		c.left -= len(text)
		return text
	}
	for isProxy(o) {
		p, ok := o.Export().(goja.Proxy)
		if !ok || p.Target() == nil {
			return "<Revoked Proxy>"
		}
		complete(p)
		o = p.Target()
	}
	for _, outer := range c.seen {
		if outer == o {
			return "[Circular *" + strconv.Itoa(c.reference(o)) + "]"
		}
	}
	return c.object(o, level)
}

// Completer is a handler of a Proxy, as a goja.DynamicObject, that makes the
// object behind it when that is first asked for anything but a member. What looks
// behind the Proxy has to ask for it.
type Completer interface {
	goja.DynamicObject
	Complete()
}

var completerType = reflect.TypeFor[Completer]()

func complete(p goja.Proxy) {
	if handler := p.Handler(); handler != nil && handler.ExportType().Implements(completerType) {
		handler.Export().(Completer).Complete()
	}
}

func (c *inspection) reference(o *goja.Object) int {
	if n, ok := c.circular[o]; ok {
		return n
	}
	if c.circular == nil {
		c.circular = map[*goja.Object]int{}
	}
	c.circular[o] = len(c.circular) + 1
	return c.circular[o]
}

func (c *inspection) primitive(v goja.Value) string {
	switch v := v.(type) {
	case nil:
		return "undefined"
	case goja.String:
		return c.string(v)
	case *goja.Symbol:
		return symbolText(v)
	}
	switch {
	case goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	default:
		return numberText(v)
	}
}

func symbolText(s *goja.Symbol) string { return "Symbol(" + s.String() + ")" }

// numberText prints numbers, bigints and booleans as util.inspect does.
func numberText(v goja.Value) string {
	if goja.IsBigInt(v) {
		n, ok := v.Export().(*big.Int)
		if ok && n.BitLen() > 200_000 {
			return fmt.Sprintf("<bigint of %d bits>", n.BitLen())
		}
		return v.String() + "n"
	}
	if goja.IsNumber(v) && v.ToFloat() == 0 && math.Signbit(v.ToFloat()) {
		return "-0"
	}
	return v.String()
}

// string quotes a string, spreading a long one with line breaks over lines.
func (c *inspection) string(v goja.String) string {
	length, trailer := v.Length(), ""
	if length > c.o.String {
		more := length - c.o.String
		trailer = "... " + strconv.Itoa(more) + " more character"
		if more > 1 {
			trailer += "s"
		}
		v, _ = v.Substring(0, c.o.String).(goja.String)
		length = c.o.String
	}
	text := jsvalue.WTF8(v)
	if length <= 16 || length <= c.o.Break-c.indent-4 || !strings.Contains(text, "\n") {
		return quote(text) + trailer
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = quote(lines[i])
	}
	return strings.Join(lines, " +\n"+strings.Repeat(" ", c.indent+2)) + trailer
}

// shape is what object found out about an object before its parts are shown.
type shape struct {
	base    string // text before the braces: a function, a date, an error's stack
	open    string
	close   string
	array   bool  // elements are laid out in columns
	numbers *bool // all elements are numbers, so columns are aligned right
	parts   func() []string
	keys    []shownKey
}

// shownKey is a property to show.
type shownKey struct {
	name   string
	symbol *goja.Symbol
}

func (c *inspection) object(o *goja.Object, level int) string {
	if o.ClassName() == "Error" && !c.in.readable(o) {
		return "[" + textOr(c.in.inherited(o.Prototype(), "name"), "Error") + "]"
	}
	constructor, known := c.in.constructor(o)
	tag := c.in.tag(o)
	s, done := c.shape(o, level, constructor, known, tag)
	if done {
		c.left -= len(s.base)
		return s.base
	}
	if level > c.o.Depth {
		name := strings.TrimSuffix(prefix(constructor, known, tag, kindOf(o), ""), " ")
		if o.ClassName() == "Array" && known {
			name = strings.TrimSuffix(prefix(constructor, known, tag, "Array", ""), " ")
		}
		if known {
			name = "[" + name + "]"
		}
		c.left -= len(name)
		return name
	}
	c.left -= len(s.open) + len(s.close)
	level++
	if c.o.Sorted {
		slices.SortStableFunc(s.keys, func(a, b shownKey) int { return cmp.Compare(a.name, b.name) })
	}
	c.seen = append(c.seen, o)
	c.current = level
	var out []string
	if s.parts != nil {
		out = s.parts()
	}
	for i, key := range s.keys {
		if i >= maxInspectKeys || c.left <= 0 {
			out = append(out, fmt.Sprintf("... %d more properties", len(s.keys)-i))
			break
		}
		out = append(out, c.property(o, key, level))
	}
	c.seen = c.seen[:len(c.seen)-1]
	if n, ok := c.circular[o]; ok {
		s.base = strings.TrimSuffix("<ref *"+strconv.Itoa(n)+"> "+s.base, " ")
	}
	return c.layout(out, s, level)
}

// shape decides how an object is shown. done means that base is all of it.
func (c *inspection) shape(o *goja.Object, level int, constructor string, known bool, tag string) (s shape, done bool) {
	in := c.in
	exported, class := o.ExportType(), o.ClassName()
	s = shape{open: "{", close: "}"}
	whole := func(base string) (shape, bool) { s.base = base; return s, true }
	switch {
	case class == "Array":
		length := int(o.Get("length").ToInteger())
		if constructor != "Array" || !known || tag != "" {
			s.open = prefix(constructor, known, tag, "Array", size(length))
		} else {
			s.open = ""
		}
		s.open, s.close, s.array = s.open+"[", "]", true
		s.keys = in.keys(o, true, c.o.Hidden)
		if length == 0 && len(s.keys) == 0 {
			return whole(s.open + "]")
		}
		numbers := len(s.keys) == 0
		s.numbers = &numbers
		s.parts = func() []string { return c.elements(o, length, level+1, &numbers) }
		return s, false
	case exported == exportsSet && class == "Object":
		values := setValues(in.vm, o)
		s.open = prefix(constructor, known, tag, "Set", size(len(values))) + "{"
		s.keys = in.keys(o, false, c.o.Hidden)
		if len(values) == 0 && len(s.keys) == 0 {
			return whole(s.open + "}")
		}
		s.parts = func() []string { return c.members(values, level+1) }
		return s, false
	case exported == exportsMap && class == "Object":
		entries := in.mapEntries(o)
		s.open = prefix(constructor, known, tag, "Map", size(len(entries)/2)) + "{"
		s.keys = in.keys(o, false, c.o.Hidden)
		if len(entries) == 0 && len(s.keys) == 0 {
			return whole(s.open + "}")
		}
		s.parts = func() []string { return c.entries(entries, level+1) }
		return s, false
	case exported.Kind() == reflect.Slice && class == "Object":
		return c.typedArray(o, constructor, known, tag)
	}
	s.keys = in.keys(o, false, c.o.Hidden)
	switch {
	case strings.HasSuffix(class, "Function") || exported.Kind() == reflect.Func:
		s.base = in.function(o, class, constructor, known, tag)
	case class == "RegExp":
		s.base = in.regexp(o)
		if p := prefix(constructor, known, tag, "RegExp", ""); p != "RegExp " {
			s.base = p + s.base
		}
		if level > c.o.Depth {
			return s, true
		}
	case class == "Date":
		s.base = "Invalid Date"
		if t, ok := o.Export().(time.Time); ok {
			s.base = jsvalue.ISOTime(t)
		}
		if p := prefix(constructor, known, tag, "Date", ""); p != "Date " {
			s.base = p + s.base
		}
	case class == "Error":
		s.base = c.errorText(o, constructor, known, tag, &s)
	case exported == exportsBuffer:
		s.open = prefix(constructor, known, tag, "ArrayBuffer", "") + "{"
		s.parts = func() []string { return bufferParts(o, c.o.Array) }
		return s, false
	case exported == exportsPromise:
		s.open = prefix(constructor, known, tag, "Promise", "") + "{"
		s.parts = func() []string { return c.promise(o, level+1) }
		return s, false
	case class == "String" || exported != exportsPlain && (class == "Number" || class == "Boolean" || class == "Object"):
		s.base = c.boxed(o, class, constructor, known, tag, &s)
	case tag == "WeakMap" || tag == "WeakSet":
		s.open = prefix(constructor, known, tag, "WeakMap", "") + "{"
		s.parts = func() []string { return []string{"<items unknown>"} }
		return s, false
	case class == "Arguments":
		s.open = "[Arguments] {"
		if len(s.keys) == 0 {
			return whole("[Arguments] {}")
		}
		return s, false
	default:
		if constructor != "Object" || !known || tag != "" {
			s.open = prefix(constructor, known, tag, "Object", "") + "{"
		}
		if constructor == "URL" && level <= c.o.Depth {
			if href, ok := urlText(o); ok {
				return whole(href)
			}
		}
		if constructor == "URLSearchParams" {
			if pairs := c.in.searchPairs(o); len(pairs) > 0 {
				s.parts = func() []string { return c.entries(pairs, level+1) }
				return s, false
			}
		}
		if len(s.keys) == 0 {
			return whole(s.open + "}")
		}
		return s, false
	}
	return s, len(s.keys) == 0
}

func size(n int) string { return "(" + strconv.Itoa(n) + ")" }

// kindOf names an object without a constructor.
func kindOf(o *goja.Object) string {
	if o.ClassName() == "Array" {
		return "Array"
	}
	return "Object"
}

// prefix is the text before the braces: the class, its size, its tag.
func prefix(constructor string, known bool, tag, fallback, size string) string {
	if !known {
		p := "[" + fallback + size + ": null prototype] "
		if tag != "" && tag != fallback {
			p += "[" + tag + "] "
		}
		return p
	}
	if tag != "" && tag != constructor {
		return constructor + size + " [" + tag + "] "
	}
	return constructor + size + " "
}

// constructor is the name of the nearest constructor on the prototype chain;
// known is false for an object without a prototype.
func (in *Inspector) constructor(o *goja.Object) (name string, known bool) {
	first := true
	for p := o; p != nil && !isProxy(p); p = p.Prototype() {
		c, ok := in.data(p, "constructor").(*goja.Object)
		if ok && !isProxy(c) && p != in.iterators {
			if s, ok := in.data(c, "name").(goja.String); ok && s.Length() > 0 && in.instance(o, c) {
				return cut(s.String(), 200), true
			}
		}
		if first && p.Prototype() == nil {
			return "", false
		}
		first = false
	}
	return "Object <Complex prototype>", true
}

// instance reports whether c's prototype is on o's chain.
func (in *Inspector) instance(o, c *goja.Object) bool {
	proto, ok := in.data(c, "prototype").(*goja.Object)
	if !ok {
		return false
	}
	for p := o.Prototype(); p != nil && !isProxy(p); p = p.Prototype() {
		if p == proto {
			return true
		}
	}
	return false
}

// keys lists the own properties to show: enumerable ones, symbols last.
func (in *Inspector) keys(o *goja.Object, skipIndices, hidden bool) []shownKey {
	names := o.Keys
	if hidden {
		names = o.GetOwnPropertyNames
	}
	var keys []shownKey
	for _, name := range names() {
		if skipIndices && isIndex(name) {
			continue
		}
		keys = append(keys, shownKey{name: name})
	}
	for _, symbol := range o.Symbols() {
		if symbol == nil {
			continue
		}
		if p, ok := in.ownSymbol(o, symbol); ok && (p.enumerable || hidden) {
			keys = append(keys, shownKey{symbol: symbol})
		}
	}
	return keys
}

func isIndex(s string) bool {
	if s == "" || len(s) > 10 || s[0] == '0' && len(s) > 1 {
		return false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return err == nil && n < math.MaxUint32
}

// property shows "name: value".
func (c *inspection) property(o *goja.Object, key shownKey, level int) string {
	p, text := c.propertyValue(o, key, level)
	name := ""
	switch {
	case key.symbol != nil:
		name = "[" + escapeAll(symbolText(key.symbol)) + "]"
	case key.name == "__proto__":
		name = "['__proto__']"
	case !p.enumerable:
		name = "[" + escapeAll(key.name) + "]"
	case isName(key.name):
		name = key.name
	default:
		name = quote(key.name)
	}
	c.left -= len(name)
	return name + ": " + text
}

func (c *inspection) propertyValue(o *goja.Object, key shownKey, level int) (property, string) {
	var p property
	var ok bool
	if key.symbol != nil {
		p, ok = c.in.ownSymbol(o, key.symbol)
	} else {
		p, ok = c.in.own(o, key.name)
	}
	switch {
	case !ok: // its name has an unpaired surrogate, which the engine's API cannot spell
		return property{enumerable: true}, "[value that cannot be shown]"
	case p.get && p.set:
		return p, "[Getter/Setter]"
	case p.get:
		return p, "[Getter]"
	case p.set:
		return p, "[Setter]"
	}
	c.indent += 2
	text := c.value(p.value, level)
	c.indent -= 2
	return p, text
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' && i > 0) {
			return false
		}
	}
	return s != ""
}

// quote puts text in the quotes that need the fewest escapes.
func quote(text string) string {
	q := byte('\'')
	if strings.Contains(text, "'") {
		if !strings.Contains(text, `"`) {
			q = '"'
		} else if !strings.Contains(text, "`") && !strings.Contains(text, "${") {
			q = '`'
		}
	}
	return string(q) + escape(text, q) + string(q)
}

func escapeAll(text string) string { return escape(text, '\'') }

// escape writes control characters, backslashes, unpaired surrogates and the
// quote as escapes.
func escape(text string, quote byte) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			r, n = surrogate(text[i:])
		}
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r >= 0x7F && r < 0xA0:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r >= 0xD800 && r < 0xE000:
			fmt.Fprintf(&b, `\u%x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
