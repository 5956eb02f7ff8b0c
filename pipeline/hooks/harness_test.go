package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/tools"
)

// fire tells the rig's bridge of an event, with made-up particulars.
func (r *rig) fire(ctx context.Context, event string) (hooks.Verdict, error) {
	r.t.Helper()
	b, p := r.bridge, r.p
	switch event {
	case hooks.UserPromptSubmit:
		return b.UserPromptSubmit(ctx, p, hooks.Prompt{Text: "do \"it\""})
	case hooks.Stop:
		return b.Stop(ctx, p, hooks.Turn{})
	case hooks.SessionStart:
		return b.SessionStart(ctx, p, hooks.Opening{Source: "startup"})
	case hooks.SubagentStart:
		return b.SubagentStart(ctx, p, hooks.Subagent{ID: "a7", Type: "general-purpose"})
	case hooks.SubagentStop:
		return b.SubagentStop(ctx, p, hooks.Subagent{ID: "a7", Type: "general-purpose", HookActive: true})
	}
	r.t.Fatalf("no such event: %s", event)
	return hooks.Verdict{}, nil
}

// mustFire is fire where no error is expected.
func (r *rig) mustFire(event string) hooks.Verdict {
	r.t.Helper()
	v, err := r.fire(r.t.Context(), event)
	if err != nil {
		r.t.Fatalf("%s: %v", event, err)
	}
	v.Reason = place.ReplaceAllString(v.Reason, "settings.json")
	return v
}

// contexts is the message with the contexts of hooks.
func contexts(texts ...string) []tools.Message {
	m := tools.Message{Role: "user", Source: tools.Source{Kind: "plugin", Plugin: "hooks-claude-code"}}
	for _, text := range texts {
		m.Content = append(m.Content, tools.TextContent(text))
	}
	return []tools.Message{m}
}

// adding is a command that has context for the model.
func adding(event, text string) string {
	return printing(`{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"` + text + `"}}`)
}

