package pipelinetest

import (
	"slices"
	"sync"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Recorder is a sink that keeps the events. The zero value is ready; it is safe
// for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	events []pipeline.Event
	fail   map[string]error
}

// FailOn makes Emit refuse events of a type with err; nil ends it. Refused
// events are not kept.
func (r *Recorder) FailOn(eventType string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail == nil {
		r.fail = map[string]error{}
	}
	r.fail[eventType] = err
}

// Emit keeps e.
func (r *Recorder) Emit(e pipeline.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fail[e.Type]; err != nil {
		return err
	}
	r.events = append(r.events, e)
	return nil
}

// Events is a copy of what was recorded.
func (r *Recorder) Events() []pipeline.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Types lists the types of the events in order.
func (r *Recorder) Types() []string {
	types := []string{}
	for _, e := range r.Events() {
		types = append(types, e.Type)
	}
	return types
}

// Calls lists the events in the short form of their type's last word and the
// id of the call, or of the message, they are about: "call c1", "result c1",
// "code-dispatch-start c1:code:1", "message m7". Those of approvals and stages
// are left out.
func (r *Recorder) Calls() []string {
	short := []string{}
	for _, e := range r.Events() {
		switch e.Type {
		case pipeline.EventApprovalAsked, pipeline.EventApprovalDecided, pipeline.EventStage:
		default:
			short = append(short, shortForm(e))
		}
	}
	return short
}

// Data lists the data of the events of a type.
func (r *Recorder) Data(eventType string) []tools.JSON {
	data := []tools.JSON{}
	for _, e := range r.Events() {
		if e.Type == eventType {
			data = append(data, e.Data)
		}
	}
	return data
}

func shortForm(e pipeline.Event) string {
	var data struct {
		ID        string `json:"id"`
		CallID    string `json:"callId"`
		SubCallID string `json:"subCallId"`
		Message   struct {
			Source struct {
				CallID string `json:"callId"`
			} `json:"source"`
		} `json:"message"`
	}
	if err := e.Data.Unmarshal(&data); err != nil {
		return e.Type + " with data that cannot be read: " + err.Error()
	}
	switch e.Type {
	case pipeline.EventToolCall:
		return "call " + data.CallID
	case pipeline.EventToolResult:
		return "result " + data.Message.Source.CallID
	case pipeline.EventCodeDispatchStart:
		return "code-dispatch-start " + data.SubCallID
	case pipeline.EventCodeDispatch:
		return "code-dispatch " + data.SubCallID
	case pipeline.EventUserMessage:
		return "message " + data.ID
	}
	return e.Type
}
