package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/runcode-go/runcode/internal/token"
	"github.com/runcode-go/runcode/tools"
)

// Request is one call to execute.
type Request struct {
	// ID is the call's id, the provider's for a model's call. Empty: made up.
	ID   string
	Name string
	// Args is the raw text of the arguments as the model sent it. Empty means
	// {}. A text that is no JSON at all is passed on as that string, which the
	// tool's schema then refuses (as DSH does); a text two readers could
	// understand differently fails the call before policy.
	Args string
	// Agent acts; it selects the listeners and guards of that agent. Nil for
	// none; otherwise it must be comparable.
	Agent any
	// Parent makes this a nested call. It must be the handle of a body of the
	// same pipeline and the same Agent that has neither returned nor been abandoned;
	// anything else is refused without a trace in the log. The body waits for the
	// calls it nests: one that outlives it settles after the result of the call it
	// belongs to.
	Parent *tools.Run
	// Over is closed when nobody waits for the call any more, as the result of a
	// program that is being ended; the call's ctx ends no later. A body that does
	// not return within Options.Drain after that is abandoned: the call settles
	// with an *AbandonedError and the state StateAbandoned, as an aborted one would,
	// and the body's goroutine runs on, without effect on this call or its log. What
	// ends the wait for the parent ends that for the call too. Nil: nothing else
	// does, so the body of a call without a parent is awaited in any case.
	Over <-chan struct{}
	// Site is where a program made a nested call.
	Site tools.Site
	// DropContexts drops the contexts of a nested call and counts them. By
	// default they are deferred on the parent and follow the parent's result.
	DropContexts bool
	// OnApproval is called when the call begins to wait for a person, what it
	// returns when the wait is over.
	OnApproval func() (resume func())
	// Turn and Step stand in the events of calls without a parent.
	Turn, Step int
}

// newExecution makes the record of a call. It never fails: what is wrong with
// the request is the record's fault, reported by admit.
func (p *Pipeline) newExecution(ctx context.Context, req Request) *execution {
	x := &execution{p: p, req: req, ctx: ctx, started: p.now()}
	spec := tools.CallSpec{ID: req.ID, Name: req.Name, Agent: req.Agent, Token: token.New(), Site: req.Site}
	if spec.ID == "" {
		spec.ID = p.newID()
	}
	args, err := parseArgs(req.Name, req.Args)
	spec.Args = args
	x.fault(err)
	x.scopes, err = p.Scopes(req.Agent)
	x.fault(err)
	x.tool = p.find(req.Name, x.scopes)
	if x.tool != nil {
		x.finalizer = x.tool.Definition().Finalize
	}
	spec.Tool, spec.Transport = x.tool, p.isTransport(x.tool)
	spec.Subjects = tools.SubjectsOf(x.tool, spec.Args)
	x.place(&spec)
	x.call = tools.NewCall(spec)
	return x
}

// place finds the body above the call and counts the call among those below it,
// until it settles. No foreign code may run between here and a deferred Settle.
func (x *execution) place(spec *tools.CallSpec) {
	x.declined, x.ends.own = &x.ownDeclined, x.req.Over
	if x.req.Parent == nil {
		if host, ok := x.ctx.Value(bodyKey{}).(*attempt); ok && host.x.p.live.visit(host) {
			x.host = host
		}
		return
	}
	parent, err := x.p.live.join(x.req)
	if err != nil {
		x.outcast, x.faulty = true, err
		return
	}
	x.parent, x.declined, x.ends = parent, parent.x.declined, endsOf(x.req, parent)
	outer := parent.x.call
	spec.RootID, spec.ParentID, spec.Parent = outer.RootID(), outer.ID(), outer.Token()
}

// leave ends what place has begun.
func (x *execution) leave() {
	switch {
	case x.parent != nil:
		x.parent.x.p.live.leave(x, x.parent, &x.parent.below.open)
	case x.host != nil:
		x.host.x.p.live.leave(x, x.host, &x.host.below.guests)
	}
}

// fault keeps the first thing that is wrong with the request.
func (x *execution) fault(err error) {
	if x.faulty == nil && err != nil {
		x.faulty = err
	}
}

// parseArgs reads the arguments text as Request.Args describes.
func parseArgs(tool, text string) (tools.JSON, error) {
	if text == "" {
		return emptyObject, nil
	}
	args, err := tools.ParseJSON(text)
	if err == nil {
		return args, nil
	}
	if !isRefusedJSON(text, err) {
		return tools.StringJSON(text), nil
	}
	problem := tools.Problem{Text: err.Error()}
	var detail *tools.JSONError
	if errors.As(err, &detail) {
		problem.Pointer = detail.Pointer
	}
	return tools.JSON{}, &tools.ArgsError{Tool: tool, Problems: []tools.Problem{problem}}
}

var emptyObject = tools.MustJSON("{}")

// isRefusedJSON tells text that is JSON, but not acceptable, from text that is
// no JSON.
func isRefusedJSON(text string, err error) bool {
	return json.Valid([]byte(text)) || strings.Contains(err.Error(), "nested deeper than")
}

// sameAgent is a == b for agents that may turn out to be incomparable.
func sameAgent(a, b any) (same bool) {
	defer func() { _ = recover() }()
	return a == b
}