func TestHarnessEvents(t *testing.T) {
	blocked := func(reason string) hooks.Verdict { return hooks.Verdict{Blocked: true, Reason: reason} }
	const broken = "blocked because the %s hook at settings.json exited with 1, where 0 passes and 2 blocks: oops"
	failure := func(event string) hooks.Verdict { return blocked(strings.ReplaceAll(broken, "%s", event)) }
	tests := []struct {
		name  string
		event string
		hooks []hook
		want  hooks.Verdict
		log   []string
	}{
		{"a prompt nobody minds", hooks.UserPromptSubmit, []hook{{Command: "exit 0"}}, hooks.Verdict{}, []string{"pass 0"}},
		{"exit 2 rejects a prompt", hooks.UserPromptSubmit, []hook{{Command: "echo not that >&2; exit 2"}}, blocked("not that"), []string{"block 2"}},
		{"exit 2 without standard error", hooks.UserPromptSubmit, []hook{{Command: "exit 2"}}, blocked("blocked by UserPromptSubmit hook"), []string{"block 2"}},
		{"block rejects a prompt", hooks.UserPromptSubmit, []hook{{Command: printing(`{"decision":"block","reason":"no"}`)}}, blocked("no"), []string{"block 0"}},
		{"deny rejects a prompt", hooks.UserPromptSubmit, []hook{{Command: printing(permission("UserPromptSubmit", "deny", "no"))}}, blocked("no"), []string{"deny 0"}},
		{"ask means nothing", hooks.UserPromptSubmit, []hook{{Command: printing(permission("UserPromptSubmit", "ask", "sure?"))}}, hooks.Verdict{}, []string{"ask 0"}},
		{"another event's output", hooks.UserPromptSubmit, []hook{{Command: printing(permission("PreToolUse", "deny", "no"))}}, hooks.Verdict{}, []string{"pass 0"}},
		{"all are asked, the strictest wins", hooks.UserPromptSubmit, []hook{{Command: "echo one >&2; exit 2"}, {Command: printing(`{"decision":"approve","reason":"fine"}`)}, {Command: "echo two >&2; exit 2"}},
			blocked("one\n\ntwo"), []string{"block 2", "approve 0", "block 2"}},
		{"contexts are one message", hooks.UserPromptSubmit, []hook{{Command: adding(hooks.UserPromptSubmit, "one")}, {Command: "echo two"}},
			hooks.Verdict{Contexts: contexts("one", "two")}, []string{"pass 0", "pass 0"}},
		{"a rejected prompt has its contexts too", hooks.UserPromptSubmit, []hook{{Command: "echo one"}, {Command: "exit 2"}},
			hooks.Verdict{Blocked: true, Reason: "blocked by UserPromptSubmit hook", Contexts: contexts("one")}, []string{"pass 0", "block 2"}},
		{"messages for the person and a wish to end", hooks.UserPromptSubmit, []hook{
			{Command: printing(`{"continue":false,"systemMessage":"one"}`)},
			{Command: printing(`{"continue":false,"stopReason":"enough","systemMessage":"two"}`)},
			{Command: printing(`{"continue":false,"stopReason":"too late"}`)},
			{Command: printing(`{"continue":true}`)},
		}, hooks.Verdict{SystemMessages: []string{"one", "two"}, Halt: true, HaltReason: "enough"}, []string{"stop 0", "stop 0", "stop 0", "pass 0"}},

		{"a wish to end beside what cannot be read", hooks.UserPromptSubmit, []hook{{Command: printing(`{"continue":false,"stopReason":"enough","systemMessage":"one","decision":"no"}`)}},
			hooks.Verdict{SystemMessages: []string{"one"}, Halt: true, HaltReason: "enough"}, []string{"error 0"}},

		// Only calls fail closed by themselves.
		{"a failure rejects no prompt", hooks.UserPromptSubmit, []hook{{Command: "exit 1"}, {Command: "exec sleep 1000", Timeout: 0.05}, {Command: "kill -9 $$"}},
			hooks.Verdict{}, []string{"error 1", "timeout -", "error -"}},
		{"a failure rejects a prompt where failures block", hooks.UserPromptSubmit, []hook{{Command: "echo oops >&2; exit 1", OnFailure: "block"}},
			failure("UserPromptSubmit"), []string{"error 1"}},

		{"exit 2 keeps an agent going", hooks.Stop, []hook{{Command: "echo run the tests >&2; exit 2"}}, blocked("run the tests"), []string{"block 2"}},
		{"exit 2 without standard error keeps an agent going", hooks.Stop, []hook{{Command: "exit 2"}}, blocked("continue: blocked by Stop hook"), []string{"block 2"}},
		{"a failure lets an agent stop", hooks.Stop, []hook{{Command: "exit 1"}}, hooks.Verdict{}, []string{"error 1"}},
		{"a failure keeps an agent going where failures block", hooks.Stop, []hook{{Command: "echo oops >&2; exit 1", OnFailure: "block"}}, failure("Stop"), []string{"error 1"}},
		{"text is no context for an agent that stops", hooks.Stop, []hook{{Command: "echo bye"}}, hooks.Verdict{}, []string{"pass 0"}},
		{"a matcher where there is nothing to match", hooks.Stop, []hook{{Matcher: "never", Command: "exit 2"}}, blocked("continue: blocked by Stop hook"), []string{"block 2"}},

		{"text is context for a session", hooks.SessionStart, []hook{{Command: "echo the tree is dirty"}}, hooks.Verdict{Contexts: contexts("the tree is dirty")}, []string{"pass 0"}},
		{"the source is matched", hooks.SessionStart, []hook{{Matcher: "resume|clear", Command: "echo no"}, {Matcher: "^start", Command: "echo yes"}, {Matcher: "startup", Command: "echo too"}},
			hooks.Verdict{Contexts: contexts("yes", "too")}, []string{"pass 0", "pass 0"}},
		{"nothing blocks a session", hooks.SessionStart, []hook{{Command: "echo no >&2; exit 2"}}, hooks.Verdict{}, []string{"block 2"}},

		{"the type of a sub-agent is matched", hooks.SubagentStart, []hook{
			{Matcher: "Explore|Plan", Command: adding(hooks.SubagentStart, "no")},
			{Matcher: "general-purpose", Command: adding(hooks.SubagentStart, "yes")},
			{Matcher: "^(?!general).*", Command: adding(hooks.SubagentStart, "no")},
		}, hooks.Verdict{Contexts: contexts("yes")}, []string{"pass 0"}},
		{"nothing blocks a sub-agent", hooks.SubagentStart, []hook{{Command: "exit 2"}}, hooks.Verdict{}, []string{"block 2"}},
		{"nothing keeps a sub-agent going", hooks.SubagentStop, []hook{{Command: "exit 2"}, {Command: adding(hooks.SubagentStop, "x")}}, hooks.Verdict{}, []string{"block 2", "pass 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{tt.event: tt.hooks}), nil)
			check(t, "verdict", r.mustFire(tt.event), tt.want)
			check(t, "log", r.decisions(), tt.log)
		})
	}
}

