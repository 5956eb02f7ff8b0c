package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// lines prints recorded events as a log holds them.
func lines(rec *pipelinetest.Recorder) []string {
	out := []string{}
	for _, e := range rec.Events() {
		out = append(out, e.JSON().String())
	}
	return out
}

// TestEventShapes pins the text of every event.
func TestEventShapes(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	var p *pipeline.Pipeline
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "inner", Args: `{ "n": 1.0 }`, Parent: run, Site: tools.Site{Line: 3, Column: 9}, DropContexts: true})
		p.Execute(ctx, pipeline.Request{ID: "c1:code:2", Name: "secret", Parent: run})
		return tools.Result{Value: tools.StringJSON("done")}, nil
	})
	inner := pipelinetest.Tool("inner", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(note("dropped"))
		return tools.Result{Content: []tools.Content{tools.TextContent(""), tools.ImageContent("image/png", "AAAA")}}, nil
	})
	p = pipelinetest.New(t, &pipeline.Options{Sink: rec, FirstSeq: 40}, outer, inner, pipelinetest.Text("secret", "x"))
	p.Guards.Use("vault", func(c tools.Call) string {
		if c.Name() == "secret" {
			return "not yours"
		}
		return ""
	})
	p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "outer", Args: "{\t}", Turn: 2, Step: 5}})
	check(t, "log", lines(rec), []string{
		`{"type":"tool/call","seq":40,"time":1767225600002,"data":{"turn":2,"step":5,"callId":"c1","name":"outer","arguments":"{\t}"}}`,
		`{"type":"tool/code-dispatch-start","seq":41,"time":1767225600004,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"inner","arguments":{"n":1.0}}}`,
		`{"type":"tool/code-dispatch","seq":42,"time":1767225600006,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"inner","arguments":{"n":1.0},` +
			`"isError":false,"content":[{"type":"text","text":""},{"type":"image","data":"AAAA","mimeType":"image/png"}],"state":"done","durationMs":2,"droppedContexts":1,"line":3}}`,
		`{"type":"tool/code-dispatch-start","seq":43,"time":1767225600008,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:2","name":"secret","arguments":{}}}`,
		`{"type":"tool/code-dispatch","seq":44,"time":1767225600010,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:2","name":"secret","arguments":{},` +
			`"isError":true,"content":[{"type":"text","text":"Error: not yours"}],"error":{"name":"DeniedError","code":"DENIED_BY_GUARD","origin":"guard","by":"vault"},"state":"not-started","durationMs":2}}`,
		`{"type":"tool/result","seq":45,"time":1767225600012,"data":{"turn":2,"step":5,"message":{"id":"id2","role":"user","source":{"kind":"tool","callId":"c1"},` +
			`"content":[{"type":"tool-result","toolCallId":"c1","content":[{"type":"text","text":"done"}],"isError":false}]}},"surfaceOp":"append","sourceEventSeqs":[40]}`,
	})
}

func TestUserMessageShape(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("x", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(note("remember"))
		return tools.Result{}, errPlain
	}))
	p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "x"}})
	events := lines(rec)
	check(t, "number of events", len(events), 3)
	if !strings.Contains(events[1], `"content":[{"type":"text","text":"Error: it broke"}],"isError":true}]}},`) {
		t.Errorf("a failure without a code has an error property: %s", events[1])
	}
	check(t, "message", events[2],
		`{"type":"user/message","seq":2,"time":1767225600005,"data":{"id":"id1","role":"user","content":[{"type":"text","text":"remember"}],`+
			`"source":{"kind":"plugin","plugin":"test"}},"surfaceOp":"append"}`)
}

