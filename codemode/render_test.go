package codemode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestRenderText(t *testing.T) {
	for _, tc := range []struct {
		name   string
		logs   []string
		result string
		want   string
	}{
		{"nothing", nil, "", noOutput},
		{"an empty string and an empty line", []string{""}, `""`, noOutput},
		{"logs only", []string{"a", "b"}, "", "a\nb"},
		{"a string result stands raw", nil, `"x\ny"`, "x\ny"},
		{"logs and result", []string{"a"}, `1`, "a\n1"},
		{"null is a result", nil, `null`, "null"},
		{"empty containers", nil, `[{},[]]`, "[\n  {},\n  []\n]"},
		{"numbers as written", nil, `[-0,1.0,9007199254740993]`, "[\n  -0,\n  1.0,\n  9007199254740993\n]"},
		{"nested", nil, `{"a":[1,{"b":null}],"c":"d"}`, "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"c\": \"d\"\n}"},
		{"deeper levels are compact", nil, `[[[[[[1,{"k":2}]]]]]]`,
			"[\n  [\n    [\n      [\n        [\n          [1,{\"k\":2}]\n        ]\n      ]\n    ]\n  ]\n]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var result tools.JSON
			if tc.result != "" {
				result = tools.MustJSON(tc.result)
			}
			if diff := cmp.Diff(tc.want, renderText(tc.logs, result)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderTextStaysLinear(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if got := len(renderText(nil, tools.MustJSON(deep))); got >= 11_000 {
		t.Errorf("5,000 nested arrays print as %d characters, want under 11,000", got)
	}
}
