package bindings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// block is the text inside the code block of a prompt, which must be its end.
func block(t testing.TB, prompt string) string {
	t.Helper()
	text, ended := strings.CutSuffix(prompt, "```\n")
	_, text, found := strings.Cut(text, "\n```ts\n")
	if !ended || !found || strings.Contains("\n"+text, "\n```") {
		t.Fatalf("not one code block at the end of:\n%s", prompt)
	}
	return text
}

// listed is the list of tools in the block of a prompt that is not complete.
func listed(t testing.TB, prompt string) string {
	t.Helper()
	text := block(t, prompt)
	checkSyntax(t, text)
	_, list, found := strings.Cut(text, "declare const tools: { [name: string]: any };\n")
	if !found {
		t.Fatalf("a complete prompt:\n%s", text)
	}
	return list
}

func TestPromptWithinBudget(t *testing.T) {
	c := exampleCatalog(t)
	need := (len(c.Declarations()) + 3) / 4 // tokens
	for _, budget := range []int{need, 0, -1, DefaultBudget} {
		o := PromptOptions{Budget: budget, Input: true}
		prompt := c.Prompt(o)
		if want := c.Instructions(o) + "\n```ts\n" + c.Declarations() + "```\n"; prompt != want {
			t.Errorf("with a budget of %d tokens the prompt is not complete:\n%s", budget, prompt)
		}
		if strings.Contains(prompt, "catalog") {
			t.Errorf("with a budget of %d tokens the prompt speaks of a search nobody needs", budget)
		}
	}
	if prompt := c.Prompt(PromptOptions{Budget: need - 1}); strings.Contains(prompt, c.Declarations()) {
		t.Error("declarations over the budget are in the prompt")
	}
}

// TestDefaultBudget: without a budget there still is one.
func TestDefaultBudget(t *testing.T) {
	c := catalog(t, tool(t, "t", strings.Repeat("x", 4*DefaultBudget), "", ""))
	if list := listed(t, c.Prompt(PromptOptions{})); !strings.Contains(list, "// t: x") {
		t.Errorf("the list lacks the tool:\n%s", list)
	}
}

func TestPromptOverBudget(t *testing.T) {
	c := catalog(t,
		tool(t, "mcp__shop__find", "Find orders.\nNewest first.", `{"properties":{"`+strings.Repeat("q", 1_000)+`":{}}}`, ""),
		tool(t, "mcp__shop__web-search", "", "", ""),
		tool(t, "mcp__a-b__x", "```\n// */ "+strings.Repeat("y", 200), "", ""),
		tool(t, "read", "Read a file", "", ""),
		tool(t, "line\nbreak\u2028", "odd", "", ""),
	)
	const summaries = `// INCOMPLETE: 5 tools; catalog has their arguments and results
// tools (2)
// "line\nbreak\u2028": odd
// read: Read a file
// tools["a-b"] (1)
// x: ` + "``` // */ yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…" + `
// tools.shop (2)
// find: Find orders. Newest first.
// "web-search"
`
	tests := []struct {
		name   string
		budget int
		want   string
	}{
		{"names and descriptions", 80, summaries},
		{"names", 40, `// INCOMPLETE: 5 tools; catalog has their arguments and results
// tools (2): "line\nbreak\u2028", read
// tools["a-b"] (1): x
// tools.shop (2): find, "web-search"
`},
		{"some of the names", 25, `// INCOMPLETE: 5 tools; catalog has their arguments and results
// tools (2): "line\nbreak\u2028", … and 1 more
// tools["a-b"] (1): x
// tools.shop (2): find, … and 1 more
`},
		{"some of the groups", 8, `// INCOMPLETE: 5 tools; catalog has their arguments and results
// tools (2): … and 2 more
// … and 3 tools of 2 more groups
`},
		{"no group", 5, `// INCOMPLETE: 5 tools; catalog has their arguments and results
// … and 5 tools of 3 more groups
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prompt := c.Prompt(PromptOptions{Budget: tt.budget})
			if diff := cmp.Diff(tt.want, listed(t, prompt)); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			for _, want := range []string{"The list of tools below is incomplete", "`await catalog.search(\"words\")`", "`await catalog.describe(\"name\")`", "declare const catalog: {"} {
				if !strings.Contains(prompt, want) {
					t.Errorf("the prompt lacks %q:\n%s", want, prompt)
				}
			}
		})
	}
}

// TestPromptKeepsToItsBudget: whatever the tools and the budget, the text has a
// bound, and every tool is listed or counted.
func TestPromptKeepsToItsBudget(t *testing.T) {
	var list []*tools.Tool
	for i := range 3_000 {
		list = append(list, tool(t, fmt.Sprintf("mcp__server%d__tool_%d", i%37, i), "Does thing number "+fmt.Sprint(i), `{"properties":{"path":{"description":"where"}}}`, ""))
	}
	for i := range 1_000 {
		list = append(list, tool(t, fmt.Sprintf("mcp__alone%d__tool_%d", i, i), "", "", ""))
	}
	c := catalog(t, list...)
	fixed := len(catalog(t).Prompt(PromptOptions{})) + len(incomplete) + len(searchDeclarations) + 1_000
	for _, budget := range []int{1, 10, 100, 1_000, 5_000, 15_000, 30_000, 40_000} {
		prompt := c.Prompt(PromptOptions{Budget: budget})
		list := listed(t, prompt)
		if most := fixed + 4*budget + 100; len(prompt) > most {
			t.Errorf("with a budget of %d tokens the prompt has %d bytes, want at most %d", budget, len(prompt), most)
		}
		if again := c.Prompt(PromptOptions{Budget: budget}); again != prompt {
			t.Errorf("with a budget of %d tokens two prompts differ", budget)
		}
		if n := accounted(t, list); n != 4_000 {
			t.Errorf("with a budget of %d tokens %d tools are listed or counted, want 4000:\n%.2000s", budget, n, list)
		}
		if least := min(4*budget, 40_000) - 1_000; len(list) < least {
			t.Errorf("with a budget of %d tokens the list has %d bytes, want at least %d:\n%.2000s", budget, len(list), least, list)
		}
	}
}

// accounted is how many tools a list names or counts as left out.
func accounted(t testing.TB, list string) int {
	t.Helper()
	total := 0
	for line := range strings.Lines(list) {
		var left, groups, size int
		if n, _ := fmt.Sscanf(line, "// … and %d tools of %d more groups", &left, &groups); n == 2 {
			total += left
			continue
		}
		if strings.HasPrefix(line, "// tool_") {
			total++
			continue
		}
		_, names, isLine := strings.Cut(strings.TrimSpace(line), "):")
		if !isLine {
			continue // a heading
		}
		named := strings.Count(names, "tool_")
		_, rest, _ := strings.Cut(names, "… and ")
		fmt.Sscanf(rest, "%d more", &left)
		_, heading, _ := strings.Cut(line, "(")
		fmt.Sscanf(heading, "%d)", &size)
		if named+left != size {
			t.Errorf("a line names %d tools and leaves out %d, which are not the %d it announces: %s", named, left, size, line)
		}
		total += size
	}
	return total
}
