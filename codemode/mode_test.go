package codemode_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
)

// worker is an agent below another.
type worker struct{ above *worker }

func above(a any) any {
	if w := a.(*worker); w.above != nil {
		return w.above
	}
	return nil
}

func TestPresentAs(t *testing.T) {
	p := pipelinetest.New(t, &pipeline.Options{ParentOf: above}, pipelinetest.Text("greet", "hello"))
	cm := open(t, p, nil)
	boss := &worker{}
	hand := &worker{above: boss}
	if _, err := cm.PresentAs(boss, codemode.ModeNative); err != nil {
		t.Fatal(err)
	}
	remove, err := cm.PresentAs(hand, codemode.ModeBoth)
	if err != nil {
		t.Fatal(err)
	}
	wire := func(agent any) []string {
		t.Helper()
		p, err := cm.PresentFor(agent)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, tool := range p.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	allowed := func(agent any, name string) bool {
		return !p.Execute(context.Background(), pipeline.Request{Name: name, Agent: agent,
			Args: map[string]string{"run_code": `{"code":"return await tools.greet()","description":"greet"}`}[name]}).IsError()
	}
	check := func(what string, agent any, tools ...string) {
		t.Helper()
		if got := wire(agent); !slices.Equal(got, tools) {
			t.Errorf("%s: on the wire are %v, want %v", what, got, tools)
		}
		for _, name := range []string{"greet", "run_code"} {
			if got, want := allowed(agent, name), slices.Contains(tools, name); got != want {
				t.Errorf("%s: a direct call of %s is allowed: %v, want %v", what, name, got, want)
			}
		}
	}
	check("its own mode", hand, "greet", "run_code")
	check("the mode of the agent above", boss, "greet")
	check("and of the one between", &worker{above: hand}, "greet", "run_code")
	check("the mode of the options", &worker{}, "run_code")
	check("no agent", nil, "run_code")
	remove()
	remove()
	check("once removed", hand, "greet")
}

func TestPresentAsRefused(t *testing.T) {
	cm := open(t, pipelinetest.New(t, nil), nil)
	agent := &worker{}
	if _, err := cm.PresentAs(agent, codemode.ModeBoth); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		agent any
		mode  codemode.Mode
		want  string
	}{
		{"a second mode", agent, codemode.ModeCode, "the agent has the mode both already"},
		{"no agent", nil, codemode.ModeCode, "to no agent"},
		{"an agent that cannot be compared", []int{}, codemode.ModeCode, "must be comparable"},
		{"an agent that equals nothing", math.NaN(), codemode.ModeCode, "must be comparable"},
		{"no mode", &worker{}, 9, "unknown Mode(9)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := cm.PresentAs(tt.agent, tt.mode); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestProgramsSeeTheirAgentsTools(t *testing.T) {
	p := pipelinetest.New(t, &pipeline.Options{ParentOf: above}, pipelinetest.Text("read", "global"), pipelinetest.Text("bash", ""))
	cm := open(t, p, nil)
	hand := &worker{above: &worker{}}
	if _, err := p.For(hand).Add(pipelinetest.Text("read", "hand"), pipelinetest.Text("report", "")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.For(hand.above).Without("bash"); err != nil {
		t.Fatal(err)
	}
	const program = `
		const names = Object.keys(tools).sort();
		let bash;
		try { bash = await tools.bash(); } catch (e) { bash = e.constructor.name; }
		return [names.join(" "), bash, await tools.read()].join("; ");`
	for _, tt := range []struct {
		name  string
		agent any
		want  string
	}{
		{"its own, without what is hidden", hand, "read report; ToolCallError; hand"},
		{"no agent", nil, "bash read; ; global"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := cm.Run(context.Background(), codemode.Program{Code: program, Agent: tt.agent})
			if out.IsError() || out.Text() != tt.want {
				t.Errorf("got %q, want %q", out.Text(), tt.want)
			}
		})
	}
}
