package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/tools"
)

// Scope is where one agent's own tools are registered, and where what it
// inherits is restricted: the tools of the registry and those of the agents
// above it (see Options.ParentOf). It says what calls can name, not who may run
// what: that is for policy, which sees every call all the same. Make it with
// Pipeline.For; it is safe for concurrent use.
//
// An agent sees, as in DSH, what it inherits, the nearer of two tools of one
// name, less what any restriction of its own or of an agent above it leaves
// out, and then its own tools, which no restriction of its own or above
// concerns. run_code is not a tool of a scope and cannot be restricted.
type Scope struct {
	p     *Pipeline
	agent any
}

// For is the scope of an agent, for tools; its listeners and guards are
// registered with Waterfall.For and Guards.For. A nil or incomparable agent
// panics.
func (p *Pipeline) For(agent any) Scope { return Scope{p, mustScope(agent)} }

// Add registers tools for the agent and the agents below it, all or none, and
// returns a function that removes exactly them. Of a tool of the same name that
// is inherited they take the place. It refuses what tools.Registry.Add refuses.
func (s Scope) Add(defs ...*tools.Definition) (remove func(), err error) {
	var drop func()
	err = s.p.layers.update(s.agent, func(l *layer) (err error) {
		if l.own == nil {
			l.own = &tools.Registry{}
		}
		drop, err = l.own.Add(defs...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() {
		drop()
		_ = s.p.layers.update(s.agent, func(*layer) error { return nil }) // drops a layer that is empty now
	}, nil
}

// AllowOnly hides every inherited tool but the named ones, those that come
// later included, and returns a function that ends this restriction. Without a
// name it hides all. Several restrictions hold together. It refuses a name the
// agent does not inherit now, and run_code.
func (s Scope) AllowOnly(names ...string) (remove func(), err error) {
	return s.restrict(&restriction{only: true}, names)
}

// Without hides the named inherited tools, and returns a function that ends
// this restriction; tools that come later are seen. It refuses no name at all, a
// name the agent does not inherit now, and run_code.
func (s Scope) Without(names ...string) (remove func(), err error) {
	if len(names) == 0 {
		return nil, errors.New("cannot hide tools: no tool is named; name some, or hide all with AllowOnly()")
	}
	return s.restrict(&restriction{}, names)
}

// restriction hides inherited tools: those it names, or all others.
type restriction struct {
	only  bool
	names map[string]bool
}

func (r *restriction) hides(name string) bool { return r.names[name] != r.only }

func (s Scope) restrict(r *restriction, names []string) (remove func(), err error) {
	scopes, err := s.p.Scopes(s.agent)
	if err != nil {
		return nil, err
	}
	r.names = make(map[string]bool, len(names))
	for _, name := range names {
		if err := s.p.restrictable(name, scopes); err != nil {
			return nil, err
		}
		r.names[name] = true
	}
	set := func(change func([]*restriction) []*restriction) {
		_ = s.p.layers.update(s.agent, func(l *layer) error {
			l.restrictions = change(l.restrictions)
			return nil
		})
	}
	set(func(list []*restriction) []*restriction { return append(list, r) })
	return func() {
		set(func(list []*restriction) []*restriction {
			return slices.DeleteFunc(list, func(e *restriction) bool { return e == r })
		})
	}, nil
}

// restrictable says why a restriction of the first scope cannot name a tool: a
// misspelt name would leave the tool that is meant as it is.
func (p *Pipeline) restrictable(name string, scopes []any) error {
	if name == tools.TransportName {
		return fmt.Errorf("cannot restrict %q: it is how programs are run and no tool of a scope; choose a mode instead", name)
	}
	layers := p.layers.current()
	if p.reg.Lookup(name) != nil {
		return nil
	}
	inherited := map[string]bool{}
	for _, t := range p.reg.All() {
		inherited[t.Name()] = true
	}
	for _, scope := range scopes[1:] {
		for _, t := range layers[scope].tools() {
			inherited[t.Name()] = true
		}
	}
	if inherited[name] {
		return nil
	}
	known := slices.Sorted(maps.Keys(inherited))
	text := fmt.Sprintf("cannot restrict %q: the agent inherits no such tool", name)
	if near := nearest.Names(name, known, 1); near != nil {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return fmt.Errorf("%s; inherited are: %s", text, strings.Join(known, ", "))
}

// Tools lists what an agent's calls can name, in code-unit order, run_code
// excepted; nil is for calls without an agent. It lists nothing for an agent
// whose ancestors cannot be found: its calls fail.
func (p *Pipeline) Tools(agent any) []*tools.Tool {
	scopes, err := p.Scopes(agent)
	if err != nil {
		return nil
	}
	return p.visible(scopes)
}

// Tool is what an agent's call means by a name, run_code included; nil if it
// means nothing.
func (p *Pipeline) Tool(agent any, name string) *tools.Tool {
	scopes, err := p.Scopes(agent)
	if err != nil {
		return nil
	}
	return p.find(name, scopes)
}

// layer is what one scope has. It is immutable once published, but for the
// registry, which publishes its own changes. A nil layer is an empty one.
type layer struct {
	own          *tools.Registry // nil: no tools
	restrictions []*restriction
}

func (l *layer) lookup(name string) *tools.Tool {
	if l == nil || l.own == nil {
		return nil
	}
	return l.own.Lookup(name)
}

func (l *layer) tools() []*tools.Tool {
	if l == nil || l.own == nil {
		return nil
	}
	return l.own.All()
}

func (l *layer) hides(name string) bool {
	return l != nil && slices.ContainsFunc(l.restrictions, func(r *restriction) bool { return r.hides(name) })
}

func (l *layer) empty() bool { return len(l.restrictions) == 0 && len(l.tools()) == 0 }

// layers are those of all scopes that have something. Readers take no lock.
type layers struct {
	mu   sync.Mutex
	snap atomic.Pointer[map[any]*layer]
}

func (l *layers) current() map[any]*layer {
	if m := l.snap.Load(); m != nil {
		return *m
	}
	return nil
}

// update publishes change of a copy of one layer, unless change fails.
func (l *layers) update(agent any, change func(*layer) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var next layer
	if old := l.current()[agent]; old != nil {
		next = layer{old.own, slices.Clone(old.restrictions)}
	}
	if err := change(&next); err != nil {
		return err
	}
	all := maps.Clone(l.current())
	if all == nil {
		all = map[any]*layer{}
	}
	if next.empty() {
		delete(all, agent)
	} else {
		all[agent] = &next
	}
	l.snap.Store(&all)
	return nil
}

// lookup is the tool a name means to the nearest of the scopes, nil for none.
func (p *Pipeline) lookup(name string, scopes []any) *tools.Tool {
	layers := p.layers.current()
	if len(layers) == 0 || len(scopes) == 0 {
		return p.reg.Lookup(name)
	}
	if own := layers[scopes[0]].lookup(name); own != nil {
		return own
	}
	for _, scope := range scopes {
		if layers[scope].hides(name) {
			return nil
		}
	}
	for _, scope := range scopes[1:] {
		if t := layers[scope].lookup(name); t != nil {
			return t
		}
	}
	return p.reg.Lookup(name)
}

// visible lists what lookup finds.
func (p *Pipeline) visible(scopes []any) []*tools.Tool {
	layers := p.layers.current()
	if len(layers) == 0 || len(scopes) == 0 {
		return p.reg.All()
	}
	names := map[string]bool{}
	for _, t := range p.reg.All() {
		names[t.Name()] = true
	}
	for _, scope := range scopes {
		for _, t := range layers[scope].tools() {
			names[t.Name()] = true
		}
	}
	list := []*tools.Tool{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if t := p.lookup(name, scopes); t != nil {
			list = append(list, t)
		}
	}
	return list
}
