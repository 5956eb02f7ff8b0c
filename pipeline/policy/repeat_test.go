package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// say is a request "<tool> <arguments>".
func say(call string) pipeline.Request {
	name, args, _ := strings.Cut(call, " ")
	return pipeline.Request{Name: name, Args: args}
}

func TestRepeat(t *testing.T) {
	many := func(n int, calls ...string) (all []string) {
		for range n {
			all = append(all, calls...)
		}
		return all
	}
	tests := []struct {
		name  string
		opts  *policy.RepeatOptions
		calls []string
		want  []int // the calls, from 1, that are followed by a reminder
	}{
		{"the third, the fifth and the eighth", nil, many(12, `a {"x":1}`), []int{3, 5, 8}},
		{"thresholds", &policy.RepeatOptions{At: []int{2, 4}}, many(6, "a"), []int{2, 4}},
		{"no threshold", &policy.RepeatOptions{At: []int{}}, many(9, "a"), nil},
		{"in another order", nil, []string{`a {"x":1,"y":{"p":1,"q":[1]}}`, `a { "y":{"q":[1],"p":1}, "x":1}`, `a {"x":1,"y":{"p":1,"q":[1]}}`}, []int{3}},
		{"an array in another order", nil, []string{`a {"x":[1,2]}`, `a {"x":[2,1]}`, `a {"x":[1,2]}`}, nil},
		{"numbers a double cannot tell apart", nil, []string{`a {"x":9007199254740993}`, `a {"x":9007199254740992}`, `a {"x":9007199254740993}`}, nil},
		{"another tool between", nil, []string{"a", "a", "b", "a", "a"}, nil},
		{"other arguments between", nil, []string{"a", "a", `a {"x":1}`, "a", "a", "a"}, []int{6}},
		{"a denied call counts", nil, many(3, "denied"), []int{3}},
		{"a blocked call too", nil, many(3, "blocked"), []int{3}},
		{"an unknown tool too", nil, many(3, "nope"), []int{3}},
		{"excluded", &policy.RepeatOptions{Exclude: policy.ToolNames{"a"}}, many(3, "a"), nil},
		{"an excluded call between", &policy.RepeatOptions{Exclude: policy.ToolNames{"b*"}}, []string{"a", "a", "b", "a"}, []int{4}},
		{"included", &policy.RepeatOptions{Include: policy.ToolNames{"b"}}, append(many(3, "a"), many(3, "b")...), []int{6}},
		{"included and excluded", &policy.RepeatOptions{Include: policy.ToolNames{"*"}, Exclude: policy.ToolNames{"a"}}, many(3, "a"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Echo("a"), pipelinetest.Echo("b"), pipelinetest.Echo("denied"), pipelinetest.Echo("blocked"))
			p.PreExecute.Use("deny", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.Name() == "denied" {
					return pipeline.Deny("no"), nil
				}
				return next(ctx)
			})
			p.PostExecute.Use("repeat", policy.NewRepeat(tt.opts).PostExecute)
			p.PostExecute.Use("block", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				if s.Call.Name() == "blocked" {
					return pipeline.Block(nil), nil
				}
				return next(ctx)
			})
			var reminded []int
			for i, call := range tt.calls {
				if len(p.Execute(context.Background(), say(call)).Contexts()) > 0 {
					reminded = append(reminded, i+1)
				}
			}
			check(t, "reminded", reminded, tt.want)
		})
	}
}

func TestRepeatReminder(t *testing.T) {
	long := `{"x":"` + strings.Repeat("é", 200) + `"}`
	p := pipelinetest.New(t, nil, pipelinetest.Tool("a", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(tools.ContextMessage("a", "the body's"))
		return text("ok")
	}))
	p.PostExecute.Use("repeat", policy.NewRepeat(&policy.RepeatOptions{At: []int{2, 3}}).PostExecute)
	p.PostExecute.Use("inner", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
		return pipeline.Accept().WithContexts(tools.ContextMessage("inner", "further in")), nil
	})
	var got [][]string
	for range 3 {
		o := p.Execute(context.Background(), pipeline.Request{Name: "a", Args: long})
		check(t, "text", o.Text(), "ok")
		got = append(got, texts(o.Contexts()))
	}
	check(t, "contexts", got, [][]string{
		{"the body's", "further in"},
		{"the body's", `You have called "a" 2 times in a row with the same arguments. If the answer does not help, change the arguments or try something else.`, "further in"},
		{"the body's", `You have called "a" 3 times in a row with the same arguments: {"x":"` + strings.Repeat("é", 97) + "...\n" +
			"Calling it again will most likely give the same answer. Read the answers you have; then change the arguments, " +
			"use another tool, or say what keeps you from going on.", "further in"},
	})
}

// reminders counts the reminders of n calls of "a" an agent makes.
func reminders(p *pipeline.Pipeline, agent any, n int) (count int) {
	for range n {
		count += len(p.Execute(context.Background(), pipeline.Request{Name: "a", Agent: agent}).Contexts())
	}
	return count
}

func TestRepeatAgents(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Echo("a"))
	repeat := policy.NewRepeat(&policy.RepeatOptions{At: []int{3}, MaxAgents: 2})
	p.PostExecute.Use("repeat", repeat.PostExecute)
	check(t, "two agents by turns", reminders(p, "x", 2)+reminders(p, "y", 2)+reminders(p, nil, 0), 0)
	check(t, "the first goes on", reminders(p, "x", 1), 1)
	check(t, "a third makes one forgotten", reminders(p, "z", 2), 0)
	check(t, "the one that called longest ago", reminders(p, "y", 2), 0)
	check(t, "not the other", reminders(p, "z", 1), 1)
	repeat.Reset("y")
	repeat.Reset("nobody")
	check(t, "a user's message begins anew", reminders(p, "y", 2), 0)
	check(t, "and counts again", reminders(p, "y", 1), 1)
}

func TestRepeatLeavesTransportAlone(t *testing.T) {
	p := pipelinetest.New(t, nil)
	p.PostExecute.Use("repeat", policy.NewRepeat(&policy.RepeatOptions{At: []int{2}}).PostExecute)
	install(t, p, pipelinetest.Echo(tools.TransportName))
	for range 3 {
		check(t, "contexts", len(exec(p, tools.TransportName).Contexts()), 0)
	}
}

func TestRepeatOptions(t *testing.T) {
	for _, o := range []policy.RepeatOptions{{At: []int{1}}, {At: []int{3, 3}}, {At: []int{5, 3}}, {At: []int{-1}}, {MaxAgents: -1}} {
		check(t, fmt.Sprintf("%+v panics", o), panics(func() { policy.NewRepeat(&o) }), true)
	}
}
