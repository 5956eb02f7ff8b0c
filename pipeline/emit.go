package pipeline

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// Emit writes an event of a listener's own into the log, numbered among those
// of the calls and marked ignorable, so that readers who do not know its type
// pass over it. Without a Sink it does nothing. An error of the sink is reported
// to the Logger as for any other event, so the caller may ignore it. The types
// the pipeline writes itself, tool/..., pipeline/..., user/message and those of
// approvals, are refused: nobody else may add to what calls did. So is the zero
// JSON as data: no reader accepts an event without data.
func (p *Pipeline) Emit(eventType string, data tools.JSON) error {
	if ownType(eventType) {
		return fmt.Errorf("cannot emit an event of type %q: the pipeline writes tool/..., pipeline/..., user/message, approval/asked and approval/decided itself; use a type of your own", eventType)
	}
	if data.IsZero() {
		return fmt.Errorf("cannot emit an event of type %q: it has no data; give null if there is none", eventType)
	}
	_, err := p.journal.emit(Event{Type: eventType, Data: data, Ignorable: true})
	return err
}

// ownType reports whether only the pipeline writes events of a type.
func ownType(eventType string) bool {
	switch eventType {
	case "", EventUserMessage, EventApprovalAsked, EventApprovalDecided:
		return true
	}
	return strings.HasPrefix(eventType, "tool/") || strings.HasPrefix(eventType, "pipeline/")
}
