package hooks

// The events this package connects to a pipeline.
const (
	PreToolUse  = "PreToolUse"
	PostToolUse = "PostToolUse"
)

// knownEvents are the events of Claude Code.
var knownEvents = []string{
	PreToolUse, PostToolUse, "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
	"UserPromptSubmit", "UserPromptExpansion", "MessageDisplay", "Notification",
	"SessionStart", "SessionEnd", "Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
	"TaskCreated", "TaskCompleted", "TeammateIdle", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch",
	"InstructionsLoaded", "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove",
	"Elicitation", "ElicitationResult",
}

// connected reports whether hooks of an event run.
func connected(event string) bool { return event == PreToolUse || event == PostToolUse }

// knownTypes are Claude Code's types of hook, each with the member it cannot be
// without. Only commands run here.
var knownTypes = map[string]string{
	"command": "command", "http": "url", "mcp_tool": "tool", "prompt": "prompt", "agent": "prompt",
}

// ignoredKeys are members of a hook that Claude Code knows and that change
// nothing here, each with what happens instead.
var ignoredKeys = map[string]string{
	"if":              "the hook runs for every call its matcher matches",
	"async":           "the call waits for the hook",
	"asyncRewake":     "the call waits for the hook",
	"rewakeMessage":   "the call waits for the hook",
	"rewakeSummary":   "the call waits for the hook",
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
