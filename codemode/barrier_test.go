package codemode_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// overlapping opens a code mode with overlapping calls of "read", which is safe,
// and of "write", which is not.
func overlapping(t *testing.T, handler tools.Handler, setup func(*pipeline.Pipeline)) *codemode.CodeMode {
	t.Helper()
	read := &tools.Definition{Name: "read", Handler: handler, Concurrent: func(tools.JSON) bool { return true }}
	write := &tools.Definition{Name: "write", Handler: handler}
	p := pipeline.New(registry(t, read, write), nil)
	setup(p)
	return open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: 4})
}

// Post-execute listeners of one run never overlap, though the bodies they review
// do: two reads meet inside their bodies and are reviewed one after the other.
func TestParallelSettlesOneAtATime(t *testing.T) {
	for range 5 {
		var both sync.WaitGroup
		both.Add(2)
		meet := func(context.Context, *tools.Run) (tools.Result, error) {
			both.Done()
			both.Wait()
			return tools.Result{}, nil
		}
		var inside atomic.Int32
		cm := overlapping(t, meet, func(p *pipeline.Pipeline) {
			p.PostExecute.Use("review", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
				if s.Call.IsTransport() {
					return next(ctx)
				}
				if inside.Add(1) > 1 {
					t.Error("two reviews overlap")
				}
				letOthersRun() // the other body is through as well
				inside.Add(-1)
				return next(ctx)
			})
		})
		succeed(t, cm, `await Promise.all([tools.read({}), tools.read({})])`)
	}
}

// letOthersRun gives whatever does not wait for its turn every chance to show.
func letOthersRun() {
	for range 50_000 {
		goruntime.Gosched()
	}
}

// A call that runs alone is alone until its review is over, and it waits for
// the calls before it.
func TestParallelBarrierHoldsThroughTheReview(t *testing.T) {
	var mu sync.Mutex
	var trace []string
	step := func(what string, c tools.Call) {
		mu.Lock()
		defer mu.Unlock()
		trace = append(trace, what+" "+c.Name()+c.ID()[len("c1:code"):])
	}
	handler := func(_ context.Context, run *tools.Run) (tools.Result, error) {
		step("body", run.Call())
		if run.Call().ID() == "c1:code:1" {
			letOthersRun()
		}
		return tools.Result{}, nil
	}
	cm := overlapping(t, handler, func(p *pipeline.Pipeline) {
		p.PreExecute.Use("pre", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
			if !c.IsTransport() {
				step("pre", c)
			}
			return next(ctx)
		})
		p.PostExecute.Use("post", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
			if !s.Call.IsTransport() {
				letOthersRun()
				step("post", s.Call)
			}
			return next(ctx)
		})
	})
	succeed(t, cm, `await Promise.all([tools.read({}), tools.write({}), tools.read({})])`)
	want := []string{"pre read:1", "body read:1", "post read:1", "pre write:2", "body write:2", "post write:2", "pre read:3", "body read:3", "post read:3"}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestFailedRunCountsWhatItDropped(t *testing.T) {
	p := pipeline.New(registry(t, echo()), nil)
	p.PostExecute.Use("reminder", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		d, err := next(ctx)
		return d.WithContexts(tools.ContextMessage("reminder", "about "+s.Call.ID())), err
	})
	e := fail(t, open(t, p, nil), `await tools.echo({}); throw 1`)
	if got := e.Report.Usage.DroppedContexts; got != 1 {
		t.Errorf("%d contexts dropped, want 1", got)
	}
}

// The input and the console lines belong to one program, not to one that a tool
// of it runs.
func TestInputAndLinesOfNestedRuns(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	var cm *codemode.CodeMode
	agent := tools.Define("agent", "Run a program.", func(ctx context.Context, _ struct{}) (string, error) {
		out := cm.Call(ctx, pipeline.Request{ID: "inner", Args: `{"code":"console.warn('in'); return typeof input","description":"d"}`})
		return out.Text(), out.Err()
	})
	cm = open(t, pipeline.New(registry(t, agent), nil), &codemode.Options{
		Isolation: codemode.IsolationInProcess,
		OnLog: func(callID string, line runtime.Line) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, callID+" "+line.Level+" "+line.Text)
		},
	})
	out := cm.Run(t.Context(), codemode.Program{ID: "outer", Code: `console.log(input); return await tools.agent({})`, Input: tools.MustJSON("7")})
	if got, want := out.Value().String(), `{"logs":["7"],"result":"in\nundefined"}`; got != want {
		t.Errorf("value %s (%v), want %s", got, out.Err(), want)
	}
	if diff := cmp.Diff([]string{"outer log 7", "inner warn in"}, lines); diff != "" {
		t.Errorf("lines as they were printed (-want +got):\n%s", diff)
	}
}

