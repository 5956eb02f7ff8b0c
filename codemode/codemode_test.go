package codemode_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// echo returns its arguments.
func echo() *tools.Definition {
	return &tools.Definition{Name: "echo", Description: "Return the arguments.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		return tools.Result{Value: run.Args()}, nil
	}}
}

// failing fails when n is at.
func failing(name string, at int) *tools.Definition {
	return tools.Define(name, "Append a line.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		if in.N == at {
			return 0, &tools.Error{Name: "DiskError", Code: "DISK_FULL", Message: "disk full"}
		}
		return in.N, nil
	})
}

func run(t *testing.T, cm *codemode.CodeMode, code string) pipeline.Outcome {
	t.Helper()
	return cm.Run(t.Context(), codemode.Program{ID: "c1", Code: code})
}

// succeed runs a program that must succeed and returns its canonical value.
func succeed(t *testing.T, cm *codemode.CodeMode, code string) string {
	t.Helper()
	out := run(t, cm, code)
	if out.Err() != nil {
		t.Fatalf("the program failed: %v", out.Err())
	}
	return out.Value().String()
}

// fail runs a program that must fail and returns the failure.
func fail(t *testing.T, cm *codemode.CodeMode, code string) *codemode.RunError {
	t.Helper()
	out := run(t, cm, code)
	var e *codemode.RunError
	if !errors.As(out.Err(), &e) {
		t.Fatalf("outcome is %q with the error %v, want a *RunError", out.Text(), out.Err())
	}
	return e
}

