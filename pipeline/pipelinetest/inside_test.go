package pipelinetest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

type (
	preNext  = pipeline.Next[pipeline.Decision]
	wrapNext = pipeline.Next[pipeline.Result]
	postNext = pipeline.Next[pipeline.PostDecision]
)

// verdicts is a testing.TB that keeps what is reported instead of failing.
type verdicts struct {
	testing.TB
	errors []string
	fatal  string
}

func (v *verdicts) Helper() {}

func (v *verdicts) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}

func (v *verdicts) Fatalf(format string, args ...any) {
	v.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// judged is what a check reports.
func judged(t *testing.T, check func(testing.TB)) *verdicts {
	v := &verdicts{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(v)
	}()
	<-done
	return v
}

// program nests each call in a real program of run_code.
func program(t testing.TB, p *pipeline.Pipeline) func(context.Context, pipeline.Request) {
	cm, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatalf("codemode.New: %v", err)
	}
	t.Cleanup(func() { _ = cm.Close() })
	return func(ctx context.Context, req pipeline.Request) {
		args := req.Args
		if args == "" {
			args = "{}"
		}
		code := fmt.Sprintf("try { return await tools[%q](%s) } catch (e) { return e.code }", req.Name, args)
		cm.Run(ctx, codemode.Program{ID: req.ID, Agent: req.Agent, Code: code})
	}
}

var ways = []struct {
	name   string
	within pipelinetest.Within // nil: SameInside's own
	calls  []pipeline.Request  // that only this way can make
}{
	{"composite", nil, []pipeline.Request{{Name: "reed"}, {Name: "read", Args: `{"a":1,"a":2}`}, {Name: "read", Args: "no JSON"}}},
	{"program", program, nil},
}

// same checks pipelines in one of the ways.
func same(t testing.TB, within pipelinetest.Within, newPipeline func() *pipeline.Pipeline, calls ...pipeline.Request) {
	if within == nil {
		pipelinetest.SameInside(t, newPipeline, calls...)
		return
	}
	pipelinetest.SameWithin(t, newPipeline, within, calls...)
}

// shop makes pipelines with the tools of these tests and what set adds.
func shop(t testing.TB, opts *pipeline.Options, set func(p *pipeline.Pipeline)) func() *pipeline.Pipeline {
	return func() *pipeline.Pipeline {
		sold := 0
		var p *pipeline.Pipeline
		p = pipelinetest.New(t, opts,
			pipelinetest.Echo("read"),
			pipelinetest.Tool("sell", func(context.Context, *tools.Run) (tools.Result, error) {
				sold++
				return tools.Result{Value: tools.MustJSON(fmt.Sprint(sold))}, nil
			}),
			pipelinetest.Failing("broken", &tools.Error{Name: "FSError", Code: "FS_NOT_FOUND", Message: "no such file"}),
			pipelinetest.Tool("crash", func(context.Context, *tools.Run) (tools.Result, error) { panic("secret") }),
			pipelinetest.Tool("both", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				for _, name := range []string{"read", "sell"} {
					p.Execute(ctx, pipeline.Request{Name: name, Parent: run, Agent: run.Call().Agent()})
				}
				return tools.Result{}, nil
			}))
		set(p)
		return p
	}
}

// askFor asks for the calls of sell.
func askFor(p *pipeline.Pipeline) {
	p.UseRule("careful", func(c tools.Call) pipeline.Decision {
		if c.Name() == "sell" {
			return pipeline.Ask("it is for money")
		}
		return pipeline.Allow()
	})
}

// approves answers each question by the call it is about.
func approves(answer func(c tools.Call) pipeline.Answer) *pipeline.Options {
	return &pipeline.Options{Approver: pipeline.ApproverFunc(
		func(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
			return answer(ask.Call), nil
		})}
}

