package runtimetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// stopping checks what a cancelled context does.
func (s Suite) stopping(t *testing.T) {
	rt := s.open(t)
	why := errors.New("the user closed the tab")

	t.Run("before the start nothing runs", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		h := newHost(t, rt)
		res := h.run(ctx, runtime.Request{Program: `console.log('ran'); await tools.echo({})`})
		(&failure{kind: runtime.Abort, is: why.Error()}).check(t, res)
		if len(res.Logs) != 0 || len(h.calls) != 0 {
			t.Errorf("it ran: %q %v", res.Logs, h.calls)
		}
	})
	t.Run("before the start a bad program is an abort too", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		(&failure{kind: runtime.Abort, is: why.Error()}).check(t, newHost(t, rt).run(ctx, runtime.Request{Program: `const = 1`}))
	})
	t.Run("a long reason is output", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New(strings.Repeat("r", 1000)))
		res := newHost(t, rt).run(ctx, runtime.Request{Program: `return 1`, Limits: runtime.Limits{Output: 64}})
		(&failure{kind: runtime.OutputLimit, is: "outer output exceeded 64 bytes"}).check(t, res)
	})
	t.Run("a context without a cause", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		(&failure{kind: runtime.Abort, is: "context canceled"}).check(t, newHost(t, rt).run(ctx, runtime.Request{Program: `return 1`}))
	})

	for _, c := range []struct{ name, code string }{
		{"while a call is out", `await tools.hold({})`},
		{"while calls are queued", `await Promise.all([tools.hold({}), tools.echo({a: 1}), tools.echo({b: 2})])`},
		{"in a loop", `tools.hold({}); await new Promise(r => setTimeout(r, 0)); while (true) {}`},
		{"caught", `for (;;) { try { await tools.hold({}) } catch { continue } finally { console.log('f') } }`},
		{"in a finally", `try { await tools.hold({}) } finally { return 'survived' }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			h := newHost(t, rt)
			h.began = func(member string) {
				if member == "hold" {
					cancel(why)
				}
			}
			res := h.run(ctx, runtime.Request{Program: c.code})
			(&failure{kind: runtime.Abort, is: why.Error()}).check(t, res)
			if diff := cmp.Diff([]string{"hold {}"}, h.seen()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"hold"}, h.ended); diff != "" {
				t.Errorf("cancelled calls (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("in a hot loop", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		res := newHost(t, rt).run(ctx, runtime.Request{
			Program: "console.log('in');\nwhile (true) {}",
			Log:     func(runtime.Line) { cancel(why) },
		})
		(&failure{kind: runtime.Abort, is: why.Error()}).check(t, res)
		if diff := cmp.Diff([]string{"in"}, res.Logs); diff != "" {
			t.Errorf("logs (-want +got):\n%s", diff)
		}
	})
	t.Run("no call starts after it", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := newHost(t, rt)
		n := 0
		h.began = func(string) {
			if n++; n == 5 {
				cancel(why)
			}
		}
		res := h.run(ctx, runtime.Request{Program: `for (;;) { try { await tools.echo({}) } catch { continue } finally {} }`})
		(&failure{kind: runtime.Abort, is: why.Error()}).check(t, res)
		if len(h.calls) != 5 || res.Usage.Calls != 5 {
			t.Errorf("%d calls began and %d are reported, want 5", len(h.calls), res.Usage.Calls)
		}
	})
	t.Run("Run waits for a call that takes its time", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := newHost(t, rt)
		h.began = func(string) { cancel(why) }
		res := h.run(ctx, runtime.Request{Program: `await tools.linger({})`})
		(&failure{kind: runtime.Abort, is: why.Error()}).check(t, res)
		if diff := cmp.Diff([]string{"linger"}, h.ended); diff != "" {
			t.Errorf("calls at their end (-want +got):\n%s", diff)
		}
	})
	t.Run("a deadline of the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("the turn is over"))
		defer cancel()
		(&failure{kind: runtime.Abort, is: "the turn is over"}).check(t, newHost(t, rt).run(ctx, runtime.Request{Program: `await tools.hold({})`}))
	})
	t.Run("the next run is well", func(t *testing.T) {
		if res := newHost(t, rt).run(t.Context(), runtime.Request{Program: `return (await tools.echo({a: 1})).a`}); res.Value != "1" {
			t.Errorf("got %s %+v, want 1", res.Value, res.Failure)
		}
	})
	t.Run("values of the context reach the call", func(t *testing.T) {
		type key struct{}
		var got any
		bound := runtime.Binding{
			Namespace: namespace(t, "host", toolClass2(), runtime.Member{Name: "look"}),
			Call: func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
				got = ctx.Value(key{})
				return runtime.Reply{}, nil
			},
		}
		res := newHost(t, rt).run(context.WithValue(t.Context(), key{}, "here"), runtime.Request{Program: `await host.look({})`, Bindings: []runtime.Binding{bound}})
		if res.Failure != nil || got != "here" {
			t.Errorf("got %v %+v, want here", got, res.Failure)
		}
	})
}

// closing checks Close.
func (s Suite) closing(t *testing.T) {
	for _, c := range []struct{ name, code string }{
		{"a hot loop", "console.log('in');\nwhile (true) {}"},
		{"a waiting run", "console.log('in'); await tools.hold({})"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := s.Open(t)
			in := make(chan struct{})
			done := make(chan runtime.Result)
			h := newHost(t, rt)
			go func() {
				done <- h.run(t.Context(), runtime.Request{Program: c.code, Log: func(runtime.Line) { close(in) }})
			}()
			<-in
			if err := rt.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			(&failure{kind: runtime.Abort, is: "runtime disposed"}).check(t, <-done)
			if _, err := rt.Run(t.Context(), runtime.Request{Program: `return 1`}); err == nil {
				t.Error("a closed runtime runs programs")
			}
			if err := rt.Close(); err != nil {
				t.Errorf("second Close: %v", err)
			}
		})
	}
	t.Run("without a run", func(t *testing.T) {
		rt := s.Open(t)
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}

// misuse checks what is an error of Run, and not a failed program.
func (s Suite) misuse(t *testing.T) {
	rt := s.open(t)
	ns := namespace(t, "tools", toolClass(), runtime.Member{Name: "echo"})
	call := func(context.Context, runtime.Invocation) (runtime.Reply, error) { return runtime.Reply{}, nil }
	for _, c := range []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"the same global twice", runtime.Request{Bindings: []runtime.Binding{{Namespace: ns, Call: call}, {Namespace: ns, Call: call}}}, "tools"},
		{"a binding without a namespace", runtime.Request{Bindings: []runtime.Binding{{Call: call}}}, "namespace"},
		{"a binding without a function", runtime.Request{Bindings: []runtime.Binding{{Namespace: ns}}}, "Call"},
		{"a negative limit", runtime.Request{Limits: runtime.Limits{Wall: -1}}, "wall"},
		{"an output limit below the least", runtime.Request{Limits: runtime.Limits{Output: 3}}, "output"},
		{"a wall limit above the most", runtime.Request{Limits: runtime.Limits{Wall: runtime.MaxWall + 1}}, "wall"},
		{"negative parallel", runtime.Request{Parallel: -1}, "parallel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Program = `return 1`
			res, err := rt.Run(t.Context(), c.req)
			if err == nil {
				t.Fatalf("no error, but %s %+v", res.Value, res.Failure)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %q does not say %q", err, c.says)
			}
		})
	}
}
