package approval_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/approval"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func set(t *testing.T, s *approval.Service, agent any, policy approval.Policy) {
	t.Helper()
	if err := s.SetPolicy(agent, policy); err != nil {
		t.Fatal(err)
	}
}

// Nobody is asked under Never, whoever comes later, and the log has the question
// and the answer all the same.
func TestNever(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	s, p := attached(t, &approval.Options{Policy: approval.Never}, pipeline.Options{Sink: rec})
	trace := &pipelinetest.Trace{}
	yes := marked(trace, "yes", saying(pipeline.Granted, nil))
	s.Use("yes", yes)
	s.For("A").Use("yes", yes)
	check(t, "outcome", remove(p, "A"), rejected)
	check(t, "asked", trace.Steps(), []string{})
	check(t, "events", rec.Types(), []string{"tool/call", "approval/asked", "approval/decided", "tool/result"})
	check(t, "decision", rec.Data(pipeline.EventApprovalDecided)[0].String(), `{"id":"id1","outcome":"rejected"}`)
}

func TestUnknownPolicyIsNever(t *testing.T) {
	s, p := attached(t, &approval.Options{Policy: 7}, pipeline.Options{})
	s.Use("yes", saying(pipeline.AllowedOnce, nil))
	check(t, "outcome", remove(p, nil), rejected)
	check(t, "names", []string{approval.Policy(7).String(), approval.Never.String(), approval.Ask.String()}, []string{"never", "never", "ask"})
}

// Of the policies of an agent and those above it the nearest counts.
func TestPolicyOfAgents(t *testing.T) {
	const ask, never = approval.Ask, approval.Never
	type policies map[any]approval.Policy
	for _, tt := range []struct {
		name string
		set  policies
		ask  string // of whom somebody is asked about, of -ABCX
	}{
		{"none", policies{}, "-ABCX"},
		{"all", policies{nil: never}, ""},
		{"the topmost", policies{"A": never}, "-X"},
		{"the lowest", policies{"C": never}, "-ABX"},
		{"one between", policies{"A": never, "B": ask}, "-BCX"},
		{"the other way round", policies{nil: never, "A": ask, "C": never}, "AB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, p := attached(t, nil, pipeline.Options{})
			s.Use("yes", saying(pipeline.AllowedOnce, nil))
			for agent, policy := range tt.set {
				set(t, s, agent, policy)
			}
			asked := ""
			for name, agent := range map[string]any{"-": nil, "A": "A", "B": "B", "C": "C", "X": "X"} {
				if remove(p, agent) == removed {
					asked += name
				}
			}
			check(t, "somebody is asked", strings.Join(sorted(strings.Split(asked, "")), ""), tt.ask)
		})
	}
}

// A policy counts from the next question on, and is logged.
func TestSetPolicy(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	s, p := attached(t, nil, pipeline.Options{Sink: rec})
	s.Use("yes", saying(pipeline.AllowedOnce, nil))
	set(t, s, nil, approval.Never)
	check(t, "after Never", remove(p, "A"), rejected)
	set(t, s, nil, approval.Ask)
	check(t, "after Ask", remove(p, "A"), removed)
	set(t, s, "A", approval.Never)
	set(t, s, "C", 7)
	var got []string
	for _, e := range rec.Events() {
		if e.Type == approval.EventPolicy {
			got = append(got, fmt.Sprint(e.Ignorable, e.Data))
		}
	}
	check(t, "events", got, []string{`true {"policy":"never"}`, `true {"policy":"ask"}`, `true {"policy":"never"}`, `true {"policy":"never","source":"delegation"}`})
}

func TestSetPolicyErrors(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	rec.FailOn(approval.EventPolicy, errors.New("disk full"))
	s, p := attached(t, nil, pipeline.Options{Sink: rec})
	s.Use("yes", saying(pipeline.AllowedOnce, nil))
	check(t, "error", fmt.Sprint(s.SetPolicy("A", approval.Never)), `approval policy "never" holds but could not be logged: disk full`)
	check(t, "it holds", remove(p, "A"), rejected)
	if err := s.SetPolicy([]int{}, approval.Never); err == nil || !strings.HasPrefix(err.Error(), `approval policy "never" was not set: `) {
		t.Errorf("SetPolicy for what cannot be compared = %v, want a refusal", err)
	}
	const unattached = "the service is not attached to a pipeline; call Attach first"
	loose := approval.New(nil)
	check(t, "SetPolicy before Attach", fmt.Sprint(loose.SetPolicy(nil, approval.Never)), `approval policy "never" was not set: `+unattached)
	check(t, "Restore before Attach", fmt.Sprint(loose.Restore(nil, tools.MustJSON(`{"policy":"never"}`))), "approval policy was not restored: "+unattached)
}

// The last policy in the log is the one that holds, however many are set at once.
func TestPoliciesAreLoggedInOrder(t *testing.T) {
	for range 50 {
		rec := &pipelinetest.Recorder{}
		s, p := attached(t, nil, pipeline.Options{Sink: rec})
		s.Use("yes", saying(pipeline.AllowedOnce, nil))
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() { set(t, s, "A", approval.Policy(i%2)) })
		}
		group.Wait()
		events := rec.Data(approval.EventPolicy)
		want := removed
		if events[len(events)-1].String() == `{"policy":"never"}` {
			want = rejected
		}
		check(t, "outcome", remove(p, "A"), want)
	}
}

// What was logged can be put in force again; what cannot be read denies.
func TestRestore(t *testing.T) {
	unreadable := `approval policy cannot be read and is "never" until another is set: `
	for _, tt := range []struct {
		name string
		data tools.JSON
		want string // outcome
		err  string
	}{
		{"ask", tools.MustJSON(`{"policy":"ask"}`), removed, ""},
		{"never", tools.MustJSON(`{"policy":"never","source":"delegation"}`), rejected, ""},
		{"a name nobody knows", tools.MustJSON(`{"policy":"Ask"}`), rejected, unreadable + `got "Ask", want "ask" or "never"`},
		{"none", tools.MustJSON(`{"Policy":"ask"}`), rejected, unreadable + `got "", want "ask" or "never"`},
		{"no text", tools.MustJSON(`{"policy":1}`), rejected, unreadable},
		{"no object", tools.MustJSON(`"ask"`), rejected, unreadable},
		{"nothing", tools.JSON{}, rejected, unreadable + "no JSON value to decode"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, before := range []approval.Policy{approval.Ask, approval.Never} {
				rec := &pipelinetest.Recorder{}
				s, p := attached(t, &approval.Options{Policy: before}, pipeline.Options{Sink: rec})
				s.Use("yes", saying(pipeline.AllowedOnce, nil))
				err := s.Restore("A", tt.data)
				if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				check(t, "outcome under "+before.String(), remove(p, "B"), tt.want)
				check(t, "policies logged", len(rec.Data(approval.EventPolicy)), 0)
			}
		})
	}
	s, _ := attached(t, nil, pipeline.Options{})
	if err := s.Restore([]int{}, tools.MustJSON(`{"policy":"ask"}`)); err == nil || !strings.HasPrefix(err.Error(), "approval policy was not restored: ") {
		t.Errorf("Restore for what cannot be compared = %v, want a refusal", err)
	}
}
