// Package oteltrace makes OpenTelemetry spans of a trace, by the conventions for
// generative AI. It needs the API of OpenTelemetry only; exporters are the
// caller's.
package oteltrace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
)

// The attributes of a span. Those of this project's own name sizes and states;
// no attribute holds arguments, results or the texts of failures.
const (
	keyOperation     = attribute.Key("gen_ai.operation.name")
	keyToolName      = attribute.Key("gen_ai.tool.name")
	keyToolCallID    = attribute.Key("gen_ai.tool.call.id")
	keyToolType      = attribute.Key("gen_ai.tool.type")
	keyErrorType     = attribute.Key("error.type")
	keyState         = attribute.Key("runcode.call.state")
	keyLine          = attribute.Key("runcode.call.line")
	keyArgumentBytes = attribute.Key("runcode.call.argument_bytes")
	keyResultBytes   = attribute.Key("runcode.call.result_bytes")
	keyDeniedBy      = attribute.Key("runcode.call.denied_by")

	operation = "execute_tool"
	toolType  = "function"
	// errorOther is the error.type of a failure without a code, as the conventions
	// have it.
	errorOther = "_OTHER"
)

// Spans makes a span of every call, at the times of the log, below the span of
// the call that made it; those of models are below the span ctx has, if any. A
// call without a result ends with the log and has the error.type "open". The
// spans are handed to tracer one after the other, parents begin before their
// calls and end after them.
func Spans(ctx context.Context, tracer oteltrace.Tracer, t *trace.Trace) {
	for _, c := range t.Calls {
		span(ctx, tracer, c)
	}
}

func span(ctx context.Context, tracer oteltrace.Tracer, c *trace.Call) {
	ctx, s := tracer.Start(ctx, operation+" "+c.Tool,
		oteltrace.WithTimestamp(c.Started), oteltrace.WithSpanKind(oteltrace.SpanKindInternal),
		oteltrace.WithAttributes(attributes(c)...))
	for _, sub := range c.Calls {
		span(ctx, tracer, sub)
	}
	if c.Failure != nil || c.State == trace.StateOpen {
		s.SetStatus(codes.Error, "")
	}
	s.End(oteltrace.WithTimestamp(c.Ended))
}

func attributes(c *trace.Call) []attribute.KeyValue {
	arguments, result := c.Sizes()
	list := []attribute.KeyValue{
		keyOperation.String(operation), keyToolName.String(c.Tool), keyToolCallID.String(c.ID), keyToolType.String(toolType),
		keyState.String(string(c.State)), keyArgumentBytes.Int(arguments), keyResultBytes.Int(result),
	}
	if c.Line > 0 {
		list = append(list, keyLine.Int(c.Line))
	}
	if kind := errorType(c); kind != "" {
		list = append(list, keyErrorType.String(kind))
	}
	if c.Failure != nil && c.Failure.By != "" {
		list = append(list, keyDeniedBy.String(c.Failure.By))
	}
	return list
}

// errorType is what kind of failure a call ended with, "" for a success.
func errorType(c *trace.Call) string {
	switch {
	case c.State == trace.StateOpen || c.State == pipeline.StateAborted:
		return string(c.State)
	case c.Failure == nil:
		return ""
	case c.Failure.Code != "":
		return c.Failure.Code
	}
	return errorOther
}
