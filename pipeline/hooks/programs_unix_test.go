//go:build unix

package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// programsRig has the hooks of testdata/settings.json: programs in bash, Python
// and Go, run as anybody's are.
func programsRig(t *testing.T, change func(*hooks.Options, *pipeline.Options)) *rig {
	t.Helper()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return loadRig(t, func(opts *hooks.Options) (*hooks.Bridge, error) {
		return hooks.Load("testdata/settings.json", opts)
	}, func(ho *hooks.Options, po *pipeline.Options) {
		ho.PluginRoot = testdata
		ho.Env = []string{"PROGRAM=" + os.Args[0], "GOCOVERDIR=" + t.TempDir()}
		if change != nil {
			change(ho, po)
		}
	})
}

func needPython(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		// A stub that only says what to install is not Python.
		err = exec.Command(path, "-c", "").Run()
	}
	if err != nil {
		t.Skip("python3 is not installed; the hook under test is written in Python")
	}
}

func TestBashProgram(t *testing.T) {
	tests := []struct {
		name, args string
		want       end
		log        string
	}{
		{"harmless", `{"command":"git push origin main"}`, passed("bash", `{"command":"git push origin main"}`), "pass 0"},
		{"forced", `{"command":"git push --force"}`, denied("forced pushes are not allowed here: git push --force"), "block 2"},
		{"behind a quote", `{"command":"echo \"x\" && git push -f"}`, denied(`forced pushes are not allowed here: echo \"x\" && git push -f`), "block 2"},
		{"what it does not understand", `{"text":"git push"}`,
			denied(`blocked because the PreToolUse hook at settings.json exited with 1, where 0 passes and 2 blocks: found no command in: ` +
				`{"session_id":"","transcript_path":"","cwd":"DIR","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",` +
				`"tool_input":{"text":"git push"},"tool_use_id":"c1","runcode_tool_name":"bash"}`), "error 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := programsRig(t, nil)
			got := r.end(r.call("bash", tt.args))
			got.Text = strings.ReplaceAll(got.Text, r.dir, "DIR")
			check(t, "end", got, tt.want)
			check(t, "log", r.decisions(), []string{tt.log})
		})
	}
	t.Run("a session", func(t *testing.T) {
		r := programsRig(t, func(ho *hooks.Options, _ *pipeline.Options) { ho.ProjectDir = "/a/tree" })
		check(t, "verdict", r.mustFire(hooks.SessionStart), hooks.Verdict{Contexts: contexts("forced pushes are denied in tree")})
	})
}

func TestPythonProgram(t *testing.T) {
	needPython(t)
	long := strings.Repeat("é", 1<<20)
	tests := []struct {
		name, args string
		approver   pipeline.Approver
		want       end
		log        []string
	}{
		{"inside", `{"file_path":"a/../b"}`, nil, passed("read", `{"file_path":"a/../b"}`), []string{"allow 0", "pass 0"}},
		{"outside", `{"file_path":"../b"}`, nil, denied("Read of ../b leaves the tree"), []string{"deny 0", "pass 0"}},
		{"asked about and allowed", `{"file_path":"x/.env"}`, pipelinetest.NewApprover(pipeline.AllowedOnce), passed("read", `{"file_path":"x/.env"}`), []string{"ask 0", "pass 0"}},
		{"asked about and nobody is there", `{"file_path":"x/.env"}`, nil,
			end{Text: "Error: it may hold secrets", Code: tools.CodeApprovalUnavailable, Ran: []string{}}, []string{"ask 0", "pass 0"}},
		{"two megabytes", `{"file_path":"b","content":"` + long + `"}`, nil, passed("read", `{"file_path":"b","content":"`+long+`"}`), []string{"allow 0", "pass 0"}},
		{"arguments it crashes on", `{"file_path":7}`, nil, end{Code: tools.CodeDeniedByPolicy, Ran: []string{}}, []string{"error 1", "pass 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := programsRig(t, func(_ *hooks.Options, po *pipeline.Options) { po.Approver = tt.approver })
			o := r.call("read", tt.args)
			got := r.end(o)
			if tt.want.Text == "" {
				if !strings.Contains(got.Text, "exited with 1, where 0 passes and 2 blocks: Traceback") {
					t.Errorf("the denial does not quote the traceback: %s", got.Text)
				}
				got.Text = ""
			}
			check(t, "end", got, tt.want)
			check(t, "log", r.decisions(), tt.log)
			how := "worked"
			if tt.want.Code != "" {
				how = "failed (" + tt.want.Code + ")"
			}
			check(t, "context", o.Contexts()[0].Content, []tools.Content{tools.TextContent("c1: read " + how)})
		})
	}
	t.Run("a prompt", func(t *testing.T) {
		r := programsRig(t, nil)
		check(t, "verdict", r.mustFire(hooks.UserPromptSubmit), hooks.Verdict{Contexts: contexts("the prompt has 7 characters")})
		v, err := r.bridge.UserPromptSubmit(t.Context(), nil, hooks.Prompt{Text: "use sk-123"})
		check(t, "error", err, nil)
		check(t, "verdict on a key", v, hooks.Verdict{Blocked: true, Reason: "the prompt holds a key"})
	})
}

