package pipeline_test

import (
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// TestPreExecute: what one or two pre-execute listeners make of a call.
func TestPreExecute(t *testing.T) {
	crash := func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { panic("secret") }
	overrule := func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		_, _ = next(ctx)
		return pipeline.Allow(), nil
	}
	delegate := func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		return next(ctx)
	}
	askAfter := func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		_, _ = next(ctx)
		return pipeline.Ask("sure?"), nil
	}
	twice := func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		_, _ = next(ctx)
		return next(ctx)
	}
	twiceIgnored := func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		d, err := next(ctx)
		_, _ = next(ctx)
		return d, err
	}
	ran := steps("guard echo", "execute echo", "body echo", "executed echo", "post echo", "result echo")
	denied := steps("post echo", "result echo")
	final := steps("result echo")
	tests := []struct {
		name      string
		listeners []preListener // named l1, l2
		want      end
		by        string
		trace     []string
	}{
		{"no listener allows", nil, end{"ok", "", "done"}, "", ran},
		{"a denial skips guards, wrappers and body; post-execute sees it",
			[]preListener{always(pipeline.Deny("denied by policy"))},
			end{"Error: denied by policy", tools.CodeDeniedByPolicy, "not-started"}, "l1", denied},
		{"a listener that does not ask next keeps the others out",
			[]preListener{always(pipeline.Allow()), always(pipeline.Deny("no"))}, end{"ok", "", "done"}, "", ran},
		{"an error is final", []preListener{failing(errPlain)}, end{"Error: it broke", "", "not-started"}, "", final},
		{"a coded error keeps its identity", []preListener{failing(coded("gone"))},
			end{"Error: gone", "FS_NOT_FOUND", "not-started"}, "", final},
		{"a panic is final and its value stays with the host", []preListener{crash},
			end{`Error: pre-execute listener "l1" crashed`, tools.CodePanic, "not-started"}, "", final},
		{"an ask with a reason and nobody to ask", []preListener{always(pipeline.Ask("needs approval"))},
			end{"Error: needs approval", tools.CodeApprovalUnavailable, "not-started"}, "l1", denied},
		{"an ask without a reason and nobody to ask", []preListener{always(pipeline.Ask(""))},
			end{`Error: tool "echo" requires approval (not yet supported)`, tools.CodeApprovalUnavailable, "not-started"}, "l1", denied},
		// DSH runs the tool in the next two cases: its denial without a reason
		// is none.
		{"a denial without a reason denies", []preListener{always(pipeline.Deny(""))},
			end{"Error: denied by policy without a reason", tools.CodeDeniedByPolicy, "not-started"}, "l1", denied},
		{"the zero decision denies", []preListener{always(pipeline.Decision{})},
			end{`Error: policy "l1" returned no decision`, tools.CodeDeniedByPolicy, "not-started"}, "l1", denied},
		// DSH runs the tool in the next three cases: the outer answer wins there.
		{"an outer allow cannot undo an inner denial", []preListener{overrule, always(pipeline.Deny("no"))},
			end{"Error: no", tools.CodeDeniedByPolicy, "not-started"}, "l2", denied},
		{"an outer allow cannot undo an inner error", []preListener{overrule, failing(errPlain)},
			end{"Error: it broke", "", "not-started"}, "", final},
		{"an outer allow cannot undo an inner panic", []preListener{overrule, crash},
			end{`Error: pre-execute listener "l2" crashed`, tools.CodePanic, "not-started"}, "", final},
		{"an outer ask cannot undo an inner denial", []preListener{askAfter, always(pipeline.Deny("no"))},
			end{"Error: no", tools.CodeDeniedByPolicy, "not-started"}, "l2", denied},
		{"a decision handed on stays that of its author", []preListener{delegate, always(pipeline.Ask("sure?"))},
			end{"Error: sure?", tools.CodeApprovalUnavailable, "not-started"}, "l2", denied},
		{"an outer allow may answer an inner ask", []preListener{overrule, always(pipeline.Ask("sure?"))},
			end{"ok", "", "done"}, "", ran},
		// DSH lets the second answer bypass the inner listener.
		{"a policy listener asks next once", []preListener{twice, always(pipeline.Allow())},
			end{`Error: pre-execute listener "l1" called next twice; ask once and keep the answer`, "", "not-started"}, "", final},
		{"asking twice fails the call even if the second answer is ignored", []preListener{twiceIgnored, always(pipeline.Allow())},
			end{`Error: pre-execute listener "l1" called next twice; ask once and keep the answer`, "", "not-started"}, "", final},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var trace *pipelinetest.Trace
			p := pipelinetest.New(t, nil, tracedTool("echo", &trace))
			for i, l := range tt.listeners {
				p.PreExecute.Use([]string{"l1", "l2"}[i], l)
			}
			trace = traced(p)
			o := exec(p, "echo")
			check(t, "outcome", endOf(o), tt.want)
			got := trace.Steps()
			if len(tt.listeners) == 0 {
				tt.trace = append(steps("pre echo"), tt.trace...)
			}
			check(t, "stages", got, tt.trace)
			var d *pipeline.DeniedError
			by := ""
			if errors.As(o.Err(), &d) {
				by = d.By
			}
			check(t, "decided by", by, tt.by)
		})
	}
}

