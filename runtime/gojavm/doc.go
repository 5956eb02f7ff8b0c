// Package gojavm runs programs in this process, in the goja engine.
//
// A program is the body of an async function in TypeScript or JavaScript. Every
// run has an engine and a goroutine of its own; the goroutine that called Run
// only waits, so that a program that cannot be stopped costs a goroutine and
// never the caller.
//
// What this package stops, in every run:
//
//   - endless code of every kind, at the top, in callbacks, in promise jobs and
//     timers, in getters and traps, also while a result or an error is rendered;
//   - recursion, through functions of the engine and yield* as well (the depth
//     limit);
//   - too many calls, timers, lines of output, and values that are too large or
//     too deep to cross or to be JSON;
//   - source text, also that of eval and Function, and patterns that would
//     exhaust the stack of a parser;
//   - memory that a program keeps, judged by what a collection of garbage finds
//     that the process holds more than when the run began (the heap limit). The
//     collector knows no owners, so what the host and other runs took meanwhile
//     counts too; of several runs over their limits the oldest at work is ended.
//
// One step of the engine cannot be interrupted, and what it takes is bounded
// only where a guard measures first. Guarded are repeat, padStart, padEnd and
// concat, the methods of arrays in arrayMethods and arrayWalks, Array.from, apply,
// the constructors of binary data, and ** and the shifts; they refuse what would
// exceed the heap limit, and BigInts beyond 2^26 bits.
//
// A regular expression that goes back further than the matcher's own bound finds
// nothing, without a word. The bound is a setting of the whole process: with
// OwnProcess there is none, and otherwise such a match is refused with a RangeError.
//
// What nothing in the process of the host can stop, so that Run returns after a
// quarter of a second more and the goroutine goes on (see Runtime.Stuck):
//
//   - a regular expression that backtracks;
//   - functions of the engine on very long arrays, or objects that claim a length:
//     spread and sets of holes, flat of what is shared, sort with a comparison,
//     fill of binary data, and elements put in front or taken from there;
//   - functions of the engine on very long texts: replaceAll, split, normalize;
//   - arithmetic of BigInts that grow by multiplication;
//   - reading the program, where the default of an arrow's parameter holds an arrow
//     with such a default, and so on: each level doubles the time.
//
// And what can end the process of the host, for a Go program cannot recover from
// it:
//
//   - one step that asks for more memory than there is and that no guard measures:
//     join of long texts, replaceAll, flat and spread of long arrays, or ** and a
//     shift in the text of eval;
//   - recursion of the engine's own code without a function of the program's, as
//     through a proxy that is its own prototype.
//
// Programs that may mean harm therefore belong into package worker, which runs
// this package in a process that can be killed and whose memory is bounded.
package gojavm
