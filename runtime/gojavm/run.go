package gojavm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/runcode-go/runcode/runtime"
)

const (
	// insistEvery is how often a stop is repeated: the engine forgets an
	// interrupt when its stack is empty.
	insistEvery = 50 * time.Millisecond
	// insistStuck is the same for a program that was left behind.
	insistStuck = time.Second
	// grace is how long a stopped program may take to end.
	grace = 250 * time.Millisecond
	// ownGrace is the same in a process of our own, whose owner waits as long as
	// grace before it ends the process: the answer must come sooner.
	ownGrace = 150 * time.Millisecond
)

// errOver is the cause that calls see when their run ended without being
// stopped.
var errOver = errors.New("the run is over")

// run is one program's run. Fields without a note belong to the engine's
// goroutine.
type run struct {
	rt    *Runtime
	req   runtime.Request
	lim   runtime.Limits
	vm    *goja.Runtime
	prog  *program
	wall  *runtime.Wall
	meter *meter
	outer context.Context // of Run
	ctx   context.Context // of calls; carries the wall
	end   context.CancelCauseFunc

	stop chan struct{}  // closed when failure is set from outside the program
	done chan struct{}  // closed when the engine's goroutine is over
	wake chan struct{}  // something is in inbox
	live sync.WaitGroup // hands

	real     intrinsics
	classes  []*errorClass
	proxies  namespaceProxy
	thrown   callErrors
	missed   map[string]string                // unknown members that were read: name -> owner
	sites    map[goja.StackFrame]runtime.Site // asked before; zero: not the author's
	patterns map[string]string                // regular expressions that were rewritten -> as they were written
	matching atomic.Pointer[runtime.Site]     // of the regular expression that is at work; read by all goroutines
	timers   timers
	began    time.Time
	equipped bool          // see equip
	wholly   atomic.Bool   // equipped with the whole library
	reach    *reach        // what the engine is equipped for
	regExp   *engineRegExp // nil: the program can have no pattern
	shown    time.Time     // the latest time that the program may have seen on a clock of its own
	waiting  waiting
	throw    thrownPlace
	operator goja.Callable                 // **, once it was needed
	within   int                           // guarded functions that stand inside each other
	standsIn map[*goja.Object]*goja.Object // constructors of the engine -> those that measure first
	ended    runtime.Site                  // of the await that a rejected program did not survive
	rejected []*rejection
	main     *goja.Promise
	givenUp  int // calls that are out with the host and were answered before it returned

	mu        sync.Mutex // guards what follows
	failure   *runtime.Failure
	settled   bool // an outcome is decided, or nobody waits for one
	value     string
	ledger    *runtime.Ledger
	notes     []string
	usage     runtime.Usage
	inbox     []*call
	queue     []*call
	active    int
	made      int
	idleHands []*hand // that wait for a call
	bytes     int64   // queued and in flight
	released  bool    // bytes are given back
}

func newRun(ctx context.Context, rt *Runtime, req runtime.Request, lim runtime.Limits) *run {
	if req.Parallel == 0 {
		req.Parallel = 1
	}
	var r *run
	if req.Clock == nil && req.Seed == nil && !req.CheckOnly && rt.programs.wantSpare(req.Program) {
		r = rt.takeSpare()
	}
	if r == nil {
		r = &run{vm: goja.New()}
	}
	r.rt, r.req, r.lim = rt, req, lim
	r.stop = make(chan struct{})
	r.done = make(chan struct{})
	r.wake = make(chan struct{}, 1)
	r.ledger = runtime.NewLedger(lim.Output)
	r.outer = ctx
	r.ctx, r.end = context.WithCancelCause(ctx)
	r.usage.Isolation = "in-process"
	return r
}

// refuse is the result of a run that does not begin.
func (r *run) refuse(f runtime.Failure) runtime.Result {
	r.failure = &f
	return r.result()
}

// run waits for the program, on the caller's goroutine.
func (r *run) run(ctx context.Context) (runtime.Result, error) {
	r.wall = runtime.StartWall(r.lim.Wall, func() {
		r.stopWith(runtime.WallReached(r.lim.Wall))
	})
	r.meter = newMeter(r.lim.Compute, func() {
		r.stopWith(runtime.ComputeExhausted(r.lim.Compute))
	})
	r.ctx = runtime.WithWall(r.ctx, r.wall)
	unhook := context.AfterFunc(ctx, func() { r.stopWith(aborted(ctx)) })
	if r.rt.opts.OwnProcess {
		defer watchHeap(r.lim.Heap, r.stopWith)()
	} else {
		defer r.rt.heap.watch(r.lim.Heap, r.meter.busy, r.stopWith)()
	}

	go r.execute()
	select {
	case <-r.done:
	case <-r.stop:
		r.insist()
	}

	unhook()
	r.close()
	r.end(errOver)
	r.live.Wait()
	r.release()
	r.wall.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Wall, r.usage.Compute = r.wall.Elapsed(), r.meter.stop()
	return r.result(), nil
}

