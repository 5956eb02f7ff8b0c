package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
)

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
