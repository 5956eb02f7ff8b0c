package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// Transport is the tool that carries programs, run_code, and how it changes
// what a model may call.
type Transport struct {
	// Tool is named tools.TransportName and made by tools.NewTool. It stands in
	// no registry.
	Tool *tools.Tool
	// Visible reports whether an agent can call run_code; its scopes are the
	// agent and its ancestors, nearest first, none for no agent. Nil: always.
	Visible func(scopes []any) bool
	// Collapse reports whether run_code is the only tool the agent's model may
	// call directly. Nil: never. Calls of other tools the agent sees are then
	// refused before policy; nested calls are not concerned.
	Collapse func(scopes []any) bool
}

// InstallTransport adds run_code to what the pipeline executes. It can be done
// once.
func (p *Pipeline) InstallTransport(t Transport) error {
	if t.Tool == nil || t.Tool.Name() != tools.TransportName {
		return fmt.Errorf("the transport must be a tool named %q made by tools.NewTool", tools.TransportName)
	}
	if !p.transport.CompareAndSwap(nil, &t) {
		return errors.New("the pipeline has a transport already; make a second pipeline for a second one")
	}
	return nil
}

// find is the tool an agent with these scopes means by name, nil for none.
func (p *Pipeline) find(name string, scopes []any) *tools.Tool {
	if name != tools.TransportName {
		return p.lookup(name, scopes)
	}
	t := p.transport.Load()
	if t == nil || !p.says(t.Visible, scopes, "Transport.Visible", true, false) {
		return nil
	}
	return t.Tool
}

func (p *Pipeline) isTransport(tool *tools.Tool) bool {
	t := p.transport.Load()
	return t != nil && tool == t.Tool
}

// collapsed is the refusal of a model's direct call of a tool that only
// programs may call, nil for any other call. A name nobody registered goes on,
// so that policy sees every name a model asks for.
func (x *execution) collapsed() error {
	p, call := x.p, x.call
	t := p.transport.Load()
	if t == nil || call.Origin() != tools.OriginModel || call.Name() == tools.TransportName {
		return nil
	}
	if p.lookup(call.Name(), x.scopes) == nil || !p.says(t.Collapse, x.scopes, "Transport.Collapse", false, true) {
		return nil
	}
	name := call.Name()
	return &tools.NotFoundError{Tool: name, Message: fmt.Sprintf(
		"unknown tool %q: only `run_code` is callable directly — call `%s` from inside a `run_code` program instead", name, name)}
}

// says asks a transport's predicate; a crash counts as the stricter answer.
func (p *Pipeline) says(predicate func([]any) bool, scopes []any, where string, unset, crashed bool) (answer bool) {
	if predicate == nil {
		return unset
	}
	defer func() {
		if r := recover(); r != nil {
			p.logPanic(panicked(where, r), tools.Call{})
			answer = crashed
		}
	}()
	return predicate(slices.Clone(scopes))
}
