//go:build unix

package shelltools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// newTree is the tool over a directory with a directory, a file and links in it,
// beside another directory. Where the system's temporary directory is a link,
// real is the root with that resolved.
func newTree(t *testing.T) (set *Set, root, real string) {
	t.Helper()
	needBash(t)
	above := t.TempDir()
	root = filepath.Join(above, "root")
	for _, dir := range []string{"root/src/deep", "root/shut", "other", "root-two"} {
		if err := os.MkdirAll(filepath.Join(above, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"out": "../other", "out-absolute": filepath.Join(above, "other"), "in": "src", "in-absolute": filepath.Join(root, "src"),
		"gone": "nowhere", "loop": "loop", "src/up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	if real, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	return set, root, real
}

func TestWorkdir(t *testing.T) {
	set, root, real := newTree(t)
	for _, tt := range []struct{ name, workdir, path, real string }{
		{"default", "", "", ""},
		{"root", ".", "", ""},
		{"root, absolute", root, "", ""},
		{"root, resolved", real, "", ""},
		{"below", "src/deep", "src/deep", "src/deep"},
		{"other spellings", ".//src/../src/./deep/", "src/deep", "src/deep"},
		{"absolute", root + "/src/deep", "src/deep", "src/deep"},
		{"absolute with dots", root + "/src/../src/deep/..", "src", "src"},
		{"link inside", "in/deep", "in/deep", "src/deep"},
		{"absolute link inside", "in-absolute", "in-absolute", "src"},
		{"link back to the root", "src/up", "src/up", ""},
		{"cleaned as text", "out/../src", "src", "src"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := argsOf(t, bashIn{Command: "pwd -P", Workdir: tt.workdir})
			out, _, err := call(t.Context(), t, set, args)
			if want := filepath.Join(real, tt.real) + "\n"; err != nil || out.Stdout != want {
				t.Errorf("ran in %q, %v, want %q", out.Stdout, err, want)
			}
			subjects, err := toolOf(t, set).Subjects(args)
			want := []tools.Subject{{Access: tools.AccessExec, Command: "pwd -P", Path: filepath.Join(root, tt.path), Real: filepath.Join(real, tt.real)}}
			if diff := cmp.Diff(want, subjects); err != nil || diff != "" {
				t.Errorf("%v, subjects (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestWorkdirRefused(t *testing.T) {
	set, root, real := newTree(t)
	other := filepath.Join(filepath.Dir(real), "other")
	for _, tt := range []struct {
		name, workdir, code string
		parts               []string
	}{
		{"above", "..", codeSandbox, []string{`".."`, root}},
		{"out and in again", "../root-two", codeSandbox, []string{`"../root-two"`, root}},
		{"absolute outside", "/", codeSandbox, []string{`"/"`, root}},
		{"same beginning", root + "-two", codeSandbox, []string{root + "-two", root}},
		{"dots behind an absolute", root + "/../other", codeSandbox, []string{root + "/../other", "outside the root directory " + root}},
		{"link out", "out", codeSandbox, []string{`"out" leads to ` + other, root}},
		{"absolute link out", "out-absolute", codeSandbox, []string{`"out-absolute" leads to ` + other, root}},
		{"home", "~", codeNotFound, []string{`"~"`, root}},
		{"missing", "none/at/all", codeNotFound, []string{`"none/at/all"`, "does not exist", root}},
		{"link to nothing", "gone", codeNotFound, []string{`"gone"`, root}},
		{"very long", strings.Repeat("x", 5000), codeNotFound, []string{"bytes not shown", root}},
		{"file", "file", codeNotDir, []string{`"file"`, root}},
		{"through a file", "file/deep", codeNotDir, []string{`"file/deep"`, root}},
		{"loop", "loop", codeIO, []string{`"loop"`, root}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := argsOf(t, bashIn{Command: "touch " + filepath.Join(root, "canary"), Workdir: tt.workdir})
			_, _, err := call(t.Context(), t, set, args)
			wantFailure(t, err, tt.code, tt.parts...)
			_, err = toolOf(t, set).Subjects(args)
			wantFailure(t, err, tt.code, tt.parts...)
		})
	}
	if _, err := os.Stat(filepath.Join(root, "canary")); err == nil {
		t.Error("a refused command ran")
	}
}

// TestChangedAfterJudgement turns a link that policy has looked at to another
// directory before the body runs.
func TestChangedAfterJudgement(t *testing.T) {
	set, root, _ := newTree(t)
	tool := toolOf(t, set)
	args := argsOf(t, bashIn{Command: "touch canary", Workdir: "in"})
	c := tools.NewCall(tools.CallSpec{ID: "1", Name: toolName, Args: args, Subjects: tools.SubjectsOf(tool, args)})
	if subjects, err := c.Subjects(); err != nil || len(subjects) != 1 {
		t.Fatalf("subjects %v, %v, want one", subjects, err)
	}
	link := filepath.Join(root, "in")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("shut", link); err != nil {
		t.Fatal(err)
	}
	_, err := tool.Definition().Handler(t.Context(), tools.NewRun(c, tools.RunHooks{}))
	wantFailure(t, err, codeChanged, `"in"`, "shut", "src", "call again")
	if _, err := os.Stat(filepath.Join(root, "shut", "canary")); err == nil {
		t.Error("the command ran where nobody had judged it to run")
	}
}

// TestRootBecomesALink is about a root that leads elsewhere than when New
// resolved it.
func TestRootBecomesALink(t *testing.T) {
	set, root, _ := newTree(t)
	if err := os.Rename(root, root+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", root); err != nil {
		t.Fatal(err)
	}
	_, _, err := call(t.Context(), t, set, argsOf(t, bashIn{Command: "touch canary"}))
	wantFailure(t, err, codeSandbox, "other", root)
}
