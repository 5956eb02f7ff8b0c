package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// Isolation is what Usage.Isolation says of a run in a worker.
const Isolation = "worker"

// Options configures New. The zero value is a good default. A negative number is
// an error.
type Options struct {
	// Binary is the file to start as a worker. Empty is the running binary; a
	// host with heavy package initialisation names a slim one that imports this
	// package. It is a program, not a script: under Landlock a script's
	// interpreter cannot be executed.
	Binary string
	// Env lists "NAME=value" entries a worker gets. Workers inherit nothing but
	// TZ, so that local time is the same on both sides; on Windows, SystemRoot.
	Env []string
	// MaxWorkers is how many worker processes there may be at once, those that are
	// starting or ending included; further runs wait in order of arrival. Zero is
	// twice GOMAXPROCS, and at least 4: a run waits for its calls, and for people,
	// and keeps its worker meanwhile. With 1 there is no spare that has started
	// already, and what ends a worker costs the next run a start.
	//
	// Runs marked Nested never wait, since an ancestor of theirs holds a worker:
	// each may add a process beyond MaxWorkers. At most max(32, 4*MaxWorkers) of
	// them may be in progress; one more fails at once as worker-unavailable.
	MaxWorkers int
	// Idle is how long an unused worker lives. Zero is 30 seconds. The spare lives
	// that long after the last run.
	Idle time.Duration
	// Require lists layers (see LayerNames) without which New fails. None need be
	// named for those that were there at New: a later worker that lacks one of
	// these is never used.
	Require []string
	// Without lists layers to leave out, where one stands in the way of what a
	// host's package initialisation needs. All but no-new-privileges and
	// descriptors can be.
	Without []string
	// Logger receives what an operator should know: the layers that workers
	// lack, starts that failed. Nil discards it.
	Logger *slog.Logger

	wait time.Duration // for a hello; zero is helloWait
}

// DefaultIdle is how long an unused worker lives unless Options.Idle says
// otherwise.
const DefaultIdle = 30 * time.Second

// Runtime runs programs in worker processes. It is safe for concurrent use.
// Close it to end its processes.
//
// A worker serves runs of equal Request.Trust one after the other, at most 200,
// each with an engine of its own and none with a smaller Limits.Heap than an
// earlier one. It is ended before that when a run hit a limit or broke the
// protocol and, on Linux, when runs have made the process grow by more than 256 MiB.
// In a full pool the worker that has been idle longest gives way to a run that none
// of the idle ones may serve.
type Runtime struct {
	pool   *pool
	layers func() []Layer
	bytes  budget

	life context.Context // ended by Close
	end  context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	runs   sync.WaitGroup
}

var _ runtime.Runtime = (*Runtime)(nil)

var errDisposed = errors.New("runtime disposed")

// New starts the first worker and returns the Runtime that owns it. An error
// says what the new process printed and what else can be done: there is no
// silent fallback to another isolation, then or later.
//
// ctx bounds the first start alone. A nil opts is the zero Options.
func New(ctx context.Context, opts *Options) (*Runtime, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.MaxWorkers < 0 || opts.Idle < 0 {
		return nil, fmt.Errorf("worker options: MaxWorkers is %d and Idle is %v; neither may be negative (zero takes the default)", opts.MaxWorkers, opts.Idle)
	}
	logger := opts.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	starter, err := newStarter(opts, cmp.Or(opts.wait, helloWait), logger)
	if err != nil {
		return nil, unavailable(err)
	}
	r := newRuntime(*opts, starter.start, starter.close, logger)
	r.layers = starter.layers
	first, err := starter.start(ctx)
	if err != nil {
		starter.close()
		return nil, unavailable(err)
	}
	r.pool.adopt(first)
	return r, nil
}

// Layers says what protects around the workers of this Runtime, in the order of
// LayerNames. Nothing is started for it: New has found out.
func (r *Runtime) Layers() []Layer { return r.layers() }

// newRuntime builds a Runtime over any way to start a worker.
func newRuntime(opts Options, start func(context.Context) (*process, error), closeStarter func(), logger *slog.Logger) *Runtime {
	most := opts.MaxWorkers
	if most == 0 {
		most = max(2*goruntime.GOMAXPROCS(0), 4)
	}
	idle := cmp.Or(opts.Idle, DefaultIdle)
	r := &Runtime{bytes: budget{left: runtimeBytes}}
	r.life, r.end = context.WithCancelCause(context.Background())
	r.pool = newPool(r.life, most, idle, start, closeStarter, logger)
	return r
}

