package fstools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/runcode-go/runcode/tools"
)

// The codes of failures.
const (
	codeNotFound   = "FS_NOT_FOUND"
	codeNotDir     = "FS_NOT_DIRECTORY"
	codeNotText    = "FS_NOT_TEXT"
	codeNotRegular = "FS_NOT_REGULAR_FILE"
	codeTooLarge   = "FS_TOO_LARGE"
	codePermission = "FS_PERMISSION_DENIED"
	codeSandbox    = "FS_SANDBOX_DENIED"
	codeIO         = "FS_IO_ERROR"
	codeAborted    = "FS_ABORTED"

	codeNotObserved = "FS_NOT_OBSERVED"
	codeStale       = "FS_STALE_VERSION"
	codeNoMatch     = "FS_EDIT_NOT_FOUND"
	codeAmbiguous   = "FS_AMBIGUOUS_EDIT"
	codeChanged     = "FS_CHANGED" // ours: the path is not what was judged
)

func fail(code string, cause error, format string, args ...any) error {
	return &tools.Error{Name: "FSError", Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// badArgs refuses one argument before any file is touched.
func badArgs(tool, arg, format string, args ...any) error {
	text := fmt.Sprintf("%q ", arg) + fmt.Sprintf(format, args...)
	return &tools.ArgsError{Tool: tool, Problems: []tools.Problem{{Pointer: "/" + arg, Text: text}}}
}

// aborted is nil as long as ctx lives.
func aborted(ctx context.Context, op string) error {
	if ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(ctx)
	return fail(codeAborted, cause, "%s stopped before it was done: %v", op, cause)
}

// openFailure says in the house's words why rel, a path from the root, could
// not be opened for op.
func (s *Set) openFailure(op, rel string, err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		return fail(codeIO, err, "%s %q: the file tools are closed", op, rel)
	case errors.Is(err, errSwapped):
		// Links without an end are the one kind that cannot be resolved first.
		if loop := s.resolve(rel).err; loop != nil {
			return s.openFailure(op, rel, loop)
		}
		return fail(codeChanged, err, "%s %q: the path was changed while the call waited, it now leads through another symbolic link; call again", op, rel)
	case errors.Is(err, syscall.ENOTDIR):
		return s.throughFile(op, rel, err)
	case errors.Is(err, fs.ErrNotExist):
		return s.notFound(op, rel, err)
	case errors.Is(err, fs.ErrPermission):
		return fail(codePermission, err, "%s %q: the operating system denies access to it; choose another file or have its permissions changed", op, rel)
	case errors.Is(err, syscall.ENXIO):
		return fail(codeNotRegular, err, "%s %q: it is a socket or a device; only regular files can be used", op, rel)
	case errors.Is(err, syscall.ELOOP):
		return fail(codeIO, err, "%s %q: its symbolic links form a loop or a very long chain; name the file itself", op, rel)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fail(codeNotFound, err, "%s: the path of %d bytes is too long to exist; check it", op, len(rel))
	}
	return fail(codeIO, err, "%s %q: %v", op, rel, reason(err))
}

// escapes recognises the refusal of os.Root, which has no exported value.
func escapes(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && strings.Contains(path.Err.Error(), "path escapes")
}

// reason drops the operation and the path, which the caller words itself.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
