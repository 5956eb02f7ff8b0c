// Package bench measures what programs save or cost against direct tool calls.
//
// A workload is a task with tools, the direct calls a competent model would make
// for it, and the program it would write instead. Each arm (direct calls one by
// one, direct calls sent together where none needs another's result, a program
// with all declarations in the prompt, a program after a look into the catalog)
// really runs: the agent loop of internal/agent, the pipeline with a guard and a
// log, the engine. The model alone is scripted, so that counts of tokens are the
// same on every run. A comparison is reported only if all arms end in the same
// state, give the same answer and executed the same bodies.
//
// What such a run proves is what a task costs given the calls and the program;
// how often a model writes that program is what Live measures, with a real one.
package bench