// insist repeats the interrupt until the engine's goroutine ends or its time is
// over.
func (r *run) insist() {
	again := time.NewTicker(insistEvery)
	defer again.Stop()
	wait := grace
	if r.rt.opts.OwnProcess {
		wait = ownGrace
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-again.C:
			r.vm.Interrupt(errStopped)
		case <-over.C:
			r.placeMatch()
			r.rt.abandon(r)
			return
		}
	}
}

// errStopped is what an interrupt carries.
var errStopped = errors.New("the run was stopped")

// stopWith ends the run with f, unless it has ended. The first reason wins. It
// may be called from any goroutine; on the engine's, the program ends at its
// next instruction.
func (r *run) stopWith(f runtime.Failure) {
	r.mu.Lock()
	if r.settled || r.failure != nil {
		r.mu.Unlock()
		return
	}
	r.failure = &f
	r.mu.Unlock()
	close(r.stop)
	r.end(errors.New(f.Message))
	r.vm.Interrupt(errStopped)
}

// dead says whether the program must not run any more.
func (r *run) dead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settled || r.failure != nil
}

// cancelled ends the run if the caller has cancelled it, even when the caller's
// goroutine has not come to that: a call that fails because its context ended
// must not be the last thing a program hears.
func (r *run) cancelled() bool {
	if r.outer.Err() == nil {
		return false
	}
	r.stopWith(aborted(r.outer))
	return true
}

// close decides the outcome: what the engine's goroutine does from here on is
// of no effect.
func (r *run) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = true
	for _, c := range r.queue {
		r.usage.NotStarted = append(r.usage.NotStarted, runtime.Invocation{Global: c.owner.global(), Member: c.member, Site: c.site})
	}
	r.queue = nil
	for _, h := range r.idleHands {
		close(h.next)
	}
	r.idleHands = nil
}

// result is the outcome, with r.mu held or nobody else about.
func (r *run) result() runtime.Result {
	res := runtime.Result{Notes: r.notes, Usage: r.usage}
	if r.failure != nil {
		res.Logs, res.Failure = r.ledger.Failure(*r.failure)
		return res
	}
	res.Logs, res.Failure = r.ledger.Value(r.value)
	if res.Failure == nil {
		res.Value = r.value
	}
	return res
}

// execute is the engine's goroutine.
func (r *run) execute() {
	defer close(r.done)
	defer func() {
		if x := recover(); x != nil {
			r.stopWith(engineFailed(x))
		}
	}()
	if r.dead() || !r.metered(r.prepare) || r.req.CheckOnly {
		return
	}
	if r.start() && r.loop() && r.conclude() {
		r.drain()
	}
}

// programReach is what the program can get hold of. An engine that was equipped
// before may have more.
func (r *run) programReach() *reach {
	if r.rt.whole || slices.ContainsFunc(r.req.Bindings, func(b runtime.Binding) bool { return r.prog.reach.meets(b.Namespace.Class().Name) }) {
		return nil
	}
	return r.prog.reach
}

// metered is f with its time counted: reading a program takes long as well.
func (r *run) metered(f func() bool) bool {
	r.meter.enter()
	defer r.meter.leave()
	return f()
}

// prepare checks and compiles the program and furnishes the engine.
func (r *run) prepare() bool {
	text := r.req.Program
	if len(text) <= r.lim.Source {
		text, _ = normalize(text)
	}
	if failure := precheck(text, r.lim); failure != nil {
		failure.Frame = runtime.CodeFrame(r.req.Program, failure.Site)
		r.stopWith(*failure)
		return false
	}
	prog, failure := r.compile()
	if failure != nil {
		if failure.Name == "SyntaxError" || failure.Kind == runtime.InvalidInput {
			if refusal := r.refuseText(text); refusal != nil {
				failure = refusal
			}
		}
		r.stopWith(*failure)
		return false
	}
	r.prog = prog
	r.note(prog.notes...)
	if r.req.CheckOnly {
		r.note(r.unboundCalls()...)
		return true
	}
	if !r.equipped {
		r.reach = r.programReach()
		r.wholly.Store(r.reach.Everything())
	}
	return r.turn(r.furnish)
}

