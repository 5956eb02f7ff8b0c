package approval

import (
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Policy says whether anybody is asked. The zero Policy is Ask; a value that is
// neither means Never.
type Policy uint8

// The policies.
const (
	Ask   Policy = iota
	Never        // what would be asked is rejected, whoever could answer
)

// String is the policy's name in the log.
func (p Policy) String() string {
	if p == Ask {
		return "ask"
	}
	return "never"
}

// EventPolicy is the type of the event that a policy was set: {"policy": "ask" or
// "never", "source"?}, where the source "delegation" says that it was for an agent
// below another. As in all events, the agent itself is not named.
const EventPolicy = "approval/policy"

// SetPolicy sets the policy for calls of the agent and of the agents below it; of
// several the nearest one's counts, so an agent below one with Never may have Ask.
// For the nil agent it sets what Options.Policy has set. Then it writes an
// EventPolicy into the log of the pipeline, without a Sink none. An error that the
// event could not be written leaves the policy in force; after any other nothing
// has changed: the service is not attached, or the agents above cannot be found.
// It must not be called by a Sink.
func (s *Service) SetPolicy(agent any, policy Policy) error {
	p, scopes, err := s.whose(agent)
	if err != nil {
		return fmt.Errorf("approval policy %q was not set: %w", policy, err)
	}
	source := tools.JSON{}
	if len(scopes) > 1 {
		source = tools.StringJSON("delegation")
	}
	s.setting.Lock() // the log's order is that in which they came into force
	defer s.setting.Unlock()
	s.setPolicy(agent, policy)
	err = p.Emit(EventPolicy, tools.ComposeObject(
		tools.Member{Name: "policy", Value: tools.StringJSON(policy.String())},
		tools.Member{Name: "source", Value: source},
	))
	if err != nil {
		return fmt.Errorf("approval policy %q holds but could not be logged: %w", policy, err)
	}
	return nil
}

// Restore puts the policy in force that the data of an EventPolicy holds, in
// general that of the last one in the log a session goes on with, and logs
// nothing. Data that holds no policy is an error, and means Never until SetPolicy
// says something else.
func (s *Service) Restore(agent any, data tools.JSON) error {
	if _, _, err := s.whose(agent); err != nil {
		return fmt.Errorf("approval policy was not restored: %w", err)
	}
	var event struct {
		Policy string `json:"policy"`
	}
	policy, err := Never, data.Unmarshal(&event)
	switch {
	case err != nil:
	case event.Policy == Ask.String():
		policy = Ask
	case event.Policy != Never.String():
		err = fmt.Errorf("got %q, want %q or %q", event.Policy, Ask, Never)
	}
	s.setPolicy(agent, policy)
	if err != nil {
		return fmt.Errorf("approval policy cannot be read and is %q until another is set: %w", policy, err)
	}
	return nil
}

// whose is the pipeline and the agents that a policy of the agent is about.
func (s *Service) whose(agent any) (*pipeline.Pipeline, []any, error) {
	p := s.pipeline.Load()
	if p == nil {
		return nil, nil, errors.New("the service is not attached to a pipeline; call Attach first")
	}
	scopes, err := p.Scopes(agent)
	return p, scopes, err
}

func (s *Service) setPolicy(agent any, policy Policy) {
	s.update(func(next *snapshot) { next.policies[agent] = policy })
}

// policy is that of the nearest of the scopes that has one, or else the one for
// all calls.
func (now *snapshot) policy(scopes []any) Policy {
	for _, scope := range scopes {
		if policy, set := now.policies[scope]; set {
			return policy
		}
	}
	return now.policies[nil]
}
