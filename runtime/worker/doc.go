// Package worker runs programs in killable processes: each is a second start of
// the running binary that holds the engine of package gojavm and nothing else.
//
// Policy, approval, logging and the bodies of calls stay in the process that
// called New. A worker gets a program, names and limits, and can only ask: for
// a call, for a console line, for the time. Everything it says is checked as if
// the program had taken it over; a worker that says anything unexpected is
// killed and its run fails with the kind worker-exit.
//
// # The hook
//
// Importing this package adds one init function, the only one of the module. It
// turns a process into a worker if, and only if, its argv[0] is the marker,
// descriptor 3 is one end of a socket pair made by its parent, descriptors 4 and 5
// are pipes, through which the two speak, and it was not started with raised
// privileges. On Windows the handle that its command line names is the client's end
// of a pipe made by its parent; no start there raises privileges. The BSDs do not
// tell who made a socket pair. Such a process never reaches main (or TestMain). No
// environment variable can make a process a worker.
//
// Package initialisation that comes before this package's runs in the worker
// too. What it prints is kept as diagnostics and quoted in errors, an early
// exit is an error of New, and descriptors it leaves open are counted and
// logged. What the host itself was started with and hands on to every child is
// closed. Options.Env lists what such code needs from the environment. On Linux
// it can neither write files nor use the network (see below); a host with heavy
// initialisation names a slim binary in Options.Binary.
//
// # What is bounded, and by whom
//
// The parent keeps the wall clock (which stands still during approvals), counts
// calls and bytes, measures output, meters the process's CPU time and ends the
// process. The worker stops the program gracefully when it can, so that a
// failure has its line.
//
// # The layers
//
// Should a program take over the engine and with it the process, the layers are
// what it meets. Runtime.Layers says which hold, and why others do not. A layer
// that the system does not offer is noted, or with Options.Require an error of
// New; one that was there at New and is not there later makes that start fail.
// Options.Without leaves layers out. On Linux:
//
//   - no-new-privileges: the thread that starts workers sets it, so that no file
//     a worker could execute gives it rights.
//   - landlock: the same thread gives up every right the kernel's Landlock knows,
//     over files, TCP, abstract sockets and signals to foreign processes. A worker
//     may read its binary, its time zone and, if it is linked with C, the system's
//     libraries, and may write nothing, from before its first instruction on:
//     package initialisation runs under it too. Before it greets, the worker gives
//     up the reading as well, except that a program linked with C cannot before
//     Landlock 8.
//   - namespaces: a user namespace without mappings and a network namespace
//     without devices, where processes may make them. A worker of root is not root.
//     The kernel copies the host's page tables for such a start, which takes a host
//     with gigabytes of memory tens of milliseconds for each of them.
//   - file-limits: RLIMIT_NOFILE, RLIMIT_CORE, and RLIMIT_FSIZE of zero.
//   - memory-limit: RLIMIT_DATA from Limits.Heap plus what the process needed at
//     its start. The parent sets it for every run; nothing inside can lift it. It is
//     off in race builds, whose shadow memory does not fit under it.
//   - cpu-limit: RLIMIT_CPU from Limits.Compute, set by the parent for every run.
//     It comes after the meter, should that be held up.
//   - seccomp (amd64 and arm64): an allow-list over all threads, set before the
//     worker greets. It leaves reading, writing and closing of what is open,
//     private memory that is no code, threads, clocks and signals to itself. Other
//     calls fail with EPERM; those that only an intruder makes (starting programs,
//     tracing, io_uring, mounting and the like) end the worker.
//   - descriptors: package initialisation left none open.
//
// On Windows a worker starts inside a job that it cannot leave and that ends it when
// the host ends, however that happens. It has no console, gets four handles (its
// pipe, the null device and twice the pipe of its diagnostics) and no other, and
// the directory it is in is the system's. While a Runtime lives nobody can write,
// rename or remove the binary. A layer is on if the system, asked again, says that it
// keeps what was set:
//
//   - no-new-privileges: a token without the privileges of the user, and a job of
//     one process, so that a worker starts nothing. Unless the host is in a job
//     itself, which the note then says, the clipboard and the desktop are taken too.
//   - file-limits: the token's integrity is low from the first instruction on and
//     untrusted before the worker greets. Files, the registry and processes of the
//     user have a higher one and cannot be written or opened to be changed.
//   - memory-limit: what the worker may commit, set by the parent for every run.
//   - cpu-limit: the job's limit of user time, set by the parent for every run. The
//     system looks at it every few seconds; the meter, which counts the system's
//     time too, comes first.
//
// What the user may read a worker there may read, and it may use the network: the
// layers named after Linux's means are missing.
//
// On macOS and the BSDs file-limits is on. There is no limit of memory, no metering of
// processor time from outside and no parent-death signal: a worker there ends
// when its connection closes, and what does not heed the engine when the wall clock
// kills it. Its files and its network are those of the user.
//
// Every worker, on any system, has an environment of its own with next to nothing
// in it, one thread that runs Go code and a bounded stack; on Unix it has a process
// group of its own. On platforms that cannot start such a process (js, wasip1, ios)
// New returns an error that names in-process isolation: there is never a silent
// fallback.
package worker
