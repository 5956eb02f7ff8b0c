package pipeline

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// journal writes the events of a pipeline, numbered and in order.
type journal struct {
	p        *Pipeline
	mu       sync.Mutex // held while the sink works, since its events are ordered
	seq      uint64
	time     int64 // of the latest event
	reported bool
}

// emit writes one event and returns it as it was written. Its time is never before
// that of the event before it, also where the clock goes back. Without a sink it
// does nothing.
func (j *journal) emit(e Event) (Event, error) {
	if j.p.opts.Sink == nil {
		return Event{}, nil
	}
	now := j.p.now().UnixMilli()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.time = max(j.time, now)
	e.Seq, e.Time = j.seq, j.time
	j.seq++
	if err := j.write(e); err != nil {
		j.report(e, err)
		return e, err
	}
	return e, nil
}

func (j *journal) write(e Event) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked("event sink", r)
		}
	}()
	return j.p.opts.Sink.Emit(e)
}

// report tells the host once; a full disk would otherwise fill the log too.
func (j *journal) report(e Event, err error) {
	if j.reported {
		return
	}
	j.reported = true
	j.p.log.Error("event sink failed; further failures are not reported", "event", e.Type, "seq", e.Seq, "error", textOf(err))
}

// announce writes the event that a call has begun. Its failure fails the call
// only where a log is required.
func (x *execution) announce() error {
	if x.outcast || x.p.opts.Sink == nil {
		return nil
	}
	e := Event{Type: EventToolCall}
	if x.parent != nil {
		e.Type = EventCodeDispatchStart
		e.Data = tools.ComposeObject(x.dispatchMembers()...)
	} else {
		e.Data = x.p.journal.callData(x)
	}
	e, err := x.p.journal.emit(e)
	x.callSeq = e.Seq
	if err != nil && x.p.opts.LogRequired {
		return fmt.Errorf("the call was not run because it could not be logged: %w", err)
	}
	return nil
}

func (j *journal) callData(x *execution) tools.JSON {
	return tools.ComposeObject(
		tools.Member{Name: "turn", Value: intJSON(int64(x.req.Turn))},
		tools.Member{Name: "step", Value: intJSON(int64(x.req.Step))},
		tools.Member{Name: "callId", Value: tools.StringJSON(x.call.ID())},
		tools.Member{Name: "name", Value: tools.StringJSON(x.call.Name())},
		tools.Member{Name: "arguments", Value: tools.StringJSON(x.req.Args)},
	)
}

// dispatchMembers are the properties both events of a nested call have.
func (x *execution) dispatchMembers() []tools.Member {
	args := x.call.Args()
	if args.IsZero() {
		args = tools.StringJSON(x.req.Args)
	}
	return []tools.Member{
		{Name: "rootCallId", Value: tools.StringJSON(x.call.RootID())},
		{Name: "parentCallId", Value: tools.StringJSON(x.call.ParentID())},
		{Name: "subCallId", Value: tools.StringJSON(x.call.ID())},
		{Name: "name", Value: tools.StringJSON(x.call.Name())},
		{Name: "arguments", Value: args},
	}
}

// result writes the event that a call has settled.
func (j *journal) result(x *execution, o Outcome) {
	if x.outcast || j.p.opts.Sink == nil {
		return
	}
	written := false
	defer func() {
		if !written { // the tool's Render ended the goroutine; it is not called again
			j.settled(x, o)
		}
	}()
	j.settled(x, o)
	written = true
}

func (j *journal) settled(x *execution, o Outcome) {
	e := Event{Type: EventCodeDispatch}
	if x.parent != nil {
		e.Data = dispatchData(x, o)
	} else {
		e = Event{
			Type: EventToolResult, Data: j.resultData(x, o),
			SurfaceOp: SurfaceAppend, SourceEventSeqs: []uint64{x.callSeq},
		}
	}
	if e, err := j.emit(e); err == nil {
		o.get().logged.Store(e.Time)
	}
}

// loggedValue is the value of a success, if values are logged.
func (j *journal) loggedValue(o Outcome) tools.JSON {
	if !j.p.opts.Values || o.IsError() {
		return tools.JSON{}
	}
	return o.Value()
}

func dispatchData(x *execution, o Outcome) tools.JSON {
	members := append(x.dispatchMembers(),
		tools.Member{Name: "isError", Value: boolJSON(o.IsError())},
		tools.Member{Name: "content", Value: contentJSON(o.get().result.get().content())},
		tools.Member{Name: "value", Value: x.p.journal.loggedValue(o)},
		tools.Member{Name: "error", Value: errorJSON(o.Err())},
		tools.Member{Name: "state", Value: tools.StringJSON(string(o.State()))},
		tools.Member{Name: "durationMs", Value: millisJSON(o.Took())},
	)
	if n := o.Dropped(); n > 0 {
		members = append(members, tools.Member{Name: "droppedContexts", Value: intJSON(int64(n))})
	}
	if line := x.req.Site.Line; line > 0 {
		members = append(members, tools.Member{Name: "line", Value: intJSON(int64(line))})
	}
	return tools.ComposeObject(members...)
}

