package permission_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
)

func TestParseErrors(t *testing.T) {
	in := func(members string) string { return `{"permissions":{` + members + `}}` }
	rule := func(rule string) string { return in(`"deny":["` + rule + `"]`) }
	for _, tt := range []struct{ name, text, want string }{
		{"empty", " \n", "1:1: the file is empty; write {} for settings that say nothing"},
		{"no JSON", `{"permissions":`, "1:16: invalid JSON: unexpected end of text, expected a value"},
		{"a comment", "{\n  // mine\n}", "2:3: invalid JSON: comments are not allowed; remove it"},
		{"a comma too many", in(`"deny":[],`), "1:27: invalid JSON: unexpected character '}'"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "1:1: the file is not UTF-8 but UTF-16; save it as UTF-8"},
		{"UTF-16 without a mark", "\x00{\x00}", "1:1: the file is not UTF-8 but UTF-16"},
		{"too large", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, "1:1: the file has more than 1048576 bytes"},
		{"no object", `["Read"]`, `1:1: settings must be an object {"permissions": ...}, got an array`},
		{"a name given twice", in(`"deny":["Read"],"deny":[]`), "1:33: invalid JSON: the property name is given twice"},
		{"permissions given twice", `{"permissions":{},"permissions":{}}`, "1:19: invalid JSON: the property name is given twice"},
		{"permissions is no object", `{"permissions":["Read"]}`, "1:16: permissions must be an object with the lists allow, ask and deny, got an array"},
		{"permissions is null", `{"permissions":null}`, "1:16: permissions must be an object with the lists allow, ask and deny, got null"},
		{"permission", `{"permission":{}}`, `1:2: unknown key "permission"; did you mean permissions?`},
		{"Permissions", `{"Permissions":{}}`, `1:2: unknown key "Permissions"; did you mean permissions?`},
		{"premissions", `{"premissions":{}}`, `1:2: unknown key "premissions"; did you mean permissions?`},
		{"hook", `{"hook":{}}`, `1:2: unknown key "hook"; did you mean hooks?`},
		{"a list beside permissions", `{"deny":["Read"]}`, `1:2: deny stands beside permissions and would have no effect; move it into permissions`},
		{"an event beside hooks", `{"PreToolUse":[]}`, `1:2: PreToolUse stands beside hooks and would have no effect; move it into hooks`},
		{"hooks is no object", `{"hooks":[]}`, "1:10: hooks must be an object, got an array"},
		{"mcpServers is no object", `{"mcpServers":"x"}`, `1:15: mcpServers must be an object, got the string "x"`},
		{"an unknown list", in(`"denied":[]`), `1:17: unknown key "denied" in permissions; known are allow, ask, deny`},
		{"a list in another case", in(`"Deny":[]`), `1:17: unknown key "Deny" in permissions; did you mean deny?`},
		{"a key of nobody", in(`"xyzzy":1`), `1:17: unknown key "xyzzy" in permissions; known are allow, ask, deny, defaultMode, additionalDirectories, disableBypassPermissionsMode, disableAutoMode`},
		{"a list that is none", in(`"deny":"Read"`), `1:24: deny must be an array of strings, got the string "Read"`},
		{"a list of lists", in(`"deny":[["Read"]]`), "1:25: deny must hold strings only, got an array"},
		{"a null in a list", in(`"deny":[null]`), "1:25: deny must hold strings only, got null"},
		{"a mode that is none", in(`"defaultMode":{}`), "1:31: defaultMode must be a string, got an object"},
		{"directories that are none", in(`"additionalDirectories":[1]`), "1:42: additionalDirectories must hold strings only, got 1"},

		{"an empty rule", rule(""), `1:25: the rule is empty; name a tool, as in "Read" or "Read(./secrets/**)"`},
		{"not closed", rule("Read("), `1:25: the rule "Read(" does not end with ")"; write Tool or Tool(spec)`},
		{"not closed after a path", rule("Read(./x"), `1:25: the rule "Read(./x" does not end with ")"`},
		{"closed too early", rule("Read(x)y"), `1:25: the rule "Read(x)y" does not end with ")"`},
		{"two in one, with paths", rule("Read(a), Read(b)"), `1:25: the parentheses of the rule "Read(a), Read(b)" do not match; write one rule a string, and * for a parenthesis in it`},
		{"opened once more", rule("Read(a(b)"), `1:25: the parentheses of the rule "Read(a(b)" do not match`},
		{"not opened", rule("Read)x"), `1:25: the rule "Read)x" does not begin with the name of a tool; write Tool or Tool(spec), as in Read(./secrets/**)`},
		{"nothing inside", rule("Read()"), `1:25: the rule "Read()" has nothing between its parentheses; write Read for every use of the tool`},
		{"no tool", rule("(x)"), `1:25: the rule "(x)" does not begin with the name of a tool`},
		{"a path alone", rule("./secrets/**"), `1:25: the rule "./secrets/**" does not begin with the name of a tool`},
		{"two in one", rule("Read, Edit"), `1:25: the rule "Read, Edit" does not begin with the name of a tool`},
		{"space before the parentheses", rule("Read (x)"), `1:25: the rule "Read (x)" does not begin with the name of a tool`},
		{"wide parentheses", rule("Read（x）"), `1:25: the rule "Read\uff08x\uff09" does not begin with the name of a tool: names are of ASCII letters`},
		{"a letter that looks like another", rule(`R\u0435ad(x)`), `1:25: the rule "R\u0435ad(x)" does not begin with the name of a tool: names are of ASCII letters`},
		{"a space that is none", rule(`Bash(rm\u00a0:*)`), `1:25: the rule "Bash(rm\u00a0:*)" holds a character nobody can see or tell from a space`},
		{"a control character", rule(`Read(x\u0000)`), `1:25: the rule "Read(x\x00)" holds a character nobody can see or tell from a space; remove it`},
		{"a character without width", rule(`Read\u200b(x)`), `1:25: the rule "Read\u200b(x)" holds a character nobody can see or tell from a space; remove it`},
		{"half a character", rule(`Read(\ud800)`), `holds a character nobody can see or tell from a space; remove it`},
		{"too long", rule("Read(" + strings.Repeat("x", 1024) + ")"), "1:25: the rule has 1030 bytes, the most is 1024"},
		{"no server", rule("mcp__"), `1:25: the rule "mcp__" names no server; write mcp__server or mcp__server__tool`},
		{"a star and parentheses", rule("Read*(x)"), `1:25: the rule "Read*(x)" says more about every tool that matches Read*; name one tool`},
		{"a server in another case", rule("MCP__git"), `1:25: the rule "MCP__git" names no imported tool; write mcp__ in lower case`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, trusted := range []bool{true, false} {
				_, err := permission.Parse(tt.text, permission.Source{Name: "policy.json", Trusted: trusted})
				var config *permission.ConfigError
				if !errors.As(err, &config) || !strings.HasPrefix(err.Error(), "policy.json:1:") && !strings.HasPrefix(err.Error(), "policy.json:2:") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Parse = %v\nwant a ConfigError with %s", err, tt.want)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	s, err := permission.Parse("\ufeff"+`{"model":"m","env":{},"somethingNew":1,
"hooks":{"Stop": []},"mcpServers":{"a":{"command":"b"}},
"permissions":{"allow":["Read","Edit(./docs/**)"],"deny":["Bash(rm:*)"],"defaultMode":"plan","additionalDirectories":["../x"]}}`, permission.Source{Name: "policy.json"})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "grants", s.Grants(), []string{"Read", "Edit(./docs/**)"})
	check(t, "hooks", s.Hooks().String(), `{"Stop":[]}`)
	check(t, "has hooks", s.HasHooks(), true)
	check(t, "servers", s.MCPServers().String(), `{"a":{"command":"b"}}`)
	check(t, "notes", s.Notes(), []string{
		`policy.json:1:23: ignored the unknown key "somethingNew"`,
		"policy.json:3:73: ignored defaultMode: what no rule decides is asked about if it changes something",
		"policy.json:3:94: ignored additionalDirectories: the tools stay below their root",
	})

	empty, err := permission.Parse(`{}`, permission.Source{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "of nothing", []any{empty.Grants(), empty.Hooks().IsZero(), empty.HasHooks(), empty.MCPServers().IsZero(), empty.Notes()},
		[]any{[]string(nil), true, false, true, []string(nil)})
}

// What cannot be done as it is written denies more and allows nothing.
func TestRulesThatWiden(t *testing.T) {
	w := newWorld(t, t.TempDir())
	for _, tt := range []struct{ rule, tool, why string }{
		{"Read(!x)", "read", "a rule cannot be negated"},
		{"Read(~bob/x)", "read", "only ~/ stands for a home directory"},
		{"Read($HOME/x)", "read", "variables are not expanded; write // before an absolute path or ~/ for the home directory"},
		{`Read(C:\\x)`, "read", "an absolute path begins with //; write //c/ for the drive"},
		{`Read(.\\secrets\\**)`, "read", "a path is written with / and not with a backslash"},
		{`Read(secrets\\**)`, "read", "a path is written with / and not with a backslash"},
		{"Read(.env:*)", "read", `":*" belongs to commands; end a path with * or /**`},
		{"Read(.env.{a,b})", "read", "braces are not expanded; write one rule for each alternative"},
		{"Read(x/**/../y)", "read", `".." after ** leads nowhere`},
		{"Read(a[)", "read", "the pattern matches nothing: it has a bracket that is not closed or holds other than ASCII characters, or ends in a backslash"},
		{"Read(caf[eé]/**)", "read", "the pattern matches nothing: it has a bracket that is not closed or holds other than ASCII characters"},
		{"Read('secrets')", "read", "a path is written without quotes"},
		{"Edit(!x)", "edit", "a rule cannot be negated"},
		{"WebFetch(example.org)", "http", "hosts are written as domain:example.org or domain:*.example.org"},
		{"WebFetch(domain:https://example.org)", "http", "a domain is a host name alone, without scheme, port and path, and only its beginning may be *."},
		{"WebFetch(domain:bücher.example)", "http", "a domain is written in ASCII, with xn-- for other letters"},
		{"WebFetch(domain:a.*.org)", "http", "a domain is a host name alone"},
		{"WebFetch(domain:example.org:443)", "http", "a domain is a host name alone"},
		{"TodoWrite(x)", "todo_write", "a rule about todo_write cannot say more than the name"},
		{"mcp__git__log(x)", "mcp__git__log", "a rule about mcp__git__log cannot say more than the name"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			parse := func(list string) (*permission.Policy, []string) {
				s, err := permission.Parse(`{"permissions":{"`+list+`":["`+tt.rule+`"]}}`, permission.Source{Name: "policy.json", Trusted: true})
				if err != nil {
					t.Fatal(err)
				}
				return w.policy(t, permission.Options{}, s), s.Notes()
			}
			denies, notes := parse("deny")
			if got := denies.Rule(w.call(tt.tool, "a")).Verdict(); got != pipeline.VerdictDeny {
				t.Errorf("verdict of the denial = %v", got)
			}
			if want := "policy.json:1:25: the rule " + strings.ReplaceAll(tt.rule, `\\`, `\`) + " covers every use of " + tt.tool + ": " + tt.why; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
				t.Errorf("notes %q\nwant %q", notes, want)
			}
			none := w.policy(t, permission.Options{})
			allows, notes := parse("allow")
			if got, want := says(allows, w.call(tt.tool, "a")), says(none, w.call(tt.tool, "a")); got != want {
				t.Errorf("verdict of the permission = %v, without it %v", got, want)
			}
			if want := "policy.json:1:26: ignored the rule "; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
				t.Errorf("notes %q\nwant %q", notes, want)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	w := newWorld(t, t.TempDir())
	p := w.policy(t, permission.Options{}, lists{
		Allow: []string{"Bash(ls)", "fetch_rows", "mcp__git", "mcp__gti__log", "run_code", "Task"}, Deny: []string{"Write(x)", "mcp__mail__*"},
	}.settings(t))
	check(t, "notes", p.Notes(), []string{
		"policy.json:1:37: the rule fetch_rows is about a tool that is not there; did you mean fetch_row?",
		"policy.json:1:61: the rule mcp__gti__log is about a tool that is not there; did you mean mcp__git__log?",
		"1 rule is about a tool that is not there: Task",
	})
}

// Nobody reads thousands of lines.
func TestNotesAreFew(t *testing.T) {
	w := newWorld(t, t.TempDir())
	many := lists{}
	for i := range 60 {
		many.Allow = append(many.Allow, fmt.Sprintf("Read(!%d)", i))
		many.Deny = append(many.Deny, fmt.Sprintf("tool%d", i))
	}
	s := many.settings(t)
	check(t, "of the file", []any{len(s.Notes()), s.Notes()[50]}, []any{51, "10 more like these"})
	p := w.policy(t, permission.Options{}, s)
	check(t, "of the policy", p.Notes()[50:], []string{"10 more like these", "60 rules are about tools that are not there: tool0, tool1, tool2, ..."})
}

// A file with very many rules is refused: each is asked about each file a search
// finds.
func TestVeryManyRules(t *testing.T) {
	w := newWorld(t, t.TempDir())
	many := lists{Allow: slices.Repeat([]string{"Edit"}, 5_000), Ask: slices.Repeat([]string{"Read(x)"}, 3_000), Deny: slices.Repeat([]string{"Read"}, 2_000)}
	check(t, "the most", w.policy(t, permission.Options{}, many.settings(t)).Rule(w.call("read", "y")).Verdict(), pipeline.VerdictDeny)
	many.Deny = append(many.Deny, "Read")
	_, err := permission.Parse(many.text(), permission.Source{Name: "policy.json"})
	var config *permission.ConfigError
	if !errors.As(err, &config) || !strings.HasSuffix(err.Error(), ": the lists hold more than 10000 rules; name directories instead of files") {
		t.Errorf("Parse = %v", err)
	}
}

// Settings nobody stands behind only tighten.
func TestUntrusted(t *testing.T) {
	w := newWorld(t, t.TempDir())
	s, err := permission.Parse(lists{Allow: []string{"Edit", "Bash"}, Ask: []string{"Read(a)"}, Deny: []string{"Read(b)"}}.text(), permission.Source{})
	if err != nil {
		t.Fatal(err)
	}
	p := w.policy(t, permission.Options{}, s)
	for _, tt := range []struct {
		tool, arg string
		want      pipeline.Verdict
	}{
		{"write", "x", pipeline.VerdictAsk}, {"bash", "ls", pipeline.VerdictAsk}, {"read", "a", pipeline.VerdictAsk},
		{"read", "b", pipeline.VerdictDeny}, {"read", "c", pipeline.VerdictAllow},
	} {
		check(t, tt.tool+" "+tt.arg, p.Rule(w.call(tt.tool, tt.arg)).Verdict(), tt.want)
	}
	check(t, "reason", says(p, w.call("read", "b")), "deny: permission rule Read(b) in settings denies reading b")
}

func TestLoad(t *testing.T) {
	w := newWorld(t, workspace(t))
	path := filepath.Join(w.root, "policy.json")
	if _, err := permission.Load(path, permission.Source{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of a missing file = %v", err)
	}
	if err := os.WriteFile(path, []byte(lists{Allow: []string{"Edit"}}.text()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := permission.Load(path, permission.Source{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	p := w.policy(t, permission.Options{}, s)
	check(t, "a loaded file is protected", says(p, w.call("write", "policy.json")), "ask: write changes policy.json, which is protected: it is asked about each time")
	check(t, "another is not", says(p, w.call("write", "policy2.json")), "allow")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := permission.Load(path, permission.Source{Name: "mine"}); err == nil || !strings.HasPrefix(err.Error(), "mine:1:2: ") {
		t.Errorf("Load of a damaged file = %v", err)
	}
}

// A home directory nobody knows denies what it should.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	t.Setenv("home", "")
	w := newWorld(t, t.TempDir())
	p := w.policy(t, permission.Options{}, lists{Deny: []string{"Read(~/.ssh/**)"}, Allow: []string{"Edit(~/x)"}}.settings(t))
	check(t, "verdict", p.Rule(w.call("read", "x")).Verdict(), pipeline.VerdictDeny)
	check(t, "notes", p.Notes(), []string{
		"policy.json:1:26: the rule Edit(~/x) has no effect: the home directory is not known",
		"policy.json:1:47: the rule Read(~/.ssh/**) covers every use of read: the home directory is not known",
	})
}
