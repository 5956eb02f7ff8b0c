package fstools

import (
	"cmp"
	"container/list"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// EventObserved is the type of the events that Observations writes, as DSH names
// it.
const EventObserved = "fs/observed"

// defaultKept is the default of ObservationOptions.Keep.
const defaultKept = 10_000

// Observations is the policy that a file must have been read before it is
// changed, and must not have changed since. It remembers what each agent last
// saw of each file, its own writes and edits included:
//
//	seen by this agent       write                          edit
//	not, or no agent         only if there is no file       FS_NOT_OBSERVED
//	a version                replaces that version          of that version
//	that there is no file    only if there is no file       FS_NOT_FOUND
//
// A read of some lines counts for the whole file, since the version is that of
// the whole file. One Observations belongs to one Set: files are known by their
// path from its root. Agents are told apart by ==; one that cannot be compared is
// as none. It is safe for concurrent use.
type Observations struct {
	emit func(eventType string, data tools.JSON) error
	keep int

	mu    sync.Mutex
	seen  map[sighting]*list.Element // of *sighted
	order list.List                  // the latest first
}

// sighting is what is remembered of: a file, by an agent.
type sighting struct {
	owner any
	path  string
}

type sighted struct {
	sighting
	state State
}

// ObservationOptions are the options of NewObservations.
type ObservationOptions struct {
	// Emit writes an event of type EventObserved for each observation, before
	// it counts, so that Restore can rebuild them; its signature is that of
	// pipeline.Emit. An error fails the call and the observation does not
	// count. Nil writes none.
	Emit func(eventType string, data tools.JSON) error
	// Keep is how many observations are remembered, over all agents; the
	// oldest are forgotten, and their files must be read again. Agents are held
	// as long as an observation of theirs is. 10,000.
	Keep int
}

// NewObservations makes an empty Observations. Nil options mean the defaults; a
// negative Keep is the default too.
func NewObservations(opts *ObservationOptions) *Observations {
	if opts == nil {
		opts = &ObservationOptions{}
	}
	return &Observations{emit: opts.Emit, keep: cmp.Or(max(opts.Keep, 0), defaultKept), seen: map[sighting]*list.Element{}}
}

// Gates are the gates of the policy, for Options.Gates.
func (o *Observations) Gates() Gates {
	return Gates{WriteIntent: o.writeIntent, EditIntent: o.editIntent, Observed: o.observed}
}

func (o *Observations) writeIntent(_ context.Context, target Target, call tools.Call) (Intent, error) {
	if state, known := o.recall(call.Agent(), target.Path); known && state.Present {
		return ReplaceIfVersion(state.Version), nil
	}
	return CreateIfAbsent(), nil
}

func (o *Observations) editIntent(_ context.Context, target Target, call tools.Call) (string, error) {
	state, known := o.recall(call.Agent(), target.Path)
	switch {
	case !known:
		return "", fail(codeNotObserved, nil, "edit requires reading %q first", target.Path)
	case !state.Present:
		return "", fail(codeNotFound, nil, "edit %q: the file did not exist when it was last read; create it with write", target.Path)
	}
	return state.Version, nil
}

func (o *Observations) observed(_ context.Context, target Target, state State, call tools.Call) error {
	if !owns(call.Agent()) {
		return nil
	}
	if o.emit != nil {
		if err := o.emit(EventObserved, observedData(target.Path, state, call.ID())); err != nil {
			return fmt.Errorf("the event %s was not written: %w", EventObserved, err)
		}
	}
	o.remember(sighting{call.Agent(), target.Path}, state)
	return nil
}

// owns reports whether observations can be those of an agent: it must be one, and
// comparable.
func owns(agent any) bool { return agent != nil && reflect.ValueOf(agent).Comparable() }

func (o *Observations) recall(owner any, path string) (State, bool) {
	if !owns(owner) {
		return State{}, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if e, ok := o.seen[sighting{owner, path}]; ok {
		return e.Value.(*sighted).state, true
	}
	return State{}, false
}

func (o *Observations) remember(what sighting, state State) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e, ok := o.seen[what]; ok {
		o.order.Remove(e)
	}
	o.seen[what] = o.order.PushFront(&sighted{what, state})
	for len(o.seen) > o.keep {
		oldest := o.order.Remove(o.order.Back()).(*sighted)
		delete(o.seen, oldest.sighting)
	}
}

// The kinds of State in events.
const (
	kindPresent = "present"
	kindAbsent  = "absent"
)

func observedData(path string, state State, callID string) tools.JSON {
	members := []tools.Member{{Name: "path", Value: tools.StringJSON(path)}}
	if state.Present {
		members = append(members, tools.Member{Name: "kind", Value: tools.StringJSON(kindPresent)}, tools.Member{Name: "version", Value: tools.StringJSON(state.Version)})
	} else {
		members = append(members, tools.Member{Name: "kind", Value: tools.StringJSON(kindAbsent)})
	}
	return tools.ComposeObject(append(members, tools.Member{Name: "callId", Value: tools.StringJSON(callID)})...)
}

// Restore takes the data of one event of type EventObserved, in the order of the
// log, as an observation of owner, which is the agent that resumes. Members it
// does not know are ignored; data that says no observation is an error, and
// changes nothing.
func (o *Observations) Restore(owner any, data tools.JSON) error {
	var event struct {
		Path    string `json:"path"`
		Kind    string `json:"kind"`
		Version string `json:"version"`
	}
	if !owns(owner) {
		return fmt.Errorf("restore an observation: a %T cannot own one, it is no agent or cannot be told from others; give the agent that resumes", owner)
	}
	if err := data.Unmarshal(&event); err != nil {
		return fmt.Errorf("restore an observation: the event's data cannot be read: %w", err)
	}
	state := State{Present: event.Kind == kindPresent, Version: event.Version}
	switch {
	case event.Path == "" || !filepath.IsLocal(filepath.FromSlash(event.Path)):
		return fmt.Errorf("restore an observation: the path %q is none below a root", event.Path)
	case event.Kind != kindPresent && event.Kind != kindAbsent:
		return fmt.Errorf("restore an observation: the kind %q is neither %q nor %q", event.Kind, kindPresent, kindAbsent)
	case state.Present && !strings.HasPrefix(event.Version, versionPrefix), !state.Present && event.Version != "":
		return fmt.Errorf("restore an observation: the version %q does not fit the kind %q", event.Version, event.Kind)
	}
	o.remember(sighting{owner, event.Path}, state)
	return nil
}
