package redact

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// spelling is one way to write a secret.
type spelling struct {
	name   string // of the secret
	text   string
	padded bool // base64, which = may follow
}

// spellings are the ways to write a value that are searched for, each once.
func spellings(name, value string) []spelling {
	var list []spelling
	seen := map[string]bool{}
	add := func(text string, padded bool) {
		// Inside a text, a value that is no text itself could split a character.
		if len(text) >= minSecret && !seen[text] && utf8.ValidString(text) {
			seen[text] = true
			list = append(list, spelling{name: name, text: text, padded: padded})
		}
	}
	add(value, false)
	for _, escaped := range escapes(value) {
		add(escaped, false)
		// JSON inside a JSON string, such as a model's arguments.
		for _, again := range escapes(escaped) {
			add(again, false)
		}
	}
	for _, encoded := range []string{url.QueryEscape(value), url.PathEscape(value), componentEscape(value)} {
		add(encoded, false)
		add(lowerHex(encoded), false)
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		add(encoding.EncodeToString([]byte(value)), true)
		for shift := range 3 {
			add(shifted(encoding, value, shift), true)
		}
	}
	return list
}

// escapes are the ways JSON writers spell a string, without the quotes: as
// short as can be, safe for HTML, with / escaped, and in ASCII alone.
func escapes(value string) []string {
	quoted := string(jsonscan.AppendQuote(nil, value))
	plain := quoted[1 : len(quoted)-1]
	html := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(plain)
	return []string{plain, html, strings.ReplaceAll(plain, "/", `\/`), ascii(plain)}
}

// ascii spells every other character as an escape.
func ascii(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	unit := func(r rune) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[r>>shift&0xF])
		}
	}
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			unit(high)
			unit(low)
		default:
			unit(r)
		}
	}
	return b.String()
}

// componentEscape is JavaScript's encodeURIComponent.
func componentEscape(s string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
}

// lowerHex spells the escapes of a URL with small letters.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// shifted is what base64 makes of value when that many bytes, or three more and
// so on, stand before it: the characters that depend on value alone.
func shifted(encoding *base64.Encoding, value string, before int) string {
	text := encoding.EncodeToString(append(make([]byte, before), value...))
	bits := 8 * (before + len(value))
	return text[(8*before+5)/6 : bits/6]
}

func skipPadding(s string, i int) int {
	for n := 0; n < 2 && i < len(s) && s[i] == '='; n++ {
		i++
	}
	return i
}
