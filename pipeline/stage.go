package pipeline

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

// The stages of a call, as Finding.Stage and the events of the type EventStage
// name them.
const (
	StageAdmit       = "admit"        // before policy; recorded only of a call that is refused
	StagePreExecute  = "pre-execute"  // one listener: allow, ask, deny or error
	StageApproval    = "approval"     // the approver: an Answer's name
	StageGuard       = "guard"        // one guard: abstain or deny
	StageExecution   = "execution"    // one wrapper: success, failure or error
	StageBody        = "body"         // one dispatch to the tool: success or failure
	StagePostExecute = "post-execute" // one listener: accept, content, value, block or error
	StageFinalize    = "finalize"     // the tool's finalizer: keep, replace or error
)

// EventStage is the type of the events Options.Stages adds: data is {callId,
// stage, by, decision, reason, ms}. by is the listener, guard or wrapper,
// missing for the pipeline itself; reason is missing where there is none and
// cut after the last word that ends within 500 characters; ms is the time from
// the decider's begin to its answer, that of deciders further in included. They
// stand in the order of the answers, so the innermost listener comes first.
const EventStage = "pipeline/stage"

// maxStageReason bounds the reason in an event, in characters.
const maxStageReason = 500

// records reports whether stages are recorded.
func (x *execution) records() bool { return x.p.opts.Stages && x.p.opts.Sink != nil && !x.outcast }

// clock is the time a decider begins, if that is recorded.
func (x *execution) clock() time.Time {
	if !x.records() {
		return time.Time{}
	}
	return x.p.now()
}

// record writes what a decider of a stage answered.
func (x *execution) record(stage, by, decision, reason string, began time.Time) {
	if !x.records() {
		return
	}
	ms := x.p.now().Sub(began)
	_, _ = x.p.journal.emit(Event{Type: EventStage, Ignorable: true, Data: tools.Compose(func(c *tools.Composer) {
		c.Object("")
		c.Text("callId", x.call.ID())
		c.Text("stage", stage)
		composeText(c, "by", by)
		c.Text("decision", decision)
		composeText(c, "reason", shortened(reason))
		composeMillis(c, "ms", ms)
	})})
}

// recordResult is record for a stage that makes a result.
func (x *execution) recordResult(stage, by string, r Result, err error, began time.Time) {
	switch {
	case !x.records():
	case err != nil:
		x.record(stage, by, "error", textOf(err), began)
	case r.IsError():
		x.record(stage, by, "failure", r.get().message, began)
	default:
		x.record(stage, by, "success", "", began)
	}
}

// shortened is the beginning of a text, cut between words: a redactor behind the
// sink does not find a secret of which a part is left.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= maxStageReason {
		return text
	}
	head := string([]rune(text)[:maxStageReason])
	return head[:strings.LastIndexFunc(head, unicode.IsSpace)+1] + "…"
}