// A policy that keeps the promise is left in peace, whatever it decides.
func TestSameInsideKept(t *testing.T) {
	calls := []pipeline.Request{
		{Name: "read", Args: `{"path":"a"}`}, {Name: "sell"}, {Name: "sell"}, {Name: "read", Args: `{"path":"/vault"}`},
		{Name: "broken"}, {Name: "crash"}, {Name: "both"}, {Name: "read", Agent: "visitor"},
	}
	for _, tt := range []struct {
		name string
		opts *pipeline.Options
		set  func(p *pipeline.Pipeline)
	}{
		{"no policy", nil, func(*pipeline.Pipeline) {}},
		{"an ask that is granted", approves(func(tools.Call) pipeline.Answer { return pipeline.AllowedOnce }), askFor},
		{"an ask that is rejected", approves(func(tools.Call) pipeline.Answer { return pipeline.Rejected }), askFor},
		{"an ask without an approver", nil, askFor},
		{"guards, listeners, wrappers and reviewers", nil, func(p *pipeline.Pipeline) {
			p.Guards.Use("vault", func(c tools.Call) string {
				if !c.IsTransport() && strings.Contains(c.Args().String(), "/vault") {
					return "the vault is closed"
				}
				return ""
			})
			p.Guards.For("visitor").Use("doors", func(c tools.Call) string {
				if c.IsTransport() {
					return ""
				}
				return "visitors look and do not touch"
			})
			p.Execution.Use("twice", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				if r, err := next(ctx); d.Call.Name() != "sell" {
					return r, err
				}
				return next(ctx)
			})
			p.PostExecute.Use("blocks", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if s.Call.Name() == "broken" {
					return pipeline.Block([]tools.Content{tools.TextContent("look elsewhere")}), nil
				}
				return next(ctx)
			})
		}},
	} {
		for _, way := range ways {
			t.Run(tt.name+"/"+way.name, func(t *testing.T) {
				same(t, way.within, shop(t, tt.opts, tt.set), slices.Concat(calls, way.calls)...)
			})
		}
	}
}

// A policy that looks at where a call comes from is caught, by the part that
// differs.
func TestSameInsideBroken(t *testing.T) {
	nestedSell := func(c tools.Call) bool { return c.Name() == "sell" && !c.Parent().IsZero() }
	directSell := func(c tools.Call) bool { return c.Name() == "sell" && c.Parent().IsZero() }
	for _, tt := range []struct {
		name string
		opts *pipeline.Options
		set  func(p *pipeline.Pipeline)
		want []string
	}{
		{"a listener that looks at Parent", nil, func(p *pipeline.Pipeline) {
			p.PreExecute.Use("direct only", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
				if nestedSell(c) {
					return pipeline.Deny("not from programs"), nil
				}
				return next(ctx)
			})
		}, []string{`directly "done"`, `within   "not-started"`, tools.CodeDeniedByPolicy, "not from programs"}},
		{"a guard that skips nested calls", nil, func(p *pipeline.Pipeline) {
			p.Guards.Use("lenient", func(c tools.Call) string {
				if directSell(c) {
					return "closed"
				}
				return ""
			})
		}, []string{`directly "guard"`, `directly "lenient"`, `directly "not-started"`, `within   "done"`}},
		{"an approver that allows nested calls only", approves(func(c tools.Call) pipeline.Answer {
			if c.Parent().IsZero() {
				return pipeline.Rejected
			}
			return pipeline.AllowedOnce
		}), askFor, []string{`directly "approval"`, tools.CodeApprovalRejected}},
		{"two listeners that give one reason", nil, func(p *pipeline.Pipeline) {
			p.UseRule("outside", func(c tools.Call) pipeline.Decision {
				if directSell(c) {
					return pipeline.Deny("closed")
				}
				return pipeline.Allow()
			})
			p.UseRule("inside", func(c tools.Call) pipeline.Decision {
				if nestedSell(c) {
					return pipeline.Deny("closed")
				}
				return pipeline.Allow()
			})
		}, []string{"by:", `directly "outside"`, `within   "inside"`}},
		{"a guard for one, a listener for the other", nil, func(p *pipeline.Pipeline) {
			p.UseRule("closed", func(c tools.Call) pipeline.Decision {
				if nestedSell(c) {
					return pipeline.Deny("closed")
				}
				return pipeline.Allow()
			})
			p.Guards.Use("closed", func(c tools.Call) string {
				if directSell(c) {
					return "closed"
				}
				return ""
			})
		}, []string{"origin:", `directly "guard"`, `within   "policy"`}},
		{"a wrapper that answers nested calls itself", nil, func(p *pipeline.Pipeline) {
			p.Execution.Use("cache", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				if nestedSell(d.Call) {
					return pipeline.Success(tools.Result{Value: tools.MustJSON("1")}), nil
				}
				return next(ctx)
			})
		}, []string{"dispatches:", `directly "1"`, `within   "0"`}},
		{"a wrapper that retries direct calls", nil, func(p *pipeline.Pipeline) {
			p.Execution.Use("again", func(ctx context.Context, d pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
				if directSell(d.Call) {
					_, _ = next(ctx)
				}
				return next(ctx)
			})
		}, []string{"dispatches:", `directly "2"`, `within   "1"`, "value:"}},
		{"a reviewer that hides nested results", nil, func(p *pipeline.Pipeline) {
			p.PostExecute.Use("curtain", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if nestedSell(s.Call) {
					return pipeline.AcceptContent([]tools.Content{tools.TextContent("hidden")}), nil
				}
				return next(ctx)
			})
		}, []string{"text:", `within   "hidden"`}},
		{"a tool whose nested calls meet another policy below a program", nil, func(p *pipeline.Pipeline) {
			p.Guards.Use("depth", func(c tools.Call) string {
				if c.Name() == "read" && !c.Parent().IsZero() && strings.Count(c.RootID()+c.ParentID(), ":") > 0 {
					return "too deep"
				}
				return ""
			})
		}, []string{"calls it made:", "read {} done", "read {} not-started"}},
	} {
		for _, way := range ways {
			t.Run(tt.name+"/"+way.name, func(t *testing.T) {
				call := pipeline.Request{Name: "sell", Args: `{"n":2}`}
				if strings.Contains(tt.name, "below") {
					call = pipeline.Request{Name: "both", Args: `{"n":2}`}
				}
				v := judged(t, func(tb testing.TB) {
					same(tb, way.within, shop(tb, tt.opts, tt.set), pipeline.Request{Name: "broken"}, call)
				})
				if len(v.errors) != 1 || v.fatal != "" {
					t.Fatalf("reported %q and %q, want one error", v.errors, v.fatal)
				}
				for _, want := range append(tt.want, "call 2 of 2, "+call.Name+` {"n":2}`) {
					if !strings.Contains(v.errors[0], want) {
						t.Errorf("the report has no %q:\n%s", want, v.errors[0])
					}
				}
			})
		}
	}
}

