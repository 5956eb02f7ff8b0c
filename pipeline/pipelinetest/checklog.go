package pipelinetest

import (
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// CheckLog says what is wrong with the events of a pipeline whose calls have
// all settled, a sentence for each problem, nil for none. It is for tests of
// schedulers, sinks and tools that nest calls. In a sound log
//
//   - the numbers of the events rise,
//   - every call is announced once and answered once after that, under the same
//     ids and name, and no two open calls have one id,
//   - a nested call lies between the announcement and the answer of its parent,
//     and serves the root its parent serves,
//   - a question is about an open call, and is decided once, before the call is
//     answered,
//   - the record of a stage lies within its call.
//
// Events of other types are passed over. A log whose sink refused events need not
// be sound, nor that of a session that died.
func CheckLog(events []pipeline.Event) (problems []string) {
	c := &logCheck{}
	for i, e := range events {
		c.at = fmt.Sprintf("event %d, %s", e.Seq, e.Type)
		if i > 0 && e.Seq <= events[i-1].Seq {
			c.report("its number does not follow %d", events[i-1].Seq)
		}
		c.take(e)
	}
	c.at = "end of the log"
	for _, call := range c.open {
		c.report("call %s was never answered", call.id)
	}
	return c.problems
}

// logCheck is a log read up to one place.
type logCheck struct {
	problems  []string
	at        string
	open      []*logCall
	questions []*logQuestion
}

// logQuestion is a question about a call, which is nil once it is decided.
type logQuestion struct {
	id   tools.JSON
	call *logCall
}

// logCall is an open call. Ids are JSON, as the log spells them.
type logCall struct {
	root, parent, id, name tools.JSON // parent is zero for a model's call
	seq                    uint64
}

// logData is what the events say that are looked at.
type logData struct {
	ID           tools.JSON `json:"id"`
	CallID       tools.JSON `json:"callId"`
	RootCallID   tools.JSON `json:"rootCallId"`
	ParentCallID tools.JSON `json:"parentCallId"`
	SubCallID    tools.JSON `json:"subCallId"`
	Name         tools.JSON `json:"name"`
	Message      struct {
		Source struct {
			CallID tools.JSON `json:"callId"`
		} `json:"source"`
	} `json:"message"`
}

func (c *logCheck) report(format string, args ...any) {
	c.problems = append(c.problems, c.at+": "+fmt.Sprintf(format, args...))
}

func (c *logCheck) take(e pipeline.Event) {
	var read func(logData)
	switch e.Type {
	case pipeline.EventToolCall:
		read = func(d logData) { c.announce(&logCall{root: d.CallID, id: d.CallID, name: d.Name, seq: e.Seq}) }
	case pipeline.EventCodeDispatchStart:
		read = func(d logData) {
			c.nest(&logCall{root: d.RootCallID, parent: d.ParentCallID, id: d.SubCallID, name: d.Name, seq: e.Seq})
		}
	case pipeline.EventToolResult:
		read = func(d logData) { c.answer(d.Message.Source.CallID, e.SourceEventSeqs) }
	case pipeline.EventCodeDispatch:
		read = c.answerNested
	case pipeline.EventApprovalAsked:
		read = c.ask
	case pipeline.EventApprovalDecided:
		read = c.decide
	case pipeline.EventStage:
		read = func(d logData) { c.mustBeOpen(d.CallID) }
	default:
		return
	}
	var data logData
	if err := e.Data.Unmarshal(&data); err != nil {
		c.report("its data cannot be read: %v", err)
		return
	}
	read(data)
}

func (c *logCheck) announce(call *logCall) {
	switch empty := tools.StringJSON(""); {
	case call.id.Kind() != '"' || call.id == empty:
		c.report("the call has no id")
	case c.find(call.id) != nil:
		c.report("call %s is announced while a call of that id is open", call.id)
	}
	c.open = append(c.open, call)
}

func (c *logCheck) nest(call *logCall) {
	switch parent := c.find(call.parent); {
	case parent == nil:
		c.report("call %s is announced under %s, which is not open", call.id, call.parent)
	case parent.root != call.root:
		c.report("call %s serves the root %s, its parent serves %s", call.id, call.root, parent.root)
	}
	c.announce(call)
}

func (c *logCheck) answer(id tools.JSON, sources []uint64) {
	call := c.find(id)
	if call == nil || !call.parent.IsZero() || !slices.Equal(sources, []uint64{call.seq}) {
		c.report("call %s is answered, citing %v, and no such announcement is open", id, sources)
		return
	}
	c.settle(call)
}

func (c *logCheck) answerNested(d logData) {
	call := c.find(d.SubCallID)
	if call == nil || call.parent.IsZero() {
		c.report("call %s is answered and is not open", d.SubCallID)
		return
	}
	if call.root != d.RootCallID || call.parent != d.ParentCallID || call.name != d.Name {
		c.report("call %s of %s under %s for %s was announced as one of %s under %s for %s",
			d.SubCallID, d.Name, d.ParentCallID, d.RootCallID, call.name, call.parent, call.root)
	}
	c.settle(call)
}

// settle closes a call; nothing that belongs to it may be open.
func (c *logCheck) settle(call *logCall) {
	for _, other := range c.open {
		if other.parent == call.id {
			c.report("call %s is answered before %s, which is nested under it", call.id, other.id)
		}
	}
	for _, q := range c.questions {
		if q.call == call {
			c.report("call %s is answered before the question %s about it is decided", call.id, q.id)
		}
	}
	c.open = slices.DeleteFunc(c.open, func(o *logCall) bool { return o == call })
}

func (c *logCheck) ask(d logData) {
	call := c.mustBeOpen(d.CallID)
	if q := c.question(d.ID); q != nil {
		c.report("the question %s is asked a second time", d.ID)
		q.call = call
		return
	}
	c.questions = append(c.questions, &logQuestion{d.ID, call})
}

func (c *logCheck) decide(d logData) {
	q := c.question(d.ID)
	if q == nil || q.call == nil {
		c.report("the question %s is decided and is not open", d.ID)
		return
	}
	q.call = nil
}

func (c *logCheck) question(id tools.JSON) *logQuestion {
	for _, q := range c.questions {
		if q.id == id {
			return q
		}
	}
	return nil
}

func (c *logCheck) mustBeOpen(id tools.JSON) *logCall {
	call := c.find(id)
	if call == nil {
		c.report("call %s is not open", id)
	}
	return call
}

// find is the latest open call of an id, nil for none.
func (c *logCheck) find(id tools.JSON) *logCall {
	for _, call := range slices.Backward(c.open) {
		if call.id == id {
			return call
		}
	}
	return nil
}