func TestApproval(t *testing.T) {
	name := func(answer pipeline.Answer, err error) pipeline.Approver {
		return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { return answer, err })
	}
	unavailable := func(because string) end {
		return end{`Error: tool "echo" requires approval, but no approval channel is available` + because, tools.CodeApprovalUnavailable, "not-started"}
	}
	tests := []struct {
		name     string
		approver pipeline.Approver
		want     end
	}{
		{"allowed once", name(pipeline.AllowedOnce, nil), end{"{}", "", "done"}},
		{"rejected", name(pipeline.Rejected, nil), end{`Error: the user rejected tool "echo"`, tools.CodeApprovalRejected, "not-started"}},
		{"cancelled while the caller waits", name(pipeline.Cancelled, nil), end{`Error: approval for tool "echo" was cancelled`, tools.CodeApprovalCancelled, "not-started"}},
		{"nobody answers", name(pipeline.Unavailable, nil), unavailable("")},
		{"nobody answers, for a reason", name(pipeline.Unavailable, errors.New("no terminal")), unavailable(": no terminal")},
		{"an error means nobody answered, whatever comes with it", name(pipeline.AllowedOnce, errPlain), unavailable(": it broke")},
		{"an error without a text", name(pipeline.Unavailable, panicky{}), unavailable(": <unprintable error of type pipeline_test.panicky>")},
		{"an answer nobody knows", name(pipeline.Answer(77), nil), unavailable("")},
		{"a panic", pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { panic("secret") }), unavailable("")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, &pipeline.Options{Approver: tt.approver}, pipelinetest.Echo("echo"))
			p.PreExecute.Use("asker", always(pipeline.Ask("sure?")))
			check(t, "outcome", endOf(exec(p, "echo")), tt.want)
		})
	}
}

// The approver sees the whole call. DSH does not ask for a call without an
// agent, since its answers are routed by agent; ours are not.
func TestApprovalRequest(t *testing.T) {
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
	p := pipelinetest.New(t, &pipeline.Options{Approver: approver}, pipelinetest.Echo("echo"))
	p.PreExecute.Use("asker", always(pipeline.Ask("sure?")))
	paused := []string{}
	p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "echo", Args: `{"n":1}`, OnApproval: func() func() {
		paused = append(paused, "pause")
		return func() { paused = append(paused, "resume") }
	}})
	asked := approver.Asked()
	if len(asked) != 1 {
		t.Fatalf("asked %d times, want once, though the call has no agent", len(asked))
	}
	check(t, "the request", []string{asked[0].Call.ID(), asked[0].Call.Args().String(), asked[0].Reason, asked[0].By},
		[]string{"c1", `{"n":1}`, "sure?", "asker"})
	check(t, "the wait is announced", paused, []string{"pause", "resume"})
}

