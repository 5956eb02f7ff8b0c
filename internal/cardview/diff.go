package cardview

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

// diffView draws the changes of files.
type diffView struct {
	card    tools.Card
	changes []change
}

func newDiffView(card tools.Card) diffView {
	v := diffView{card: card}
	budget := maxCompared
	for _, d := range card.Diffs {
		v.changes = append(v.changes, compare(d, &budget))
	}
	return v
}

func (v diffView) title(more string) (subject, result string) {
	switch len(v.changes) {
	case 0:
		return short(v.card.Title, more), ""
	case 1:
		return naming(v.card.Title, v.changes[0].Path, more), " " + v.changes[0].summary()
	}
	return naming(v.card.Title, v.changes[0].Path, more), " and " + count(len(v.changes)-1, "more file", "more files") + " " + v.sum()
}

// sum is the summary of several changes.
func (v diffView) sum() string {
	added, removed, uncompared := 0, 0, 0
	for _, ch := range v.changes {
		added += ch.added
		removed += ch.removed
		if ch.large {
			uncompared++
		}
	}
	if uncompared > 0 {
		return fmt.Sprintf("(+%d -%d, %d not compared)", added, removed, uncompared)
	}
	return fmt.Sprintf("(+%d -%d)", added, removed)
}

func (v diffView) head(c *canvas) { c.heading(v) }

// draw draws the changes, each below its path unless there is only one, which
// the title names.
func (v diffView) draw(c *canvas) {
	for _, ch := range v.changes {
		if len(v.changes) > 1 {
			c.add(bold, "", c.fit(short(ch.Path, c.more()), " "+ch.summary()))
		}
		if ch.large {
			c.add(dim, "", fmt.Sprintf("too large to compare: %s before, %s after", size(len(ch.Old)), size(len(ch.New))))
			continue
		}
		for _, h := range ch.hunks() {
			ch.draw(c, h)
		}
	}
}

// draw draws one hunk in the unified format; the numbers of its lines mean
// nothing in a fragment.
func (ch change) draw(c *canvas, h hunk) {
	switch {
	case !ch.Fragment:
		c.add(cyan, "", h.header())
	case h.from > 0:
		c.add(dim, "", c.more())
	}
	at := h.from
	for _, e := range h.edits {
		ch.context(c, at, e.Start)
		removed, added := ch.before[e.Start:e.End], ch.after[e.ReplStart:e.ReplEnd]
		for i, line := range removed {
			c.changed(red, "-", line, nth(added, i))
		}
		for i, line := range added {
			c.changed(green, "+", line, nth(removed, i))
		}
		at = e.End
	}
	ch.context(c, at, h.to)
}

func (ch change) context(c *canvas, from, to int) {
	for _, line := range ch.before[from:to] {
		c.add(plain, " ", strings.TrimRight(line, "\r\n"))
		c.ending(line)
	}
}

func nth(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// changed draws one side of a changed line so that it differs from the other
// side also where only white space does, or only what lies beyond the width.
func (c *canvas) changed(colour colour, sign, line, other string) {
	text, other := strings.TrimSuffix(line, "\n"), strings.TrimSuffix(other, "\n")
	switch {
	case c.room() <= 0 || text == other: // nothing to see, or only the line's end differs
	case looks(text) == looks(other):
		text = revealed(text)
	default:
		text = strings.TrimSuffix(text, "\r")
		if same := commonPrefix(text, other); same > c.Width-len(sign)-len(sign) {
			text = c.more() + text[runeStart(text, same-c.Width/3):]
		}
	}
	c.add(colour, sign, text)
	c.ending(line)
}

// ending draws that a line has no line feed.
func (c *canvas) ending(line string) {
	if !strings.HasSuffix(line, "\n") {
		c.add(dim, "", `\ no newline at end of file`)
	}
}

// looks is what a reader sees of a line.
func looks(line string) string { return strings.TrimRight(expand(line), " \r") }

// revealed is a line with the white space that looks does not show made
// visible.
func revealed(line string) string {
	kept := strings.TrimRight(line, " ")
	line = kept + strings.Repeat(`\x20`, len(line)-len(kept))
	return strings.ReplaceAll(line, "\t", `\t`)
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// runeStart is the start of the character at byte i.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return count(n, "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
