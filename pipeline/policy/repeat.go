package policy

import (
	"container/list"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// RepeatOptions configures NewRepeat. The zero value is useful.
type RepeatOptions struct {
	// At are the numbers of identical calls in a row at which the model is
	// reminded: gently at the first, in detail at the others. Each is at least
	// 2 and larger than the one before. Nil: 3, 5 and 8.
	At []int
	// Include are the tools that are watched; nil: all. Exclude are tools that
	// are not, whatever Include says. A call of a tool that is not watched
	// neither counts nor ends a row.
	Include, Exclude ToolNames
	// MaxAgents is of how many agents the rows are kept; the one that has not
	// called for longest is forgotten first. Zero: 1000.
	MaxAgents int
}

// Repeat tells a model that it makes the same call again and again: same tool,
// and same arguments but for the order of their properties. Each agent's calls
// are counted by themselves, denied ones included. It vetoes nothing. All
// methods are safe for concurrent use. Make it with NewRepeat.
type Repeat struct {
	opts RepeatOptions

	mu     sync.Mutex
	rows   map[any]*list.Element // of row, by agent
	recent list.List             // of row, the latest first
}

// row is the latest calls of an agent, all the same.
type row struct {
	agent any
	call  [sha256.Size]byte
	count int
}

// NewRepeat panics if the options contradict themselves. opts may be nil.
func NewRepeat(opts *RepeatOptions) *Repeat {
	r := &Repeat{rows: map[any]*list.Element{}}
	if opts != nil {
		r.opts = *opts
	}
	o := &r.opts
	if o.At == nil {
		o.At = []int{3, 5, 8}
	}
	o.At, o.Include, o.Exclude = slices.Clone(o.At), slices.Clone(o.Include), slices.Clone(o.Exclude)
	before := 1
	for _, at := range o.At {
		if at <= before {
			panic(fmt.Sprintf("policy.NewRepeat: At is %v; its numbers must be at least 2 and rise", o.At))
		}
		before = at
	}
	if o.MaxAgents < 0 {
		panic("policy.NewRepeat: MaxAgents is negative; zero takes the default")
	}
	if o.MaxAgents == 0 {
		o.MaxAgents = 1000
	}
	return r
}

// PostExecute is the listener. Register it in Pipeline.PostExecute, anywhere:
// the reminder is a context before those of the listeners further in, and
// accompanies a block as well. The call of run_code is not watched, those its
// programs make are.
func (r *Repeat) PostExecute(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
	var reminder string
	if r.watches(s.Call) {
		reminder = r.reminder(s.Call, r.count(s.Call))
	}
	d, err := next(ctx)
	if err != nil || reminder == "" {
		return d, err
	}
	return d.WithContextsFirst(tools.ContextMessage("repeat", reminder)), nil
}

// Reset ends the agent's row, which a message of the user does: what was
// pointless before may now be what is wanted.
func (r *Repeat) Reset(agent any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.rows[agent]; e != nil {
		r.forget(e)
	}
}

func (r *Repeat) watches(call tools.Call) bool {
	return !call.IsTransport() && !r.opts.Exclude.has(call.Name()) &&
		(r.opts.Include == nil || r.opts.Include.has(call.Name()))
}

// count adds the call to its agent's row and returns how long that is.
func (r *Repeat) count(call tools.Call) int {
	id := identity(call)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.rows[call.Agent()]
	if e == nil {
		e = r.recent.PushFront(&row{agent: call.Agent()})
		r.rows[call.Agent()] = e
		if r.recent.Len() > r.opts.MaxAgents {
			r.forget(r.recent.Back())
		}
	}
	r.recent.MoveToFront(e)
	latest := e.Value.(*row)
	if latest.call != id {
		latest.call, latest.count = id, 0
	}
	latest.count++
	return latest.count
}

// forget is called with mu held.
func (r *Repeat) forget(e *list.Element) {
	delete(r.rows, e.Value.(*row).agent)
	r.recent.Remove(e)
}

// identity is the same for calls that are the same. A digest keeps a row small
// whatever the arguments are.
func identity(call tools.Call) [sha256.Size]byte {
	return sha256.Sum256([]byte(call.Name() + "\x00" + sortedKeys(call.Args())))
}

// sortedKeys is the text of args with the properties of all objects in order
// and everything else as it is.
func sortedKeys(args tools.JSON) string {
	sorted := jsontext.Value(args.Bytes())
	// It can only fail on what is no JSON; then there are no properties to sort.
	if err := sorted.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return args.String()
	}
	return string(sorted)
}

func (r *Repeat) reminder(call tools.Call, count int) string {
	switch i := slices.Index(r.opts.At, count); i {
	case -1:
		return ""
	case 0:
		return fmt.Sprintf("You have called %q %d times in a row with the same arguments. "+
			"If the answer does not help, change the arguments or try something else.", call.Name(), count)
	default:
		return fmt.Sprintf("You have called %q %d times in a row with the same arguments: %s\n"+
			"Calling it again will most likely give the same answer. Read the answers you have; then change the arguments, "+
			"use another tool, or say what keeps you from going on.", call.Name(), count, excerpt(call.Args().String()))
	}
}
