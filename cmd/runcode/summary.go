package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// summary writes the notes and the one line that says how the run went.
func (v *liveView) summary(out pipeline.Outcome) {
	report := codemode.ReportOf(out)
	if report == nil {
		fmt.Fprintf(v.w, "runcode: %s\n", v.verdict(out))
		return
	}
	if !out.IsError() { // the text of a failure has them
		for _, note := range report.Usage.Notes {
			fmt.Fprintf(v.w, "note: %s\n", termtext.Escape(v.redactor.Text(note)))
		}
	}
	fmt.Fprintf(v.w, "runcode: %s, %s", v.verdict(out), tally(report.Calls))
	if u := report.Usage; u.Isolation != "" { // a program refused outright has no engine
		fmt.Fprintf(v.w, ", %s (%s computing), %s", shortDuration(ofMillis(u.WallMs)), shortDuration(ofMillis(u.ComputeMs)), u.Isolation)
	}
	fmt.Fprintln(v.w)
}

func (v *liveView) verdict(out pipeline.Outcome) string {
	text := "ok"
	if out.IsError() {
		text = "failed"
	}
	if v.dryRun {
		text += ", dry run"
	}
	return text
}

// tally says how many calls there were and what became of those not done.
func tally(calls []codemode.CallRecord) string {
	count := map[string]int{}
	for _, c := range calls {
		count[fate(c.State, c.Code)]++
	}
	text := fmt.Sprintf("%d calls", len(calls))
	if len(calls) == 1 {
		text = "1 call"
	}
	var bad []string
	for _, fate := range []string{"failed", "denied", "aborted", "abandoned", "not started"} {
		if count[fate] > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", count[fate], fate))
		}
	}
	if len(bad) > 0 {
		text += " (" + strings.Join(bad, ", ") + ")"
	}
	return text
}

// fate is in a word or two what became of a call, "" if it was done. One that
// was denied has not started, which is not what a person asks.
func fate(state pipeline.State, code string) string {
	switch code {
	case tools.CodeDeniedByPolicy, tools.CodeDeniedByGuard, tools.CodeApprovalRejected, tools.CodeApprovalCancelled, tools.CodeApprovalUnavailable:
		if state == pipeline.StateNotStarted {
			return "denied"
		}
	}
	if state == pipeline.StateDone {
		return ""
	}
	return strings.ReplaceAll(string(state), "-", " ")
}

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
