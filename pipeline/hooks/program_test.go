package hooks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// hookProgram is a hook written in Go; this binary runs it in place of its tests
// if RUNCODE_HOOK_PROGRAM is set. It lets only programs use a database, and
// only to read; it has an agent run the tests before it stops.
func hookProgram(stdin io.Reader, stdout, stderr io.Writer) (exitCode int) {
	var told struct {
		SessionID      string `json:"session_id"`
		TranscriptPath string `json:"transcript_path"`
		CWD            string `json:"cwd"`
		PermissionMode string `json:"permission_mode"`
		Event          string `json:"hook_event_name"`

		Tool      string                 `json:"tool_name"`
		OurTool   string                 `json:"runcode_tool_name"`
		Input     struct{ Query string } `json:"tool_input"`
		CallID    string                 `json:"tool_use_id"`
		ParentID  string                 `json:"parent_tool_use_id"`
		Active    *bool                  `json:"stop_hook_active"`
		AgentID   string                 `json:"agent_id"`
		AgentType string                 `json:"agent_type"`
	}
	text, err := io.ReadAll(stdin)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err = d.Decode(&told)
	}
	if err != nil {
		fmt.Fprintf(stderr, "cannot read %q: %v\n", text, err)
		return 1
	}
	deny := func(reason string) int {
		fmt.Fprintln(stderr, reason)
		return 2
	}
	switch {
	case told.Event == "PreToolUse" && told.ParentID == "":
		return deny(told.Tool + " is for programs only")
	case told.Event == "PreToolUse" && !strings.HasPrefix(told.Input.Query, "select "):
		return deny(fmt.Sprintf("%s of %s may not %q", told.CallID, told.ParentID, told.Input.Query))
	case told.Event == "Stop" && !*told.Active:
		fmt.Fprintln(stdout, `{"decision":"block","reason":"run the tests first"}`)
	case told.Event == "SubagentStart":
		fmt.Fprintf(stdout, `{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"you are %s, a %s"}}`, told.AgentID, told.AgentType)
	case told.Event == "SubagentStop":
		if err := os.WriteFile(told.AgentID+".ended", text, 0o600); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	}
	return 0
}
