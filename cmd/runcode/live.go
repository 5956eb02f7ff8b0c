package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/runcode-go/runcode/internal/cardview"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// What the view shows of one run, whatever the program does.
const (
	maxLiveLines = 100   // sub-calls listed one by one; later ones are counted
	maxLogLines  = 200   // console lines; later ones are counted
	maxCardLines = 12    // below one call
	maxShownText = 1_000 // bytes looked at for one line
	maxLevel     = 8     // of indentation
)

// liveView shows a run on a terminal while it happens: its sub-calls as a tree,
// a line each and the changes they made below it, and what the program prints.
// At the end it writes a one-line summary, on any standard error. It is a sink:
// the pipeline calls it in order. All methods are safe for concurrent use, but
// for finish and summary, which come last. The fields above mu are set before
// the run.
type liveView struct {
	w        io.Writer
	terminal bool       // if not, only the summary is written
	width    func() int // columns; asked for each line, since windows change
	colour   bool
	// registry has the tools whose cards are shown. Nil: a call is shown with
	// its arguments.
	registry *tools.Registry
	redactor *redact.Redactor // of everything shown; nil: nothing is hidden
	dryRun   bool             // what changes something only seems to have run

	mu      sync.Mutex
	out     strings.Builder // what is written at the end of the method
	running []*liveCall
	settled int
	drawn   map[string][]string // lines of calls whose last event is still to come, by id
	below   *liveCall           // the call under which the last line stands; nil: the program
	logged  int                 // console lines, shown or not
	open    bool                // the cursor stands behind a line that will be overwritten
}

// newLiveView makes a view that writes to w, which is a terminal or not.
func newLiveView(w io.Writer) *liveView {
	v := &liveView{w: w, drawn: map[string][]string{}}
	if f, ok := w.(*os.File); ok {
		v.onTerminal(f)
	}
	return v
}

// onTerminal tells a view whose writer only leads to the terminal which it is.
func (v *liveView) onTerminal(f *os.File) {
	v.terminal = isTerminal(f)
	v.colour = cardview.ColourFor(f, os.Getenv)
	v.width = func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}
}

// liveCall is a sub-call that runs.
type liveCall struct {
	id, name, args string    // of name and args no more than is shown; args without secrets
	parent         *liveCall // nil: the program's, or a model's call
}

func (c *liveCall) level() (n int) {
	for ; c != nil; c = c.parent {
		n++
	}
	return n
}

// dispatched is what the view reads of the two events of a sub-call.
type dispatched struct {
	ID         string         `json:"subCallId"`
	ParentID   string         `json:"parentCallId"`
	Name       string         `json:"name"`
	Arguments  tools.JSON     `json:"arguments"`
	State      pipeline.State `json:"state"`
	DurationMs float64        `json:"durationMs"`
}

// Emit implements pipeline.Sink. It never fails: a view that cannot be drawn
// must not stop a call.
func (v *liveView) Emit(e pipeline.Event) error {
	if !v.terminal || e.Type != pipeline.EventCodeDispatchStart && e.Type != pipeline.EventCodeDispatch {
		return nil
	}
	var d dispatched
	if err := e.Data.Unmarshal(&d); err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Type == pipeline.EventCodeDispatchStart {
		v.running = append(v.running, v.newCall(d))
	} else {
		v.settle(d)
	}
	v.drawRunning()
	v.flush()
	return nil
}

// newCall makes the record of a call; v.mu is held.
func (v *liveView) newCall(d dispatched) *liveCall {
	c := &liveCall{id: d.ID, name: head(d.Name), parent: v.find(d.ParentID)}
	if v.settled < maxLiveLines {
		c.args = head(v.redactor.JSON(d.Arguments).String())
	}
	return c
}

// find returns the running call with that id, nil for none; v.mu is held.
func (v *liveView) find(id string) *liveCall {
	for _, c := range v.running {
		if c.id == id {
			return c
		}
	}
	return nil
}

// settledOutcome draws a sub-call, which the pipeline tells observers of before
// it emits the event. It is an observer for pipeline.OnResult.
func (v *liveView) settledOutcome(o pipeline.Outcome) {
	if !v.terminal || o.Call().ParentID() == "" {
		return
	}
	v.mu.Lock()
	c := v.find(o.Call().ID())
	listed := v.settled < maxLiveLines
	v.mu.Unlock()
	if c == nil || !listed {
		return
	}
	lines := v.draw(c, o) // tools draw their cards: the lock is not held
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.drawn) >= runtime.MaxParallel {
		clear(v.drawn) // of calls whose events went elsewhere
	}
	v.drawn[c.id] = lines
}

