package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// workspace is a directory tree with something to deny in it.
func workspace(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"secrets/key", "secrets/deep/x", "src/a.go", "src/gen/b.go", "docs/a.md", "notes.md", ".env", "src/.env",
		".git/config", ".claude/settings.json", ".mcp.json", "sub/.git/hooks/x", "log/events.jsonl",
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"docs/key": "../secrets/key", "lane": "secrets", "config": ".git/config", "out": "/"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skipf("this test needs symbolic links: %v", err)
		}
	}
	return root
}

// world is a registry of stand-ins for the built-in tools and some others; their
// bodies return what they were called with.
type world struct {
	root     string
	registry *tools.Registry
}

func newWorld(t testing.TB, root string) *world {
	t.Helper()
	w := &world{root: root}
	var err error
	w.registry, err = tools.NewRegistry(
		w.files("read", false, tools.AccessRead),
		w.files("glob", true, tools.AccessRead),
		w.files("grep", true, tools.AccessRead),
		w.files("write", false, tools.AccessWrite),
		w.files("edit", false, tools.AccessRead, tools.AccessWrite),
		w.tool("bash", `"command"`, func(arg string) []tools.Subject {
			return []tools.Subject{{Access: tools.AccessExec, Command: arg, Path: root, Real: root}}
		}),
		w.tool("http", `"url"`, func(arg string) []tools.Subject {
			return []tools.Subject{{Access: tools.AccessNet, Host: arg}}
		}),
		w.tool("todo_write", `"todos"`, nil),
		w.tool("fetch_row", `"id"`, nil),
		destructive(w.tool("wipe_disk", `"disk"`, nil)),
		w.tool("mcp__git__log", `"ref"`, nil),
		w.tool("mcp__git__push", `"ref"`, nil),
		w.tool("mcp__mail__send", `"to"`, nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func destructive(def *tools.Definition) *tools.Definition {
	def.Annotations.Destructive = true
	return def
}

// tool is a tool with one string argument.
func (w *world) tool(name, argument string, subjects func(arg string) []tools.Subject) *tools.Definition {
	def := &tools.Definition{
		Name:  name,
		Input: tools.MustJSON(fmt.Sprintf(`{"type":"object","properties":{%s:{"type":"string"}},"required":[%s],"additionalProperties":false}`, argument, argument)),
		Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
			return tools.Result{Value: run.Args()}, nil
		},
	}
	if subjects == nil {
		return def
	}
	def.Subjects = func(args tools.JSON) ([]tools.Subject, error) {
		var in map[string]string
		if err := args.Unmarshal(&in); err != nil {
			return nil, err
		}
		for _, arg := range in {
			if arg == "lost" {
				return nil, errors.New("nobody can say where lost is")
			}
			return subjects(arg), nil
		}
		return nil, nil
	}
	return def
}

// files is a tool about one path.
func (w *world) files(name string, tree bool, accesses ...tools.Access) *tools.Definition {
	def := w.tool(name, `"path"`, func(arg string) (subjects []tools.Subject) {
		path := filepath.FromSlash(arg)
		if !filepath.IsAbs(path) {
			path = filepath.Join(w.root, path)
		}
		for _, access := range accesses {
			subjects = append(subjects, tools.Subject{Access: access, Path: filepath.Clean(path), Real: real(path), Tree: tree})
		}
		return subjects
	})
	def.Annotations.Destructive = accesses[len(accesses)-1] == tools.AccessWrite
	return def
}

func real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Join(real(filepath.Dir(path)), filepath.Base(path))
}

// call makes a call of a tool with its one argument.
func (w *world) call(name, arg string) tools.Call {
	args := tools.JSON{}
	tool := w.registry.Lookup(name)
	if tool != nil {
		var schema struct {
			Required []string `json:"required"`
		}
		if err := tool.Definition().Input.Unmarshal(&schema); err == nil && len(schema.Required) > 0 {
			text, _ := json.Marshal(map[string]string{schema.Required[0]: arg})
			args = tools.MustJSON(string(text))
		}
	}
	return tools.NewCall(tools.CallSpec{ID: "1", Name: name, Args: args, Subjects: tools.SubjectsOf(tool, args)})
}

// lists are the members of permissions.
type lists struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

func (l lists) text() string {
	text, err := json.Marshal(map[string]lists{"permissions": l})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (l lists) settings(t testing.TB) *permission.Settings {
	t.Helper()
	s, err := permission.Parse(l.text(), permission.Source{Name: "policy.json", Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var caseMatters = false

func (w *world) policy(t testing.TB, opts permission.Options, settings ...*permission.Settings) *permission.Policy {
	t.Helper()
	opts.Root = w.root
	if opts.FoldCase == nil {
		opts.FoldCase = &caseMatters
	}
	p, err := permission.New(w.registry, settings, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// says is a decision as text.
func says(p *permission.Policy, call tools.Call) string {
	d := p.Rule(call)
	if d.Reason() == "" {
		return d.Verdict().String()
	}
	return d.Verdict().String() + ": " + d.Reason()
}
