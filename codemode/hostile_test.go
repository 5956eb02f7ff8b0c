package codemode_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// body is a tool that does nothing but what f does.
func body(name string, f func() (tools.Result, error)) *tools.Definition {
	return &tools.Definition{Name: name, Handler: func(context.Context, *tools.Run) (tools.Result, error) { return f() }}
}

// Errors whose methods panic, and one whose text changes.
type (
	unprintable struct{}
	unwrappable struct{}
	fickle      struct{ reads *atomic.Int32 }
)

func (unprintable) Error() string { panic("no text") }

func (unwrappable) Error() string { return "sealed" }
func (unwrappable) As(any) bool   { panic("no type") }
func (unwrappable) Is(error) bool { panic("no identity") }

func (e fickle) Error() string { return fmt.Sprint("reading ", e.reads.Add(1)) }

// eachWay runs a test in both isolations, with one call at a time and with
// calls that may overlap.
func eachWay(t *testing.T, test func(t *testing.T, opts codemode.Options)) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		for _, width := range []int{1, 3} {
			t.Run(fmt.Sprintf("%v, parallel %d", isolation, width), func(t *testing.T) {
				test(t, codemode.Options{Isolation: isolation, Parallel: width})
			})
		}
	}
}

func TestHostileErrors(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		var reads atomic.Int32
		reg := registry(t,
			body("unprintable", func() (tools.Result, error) { return tools.Result{}, unprintable{} }),
			body("unwrappable", func() (tools.Result, error) { return tools.Result{}, unwrappable{} }),
			body("fickle", func() (tools.Result, error) { return tools.Result{}, fickle{&reads} }),
		)
		cm := open(t, pipeline.New(reg, nil), &opts)
		for tool, want := range map[string]string{
			"unprintable": "<unprintable error of type codemode_test.unprintable>",
			"unwrappable": "sealed",
			"fickle":      "reading 1",
		} {
			e := fail(t, cm, `try { await tools.`+tool+`({}) } catch (e) { throw new Error(e.message) }`)
			if got := e.Failure.Message; got != "Error: "+want {
				t.Errorf("%s: the program read %q, want %q", tool, got, want)
			}
			record := []codemode.CallRecord{{ID: "c1:code:1", Name: tool, State: pipeline.StateFailed, Line: 1, Error: want}}
			if diff := cmp.Diff(record, timeless(e.Report.Calls)); diff != "" {
				t.Errorf("%s: ledger (-want +got):\n%s", tool, diff)
			}
		}
		// The host asks any outcome for its report.
		if r := codemode.ReportOf(pipeline.New(reg, nil).Execute(t.Context(), pipeline.Request{Name: "unwrappable"})); r != nil {
			t.Errorf("a tool's outcome has the report %+v", r)
		}
	})
}

// Code that ends its goroutine, as t.FailNow does, must not leave the program
// waiting for an answer, nor the calls behind it for their turn.
func TestGoexit(t *testing.T) {
	const program = `
		const lost = tools.exit({}).catch(e => e.name + ": " + e.message)
		return [await lost, await tools.echo({ n: 1 })]`
	const crashed, lost = `tool \"exit\" crashed`, `the call of exit ended without an outcome`
	messages := map[string]string{"body": crashed, "post-execute": crashed, "pre-execute": lost}
	leave := func(c tools.Call) {
		if c.Name() == "exit" {
			goruntime.Goexit()
		}
	}
	for place, setup := range map[string]func(p *pipeline.Pipeline){
		"body": func(*pipeline.Pipeline) {},
		"pre-execute": func(p *pipeline.Pipeline) {
			p.PreExecute.Use("leaver", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				leave(c)
				return next(ctx)
			})
		},
		"post-execute": func(p *pipeline.Pipeline) {
			p.PostExecute.Use("leaver", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
				leave(s.Call)
				return next(ctx)
			})
		},
	} {
		t.Run(place, func(t *testing.T) {
			eachWay(t, func(t *testing.T, opts codemode.Options) {
				exit := body("exit", func() (tools.Result, error) {
					if place == "body" {
						goruntime.Goexit()
					}
					return tools.Result{}, nil
				})
				p := pipeline.New(registry(t, echo(), exit), &pipeline.Options{Logger: slog.New(slog.DiscardHandler)})
				setup(p)
				want := `{"logs":[],"result":["ToolCallError: ` + messages[place] + `",{"n":1}]}`
				if got := succeed(t, open(t, p, &opts), program); got != want {
					t.Errorf("value %s, want %s", got, want)
				}
			})
		})
	}
}

