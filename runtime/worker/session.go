package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// stopGrace is how long a worker gets to say where the program was stopped.
const stopGrace = 250 * time.Millisecond

// lateFrames is how many frames of earlier runs are dropped before the worker
// counts as hostile.
const lateFrames = 10_000

// session is the parent's side of one run on one worker.
type session struct {
	worker *process
	req    runtime.Request
	limits runtime.Limits // no field is zero
	id     runID
	wall   *runtime.Wall
	cancel context.CancelCauseFunc // of the calls
	ledger *runtime.Ledger         // of the receiving goroutine
	calls  *calls

	told     chan struct{} // closed when the worker has been told to stop, or the run is over
	tellOnce sync.Once

	mu      sync.Mutex
	over    bool             // a done frame came or the worker is gone: nothing stops the run any more
	stopped *runtime.Failure // why the parent ended the run; the first reason counts
	grace   *time.Timer
	doomed  bool // grace is over: the worker is being killed

	reuse bool // the worker may serve another run
}

// run executes the program and returns when the worker has settled it or is
// gone, and every call it made has returned. ctx is the caller's.
func (s *session) run(ctx context.Context, hold *budget) (runtime.Result, error) {
	s.id = newRunID()
	s.told = make(chan struct{})
	s.ledger = runtime.NewLedger(s.limits.Output)
	callCtx, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	s.wall = runtime.StartWall(s.limits.Wall, func() {
		s.stop(runtime.WallReached(s.limits.Wall))
	})
	s.calls = newCalls(s, runtime.WithWall(callCtx, s.wall), hold)
	stopWatching := context.AfterFunc(ctx, func() { s.stop(aborted(context.Cause(ctx))) })
	meter := startMeter(s.worker.cpu, s.limits.Compute+computeSlack, s.overBudget)

	s.worker.served[s.id] = true
	s.worker.heap = max(s.worker.heap, s.limits.Heap)
	go s.start()
	done, err := s.receive()
	if ctx.Err() != nil {
		// What the program made of the cancellation meanwhile does not count.
		s.stop(aborted(context.Cause(ctx)))
	}
	end := s.settle(done, err)

	stopWatching()
	s.wall.Stop()
	busy := meter.stop()
	outstanding := s.calls.outstanding()
	s.cancel(errRunOver)
	s.calls.wait()
	return s.result(end, busy, outstanding)
}

var errRunOver = errors.New("the run is over")

// aborted is the failure of a run whose context ended.
func aborted(cause error) runtime.Failure {
	return runtime.Failure{Kind: runtime.Abort, Message: cause.Error()}
}

// start sends the run frame. A failure shows as the end of the connection.
func (s *session) start() {
	meta := runMeta{Name: s.req.Name, Program: len(s.req.Program), Limits: s.limits, Parallel: s.parallel(), Clock: s.req.Clock != nil, Seed: s.req.Seed, CheckOnly: s.req.CheckOnly}
	// The wall clock is kept here, where approvals stop it.
	meta.Limits.Wall = runtime.MaxWall
	for _, b := range s.req.Bindings {
		meta.Namespaces = append(meta.Namespaces, namespaceMeta{b.Namespace.Global(), b.Namespace.Class(), b.Namespace.Members()})
	}
	s.worker.link.send(frame{kind: kindRun, run: s.id, meta: encode(meta), body: s.req.Program + s.req.Input})
}

func (s *session) parallel() int { return max(s.req.Parallel, 1) }

// stop ends the run for a reason of the parent's. The worker is told, and
// killed if it has not settled the run soon.
func (s *session) stop(reason runtime.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.stopped != nil {
		return
	}
	s.stopped = &reason
	s.cancel(errors.New(reason.Message))
	s.grace = time.AfterFunc(stopGrace, s.worker.kill)
	// A worker that does not read would hold this up; the kill ends that.
	go func() {
		s.worker.link.send(frame{kind: kindStop, run: s.id, body: shorten(reason.Message, 1<<20)})
		s.markTold()
	}()
}

func (s *session) markTold() { s.tellOnce.Do(func() { close(s.told) }) }

// stopNow ends the run without asking the worker.
func (s *session) stopNow(reason runtime.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if s.stopped == nil {
		s.stopped = &reason
	}
	s.worker.kill()
	s.markTold() // no order follows any more
}

