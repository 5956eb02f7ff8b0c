package hooks

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/tools"
)

// rank orders what hooks can want, from nothing to the strictest.
type rank uint8

const (
	rankNone rank = iota
	rankAllow
	rankAsk
	rankDeny
)

// The words a hook decides with, and those that stand in the log besides.
const (
	wordApprove   = "approve"
	wordAllow     = "allow"
	wordAsk       = "ask"
	wordDeny      = "deny"
	wordBlock     = "block"
	wordStop      = "stop"
	wordPass      = "pass"
	wordError     = "error"
	wordTimeout   = "timeout"
	wordCancelled = "cancelled"
)

var ranks = map[string]rank{
	wordApprove: rankAllow, wordAllow: rankAllow, wordAsk: rankAsk, wordDeny: rankDeny, wordBlock: rankDeny,
}

// answer is what one hook has said.
type answer struct {
	word   string // the word it decided with, "" for none
	rank   rank
	reason string // may be empty

	stop          bool // it asked for the session to end
	stopReason    string
	context       string
	systemMessage string
	replaces      bool   // it wants other arguments or another result
	elsewhere     string // the other event it has output for

	// failure says why there is no answer. The word is then wordError,
	// wordTimeout or wordCancelled.
	failure string
}

func failed(word, format string, args ...any) answer {
	return answer{word: word, failure: fmt.Sprintf(format, args...)}
}

// fails is the answer with a failure in place of what it decides; whether the
// session goes on and what the person is told stay.
func (a answer) fails(format string, args ...any) answer {
	f := failed(wordError, format, args...)
	f.stop, f.stopReason, f.systemMessage = a.stop, a.stopReason, a.systemMessage
	return f
}

// redact takes secrets out of what the hook said itself.
func (a *answer) redact(redact func(string) string) {
	if redact == nil {
		return
	}
	for _, text := range []*string{&a.reason, &a.stopReason, &a.context, &a.systemMessage} {
		*text = redact(*text)
	}
}

// logged is the word for the log.
func (a answer) logged() string {
	switch {
	case a.word != "":
		return a.word
	case a.stop:
		return wordStop
	}
	return wordPass
}

// shellMeaning is what shells say with an exit code of their own: in general
// that the interpreter of a script is missing.
var shellMeaning = map[int]string{126: " (a program could not be executed)", 127: " (a program was not found)"}

// decode reads what the hook of an event has left behind.
func decode(t traits, r proc.Result) answer {
	switch {
	case r.End == proc.TimedOut:
		return failed(wordTimeout, "did not end within its timeout")
	case r.End == proc.Cancelled:
		return failed(wordCancelled, "was stopped before it had answered")
	case r.End == proc.Signaled:
		return failed(wordError, "was ended by a signal (%s)%s", r.Signal, quoted(r.Stderr))
	case r.Code == 2:
		return answer{word: wordBlock, rank: rankDeny, reason: trimmed(r.Stderr)}
	case r.Code != 0:
		return failed(wordError, "exited with %d%s, where 0 passes and 2 blocks%s", r.Code, shellMeaning[r.Code], quoted(r.Stderr))
	}
	text := strings.TrimSpace(r.Stdout.Head)
	if !strings.HasPrefix(text, "{") {
		if t.text {
			return answer{context: trimmed(r.Stdout)}
		}
		return answer{}
	}
	if r.Stdout.Cut() {
		return failed(wordError, "printed a JSON answer of %d bytes, of which only %d are read", r.Stdout.Size, len(r.Stdout.Head))
	}
	return decodeJSON(t.event, text)
}

// decodeJSON reads an answer in JSON. One that cannot be read is a failure: it
// may have been a denial.
func decodeJSON(event, text string) answer {
	object, err := tools.ParseJSON(text)
	var top members
	if err == nil {
		err = object.Unmarshal(&top)
	}
	if err != nil {
		return failed(wordError, "printed an answer that is no proper JSON: %v", err)
	}
	a := answer{
		stop:          top["continue"].Kind() == 'f',
		stopReason:    top.text("stopReason"),
		systemMessage: top.text("systemMessage"),
	}
	decision := top["decision"]
	if word, _ := decision.Text(); ranks[word] != rankNone {
		a.word, a.rank, a.reason = word, ranks[word], top.text("reason")
	}
	whole := a.specific(event, top["hookSpecificOutput"])
	switch {
	case whole.failure != "" && a.rank == rankDeny:
		return a // a failure must not open what the decision closes
	case whole.failure == "" && whole.word == "" && given(decision):
		return a.fails("answered with the decision %.60s; known are approve, allow, ask, deny and block", decision)
	}
	return whole
}

// specific adds what the answer says for its event. Output that names another
// event is not meant for us.
func (a answer) specific(event string, output tools.JSON) answer {
	if output.IsZero() || output.Kind() == 'n' {
		return a
	}
	var own members
	if output.Kind() != '{' || output.Unmarshal(&own) != nil {
		return a.fails("printed a hookSpecificOutput that is no object")
	}
	switch name := own.text("hookEventName"); {
	case name == event:
	case isEvent(name):
		a.elsewhere = name
		return a
	case len(own) > 0:
		return a.fails("printed a hookSpecificOutput whose hookEventName is %.60s, not %q", or(own["hookEventName"].String(), "missing"), event)
	}
	a.context = own.text("additionalContext")
	a.replaces = given(own["updatedInput"]) || given(own["updatedToolOutput"]) || given(own["updatedMCPToolOutput"])
	decision := own["permissionDecision"]
	if !given(decision) {
		return a
	}
	switch word, _ := decision.Text(); word {
	case wordAllow, wordAsk, wordDeny:
		a.word, a.rank = word, ranks[word]
		a.reason = or(own.text("permissionDecisionReason"), or(own.text("reason"), a.reason))
		return a
	}
	return a.fails("answered with the permissionDecision %.60s; known are allow, ask and deny", decision)
}

// members is a decoded JSON object.
type members map[string]tools.JSON

// text is a member that is a string, trimmed; "" for any other.
func (m members) text(name string) string {
	text, _ := m[name].Text()
	return strings.TrimSpace(text)
}

func given(j tools.JSON) bool { return !j.IsZero() && j.Kind() != 'n' }

// trimmed is what a stream holds, without the space around it and with a note
// if it is not all.
func trimmed(o proc.Output) string {
	text := strings.TrimSpace(strings.ToValidUTF8(o.Head, "\uFFFD"))
	if o.Cut() {
		text += fmt.Sprintf("\n[the first %d of %d bytes]", len(o.Head), o.Size)
	}
	return text
}

// maxSummary is the most characters of a hook's text that are shown where it is
// only reported: in a log entry, in the reason of a failure, to the Logger.
const maxSummary = 500

// summary is the beginning of what a hook wrote to standard error.
func summary(o proc.Output) string {
	return clipped(strings.TrimSpace(strings.ToValidUTF8(o.Head, "\uFFFD")))
}

func clipped(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxSummary {
			return text[:i] + "…"
		}
	}
	return text
}

// quoted is standard error as the end of a sentence.
func quoted(o proc.Output) string {
	if text := summary(o); text != "" {
		return ": " + text
	}
	return ""
}
