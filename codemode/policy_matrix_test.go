package codemode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/shelltools"
)

// secretText is what no answer may hold.
const secretText = "the combination is 1234"

// guarded is a directory tree with the real file and shell tools under
// permission rules.
type guarded struct {
	root     string
	pipeline *pipeline.Pipeline
	policy   *permission.Policy
}

// guard makes the tree anew: secrets is denied, and nobody can be asked.
func guard(t *testing.T, permissions string) *guarded {
	t.Helper()
	g := &guarded{root: filepath.Join(t.TempDir(), "link")}
	real := t.TempDir()
	for name, text := range map[string]string{
		"secrets/key": secretText, "secrets/deep/x": secretText, "src/a.go": "package a\n", "docs/a.md": "open text\n", "notes.md": "notes\n", ".git/config": "[core]\n",
	} {
		name = filepath.Join(real, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		g.root: real, real + "/lane": "secrets", real + "/docs/key": "../secrets/key", real + "/docs/far": "../lane/key", real + "/docs/abs": real + "/secrets/key",
		real + "/docs/up": "..", real + "/docs/dangling": "../secrets/none", real + "/swapped": "notes.md", real + "/swappedDir": "docs",
	} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.FromSlash(name)); err != nil {
			t.Skipf("this test needs symbolic links: %v", err)
		}
	}
	files, err := fstools.New(g.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	defs := files.Tools()
	if proc.Supported {
		shell, err := shelltools.New(g.root, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { shell.Close() })
		defs = append(defs, shell.Tools()...)
	}
	reg := registry(t, defs...)
	settings, err := permission.Parse(permissions, permission.Source{Name: "policy.json", Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	if g.policy, err = permission.New(reg, []*permission.Settings{settings}, permission.Options{Root: g.root}); err != nil {
		t.Fatal(err)
	}
	files.SetHide(g.policy.Hidden)
	g.pipeline = pipeline.New(reg, nil)
	g.pipeline.UseRule("permissions", g.policy.Rule)
	return g
}

// attempt is one call and what came of it: a value, or the code and the text of
// an error.
type attempt struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

type answered struct {
	Value tools.JSON `json:"value,omitzero"`
	Code  string     `json:"code,omitempty"`
	Text  string     `json:"text,omitempty"`
}

func (a answered) String() string { return a.Code + " " + a.Text + " " + a.Value.String() }

// inEveryWay makes the calls directly, from a program in this process and from
// one in a worker, each in a tree of its own, and hands on the answers.
func inEveryWay(t *testing.T, permissions string, attempts []attempt, prepare func(*guarded), look func(t *testing.T, g *guarded, answers []answered)) {
	ways := map[string]func(*testing.T, *guarded) []answered{
		"direct": func(t *testing.T, g *guarded) (answers []answered) {
			for _, a := range attempts {
				args, err := json.Marshal(a.Args)
				if err != nil {
					t.Fatal(err)
				}
				out := g.pipeline.Execute(t.Context(), pipeline.Request{Name: a.Tool, Args: string(args)})
				got := answered{Value: out.Value()}
				if out.IsError() {
					got = answered{Code: out.Info().Code, Text: out.Err().Error()}
				}
				answers = append(answers, got)
			}
			return answers
		},
	}
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		ways["nested/"+isolation.String()] = func(t *testing.T, g *guarded) []answered {
			input, err := tools.ToJSON(attempts)
			if err != nil {
				t.Fatal(err)
			}
			out := open(t, g.pipeline, &codemode.Options{Isolation: isolation, Mode: codemode.ModeBoth}).Run(t.Context(), codemode.Program{Input: input, Code: `
				const answers = []
				for (const { tool, args } of input) {
					try { answers.push({ value: await tools[tool](args) }) } catch (e) { answers.push({ code: e.code, text: e.message }) }
				}
				return answers`})
			var value struct {
				Result []answered `json:"result"`
			}
			if err := errors.Join(out.Err(), out.Value().Unmarshal(&value)); err != nil {
				t.Fatal(err)
			}
			return value.Result
		}
	}
	for way, run := range ways {
		t.Run(way, func(t *testing.T) {
			g := guard(t, permissions)
			if prepare != nil {
				prepare(g)
			}
			answers := run(t, g)
			if len(answers) != len(attempts) {
				t.Fatalf("%d answers to %d calls", len(answers), len(attempts))
			}
			look(t, g, answers)
			if text, err := os.ReadFile(filepath.Join(g.root, "secrets", "key")); string(text) != secretText {
				t.Errorf("the secret has become %q, %v", text, err)
			}
		})
	}
}

// pathCalls are calls of all five file tools about one path.
func pathCalls(path string) []attempt {
	return []attempt{
		{"read", map[string]any{"file_path": path}},
		{"write", map[string]any{"file_path": path, "content": "x"}},
		{"edit", map[string]any{"file_path": path, "old_string": "the", "new_string": "x"}},
		{"glob", map[string]any{"pattern": "**", "path": path}},
		{"grep", map[string]any{"pattern": "combination", "path": path}},
	}
}

const guardsSecrets = `{"permissions": {"deny": ["Read(./secrets/**)", "Edit(./secrets/**)", "Bash(rm:*)"], "allow": ["Edit", "Bash(echo fine:*)"]}}`

// However a denied file is spelled, whichever tool is told to use it and whoever
// makes the call, it is denied by the rule, and explained so.
func TestDeniedPathInEverySpelling(t *testing.T) {
	spellings := []string{
		"secrets/key", "./secrets/key", ".//secrets///key", "secrets/./key", "src/../secrets/key", "secrets/key/", "secrets/deep/../key", "none/../secrets/key",
		"docs/key", "docs/far", "docs/abs", "lane/key", "docs/up/secrets/key", "docs/up/docs/up/lane/deep/x", "secrets", "lane", "secrets/none", "lane/new/file",
		"secrets/key/x", "docs/dangling", "ROOT/secrets/key", "ROOT/docs/../lane/key", "REAL/secrets/key", "REAL/docs/key",
	}
	var attempts []attempt
	for _, s := range spellings {
		attempts = append(attempts, pathCalls(s)...)
	}
	// The names of the root are known only once there is one.
	prepare := func(g *guarded) {
		real, err := filepath.EvalSymlinks(g.root)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range attempts {
			for _, name := range []string{"file_path", "path"} {
				if path, ok := a.Args[name].(string); ok {
					path = strings.Replace(path, "ROOT", filepath.ToSlash(g.root), 1)
					a.Args[name] = strings.Replace(path, "REAL", filepath.ToSlash(real), 1)
				}
			}
		}
	}
	original, err := json.Marshal(attempts)
	if err != nil {
		t.Fatal(err)
	}
	inEveryWay(t, guardsSecrets, attempts, func(g *guarded) {
		if err := json.Unmarshal(original, &attempts); err != nil {
			t.Fatal(err)
		}
		prepare(g)
	}, func(t *testing.T, g *guarded, answers []answered) {
		for i, a := range answers {
			if a.Code != tools.CodeDeniedByPolicy || !strings.HasPrefix(a.Text, "permission rule ") {
				t.Errorf("%v: %v, want a denial by a rule", attempts[i], a)
			}
			args, _ := json.Marshal(attempts[i].Args)
			if e := g.pipeline.Explain(pipeline.Request{Name: attempts[i].Tool, Args: string(args)}); e.Verdict != pipeline.VerdictDeny || e.Problem != nil {
				t.Errorf("%v is explained as %v, problem %v", attempts[i], e.Verdict, e.Problem)
			}
		}
	})
}

// A search from elsewhere finds nothing of what is denied, whatever the pattern,
// and no error tells whether something is there.
func TestDeniedFilesAreNotFound(t *testing.T) {
	var attempts []attempt
	for _, pattern := range []string{"**", "**/*", "secrets/**", "secrets/*", "{secrets,src}/**", "s*/**", "[s]ecrets/*", "lane/*", "**/key", "docs/*", "./secrets/key", "docs/up/secrets/*", "*/deep/*"} {
		attempts = append(attempts,
			attempt{"glob", map[string]any{"pattern": pattern}},
			attempt{"glob", map[string]any{"pattern": pattern, "path": "."}},
			attempt{"grep", map[string]any{"pattern": "combination|open", "glob": strings.TrimPrefix(pattern, "./")}},
			attempt{"grep", map[string]any{"pattern": "combination|open", "glob": "!" + strings.TrimPrefix(pattern, "./")}},
		)
	}
	for _, path := range []string{"secret", "secrets2", "sekrets/key", "docs/kex", "lan/key", "lanes", "docs/keys/x"} {
		for _, a := range pathCalls(path) {
			if a.Tool != "write" {
				attempts = append(attempts, a)
			}
		}
	}
	inEveryWay(t, guardsSecrets, attempts, nil, func(t *testing.T, _ *guarded, answers []answered) {
		for i, a := range answers {
			// What the caller gave may come back, whole or up to a directory.
			text := a.String()
			for _, name := range []string{"file_path", "path"} {
				given := fmt.Sprint(attempts[i].Args[name])
				text = strings.NewReplacer(given, "", filepath.ToSlash(filepath.Dir(given)), "").Replace(text)
			}
			for _, hidden := range []string{"1234", "secrets/", `"secrets"`, "lane", "docs/key", "docs/far", "docs/abs", "/key", "deep/x"} {
				if strings.Contains(text, hidden) && !strings.HasPrefix(a.Text, "permission rule ") {
					t.Errorf("%v tells %q: %s", attempts[i], hidden, a)
				}
			}
		}
		if all := answers[0].String(); !strings.Contains(all, "docs/a.md") || !strings.Contains(all, "src/a.go") {
			t.Errorf("what nobody denies is not found: %s", all)
		}
	})
}

// A link that is exchanged once the call has been judged is not followed to what
// was not.
func TestLinkExchangedAfterTheDecision(t *testing.T) {
	attempts := append(pathCalls("swapped"), pathCalls("swappedDir/key")...)
	attempts = append(attempts, pathCalls("swappedDir")...)
	exchange := func(g *guarded, name, target string) error {
		link := filepath.Join(g.root, name)
		return errors.Join(os.Remove(link), os.Symlink(target, link))
	}
	inEveryWay(t, `{"permissions": {"deny": ["Read(./secrets/**)", "Edit(./secrets/**)"], "allow": ["Edit"]}}`, attempts, func(g *guarded) {
		g.pipeline.PreExecute.Use("exchange", func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
			if call.IsTransport() {
				return next(ctx)
			}
			return pipeline.Allow(), errors.Join(exchange(g, "swapped", "secrets/key"), exchange(g, "swappedDir", "secrets"))
		})
		g.pipeline.OnResult("put back", func(out pipeline.Outcome) {
			if !out.Call().IsTransport() {
				if err := errors.Join(exchange(g, "swapped", "notes.md"), exchange(g, "swappedDir", "docs")); err != nil {
					t.Error(err)
				}
			}
		})
	}, func(t *testing.T, g *guarded, answers []answered) {
		for i, a := range answers {
			if strings.Contains(a.String(), "1234") || a.Code == tools.CodeDeniedByPolicy && !strings.Contains(fmt.Sprint(attempts[i].Args), "swappedDir/key") {
				t.Errorf("%v: %s", attempts[i], a)
			}
		}
		if entries, err := os.ReadDir(filepath.Join(g.root, "secrets")); err != nil || len(entries) != 2 {
			t.Errorf("the denied directory holds %v, %v", entries, err)
		}
	})
}