func TestApprovalAborted(t *testing.T) {
	var trace *pipelinetest.Trace
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	done := make(chan struct{})
	approver := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
		defer close(done)
		cancel()
		<-release // deaf to its context
		return pipeline.AllowedOnce, nil
	})
	p := pipelinetest.New(t, &pipeline.Options{Approver: approver}, tracedTool("echo", &trace))
	p.PreExecute.Use("asker", always(pipeline.Ask("sure?")))
	trace = traced(p)
	o := p.Execute(ctx, pipeline.Request{ID: "c1", Name: "echo"})
	check(t, "outcome", endOf(o), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"})
	check(t, "guards and body are skipped, post-execute is not", trace.Steps(), steps("post echo", "result echo"))
	close(release)
	<-done
}

func TestApprovalNotAskedWhenAborted(t *testing.T) {
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
	ctx, cancel := context.WithCancel(context.Background())
	p := pipelinetest.New(t, &pipeline.Options{Approver: approver}, pipelinetest.Echo("echo"))
	p.PreExecute.Use("asker", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
		cancel()
		return pipeline.Ask("sure?"), nil
	})
	o := p.Execute(ctx, pipeline.Request{Name: "echo", OnApproval: func() func() {
		t.Error("a wait for a person was announced")
		return nil
	}})
	check(t, "outcome", endOf(o), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"})
	check(t, "nobody is asked", len(approver.Asked()), 0)
}

// A person is not asked twice about the same call under one root call.
func TestDeclinedStaysDeclined(t *testing.T) {
	approver := pipelinetest.NewApprover(pipeline.Rejected, pipeline.AllowedOnce, pipeline.AllowedOnce)
	var p *pipeline.Pipeline
	var got []string
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		for _, args := range []string{`{"n":1}`, `{"n":1}`, `{"n":2}`} {
			got = append(got, p.Execute(ctx, pipeline.Request{Name: "rm", Args: args, Parent: run}).Text())
		}
		return tools.Result{}, nil
	})
	p = pipelinetest.New(t, &pipeline.Options{Approver: approver}, outer, pipelinetest.Text("rm", "removed"))
	p.PreExecute.Use("asker", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if c.Name() == "rm" {
			return pipeline.Ask(""), nil
		}
		return next(ctx)
	})
	exec(p, "outer")
	check(t, "outcomes", got, []string{`Error: the user rejected tool "rm"`, `Error: the user rejected tool "rm"`, "removed"})
	check(t, "times asked", len(approver.Asked()), 2)
	// Another root call is another question.
	check(t, "another root call", p.Execute(context.Background(), pipeline.Request{Name: "rm", Args: `{"n":1}`}).Text(), "removed")
}

// A grant covers one start of the body.
func TestGrantCoversOneStart(t *testing.T) {
	for _, tt := range []struct {
		name       string
		idempotent bool
		answers    []pipeline.Answer
		asked      int
		want       end
	}{
		{"a retry asks again", false, []pipeline.Answer{pipeline.AllowedOnce, pipeline.AllowedOnce}, 2, end{"ok", "", "done"}},
		{"a refused retry does not run", false, []pipeline.Answer{pipeline.AllowedOnce, pipeline.Rejected}, 2,
			end{`Error: the user rejected tool "flaky"`, tools.CodeApprovalRejected, "failed"}},
		{"an idempotent tool is asked about once", true, []pipeline.Answer{pipeline.AllowedOnce}, 1, end{"ok", "", "done"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			approver := pipelinetest.NewApprover(tt.answers...)
			starts := 0
			flaky := pipelinetest.Tool("flaky", func(context.Context, *tools.Run) (tools.Result, error) {
				starts++
				if starts == 1 {
					return tools.Result{}, errPlain
				}
				return tools.Result{Value: tools.StringJSON("ok")}, nil
			})
			flaky.Annotations.Idempotent = tt.idempotent
			p := pipelinetest.New(t, &pipeline.Options{Approver: approver}, flaky)
			p.PreExecute.Use("asker", always(pipeline.Ask("")))
			p.Execution.Use("retry", retry)
			check(t, "outcome", endOf(exec(p, "flaky")), tt.want)
			check(t, "times asked", len(approver.Asked()), tt.asked)
		})
	}
}

