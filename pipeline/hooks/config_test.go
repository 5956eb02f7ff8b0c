package hooks_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline/hooks"
)

func read(t *testing.T, text string, opts *hooks.Options) (*hooks.Bridge, error) {
	t.Helper()
	b, err := hooks.Read(strings.NewReader(text), "settings.json", opts)
	if err == nil {
		t.Cleanup(b.Close)
	}
	return b, err
}

func mustRead(t *testing.T, text string, opts *hooks.Options) *hooks.Bridge {
	t.Helper()
	b, err := read(t, text, opts)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return b
}

func notes(list []hooks.Note) []string {
	out := []string{}
	for _, n := range list {
		out = append(out, n.String())
	}
	return out
}

func TestForms(t *testing.T) {
	const events = `{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"a","timeout":1.5},{"command":"b","onFailure":"continue"}]}],
 "PostToolUse":[{"onFailure":"block","hooks":[{"type":"command","command":"c","shell":"bash"}]},{"hooks":[]}]}`
	want := []hooks.Hook{
		{Event: "PreToolUse", Matcher: "Bash", Command: "a", Timeout: 1500 * time.Millisecond, Blocks: true},
		{Event: "PreToolUse", Matcher: "Bash", Command: "b", Timeout: 60 * time.Second},
		{Event: "PostToolUse", Command: "c", Timeout: 60 * time.Second, Blocks: true},
	}
	for name, text := range map[string]string{
		"settings":          `{"model":"m","hooks":` + events + `,"permissions":{"deny":["x"]}}`,
		"the event map":     events,
		"a byte order mark": "\ufeff" + events,
	} {
		t.Run(name, func(t *testing.T) {
			got := mustRead(t, text, nil).Hooks()
			for i := range got {
				got[i].Place = ""
			}
			check(t, "hooks", got, want)
		})
	}
	for name, text := range map[string]string{
		"an empty object": `{}`, "settings without hooks": `{"model":"m","list":[1,{}]}`, "no events": `{"hooks":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := mustRead(t, text, &hooks.Options{Shell: "/nowhere/sh"})
			check(t, "hooks", b.Hooks(), []hooks.Hook{})
			check(t, "notes", append(notes(b.Ignored()), notes(b.NotConnected())...), []string{})
		})
	}
}

func TestPlaces(t *testing.T) {
	text := "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"hooks\": [ { \"command\": \"é\", \"if\": \"x\" } ] }\n    ]\n  }\n}"
	b := mustRead(t, text, nil)
	check(t, "place", b.Hooks()[0].Place, "settings.json:4:20")
	check(t, "ignored", notes(b.Ignored()), []string{"settings.json:4:38: ignored if: the hook runs whenever its matcher matches"})
}

func TestNotes(t *testing.T) {
	b := mustRead(t, `{"disableAllHooks":true,"hooks":{
"SessionEnd":[{"matcher":"([","hooks":[{"type":"http","url":"u"},{"type":"command","command":"x ${CLAUDE_PLUGIN_ROOT}"}]}],
"PostToolUse":[{"hooks":[{"type":"prompt","prompt":"p","model":"m"},{"type":"command","command":"c","async":true,"statusMessage":"s","once":true}]}],
"PreToolUse":[{"hooks":[{"type":"agent","prompt":"p","onFailure":"continue"},{"command":"c","args":["x"],"onFailure":"continue"}]},{"matcher":"Bash(rm:*)","hooks":[]}],
"Setup":[]}}`, nil)
	check(t, "ignored", notes(b.Ignored()), []string{
		"settings.json:1:2: ignored disableAllHooks: the hooks of this file run; leave the file out to go without them",
		"settings.json:3:34: ignored a hook: hooks of type prompt cannot be run here",
		"settings.json:3:101: ignored async: the hook is waited for",
		"settings.json:3:114: ignored statusMessage: nothing is shown while the hook runs",
		"settings.json:3:134: ignored once: the hook runs every time",
		"settings.json:4:33: ignored a hook: hooks of type agent cannot be run here",
		"settings.json:4:100: ignored a hook: args cannot be passed without a shell here",
		`settings.json:4:143: ignored the matcher "Bash(rm:*)", which does not compile: it has the form of a permission rule; a matcher is about a tool's name alone; until it is repaired every call is denied`,
	})
	check(t, "not connected", notes(b.NotConnected()), []string{
		"settings.json:2:1: SessionEnd is not connected: its hooks never run",
		"settings.json:5:1: Setup is not connected: its hooks never run",
	})
	check(t, "hooks", len(b.Hooks()), 1)
}