func TestValueAndText(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, echo()), nil), nil)
	for _, tc := range []struct{ name, code, value, text string }{
		{"a result", `return 1`, `{"logs":[],"result":1}`, "1"},
		{"no result", ``, `{"logs":[]}`, "(run_code completed with no output)"},
		{"null is a result", `return null`, `{"logs":[],"result":null}`, "null"},
		{"logs", `console.log("a"); console.log("b")`, `{"logs":["a","b"]}`, "a\nb"},
		{"logs and result", `console.log("a"); return { b: 1 }`, `{"logs":["a"],"result":{"b":1}}`, "a\n{\n  \"b\": 1\n}"},
		{"a sub-call's value", `const r = await tools.echo({ x: [1, -0, "é"] }); return r.x`, `{"logs":[],"result":[1,-0,"é"]}`, "[\n  1,\n  -0,\n  \"é\"\n]"},
		{"a large intermediate value crosses whole", `return (await tools.echo({ s: "x".repeat(100000) })).s.length`, `{"logs":[],"result":100000}`, "100000"},
		{"an unpaired surrogate", `return ["\ud800", (await tools.echo({ s: "\udc00" })).s]`, `{"logs":[],"result":["\ud800","\udc00"]}`, "[\n  \"\\ud800\",\n  \"\\udc00\"\n]"},
		{"an integer beyond doubles", `return await tools.echo({ n: 9007199254740993n })`, `{"logs":[],"result":{"n":9007199254740993}}`, "{\n  \"n\": 9007199254740993\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := run(t, cm, tc.code)
			if out.Err() != nil {
				t.Fatal(out.Err())
			}
			if diff := cmp.Diff([2]string{tc.value, tc.text}, [2]string{out.Value().String(), out.Text()}); diff != "" {
				t.Errorf("value and text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestModelCall(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, echo()), nil), nil)
	for _, tc := range []struct{ name, args, want string }{
		{"both arguments", `{"code":"return 1","description":"one"}`, "1"},
		{"further arguments are ignored", `{"code":"return 1","description":"one","timeout":5}`, "1"},
		{"no description", `{"code":"return 1"}`, `Error: invalid arguments: missing required property "description"`},
		{"a blank description", `{"code":"return 1","description":"  "}`, "Error: invalid description: expected a non-empty string"},
		{"code of the wrong type", `{"code":1,"description":"one"}`, `Error: invalid arguments: "code" must be a string`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := cm.Call(t.Context(), pipeline.Request{ID: "c1", Args: tc.args})
			if got := out.Text(); !strings.HasPrefix(got, tc.want) {
				t.Errorf("text %q, want it to begin with %q", got, tc.want)
			}
		})
	}
}

func TestInput(t *testing.T) {
	cm := open(t, pipeline.New(registry(t), nil), nil)
	out := cm.Run(t.Context(), codemode.Program{Code: `return input.a[1]`, Input: tools.MustJSON(`{"a":[1,2]}`)})
	if out.Text() != "2" {
		t.Errorf("input.a[1] = %s, want 2", out.Text())
	}
	if got := succeed(t, cm, `return typeof input`); got != `{"logs":[],"result":"undefined"}` {
		t.Errorf("without input: %s", got)
	}
	bad := cm.Run(t.Context(), codemode.Program{Code: "return '\xff'"})
	var e *codemode.RunError
	if !errors.As(bad.Err(), &e) || e.Failure.Kind != runtime.InvalidInput || !strings.Contains(e.Failure.Message, "UTF-8") {
		t.Errorf("a program that is not UTF-8 ended as %v, want invalid-input naming UTF-8", bad.Err())
	}
}

func TestFailureText(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, failing("append_line", 3)), nil), nil)
	e := fail(t, cm, "console.log('start')\nfor (let i = 0; i < 10; i++) {\n  await tools.append_line({ n: i })\n}")
	if e.Failure.Kind != runtime.Exception || e.Failure.Site.Line != 3 || e.Failure.Tool != "append_line" || e.Failure.Code != "DISK_FULL" {
		t.Errorf("failure = %+v, want an exception at line 3 of append_line with DISK_FULL", e.Failure)
	}
	text := e.Error()
	for _, want := range []string{
		"code run failed (exception): ",
		"disk full\ntool: append_line (DISK_FULL)\n",
		"> 3 |   await tools.append_line({ n: i })",
		"\nCaptured output:\nstart\n",
		"\nTool calls of this run: 3 done, 1 failed. What is done stays done.\n  c1:code:1 append_line: done\n",
		"\n  c1:code:4 append_line: failed (disk full)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if !strings.HasSuffix(text, "failed (disk full)") {
		t.Errorf("the text does not end with the ledger:\n%s", text)
	}
	want := []codemode.CallRecord{
		{ID: "c1:code:1", Name: "append_line", State: pipeline.StateDone, Line: 3},
		{ID: "c1:code:2", Name: "append_line", State: pipeline.StateDone, Line: 3},
		{ID: "c1:code:3", Name: "append_line", State: pipeline.StateDone, Line: 3},
		{ID: "c1:code:4", Name: "append_line", State: pipeline.StateFailed, Line: 3, Error: "disk full", Code: "DISK_FULL"},
	}
	if diff := cmp.Diff(want, timeless(e.Report.Calls)); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if info := tools.InfoOf(e); info != (tools.ErrorInfo{Name: "CodeRunFailedError", Code: "CODE_RUN_FAILED"}) {
		t.Errorf("identity %+v", info)
	}
}

func timeless(records []codemode.CallRecord) []codemode.CallRecord {
	records = slices.Clone(records)
	for i := range records {
		records[i].Ms = 0
	}
	return records
}

func TestLedgerIsCapped(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, failing("f", 99)), nil), nil)
	text := fail(t, cm, `for (let n = 0; n < 100; n++) await tools.f({ n })`).Error()
	if !strings.Contains(text, "Tool calls of this run: 99 done, 1 failed.") || !strings.Contains(text, "\n  ... 80 more\n") {
		t.Errorf("a long ledger is not counted and cut:\n%s", text)
	}
	if !strings.Contains(text, "c1:code:1 ") || !strings.Contains(text, "c1:code:100 f: failed") {
		t.Errorf("a long ledger lacks its head or its tail:\n%s", text)
	}
}

