package tools

import (
	"errors"
	"fmt"
	"strings"
)

// ErrorInfo is the stable identity of a failure, for programs and logs. The
// zero ErrorInfo means the failure has none.
type ErrorInfo struct {
	Name string `json:"name"`
	Code string `json:"code"`
}

// Coded is an error that has a stable identity. Errors a tool body returns may
// implement it; wrap with %w freely.
type Coded interface {
	error
	ErrorInfo() ErrorInfo
}

// InfoOf finds the identity of err, zero if it has none.
func InfoOf(err error) ErrorInfo {
	var coded Coded
	if errors.As(err, &coded) {
		return coded.ErrorInfo()
	}
	return ErrorInfo{}
}

// Error is a plain coded error for tools that need no type of their own.
type Error struct {
	Name, Code string // for example "FSError", "FS_NOT_FOUND"
	Message    string
	Err        error // the cause, may be nil
}

// Error is the message alone; the cause is for errors.Is and errors.As.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorInfo has the name and the code.
func (e *Error) ErrorInfo() ErrorInfo { return ErrorInfo{e.Name, e.Code} }

// The error codes of the house, as DSH names them unless the comment says
// otherwise.
const (
	CodeUnknownTool           = "UNKNOWN_TOOL"
	CodeInvalidArgs           = "INVALID_ARGS"
	CodeInvalidOutput         = "INVALID_TOOL_OUTPUT"
	CodeAbortedBeforeDispatch = "ABORTED_BEFORE_DISPATCH"
	CodeAborted               = "ABORTED"
	CodeToolTimeout           = "TOOL_TIMEOUT"
	CodeRunFailed             = "CODE_RUN_FAILED"
	CodeUnsupportedSchema     = "UNSUPPORTED_SCHEMA"
	CodePanic                 = "TOOL_PANIC"     // ours
	CodeToolChanged           = "TOOL_CHANGED"   // ours: the definition changed between decision and dispatch
	CodeToolAbandoned         = "TOOL_ABANDONED" // ours: the body ran on after its run had ended

	CodeDeniedByPolicy      = "DENIED_BY_POLICY"     // ours, as all denials
	CodeDeniedByGuard       = "DENIED_BY_GUARD"      //
	CodeApprovalRejected    = "APPROVAL_REJECTED"    //
	CodeApprovalCancelled   = "APPROVAL_CANCELLED"   //
	CodeApprovalUnavailable = "APPROVAL_UNAVAILABLE" //
)

// NotFoundError says that no tool of that name is visible to the caller.
type NotFoundError struct {
	Tool    string
	Nearest []string // known names that look alike, best first
	Message string   // replaces the default text
}

// Error is Message, or else names the tool and what looks like it.
func (e *NotFoundError) Error() string {
	if e.Message != "" {
		return e.Message
	}
	text := fmt.Sprintf("unknown tool %q", e.Tool)
	if len(e.Nearest) > 0 {
		text += "; did you mean " + quoteList(e.Nearest, " or ") + "?"
	}
	return text
}

// ErrorInfo has the code CodeUnknownTool.
func (e *NotFoundError) ErrorInfo() ErrorInfo {
	return ErrorInfo{"ToolNotFoundError", CodeUnknownTool}
}

// ArgsError lists everything that is wrong with a call's arguments.
type ArgsError struct {
	Tool     string
	Problems []Problem
}

// Problem is one fault of a value, in words a model can act on.
type Problem struct {
	Pointer string // RFC 6901 pointer into the value, "" for the root
	Text    string // for example: missing required property "path"
}

// Error lists all problems on one line.
func (e *ArgsError) Error() string { return "invalid arguments: " + joinProblems(e.Problems) }

// ErrorInfo has the code CodeInvalidArgs.
func (e *ArgsError) ErrorInfo() ErrorInfo { return ErrorInfo{"ToolArgsError", CodeInvalidArgs} }

// OutputError says that a tool returned what its definition does not allow.
type OutputError struct {
	Tool     string
	Problems []Problem
}

// Error names the tool and lists all problems on one line.
func (e *OutputError) Error() string {
	return fmt.Sprintf("tool %q returned invalid output: %s", e.Tool, joinProblems(e.Problems))
}

// ErrorInfo has the code CodeInvalidOutput.
func (e *OutputError) ErrorInfo() ErrorInfo { return ErrorInfo{"ToolOutputError", CodeInvalidOutput} }

func joinProblems(problems []Problem) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Text
	}
	return strings.Join(texts, "; ")
}

// PanicError is a recovered panic of a tool body or of another extension. The
// model reads only that it crashed; Value and Stack stay with the host.
type PanicError struct {
	Where string // for example: tool "fetch"
	Value any
	Stack []byte
}

// Error says where, and nothing of Value and Stack.
func (e *PanicError) Error() string { return e.Where + " crashed" }

// ErrorInfo has the code CodePanic.
func (e *PanicError) ErrorInfo() ErrorInfo { return ErrorInfo{"PanicError", CodePanic} }

func quoteList(names []string, last string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + last + quoted[len(quoted)-1]
}
