package runtime

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// frameWidth is how many characters of a source line a code frame shows.
const frameWidth = 100

// CodeFrame shows the line of source that site points at, the lines around it
// and a caret under the column. It is empty when source has no such line.
//
//	  1 | const r = await tools.list({})
//	> 2 | return r.map(x => x.name.first)
//	    |                          ^
//	  3 | // done
//
// Lines end at LF, CRLF, CR, U+2028 and U+2029, as in ECMA-262. Long lines are
// cut around the column.
func CodeFrame(source string, site Site) string {
	lines := SourceLines(source)
	if site.Line < 1 || site.Line > len(lines) {
		return ""
	}
	first, last := max(site.Line-1, 1), min(site.Line+1, len(lines))
	if last > site.Line && last == len(lines) && lines[last-1] == "" {
		last-- // what follows the final line feed is no line
	}
	digits := len(fmt.Sprint(last))
	start := 0
	if site.Column > frameWidth*3/4 {
		start = site.Column - frameWidth/2
	}
	var b strings.Builder
	for n := first; n <= last; n++ {
		mark := " "
		if n == site.Line {
			mark = ">"
		}
		text, _ := cutLine(lines[n-1], start)
		writeFrameLine(&b, fmt.Sprintf("%s %*d | ", mark, digits, n), text)
		if n == site.Line && site.Column > 0 {
			_, prefix := cutLine(lines[n-1], start)
			writeFrameLine(&b, fmt.Sprintf("  %*s | ", digits, ""), caret(prefix, site.Column-1-start))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeFrameLine(b *strings.Builder, margin, text string) {
	b.WriteString(strings.TrimRight(margin+text, " \t"))
	b.WriteByte('\n')
}

// cutLine is what a frame shows of line, from the character start on, and the
// same as runes.
func cutLine(line string, start int) (string, []rune) {
	runes := []rune(line)
	runes = runes[min(start, len(runes)):]
	if len(runes) > frameWidth {
		runes = runes[:frameWidth]
	}
	return string(runes), runes
}

// caret points at the character with that index, under the same tabs.
func caret(line []rune, index int) string {
	var b strings.Builder
	for i := range max(index, 0) {
		if i < len(line) && line[i] == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + "^"
}

// SourceLines splits a program into its lines, without their terminators.
func SourceLines(source string) []string {
	var lines []string
	start := 0
	for i := 0; i < len(source); {
		width := 0
		switch c := source[i]; {
		case c == '\r' && i+1 < len(source) && source[i+1] == '\n':
			width = 2
		case c == '\n' || c == '\r':
			width = 1
		case c == 0xE2:
			if r, n := utf8.DecodeRuneInString(source[i:]); r == '\u2028' || r == '\u2029' {
				width = n
			}
		}
		if width == 0 {
			i++
			continue
		}
		lines = append(lines, source[start:i])
		i += width
		start = i
	}
	return append(lines, source[start:])
}
