package codemode

import (
	"errors"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// RunError says that a program failed. Its text is what a model reads: the kind
// and message, the place in the program, the captured output, and last the
// ledger of the calls that were made.
type RunError struct {
	Failure runtime.Failure
	Logs    []string
	Report  *Report

	text string // for the model: redacted and cut
}

// failurePrefix stands before the text where a model reads it and counts against
// the budget.
const failurePrefix = "Error: "

// Error is the text for the model, redacted and cut to the text budget.
func (e *RunError) Error() string { return e.text }

// ErrorInfo is DSH's identity of a failed run.
func (e *RunError) ErrorInfo() tools.ErrorInfo {
	return tools.ErrorInfo{Name: "CodeRunFailedError", Code: tools.CodeRunFailed}
}

// FullText is Error whole, with nothing taken out.
func (e *RunError) FullText() string {
	f := e.Failure
	var b strings.Builder
	fmt.Fprintf(&b, "code run failed (%s): %s", f.Kind, f.Message)
	if f.Tool != "" {
		fmt.Fprintf(&b, "\ntool: %s", f.Tool)
		if f.Code != "" {
			fmt.Fprintf(&b, " (%s)", f.Code)
		}
	}
	if f.Frame != "" {
		fmt.Fprintf(&b, "\n%s", f.Frame)
	} else if f.Site.Line > 0 {
		fmt.Fprintf(&b, "\nat line %d, column %d", f.Site.Line, f.Site.Column)
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, "\nhint: %s", f.Hint)
	}
	if len(e.Logs) > 0 {
		fmt.Fprintf(&b, "\nCaptured output:\n%s", strings.Join(e.Logs, "\n"))
	}
	if e.Report != nil {
		for _, note := range e.Report.Usage.Notes {
			fmt.Fprintf(&b, "\nnote: %s", note)
		}
		if ledger := ledgerText(e.Report.Calls); ledger != "" {
			fmt.Fprintf(&b, "\n%s", ledger)
		}
	}
	return b.String()
}

// find is errors.As for the errors of tools, whose methods may panic; zero if
// there is none.
func find[E error](err error) (found E) {
	defer func() { _ = recover() }()
	errors.As(err, &found)
	return found
}
