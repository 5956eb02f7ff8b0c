package fstools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// allTools has arguments for every tool that name one path.
var allTools = []struct {
	name   string
	args   func(path string) tools.JSON
	access []tools.Access
	tree   bool
}{
	{"read", withPath(`{"file_path":%s}`), []tools.Access{tools.AccessRead}, false},
	{"write", withPath(`{"file_path":%s,"content":"changed\n"}`), []tools.Access{tools.AccessWrite}, false},
	{"edit", withPath(`{"file_path":%s,"old_string":"file","new_string":"changed"}`), []tools.Access{tools.AccessRead, tools.AccessWrite}, false},
	{"glob", withPath(`{"path":%s,"pattern":"**"}`), []tools.Access{tools.AccessRead}, true},
	{"grep", withPath(`{"path":%s,"pattern":"file|secret"}`), []tools.Access{tools.AccessRead}, true},
}

func withPath(form string) func(string) tools.JSON {
	return func(path string) tools.JSON { return tools.MustJSON(fmt.Sprintf(form, tools.StringJSON(path))) }
}

// realDir is t.TempDir with links resolved.
func realDir(t testing.TB, dir string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// TestSubjectSpellings has every tool name the same file, however it is spelled.
func TestSubjectSpellings(t *testing.T) {
	set, dir := newSet(t, map[string]string{"src/lib/é.txt": "the file\n", "src/b/x": ""}, nil)
	reg := registry(t, set)
	link(t, "src", filepath.Join(dir, "dirlink"))
	link(t, "src/lib/é.txt", filepath.Join(dir, "filelink"))
	link(t, filepath.Join(dir, "src"), filepath.Join(dir, "absolutelink"))
	link(t, "filelink", filepath.Join(dir, "chain"))
	real := filepath.Join(realDir(t, dir), "src", "lib", "é.txt")
	plain := filepath.Join(dir, "src", "lib", "é.txt")
	spellings := map[string]string{ // to the lexical path
		"src/lib/é.txt":                    plain,
		"./src/lib/é.txt":                  plain,
		".//src/lib/é.txt":                 plain,
		"src//lib///é.txt":                 plain,
		"src/./lib/./é.txt":                plain,
		"src/../src/lib/é.txt":             plain,
		"src/b/../lib/é.txt":               plain,
		"none/../src/lib/é.txt":            plain,
		"src/lib/é.txt/":                   plain,
		"src/lib/é.txt/.":                  plain,
		dir + "/src/lib/é.txt":             plain,
		dir + "//none/.././src/lib/é.txt":  plain,
		realDir(t, dir) + "/src/lib/é.txt": plain,
		"dirlink/lib/é.txt":                filepath.Join(dir, "dirlink", "lib", "é.txt"),
		"absolutelink/lib/é.txt":           filepath.Join(dir, "absolutelink", "lib", "é.txt"),
		"filelink":                         filepath.Join(dir, "filelink"),
		"chain":                            filepath.Join(dir, "chain"),
		"dirlink/../filelink":              filepath.Join(dir, "filelink"),
	}
	// Other spellings exist where the file system itself takes them for the file.
	for _, other := range []string{"SRC/LIB/É.TXT", "src/lib/e\u0301.txt"} {
		if _, err := os.Lstat(filepath.Join(dir, other)); err == nil {
			spellings[other] = filepath.Join(dir, filepath.FromSlash(other))
		} else {
			t.Logf("%q is another file here", other)
		}
	}
	for _, tool := range allTools {
		for spelling, lexical := range spellings {
			got, err := reg.Lookup(tool.name).Subjects(tool.args(spelling))
			var want []tools.Subject
			for _, access := range tool.access {
				want = append(want, tools.Subject{Access: access, Path: lexical, Real: real, Tree: tool.tree})
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s of %q: %v, subjects (-want +got):\n%s", tool.name, spelling, err, diff)
			}
		}
	}
}

func TestSubjectsOfWhatIsNotThere(t *testing.T) {
	outside := realDir(t, t.TempDir())
	write(t, filepath.Join(outside, "secret"), "secret\n")
	set, dir := newSet(t, map[string]string{"real/a": "x"}, nil)
	reg := registry(t, set)
	for name, target := range map[string]string{
		"dir": "real", "dangling": "real/none", "deep": "none/below", "out": filepath.Join(outside, "secret"),
		"outdir": outside, "outnone": outside + "/none", "loop": "loop", "upwards": "../../../../../../../../../../../.." + filepath.ToSlash(outside),
		"again": "outdir/back",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	link(t, filepath.Join(dir, "real"), filepath.Join(outside, "back"))
	root := realDir(t, dir)
	for path, want := range map[string]string{
		"new":            filepath.Join(root, "new"),
		"dir/new":        filepath.Join(root, "real/new"),
		"dir/x/y/z":      filepath.Join(root, "real/x/y/z"),
		"dangling":       filepath.Join(root, "real/none"),
		"deep/x":         filepath.Join(root, "none/below/x"),
		"out":            filepath.Join(outside, "secret"),
		"outdir/new/x":   filepath.Join(outside, "new/x"),
		"outnone":        filepath.Join(outside, "none"),
		"upwards/secret": filepath.Join(outside, "secret"),
		"again/a":        filepath.Join(outside, "back/a"), // nobody looks where a link outside leads
		"loop":           filepath.Join(root, "loop"),
		"loop/x":         filepath.Join(root, "loop/x"),
		"real/a/b":       filepath.Join(root, "real/a/b"),
		".":              root,
	} {
		for _, tool := range allTools {
			got, err := reg.Lookup(tool.name).Subjects(tool.args(path))
			if err != nil {
				t.Errorf("%s of %q: %v", tool.name, path, err)
				continue
			}
			if got[0].Real != want || got[0].Path != filepath.Join(dir, filepath.FromSlash(path)) {
				t.Errorf("%s of %q: subject %+v, want Real %q", tool.name, path, got[0], want)
			}
		}
	}
}

func TestNoSubjects(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	reg := registry(t, set)
	for _, path := range []string{"..", "../x", "a/../../x", "/etc/passwd", "a\x00b"} {
		for _, tool := range allTools {
			args := tool.args(path)
			_, err := reg.Lookup(tool.name).Subjects(args)
			def := reg.Lookup(tool.name).Definition()
			_, bodyErr := def.Handler(t.Context(), runOf(reg.Lookup(tool.name), nil, args))
			if err == nil || bodyErr == nil || err.Error() != bodyErr.Error() || tools.InfoOf(err) != tools.InfoOf(bodyErr) {
				t.Errorf("%s of %q: subjects fail with %v, the body with %v; want the same", tool.name, path, err, bodyErr)
			}
		}
	}
	got, err := reg.Lookup("glob").Subjects(tools.MustJSON(`{"path":"a","pattern":` + tools.StringJSON(filepath.ToSlash(set.names[0])+"/b/*").String() + `}`))
	if err != nil || len(got) != 1 || got[0].Path != set.names[0] {
		t.Errorf("a glob with an absolute pattern has the subjects %+v, %v; want the root, which it searches", got, err)
	}
}

// TestSwappedAfterJudgement has a part of the path replaced by a symbolic link
// after the subjects of a call were found, as they are for policy, and before its
// body runs.
func TestSwappedAfterJudgement(t *testing.T) {
	for _, tool := range allTools {
		for _, swap := range []struct {
			name   string
			path   string // in the call
			remove string
			target string // a name in the root, or below the directory outside with "OUT"
		}{
			{"the last element, to a secret inside", "a/b/file", "a/b/file", "../../secrets/file"},
			{"the last element, to the outside", "a/b/file", "a/b/file", "OUT/file"},
			{"a middle element, to a secret inside", "a/b/file", "a/b", "../secrets"},
			{"a middle element, to the outside", "a/b/file", "a", "OUT/a"},
			{"behind a link that was judged", "door/file", "a/b", "../secrets"},
		} {
			if tool.tree {
				swap.path = strings.TrimSuffix(swap.path, "/file")
				swap.target = strings.TrimSuffix(swap.target, "/file")
				swap.remove = strings.TrimSuffix(swap.remove, "/file")
				if swap.remove == "a/b" && swap.target == "../../secrets" {
					swap.target = "../secrets"
				}
			}
			t.Run(tool.name+", "+swap.name, func(t *testing.T) {
				outside := t.TempDir()
				write(t, filepath.Join(outside, "file"), "secret file\n")
				write(t, filepath.Join(outside, "a/b/file"), "secret file\n")
				set, dir := newSet(t, map[string]string{"a/b/file": "the file\n", "secrets/file": "secret file\n"}, nil)
				link(t, "a/b", filepath.Join(dir, "door"))
				def := registry(t, set).Lookup(tool.name)
				run := runOf(def, nil, tool.args(swap.path))
				if _, err := run.Call().Subjects(); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(filepath.Join(dir, swap.remove)); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(strings.Replace(swap.target, "OUT", outside, 1), filepath.Join(dir, swap.remove)); err != nil {
					t.Fatal(err)
				}
				_, err := def.Definition().Handler(t.Context(), run)
				wantFailure(t, err, codeChanged, tool.name, swap.path, "call again")
				for _, name := range []string{filepath.Join(dir, "secrets/file"), filepath.Join(outside, "file"), filepath.Join(outside, "a/b/file")} {
					if got := textOf(t, name); got != "secret file\n" {
						t.Errorf("%s was changed to %q", name, got)
					}
				}
			})
		}
	}
}

// TestReplacedAfterJudgement has a file saved anew by another program: that is
// no other path.
func TestReplacedAfterJudgement(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a/file": "old file\n"}, nil)
	for _, tool := range allTools {
		write(t, filepath.Join(dir, "a/file"), "old file\n")
		def := registry(t, set).Lookup(tool.name)
		path := "a/file"
		if tool.name == "glob" {
			path = "a"
		}
		run := runOf(def, nil, tool.args(path))
		if _, err := run.Call().Subjects(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "new"), "new file\n")
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a/file")); err != nil {
			t.Fatal(err)
		}
		if _, err := def.Definition().Handler(t.Context(), run); err != nil {
			t.Errorf("%s: %v", tool.name, err)
		}
	}
}

func textOf(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSwapCase(t *testing.T) {
	// The last letters have another case in Unicode, which no file is found by.
	if got, want := swapCase("/Az-09_Ä ıſß\u212A"), "/aZ-09_Ä ıſß\u212A"; got != want {
		t.Errorf("swapped %q, want %q", got, want)
	}
}

func TestNameIn(t *testing.T) {
	names := []string{"README.md", "src", "caf\u0065\u0301", "Src2"}
	for _, tt := range []struct {
		name string
		same string // the entry that is the same file
		want string
	}{
		{"src", "src", "src"},
		{"SRC", "src", "src"},
		{"readme.MD", "README.md", "README.md"},
		{"readme.MD", "", "readme.MD"}, // looks alike and is another file
		{"caf\u00e9", "caf\u0065\u0301", "caf\u0065\u0301"},
		{"none", "", "none"},
	} {
		if got := nameIn(names, tt.name, func(n string) bool { return n == tt.same }); got != tt.want {
			t.Errorf("nameIn(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
}
