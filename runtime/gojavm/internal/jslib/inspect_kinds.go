package jslib

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

func surrogate(text string) (rune, int) { return jsonscan.DecodeRune(text) }

// elements shows the elements of an array, with runs of holes as one. numbers
// is cleared when one of them is not a number.
func (c *inspection) elements(o *goja.Object, length, level int, numbers *bool) []string {
	var out []string
	index := 0
	for ; index < min(length, c.o.Array) && c.left > 0; index++ {
		key := strconv.Itoa(index)
		p, ok := c.in.own(o, key)
		if !ok {
			*numbers = false
			return c.sparse(o, length, index, level, out)
		}
		*numbers = *numbers && isNumeric(p.value)
		_, text := c.propertyValue(o, shownKey{name: key}, level)
		out = append(out, text)
	}
	if index < length {
		*numbers = *numbers && isNumeric(c.in.data(o, strconv.Itoa(index)))
	}
	return more(out, length-index)
}

// sparse goes on with the elements from the first hole.
func (c *inspection) sparse(o *goja.Object, length, index, level int, out []string) []string {
	for _, key := range o.Keys() {
		if !isIndex(key) || len(out) >= c.o.Array || c.left <= 0 {
			break
		}
		at, _ := strconv.Atoi(key)
		if at < index {
			continue
		}
		if at > index {
			out = append(out, emptyItems(at-index))
			index = at
			if len(out) >= c.o.Array {
				break
			}
		}
		_, text := c.propertyValue(o, shownKey{name: key}, level)
		out = append(out, text)
		index++
	}
	if rest := length - index; rest > 0 {
		if len(out) >= c.o.Array {
			return more(out, rest)
		}
		out = append(out, emptyItems(rest))
	}
	return out
}

func emptyItems(n int) string {
	if n == 1 {
		return "<1 empty item>"
	}
	return "<" + strconv.Itoa(n) + " empty items>"
}

// more adds the count of what is not shown.
func more(out []string, rest int) []string {
	if rest <= 0 {
		return out
	}
	text := "... " + strconv.Itoa(rest) + " more item"
	if rest > 1 {
		text += "s"
	}
	return append(out, text)
}

func isNumeric(v goja.Value) bool {
	return v != nil && (goja.IsBigInt(v) || goja.IsNumber(v))
}

// members shows the values of a Set.
func (c *inspection) members(values []goja.Value, level int) []string {
	c.indent += 2
	defer func() { c.indent -= 2 }()
	var out []string
	for i, v := range values {
		if i >= c.o.Array || c.left <= 0 {
			return more(out, len(values)-i)
		}
		out = append(out, c.value(v, level))
	}
	return out
}

// entries shows the entries of a Map, given as key, value, key, value.
func (c *inspection) entries(pairs []goja.Value, level int) []string {
	c.indent += 2
	defer func() { c.indent -= 2 }()
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if i/2 >= c.o.Array || c.left <= 0 {
			return more(out, (len(pairs)-i)/2)
		}
		out = append(out, c.value(pairs[i], level)+" => "+c.value(pairs[i+1], level))
	}
	return out
}

// setValues reads a Set's own slots, not its iterator.
func setValues(vm *goja.Runtime, o *goja.Object) []goja.Value {
	var values []goja.Value
	if err := vm.ExportTo(o, &values); err != nil {
		return nil
	}
	return values
}

// mapEntries reads a Map's own slots as key, value, key, value.
func (in *Inspector) mapEntries(o *goja.Object) []goja.Value {
	if in.box.Set("o", o) != nil || in.box.Set("each", true) != nil {
		return nil
	}
	defer func() { _ = in.box.Set("each", false) }()
	flat, ok := in.peek.Get("entries").(*goja.Object)
	if !ok {
		return nil
	}
	pairs := make([]goja.Value, flat.Get("length").ToInteger())
	for i := range pairs {
		pairs[i] = flat.Get(strconv.Itoa(i))
	}
	return pairs
}

