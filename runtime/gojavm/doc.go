// Package gojavm runs programs in this process, in the goja engine.
//
// A program is the body of an async function in TypeScript or JavaScript. Every
// run has an engine and a goroutine of its own; the goroutine that called Run
// only waits, so that a program that cannot be stopped costs a goroutine and
// never the caller.
//
// What this package stops: endless code of every kind, deep recursion, endless
// output, too many calls, values that are too large to cross. What no package
// in the process of the host can stop: an operator or a built-in function that
// is running already (a backtracking regular expression, 2n ** (2n ** 40n), the
// sort of a huge array), and memory that the program keeps. Size guards on the
// common functions turn most single steps of that sort into a clear failure,
// yet a program that means harm belongs into package worker, which runs this
// package in a process that can be killed.
package gojavm
