package worker

import (
	"context"
	"errors"
	"fmt"
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
	meta   string         // of the run frame
	limits runtime.Limits // no field is zero
	id     runID
	wall   *runtime.Wall
	cancel context.CancelCauseFunc // of the calls
	ledger *runtime.Ledger         // of the receiving goroutine
	calls  *calls

	started  chan struct{} // closed when the run frame has been sent
	told     chan struct{} // closed when the worker has been told to stop, or the run is over
	tellOnce sync.Once

	mu      sync.Mutex
	over    bool             // a done frame came or the worker is gone: nothing stops the run any more, and nothing is sent
	stopped *runtime.Failure // why the parent ended the run; the first reason counts
	grace   *time.Timer
	doomed  bool // the worker is being killed

	reuse bool // the worker may serve another run
}

// run executes the program and returns when the worker has settled it or is
// gone, and every call it made has returned. ctx is the caller's.
func (s *session) run(ctx context.Context, hold *budget) (runtime.Result, error) {
	s.id = newRunID()
	s.started, s.told = make(chan struct{}), make(chan struct{})
	s.ledger = runtime.NewLedger(s.limits.Output)
	callCtx, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	s.wall = runtime.StartWall(s.limits.Wall, func() {
		s.stop(runtime.WallReached(s.limits.Wall))
	})
	s.calls = newCalls(s, runtime.WithWall(callCtx, s.wall), hold)
	stopWatching := context.AfterFunc(ctx, func() { s.stop(aborted(context.Cause(ctx))) })
	meter := startMeter(s.worker, s.limits.Compute+computeSlack, s.overBudget)

	s.worker.served[s.id] = true
	s.worker.heap = max(s.worker.heap, s.limits.Heap)
	if len(s.meta)+len(s.req.Program)+len(s.req.Input) < linkBuffer {
		s.start() // the connection holds it, so this waits for nobody, unless the system is short of room for pipes
	} else {
		go s.start()
	}
	done, err := s.receive()
	if ctx.Err() != nil {
		// What the program made of the cancellation meanwhile does not count.
		s.stop(aborted(context.Cause(ctx)))
	}
	end := s.settle(done, err)

	stopWatching()
	busy := meter.stop()
	if s.worker.grown(meter.last) {
		s.reuse = false
	}
	if s.calls.outstanding() > 0 || s.worker.unread.Load() {
		s.reuse = false
	}
	if !s.reuse {
		s.worker.kill() // a reply that it does not read would be waited for
	}
	s.cancel(errRunOver)
	s.calls.wait()
	s.wall.Stop() // it stops nothing any more, but the calls took their time
	return s.result(end, busy)
}

var errRunOver = errors.New("the run is over")

// aborted is the failure of a run whose context ended.
func aborted(cause error) runtime.Failure {
	return runtime.Failure{Kind: runtime.Abort, Message: cause.Error()}
}

// send sends a frame of the run, unless the run is over. A failure shows as the
// end of the connection: that of the worker, if it takes no more.
func (s *session) send(f frame) {
	l := s.worker.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.isOver() {
		return
	}
	f.run = s.id
	if l.sendLocked(f) != nil {
		s.worker.notRead()
	}
}

// isOver is asked with link.mu held: a frame that is on its way when the run ends
// is read before the barrier, or the worker is killed.
func (s *session) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// start sends the run frame.
func (s *session) start() {
	defer close(s.started)
	s.send(frame{kind: kindRun, meta: s.meta, body: s.req.Program + s.req.Input})
}

// describe is what a worker is told of a run, which has kept the names that known
// tells of.
func describe(req *runtime.Request, limits runtime.Limits, known *places) string {
	// The wall clock is kept here, where approvals stop it.
	limits.Wall = runtime.MaxWall
	meta := runMeta{Name: req.Name, Program: len(req.Program), Limits: limits, Parallel: req.Parallel, Clock: req.Clock != nil, Seed: req.Seed, CheckOnly: req.CheckOnly}
	for _, b := range req.Bindings {
		n := namespaceMeta{Global: b.Namespace.Global(), Class: b.Namespace.Class(), Members: b.Namespace.Members()}
		n.Place, n.Known = known.put(b.Namespace)
		meta.Namespaces = append(meta.Namespaces, n)
	}
	return meta.pack()
}

// describedSize is about what describe takes, and no less.
func describedSize(req *runtime.Request) int {
	size := 200 + len(req.Name) // numbers and flags among it
	for _, b := range req.Bindings {
		size += namesSize(b.Namespace)
	}
	return size
}

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
	s.grace = time.AfterFunc(stopGrace, s.giveUp)
	// A worker that does not read would hold this up; the kill ends that.
	go func() {
		<-s.started // an order to a run that it does not know would be lost
		s.send(frame{kind: kindStop, body: shorten(reason.Message, reasonCap)})
		s.markTold()
	}()
}

// giveUp ends a worker that was told to stop and has not settled the run since.
func (s *session) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.doom()
	}
}

// doom kills the worker. The caller holds mu.
func (s *session) doom() {
	s.doomed = true
	s.worker.kill()
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
	s.doom()
	s.markTold() // no order follows any more
}

