package gitignore

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold maps texts that differ only in case to one text, by Unicode simple case
// folding: every character becomes the least of those that are equal. Bytes
// that are not UTF-8 stay as they are.
func Fold(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n <= 1 {
			out.WriteByte(text[i])
		} else {
			out.WriteRune(least(r))
		}
		i += n
	}
	return out.String()
}

func least(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - ('a' - 'A')
	}
	low := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		low = min(low, next)
	}
	return low
}

func foldIf(fold bool, text string) string {
	if fold {
		return Fold(text)
	}
	return text
}

// foldSet makes a class hold what Fold makes of its letters.
func foldSet(set *[256]bool) {
	for c := 'a'; c <= 'z'; c++ {
		upper := least(c)
		set[upper] = set[upper] || set[c]
	}
}
