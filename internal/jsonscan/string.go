package jsonscan

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the characters of a string or key token in WTF-8. Raw must
// come from a Scanner; a plain string costs no allocation.
func Unquote(raw string) string {
	body := raw[1 : len(raw)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	// The characters take no more bytes than their escapes.
	var out strings.Builder
	out.Grow(len(body))
	var char [utf8.UTFMax]byte
	for {
		i := strings.IndexByte(body, '\\')
		if i < 0 {
			out.WriteString(body)
			break
		}
		out.WriteString(body[:i])
		r, n := unescape(body[i:])
		out.Write(AppendRune(char[:0], r))
		body = body[i+n:]
	}
	if out.Cap() > 2*out.Len() {
		return strings.Clone(out.String()) // it would keep what it does not need
	}
	return out.String()
}

// unescape decodes the valid escape text starts with, joining a surrogate pair.
func unescape(text string) (rune, int) {
	switch text[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, _ := hex4(text[2:])
		if utf16.IsSurrogate(r) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
			if low, ok := hex4(text[8:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
		}
		return r, 6
	default:
		return rune(text[1]), 2
	}
}

// AppendRune appends r in WTF-8; an unpaired surrogate takes three bytes.
func AppendRune(dst []byte, r rune) []byte {
	if 0xD800 <= r && r <= 0xDFFF {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F|0x80, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// DecodeRune decodes the first character of WTF-8 text. It differs from
// utf8.DecodeRuneInString only for an unpaired surrogate, which it returns as
// itself with width 3.
func DecodeRune(text string) (rune, int) {
	r, n := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && n == 1 && len(text) >= 3 && text[0] == 0xED && text[1] >= 0xA0 && text[1] <= 0xBF && text[2]&0xC0 == 0x80 {
		return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F), 3
	}
	return r, n
}

const hexDigits = "0123456789abcdef"

// AppendQuote appends WTF-8 text as a JSON string in canonical form: only the
// quote, the backslash, control characters below U+0020 and unpaired surrogates
// are escaped, with the short escapes of RFC 8259 where they exist and lower
// case hexadecimal digits elsewhere (as ECMA-262 QuoteJSONString does). Bytes
// that are not WTF-8 become U+FFFD.
func AppendQuote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		if n := plainLen(text[i:]); n > 0 {
			dst = append(dst, text[i:i+n]...)
			i += n
			continue
		}
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := DecodeRune(text[i:])
			if utf16.IsSurrogate(r) && i+n < len(text) {
				// Two halves side by side are one character, which a
				// reader of the escapes would join.
				low, more := DecodeRune(text[i+n:])
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r, n = pair, n+more
				}
			}
			if 0xD800 <= r && r <= 0xDFFF {
				dst = appendUnicodeEscape(dst, r)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += n
			continue
		}
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = appendUnicodeEscape(dst, rune(c))
		}
		i++
	}
	return append(dst, '"')
}

// Short reports whether a string or key token has no escapes but the short ones
// that AppendQuote writes, so that AppendQuote would spell it as it is. Raw must come
// from a Scanner.
func Short(raw string) bool {
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			return true
		}
		if c := raw[i+1]; c == 'u' || c == '/' {
			return false
		}
		raw = raw[i+2:]
	}
}

// Quote is AppendQuote as a text of its own.
func Quote(text string) string {
	if plainLen(text) == len(text) {
		return `"` + text + `"`
	}
	return string(AppendQuote(make([]byte, 0, len(text)+len(text)/8+16), text))
}

// plainLen is the number of bytes at the start of text that stand for themselves
// in a string and need no look at their neighbours: ASCII but control characters,
// the quote and the backslash.
func plainLen(text string) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		// Eight bytes at once. The lowest high bit in odd is that of the first byte
		// that is another; a borrow may set further ones above it.
		b := text[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		const ones, high = 0x0101010101010101, 0x8080808080808080
		quote, slash := w^ones*'"', w^ones*'\\'
		odd := (w | (w - ones*' ') | (quote - ones) | (slash - ones)) & high
		if odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

func appendUnicodeEscape(dst []byte, r rune) []byte {
	return append(dst, '\\', 'u', hexDigits[r>>12&0xF], hexDigits[r>>8&0xF], hexDigits[r>>4&0xF], hexDigits[r&0xF])
}
