package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// engine is what a worker hosts: package gojavm's Runtime.
type engine interface {
	Run(context.Context, runtime.Request) (runtime.Result, error)
	Stuck() int
}

// server is the worker's side of the connection. Its parent is checked as
// strictly as it checks its workers: a faulty frame ends the process.
type server struct {
	link   *link
	engine engine
	gone   chan struct{} // closed when the connection has ended

	mu     sync.Mutex
	now    *job           // the run in progress, nil between runs
	served map[runID]bool // with the one in progress

	names shelf  // of the goroutine that serves
	pace  *pacer // of the process; nil: it is not this server's alone
}

var serverCaps = caps{
	kindRun:   {runMetaCap, programCap},
	kindReply: {replyMetaCap, maxBody},
	kindTime:  {smallCap, 0},
	kindStop:  {0, reasonCap + len("…")},
}

func newServer(l *link, e engine) *server {
	return &server{link: l, engine: e, gone: make(chan struct{}), served: map[runID]bool{}}
}

// serve greets and then serves runs until the connection ends, which is not an
// error.
func (s *server) serve(hello helloMeta) error {
	defer close(s.gone)
	if err := s.link.send(frame{kind: kindHello, meta: encode(hello)}); err != nil {
		return fmt.Errorf("greeting: %w", err)
	}
	for {
		f, err := s.link.receive(serverCaps)
		if err == nil {
			err = s.handle(f)
		}
		if err == nil {
			continue
		}
		if f := (*fault)(nil); errors.As(err, &f) {
			return f
		}
		return nil // the parent has closed the connection or is gone
	}
}

func (s *server) handle(f frame) error {
	s.mu.Lock()
	job, known := s.now, s.served[f.run]
	s.mu.Unlock()
	switch {
	case f.kind == kindRun:
		if job != nil {
			return faultf("a run frame in the middle of a run")
		}
		if known {
			return faultf("a run frame repeats the id of an earlier run")
		}
		return s.begin(f)
	case !known:
		return faultf("a %s frame names a run that there was not", f.kind)
	case job == nil || f.run != job.id:
		return nil // an answer or an order to a run that has ended meanwhile
	case f.kind == kindStop:
		job.cancel(errors.New(f.body))
		return nil
	default:
		return job.deliver(f)
	}
}

// begin starts the run of a frame on a goroutine of its own.
func (s *server) begin(f frame) error {
	var meta runMeta
	if err := meta.unpack(f); err != nil {
		return err
	}
	if meta.Program < 0 || meta.Program > len(f.body) {
		return faultf("a program of %d bytes in a body of %d", meta.Program, len(f.body))
	}
	if meta.Parallel < 1 || meta.Parallel > runtime.MaxParallel {
		return faultf("%d calls at once", meta.Parallel)
	}
	if _, err := meta.Limits.WithDefaults(); err != nil {
		return faultf("a run with limits that cannot be: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	j := &job{id: f.run, link: s.link, gone: s.gone, cancel: cancel, limits: meta.Limits, waiting: map[uint64]question{}, credit: make(chan struct{}, meta.Parallel)}
	j.turn.L = &j.mu
	req, err := j.request(&meta, f.body, &s.names)
	if err != nil {
		return err
	}
	if s.pace != nil {
		s.pace.limit(meta.Limits.Heap)
	}
	s.mu.Lock()
	s.now = j
	s.served[j.id] = true
	s.mu.Unlock()
	go func() {
		defer cancel(nil)
		res, err := s.engine.Run(ctx, req)
		done := j.done(res, err, s.engine.Stuck())
		s.mu.Lock()
		s.now = nil
		s.mu.Unlock()
		j.end(done)
	}()
	return nil
}

// job is one run as the worker sees it.
type job struct {
	id     runID
	link   *link
	gone   <-chan struct{}
	cancel context.CancelCauseFunc
	limits runtime.Limits
	credit chan struct{} // holds a token for every call that is out

	over bool // the done frame is sent: nothing may follow; guarded by link.mu

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]question // by their ids
	lines   int                 // console lines sent
	bound   []*namespace        // in the order of the request's bindings
	turn    sync.Cond           // of mu: seq has changed
	seq     int                 // the last Invocation.Seq whose turn it was
	unsent  []callMeta          // calls the engine handed out and the run's end kept from the parent
}

// question is what the parent has been asked: of which kind the answer must be,
// where it is awaited, and who hears of it first, if anybody does.
type question struct {
	wants  kind
	answer chan frame
	first  func(runtime.Reply, error)
}

// promptLines is how many console lines of a run are written one by one: what a
// program prints before it takes its process down is then not lost. A program that
// prints more than that has its further lines share writes.
const promptLines = 1000

// request rebuilds the request of a run.
func (j *job) request(meta *runMeta, body string, names *shelf) (runtime.Request, error) {
	req := runtime.Request{Program: body[:meta.Program], Input: body[meta.Program:], Name: meta.Name, Limits: meta.Limits, Parallel: meta.Parallel, Seed: meta.Seed, CheckOnly: meta.CheckOnly, Log: j.log}
	if meta.Clock {
		req.Clock = j.clock
	}
	for i := range meta.Namespaces {
		n, err := names.find(&meta.Namespaces[i])
		if err != nil {
			return req, err
		}
		j.bound = append(j.bound, n)
		req.Bindings = append(req.Bindings, runtime.Binding{Namespace: n.Namespace, Call: func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			return j.call(ctx, i, inv)
		}})
	}
	return req, nil
}

