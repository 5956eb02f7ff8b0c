package eventlog

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// The codes of calls whose session ended before they did, as DSH names them.
const (
	CodeNotStarted     = "TOOL_NOT_STARTED"
	CodeOutcomeUnknown = "TOOL_OUTCOME_UNKNOWN"
)

// OpenCall is a call whose result is not in the log, since its session ended
// first.
type OpenCall struct {
	ID       string
	ParentID string // of the call whose body made it, "" for a model's call
	Name     string
	// Arguments is their text as the log has it: what a model sent, or the JSON
	// of a nested call's. It is cut if its event was.
	Arguments string
	// Seq is of the event that announced the call or, for one that was never
	// announced, of the assistant/message that asks for it.
	Seq  uint64
	Code string // CodeNotStarted or CodeOutcomeUnknown
	Text string // what a model is told, without "Error: "
}

// OpenCalls lists the calls that c leaves open, in the order of the log, nested
// ones included. It is nil if every call has its result. What is said of them is
// true of a session that has ended: while a log is being written, its open calls
// are simply running.
//
// A call is announced before policy sees it, and no event says that its body
// has begun, so an announced call may have run: its outcome is unknown. Events
// of hooks and approvals do not change that, since bodies may ask too. The body
// of a call cannot have begun if the last assistant/message asks for the call,
// its step has not ended, and the call was not announced. Then it was not
// started, unless the log shows that something is missing: a number left out or
// torn bytes after the message, or a call nested under this one. That conclusion
// needs a pipeline with LogRequired and a machine that kept what was written: an
// announcement that left no trace proves nothing.
//
// A result answers the announcement it names in its SourceEventSeqs; if it names
// none, and for nested calls, it answers the latest open call of its ids, so a
// call that an earlier run left open stays open although a later run used its id
// again. Messages that replace earlier ones neither ask nor answer.
func (c Contents) OpenCalls() []OpenCall {
	var calls []OpenCall
	for _, o := range c.open() {
		calls = append(calls, o.OpenCall)
	}
	return calls
}

// RepairOptions changes what Repair writes. The zero value is useful.
type RepairOptions struct {
	Now   func() time.Time // nil: time.Now
	NewID func() string    // makes the ids of messages; nil: random ones
}

// Repair makes the events that settle the calls of OpenCalls as failures with
// the code and text found there: approval/decided, cancelled, for each question
// that was open, a tool/code-dispatch for each nested call, inner before outer
// ones, then a tool/result for each call of a model, however far back that call
// stands. It writes nothing. Emit the events to the log, in
// order, before anything else: their numbers are those that follow c once the
// function Open has sealed a torn tail. Contents that hold them have no open
// calls, and a Log refuses them a second time. If only some of them were
// written, read again and repair the rest. Nil is RepairOptions of nothing.
func (c Contents) Repair(opts *RepairOptions) []pipeline.Event {
	now, newID := time.Now, rand.Text
	if opts != nil && opts.Now != nil {
		now = opts.Now
	}
	if opts != nil && opts.NewID != nil {
		newID = opts.NewID
	}
	calls := c.open()
	slices.SortStableFunc(calls, func(a, b *openCall) int { return cmp.Compare(b.depth, a.depth) })
	var events []pipeline.Event
	for _, id := range c.openQuestions() {
		events = append(events, pipeline.Event{Type: pipeline.EventApprovalDecided, Ignorable: true, Data: tools.ComposeObject(
			tools.Member{Name: "id", Value: id},
			tools.Member{Name: "outcome", Value: tools.StringJSON(pipeline.Cancelled.String())},
		)})
	}
	for _, o := range calls {
		events = append(events, o.settled(newID))
	}
	seq := c.nextSeq()
	for i := range events {
		events[i].Seq, events[i].Time = seq, now().UnixMilli()
		seq++
	}
	return events
}

