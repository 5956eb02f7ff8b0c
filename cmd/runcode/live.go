package main

import (
	"fmt"
	"io"
	"os"
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

// liveView shows sub-calls on a terminal while they happen, one line each, and
// a one-line summary at the end on any standard error. It is a sink: the
// pipeline calls it in order.
type liveView struct {
	w        io.Writer
	terminal bool
	width    int

	mu    sync.Mutex
	lines int
	open  bool // the last line is a running call, without a line feed
}

func newLiveView(w io.Writer) *liveView {
	v := &liveView{w: w, terminal: isTerminal(w), width: 80}
	if v.terminal {
		if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 20 {
			v.width = width
		}
	}
	return v
}

// dispatched is what the view reads of the two events of a sub-call.
type dispatched struct {
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
		if v.lines < maxLiveLines {
			v.draw("… ", d, "")
			v.open = true
		}
		return nil
	}
	v.lines++
	if v.lines > maxLiveLines {
		v.clear()
		fmt.Fprintf(v.w, "  %d calls", v.lines)
		v.open = true
		return nil
	}
	mark := map[pipeline.State]string{pipeline.StateDone: "✓ ", pipeline.StateFailed: "✗ ", pipeline.StateAborted: "■ ", pipeline.StateNotStarted: "⊘ "}[d.State]
	v.draw(mark, d, fmt.Sprintf("  %s", shortDuration(time.Duration(d.DurationMs*float64(time.Millisecond)))))
	fmt.Fprintln(v.w)
	v.open = false
	return nil
}

// draw writes one call over the running line, cut to the width.
func (v *liveView) draw(mark string, d dispatched, tail string) {
	v.clear()
	text := termtext.EscapeLine(d.Name + " " + string(d.Arguments))
	room := v.width - 1 - utf8.RuneCountInString("  "+mark+tail)
	if utf8.RuneCountInString(text) > room {
		runes := []rune(text)
		text = string(runes[:max(room-1, 0)]) + "…"
	}
	fmt.Fprint(v.w, "  "+mark+text+tail)
}

// clear empties the running line, if there is one.
func (v *liveView) clear() {
	if v.open {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.open = false
	}
}

// summary writes the notes and the one line that says how the run went.
func (v *liveView) summary(out pipeline.Outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	report := codemode.ReportOf(out)
	verdict := "ok"
	if out.IsError() {
		verdict = "failed"
	}
	if report == nil {
		fmt.Fprintf(v.w, "runcode: %s\n", verdict)
		return
	}
	for _, note := range report.Usage.Notes {
		fmt.Fprintf(v.w, "note: %s\n", termtext.Escape(note))
	}
	count := map[pipeline.State]int{}
	for _, c := range report.Calls {
		count[c.State]++
	}
	calls := fmt.Sprintf("%d calls", len(report.Calls))
	if len(report.Calls) == 1 {
		calls = "1 call"
	}
	var bad []string
	for _, state := range []pipeline.State{pipeline.StateFailed, pipeline.StateAborted, pipeline.StateNotStarted} {
		if count[state] > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", count[state], strings.ReplaceAll(string(state), "-", " ")))
		}
	}
	if len(bad) > 0 {
		calls += " (" + strings.Join(bad, ", ") + ")"
	}
	wall := time.Duration(report.Usage.WallMs * float64(time.Millisecond))
	compute := time.Duration(report.Usage.ComputeMs * float64(time.Millisecond))
	fmt.Fprintf(v.w, "runcode: %s, %s, %s (%s computing), %s\n", verdict, calls, shortDuration(wall), shortDuration(compute), report.Usage.Isolation)
}

func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2fs", d.Seconds())
}