// unavailable is the error of New.
func unavailable(err error) error {
	return fmt.Errorf("start a worker process: %w; programs can run without one with in-process isolation (IsolationInProcess, --in-process on the command line), or with another file as the worker (Worker.Binary)", err)
}

// Run executes one program in a worker. Beside the kinds every Runtime has it
// reports memory-limit for what the system's limit stopped, worker-exit for a worker
// that ended on its own or broke the protocol, and worker-unavailable when none
// could be started before the run's wall limit, or for a nested run too many (see
// Options.MaxWorkers). The program was not run then.
//
// While all workers are in use a run waits, as long as ctx lasts: the limits are
// those of its program, and begin with it.
//
// Request.Clock is asked over the connection for every reading the program
// makes, so that it sees the same times as in process.
func (r *Runtime) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	limits, err := check(&req)
	if err != nil {
		return runtime.Result{}, err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return runtime.Result{}, runtime.ErrClosed
	}
	r.runs.Add(1)
	r.mu.Unlock()
	defer r.runs.Done()

	ctx, cancel := r.bind(ctx)
	defer cancel()
	if ctx.Err() != nil {
		return failed(limits, aborted(context.Cause(ctx))), nil
	}
	if n := len(req.Program) + len(req.Input); n > programCap {
		return failed(limits, runtime.Failure{Kind: runtime.InvalidInput, Message: fmt.Sprintf("program and input are %d bytes; at most %d can cross", n, programCap)}), nil
	}
	if n := describedSize(&req); n > runMetaCap {
		return failed(limits, runtime.Failure{Kind: runtime.InvalidInput, Message: fmt.Sprintf("the names of the program and its functions are %d bytes; at most %d can cross", n, runMetaCap)}), nil
	}
	if req.Nested {
		leave, failure := r.pool.nest()
		if failure != nil {
			return failed(limits, *failure), nil
		}
		defer leave()
	}
	w, failure := r.pool.get(ctx, demand{heap: limits.Heap, trust: req.Trust, wall: limits.Wall, nested: req.Nested})
	if failure != nil {
		return failed(limits, *failure), nil
	}
	if err := w.limit(limits); err != nil {
		r.pool.release(w, false)
		return failed(limits, runtime.Failure{Kind: runtime.WorkerUnavailable, Message: fmt.Sprintf("the limits of the worker process could not be set: %v", err)}), nil
	}
	s := &session{worker: w, req: req, meta: describe(&req, limits, &w.names), limits: limits}
	defer func() { r.pool.release(w, s.reuse) }()
	return s.run(ctx, &r.bytes)
}

// check validates a request and completes it and its limits.
func check(req *runtime.Request) (runtime.Limits, error) {
	if err := req.Validate(); err != nil {
		return runtime.Limits{}, err
	}
	req.Parallel = max(req.Parallel, 1)
	limits, err := req.Limits.WithDefaults()
	if err != nil {
		return limits, err
	}
	if limits.Heap < MinHeap {
		return limits, fmt.Errorf("limit heap is %d bytes; a worker needs at least %d (zero takes the default)", limits.Heap, MinHeap)
	}
	if limits.Depth == 0 {
		limits.Depth = runtime.DepthWorker
	}
	return limits, nil
}

// MinHeap is the smallest Limits.Heap a worker accepts: with less the engine
// itself would not fit.
const MinHeap = 16 << 20

// bind ends the returned context with ctx and with Close.
func (r *Runtime) bind(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unbind := context.AfterFunc(r.life, func() { cancel(errDisposed) })
	return ctx, func() {
		unbind()
		cancel(nil)
	}
}

// failed is the result of a run that never had a worker.
func failed(limits runtime.Limits, f runtime.Failure) runtime.Result {
	logs, failure := runtime.NewLedger(limits.Output).Failure(f)
	return runtime.Result{Logs: logs, Failure: failure, Usage: runtime.Usage{Isolation: Isolation}}
}

// Close ends live and waiting runs as aborted, waits for them and for the exit of
// every worker, also of those that are being started. Later runs are refused with
// runtime.ErrClosed. It may be called again, also at the same time; every call
// returns when all is over, and the error is always nil.
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end(errDisposed)
	r.runs.Wait()
	r.pool.close()
	return nil
}
