package hooks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/proc"
)

func out(text string) proc.Output { return proc.Output{Head: text, Size: int64(len(text))} }

func TestDecode(t *testing.T) {
	pre := func(fields string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + fields + `}}`
	}
	tests := []struct {
		name string
		r    proc.Result
		want answer
	}{
		{"nothing", proc.Result{}, answer{}},
		{"text", proc.Result{Stdout: out("fine")}, answer{}},
		{"an array", proc.Result{Stdout: out(`["block"]`)}, answer{}},
		{"an empty object", proc.Result{Stdout: out(" \n{}\n")}, answer{}},
		{"exit 2", proc.Result{Code: 2, Stderr: out("\n no \n")}, answer{word: "block", rank: rankDeny, reason: "no"}},
		{"exit 2, no UTF-8", proc.Result{Code: 2, Stderr: out("a\xffb")}, answer{word: "block", rank: rankDeny, reason: "a\uFFFDb"}},
		{"exit 2, cut", proc.Result{Code: 2, Stderr: proc.Output{Head: "no", Size: 9}}, answer{word: "block", rank: rankDeny, reason: "no\n[the first 2 of 9 bytes]"}},
		{"exit 1", proc.Result{Code: 1, Stderr: out("x")}, answer{word: "error", failure: "exited with 1, where 0 passes and 2 blocks: x"}},
		{"exit 126", proc.Result{Code: 126}, answer{word: "error", failure: "exited with 126 (a program could not be executed), where 0 passes and 2 blocks"}},
		{"exit 127", proc.Result{Code: 127, Stderr: out("x: not found")}, answer{word: "error", failure: "exited with 127 (a program was not found), where 0 passes and 2 blocks: x: not found"}},
		{"signal", proc.Result{End: proc.Signaled, Code: -1, Signal: "killed"}, answer{word: "error", failure: "was ended by a signal (killed)"}},
		{"timeout", proc.Result{End: proc.TimedOut, Code: -1, Stdout: out(`{"decision":"approve"}`)}, answer{word: "timeout", failure: "did not end within its timeout"}},
		{"cancelled", proc.Result{End: proc.Cancelled, Code: -1}, answer{word: "cancelled", failure: "was stopped before it had answered"}},

		{"approve", proc.Result{Stdout: out(`{"decision":"approve","reason":" r "}`)}, answer{word: "approve", rank: rankAllow, reason: "r"}},
		{"block without a reason", proc.Result{Stdout: out(`{"decision":"block","reason":7}`)}, answer{word: "block", rank: rankDeny}},
		{"allow at the top", proc.Result{Stdout: out(`{"decision":"allow"}`)}, answer{word: "allow", rank: rankAllow}},
		{"deny at the top", proc.Result{Stdout: out(`{"decision":"deny","reason":"r"}`)}, answer{word: "deny", rank: rankDeny, reason: "r"}},
		{"null at the top", proc.Result{Stdout: out(`{"decision":null}`)}, answer{}},
		{"an unknown word at the top beside a decision", proc.Result{Stdout: out(`{"decision":"no",` + pre(`"permissionDecision":"deny"`)[1:])}, answer{word: "deny", rank: rankDeny}},
		{"a block beside what cannot be read", proc.Result{Stdout: out(`{"decision":"block","reason":"r",` + pre(`"permissionDecision":"no"`)[1:])}, answer{word: "block", rank: rankDeny, reason: "r"}},
		{"a name in another case", proc.Result{Stdout: out(`{"Decision":"block"}`)}, answer{}},
		{"allow", proc.Result{Stdout: out(pre(`"permissionDecision":"allow"`))}, answer{word: "allow", rank: rankAllow}},
		{"ask", proc.Result{Stdout: out(pre(`"permissionDecision":"ask","permissionDecisionReason":"r"`))}, answer{word: "ask", rank: rankAsk, reason: "r"}},
		{"deny with the reason at the top", proc.Result{Stdout: out(`{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`)}, answer{word: "deny", rank: rankDeny, reason: "r"}},
		{"deny with a reason beside it", proc.Result{Stdout: out(pre(`"permissionDecision":"deny","reason":"r"`))}, answer{word: "deny", rank: rankDeny, reason: "r"}},
		{"a decision of null", proc.Result{Stdout: out(pre(`"permissionDecision":null`))}, answer{}},
		{"everything else", proc.Result{Stdout: out(`{"continue":false,"stopReason":"s","systemMessage":"m","suppressOutput":true,"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c","updatedInput":{}}}`)},
			answer{stop: true, stopReason: "s", systemMessage: "m", context: "c", replaces: true}},
		{"continue true", proc.Result{Stdout: out(`{"continue":true}`)}, answer{}},
		{"another event's output", proc.Result{Stdout: out(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"what","additionalContext":"c"}}`)}, answer{elsewhere: "PostToolUse"}},
		{"an output with nothing in it", proc.Result{Stdout: out(`{"hookSpecificOutput":{}}`)}, answer{}},
		{"no output", proc.Result{Stdout: out(`{"hookSpecificOutput":null}`)}, answer{}},

		// What may have been meant as a denial and cannot be read is a failure.
		{"half an object", proc.Result{Stdout: out(`{"decision":"block"`)}, answer{word: "error", failure: "printed an answer that is no proper JSON: invalid JSON at byte 19 (/decision): unexpected end of text, expected ',' or '}'"}},
		{"text after the object", proc.Result{Stdout: out("{}\nbye")}, answer{word: "error", failure: "printed an answer that is no proper JSON: invalid JSON at byte 3: unexpected character 'b' after the value"}},
		{"a decision given twice", proc.Result{Stdout: out(`{"decision":"block","decision":"approve"}`)}, answer{word: "error", failure: "printed an answer that is no proper JSON: invalid JSON at byte 20 (/decision): the property name is given twice; send it once"}},
		{"cut", proc.Result{Stdout: proc.Output{Head: `{"decision":"block"}`, Size: 99}}, answer{word: "error", failure: "printed a JSON answer of 99 bytes, of which only 20 are read"}},
		{"an unknown permissionDecision", proc.Result{Stdout: out(pre(`"permissionDecision":"Deny"`))}, answer{word: "error", failure: `answered with the permissionDecision "Deny"; known are allow, ask and deny`}},
		{"a permissionDecision that is no string", proc.Result{Stdout: out(pre(`"permissionDecision":false`))}, answer{word: "error", failure: `answered with the permissionDecision false; known are allow, ask and deny`}},
		{"an unknown decision at the top", proc.Result{Stdout: out(`{"decision":"Block"}`)}, answer{word: "error", failure: `answered with the decision "Block"; known are approve, allow, ask, deny and block`}},
		{"a decision that is no string", proc.Result{Stdout: out(`{"decision":true}`)}, answer{word: "error", failure: `answered with the decision true; known are approve, allow, ask, deny and block`}},
		{"an output for no event", proc.Result{Stdout: out(`{"hookSpecificOutput":{"additionalContext":"c"}}`)}, answer{word: "error", failure: `printed a hookSpecificOutput whose hookEventName is missing, not "PreToolUse"`}},
		{"an output for a misspelt event", proc.Result{Stdout: out(`{"hookSpecificOutput":{"hookEventName":"preToolUse"}}`)}, answer{word: "error", failure: `printed a hookSpecificOutput whose hookEventName is "preToolUse", not "PreToolUse"`}},
		{"a failure that also stops", proc.Result{Stdout: out(`{"continue":false,"stopReason":"s","systemMessage":"m","decision":"what"}`)},
			answer{word: "error", failure: `answered with the decision "what"; known are approve, allow, ask, deny and block`, stop: true, stopReason: "s", systemMessage: "m"}},
		{"an output that is no object", proc.Result{Stdout: out(`{"hookSpecificOutput":"deny"}`)}, answer{word: "error", failure: "printed a hookSpecificOutput that is no object"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(traitsOf(PreToolUse), tt.r), cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// Text that is no JSON object is context where a person's or a session's
// beginning is told to the model, as in Claude Code; DSH drops it everywhere.
func TestDecodeText(t *testing.T) {
	tests := []struct {
		event  string
		stdout proc.Output
		want   answer
	}{
		{UserPromptSubmit, out(" two\nlines \n"), answer{context: "two\nlines"}},
		{SessionStart, out("[1]"), answer{context: "[1]"}},
		{SessionStart, proc.Output{Head: "abc", Size: 9}, answer{context: "abc\n[the first 3 of 9 bytes]"}},
		{SessionStart, out(" \n"), answer{}},
		{SessionStart, out(`{"decision":"approve"}`), answer{word: "approve", rank: rankAllow}},
		{Stop, out("text"), answer{}},
		{SubagentStart, out("text"), answer{}},
		{SubagentStop, out("text"), answer{}},
		{PostToolUse, out("text"), answer{}},
	}
	for _, tt := range tests {
		t.Run(tt.event+" "+tt.stdout.Head, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, decode(traitsOf(tt.event), proc.Result{Stdout: tt.stdout}), cmp.AllowUnexported(answer{})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummary(t *testing.T) { // 154
	for name, tt := range map[string]struct{ in, want string }{
		"exactly the most": {strings.Repeat("é", 500), strings.Repeat("é", 500)},
		"one more":         {strings.Repeat("é", 501), strings.Repeat("é", 500) + "…"},
		"space around it":  {"\n " + strings.Repeat("x", 500) + " \n", strings.Repeat("x", 500)},
		"only space":       {" \n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(out(tt.in)); got != tt.want {
				t.Errorf("summary has %d bytes, want %d", len(got), len(tt.want))
			}
		})
	}
}

func TestFold(t *testing.T) {
	answers := map[rune]answer{
		'n': {}, 'a': {rank: rankAllow, reason: "allowed"}, 'q': {rank: rankAsk, reason: "asked"}, 'Q': {rank: rankAsk},
		'd': {rank: rankDeny, reason: "denied"}, 'D': {rank: rankDeny}, 'f': {failure: "failed"}, 'c': {context: "context"},
	}
	tests := []struct {
		answers string
		blocks  bool
		rank    rank
		reason  string
	}{
		{"", true, rankNone, "-"},
		{"nc", true, rankNone, "-"},
		{"na", true, rankAllow, "allowed"},
		{"aqa", true, rankAsk, "asked"},
		{"qQ", true, rankAsk, "asked"},
		{"Q", true, rankAsk, "-"},
		{"aqdD", true, rankDeny, "denied"},
		{"dad", true, rankDeny, "denied\n\ndenied"},
		{"qD", true, rankDeny, "-"},
		{"qf", true, rankDeny, "blocked because the hook failed"},
		{"qf", false, rankAsk, "asked"},
		{"f", false, rankNone, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.answers, func(t *testing.T) {
			var v verdict
			for _, r := range tt.answers {
				v.add(answers[r], tt.blocks, "the hook")
			}
			if v.rank != tt.rank || v.reason("-") != tt.reason {
				t.Errorf("verdict = %v %q, want %v %q", v.rank, v.reason("-"), tt.rank, tt.reason)
			}
		})
	}
}

// FuzzDecode holds the decoder to what makes it safe: whatever a hook prints,
// exit code 2 denies, any other but 0 is a failure, a failure has a text, and
// only known words decide.
func FuzzDecode(f *testing.F) {
	f.Add(0, `{"decision":"block","reason":"r"}`, "")
	f.Add(0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, "")
	f.Add(0, `{"continue":false,"stopReason":"\ud800"}`, "x")
	f.Add(2, "{", "no\xff")
	f.Add(1, "", "broken")
	f.Fuzz(func(t *testing.T, code int, stdout, stderr string) {
		for _, of := range connected {
			a := decode(of, proc.Result{Code: code, Stdout: out(stdout), Stderr: out(stderr)})
			switch {
			case code == 2 && (a.rank != rankDeny || a.failure != ""):
				t.Errorf("%s: exit 2 = %+v, want a denial", of.event, a)
			case code != 0 && code != 2 && a.failure == "":
				t.Errorf("%s: exit %d = %+v, want a failure", of.event, code, a)
			case a.failure != "" && a.word != wordError, a.failure == "" && a.rank != ranks[a.word]:
				t.Errorf("%s: answer = %+v: word, rank and failure do not fit", of.event, a)
			}
		}
		if n := len([]rune(summary(out(stderr)))); n > maxSummary+1 {
			t.Errorf("the summary has %d characters", n)
		}
	})
}
