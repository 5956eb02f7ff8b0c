package codemode

import (
	"context"

	"github.com/runcode-go/runcode/runtime"
)

// CheckResult is what is known of a program that was not run.
type CheckResult struct {
	// Failure is why the program could not run: syntax, size, a text that is
	// no program. Nil: it would start.
	Failure *runtime.Failure
	// Notes are input that was forgiven and calls of tools that do not exist.
	Notes []string
}

// Check compiles a program as Run would, against the tools registered now, and
// runs nothing of it: no tool is called, nothing is logged. The error is for a
// runtime that cannot be had.
func (c *CodeMode) Check(ctx context.Context, code string) (CheckResult, error) {
	now, err := c.snapshot(nil)
	if err != nil {
		return CheckResult{}, err
	}
	res, err := c.runtime.Run(ctx, runtime.Request{
		Program:   code,
		Bindings:  bound(now.catalog, nothingCalls, nothingCalls),
		Limits:    c.opts.Limits,
		CheckOnly: true,
	})
	if err != nil {
		return CheckResult{}, err
	}
	return CheckResult{Failure: res.Failure, Notes: res.Notes}, nil
}

func nothingCalls(context.Context, runtime.Invocation) (runtime.Reply, error) {
	return runtime.Reply{}, &runtime.CallError{Message: "a program that is only checked calls nothing"}
}
