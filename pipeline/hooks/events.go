package hooks

import "slices"

// The events whose hooks run: the first two for the calls of a pipeline
// (Bridge.Install), the others when a harness calls the Bridge's method of that
// name.
const (
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	UserPromptSubmit = "UserPromptSubmit"
	Stop             = "Stop"
	SessionStart     = "SessionStart"
	SubagentStart    = "SubagentStart"
	SubagentStop     = "SubagentStop"
)

// traits are what sets an event apart.
type traits struct {
	event    string
	runs     bool // its hooks run: it is one of connected
	harness  bool // it is a harness that tells of it, not a pipeline
	matched  bool // its groups have matchers
	blocks   bool // a denial has an effect
	closed   bool // a failure is a denial, unless the file says otherwise
	contexts bool // the model is told contexts
	text     bool // plain text is context
}

// connected are the events whose hooks run, in the order Hooks lists them.
var connected = []traits{
	{event: PreToolUse, runs: true, matched: true, blocks: true, closed: true},
	{event: PostToolUse, runs: true, matched: true, blocks: true, contexts: true},
	{event: UserPromptSubmit, runs: true, harness: true, blocks: true, contexts: true, text: true},
	{event: Stop, runs: true, harness: true, blocks: true, contexts: true},
	{event: SessionStart, runs: true, harness: true, matched: true, contexts: true, text: true},
	{event: SubagentStart, runs: true, harness: true, matched: true, contexts: true},
	{event: SubagentStop, runs: true, harness: true, matched: true},
}

// traitsOf finds an event. One that is not connected has no traits but its name.
func traitsOf(event string) traits {
	if i := slices.IndexFunc(connected, func(t traits) bool { return t.event == event }); i >= 0 {
		return connected[i]
	}
	return traits{event: event}
}

// knownEvents are the events of Claude Code.
var knownEvents = []string{
	PreToolUse, PostToolUse, "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
	UserPromptSubmit, "UserPromptExpansion", "MessageDisplay", "Notification",
	SessionStart, "SessionEnd", "Setup", Stop, "StopFailure", SubagentStart, SubagentStop,
	"TaskCreated", "TaskCompleted", "TeammateIdle", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch",
	"InstructionsLoaded", "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove",
	"Elicitation", "ElicitationResult",
}

// knownTypes are Claude Code's types of hook, each with the member it cannot be
// without. Only commands run here.
var knownTypes = map[string]string{
	"command": "command", "http": "url", "mcp_tool": "tool", "prompt": "prompt", "agent": "prompt",
}

// ignoredKeys are members of a hook that Claude Code knows and that change
// nothing here, each with what happens instead.
var ignoredKeys = map[string]string{
	"if":              "the hook runs whenever its matcher matches",
	"async":           "the hook is waited for",
	"asyncRewake":     "the hook is waited for",
	"rewakeMessage":   "the hook is waited for",
	"rewakeSummary":   "the hook is waited for",
	"once":            "the hook runs every time",
	"statusMessage":   "nothing is shown while the hook runs",
	"continueOnBlock": "it belongs to prompt hooks",
	"url":             "it belongs to http hooks",
	"headers":         "it belongs to http hooks",
	"allowedEnvVars":  "it belongs to http hooks",
	"server":          "it belongs to mcp_tool hooks",
	"tool":            "it belongs to mcp_tool hooks",
	"input":           "it belongs to mcp_tool hooks",
	"prompt":          "it belongs to prompt and agent hooks",
	"model":           "it belongs to prompt and agent hooks",
}
