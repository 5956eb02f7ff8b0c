package permission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// matrix is calls of every tool with arguments on which policies differ.
func (w *world) matrix() []tools.Call {
	paths := []string{".", "notes.md", ".env", "src/.env", "secrets", "secrets/key", "lane/key", "docs/a.md", "docs/key", "src/a.go", "src/gen/b.go", "src", ".git/config"}
	others := map[string][]string{
		"bash": {"npm run test", "npm run test; rm x", "rm -rf x", "git push", "ls", "if ["},
		"http": {"a.example.org:443", "example.org:443", "localhost:80"},
	}
	var calls []tools.Call
	for _, t := range w.registry.All() {
		args := others[t.Name()]
		switch t.Name() {
		case "read", "write", "edit", "glob", "grep":
			args = paths
		}
		for _, arg := range append(args, "x") {
			calls = append(calls, w.call(t.Name(), arg))
		}
	}
	return calls
}

func describe(call tools.Call) string { return call.Name() + " " + call.Args().String() }

// Damage to a settings file is refused, or it allows nothing the intact file
// does not. Each file in testdata/damaged is intact.json with one thing changed.
func TestDamagedFiles(t *testing.T) {
	w := newWorld(t, workspace(t))
	load := func(path string) (*permission.Settings, error) {
		return permission.Load(path, permission.Source{Trusted: true})
	}
	s, err := load("testdata/intact.json")
	if err != nil {
		t.Fatal(err)
	}
	intact := w.policy(t, permission.Options{}, s)
	check(t, "notes of the intact file", intact.Notes(), []string(nil))
	files, err := filepath.Glob("testdata/damaged/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d damaged files, %v", len(files), err)
	}
	refused := 0
	for _, path := range files {
		s, err := load(path)
		if err != nil {
			refused++
			if text := err.Error(); !strings.HasPrefix(text, path+":") {
				t.Errorf("%s: the error %q does not begin with the place", path, text)
			}
			continue
		}
		damaged := w.policy(t, permission.Options{}, s)
		for _, call := range w.matrix() {
			if got, want := damaged.Rule(call).Verdict(), intact.Rule(call).Verdict(); got > want {
				t.Errorf("%s: %s is %v, where the intact file says %v", path, describe(call), got, want)
			}
		}
	}
	if refused < 30 || refused == len(files) {
		t.Errorf("%d of %d files are refused", refused, len(files))
	}
}

// FuzzParse holds that no text crashes, that what is refused has a place in the
// text, and that settings beside others never loosen what those deny or hide, nor,
// if nobody stands behind them, anything.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/damaged/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range append(files, "testdata/intact.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"permissions":{"allow":["Edit(/../**/[!a-c]/**)","Read(//)","mcp__a__*b*","Bash(a * b:*)","WebFetch(domain:*)"],"ask":["*","Glob(~/x/)"]}}`)
	w := newWorld(f, workspace(f))
	home := w.root
	calls := w.matrix()
	base := lists{Deny: []string{"Read(./secrets/**)", "Edit(src/gen/**)", "Bash(rm:*)", "mcp__mail"}, Ask: []string{"Read(docs)"}}.settings(f)
	alone := w.policy(f, permission.Options{Home: home}, base)
	var hidden []string
	for _, path := range []string{"secrets", "secrets/key", "docs", "docs/a.md"} {
		path = filepath.Join(w.root, path)
		if !alone.Hidden(w.root, path, true) {
			f.Errorf("%s is not hidden", path)
		}
		hidden = append(hidden, path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, trusted := range []bool{true, false} {
			s, err := permission.Parse(text, permission.Source{Name: "f", Trusted: trusted})
			if err != nil {
				config, ok := err.(*permission.ConfigError)
				if !ok || config.Line < 1 || config.Line > strings.Count(text, "\n")+1 || config.Column < 1 {
					t.Fatalf("Parse = %v", err)
				}
				return
			}
			both := w.policy(t, permission.Options{Home: home}, base, s)
			for _, path := range hidden {
				if !both.Hidden(w.root, path, true) {
					t.Errorf("%s is hidden by itself and not beside the settings (trusted: %v)", path, trusted)
				}
			}
			for _, call := range calls {
				got, want := both.Rule(call).Verdict(), alone.Rule(call).Verdict()
				if got > want && (!trusted || want == pipeline.VerdictDeny) {
					t.Errorf("%s is %v beside the settings, %v without (trusted: %v)", describe(call), got, want, trusted)
				}
				if lines := both.Explain(call); strictest(lines) != got {
					t.Errorf("%s is %v, and explained as %v", describe(call), got, lines)
				}
			}
		}
	})
}

func strictest(lines []permission.Line) pipeline.Verdict {
	verdict := pipeline.VerdictAllow
	for _, line := range lines {
		for v := pipeline.VerdictDeny; v < verdict; v++ {
			if v.String() == line.Verdict {
				verdict = v
			}
		}
	}
	return verdict
}
