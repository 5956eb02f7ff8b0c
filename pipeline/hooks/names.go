package hooks

import (
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// claudeNames are Claude Code's names of the built-in tools, by ours.
var claudeNames = map[string]string{
	"read": "Read", "write": "Write", "edit": "Edit", "glob": "Glob", "grep": "Grep",
	"bash": "Bash", "todo_write": "TodoWrite", "http": "WebFetch",
}

// claudeName is Claude Code's name of a tool, or the tool's own name. Names
// that differ only in case mean the same tool.
func claudeName(name string) string {
	for ours, theirs := range claudeNames {
		if strings.EqualFold(name, ours) || strings.EqualFold(name, theirs) {
			return theirs
		}
	}
	return name
}

// subjects are the names matchers are tested on.
func subjects(name string) []string {
	if claude := claudeName(name); claude != name {
		return []string{claude, name}
	}
	return []string{name}
}

// claudeFields are Claude Code's names of parameters, by tool and by our name,
// where they differ.
var claudeFields = map[string][][2]string{
	"Bash": {{"timeoutMs", "timeout"}},
	"Grep": {{"ignore_case", "-i"}, {"context", "-C"}, {"limit", "head_limit"}},
}

// claudeInput is the arguments with Claude Code's names for parameters added
// where it has others. What is there already is left as it is.
func claudeInput(tool string, args tools.JSON) tools.JSON {
	fields := claudeFields[tool]
	if fields == nil || args.Kind() != '{' {
		return args
	}
	var given map[string]tools.JSON
	if args.Unmarshal(&given) != nil {
		return args
	}
	var added []tools.Member
	for _, f := range fields {
		ours, theirs := f[0], f[1]
		if value, ok := given[ours]; ok && given[theirs].IsZero() {
			added = append(added, tools.Member{Name: theirs, Value: value})
		}
	}
	if extended, ok := extend(args, added...); ok {
		return extended
	}
	return args
}

// extend is an object with members added after its own. It fails if one of the
// names is taken.
func extend(object tools.JSON, members ...tools.Member) (tools.JSON, bool) {
	more := tools.ComposeObject(members...).String()
	text := strings.TrimSuffix(object.String(), "}")
	switch {
	case more == "{}":
		return object, true
	case text == "{":
		text = more
	default:
		text += "," + more[1:]
	}
	extended, err := tools.ParseJSON(text)
	return extended, err == nil
}
