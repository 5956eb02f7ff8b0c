package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
)

func TestReport(t *testing.T) {
	files := map[string]string{
		"a.go":        "// TODO first\nline 2\nline 3\n\nline 5 FIXME\nXXX\n",
		"docs/b.md":   "one\r\ntwo\r\nTODO three\r\n\r\n\r\n",
		"docs/c.md":   "last TODO",
		"quiet.txt":   "TODOS, todo and FIXMEs\n",
		"picture.png": "\x00TODO",
	}
	const all = "# Lines that match `\\b(TODO|FIXME|XXX)\\b`: 5\n" +
		"\n## a.go\n" +
		"\nLine 1:\n\n    > // TODO first\n      line 2\n      line 3\n" +
		"\nLine 5:\n\n      line 3\n\n    > line 5 FIXME\n      XXX\n" +
		"\nLine 6:\n\n\n      line 5 FIXME\n    > XXX\n" +
		"\n## docs/b.md\n" +
		"\nLine 3:\n\n      one\n      two\n    > TODO three\n\n\n" +
		"\n## docs/c.md\n" +
		"\nLine 1:\n\n    > last TODO\n"
	const some = "# Lines that match `three`: 1\n\n## docs/b.md\n\nLine 3:\n\n    > TODO three\n"
	for _, tc := range []struct {
		name, input, want string
	}{
		{"as it stands", "", all},
		{"another pattern", `{"pattern":"three","around":0}`, some},
		{"some files", `{"glob":"*.txt"}`, "# Lines that match `\\b(TODO|FIXME|XXX)\\b`: 0\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tree(t, files)
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				out := runExample(t, example{script: "report.ts", input: tc.input, tools: fileTools(t, dir), isolation: isolation})
				if diff := cmp.Diff(tc.want, out.Text()); diff != "" {
					t.Errorf("the report differs (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestReportFile writes a report that quotes its own markers, twice.
func TestReportFile(t *testing.T) {
	inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
		dir := tree(t, map[string]string{"a.go": "// TODO one\n"})
		run := example{script: "report.ts", input: `{"out":"./out/report.md"}`, isolation: isolation}
		want := "# Lines that match `\\b(TODO|FIXME|XXX)\\b`: 1\n\n## a.go\n\nLine 1:\n\n    > // TODO one\n"
		for range 2 {
			run.tools = fileTools(t, dir) // what was seen before is forgotten
			if got := runExample(t, run).Text(); got != fmt.Sprintf("wrote %d bytes to out/report.md", len(want)) {
				t.Errorf("got %q", got)
			}
			if diff := cmp.Diff(want, string(contents(t, dir)["out/report.md"])); diff != "" {
				t.Errorf("the file differs (-want +got):\n%s", diff)
			}
		}

		run.tools, run.setup = fileTools(t, dir), lock(filepath.Join(dir, "out"))
		if out := tryExample(t, run); !out.IsError() || !strings.Contains(out.Text(), "out/report.md is locked") {
			t.Errorf("got %s, want the denial", out.Text())
		}
	})
}

// TestReportIsBounded makes a report of more lines than it quotes.
func TestReportIsBounded(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": strings.Repeat("TODO\n", 600)})
	out := runExample(t, example{script: "report.ts", input: `{"around":0}`, tools: fileTools(t, dir)})
	if !strings.HasPrefix(out.Text(), "# Lines that match `\\b(TODO|FIXME|XXX)\\b`: 500 of 600\n") || strings.Count(out.Text(), "\n    > TODO") != 500 {
		t.Errorf("the report of 600 lines is %.200s", out.Text())
	}
}
