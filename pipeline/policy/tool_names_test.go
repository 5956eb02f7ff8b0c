package policy

import "testing"

func TestToolNames(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"read", "read", true},
		{"read", "reader", false},
		{"read", "Read", false},
		{"", "", true},
		{"", "x", false},
		{"*", "", true},
		{"*", "any", true},
		{"mcp__a__*", "mcp__a__b", true},
		{"mcp__a__*", "mcp__ab__c", false},
		{"*_list", "x_list_list", true},
		{"*_list", "x_lists", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c2b", false},
		{"a**c", "ac", true},
		{"*b*", "abc", true},
		{"*b*", "ac", false},
	} {
		if got := (ToolNames{"none", tt.pattern}).has(tt.name); got != tt.want {
			t.Errorf("%q matches %q: %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
	if (ToolNames(nil)).has("x") {
		t.Error("no name selects a tool")
	}
}