func TestDeniedCallIsNotStarted(t *testing.T) {
	p := pipeline.New(registry(t, tools.Define("wipe_disk", "Wipe.", func(context.Context, struct{}) (int, error) {
		t.Error("the body of a denied call ran")
		return 0, nil
	})), nil)
	p.PreExecute.Use("no-wiping", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if c.Name() == "wipe_disk" {
			return pipeline.Deny("wiping is not for you"), nil
		}
		return next(ctx)
	})
	cm := open(t, p, nil)
	e := fail(t, cm, `await tools.wipe_disk({})`)
	if got := e.Report.Calls[0]; got.State != pipeline.StateNotStarted || got.Error != "wiping is not for you" {
		t.Errorf("ledger entry %+v, want not-started with the reason", got)
	}
	got := succeed(t, cm, `try { await tools.wipe_disk({}) } catch (e) { return [e.name, e.toolName, e.message, e.code, e.origin, e.by, e.callId] }`)
	if want := `{"logs":[],"result":["ToolCallError","wipe_disk","wiping is not for you","DENIED_BY_POLICY","policy","no-wiping","c1:code:1"]}`; got != want {
		t.Errorf("caught %s, want %s", got, want)
	}
}

func TestSerializedLane(t *testing.T) {
	var mu sync.Mutex
	var trace []string
	step := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		trace = append(trace, name)
	}
	slow := tools.DefineWith(tools.Definition{Name: "slow", Concurrent: func(tools.JSON) bool { return true }},
		func(_ context.Context, _ *tools.Run, in struct {
			ID string `json:"id"`
		}) (string, error) {
			step("enter " + in.ID)
			for range 100 {
				goruntime.Gosched() // another that could begin now would
			}
			step("exit " + in.ID)
			return in.ID, nil
		})
	cm := open(t, pipeline.New(registry(t, slow), nil), nil)
	got := succeed(t, cm, `return await Promise.all(["a", "b", "c"].map(id => tools.slow({ id })))`)
	if want := `{"logs":[],"result":["a","b","c"]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"enter a", "exit a", "enter b", "exit b", "enter c", "exit c"}, trace); diff != "" {
		t.Errorf("calls overlapped or changed order (-want +got):\n%s", diff)
	}
}

func TestEventsOfARun(t *testing.T) {
	var types []string
	opts := &pipeline.Options{Sink: pipeline.SinkFunc(func(e pipeline.Event) error {
		types = append(types, e.Type)
		if e.Type == pipeline.EventCodeDispatch {
			for _, want := range []string{`"rootCallId":"c1"`, `"parentCallId":"c1"`, `"subCallId":"c1:code:`, `"name":"echo"`, `"arguments":{"n":`, `"isError":false`, `"content":[`, `"state":"done"`, `"line":1`} {
				if !strings.Contains(e.Data.String(), want) {
					t.Errorf("settle event lacks %s: %s", want, e.Data)
				}
			}
		}
		return nil
	})}
	cm := open(t, pipeline.New(registry(t, echo()), opts), nil)
	succeed(t, cm, `await tools.echo({ n: 1 }); await tools.echo({ n: 2 })`)
	want := []string{"tool/call", "tool/code-dispatch-start", "tool/code-dispatch", "tool/code-dispatch-start", "tool/code-dispatch", "tool/result"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestContextsOfSubCalls(t *testing.T) {
	remember := func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		d, err := next(ctx)
		if s.Call.IsTransport() {
			return d, err
		}
		return d.WithContexts(tools.ContextMessage("reminder", "about "+s.Call.ID())), err
	}
	for _, tc := range []struct {
		name     string
		contexts codemode.Contexts
		want     []string
		dropped  int
	}{
		{"dropped and counted by default", codemode.DropContexts, nil, 2},
		{"deferred in call order by option", codemode.DeferContexts, []string{"about c1:code:1", "about c1:code:2"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pipeline.New(registry(t, echo()), nil)
			p.PostExecute.Use("reminder", remember)
			cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Contexts: tc.contexts})
			out := run(t, cm, `await tools.echo({}); await tools.echo({})`)
			var got []string
			for _, m := range out.Contexts() {
				got = append(got, tools.ContentString(m.Content))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("contexts of the outer result (-want +got):\n%s", diff)
			}
			if report := codemode.ReportOf(out); report.Usage.DroppedContexts != tc.dropped {
				t.Errorf("%d contexts dropped, want %d", report.Usage.DroppedContexts, tc.dropped)
			}
		})
	}
}

