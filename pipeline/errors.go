package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// The origins of a denial.
const (
	OriginPolicy   = "policy"
	OriginGuard    = "guard"
	OriginApproval = "approval"
)

// DeniedError says that a call was refused before its body could run. Its text
// is the reason alone.
type DeniedError struct {
	Code   string // one of tools.CodeDenied... and tools.CodeApproval...
	Origin string // OriginPolicy, OriginGuard or OriginApproval
	By     string // the listener, or the guard, that decided or asked
	Reason string
}

// Error is the reason alone.
func (e *DeniedError) Error() string { return e.Reason }

// ErrorInfo has the name DeniedError and the denial's code.
func (e *DeniedError) ErrorInfo() tools.ErrorInfo {
	return tools.ErrorInfo{Name: "DeniedError", Code: e.Code}
}

// AbortError says that a call ended because its context did. It unwraps to the
// context's cause.
type AbortError struct {
	Code  string // tools.CodeAborted, or CodeAbortedBeforeDispatch if the body never ran
	Cause error
}

// Error says whether the body had begun.
func (e *AbortError) Error() string {
	if e.Code == tools.CodeAborted {
		return "tool call aborted"
	}
	return "tool call aborted before dispatch"
}

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Cause }

// ErrorInfo has DSH's name for it and the code.
func (e *AbortError) ErrorInfo() tools.ErrorInfo {
	return tools.ErrorInfo{Name: "AbortError", Code: e.Code}
}

// aborted is the error for a call that ctx ended.
func aborted(ctx context.Context, bodyRan bool) *AbortError {
	code := tools.CodeAbortedBeforeDispatch
	if bodyRan {
		code = tools.CodeAborted
	}
	return &AbortError{Code: code, Cause: context.Cause(ctx)}
}

// isAbortOf reports whether err says nothing but that ctx has ended, which is
// how Go code passes an abort on.
func isAbortOf(ctx context.Context, err error) (is bool) {
	defer func() { _ = recover() }() // a stranger's Is method
	if ctx.Err() == nil || err == nil || infoOf(err) != (tools.ErrorInfo{}) {
		return false
	}
	return errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}

// find is errors.AsType for errors of strangers, whose methods may panic.
func find[E error](err error) (found E, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return errors.AsType[E](err)
}

func has[E error](err error) bool {
	_, ok := find[E](err)
	return ok
}

// infoOf is tools.InfoOf for errors of strangers.
func infoOf(err error) tools.ErrorInfo {
	if coded, ok := find[tools.Coded](err); ok {
		return safeInfo(coded)
	}
	return tools.ErrorInfo{}
}

func safeInfo(coded tools.Coded) (info tools.ErrorInfo) {
	defer func() { _ = recover() }()
	return coded.ErrorInfo()
}

// textOf is err's text, also when its Error method panics.
func textOf(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("<unprintable error of type %T>", err)
		}
	}()
	return err.Error()
}