// overBudget ends a run whose worker used more processor time than the engine's
// own meter should have allowed.
func (s *session) overBudget(time.Duration) {
	s.stopNow(runtime.ComputeExhausted(s.limits.Compute))
}

// close marks the run as over and returns the parent's reason to end it, if any,
// and whether the worker was killed for it.
func (s *session) close() (reason *runtime.Failure, doomed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.markTold()
	if s.grace != nil {
		s.grace.Stop()
	}
	return s.stopped, s.doomed
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
		kindOver:   {0, 0},
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
	case kindOver:
		s.markTold() // no program goes on, so that answers need not follow a stop
		s.cancel(errRunOver)
		return nil
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
	if err := s.calls.fresh(f.call); err != nil {
		return err
	}
	var now time.Time
	if failed := contain(func() { now = s.req.Clock() }); failed != nil {
		s.stopNow(runtime.Failure{Kind: runtime.Exception, Message: fmt.Sprintf("the host's clock panicked: %v", failed)})
		return nil
	}
	// The worker waits for the answer, so the frame fits the pipe.
	s.send(frame{kind: kindTime, call: f.call, meta: encode(packTime(now))})
	return nil
}

// contain runs foreign code and returns its panic.
func contain(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
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
	reason, doomed := s.close()
	if err == nil && reason == nil {
		err = s.barrier()
		s.reuse = err == nil && end.reusable() && len(s.worker.served) < maxRuns
		if f := (*fault)(nil); err != nil && !errors.As(err, &f) {
			err = nil // it left after its work
		}
	} else if err == nil && reason.Kind == runtime.Abort {
		s.reuse = !doomed && s.barrier() == nil && end.meta.Stuck == 0 && len(s.worker.served) < maxRuns
	}
	if err != nil {
		end = ending{failure: s.lost(err, reason == nil)}
	}
	if reason != nil {
		end.failure = stoppedAt(*reason, end.failure)
	}
	if err != nil {
		end.failure.Hint = addHint(end.failure.Hint, s.calls.lastMade())
	}
	return end
}

func addHint(hint, more string) string {
	if hint == "" || more == "" {
		return hint + more
	}
	return hint + "; " + more
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
	if n := len(end.meta.NotStarted); n > s.limits.Calls {
		return end, faultf("%d calls not started in a run that may make %d", n, s.limits.Calls)
	}
	for _, c := range end.meta.NotStarted {
		if _, _, err := s.calls.member(c); err != nil {
			return end, err
		}
	}
	if end.meta.Stuck < 0 {
		return end, faultf("%d goroutines that could not be ended", end.meta.Stuck)
	}
	switch {
	case end.failure != nil:
		if !failureKinds[end.failure.Kind] {
			return end, faultf("unknown failure kind %q", shorten(string(end.failure.Kind), 40))
		}
		end.failure.Message = f.body
		for _, at := range append(end.failure.Stack, runtime.Frame{Site: end.failure.Site}) {
			if err := checkSite(at.Site); err != nil {
				return end, err
			}
		}
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
// nothing follows, and to read what it was sent.
const barrierWait = time.Second

// barrier reads what closes a run: the worker says that nothing of it follows, so
// that the next run cannot see any. Nor is anything on its way to the worker when it
// returns; the run is over, so that nothing is sent any more.
func (s *session) barrier() error {
	l := s.worker.link
	if l.received() && l.silent() {
		return s.readBarrier() // which waits for nothing
	}
	timer := time.AfterFunc(barrierWait, s.worker.kill)
	err := s.readBarrier()
	if err == nil {
		l.drain()
	}
	if !timer.Stop() {
		return os.ErrDeadlineExceeded // it is being killed
	}
	return err
}

func (s *session) readBarrier() error {
	f, err := s.worker.link.receive(barrierCaps)
	if err == nil && f.run != s.id {
		err = faultf("the barrier frame names another run")
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
	left := false
	if !broke && wait {
		select {
		case <-s.worker.exited:
			left = true
		case <-time.After(stopGrace):
		}
	}
	s.worker.kill()
	<-s.worker.exited
	switch {
	case broke:
		return &runtime.Failure{Kind: runtime.WorkerExit, Message: "worker broke the protocol and was ended: " + f.text, Hint: engineFault}
	case !hungUp(err):
		return &runtime.Failure{Kind: runtime.WorkerExit, Message: "worker connection failed: " + err.Error(), Hint: tryAgain}
	case (!left || s.worker.deaf.Load()) && s.worker.status.killed():
		return &runtime.Failure{Kind: runtime.WorkerExit, Message: "worker closed its connection before completing and was ended", Hint: engineFault}
	}
	return exitFailure(s.worker, s.limits)
}

// hungUp says whether an error of the connection is its other side's doing.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// result assembles what the caller gets.
func (s *session) result(end ending, busy time.Duration) (runtime.Result, error) {
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
		res.Usage.NotStarted = append(res.Usage.NotStarted, invocation(b, m, c.site()))
	}
	return res, nil
}