// commandSpellings all try to do more than the one command that is allowed.
var commandSpellings = []string{
	"touch pwned", "echo fine; touch pwned", "echo fine && touch pwned", "echo fine || touch pwned", "echo fine | tee pwned", "echo fine & touch pwned",
	"echo fine\ntouch pwned", "echo fine > pwned", "echo fine >> pwned", "echo fine >| pwned", "echo fine &> pwned", "echo fine 2> pwned", "echo fine <> pwned",
	"echo fine $(touch pwned)", "echo fine `touch pwned`", `echo fine "$(touch pwned)"`, "echo fine <(touch pwned)", "echo fine >(touch pwned)", "echo fine ${x:=$(touch pwned)}",
	"echo fine $((x[$(touch pwned)]))", "$(touch pwned) echo fine", "(echo fine; touch pwned)", "{ echo fine; touch pwned; }", "if echo fine; then touch pwned; fi",
	"while touch pwned; do break; done; echo fine", "f() { touch pwned; }; f", "eval 'touch pwned'", "bash -c 'touch pwned'", "command touch pwned", "env touch pwned",
	"exec touch pwned", "x=1 touch pwned", "PATH=. echo fine", "echo() { touch pwned; }; echo fine", "alias echo='touch pwned'\necho fine", "trap 'touch pwned' EXIT",
	"echo fine <<E\n$(touch pwned)\nE", "echo fine <<< $(touch pwned)", "! touch pwned", "time touch pwned", "coproc touch pwned", "[[ -n $(touch pwned) ]]", "echo fine \\\n; touch pwned",
	"'touch' pwned", "to\"u\"ch pwned", "$'touch' pwned", "/usr/bin/touch pwned", "echo finer; touch pwned", "echo fine # \ntouch pwned", "case x in x) touch pwned;; esac",
	"for x in 1; do touch pwned; done", "printf x | xargs touch pwned", "find . -maxdepth 0 -exec touch pwned ';'", "echo fine {a,b}; touch pwned", "echo fine\r\ntouch pwned", "touch pwned;echo fine",
}

