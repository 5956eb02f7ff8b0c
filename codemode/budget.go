package codemode

import (
	"fmt"
	"unicode/utf8"
)

// DefaultMaxText is the most bytes of text one run_code result puts before a
// model unless Options say otherwise.
const DefaultMaxText = 64 << 10

// clip fits text into max bytes for a model. A longer text begins with its
// size and what is shown of it, then come its head and its tail, two thirds and
// one third of the room, cut between characters.
func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	const cut = "\n[... cut ...]\n"
	// The sizes named in the notice do not change its length by more than the
	// slack it is given here.
	room := max - len(notice(len(text), len(text), len(text))) - len(cut)
	if room <= 0 {
		return text[:runeStart(text, max)]
	}
	head := text[:runeStart(text, room*2/3)]
	from := len(text) - (room - len(head))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	tail := text[from:]
	return notice(len(text), len(head), len(tail)) + head + cut + tail
}

func notice(all, head, tail int) string {
	return fmt.Sprintf("(the output is %d bytes; shown are the first %d and the last %d. Return or print less to see all of it.)\n", all, head, tail)
}

// runeStart is the largest cut at or before n that splits no character.
func runeStart(text string, n int) int {
	n = min(n, len(text))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
