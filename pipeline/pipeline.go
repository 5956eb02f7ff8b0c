package pipeline

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// Options configures a Pipeline. The zero value is useful: no approver (every
// ask is a denial), no log.
type Options struct {
	// Approver answers asks. Nil: an ask denies the call.
	Approver Approver
	// ApprovalTimeout is how long one question may stay open, its wait for an
	// earlier one not counted; then it counts as unanswered and denies. Zero: 10
	// minutes. A negative one panics in New.
	ApprovalTimeout time.Duration
	// MaxAsks is how many questions one call of a model may lead to, those of
	// its nested calls included; further asks deny. Zero: 20. A negative number
	// panics in New. A question counts also if its call is given up before the
	// answer; the answer Granted, of a rule or a standing answer, is no question.
	MaxAsks int
	// Sink takes the events. Nil: none are made.
	Sink Sink
	// LogRequired fails a call, before its body, if the event that announces it
	// cannot be written; New panics if there is no Sink. In any case the first
	// sink error is reported to Logger.
	LogRequired bool
	// Stages adds to the log, for each call, what every listener, guard, wrapper
	// and the approver answered: ignorable events of the type EventStage. They
	// have the reasons of failures as they came, also of those a post-execute
	// listener blocks. Without a Sink it does nothing.
	Stages bool
	// Values adds to the event of each success its value, canonical JSON, as a
	// member "value": what a program computes with and what a replay needs. Without
	// a Sink it does nothing.
	Values bool
	// FirstSeq is the Seq of the first event.
	FirstSeq uint64
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
	// NewID makes the ids of messages and of calls that come without one. Nil:
	// random ones.
	NewID func() string
	// Logger takes what only the host should see: stacks of panics, sink
	// errors. Nil: slog.Default().
	Logger *slog.Logger
	// ParentOf names the agent above an agent, nil for none, so that listeners
	// and guards registered for an agent also see the calls of its sub-agents.
	// Nil: agents have no parents.
	ParentOf func(agent any) any
	// MaxParallel is how many bodies Batch runs at a time. Zero: 10. One:
	// serial. A negative number panics in New.
	MaxParallel int
	// Drain is how long a body may take to return once nobody waits for its call
	// any more (see Request.Over), as one does that ignores its context. A body that
	// waits for calls of its own, nested ones or those it makes with its context, has
	// as long again after them. Zero: 5 s. A negative one panics in New.
	Drain time.Duration
	// Progress is told what bodies report through Run.Progress. It must not
	// block: the body waits for it. Nil: nobody is.
	Progress func(tools.Call, tools.Progress)
}

const (
	defaultMaxParallel     = 10
	defaultMaxAsks         = 20
	defaultApprovalTimeout = 10 * time.Minute
	defaultDrain           = 5 * time.Second
)

// Pipeline takes tool calls from the request to the settled outcome. It is safe
// for concurrent use and holds no lock while foreign code runs, the Sink
// excepted. Make it with New.
type Pipeline struct {
	// PreExecute decides whether a call may run: allow, ask a person, or deny.
	// With no listener every call is allowed.
	PreExecute *Waterfall[tools.Call, Decision]
	// Guards can only deny, after PreExecute and the approver.
	Guards *Guards
	// Execution wraps the body: timeouts, retries, caches. A wrapper may call
	// next again for another attempt.
	Execution *Waterfall[Dispatch, Result]
	// PostExecute sees every result that policy or the body produced and may
	// replace or block it.
	PostExecute *Waterfall[Settled, PostDecision]

	reg       *tools.Registry
	opts      Options
	log       *slog.Logger
	observers registrations[func(Outcome)]
	transport atomic.Pointer[Transport]
	layers    layers
	asking    queue
	live      liveRuns
	strays    strays
	journal   journal
}

// New makes a pipeline over the tools of reg. It panics if reg is nil or the
// options contradict themselves.
func New(reg *tools.Registry, opts *Options) *Pipeline {
	if reg == nil {
		panic("pipeline.New: the registry is nil; make one with tools.NewRegistry")
	}
	p := &Pipeline{
		PreExecute:  &Waterfall[tools.Call, Decision]{},
		Guards:      &Guards{},
		Execution:   &Waterfall[Dispatch, Result]{},
		PostExecute: &Waterfall[Settled, PostDecision]{},
		reg:         reg,
	}
	p.PreExecute.list.kind = "pre-execute listener"
	p.Guards.list.kind = "guard"
	p.Execution.list.kind = "execution wrapper"
	p.PostExecute.list.kind = "post-execute listener"
	p.observers.kind = "result observer"
	if opts != nil {
		p.opts = *opts
	}
	p.setDefaults()
	p.journal.p, p.journal.seq = p, p.opts.FirstSeq
	return p
}