// overBudget ends a run whose worker used more processor time than the engine's
// own meter should have allowed.
func (s *session) overBudget(time.Duration) {
	s.stopNow(runtime.ComputeExhausted(s.limits.Compute))
}

// close marks the run as over and returns the parent's reason to end it, if any.
func (s *session) close() *runtime.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.markTold()
	if s.grace != nil {
		s.grace.Stop()
	}
	return s.stopped
}

// receive handles frames until the run is done. The error is a *fault or the
// end of the connection.
func (s *session) receive() (frame, error) {
	allowed := s.caps()
	late := 0
	for {
		f, err := s.worker.link.receive(allowed)
		if err != nil {
			return frame{}, err
		}
		if f.run != s.id {
			if late++; late > lateFrames || !s.worker.served[f.run] {
				return frame{}, faultf("a %s frame names a run that is not this one", f.kind)
			}
			continue
		}
		if f.kind == kindDone {
			return f, nil
		}
		if err := s.handle(f); err != nil {
			return frame{}, err
		}
	}
}

func (s *session) caps() caps {
	return caps{
		kindCall:   {smallCap, s.limits.Argument},
		kindCancel: {0, 0},
		kindLog:    {smallCap, lineCap(s.limits.Output)},
		kindClock:  {0, 0},
		kindDone:   {doneMetaCap, s.limits.Output},
	}
}

// lineCap is how much of a console line crosses under an output limit: a little
// more than the limit, so that the ledger sees the excess and can keep the
// longest prefix that fits.
func lineCap(output int) int { return min(output, maxBody) + 4 }

func (s *session) handle(f frame) error {
	switch f.kind {
	case kindCall:
		return s.calls.begin(f)
	case kindCancel:
		return s.calls.cancel(f.call)
	case kindLog:
		return s.log(f)
	case kindClock:
		return s.clock(f)
	}
	return faultf("a %s frame is not accepted here", f.kind)
}

func (s *session) log(f frame) error {
	level := string(f.meta)
	if level != "" && !levels[level] {
		return faultf("unknown console level %q", shorten(level, 20))
	}
	if s.ledger.Over() {
		return nil
	}
	if !s.ledger.Log(f.body) {
		s.stop(runtime.Failure{Kind: runtime.OutputLimit})
		return nil
	}
	if s.req.Log != nil && level != "" {
		contain(func() { s.req.Log(runtime.Line{Level: level, Text: f.body}) })
	}
	return nil
}

// clock answers with the run's own clock. It is asked here, one reading at a
// time and in the program's order, because a function cannot cross.
func (s *session) clock(f frame) error {
	if s.req.Clock == nil {
		return faultf("the time is asked for in a run with the real clock")
	}
	var now time.Time
	contain(func() { now = s.req.Clock() })
	// The worker waits for the answer, so the frame fits the socket's buffer.
	s.worker.link.send(frame{kind: kindTime, run: s.id, call: f.call, meta: encode(packTime(now))})
	return nil
}

// contain runs foreign code and drops its panic.
func contain(f func()) {
	defer func() { _ = recover() }()
	f()
}

// ending is how a session ended.
type ending struct {
	misuse  string
	value   string
	failure *runtime.Failure
	meta    doneMeta
}

// settle turns what ended the receiving into the run's end, and decides whether
// the worker may serve another run.
func (s *session) settle(done frame, err error) ending {
	var end ending
	if err == nil {
		end, err = s.readDone(done)
	}
	reason := s.close()
	if err == nil && reason == nil {
		err = s.barrier()
		s.reuse = err == nil && end.reusable() && len(s.worker.served) < maxRuns
		if f := (*fault)(nil); err != nil && !errors.As(err, &f) {
			err = nil // it left after its work
		}
	} else if err == nil && reason.Kind == runtime.Abort {
		s.reuse = !s.doomed && s.barrier() == nil && end.meta.Stuck == 0 && len(s.worker.served) < maxRuns
	}
	if err != nil {
		end.failure = s.lost(err, reason == nil)
		end.value = ""
	}
	if reason != nil {
		end.failure = stoppedAt(*reason, end.failure)
	}
	return end
}

// stoppedAt is the parent's reason, with the place the worker knows.
func stoppedAt(reason runtime.Failure, known *runtime.Failure) *runtime.Failure {
	if known != nil && known.Kind != runtime.WorkerExit {
		reason.Site, reason.Frame, reason.Stack = known.Site, known.Frame, known.Stack
	}
	return &reason
}

