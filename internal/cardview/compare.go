package cardview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/runcode-go/runcode/tools"
)

// Comparing takes time in proportion to the text times the number of changes,
// and a card is drawn while a call waits for it.
const (
	maxCompared    = 16 << 20 // bytes of one card, before and after
	maxLinesOfFile = 100_000
	roundCost      = 16 << 10 // what a round of comparing costs beside that, in bytes of maxCompared
)

// change is the difference of one file. The lines have their line feeds.
type change struct {
	tools.Diff
	before, after  []string
	edits          []lcs.Diff
	added, removed int  // lines
	large          bool // not compared, for its size
}

// compare finds the changed lines, if that is within the budget in bytes.
func compare(d tools.Diff, budget *int) change {
	ch := change{Diff: d}
	*budget -= len(d.Old) + len(d.New)
	if *budget < 0 || max(strings.Count(d.Old, "\n"), strings.Count(d.New, "\n")) > maxLinesOfFile {
		ch.large = true
		return ch
	}
	if d.Fragment && !(ended(d.Old) && ended(d.New)) {
		// What follows in the file is the same for both.
		d.Old, d.New = d.Old+"\n", d.New+"\n"
	}
	ch.before, ch.after = lines(d.Old), lines(d.New)
	c := comparison{before: ch.before, after: ch.after}
	c.compare(lcs.Diff{End: len(ch.before), ReplEnd: len(ch.after)})
	*budget -= c.rounds * roundCost
	ch.edits = c.edits
	for _, e := range ch.edits {
		ch.removed += e.End - e.Start
		ch.added += e.ReplEnd - e.ReplStart
	}
	return ch
}

// summary is the size of a change, in parentheses.
func (ch change) summary() string {
	switch {
	case ch.large:
		return "(changed)"
	case ch.Created:
		return fmt.Sprintf("(new file, +%d)", ch.added)
	case ch.added+ch.removed == 0:
		return "(no change)"
	}
	return fmt.Sprintf("(+%d -%d)", ch.added, ch.removed)
}

// ended reports whether a text is whole lines.
func ended(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// lines splits a text after its line feeds.
func lines(text string) []string {
	list := strings.SplitAfter(text, "\n")
	if last := len(list) - 1; list[last] == "" {
		list = list[:last]
	}
	return list
}

// maxRounds bounds how often what one comparison has left is compared again;
// largeEdit is from how many lines on that may be worth it.
const (
	maxRounds = 200
	largeEdit = 20
)

// comparison finds the edits of one file.
type comparison struct {
	before, after []string
	edits         []lcs.Diff // found so far, in order
	rounds        int
}

// compare adds the differences within a part. The algorithm gives up after
// about a hundred of them and makes one edit of all that lies between; that is
// compared again as long as something comes of it.
func (c *comparison) compare(part lcs.Diff) {
	c.rounds++
	for _, e := range diffLines(c.before[part.Start:part.End], c.after[part.ReplStart:part.ReplEnd]) {
		e = lcs.Diff{
			Start: part.Start + e.Start, End: part.Start + e.End,
			ReplStart: part.ReplStart + e.ReplStart, ReplEnd: part.ReplStart + e.ReplEnd,
		}
		if e == part || c.rounds > maxRounds || min(e.End-e.Start, e.ReplEnd-e.ReplStart) < largeEdit {
			c.edits = append(c.edits, e)
		} else {
			c.compare(e)
		}
	}
}

// diffLines is lcs.DiffLines, which is not ours: should it panic, everything
// has changed.
func diffLines(before, after []string) (edits []lcs.Diff) {
	defer func() {
		if recover() != nil {
			edits = []lcs.Diff{{End: len(before), ReplEnd: len(after)}}
		}
	}()
	return lcs.DiffLines(before, after)
}

// contextLines surround the edits of a hunk.
const contextLines = 3

// hunk is edits close to each other, with the lines around them.
type hunk struct {
	edits    []lcs.Diff
	from, to int // lines before the change, numbered from 0, without to
}

// hunks groups the edits.
func (ch change) hunks() []hunk {
	var list []hunk
	for i, e := range ch.edits {
		if i == 0 || e.Start-ch.edits[i-1].End > 2*contextLines {
			list = append(list, hunk{from: max(e.Start-contextLines, 0)})
		}
		h := &list[len(list)-1]
		h.edits = append(h.edits, e)
		h.to = min(e.End+contextLines, len(ch.before))
	}
	return list
}

// header is the places of a hunk before and after the change, as in unified
// diffs.
func (h hunk) header() string {
	first, last := h.edits[0], h.edits[len(h.edits)-1]
	from := first.ReplStart - (first.Start - h.from)
	to := last.ReplEnd + (h.to - last.End)
	return fmt.Sprintf("@@ -%s +%s @@", lineRange(h.from, h.to), lineRange(from, to))
}

func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}