// A rule that allows one command allows nothing that does more, and a rule that
// denies one denies it in every disguise.
func TestCommandInEverySpelling(t *testing.T) {
	if !proc.Supported {
		t.Skip("no shell here")
	}
	var attempts []attempt
	bash := func(command string) {
		attempts = append(attempts, attempt{"bash", map[string]any{"command": command, "description": "try"}})
	}
	for _, command := range commandSpellings {
		bash(command)
	}
	asked := len(attempts)
	for _, command := range commandSpellings {
		if strings.HasPrefix(command, "alias") { // which does nothing where nobody types
			continue
		}
		bash(strings.ReplaceAll(strings.NewReplacer("'touch' pwned", "'rm' secrets/key", `to"u"ch pwned`, `r"m" secrets/key`, "$'touch' pwned", "$'rm' secrets/key").Replace(command), "touch pwned", "rm -f secrets/key"))
	}
	bash("echo fine")
	bash(`echo fine "a b"; echo fine too`)
	inEveryWay(t, guardsSecrets, attempts, nil, func(t *testing.T, g *guarded, answers []answered) {
		for i, a := range answers {
			command := attempts[i].Args["command"].(string)
			switch allowed := i >= len(attempts)-2; {
			case allowed && (a.Code != "" || !strings.Contains(a.Value.String(), `"exitCode":0`)):
				t.Errorf("%q did not run: %s", command, a)
			case !allowed && i < asked && a.Code != tools.CodeApprovalUnavailable:
				t.Errorf("%q: %s, want that it is asked about", command, a)
			case !allowed && strings.Contains(command, "secrets/key") && a.Code != tools.CodeDeniedByPolicy:
				t.Errorf("%q: %s, want a denial", command, a)
			}
		}
		if _, err := os.Lstat(filepath.Join(g.root, "pwned")); err == nil {
			t.Error("a command that is not allowed ran")
		}
	})
}

// What is protected is asked about although a rule allows it, by every name.
func TestProtectedFilesInEverySpelling(t *testing.T) {
	var attempts []attempt
	for _, path := range []string{".git/config", "./.git//config", ".GIT/hooks/x", "docs/up/.git/config", ".claude/settings.local.json", "sub/.mcp.json", "new/.git", "docs/../.claude/x"} {
		for _, a := range pathCalls(path)[1:3] {
			attempts = append(attempts, a)
		}
	}
	inEveryWay(t, `{"permissions": {"allow": ["Edit", "Write"]}}`, attempts, nil, func(t *testing.T, g *guarded, answers []answered) {
		for i, a := range answers {
			if a.Code != tools.CodeApprovalUnavailable || !strings.Contains(a.Text, "which is protected") {
				t.Errorf("%v: %s, want that it is asked about", attempts[i], a)
			}
		}
		text, err := os.ReadFile(filepath.Join(g.root, ".git", "config"))
		if diff := cmp.Diff("[core]\n", string(text)); diff != "" || err != nil {
			t.Errorf("the repository's configuration has changed: %s %v", diff, err)
		}
	})
}
