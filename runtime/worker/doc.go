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
// Importing this package adds one init function, the only one of the module.
// It turns a process into a worker if, and only if, its argv[0] is the marker,
// descriptor 3 is one end of a socket pair made by its parent, and it was not
// started with raised privileges. Such a process never reaches main (or
// TestMain). No environment variable can make a process a worker.
//
// Package initialisation that comes before this package's runs in the worker
// too. What it prints is kept as diagnostics and quoted in errors, an early
// exit is an error of New, and descriptors it leaves open are counted and
// logged. What the host itself was started with and hands on to every child is
// closed. Options.Env lists what such code needs from the environment; a host
// with heavy initialisation names a slim binary in Options.Binary.
//
// # What is bounded, and by whom
//
// The parent keeps the wall clock (which stands still during approvals), counts
// calls and bytes, measures output, meters the process's CPU time and ends the
// process. The worker stops the program gracefully when it can, so that a
// failure has its line. On Linux the process is also bounded by RLIMIT_DATA
// from Limits.Heap plus what the process needed at its start. Race builds leave
// RLIMIT_DATA alone, because the race detector's shadow memory does not fit
// under it.
//
// Outside Linux there is no RLIMIT_DATA, no CPU metering from outside and no
// parent-death signal; a worker there ends when its socket closes. On platforms
// that cannot start such a process New returns an error that names in-process
// isolation: there is never a silent fallback.
package worker
