package policy

import (
	"context"
	"strconv"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Timeout ends bodies that run longer than the Timeout of their definition. A
// tool without one is left alone, and so is run_code, whose limits are its own.
// Register it innermost in Pipeline.Execution: outside a Retry it would bound
// all attempts together.
//
// The body is told through its context and awaited: one that does not watch
// ctx runs on, and is abandoned at the earliest when its run has ended. Once the time is over the result is a *TimeoutError, whatever the
// body says in the end. A person who is asked before the body runs for a second
// time answers within that attempt's time.
func Timeout() pipeline.Listener[pipeline.Dispatch, pipeline.Result] {
	return func(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		if d.Tool == nil || d.Tool.Definition().Timeout <= 0 || d.Call.IsTransport() {
			return next(ctx)
		}
		// The cause is this call's own, so that the timeout of a call around
		// this one, or the caller's deadline, is not taken for it.
		late := &TimeoutError{After: d.Tool.Definition().Timeout}
		ctx, cancel := context.WithTimeoutCause(ctx, late.After, late)
		defer cancel()
		r, err := next(ctx)
		if context.Cause(ctx) == error(late) {
			return pipeline.Failure(late), nil
		}
		return r, err
	}
}

// TimeoutError says that a body ran longer than its tool allows.
type TimeoutError struct{ After time.Duration }

// Error is DSH's text for it.
func (e *TimeoutError) Error() string {
	ms := float64(e.After) / float64(time.Millisecond)
	return "tool call timed out after " + strconv.FormatFloat(ms, 'f', -1, 64) + "ms"
}

// Timeout is true, as for the errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// ErrorInfo has DSH's name for it and the code CodeToolTimeout.
func (e *TimeoutError) ErrorInfo() tools.ErrorInfo {
	return tools.ErrorInfo{Name: "ToolTimeoutError", Code: tools.CodeToolTimeout}
}