func TestImagesFollowTheText(t *testing.T) {
	shot := &tools.Definition{Name: "shot", Description: "Take a picture.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		var in struct {
			Data string `json:"data"`
		}
		if err := run.Args().Unmarshal(&in); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Value: tools.MustJSON(`{"w":2,"h":1}`), Content: []tools.Content{tools.TextContent("a picture"), tools.ImageContent("image/png", in.Data)}}, nil
	}}
	p := pipeline.New(registry(t, shot), nil)
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, MaxImages: 10})
	out := run(t, cm, `await tools.shot({ data: "AAAA" }); const r = await tools.shot({ data: "BBBB" }); await tools.shot({ data: "CCCCCCCC" }); return r`)
	want := []tools.Content{
		tools.TextContent("{\n  \"w\": 2,\n  \"h\": 1\n}"),
		tools.ImageContent("image/png", "AAAA"),
		tools.ImageContent("image/png", "BBBB"),
		tools.TextContent("[image of sub-call 3 left out: 8 bytes of base64 exceed the room of 2]"),
	}
	if diff := cmp.Diff(want, out.Content()); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

func TestModes(t *testing.T) {
	for _, tc := range []struct {
		mode   codemode.Mode
		wire   []string
		direct string // text of a direct call of echo
		code   string // text of a call of run_code
		rule   bool
		sdk    bool
	}{
		{codemode.ModeCode, []string{"run_code"}, "Error: unknown tool \"echo\": only `run_code` is callable directly — call `echo` from inside a `run_code` program instead", "1", true, true},
		{codemode.ModeBoth, []string{"echo", "run_code"}, "{}", "1", false, true},
		{codemode.ModeNative, []string{"echo"}, "{}", `Error: unknown tool "run_code"`, false, false},
	} {
		t.Run(tc.mode.String(), func(t *testing.T) {
			p := pipeline.New(registry(t, echo()), nil)
			asked := 0
			p.PreExecute.Use("count", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.Name() == "echo" {
					asked++
				}
				return next(ctx)
			})
			cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Mode: tc.mode})
			presented, err := cm.Present()
			if err != nil {
				t.Fatal(err)
			}
			var wire []string
			for _, tool := range presented.Tools {
				wire = append(wire, tool.Name)
			}
			if diff := cmp.Diff(tc.wire, wire); diff != "" {
				t.Errorf("tools on the wire (-want +got):\n%s", diff)
			}
			if got := strings.Contains(presented.Prompt, "can be called directly"); got != tc.rule {
				t.Errorf("the prompt states the only-run_code rule: %v, want %v", got, tc.rule)
			}
			if got := strings.Contains(presented.Prompt, "declare const tools"); got != tc.sdk {
				t.Errorf("the prompt holds the declarations: %v, want %v", got, tc.sdk)
			}
			direct := p.Execute(t.Context(), pipeline.Request{Name: "echo"})
			if got := direct.Text(); got != tc.direct {
				t.Errorf("direct call: %q, want %q", got, tc.direct)
			}
			if refused := tc.mode == codemode.ModeCode; refused == (asked > 0) {
				t.Errorf("policy saw the direct call %d times in mode %v", asked, tc.mode)
			}
			if got := cm.Call(t.Context(), pipeline.Request{Args: `{"code":"return 1","description":"d"}`}).Text(); got != tc.code {
				t.Errorf("run_code: %q, want %q", got, tc.code)
			}
		})
	}
}

func TestModeNames(t *testing.T) {
	for _, name := range []string{"code", "both", "native"} {
		if m, err := codemode.ParseMode(name); err != nil || m.String() != name {
			t.Errorf("ParseMode(%q) = %v, %v", name, m, err)
		}
	}
	if _, err := codemode.ParseMode("auto"); err == nil || !strings.Contains(err.Error(), "code, both and native") {
		t.Errorf("ParseMode of an unknown mode: %v, want the modes listed", err)
	}
}

