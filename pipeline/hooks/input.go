package hooks

import (
	"strconv"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// input is the line a hook reads: Claude Code's fields, then ours
// (runcode_tool_name and, for a call a program makes, parent_tool_use_id).
func (b *Bridge) input(event string, call tools.Call, response tools.JSON) string {
	name := claudeName(call.Name())
	members := []tools.Member{
		{Name: "session_id", Value: tools.StringJSON(b.opts.SessionID)},
		{Name: "transcript_path", Value: tools.StringJSON(b.opts.TranscriptPath)},
		{Name: "cwd", Value: tools.StringJSON(b.opts.Dir)},
		{Name: "permission_mode", Value: tools.StringJSON(b.opts.PermissionMode)},
		{Name: "hook_event_name", Value: tools.StringJSON(event)},
		{Name: "tool_name", Value: tools.StringJSON(name)},
		{Name: "tool_input", Value: claudeInput(name, call.Args())},
		{Name: "tool_use_id", Value: tools.StringJSON(call.ID())},
		{Name: "tool_response", Value: response},
		{Name: "runcode_tool_name", Value: tools.StringJSON(call.Name())},
	}
	if call.ParentID() != "" {
		members = append(members, tools.Member{Name: "parent_tool_use_id", Value: tools.StringJSON(call.ParentID())})
	}
	return tools.ComposeObject(members...).String() + "\n"
}

// toolResponse is a result as a hook sees it: the members of the value, and
// with them text, what the model reads, is_error, and of a failure its
// error_code. A value that is no object, or has members of these names itself,
// stands whole in the member value.
func toolResponse(r pipeline.Result) tools.JSON {
	added := []tools.Member{
		{Name: "text", Value: tools.StringJSON(tools.ContentString(r.Content()))},
		{Name: "is_error", Value: tools.MustJSON(strconv.FormatBool(r.IsError()))},
	}
	if code := codeOf(r.Err()); code != "" {
		added = append(added, tools.Member{Name: "error_code", Value: tools.StringJSON(code)})
	}
	if value := r.Value(); value.Kind() == '{' {
		if whole, ok := extend(value, added...); ok {
			return whole
		}
	}
	return tools.ComposeObject(append([]tools.Member{{Name: "value", Value: r.Value()}}, added...)...)
}

// codeOf is the code of an error, which may be a stranger's whose methods
// crash.
func codeOf(err error) (code string) {
	defer func() { _ = recover() }()
	return tools.InfoOf(err).Code
}
