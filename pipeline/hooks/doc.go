// Package hooks runs the hook commands of a Claude Code settings file as
// listeners of a pipeline: PreToolUse before a call, PostToolUse after it.
//
//	bridge, err := hooks.Load("settings.json", &hooks.Options{Dir: workspace})
//	if err != nil { ... }
//	defer bridge.Close()
//	bridge.Install(p)
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
// relative to the root of the file tools.
//
// A matcher is tested on both names of a tool; an exact one in any case. The
// call of run_code itself is a call like any other: its tool_name and what
// matchers see is run_code, its tool_input the program. The calls the program
// makes come past the hooks as well, each by itself, so a hook that searches
// arguments should let run_code pass.
//
// # What a hook can do
//
// Exit code 2 blocks, with standard error as the reason. Exit code 0 passes,
// or says what the JSON on standard output says: permissionDecision allow, ask
// or deny, or the older decision approve or block; additionalContext is for the
// model, after a call only. All hooks that match run, one after the other in
// the order of the file; a denial wins over an ask, an ask over an allow. Allow
// skips nothing: other listeners, guards and the approver see the call all the
// same. updatedInput is not applied, so that what policy has judged is what
// runs.
//
// # Where this differs from DSH and Claude Code
//
// PreToolUse fails closed. A hook that times out, cannot be started, is ended by
// a signal, exits with anything but 0 or 2 or prints an answer that cannot be
// understood denies the call; so does a matcher that does not compile or takes
// too long. PostToolUse hooks that fail change nothing. Claude Code's
// "onFailure": "continue" or "block", on a hook or on a whole group, changes
// either. A settings file with an unknown key or event does not load.
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
