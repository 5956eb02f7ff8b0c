// Package runtimetest is one suite that every runtime.Runtime must pass: what a
// program may write, how values and failures cross, where each limit fires, and
// what a hostile program cannot do.
//
// A test of an implementation is one line:
//
//	runtimetest.Run(t, func(t *testing.T) runtime.Runtime { return newRuntime(t) })
//
// Suite.Hostile is the second half: programs that mean harm, each of which must end
// by the name of the limit that stops it. What only a process that can be killed
// withstands runs where Suite.Kills says so.
//
// The rows state exact results, so that two runtimes that pass cannot be told
// apart by a program. They use nothing but the seam of package runtime.
package runtimetest