// Any text a tool or a model comes up with makes a readable log.
func TestEventsAreAlwaysJSON(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Content: text("bad \xff \"byte\"")}, nil
	}))
	for _, args := range []string{"{oops \xff", `{"s":"\ud800"}`, "\xff", `"\`, ""} {
		p.Execute(context.Background(), pipeline.Request{ID: "c\xff", Name: "x", Args: args})
		p.Execute(context.Background(), pipeline.Request{ID: "c\xff", Name: "x\xff", Args: args})
	}
	check(t, "number of events", len(rec.Events()), 20)
	for _, line := range lines(rec) {
		if _, err := tools.ParseJSON(line); err != nil {
			t.Errorf("%v in %s", err, line)
		}
	}
}

func TestEventEncoding(t *testing.T) {
	e := pipeline.Event{Type: "x", Seq: 1, Time: 2, Data: tools.MustJSON("{}"), Ignorable: true,
		SurfaceOp: `{"op":"replace","start":1,"end":2}`, SourceEventSeqs: []uint64{0, 1}}
	got, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "text", string(got), `{"type":"x","seq":1,"time":2,"data":{},"ignorable":true,"surfaceOp":{"op":"replace","start":1,"end":2},"sourceEventSeqs":[0,1]}`)
}

// TestLogRequired: what a sink's failure does to the call, per event.
func TestLogRequired(t *testing.T) {
	full := errors.New("disk full")
	for _, tt := range []struct {
		name     string
		required bool
		failOn   string
		outer    string
		inner    string
		ran      int
	}{
		{"required, call", true, pipeline.EventToolCall, "Error: the call was not run because it could not be logged: disk full", "", 0},
		{"required, start", true, pipeline.EventCodeDispatchStart, "done", "Error: the call was not run because it could not be logged: disk full", 0},
		{"required, settle", true, pipeline.EventCodeDispatch, "done", "ok", 1},
		{"required, result", true, pipeline.EventToolResult, "done", "ok", 1},
		{"not required, call", false, pipeline.EventToolCall, "done", "ok", 1},
		{"not required, start", false, pipeline.EventCodeDispatchStart, "done", "ok", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var logs logBuffer
			rec := &pipelinetest.Recorder{}
			rec.FailOn(tt.failOn, full)
			var p *pipeline.Pipeline
			ran, inner := 0, ""
			p = pipelinetest.New(t, &pipeline.Options{Sink: rec, LogRequired: tt.required, Logger: logs.logger()},
				pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					inner = p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run}).Text()
					return tools.Result{Value: tools.StringJSON("done")}, nil
				}),
				pipelinetest.Tool("inner", func(context.Context, *tools.Run) (tools.Result, error) {
					ran++
					return tools.Result{Value: tools.StringJSON("ok")}, nil
				}))
			check(t, "outer", exec(p, "outer").Text(), tt.outer)
			check(t, "inner", inner, tt.inner)
			check(t, "inner body starts", ran, tt.ran)
			exec(p, "outer")
			check(t, "reports to the host", strings.Count(logs.String(), "event sink failed"), 1)
		})
	}
}

func TestSinkPanics(t *testing.T) {
	p := pipelinetest.New(t, &pipeline.Options{Sink: pipeline.SinkFunc(func(pipeline.Event) error { panic("secret") })}, pipelinetest.Text("x", "ok"))
	check(t, "outcome", endOf(exec(p, "x")), end{"ok", "", "done"})
}

func TestTee(t *testing.T) {
	one, two := &pipelinetest.Recorder{}, &pipelinetest.Recorder{}
	full := errors.New("disk full")
	one.FailOn("x", full)
	err := pipeline.Tee(one, two).Emit(pipeline.Event{Type: "x"})
	check(t, "the other sink has it", two.Types(), []string{"x"})
	check(t, "the error is reported", errors.Is(err, full), true)
}

// A crash of the host's own functions settles the call.
func TestHostFunctionsMayCrash(t *testing.T) {
	reg, err := tools.NewRegistry(pipelinetest.Text("x", "ok"))
	if err != nil {
		t.Fatal(err)
	}
	var logs logBuffer
	p := pipeline.New(reg, &pipeline.Options{NewID: func() string { panic("secret") }, Logger: logs.logger()})
	p.PreExecute.Use("asks", always(pipeline.Ask("")))
	crash := func() func() { panic("secret") }
	o := p.Execute(context.Background(), pipeline.Request{Name: "x", OnApproval: crash})
	check(t, "text", o.Text(), `Error: tool "x" requires approval (not yet supported)`)
	if o.Call().ID() == "" {
		t.Error("the call has no id")
	}
}
