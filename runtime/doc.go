// Package runtime is the seam between a program and whatever runs it: what goes
// in (a program, namespaces of callable functions, limits), what comes out (a
// value or a classified failure, and what the run cost).
//
// It knows no engine, no tool and no policy, and imports nothing but the
// standard library. Every value crosses as JSON text. Package gojavm runs
// programs in this process, package worker in a killable one; both pass the
// suite in package runtimetest.
package runtime