// openQuestions lists the ids of the questions that were put to a person and
// never decided, in the order of the log.
func (c Contents) openQuestions() []tools.JSON {
	var open []tools.JSON
	for _, e := range c.Events {
		switch e.Type {
		case pipeline.EventApprovalAsked:
			if id := questionID(e.Data); !id.IsZero() {
				open = append(open, id)
			}
		case pipeline.EventApprovalDecided:
			open = slices.DeleteFunc(open, func(id tools.JSON) bool { return id == questionID(e.Data) })
		}
	}
	return open
}

// questionID is the id of a question, zero if it cannot be read.
func questionID(data tools.JSON) tools.JSON {
	var question struct {
		ID tools.JSON `json:"id"`
	}
	if data.Unmarshal(&question) != nil || question.ID.Kind() != '"' {
		return tools.JSON{}
	}
	return question.ID
}

// nextSeq is what NextSeq is of a Log opened on the file.
func (c Contents) nextSeq() uint64 {
	next := uint64(0)
	if c.any {
		next = c.last + 1
	}
	if n := len(c.Events); n > 0 {
		next = max(next, c.Events[n-1].Seq+1) // of contents that were not read
	}
	if c.tornTail() {
		next++ // the seal's
	}
	return next
}

func (c Contents) tornTail() bool {
	n := len(c.Torn)
	return n > 0 && !c.Torn[n-1].Sealed
}

// openCall is a call on its way through the log.
type openCall struct {
	OpenCall
	id        tools.JSON // as the log spells it, unpaired surrogates and all
	parent    tools.JSON
	data      callData
	depth     int  // of nesting, 0 for a model's call
	announced bool // not only asked for
	suspect   bool // something is missing in the log, or a call is nested under this one
}

// callData is what the events of calls say of one, zero where they do not.
type callData struct {
	Turn         tools.JSON `json:"turn"`
	Step         tools.JSON `json:"step"`
	CallID       tools.JSON `json:"callId"`
	RootCallID   tools.JSON `json:"rootCallId"`
	ParentCallID tools.JSON `json:"parentCallId"`
	SubCallID    tools.JSON `json:"subCallId"`
	Name         tools.JSON `json:"name"`
	Arguments    tools.JSON `json:"arguments"`
	Cut          tools.JSON `json:"cut"`
}

// ledger is the calls that are open at one place of the log.
type ledger struct {
	calls      []*openCall
	turn, step tools.JSON // of the last step/start
}

func (c Contents) open() []*openCall {
	var l ledger
	for i, e := range c.Events {
		if i > 0 && e.Seq != c.Events[i-1].Seq+1 {
			l.suspectAll()
		}
		l.take(e)
	}
	if n := len(c.Events); c.tornTail() || c.any && n > 0 && c.last != c.Events[n-1].Seq {
		l.suspectAll()
	}
	for _, o := range l.calls {
		o.judge()
	}
	return l.calls
}

func (l *ledger) suspectAll() {
	for _, o := range l.calls {
		o.suspect = true
	}
}

func (l *ledger) take(e pipeline.Event) {
	var data callData
	switch e.Type {
	case pipeline.EventToolCall:
		if e.Data.Unmarshal(&data) == nil {
			l.announce(e.Seq, data)
		}
	case pipeline.EventCodeDispatchStart:
		if e.Data.Unmarshal(&data) == nil {
			l.nest(e.Seq, data)
		}
	case pipeline.EventCodeDispatch:
		if e.Data.Unmarshal(&data) == nil {
			l.settleNested(data.ParentCallID, data.SubCallID)
		}
	case pipeline.EventToolResult:
		if !rewrites(e) {
			l.settle(resultID(e.Data), e.SourceEventSeqs)
		}
	case "assistant/message":
		if !rewrites(e) {
			l.forgetRequests()
			l.request(e)
		}
	case "step/start":
		l.forgetRequests()
		if e.Data.Unmarshal(&data) == nil {
			l.turn, l.step = data.Turn, data.Step
		}
	case "step/end", "turn/start", "turn/end", "session/start", "session/end":
		l.forgetRequests()
	}
}

