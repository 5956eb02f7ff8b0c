package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// mule is a code mode with a tool that ignores its context until it is let go, and
// then does all that it no longer may.
type mule struct {
	cm      *codemode.CodeMode
	p       *pipeline.Pipeline
	rec     pipelinetest.Recorder
	started chan struct{} // gets one for each body of stubborn that runs
	letGo   chan struct{}
	back    chan struct{} // gets one for each abandoned body that has returned
	onStart func()        // of a body; nil for none
}

// newMule has also the tools started, which returns once a body of stubborn runs,
// ask, about which a person is asked who rejects it, and echo.
func newMule(t *testing.T, opts codemode.Options) *mule {
	t.Helper()
	return newMuleWithin(t, opts, 300*time.Millisecond)
}

// newMuleWithin is newMule with another time for bodies that nobody waits for.
func newMuleWithin(t *testing.T, opts codemode.Options, drain time.Duration) *mule {
	t.Helper()
	m := &mule{started: make(chan struct{}, 64), letGo: make(chan struct{}), back: make(chan struct{}, 64)}
	stubborn := tools.DefineWith(tools.Definition{Name: "stubborn", Concurrent: func(tools.JSON) bool { return true }},
		func(ctx context.Context, run *tools.Run, _ struct{}) (string, error) {
			m.started <- struct{}{}
			if m.onStart != nil {
				m.onStart()
			}
			<-m.letGo
			if run.Defer(tools.ContextMessage("test", "late")) {
				t.Error("an abandoned body deferred a message")
			}
			o := m.p.Execute(context.WithoutCancel(ctx), pipeline.Request{ID: "late", Name: "echo", Parent: run})
			if o.State() != pipeline.StateNotStarted {
				t.Error("an abandoned body nested a call")
			}
			return "late", nil
		})
	started := body("started", func() (tools.Result, error) { <-m.started; return tools.Result{}, nil })
	started.Concurrent = func(tools.JSON) bool { return true }
	ask := body("ask", func() (tools.Result, error) { return tools.Result{}, errors.New("the body ran") })
	ask.Concurrent = started.Concurrent
	m.p = pipeline.New(registry(t, stubborn, started, ask, echo()), &pipeline.Options{
		Sink: &m.rec, Drain: drain, Logger: slog.New(returns{slog.DiscardHandler, m.back}),
		Approver: pipelinetest.NewApprover(pipeline.Rejected, pipeline.Rejected, pipeline.Rejected),
	})
	m.p.UseRule("ask", func(c tools.Call) pipeline.Decision {
		if c.Name() == "ask" {
			return pipeline.Ask("?")
		}
		return pipeline.Allow()
	})
	m.cm = open(t, m.p, &opts)
	return m
}

// returns is a log handler that tells of bodies that come back.
type returns struct {
	slog.Handler
	back chan struct{}
}

func (returns) Enabled(context.Context, slog.Level) bool { return true }

func (h returns) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "an abandoned tool has returned" {
		h.back <- struct{}{}
	}
	return nil
}

// leave lets n abandoned bodies go and waits until none is left. Nothing of what
// they do may be in the log.
func (m *mule) leave(t *testing.T, n int) {
	t.Helper()
	events := len(m.rec.Events())
	if got := m.p.Abandoned(); !slices.Equal(got, slices.Repeat([]string{"stubborn"}, n)) {
		t.Errorf("abandoned are %q, want stubborn %d times", got, n)
	}
	close(m.letGo)
	for range n {
		<-m.back
	}
	if got := m.p.Abandoned(); len(got) > 0 {
		t.Errorf("%q are abandoned after all have returned", got)
	}
	if late := m.rec.Events()[events:]; len(late) > 0 {
		t.Errorf("abandoned bodies added to the log: %v", late)
	}
	if problems := pipelinetest.CheckLog(m.rec.Events()); len(problems) > 0 {
		t.Errorf("the log: %q", problems)
	}
}

