package shelltools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/proc"
)

// notes collects what a value must say besides its fields.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

func (n notes) String() string { return strings.Join(n, "; ") }

// textOf is a stream as text: all of it, or its beginning and its end with a
// line between them that counts what is missing. What it leaves out or changes
// is noted.
func textOf(stream string, o proc.Output, notes *notes) string {
	text := o.Head
	if o.Cut() {
		head, tail := wholeEnd(o.Head), wholeStart(o.Tail)
		left := o.Size - int64(len(head)) - int64(len(tail))
		notes.add("%d of the %d bytes of %s are left out of its middle", left, o.Size, stream)
		text = join(head, fmt.Sprintf("[%d of %d bytes left out]", left, o.Size), tail)
	}
	text, bad := valid(text)
	if bad > 0 {
		notes.add("%s is not UTF-8 text; bytes replaced by U+FFFD: %d", stream, bad)
	}
	return text
}

// join puts a line of its own between two texts.
func join(head, line, tail string) string { return ended(head) + line + "\n" + tail }

// ended is a text whose last line is ended, if it has any.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// shorten is a text of at most limit bytes and a line that counts what that
// leaves out.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := wholeEnd(text[:limit-limit/2]), wholeStart(text[len(text)-limit/2:])
	return join(head, fmt.Sprintf("[%d of %d bytes not shown]", len(text)-len(head)-len(tail), len(text)), tail)
}

// wholeEnd leaves out the first bytes of a character the text ends in.
func wholeEnd(text string) string {
	for i := len(text) - 1; i >= max(len(text)-utf8.UTFMax, 0); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// wholeStart leaves out the last bytes of a character the text begins with.
func wholeStart(text string) string {
	for n := 0; n < utf8.UTFMax-1 && text != "" && !utf8.RuneStart(text[0]); n++ {
		text = text[1:]
	}
	return text
}

// valid replaces every byte that belongs to no character, and counts them.
func valid(text string) (string, int) {
	if utf8.ValidString(text) {
		return text, 0
	}
	bad := 0
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			bad++
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String(), bad
}