func TestGoProgram(t *testing.T) {
	db := func(r *rig) {
		for _, name := range []string{"mcp__db__query", "mcp__db__ping"} {
			if _, err := r.p.Registry().Add(pipelinetest.Text(name, "rows")); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("a direct call", func(t *testing.T) {
		r := programsRig(t, nil)
		db(r)
		check(t, "end", r.end(r.call("mcp__db__query", `{"query":"select 1"}`)), denied("mcp__db__query is for programs only"))
		check(t, "a tool the lookahead leaves out", r.call("mcp__db__ping", "").Text(), "rows")
	})
	t.Run("calls of a program", func(t *testing.T) {
		r := programsRig(t, nil)
		db(r)
		outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			var texts []string
			for _, query := range []string{"select 1", "drop table x"} {
				args, _ := json.Marshal(map[string]string{"query": query})
				o := r.p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "mcp__db__query", Args: string(args), Parent: run})
				texts = append(texts, o.Text())
			}
			return tools.Result{Value: tools.StringJSON(strings.Join(texts, "; "))}, nil
		})
		if _, err := r.p.Registry().Add(outer); err != nil {
			t.Fatal(err)
		}
		check(t, "outer", r.call("outer", "").Text(), `rows; Error: c1:code:1 of c1 may not "drop table x"`)
	})
	t.Run("a turn", func(t *testing.T) {
		r := programsRig(t, nil)
		v := r.mustFire(hooks.Stop)
		check(t, "the first time", v, hooks.Verdict{Blocked: true, Reason: "run the tests first"})
		v, err := r.bridge.Stop(t.Context(), r.p, hooks.Turn{HookActive: v.Blocked})
		check(t, "error", err, nil)
		check(t, "the second time", v, hooks.Verdict{})
	})
	t.Run("a sub-agent", func(t *testing.T) {
		r := programsRig(t, nil)
		check(t, "start", r.mustFire(hooks.SubagentStart), hooks.Verdict{Contexts: contexts("you are a7, a general-purpose")})
		check(t, "stop", r.mustFire(hooks.SubagentStop), hooks.Verdict{})
		if seen := r.file("a7.ended"); !strings.Contains(seen, `"agent_id":"a7"`) {
			t.Errorf("the hook that watches the end wrote %q", seen)
		}
	})
}

// TestInterpreterMissing says what is missing to the model, in the log and to
// the host.
func TestInterpreterMissing(t *testing.T) {
	tests := map[string]struct{ command, script, names string }{
		"a command":               {"nosuchpython guard.py", "", "nosuchpython"},
		"the first line's":        {"./guard", "#!/nowhere/nosuchpython\nprint()\n", "./guard: "}, // shells differ in the rest
		"the first line's by env": {"./guard", "#!/usr/bin/env nosuchpython\nprint()\n", "nosuchpython"},
		"its words thrown away":   {"nosuchpython guard.py 2>/dev/null", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: tt.command}}, nil), nil)
			if tt.script != "" {
				if err := os.WriteFile(filepath.Join(r.dir, "guard"), []byte(tt.script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			text := r.call("echo", "").Text()
			for what, got := range map[string]string{"denial": text, "log": r.lastResult(), "host's log": r.log.String()} {
				if !strings.Contains(got, tt.names) {
					t.Errorf("the %s does not say %q: %s", what, tt.names, got)
				}
			}
			// Shells say 127; for a bad first line some say 126.
			if !strings.Contains(text, "(a program was not found)") && !strings.Contains(text, "(a program could not be executed)") {
				t.Errorf("the denial does not say what is wrong: %s", text)
			}
			check(t, "ran", r.ran, []string(nil))
			if d := r.decisions(); len(d) != 1 || !strings.HasPrefix(d[0], "error 12") {
				t.Errorf("log = %v", d)
			}
		})
	}
}

// lastResult is the data of the last hook/result.
func (r *rig) lastResult() string {
	data := ""
	for _, e := range r.rec.Events() {
		if e.Type == hooks.EventHookResult {
			data = e.Data.String()
		}
	}
	return data
}

