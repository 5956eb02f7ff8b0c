package pipeline_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// The events of calls as they are made of parts, each of them a JSON value: what
// the pipeline writes into one buffer must be the same text.

func number(n int) tools.JSON { return tools.MustJSON(strconv.Itoa(n)) }

func orNone(text string) tools.JSON {
	if text == "" {
		return tools.JSON{}
	}
	return tools.StringJSON(text)
}

func flag(b bool) tools.JSON { return tools.MustJSON(strconv.FormatBool(b)) }

func blocksOf(o pipeline.Outcome) tools.JSON {
	var items []tools.JSON
	for _, b := range o.Content() {
		text := orNone(b.Text)
		if b.Type == tools.ContentText {
			text = tools.StringJSON(b.Text)
		}
		items = append(items, tools.ComposeObject(
			tools.Member{Name: "type", Value: tools.StringJSON(b.Type)},
			tools.Member{Name: "text", Value: text},
			tools.Member{Name: "data", Value: orNone(b.Data)},
			tools.Member{Name: "mimeType", Value: orNone(b.MIMEType)},
			tools.Member{Name: "uri", Value: orNone(b.URI)},
		))
	}
	return tools.ComposeArray(items...)
}

func failureOf(o pipeline.Outcome) tools.JSON {
	info := o.Info()
	if info == (tools.ErrorInfo{}) {
		return tools.JSON{}
	}
	members := []tools.Member{{Name: "name", Value: tools.StringJSON(info.Name)}, {Name: "code", Value: tools.StringJSON(info.Code)}}
	var denied *pipeline.DeniedError
	if errors.As(o.Err(), &denied) {
		members = append(members, tools.Member{Name: "origin", Value: orNone(denied.Origin)}, tools.Member{Name: "by", Value: orNone(denied.By)})
	}
	return tools.ComposeObject(members...)
}

func loggedValue(o pipeline.Outcome, values bool) tools.JSON {
	if !values || o.IsError() {
		return tools.JSON{}
	}
	return o.Value()
}

// announced is the data of the event that a call has begun.
func announced(o pipeline.Outcome, req pipeline.Request) []tools.Member {
	call := o.Call()
	if call.ParentID() == "" {
		return []tools.Member{
			{Name: "turn", Value: number(req.Turn)},
			{Name: "step", Value: number(req.Step)},
			{Name: "callId", Value: tools.StringJSON(call.ID())},
			{Name: "name", Value: tools.StringJSON(call.Name())},
			{Name: "arguments", Value: tools.StringJSON(req.Args)},
		}
	}
	args := call.Args()
	if args.IsZero() {
		args = tools.StringJSON(req.Args)
	}
	return []tools.Member{
		{Name: "rootCallId", Value: tools.StringJSON(call.RootID())},
		{Name: "parentCallId", Value: tools.StringJSON(call.ParentID())},
		{Name: "subCallId", Value: tools.StringJSON(call.ID())},
		{Name: "name", Value: tools.StringJSON(call.Name())},
		{Name: "arguments", Value: args},
	}
}

// told is the data of the event that a call has settled.
func told(o pipeline.Outcome, req pipeline.Request, messageID string, values bool) tools.JSON {
	call := o.Call()
	if call.ParentID() == "" {
		block := tools.ComposeObject(
			tools.Member{Name: "type", Value: tools.StringJSON("tool-result")},
			tools.Member{Name: "toolCallId", Value: tools.StringJSON(call.ID())},
			tools.Member{Name: "content", Value: blocksOf(o)},
			tools.Member{Name: "isError", Value: flag(o.IsError())},
		)
		return tools.ComposeObject(append(announced(o, req)[:2],
			tools.Member{Name: "message", Value: tools.ComposeObject(
				tools.Member{Name: "id", Value: tools.StringJSON(messageID)},
				tools.Member{Name: "role", Value: tools.StringJSON("user")},
				tools.Member{Name: "source", Value: tools.ComposeObject(
					tools.Member{Name: "kind", Value: tools.StringJSON("tool")},
					tools.Member{Name: "callId", Value: tools.StringJSON(call.ID())},
				)},
				tools.Member{Name: "content", Value: tools.ComposeArray(block)},
			)},
			tools.Member{Name: "value", Value: loggedValue(o, values)},
			tools.Member{Name: "error", Value: failureOf(o)},
		)...)
	}
	ms := math.Round(float64(o.Took())/float64(time.Microsecond)) / 1000
	members := append(announced(o, req),
		tools.Member{Name: "isError", Value: flag(o.IsError())},
		tools.Member{Name: "content", Value: blocksOf(o)},
		tools.Member{Name: "value", Value: loggedValue(o, values)},
		tools.Member{Name: "error", Value: failureOf(o)},
		tools.Member{Name: "state", Value: tools.StringJSON(string(o.State()))},
		tools.Member{Name: "durationMs", Value: tools.MustJSON(strconv.FormatFloat(ms, 'f', -1, 64))},
	)
	if o.Dropped() > 0 {
		members = append(members, tools.Member{Name: "droppedContexts", Value: number(o.Dropped())})
	}
	if req.Site.Line > 0 {
		members = append(members, tools.Member{Name: "line", Value: number(req.Site.Line)})
	}
	return tools.ComposeObject(members...)
}