// However a run ends, it does not wait for a tool that ignores its context, and
// says which one that is.
func TestAbandonedTool(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		abreast    bool // the program needs calls that overlap
		cancels    bool
		limits     codemode.Limits
		want       string
	}{
		{"wall limit", "\nawait tools.stubborn({})", false, false, codemode.Limits{Wall: 2 * time.Second},
			`Error: code run failed (timeout): wall-clock ceiling reached (2000ms)
note: abandoned: stubborn (call 1, line 2) did not return after the run had ended; it may still act
Tool calls of this run: 1 abandoned.
  c1:code:1 stubborn: abandoned (` + gaveUp + `)`},
		{"cancel", "await tools.echo({}).catch(() => 0)\nawait tools.stubborn({})\nawait tools.echo({})", false, true, codemode.Limits{},
			`Error: code run failed (abort): the user left
note: abandoned: stubborn (call 2, line 2) did not return after the run had ended; it may still act
Tool calls of this run: 1 done, 1 abandoned. What is done stays done.
  c1:code:1 echo: done
  c1:code:2 stubborn: abandoned (` + gaveUp + `)`},
		{"throw", "tools.stubborn({})\nawait tools.started({})\nthrow new Error('boom')", true, false, codemode.Limits{},
			`Error: code run failed (exception): Error: boom
note: abandoned: stubborn (call 1, line 1) did not return after the run had ended; it may still act
Tool calls of this run: 1 done, 1 abandoned. What is done stays done.
  c1:code:1 stubborn: abandoned (` + gaveUp + `)
  c1:code:2 started: done`},
		{"rejections", "tools.stubborn({})\nawait tools.started({})\nfor (let n = 0; n < 9; n++) await tools.ask({ n }).catch(() => 0)", true, false, codemode.Limits{},
			`Error: code run failed (abort): the user rejected 3 calls of this program; ask what is wanted before running another
note: abandoned: stubborn (call 1, line 1) did not return after the run had ended; it may still act
Tool calls of this run: 1 done, 1 abandoned, 3 not started. What is done stays done.
  c1:code:1 stubborn: abandoned (` + gaveUp + `)
  c1:code:2 started: done
  c1:code:3 ask: not started (the user rejected tool "ask")
  c1:code:4 ask: not started (the user rejected tool "ask")
  c1:code:5 ask: not started (the user rejected tool "ask")`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, opts codemode.Options) {
				if tt.abreast && opts.Parallel == 1 {
					t.Skip("calls do not overlap")
				}
				opts.Limits = tt.limits
				m := newMule(t, opts)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if tt.cancels {
					m.onStart = func() { cancel(errors.New("the user left")) }
				}
				out := m.cm.Run(ctx, codemode.Program{ID: "c1", Code: tt.code})
				if diff := cmp.Diff(tt.want, bare(out.Text())); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
				m.leave(t, 1)
			})
		})
	}
}

const gaveUp = `tool "stubborn" did not return within 300ms after its run had ended; it was abandoned and may still act`

// bare is a failure text without its hint, which tells how the worker ended, and
// without its code frame: a stopped engine may be at work or not.
func bare(text string) string { return hintAndFrame.ReplaceAllString(text, "") }

var hintAndFrame = regexp.MustCompile(`(?m)^(hint: |[> ] +\d+ \|| +\| +\^).*\n`)

// A call that the program gives up on does not start the time of its body; the
// end of the program does, also of one that succeeds.
func TestAbandonedAfterTheProgramGaveUp(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		if opts.Parallel == 1 {
			t.Skip("calls do not overlap")
		}
		m := newMule(t, opts)
		out := m.cm.Run(t.Context(), codemode.Program{ID: "c1", Code: `
			const abort = new AbortController()
			const given = tools.stubborn({}, { signal: abort.signal }).catch(e => e.code)
			await tools.started({})
			abort.abort()
			return await given`})
		want := []tools.Content{
			tools.TextContent("ABORTED"),
			tools.TextContent("note: abandoned: stubborn (call 1, line 3) did not return after the run had ended; it may still act"),
		}
		if diff := cmp.Diff(want, out.Content()); diff != "" {
			t.Errorf("content (-want +got):\n%s", diff)
		}
		calls := timeless(codemode.ReportOf(out).Calls)
		record := codemode.CallRecord{ID: "c1:code:1", Name: "stubborn", State: pipeline.StateAbandoned, Line: 3, Error: gaveUp, Code: tools.CodeToolAbandoned}
		if diff := cmp.Diff(record, calls[0]); diff != "" {
			t.Errorf("record (-want +got):\n%s", diff)
		}
		m.leave(t, 1)
	})
}

