package terminal

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/tools"
)

// What is shown of a call at first; "s" shows the rest.
const (
	maxFieldLines = 4  // of a reason, a name and the like
	maxCardLines  = 20 // whatever the card's drawer makes
	maxArgLines   = 40 // less in a low window
	minArgLines   = 8
	maxValueLines = 3  // of one value, so that a long one does not push out the others
	linesBelow    = 8  // the arguments, room for
	minColumns    = 16 // no label is longer than what this leaves for text
)

// What stands before text that others chose. No line of the question itself
// begins so.
const (
	margin    = "│ "
	continued = "↪ " // after the margin: the line before goes on
)

// view is what a person is shown of a call.
type view struct {
	short    []string // the question as it is put
	all      []string // with nothing left out
	hidden   bool     // short leaves something out
	redacted bool     // something is in neither
}

// view makes the view for the window of d; seen says that all of it has been
// shown before. Everything is redacted before it is cut or escaped, since either
// could hide a secret from the redactor.
func (q *question) view(d dialog, seen bool) *view {
	columns, rows := d.size()
	p := &page{columns: max(columns-1, minColumns)} // some terminals break a full line
	v := &view{}
	args := q.ask.Call.Args()
	if redact := q.a.opts.Redact; redact != nil {
		args = redact(args)
		v.redacted = args != q.ask.Call.Args()
	}
	q.describe(p, v)
	if q.a.opts.Card != nil {
		p.card(q.a.opts.Card(q.grant.name, args), q.a.opts.Draw)
	}
	p.field("sha256", q.grant.digest, len(q.grant.digest)) // never cut
	p.own("arguments:")
	p.arguments(args, min(max(rows-len(p.short)-linesBelow, minArgLines), maxArgLines))
	if v.redacted {
		p.own("a part is redacted; the digest is of the whole")
	}
	v.short, v.all, v.hidden = p.short, p.all, p.hiddenLines > 0
	if v.hidden {
		v.short = append(v.short, fmt.Sprintf("… %d of %d lines, %s not shown; s shows all", p.hiddenLines, len(p.all), sizeOf(p.hiddenBytes)))
	}
	v.short = append(v.short, q.answers(v, seen || !v.hidden)...)
	return v
}

// describe says what is asked and why.
func (q *question) describe(p *page, v *view) {
	redact := func(text string) string {
		if q.a.opts.RedactText == nil {
			return text
		}
		shown := q.a.opts.RedactText(text)
		v.redacted = v.redacted || shown != text
		return shown
	}
	call := q.ask.Call
	p.own("approval needed")
	p.field("tool", redact(call.Name()), maxFieldLines)
	p.field("why", redact(q.ask.Reason), maxFieldLines)
	p.field("by", redact(q.ask.By), maxFieldLines)
	p.field("call", redact(call.ID()), maxFieldLines)
	p.field("parent", redact(call.ParentID()), maxFieldLines)
	p.field("at", redact(q.place()), maxFieldLines)
}

// place is where the call was made, as far as it is known.
func (q *question) place() string {
	call := q.ask.Call
	if q.a.opts.Source != nil {
		if at := q.a.opts.Source(call); at != "" {
			return at
		}
	}
	if line := call.Site().Line; line > 0 && call.ParentID() != "" {
		return fmt.Sprintf("line %d of the parent's program", line)
	}
	return ""
}

// page collects the lines of a view.
type page struct {
	columns     int
	short, all  []string
	hiddenLines int // in all and not in short
	hiddenBytes int
}

// own adds a line of the question itself.
func (p *page) own(line string) {
	p.short, p.all = append(p.short, line), append(p.all, line)
}

// field adds a text that others chose, behind a label, at first only so many
// lines of it. An empty one is left out.
func (p *page) field(label, text string, limit int) {
	if text == "" {
		return
	}
	lines := termtext.Wrap(label+": "+termtext.EscapeLine(text), p.columns-termtext.Width(margin+continued))
	for i := range lines[1:] {
		lines[i+1] = margin + continued + lines[i+1]
	}
	p.add(lines, limit)
}

// add adds lines, to what is shown at first only so many.
func (p *page) add(lines []string, limit int) {
	p.all = append(p.all, lines...)
	if len(lines) <= limit {
		p.short = append(p.short, lines...)
		return
	}
	p.short = append(append(p.short, lines[:limit]...), "…")
	for _, line := range lines[limit:] {
		p.hiddenLines++
		p.hiddenBytes += len(strings.TrimPrefix(strings.TrimPrefix(line, margin), continued))
	}
}

// card adds a card.
func (p *page) card(card tools.Card, draw func(tools.Card, int) []string) {
	if draw == nil {
		draw = drawPlain
	}
	var lines []string
	for _, line := range draw(card, p.columns-termtext.Width(margin)) {
		lines = append(lines, margin+line)
	}
	p.add(lines, maxCardLines)
}

// drawPlain draws what a card says in so many words.
func drawPlain(card tools.Card, columns int) (lines []string) {
	add := func(label, text string) {
		if text != "" {
			lines = append(lines, termtext.Wrap(label+termtext.EscapeLine(text), columns)...)
		}
	}
	add("", card.Title)
	add("", card.Description)
	add("$ ", card.Command)
	add("in ", card.Dir)
	add("", card.Path)
	for _, l := range card.Locations {
		add("", l.Path)
	}
	for _, d := range card.Diffs {
		add("", fmt.Sprintf("%s: %s become %s", d.Path, sizeOf(len(d.Old)), sizeOf(len(d.New))))
	}
	return lines
}

// arguments adds the arguments, at first only so many lines of them.
func (p *page) arguments(args tools.JSON, limit int) {
	full := argumentLines(args, p.columns, 0)
	shown := full
	if len(full) > limit {
		shown = argumentLines(args, p.columns, maxValueLines)
		shown = shown[:min(len(shown), limit)]
	}
	for _, line := range full {
		p.all = append(p.all, line.text)
		p.hiddenLines++
		p.hiddenBytes += line.size
	}
	for _, line := range shown {
		p.short = append(p.short, line.text)
		if line.size > 0 {
			p.hiddenLines--
			p.hiddenBytes -= line.size
		}
	}
}

// sizeOf is a number of bytes for people.
func sizeOf(n int) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d KB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}