// envelope is an event made of parts.
func envelope(e pipeline.Event) string {
	var op, seqs tools.JSON
	if e.SurfaceOp != "" {
		op = tools.StringJSON(e.SurfaceOp)
		if object, err := tools.ParseJSON(e.SurfaceOp); err == nil && object.Kind() == '{' {
			op = object
		}
	}
	if e.SourceEventSeqs != nil {
		items := make([]tools.JSON, len(e.SourceEventSeqs))
		for i, seq := range e.SourceEventSeqs {
			items[i] = tools.MustJSON(strconv.FormatUint(seq, 10))
		}
		seqs = tools.ComposeArray(items...)
	}
	ignorable := tools.JSON{}
	if e.Ignorable {
		ignorable = flag(true)
	}
	return tools.ComposeObject(
		tools.Member{Name: "type", Value: tools.StringJSON(e.Type)},
		tools.Member{Name: "seq", Value: tools.MustJSON(strconv.FormatUint(e.Seq, 10))},
		tools.Member{Name: "time", Value: tools.MustJSON(strconv.FormatInt(e.Time, 10))},
		tools.Member{Name: "data", Value: e.Data},
		tools.Member{Name: "ignorable", Value: ignorable},
		tools.Member{Name: "surfaceOp", Value: op},
		tools.Member{Name: "sourceEventSeqs", Value: seqs},
	).String()
}

// TestEventJSON: an event is the same text as its parts make.
func TestEventJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    pipeline.Event
	}{
		{"zero", pipeline.Event{}},
		{"everything", pipeline.Event{Type: "a\"b", Seq: math.MaxUint64, Time: -1, Data: tools.MustJSON("null"), Ignorable: true, SurfaceOp: "append", SourceEventSeqs: []uint64{0, math.MaxUint64}}},
		{"no sources", pipeline.Event{Type: "t", Data: tools.MustJSON("[]"), SourceEventSeqs: []uint64{}}},
		{"surface, an object", pipeline.Event{Type: "t", SurfaceOp: " \r\n\t{ \"a\" : 1.0 } "}},
		{"surface, half an object", pipeline.Event{Type: "t", SurfaceOp: `{"a":`}},
		{"surface, an object twice named", pipeline.Event{Type: "t", SurfaceOp: `{"a":1,"a":2}`}},
		{"surface, another value", pipeline.Event{Type: "t", SurfaceOp: `[{}]`}},
		{"surface, no JSON space", pipeline.Event{Type: "t", SurfaceOp: "\u00a0{}"}},
		{"surface, only space", pipeline.Event{Type: "t", SurfaceOp: "  "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, "event", tt.e.JSON().String(), envelope(tt.e))
			var c tools.Composer
			tt.e.Compose(&c)
			check(t, "composed", string(c.Bytes()), envelope(tt.e))
		})
	}
}

// FuzzEvents: the events of a call and of one nested under it are the texts that
// their parts make, whatever stands in the arguments, the result and the names.
func FuzzEvents(f *testing.F) {
	for kind := range byte(8) {
		f.Add(kind, `{"a":1}`, "text", 3)
		f.Add(kind|8, `{"a":1, "a":2}`, "\x00\"\\\n\u2028\xff", 0)
		f.Add(kind|16, "no JSON \xed\xa0\x80", "\xed\xa0\x80\xed\xb0\x80", -1)
	}
	f.Fuzz(func(t *testing.T, kind byte, args, text string, n int) {
		rec := &pipelinetest.Recorder{}
		values := kind&8 != 0
		body := func(_ context.Context, run *tools.Run) (tools.Result, error) {
			switch kind % 8 {
			case 0:
				return tools.Result{Value: tools.StringJSON(text)}, nil
			case 1:
				return tools.Result{Value: tools.ComposeArray(tools.StringJSON(text), run.Args())}, nil
			case 2:
				return tools.Result{}, errors.New(text)
			case 3:
				return tools.Result{}, &tools.Error{Name: text, Code: text, Message: text}
			case 4:
				return tools.Result{}, &pipeline.DeniedError{Code: text, Origin: text, By: text, Reason: text}
			case 5:
				run.Defer(note(text))
				return tools.Result{Content: []tools.Content{tools.TextContent(text), {Type: text, Text: text, Data: text, MIMEType: text, URI: text}}}, nil
			case 6:
				panic(text)
			}
			return tools.Result{Content: []tools.Content{}}, nil
		}
		var p *pipeline.Pipeline
		var inner pipeline.Outcome
		nested := pipeline.Request{ID: "c1:" + text, Name: "tool" + text[:min(len(text), int(kind>>4))], Args: args, Site: tools.Site{Line: n}, DropContexts: true}
		outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			nested.Parent = run
			inner = p.Execute(ctx, nested)
			return body(ctx, run)
		})
		opts := &pipeline.Options{Sink: rec, Values: values, NewID: func() string { return "id" + text }, Logger: new(logBuffer).logger()}
		p = pipelinetest.New(t, opts, outer, pipelinetest.Tool("tool", body))
		req := pipeline.Request{ID: text, Name: "outer", Args: args, Turn: n, Step: n / 2}
		o := p.Execute(t.Context(), req)
		var got, want []string
		for _, e := range rec.Events() {
			got = append(got, e.Data.String())
			check(t, "line", e.JSON().String(), envelope(e))
		}
		want = append(want, tools.ComposeObject(announced(o, req)...).String())
		if inner.Call().ID() != "" {
			want = append(want, tools.ComposeObject(announced(inner, nested)...).String(), told(inner, nested, "", values).String())
		}
		want = append(want, told(o, req, "id"+text, values).String())
		check(t, "events", got, want)
	})
}
