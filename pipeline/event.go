package pipeline

import (
	"errors"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// The types of event this package writes, as DSH names them.
const (
	EventToolCall          = "tool/call"
	EventToolResult        = "tool/result"
	EventCodeDispatchStart = "tool/code-dispatch-start"
	EventCodeDispatch      = "tool/code-dispatch"
	EventUserMessage       = "user/message"
	EventApprovalAsked     = "approval/asked"
	EventApprovalDecided   = "approval/decided"
)

// SurfaceAppend is the SurfaceOp of events that add to what the model sees.
const SurfaceAppend = "append"

// Event is one entry of a session's log: an envelope around data whose shape
// the type names. Readers refuse a type they do not know unless it is
// ignorable.
type Event struct {
	Type            string
	Seq             uint64
	Time            int64 // milliseconds since the epoch
	Data            tools.JSON
	Ignorable       bool
	SurfaceOp       string   // "" for none, SurfaceAppend, or the JSON text of an object
	SourceEventSeqs []uint64 // the events this one answers
}

// JSON is the event as it stands in a log, with the properties type, seq, time,
// data, ignorable, surfaceOp and sourceEventSeqs; the last three only if set.
func (e Event) JSON() tools.JSON { return tools.Compose(e.Compose) }

// MarshalJSON is JSON for codecs.
func (e Event) MarshalJSON() ([]byte, error) { return e.JSON().Bytes(), nil }

// Compose writes JSON at the root of c.
func (e Event) Compose(c *tools.Composer) {
	c.Object("")
	c.Text("type", e.Type)
	c.Uint("seq", e.Seq)
	c.Int("time", e.Time)
	c.Value("data", e.Data)
	if e.Ignorable {
		c.Bool("ignorable", true)
	}
	composeSurface(c, e.SurfaceOp)
	if e.SourceEventSeqs != nil {
		c.Array("sourceEventSeqs")
		for _, seq := range e.SourceEventSeqs {
			c.Uint("", seq)
		}
		c.End()
	}
	c.End()
}

func composeSurface(c *tools.Composer, op string) {
	switch {
	case op == "":
	case strings.HasPrefix(strings.TrimLeft(op, " \t\r\n"), "{"):
		if object, err := tools.ParseJSON(op); err == nil {
			c.Value("surfaceOp", object)
			return
		}
		fallthrough
	default:
		c.Text("surfaceOp", op)
	}
}

func intJSON(n int64) tools.JSON { return tools.MustJSON(strconv.FormatInt(n, 10)) }

// textOrNone is a JSON string, or nothing for "".
func textOrNone(s string) tools.JSON {
	if s == "" {
		return tools.JSON{}
	}
	return tools.StringJSON(s)
}

// Sink takes the events of a pipeline, one at a time and in order of Seq. The
// pipeline waits for it and holds its event lock meanwhile, so Emit must be
// quick and must never call back into the pipeline. A panic counts as an error.
type Sink interface {
	Emit(Event) error
}

// LongSink is a Sink that keeps no text whole that is longer than LongText says, so
// that the whole of it need not be written as a JSON string first. LongText is given
// the sink that the pipeline has, and is 0 if that is another one, which has this one
// inside and an Emit of its own, or if all events are to come by Emit. EmitLong is
// Emit of an event in whose data such texts, which are UTF-8, are still to be put:
// each has its place as a JSON pointer, where the data has the empty string. It must
// not change the map.
type LongSink interface {
	Sink
	LongText(of Sink) int
	EmitLong(e Event, long map[string]string) error
}

// SinkFunc is a function as a Sink.
type SinkFunc func(Event) error

// Emit calls f.
func (f SinkFunc) Emit(e Event) error { return f(e) }

// Tee sends every event to all sinks, in order, even if some fail, and reports
// all errors.
func Tee(sinks ...Sink) Sink {
	return SinkFunc(func(e Event) error {
		var errs []error
		for _, s := range sinks {
			errs = append(errs, s.Emit(e))
		}
		return errors.Join(errs...)
	})
}