// harnessEvents are the events a harness fires.
var harnessEvents = []string{hooks.UserPromptSubmit, hooks.Stop, hooks.SessionStart, hooks.SubagentStart, hooks.SubagentStop}

// TestOneEventOnly has the hooks of all other events left alone.
func TestOneEventOnly(t *testing.T) {
	all := map[string][]hook{}
	for _, event := range connected {
		all[event] = []hook{{Command: "echo " + event + " >> ran"}}
	}
	for _, event := range harnessEvents {
		t.Run(event, func(t *testing.T) {
			r := newRig(t, eventSettings(all), nil)
			r.mustFire(event)
			check(t, "ran", r.file("ran"), event+"\n")
		})
	}
	t.Run("a call", func(t *testing.T) {
		r := newRig(t, eventSettings(all), nil)
		r.call("echo", "")
		check(t, "ran", r.file("ran"), "PreToolUse\nPostToolUse\n")
	})
}

// A matcher that takes too long selects, since it keeps nothing out.
func TestSlowMatcherOfASession(t *testing.T) {
	r := newRig(t, eventSettings(map[string][]hook{hooks.SessionStart: {{Matcher: "^((a+)+)+$", Command: "echo yes"}}}), nil)
	v, err := r.bridge.SessionStart(t.Context(), r.p, hooks.Opening{Source: strings.Repeat("a", 60) + "!"})
	check(t, "error", err, nil)
	check(t, "verdict", v, hooks.Verdict{Contexts: contexts("yes")})
}

// A hook that always fails must not keep an agent going for ever.
func TestStopHookActive(t *testing.T) {
	tests := []struct {
		name string
		hook hook
		want hooks.Verdict
		log  string
	}{
		{"a failure blocks once", hook{Command: "exit 1", OnFailure: "block"}, hooks.Verdict{}, "error 1"},
		{"a hook that blocks again knows what it does", hook{Command: "echo again >&2; exit 2"}, hooks.Verdict{Blocked: true, Reason: "again"}, "block 2"},
		{"a hook that asks", hook{Command: `case $(cat) in *'"stop_hook_active":false'*) exit 2;; esac`}, hooks.Verdict{}, "pass 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{hooks.Stop: {tt.hook}}), nil)
			if v := r.mustFire(hooks.Stop); !v.Blocked {
				t.Errorf("the first time: %+v, want it blocked", v)
			}
			v, err := r.bridge.Stop(t.Context(), r.p, hooks.Turn{HookActive: true})
			check(t, "error", err, nil)
			check(t, "verdict", v, tt.want)
			check(t, "log", r.decisions()[1], tt.log)
		})
	}
}

func TestHarnessInput(t *testing.T) {
	const common = `{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"default","hook_event_name":`
	for event, want := range map[string]string{
		hooks.UserPromptSubmit: `"UserPromptSubmit","prompt":"do \"it\""}`,
		hooks.Stop:             `"Stop","stop_hook_active":false}`,
		hooks.SessionStart:     `"SessionStart","source":"startup"}`,
		hooks.SubagentStart:    `"SubagentStart","agent_id":"a7","agent_type":"general-purpose"}`,
		hooks.SubagentStop:     `"SubagentStop","agent_id":"a7","agent_type":"general-purpose","stop_hook_active":true}`,
	} {
		t.Run(event, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{event: {{Command: "cat > seen"}}}), func(ho *hooks.Options, _ *pipeline.Options) {
				ho.Session = func(any) hooks.Session { return hooks.Session{ID: "s1", TranscriptPath: "t.jsonl"} }
			})
			r.mustFire(event)
			check(t, "input", r.seen(), common+want+"\n")
		})
	}
}

