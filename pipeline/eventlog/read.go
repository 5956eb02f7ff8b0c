package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// TypeSealed is the type of the event that names torn bytes before it. It is
// ignorable, so a reader that knows nothing of seals still fails on the torn
// line itself and not on the seal. Its data are offset and bytes.
const TypeSealed = "log/sealed"

// KnownTypes lists the event types Read accepts without being told: those this
// module writes and those of DSH's sessions.
func KnownTypes() []string {
	return []string{
		pipeline.EventToolCall, pipeline.EventToolResult,
		pipeline.EventCodeDispatchStart, pipeline.EventCodeDispatch, pipeline.EventUserMessage,
		TypeSealed,
		"session/start", "session/end", "turn/start", "turn/end", "step/start", "step/end", "assistant/message",
		"todo/write", "hook/invoked", "hook/result", "approval/asked", "approval/decided", "approval/policy",
	}
}

// ReadOptions changes what Read accepts. The zero value is useful.
type ReadOptions struct {
	// Known lists event types besides KnownTypes that the caller understands.
	Known []string
	// MaxLine is the longest line in bytes. Zero: 128 MiB.
	MaxLine int
}

const defaultMaxLine = 128 << 20

// Contents is what a log holds.
type Contents struct {
	Events []pipeline.Event // seals left out
	Torn   []Torn

	size     int64
	last     uint64 // Seq of the last event, seals included
	any      bool   // there is one
	openTail bool   // the last line is whole but for its line break
}

// Torn is a stretch of the file that holds no whole event, since its writer
// died or its disk was full.
type Torn struct {
	Offset int64
	Bytes  int64
	Sealed bool // a later writer has noted it; otherwise it is the end of the file
}

// ReadFile reads the log at path; see Read.
func ReadFile(path string, opts *ReadOptions) (Contents, error) {
	f, err := os.Open(path)
	if err != nil {
		return Contents{}, fmt.Errorf("cannot read event log: %w", err)
	}
	defer func() { _ = f.Close() }()
	c, err := Read(f, opts)
	if err != nil {
		return c, fmt.Errorf("cannot read event log %s: %w", path, err)
	}
	return c, nil
}

// Read reads a log to its end. Torn bytes that a seal names, and a torn tail,
// are reported and skipped. Anything else that is no event is an error that
// names the line: broken JSON, a property name given twice, a missing envelope
// property, a Seq that does not grow, and an event of a type nobody declared,
// unless the event says it is ignorable. The events before the fault are
// returned with the error.
func Read(r io.Reader, opts *ReadOptions) (Contents, error) {
	rd := newReader(r, opts)
	for {
		line, err := rd.line()
		if err != nil && err != io.EOF {
			return rd.contents, err
		}
		if len(line) > 0 {
			if err := rd.take(line); err != nil {
				return rd.contents, fmt.Errorf("line %d: %w", rd.lineNo, err)
			}
		}
		if err == io.EOF {
			rd.finish()
			return rd.contents, nil
		}
	}
}

type reader struct {
	in       *bufio.Reader
	maxLine  int
	known    map[string]bool
	contents Contents
	lineNo   int

	start     int64 // where the current line begins
	lastStart int64 // where the last event's line begins
	lastSeal  int64 // if the last event is a seal, where the stretch it names begins; else -1
	before    uint64
	beforeAny bool

	sealing     int64 // of the seal being read, -1 while it is another event
	broken      error // why the first unread line of a possibly torn stretch is no event
	brokenLine  int
	brokenStart int64
}

func newReader(r io.Reader, opts *ReadOptions) *reader {
	rd := &reader{in: bufio.NewReader(r), maxLine: defaultMaxLine, known: knownTypes(opts), lastStart: -1, lastSeal: -1}
	if opts != nil && opts.MaxLine > 0 {
		rd.maxLine = opts.MaxLine
	}
	return rd
}

func knownTypes(opts *ReadOptions) map[string]bool {
	known := map[string]bool{}
	for _, t := range KnownTypes() {
		known[t] = true
	}
	if opts != nil {
		for _, t := range opts.Known {
			known[t] = true
		}
	}
	return known
}

