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

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// maxLiveLines bounds the sub-calls listed one by one; later ones are counted.
const maxLiveLines = 100

// maxShownArgs bounds the arguments looked at for one line, in bytes.
const maxShownArgs = 1_000

// liveView shows sub-calls on a terminal while they happen, one line each, and
// a one-line summary at the end on any standard error. It is a sink: the
// pipeline calls it in order.
type liveView struct {
	w        io.Writer
	terminal bool
	width    func() int // columns; asked for each line, since windows change

	mu      sync.Mutex
	running []dispatched
	settled int
	open    bool // the cursor stands behind a line that will be overwritten
}

func newLiveView(w io.Writer) *liveView {
	v := &liveView{w: w, terminal: isTerminal(w)}
	v.width = func() int {
		if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 {
			return width
		}
		return 80
	}
	return v
}

// dispatched is what the view reads of the two events of a sub-call.
type dispatched struct {
	ID         string         `json:"subCallId"`
	Name       string         `json:"name"`
	Arguments  rawText        `json:"arguments"`
	State      pipeline.State `json:"state"`
	DurationMs float64        `json:"durationMs"`
}

// rawText keeps a JSON value as its text.
type rawText string

func (t *rawText) UnmarshalJSON(text []byte) error { *t = rawText(text); return nil }

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
		v.running = append(v.running, d)
	} else {
		v.running = slices.DeleteFunc(v.running, func(r dispatched) bool { return r.ID == d.ID })
		v.settle(d)
	}
	v.drawRunning()
	return nil
}

// marks are drawn before a settled call.
var marks = map[pipeline.State]string{
	pipeline.StateDone:       "✓ ",
	pipeline.StateFailed:     "✗ ",
	pipeline.StateAborted:    "■ ",
	pipeline.StateNotStarted: "⊘ ",
}

// settle writes the line of a settled call, which stays.
func (v *liveView) settle(d dispatched) {
	v.settled++
	if v.settled > maxLiveLines {
		return
	}
	tail := "  " + shortDuration(time.Duration(d.DurationMs*float64(time.Millisecond)))
	if d.State != pipeline.StateDone {
		tail = "  " + spaced(d.State) + tail
	}
	v.clear()
	fmt.Fprintln(v.w, v.line(marks[d.State], d, tail))
}

// drawRunning writes the line that the next event overwrites: the call that was
// started last, or how many have settled.
func (v *liveView) drawRunning() {
	v.clear()
	var line string
	switch n := len(v.running); {
	case v.settled >= maxLiveLines:
		line = fmt.Sprintf("  … %d calls", v.settled)
	case n == 0:
		return
	case n == 1:
		line = v.line("… ", v.running[0], "")
	default:
		line = v.line("… ", v.running[n-1], fmt.Sprintf("  and %d more", n-1))
	}
	fmt.Fprint(v.w, line)
	v.open = true
}

// line is one call, cut to the width of the terminal.
func (v *liveView) line(mark string, d dispatched, tail string) string {
	args := string(d.Arguments)
	if len(args) > maxShownArgs {
		args = strings.ToValidUTF8(args[:maxShownArgs], "") + "…"
	}
	room := v.width() - 1 - utf8.RuneCountInString("  "+mark+tail)
	return "  " + mark + termtext.Cut(termtext.EscapeLine(d.Name+" "+args), max(room, 1)) + tail
}

// clear empties the line that may be overwritten, if there is one.
func (v *liveView) clear() {
	if v.open {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.open = false
	}
}

// finish removes what is not meant to stay. The outcome can be written now.
func (v *liveView) finish() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.running = nil
	if v.terminal && v.settled > maxLiveLines {
		fmt.Fprintf(v.w, "  … and %d more\n", v.settled-maxLiveLines)
	}
}

// summary writes the notes and the one line that says how the run went.
func (v *liveView) summary(out pipeline.Outcome) {
	report := codemode.ReportOf(out)
	if report == nil {
		fmt.Fprintf(v.w, "runcode: %s\n", verdict(out))
		return
	}
	if !out.IsError() { // the text of a failure has them
		for _, note := range report.Usage.Notes {
			fmt.Fprintf(v.w, "note: %s\n", termtext.Escape(note))
		}
	}
	fmt.Fprintf(v.w, "runcode: %s, %s", verdict(out), tally(report.Calls))
	if u := report.Usage; u.Isolation != "" { // a program refused outright has no engine
		fmt.Fprintf(v.w, ", %s (%s computing), %s", shortDuration(ofMillis(u.WallMs)), shortDuration(ofMillis(u.ComputeMs)), u.Isolation)
	}
	fmt.Fprintln(v.w)
}

func verdict(out pipeline.Outcome) string {
	if out.IsError() {
		return "failed"
	}
	return "ok"
}

// tally says how many calls there were and what became of those not done.
func tally(calls []codemode.CallRecord) string {
	count := map[pipeline.State]int{}
	for _, c := range calls {
		count[c.State]++
	}
	text := fmt.Sprintf("%d calls", len(calls))
	if len(calls) == 1 {
		text = "1 call"
	}
	var bad []string
	for _, state := range []pipeline.State{pipeline.StateFailed, pipeline.StateAborted, pipeline.StateNotStarted} {
		if count[state] > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", count[state], spaced(state)))
		}
	}
	if len(bad) > 0 {
		text += " (" + strings.Join(bad, ", ") + ")"
	}
	return text
}

func spaced(s pipeline.State) string { return strings.ReplaceAll(string(s), "-", " ") }

func ofMillis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < 999950*time.Microsecond: // rounds to less than a second
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