// TestSessions has each agent's hooks told of its own session.
func TestSessions(t *testing.T) {
	type agent struct{ name string }
	sessions := map[any]hooks.Session{
		agent{"one"}: {ID: "s1", Turn: 1},
		agent{"two"}: {ID: "s2", Turn: 7, PermissionMode: "plan"},
	}
	const note = `sed -E 's/.*"session_id":"([^"]*)".*"permission_mode":"([^"]*)".*/\1 \2/' >> seen`
	r := newRig(t, eventSettings(map[string][]hook{hooks.PreToolUse: {{Command: note}}, hooks.UserPromptSubmit: {{Command: note}}}), func(ho *hooks.Options, _ *pipeline.Options) {
		ho.Session = func(agent any) hooks.Session { return sessions[agent] }
	})
	for _, a := range []any{agent{"one"}, agent{"two"}, nil} {
		if _, err := r.bridge.UserPromptSubmit(t.Context(), r.p, hooks.Prompt{Agent: a}); err != nil {
			t.Fatal(err)
		}
		r.p.Execute(t.Context(), pipeline.Request{Name: "echo", Agent: a})
	}
	check(t, "sessions", r.file("seen"), "s1 default\ns1 default\ns2 plan\ns2 plan\n default\n default\n")
	var turns []string
	for _, data := range r.rec.Data(hooks.EventHookResult) {
		var e struct {
			Turn      int    `json:"turn"`
			SessionID string `json:"sessionId"`
		}
		if err := data.Unmarshal(&e); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, fmt.Sprint(e.SessionID, " ", e.Turn))
	}
	check(t, "turns", turns, []string{"s1 1", "s1 1", "s2 7", "s2 7", " 0", " 0"})
}

func TestHarnessLog(t *testing.T) { // a turn's own events are the harness's
	text := eventSettings(map[string][]hook{hooks.SessionStart: {{Matcher: "startup", Command: "echo hm >&2; exit 3"}}})
	r := newRig(t, text, func(ho *hooks.Options, _ *pipeline.Options) {
		ho.Session = func(any) hooks.Session { return hooks.Session{Turn: 2} }
	})
	r.mustFire(hooks.SessionStart)
	var got []string
	for _, e := range r.rec.Events() {
		check(t, e.Type+" is ignorable", e.Ignorable, true)
		got = append(got, e.Type+" "+place.ReplaceAllString(e.Data.String(), "settings.json"))
	}
	check(t, "events", got, []string{
		`hook/invoked {"turn":2,"point":"SessionStart","handlerId":"claude-code:SessionStart:1","hook":"settings.json","dialect":"claude-code","matcher":"startup"}`,
		`hook/result {"turn":2,"point":"SessionStart","handlerId":"claude-code:SessionStart:1","hook":"settings.json","decision":"error","exitCode":3,"stderrSummary":"hm","durationMs":1}`,
	})
	if !strings.Contains(r.log.String(), `event=SessionStart problem="exited with 3, where 0 passes and 2 blocks: hm" blocks=false`) {
		t.Errorf("the host was not told of the failure:\n%s", r.log)
	}
}

// TestHarnessWithoutLog has hooks run though no pipeline is there to log them.
func TestHarnessWithoutLog(t *testing.T) {
	r := newRig(t, eventSettings(map[string][]hook{hooks.Stop: {{Command: "echo on >&2; exit 2"}}}), nil)
	v, err := r.bridge.Stop(t.Context(), nil, hooks.Turn{})
	check(t, "error", err, nil)
	check(t, "verdict", v, hooks.Verdict{Blocked: true, Reason: "on"})
	check(t, "log", r.rec.Types(), []string{})
}

