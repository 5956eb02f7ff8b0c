package trace

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// builder makes a Trace of events.
type builder struct {
	t         *Trace
	order     []*Call                  // all calls
	latest    map[string]*Call         // by id
	questions map[string]*openQuestion // open ones, by id
	running   int                      // calls that are open
	announces bool                     // the log has the events that nested calls begin
	noted     map[string]int           // problems, by their format

	now  time.Time // the time of the event, spread
	last int64     // the milliseconds of the event before
	seq  uint64
	any  bool
}

type openQuestion struct {
	call *Call
	i    int // among its call's
}

func newBuilder() *builder {
	return &builder{t: &Trace{}, latest: map[string]*Call{}, questions: map[string]*openQuestion{}, noted: map[string]int{}}
}

// data is what the events say that are looked at, zero where they do not.
type data struct {
	CallID          text        `json:"callId"`
	ParentCallID    text        `json:"parentCallId"`
	SubCallID       text        `json:"subCallId"`
	ID              text        `json:"id"`
	Name            text        `json:"name"`
	Arguments       tools.JSON  `json:"arguments"`
	IsError         bool        `json:"isError"`
	Content         tools.JSON  `json:"content"`
	ResultSummary   text        `json:"resultSummary"` // DSH's first sessions
	Value           tools.JSON  `json:"value"`
	Error           tools.JSON  `json:"error"` // an object, or a text
	State           text        `json:"state"`
	DurationMs      float64     `json:"durationMs"`
	DroppedContexts int         `json:"droppedContexts"`
	Line            int         `json:"line"`
	Message         messageData `json:"message"`
	Source          sourceData  `json:"source"`
	Cut             tools.JSON  `json:"cut"` // a list, if it is the log's
	Reason          text        `json:"reason"`
	By              text        `json:"by"`
	Digest          text        `json:"digest"`
	Outcome         text        `json:"outcome"`
	Stage           text        `json:"stage"`
	Decision        text        `json:"decision"`
	Ms              float64     `json:"ms"`
	Member          text        `json:"member"`
	Result          tools.JSON  `json:"result"`
	Level           text        `json:"level"`
	Text            text        `json:"text"`
	Seed            uint64      `json:"seed"`
	Start           float64     `json:"start"`
	Zone            text        `json:"zone"`
	Tools           tools.JSON  `json:"tools"`
	Limits          tools.JSON  `json:"limits"`
	Input           tools.JSON  `json:"input"`
}

type failureData struct {
	Name   text `json:"name"`
	Code   text `json:"code"`
	Origin text `json:"origin"`
	By     text `json:"by"`
}

type sourceData struct {
	Kind   text `json:"kind"`
	Plugin text `json:"plugin"`
	CallID text `json:"callId"`
}

type messageData struct {
	Source  sourceData `json:"source"`
	Content tools.JSON `json:"content"`
}

type cutData struct {
	Path    text    `json:"path"`
	Bytes   float64 `json:"bytes"`
	SHA256  text    `json:"sha256"`
	Locator text    `json:"locator"`
}

// text is a string; of anything else it is the JSON.
type text string

// UnmarshalJSON takes any value.
func (s *text) UnmarshalJSON(raw []byte) error {
	j, err := tools.ParseJSON(string(raw))
	if err != nil {
		return err
	}
	if plain, ok := j.Text(); ok {
		*s = text(plain)
	} else if j.Kind() != 'n' {
		*s = text(j.String())
	}
	return nil
}

// take reads one event.
func (b *builder) take(e event) {
	b.t.Events++
	if e.Seq != 0 { // the first event's, or missing
		if e.Seq <= b.seq {
			b.problem(e.line, "the number %d comes after %d", e.Seq, b.seq)
		}
		b.seq = e.Seq
	}
	b.clock(e)
	read := b.reader(e.Type)
	if read == nil {
		return
	}
	var d data
	if err := decode(e.Data, &d); err != nil {
		b.problem(e.line, "the data of this %s cannot be read: %v", e.Type, err)
		return
	}
	read(e, d)
}