// rewrites reports whether a message takes the place of earlier ones.
func rewrites(e pipeline.Event) bool {
	return e.SurfaceOp != "" && e.SurfaceOp != pipeline.SurfaceAppend
}

// request notes the calls a message asks for.
func (l *ledger) request(e pipeline.Event) {
	var message struct {
		Content []tools.JSON `json:"content"`
	}
	if e.Data.Unmarshal(&message) != nil {
		return
	}
	for _, item := range message.Content {
		var block struct {
			Type      tools.JSON `json:"type"`
			ID        tools.JSON `json:"id"`
			Name      tools.JSON `json:"name"`
			Arguments tools.JSON `json:"arguments"`
		}
		if item.Unmarshal(&block) != nil || textOf(block.Type) != "tool-call" {
			continue
		}
		l.add(&openCall{OpenCall: OpenCall{Seq: e.Seq}, id: block.ID, data: callData{
			Turn: l.turn, Step: l.step, Name: block.Name, Arguments: block.Arguments,
		}})
	}
}

// add notes an open call. One without an id could not be answered.
func (l *ledger) add(o *openCall) {
	if o.id.Kind() == '"' {
		l.calls = append(l.calls, o)
	}
}

// forgetRequests drops what was asked for and never announced.
func (l *ledger) forgetRequests() {
	l.calls = slices.DeleteFunc(l.calls, func(o *openCall) bool { return !o.announced })
}

// announce takes the place of the request, so that the order stays the model's.
func (l *ledger) announce(seq uint64, data callData) {
	o := &openCall{OpenCall: OpenCall{Seq: seq}, id: data.CallID, data: data, announced: true}
	asked := slices.IndexFunc(l.calls, func(r *openCall) bool { return !r.announced && r.id == o.id })
	if asked < 0 {
		l.add(o)
		return
	}
	l.calls[asked] = o
}

func (l *ledger) nest(seq uint64, data callData) {
	o := &openCall{
		OpenCall: OpenCall{Seq: seq}, id: data.SubCallID, parent: data.ParentCallID,
		data: data, announced: true, depth: 1,
	}
	if i := l.latest(func(p *openCall) bool { return p.id == o.parent }); i >= 0 {
		l.calls[i].suspect = true
		o.depth = l.calls[i].depth + 1
	}
	l.add(o)
}

func (l *ledger) settleNested(parent, id tools.JSON) {
	l.remove(l.latest(func(o *openCall) bool { return o.depth > 0 && o.parent == parent && o.id == id }))
}

// settle takes a result. Its id is zero if it could not be read.
func (l *ledger) settle(id tools.JSON, sources []uint64) {
	named := slices.IndexFunc(l.calls, func(o *openCall) bool {
		return o.depth == 0 && (id.IsZero() || o.id == id) && slices.Contains(sources, o.Seq)
	})
	if named < 0 {
		// A result that names another announcement still answers a request: the
		// announcement is what was lost.
		named = l.latest(func(o *openCall) bool {
			return o.depth == 0 && o.id == id && (len(sources) == 0 || !o.announced)
		})
	}
	l.remove(named)
}

// latest is the index of the last call that is meant, -1 for none.
func (l *ledger) latest(meant func(*openCall) bool) int {
	for i, o := range slices.Backward(l.calls) {
		if meant(o) {
			return i
		}
	}
	return -1
}

func (l *ledger) remove(i int) {
	if i >= 0 {
		l.calls = slices.Delete(l.calls, i, i+1)
	}
}

// resultID is the id of the call a tool/result answers, zero if it cannot be
// read.
func resultID(data tools.JSON) tools.JSON {
	var result struct {
		Message struct {
			Source struct {
				CallID tools.JSON `json:"callId"`
			} `json:"source"`
		} `json:"message"`
	}
	if data.Unmarshal(&result) != nil || result.Message.Source.CallID.Kind() != '"' {
		return tools.JSON{}
	}
	return result.Message.Source.CallID
}

