// Package termtext makes text harmless for a terminal. Scripts, tools and their
// results are not trusted: an escape sequence in them could rewrite what is on
// the screen, and a bidirectional control could make it read as something else.
package termtext

import (
	"fmt"
	"io"
	"strings"
	"unicode"
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