// reader is what an event of a type is read with, nil for one of no interest.
func (b *builder) reader(eventType string) func(event, data) {
	switch eventType {
	case pipeline.EventToolCall:
		return b.announce
	case pipeline.EventCodeDispatchStart, eventDSHStart:
		return b.nest
	case pipeline.EventCodeDispatch, eventDSHSettle:
		return b.settleNested
	case pipeline.EventToolResult:
		return b.settle
	case pipeline.EventApprovalAsked:
		return b.ask
	case pipeline.EventApprovalDecided:
		return b.decide
	case pipeline.EventStage:
		return b.stage
	case pipeline.EventUserMessage:
		return b.context
	case eventCatalog, eventConsole, eventWorld:
		return b.aside
	}
	return nil
}

// clock spreads the times of events, which are milliseconds, so that they rise
// in the order of the log.
func (b *builder) clock(e event) {
	ms := e.milliseconds()
	at := time.UnixMilli(ms).UTC()
	switch {
	case ms == 0: // it has no time
		return
	case !b.any:
		b.t.Started, b.now = at, at
	case ms < b.last:
		b.problem(e.line, "the time goes back by %d ms", b.last-ms)
		if b.running == 0 {
			b.now = at
		}
	case at.After(b.now):
		b.now = at
	}
	b.any, b.last = true, ms
	b.t.Ended = later(b.t.Ended, b.now)
}

