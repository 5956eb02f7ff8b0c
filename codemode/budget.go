package codemode

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"
)

// DefaultMaxText is the most bytes of text one run_code result puts before a
// model unless Options say otherwise.
const DefaultMaxText = 64 << 10

// storeTime is how long a Store may take.
const storeTime = 30 * time.Second

// unstored is what is said of a cut text that nobody keeps.
const unstored = "Return or print less to see all of it."

// clip fits text into max bytes for a model. A longer text begins with its
// size, what is shown of it and where the rest is, then come its head and its
// tail, two thirds and one third of the room, cut between characters.
func clip(text string, max int, rest string) string {
	if len(text) <= max {
		return text
	}
	const cut = "\n[... cut ...]\n"
	// The sizes named in the notice do not change its length by more than the
	// slack it is given here.
	room := max - len(notice(len(text), len(text), len(text), rest)) - len(cut)
	if room <= 0 {
		return text[:runeStart(text, max)]
	}
	head := text[:runeStart(text, room*2/3)]
	from := len(text) - (room - len(head))
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	tail := text[from:]
	return notice(len(text), len(head), len(tail), rest) + head + cut + tail
}

func notice(all, head, tail int, rest string) string {
	return fmt.Sprintf("(the output is %d bytes; shown are the first %d and the last %d. %s)\n", all, head, tail, rest)
}

// fit is a text as far as it fits into max bytes; one that does not is stored.
func (c *CodeMode) fit(ctx context.Context, callID, text string, max int) string {
	if max < 0 {
		max = 0
	}
	if len(text) <= max {
		return text
	}
	return clip(text, max, c.keep(ctx, callID, text))
}

// redact is a text as a model may read it.
func (c *CodeMode) redact(text string) (out string) {
	if c.opts.Redact == nil {
		return text
	}
	defer func() {
		if recover() != nil {
			out = "(the text is withheld: taking secrets out of it failed)"
		}
	}()
	return c.opts.Redact(text)
}

// keep stores a text that does not fit and says, in a sentence for the model,
// where it is.
func (c *CodeMode) keep(ctx context.Context, callID, text string) (rest string) {
	if c.opts.Store == nil {
		return unstored
	}
	defer func() {
		if r := recover(); r != nil {
			rest = "The whole text could not be stored: the store crashed. " + unstored
		}
	}()
	// A run that was aborted is worth keeping too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	locator, err := c.opts.Store(ctx, callID, text)
	if err != nil {
		return "The whole text could not be stored: " + firstLine(c.redact(err.Error()), 200) + ". " + unstored
	}
	return "The whole text is at " + firstLine(c.redact(locator), 500) + "."
}

// runeStart is the largest cut at or before n that splits no character.
func runeStart(text string, n int) int {
	n = min(n, len(text))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