// typedArray shows a typed array's numbers.
func (c *inspection) typedArray(o *goja.Object, constructor string, known bool, tag string) (shape, bool) {
	if constructor == "Buffer" {
		return shape{base: bufferText(o)}, true
	}
	length := reflect.ValueOf(o.Export()).Len()
	if tag == "" {
		tag = c.in.typedName(o)
	}
	numbers := true
	s := shape{open: prefix(constructor, known, tag, tag, size(length)) + "[", close: "]", array: true, numbers: &numbers}
	s.keys = c.in.keys(o, true, false)
	if length == 0 && len(s.keys) == 0 {
		s.base = s.open + "]"
		return s, true
	}
	s.parts = func() []string {
		var out []string
		i := 0
		for ; i < min(length, c.o.Array); i++ {
			text := numberText(o.Get(strconv.Itoa(i)))
			c.left -= len(text)
			out = append(out, text)
		}
		return more(out, length-i)
	}
	return s, false
}

// typedNames are the constructors of typed arrays.
var typedNames = map[string]bool{
	"Int8Array": true, "Uint8Array": true, "Uint8ClampedArray": true, "Int16Array": true, "Uint16Array": true, "Int32Array": true,
	"Uint32Array": true, "BigInt64Array": true, "BigUint64Array": true, "Float32Array": true, "Float64Array": true,
}

// typedName is the name of the built-in constructor a typed array descends from.
func (in *Inspector) typedName(o *goja.Object) string {
	for p := o.Prototype(); p != nil && !isProxy(p); p = p.Prototype() {
		if c, ok := in.data(p, "constructor").(*goja.Object); ok && !isProxy(c) {
			if name := textOr(in.data(c, "name"), ""); typedNames[name] {
				return name
			}
		}
	}
	return "TypedArray"
}

// bufferText shows a Node Buffer: <Buffer 01 02>.
func bufferText(o *goja.Object) string {
	const most = 50
	bytes := exportBytes(o)
	text := "<Buffer"
	for _, b := range bytes[:min(len(bytes), most)] {
		text += " " + hex.EncodeToString([]byte{b})
	}
	if rest := len(bytes) - most; rest > 0 {
		text += fmt.Sprintf(" ... %d more byte", rest)
		if rest > 1 {
			text += "s"
		}
	}
	return text + ">"
}

func exportBytes(o *goja.Object) []byte {
	switch b := o.Export().(type) {
	case []byte:
		return b
	case goja.ArrayBuffer:
		return b.Bytes()
	}
	return nil
}

func bufferParts(o *goja.Object, most int) []string {
	bytes := exportBytes(o)
	text := hex.EncodeToString(bytes[:min(len(bytes), most)])
	var b strings.Builder
	for i := 0; i < len(text); i += 2 {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(text[i : i+2])
	}
	if rest := len(bytes) - most; rest > 0 {
		fmt.Fprintf(&b, " ... %d more byte", rest)
		if rest > 1 {
			b.WriteByte('s')
		}
	}
	return []string{"[Uint8Contents]: <" + b.String() + ">", "byteLength: " + strconv.Itoa(len(bytes))}
}

func (c *inspection) promise(o *goja.Object, level int) []string {
	p, ok := o.Export().(*goja.Promise)
	if !ok || p.State() == goja.PromiseStatePending {
		return []string{"<pending>"}
	}
	c.indent += 2
	text := c.value(p.Result(), level)
	c.indent -= 2
	if p.State() == goja.PromiseStateRejected {
		text = "<rejected> " + text
	}
	return []string{text}
}

// boxed shows new Number(1) as [Number: 1].
func (c *inspection) boxed(o *goja.Object, class, constructor string, known bool, tag string, s *shape) string {
	var text string
	switch value := o.Export().(type) {
	case map[string]any: // a String: its characters are own properties
		text = quote(characters(o))
		s.keys = withoutIndices(s.keys)
	case string:
		class, text = "Symbol", "Symbol("+value+")"
	default:
		v := c.in.vm.ToValue(value)
		text = numberText(v)
		if class == "Object" {
			class = "BigInt"
		}
	}
	base := "[" + class
	if !known {
		base += " (null prototype)"
	} else if constructor != class {
		base += " (" + constructor + ")"
	}
	base += ": " + text + "]"
	if tag != "" && tag != constructor {
		base += " [" + tag + "]"
	}
	return base
}

