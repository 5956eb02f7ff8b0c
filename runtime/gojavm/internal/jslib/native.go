package jslib

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

func uncatchable(err error) bool { return jsvalue.Uncatchable(err) }

// webGlobal gives one of the globals of js/web.js, which runs at the first.
func (l *lib) webGlobal(name string) (goja.Value, error) {
	if l.web == nil {
		made, err := l.call(webProgram, l.webNatives())
		if err != nil {
			return nil, err
		}
		web, ok := made.(*goja.Object)
		if !ok {
			return nil, errors.New("the web library gives no object")
		}
		l.web = web
	}
	return l.web.Get(name), nil
}

// webNatives is what js/web.js needs of the host.
func (l *lib) webNatives() *goja.Object {
	o := l.natives(map[string]func(goja.FunctionCall) goja.Value{
		"toWellFormed": func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(call.Argument(0).String()) },
		"now":          func(goja.FunctionCall) goja.Value { return l.vm.ToValue(l.now()) },
		"after":        l.after,
		"kind":         func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(kind(call.Argument(0))) },
		"show":         l.show,
		"utf8":         l.utf8,
		"encoding":     l.encoding,
		"decode":       l.decode,
		"incomplete":   l.incomplete,
		"random":       l.random,
		"randomUUID":   l.randomUUID,
	})
	l.setOwn(o, "Uint8Array")
	_ = o.Set("pairs", searchPairs)
	_ = o.Set("timeOrigin", float64(l.host.Start().UnixMicro())/1000)
	l.urlNatives(o)
	return o
}

// now is milliseconds since the library was installed.
func (l *lib) now() float64 {
	return float64(l.host.Now().Sub(l.host.Start())) / float64(time.Millisecond)
}

func (l *lib) after(call goja.FunctionCall) goja.Value {
	if l.host.After == nil {
		panic(l.vm.NewTypeError("AbortSignal.timeout is not available here"))
	}
	f, ok := goja.AssertFunction(call.Argument(1))
	if !ok {
		panic(l.vm.NewTypeError("a timer needs a function"))
	}
	const longest = float64(1<<31 - 1)
	ms := min(max(call.Argument(0).ToFloat(), 0), longest)
	l.host.After(time.Duration(ms*float64(time.Millisecond)), func() { _, _ = f(goja.Undefined()) })
	return goja.Undefined()
}

// kind names the built-in kind of an object for structuredClone.
func kind(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return "primitive"
	}
	exported, class := o.ExportType(), ""
	if exported != exportsProxy {
		class = o.ClassName()
	}
	switch {
	case exported == exportsProxy:
		return "Proxy"
	case class != "Object":
		return class
	case exported == exportsPlain:
		return "Object"
	case exported == exportsMap:
		return "Map"
	case exported == exportsSet:
		return "Set"
	case exported == exportsBuffer:
		return "ArrayBuffer"
	case exported == exportsPromise:
		return "Promise"
	case exported.Kind() == reflect.Slice:
		return "View"
	default:
		return "BigInt"
	}
}

func (l *lib) show(call goja.FunctionCall) goja.Value {
	return l.vm.ToValue(l.inspector.inspect(call.Argument(0), InspectOptions{Depth: depthZero, MaxBytes: 200}))
}

func (l *lib) buffer(b []byte) goja.Value { return l.vm.ToValue(l.vm.NewArrayBuffer(b)) }

// bounded refuses what a library call would make too large.
func (l *lib) bounded(what string, n int) {
	if n > l.host.MaxBytes {
		l.throw("RangeError", fmt.Sprintf("%s: %d bytes are more than the %d allowed; work in parts", what, n, l.host.MaxBytes))
	}
}

func (l *lib) utf8(call goja.FunctionCall) goja.Value {
	s, ok := call.Argument(0).(goja.String)
	if !ok {
		return l.buffer(nil)
	}
	l.bounded("TextEncoder", s.Length())
	return l.buffer([]byte(s.String()))
}

