package oteltrace_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/internal/trace/oteltrace"
)

// spansOf lists the spans of a trace in the order in which they began, a line
// each.
func spansOf(t *testing.T, tr *trace.Trace) (lines []string, spans tracetest.SpanStubs) {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	oteltrace.Spans(t.Context(), provider.Tracer("test"), tr)
	spans = exporter.GetSpans()
	if err := provider.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, s := range spans {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	slices.SortStableFunc(spans, func(x, y tracetest.SpanStub) int { // parents before their calls
		return cmp.Or(x.StartTime.Compare(y.StartTime), y.EndTime.Compare(x.EndTime))
	})
	for _, s := range spans {
		var attrs []string
		for _, a := range s.Attributes {
			attrs = append(attrs, fmt.Sprintf("%s=%v", a.Key, a.Value.AsInterface()))
		}
		parent := "-"
		if s.Parent.IsValid() {
			parent = names[s.Parent.SpanID().String()]
		}
		lines = append(lines, fmt.Sprintf("%s | %s | %v | %v | %s", s.Name, parent, s.EndTime.Sub(s.StartTime).Round(10*time.Microsecond), s.Status.Code, strings.Join(attrs, " ")))
	}
	return lines, spans
}

func TestSpans(t *testing.T) {
	tr, err := trace.ReadFile(filepath.Join("..", "..", "..", "testdata", "traces", "guard-denies.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got, spans := spansOf(t, tr)
	const fixed = "gen_ai.operation.name=execute_tool gen_ai.tool.name="
	want := []string{
		"execute_tool run_code | - | 295ms | Unset | " + fixed + "run_code gen_ai.tool.call.id=call_1 gen_ai.tool.type=function runcode.call.state=done runcode.call.argument_bytes=736 runcode.call.result_bytes=132",
		"execute_tool list_notes | execute_tool run_code | 7ms | Unset | " + fixed + "list_notes gen_ai.tool.call.id=call_1:code:1 gen_ai.tool.type=function runcode.call.state=done runcode.call.argument_bytes=21 runcode.call.result_bytes=30 runcode.call.line=2",
		"execute_tool send_mail | execute_tool run_code | 241ms | Error | " + fixed + "send_mail gen_ai.tool.call.id=call_1:code:5 gen_ai.tool.type=function runcode.call.state=not-started runcode.call.argument_bytes=143 runcode.call.result_bytes=68 runcode.call.line=13 error.type=DENIED_BY_GUARD runcode.call.denied_by=no-mail-outside",
	}
	if len(got) != 7 {
		t.Fatalf("%d spans, want 7", len(got))
	}
	if diff := gocmp.Diff(want, []string{got[0], got[1], got[5]}); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if at := spans[0].StartTime; !at.Equal(time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)) {
		t.Errorf("the first span begins at %v, want the time of the log", at)
	}
	for _, s := range spans {
		if s.Status.Description != "" || strings.Contains(fmt.Sprint(s.Attributes, s.Events), "partner.example") {
			t.Errorf("span %s has contents of the call: %v", s.Name, s.Attributes)
		}
	}
}

func TestSpansOfBadEnds(t *testing.T) {
	tr, err := trace.Read(strings.NewReader(`
{"type":"tool/call","seq":1,"time":1000,"data":{"callId":"c1","name":"run_code","arguments":"{}"}}
{"type":"tool/code-dispatch-start","seq":2,"time":1010,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{}}}
{"type":"tool/code-dispatch","seq":3,"time":1020,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{},"isError":true,"content":[]}}
{"type":"tool/code-dispatch-start","seq":4,"time":1030,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:2","name":"b","arguments":{}}}
{"type":"tool/code-dispatch","seq":5,"time":1040,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:2","name":"b","arguments":{},"isError":true,"content":[],"state":"aborted","error":{"name":"AbortError","code":"ABORTED"}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	_, spans := spansOf(t, tr)
	got := map[string]string{}
	for _, s := range spans {
		if s.Status.Code != codes.Error {
			t.Errorf("span %s has the status %v, want Error", s.Name, s.Status.Code)
		}
		for _, a := range s.Attributes {
			if a.Key == "error.type" {
				got[s.Name] = a.Value.AsString()
			}
		}
	}
	want := map[string]string{"execute_tool run_code": "open", "execute_tool a": "_OTHER", "execute_tool b": "aborted"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("error types (-want +got):\n%s", diff)
	}
}
