package shelltools

import (
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// The codes of failures.
const (
	codeNotFound   = "SHELL_NOT_FOUND"
	codeNotDir     = "SHELL_NOT_DIRECTORY"
	codePermission = "SHELL_PERMISSION_DENIED"
	codeSandbox    = "SHELL_SANDBOX_DENIED"
	codeChanged    = "SHELL_WORKDIR_CHANGED"
	codeTooLong    = "SHELL_TOO_LONG"
	codeIO         = "SHELL_IO_ERROR"
	codeClosed     = "SHELL_CLOSED"
)

func fail(code string, cause error, format string, args ...any) error {
	return &tools.Error{Name: "ShellError", Code: code, Message: "bash: " + fmt.Sprintf(format, args...), Err: cause}
}

// badArgs refuses one argument before anything is looked at.
func badArgs(arg, format string, args ...any) error {
	text := fmt.Sprintf("%q ", arg) + fmt.Sprintf(format, args...)
	return &tools.ArgsError{Tool: toolName, Problems: []tools.Problem{{Pointer: "/" + arg, Text: text}}}
}