// judge says what became of the call.
func (o *openCall) judge() {
	o.ID, o.ParentID = textOf(o.id), textOf(o.parent)
	o.Name, o.Arguments = textOf(o.data.Name), textOf(o.data.Arguments)
	if o.announced || o.suspect {
		o.Code = CodeOutcomeUnknown
		o.Text = fmt.Sprintf("outcome of tool %q unknown: the session ended before its result was recorded; it may have taken effect, in part or as a whole, so check what it has done before calling it again", o.Name)
		return
	}
	o.Code = CodeNotStarted
	o.Text = fmt.Sprintf("tool %q was not started: the session ended before the call was made, so it has had no effect; call it again if it is still needed", o.Name)
}

// settled is the event that ends the call, number and time left out, in the
// shape the pipeline gives it. State and duration of a nested call are unknown.
func (o *openCall) settled(newID func() string) pipeline.Event {
	content := tools.ComposeArray(tools.ComposeObject(
		tools.Member{Name: "type", Value: tools.StringJSON(tools.ContentText)},
		tools.Member{Name: "text", Value: tools.StringJSON("Error: " + o.Text)},
	))
	if o.depth > 0 {
		return pipeline.Event{Type: pipeline.EventCodeDispatch, Data: o.dispatchData(content)}
	}
	return pipeline.Event{
		Type: pipeline.EventToolResult, Data: o.resultData(newID(), content),
		SurfaceOp: pipeline.SurfaceAppend, SourceEventSeqs: []uint64{o.Seq},
	}
}

func (o *openCall) dispatchData(content tools.JSON) tools.JSON {
	return tools.ComposeObject(
		tools.Member{Name: "rootCallId", Value: o.data.RootCallID},
		tools.Member{Name: "parentCallId", Value: o.data.ParentCallID},
		tools.Member{Name: "subCallId", Value: o.data.SubCallID},
		tools.Member{Name: "name", Value: o.data.Name},
		tools.Member{Name: "arguments", Value: o.data.Arguments},
		tools.Member{Name: "isError", Value: isError},
		tools.Member{Name: "content", Value: content},
		tools.Member{Name: "error", Value: o.errorJSON()},
		tools.Member{Name: "cut", Value: o.data.Cut}, // its paths are those of the five above
	)
}

func (o *openCall) resultData(messageID string, content tools.JSON) tools.JSON {
	block := tools.ComposeObject(
		tools.Member{Name: "type", Value: tools.StringJSON("tool-result")},
		tools.Member{Name: "toolCallId", Value: o.id},
		tools.Member{Name: "content", Value: content},
		tools.Member{Name: "isError", Value: isError},
	)
	message := tools.ComposeObject(
		tools.Member{Name: "id", Value: tools.StringJSON(messageID)},
		tools.Member{Name: "role", Value: tools.StringJSON("user")},
		tools.Member{Name: "source", Value: tools.ComposeObject(
			tools.Member{Name: "kind", Value: tools.StringJSON("tool")},
			tools.Member{Name: "callId", Value: o.id},
		)},
		tools.Member{Name: "content", Value: tools.ComposeArray(block)},
	)
	return tools.ComposeObject(
		tools.Member{Name: "turn", Value: o.data.Turn},
		tools.Member{Name: "step", Value: o.data.Step},
		tools.Member{Name: "message", Value: message},
		tools.Member{Name: "error", Value: o.errorJSON()},
	)
}

var isError = tools.MustJSON("true")

func (o *openCall) errorJSON() tools.JSON {
	name := "ToolOutcomeUnknownError"
	if o.Code == CodeNotStarted {
		name = "ToolNotStartedError"
	}
	return tools.ComposeObject(
		tools.Member{Name: "name", Value: tools.StringJSON(name)},
		tools.Member{Name: "code", Value: tools.StringJSON(o.Code)},
	)
}

// textOf is a string's text, of anything else the JSON.
func textOf(j tools.JSON) string {
	if text, ok := j.Text(); ok {
		return text
	}
	return j.String()
}