// retry tries a failed call once more.
func retry(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
	r, err := next(ctx)
	if err != nil || !r.IsError() {
		return r, err
	}
	return next(ctx)
}

func TestGuards(t *testing.T) {
	t.Run("a guard denies though a prepended listener allows", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
		p.Guards.Use("sandbox", func(tools.Call) string { return "outside the sandbox" })
		p.PreExecute.Prepend("hostile", always(pipeline.Allow()))
		o := exec(p, "echo")
		check(t, "outcome", endOf(o), end{"Error: outside the sandbox", tools.CodeDeniedByGuard, "not-started"})
		var d *pipeline.DeniedError
		if !errors.As(o.Err(), &d) || d.Origin != pipeline.OriginGuard || d.By != "sandbox" {
			t.Errorf("denial = %+v, want origin guard by sandbox", d)
		}
	})
	t.Run("the first reason counts", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
		p.Guards.Use("one", func(tools.Call) string { return "" })
		p.Guards.Use("two", func(tools.Call) string { return "second" })
		p.Guards.Use("three", func(tools.Call) string { t.Error("asked after a denial"); return "third" })
		check(t, "text", exec(p, "echo").Text(), "Error: second")
	})
	t.Run("a denied call is not shown to guards", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
		p.PreExecute.Use("no", always(pipeline.Deny("no")))
		p.Guards.Use("g", func(tools.Call) string { t.Error("the guard was asked"); return "" })
		check(t, "text", exec(p, "echo").Text(), "Error: no")
	})
	t.Run("the same guard twice, one lifted", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
		deny := func(tools.Call) string { return "no" }
		first := p.Guards.Use("g", deny)
		second := p.Guards.Use("g", deny)
		second()
		second()
		check(t, "one left", exec(p, "echo").Text(), "Error: no")
		first()
		check(t, "none left", exec(p, "echo").Text(), "{}")
	})
	// DSH walks the live list, so there the added guard already counts.
	t.Run("a guard added by a guard waits for the next call", func(t *testing.T) {
		p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
		var remove func()
		remove = p.Guards.Use("adds", func(tools.Call) string {
			remove()
			p.Guards.Use("added", func(tools.Call) string { return "added" })
			return ""
		})
		check(t, "first call", exec(p, "echo").Text(), "{}")
		check(t, "second call", exec(p, "echo").Text(), "Error: added")
	})
	// DSH ends such a call before post-execute; for us it is a denial like any
	// other, and nothing a guard is unsure of runs.
	t.Run("a panic denies", func(t *testing.T) {
		var trace *pipelinetest.Trace
		var logs logBuffer
		p := pipelinetest.New(t, &pipeline.Options{Logger: logs.logger()}, tracedTool("echo", &trace))
		p.Guards.Use("g", func(tools.Call) string { panic("secret") })
		trace = traced(p)
		o := exec(p, "echo")
		check(t, "outcome", endOf(o), end{`Error: guard "g" crashed, so the call is denied`, tools.CodeDeniedByGuard, "not-started"})
		check(t, "stages", trace.Steps(), steps("pre echo", "post echo", "result echo"))
		if !strings.Contains(logs.String(), "secret") || !strings.Contains(logs.String(), "policy_test.go") {
			t.Errorf("the host's log lacks the panic's value or stack:\n%s", logs.String())
		}
	})
}