// compile is the program of the run. That of a check alone keeps its tree.
func (r *run) compile() (*program, *runtime.Failure) {
	if r.req.CheckOnly {
		return check(r.req.Name, r.req.Program, r.globals()...)
	}
	return r.rt.programs.compile(r.req.Name, r.req.Program, r.globals())
}

// globals are the names that a program has beside those of the language.
func (r *run) globals() []string {
	names := []string{"console"}
	if r.req.Input != "" {
		names = append(names, "input")
	}
	for _, b := range r.req.Bindings {
		names = append(names, b.Namespace.Global())
	}
	return names
}

// furnish makes the world of the program.
func (r *run) furnish() error {
	r.vm.SetMaxCallStackSize(r.lim.Depth)
	if r.req.Clock != nil {
		r.timers.clock = r.clock
		r.vm.SetTimeSource(r.clock)
	}
	r.began = r.now()
	if !r.equipped {
		if err := r.equip(r.randomness()); err != nil {
			return err
		}
	}
	for _, install := range []func() error{
		r.installBindings,
		r.installInput,
		r.guardProgram,
	} {
		if err := install(); err != nil {
			return err
		}
	}
	return nil
}

// equip gives the engine what of the library the program can get hold of, and its
// guards. Random is nil for the library's own.
func (r *run) equip(random func([]byte)) error {
	r.vm.SetParserOptions(parser.WithDisableSourceMaps)
	r.vm.SetPromiseRejectionTracker(r.trackRejection)
	r.waiting.vm = r.vm
	r.vm.SetAsyncContextTracker(&r.waiting)
	r.real.capture(r.vm, r.reach)
	if err := r.installLibrary(random); err != nil {
		return err
	}
	if err := r.installTimers(); err != nil {
		return err
	}
	r.equipped = true
	return r.installGuards()
}

// now is the time that the program sees.
func (r *run) now() time.Time {
	if r.timers.clock != nil {
		return r.timers.clock()
	}
	return time.Now()
}

// clock is the time that a program with a clock of its own sees: that one's, but
// not before what answers and timers have shown it.
func (r *run) clock() time.Time {
	r.show(r.req.Clock())
	return r.shown
}

func (r *run) show(t time.Time) {
	if t.After(r.shown) {
		r.shown = t
	}
}

// randomness seeds Math.random and returns the same source for bytes; nil is
// the library's own.
func (r *run) randomness() func([]byte) {
	if r.req.Seed == nil {
		return nil
	}
	source := rand.NewPCG(*r.req.Seed, *r.req.Seed^0x9e3779b97f4a7c15)
	numbers := rand.New(source)
	r.vm.SetRandSource(numbers.Float64)
	return func(b []byte) {
		for i := range b {
			b[i] = byte(source.Uint64())
		}
	}
}

// start runs the program up to its first await.
func (r *run) start() bool {
	return r.turn(func() error { return r.startWith(r.helpers()) })
}

func (r *run) startWith(helpers []goja.Value) error {
	arrow, err := r.vm.RunProgram(r.prog.compiled)
	if err != nil {
		return err
	}
	body, ok := goja.AssertFunction(arrow)
	if !ok {
		return fmt.Errorf("the program compiled to %s", arrow.ExportType())
	}
	v, err := body(goja.Undefined(), helpers...)
	if err != nil {
		return err
	}
	promise, ok := v.Export().(*goja.Promise)
	if !ok {
		return fmt.Errorf("the program returned %s", v.ExportType())
	}
	r.main = promise
	return nil
}

// turn runs f, in which the program may run, and says whether the run goes on.
// All that the engine or f throws ends the run.
func (r *run) turn(f func() error) bool {
	if r.cancelled() || r.dead() {
		return false
	}
	r.meter.enter()
	defer r.meter.leave()
	if err := contained(f); err != nil {
		r.caught(err)
	}
	return !r.dead()
}

// contained turns every panic of f into an error.
func contained(f func() error) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case error:
			err = x
		default:
			err = &enginePanic{x}
		}
	}()
	return f()
}

// enginePanic is a panic that carried no error.
type enginePanic struct{ value any }

func (e *enginePanic) Error() string { return fmt.Sprint(e.value) }

// put sets a key of a map that is made with the first one: most runs need none of
// theirs.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// note adds sentences for the reader of the result.
func (r *run) note(notes ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.settled {
		r.notes = append(r.notes, notes...)
	}
}
