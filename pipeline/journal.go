package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

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
func (j *journal) emit(e Event) (Event, error) { return j.emitLong(e, nil) }

// emitLong is emit of an event that lacks its long texts, if there are any; see
// LongSink.
func (j *journal) emitLong(e Event, long map[string]string) (Event, error) {
	if j.p.opts.Sink == nil {
		return Event{}, nil
	}
	now := j.p.now().UnixMilli()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.time = max(j.time, now)
	e.Seq, e.Time = j.seq, j.time
	j.seq++
	if err := j.write(e, long); err != nil {
		j.report(e, err)
		return e, err
	}
	return e, nil
}

func (j *journal) write(e Event, long map[string]string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked("event sink", r)
		}
	}()
	if long != nil {
		return j.p.opts.Sink.(LongSink).EmitLong(e, long) // they were taken apart for it
	}
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
		e.Data = tools.Compose(func(c *tools.Composer) {
			c.Object("")
			x.dispatchMembers(c)
		})
	} else {
		e.Data = x.callData()
	}
	e, err := x.p.journal.emit(e)
	x.callSeq = e.Seq
	if err != nil && x.p.opts.LogRequired {
		return fmt.Errorf("the call was not run because it could not be logged: %w", err)
	}
	return nil
}

func (x *execution) callData() tools.JSON {
	return tools.Compose(func(c *tools.Composer) {
		c.Object("")
		c.Int("turn", int64(x.req.Turn))
		c.Int("step", int64(x.req.Step))
		c.Text("callId", x.call.ID())
		c.Text("name", x.call.Name())
		c.Text("arguments", x.req.Args)
	})
}

// dispatchMembers are the properties both events of a nested call have.
func (x *execution) dispatchMembers(c *tools.Composer) {
	c.Text("rootCallId", x.call.RootID())
	c.Text("parentCallId", x.call.ParentID())
	c.Text("subCallId", x.call.ID())
	c.Text("name", x.call.Name())
	if args := x.call.Args(); !args.IsZero() {
		c.Value("arguments", args)
	} else {
		c.Text("arguments", x.req.Args)
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
	e, content := Event{Type: EventCodeDispatch}, o.get().result.get().content()
	var long map[string]string
	if x.parent != nil {
		content, long = j.apart(content, "/content")
		e.Data = dispatchData(x, o, content)
	} else {
		content, long = j.apart(content, "/message/content/0/content")
		e = Event{
			Type: EventToolResult, Data: j.resultData(x, o, content),
			SurfaceOp: SurfaceAppend, SourceEventSeqs: []uint64{x.callSeq},
		}
	}
	if e, err := j.emitLong(e, long); err == nil {
		o.get().logged.Store(e.Time)
	}
}

// apart takes the long texts out of the blocks that stand at path in an event's
// data, if the sink takes them so.
func (j *journal) apart(blocks []tools.Content, path string) (rest []tools.Content, long map[string]string) {
	most := j.longText()
	if most <= 0 {
		return blocks, nil
	}
	rest = blocks
	for i, b := range blocks {
		if len(b.Text) <= most || b.Type != tools.ContentText || !utf8.ValidString(b.Text) {
			continue
		}
		if long == nil {
			rest, long = slices.Clone(blocks), map[string]string{}
		}
		rest[i].Text, long[path+"/"+strconv.Itoa(i)+"/text"] = "", b.Text
	}
	return rest, long
}

// longText is what the sink says of itself as a LongSink, 0 for another one and for
// one that panics.
func (j *journal) longText() (most int) {
	sink, ok := j.p.opts.Sink.(LongSink)
	if !ok {
		return 0
	}
	defer func() {
		if recover() != nil {
			most = 0
		}
	}()
	return sink.LongText(sink)
}

// loggedValue is the value of a success, if values are logged.
func (j *journal) loggedValue(o Outcome) tools.JSON {
	if !j.p.opts.Values || o.IsError() {
		return tools.JSON{}
	}
	return o.Value()
}

// dispatchData is the data of the event that a nested call has settled. Foreign
// code, such as an error's methods, is asked before anything is composed.
func dispatchData(x *execution, o Outcome, content []tools.Content) tools.JSON {
	value, failure := x.p.journal.loggedValue(o), errorJSON(o.Err())
	return tools.Compose(func(c *tools.Composer) {
		c.Object("")
		x.dispatchMembers(c)
		c.Bool("isError", o.IsError())
		composeContent(c, content)
		c.Value("value", value)
		c.Value("error", failure)
		c.Text("state", string(o.State()))
		composeMillis(c, "durationMs", o.Took())
		if n := o.Dropped(); n > 0 {
			c.Int("droppedContexts", int64(n))
		}
		if line := x.req.Site.Line; line > 0 {
			c.Int("line", int64(line))
		}
	})
}

// resultData is the data of tool/result: a user message that holds the result
// block under the model's call id.
func (j *journal) resultData(x *execution, o Outcome, content []tools.Content) tools.JSON {
	messageID, callID := j.p.newID(), x.call.ID()
	value, failure := j.loggedValue(o), errorJSON(o.Err())
	return tools.Compose(func(c *tools.Composer) {
		c.Object("")
		c.Int("turn", int64(x.req.Turn))
		c.Int("step", int64(x.req.Step))
		c.Object("message")
		c.Text("id", messageID)
		c.Text("role", "user")
		c.Object("source")
		c.Text("kind", "tool")
		c.Text("callId", callID)
		c.End()
		c.Array("content")
		c.Object("")
		c.Text("type", "tool-result")
		c.Text("toolCallId", callID)
		composeContent(c, content)
		c.Bool("isError", o.IsError())
		c.End()
		c.End()
		c.End()
		c.Value("value", value)
		c.Value("error", failure)
	})
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
	_, _ = j.emit(Event{Type: EventUserMessage, SurfaceOp: SurfaceAppend, Data: tools.Compose(func(c *tools.Composer) {
		c.Object("")
		c.Text("id", m.ID)
		c.Text("role", m.Role)
		composeContent(c, m.Content)
		c.Object("source")
		c.Text("kind", m.Source.Kind)
		composeText(c, "plugin", m.Source.Plugin)
		composeText(c, "callId", m.Source.CallID)
	})})
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

// composeContent writes blocks as the member "content".
func composeContent(c *tools.Composer, blocks []tools.Content) {
	c.Array("content")
	for _, b := range blocks {
		c.Object("")
		c.Text("type", b.Type)
		if b.Type == tools.ContentText {
			c.Text("text", b.Text)
		} else {
			composeText(c, "text", b.Text)
		}
		composeText(c, "data", b.Data)
		composeText(c, "mimeType", b.MIMEType)
		composeText(c, "uri", b.URI)
		c.End()
	}
	c.End()
}

// composeText writes a string, or nothing for "".
func composeText(c *tools.Composer, name, text string) {
	if text != "" {
		c.Text(name, text)
	}
}

// composeMillis writes a duration in milliseconds with three decimals at most.
func composeMillis(c *tools.Composer, name string, d time.Duration) {
	c.Float(name, math.Round(float64(d)/float64(time.Microsecond))/1000)
}