// send sends a frame of the run, unless the run is over.
func (j *job) send(f frame) error { return j.sendBy((*link).sendLocked, f) }

func (j *job) sendBy(write func(*link, frame) error, f frame) error {
	j.link.mu.Lock()
	defer j.link.mu.Unlock()
	if j.over {
		return errRunOver
	}
	f.run = j.id
	return write(j.link, f)
}

// end sends the done frame and, in the same write, that nothing follows it.
func (j *job) end(done frame) {
	j.link.mu.Lock()
	defer j.link.mu.Unlock()
	done.run = j.id
	j.over = true
	if writeFrame(j.link.out, done) == nil {
		j.link.sendLocked(frame{kind: kindBarrier, run: j.id})
	}
}

// ask sends a frame with a fresh id and returns the id and where its answer, of
// the wanted kind, will come. Ids are sent in ascending order.
func (j *job) ask(f frame, wants kind, first func(runtime.Reply, error)) (uint64, chan frame, error) {
	answer := make(chan frame, 1)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	f.call = j.last
	j.waiting[f.call] = question{wants, answer, first}
	if err := j.send(f); err != nil {
		delete(j.waiting, f.call)
		return 0, nil, err
	}
	return f.call, answer, nil
}

// deliver checks an answer and hands it to whoever waits for it.
func (j *job) deliver(f frame) error {
	j.mu.Lock()
	q, ok := j.waiting[f.call]
	delete(j.waiting, f.call)
	j.mu.Unlock()
	if !ok {
		return faultf("an answer to %d, which nobody waits for", f.call)
	}
	if f.kind != q.wants {
		return faultf("a %s frame answers %d, which waits for a %s frame", f.kind, f.call, q.wants)
	}
	if err := checkAnswer(f); err != nil {
		return err
	}
	if q.first != nil { // in the order of the frames, in which those who wait do not wake up
		q.first(unpackReply(f))
	}
	q.answer <- f // and so no call returns, and no run ends, before its answer was heard
	return nil
}

// checkAnswer says whether an answer can be unpacked.
func checkAnswer(f frame) error {
	if f.kind == kindTime {
		return decode(f, &timeMeta{})
	}
	if len(f.meta) == 0 {
		return nil
	}
	var meta replyMeta
	if err := decode(f, &meta); err != nil {
		return err
	}
	if !meta.Failed && meta.Time == nil {
		return faultf("a reply frame describes an error that is none")
	}
	return nil
}

// call has the parent make a call. When ctx ends the parent is told and its
// answer still awaited: until then the call is out.
func (j *job) call(ctx context.Context, namespace int, inv runtime.Invocation) (runtime.Reply, error) {
	// The engine hands out no more calls than the credit allows, but gives a
	// lane free when the program gives up on a call, before the parent knows.
	held, err := j.awaitTurn(ctx, inv.Seq)
	defer held.release()
	var id uint64
	var answer chan frame
	meta := callMeta{namespace, j.bound[namespace].position[inv.Member], inv.Site.Line, inv.Site.Column}
	if err == nil {
		id, answer, err = j.ask(frame{kind: kindCall, meta: meta.pack(), body: inv.Args}, kindReply, inv.Answer)
	}
	j.passTurn(inv.Seq)
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.unsent = append(j.unsent, meta)
		return runtime.Reply{}, err
	}
	select {
	case f := <-answer:
		return unpackReply(f)
	case <-ctx.Done():
	}
	select {
	case f := <-answer: // and it ended because of that
		return unpackReply(f)
	default:
	}
	if err := j.send(frame{kind: kindCancel, call: id}); err != nil {
		return runtime.Reply{}, err
	}
	held.release()
	for over := runtime.Over(ctx); ; over = nil {
		select {
		case f := <-answer:
			return unpackReply(f)
		case <-over:
			// The parent need not wait for a body that ignores its context.
			if err := j.send(frame{kind: kindOver}); err != nil {
				return runtime.Reply{}, err
			}
		case <-j.gone:
			return runtime.Reply{}, errGone
		}
	}
}

var errGone = errors.New("the connection to the parent process has ended")

// awaitTurn waits until every call before seq has been sent, so that the parent
// sees them in the program's order, and takes a credit.
func (j *job) awaitTurn(ctx context.Context, seq int) (credit, error) {
	j.mu.Lock()
	for seq > j.seq+1 {
		j.turn.Wait()
	}
	j.mu.Unlock()
	select {
	case j.credit <- struct{}{}:
		return credit{j.credit}, nil
	case <-ctx.Done():
		return credit{}, context.Cause(ctx)
	}
}