// The program of a sub-agent is over with that of the agent above; the tool that
// holds it up is the one to be abandoned, and not the one that asks the sub-agent.
func TestAbandonedBelowASubAgent(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		// The agent has this long to end the inner run, on a busy machine too.
		m := newMuleWithin(t, opts, 2*time.Second)
		var inner pipeline.Outcome
		agent := &tools.Definition{Name: "agent", Handler: func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			inner = m.cm.Run(ctx, codemode.Program{ID: "a1", Code: "await tools.stubborn({})"})
			return tools.Result{}, inner.Err()
		}}
		if _, err := m.p.Registry().Add(agent); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		m.onStart = func() { cancel(errors.New("the user left")) }
		out := m.cm.Run(ctx, codemode.Program{ID: "c1", Code: "await tools.agent({})"})
		for _, tt := range []struct {
			of    pipeline.Outcome
			name  string
			state pipeline.State
		}{{inner, "stubborn", pipeline.StateAbandoned}, {out, "agent", pipeline.StateFailed}} {
			calls := codemode.ReportOf(tt.of).Calls
			if len(calls) != 1 || calls[0].Name != tt.name || calls[0].State != tt.state {
				t.Errorf("calls %+v, want %s, %s", calls, tt.name, tt.state)
			}
		}
		m.leave(t, 1)
	})
}

// While too many abandoned bodies still run no program is started; once they have
// returned one is.
func TestTooManyAbandoned(t *testing.T) {
	const most = 16
	opts := codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: most}
	m := newMule(t, opts)
	behind := func(n int) pipeline.Outcome {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var running atomic.Int32
		m.onStart = func() {
			if running.Add(1) == int32(n) {
				cancel(errors.New("the user left"))
			}
		}
		code := fmt.Sprintf("await Promise.all(Array.from({ length: %d }, () => tools.stubborn({})))", n)
		return m.cm.Run(ctx, codemode.Program{ID: "c1", Code: code})
	}
	notes := codemode.ReportOf(behind(most - 1)).Usage.Notes
	if len(notes) != 11 || notes[10] != "abandoned: 5 further calls" {
		t.Errorf("notes %q, want ten calls by name and the others together", notes)
	}
	if got := succeed(t, m.cm, "return await tools.echo({})"); got != `{"logs":[],"result":{}}` {
		t.Errorf("with one less than too many: %s", got)
	}
	behind(1)
	events := len(m.rec.Events())
	want := `Error: code run failed (abort): refused: 16 tool calls of earlier runs were abandoned and still run: stubborn (16)
hint: restart the process, or wait until they return; a tool must return when its context ends`
	if got := run(t, m.cm, "await tools.echo({})").Text(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if added := len(m.rec.Events()) - events; added != 2 {
		t.Errorf("the refused program made %d events, want its call and its result", added)
	}
	m.leave(t, most)
	if got := succeed(t, m.cm, "return await tools.echo({})"); got != `{"logs":[],"result":{}}` {
		t.Errorf("after they returned: %s", got)
	}
}

// A store gets a time, also for a run that was cancelled.
func TestStoreHasATime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var left time.Duration
	store := func(ctx context.Context, _, _ string) (string, error) {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return "there", ctx.Err()
	}
	stop := body("stop", func() (tools.Result, error) { cancel(); return tools.Result{}, nil })
	cm := open(t, pipeline.New(registry(t, stop), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, MaxText: 500, Store: store})
	out := cm.Run(ctx, codemode.Program{Code: "console.log('x'.repeat(5000)); await tools.stop({})"})
	if left <= 0 || left > 30*time.Second || !strings.Contains(out.Text(), "The whole text is at there.") {
		t.Errorf("the store had %v; the text begins %.200q", left, out.Text())
	}
}
