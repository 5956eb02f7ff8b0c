// Package pipeline takes a tool call from the request to the settled outcome,
// the same way for a call a model makes and for one a program makes.
//
//	reg, _ := tools.NewRegistry(defs...)
//	p := pipeline.New(reg, &pipeline.Options{Sink: log})
//	p.Guards.Use("workspace", func(c tools.Call) string { ... })
//	out := p.Execute(ctx, pipeline.Request{ID: "call_1", Name: "read", Args: `{"file_path":"go.mod"}`})
//	fmt.Println(out.Text())
//
// # Stages
//
// The stages and their order are those of DSH (DeepSeek Harness):
//
//  1. PreExecute, a waterfall of listeners, decides: allow, ask a person, deny.
//     An ask goes to the Approver, and only one answer lets the call pass.
//  2. Guards may deny and cannot allow, so no listener can talk its way past
//     them.
//  3. Execution, a waterfall of wrappers around the tool's body: timeouts,
//     retries, caches. Arguments are checked here, right before the body, and
//     the value right after it.
//  4. PostExecute, a waterfall that sees every result that policy or the body
//     made, denials included, and may replace or block it.
//  5. The tool's finalizer shapes what a model reads, once, whatever happened.
//  6. Observers (OnResult) learn the outcome, then the log does.
//
// A result that needs no review skips the fourth stage: unreadable arguments, a
// call that was given up before it began, a call only programs may make, and an
// error or a panic of a listener or a wrapper.
//
// # What is waited for
//
// A caller that knows when nobody needs the answer any more, as code mode does of
// the calls of a program, says so with Request.Over. From then on a body has
// Options.Drain to return; one that ignores its context is abandoned, and the call
// settles without it. An approver that ignores its context is left to itself at
// once. Everything else is awaited in any case: listeners, guards, observers, the
// Sink, Options.Progress, and the functions of a definition beside its Handler,
// which are pure and have no context. They are the harness author's to bound.
//
// # What holds whatever listeners do
//
// A call is an immutable value: what policy judged is what runs and what the
// log says. A denial, an error or a panic of one listener is not undone by the
// listeners around it. The zero value of every decision refuses. Execute
// settles in any case, waits for a body it started unless Request.Over ends that,
// and a panic of foreign code becomes an error result whose stack only the Logger
// sees. A tool that is replaced between decision and start does not run. A grant
// covers one start of a body.
//
// # Nested calls
//
// A body that holds its *tools.Run makes calls under its own (Request.Parent).
// They pass every stage as a direct call does. run_code, the transport, is such
// a tool; Call.IsTransport tells it apart. Listeners that search arguments
// should skip it, since its argument is a program whose calls come past them
// anyway; so should whatever limits, retries or times single calls, or one long
// program would hold a permit its own calls wait for.
//
// # Agents
//
// An agent is any comparable value the harness owns, and Options.ParentOf names
// the agent above it. Listeners (Waterfall.For), guards (Guards.For), tools and
// restrictions (Pipeline.For) may be one agent's own: they hold for its calls
// and for those of the agents below it.
//
// # Events
//
// The pipeline is the only writer of a call's events: tool/call and tool/result
// for a call without a parent, tool/code-dispatch-start and tool/code-dispatch
// for a nested one, approval/asked and approval/decided for a question, and
// Batch adds user/message. Their fields are DSH's; the error's origin and by,
// state, durationMs, droppedContexts and line of a nested call, and by, digest,
// parentCallId and line of a question, are additions, as is the value that
// Options.Values adds. Options.Stages adds an event for every decision on the way.
// The times of events never fall.
package pipeline