// resultData is the data of tool/result: a user message that holds the result
// block under the model's call id.
func (j *journal) resultData(x *execution, o Outcome) tools.JSON {
	id := tools.StringJSON(x.call.ID())
	block := tools.ComposeObject(
		tools.Member{Name: "type", Value: tools.StringJSON("tool-result")},
		tools.Member{Name: "toolCallId", Value: id},
		tools.Member{Name: "content", Value: contentJSON(o.get().result.get().content())},
		tools.Member{Name: "isError", Value: boolJSON(o.IsError())},
	)
	message := tools.ComposeObject(
		tools.Member{Name: "id", Value: tools.StringJSON(j.p.newID())},
		tools.Member{Name: "role", Value: tools.StringJSON("user")},
		tools.Member{Name: "source", Value: tools.ComposeObject(
			tools.Member{Name: "kind", Value: tools.StringJSON("tool")},
			tools.Member{Name: "callId", Value: id},
		)},
		tools.Member{Name: "content", Value: tools.ComposeArray(block)},
	)
	return tools.ComposeObject(
		tools.Member{Name: "turn", Value: intJSON(int64(x.req.Turn))},
		tools.Member{Name: "step", Value: intJSON(int64(x.req.Step))},
		tools.Member{Name: "message", Value: message},
		tools.Member{Name: "value", Value: j.loggedValue(o)},
		tools.Member{Name: "error", Value: errorJSON(o.Err())},
	)
}

// asked writes that an approver is asked. Its failure keeps the question from
// being put only where a log is required.
func (j *journal) asked(ask ApprovalRequest) error {
	if j.p.opts.Sink == nil {
		return nil
	}
	call := ask.Call
	members := []tools.Member{
		{Name: "id", Value: tools.StringJSON(ask.ID)},
		{Name: "toolName", Value: tools.StringJSON(call.Name())},
		{Name: "callId", Value: tools.StringJSON(call.ID())},
		{Name: "reason", Value: textOrNone(ask.Reason)},
		{Name: "by", Value: textOrNone(ask.By)},
		{Name: "digest", Value: tools.StringJSON(ask.Digest())},
		{Name: "parentCallId", Value: textOrNone(call.ParentID())},
	}
	if line := call.Site().Line; line > 0 {
		members = append(members, tools.Member{Name: "line", Value: intJSON(int64(line))})
	}
	_, err := j.emit(Event{Type: EventApprovalAsked, Ignorable: true, Data: tools.ComposeObject(members...)})
	if err != nil && j.p.opts.LogRequired {
		return fmt.Errorf("the question could not be logged: %w", err)
	}
	return nil
}

// decided writes what became of a question.
func (j *journal) decided(ask ApprovalRequest, answer Answer) {
	_, _ = j.emit(Event{Type: EventApprovalDecided, Ignorable: true, Data: tools.ComposeObject(
		tools.Member{Name: "id", Value: tools.StringJSON(ask.ID)},
		tools.Member{Name: "outcome", Value: tools.StringJSON(answer.String())},
	)})
}

// context writes a user/message event.
func (j *journal) context(m tools.Message) {
	_, _ = j.emit(Event{Type: EventUserMessage, SurfaceOp: SurfaceAppend, Data: tools.ComposeObject(
		tools.Member{Name: "id", Value: tools.StringJSON(m.ID)},
		tools.Member{Name: "role", Value: tools.StringJSON(m.Role)},
		tools.Member{Name: "content", Value: contentJSON(m.Content)},
		tools.Member{Name: "source", Value: tools.ComposeObject(
			tools.Member{Name: "kind", Value: tools.StringJSON(m.Source.Kind)},
			tools.Member{Name: "plugin", Value: textOrNone(m.Source.Plugin)},
			tools.Member{Name: "callId", Value: textOrNone(m.Source.CallID)},
		)},
	)})
}

// errorJSON is the identity of a failure, nothing for one that has none. Its
// text stands in the content only, as in DSH; who denied is ours.
func errorJSON(err error) tools.JSON {
	info := infoOf(err)
	if err == nil || info == (tools.ErrorInfo{}) {
		return tools.JSON{}
	}
	members := []tools.Member{
		{Name: "name", Value: tools.StringJSON(info.Name)},
		{Name: "code", Value: tools.StringJSON(info.Code)},
	}
	if denied, ok := find[*DeniedError](err); ok {
		members = append(members,
			tools.Member{Name: "origin", Value: textOrNone(denied.Origin)},
			tools.Member{Name: "by", Value: textOrNone(denied.By)})
	}
	return tools.ComposeObject(members...)
}

func contentJSON(blocks []tools.Content) tools.JSON {
	items := make([]tools.JSON, len(blocks))
	for i, b := range blocks {
		text := textOrNone(b.Text)
		if b.Type == tools.ContentText {
			text = tools.StringJSON(b.Text)
		}
		items[i] = tools.ComposeObject(
			tools.Member{Name: "type", Value: tools.StringJSON(b.Type)},
			tools.Member{Name: "text", Value: text},
			tools.Member{Name: "data", Value: textOrNone(b.Data)},
			tools.Member{Name: "mimeType", Value: textOrNone(b.MIMEType)},
			tools.Member{Name: "uri", Value: textOrNone(b.URI)},
		)
	}
	return tools.ComposeArray(items...)
}

// millisJSON is a duration in milliseconds with three decimals at most.
func millisJSON(d time.Duration) tools.JSON {
	ms := math.Round(float64(d)/float64(time.Microsecond)) / 1000
	return tools.MustJSON(strconv.FormatFloat(ms, 'f', -1, 64))
}
