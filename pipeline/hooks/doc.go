// Package hooks runs the hook commands of a Claude Code settings file: as
// listeners of a pipeline before and after a call (PreToolUse, PostToolUse), and
// for a harness that tells of its prompts, turns, sessions and sub-agents.
//
//	bridge, err := hooks.Load("settings.json", &hooks.Options{Dir: workspace})
//	if err != nil { ... }
//	defer bridge.Close()
//	bridge.Install(p)
//
// A pipeline knows calls alone. UserPromptSubmit, Stop, SessionStart,
// SubagentStart and SubagentStop are methods of the Bridge that whoever has the
// agent calls at the right moment; their hooks never run otherwise, and
// NeedHarness lists those a file has. The events of Claude Code that are not
// among these seven are listed by NotConnected.
//
// # What a hook sees
//
// A hook is a shell command. It reads one line of JSON with Claude Code's
// fields, and Claude Code's names for tools and parameters: Bash, Read, Write,
// Edit, Glob, Grep, TodoWrite and WebFetch stand for bash, read, write, edit,
// glob, grep, todo_write and http; a tool Claude Code does not know keeps its
// name. Parameters with another name there (timeout for timeoutMs) are added
// under it. Further fields are ours: runcode_tool_name, parent_tool_use_id for a
// call that a program makes, and in tool_response, beside the members of the
// tool's value, text, is_error and error_code. PostToolUse hooks also see calls
// that failed or were denied. Paths stand as the model wrote them, often
// relative to the root of the file tools. The other events have prompt;
// stop_hook_active; source; agent_id and agent_type.
//
// A matcher is tested on both names of a tool, on the source of a session, on
// the type of a sub-agent, always in any case. Nothing and "*" select all.
// "Edit|Write" or "Edit, Write" lists names, each to be met whole; anything with
// other characters in it is a regular expression as in JavaScript, which may be
// found in a part of the name. There is nothing to match about a prompt and the
// end of a turn.
//
// The call of run_code itself is a call like any other: its tool_name and what
// matchers see is run_code, its tool_input the program. The calls the program
// makes come past the hooks as well, each by itself, so a hook that searches
// arguments should let run_code pass.
//
// # What a hook can do
//
// Exit code 2 blocks, with standard error as the reason. Exit code 0 passes,
// or says what the JSON on standard output says: permissionDecision allow, ask
// or deny in a hookSpecificOutput with the event's hookEventName, or the older
// decision approve or block; additionalContext is for the model, but not before
// a call. All hooks that match run, one after the other in the order of the
// file; a denial wins over an ask, an ask over an allow. Allow skips nothing:
// other listeners, guards and the approver see the call all the same.
// updatedInput is not applied, so that what policy has judged is what runs.
//
// A block denies a call, hides a result behind its reason, rejects a prompt,
// keeps an agent going that would stop. It changes nothing for sessions and
// sub-agents. The Logger is told of what has no effect.
//
// The log of the pipeline gets hook/invoked and hook/result for every hook,
// whether or not the call has an agent, with the callId, or the sessionId of
// Options.Session, they are about. decision is the word the hook used, stop
// for "continue": false, pass for none, and error, timeout or cancelled for a
// hook that gave no answer.
//
// # Where this differs from DSH and Claude Code
//
// PreToolUse fails closed. A hook that times out, cannot be started, is ended by
// a signal, exits with anything but 0 or 2 or prints an answer that cannot be
// understood denies the call; so does a matcher that does not compile or takes
// too long. Hooks of all other events that fail change nothing. "onFailure":
// "continue" or "block", on a hook or on a whole group, changes either. A
// settings file with an unknown key or event does not load.
//
// An answer that decides in other words is not passed over as in DSH: allow, ask
// and deny mean the same for the older decision, any other word and a
// hookSpecificOutput that names no event are failures.
//
// The harness says whether an agent goes on because of a Stop hook already, so
// stop_hook_active is true then, and a hook that fails does not block a second
// time: nothing loops because of a broken script.
//
// What a UserPromptSubmit or SessionStart hook prints and is no JSON object is
// context, as in Claude Code; DSH drops it.
//
// CLAUDE_PROJECT_DIR and CLAUDE_PLUGIN_ROOT are variables the shell expands, not
// text put into the command, so quotes around them keep working.
//
// Hooks get an environment of few variables, none of which carries a secret, no
// terminal, and no time after their end: a background job ends with its hook.
//
// After a matcher was tested, a goroutine of the regular expression library
// keeps time for about a second.
package hooks
