// Package termtext makes text harmless for a terminal. Scripts, tools and their
// results are not trusted: an escape sequence in them could rewrite what is on
// the screen, and a bidirectional control could make it read as something else.
package termtext

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape returns text with everything a terminal or a reader's eye could
// misread made visible: C0 and C1 controls (and with them every CSI and OSC
// sequence), DEL, bidirectional and zero-width characters, other invisible
// format characters, line and paragraph separators, and bytes that are not
// UTF-8. Line feeds and tabs stay.
func Escape(text string) string {
	if !needsEscape(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !hidden(r):
			b.WriteString(text[i : i+n])
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

// EscapeLine is Escape for a place where only one line fits: line feeds and
// tabs become visible too.
func EscapeLine(text string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(Escape(text))
}

// EscapeJSON is Escape for a JSON text, which it keeps valid: what is hidden
// becomes a \\u escape of the string it stands in.
func EscapeJSON(text string) string {
	if !needsEscape(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Cut returns the beginning of one line of escaped text that fits into a number
// of terminal columns, with an ellipsis if something was cut. It may count a
// character too wide, never too narrow.
func Cut(line string, columns int) string {
	used, fits := 0, 0 // fits: where to cut so that the ellipsis has room
	for i, r := range line {
		if used < columns {
			fits = i
		}
		if used += width(r); used > columns {
			if columns < 1 {
				return ""
			}
			return line[:fits] + "…"
		}
	}
	return line
}

// width is how many columns a character takes at most: from Hangul on terminals
// draw many over two.
func width(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

func needsEscape(text string) bool {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || hidden(r) {
			return true
		}
		i += n
	}
	return false
}

// hidden reports whether r is not drawn as itself. Cf holds the bidirectional
// controls, the zero-width characters and the tags; the variation selectors are
// marks and stay, since emoji need them.
func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0' // fillers that draw nothing
}

// NewWriter returns a writer that escapes what it passes on. A character split
// between two writes is escaped byte by byte, so write whole texts.
func NewWriter(w io.Writer) io.Writer { return writer{w} }

type writer struct{ w io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, Escape(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