// encodings maps the labels that scripts use to the encodings that are known.
var encodings = map[string]string{
	"utf-8": "utf-8", "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8",
	"utf-16le": "utf-16le", "utf-16": "utf-16le", "ucs-2": "utf-16le",
	"latin1": "windows-1252", "ascii": "windows-1252", "us-ascii": "windows-1252", "iso-8859-1": "windows-1252", "windows-1252": "windows-1252",
}

func (l *lib) encoding(call goja.FunctionCall) goja.Value {
	label := call.Argument(0).String()
	name, ok := encodings[strings.ToLower(strings.TrimSpace(label))]
	if !ok {
		l.throw("RangeError", fmt.Sprintf("TextDecoder does not know the encoding %q; utf-8, utf-16le and latin1 are known", cut(label, 40)))
	}
	return l.vm.ToValue(name)
}

func bytesOf(v goja.Value) []byte {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	return exportBytes(o)
}

func (l *lib) decode(call goja.FunctionCall) goja.Value {
	b := bytesOf(call.Argument(0))
	fatal := call.Argument(2).ToBoolean()
	l.bounded("TextDecoder", len(b))
	switch call.Argument(1).String() {
	case "utf-16le":
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		runes := utf16.Decode(units)
		if len(b)%2 != 0 {
			runes = append(runes, utf8.RuneError)
		}
		return l.vm.ToValue(string(runes))
	case "windows-1252":
		return l.vm.ToValue(windows1252(b))
	}
	if !utf8.Valid(b) {
		if fatal {
			panic(l.vm.NewTypeError("TextDecoder: the data is not valid utf-8"))
		}
		return l.vm.ToValue(decodeUTF8(b))
	}
	return l.vm.ToValue(string(b))
}

// decodeUTF8 replaces each maximal part of an ill-formed sequence by U+FFFD, as
// the Encoding Standard says.
func decodeUTF8(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = max(truncated(b), 1)
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// truncated is the length of the valid beginning of a sequence that b starts
// with and that is cut short, or 0.
func truncated(b []byte) int {
	low, high, want := byte(0x80), byte(0xBF), 0
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		want = 2
	case c >= 0xE0 && c <= 0xEF:
		want = 3
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		want = 4
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	default:
		return 0
	}
	n := 1
	for n < want && n < len(b) && b[n] >= low && b[n] <= high {
		n++
		low, high = 0x80, 0xBF
	}
	return n
}

// incomplete is how many bytes at the end begin a character that a later part
// of a stream may complete.
func (l *lib) incomplete(call goja.FunctionCall) goja.Value {
	b := bytesOf(call.Argument(0))
	switch call.Argument(1).String() {
	case "utf-16le":
		n := len(b) % 2
		if len(b)-n >= 2 && b[len(b)-n-1]&0xFC == 0xD8 {
			n += 2
		}
		return l.vm.ToValue(n)
	case "windows-1252":
		return l.vm.ToValue(0)
	}
	for n := 1; n <= 3 && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if truncated(tail) == n && !utf8.FullRune(tail) {
				return l.vm.ToValue(n)
			}
			break
		}
	}
	return l.vm.ToValue(0)
}

// upper1252 is bytes 0x80 to 0x9F of windows-1252.
var upper1252 = [...]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

func windows1252(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c >= 0x80 && c <= 0x9F {
			out.WriteRune(upper1252[c-0x80])
		} else {
			out.WriteRune(rune(c))
		}
	}
	return out.String()
}

func (l *lib) fill(b []byte) {
	if l.host.Rand != nil {
		l.host.Rand(b)
		return
	}
	_, _ = rand.Read(b)
}

func (l *lib) random(call goja.FunctionCall) goja.Value {
	n := call.Argument(0).ToInteger()
	const most = 1 << 16
	b := make([]byte, min(max(n, 0), most))
	l.fill(b)
	return l.buffer(b)
}