func TestHooksFor(t *testing.T) {
	b := mustRead(t, `{"PreToolUse":[
{"hooks":[{"command":"all"}]},{"matcher":"Read, Write","hooks":[{"command":"files"},{"command":"more"}]},
{"matcher":"^Bash$","hooks":[{"command":"shell"}]},{"matcher":"([","hooks":[{"command":"broken"}]}],
"PostToolUse":[{"matcher":"read","hooks":[{"command":"after"}]}]}`, nil)
	tests := []struct {
		event, tool string
		want        []string
	}{
		{hooks.PreToolUse, "read", []string{"all", "files", "more", "broken"}},
		{hooks.PreToolUse, "bash", []string{"all", "shell", "broken"}},
		{hooks.PostToolUse, "read", []string{"after"}},
		{hooks.PostToolUse, "bash", []string{}},
		{hooks.Stop, "read", []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.event+" "+tt.tool, func(t *testing.T) {
			commands := []string{}
			for _, h := range b.HooksFor(tt.event, tt.tool) {
				commands = append(commands, h.Command)
				if !slices.Contains(b.Hooks(), h) {
					t.Errorf("Hooks does not list %+v", h)
				}
			}
			check(t, "commands", commands, tt.want)
		})
	}
}

// TestNeedHarness lists what Install alone does not run, and only that.
func TestNeedHarness(t *testing.T) {
	b := mustRead(t, `{"PreToolUse":[{"hooks":[{"command":"a"}]}],
"UserPromptSubmit":[{"matcher":"([","hooks":[{"command":"b"}]}],
"Stop":[{"matcher":"*","hooks":[]}],
"SessionStart":[{"matcher":"startup","hooks":[{"command":"c","onFailure":"continue"},{"type":"http","url":"u"}]}],
"SubagentStop":[{"hooks":[{"command":"d"}]}],
"SubagentStart":[{"matcher":"","hooks":[{"command":"e"}]}]}`, nil)
	check(t, "notes", notes(b.NeedHarness()), []string{
		"settings.json:2:1: UserPromptSubmit hooks run only when an agent's harness fires the event",
		"settings.json:4:1: SessionStart hooks run only when an agent's harness fires the event",
		"settings.json:5:1: SubagentStop hooks run only when an agent's harness fires the event",
		"settings.json:6:1: SubagentStart hooks run only when an agent's harness fires the event",
	})
	check(t, "ignored", notes(b.Ignored()), []string{
		"settings.json:2:32: ignored matcher: there is nothing at UserPromptSubmit a matcher could be tested on",
		"settings.json:4:94: ignored a hook: hooks of type http cannot be run here",
	})
	check(t, "not connected", notes(b.NotConnected()), []string{})
	var hooksOf []string
	for _, h := range b.Hooks() {
		hooksOf = append(hooksOf, h.Event+" "+h.Matcher+" "+h.Command)
	}
	check(t, "hooks", hooksOf, []string{"PreToolUse  a", "UserPromptSubmit  b", "SessionStart startup c", "SubagentStart  e", "SubagentStop  d"})
	check(t, "PreToolUse fails closed, the others open", []bool{b.Hooks()[0].Blocks, b.Hooks()[1].Blocks}, []bool{true, false})
}