// credit is one that a call has taken, or none.
type credit struct{ from chan struct{} }

// release gives it back, once.
func (c *credit) release() {
	if c.from != nil {
		<-c.from
		c.from = nil
	}
}

func (j *job) passTurn(seq int) {
	j.mu.Lock()
	j.seq = max(j.seq, seq)
	j.mu.Unlock()
	j.turn.Broadcast()
}

func unpackReply(f frame) (runtime.Reply, error) {
	if len(f.meta) == 0 {
		return runtime.Reply{Value: f.body}, nil
	}
	var meta replyMeta
	if err := decode(f, &meta); err != nil {
		return runtime.Reply{}, err
	}
	var reply runtime.Reply
	if meta.Time != nil {
		reply.Time = meta.Time.time()
	}
	switch {
	case meta.Typed:
		return reply, &runtime.CallError{Message: f.body, Code: meta.Code, CallID: meta.CallID, Extra: meta.Extra}
	case meta.Failed:
		return reply, errors.New(f.body)
	}
	reply.Value = f.body
	return reply, nil
}

// clock asks the parent for the time. It runs on the program's goroutine, which
// waits meanwhile, as it would for a clock of its own.
func (j *job) clock() time.Time {
	_, answer, err := j.ask(frame{kind: kindClock}, kindTime, nil)
	if err != nil {
		return time.Time{}
	}
	select {
	case f := <-answer:
		var meta timeMeta
		if decode(f, &meta) == nil {
			return meta.time()
		}
	case <-j.gone:
	}
	return time.Time{}
}

func (j *job) log(line runtime.Line) {
	level := line.Level
	if !levels[level] {
		level = "log"
	}
	write := (*link).sendLocked
	j.mu.Lock()
	if j.lines++; j.lines > promptLines {
		write = (*link).batchLocked
	}
	j.mu.Unlock()
	j.sendLine(write, level, line.Text)
}

// sendLine sends a console line; without a level it is for the result alone.
func (j *job) sendLine(write func(*link, frame) error, level, text string) {
	if limit := lineCap(j.limits.Output); len(text) > limit {
		text = text[:limit]
	}
	j.sendBy(write, frame{kind: kindLog, meta: level, body: text})
}

// done packs the end of a run so that it always fits its frame. Console lines
// that are in the result alone are sent first.
func (j *job) done(res runtime.Result, err error, stuck int) frame {
	j.mu.Lock()
	sent := j.lines
	j.mu.Unlock()
	for _, text := range res.Logs[min(sent, len(res.Logs)):] {
		j.sendLine((*link).batchLocked, "", text)
	}
	meta := doneMeta{Failure: res.Failure, Notes: res.Notes, Compute: res.Usage.Compute, Stuck: stuck}
	if err != nil {
		meta.Misuse = shorten(err.Error(), smallCap)
	}
	body := res.Value
	if meta.Failure != nil {
		failure := *meta.Failure
		body, failure.Message = failure.Message, ""
		meta.Failure = &failure
	}
	if len(body) > j.limits.Output {
		failure := &runtime.Failure{Kind: runtime.OutputLimit}
		if meta.Failure != nil {
			failure.Site, failure.Frame = meta.Failure.Site, meta.Failure.Frame
		}
		body, meta.Failure = "", failure
	}
	j.mu.Lock()
	meta.NotStarted = append(meta.NotStarted, j.unsent...)
	j.mu.Unlock()
	for _, inv := range res.Usage.NotStarted {
		if c, ok := j.locate(inv); ok {
			meta.NotStarted = append(meta.NotStarted, c)
		}
	}
	return frame{kind: kindDone, meta: fit(meta), body: body}
}

// locate finds the namespace and member of an invocation that was not made.
func (j *job) locate(inv runtime.Invocation) (callMeta, bool) {
	i := slices.IndexFunc(j.bound, func(n *namespace) bool { return n.Global() == inv.Global })
	if i < 0 {
		return callMeta{}, false
	}
	k, ok := j.bound[i].position[inv.Member]
	return callMeta{i, k, inv.Site.Line, inv.Site.Column}, ok
}

// fit encodes a done meta, leaving out what is least needed until it is small
// enough.
func fit(meta doneMeta) string {
	for step := 0; ; step++ {
		text := encode(meta)
		if len(text) <= doneMetaCap {
			return text
		}
		switch step {
		case 0:
			meta.Notes = nil
		case 1:
			meta.NotStarted = meta.NotStarted[:min(1000, len(meta.NotStarted))]
		default:
			short := doneMeta{Misuse: meta.Misuse, Compute: meta.Compute, Stuck: meta.Stuck}
			if meta.Failure != nil {
				short.Failure = &runtime.Failure{Kind: meta.Failure.Kind, Site: meta.Failure.Site}
			}
			meta = short
		}
	}
}
