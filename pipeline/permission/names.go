package permission

import (
	"slices"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// The built-in tools rules know more of than the name.
const (
	toolRead  = "read"
	toolWrite = "write"
	toolEdit  = "edit"
	toolGlob  = "glob"
	toolGrep  = "grep"
	toolBash  = "bash"
	toolHTTP  = "http"
)

// builtins are the names that mean the same tool in any case: ours, and Claude
// Code's in lower case.
var builtins = map[string]string{
	toolRead: toolRead, "notebookread": toolRead,
	toolWrite: toolWrite,
	toolEdit:  toolEdit, "multiedit": toolEdit, "notebookedit": toolEdit,
	toolGlob: toolGlob, "ls": toolGlob,
	toolGrep: toolGrep,
	toolBash: toolBash,
	toolHTTP: toolHTTP, "webfetch": toolHTTP,
	"todo_write": "todo_write", "todowrite": "todo_write",
}

// canonical is the one name of a tool, whatever rule or registry spells it.
func canonical(name string) string {
	if builtin, ok := builtins[strings.ToLower(name)]; ok {
		return builtin
	}
	return name
}

// importedPrefix begins the names of tools that come from elsewhere:
// mcp__server__tool.
const importedPrefix = "mcp__"

func imported(name string) bool { return strings.HasPrefix(name, importedPrefix) }

// family is what rules that name a built-in tool cover: the subjects with that
// access, and the tools that have them.
type family struct {
	access tools.Access
	denies []string // tools a deny or ask rule is about
	allows []string // tools an allow rule is about
	// alone: the subjects of other tools are not covered.
	alone bool
}

// families are, by the tool a rule names, what it covers. What edit reads it may
// read, so a rule that allows reading does not name it.
var families = map[string]family{
	toolRead:  {access: tools.AccessRead, denies: append(readers, toolEdit), allows: readers},
	toolGlob:  {access: tools.AccessRead, denies: []string{toolGlob}, allows: []string{toolGlob}, alone: true},
	toolGrep:  {access: tools.AccessRead, denies: []string{toolGrep}, allows: []string{toolGrep}, alone: true},
	toolEdit:  {access: tools.AccessWrite, denies: writers, allows: writers},
	toolWrite: {access: tools.AccessWrite, denies: writers, allows: []string{toolWrite}},
	toolBash:  {access: tools.AccessExec, denies: []string{toolBash}, allows: []string{toolBash}},
	toolHTTP:  {access: tools.AccessNet, denies: []string{toolHTTP}, allows: []string{toolHTTP}},
}

var (
	readers = []string{toolRead, toolGrep, toolGlob}
	writers = []string{toolEdit, toolWrite}
)

// wildTool reports whether a pattern matches one of a tool's names, a built-in
// tool's in any case.
func wildTool(pattern, tool string) bool {
	if wildName(pattern, tool) {
		return true
	}
	for name, builtin := range builtins {
		if builtin == tool && wildName(strings.ToLower(pattern), name) {
			return true
		}
	}
	return false
}

// wildName reports whether a pattern of a name, in which "*" stands for any
// text, matches a name. The time it takes is at most the product of the two
// lengths.
func wildName(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// about reports whether a rule of the family is about a tool by its name.
func (f family) about(tool string, allow bool) bool {
	if allow {
		return slices.Contains(f.allows, tool)
	}
	return slices.Contains(f.denies, tool)
}
