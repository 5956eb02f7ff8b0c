package codemode

import (
	"context"
	"strconv"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// EventCatalog is the type of the event that a program looked for tools: data is
// {callId, line, member, arguments, result or error}. callId is the call of
// run_code; line is missing where it is unknown. The event is ignorable: looking
// up a tool is no sub-call and changes nothing, but what a program was told
// belongs to what made it do what it did.
const EventCatalog = "code/catalog"

// lookUp answers a call of the global catalog from the tools of this run.
func (b *bridge) lookUp(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	if b.lane != nil {
		b.lane.skip(inv.Seq)
	}
	args, err := tools.ParseJSON(inv.Args)
	if err != nil {
		return runtime.Reply{}, err
	}
	answer, err := b.catalog.Answer(inv.Member, args)
	b.logLookUp(inv, args, answer, err)
	if err != nil {
		return runtime.Reply{}, &runtime.CallError{Message: err.Error(), Code: tools.CodeInvalidArgs}
	}
	return runtime.Reply{Value: answer.String()}, nil
}

// logLookUp writes the event; a sink that fails is the pipeline's to report.
func (b *bridge) logLookUp(inv runtime.Invocation, args, answer tools.JSON, err error) {
	members := []tools.Member{
		{Name: "callId", Value: tools.StringJSON(b.run.Call().ID())},
		{Name: "member", Value: tools.StringJSON(inv.Member)},
		{Name: "arguments", Value: args},
		{Name: "result", Value: answer},
	}
	if inv.Site.Line > 0 {
		members = append(members, tools.Member{Name: "line", Value: tools.MustJSON(strconv.Itoa(inv.Site.Line))})
	}
	if err != nil {
		members = append(members, tools.Member{Name: "error", Value: tools.StringJSON(err.Error())})
	}
	_ = b.c.pipeline.Emit(EventCatalog, tools.ComposeObject(members...))
}

// bound is what a program finds: the tools, and the catalog that describes them.
func bound(catalog *bindings.Catalog, call, lookUp func(context.Context, runtime.Invocation) (runtime.Reply, error)) []runtime.Binding {
	return []runtime.Binding{
		{Namespace: catalog.Namespace(), Call: call},
		{Namespace: catalog.SearchNamespace(), Call: lookUp},
	}
}
