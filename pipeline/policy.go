package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// preExecute asks the pre-execute listeners. What an inner one refuses, by a
// denial, an error or a panic, stays refused whatever an outer one answers.
func (x *execution) preExecute() (Decision, error) {
	listeners := x.p.PreExecute.list.visible(x.scopes)
	if len(listeners) == 0 {
		return Allow(), nil
	}
	judge := &preJudge{x: x}
	p := &pass[tools.Call, Decision]{
		x:         x,
		listeners: listeners,
		event:     x.call,
		innermost: func(context.Context) (Decision, error) { return Allow(), nil },
		judge:     judge,
		stage:     "pre-execute",
	}
	d, err := p.run(x.ctx, 0)
	if err == nil && d.verdict == VerdictDeny {
		return d, nil
	}
	return judge.overrule(d, err)
}

// preJudge stamps the decisions of the pre-execute listeners and remembers
// their denials and errors.
type preJudge struct {
	x *execution
	refusals[Decision]
}

func (j *preJudge) observe(name string, d Decision, err error, asked *Decision) (Decision, error) {
	if err != nil {
		j.fail(err)
		return d, err
	}
	d = d.stamped(name, asked)
	if d.verdict == VerdictDeny {
		j.refuse(d)
	}
	return d, nil
}

func (j *preJudge) record(name string, d Decision, err error, began time.Time) {
	if err != nil {
		j.x.record(StagePreExecute, name, "error", textOf(err), began)
		return
	}
	j.x.record(StagePreExecute, name, d.verdict.String(), d.reason, began)
}

// refusals remembers the first refusal of a pass and its first error. Listeners
// may work on several goroutines.
type refusals[D any] struct {
	mu      sync.Mutex
	err     error
	refused *D
}

func (r *refusals[D]) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *refusals[D]) refuse(d D) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = &d
	}
}

// overrule is the stage's answer unless something further in was refused.
func (r *refusals[D]) overrule(d D, err error) (D, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		return d, err
	case r.err != nil:
		return d, r.err
	case r.refused != nil:
		return *r.refused, nil
	}
	return d, nil
}

// postExecute lets the post-execute listeners see a result and applies their
// answer. As in preExecute, a block or an error further in cannot be undone.
func (x *execution) postExecute() {
	if x.route != toPost {
		return
	}
	defer x.settleExit(toPost)
	defer x.settleCrash("reviewing the result")
	if listeners := x.p.PostExecute.list.visible(x.scopes); len(listeners) > 0 {
		decision, err := x.askPost(listeners)
		if err != nil {
			x.finally(x.orAbort(err))
			return
		}
		x.result = x.applyPost(decision)
	}
	x.then(toFinish, x.unlessAborted(x.result))
}

func (x *execution) askPost(listeners []*registration[Listener[Settled, PostDecision]]) (PostDecision, error) {
	judge := &postJudge{x: x}
	p := &pass[Settled, PostDecision]{
		x:         x,
		listeners: listeners,
		event:     Settled{Call: x.call, Result: x.result},
		innermost: func(context.Context) (PostDecision, error) { return Accept(), nil },
		judge:     judge,
		stage:     "post-execute",
	}
	d, err := p.run(x.ctx, 0)
	if err == nil && d.kind == postBlock {
		return d, nil
	}
	return judge.overrule(d, err)
}

// postJudge remembers the blocks and errors of the post-execute listeners.
type postJudge struct {
	x *execution
	refusals[PostDecision]
}

func (j *postJudge) observe(name string, d PostDecision, err error, asked *PostDecision) (PostDecision, error) {
	if err == nil && d.kind == postNone {
		err = noPostDecision(name)
	}
	if err != nil {
		j.fail(err)
		return d, err
	}
	if d.kind == postBlock {
		j.refuse(d)
	}
	if asked != nil {
		d = d.over(*asked)
	}
	return d, nil
}

func (j *postJudge) record(name string, d PostDecision, err error, began time.Time) {
	if err != nil {
		j.x.record(StagePostExecute, name, "error", textOf(err), began)
		return
	}
	j.x.record(StagePostExecute, name, d.kind.String(), d.feedback(), began)
}
