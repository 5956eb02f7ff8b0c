package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// Cancellation, timeouts, retries, answers of an approver and the ends of
// bodies may interleave in any way: every call that is announced settles exactly
// once, a nested one before the body that waits for it; no body runs once its
// call has settled unless it was abandoned, and none starts without a grant of its
// own where one is needed.
func TestEveryCallSettlesOnce(t *testing.T) {
	var tally settleTally
	try(t, 1500, 64, tally.check)
	t.Log(tally.String())
	for _, state := range []pipeline.State{pipeline.StateDone, pipeline.StateFailed, pipeline.StateAborted, pipeline.StateAbandoned, pipeline.StateNotStarted} {
		if tally.states[state] == 0 {
			t.Errorf("no call ended %s", state)
		}
	}
}

func FuzzEveryCallSettlesOnce(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 4, 1, 2, 2, 1, 3, 5, 1, 1, 2, 0, 3, 4, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		var tally settleTally
		tally.check(t, &choices{script})
	})
}

// settleTally counts how calls ended.
type settleTally struct{ states map[pipeline.State]int }

func (s *settleTally) String() string { return fmt.Sprint("calls by state: ", s.states) }

func (s *settleTally) check(t *testing.T, c *choices) {
	t.Helper()
	if s.states == nil {
		s.states = map[pipeline.State]int{}
	}
	synctest.Test(t, func(t *testing.T) {
		r := &rush{choices: c, running: map[tools.Token]int{}}
		r.run(t)
		for _, o := range r.settled {
			s.states[o.State()]++
		}
	})
}

// rush is one round: some calls of a model at once, on a pipeline where every
// part takes a time that is chosen.
type rush struct {
	mu      sync.Mutex // held where a call's goroutines choose or count
	choices *choices
	p       *pipeline.Pipeline
	rec     pipelinetest.Recorder
	settled []pipeline.Outcome
	running map[tools.Token]int // bodies of calls of tool
	late    []string            // calls with a body that ran after they had settled

	starts, granted atomic.Int64 // of bodies of tool, answers that let one start
}

func (r *rush) of(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.choices.of(n)
}

// span is a short time, of a few so that many things happen at one moment.
func (r *rush) span() time.Duration { return time.Duration(r.of(5)) * time.Second }

// wait takes a time, cut short by the end of ctx in every second case.
func (r *rush) wait(ctx context.Context) error {
	d, heeds := r.span(), r.of(2) == 0
	if !heeds {
		time.Sleep(d)
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *rush) run(t *testing.T) {
	asks := r.of(2) == 1
	r.p = pipelinetest.New(t, &pipeline.Options{
		Sink: &r.rec, Stages: r.of(2) == 1, Approver: pipeline.ApproverFunc(r.approve), MaxAsks: 100,
		ApprovalTimeout: time.Duration(1+r.of(4)) * time.Second, Drain: time.Duration(1+r.of(4)) * time.Second,
	}, pipelinetest.Tool("tool", r.body), pipelinetest.Tool("outer", r.outer))
	r.p.PreExecute.Use("asks", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if err := r.wait(ctx); err != nil {
			return pipeline.Decision{}, err
		}
		if asks && c.Name() == "tool" {
			return pipeline.Ask("?"), nil
		}
		return next(ctx)
	})
	for i := range r.of(3) {
		r.p.Execution.Use(fmt.Sprint("wrapper ", i), r.wrapper())
	}
	r.p.PostExecute.Use("takes its time", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		_ = r.wait(ctx)
		return next(ctx)
	})
	r.p.OnResult("count", func(o pipeline.Outcome) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.settled = append(r.settled, o)
		if r.running[o.Call().Token()] > 0 && o.State() != pipeline.StateAbandoned {
			r.late = append(r.late, o.Call().ID())
		}
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var model sync.WaitGroup
	for i := range 1 + r.of(3) {
		model.Go(func() { r.call(ctx, fmt.Sprint("c", i)) })
	}
	if r.of(2) == 1 {
		time.Sleep(r.span())
		cancel()
	}
	model.Wait()
	time.Sleep(time.Hour) // for what comes too late, such as an approver's answer
	r.verify(t, asks)
}

// call makes a call in one of the ways there are.
func (r *rush) call(ctx context.Context, id string) {
	if r.of(3) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.span())
		defer cancel()
	}
	req := pipeline.Request{ID: id, Name: []string{"tool", "outer"}[r.of(2)]}
	if r.of(2) == 1 {
		req.Over = ctx.Done()
	}
	switch r.of(3) {
	case 0:
		r.p.Execute(ctx, req)
	case 1:
		req.ID = "batched " + id
		r.p.Batch(ctx, []pipeline.Request{req, {ID: "batched too " + id, Name: "tool"}})
	case 2:
		s := r.p.Begin(ctx, req)
		if r.of(2) == 1 {
			var elsewhere sync.WaitGroup
			elsewhere.Go(s.Dispatch)
			elsewhere.Wait()
		}
		s.Settle()
		s.Settle()
	}
}

