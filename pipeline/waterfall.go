package pipeline

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// Next asks the listeners further in, and at the end the pipeline itself, for
// their answer.
type Next[D any] func(context.Context) (D, error)

// Listener takes part in one stage: it may answer itself, or ask next and
// return that answer or another one. It must watch ctx, which ends when the
// listener returns; nothing abandons a listener that runs. In pre-execute and
// post-execute it may ask next once; in the execution stage as often as it
// likes, and each time the listeners further in run again. An error or a panic
// fails the stage.
type Listener[E, D any] func(ctx context.Context, event E, next Next[D]) (D, error)

// Waterfall is an ordered list of listeners of one stage. The first listener is
// the outermost. A Pipeline makes its waterfalls; all methods are safe for
// concurrent use. A call sees the list as it was when the call's stage began,
// so a listener added or removed meanwhile counts from the next call on.
type Waterfall[E, D any] struct{ list registrations[Listener[E, D]] }

// Use adds a listener at the inner end, for every call, and returns a function
// that removes this registration (again: no effect). The name is what denials
// and explanations show. An empty name or a nil listener is a programming error
// and panics.
func (w *Waterfall[E, D]) Use(name string, l Listener[E, D]) (remove func()) {
	return w.list.add(name, l, nil, false)
}

// Prepend is Use at the outer end, before everything registered so far.
func (w *Waterfall[E, D]) Prepend(name string, l Listener[E, D]) (remove func()) {
	return w.list.add(name, l, nil, true)
}

// For registers listeners that run only for calls of the agent and of the
// agents below it (see Options.ParentOf). Their place in the order is that of
// their registration, as for any other listener. A nil or incomparable agent
// panics.
func (w *Waterfall[E, D]) For(agent any) WaterfallScope[E, D] {
	return WaterfallScope[E, D]{w, mustScope(agent)}
}

// Names lists the listeners from the outermost to the innermost, those of
// single agents included.
func (w *Waterfall[E, D]) Names() []string { return w.list.names() }

// WaterfallScope registers listeners for one agent; see Waterfall.For.
type WaterfallScope[E, D any] struct {
	w     *Waterfall[E, D]
	agent any
}

// Use is Waterfall.Use for the agent.
func (s WaterfallScope[E, D]) Use(name string, l Listener[E, D]) (remove func()) {
	return s.w.list.add(name, l, s.agent, false)
}

// Prepend is Waterfall.Prepend for the agent.
func (s WaterfallScope[E, D]) Prepend(name string, l Listener[E, D]) (remove func()) {
	return s.w.list.add(name, l, s.agent, true)
}

// pass is one run of a waterfall for one call.
type pass[E, D any] struct {
	x         *execution
	listeners []*registration[Listener[E, D]]
	event     E
	innermost Next[D]
	judge     judge[D]
	stage     string
	// reentrant lets a listener ask next more than once; each time the
	// listeners further in run again.
	reentrant bool
}

// judge is what a stage makes of its listeners' answers. Listeners may work on
// several goroutines.
type judge[D any] interface {
	// observe sees every answer as it comes back and may replace it. asked is
	// what the listener last got from next, nil if it did not ask.
	observe(name string, answer D, err error, asked *D) (D, error)
	// record is told of every answer, as it is after observe.
	record(name string, answer D, err error, began time.Time)
	// fail is told that a listener broke the rules of next.
	fail(error)
}

// run asks the listener at position i and, through its next, those after it.
func (p *pass[E, D]) run(ctx context.Context, i int) (D, error) {
	if i == len(p.listeners) {
		return p.innermost(ctx)
	}
	l := p.listeners[i]
	turn := &turn[E, D]{pass: p, at: i}
	began := p.x.clock()
	answer, err := turn.call(ctx, l.fn)
	answer, err = p.judge.observe(l.name, answer, err, turn.asked())
	p.judge.record(l.name, answer, err, began)
	return answer, err
}

// turn is one listener's turn in a pass.
type turn[E, D any] struct {
	pass *pass[E, D]
	at   int
	open sync.WaitGroup // next calls that have not returned
	ctx  spell          // the listener's

	mu       sync.Mutex
	calls    int
	over     bool
	answered bool // next has given an answer
	answer   D    // the last one
}

func (t *turn[E, D]) name() string { return t.pass.listeners[t.at].name }

func (t *turn[E, D]) where() string {
	return fmt.Sprintf("%s listener %q", t.pass.stage, t.name())
}

// asked is what the listener last got from next, nil if it got nothing. The
// turn must be over.
func (t *turn[E, D]) asked() *D {
	if !t.answered {
		return nil
	}
	return &t.answer
}