func TestLimitsReachTheRun(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, echo()), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, Limits: codemode.Limits{Calls: 2}})
	e := fail(t, cm, `for (let i = 0; i < 3; i++) await tools.echo({})`)
	if e.Failure.Kind != runtime.CallLimit || e.Failure.Message != "call limit reached (2 calls)" {
		t.Errorf("failure %+v, want the call limit of 2", e.Failure)
	}
}

// Calls that wait for their turn when a program fails are named as not started.
// The program waits longer until the first body has begun by then.
func TestLedgerNamesCallsThatNeverStarted(t *testing.T) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		var begun atomic.Bool
		for wait := 20; !begun.Load(); wait *= 4 {
			hold := tools.Define("hold", "Wait.", func(ctx context.Context, _ struct{}) (int, error) {
				begun.Store(true)
				<-ctx.Done()
				return 0, context.Cause(ctx)
			})
			cm := open(t, pipeline.New(registry(t, hold, echo()), nil), &codemode.Options{Isolation: isolation})
			e := fail(t, cm, fmt.Sprintf(`tools.hold({}); tools.echo({}); tools.echo({}); await new Promise(done => setTimeout(done, %d)); throw 1`, wait))
			if !begun.Load() {
				continue
			}
			var got []string
			for _, c := range e.Report.Calls {
				got = append(got, c.Name+" "+string(c.State))
			}
			if want := []string{"hold aborted", "echo not-started", "echo not-started"}; !slices.Equal(got, want) {
				t.Errorf("%v: ledger %q, want %q", isolation, got, want)
			}
		}
	}
}

// Whoever ends the run while calls are on their way out, all of them are in the
// ledger.
func TestLedgerHoldsEveryCallOfAnEndedRun(t *testing.T) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			made := make(chan struct{})
			p := pipeline.New(registry(t, echo()), nil)
			p.PreExecute.Use("stop", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if !c.IsTransport() {
					<-made
					cancel()
				}
				return next(ctx)
			})
			cm := open(t, p, &codemode.Options{Isolation: isolation, Parallel: 3, OnLog: func(string, runtime.Line) { close(made) }})
			out := cm.Run(ctx, codemode.Program{Code: `const all = [tools.echo({}), tools.echo({}), tools.echo({})]; console.log("made"); await Promise.all(all)`})
			report := codemode.ReportOf(out)
			if report == nil {
				t.Fatalf("%v: no report: %v", isolation, out.Err())
			}
			var got []pipeline.State
			for _, c := range report.Calls {
				got = append(got, c.State)
			}
			if want := slices.Repeat([]pipeline.State{pipeline.StateNotStarted}, 3); !slices.Equal(got, want) {
				t.Fatalf("%v: the ledger says %v, want three calls not started", isolation, got)
			}
		}
	}
}

// A call that waits behind a body the program has given up on is in the ledger
// when the run ends. The program gets more time to give up until the body has
// begun by then.
func TestLedgerNamesACallBehindAnAbandonedOne(t *testing.T) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		var begun atomic.Bool
		for timeout := 5; !begun.Load(); timeout *= 4 {
			ctx, cancel := context.WithCancel(t.Context())
			deaf := tools.Define("deaf", "Ignore the call's own context.", func(context.Context, struct{}) (int, error) {
				begun.Store(true)
				<-ctx.Done()
				return 0, nil
			})
			cm := open(t, pipeline.New(registry(t, deaf, echo()), nil), &codemode.Options{
				Isolation: isolation,
				OnLog:     func(string, runtime.Line) { cancel() },
			})
			out := cm.Run(ctx, codemode.Program{Code: fmt.Sprintf(`
				try { await tools.deaf({}, { timeoutMs: %d }) } catch {}
				const behind = tools.echo({})
				await new Promise(done => setTimeout(done, 5))
				console.log("given up")
				await behind`, timeout)})
			if !begun.Load() {
				continue
			}
			var got []string
			for _, c := range codemode.ReportOf(out).Calls {
				got = append(got, c.Name+" "+string(c.State))
			}
			if want := []string{"deaf aborted", "echo not-started"}; !slices.Equal(got, want) {
				t.Errorf("%v: ledger %q, want %q", isolation, got, want)
			}
		}
	}
}
