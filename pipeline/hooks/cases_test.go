package hooks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// The numbers in the names are those of the behaviour cases for DSH's bridge.
// Where this one differs on purpose, the case says so.

func TestPreToolUse(t *testing.T) {
	const no = "echo ' no, use another tool ' >&2; exit 2"
	tests := []struct {
		name  string
		hooks []hook
		tool  string
		want  end
		log   []string
	}{
		{"exit 2 denies with standard error", []hook{{Matcher: "danger", Command: no}}, "danger",
			denied("no, use another tool"), []string{"block 2"}},
		{"other tools are untouched", []hook{{Matcher: "danger", Command: no}}, "echo",
			passed("echo", "{}"), []string{}},
		{"exit 2 without standard error", []hook{{Command: "exit 2"}}, "echo",
			denied("blocked by PreToolUse hook"), []string{"block 2"}},
		{"a command that begins like an option of the shell", []hook{{Command: "-x 2>/dev/null; echo no >&2; exit 2"}}, "echo",
			denied("no"), []string{"block 2"}},

		// DSH lets the call run in the four cases that follow; here each denies.
		{"exit 1", []hook{{Command: "echo broken >&2; exit 1"}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json exited with 1, where 0 passes and 2 blocks: broken"), []string{"error 1"}},
		{"exit 127", []hook{{Command: "exec /nowhere/check 2>/dev/null || exit 127"}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json exited with 127 (a program was not found), where 0 passes and 2 blocks"), []string{"error 127"}},
		{"timeout", []hook{{Command: "exec sleep 1000", Timeout: 0.05}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json did not end within its timeout of 50ms"), []string{"timeout -"}},
		{"a timed-out hook that traps TERM and exits 2", []hook{{Command: "trap 'exit 2' TERM; while :; do read -t 1000 < <(:); done", Timeout: 0.05}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json did not end within its timeout of 50ms"), []string{"timeout -"}},
		{"a signal", []hook{{Command: "kill -9 $$"}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json was ended by a signal (killed)"), []string{"error -"}},
		{"as in DSH where the group says so", []hook{
			{Command: "exit 1", OnFailure: "continue"},
			{Command: "exit 127", OnFailure: "continue"},
			{Command: "exec sleep 1000", Timeout: 0.05, OnFailure: "continue"},
			{Command: "kill -9 $$", OnFailure: "continue"},
		}, "echo", passed("echo", "{}"), []string{"error 1", "error 127", "timeout -", "error -"}},

		{"ask without an approver", []hook{{Command: printing(permission("PreToolUse", "ask", "sure?"))}}, "echo",
			end{Text: "Error: sure?", Code: tools.CodeApprovalUnavailable, Ran: []string{}}, []string{"ask 0"}},
		{"ask without a reason", []hook{{Command: printing(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}`)}}, "echo",
			end{Text: "Error: tool \"echo\" requires approval (not yet supported)", Code: tools.CodeApprovalUnavailable, Ran: []string{}}, []string{"ask 0"}},
		{"a block that names another event", []hook{{Command: printing(permission("PostToolUse", "deny", "no"))}}, "echo",
			passed("echo", "{}"), []string{"pass 0"}},
		// DSH ignores the two that follow: a denial that is not quite what it
		// should be must not pass unseen.
		{"a block that names no event", []hook{{Command: printing(`{"hookSpecificOutput":{"permissionDecision":"deny"}}`)}}, "echo",
			denied(`blocked because the PreToolUse hook at settings.json printed a hookSpecificOutput whose hookEventName is missing, not "PreToolUse"`), []string{"error 0"}},
		{"deny at the top", []hook{{Command: printing(`{"decision":"deny","reason":"no"}`)}}, "echo",
			denied("no"), []string{"deny 0"}},
		{"block at the top", []hook{{Command: printing(`{"decision":"block","reason":"no"}`)}}, "echo",
			denied("no"), []string{"block 0"}},
		{"both channels", []hook{{Command: printing(`{"decision":"approve","reason":"yes","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`)}}, "echo",
			denied("no"), []string{"deny 0"}},
		{"both channels, the other way round", []hook{{Command: printing(`{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)}}, "echo",
			passed("echo", "{}"), []string{"allow 0"}},
		{"exit 2 with JSON", []hook{{Command: "echo why >&2; echo '" + permission("PreToolUse", "allow", "") + "'; exit 2"}}, "echo",
			denied("why"), []string{"block 2"}},
		{"the strictest wins with its own reasons", []hook{
			{Command: printing(`{"decision":"approve","reason":"fine"}`)},
			{Command: printing(permission("PreToolUse", "ask", "A"))},
			{Command: printing(`{"decision":"block","reason":"D1"}`)},
			{Command: "echo D2 >&2; exit 2"},
		}, "echo", denied("D1\n\nD2"), []string{"approve 0", "ask 0", "block 0", "block 2"}},
		{"a failure is one of the denials", []hook{{Command: "exit 9"}, {Command: "echo D2 >&2; exit 2"}}, "echo",
			denied("blocked because the PreToolUse hook at settings.json exited with 9, where 0 passes and 2 blocks\n\nD2"), []string{"error 9", "block 2"}},
		{"other arguments", []hook{{Command: printing(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"x":2}}}`)}}, "echo",
			passed("echo", "{}"), []string{"allow 0"}},
		{"continue false", []hook{{Command: printing(`{"continue":false,"stopReason":"enough"}`)}}, "echo",
			passed("echo", "{}"), []string{"stop 0"}},
		{"plain text", []hook{{Command: "echo all is well; echo '{\"decision\":\"block\"}'"}}, "echo",
			passed("echo", "{}"), []string{"pass 0"}},

		// DSH takes JSON that cannot be read for plain text; a denial with a
		// stray quote must not pass.
		{"JSON that cannot be read", []hook{{Command: printing(`{"decision":"block","reason":"a "quoted" word"}`)}}, "echo",
			denied(`blocked because the PreToolUse hook at settings.json printed an answer that is no proper JSON: invalid JSON at byte 33 (/reason): unexpected character 'q', expected ',' or '}'`), []string{"error 0"}},

		{"alternatives", []hook{{Matcher: "Edit|danger", Command: no}}, "danger",
			denied("no, use another tool"), []string{"block 2"}},
		{"an exact name is not a part of one", []hook{{Matcher: "ech", Command: no}}, "echo",
			passed("echo", "{}"), []string{}},
		{"a pattern may match a part", []hook{{Matcher: "c.o", Command: no}}, "echo",
			denied("no, use another tool"), []string{"block 2"}},
		{"Claude Code's name", []hook{{Matcher: "Read", Command: no}}, "read",
			denied("no, use another tool"), []string{"block 2"}},

		// DSH then registers no hook at all; here the group denies.
		{"a matcher that does not compile", []hook{{Matcher: "([", Command: "exit 0"}}, "echo",
			denied("blocked because the matcher \"([\" of the PreToolUse hook at settings.json does not compile: error parsing regexp: unterminated [] set in `([`"), []string{"error -"}},
		{"a matcher that takes too long", []hook{{Matcher: "^((a+)+)+$", Command: "exit 0"}}, strings.Repeat("a", 60) + "!",
			denied(`blocked because the matcher "^((a+)+)+$" of the PreToolUse hook at settings.json took more than 250ms to test`), []string{"timeout -"}},
		{"a name too long to test", []hook{{Matcher: "x.*", Command: "exit 0"}}, strings.Repeat("a", 1025),
			denied(`blocked because the matcher "x.*" of the PreToolUse hook at settings.json cannot be tested on a name of 1025 bytes`), []string{"error -"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings(tt.hooks, nil), nil)
			check(t, "end", r.end(r.call(tt.tool, "{}")), tt.want)
			check(t, "log", r.decisions(), tt.log)
		})
	}
}

func TestAskGoesToTheApprover(t *testing.T) { // 140
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
	r := newRig(t, settings([]hook{
		{Command: printing(permission("PreToolUse", "ask", "first?"))},
		{Command: printing(permission("PreToolUse", "ask", "second?"))},
	}, nil), func(_ *hooks.Options, po *pipeline.Options) { po.Approver = approver })
	r.p.PreExecute.Use("inner", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		return pipeline.Ask("third?"), nil
	})
	check(t, "end", r.end(r.call("echo", `{"a":1}`)), passed("echo", `{"a":1}`))
	asked := approver.Asked()
	check(t, "times asked", len(asked), 1)
	check(t, "ask", []string{asked[0].Reason, asked[0].By}, []string{"first?\n\nsecond?\n\nthird?", hooks.Name})
}

// TestHooksOnlyTighten holds what a hook allows against a listener and a guard
// that deny.
func TestHooksOnlyTighten(t *testing.T) {
	for _, decision := range []string{"allow", "ask"} {
		t.Run(decision+" does not skip a listener", func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: printing(permission("PreToolUse", decision, "hm"))}}, nil), func(_ *hooks.Options, po *pipeline.Options) {
				po.Approver = pipelinetest.NewApprover(pipeline.AllowedOnce)
			})
			r.p.PreExecute.Use("inner", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				return pipeline.Deny("never"), nil
			})
			check(t, "end", r.end(r.call("echo", "")), denied("never"))
		})
	}
	t.Run("allow does not skip a guard", func(t *testing.T) {
		r := newRig(t, settings([]hook{{Command: printing(permission("PreToolUse", "allow", "hm"))}}, nil), nil)
		r.p.Guards.Use("inner", func(tools.Call) string { return "never" })
		check(t, "end", r.end(r.call("echo", "")), end{Text: "Error: never", Code: tools.CodeDeniedByGuard, Ran: []string{}})
	})
}

func TestNoEffectIsReported(t *testing.T) {
	r := newRig(t, settings([]hook{{Command: printing(
		`{"continue":false,"stopReason":"enough","systemMessage":"look here","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"by the way","updatedInput":{"x":2}}}`)}}, nil), nil)
	check(t, "end", r.end(r.call("echo", `{"x":1}`)), passed("echo", `{"x":1}`))
	for _, want := range []string{"that is not applied", "look here", "by the way", "enough", "hook=settings.json:1:52"} {
		if !strings.Contains(r.log.String(), want) {
			t.Errorf("the host was not told of %q:\n%s", want, r.log)
		}
	}
	r = newRig(t, settings([]hook{{Command: printing(`{"systemMessage":"` + strings.Repeat("x", 501) + `"}`)}}, nil), nil)
	r.call("echo", "{}")
	if log := r.log.String(); !strings.Contains(log, "message="+strings.Repeat("x", 500)+"…") {
		t.Errorf("the host was told:\n%s", log)
	}
	r = newRig(t, settings([]hook{{Command: printing(permission("PostToolUse", "deny", "no"))}}, nil), nil)
	check(t, "end", r.end(r.call("echo", "{}")), passed("echo", "{}"))
	if want := "answers for another event"; !strings.Contains(r.log.String(), want) {
		t.Errorf("the host was not told of %q:\n%s", want, r.log)
	}
}

// TestHooksRunInOrder shows that all hooks of a point run, one after the other,
// though the first denies.
func TestHooksRunInOrder(t *testing.T) { // 145
	r := newRig(t, settings([]hook{
		{Command: "echo first >> order; exit 2"},
		{Matcher: "nothing", Command: "echo other >> order"},
		{Command: "echo second >> order"},
	}, nil), nil)
	r.call("echo", "")
	check(t, "order", r.file("order"), "first\nsecond\n")
}

func TestPostToolUse(t *testing.T) {
	const context = `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"remember"}}`
	blocked := func(text string) end { return end{Text: text, Ran: []string{"echo"}} }
	tests := []struct {
		name  string
		hooks []hook
		want  end
		log   []string
	}{
		{"exit 2", []hook{{Command: "echo format it >&2; exit 2"}}, blocked("format it"), []string{"block 2"}},
		{"exit 2 without standard error", []hook{{Command: "exit 2"}}, blocked("blocked by PostToolUse hook"), []string{"block 2"}},
		{"block", []hook{{Command: printing(`{"decision":"block","reason":"wrong"}`)}}, blocked("wrong"), []string{"block 0"}},
		{"context", []hook{{Command: printing(context)}}, passed("echo", "{}"), []string{"pass 0"}},
		{"exit 1", []hook{{Command: "exit 1"}}, passed("echo", "{}"), []string{"error 1"}},
		{"timeout", []hook{{Command: "exec sleep 1000", Timeout: 0.05}}, passed("echo", "{}"), []string{"timeout -"}},
		{"exit 1 where failures block", []hook{{Command: "exit 1", OnFailure: "block"}},
			blocked("blocked because the PostToolUse hook at settings.json exited with 1, where 0 passes and 2 blocks"), []string{"error 1"}},
		{"ask means nothing", []hook{{Command: printing(permission("PostToolUse", "ask", "sure?"))}}, passed("echo", "{}"), []string{"ask 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings(nil, tt.hooks), nil)
			o := r.call("echo", "{}")
			check(t, "end", r.end(o), tt.want)
			check(t, "is an error", o.IsError(), tt.want.Text != "{}")
			check(t, "log", r.decisions(), tt.log)
		})
	}
}

func TestContexts(t *testing.T) { // 149
	said := func(text string) string {
		return printing(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"` + text + `"}}`)
	}
	hooksOf := settings(nil, []hook{{Command: said("one")}, {Command: said("two")}})
	message := tools.Message{
		ID: "id1", Role: "user",
		Content: []tools.Content{tools.TextContent("one"), tools.TextContent("two")},
		Source:  tools.Source{Kind: "plugin", Plugin: "hooks-claude-code"},
	}
	type decide = pipeline.PostDecision
	tests := []struct {
		name string
		text string
		then decide
		want end
		all  int
	}{
		{"a later listener accepts", hooksOf, pipeline.Accept(), passed("echo", "{}"), 1},
		{"a later listener blocks", hooksOf, pipeline.Block([]tools.Content{tools.TextContent("no")}), end{Text: "no", Ran: []string{"echo"}}, 1},
		{"a later listener replaces the value", hooksOf, pipeline.AcceptValue(tools.MustJSON("7")), passed("echo", "7"), 1},
		{"a later listener has contexts too", hooksOf, pipeline.Accept().WithContexts(tools.ContextMessage("inner", "three")), passed("echo", "{}"), 2},
		{"the hooks block", settings(nil, []hook{{Command: said("one")}, {Command: said("two")}, {Command: "exit 2"}}), pipeline.Accept(),
			end{Text: "blocked by PostToolUse hook", Ran: []string{"echo"}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.text, nil)
			r.p.PostExecute.Use("inner", func(context.Context, pipeline.Settled, pipeline.Next[decide]) (decide, error) { return tt.then, nil })
			o := r.call("echo", "{}")
			check(t, "end", r.end(o), tt.want)
			check(t, "number of contexts", len(o.Contexts()), tt.all)
			check(t, "the hooks' context", o.Contexts()[0], message)
		})
	}
}

func TestPostToolUseSeesDenials(t *testing.T) { // 150
	r := newRig(t, settings(nil, []hook{{Command: "cat > seen"}}), nil)
	r.p.Guards.Use("never", func(tools.Call) string { return "not today" })
	r.call("echo", "")
	if seen := r.file("seen"); !strings.Contains(seen, `"tool_response":{"text":"Error: not today","is_error":true,"error_code":"DENIED_BY_GUARD"}`) {
		t.Errorf("the hook read %s", seen)
	}
}

// TestPostToolUseAfterAbort has no hook started for a call whose caller has left.
func TestPostToolUseAfterAbort(t *testing.T) {
	r := newRig(t, settings(nil, []hook{{Command: "touch ran"}}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	r.p.Execution.Use("leave", func(ctx context.Context, _ pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		defer cancel()
		return next(ctx)
	})
	o := r.p.Execute(ctx, pipeline.Request{ID: "c1", Name: "echo"})
	check(t, "code", o.Info().Code, tools.CodeAborted)
	check(t, "log", r.rec.Types(), []string{"tool/call", "tool/result"})
}

// TestCancelBeforeTheStart has a caller leave between the log entry and the
// start of the hook, which is no failure of the hook.
func TestCancelBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, settings([]hook{{Command: "touch ran"}}, nil), func(ho *hooks.Options, _ *pipeline.Options) {
		now := ho.Now
		ho.Now = func() time.Time { cancel(); return now() }
	})
	o := r.p.Execute(ctx, pipeline.Request{ID: "c1", Name: "echo"})
	check(t, "code", o.Info().Code, tools.CodeAbortedBeforeDispatch)
	check(t, "log", r.decisions(), []string{"cancelled -"})
}

// TestPostToolUseMatcherThatTakesTooLong runs the hook: before a call the
// stricter choice is to deny, after it to have it reviewed.
func TestPostToolUseMatcherThatTakesTooLong(t *testing.T) {
	r := newRig(t, settings(nil, []hook{{Matcher: "^((a+)+)+$", Command: "echo reviewed >&2; exit 2"}}), nil)
	check(t, "end", r.end(r.call(strings.Repeat("a", 60)+"!", "")), end{Text: "reviewed", Ran: []string{}})
}

func TestLog(t *testing.T) {
	long := strings.Repeat("é", 600)
	r := newRig(t, settings([]hook{{Matcher: "e.*", Command: "printf ' %s ' '" + long + "' >&2"}}, []hook{{Command: "printf %s '" + long[:1000] + "' >&2; exit 3"}}),
		func(ho *hooks.Options, _ *pipeline.Options) {
			ho.Session = func(any) hooks.Session { return hooks.Session{Turn: 4} }
		})
	r.call("echo", "") // without an agent: DSH would not log it
	check(t, "types", r.rec.Types(), []string{"tool/call", "hook/invoked", "hook/result", "hook/invoked", "hook/result", "tool/result"})
	var got []string
	for _, e := range r.rec.Events()[1:5] {
		check(t, e.Type+" is ignorable", e.Ignorable, true)
		got = append(got, place.ReplaceAllString(e.Data.String(), "settings.json"))
	}
	check(t, "events", got, []string{
		`{"turn":4,"point":"PreToolUse","handlerId":"claude-code:PreToolUse:1","hook":"settings.json","callId":"c1","dialect":"claude-code","matcher":"e.*"}`,
		`{"turn":4,"point":"PreToolUse","handlerId":"claude-code:PreToolUse:1","hook":"settings.json","callId":"c1","decision":"pass","exitCode":0,"stderrSummary":"` + long[:1000] + `…","durationMs":1}`,
		`{"turn":4,"point":"PostToolUse","handlerId":"claude-code:PostToolUse:2","hook":"settings.json","callId":"c1","dialect":"claude-code"}`,
		`{"turn":4,"point":"PostToolUse","handlerId":"claude-code:PostToolUse:2","hook":"settings.json","callId":"c1","decision":"error","exitCode":3,"stderrSummary":"` + long[:1000] + `","durationMs":1}`,
	})
}

// A secret that a summary would part is taken out before.
func TestLogRedacts(t *testing.T) {
	before := strings.Repeat("x", 490)
	r := newRig(t, settings([]hook{{Command: "printf %s '" + before + "hunter2hunter2hunter2' >&2; exit 2"}}, nil),
		func(ho *hooks.Options, _ *pipeline.Options) {
			ho.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2hunter2hunter2", "[redacted]") }
		})
	r.call("echo", "")
	for _, e := range r.rec.Events() {
		if text := e.Data.String(); strings.Contains(text, "hunter2") || e.Type == "hook/result" && !strings.Contains(text, before+"[redacted]") {
			t.Errorf("%s holds %s", e.Type, text)
		}
	}
}

// All that hooks say themselves is free of secrets, and nothing is said to be
// missing because of that.
func TestRedact(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	redacting := func(ho *hooks.Options, _ *pipeline.Options) {
		ho.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }
	}
	tests := []struct{ name, command, want string }{
		{"standard error", "printf 'no " + secret + "' >&2; exit 2", "Error: no [redacted]"},
		{"long standard error", "printf 'no " + secret + "' >&2; head -c 65530 /dev/zero >&2; exit 2", "bytes]"},
		{"a reason", printing(permission("PreToolUse", "deny", "no "+secret)), "Error: no [redacted]"},
		{"the older reason", printing(`{"decision":"block","reason":"no ` + secret + `"}`), "Error: no [redacted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: tt.command}}, nil), redacting)
			if text := r.call("echo", "").Text(); !strings.HasSuffix(text, tt.want) || strings.Contains(text, secret) {
				t.Errorf("the call ends with %.100q, want the end %q", text, tt.want)
			}
		})
	}
	t.Run("the rest", func(t *testing.T) {
		r := newRig(t, settings(nil, []hook{{Command: printing(`{"continue":false,"stopReason":"` + secret + `","systemMessage":"` + secret +
			`","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"` + secret + `"}}`)}}), redacting)
		o := r.call("echo", "")
		check(t, "context", o.Contexts()[0].Content[0].Text, "[redacted]")
		if log := r.log.String(); strings.Contains(log, secret) || strings.Count(log, "[redacted]") != 2 {
			t.Errorf("the host was told:\n%s", log)
		}
	})
}

func TestDirectory(t *testing.T) { // 155
	r := newRig(t, settings([]hook{{Command: `echo "$PWD $CLAUDE_PROJECT_DIR $CLAUDE_PLUGIN_ROOT" > ./where`}}, nil), func(ho *hooks.Options, _ *pipeline.Options) {
		ho.PluginRoot = "/plugin root"
	})
	r.call("echo", "")
	check(t, "directories", r.file("where"), r.dir+" "+r.dir+" /plugin root\n")
}