// line reads up to and including the next line break.
func (rd *reader) line() ([]byte, error) {
	rd.start = rd.contents.size
	rd.lineNo++
	var line []byte
	for {
		part, err := rd.in.ReadSlice('\n')
		line = append(line, part...)
		rd.contents.size += int64(len(part))
		if len(line) > rd.maxLine {
			return nil, fmt.Errorf("line %d is longer than %d bytes; raise ReadOptions.MaxLine if that is right", rd.lineNo, rd.maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (rd *reader) take(line []byte) error {
	text := bytes.TrimSuffix(line, []byte("\n"))
	whole := len(text) < len(line)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	rd.sealing = -1
	event, err := parse(string(text))
	if err != nil {
		if rd.broken == nil {
			rd.broken, rd.brokenLine, rd.brokenStart = err, rd.lineNo, rd.start
		}
		return nil
	}
	if event.Type == TypeSealed {
		if err := rd.sealed(event); err != nil {
			return err
		}
	}
	if rd.broken != nil {
		return fmt.Errorf("line %d before it is no event and no seal names it: %w", rd.brokenLine, rd.broken)
	}
	return rd.accept(event, !whole)
}

func (rd *reader) accept(event pipeline.Event, open bool) error {
	c := &rd.contents
	if c.any && event.Seq <= c.last {
		return fmt.Errorf("event %d comes after event %d; seq must grow", event.Seq, c.last)
	}
	if !rd.known[event.Type] && !event.Ignorable {
		return fmt.Errorf("unknown event type %q that is not ignorable; name it in ReadOptions.Known if you understand it", event.Type)
	}
	rd.before, rd.beforeAny = c.last, c.any
	c.last, c.any, c.openTail = event.Seq, true, open
	rd.lastStart, rd.lastSeal = rd.start, rd.sealing
	if event.Type != TypeSealed {
		c.Events = append(c.Events, event)
	}
	return nil
}

// sealed drops the stretch before the seal if it is exactly what the seal
// names: lines that could not be read, and what reads as an event or as a seal
// before them although its writer was told that it had failed.
func (rd *reader) sealed(seal pipeline.Event) error {
	var region struct {
		Offset int64 `json:"offset"`
		Bytes  int64 `json:"bytes"`
	}
	if err := seal.Data.Unmarshal(&region); err != nil {
		return fmt.Errorf("the seal is malformed: %w", err)
	}
	c := &rd.contents
	switch {
	case region.Bytes <= 0 || region.Offset+region.Bytes != rd.start-1:
		return fmt.Errorf("the seal names bytes %d to %d, which do not end right before it", region.Offset, region.Offset+region.Bytes)
	case rd.broken != nil && region.Offset == rd.brokenStart:
	case region.Offset == rd.lastSeal: // the writing of that seal failed too
		c.Torn = c.Torn[:len(c.Torn)-1]
		c.last, c.any = rd.before, rd.beforeAny
	case region.Offset == rd.lastStart && rd.lastSeal < 0:
		c.Events = c.Events[:len(c.Events)-1]
		c.last, c.any = rd.before, rd.beforeAny
	default:
		return fmt.Errorf("the seal names bytes from %d on, where no torn line begins", region.Offset)
	}
	rd.broken, rd.sealing = nil, region.Offset
	c.Torn = append(c.Torn, Torn{Offset: region.Offset, Bytes: region.Bytes, Sealed: true})
	return nil
}

// finish reports a torn tail.
func (rd *reader) finish() {
	if rd.broken != nil {
		rd.contents.Torn = append(rd.contents.Torn, Torn{Offset: rd.brokenStart, Bytes: rd.contents.size - rd.brokenStart})
		rd.contents.openTail = false
	}
}

// envelope is an event as a line spells it; pointers tell what is missing.
type envelope struct {
	Type            *string    `json:"type"`
	Seq             *uint64    `json:"seq"`
	Time            *float64   `json:"time"`
	Data            tools.JSON `json:"data"`
	Ignorable       bool       `json:"ignorable"`
	SurfaceOp       tools.JSON `json:"surfaceOp"`
	SourceEventSeqs []uint64   `json:"sourceEventSeqs"`
}

func parse(text string) (pipeline.Event, error) {
	line, err := tools.ParseJSON(text)
	if err != nil {
		return pipeline.Event{}, err
	}
	var e envelope
	if err := line.Unmarshal(&e); err != nil {
		return pipeline.Event{}, fmt.Errorf("it is no event: %w", err)
	}
	switch {
	case e.Type == nil || *e.Type == "":
		return pipeline.Event{}, errors.New("the event has no type")
	case e.Seq == nil:
		return pipeline.Event{}, errors.New("the event has no seq")
	case e.Time == nil:
		return pipeline.Event{}, errors.New("the event has no time")
	case e.Data.IsZero():
		return pipeline.Event{}, errors.New("the event has no data")
	}
	event := pipeline.Event{
		Type: *e.Type, Seq: *e.Seq, Time: int64(*e.Time), Data: e.Data,
		Ignorable: e.Ignorable, SourceEventSeqs: e.SourceEventSeqs,
	}
	if op, ok := e.SurfaceOp.Text(); ok {
		event.SurfaceOp = op
	} else {
		event.SurfaceOp = e.SurfaceOp.String()
	}
	return event, nil
}