// Whatever is said beside the output counts against the budget of text.
func TestTextBudgetHoldsForEverything(t *testing.T) {
	const budget = 4000
	picture := body("picture", func() (tools.Result, error) {
		return tools.Result{Content: []tools.Content{tools.ImageContent("image/png", strings.Repeat("A", 100))}}, nil
	})
	long := body("long", func() (tools.Result, error) { return tools.Result{}, errors.New(strings.Repeat("é", 1<<20)) })
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		opts.MaxText, opts.MaxImages = budget, 250
		cm := open(t, pipeline.New(registry(t, picture, long), nil), &opts)
		for _, tc := range []struct{ name, code, want string }{
			{"images that do not fit", `for (let i = 0; i < 200; i++) await tools.picture({}); return "x".repeat(9000)`, "[188 further images left out for their size]"},
			{"notes", `for (let i = 0; i < 20; i++) tools.long({}); return "x".repeat(9000)`, ", tools.long, was not awaited when the program returned; it failed: éé"},
			{"a failure", `throw new Error("x".repeat(9000))`, "(the output is 9"},
		} {
			out := run(t, cm, tc.code)
			texts := slices.DeleteFunc(out.Content(), func(c tools.Content) bool { return c.Type != tools.ContentText })
			if n := len(tools.ContentString(texts)); n > budget || n < budget*3/4 {
				t.Errorf("%s: the text is %d bytes, want nearly %d", tc.name, n, budget)
			}
			if !strings.Contains(out.Text(), tc.want) {
				t.Errorf("%s: the text lacks %q:\n%.3000s", tc.name, tc.want, out.Text())
			}
		}
	})
}

func TestImagesOfFailedCallsStayBehind(t *testing.T) {
	p := pipeline.New(registry(t, echo()), nil)
	p.PostExecute.Use("block", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		if s.Call.IsTransport() {
			return next(ctx)
		}
		return pipeline.Block([]tools.Content{tools.TextContent("no"), tools.ImageContent("image/png", "AAAA")}), nil
	})
	out := run(t, open(t, p, nil), `try { await tools.echo({}) } catch {} return 1`)
	if diff := cmp.Diff([]tools.Content{tools.TextContent("1")}, out.Content()); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

// A program that goes on asking for what a person rejects is ended, whether it
// catches the rejections or not.
func TestThreeRejectionsEndTheRun(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		var asked atomic.Int32
		p := pipeline.New(registry(t, echo()), &pipeline.Options{Approver: pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			asked.Add(1)
			return pipeline.Rejected, nil
		})})
		p.PreExecute.Use("ask", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
			if c.IsTransport() {
				return next(ctx)
			}
			return pipeline.Ask("sure?"), nil
		})
		cm := open(t, p, &opts)
		// The same call again is no new question.
		if got := succeed(t, cm, `let n = 0; for (const i of [1, 2, 1, 2, 1, 2]) { try { await tools.echo({ i }) } catch (e) { n++ } } return n`); got != `{"logs":[],"result":6}` || asked.Load() != 2 {
			t.Errorf("two rejected calls, made three times each: value %s, %d questions; want 6 rejections and 2", got, asked.Load())
		}
		asked.Store(0)
		e := fail(t, cm, `for (let i = 0; ; i++) { try { await tools.echo({ i }) } catch {} }`)
		if e.Failure.Kind != runtime.Abort || e.Failure.Message != "the user rejected 3 calls of this program; ask what is wanted before running another" {
			t.Errorf("the run ended with %+v, want an abort that says why", e.Failure)
		}
		if asked.Load() != 3 {
			t.Errorf("%d questions were asked, want 3", asked.Load())
		}
	})
}

func TestLedgerLinesCannotBeForged(t *testing.T) {
	name := "x: done\n  c1:code:9 transfer"
	cm := open(t, pipeline.New(registry(t, body(name, func() (tools.Result, error) { return tools.Result{}, nil })), nil), nil)
	text := fail(t, cm, `await tools[Object.keys(tools)[0]]({}); throw 1`).Error()
	if want := `c1:code:1 "x: done\n  c1:code:9 transfer": done`; !strings.HasSuffix(text, want) {
		t.Errorf("the ledger does not end with %s:\n%s", want, text)
	}
}

func TestPresentedTools(t *testing.T) {
	described := echo()
	described.Name, described.Input = "described", tools.MustJSON(`{"type":"object","properties":{"a":{}}}`)
	odd, long := echo(), echo()
	odd.Name, long.Name = "label.print", strings.Repeat("n", 65)
	cm := open(t, pipeline.New(registry(t, echo(), described, odd, long), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, Mode: codemode.ModeNative})
	presented, err := cm.Present()
	if err != nil {
		t.Fatal(err)
	}
	want := []codemode.ToolSchema{
		{Name: "described", Description: "Return the arguments.", Parameters: described.Input},
		{Name: "echo", Description: "Return the arguments.", Parameters: tools.MustJSON(`{"type":"object"}`)},
	}
	if diff := cmp.Diff(want, presented.Tools, cmp.Comparer(func(a, b tools.JSON) bool { return a == b })); diff != "" {
		t.Errorf("tools on the wire (-want +got):\n%s", diff)
	}
	if len(presented.Notes) != 2 || !strings.HasPrefix(presented.Notes[0], `tool "label.print" cannot be called directly`) {
		t.Errorf("notes %q, want one each for the two names that model APIs refuse", presented.Notes)
	}
}