// characters reads a String object, which no toString of its own can disguise.
func characters(o *goja.Object) string {
	var b strings.Builder
	for i := range min(int(o.Get("length").ToInteger()), defaultInspectString) {
		b.WriteString(o.Get(strconv.Itoa(i)).String())
	}
	return b.String()
}

func withoutIndices(keys []shownKey) []shownKey {
	var kept []shownKey
	for _, k := range keys {
		if k.symbol != nil || !isIndex(k.name) {
			kept = append(kept, k)
		}
	}
	return kept
}

// function shows [Function: f], [AsyncFunction: f], [class A extends B].
func (in *Inspector) function(o *goja.Object, class, constructor string, known bool, tag string) string {
	name := ""
	if s, ok := in.data(o, "name").(goja.String); ok {
		name = cut(s.String(), 200)
	}
	if isClass(o) {
		return in.class(o, name, constructor, known, tag)
	}
	kind := "Function"
	if known && (constructor == "AsyncFunction" || constructor == "GeneratorFunction") {
		kind = constructor
	} else if class != "Function" && strings.HasSuffix(class, "Function") {
		kind = class
	}
	base := "[" + kind
	if !known {
		base += " (null prototype)"
	}
	if name == "" {
		base += " (anonymous)"
	} else {
		base += ": " + name
	}
	base += "]"
	if known && constructor != kind && constructor != "Function" {
		base += " " + constructor
	}
	if tag != "" && tag != constructor {
		base += " [" + tag + "]"
	}
	return base
}

func (in *Inspector) class(o *goja.Object, name, constructor string, known bool, tag string) string {
	if name == "" {
		name = "(anonymous)"
	}
	base := "class " + name
	if known && constructor != "Function" {
		base += " [" + constructor + "]"
	}
	if tag != "" && tag != constructor {
		base += " [" + tag + "]"
	}
	if !known {
		base += " extends [null prototype]"
	} else if parent := o.Prototype(); parent != nil && !isProxy(parent) {
		if s, ok := in.data(parent, "name").(goja.String); ok && s.Length() > 0 {
			base += " extends " + cut(s.String(), 200)
		}
	}
	return "[" + base + "]"
}

// isClass tells the functions of class syntax by what the engine exports them
// as.
func isClass(o *goja.Object) bool {
	return o.ExportType() == reflect.TypeFor[func(goja.ConstructorCall) *goja.Object]()
}

// regexp shows /source/flags from the expression's own slots.
func (in *Inspector) regexp(o *goja.Object) string {
	source, flags := "", ""
	if v := o.Get("source"); v != nil {
		source = v.String()
	}
	if v := o.Get("flags"); v != nil {
		flags = v.String()
	}
	return "/" + source + "/" + flags
}

// searchPairs is the name of the property of URLSearchParams that gives its
// names and values, one after the other.
var searchPairs = goja.NewSymbol("pairs")

// searchPairs reads the names and values of a URLSearchParams.
func (in *Inspector) searchPairs(o *goja.Object) []goja.Value {
	var pairs []goja.Value
	_ = in.vm.Try(func() {
		if list := o.GetSymbol(searchPairs); isArray(list) {
			_ = in.vm.ExportTo(list, &pairs)
		}
	})
	return pairs
}

func urlText(o *goja.Object) (string, bool) {
	if href, ok := o.Get("href").(goja.String); ok {
		return href.String(), true
	}
	return "", false
}

// errorText shows an error's name, message and stack, and picks the properties
// to show after them.
func (c *inspection) errorText(o *goja.Object, constructor string, known bool, tag string, s *shape) string {
	in := c.in
	name, message := textOr(in.inherited(o, "name"), "Error"), textOr(in.inherited(o, "message"), "")
	head := name
	if message != "" {
		if head != "" {
			head += ": "
		}
		head += message
	}
	head = improve(head, name, constructor, known, tag)
	s.keys = in.errorKeys(o, s.keys, head, name)
	frames := c.frames(textOr(in.data(o, "stack"), ""))
	text := "[" + head + "]"
	if frames != "" {
		text = head + "\n" + frames
	}
	text = cut(text, c.left)
	if c.indent > 0 {
		text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", c.indent))
	}
	c.left -= len(text)
	return text
}

