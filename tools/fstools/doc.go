// Package fstools is the built-in tools for files: read, glob, grep, write and
// edit, over one directory tree.
//
//	set, err := fstools.New(dir, nil)
//	defer set.Close()
//	reg, err := tools.NewRegistry(set.Tools()...) // or ReadTools: only what looks
//
// # Paths
//
// Paths may be given relative to the root or absolute, with "." and ".." and
// doubled slashes; they are cleaned as text first, so that link/../x is x. In
// values they are relative to the root and separated by slashes.
//
// Every call has subjects (tools.Subject) that name the file it means, whatever
// its spelling: the cleaned path and where its symbolic links lead. Policy judges
// these, and the body opens what they say and nothing else: it goes down from the
// root, one directory at a time, and follows no link any more. A link put there
// after the judgement fails the call with FS_CHANGED. Nothing outside the tree is
// ever opened, or looked at; a link that leads out is a subject, for rules about
// its target, and then FS_SANDBOX_DENIED. If it names a link outside, that one is
// not followed, even if it would lead back. Names are opened without blocking,
// and only regular files and directories are opened at all.
//
// Options.Hide, or Set.SetHide, keeps what policy denies out of the answers of
// glob and grep and out of the suggestions in errors. That something was left out
// is said of the directories that were searched, and does not depend on whether
// it would have matched. Hard links and mounts are not seen through: a second
// name of a file is another file here.
//
// # Changes
//
// Write and edit make a finished file beside the old one and put it in its place
// in one step, so that a reader, and a computer that stops in the middle, has the
// old text or the new, never a part. A process that is killed may leave a file
// behind that it had not put in its place or not removed yet: it is named
// .runcode-*.tmp, no listing here shows it, and it may be removed. Where the file
// system has no hard links a new file is made under its own name from the
// beginning and can be found unfinished.
//
// The new file has the permission bits of the old one, and belongs to the process
// that wrote it: owner, set-ID bits, access control lists, extended attributes
// and other hard links stay with the old file, which is gone. A file that nobody,
// or not this process, may write is refused, and so are links to what does not
// exist. A symbolic link to a file stays; the file it leads to is replaced.
//
// Gates put conditions on changes. Observations is the ready one: who changes a
// file must have read it, in the version it has. Versions are hashes of the
// content. A file made under CreateIfAbsent is made by the operating system only
// if its name is free. A replacement is checked and made under a lock of the Set
// and, on Unix, of the directory (flock), so that of two calls with the same version
// one fails, also if they are of two processes. Another program may put a file in
// its place between that check and the replacement, some microseconds later. On
// Linux, where two files can be exchanged in one step, it is then put back and the
// call fails or begins again; elsewhere, and if it is written in place, its change
// can be overwritten.
//
// # Failures
//
// Failures are *tools.Error named FSError with the codes FS_NOT_FOUND,
// FS_NOT_DIRECTORY, FS_NOT_TEXT, FS_NOT_REGULAR_FILE, FS_TOO_LARGE,
// FS_PERMISSION_DENIED, FS_SANDBOX_DENIED, FS_IO_ERROR, FS_ABORTED,
// FS_NOT_OBSERVED, FS_STALE_VERSION, FS_EDIT_NOT_FOUND, FS_AMBIGUOUS_EDIT (as DSH
// names them) and FS_CHANGED. Arguments no file system is needed to refuse, such
// as a pattern that does not compile, are a *tools.ArgsError.
//
// All tools stop when their context is cancelled, a change until it begins to
// write, and have budgets; what a budget cut says truncated, with a note that
// names the budget.
package fstools
