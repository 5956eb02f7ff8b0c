package gojavm

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// Options shape a Runtime. The zero value is ready to use.
type Options struct {
	// MaxStuck is how many programs may be beyond stopping before further runs
	// are refused. Zero means 4.
	MaxStuck int
	// MaxBytes bounds the arguments and results that are queued or in flight in
	// all runs together. Zero means 256 MiB.
	MaxBytes int64
	// OwnProcess says that the process exists for this runtime alone, as a worker
	// does: settings of the whole process may be changed, the heap limit is that
	// of the process, and calls may nest deeper.
	OwnProcess bool
}

// Defaults of Options.
const (
	DefaultMaxStuck = 4
	DefaultMaxBytes = 256 << 20
)

// Runtime runs programs in this process. It implements runtime.Runtime and is
// safe for concurrent use.
type Runtime struct {
	opts  Options
	bytes atomic.Int64 // queued and in flight, of all runs
	heap  *heapWatch

	programs programs

	mu     sync.Mutex
	closed bool
	live   map[*run]struct{}
	stuck  int
	runs   sync.WaitGroup

	spare   *run // for the next program; nil: none is ready
	sparing bool // one is being made
	whole   bool // tests: every program gets the whole library
}

var _ runtime.Runtime = (*Runtime)(nil)

// New returns a runtime. Nil options mean the defaults. With OwnProcess it
// changes settings of the process.
func New(opts *Options) (*Runtime, error) {
	rt := &Runtime{live: map[*run]struct{}{}, heap: newHeapWatch()}
	if opts != nil {
		rt.opts = *opts
	}
	if rt.opts.MaxStuck < 0 || rt.opts.MaxBytes < 0 {
		return nil, fmt.Errorf("options MaxStuck %d and MaxBytes %d must not be negative (zero takes the default)", rt.opts.MaxStuck, rt.opts.MaxBytes)
	}
	if rt.opts.MaxStuck == 0 {
		rt.opts.MaxStuck = DefaultMaxStuck
	}
	if rt.opts.MaxBytes == 0 {
		rt.opts.MaxBytes = DefaultMaxBytes
	}
	if rt.opts.OwnProcess {
		tuneProcess()
	}
	return rt, nil
}

// Run implements runtime.Runtime. A program that does not stop within a quarter
// of a second after its end was ordered is left behind: its failure is returned
// and it counts as stuck (see Stuck).
func (rt *Runtime) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	if err := req.Validate(); err != nil {
		return runtime.Result{}, err
	}
	lim, err := rt.limits(req.Limits)
	if err != nil {
		return runtime.Result{}, err
	}
	r := newRun(ctx, rt, req, lim)
	stuck, err := rt.begin(r)
	if err != nil {
		return runtime.Result{}, err
	}
	defer rt.end(r)
	defer r.end(errOver)
	if stuck >= rt.opts.MaxStuck {
		return r.refuse(runtime.Failure{
			Kind:    runtime.Abort,
			Message: fmt.Sprintf("refused: %d earlier programs in this process could not be stopped and still run", stuck),
			Hint:    "restart the process, or run programs in workers, which can be killed",
		}), nil
	}
	if ctx.Err() != nil {
		return r.refuse(aborted(ctx)), nil
	}
	return r.run(ctx)
}

func (rt *Runtime) limits(l runtime.Limits) (runtime.Limits, error) {
	l, err := l.WithDefaults()
	if err == nil && l.Depth == 0 {
		l.Depth = runtime.DepthInProcess
		if rt.opts.OwnProcess {
			l.Depth = runtime.DepthWorker
		}
	}
	return l, err
}

// begin enters r among the live runs and says how many programs are stuck.
func (rt *Runtime) begin(r *run) (stuck int, err error) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return 0, runtime.ErrClosed
	}
	rt.live[r] = struct{}{}
	rt.runs.Add(1)
	return rt.stuck, nil
}

func (rt *Runtime) end(r *run) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	delete(rt.live, r)
	if r.wholly.Load() {
		rt.replaceSpare()
	}
	rt.runs.Done()
}

// abandon counts a program as stuck until its goroutine ends after all. Until then
// the interrupt is repeated.
func (rt *Runtime) abandon(r *run) {
	rt.mu.Lock()
	rt.stuck++
	rt.mu.Unlock()
	go func() {
		again := time.NewTicker(insistStuck)
		defer again.Stop()
		for {
			select {
			case <-r.done:
				rt.mu.Lock()
				rt.stuck--
				rt.mu.Unlock()
				return
			case <-again.C:
				r.vm.Interrupt(errStopped)
			}
		}
	}()
}

// Stuck is the number of programs that were ordered to end and still run.
func (rt *Runtime) Stuck() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.stuck
}

// Close implements runtime.Runtime. It does not wait for stuck programs.
func (rt *Runtime) Close() error {
	rt.mu.Lock()
	rt.closed = true
	rt.spare = nil
	live := make([]*run, 0, len(rt.live))
	for r := range rt.live {
		live = append(live, r)
	}
	rt.mu.Unlock()
	for _, r := range live {
		r.stopWith(runtime.Failure{Kind: runtime.Abort, Message: "runtime disposed"})
	}
	rt.runs.Wait()
	return nil
}

// aborted is the failure of a run whose context ended.
func aborted(ctx context.Context) runtime.Failure {
	return runtime.Failure{Kind: runtime.Abort, Message: context.Cause(ctx).Error()}
}
