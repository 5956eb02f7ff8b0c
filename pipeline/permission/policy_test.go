package permission_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// However a denied file is spelled and whatever tool is used, it is denied; and
// nothing else is.
func TestSpellings(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	folds := true
	plain := w.policy(t, permission.Options{}, lists{Deny: []string{"Read(./secrets/**)", "Edit(./secrets/**)"}, Allow: []string{"Edit"}}.settings(t))
	folding := w.policy(t, permission.Options{FoldCase: &folds}, lists{Deny: []string{"Read(./Secrets/**)", "Edit(./Secrets/**)"}, Allow: []string{"Edit"}}.settings(t))
	denied := []string{
		"secrets/key", "./secrets/key", ".//secrets/key", "secrets//key", "secrets/./key", "src/../secrets/key", "secrets/deep/../key",
		"secrets/key/", "secrets/key/.", root + "/secrets/key", root + "/src/../secrets/key", "docs/key", "lane/key", "docs/../lane/key",
		"secrets", "lane", "secrets/", "secrets/deep/x", "secrets/new", "lane/new/file",
	}
	for _, tool := range []string{"read", "write", "edit", "glob", "grep"} {
		for _, spelling := range denied {
			for name, p := range map[string]*permission.Policy{"plain": plain, "folding": folding} {
				if got := says(p, w.call(tool, spelling)); !strings.HasPrefix(got, "deny: permission rule ") {
					t.Errorf("%s: %s %s = %s, want a denial", name, tool, spelling, got)
				}
			}
		}
		for _, spelling := range []string{"SECRETS/KEY", "src/../sEcrets/new"} {
			if got := says(folding, w.call(tool, spelling)); !strings.HasPrefix(got, "deny: ") {
				t.Errorf("%s %s = %s where case does not matter, want a denial", tool, spelling, got)
			}
			if got := says(plain, w.call(tool, spelling)); got != "allow" {
				t.Errorf("%s %s = %s where case matters, want allow", tool, spelling, got)
			}
		}
		for _, spelling := range []string{"src/a.go", "secretsx/key", "src/secrets/key", "docs/a.md", ".", "src"} {
			if got := says(plain, w.call(tool, spelling)); got != "allow" {
				t.Errorf("%s %s = %s, want allow", tool, spelling, got)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	for _, tt := range []struct {
		name      string
		rules     lists
		tool, arg string
		want      string
	}{
		{"reading needs no rule", lists{}, "read", "notes.md", "allow"},
		{"nor does searching", lists{}, "grep", "src", "allow"},
		{"nor a tool without an effect", lists{}, "fetch_row", "1", "allow"},
		{"nor a tool nobody knows", lists{}, "mcp__nobody__x", "1", "allow"},
		{"nor the program", lists{}, tools.TransportName, "1", "allow"},
		{"writing asks", lists{}, "write", "notes.md", "ask: write changes notes.md and no rule allows it"},
		{"editing asks", lists{}, "edit", "src/a.go", "ask: edit changes src/a.go and no rule allows it"},
		{"a command asks", lists{}, "bash", "ls", `ask: bash runs "ls" and no rule allows it`},
		{"a connection asks", lists{}, "http", "example.org:443", "ask: http connects to example.org:443 and no rule allows it"},
		{"a destructive tool asks", lists{}, "wipe_disk", "sda", "ask: wipe_disk may destroy something and no rule allows it"},
		{"an imported tool asks", lists{}, "mcp__git__log", "HEAD", "ask: mcp__git__log is an imported tool and no rule allows it"},

		{"a path is denied", lists{Deny: []string{"Read(./secrets/**)"}}, "read", "secrets/key", "deny: permission rule Read(./secrets/**) in policy.json denies reading secrets/key"},
		{"through a link", lists{Deny: []string{"Read(./secrets/**)"}}, "read", "docs/key", "deny: permission rule Read(./secrets/**) in policy.json denies reading docs/key (which is secrets/key)"},
		{"by the name of a link", lists{Deny: []string{"Read(docs/key)"}}, "read", "docs/key", "deny: permission rule Read(docs/key) in policy.json denies reading docs/key (which is secrets/key)"},
		{"a read rule covers editing", lists{Deny: []string{"Read(.env)"}, Allow: []string{"Edit"}}, "edit", "src/.env", "deny: permission rule Read(.env) in policy.json denies reading src/.env"},
		{"a bare read rule too", lists{Deny: []string{"Read"}, Allow: []string{"Edit"}}, "edit", "src/.env", "deny: permission rule Read in policy.json denies every call of edit"},
		{"but not writing", lists{Deny: []string{"Read"}, Allow: []string{"Edit"}}, "write", "src/.env", "allow"},
		{"a write rule covers editing where it denies", lists{Deny: []string{"Write(docs/**)"}}, "edit", "docs/a.md", "deny: permission rule Write(docs/**) in policy.json denies writing docs/a.md"},
		{"and not where it allows", lists{Allow: []string{"Write(docs/**)"}}, "edit", "docs/a.md", "ask: edit changes docs/a.md and no rule allows it"},
		{"only writing", lists{Allow: []string{"Write(docs/**)"}}, "write", "docs/a.md", "allow"},
		{"an edit rule allows both", lists{Allow: []string{"Edit(docs/**)"}}, "write", "docs/new.md", "allow"},
		{"the other too", lists{Allow: []string{"MultiEdit(docs/**)"}}, "edit", "docs/a.md", "allow"},
		{"a permission needs both forms", lists{Allow: []string{"Edit(docs/**)"}}, "write", "docs/key", "ask: write changes docs/key (which is secrets/key) and no rule allows it"},
		{"and not the real one alone", lists{Allow: []string{"Edit(secrets/**)"}}, "write", "docs/key", "ask: write changes docs/key (which is secrets/key) and no rule allows it"},
		{"both of them allowed", lists{Allow: []string{"Edit(docs/**)", "Edit(secrets/**)", "Edit"}}, "write", "docs/key", "allow"},
		{"a permission to read is none to write", lists{Allow: []string{"Read"}}, "edit", "docs/a.md", "ask: edit changes docs/a.md and no rule allows it"},
		{"glob alone", lists{Deny: []string{"Glob(./src/**)"}}, "glob", "src", "deny: permission rule Glob(./src/**) in policy.json denies reading src"},
		{"and not grep", lists{Deny: []string{"Glob(./src/**)"}}, "grep", "src", "allow"},
		{"LS is glob", lists{Ask: []string{"LS"}}, "glob", "src", "ask: permission rule LS in policy.json asks before every call of glob"},
		{"names in any case", lists{Deny: []string{"READ(./secrets/**)"}}, "read", "secrets/key", "deny: permission rule READ(./secrets/**) in policy.json denies reading secrets/key"},

		{"a denial wins", lists{Deny: []string{"Edit(docs/a.md)"}, Ask: []string{"Edit"}, Allow: []string{"Edit"}}, "edit", "docs/a.md", "deny: permission rule Edit(docs/a.md) in policy.json denies writing docs/a.md"},
		{"an ask wins over a permission", lists{Ask: []string{"Edit(docs/**)"}, Allow: []string{"Edit"}}, "edit", "docs/a.md", "ask: permission rule Edit(docs/**) in policy.json asks before writing docs/a.md"},
		{"reading can be asked about", lists{Ask: []string{"Read(.env)"}, Allow: []string{"Read"}}, "read", ".env", "ask: permission rule Read(.env) in policy.json asks before reading .env"},

		{"a command", lists{Allow: []string{"Bash(npm run test:*)"}}, "bash", "npm run test unit", "allow"},
		{"two commands, one allowed", lists{Allow: []string{"Bash(npm run test:*)"}}, "bash", "npm run test && rm -rf x", `ask: bash runs "npm run test && rm -rf x" and no rule allows it (no rule allows "rm -rf x")`},
		{"two commands, each allowed by another rule", lists{Allow: []string{"Bash(npm run test:*)", "Bash(ls)"}}, "bash", "npm run test && ls", "allow"},
		{"no command", lists{Allow: []string{"Bash(ls:*)"}}, "bash", "# ls", `ask: bash runs "# ls" and no rule allows it (runs no command)`},
		{"every command", lists{Allow: []string{"Bash"}}, "bash", "if [", "allow"},
		{"every command, with a star", lists{Allow: []string{"Bash(*)"}}, "bash", "if [", "allow"},
		{"a command denied inside another", lists{Deny: []string{"Bash(rm:*)"}, Allow: []string{"Bash"}}, "bash", "ls $(sudo /bin/rm x)", `deny: permission rule Bash(rm:*) in policy.json denies running "ls $(sudo /bin/rm x)"`},
		{"a command asked about", lists{Ask: []string{"Bash(git push:*)"}, Allow: []string{"Bash"}}, "bash", "git push origin", `ask: permission rule Bash(git push:*) in policy.json asks before running "git push origin"`},

		{"a host", lists{Allow: []string{"WebFetch(domain:example.org)"}}, "http", "Example.ORG.:443", "allow"},
		{"not below it", lists{Allow: []string{"WebFetch(domain:example.org)"}}, "http", "a.example.org:443", "ask: http connects to a.example.org:443 and no rule allows it"},
		{"hosts below", lists{Allow: []string{"WebFetch(domain:*.example.org)"}}, "http", "a.b.example.org:443", "allow"},
		{"not beside it", lists{Allow: []string{"WebFetch(domain:*.example.org)"}}, "http", "badexample.org:443", "ask: http connects to badexample.org:443 and no rule allows it"},
		{"not the domain itself", lists{Allow: []string{"WebFetch(domain:*.example.org)"}}, "http", "example.org:443", "ask: http connects to example.org:443 and no rule allows it"},
		{"an address in another spelling", lists{Deny: []string{"WebFetch(domain:::1)"}, Allow: []string{"http"}}, "http", "[0:0::0:1%lo]:80", "deny: permission rule WebFetch(domain:::1) in policy.json denies connecting to [0:0::0:1%lo]:80"},
		{"an address in the other family", lists{Deny: []string{"WebFetch(domain:127.0.0.1)"}, Allow: []string{"http"}}, "http", "[::ffff:7f00:1]:80", "deny: permission rule WebFetch(domain:127.0.0.1) in policy.json denies connecting to [::ffff:7f00:1]:80"},
		{"a rule with an address in another spelling", lists{Allow: []string{"WebFetch(domain:0:0::1)"}}, "http", "[::1]:80", "allow"},
		{"a denied host", lists{Deny: []string{"WebFetch(domain:*)"}, Allow: []string{"http"}}, "http", "[::1]:80", "deny: permission rule WebFetch(domain:*) in policy.json denies connecting to [::1]:80"},

		{"a tool by its name", lists{Deny: []string{"fetch_row"}}, "fetch_row", "1", "deny: permission rule fetch_row in policy.json denies every call of fetch_row"},
		{"not in another case", lists{Deny: []string{"Fetch_row"}}, "fetch_row", "1", "allow"},
		{"a tool that may destroy", lists{Allow: []string{"wipe_disk"}}, "wipe_disk", "sda", "allow"},
		{"Claude Code's name", lists{Deny: []string{"TodoWrite"}}, "todo_write", "x", "deny: permission rule TodoWrite in policy.json denies every call of todo_write"},
		{"a rule about some uses covers all", lists{Deny: []string{"fetch_row(id:1)"}}, "fetch_row", "2", "deny: permission rule fetch_row(id:1) in policy.json denies every call of fetch_row"},
		{"and is dropped where it allows", lists{Allow: []string{"wipe_disk(sdb)"}}, "wipe_disk", "sdb", "ask: wipe_disk may destroy something and no rule allows it"},
		{"run_code can be denied by its name", lists{Deny: []string{"run_code"}}, tools.TransportName, "1", "deny: permission rule run_code in policy.json denies every call of run_code"},

		{"a server", lists{Allow: []string{"mcp__git"}}, "mcp__git__log", "HEAD", "allow"},
		{"a server with a star", lists{Allow: []string{"mcp__git__*"}}, "mcp__git__log", "HEAD", "allow"},
		{"another server", lists{Allow: []string{"mcp__git"}}, "mcp__mail__send", "me", "ask: mcp__mail__send is an imported tool and no rule allows it"},
		{"one tool of it", lists{Allow: []string{"mcp__git"}, Deny: []string{"mcp__git__push"}}, "mcp__git__push", "HEAD", "deny: permission rule mcp__git__push in policy.json denies every call of mcp__git__push"},
		{"some tools of it", lists{Allow: []string{"mcp__git__l*"}}, "mcp__git__push", "HEAD", "ask: mcp__git__push is an imported tool and no rule allows it"},
		{"a bare name is no imported tool", lists{Allow: []string{"git", "push", "log"}}, "mcp__git__log", "HEAD", "ask: mcp__git__log is an imported tool and no rule allows it"},
		{"a star allows nothing", lists{Allow: []string{"*", "mcp__*"}}, "mcp__git__log", "HEAD", "ask: mcp__git__log is an imported tool and no rule allows it"},
		{"a star denies everything", lists{Deny: []string{"*"}}, "mcp__git__log", "HEAD", "deny: permission rule * in policy.json denies every call of mcp__git__log"},
		{"a pattern of Claude Code's names", lists{Deny: []string{"Web*"}}, "http", "a:1", "deny: permission rule Web* in policy.json denies every call of http"},
		{"a rule about some uses of an imported tool covers all", lists{Deny: []string{"mcp__git__log(x)"}}, "mcp__git__log", "HEAD", "deny: permission rule mcp__git__log(x) in policy.json denies every call of mcp__git__log"},

		{"nobody knows what it touches", lists{Allow: []string{"Edit"}}, "edit", "lost", "allow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := w.policy(t, permission.Options{}, tt.rules.settings(t))
			if got := says(p, w.call(tt.tool, tt.arg)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A built-in tool that does not say what it touches cannot be tested: what is
// denied in part is denied, what is allowed in part is not.
func TestSilentTools(t *testing.T) {
	w := &world{root: t.TempDir()}
	var err error
	if w.registry, err = tools.NewRegistry(w.tool("read", `"p"`, nil), destructive(w.tool("edit", `"p"`, nil)), destructive(w.tool("Bash", `"c"`, nil))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules      lists
		tool, want string
	}{
		{lists{Deny: []string{"Read(x)"}}, "read", "deny: permission rule Read(x) in policy.json denies every call of read, since the tool does not say what it touches"},
		{lists{Deny: []string{"Read(x)"}, Allow: []string{"edit"}}, "edit", "deny: permission rule Read(x) in policy.json denies every call of edit, since the tool does not say what it touches"},
		{lists{Ask: []string{"Bash(x)"}, Allow: []string{"Bash"}}, "Bash", "ask: permission rule Bash(x) in policy.json asks before every call of Bash, since the tool does not say what it touches"},
		{lists{Allow: []string{"Edit(**)", "Read"}}, "edit", "ask: edit may destroy something and no rule allows it"},
		{lists{Allow: []string{"Edit"}}, "edit", "allow"},
	} {
		p := w.policy(t, permission.Options{}, tt.rules.settings(t))
		check(t, tt.tool, says(p, w.call(tt.tool, "x")), tt.want)
	}
}

// Rules that deny or ask protect what is touched, whatever tool does it; rules
// that allow are about the tools they name.
func TestOtherToolsSubjects(t *testing.T) {
	w := &world{root: t.TempDir()}
	var err error
	w.registry, err = tools.NewRegistry(w.files("digest", false, tools.AccessRead), w.files("format", false, tools.AccessWrite), w.files("mcp__disk__read", false, tools.AccessRead),
		w.tool("run_sql", `"text"`, func(arg string) []tools.Subject { return []tools.Subject{{Access: tools.AccessExec, Command: arg}} }))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		rules lists
		tool  string
		want  string
	}{
		{"a path", lists{Deny: []string{"Read(key)"}, Allow: []string{"digest"}}, "digest", "deny: permission rule Read(key) in policy.json denies reading key"},
		{"every reading", lists{Ask: []string{"Read"}, Allow: []string{"digest"}}, "digest", "ask: permission rule Read in policy.json asks before reading key"},
		{"one tool's reading", lists{Deny: []string{"Grep(key)"}}, "digest", "allow"},
		{"a permission", lists{Allow: []string{"Edit", "Write(key)"}}, "format", "ask: format changes key and no rule allows it"},
		{"its own", lists{Allow: []string{"format"}}, "format", "allow"},
		{"a path of an imported tool", lists{Deny: []string{"Read(key)"}, Allow: []string{"mcp__disk"}}, "mcp__disk__read", "deny: permission rule Read(key) in policy.json denies reading key"},
		{"a permission for commands", lists{Allow: []string{"Bash(key)", "Bash(*)", "Bash"}}, "run_sql", `ask: run_sql runs "key" and no rule allows it`},
		{"a denied command", lists{Deny: []string{"Bash(key)"}, Allow: []string{"run_sql"}}, "run_sql", `deny: permission rule Bash(key) in policy.json denies running "key"`},
		{"a bare name is not about imported tools", lists{Deny: []string{"Read"}, Allow: []string{"mcp__disk"}}, "mcp__disk__read", "allow"},
	} {
		check(t, tt.name, says(w.policy(t, permission.Options{}, tt.rules.settings(t)), w.call(tt.tool, "key")), tt.want)
	}
}

// Subjects that are none deny rather than slip past.
func TestSubjectsThatCannotBeTested(t *testing.T) {
	w := newWorld(t, t.TempDir())
	p := w.policy(t, permission.Options{}, lists{Allow: []string{"Edit(**)"}}.settings(t))
	long := filepath.Join(w.root, strings.Repeat("x/", 20_000))
	for _, tt := range []struct {
		name    string
		subject tools.Subject
		want    string
	}{
		{"relative", tools.Subject{Access: tools.AccessRead, Path: "x"}, "deny: edit does not give the absolute path of what it would read, so no rule can be tested"},
		{"no path", tools.Subject{Access: tools.AccessWrite}, "deny: edit does not give the absolute path of what it would write, so no rule can be tested"},
		{"too long", tools.Subject{Access: tools.AccessRead, Path: long, Real: long}, "deny: edit gives a path of"},
		{"a tree to write", tools.Subject{Access: tools.AccessWrite, Path: w.root, Real: w.root, Tree: true}, "deny: edit would write a whole tree, and rules are tested on files; it must name them one by one"},
		{"no host", tools.Subject{Access: tools.AccessNet}, `deny: edit does not give the host it would connect to as ASCII text, but "", so no rule can be tested`},
		{"a port alone", tools.Subject{Access: tools.AccessNet, Host: ":80"}, "deny: edit does not give the host"},
		{"a host in other letters", tools.Subject{Access: tools.AccessNet, Host: "bücher.example:80"}, "deny: edit does not give the host"},
		{"not resolved", tools.Subject{Access: tools.AccessWrite, Path: filepath.Join(w.root, "x")}, "ask: edit changes x and no rule allows it"},
		{"unknown kind", tools.Subject{Access: "paint", Path: filepath.Join(w.root, "x")}, `ask: edit has an effect of the unknown kind "paint" and no rule allows it`},
	} {
		call := tools.NewCall(tools.CallSpec{Name: "edit", Subjects: func() ([]tools.Subject, error) { return []tools.Subject{tt.subject}, nil }})
		if got := says(p, call); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A call the pipeline does not run, since nobody can say what it touches, is no
// business of the rules about that.
func TestArgumentsThatDoNotFit(t *testing.T) {
	w := newWorld(t, t.TempDir())
	p := w.policy(t, permission.Options{}, lists{Ask: []string{"Edit"}}.settings(t))
	call := func(args string) tools.Call {
		return tools.NewCall(tools.CallSpec{Name: "edit", Args: tools.MustJSON(args), Subjects: func() ([]tools.Subject, error) {
			return nil, &tools.ArgsError{Tool: "edit", Problems: []tools.Problem{{Text: "nothing fits"}}}
		}})
	}
	check(t, "nobody is asked", says(p, call(`{"file":"x"}`)), "allow")
	check(t, "the schema takes them", says(p, call(`{"path":"x"}`)), "allow")
}

func TestProtected(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	p := w.policy(t, permission.Options{Protected: []string{filepath.Join(root, "log")}}, lists{Allow: []string{"Edit", "Write", "edit"}}.settings(t))
	strict := w.policy(t, permission.Options{}, lists{Deny: []string{"Edit(.git)"}, Allow: []string{"Edit"}}.settings(t))
	for _, path := range []string{
		".git/config", ".GIT/config", "sub/.git/hooks/x", "new/.git", ".git", "config", ".claude/settings.json", "src/.Claude/agents/x.md",
		".mcp.json", "sub/.MCP.json", "log", "log/events.jsonl", "LOG/x", ".git./config", ".git::$INDEX_ALLOCATION/config", "git~1/config",
		".g\u200dit/config", "mcp~1.jso", "sub/MCP~2.JSO", "src/../.git/x", root + "/.git/x",
	} {
		for _, tool := range []string{"write", "edit"} {
			call := w.call(tool, path)
			if got := says(p, call); !strings.HasPrefix(got, "ask: "+tool+" changes ") || !strings.HasSuffix(got, "which is protected: it is asked about each time") {
				t.Errorf("%s %s = %s, want that it is asked about", tool, path, got)
			}
			check(t, "only once: "+path, p.OnlyOnce(call), true)
		}
		check(t, "reading "+path, says(p, w.call("read", path)), "allow")
	}
	check(t, "a denial is stronger", strict.Rule(w.call("write", ".git/config")).Verdict(), pipeline.VerdictDeny)
	for _, path := range []string{".github/x", "src/git/x", "notes.md", "logs/x", ".gitignore", "mcp.json"} {
		call := w.call("write", path)
		check(t, "writing "+path, says(p, call), "allow")
		check(t, "only once: "+path, p.OnlyOnce(call), false)
	}
	check(t, "only once where nobody knows", p.OnlyOnce(w.call("edit", "lost")), true)
	check(t, "only once for a command", p.OnlyOnce(w.call("bash", "ls")), false)

	// Below a directory of such a name only what lies deeper counts.
	inside := newWorld(t, filepath.Join(root, ".claude", "tree"))
	q := inside.policy(t, permission.Options{}, lists{Allow: []string{"Edit"}}.settings(t))
	check(t, "below", says(q, inside.call("write", "a")), "allow")
	check(t, "deeper", q.OnlyOnce(inside.call("write", ".claude/a")), true)
	check(t, "outside", q.OnlyOnce(inside.call("write", root+"/.claude/a")), true)
}

// The directory a .git file leads to is protected, whatever it is called, and the
// one of the repository that shares it.
func TestProtectedGitDirectory(t *testing.T) {
	for name, tt := range map[string]struct {
		git       string
		protected bool
	}{
		"plain":    {"gitdir: ./store\r\n", true},
		"shared":   {"gitdir: store/worktrees/main", true},
		"absolute": {"gitdir: ROOT/store\n", true},
		"outside":  {"gitdir: ../store\n", false},
		"nonsense": {"store\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range map[string]string{
				".git": strings.Replace(tt.git, "ROOT", root, 1), "store/worktrees/main/commondir": "../..\n", "store/config": "", "x": "",
			} {
				name = filepath.Join(root, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			w := newWorld(t, root)
			p := w.policy(t, permission.Options{}, lists{Allow: []string{"Edit"}}.settings(t))
			check(t, "the repository", p.OnlyOnce(w.call("write", "store/config")), tt.protected)
			check(t, "a hook in it", p.OnlyOnce(w.call("edit", "store/hooks/pre-commit")), tt.protected)
			check(t, "a file beside", says(p, w.call("write", "x")), "allow")
		})
	}
}

// What the hooks of a file run is asked about like the file.
func TestProtectedHookPrograms(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	s, err := permission.Parse(`{"permissions":{"allow":["Edit"]},"hooks":{"PreToolUse":[{"hooks":[
		{"type":"command","command":"python3 src/a.go --rules=docs/a.md . src | tee /dev/null"},
		{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/tools/later.sh && notes.md; ${CLAUDE_PROJECT_DIR}/src/gen/b.go"}]}]}}`, permission.Source{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	p := w.policy(t, permission.Options{}, s)
	for _, path := range []string{"src/a.go", "docs/a.md", "tools/later.sh", "notes.md", "src/gen/b.go"} {
		check(t, "only once: "+path, p.OnlyOnce(w.call("edit", path)), true)
	}
	for _, path := range []string{"src/b.go", "python3", "tools/other.sh"} {
		check(t, "writing "+path, says(p, w.call("write", path)), "allow")
	}
}

// A rule that denies what a link is called denies what it leads to; one that
// allows it does not.
func TestRulesNameLinks(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	for link, target := range map[string]string{"docs/gen": "../src/gen", "docs/env": "../.env"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, fold := range []bool{false, true} {
		opts := permission.Options{FoldCase: &fold, Home: filepath.Join(root, "docs")}
		p := w.policy(t, opts, lists{Deny: []string{"Read(./lane/**)", "Read(./docs/gen/*.go)", "Read(~/env)"}, Allow: []string{"Edit"}}.settings(t))
		for path, want := range map[string]pipeline.Verdict{
			"secrets": pipeline.VerdictDeny, "secrets/key": pipeline.VerdictDeny, "secrets/deep/x": pipeline.VerdictDeny, "lane/key": pipeline.VerdictDeny,
			"docs/key": pipeline.VerdictDeny, "src/gen/b.go": pipeline.VerdictDeny, "src/gen/b.md": pipeline.VerdictAllow, "src/gen/x/b.go": pipeline.VerdictAllow,
			"src/gen": pipeline.VerdictAllow, ".env": pipeline.VerdictDeny, "docs/env": pipeline.VerdictDeny, "src/.env": pipeline.VerdictAllow, "docs/a.md": pipeline.VerdictAllow,
		} {
			check(t, "read "+path, p.Rule(w.call("read", path)).Verdict(), want)
		}
		check(t, "hidden", p.Hidden(root, filepath.Join(root, "secrets"), true), true)
		s, err := permission.Parse(lists{Deny: []string{"Read(./lane/**)"}}.text(), permission.Source{})
		if err != nil {
			t.Fatal(err)
		}
		u := w.policy(t, opts, s)
		check(t, "where nobody vouches for the names", []pipeline.Verdict{u.Rule(w.call("read", "lane/key")).Verdict(), u.Rule(w.call("read", "secrets/key")).Verdict()},
			[]pipeline.Verdict{pipeline.VerdictDeny, pipeline.VerdictAllow})
		q := w.policy(t, opts, lists{Allow: []string{"Edit(./lane/**)", "Edit(docs/**)"}}.settings(t))
		for _, path := range []string{"secrets/key", "lane/key", "docs/gen/b.go", "src/gen/b.go"} {
			check(t, "write "+path, q.Rule(w.call("write", path)).Verdict(), pipeline.VerdictAsk)
		}
	}
}

// Rules added to others never show what those hide, and a rule about glob or
// grep as a whole is none about files.
func TestHiddenWithMoreRules(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	key := filepath.Join(root, "secrets", "key")
	p := w.policy(t, permission.Options{}, lists{Ask: []string{"Read(./secrets/**)", "Read", "Read(./**)"}}.settings(t))
	check(t, "asked about by itself", p.Hidden(root, key, false), true)
	check(t, "searched by itself", p.Hidden(filepath.Dir(key), key, false), false)
	for _, rule := range []string{"Glob", "LS", "Grep"} {
		p = w.policy(t, permission.Options{}, lists{Deny: []string{rule}}.settings(t))
		check(t, "with "+rule+" denied", p.Hidden(root, key, false), false)
	}
}

func TestHidden(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	p := w.policy(t, permission.Options{}, lists{Deny: []string{"Read(./secrets/**)", "Grep(*.pem)", "Edit(src/**)"}, Ask: []string{"Read(docs/**)"}}.settings(t))
	for _, tt := range []struct {
		base, path string
		dir, want  bool
	}{
		{".", "src/a.go", false, false},
		{".", "secrets", true, true},
		{".", "secrets/deep/x", false, true},
		{".", "docs", true, true},
		{".", "docs/a.md", false, true},
		{"docs", "docs/a.md", false, false},
		{"docs", "docs/x.pem", false, true},
		{"secrets", "secrets/key", false, true},
		{"src", "src/x.pem", false, true},
	} {
		if got := p.Hidden(filepath.Join(root, tt.base), filepath.Join(root, tt.path), tt.dir); got != tt.want {
			t.Errorf("Hidden(%s, %s) = %v, want %v", tt.base, tt.path, got, tt.want)
		}
	}
	check(t, "a path that is too long", p.Hidden(root, root+strings.Repeat("/x", 20_000), false), true)
}

func TestExplain(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	p := w.policy(t, permission.Options{}, lists{
		Deny: []string{"Read(./secrets/**)"}, Ask: []string{"Edit(./docs/**)"}, Allow: []string{"Edit", "Read(docs/**)", "Bash(git:*)", "Bash(ls)"},
	}.settings(t))
	const place = "policy.json:1:" // the column follows
	check(t, "edit", p.Explain(w.call("edit", "docs/key")), []permission.Line{
		{Rule: "Edit", Source: place + "26", Verdict: "allow", Text: "permission rule Edit in policy.json allows every call of edit"},
		{Subject: "reading docs/key (which is secrets/key)", Rule: "Read(./secrets/**)", Source: place + "109", Verdict: "deny",
			Text: "permission rule Read(./secrets/**) in policy.json denies reading docs/key (which is secrets/key)"},
		{Subject: "writing docs/key (which is secrets/key)", Rule: "Edit(./docs/**)", Source: place + "82", Verdict: "ask",
			Text: "permission rule Edit(./docs/**) in policy.json asks before writing docs/key (which is secrets/key)"},
	})
	check(t, "bash", p.Explain(w.call("bash", "git status; ls")), []permission.Line{
		{Subject: `running "git status; ls"`, Rule: "Bash(git:*)", Source: place + "49", Verdict: "allow", Text: `permission rule Bash(git:*) in policy.json allows running "git status; ls"`},
		{Subject: `running "git status; ls"`, Rule: "Bash(ls)", Source: place + "63", Verdict: "allow", Text: `permission rule Bash(ls) in policy.json allows running "git status; ls"`},
	})
	check(t, "write", p.Explain(w.call("write", ".git/x"))[1], permission.Line{
		Subject: "writing .git/x", Verdict: "ask", Text: "write changes .git/x, which is protected: it is asked about each time"})
	check(t, "default", p.Explain(w.call("read", "src")), []permission.Line{{Subject: "reading src", Verdict: "allow", Text: "reading src needs no rule"}})
	check(t, "no effect", p.Explain(w.call("fetch_row", "1")), []permission.Line{{Verdict: "allow", Text: "fetch_row needs no rule"}})
	check(t, "unknown", p.Explain(w.call("nobody", "1")), []permission.Line{})
	check(t, "odd names", p.Explain(w.call("read", "a\nb c"))[0].Subject, `reading "a\nb c"`)
}

// The bases of path rules, as the whole policy sees them.
func TestBases(t *testing.T) {
	root := workspace(t)
	home := t.TempDir()
	w := newWorld(t, root)
	s, err := permission.Parse(lists{Deny: []string{"Read(/a.md)", "Read(~/.ssh/**)", "Read(/" + filepath.ToSlash(root) + "/src/*.go)", "Read(../up)"}}.text(),
		permission.Source{Name: "policy.json", Base: filepath.Join(root, "docs")})
	if err != nil {
		t.Fatal(err)
	}
	p := w.policy(t, permission.Options{Home: home}, s)
	for path, want := range map[string]pipeline.Verdict{
		"docs/a.md": pipeline.VerdictDeny, "a.md": pipeline.VerdictAllow, home + "/.ssh/id": pipeline.VerdictDeny, home + "/x": pipeline.VerdictAllow,
		"src/a.go": pipeline.VerdictDeny, "src/gen/b.go": pipeline.VerdictAllow, filepath.Dir(root) + "/up": pipeline.VerdictDeny, "up": pipeline.VerdictAllow,
	} {
		if got := p.Rule(w.call("read", path)).Verdict(); got != want {
			t.Errorf("read %s = %v, want %v", path, got, want)
		}
	}
}

// A root that is a link is the directory it leads to.
func TestRootIsALink(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, filepath.Join(root, "lane"))
	p := w.policy(t, permission.Options{}, lists{Deny: []string{"Read(./key)"}, Allow: []string{"Edit(deep/**)"}}.settings(t))
	check(t, "denied by one name", p.Rule(w.call("read", "key")).Verdict(), pipeline.VerdictDeny)
	check(t, "denied by the other", p.Rule(w.call("read", root+"/secrets/key")).Verdict(), pipeline.VerdictDeny)
	check(t, "allowed by both", says(p, w.call("write", "deep/x")), "allow")
}

func TestWarnings(t *testing.T) {
	w := newWorld(t, t.TempDir())
	warning := "rules deny paths, and the tool bash is there: a command it runs opens any file whatever the rules say; leave the tool out, or deny it, where that matters"
	for _, tt := range []struct {
		name  string
		rules lists
		want  []string
	}{
		{"paths and a shell", lists{Deny: []string{"Read(x)"}}, []string{warning}},
		{"no paths", lists{Deny: []string{"fetch_row"}}, nil},
		{"no shell", lists{Deny: []string{"Read(x)", "Bash"}}, nil},
		{"some commands denied", lists{Deny: []string{"Edit(x)", "Bash(rm:*)"}}, []string{warning}},
	} {
		check(t, tt.name, w.policy(t, permission.Options{}, tt.rules.settings(t)).Warnings(), tt.want)
	}
}

func TestNewErrors(t *testing.T) {
	if _, err := permission.New(nil, nil, permission.Options{}); err == nil {
		t.Error("New accepts a nil registry")
	}
	if _, err := permission.New(&tools.Registry{}, []*permission.Settings{nil}, permission.Options{}); err == nil {
		t.Error("New accepts nil settings")
	}
}

// In another directory the same words may run another program: who allows a
// command there allows the way there.
func TestCommandsInOtherDirectories(t *testing.T) {
	root := workspace(t)
	w := newWorld(t, root)
	link := filepath.Join(root, "way")
	if err := os.Symlink(filepath.Join(root, "src"), link); err != nil {
		t.Skipf("links are needed: %v", err)
	}
	call := func(dir, real string) tools.Call {
		return tools.NewCall(tools.CallSpec{Name: "bash", Subjects: func() ([]tools.Subject, error) {
			return []tools.Subject{{Access: tools.AccessExec, Command: "./build.sh x", Path: dir, Real: real}}, nil
		}})
	}
	src := filepath.Join(root, "src")
	for _, tt := range []struct {
		name      string
		allow     []string
		dir, real string
		want      string
	}{
		{"the root", []string{"Bash(./build.sh:*)"}, root, root, "allow"},
		{"below", []string{"Bash(./build.sh:*)"}, src, src, `ask: bash runs "./build.sh x" and no rule allows it (no rule allows "cd src")`},
		{"below, and the way", []string{"Bash(./build.sh:*)", "Bash(cd src)"}, src, src, "allow"},
		{"the root by name, below by link", []string{"Bash(./build.sh:*)"}, root, src, `ask: bash runs "./build.sh x" and no rule allows it (no rule allows "cd .")`},
		{"every command", []string{"Bash"}, src, src, "allow"},
		{"a name with a quote", []string{"Bash(./build.sh:*)", "Bash(cd it's)"}, filepath.Join(root, "it's"), filepath.Join(root, "it's"), `ask: bash runs "./build.sh x" and no rule allows it (no rule allows "cd 'it'\\''s'")`},
	} {
		p := w.policy(t, permission.Options{}, lists{Allow: tt.allow}.settings(t))
		check(t, tt.name, says(p, call(tt.dir, tt.real)), tt.want)
	}
}
