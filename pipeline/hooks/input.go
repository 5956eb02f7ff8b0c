package hooks

import (
	"strconv"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// line is the line hooks read, made when the first one needs it: the fields all
// events have, then those of this one.
func (pt *point) line() string {
	if pt.stdin == "" {
		pt.stdin = tools.ComposeObject(append([]tools.Member{
			text("session_id", pt.session.ID),
			text("transcript_path", pt.session.TranscriptPath),
			text("cwd", pt.b.opts.Dir),
			text("permission_mode", pt.session.PermissionMode),
			text("hook_event_name", pt.event),
		}, pt.fields()...)...).String() + "\n"
	}
	return pt.stdin
}

// callFields are the fields of a call: Claude Code's, then ours
// (runcode_tool_name and, for a call a program makes, parent_tool_use_id). The
// response is zero before a call.
func callFields(call tools.Call, response tools.JSON) []tools.Member {
	name := claudeName(call.Name())
	members := []tools.Member{
		text("tool_name", name),
		{Name: "tool_input", Value: claudeInput(name, call.Args())},
		text("tool_use_id", call.ID()),
		{Name: "tool_response", Value: response},
		text("runcode_tool_name", call.Name()),
	}
	if call.ParentID() != "" {
		members = append(members, text("parent_tool_use_id", call.ParentID()))
	}
	return members
}

func text(name, value string) tools.Member {
	return tools.Member{Name: name, Value: tools.StringJSON(value)}
}

func boolean(name string, value bool) tools.Member {
	return tools.Member{Name: name, Value: tools.MustJSON(strconv.FormatBool(value))}
}

func number(name string, value int) tools.Member {
	return tools.Member{Name: name, Value: tools.MustJSON(strconv.Itoa(value))}
}

// toolResponse is a result as a hook sees it: the members of the value, and
// with them text, what the model reads, is_error, and of a failure its
// error_code. A value that is no object, or has members of these names itself,
// stands whole in the member value.
func toolResponse(r pipeline.Result) tools.JSON {
	added := []tools.Member{
		text("text", tools.ContentString(r.Content())),
		boolean("is_error", r.IsError()),
	}
	if code := codeOf(r.Err()); code != "" {
		added = append(added, text("error_code", code))
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
