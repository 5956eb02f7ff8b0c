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
// UTF-8. Of the marks piled upon one character a few stay; more of them would
// cover the lines above and below. Line feeds and tabs stay.
func Escape(text string) string {
	if !needsEscape(text) {
		return text
	}
	var b strings.Builder
	var marks pile
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch tooHigh := marks.add(r); {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !tooHigh && !hidden(r):
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
	var marks pile
	for _, r := range text {
		switch tooHigh := marks.add(r); {
		case !tooHigh && !hidden(r):
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

// Wrap breaks escaped text into lines of at most so many terminal columns, after
// a space where there is one in the second half of a line. Nothing is left out:
// but for the line feeds, at which it breaks too, the lines together are the
// text. A character that alone is too wide gets a line of its own.
func Wrap(text string, columns int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, columns)...)
	}
	return lines
}

func wrapLine(line string, columns int) (pieces []string) {
	begin, used := 0, 0       // of the piece
	space, afterSpace := 0, 0 // where a piece may end, and its columns
	for i, r := range line {
		w := width(r)
		for used+w > columns && i > begin {
			end, rest := i, 0
			if space > begin && 2*afterSpace >= columns {
				end, rest = space, used-afterSpace
			}
			pieces = append(pieces, line[begin:end])
			begin, used = end, rest
		}
		if used += w; r == ' ' {
			space, afterSpace = i+1, used
		}
	}
	return append(pieces, line[begin:])
}

// Width is how many terminal columns one line of escaped text takes. It may
// count a character too wide, never too narrow.
func Width(line string) (columns int) {
	for _, r := range line {
		columns += width(r)
	}
	return columns
}

// width is how many columns a character takes at most: from Hangul on terminals
// draw many over two. Some can be set to draw Greek, Cyrillic and a few others
// so too, which is not provided for.
func width(r rune) int {
	switch {
	case r == '\t':
		return 8
	case r >= 0x1100:
		return 2
	}
	return 1
}

// maxMarks is how many marks may be piled upon one character; written languages
// need up to four.
const maxMarks = 4

// pile is how many marks lie upon the last character.
type pile int

// add counts the next character and reports whether it is a mark too many.
func (p *pile) add(r rune) (tooHigh bool) {
	if r < 0x300 || !unicode.In(r, unicode.Mn, unicode.Me) {
		*p = 0
		return false
	}
	*p++
	return *p > maxMarks
}

func needsEscape(text string) bool {
	var marks pile
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if tooHigh := marks.add(r); tooHigh || r == utf8.RuneError && n == 1 || hidden(r) {
			return true
		}
		i += n
	}
	return false
}

// hidden reports whether r is not drawn as itself. Cf holds the bidirectional
// controls, the zero-width characters and the tags; fillers, joiners and what is
// reserved for more of the kind are elsewhere. Of the variation selectors, in
// which any bytes can be hidden, the two that emoji need stay.
func hidden(r rune) bool {
	switch {
	case r < 0x7F:
		return r < ' ' && r != '\n' && r != '\t'
	case r == '\uFE0E', r == '\uFE0F':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
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