// milliseconds is the time of an event since the epoch, 0 if it has none.
func (e event) milliseconds() int64 {
	if math.Abs(e.Time) < 1<<52 {
		return int64(e.Time)
	}
	return 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (b *builder) announce(e event, d data) {
	c := b.open(e, string(d.CallID), d)
	b.t.Calls = append(b.t.Calls, c)
	raw, isText := d.Arguments.Text()
	if !isText {
		raw = d.Arguments.String()
	}
	c.setArguments(raw)
}

// setArguments takes the text a model sent.
func (c *Call) setArguments(raw string) {
	if raw == "" {
		raw = "{}"
	}
	args, err := tools.ParseJSON(raw)
	if err != nil {
		args = tools.StringJSON(raw)
	}
	c.Arguments = args
	c.readProgram()
}

// readProgram finds the program in the arguments of run_code.
func (c *Call) readProgram() {
	if c.Tool != tools.TransportName {
		return
	}
	var run struct {
		Code        text `json:"code"`
		Description text `json:"description"`
	}
	if c.Arguments.Kind() == '{' && c.Arguments.Unmarshal(&run) == nil {
		c.Program, c.About = string(run.Code), string(run.Description)
	}
}

// open notes a call that begins.
func (b *builder) open(e event, id string, d data) *Call {
	if before := b.latest[id]; before != nil && before.State == StateOpen {
		b.problem(e.line, "call %s is announced while a call of this id is open", id)
	}
	if id == "" {
		b.problem(e.line, "the call of %s has no id", d.Name)
	}
	c := &Call{
		ID: id, Tool: string(d.Name), Line: d.Line, State: StateOpen, Arguments: d.Arguments,
		Started: b.now, Ended: b.now, Cuts: cuts(d.Cut, true), call: e.Data, asked: e.Seq,
	}
	b.running++
	b.order = append(b.order, c)
	b.latest[id] = c
	return c
}

// maxDepth bounds how deep calls are shown within each other: the size of a tree
// in text grows with depth times calls. Real calls nest a few levels.
const maxDepth = 100

func (b *builder) nest(e event, d data) {
	b.announces = true
	b.nested(e, d)
}

func (b *builder) nested(e event, d data) *Call {
	c := b.open(e, string(d.SubCallID), d)
	c.readProgram()
	parent := b.latest[string(d.ParentCallID)]
	if parent == nil || parent == c {
		b.problem(e.line, "call %s belongs to %q, which is not in the log", c.ID, string(d.ParentCallID))
		b.t.Calls = append(b.t.Calls, c)
		return c
	}
	if parent.depth == maxDepth {
		b.problem(e.line, "call %s is nested %d levels deep; it is shown as if it had no parent", c.ID, maxDepth+1)
		b.t.Calls = append(b.t.Calls, c)
		return c
	}
	if parent.State != StateOpen {
		b.problem(e.line, "call %s begins after the result of %s, to which it belongs", c.ID, parent.ID)
	}
	c.Parent, c.depth = parent, parent.depth+1
	parent.Calls = append(parent.Calls, c)
	c.N = len(parent.Calls)
	return c
}

func (b *builder) settleNested(e event, d data) {
	c := b.latest[string(d.SubCallID)]
	if c == nil || c.State != StateOpen {
		// The first sessions of DSH have no other event of a nested call.
		if b.announces || c != nil {
			b.problem(e.line, "call %s has a result and was not announced, or has two", string(d.SubCallID))
		}
		c = b.nested(e, d)
		c.Cuts = nil
	}
	blocks := contentOf(d.Content)
	if d.Content.IsZero() && d.ResultSummary != "" {
		blocks = []tools.Content{tools.TextContent(string(d.ResultSummary))}
	}
	b.close(c, e, d, blocks, d.IsError)
}

// settle takes the result of a model's call. One that replaces an earlier
// message settles nothing.
func (b *builder) settle(e event, d data) {
	if op, isText := e.SurfaceOp.Text(); !e.SurfaceOp.IsZero() && !(isText && (op == "" || op == pipeline.SurfaceAppend)) {
		return
	}
	id := string(d.Message.Source.CallID)
	c := b.answered(id, e.SourceEventSeqs)
	if c == nil || c.State != StateOpen {
		b.problem(e.line, "call %s has a result and was not announced, or has two", id)
		return
	}
	var blocks []struct {
		Content tools.JSON `json:"content"`
		IsError bool       `json:"isError"`
	}
	if d.Message.Content.Kind() != '[' || decode(d.Message.Content, &blocks) != nil || len(blocks) == 0 {
		b.close(c, e, d, contentOf(d.Message.Content), !d.Error.IsZero())
		return
	}
	b.close(c, e, d, contentOf(blocks[0].Content), blocks[0].IsError)
}

// answered is the call a result is for: the one whose announcement it names, or
// else the latest of its id.
func (b *builder) answered(id string, sources []uint64) *Call {
	named := func(c *Call) bool { return c.ID == id && slices.Contains(sources, c.asked) }
	latest := b.latest[id]
	if latest == nil || len(sources) == 0 || named(latest) {
		return latest
	}
	for _, c := range slices.Backward(b.order) {
		if named(c) {
			return c
		}
	}
	return latest
}

// close notes how a call ended.
func (b *builder) close(c *Call, e event, d data, blocks []tools.Content, isError bool) {
	c.result = e.Data
	if ms := e.milliseconds(); ms != 0 {
		c.Settled = time.UnixMilli(ms).UTC()
	}
	c.Content, c.Value = blocks, d.Value
	c.Cuts = append(c.Cuts, cuts(d.Cut, false)...)
	c.DroppedContexts = d.DroppedContexts
	if d.Line > 0 {
		c.Line = d.Line
	}
	if isError {
		c.fail(d.Error)
	}
	c.State = pipeline.State(d.State)
	if c.State == "" {
		c.State = pipeline.StateDone
		if isError {
			c.State = pipeline.StateFailed
		}
		if c.Denied() {
			c.State = pipeline.StateNotStarted
		}
	}
	b.running--
	if c.Parent != nil {
		c.Parent.settled++
		c.Rank = c.Parent.settled
	}
	c.time(b, d.DurationMs)
}

// time notes when a call ended and how long it took: as it says itself, or by
// its events. What it says can be more exact and moves the time of its event on
// within a millisecond.
func (c *Call) time(b *builder, durationMs float64) {
	if took := time.Duration(durationMs * float64(time.Millisecond)); durationMs > 0 && durationMs < 1e12 {
		c.Took = took
		if end := c.Started.Add(took); end.After(b.now) && end.Sub(b.now) < time.Millisecond {
			b.now = end
		}
		c.Ended = b.now
		b.t.Ended = later(b.t.Ended, b.now)
		return
	}
	c.Ended = b.now
	c.Took = c.Ended.Sub(c.Started)
}

func (c *Call) fail(identity tools.JSON) {
	var d failureData
	_ = decode(identity, &d) // a failure may have none
	c.Failure = &Failure{string(d.Name), string(d.Code), string(d.Origin), string(d.By), strings.TrimPrefix(c.Text(), "Error: ")}
}

// contentOf reads content blocks; what has another form is one text.
func contentOf(j tools.JSON) []tools.Content {
	if j.IsZero() || j.Kind() == 'n' {
		return nil
	}
	if s, ok := j.Text(); ok {
		return []tools.Content{tools.TextContent(s)}
	}
	var blocks []tools.Content
	if j.Kind() == '[' && decode(j, &blocks) == nil {
		return blocks
	}
	return []tools.Content{tools.TextContent(j.String())}
}

func cuts(j tools.JSON, ofCall bool) []Cut {
	var list []cutData
	if decode(j, &list) != nil {
		return nil
	}
	var out []Cut
	for _, c := range list {
		out = append(out, Cut{string(c.Path), int(c.Bytes), string(c.SHA256), string(c.Locator), ofCall})
	}
	return out
}

func (b *builder) ask(e event, d data) {
	c := b.owner(e, d)
	if c == nil {
		return
	}
	c.Questions = append(c.Questions, Question{
		ID: string(d.ID), Reason: string(d.Reason), By: string(d.By), Digest: string(d.Digest), Asked: b.now,
	})
	if d.Line > 0 {
		c.Line = d.Line
	}
	b.questions[string(d.ID)] = &openQuestion{c, len(c.Questions) - 1}
}

func (b *builder) decide(e event, d data) {
	open := b.questions[string(d.ID)]
	if open == nil {
		b.problem(e.line, "the question %s is decided and was not asked", string(d.ID))
		return
	}
	delete(b.questions, string(d.ID))
	q := &open.call.Questions[open.i]
	q.Outcome, q.Answered = string(d.Outcome), b.now
}

func (b *builder) stage(e event, d data) {
	b.t.Staged = true
	if c := b.owner(e, d); c != nil {
		c.Stages = append(c.Stages, Stage{
			Stage: string(d.Stage), By: string(d.By), Decision: string(d.Decision), Reason: string(d.Reason),
			Took: time.Duration(d.Ms * float64(time.Millisecond)),
		})
	}
}

// aside takes what is noted of a program beside its calls.
func (b *builder) aside(e event, d data) {
	c := b.owner(e, d)
	if c == nil {
		return
	}
	switch e.Type {
	case eventCatalog:
		message, _ := d.Error.Text()
		c.Lookups = append(c.Lookups, Lookup{string(d.Member), d.Arguments, d.Result, message, d.Line})
	case eventConsole:
		c.Console = append(c.Console, Line{b.now, string(d.Level), string(d.Text)})
	case eventWorld:
		c.World, c.world = newWorld(d), e.Data
	}
}

// owner is the call an event is about.
func (b *builder) owner(e event, d data) *Call {
	c := b.latest[string(d.CallID)]
	if c == nil {
		b.problem(e.line, "this %s is about call %q, which is not in the log", e.Type, string(d.CallID))
	}
	return c
}

func (b *builder) context(_ event, d data) {
	kind := string(d.Source.Kind)
	if kind == "" || kind == "user" {
		return
	}
	from := string(d.Source.Plugin)
	if from == "" {
		from = kind
	}
	b.t.Contexts = append(b.t.Contexts, Context{b.now, from, string(d.Source.CallID), tools.ContentString(contentOf(d.Content))})
}