// outer nests calls, one after the other or at once, and waits for them all.
func (r *rush) outer(ctx context.Context, run *tools.Run) (tools.Result, error) {
	var open sync.WaitGroup
	defer open.Wait()
	for i := range r.of(4) {
		nest := func() {
			req := pipeline.Request{ID: fmt.Sprintf("%s:code:%d", run.Call().ID(), i), Name: "tool", Parent: run}
			if r.of(3) == 1 {
				req.Over = ctx.Done()
			}
			r.p.Execute(ctx, req)
		}
		if r.of(2) == 1 {
			open.Go(nest)
		} else {
			nest()
		}
	}
	return tools.Result{}, r.work(ctx)
}

// work is what a body does: it waits, sometimes for much longer than it may.
func (r *rush) work(ctx context.Context) error {
	if r.of(6) == 5 {
		time.Sleep(time.Minute)
	}
	return r.wait(ctx)
}

func (r *rush) body(ctx context.Context, run *tools.Run) (tools.Result, error) {
	r.starts.Add(1)
	r.enter(run.Call())
	defer r.leave(run.Call())
	err := r.work(ctx)
	switch r.of(6) {
	case 0:
		return tools.Result{}, errPlain
	case 1:
		panic("tool")
	}
	return tools.Result{}, err
}

func (r *rush) enter(c tools.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[c.Token()]++
	if r.observed(c.ID()) > 0 {
		r.late = append(r.late, c.ID())
	}
}

func (r *rush) leave(c tools.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[c.Token()]--
}

func (r *rush) approve(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
	_ = r.wait(ctx)
	answer := []pipeline.Answer{pipeline.AllowedOnce, pipeline.Granted, pipeline.Rejected, pipeline.Cancelled, pipeline.Unavailable}[r.of(5)]
	switch answer {
	case pipeline.AllowedOnce, pipeline.Granted:
		r.granted.Add(1)
	case pipeline.Unavailable:
		if r.of(2) == 1 {
			panic("approver")
		}
	}
	return answer, nil
}

// wrapper is a timeout, a retry, or both. It may abandon the attempts it
// started, or start one when it has returned.
func (r *rush) wrapper() wrapper {
	times, abandons, again := 1+r.of(3), r.of(3) == 0, r.of(3) == 0
	return func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (result pipeline.Result, err error) {
		if d.Call.Name() != "tool" {
			return next(ctx)
		}
		for range times {
			attempt, cancel := context.WithTimeout(ctx, r.span())
			if abandons {
				go func() { _, _ = next(attempt) }()
				<-attempt.Done()
				result = pipeline.Failure(errors.New("took too long"))
			} else {
				result, err = next(attempt)
			}
			cancel()
			if err == nil && !result.IsError() {
				break
			}
		}
		if again {
			time.AfterFunc(time.Minute, func() { _, _ = next(context.Background()) })
		}
		return result, err
	}
}

// verify looks at the log, at who was told of each call, and at the bodies.
func (r *rush) verify(t *testing.T, asks bool) {
	t.Helper()
	log := r.rec.Calls()
	for _, problem := range pipelinetest.CheckLog(r.rec.Events()) {
		t.Errorf("%s: %q", problem, log)
	}
	for _, line := range log {
		kind, id, _ := strings.Cut(line, " ")
		if kind != "call" && kind != "code-dispatch-start" {
			continue
		}
		// A batch whose context has ended takes its other calls past all stages.
		if n := r.observed(id); n != 1 && (n != 0 || !strings.HasPrefix(id, "batched") || strings.Contains(id, ":")) {
			t.Errorf("%q was told to observers %d times: %q", line, n, log)
		}
	}
	if left := r.p.Abandoned(); len(left) > 0 {
		t.Errorf("%q are abandoned and run, long after all bodies have returned", left)
	}
	if len(r.late) > 0 {
		t.Errorf("bodies of %q ran after their calls had settled: %q", r.late, log)
	}
	if asks && r.starts.Load() > r.granted.Load() {
		t.Errorf("%d bodies started on %d grants", r.starts.Load(), r.granted.Load())
	}
}

func (r *rush) observed(id string) (n int) {
	for _, o := range r.settled {
		if o.Call().ID() == id {
			n++
		}
	}
	return n
}
