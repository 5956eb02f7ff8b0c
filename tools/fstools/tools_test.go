package fstools

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func registry(t testing.TB, set *Set) *tools.Registry {
	t.Helper()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// runOf is the handle of a call as the pipeline makes it.
func runOf(tool *tools.Tool, agent any, args tools.JSON) *tools.Run {
	spec := tools.CallSpec{ID: "1", Name: tool.Definition().Name, Args: args, Agent: agent, Subjects: tools.SubjectsOf(tool, args)}
	return tools.NewRun(tools.NewCall(spec), tools.RunHooks{})
}

// call runs a tool as the pipeline does: arguments checked, body, blocks.
func call(t testing.TB, reg *tools.Registry, name, args string) (value, text string, err error) {
	t.Helper()
	tool := reg.Lookup(name)
	if tool == nil {
		t.Fatalf("no tool %q", name)
	}
	in := tools.MustJSON(args)
	if err := tool.CheckArgs(in); err != nil {
		return "", "", err
	}
	def := tool.Definition()
	result, err := def.Handler(t.Context(), runOf(tool, "agent", in))
	if err != nil {
		return "", "", err
	}
	if err := tool.CheckOutput(result.Value); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	blocks, err := def.Render(in, result.Value)
	if err != nil {
		t.Fatal(err)
	}
	return result.Value.String(), tools.ContentString(blocks), nil
}

func TestDefinitions(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	reg := registry(t, set)
	var names []string
	for _, tool := range reg.All() {
		def := tool.Definition()
		names = append(names, def.Name)
		want := tools.Annotations{ReadOnly: true, Idempotent: true}
		switch def.Name {
		case "write":
			want = tools.Annotations{Destructive: true, Idempotent: true}
		case "edit":
			want = tools.Annotations{Destructive: true}
		}
		if def.Annotations != want {
			t.Errorf("%s: annotations %+v, want %+v", def.Name, def.Annotations, want)
		}
		if n := len(def.Description); n < 100 || n > 600 || strings.TrimSpace(def.Description) != def.Description {
			t.Errorf("%s: the description has %d bytes, want 100 to 600 and no space around", def.Name, n)
		}
		if def.Timeout != patience {
			t.Errorf("%s: timeout %v, want %v", def.Name, def.Timeout, patience)
		}
	}
	if diff := cmp.Diff([]string{"edit", "glob", "grep", "read", "write"}, names); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if !reg.Lookup("read").Concurrent(tools.MustJSON(`{"file_path":"a"}`)) {
		t.Error("read may not overlap with other calls")
	}
	if reg.Lookup("write").Concurrent(tools.MustJSON(`{"file_path":"a","content":""}`)) {
		t.Error("write may overlap with other calls")
	}
	names = nil
	for _, def := range set.ReadTools() {
		names = append(names, def.Name)
	}
	if diff := cmp.Diff([]string{"read", "glob", "grep"}, names); diff != "" {
		t.Errorf("tools that only look (-want +got):\n%s", diff)
	}
}

// TestSchemas states the names of parameters and fields, which programs and
// policies rely on.
func TestSchemas(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	for name, want := range map[string]struct{ required, optional, value []string }{
		"read":  {[]string{"file_path"}, []string{"limit", "offset"}, []string{"content", "endLine", "path", "startLine", "totalLines", "truncated"}},
		"glob":  {[]string{"pattern"}, []string{"path"}, []string{"paths", "total", "truncated"}},
		"write": {[]string{"content", "file_path"}, nil, []string{"bytes", "created", "path"}},
		"edit":  {[]string{"file_path", "new_string", "old_string"}, []string{"replace_all"}, []string{"path", "replacements"}},
		"grep":  {[]string{"pattern"}, []string{"context", "glob", "ignore_case", "limit", "path"}, []string{"files", "matches", "total", "truncated"}},
	} {
		def := registry(t, set).Lookup(name).Definition()
		var in, out struct {
			Properties map[string]struct{ Description string }
			Required   []string
		}
		if err := json.Unmarshal(def.Input.Bytes(), &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(def.Output.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		var optional []string
		for p, schema := range in.Properties {
			if schema.Description == "" {
				t.Errorf("%s: parameter %q has no description", name, p)
			}
			if !slices.Contains(in.Required, p) {
				optional = append(optional, p)
			}
		}
		slices.Sort(optional)
		slices.Sort(in.Required)
		slices.Sort(out.Required)
		if diff := cmp.Diff(want.required, in.Required); diff != "" {
			t.Errorf("%s: required (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.optional, optional); diff != "" {
			t.Errorf("%s: optional (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(want.value, out.Required); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", name, diff)
		}
	}
}

func TestCalls(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a.txt": "one\ntwo\n", "b.txt": "two\n"}, nil)
	reg := registry(t, set)
	for _, tt := range []struct{ tool, args, value, text string }{
		{"read", `{"file_path":"a.txt","offset":2}`,
			`{"path":"a.txt","content":"two\n","startLine":2,"endLine":2,"totalLines":2,"truncated":false}`, "     2\ttwo"},
		{"glob", `{"pattern":"*.txt"}`, `{"paths":["a.txt","b.txt"],"total":2,"truncated":false}`, "a.txt\nb.txt"},
		{"glob", `{"pattern":"*.go"}`, `{"paths":[],"total":0,"truncated":false,"note":"the pattern looks directly in the directory only; begin it with **/ to look at any depth"}`,
			"(no file matches; the pattern looks directly in the directory only; begin it with **/ to look at any depth)"},
		{"grep", `{"pattern":"TWO","ignore_case":true,"limit":1}`,
			`{"matches":[{"path":"a.txt","line":2,"text":"two"}],"files":2,"total":2,"truncated":true}`, "a.txt:2:two\n(1 of 2 matches in 2 files)"},
		{"grep", `{"pattern":"e$","context":1}`,
			`{"matches":[{"path":"a.txt","line":1,"text":"one","after":["two"]}],"files":1,"total":1,"truncated":false}`, "a.txt:1:one\na.txt-2-two"},
		{"grep", `{"pattern":"three"}`, `{"matches":[],"files":0,"total":0,"truncated":false}`, "(no match)"},
		{"write", `{"file_path":"new/c.txt","content":"three\n"}`, `{"path":"new/c.txt","bytes":6,"created":true}`, "wrote 6 bytes to new/c.txt (created)"},
		{"write", `{"file_path":"new/c.txt","content":""}`, `{"path":"new/c.txt","bytes":0,"created":false}`, "wrote 0 bytes to new/c.txt (replaced)"},
		{"edit", `{"file_path":"b.txt","old_string":"two","new_string":"2"}`, `{"path":"b.txt","replacements":1}`, "replaced 1 occurrence in b.txt"},
	} {
		value, text, err := call(t, reg, tt.tool, tt.args)
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.args, err)
			continue
		}
		if diff := cmp.Diff(tt.value, value); diff != "" {
			t.Errorf("%s %s: value (-want +got):\n%s", tt.tool, tt.args, diff)
		}
		if diff := cmp.Diff(tt.text, text); diff != "" {
			t.Errorf("%s %s: text (-want +got):\n%s", tt.tool, tt.args, diff)
		}
	}
	_, _, err := call(t, reg, "read", `{"path":"a.txt"}`)
	wantFailure(t, err, tools.CodeInvalidArgs, "file_path")
}

// TestOverlappingCalls runs all tools at the same time for the race detector.
func TestOverlappingCalls(t *testing.T) {
	set, _ := newSet(t, map[string]string{".gitignore": "x\n", "a/b.txt": "one\ntwo\n", "c.txt": "two\n"}, nil)
	reg := registry(t, set)
	var wg sync.WaitGroup
	for range 8 {
		for _, c := range [][2]string{{"read", `{"file_path":"c.txt"}`}, {"glob", `{"pattern":"**"}`}, {"grep", `{"pattern":"two"}`},
			{"write", `{"file_path":"c.txt","content":"two\n"}`}, {"edit", `{"file_path":"a/b.txt","old_string":"o","new_string":"oo","replace_all":true}`}} {
			wg.Go(func() {
				if _, _, err := call(t, reg, c[0], c[1]); err != nil {
					t.Errorf("%s: %v", c[0], err)
				}
			})
		}
	}
	wg.Wait()
}

// TestGlobSameAsGit compares the files of a tree with those git lists.
func TestGlobSameAsGit(t *testing.T) {
	set, dir := newSet(t, map[string]string{
		".gitignore":           "/out/\n*.tmp\n!keep.tmp\ndocs/**/*.html\ncache\n",
		"a.go":                 "",
		"a.tmp":                "",
		"keep.tmp":             "",
		"out/x":                "",
		"src/out/y":            "",
		"src/.gitignore":       "!a.tmp\n/local\n",
		"src/a.tmp":            "",
		"src/b.tmp":            "",
		"src/local/z":          "",
		"src/deep/local/z":     "",
		"src/deep/a.tmp":       "",
		"docs/a.html":          "",
		"docs/x/y/b.html":      "",
		"docs/x/y/b.md":        "",
		"src/cache/c":          "",
		"src/cache/.gitignore": "!*",
		"ünï.txt":              "",
	}, nil)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git is not usable here, so there is nothing to compare with: %v %s", err, out)
	}
	cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(want)
	got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
	if diff := cmp.Diff(want, got.Paths); err != nil || diff != "" {
		t.Errorf("%v, paths (-git +ours):\n%s", err, diff)
	}
}
