package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mcptools"
)

// TestMCP fails when mcp.md shows a file that would be refused, lacks a code of
// failed calls, or has a code that does not exist.
func TestMCP(t *testing.T) {
	text, err := os.ReadFile("mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	servers, rules := 0, 0
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if strings.Contains(block[1], "mcpServers") {
			servers++
			_, err = mcptools.Parse("mcp.md", block[1], func(string) (string, bool) { return "value", true })
		} else {
			rules++
			_, err = permission.Parse(block[1], permission.Source{Name: "mcp.md", Base: t.TempDir(), Trusted: true})
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
	}
	if servers != 2 || rules != 1 {
		t.Errorf("%d files of servers and %d of rules, want 2 and 1", servers, rules)
	}
	var want, got []string
	for _, code := range []string{mcptools.CodeToolFailed, mcptools.CodeServerDown, mcptools.CodeConnectionLost, mcptools.CodeRefused, mcptools.CodeBadAnswer, tools.CodeToolTimeout, tools.CodeToolChanged} {
		want = append(want, "| `"+code+"` |")
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `[A-Z_]+` \\|").FindAllString(page, -1) {
		got = append(got, row)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("codes %q, want %q", got, want)
	}
}
