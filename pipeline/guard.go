package pipeline

import (
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// Guard is a last check before a call runs: it returns why the call is denied,
// or "" to abstain. It cannot allow anything, is asked only once policy and
// approval have let the call through, and should be a quick, pure function. A
// panic denies the call.
type Guard func(call tools.Call) (denyReason string)

// Guards is the set of guards of a pipeline, safe for concurrent use. They are
// asked in this order: those for every call, then those of the agent's
// ancestors from the farthest to the agent itself, each group in order of
// registration (as in DSH). The first reason ends the walk. A guard added while
// a call is being checked counts from the next call on.
type Guards struct{ list registrations[Guard] }

// Use adds a guard for every call and returns a function that removes this
// registration. The name is shown with the denial. An empty name or a nil guard
// panics.
func (g *Guards) Use(name string, guard Guard) (remove func()) {
	return g.list.add(name, guard, nil, false)
}

// For registers guards for the calls of one agent and of the agents below it. A
// nil or incomparable agent panics.
func (g *Guards) For(agent any) GuardScope { return GuardScope{g, mustScope(agent)} }

// Names lists the guards in order of registration.
func (g *Guards) Names() []string { return g.list.names() }

// GuardScope registers guards for one agent; see Guards.For.
type GuardScope struct {
	g     *Guards
	agent any
}

// Use is Guards.Use for the agent.
func (s GuardScope) Use(name string, guard Guard) (remove func()) {
	return s.g.list.add(name, guard, s.agent, false)
}

// askGuards asks the guards; nil means that all abstained.
func (x *execution) askGuards() *DeniedError {
	onPanic := func(p *tools.PanicError) { x.p.logPanic(p, x.call) }
	for _, e := range x.p.Guards.order(x.scopes) {
		began := x.clock()
		reason := askGuard(e, x.call, onPanic)
		if reason != "" {
			x.record(StageGuard, e.name, "deny", reason, began)
			return &DeniedError{Code: tools.CodeDeniedByGuard, Origin: OriginGuard, By: e.name, Reason: reason}
		}
		x.record(StageGuard, e.name, "abstain", "", began)
	}
	return nil
}

// order lists the guards of a call in the order in which they are asked.
func (g *Guards) order(scopes []any) []*registration[Guard] {
	list := g.list.all()
	if !scoped(list) {
		return list
	}
	order := make([]*registration[Guard], 0, len(list))
	for _, scope := range append([]any{nil}, reversed(scopes)...) {
		for _, e := range list {
			if e.agent == scope {
				order = append(order, e)
			}
		}
	}
	return order
}

func reversed(scopes []any) []any {
	out := slices.Clone(scopes)
	slices.Reverse(out)
	return out
}

func askGuard(e *registration[Guard], call tools.Call, onPanic func(*tools.PanicError)) (reason string) {
	defer func() {
		if r := recover(); r != nil {
			onPanic(panicked(fmt.Sprintf("guard %q", e.name), r))
			reason = fmt.Sprintf("guard %q crashed, so the call is denied", e.name)
		}
	}()
	return e.fn(call)
}