func TestPromptIsByteStable(t *testing.T) {
	a := tools.Define("a", "First.", func(context.Context, struct{}) (int, error) { return 0, nil })
	prompt := func(defs ...*tools.Definition) string {
		p, err := open(t, pipeline.New(registry(t, defs...), nil), nil).Present()
		if err != nil {
			t.Fatal(err)
		}
		return p.Prompt
	}
	if diff := cmp.Diff(prompt(a, echo()), prompt(echo(), a)); diff != "" {
		t.Errorf("the prompt depends on the order of registration:\n%s", diff)
	}
}

func TestRunCodeIsNotInsideAProgram(t *testing.T) {
	cm := open(t, pipeline.New(registry(t, echo()), nil), nil)
	if got := succeed(t, cm, `return ["run_code" in tools, typeof run_code, Object.keys(tools)]`); got != `{"logs":[],"result":[false,"undefined",["echo"]]}` {
		t.Errorf("a program sees %s", got)
	}
	e := fail(t, cm, `await tools.run_code({ code: "return 1", description: "nest" })`)
	if !strings.Contains(e.Failure.Message, "not callable inside a program") || !strings.Contains(e.Failure.Message, "echo") {
		t.Errorf("message %q, want it to say not callable inside a program and to list echo", e.Failure.Message)
	}
}

func TestToolRemovedWhileAProgramRuns(t *testing.T) {
	reg := registry(t)
	remove, err := reg.Add(echo())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reg.Add(tools.Define("drop", "Remove echo.", func(context.Context, struct{}) (int, error) { remove(); return 0, nil })); err != nil {
		t.Fatal(err)
	}
	cm := open(t, pipeline.New(reg, nil), nil)
	got := succeed(t, cm, `await tools.drop({}); try { await tools.echo({}) } catch (e) { return [e.code, e.message] }`)
	if !strings.HasPrefix(got, `{"logs":[],"result":["UNKNOWN_TOOL","unknown tool \"echo\"`) {
		t.Errorf("a removed tool answered %s", got)
	}
	if got := succeed(t, cm, `return Object.keys(tools)`); got != `{"logs":[],"result":["drop"]}` {
		t.Errorf("the next program sees %s", got)
	}
}

// TestNestedRuns lets a program call a sub-agent, a tool that calls run_code
// again, until the limit of three.
func TestNestedRuns(t *testing.T) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		t.Run(isolation.String(), func(t *testing.T) {
			reg := registry(t)
			p := pipeline.New(reg, nil)
			cm := open(t, p, &codemode.Options{Isolation: isolation, Worker: codemode.WorkerOptions{MaxWorkers: 1}})
			agent := tools.Define("agent", "Ask a sub-agent.", func(ctx context.Context, in struct {
				Depth int `json:"depth"`
			}) (string, error) {
				out := cm.Run(ctx, codemode.Program{Code: fmt.Sprintf(`return await tools.agent({ depth: %d })`, in.Depth+1)})
				if out.Err() != nil {
					return "", out.Err()
				}
				return out.Text(), nil
			})
			if _, err := reg.Add(agent); err != nil {
				t.Fatal(err)
			}
			e := fail(t, cm, `return await tools.agent({ depth: 1 })`)
			if !strings.Contains(e.Error(), "code run failed (call-limit): run_code is nested 3 levels deep") {
				t.Errorf("nesting without end ended as:\n%v", e)
			}
		})
	}
}

func TestAbort(t *testing.T) {
	started := make(chan struct{})
	hold := tools.Define("hold", "Wait.", func(ctx context.Context, _ struct{}) (int, error) {
		close(started)
		<-ctx.Done()
		return 0, context.Cause(ctx)
	})
	cm := open(t, pipeline.New(registry(t, hold, echo()), nil), nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-started
		cancel(errors.New("user pressed stop"))
	}()
	out := cm.Run(ctx, codemode.Program{ID: "c1", Code: `try { await tools.hold({}) } catch {} ; await tools.echo({})`})
	var e *codemode.RunError
	if !errors.As(out.Err(), &e) {
		t.Fatalf("outcome %q, want a *RunError", out.Text())
	}
	if e.Failure.Kind != runtime.Abort || !strings.Contains(e.Failure.Message, "user pressed stop") {
		t.Errorf("failure %+v, want abort with the cause", e.Failure)
	}
	if calls := timeless(e.Report.Calls); len(calls) != 1 || calls[0].State == pipeline.StateDone {
		t.Errorf("ledger %+v, want the one call that was live", calls)
	}
}