// TestHarnessNoEffectIsReported has the host told what an event cannot use.
func TestHarnessNoEffectIsReported(t *testing.T) {
	const all = `{"decision":"block","reason":"why","continue":false,"systemMessage":"hello","hookSpecificOutput":{"hookEventName":"SubagentStop","additionalContext":"by the way"}}`
	r := newRig(t, eventSettings(map[string][]hook{hooks.SubagentStop: {{Command: printing(all)}}}), nil)
	check(t, "verdict", r.mustFire(hooks.SubagentStop), hooks.Verdict{SystemMessages: []string{"hello"}, Halt: true})
	for _, want := range []string{"decision=block reason=why", `context="by the way"`} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the host was not told of %q:\n%s", want, r.log)
		}
	}
	for _, known := range []string{"hello", "session to stop"} {
		if strings.Contains(r.log.String(), known) {
			t.Errorf("the host was told what is in the verdict, %q:\n%s", known, r.log)
		}
	}
}

// TestAskIsReported has the host told of an ask where nobody can be asked.
func TestAskIsReported(t *testing.T) {
	for event, fire := range map[string]func(*rig){
		hooks.UserPromptSubmit: func(r *rig) { r.mustFire(hooks.UserPromptSubmit) },
		hooks.PostToolUse:      func(r *rig) { r.call("echo", "") },
	} {
		t.Run(event, func(t *testing.T) {
			r := newRig(t, eventSettings(map[string][]hook{event: {{Command: printing(permission(event, "ask", "why"))}}}), nil)
			fire(r)
			if want := `msg="hook decides where nothing is to be decided"`; !strings.Contains(r.log.String(), want) || !strings.Contains(r.log.String(), "decision=ask reason=why") {
				t.Errorf("the host was not told %q:\n%s", want, r.log)
			}
		})
	}
}

func TestHarnessErrors(t *testing.T) {
	all := map[string][]hook{}
	for _, event := range harnessEvents {
		all[event] = []hook{{Command: "touch ran"}}
	}
	for _, event := range harnessEvents {
		t.Run(event+" for a caller who has left", func(t *testing.T) {
			r := newRig(t, eventSettings(all), nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("gone")
			cancel(cause)
			v, err := r.fire(ctx, event)
			check(t, "verdict", v, hooks.Verdict{})
			if !errors.Is(err, cause) {
				t.Errorf("error = %v, want the cause", err)
			}
			check(t, "log", r.rec.Types(), []string{})
		})
		t.Run(event+" where the host crashes", func(t *testing.T) {
			r := newRig(t, eventSettings(all), func(ho *hooks.Options, _ *pipeline.Options) {
				ho.Session = func(any) hooks.Session { panic("no session") }
			})
			v, err := r.fire(t.Context(), event)
			check(t, "verdict", v, hooks.Verdict{})
			var crash *tools.PanicError
			if !errors.As(err, &crash) || crash.Value != "no session" || err.Error() != "asking the "+event+" hooks crashed" {
				t.Errorf("error = %v, want a PanicError", err)
			}
		})
	}
}

// A crash of the host's own function is a denial where hooks judge a call.
func TestSessionCrashDenies(t *testing.T) {
	r := newRig(t, settings([]hook{{Command: "exit 0"}}, nil), func(ho *hooks.Options, _ *pipeline.Options) {
		ho.Session = func(any) hooks.Session { panic("no session") }
	})
	o := r.call("echo", "")
	if !o.IsError() || len(r.ran) > 0 {
		t.Errorf("call = %q, ran %v", o.Text(), r.ran)
	}
}

// TestHarnessAfterClose counts what cannot run any more as failed.
func TestHarnessAfterClose(t *testing.T) {
	r := newRig(t, eventSettings(map[string][]hook{
		hooks.UserPromptSubmit: {{Command: "touch ran", OnFailure: "block"}},
		hooks.SessionStart:     {{Command: "touch ran"}},
	}), nil)
	r.bridge.Close()
	check(t, "failures block", r.mustFire(hooks.UserPromptSubmit), hooks.Verdict{
		Blocked: true, Reason: "blocked because the UserPromptSubmit hook at settings.json could not be run: the hooks have been closed",
	})
	check(t, "failures change nothing", r.mustFire(hooks.SessionStart), hooks.Verdict{})
	check(t, "log", r.decisions(), []string{"error -", "error -"})
}
