// Package shelltools is the built-in tool that runs commands: bash, in one
// directory tree.
//
//	set, err := shelltools.New(dir, nil)
//	defer set.Close()
//	reg, err := tools.NewRegistry(set.Tools()...)
//
// It is no sandbox: a command may do whatever the user who runs this process
// may, and only the directory it starts in is held below the root. But it has a
// session of its own without a terminal, so that it can neither ask the person
// at ours nor type into it; its standard input is empty; its environment comes
// from a list of names that hold no keys, plus Options.Env; its output is
// bounded; and when it ends, by itself, by its timeout, with its context or with
// Close, everything it has started ends with it (package internal/proc says what
// can escape).
//
// How a command ended is a value, also when that was a non-zero exit code, a
// signal or the timeout. Failures are for commands that did not run to any of
// these: *tools.Error named ShellError with the codes SHELL_NOT_FOUND,
// SHELL_NOT_DIRECTORY, SHELL_PERMISSION_DENIED, SHELL_SANDBOX_DENIED,
// SHELL_WORKDIR_CHANGED, SHELL_TOO_LONG, SHELL_IO_ERROR and SHELL_CLOSED; a
// *tools.ArgsError for arguments that can be refused without looking; the
// context's own error if that ended.
//
// Each call tells policy its one subject: the command as bash gets it and the
// directory it starts in. The body runs in no other directory than that one.
package shelltools