// approving lets a person answer who takes as long as think does.
func approving(t *testing.T, think func(context.Context)) *pipeline.Pipeline {
	p := pipeline.New(registry(t, echo()), &pipeline.Options{Approver: pipeline.ApproverFunc(func(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
		think(ctx)
		return pipeline.AllowedOnce, context.Cause(ctx)
	})})
	p.PreExecute.Use("ask", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if c.IsTransport() {
			return next(ctx)
		}
		return pipeline.Ask("sure?"), nil
	})
	return p
}

// TestApprovalPausesTheWallClock lets a person think for longer than the whole
// wall limit.
func TestApprovalPausesTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := approving(t, func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Minute):
			}
		})
		cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Limits: codemode.Limits{Wall: time.Minute}})
		if got := succeed(t, cm, `return await tools.echo({ a: 1 })`); got != `{"logs":[],"result":{"a":1}}` {
			t.Errorf("value %s", got)
		}
	})
}

// TestApprovalPausesEveryWallClock: those of the runs around a run stand still too
// while a person thinks.
func TestApprovalPausesEveryWallClock(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		outer := runtime.StartWall(time.Hour, func() {})
		defer outer.Stop()
		asked := 0
		p := approving(t, func(context.Context) {
			asked++
			before := outer.Elapsed()
			for begun := time.Now(); time.Since(begun) == 0; { // a clock may have coarse steps
			}
			if after := outer.Elapsed(); after != before {
				t.Errorf("%v pass while a person is asked", after-before)
			}
		})
		cm := open(t, p, &opts)
		o := cm.Run(runtime.WithWall(t.Context(), outer), codemode.Program{Code: `return await tools.echo({ a: 1 })`})
		if o.Err() != nil || asked != 1 {
			t.Errorf("%v, asked %d times", o.Err(), asked)
		}
	})
}

// TestOuterContextReachesTools: values and the deadline of the caller's context
// are there in a sub-call's body, across the process border too.
func TestOuterContextReachesTools(t *testing.T) {
	type key struct{}
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "session 7"), deadline)
	defer cancel()
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		t.Run(isolation.String(), func(t *testing.T) {
			look := tools.Define("look", "Look at the context.", func(ctx context.Context, _ struct{}) (string, error) {
				at, ok := ctx.Deadline()
				return fmt.Sprint(ctx.Value(key{}), " ", ok && at.Equal(deadline)), nil
			})
			cm := open(t, pipeline.New(registry(t, look), nil), &codemode.Options{Isolation: isolation})
			if got := cm.Run(ctx, codemode.Program{Code: `return await tools.look({})`}).Text(); got != "session 7 true" {
				t.Errorf("a sub-call's body sees %q, want the value and the deadline", got)
			}
		})
	}
}

func TestFloatingCall(t *testing.T) {
	sent := 0
	send := tools.Define("send_mail", "Send.", func(context.Context, struct{}) (int, error) { sent++; return sent, nil })
	cm := open(t, pipeline.New(registry(t, send, failing("f", 0)), nil), nil)
	out := run(t, cm, `tools.send_mail({}); return "sent"`)
	if out.Err() != nil || sent != 1 {
		t.Fatalf("err %v, %d mails sent; want success and one", out.Err(), sent)
	}
	content := out.Content()
	if len(content) != 2 || content[0].Text != "sent" || !strings.HasPrefix(content[1].Text, "note: ") || !strings.Contains(content[1].Text, "send_mail") {
		t.Errorf("content %+v, want the text and a note that names send_mail", content)
	}
	out = run(t, cm, `tools.f({ n: 0 }); return "ok"`)
	if out.Err() != nil || !strings.Contains(out.Text(), "disk full") {
		t.Errorf("a floating failure: err %v, text %q; want success and a note with the failure", out.Err(), out.Text())
	}
}