func (l *lib) randomUUID(goja.FunctionCall) goja.Value {
	var b [16]byte
	l.fill(b[:])
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return l.vm.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// btoa encodes a string of characters up to U+00FF.
func (l *lib) btoa(call goja.FunctionCall) goja.Value {
	s := l.argument(call, "btoa")
	l.bounded("btoa", s.Length()/3*4)
	b := make([]byte, s.Length())
	for i := range b {
		c := s.CharAt(i)
		if c > 0xFF {
			l.domException("btoa: the string has characters beyond U+00FF; encode it with TextEncoder first", "InvalidCharacterError")
		}
		b[i] = byte(c)
	}
	return l.vm.ToValue(base64.StdEncoding.EncodeToString(b))
}

// atob is the forgiving decode of the Infra Standard.
func (l *lib) atob(call goja.FunctionCall) goja.Value {
	s := l.argument(call, "atob")
	l.bounded("atob", s.Length())
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune("\t\n\f\r ", r) {
			return -1
		}
		return r
	}, s.String())
	if len(text)%4 == 0 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
	}
	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(text)%4 == 1 || strings.ContainsAny(text, "=") {
		l.domException("atob: the text is not base64", "InvalidCharacterError")
	}
	units := make([]uint16, len(b))
	for i, c := range b {
		units[i] = uint16(c)
	}
	return goja.StringFromUTF16(units)
}

// argument is the first argument as a string; a missing one is an error.
func (l *lib) argument(call goja.FunctionCall, name string) goja.String {
	if len(call.Arguments) == 0 {
		panic(l.vm.NewTypeError("%s needs a string", name))
	}
	return l.toString(call.Arguments[0])
}

// toString is the ToString of ECMA-262; it throws what the value's own toString
// throws, and for a symbol.
func (l *lib) toString(v goja.Value) goja.String {
	if s, ok := v.(goja.String); ok {
		return s
	}
	if _, ok := v.(*goja.Symbol); ok {
		panic(l.vm.NewTypeError("Cannot convert a Symbol value to a string"))
	}
	if s, ok := v.ToString().(goja.String); ok {
		return s
	}
	s, _ := l.vm.ToValue(v.String()).(goja.String)
	return s
}

// domException throws a DOMException.
func (l *lib) domException(message, name string) {
	constructor, err := l.webGlobal("DOMException")
	if err != nil {
		panic(l.failure(err))
	}
	o, err := l.vm.New(constructor, l.vm.ToValue(message), l.vm.ToValue(name))
	if err != nil {
		panic(l.failure(err))
	}
	panic(o)
}

// regExpEscape is RegExp.escape of ES2025.
func (l *lib) regExpEscape(call goja.FunctionCall) goja.Value {
	s, ok := call.Argument(0).(goja.String)
	if !ok {
		panic(l.vm.NewTypeError("RegExp.escape needs a string"))
	}
	text := jsvalue.WTF8(s)
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); {
		r, n := jsonscan.DecodeRune(text[i:])
		out = appendEscaped(out, r, i == 0)
		i += n
	}
	return l.vm.ToValue(string(out))
}

// appendEscaped appends a character as it stands for itself in a pattern.
func appendEscaped(out []byte, r rune, first bool) []byte {
	switch {
	case first && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'):
		return fmt.Appendf(out, `\x%02x`, r)
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, r):
		return append(append(out, '\\'), byte(r))
	case '\t' <= r && r <= '\r':
		return append(append(out, '\\'), "tnvfr"[r-'\t'])
	case r < 0x100 && (strings.ContainsRune(",-=<>#&!%:;@~'`\" ", r) || r == 0xA0):
		return fmt.Appendf(out, `\x%02x`, r)
	case r == 0x2028 || r == 0x2029 || r == 0xFEFF || unicode.Is(unicode.Zs, r) || 0xD800 <= r && r < 0xE000:
		return fmt.Appendf(out, `\u%04x`, r)
	}
	return utf8.AppendRune(out, r)
}
