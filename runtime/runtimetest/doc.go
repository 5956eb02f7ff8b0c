// Package runtimetest is one suite that every runtime.Runtime must pass: what a
// program may write, how values and failures cross, where each limit fires, and
// what a hostile program cannot do.
//
// A test of an implementation is one line:
//
//	runtimetest.Run(t, func(t *testing.T) runtime.Runtime { return newRuntime(t) })
//
// The rows state exact results, so that two runtimes that pass cannot be told
// apart by a program. They use nothing but the seam of package runtime.
package runtimetest
