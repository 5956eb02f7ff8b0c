package pipeline

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// maxScopes bounds the walk from an agent to its ancestors.
const maxScopes = 1000

// isAgent reports whether a value can name an agent: it is comparable, and equal
// to itself, which a struct with a NaN is not. What is registered for such a one
// would never be found.
func isAgent(v any) bool {
	same := v
	return reflect.ValueOf(v).Comparable() && v == same
}

func mustScope(agent any) any {
	if agent == nil {
		panic("pipeline: For(nil): name the agent, or call Use directly for every call")
	}
	if !isAgent(agent) {
		panic(fmt.Sprintf("pipeline: For(%T): an agent must be comparable with ==; use a pointer", agent))
	}
	return agent
}

// Scopes lists the agent and its ancestors, nearest first; nothing for a nil
// agent. An agent that is its own parent ends the walk. A longer circle, a chain
// without end, an agent that is not
// comparable and a ParentOf that panics are errors, since a guard of an ancestor
// that was not reached would be skipped.
func (p *Pipeline) Scopes(agent any) (scopes []any, err error) {
	if agent == nil {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			crash := panicked("ParentOf", r)
			p.logPanic(crash, tools.Call{})
			scopes, err = nil, crash
		}
	}()
	return p.scopesOf(agent)
}

func (p *Pipeline) scopesOf(agent any) ([]any, error) {
	if !isAgent(agent) {
		return nil, fmt.Errorf("the agent of a call must be comparable with ==, got %T; use a pointer", agent)
	}
	if p.opts.ParentOf == nil {
		return []any{agent}, nil
	}
	scopes := append(make([]any, 0, 4), agent) // few agents have more above them
	for len(scopes) < maxScopes {
		agent = p.opts.ParentOf(agent)
		if agent == nil {
			return scopes, nil
		}
		if !isAgent(agent) {
			return nil, fmt.Errorf("ParentOf returned an agent that cannot be compared with ==: %T; use a pointer", agent)
		}
		if agent == scopes[len(scopes)-1] { // its own parent: the top
			return scopes, nil
		}
		if slices.Contains(scopes, agent) {
			return nil, fmt.Errorf("ParentOf leads in a circle of %d agents; name no agent above the topmost one", len(scopes))
		}
		scopes = append(scopes, agent)
	}
	return nil, fmt.Errorf("the agent has more than %d ancestors; check Options.ParentOf", maxScopes)
}
