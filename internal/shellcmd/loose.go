package shellcmd

import "strings"

// looseWords is the flat form of a text of which nothing is known: broken into
// words wherever one could end, without quotes. As it is not known either where
// a quote begins, the text is there with its escapes decoded and as it is.
func looseWords(text string) string {
	if decoded := decodeQuotes(text); decoded != text {
		text = decoded + "\n" + text
	}
	text = strings.NewReplacer("\x00", "", "\\\n", "", "${IFS}", " ", "$IFS", " ", "$'", "", `$"`, "", "'", "", `"`, "", `\`, "").Replace(text)
	var b strings.Builder
	b.Grow(len(text) + 1)
	for w := range strings.FieldsFuncSeq(text, isBreak) {
		b.WriteString(w)
		b.WriteString(end)
	}
	return b.String()
}

// isBreak reports whether a word ends before the character, whatever the syntax.
func isBreak(r rune) bool {
	return strings.ContainsRune(" \t\r\n;&|()<>`{},", r)
}

// decodeQuotes decodes every $'...' in a text that is not parsed.
func decodeQuotes(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$'")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		n := 0
		for n < len(rest) && rest[n] != '\'' {
			if rest[n] == '\\' {
				n++
			}
			n++
		}
		n = min(n, len(rest))
		decoded, _ := decodeANSI(rest[:n])
		b.WriteString(decoded)
		text = strings.TrimPrefix(rest[n:], "'")
	}
}
