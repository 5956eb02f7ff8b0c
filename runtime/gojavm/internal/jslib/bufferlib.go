package jslib

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// bufferEncodings maps Node's names of encodings to the ones that are known.
var bufferEncodings = map[string]string{
	"utf8": "utf8", "utf-8": "utf8", "hex": "hex", "base64": "base64", "base64url": "base64url", "ascii": "ascii",
	"latin1": "latin1", "binary": "latin1", "utf16le": "utf16le", "utf-16le": "utf16le", "ucs2": "utf16le", "ucs-2": "utf16le",
}

func (l *lib) bufferGlobal() (goja.Value, error) {
	native := l.natives(map[string]func(goja.FunctionCall) goja.Value{
		"kind": func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(kind(call.Argument(0))) },
		"show": l.show,
		"bounded": func(call goja.FunctionCall) goja.Value {
			l.bounded(call.Argument(0).String(), int(min(call.Argument(1).ToFloat(), 1<<53)))
			return goja.Undefined()
		},
		"bufferEncoding": func(call goja.FunctionCall) goja.Value {
			return l.vm.ToValue(bufferEncodings[strings.ToLower(call.Argument(0).String())])
		},
		"bufferBytes": l.bufferBytes,
		"bufferText":  l.bufferText,
	})
	l.setOwn(native, "Uint8Array")
	return l.call(bufferProgram, native)
}

// bufferBytes encodes a string.
func (l *lib) bufferBytes(call goja.FunctionCall) goja.Value {
	s, ok := call.Argument(0).(goja.String)
	if !ok {
		return l.buffer(nil)
	}
	l.bounded("Buffer.from", s.Length())
	switch call.Argument(1).String() {
	case "hex":
		text := s.String()
		b, _ := hex.DecodeString(text[:len(text)/2*2])
		return l.buffer(b)
	case "base64", "base64url":
		return l.buffer(decodeBase64(s.String()))
	case "latin1", "ascii":
		b := make([]byte, s.Length())
		for i := range b {
			b[i] = byte(s.CharAt(i))
		}
		return l.buffer(b)
	case "utf16le":
		b := make([]byte, 2*s.Length())
		for i := range s.Length() {
			b[2*i], b[2*i+1] = byte(s.CharAt(i)), byte(s.CharAt(i)>>8)
		}
		return l.buffer(b)
	default:
		return l.buffer([]byte(s.String()))
	}
}

// decodeBase64 reads both alphabets, ignores what belongs to neither and stops
// at the padding, as Node does.
func decodeBase64(text string) []byte {
	text, _, _ = strings.Cut(text, "=")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '+', r == '/':
			return r
		}
		return -1
	}, text)
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	b, _ := base64.RawStdEncoding.DecodeString(text)
	return b
}

// bufferText decodes bytes.
func (l *lib) bufferText(call goja.FunctionCall) goja.Value {
	b := bytesOf(call.Argument(0))
	switch call.Argument(1).String() {
	case "hex":
		return l.vm.ToValue(hex.EncodeToString(b))
	case "base64":
		return l.vm.ToValue(base64.StdEncoding.EncodeToString(b))
	case "base64url":
		return l.vm.ToValue(base64.RawURLEncoding.EncodeToString(b))
	case "latin1", "ascii":
		units := make([]uint16, len(b))
		mask := byte(0xFF)
		if call.Argument(1).String() == "ascii" {
			mask = 0x7F
		}
		for i, c := range b {
			units[i] = uint16(c & mask)
		}
		return goja.StringFromUTF16(units)
	case "utf16le":
		units := make([]uint16, len(b)/2)
		for i := range units {
			units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
		}
		return l.vm.ToValue(string(utf16.Decode(units)))
	default:
		return l.vm.ToValue(decodeUTF8(b))
	}
}