// However a program ends, the kind is told, the calls it made are in the ledger,
// the log is sound and the next program runs.
func TestHostileProgramsLeaveSoundLogs(t *testing.T) {
	limits := runtime.Limits{Compute: time.Second, Heap: 256 << 20, Output: 10_000, Calls: 20, Bytes: 1 << 20, Depth: 300}
	for _, tt := range []struct {
		name, code string
		kind       runtime.Kind
	}{
		{"a loop", "for (;;) {}", runtime.Timeout},
		{"a loop that catches", "for (;;) try { for (;;) {} } catch {}", runtime.Timeout},
		{"one large step", "'x'.repeat(2 ** 40)", runtime.MemoryLimit},
		{"lines", "for (;;) console.log('tick'.repeat(64))", runtime.OutputLimit},
		{"calls", "for (;;) await tools.echo({})", runtime.CallLimit},
		{"calls at once", "await Promise.all(Array.from({ length: 1e5 }, (_, n) => tools.echo({ n })))", runtime.CallLimit},
		{"bytes", "for (;;) tools.echo({ s: 'x'.repeat(1e5) })", runtime.BytesLimit},
		{"recursion", "const f = () => [1].map(f); f()", runtime.Exception},
		{"nothing to wait for", "await new Promise(() => {})", runtime.Exception},
		{"a value too deep", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", runtime.InvalidOutput},
		{"look-ups", "for (;;) await catalog.search('echo')", runtime.CallLimit},
		{"look-ups that fail", "for (;;) await catalog.describe('x').catch(() => 0)", runtime.CallLimit},
		{"look-ups at once", "await Promise.all(Array.from({ length: 1e5 }, () => catalog.search('echo')))", runtime.CallLimit},
		{"look-ups of large texts", "for (;;) catalog.search('x'.repeat(1e5))", runtime.BytesLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, opts codemode.Options) {
				rec := &pipelinetest.Recorder{}
				opts.Limits = limits
				if tt.kind != runtime.Timeout {
					opts.Limits.Compute = 30 * time.Second // a busy machine must not be what stops it
				}
				cm := open(t, pipeline.New(registry(t, echo()), &pipeline.Options{Sink: rec}), &opts)
				e := fail(t, cm, "await tools.echo({ first: true });\n"+tt.code)
				if e.Failure.Kind != tt.kind {
					t.Errorf("kind %s (%s), want %s", e.Failure.Kind, e.Failure.Message, tt.kind)
				}
				// The time of a busy machine may be over before the call.
				called := tt.kind != runtime.Timeout || slices.Contains(rec.Calls(), "code-dispatch c1:code:1")
				if text := e.Error(); !strings.HasPrefix(text, "code run failed ("+string(tt.kind)+"): ") || called && !strings.Contains(text, "c1:code:1 echo: done") {
					t.Errorf("the text lacks the kind or the first call:\n%.2000s", text)
				}
				if got := succeed(t, cm, "return (await tools.echo({ a: 1 })).a"); got != `{"logs":[],"result":1}` {
					t.Errorf("the next program: %s", got)
				}
				if problems := pipelinetest.CheckLog(rec.Events()); len(problems) > 0 {
					t.Errorf("the log: %q", problems)
				}
			})
		})
	}
}

// A look-up is bounded whatever it asks for.
func TestHostileLookUps(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		cm := open(t, pipeline.New(registry(t, echo()), nil), &opts)
		for _, tt := range []struct{ code, want string }{
			{`return (await catalog.search("echo ".repeat(200_000))).total`, "1"},
			{`return (await catalog.search({ query: "(a+)+$".repeat(1000) + "\ud800\0", limit: 1e9 })).matches.length`, "0"},
			{`try { await catalog.search("x".repeat(5e6)) } catch (e) { return e.code }`, `"ARGUMENT_TOO_LARGE"`},
			{`try { await catalog.describe("echo".repeat(1e5)) } catch (e) { return e.message.length < 1000 }`, "true"},
			{`catalog = null; try { catalog.search = 1 } catch {} return typeof catalog.search`, `"function"`},
			{`return ["constructor", "__proto__", "toString"].filter(n => n in catalog)`, "[]"},
		} {
			if got, want := succeed(t, cm, tt.code), `{"logs":[],"result":`+tt.want+`}`; got != want {
				t.Errorf("%s\n gives %.300s\n want  %s", tt.code, got, want)
			}
		}
	})
}