// TestScopes: an agent's listeners and guards see its calls and those of the
// agents below it, and no others.
func TestScopes(t *testing.T) {
	type agent struct{ parent *agent }
	grand := &agent{}
	parent := &agent{parent: grand}
	child := &agent{parent: parent}
	parentOf := func(a any) any {
		if p := a.(*agent).parent; p != nil {
			return p
		}
		return nil
	}
	trace := &pipelinetest.Trace{}
	p := pipelinetest.New(t, &pipeline.Options{ParentOf: parentOf}, pipelinetest.Echo("echo"))
	guard := func(name string) pipeline.Guard {
		return func(tools.Call) string { trace.Add("guard %s", name); return "" }
	}
	listener := func(name string) preListener {
		return func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			trace.Add("pre %s", name)
			return next(ctx)
		}
	}
	// The order of registration is neither that of the chain nor its reverse.
	p.Guards.For(child).Use("child", guard("child"))
	p.Guards.Use("global", guard("global"))
	p.Guards.For(grand).Use("grand", guard("grand"))
	p.Guards.For(parent).Use("parent", guard("parent"))
	p.PreExecute.For(child).Use("child", listener("child"))
	p.PreExecute.Use("global", listener("global"))
	p.PreExecute.For(grand).Use("grand", listener("grand"))
	p.PreExecute.For(parent).Prepend("parent", listener("parent"))

	for _, tt := range []struct {
		name  string
		agent any
		want  []string
	}{
		{"guards run global first, then from the farthest ancestor; listeners in order of registration", child,
			steps("pre parent", "pre child", "pre global", "pre grand", "guard global", "guard grand", "guard parent", "guard child")},
		{"never for an ancestor of the scope", grand, steps("pre global", "pre grand", "guard global", "guard grand")},
		{"never for another agent", &agent{parent: &agent{}}, steps("pre global", "guard global")},
		{"a call without an agent meets the global ones only", nil, steps("pre global", "guard global")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := len(trace.Steps())
			p.Execute(context.Background(), pipeline.Request{Name: "echo", Agent: tt.agent})
			check(t, "stages", trace.Steps()[before:], tt.want)
		})
	}
	check(t, "names", p.PreExecute.Names(), []string{"parent", "child", "global", "grand"})
	check(t, "guard names", p.Guards.Names(), []string{"child", "global", "grand", "parent"})
}

func TestScopeChainFaults(t *testing.T) {
	type ring struct{ n int }
	for _, tt := range []struct {
		name     string
		agent    any
		parentOf func(any) any
		want     string
	}{
		{"its own parent is the top", ring{1}, func(any) any { return ring{1} }, "{}"},
		{"a circle is refused", ring{1}, func(a any) any { return ring{3 - a.(ring).n} },
			"Error: ParentOf leads in a circle of 2 agents; name no agent above the topmost one"},
		{"an endless chain is refused", ring{1}, func(a any) any { return ring{a.(ring).n + 1} },
			"Error: the agent has more than 1000 ancestors; check Options.ParentOf"},
		{"a crash is refused", ring{1}, func(any) any { panic("secret") }, "Error: ParentOf crashed"},
		{"an agent that == cannot compare", []int{1}, nil,
			"Error: the agent of a call must be comparable with ==, got []int; use a pointer"},
		{"an agent that equals nothing", [1]float64{math.NaN()}, nil, "Error: the agent of a call must be comparable with ==, got [1]float64; use a pointer"},
		{"a parent that == cannot compare", ring{1}, func(any) any { return []int{1} },
			"Error: ParentOf returned an agent that cannot be compared with ==: []int; use a pointer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, &pipeline.Options{ParentOf: tt.parentOf}, pipelinetest.Echo("echo"))
			p.Guards.For(ring{99}).Use("g", func(tools.Call) string { return "" })
			o := p.Execute(context.Background(), pipeline.Request{Name: "echo", Agent: tt.agent})
			check(t, "text", o.Text(), tt.want)
		})
	}
}

