package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Options configures a Service. The zero value is ready to use.
type Options struct {
	// Policy holds for calls where SetPolicy has said nothing. Zero: Ask.
	Policy Policy
	// Logger is told what answerers fail with, since the next one may answer all
	// the same. Nil: slog.Default().
	Logger *slog.Logger
}

// Service is a pipeline.Approver over several answerers. Make it with New. All
// methods are safe for concurrent use, and none holds a lock while an answerer or
// a ParentOf runs: a question sees answerers and policies as they were when it
// was put, so what is changed meanwhile counts from the next one on.
type Service struct {
	log      *slog.Logger
	pipeline atomic.Pointer[pipeline.Pipeline] // nil before Attach

	setting sync.Mutex // held while a policy is set and logged
	mu      sync.Mutex // held by those who replace snap
	snap    atomic.Pointer[snapshot]
}

var _ pipeline.Approver = (*Service)(nil)

// snapshot is immutable once published.
type snapshot struct {
	answerers []*answerer
	policies  map[any]Policy // by agent, nil for all
}

// answerer is one registration; its address is its identity.
type answerer struct {
	name     string
	agent    any // nil: for every call
	approver pipeline.Approver
}

// New makes a service without answerers, which answers Unavailable. Nil options
// are empty ones.
func New(opts *Options) *Service {
	if opts == nil {
		opts = &Options{}
	}
	s := &Service{log: opts.Logger}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.snap.Store(&snapshot{policies: map[any]Policy{nil: opts.Policy}})
	return s
}

// Attach tells the service which pipeline it answers for: it is made first, and
// learns from the pipeline which agents stand above an agent and where to log
// policies. A service that is not attached, such as one of several pipelines,
// knows no agents: For panics and SetPolicy refuses. Attach panics for nil and the
// second time.
func (s *Service) Attach(p *pipeline.Pipeline) {
	if p == nil || !s.pipeline.CompareAndSwap(nil, p) {
		panic("approval: Attach: call it once, with the pipeline that has the service as its approver")
	}
}

// Use adds an answerer behind those there are, for every call, and returns a
// function that removes this registration (again: no effect). The name is what
// denials and the Logger show. An empty name or a nil answerer panics.
func (s *Service) Use(name string, a pipeline.Approver) (remove func()) {
	return s.add(&answerer{name: name, approver: a})
}

// Scope registers answerers for one agent; see Service.For.
type Scope struct {
	s     *Service
	agent any
}

// For registers answerers that are asked only about calls of the agent and of
// the agents below it. Their place in the order is that of their registration. It
// panics before Attach, and for a nil or incomparable agent.
func (s *Service) For(agent any) Scope {
	s.mustKnow(agent)
	return Scope{s, agent}
}

// Use is Service.Use for the agent.
func (s Scope) Use(name string, a pipeline.Approver) (remove func()) {
	return s.s.add(&answerer{name: name, agent: s.agent, approver: a})
}

// Forget drops the answerers and the policy of an agent that makes no more calls,
// which the service would keep otherwise. It panics as For does.
func (s *Service) Forget(agent any) {
	s.mustKnow(agent)
	s.update(func(next *snapshot) {
		next.answerers = slices.DeleteFunc(next.answerers, func(a *answerer) bool { return a.agent == agent })
		delete(next.policies, agent)
	})
}

func (s *Service) mustKnow(agent any) {
	p := s.pipeline.Load()
	if p == nil {
		panic(fmt.Sprintf("approval: the service cannot tell which calls are those of agent %T; call Attach first", agent))
	}
	p.For(agent) // panics for what is no agent
}

func (s *Service) add(a *answerer) (remove func()) {
	if a.name == "" || a.approver == nil {
		panic(fmt.Sprintf("approval: cannot use the answerer %q: it needs a name and must not be nil", a.name))
	}
	s.update(func(next *snapshot) { next.answerers = append(next.answerers, a) })
	return func() {
		s.update(func(next *snapshot) {
			next.answerers = slices.DeleteFunc(next.answerers, func(e *answerer) bool { return e == a })
		})
	}
}

// update publishes change of a copy.
func (s *Service) update(change func(next *snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.snap.Load()
	next := &snapshot{slices.Clone(now.answerers), maps.Clone(now.policies)}
	change(next)
	s.snap.Store(next)
}

// Approve implements pipeline.Approver. It answers Cancelled once ctx has ended,
// Rejected where the policy is Never, and otherwise what the first answerer says
// that says AllowedOnce, Granted, Rejected or Cancelled. Unavailable, an error, a
// panic, the end of an answerer's goroutine and an unknown answer pass the
// question on. If nobody is left the answer is Unavailable, and the error that of
// the last answerer that had one. All of them together have the time of
// pipeline.Options.ApprovalTimeout; see Within.
func (s *Service) Approve(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
	now := s.snap.Load()
	scopes, err := s.scopes(ask.Call.Agent())
	switch {
	case ctx.Err() != nil:
		return pipeline.Cancelled, nil
	case err != nil: // whose policy holds is not known
		return pipeline.Unavailable, err
	case now.policy(scopes) != Ask:
		return pipeline.Rejected, nil
	}
	for _, a := range now.answerers {
		if a.agent != nil && !slices.Contains(scopes, a.agent) {
			continue
		}
		answer, failed := race(ctx, ask, a.approver)
		if answer != pipeline.Unavailable {
			return answer, nil
		}
		if failed != nil {
			s.report(a, ask.Call, failed)
			err = fmt.Errorf("%s: %w", a.name, failed)
		}
	}
	return pipeline.Unavailable, err
}

// scopes are the agent and those above it, nearest first.
func (s *Service) scopes(agent any) ([]any, error) {
	p := s.pipeline.Load()
	if p == nil {
		return nil, nil
	}
	return p.Scopes(agent)
}

// report tells the host what a model must not read, or what it does not get to
// read.
func (s *Service) report(a *answerer, call tools.Call, err error) {
	log := s.log.With("answerer", a.name, "tool", call.Name(), "call", call.ID())
	if crash, ok := errors.AsType[*tools.PanicError](err); ok {
		log.Error("answerer crashed", "panic", fmt.Sprint(crash.Value), "stack", string(crash.Stack))
		return
	}
	log.Info("answerer failed", "error", err.Error())
}
