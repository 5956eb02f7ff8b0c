// Package examples holds programs worth copying, and the tests that run them.
package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/mocktools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// example is one run of a script.
type example struct {
	script    string
	input     string // JSON; empty: none
	tools     []*tools.Definition
	isolation codemode.Isolation
	setup     func(*pipeline.Pipeline) // nil: none
}

// inBoth runs a test in a worker and in this process.
func inBoth(t *testing.T, test func(t *testing.T, isolation codemode.Isolation)) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationWorker, codemode.IsolationInProcess} {
		t.Run(isolation.String(), func(t *testing.T) { test(t, isolation) })
	}
}

// runExample runs a script, which must succeed.
func runExample(t *testing.T, e example) pipeline.Outcome {
	t.Helper()
	out := tryExample(t, e)
	if out.IsError() {
		t.Fatalf("%s failed: %s", e.script, out.Text())
	}
	return out
}

// tryExample runs a script.
func tryExample(t *testing.T, e example) pipeline.Outcome {
	t.Helper()
	code, err := os.ReadFile(filepath.Join("scripts", e.script))
	if err != nil {
		t.Fatal(err)
	}
	reg, err := tools.NewRegistry(e.tools...)
	if err != nil {
		t.Fatal(err)
	}
	p := pipeline.New(reg, nil)
	if e.setup != nil {
		e.setup(p)
	}
	cm, err := codemode.New(p, &codemode.Options{Isolation: e.isolation})
	if err != nil {
		t.Fatal(err)
	}
	defer cm.Close()
	program := codemode.Program{Code: string(code), Agent: t.Name()}
	if e.input != "" {
		program.Input = tools.MustJSON(e.input)
	}
	return cm.Run(t.Context(), program)
}

// outcome is what a script printed and returned.
type outcome struct {
	Logs   []string   `json:"logs"`
	Result tools.JSON `json:"result"`
}

func outcomeOf(t *testing.T, out pipeline.Outcome) (o outcome) {
	t.Helper()
	if err := out.Value().Unmarshal(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

// fileTools are the file tools over a directory, where a file must be read
// before it is changed.
func fileTools(t *testing.T, dir string) []*tools.Definition {
	t.Helper()
	set, err := fstools.New(dir, &fstools.Options{Gates: fstools.NewObservations(nil).Gates()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set.Tools()
}

// mockTools are the tools of a mock file.
func mockTools(t *testing.T, path string) []*tools.Definition {
	t.Helper()
	defs, err := mocktools.LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

// tree makes a directory of files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// contents is every file below dir, by its path with slashes.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil {
			all[filepath.ToSlash(rel)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