// readable reports whether the engine can list an error's properties: it makes
// the stack then, from a name and a message that may be getters which throw.
func (in *Inspector) readable(o *goja.Object) bool {
	return in.vm.Try(func() { o.Get("stack") }) == nil
}

func textOr(v goja.Value, absent string) string {
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	return absent
}

// improve makes the head name the class where the name property does not.
func improve(head, name, constructor string, known bool, tag string) string {
	if !known {
		return "[" + name + ": null prototype]" + strings.TrimPrefix(head, name)
	}
	if !strings.HasSuffix(name, "Error") || !strings.HasPrefix(head, name) {
		return head
	}
	p := strings.TrimSuffix(prefix(constructor, known, tag, "Error", ""), " ")
	switch {
	case p == name:
		return head
	case strings.Contains(p, name):
		return p + strings.TrimPrefix(head, name)
	default:
		return p + " [" + name + "]" + strings.TrimPrefix(head, name)
	}
}

// errorKeys leaves out what the head says already and adds cause and errors.
func (in *Inspector) errorKeys(o *goja.Object, keys []shownKey, head, name string) []shownKey {
	var kept []shownKey
	has := map[string]bool{}
	for _, k := range keys {
		if k.symbol == nil {
			switch k.name {
			case "stack":
				continue
			case "name", "message":
				if strings.Contains(head, textOr(in.data(o, k.name), name)) {
					continue
				}
			}
			has[k.name] = true
		}
		kept = append(kept, k)
	}
	for _, k := range []string{"cause", "errors"} {
		if has[k] {
			continue
		}
		if p, ok := in.own(o, k); ok && (k == "cause" || isArray(p.value)) {
			kept = append(kept, shownKey{name: k})
		}
	}
	return kept
}

func isArray(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && !isProxy(o) && o.ClassName() == "Array"
}

// counter is the instruction counter the engine appends to a position.
var counter = regexp.MustCompile(`\(\d+\)(\)?)$`)

// frames is the part of a stack below its head, a frame a line.
func (c *inspection) frames(stack string) string {
	_, below, ok := strings.Cut(stack, "\n\tat ")
	if !ok {
		if _, below, ok = strings.Cut(stack, "\n    at "); !ok {
			return ""
		}
	}
	var lines []string
	for _, line := range strings.Split("at "+below, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasSuffix(line, "(native)") {
			continue
		}
		if len(lines) == 10 {
			break
		}
		lines = append(lines, "    "+counter.ReplaceAllString(line, "$1"))
	}
	text := strings.Join(lines, "\n")
	if c.o.Stack != nil {
		text = strings.TrimRight(c.o.Stack(text), "\n")
	}
	return text
}

// width is the length of text in UTF-16 code units, as scripts count.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// columns is how many terminal columns text takes.
func columns(text string) int {
	n := 0
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		switch {
		case r < ' ' || r >= 0x7F && r < 0xA0, r >= 0x300 && r <= 0x36F, r >= 0x200B && r <= 0x200F,
			r >= 0x20D0 && r <= 0x20FF, r >= 0xFE00 && r <= 0xFE0F, r >= 0xFE20 && r <= 0xFE2F:
		case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0x303E, r >= 0x3041 && r <= 0x33FF, r >= 0x3400 && r <= 0x4DBF,
			r >= 0x4E00 && r <= 0x9FFF, r >= 0xA000 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
			r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6, r >= 0x1F300 && r <= 0x1F64F,
			r >= 0x1F680 && r <= 0x1F6FF, r >= 0x1F900 && r <= 0x1F9FF, r >= 0x20000 && r <= 0x3FFFD:
			n += 2
		default:
			n++
		}
	}
	return n
}
