package examples

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

func TestBulkEdit(t *testing.T) {
	before := map[string]string{
		"a.txt":        "f(x) = f(x) + 1\nF(x), f.x, g(x)\nf(x)",
		"sub/b.txt":    "\uFEFFone\r\nf(x)\r\n",
		"locked/c.txt": "f(x)\n",
		"none.txt":     "f (x)\n",
		"other.md":     "f(x)\n",
	}
	after := map[string]string{
		"a.txt":        "$&(x) = $&(x) + 1\nF(x), f.x, g(x)\n$&(x)",
		"sub/b.txt":    "\uFEFFone\r\n$&(x)\r\n",
		"locked/c.txt": "f(x)\n",
		"none.txt":     "f (x)\n",
		"other.md":     "f(x)\n",
	}
	const want = `{"changed":[{"path":"a.txt","replacements":3},{"path":"sub/b.txt","replacements":1}],` +
		`"skipped":[{"path":"locked/c.txt","code":"DENIED_BY_POLICY","reason":"locked/c.txt is locked"}]}`
	for _, tc := range []struct {
		name  string
		dry   bool
		files map[string]string
	}{
		{"for real", false, after},
		{"dry run", true, before},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				dir := tree(t, before)
				defs := fileTools(t, dir)
				if tc.dry {
					defs = tools.DryRun(defs...)
				}
				out := runExample(t, example{
					script: "bulk-edit.ts", input: `{"from":"f(x)","to":"$&(x)","glob":"*.txt"}`,
					tools: defs, isolation: isolation, setup: lock(filepath.Join(dir, "locked")),
				})
				if got := outcomeOf(t, out); got.Result.String() != want || len(got.Logs) > 0 {
					t.Errorf("got %s after printing %q\nwant %s", got.Result, got.Logs, want)
				}
				got := map[string]string{}
				for name, text := range contents(t, dir) {
					got[name] = string(text)
				}
				if diff := cmp.Diff(tc.files, got); diff != "" {
					t.Errorf("the files differ (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// lock denies writing below a directory.
func lock(dir string) func(*pipeline.Pipeline) {
	return func(p *pipeline.Pipeline) {
		p.UseRule("locked", func(call tools.Call) pipeline.Decision {
			subjects, err := call.Subjects()
			if err != nil {
				return pipeline.Deny(err.Error())
			}
			for _, s := range subjects {
				if rel, err := filepath.Rel(filepath.Dir(dir), s.Path); s.Access == tools.AccessWrite && err == nil && filepath.Dir(s.Path) == dir {
					return pipeline.Deny(filepath.ToSlash(rel) + " is locked")
				}
			}
			return pipeline.Allow()
		})
	}
}

func TestBulkEditWantsOneLine(t *testing.T) {
	out := tryExample(t, example{script: "bulk-edit.ts", input: `{"from":"a\nb","to":"","glob":"*"}`, tools: fileTools(t, t.TempDir())})
	if !out.IsError() || !strings.Contains(out.Text(), "from must lie within one line") {
		t.Errorf("got %s, want a failure that says why", out.Text())
	}
}
