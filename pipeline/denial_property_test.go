package pipeline_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// A guard's denial holds against whatever else is registered, in whatever
// order, for direct and nested calls: no body runs. And what no guard denies
// and everything else lets through does run, so that the property is not kept
// by refusing all.
func TestGuardDenialHolds(t *testing.T) {
	var tally denialTally
	try(t, 5000, 48, tally.check)
	t.Log(tally.String())
	if tally.denied.Load() == 0 || tally.reached.Load() == 0 || tally.ran.Load() == 0 {
		t.Error("a kind of round never happened")
	}
}

func FuzzGuardDenialHolds(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 9, 8, 2, 3, 1, 1, 0, 1, 3, 2, 4, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		var tally denialTally
		tally.check(t, &choices{script})
	})
}

// denialTally counts what the rounds were about.
type denialTally struct{ denied, reached, ran atomic.Int64 }

func (d *denialTally) String() string {
	return fmt.Sprintf("%d with a denying guard, %d of them reached it; %d bodies ran", d.denied.Load(), d.reached.Load(), d.ran.Load())
}

// check is one round.
func (d *denialTally) check(t *testing.T, c *choices) {
	t.Helper()
	s := &stranger{c: c}
	var starts atomic.Int64
	answers := []pipeline.Answer{pipeline.AllowedOnce, pipeline.Granted, pipeline.Rejected, pipeline.Cancelled, 77}
	var p *pipeline.Pipeline
	var inner pipeline.Outcome
	nested := c.of(2) == 1
	p = pipelinetest.New(t, &pipeline.Options{
		ParentOf: func(agent any) any {
			if agent == "child" {
				return "parent"
			}
			return nil
		},
		Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			return answers[s.ofLate(len(answers))], nil
		}),
	}, pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
		starts.Add(1)
		return tools.Result{}, nil
	}), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		inner = p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "tool", Agent: "child", Parent: run})
		return tools.Result{}, nil
	}))
	denies := s.register(p)
	if nested {
		p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "outer", Agent: "child"})
	} else {
		inner = p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "tool", Agent: "child"})
	}
	s.late.Wait()

	ran := starts.Load()
	d.ran.Add(min(ran, 1))
	if !denies {
		if s.harmless && ran == 0 {
			t.Errorf("nothing objects and the call did not run: %v (%s)", inner.Err(), s)
		}
		return
	}
	d.denied.Add(1)
	if ran > 0 {
		t.Errorf("a guard denies and %d bodies ran (%s)", ran, s)
	}
	if !inner.IsError() || inner.State() != pipeline.StateNotStarted {
		t.Errorf("a guard denies and the call ended %s: %q (%s)", inner.State(), inner.Text(), s)
	}
	if inner.Info().Code == tools.CodeDeniedByGuard {
		d.reached.Add(1)
	}
}

// stranger registers what an embedder, or somebody less friendly, might.
type stranger struct {
	c        *choices
	mu       sync.Mutex // held where a call's goroutines choose
	late     sync.WaitGroup
	what     []string
	harmless bool
}

func (s *stranger) String() string { return strings.Join(s.what, ", ") }

// ofLate chooses while the call runs.
func (s *stranger) ofLate(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.of(n)
}

// register adds up to eight parts to p, all of which look at calls of tool
// only, and reports whether a guard among them denies.
func (s *stranger) register(p *pipeline.Pipeline) (denies bool) {
	s.harmless = true
	for i := range s.c.of(9) {
		name := fmt.Sprint("part ", i)
		switch s.c.of(5) {
		case 0:
			denies = s.guard(p, name) || denies
		case 1:
			s.rule(p, name)
		case 2:
			s.listener(p, name)
		case 3:
			s.wrapper(p, name)
		case 4:
			s.reviewer(p, name)
		}
	}
	return denies
}

func (s *stranger) note(what string, harmless bool) {
	s.what = append(s.what, what)
	s.harmless = s.harmless && harmless
}

func (s *stranger) guard(p *pipeline.Pipeline, name string) (denies bool) {
	use := []func(string, pipeline.Guard) func(){p.Guards.Use, p.Guards.For("child").Use, p.Guards.For("parent").Use}[s.c.of(3)]
	does := s.c.of(4)
	denies = does >= 2
	s.note([]string{"guard abstains", "guard for others denies", "guard denies", "guard panics"}[does], !denies)
	if does == 1 {
		use = p.Guards.For("stranger").Use
	}
	use(name, func(c tools.Call) string {
		switch {
		case c.Name() != "tool" || does == 0:
			return ""
		case does == 3:
			panic(name)
		}
		return "no"
	})
	return denies
}

