package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// crew is an agent below another.
type crew struct {
	name  string
	above *crew
}

func crewAbove(a any) any {
	if c, ok := a.(*crew); ok && c.above != nil {
		return c.above
	}
	return nil
}

// saying is a tool whose body says who it is.
func saying(name, who string) *tools.Definition { return pipelinetest.Text(name, who) }

func names(list []*tools.Tool) []string {
	out := []string{}
	for _, t := range list {
		out = append(out, t.Name())
	}
	return out
}

func must(t *testing.T) func(remove func(), err error) func() {
	return func(remove func(), err error) func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return remove
	}
}

func TestToolsOfOneAgent(t *testing.T) {
	boss := &crew{name: "boss"}
	hand := &crew{name: "hand", above: boss}
	other := &crew{name: "other"}
	for _, ownFirst := range []bool{true, false} {
		p := pipeline.New(&tools.Registry{}, &pipeline.Options{ParentOf: crewAbove})
		global := func() { must(t)(p.Registry().Add(saying("who", "global"), saying("all", "global"))) }
		if !ownFirst {
			global()
		}
		remove := must(t)(p.For(hand).Add(saying("who", "hand"), saying("mine", "hand")))
		must(t)(p.For(boss).Add(saying("who", "boss"), saying("ours", "boss")))
		if ownFirst {
			global()
		}
		says := func(agent any, name string) string {
			return p.Execute(context.Background(), pipeline.Request{Name: name, Agent: agent}).Text()
		}
		check(t, "its own shadows what it inherits", says(hand, "who"), "hand")
		check(t, "the nearer ancestor's shadows the farther's", says(&crew{above: hand}, "who"), "hand")
		check(t, "an agent above has its own", says(boss, "who"), "boss")
		check(t, "another agent has the global one", says(other, "who"), "global")
		check(t, "so has no agent", says(nil, "who"), "global")
		check(t, "an ancestor does not see below", says(boss, "mine"), `Error: unknown tool "mine"`)
		check(t, "the list of the lower", names(p.Tools(hand)), []string{"all", "mine", "ours", "who"})
		check(t, "the list of the upper", names(p.Tools(boss)), []string{"all", "ours", "who"})
		check(t, "the list without an agent", names(p.Tools(nil)), []string{"all", "who"})
		remove()
		remove()
		check(t, "after removal", says(hand, "who"), "boss")
		check(t, "the list after removal", names(p.Tools(hand)), []string{"all", "ours", "who"})
	}
}

func TestToolsOfOneAgentRefused(t *testing.T) {
	p := pipelinetest.New(t, nil, saying("who", "global"))
	scope := p.For(&crew{})
	must(t)(scope.Add(saying("mine", "")))
	for _, tt := range []struct {
		name string
		defs []*tools.Definition
		want string
	}{
		{"twice in one layer", []*tools.Definition{saying("new", ""), saying("mine", "")}, "already registered here"},
		{"the reserved name", []*tools.Definition{saying("run_code", "")}, "reserved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := scope.Add(tt.defs...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	if p.Tool(nil, "new") != nil {
		t.Error("a refused list was registered in part")
	}
}

func TestRestrictions(t *testing.T) {
	boss := &crew{name: "boss"}
	hand := &crew{name: "hand", above: boss}
	type set = func(pipeline.Scope) (func(), error)
	only := func(names ...string) set {
		return func(s pipeline.Scope) (func(), error) { return s.AllowOnly(names...) }
	}
	without := func(names ...string) set {
		return func(s pipeline.Scope) (func(), error) { return s.Without(names...) }
	}
	for _, tt := range []struct {
		name       string
		boss, hand []set
		wantBoss   []string
		wantHand   []string
	}{
		{"none", nil, nil, []string{"bash", "late", "plan", "read"}, []string{"bash", "late", "plan", "read", "report"}},
		{"a denial of an ancestor's own tool leaves the ancestor alone", nil, []set{without("plan")}, []string{"bash", "late", "plan", "read"}, []string{"bash", "late", "read", "report"}},
		{"its own tools are exempt", nil, []set{only("read")}, []string{"bash", "late", "plan", "read"}, []string{"read", "report"}},
		{"an empty allow list means none", nil, []set{only()}, []string{"bash", "late", "plan", "read"}, []string{"report"}},
		{"they intersect", nil, []set{only("read", "bash"), without("bash")}, []string{"bash", "late", "plan", "read"}, []string{"read", "report"}},
		{"two allow lists intersect", nil, []set{only("read", "bash"), only("bash", "plan")}, []string{"bash", "late", "plan", "read"}, []string{"bash", "report"}},
		{"those of an ancestor hold below, for its own tools too", []set{only("read", "bash")}, []set{without("bash")}, []string{"bash", "plan", "read"}, []string{"read", "report"}},
		{"a denial admits later tools", []set{without("bash")}, nil, []string{"late", "plan", "read"}, []string{"late", "plan", "read", "report"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, &pipeline.Options{ParentOf: crewAbove}, saying("bash", ""), saying("read", ""))
			must(t)(p.For(boss).Add(saying("plan", "")))
			must(t)(p.For(hand).Add(saying("report", "")))
			removes := []func(){}
			for _, r := range tt.boss {
				removes = append(removes, must(t)(r(p.For(boss))))
			}
			for _, r := range tt.hand {
				removes = append(removes, must(t)(r(p.For(hand))))
			}
			must(t)(p.Registry().Add(saying("late", "")))
			check(t, "above", names(p.Tools(boss)), tt.wantBoss)
			check(t, "below", names(p.Tools(hand)), tt.wantHand)
			check(t, "no agent", names(p.Tools(nil)), []string{"bash", "late", "read"})
			for _, name := range []string{"bash", "late", "plan", "read", "report"} {
				out := p.Execute(context.Background(), pipeline.Request{Name: name, Agent: hand})
				if seen := strings.Contains(strings.Join(tt.wantHand, " "), name); out.IsError() == seen {
					t.Errorf("%s is seen: %v, and its call says %q", name, seen, out.Text())
				}
			}
			for _, remove := range removes {
				remove()
				remove()
			}
			check(t, "once lifted", names(p.Tools(hand)), []string{"bash", "late", "plan", "read", "report"})
		})
	}
}

