// Package fstools is the built-in tools that look at files: read, glob and
// grep, over one directory tree.
//
//	set, err := fstools.New(dir, nil)
//	defer set.Close()
//	reg, err := tools.NewRegistry(set.Tools()...)
//
// Nothing outside the tree is ever opened: every path is resolved inside an
// os.Root, by the operating system and not by comparing strings, so that a
// symbolic link cannot lead out, not even one that is changed while a tool
// runs. A file is opened without blocking, and what was opened, not what the
// name meant a moment earlier, must be a regular file.
//
// Paths may be given relative to the root or absolute, with "." and ".." and
// doubled slashes; they are cleaned as text first, so that link/../x is x. In
// values they are always relative to the root and separated by slashes.
//
// Failures are *tools.Error named FSError with the codes FS_NOT_FOUND,
// FS_NOT_DIRECTORY, FS_NOT_TEXT, FS_NOT_REGULAR_FILE, FS_TOO_LARGE,
// FS_PERMISSION_DENIED, FS_SANDBOX_DENIED, FS_IO_ERROR and FS_ABORTED (as DSH
// names them). Arguments no file system is needed to refuse, such as a pattern
// that does not compile, are a *tools.ArgsError.
//
// All three tools stop when their context is cancelled and have budgets; what a
// budget cut says truncated, with a note that names the budget.
package fstools
