package hooks

import (
	"strings"
	"testing"
)

func TestMatcher(t *testing.T) {
	tests := []struct {
		matcher, tool string
		want          bool
	}{
		{"", "anything", true},
		{"*", "mcp__a__b", true},
		{"*", "run_code", true},
		{"run_code", "run_code", true},
		{"Edit|Write", "write", true},
		{"Edit|Write", "edit", true},
		{"Edit|Write", "notebook_edit", false},
		{"Edit|", "", true},
		{"Edit | Write", "write", true},
		{"Edit, Write", "edit", true},
		{"Edit,my-tool", "my-tool", true},
		{"Edit,my-tool", "my-tool-2", false},
		{"my-tool", "my-tool-2", true},
		{"Edit Write", "write", false},
		{"ech", "echo", false},
		{"ec.*", "echo", true},
		{"ec.*", "spec_x", true},
		{"^ec.*", "spec_x", false},
		// A tool is tested under Claude Code's name and under ours.
		{"Bash", "bash", true},
		{"bash", "bash", true},
		{"BASH", "bash", true},
		{"^Bash$", "bash", true},
		{"^bash$", "bash", true},
		{"^Bash$", "Bash", true},
		{"TodoWrite", "todo_write", true},
		{"todo_write", "todo_write", true},
		{"todowrite", "todo_write", true},
		{"WebFetch", "http", true},
		{"Read", "todo_write", false},
		{"read", "READ", true},
		{"mcp__memory__.*", "mcp__memory__store", true},
		{"mcp__memory", "mcp__memory__store", false},
		// Lookaheads need a backtracking engine.
		{"^(?!Read$|read$).*", "read", false},
		{"^(?!Read$|read$).*", "write", true},
		{"^(?!Read|Write).*", "read", false},
		{"^(?!read|write).*", "Read", false},
		{"^(?!Read|Write).*", "bash", true},
		{"^(?!Read)Ba.*", "bash", true},
		{"^(?!Bash$)", "BashOutput", true},
		{`^\w+$`, "naïve", false},
		{`^(((((([(((]\(?e)))))|echo)$`, "echo", true},
		{"é", "é", true},
	}
	for _, tt := range tests {
		t.Run(tt.matcher+" on "+tt.tool, func(t *testing.T) {
			got, err := newMatcher(tt.matcher).matches(subjects(tt.tool))
			if got != tt.want || err != nil {
				t.Errorf("matches = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestMatcherErrors(t *testing.T) {
	tests := []struct {
		name, matcher, tool, want string
	}{
		{"does not compile", "a(", "a", "does not compile: "},
		{"a permission rule", "Bash(rm:*)", "bash", "does not compile: it has the form of a permission rule"},
		{"too long", strings.Repeat(".", 4097), "a", "does not compile: it has 4097 bytes, the most is 4096"},
		{"too deep", strings.Repeat("(?:a", 7) + strings.Repeat("){9}", 7), "a", "does not compile: it nests groups 7 deep, the most is 6"},
		{"too slow", "^((a+)+)+$", strings.Repeat("a", 60) + "!", "took more than 250ms to test"},
		{"too much to remember", "^(?:a|b|ab)*(?:a|b|ab)*(?:a|b|ab)*x", strings.Repeat("ab", 400), ""},
		{"a tool name too long", "x.", strings.Repeat("a", 1025), "cannot be tested on a name of 1025 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok, err := newMatcher(tt.matcher).matches([]string{tt.tool})
			if ok || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("matches = %v, %v, want the error %q", ok, err, tt.want)
			}
		})
	}
}

// FuzzMatcher holds that no pattern crashes or hangs a test, and that a matcher
// that cannot be tested never says yes.
func FuzzMatcher(f *testing.F) {
	f.Add("Edit|Write", "edit")
	f.Add("^(?!Read$).*", "read")
	f.Add("((a+)+)+$", strings.Repeat("a", 40))
	f.Add(`(?<x>a)\k<x>[\p{L}]`, "aa")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if ok, err := newMatcher(pattern).matches(subjects(name)); ok && err != nil {
			t.Errorf("matches = true, %v", err)
		}
	})
}
