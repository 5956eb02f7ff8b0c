package pipeline

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// Rule is a pre-execute listener that decides from the call alone, at once and
// without an effect, so that Explain can ask it about calls nobody makes. Allow
// means no objection: the listeners further in are asked as well, and the
// stricter answer wins.
type Rule func(call tools.Call) Decision

// UseRule adds a rule at the inner end of PreExecute, for every call, and
// returns a function that removes it. The name is what denials and
// explanations show. An empty name or a nil rule panics. A rule that panics
// fails the call, as any listener.
func (p *Pipeline) UseRule(name string, rule Rule) (remove func()) {
	list := &p.PreExecute.list
	if name == "" || rule == nil {
		panic(fmt.Sprintf("pipeline.UseRule: the rule %q needs a name and a function", name))
	}
	return list.insert(&registration[Listener[tools.Call, Decision]]{name: name, fn: rule.listen, rule: rule}, false)
}

func (r Rule) listen(ctx context.Context, call tools.Call, next Next[Decision]) (Decision, error) {
	own := r(call)
	if own.Verdict() == VerdictDeny {
		return own, nil
	}
	inner, err := next(ctx)
	if err != nil || own.Verdict() >= inner.Verdict() {
		return inner, err
	}
	return own, nil
}

// Finding is what one rule, listener or guard says about a call.
type Finding struct {
	Stage string // "pre-execute", "guard", "execution" or "post-execute"
	Name  string
	// Evaluated is false for a listener that is not a rule: it may have
	// effects, so it is not asked, and Verdict and Reason mean nothing. So it is
	// for all of the stages after the guards.
	Evaluated bool
	// Verdict is what the rule says; of a guard, deny or allow.
	Verdict Verdict
	Reason  string
}

// Explanation is what is known of a call without making it.
type Explanation struct {
	Call tools.Call
	// Problem is why the call would fail before or in spite of policy: an
	// unknown tool, arguments that do not fit, subjects that cannot be found.
	// Nil if there is none.
	Problem error
	// Findings are in the order in which a call meets them.
	Findings []Finding
	// Verdict is the strictest of what was evaluated. Guards are listed even if
	// they would not be asked.
	Verdict Verdict
}

// Explain says what policy would do with a call. It asks rules and guards, which
// have no effects; other listeners, approvers and tools are not started, and
// nothing is logged. Of the request it uses Name, Args and Agent; Parent may be
// set where the call is explained from within a body.
func (p *Pipeline) Explain(req Request) Explanation {
	x := p.newExecution(context.Background(), req)
	e := Explanation{Call: x.call, Problem: x.problem(), Verdict: VerdictAllow}
	for _, l := range p.PreExecute.list.visible(x.scopes) {
		f := Finding{Stage: "pre-execute", Name: l.name}
		if l.rule != nil {
			f.Evaluated = true
			f.Verdict, f.Reason = askRule(l, x.call)
		}
		e.add(f)
	}
	for _, g := range p.Guards.order(x.scopes) {
		f := Finding{Stage: "guard", Name: g.name, Evaluated: true, Verdict: VerdictAllow}
		if f.Reason = askGuard(g, x.call, func(*tools.PanicError) {}); f.Reason != "" {
			f.Verdict = VerdictDeny
		}
		e.add(f)
	}
	for _, w := range x.p.Execution.list.visible(x.scopes) {
		e.add(Finding{Stage: "execution", Name: w.name})
	}
	for _, l := range x.p.PostExecute.list.visible(x.scopes) {
		e.add(Finding{Stage: "post-execute", Name: l.name})
	}
	return e
}

func (e *Explanation) add(f Finding) {
	e.Findings = append(e.Findings, f)
	if f.Evaluated {
		e.Verdict = min(e.Verdict, f.Verdict)
	}
}

// problem is what keeps the call from running whatever policy says.
func (x *execution) problem() error {
	switch {
	case x.faulty != nil:
		return x.faulty
	case x.tool == nil:
		return x.unknown()
	}
	if err := x.collapsed(); err != nil {
		return err
	}
	if err := x.checkArgs(x.tool); err != nil {
		return err
	}
	_, err := x.call.Subjects()
	return err
}

func askRule(l *registration[Listener[tools.Call, Decision]], call tools.Call) (verdict Verdict, reason string) {
	defer func() {
		if r := recover(); r != nil {
			verdict, reason = VerdictDeny, fmt.Sprintf("rule %q crashed, so the call fails", l.name)
		}
	}()
	d := l.rule(call).stamped(l.name, nil)
	return d.verdict, d.reason
}