// TestRegistration: what is wrong with a registration is said at once.
func TestRegistration(t *testing.T) {
	p := pipelinetest.New(t, nil)
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"no name", func() { p.PreExecute.Use("", always(pipeline.Allow())) }, "pre-execute listener without a name"},
		{"nil listener", func() { p.Execution.Use("x", nil) }, `execution wrapper "x": the function is nil`},
		{"nil guard", func() { p.Guards.Use("x", nil) }, `guard "x": the function is nil`},
		{"nil agent", func() { p.Guards.For(nil) }, "For(nil)"},
		{"agent without ==", func() { p.PostExecute.For([]int{}) }, "must be comparable"},
		{"agent that equals nothing", func() { p.Guards.For(math.NaN()) }, "must be comparable"},
		{"nil observer", func() { p.OnResult("x", nil) }, `result observer "x": the function is nil`},
		{"no registry", func() { pipeline.New(nil, nil) }, "the registry is nil"},
		{"a required log and no sink", func() { pipelinetest.New(t, &pipeline.Options{LogRequired: true}) }, "no Sink to log to"},
		{"a negative cap", func() { pipelinetest.New(t, &pipeline.Options{MaxParallel: -1}) }, "MaxParallel is negative"},
		{"a negative drain", func() { pipelinetest.New(t, &pipeline.Options{Drain: -1}) }, "Drain is negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, tt.want) {
					t.Errorf("panic = %q, want one with %q", r, tt.want)
				}
			}()
			tt.do()
		})
	}
}

// A listener that is removed while a call is under way still runs for it; one
// that is added waits for the next call.
func TestListenersAreSnapshots(t *testing.T) {
	trace := &pipelinetest.Trace{}
	p := pipelinetest.New(t, nil, pipelinetest.Echo("echo"))
	say := func(name string) preListener {
		return func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			trace.Add("%s", name)
			return next(ctx)
		}
	}
	var removeSecond func()
	removeFirst := p.PreExecute.Use("first", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		trace.Add("first")
		removeSecond()
		p.PreExecute.Use("third", say("third"))
		return next(ctx)
	})
	removeSecond = p.PreExecute.Use("second", say("second"))
	exec(p, "echo")
	check(t, "first call", trace.Steps(), steps("first", "second"))
	removeFirst()
	exec(p, "echo")
	check(t, "second call", trace.Steps(), steps("first", "second", "third"))
}

// Calling next after returning reaches nothing.
func TestNextAfterReturn(t *testing.T) {
	var late wrapNext
	starts := 0
	p := pipelinetest.New(t, nil, pipelinetest.Tool("echo", func(context.Context, *tools.Run) (tools.Result, error) {
		starts++
		return tools.Result{}, nil
	}))
	p.Execution.Use("keeps", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		late = next
		return next(ctx)
	})
	exec(p, "echo")
	_, err := late(context.Background())
	if err == nil || !strings.Contains(err.Error(), "called next after it had returned") {
		t.Errorf("late next = %v, want an error that says so", err)
	}
	check(t, "body starts", starts, 1)
}

// A listener that ends its goroutine has not answered. If that goroutine is one an
// outer listener started, the outer one cannot answer in its place.
func TestInnerListenerLeaves(t *testing.T) {
	inGoroutine := func(next func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			next()
		}()
		<-done
	}
	for _, tt := range []struct {
		stage string
		use   func(*pipeline.Pipeline)
		state pipeline.State
	}{
		{"pre-execute", func(p *pipeline.Pipeline) {
			p.PreExecute.Use("outer", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
				inGoroutine(func() { _, _ = next(ctx) })
				return pipeline.Allow(), nil
			})
			p.PreExecute.Use("inner", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
				goruntime.Goexit()
				return pipeline.Deny("no"), nil
			})
		}, pipeline.StateNotStarted},
		{"post-execute", func(p *pipeline.Pipeline) {
			p.PostExecute.Use("outer", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				inGoroutine(func() { _, _ = next(ctx) })
				return pipeline.Accept(), nil
			})
			p.PostExecute.Use("inner", func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) {
				goruntime.Goexit()
				return pipeline.Block(text("no")), nil
			})
		}, pipeline.StateFailed},
	} {
		t.Run(tt.stage, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Text("x", "secret"))
			tt.use(p)
			check(t, "outcome", endOf(exec(p, "x")), end{"Error: " + tt.stage + ` listener "inner" crashed`, tools.CodePanic, tt.state})
		})
	}
}