func TestTextBudget(t *testing.T) {
	cm := open(t, pipeline.New(registry(t), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, MaxText: 1000})
	out := run(t, cm, `return "x".repeat(5000)`)
	if n := len(out.Text()); n > 1000 || !strings.HasPrefix(out.Text(), "(the output is 5000 bytes") {
		t.Errorf("a text of %d bytes that begins %.40q, want at most 1000 and the size first", n, out.Text())
	}
	if got := codemode.ReportOf(out).Output; got != strings.Repeat("x", 5000) {
		t.Errorf("the report holds %d bytes of output, want all 5000", len(got))
	}
	e := fail(t, cm, `console.log("y".repeat(5000)); throw new Error("late")`)
	if len(e.Error()) > 1000 || len(e.FullText()) < 5000 {
		t.Errorf("failure text is %d bytes (full %d), want at most 1000 and over 5000", len(e.Error()), len(e.FullText()))
	}
}

func TestStore(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tc := range []struct {
		name  string
		store func(context.Context, string, string) (string, error)
		want  string
	}{
		{"the locator is told", func(_ context.Context, id, text string) (string, error) {
			return fmt.Sprintf("/spill/%s-%d.txt", id, len(text)), nil
		}, "The whole text is at /spill/c1-%d.txt.)"},
		{"a failing store", func(context.Context, string, string) (string, error) { return "", errors.New("disk full") },
			"The whole text could not be stored: disk full. Return or print less"},
		{"a store that crashes", func(context.Context, string, string) (string, error) { panic("bug") },
			"The whole text could not be stored: the store crashed. Return or print less"},
		{"no store", nil, "Return or print less to see all of it.)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cm := open(t, pipeline.New(registry(t), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, MaxText: 1000, Store: tc.store})
			want := func(n int) string { return strings.ReplaceAll(tc.want, "%d", fmt.Sprint(n)) }
			out := run(t, cm, `return "x".repeat(5000)`)
			if out.Err() != nil || len(out.Text()) > 1000 || !strings.Contains(out.Text(), want(5000)) {
				t.Errorf("err %v, text of %d bytes, want %q in it:\n%s", out.Err(), len(out.Text()), want(5000), out.Text())
			}
			e := fail(t, cm, `console.log("`+long+`"); throw new Error("late")`)
			if text := e.Error(); len(text) > 1000 || !strings.Contains(text, want(len(e.FullText()))) {
				t.Errorf("failure text of %d bytes, want %q in it:\n%s", len(text), want(len(e.FullText())), text)
			}
		})
	}
	stored := 0
	cm := open(t, pipeline.New(registry(t), nil), &codemode.Options{Isolation: codemode.IsolationInProcess, Store: func(context.Context, string, string) (string, error) {
		stored++
		return "", nil
	}})
	if succeed(t, cm, `return 1`); stored != 0 {
		t.Error("a text that fits was stored")
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := codemode.New(nil, nil); err == nil {
		t.Error("New(nil) succeeded")
	}
	for _, tc := range []struct {
		name string
		opts codemode.Options
		want string
	}{
		{"mode", codemode.Options{Mode: 9}, "Mode(9)"},
		{"isolation", codemode.Options{Isolation: 9}, "Isolation(9)"},
		{"contexts", codemode.Options{Contexts: 9}, "Contexts(9)"},
		{"parallel", codemode.Options{Parallel: -1}, "Parallel (-1)"},
		{"heap of a worker", codemode.Options{Limits: codemode.Limits{Heap: 1 << 20}}, "limit heap is 1048576 bytes; a worker needs at least"},
		{"too parallel", codemode.Options{Parallel: 257}, "at most 256"},
		{"limit", codemode.Options{Limits: codemode.Limits{Calls: -1}}, "limit calls is -1"},
		{"output limit", codemode.Options{Limits: codemode.Limits{Output: 3}}, "at least 4"},
		{"wall limit", codemode.Options{Limits: codemode.Limits{Wall: runtime.MaxWall + 1}}, "limit wall"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := codemode.New(pipeline.New(registry(t), nil), &tc.opts)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New: %v, want it to name %q", err, tc.want)
			}
		})
	}
	p := pipeline.New(registry(t), nil)
	open(t, p, nil)
	if _, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess}); err == nil {
		t.Error("a second code mode was installed in one pipeline")
	}
}