// draw is the lines of a settled call: itself, why it failed, what it changed.
func (v *liveView) draw(c *liveCall, o pipeline.Outcome) []string {
	subject, state := c.subject, fate(o.State(), o.Info().Code)
	var below []string
	if card, ok := v.card(o); ok {
		if card.Type != tools.CardGeneric || card.Title != c.name {
			subject = func(columns int) string { return titled(c.name, card, columns) }
		}
		if !o.IsError() && telling(card) {
			below = v.drawCard(card, c.level())
		}
	}
	if v.dryRun && !o.IsError() && !v.readOnly(c.name) {
		state = "dry run"
	}
	if o.IsError() {
		reason, _, _ := strings.Cut(strings.TrimSpace(v.redactor.Text(o.Message())), "\n")
		below = append(below, v.line(c.level()+2, "", "", func(columns int) string {
			return v.paint(sgrRed, termtext.Cut(termtext.EscapeLine(head(reason)), columns))
		}, ""))
	}
	return append([]string{v.settledLine(c.level(), o.State(), state, o.Took(), subject)}, below...)
}

func (v *liveView) readOnly(name string) bool {
	if v.registry == nil {
		return false
	}
	tool := v.registry.Lookup(name)
	return tool != nil && tool.Definition().Annotations.ReadOnly
}

// card is the tool's card of an outcome, without what is not to be seen.
func (v *liveView) card(o pipeline.Outcome) (card tools.Card, ok bool) {
	if v.registry == nil {
		return card, false
	}
	tool := v.registry.Lookup(o.Call().Name())
	if tool == nil {
		return card, false
	}
	card = presented(tool, o)
	card.Content = nil // may be large, and is not shown
	return cardview.MapTexts(card, v.redactor.Text), true
}

// telling reports whether a card is drawn below its call: a change, or a command that did not succeed.
func telling(card tools.Card) bool {
	switch card.Type {
	case tools.CardDiff:
		return true
	case tools.CardTerminal:
		return card.ExitCode == nil || *card.ExitCode != 0
	}
	return false
}

func (v *liveView) drawCard(card tools.Card, level int) []string {
	indent := indent(level + 2)
	lines := cardview.Draw(card, cardview.Style{
		Width: max(v.width()-1-len(indent), 1), Colour: v.colour, MaxLines: maxCardLines, Untitled: true,
	})
	for i, line := range lines {
		lines[i] = indent + line
	}
	return lines
}

// titled is a call by its card, after the tool's name: a card must not pass for
// another tool's.
func titled(name string, card tools.Card, columns int) string {
	if title := cardview.Title(card); len(title) >= len(name) && strings.EqualFold(title[:len(name)], name) {
		return cardview.TitleWithin(card, columns)
	}
	name = termtext.Cut(termtext.EscapeLine(name), columns) + " "
	return name + cardview.TitleWithin(card, columns-termtext.Width(name))
}

// subject is a call by its arguments.
func (c *liveCall) subject(columns int) string {
	return termtext.Cut(termtext.EscapeLine(c.name+" "+c.args), columns)
}

// marks are drawn before a settled call.
var marks = map[pipeline.State]string{
	pipeline.StateDone:       "✓ ",
	pipeline.StateFailed:     "✗ ",
	pipeline.StateAborted:    "■ ",
	pipeline.StateAbandoned:  "⚠ ",
	pipeline.StateNotStarted: "⊘ ",
}

// settle writes the lines of a settled call, which stay; v.mu is held.
func (v *liveView) settle(d dispatched) {
	c := v.find(d.ID)
	if c == nil {
		c = v.newCall(d)
	}
	v.running = slices.DeleteFunc(v.running, func(r *liveCall) bool { return r == c })
	lines, drawn := v.drawn[d.ID]
	delete(v.drawn, d.ID)
	v.settled++
	if v.settled > maxLiveLines {
		return
	}
	if !drawn {
		lines = []string{v.settledLine(c.level(), d.State, fate(d.State, ""), ofMillis(d.DurationMs), c.subject)}
	}
	v.clear()
	v.moveBelow(c.parent)
	v.print(lines...)
}

// moveBelow makes the next line stand under a call, nil for the program. A call
// that has lines under it gets one of its own above them, and again where lines
// of others have come between; v.mu is held.
func (v *liveView) moveBelow(c *liveCall) {
	for above := v.below; ; above = above.parent {
		if above == c {
			v.below = c
			return
		}
		if above == nil {
			break
		}
	}
	v.moveBelow(c.parent)
	v.print(v.line(c.level(), "▸ ", "", c.subject, ""))
	v.below = c
}