func TestConfigErrors(t *testing.T) {
	in := func(group string) string { return `{"hooks":{"PreToolUse":[` + group + `]}}` }
	hook := func(hook string) string { return in(`{"hooks":[` + hook + `]}`) }
	tests := []struct {
		name, text, want string
	}{
		{"no JSON", `{"hooks":`, `1:10: invalid JSON: unexpected end of text, expected a value`},
		{"a name given twice", "{\"hooks\":{},\n\"hooks\":{}}", `2:1: invalid JSON: the property name is given twice; send it once`},
		{"a comment", "{ // note\n}", `1:3: invalid JSON: `},
		{"no object", `[]`, `1:1: the settings must be an object with a hooks member, got an array`},
		{"hooks is no object", `{"hooks":[]}`, `1:10: hooks must be an object of events, got an array`},
		{"unknown event", `{"hooks":{"PreTooluse":[]}}`, `1:11: unknown event "PreTooluse"; did you mean PreToolUse?`},
		{"unknown event in a bare map", `{"Whatever":[{"hooks":[]}]}`, `1:2: unknown event "Whatever"`},
		{"settings in a bare map", `{"Stop":[],"model":"m"}`, `1:12: unknown event "model"`},
		{"an event beside hooks", `{"hooks":{},"PreToolUse":[]}`, `1:13: the event PreToolUse stands beside hooks and would have no effect; move it into hooks`},
		{"an event is no array", `{"hooks":{"Stop":{}}}`, `1:18: Stop must be an array of groups {matcher, hooks}, got an object`},
		{"a group is no object", in(`"x"`), `1:25: a group of PreToolUse must be an object {matcher, hooks}, got the string "x"`},
		{"a hook in place of a group", in(`{"type":"command","command":"x"}`), `1:26: type belongs to a hook; write the group as {"matcher": ..., "hooks": [{"type": "command", "command": ...}]}`},
		{"unknown key of a group", in(`{"matchers":"x","hooks":[]}`), `1:26: unknown key "matchers" in a group of PreToolUse; known are matcher, hooks and onFailure`},
		{"a key in another case", in(`{"Matcher":"x","hooks":[]}`), `1:26: unknown key "Matcher" in a group of PreToolUse; known are matcher, hooks and onFailure`},
		{"a matcher is no string", in(`{"matcher":["Bash"],"hooks":[]}`), `1:36: matcher must be a string, got an array`},
		{"a group without hooks", in(`{"matcher":"x"}`), `1:25: the group has no hooks; give it an array of {type, command}`},
		{"hooks of a group are no array", in(`{"hooks":{}}`), `1:34: hooks must be an array of {type, command}, got an object`},
		{"a hook is no object", hook(`null`), `1:35: a hook must be an object {type, command}, got null`},
		{"unknown key of a hook", hook(`{"command":"x","timeOut":3}`), `1:50: unknown key "timeOut" in a hook of PreToolUse`},
		{"unknown type", hook(`{"type":"webhook","command":"x"}`), `1:43: unknown hook type "webhook"; known are command, http, mcp_tool, prompt and agent`},
		{"a misspelt command", hook(`{"type":"command","comand":"x"}`), `1:53: unknown key "comand" in a hook of PreToolUse; did you mean command?`},
		{"no command", hook(`{"type":"command"}`), `1:35: the command hook has no command`},
		{"an empty command", hook(`{"command":"  "}`), `1:46: command must be a string that is not empty, got the string "  "`},
		{"a command is no string", hook(`{"command":["x"]}`), `1:46: command must be a string that is not empty, got an array`},
		{"a NUL in a command", hook(`{"command":"a\u0000b"}`), `1:46: the command holds a NUL character, which no shell can be given`},
		{"a plugin's command", hook(`{"command":"${CLAUDE_PLUGIN_ROOT}/x"}`), `1:46: the command uses CLAUDE_PLUGIN_ROOT, which is not known; write the directory instead (in a Go program: set Options.PluginRoot)`},
		{"a timeout of zero", hook(`{"command":"x","timeout":0}`), `1:60: timeout must be a number of seconds above 0 and at most 86400, got 0`},
		{"a negative timeout", hook(`{"command":"x","timeout":-1}`), `1:60: timeout must be a number of seconds above 0 and at most 86400, got -1`},
		{"a timeout in words", hook(`{"command":"x","timeout":"5"}`), `1:60: timeout must be a number of seconds above 0 and at most 86400, got the string "5"`},
		{"an endless timeout", hook(`{"command":"x","timeout":1e300}`), `1:60: timeout must be a number of seconds above 0 and at most 86400, got 1e300`},
		{"onFailure of a group", in(`{"onFailure":"allow","hooks":[]}`), `1:38: onFailure must be "block" or "continue", got the string "allow"`},
		{"onFailure of a hook", hook(`{"command":"x","onFailure":true}`), `1:62: onFailure must be "block" or "continue", got true`},
		{"another shell", hook(`{"command":"x","shell":"powershell"}`), `1:58: the shell must be "bash", got the string "powershell"; write a command hook for bash instead, or set "onFailure": "continue" to go on without this hook`},
		{"args", hook(`{"command":"x","args":[]}`), `1:57: args cannot be passed without a shell here; write`},
		{"a type that cannot run", hook(`{"type":"http","url":"u"}`), `1:43: hooks of type http cannot be run here; write`},
		{"a fault in an event that is not connected", `{"hooks":{"Setup":[{"hooks":[{"command":"x","timeout":0}]}]}}`, `1:55: timeout must be`},
		{"a failure that is to block at the start of a session", `{"SessionStart":[{"onFailure":"block","hooks":[]}]}`, `1:31: onFailure cannot be "block" for SessionStart, whose hooks block nothing`},
		{"a failure that is to block a sub-agent", `{"SubagentStop":[{"hooks":[{"command":"x","onFailure":"block"}]}]}`, `1:55: onFailure cannot be "block" for SubagentStop, whose hooks block nothing`},
		{"a matcher that does not compile, for sessions", `{"SessionStart":[{"matcher":"(","hooks":[]}]}`, `1:29: matcher "(" does not compile: `},
		{"a matcher that is no string, where there is none", `{"Stop":[{"matcher":1,"hooks":[]}]}`, `1:21: matcher must be a string, got 1`},
		{"a matcher that does not compile, after calls", `{"hooks":{"PostToolUse":[{"matcher":"(","hooks":[]}]}}`, `1:37: matcher "(" does not compile: `},
		{"a matcher that does not compile, where failures continue", in(`{"matcher":"(","onFailure":"continue","hooks":[]}`), `1:36: matcher "(" does not compile: `},
		{"too large", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, `1:1: the file has more than 1048576 bytes; settings are never that large`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := read(t, tt.text, nil)
			var config *hooks.ConfigError
			if !errors.As(err, &config) || !strings.HasPrefix(err.Error(), "settings.json:"+tt.want) {
				t.Errorf("Read = %v\nwant a ConfigError settings.json:%s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) { // DSH goes on without hooks
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	if _, err := hooks.Load(path, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of a missing file = %v, want os.ErrNotExist", err)
	}
	if err := os.WriteFile(path, []byte(`{"hooks":{"Setup":[]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := hooks.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	check(t, "place", b.NotConnected()[0].Place, path+":1:11")
}

func TestOptionErrors(t *testing.T) {
	text := settings([]hook{{Command: "x"}}, nil)
	for name, tt := range map[string]struct {
		opts hooks.Options
		want string
	}{
		"a shell that is missing":     {hooks.Options{Shell: "no-such-shell"}, `the shell "no-such-shell" is missing`},
		"a directory that is missing": {hooks.Options{Dir: "/nowhere"}, "cannot run hooks in Options.Dir"},
		"a directory that is a file":  {hooks.Options{Dir: "config_test.go"}, "is not a directory"},
		"an entry without a value":    {hooks.Options{Env: []string{"A=1", "B"}}, `the entry "B" of Options.Env is not of the form NAME=value`},
		"an entry without a name":     {hooks.Options{Env: []string{"=1"}}, `the entry "=1" of Options.Env is not of the form NAME=value`},
		"a negative timeout":          {hooks.Options{Timeout: -1}, "must not be negative"},
		"a negative amount of output": {hooks.Options{MaxOutput: -1}, "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, text, &tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Read = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestInstallAndRemove(t *testing.T) {
	r := newRig(t, settings([]hook{{Command: "exit 2"}}, nil), nil)
	check(t, "listeners", [][]string{r.p.PreExecute.Names(), r.p.PostExecute.Names()}, [][]string{{hooks.Name}, {}})
	r.remove()
	check(t, "listeners", r.p.PreExecute.Names(), []string{})
	check(t, "end", r.end(r.call("echo", "")), passed("echo", "{}"))
}

// connected are the events whose hooks run.
var connected = []string{
	hooks.PreToolUse, hooks.PostToolUse, hooks.UserPromptSubmit, hooks.Stop, hooks.SessionStart, hooks.SubagentStart, hooks.SubagentStop,
}

// FuzzRead holds that settings never crash the reader, that an error names a
// place inside the text, and that what loads has hooks one can run.
func FuzzRead(f *testing.F) {
	f.Add(`{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"x","timeout":5}]}]}}`)
	f.Add(`{"PostToolUse":[{"matcher":"(?!Read$).*","onFailure":"block","hooks":[{"type":"http","url":"u","if":"x"}]}]}`)
	f.Add(`{"hooks":{"Stop":[{"hooks":[{}]}]}}`)
	f.Add("\ufeff{\"hooks\":\n{\"PreToolUse\":[{\"matcher\":\"([\",\"hooks\":[{\"command\":\"\\ud800\"}]}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := hooks.Read(strings.NewReader(text), "settings.json", &hooks.Options{Shell: os.Args[0]})
		var config *hooks.ConfigError
		if errors.As(err, &config) {
			if lines := strings.Count(text, "\n") + 1; config.Line < 1 || config.Line > lines || config.Column < 1 {
				t.Errorf("%v: the text has %d lines", err, lines)
			}
			return
		}
		if err != nil {
			t.Fatalf("Read = %v, want a ConfigError", err)
		}
		defer b.Close()
		for _, h := range b.Hooks() {
			if strings.TrimSpace(h.Command) == "" || h.Timeout <= 0 || !slices.Contains(connected, h.Event) {
				t.Errorf("loaded a hook that cannot run: %+v", h)
			}
		}
	})
}