// call runs the listener, turning a panic into an error, and comes back only
// when every next it started has come back too. A listener that ends its
// goroutine instead of returning has failed as well.
func (t *turn[E, D]) call(ctx context.Context, l Listener[E, D]) (answer D, err error) {
	t.begin(ctx)
	left := true
	defer func() {
		if r := recover(); r != nil {
			err = panicked(t.where(), r)
		} else if left { // its goroutine; a listener further out may live on in another one
			t.pass.judge.fail(&tools.PanicError{Where: t.where(), Value: errGoexit})
		}
		t.mu.Lock()
		t.over = true
		t.mu.Unlock()
		t.ctx.end(errListenerReturned)
		t.open.Wait()
	}()
	answer, err = l(&t.ctx, t.pass.event, t.next)
	left = false
	return answer, err
}

// begin makes the listener's context. What the outermost one is given is the
// caller's.
func (t *turn[E, D]) begin(ctx context.Context) {
	if ctx == nil {
		panic("cannot create context from nil parent") // as package context says it
	}
	t.ctx.Context = ctx
	if t.at == 0 {
		t.ctx.of = t.pass.x
	} else if around, ok := ctx.(*spell); ok {
		t.ctx.of = around.of
	}
}

var errListenerReturned = errors.New("the listener returned")

func (t *turn[E, D]) next(ctx context.Context) (D, error) {
	if err := t.enter(); err != nil {
		var none D
		t.pass.judge.fail(err)
		return none, err
	}
	defer t.open.Done()
	answer, err := t.pass.run(ctx, t.at+1)
	if err == nil {
		t.mu.Lock()
		t.answered, t.answer = true, answer
		t.mu.Unlock()
	}
	return answer, err
}

func (t *turn[E, D]) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over:
		return fmt.Errorf("%s called next after it had returned; call next before returning", t.where())
	case t.calls > 0 && !t.pass.reentrant:
		return fmt.Errorf("%s called next twice; ask once and keep the answer", t.where())
	}
	t.calls++
	t.open.Add(1)
	return nil
}

// panicked describes a recovered panic; the stack stays with the host.
func panicked(where string, value any) *tools.PanicError {
	return &tools.PanicError{Where: where, Value: value, Stack: debug.Stack()}
}

// registration is one named function of a list; its address is its identity,
// so the same function may be registered twice and removed once.
type registration[F any] struct {
	name  string
	fn    F
	agent any  // nil: for every call
	rule  Rule // what fn asks, if it is a pre-execute listener made by UseRule
}

// registrations is a list of named functions. Readers take a snapshot without
// a lock; writers replace it.
type registrations[F any] struct {
	kind string // for panics: what is registered here
	mu   sync.Mutex
	snap atomic.Pointer[[]*registration[F]]
}

func (r *registrations[F]) all() []*registration[F] {
	if list := r.snap.Load(); list != nil {
		return *list
	}
	return nil
}

func (r *registrations[F]) add(name string, fn F, agent any, front bool) (remove func()) {
	if name == "" {
		panic("pipeline: cannot register a " + r.kind + " without a name: the name is what denials and logs show")
	}
	if reflect.ValueOf(fn).IsNil() {
		panic(fmt.Sprintf("pipeline: cannot register the %s %q: the function is nil", r.kind, name))
	}
	return r.insert(&registration[F]{name: name, fn: fn, agent: agent}, front)
}

func (r *registrations[F]) insert(entry *registration[F], front bool) (remove func()) {
	r.update(func(list []*registration[F]) []*registration[F] {
		if front {
			return append([]*registration[F]{entry}, list...)
		}
		return append(list, entry)
	})
	return func() {
		r.update(func(list []*registration[F]) []*registration[F] {
			return slices.DeleteFunc(list, func(e *registration[F]) bool { return e == entry })
		})
	}
}

// update publishes change of a copy of the list.
func (r *registrations[F]) update(change func([]*registration[F]) []*registration[F]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := change(slices.Clone(r.all()))
	r.snap.Store(&list)
}

func (r *registrations[F]) names() []string {
	names := []string{}
	for _, e := range r.all() {
		names = append(names, e.name)
	}
	return names
}

// scoped reports whether an entry of the list is for one agent only.
func scoped[F any](list []*registration[F]) bool {
	return slices.ContainsFunc(list, func(e *registration[F]) bool { return e.agent != nil })
}

// visible lists what applies to a call whose agent has the given scopes, in
// order of registration.
func (r *registrations[F]) visible(scopes []any) []*registration[F] {
	list := r.all()
	if !scoped(list) {
		return list
	}
	var out []*registration[F]
	for _, e := range list {
		if e.agent == nil || slices.Contains(scopes, e.agent) {
			out = append(out, e)
		}
	}
	return out
}
