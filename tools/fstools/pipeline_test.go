package fstools_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
)

// TestInPipeline has a rule judge the subjects, a swap come too late, and the
// outcome carry what a card needs.
func TestInPipeline(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"open/f", "secrets/f"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte("text of "+name+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := fstools.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	p := pipeline.New(reg, nil)
	secrets := filepath.Join(dir, "secrets")
	if real, err := filepath.EvalSymlinks(secrets); err == nil {
		secrets = real
	}
	p.UseRule("no secrets", func(call tools.Call) pipeline.Decision {
		subjects, err := call.Subjects()
		if err != nil {
			return pipeline.Deny(err.Error())
		}
		for _, s := range subjects {
			if filepath.Dir(s.Real) == secrets {
				return pipeline.Deny("that is secret")
			}
		}
		return pipeline.Allow()
	})
	do := func(tool, args string) pipeline.Outcome {
		return p.Execute(t.Context(), pipeline.Request{Name: tool, Args: args})
	}

	if err := os.Symlink("secrets", filepath.Join(dir, "door")); err == nil {
		for _, path := range []string{"secrets/f", "door/f", "open/../door/./f"} {
			if out := do("read", `{"file_path":"`+path+`"}`); out.Info().Code != tools.CodeDeniedByPolicy {
				t.Errorf("read %s: %s, want a denial", path, out.Text())
			}
		}
		// The rule has judged open/f when the directory becomes a link.
		p.PreExecute.Use("slow approval", func(ctx context.Context, _ tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
			d, err := next(ctx)
			if err := errors.Join(os.Rename(filepath.Join(dir, "open"), filepath.Join(dir, "was")), os.Symlink("secrets", filepath.Join(dir, "open"))); err != nil {
				t.Error(err)
			}
			return d, err
		})
		if out := do("read", `{"file_path":"open/f"}`); out.Info().Code != "FS_CHANGED" {
			t.Errorf("a read of what has become a link to a secret: %s", out.Text())
		}
	} else {
		t.Logf("symbolic links cannot be made here: %v", err)
	}
}

// TestSearchOfWhatWasAskedAbout has rules ask about a directory by the name of a
// link to it, or by its own: who was told that a search may begin there finds
// something there by either name, unless that is denied.
func TestSearchOfWhatWasAskedAbout(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"secrets/key", "secrets/deep/key"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("text\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets", filepath.Join(dir, "lane")); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
	set, err := fstools.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules   string
		trusted bool // whether rules are about what the links they name lead to
		path    string
		verdict pipeline.Verdict
		files   int
	}{
		{`"ask":["Read(./lane/**)"]`, false, "lane", pipeline.VerdictAsk, 2},
		{`"ask":["Read(./lane/**)"]`, false, "lane/deep", pipeline.VerdictAsk, 1},
		{`"ask":["Read(./lane/**)"]`, false, "lane/key", pipeline.VerdictAsk, 1},
		{`"ask":["Read(./lane/**)"]`, true, "lane", pipeline.VerdictAsk, 2},
		{`"ask":["Read(./lane/**)"]`, true, ".", pipeline.VerdictAllow, 0},
		{`"ask":["Read(./lane/**)"]`, true, "secrets", pipeline.VerdictAsk, 2},
		{`"ask":["Read(./secrets/**)"]`, false, "lane", pipeline.VerdictAsk, 2},
		{`"ask":["Read(./secrets/**)"]`, false, ".", pipeline.VerdictAllow, 0},
		{`"ask":["Read(./lane/**)"],"deny":["Read(./secrets/deep/**)"]`, false, "lane", pipeline.VerdictAsk, 1},
		{`"ask":["Read(./lane/**)"],"deny":["Read(./lane/deep/**)"]`, false, "lane", pipeline.VerdictAsk, 1},
		{`"ask":["Read(./lane/**)","Read(./secrets/deep/**)"]`, false, "lane", pipeline.VerdictAsk, 1},
	} {
		settings, err := permission.Parse(`{"permissions":{`+tt.rules+`}}`, permission.Source{Trusted: tt.trusted})
		if err != nil {
			t.Fatal(err)
		}
		policy, err := permission.New(reg, []*permission.Settings{settings}, permission.Options{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		set.SetHide(policy.Hidden)
		args := tools.MustJSON(`{"pattern":"text","path":"` + tt.path + `"}`)
		tool := reg.Lookup("grep")
		call := tools.NewCall(tools.CallSpec{ID: "1", Name: "grep", Args: args, Subjects: tools.SubjectsOf(tool, args)})
		if got := policy.Rule(call).Verdict(); got != tt.verdict {
			t.Errorf("%s, grep in %s: %v, want %v", tt.rules, tt.path, got, tt.verdict)
		}
		// The body, as after an approval.
		var found struct {
			Files int    `json:"files"`
			Note  string `json:"note"`
		}
		result, err := tool.Definition().Handler(t.Context(), tools.NewRun(call, tools.RunHooks{}))
		if err == nil {
			err = result.Value.Unmarshal(&found)
		}
		if err != nil || found.Files != tt.files {
			t.Errorf("%s, grep in %s: %v, %+v, want matches in %d files", tt.rules, tt.path, err, found, tt.files)
		}
	}
}

func TestDetailReachesTheCard(t *testing.T) {
	set, err := fstools.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	defs := set.Tools()
	var finals []tools.Final
	for _, def := range defs {
		def.Finalize = func(_ tools.Call, outcome tools.Final) ([]tools.Content, bool) {
			finals = append(finals, outcome)
			return nil, false
		}
	}
	reg, err := tools.NewRegistry(defs...)
	if err != nil {
		t.Fatal(err)
	}
	args := `{"file_path":"f","content":"text\n"}`
	out := pipeline.New(reg, nil).Execute(t.Context(), pipeline.Request{Name: "write", Args: args})
	if out.IsError() || len(finals) != 1 {
		t.Fatalf("outcome %s, %d finalizers", out.Text(), len(finals))
	}
	want := []tools.Diff{{Path: "f", Created: true, New: "text\n"}}
	card := reg.Lookup("write").PresentResult(tools.MustJSON(args), finals[0])
	if diff := cmp.Diff(want, card.Diffs); diff != "" {
		t.Errorf("diffs (-want +got):\n%s", diff)
	}
}