// log shows what the program prints to its console.
func (v *liveView) log(line runtime.Line) {
	if !v.terminal {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	count := 1 + strings.Count(line.Text, "\n")
	room := maxLogLines - v.logged
	v.logged += count
	if room <= 0 {
		return
	}
	v.clear()
	v.moveBelow(nil)
	for text := range strings.SplitSeq(v.redactor.Text(line.Text), "\n") {
		if room--; room < 0 {
			break
		}
		v.print(v.logLine(line.Level, text))
	}
	v.drawRunning()
	v.flush()
}

// Write puts whole lines of others, such as notes of the host, above what is
// drawn last.
func (v *liveView) Write(lines []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.out.Write(lines)
	v.drawRunning()
	v.flush()
	return len(lines), nil
}

func (v *liveView) logLine(level, text string) string {
	sgr := sgrDim
	if level == "error" {
		sgr = sgrRed
	}
	return v.line(1, "│ ", sgrDim, func(columns int) string {
		return v.paint(sgr, termtext.Cut(termtext.EscapeLine(head(text)), columns))
	}, "")
}

// drawRunning writes the line that the next one overwrites: the call that was
// started last, or how many have settled; v.mu is held.
func (v *liveView) drawRunning() {
	v.clear()
	var line string
	switch n := len(v.running); {
	case v.settled >= maxLiveLines:
		line = fmt.Sprintf("  … %d calls", v.settled)
	case n == 0:
		return
	case n == 1:
		line = v.runningLine(v.running[0], "")
	default:
		line = v.runningLine(v.running[n-1], fmt.Sprintf("  and %d more", n-1))
	}
	v.out.WriteString(line)
	v.open = true
}

func (v *liveView) runningLine(c *liveCall, tail string) string {
	return v.line(c.level(), "… ", "", c.subject, tail)
}

// settledLine is the line of a settled call; subject makes what stands between
// the mark and text, which says how it went.
func (v *liveView) settledLine(level int, state pipeline.State, text string, took time.Duration, subject func(columns int) string) string {
	sgr, tail := sgrGreen, "  "+shortDuration(took)
	if state != pipeline.StateDone {
		sgr = sgrRed
	}
	if text != "" {
		tail = "  " + text + tail
	}
	return v.line(level, marks[state], sgr, subject, tail)
}

// line is one line of the tree, cut to the width of the terminal. The colour is
// the mark's.
func (v *liveView) line(level int, mark, sgr string, text func(columns int) string, tail string) string {
	indent := indent(level)
	room := v.width() - 1 - utf8.RuneCountInString(indent+mark+tail)
	return indent + v.paint(sgr, mark) + text(max(room, 1)) + v.paint(sgrDim, tail)
}

func indent(level int) string { return strings.Repeat("  ", min(level, maxLevel)) }

// The colours of the view.
const (
	sgrDim   = "\x1b[2m"
	sgrRed   = "\x1b[31m"
	sgrGreen = "\x1b[32m"
	sgrReset = "\x1b[0m"
)

func (v *liveView) paint(sgr, text string) string {
	if !v.colour || sgr == "" || text == "" {
		return text
	}
	return sgr + text + sgrReset
}

// print adds whole lines; v.mu is held.
func (v *liveView) print(lines ...string) {
	for _, line := range lines {
		v.out.WriteString(line + "\n")
	}
}

// clear empties the line that may be overwritten, if there is one; v.mu is held.
func (v *liveView) clear() {
	if v.open {
		v.out.WriteString("\r\x1b[K")
		v.open = false
	}
}

// flush writes what has been drawn, in one piece; v.mu is held.
func (v *liveView) flush() {
	if v.out.Len() > 0 {
		_, _ = io.WriteString(v.w, v.out.String())
		v.out.Reset()
	}
}

// finish removes what is not meant to stay, and counts what was not shown. The
// outcome can be written now.
func (v *liveView) finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.running = nil
	if n := v.logged - maxLogLines; n > 0 {
		v.print(v.logLine("", fmt.Sprintf("… and %d more lines", n)))
	}
	if n := v.settled - maxLiveLines; v.terminal && n > 0 {
		v.print(fmt.Sprintf("  … and %d more", n))
	}
	v.flush()
}

// head is the part of a text that can be seen on one line at most, with tabs as
// spaces.
func head(text string) string {
	if len(text) > maxShownText {
		text = strings.ToValidUTF8(text[:maxShownText], "") + "…"
	}
	return strings.ReplaceAll(text, "\t", "    ")
}
