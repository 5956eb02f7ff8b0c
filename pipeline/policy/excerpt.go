package policy

import "unicode/utf8"

// excerpt is the beginning of a text that may be long.
func excerpt(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:runeStart(text, most)] + "..."
}

// runeStart is the largest cut at or before n that splits no character.
func runeStart(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
