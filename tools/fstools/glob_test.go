package fstools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestGlob(t *testing.T) {
	set, dir := newSet(t, map[string]string{
		".git/HEAD":             "ref",
		".gitignore":            "*.log\n/build/\nnode_modules/\n!important.log\n",
		".github/ci.yml":        "",
		"main.go":               "",
		"a.go":                  "",
		"a/b.go":                "",
		"a/below.log":           "",
		"deep/.gitignore":       "/x/y/*.tmp\n",
		"deep/x/y/a.tmp":        "",
		"deep/x/y/b.txt":        "",
		"a.log":                 "",
		"important.log":         "",
		"build/out.go":          "",
		"sub/build/in.go":       "",
		"sub/.gitignore":        "gen_*\n!keep.log\n",
		"sub/gen_a.go":          "",
		"sub/keep.log":          "",
		"sub/.git":              "gitdir: elsewhere",
		"node_modules/p/i.js":   "",
		"node_modules/p/.x/j.j": "",
	}, nil)
	for _, tt := range []struct {
		name  string
		in    globIn
		paths []string
		note  string
	}{
		{"everything", globIn{Pattern: "**"}, []string{".github/ci.yml", ".gitignore", "a.go", "a/b.go", "deep/.gitignore", "deep/x/y/b.txt", "important.log", "main.go", "sub/.gitignore", "sub/build/in.go", "sub/keep.log"}, ""},
		{"any depth", globIn{Pattern: "**/*.go"}, []string{"a.go", "a/b.go", "main.go", "sub/build/in.go"}, ""},
		{"one level", globIn{Pattern: "*.go"}, []string{"a.go", "main.go"}, ""},
		{"path", globIn{Pattern: "**/*.go", Path: "sub"}, []string{"sub/build/in.go"}, ""},
		{"absolute path", globIn{Pattern: "*.go", Path: filepath.Join(dir, "a")}, []string{"a/b.go"}, ""},
		{"rules of the directories above path hold", globIn{Pattern: "**", Path: "a"}, []string{"a/b.go"}, ""},
		{"rules of the directories above path are named", globIn{Pattern: "*.log", Path: "a"}, []string{},
			"1 file or directory is excluded by .gitignore; name an excluded directory in path to search it; the pattern looks directly in the directory only; begin it with **/ to look at any depth"},
		{"rules of every directory above path hold", globIn{Pattern: "**", Path: "deep/x/y"}, []string{"deep/x/y/b.txt"}, ""},
		{"slash at the end", globIn{Pattern: "sub/"}, []string{}, "the pattern ends in a slash and only files are listed; write sub/** for the files below"},
		{"set of characters", globIn{Pattern: "a/[id]/x"}, []string{}, `[ begins a set of characters; write \[ for the character itself`},
		{"dot", globIn{Pattern: "./a/*.go", Path: "."}, []string{"a/b.go"}, ""},
		{"absolute pattern", globIn{Pattern: filepath.ToSlash(dir) + "/a/*.go", Path: "sub"}, []string{"a/b.go"}, ""},
		{"an excluded directory that is named", globIn{Pattern: "**", Path: "build"}, []string{"build/out.go"}, ""},
		{"a directory in an excluded one", globIn{Pattern: "**", Path: "node_modules/p"}, []string{"node_modules/p/.x/j.j", "node_modules/p/i.js"}, ""},
		{"excluded", globIn{Pattern: "build/*.go"}, []string{}, "1 file or directory is excluded by .gitignore; name an excluded directory in path to search it"},
		{"nothing here", globIn{Pattern: "*.ts"}, []string{}, "the pattern looks directly in the directory only; begin it with **/ to look at any depth"},
		{"nothing below", globIn{Pattern: "**/*.ts", Path: "a"}, []string{}, ""},
		{"directories are no files", globIn{Pattern: "su*", Path: "."}, []string{}, "the pattern looks directly in the directory only; begin it with **/ to look at any depth"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := set.glob(t.Context(), noRun, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(globOut{Paths: tt.paths, Total: len(tt.paths), Note: tt.note}, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGlobFails(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a/b": "", "c": ""}, nil)
	for _, tt := range []struct {
		name  string
		in    globIn
		code  string
		parts []string
	}{
		{"no pattern", globIn{}, tools.CodeInvalidArgs, []string{`"pattern" is empty`}},
		{"bad pattern", globIn{Pattern: "{a"}, tools.CodeInvalidArgs, []string{`"pattern" has a { without }`}},
		{"upwards", globIn{Pattern: "../*"}, tools.CodeInvalidArgs, []string{`"pattern" has the element ".."`, "path"}},
		{"absolute, outside", globIn{Pattern: "/etc/*"}, codeSandbox, []string{"outside the root directory " + dir}},
		{"path is a file", globIn{Pattern: "*", Path: "c"}, codeNotDir, []string{`glob "c": it is not a directory`}},
		{"path is missing", globIn{Pattern: "*", Path: "A"}, codeNotFound, []string{`did you mean "a"?`}},
		{"path is outside", globIn{Pattern: "*", Path: ".."}, codeSandbox, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := set.glob(t.Context(), noRun, tt.in)
			wantFailure(t, err, tt.code, tt.parts...)
		})
	}
}

func TestGlobBudgets(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d%d/f%02d", i/10, i)] = ""
	}
	t.Run("paths", func(t *testing.T) {
		set, _ := newSet(t, files, &Options{Paths: 3})
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		want := globOut{Paths: []string{"d0/f00", "d0/f01", "d0/f02"}, Total: 30, Truncated: true,
			Note: "only the first 3 paths are listed; narrow the pattern or give a path"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, value (-want +got):\n%s", err, diff)
		}
	})
	t.Run("entries", func(t *testing.T) {
		set, _ := newSet(t, files, &Options{Entries: 13}) // the three directories and those of the first
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Total != 10 || !got.Truncated || got.Note != "stopped after 13 directory entries; give a path to search a part of the tree" {
			t.Errorf("value %+v, want 10 paths and the budget named", got)
		}
	})
	t.Run("exactly enough entries", func(t *testing.T) {
		set, _ := newSet(t, files, &Options{Entries: 33})
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		if err != nil || got.Truncated || got.Total != 30 {
			t.Errorf("value %+v, %v; want all 30 paths and no cut", got, err)
		}
	})
	t.Run("depth", func(t *testing.T) {
		set, dir := newSet(t, nil, nil)
		deep := strings.Repeat("d/", maxDepth+1)
		write(t, filepath.Join(dir, deep+"below"), "")
		write(t, filepath.Join(dir, strings.TrimSuffix(deep, "d/")+"above"), "")
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		if err != nil || got.Total != 1 || got.Note != "1 directory could not be read" {
			t.Errorf("value with %d paths and the note %q, %v", got.Total, got.Note, err)
		}
	})
}

func TestRenderGlob(t *testing.T) {
	many := make([]string, shownPaths+5)
	for i := range many {
		many[i] = "f"
	}
	for _, tt := range []struct {
		name string
		in   globOut
		want string
	}{
		{"paths", globOut{Paths: []string{"a", "b/c"}, Total: 2}, "a\nb/c"},
		{"a name like lines", globOut{Paths: []string{"a\n(no file matches)", "\x1b[2J", "b c"}, Total: 3}, `"a\n(no file matches)"` + "\n" + `"\x1b[2J"` + "\nb c"},
		{"none", globOut{}, "(no file matches)"},
		{"none, and why", globOut{Note: "3 excluded"}, "(no file matches; 3 excluded)"},
		{"cut", globOut{Paths: []string{"a"}, Total: 9, Truncated: true}, "a\n(1 of 9 paths)"},
		{"cut by a budget", globOut{Paths: []string{"a"}, Total: 1, Truncated: true, Note: "stopped"}, "a\n(the list is not complete; stopped)"},
		{"more than are shown", globOut{Paths: many, Total: len(many)}, strings.Repeat("f\n", shownPaths) + "(1000 of 1005 paths)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, renderGlob(tt.in)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}