func (s *stranger) rule(p *pipeline.Pipeline, name string) {
	does := s.c.of(5)
	s.note([]string{"rule allows", "rule asks", "rule denies", "rule panics", "rule returns zero"}[does], does == 0)
	p.UseRule(name, func(c tools.Call) pipeline.Decision {
		if c.Name() != "tool" {
			return pipeline.Allow()
		}
		switch does {
		case 0:
			return pipeline.Allow()
		case 1:
			return pipeline.Ask("?")
		case 2:
			return pipeline.Deny("no")
		case 3:
			panic(name)
		}
		return pipeline.Decision{}
	})
}

func (s *stranger) listener(p *pipeline.Pipeline, name string) {
	behaves := s.behaviour("listener")
	answer := s.c.of(5)
	s.note([]string{"and delegates", "and allows", "and asks", "and denies", "and returns zero"}[answer], answer < 2)
	use := []func(string, preListener) func(){
		p.PreExecute.Use, p.PreExecute.Prepend, p.PreExecute.For("child").Use, p.PreExecute.For("parent").Prepend,
	}[s.c.of(4)]
	use(name, func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if c.Name() != "tool" {
			return next(ctx)
		}
		d, err := ask(s, behaves, ctx, next)
		switch answer {
		case 1:
			return pipeline.Allow(), nil
		case 2:
			return pipeline.Ask("?"), nil
		case 3:
			return pipeline.Deny("no"), nil
		case 4:
			return pipeline.Decision{}, nil
		}
		return d, err
	})
}

func (s *stranger) wrapper(p *pipeline.Pipeline, name string) {
	behaves := s.behaviour("wrapper")
	invents := s.c.of(2) == 1
	s.note(fmt.Sprintf("and invents a success: %v", invents), true)
	use := []func(string, wrapper) func(){p.Execution.Use, p.Execution.Prepend}[s.c.of(2)]
	use(name, func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		if d.Call.Name() != "tool" {
			return next(ctx)
		}
		r, err := ask(s, behaves, ctx, next)
		if invents {
			return pipeline.Success(tools.Result{}), nil
		}
		return r, err
	})
}

func (s *stranger) reviewer(p *pipeline.Pipeline, name string) {
	behaves := s.behaviour("reviewer")
	answer := s.c.of(5)
	s.note([]string{"and delegates", "and accepts", "and softens", "and replaces the value", "and blocks"}[answer], true)
	p.PostExecute.Use(name, func(ctx context.Context, settled pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		if settled.Call.Name() != "tool" {
			return next(ctx)
		}
		d, err := ask(s, behaves, ctx, next)
		switch answer {
		case 1:
			return pipeline.Accept(), nil
		case 2:
			return pipeline.AcceptContent(text("all is well")), nil
		case 3:
			return pipeline.AcceptValue(tools.MustJSON("1")), nil
		case 4:
			return pipeline.Block(text("blocked")), nil
		}
		return d, err
	})
}

// behaviour is a way to treat next, see ask. Only the first is sure to let a
// call pass.
func (s *stranger) behaviour(who string) int {
	ways := []string{"asks", "does not ask", "asks twice", "asks late", "asks from elsewhere", "leaves the asking to others", "panics", "panics after asking", "fails"}
	way := s.c.of(len(ways))
	s.note(who+" "+ways[way], way == 0)
	return way
}

// ask treats next in one of the ways.
func ask[D any](s *stranger, way int, ctx context.Context, next pipeline.Next[D]) (d D, err error) {
	switch way {
	case 1:
		return d, nil
	case 2:
		_, _ = next(ctx)
		return next(ctx)
	case 3: // whether before or after the return is for the scheduler
		s.late.Go(func() {
			<-ctx.Done()
			_, _ = next(context.Background())
		})
		return d, nil
	case 4:
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			d, err = next(ctx)
		}()
		<-answered
		return d, err
	case 5:
		for range 2 {
			s.late.Go(func() { _, _ = next(ctx) })
		}
		runtime.Gosched()
		return d, nil
	case 6:
		panic("stranger")
	case 7:
		_, _ = next(ctx)
		panic("stranger")
	case 8:
		return d, errPlain
	}
	return next(ctx)
}