func (p *Pipeline) setDefaults() {
	o := &p.opts
	switch {
	case o.MaxParallel < 0:
		panic("pipeline.New: MaxParallel is negative; 1 is serial, 0 the default")
	case o.MaxParallel == 0:
		o.MaxParallel = defaultMaxParallel
	}
	if o.ApprovalTimeout < 0 || o.MaxAsks < 0 || o.Drain < 0 {
		panic("pipeline.New: ApprovalTimeout, MaxAsks or Drain is negative; zero takes the default")
	}
	if o.ApprovalTimeout == 0 {
		o.ApprovalTimeout = defaultApprovalTimeout
	}
	if o.MaxAsks == 0 {
		o.MaxAsks = defaultMaxAsks
	}
	if o.Drain == 0 {
		o.Drain = defaultDrain
	}
	if o.LogRequired && o.Sink == nil {
		panic("pipeline.New: LogRequired is set and there is no Sink to log to")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	p.log = o.Logger
}

// LogsValues reports whether the values of results are logged: Options.Values, and
// a Sink.
func (p *Pipeline) LogsValues() bool { return p.opts.Values && p.opts.Sink != nil }

// Now is the time by the clock of the pipeline, Options.Now.
func (p *Pipeline) Now() time.Time { return p.now() }

// Registry is the registry the pipeline was made with.
func (p *Pipeline) Registry() *tools.Registry { return p.reg }

// Execute takes one call through all stages and always settles: whatever a
// listener, a guard, an approver, a body or an observer does, the caller gets
// an Outcome and the log a result for every call it announces. It returns only
// when the body has, or has been abandoned (see Request.Over), and runs it on the
// calling goroutine if it cannot be abandoned. Foreign code that ends that
// goroutine (runtime.Goexit) takes the caller with it; the log gets its result all
// the same.
func (p *Pipeline) Execute(ctx context.Context, req Request) Outcome {
	s := p.stage(ctx, req)
	defer s.Settle()
	s.x.prepare()
	s.Dispatch()
	return s.Settle()
}

// prepare is the half of a call before its body. It leaves a result, or the
// route to dispatch.
func (x *execution) prepare() {
	defer x.settleExit(toPrepare)
	defer x.settleCrash("preparing the call")
	began := x.clock()
	if err := x.admit(); err != nil {
		x.record(StageAdmit, "", "refuse", textOf(err), began)
		x.finally(err)
		return
	}
	decision, err := x.preExecute()
	if err != nil {
		x.finally(x.orAbort(err))
		return
	}
	if err := x.permit(decision); err != nil {
		x.then(toPost, Failure(err))
		return
	}
	x.route = toDispatch
}

// admit lets a call through to policy: it is announced in the log, its
// arguments could be read, it may be called this way, nobody has given it up.
func (x *execution) admit() error {
	if err := x.announce(); err != nil {
		return err
	}
	if x.faulty != nil {
		return x.faulty
	}
	if x.ctx.Err() != nil {
		return aborted(x.ctx, false)
	}
	if err := x.collapsed(); err != nil {
		x.finalizer = nil
		return err
	}
	return nil
}

// permit is what stands between policy's answer and the body: the approver,
// the guards, and a caller that has left.
func (x *execution) permit(decision Decision) error {
	switch decision.verdict {
	case VerdictAllow:
	case VerdictAsk:
		asked := decision // a copy of its own, so that only calls that ask pay for it
		x.asked = &asked
		if err := x.approve(x.ctx, decision); err != nil {
			return err
		}
	default:
		return &DeniedError{Code: tools.CodeDeniedByPolicy, Origin: OriginPolicy, By: decision.by, Reason: decision.reason}
	}
	if denied := x.askGuards(); denied != nil {
		return denied
	}
	if x.ctx.Err() != nil {
		return aborted(x.ctx, false)
	}
	return nil
}

// dispatch runs the execution stage of a call that may run.
func (x *execution) dispatch() {
	if x.route != toDispatch {
		return
	}
	defer x.settleExit(toDispatch)
	defer x.settleCrash("executing the call")
	result, err := x.runExecution()
	if err != nil {
		x.finally(x.orAbort(err))
		return
	}
	x.then(toPost, x.normalise(result))
}

// commit is the half of a call after its body: post-execute, finalizer,
// observers, log, each even if foreign code before it ends the goroutine.
func (x *execution) commit() {
	defer x.leave()
	defer func() { x.p.journal.result(x, x.outcome()) }()
	defer func() {
		x.close()
		if !x.outcast {
			x.p.notify(x.outcome())
		}
	}()
	defer x.finalize()
	x.postExecute()
}