func TestOneOfTwoRestrictionsLifted(t *testing.T) {
	hand := &crew{}
	p := pipelinetest.New(t, nil, saying("a", ""), saying("b", ""), saying("c", ""))
	lift := must(t)(p.For(hand).Without("a"))
	must(t)(p.For(hand).Without("b"))
	lift()
	check(t, "the other holds", names(p.Tools(hand)), []string{"a", "c"})
}

func TestRestrictionsRefused(t *testing.T) {
	boss := &crew{name: "boss"}
	hand := &crew{name: "hand", above: boss}
	p := pipelinetest.New(t, &pipeline.Options{ParentOf: crewAbove}, saying("bash", ""), saying("read", ""))
	must(t)(p.For(boss).Add(saying("plan", "")))
	must(t)(p.For(hand).Add(saying("report", "")))
	for _, tt := range []struct {
		name string
		do   func(pipeline.Scope) (func(), error)
		want string
	}{
		{"nothing named", func(s pipeline.Scope) (func(), error) { return s.Without() }, "no tool is named"},
		{"an unknown name", func(s pipeline.Scope) (func(), error) { return s.Without("bsh") }, `cannot restrict "bsh": the agent inherits no such tool; did you mean "bash"?; inherited are: bash, plan, read`},
		{"a name of its own layer", func(s pipeline.Scope) (func(), error) { return s.AllowOnly("read", "report") }, `cannot restrict "report": the agent inherits no such tool; inherited are: bash, plan, read`},
		{"run_code", func(s pipeline.Scope) (func(), error) { return s.Without("run_code") }, `cannot restrict "run_code"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tt.do(p.For(hand)); err == nil || !strings.HasPrefix(err.Error(), tt.want) && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	check(t, "a refused restriction restricts nothing", names(p.Tools(hand)), []string{"bash", "plan", "read", "report"})
}

func TestRestrictedWhileACallIsJudged(t *testing.T) {
	hand := &crew{}
	p := pipelinetest.New(t, nil, saying("read", "x"))
	p.PreExecute.Use("late", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		must(t)(p.For(hand).Without("read"))
		return next(ctx)
	})
	out := p.Execute(context.Background(), pipeline.Request{Name: "read", Agent: hand})
	check(t, "outcome", endOf(out), end{`Error: unknown tool "read"`, tools.CodeUnknownTool, pipeline.StateNotStarted})
}

func TestShadowedWhileACallIsJudged(t *testing.T) {
	hand := &crew{}
	p := pipelinetest.New(t, nil, saying("read", "x"))
	p.PreExecute.Use("late", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		must(t)(p.For(hand).Add(saying("read", "another")))
		return next(ctx)
	})
	out := p.Execute(context.Background(), pipeline.Request{Name: "read", Agent: hand})
	check(t, "code", out.Info().Code, tools.CodeToolChanged)
}

func TestScopesWithoutEndHaveNoTools(t *testing.T) {
	p := pipelinetest.New(t, &pipeline.Options{ParentOf: func(any) any { panic(errors.New("gone")) }}, saying("read", "x"))
	check(t, "tools", names(p.Tools(&crew{})), []string{})
	if p.Tool(&crew{}, "read") != nil {
		t.Error("an agent whose ancestors cannot be found sees a tool")
	}
	if _, err := p.For(&crew{}).Without("read"); err == nil {
		t.Error("a restriction was made for it")
	}
}