// What cannot be compared is said, and is no success.
func TestSameInsideRefuses(t *testing.T) {
	plain := func(*pipeline.Pipeline) {}
	idle := func(testing.TB, *pipeline.Pipeline) func(context.Context, pipeline.Request) {
		return func(context.Context, pipeline.Request) {}
	}
	for _, tt := range []struct {
		name  string
		check func(t testing.TB)
		want  string
	}{
		{"one pipeline twice", func(t testing.TB) {
			p := shop(t, nil, plain)()
			pipelinetest.SameInside(t, func() *pipeline.Pipeline { return p }, pipeline.Request{Name: "sell"})
		}, "make a fresh one each time"},
		{"a transport is there already", func(t testing.TB) {
			pipelinetest.SameInside(t, shop(t, nil, func(p *pipeline.Pipeline) { program(t, p) }), pipeline.Request{Name: "sell"})
		}, "nest with SameWithin"},
		{"policy refuses run_code", func(t testing.TB) {
			pipelinetest.SameInside(t, shop(t, nil, func(p *pipeline.Pipeline) {
				p.Guards.Use("no programs", func(c tools.Call) string {
					if c.IsTransport() {
						return "no programs here"
					}
					return ""
				})
			}), pipeline.Request{Name: "sell"})
		}, "0 calls were nested, want 1; policy must let run_code itself pass (see Call.IsTransport), and it ended not-started: Error: no programs here"},
		{"nothing is called", func(t testing.TB) {
			pipelinetest.SameWithin(t, shop(t, nil, plain), idle, pipeline.Request{Name: "sell"})
		}, "no call of a model settled"},
		{"the hook cannot nest", func(t testing.TB) {
			pipelinetest.SameWithin(t, shop(t, nil, plain), func(t testing.TB, _ *pipeline.Pipeline) func(context.Context, pipeline.Request) {
				t.Fatalf("cannot: %v", errors.ErrUnsupported)
				return nil
			}, pipeline.Request{Name: "sell"})
		}, "cannot: unsupported operation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := judged(t, tt.check)
			if !strings.Contains(v.fatal, tt.want) || len(v.errors) > 0 {
				t.Errorf("reported %q and %q, want a fatal %q", v.errors, v.fatal, tt.want)
			}
		})
	}
}

// A test of an embedder's own policy: what a model may do, and what it may do
// from a program, is the same.
func ExampleSameInside() {
	test := func(t *testing.T) {
		newPipeline := func() *pipeline.Pipeline {
			reg, err := tools.NewRegistry(pipelinetest.Echo("read"))
			if err != nil {
				t.Fatal(err)
			}
			p := pipeline.New(reg, nil)
			p.Guards.Use("vault", func(c tools.Call) string {
				if !c.IsTransport() && strings.Contains(c.Args().String(), "/vault") {
					return "the vault is closed"
				}
				return ""
			})
			return p
		}
		pipelinetest.SameInside(t, newPipeline,
			pipeline.Request{Name: "read", Args: `{"path":"notes"}`},
			pipeline.Request{Name: "read", Args: `{"path":"/vault/key"}`})
	}
	_ = test // named TestPolicy in a _test.go file
}
