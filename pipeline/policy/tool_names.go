package policy

import (
	"slices"
	"strings"
)

// ToolNames selects tools by name. In a name "*" stands for any text, so
// "mcp__files__*" is every tool of a server. The case counts.
type ToolNames []string

// has reports whether one of the names matches.
func (n ToolNames) has(tool string) bool {
	return slices.ContainsFunc(n, func(pattern string) bool { return matches(pattern, tool) })
}

// matches takes the parts between the stars from left to right; the first must
// begin the name and the last must end it.
func matches(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	for ok {
		var part string
		if part, rest, wild = strings.Cut(rest, "*"); !wild {
			return strings.HasSuffix(name, part)
		}
		_, name, ok = strings.Cut(name, part)
	}
	return false
}
