// Package codemode is the product: the tool run_code, with which a language
// model calls many tools by writing one program.
//
// New installs run_code in a pipeline. Its program runs in a JavaScript engine,
// by default in a worker process; every await tools.name(args) in it becomes a
// sub-call that goes through the whole pipeline under the outer call's token:
// policy, approval, guards, the tool, the log. A denial is a rejection the
// program can catch. Sub-calls run one after another unless Options.Parallel
// says otherwise.
//
// A program finds two globals beside those of the language: tools, and catalog,
// with which it looks tools up (catalog.search, catalog.describe). Both know the
// tools that the acting agent sees when the program starts.
//
// A person who rejects three different calls of one program ends its run.
//
// A run that is over waits for the tools it has called, and not for ever: one that
// ignores its context is abandoned pipeline.Options.Drain after the run's end. The
// outer result names it, and while 16 such bodies still run no program is started.
//
// The outer result is {logs, result?}. A failed run is a *RunError whose text
// names the kind of failure, the place in the program, what was printed, and
// the calls that were already made. ReportOf gives the host the same as data.
//
// The package reaches tools only through package pipeline, and engines only
// through package runtime once New has chosen one.
package codemode
