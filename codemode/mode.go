package codemode

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
)

// Mode is how tools are presented.
type Mode uint8

// The modes (DSH's native, code and both).
const (
	// ModeCode offers run_code alone. Every other tool is called from inside a
	// program; a direct call is refused before any policy sees it.
	ModeCode Mode = iota
	// ModeBoth offers every tool and run_code.
	ModeBoth
	// ModeNative offers every tool and no run_code.
	ModeNative
)

var modeNames = map[Mode]string{ModeCode: "code", ModeBoth: "both", ModeNative: "native"}

// String is the name ParseMode reads.
func (m Mode) String() string {
	if name, ok := modeNames[m]; ok {
		return name
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

func (m Mode) check() error {
	if _, ok := modeNames[m]; !ok {
		return fmt.Errorf("unknown %v; the modes are code, both and native", m)
	}
	return nil
}

// ParseMode reads "code", "both" or "native".
func ParseMode(name string) (Mode, error) {
	for m, n := range modeNames {
		if n == name {
			return m, nil
		}
	}
	return 0, fmt.Errorf("unknown mode %q; the modes are code, both and native", name)
}

// PresentAs gives an agent, and the agents below it (pipeline.Options.ParentOf)
// that have none of their own, a mode in place of Options.Mode, and returns a
// function that takes it away again. As in DSH the nearest agent's counts, a
// second mode for one agent is an error, and so is a mode for no agent.
func (c *CodeMode) PresentAs(agent any, mode Mode) (remove func(), err error) {
	if err := mode.check(); err != nil {
		return nil, err
	}
	if agent == nil {
		return nil, errors.New("cannot present tools in a mode of its own to no agent; set Options.Mode")
	}
	if same := agent; !reflect.ValueOf(agent).Comparable() || agent != same { // a NaN in it
		return nil, fmt.Errorf("cannot present tools in a mode of its own to a %T: an agent must be comparable with ==; use a pointer", agent)
	}
	return c.modes.set(agent, mode)
}

// mode is the mode in force for an agent with these scopes, nearest first.
func (c *CodeMode) mode(scopes []any) Mode {
	own := c.modes.current()
	for _, scope := range scopes {
		if mode, ok := own[scope]; ok {
			return mode
		}
	}
	return c.opts.Mode
}

// modes are those of single agents. Readers take no lock.
type modes struct {
	mu   sync.Mutex
	snap atomic.Pointer[map[any]Mode]
}

func (m *modes) current() map[any]Mode {
	if own := m.snap.Load(); own != nil {
		return *own
	}
	return nil
}

func (m *modes) set(agent any, mode Mode) (remove func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := maps.Clone(m.current())
	if own == nil {
		own = map[any]Mode{}
	}
	if old, ok := own[agent]; ok {
		return nil, fmt.Errorf("cannot present tools as %v: the agent has the mode %v already; remove it first", mode, old)
	}
	own[agent] = mode
	m.snap.Store(&own)
	return sync.OnceFunc(func() { m.drop(agent) }), nil
}

func (m *modes) drop(agent any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := maps.Clone(m.current())
	delete(own, agent)
	m.snap.Store(&own)
}