// TestPythonThatHangs gives a hook more time until it has come far enough to say
// its number, and looks for it each time.
func TestPythonThatHangs(t *testing.T) {
	needPython(t)
	const script = "import signal\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\nopen(\"pid\", \"a\").write(str(os.getpid()) + \"\\n\")\nwhile True: pass\n"
	for timeout, begun := 0.5, false; !begun; timeout *= 2 {
		r := newRig(t, settings([]hook{{Command: "touch pid; exec python3 -c 'import os; " + script + "'", Timeout: timeout}}, nil), nil)
		check(t, "end", r.end(r.call("echo", "")), denied(fmt.Sprintf("blocked because the PreToolUse hook at settings.json did not end within its timeout of %v", time.Duration(timeout*float64(time.Second)))))
		check(t, "log", r.decisions(), []string{"timeout -"})
		pids := strings.Fields(r.file("pid"))
		r.checkEnded(pids)
		begun = len(pids) > 0
	}
}

func TestSignalBelowTheShell(t *testing.T) {
	r := newRig(t, settings([]hook{{Command: "exec 2>/dev/null; bash -c 'kill -9 $$'; exit $?"}}, nil), nil)
	check(t, "end", r.end(r.call("echo", "")), denied("blocked because the PreToolUse hook at settings.json exited with 137, where 0 passes and 2 blocks"))
	check(t, "log", r.decisions(), []string{"error 137"})
}

// TestTenMegabytes reads all a hook writes and keeps little of it.
func TestTenMegabytes(t *testing.T) {
	const flood = "head -c 10000000 /dev/zero | tr '\\0' x"
	cut := strings.Repeat("x", 64<<10) + "\n[the first 65536 of 10000000 bytes]"
	tests := []struct {
		name, command string
		want          end
		log           string
	}{
		{"of text", flood, passed("echo", "{}"), "pass 0"},
		{"of an answer", "echo '{\"reason\":\"'; " + flood,
			denied("blocked because the PreToolUse hook at settings.json printed a JSON answer of 10000012 bytes, of which only 262144 are read"), "error 0"},
		{"of reason", flood + " >&2; exit 2", denied(cut), "block 2"},
		{"of both", flood + " & " + flood + " >&2; wait; exit 2", denied(cut), "block 2"},
		{"of a failure's words", flood + " >&2; exit 3",
			denied("blocked because the PreToolUse hook at settings.json exited with 3, where 0 passes and 2 blocks: " + strings.Repeat("x", 500) + "…"), "error 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: tt.command}}, nil), nil)
			check(t, "end", r.end(r.call("echo", "{}")), tt.want)
			check(t, "log", r.decisions(), []string{tt.log})
			if n := len(r.lastResult()); n > 1000 {
				t.Errorf("hook/result has %d bytes", n)
			}
		})
	}
}

// TestBackgroundChild has what a hook leaves behind ended with it, whether it
// passes, blocks or fails.
func TestBackgroundChild(t *testing.T) {
	needSetsid(t)
	const leaving = `echo $$ > pids
(setsid bash -c 'echo $$ >> pids; exec sleep 1000' </dev/null >/dev/null 2>&1 &)
until [ "$(wc -l < pids)" -eq 2 ]; do :; done
exit `
	for code, log := range map[string]string{"0": "pass 0", "2": "block 2", "1": "error 1"} {
		t.Run("exit "+code, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{hooks.Stop: {{Command: leaving + code}}}), nil)
			r.mustFire(hooks.Stop)
			r.checkGone()
			check(t, "log", r.decisions(), []string{log})
		})
	}
}

// TestCloseAtAHarnessEvent has Close end the hooks of an event, and the caller
// get an answer.
func TestCloseAtAHarnessEvent(t *testing.T) {
	needSetsid(t)
	for _, event := range harnessEvents {
		t.Run(event, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{event: {{Command: lasting}}}), nil)
			r.afterBegin(func() {
				r.bridge.Close()
				r.checkGone()
			})
			check(t, "verdict", r.mustFire(event), hooks.Verdict{})
			check(t, "log", r.decisions(), []string{"cancelled -"})
		})
	}
}

// TestCancelAtAHarnessEvent has the end of the caller's context end its hook and
// no other begin.
func TestCancelAtAHarnessEvent(t *testing.T) {
	needSetsid(t)
	r := newRig(t, eventSettings(map[string][]hook{hooks.UserPromptSubmit: {{Command: lasting}, {Command: "touch second"}}}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	r.afterBegin(cancel)
	v, err := r.fire(ctx, hooks.UserPromptSubmit)
	check(t, "verdict", v, hooks.Verdict{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
	r.checkGone()
	check(t, "log", r.decisions(), []string{"cancelled -"})
	if _, err := os.Stat(filepath.Join(r.dir, "second")); err == nil {
		t.Error("a second hook was started")
	}
}