// readDone checks a done frame.
func (s *session) readDone(f frame) (ending, error) {
	var end ending
	if err := decode(f, &end.meta); err != nil {
		return end, err
	}
	end.misuse, end.failure = end.meta.Misuse, end.meta.Failure
	for _, c := range end.meta.NotStarted {
		if _, _, err := s.calls.member(c); err != nil {
			return end, err
		}
	}
	switch {
	case end.failure != nil:
		if !failureKinds[end.failure.Kind] {
			return end, faultf("unknown failure kind %q", shorten(string(end.failure.Kind), 40))
		}
		end.failure.Message = f.body
	case f.body != "" && !validJSON(f.body):
		return end, faultf("the completion value is not JSON")
	default:
		end.value = f.body
	}
	return end, nil
}

// reusable says whether the engine of an ended run is as good as new.
func (e *ending) reusable() bool {
	if e.meta.Stuck > 0 || e.misuse != "" {
		return false
	}
	if e.failure == nil {
		return true
	}
	switch e.failure.Kind {
	case runtime.Exception:
		return !strings.HasPrefix(e.failure.Message, depthExceeded)
	case runtime.InvalidInput, runtime.InvalidOutput:
		return true
	}
	return false
}

// depthExceeded begins the failure of a program that recursed too deep.
const depthExceeded = "call depth exceeded"

// barrierWait is how long a worker that has settled its run may take to say that
// nothing follows.
const barrierWait = time.Second

// barrier has the worker repeat a random mark. What it sent before has then been
// read: the next run cannot see it.
func (s *session) barrier() error {
	mark := newRunID()
	timer := time.AfterFunc(barrierWait, s.worker.kill)
	// It reads and writes at once: a worker that keeps writing would otherwise
	// hold this up.
	go s.worker.link.send(frame{kind: kindBarrier, run: mark})
	f, err := s.worker.link.receive(barrierCaps)
	if !timer.Stop() {
		return os.ErrDeadlineExceeded // it is being killed
	}
	if err == nil && f.run != mark {
		err = faultf("the barrier frame repeats another mark")
	}
	return err
}

var barrierCaps = caps{kindBarrier: {0, 0}}

// lost ends a worker whose connection broke or that broke the protocol, and says
// what happened to the run. If wait is set the process's own end is awaited for
// a moment, because its status says more than a kill's.
func (s *session) lost(err error, wait bool) *runtime.Failure {
	f := (*fault)(nil)
	broke := errors.As(err, &f)
	if !broke && wait {
		select {
		case <-s.worker.exited:
		case <-time.After(stopGrace):
		}
	}
	s.worker.kill()
	<-s.worker.exited
	if broke {
		return &runtime.Failure{Kind: runtime.WorkerExit, Message: "worker broke the protocol and was ended: " + f.text}
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && s.worker.diag.String() == "" && s.worker.status.Signal == "" && s.worker.status.Code == 0 {
		return &runtime.Failure{Kind: runtime.WorkerExit, Message: "worker connection failed: " + err.Error()}
	}
	return exitFailure(s.worker, s.limits)
}

// result assembles what the caller gets.
func (s *session) result(end ending, busy time.Duration, outstanding int) (runtime.Result, error) {
	if outstanding > 0 {
		s.reuse = false
	}
	if end.misuse != "" && end.failure == nil {
		return runtime.Result{}, errors.New(end.misuse)
	}
	res := runtime.Result{Value: end.value, Notes: end.meta.Notes, Usage: s.calls.usage()}
	if end.failure != nil {
		res.Value = ""
		res.Logs, res.Failure = s.ledger.Failure(*end.failure)
	} else if res.Logs, res.Failure = s.ledger.Value(end.value); res.Failure != nil {
		res.Value = ""
	}
	res.Logs = slices.Clip(res.Logs)
	res.Usage.Isolation, res.Usage.Missing = Isolation, s.worker.lacks()
	res.Usage.Wall = s.wall.Elapsed()
	res.Usage.Compute = max(min(end.meta.Compute, res.Usage.Wall+busy), 0)
	if end.meta.Compute == 0 {
		res.Usage.Compute = busy
	}
	for _, c := range end.meta.NotStarted {
		b, m, _ := s.calls.member(c)
		res.Usage.NotStarted = append(res.Usage.NotStarted, invocation(b, m, runtime.Site{Line: c[2], Column: c[3]}))
	}
	return res, nil
}
