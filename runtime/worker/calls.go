package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/internal/growstack"
	"github.com/runcode-go/runcode/runtime"
)

// maxAbandoned is how many calls the program gave up on may still be running in
// the parent before further ones are refused.
const maxAbandoned = 64

// calls is the calls of one run that are out in the parent. A worker that
// follows the protocol never has more out than it has credit for; one that does
// not is caught here.
type calls struct {
	session *session
	ctx     context.Context // of every call
	hold    *budget

	mu        sync.Mutex
	out       map[uint64]*call
	abandoned int    // of out, those the program gave up on
	last      uint64 // ids count up, those of readings of the clock among them
	made      int
	line      int                  // of the call made last, 0 if unknown
	refused   []runtime.Invocation // that came when the run was already being stopped
	in, sent  int64                // bytes of results and of arguments
	held      int64                // bytes the parent holds now

	next    chan *call // for a hand that waits
	over    chan struct{}
	running sync.WaitGroup // hands
}

type call struct {
	id        uint64
	binding   runtime.Binding
	inv       runtime.Invocation
	ctx       context.Context
	cancel    context.CancelCauseFunc
	abandoned bool
}

func newCalls(s *session, ctx context.Context, hold *budget) *calls {
	return &calls{session: s, ctx: ctx, hold: hold, out: map[uint64]*call{}, next: make(chan *call), over: make(chan struct{})}
}

// member looks up what a worker pointed at, and checks from where.
func (c *calls) member(m callMeta) (runtime.Binding, int, error) {
	bindings := c.session.req.Bindings
	if m[0] < 0 || m[0] >= len(bindings) || m[1] < 0 || m[1] >= len(bindings[m[0]].Namespace.Members()) {
		return runtime.Binding{}, 0, faultf("there is no member %d.%d", m[0], m[1])
	}
	if err := checkSite(m.site()); err != nil {
		return runtime.Binding{}, 0, err
	}
	return bindings[m[0]], m[1], nil
}

// invocation is the call of a member from a place in the program.
func invocation(b runtime.Binding, member int, site runtime.Site) runtime.Invocation {
	return runtime.Invocation{Global: b.Namespace.Global(), Member: b.Namespace.Members()[member].Name, Site: site}
}

// begin starts the call of a frame on another goroutine.
func (c *calls) begin(f frame) error {
	var meta callMeta
	if err := meta.unpack(f); err != nil {
		return err
	}
	binding, member, err := c.member(meta)
	if err != nil {
		return err
	}
	if f.body != "" && !validJSON(f.body) {
		return faultf("the arguments of a call are not JSON")
	}
	inv := invocation(binding, member, meta.site())
	if err := c.fresh(f.call); err != nil {
		return err
	}
	if c.ctx.Err() != nil { // the stop is on its way: nothing starts any more
		c.neverStarted(inv)
		c.reply(f.call, errorAnswer(context.Cause(c.ctx)))
		return nil
	}
	if c.tooManyAbandoned() {
		c.reply(f.call, errorAnswer(fmt.Errorf("the call was not made: %d calls the program gave up on have not returned yet", maxAbandoned)))
		return nil
	}
	inv.Args = f.body
	made := &call{id: f.call, binding: binding, inv: inv}
	made.ctx, made.cancel = context.WithCancelCause(c.ctx)
	refusal, err := c.admit(made)
	if err != nil || refusal != nil {
		made.cancel(nil)
		if refusal != nil {
			c.session.stopNow(*refusal)
		}
		return err
	}
	made.inv.Answer = func(reply runtime.Reply, err error) { c.settle(made, reply, err) }
	select {
	case c.next <- made:
	default: // all hands are busy
		c.running.Go(func() { c.hand(made) })
	}
	return nil
}

// hand makes calls one after the other until the run is over, for what it calls goes
// deep and a new goroutine would have to grow each time. One that the host's code ends
// does not come back.
func (c *calls) hand(made *call) {
	growstack.Grow()
	for {
		c.make(made)
		select {
		case made = <-c.next:
		case <-c.over:
			return
		}
	}
}

func (c *calls) make(made *call) {
	defer made.cancel(nil)
	reply, err := runtime.Reply{}, errLeft
	defer func() { c.settle(made, reply, err) }()
	reply, err = c.do(made)
}

// errLeft is the answer of a call whose goroutine the host ended.
var errLeft = errors.New("the call ended without an answer")

// neverStarted keeps a call for the account of the run. To the worker it has been
// handed out, so that the worker does not count it among those that waited.
func (c *calls) neverStarted(inv runtime.Invocation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.refused) < c.session.limits.Calls {
		c.refused = append(c.refused, inv)
	}
}

// fresh takes note of an id. One that does not follow the last is a fault.
func (c *calls) fresh(id uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id <= c.last {
		return faultf("id %d follows %d; ids count up", id, c.last)
	}
	c.last = id
	return nil
}

// admit counts a call in and numbers it: the worker's word is not asked for. Exceeding
// credit is a fault; exceeding a limit ends the run with that limit.
func (c *calls) admit(made *call) (*runtime.Failure, error) {
	limits := c.session.limits
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out)-c.abandoned >= c.session.req.Parallel {
		return nil, faultf("a call beyond the %d that may be out at once", c.session.req.Parallel)
	}
	if c.made == limits.Calls {
		return &runtime.Failure{Kind: runtime.CallLimit, Message: fmt.Sprintf("call limit reached (%d calls)", limits.Calls)}, nil
	}
	size := int64(len(made.inv.Args))
	if failure := c.take(size); failure != nil {
		return failure, nil
	}
	c.made++
	made.inv.Seq = c.made
	c.line = made.inv.Site.Line
	c.sent += size
	c.out[made.id] = made
	return nil, nil
}

// take accounts for n more bytes in the run and in the Runtime, or says which
// limit forbids them. The caller holds mu.
func (c *calls) take(n int64) *runtime.Failure {
	limit, whose := c.session.limits.Bytes, "this run"
	if c.held+n <= limit {
		if c.hold.take(n) {
			c.held += n
			return nil
		}
		limit, whose = runtimeBytes, "all runs of this process"
	}
	return &runtime.Failure{Kind: runtime.BytesLimit, Message: fmt.Sprintf("arguments and results in flight of %s exceed %d bytes", whose, limit)}
}

// cancel ends one call's context: the program gave up on it. Its credit is free
// again although its body may still be returning.
func (c *calls) cancel(id uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == 0 || id > c.last {
		return faultf("call %d is given up and was never made", id)
	}
	// One that has been answered meanwhile is fine: the frames crossed.
	if call := c.out[id]; call != nil && !call.abandoned {
		call.abandoned = true
		c.abandoned++
		call.cancel(errGivenUp)
	}
	return nil
}

var errGivenUp = errors.New("the program gave up on the call")

// do makes the call. The body's panic becomes its error.
func (c *calls) do(made *call) (_ runtime.Reply, err error) {
	defer panicked(made.inv.Member, func(failure error) { err = failure })
	return made.binding.Call(made.ctx, made.inv)
}

// panicked is deferred around the host's code.
func panicked(member string, report func(error)) {
	if v := recover(); v != nil {
		report(fmt.Errorf("%s failed: the host panicked: %v", member, v))
	}
}

// answer is what crosses of a call's result. Errors have methods of the host's.
func (c *calls) answer(inv *runtime.Invocation, reply runtime.Reply, err error) (a answer) {
	defer panicked(inv.Member, func(failure error) { a = errorAnswer(failure) })
	if err != nil {
		return errorAnswer(err)
	}
	if limit := min(c.session.limits.Result, maxBody); len(reply.Value) > limit {
		// The engine would say the same, but the bytes need not cross for that.
		return errorAnswer(&runtime.CallError{
			Code:    "RESULT_TOO_LARGE",
			Message: fmt.Sprintf("the result of %s is %d bytes; the result limit is %d bytes", spell(inv.Global, inv.Member), len(reply.Value), limit),
		})
	}
	return answer{body: reply.Value}
}

// answer is what a call's reply frame says.
type answer struct {
	meta replyMeta
	body string
}

// tooManyAbandoned says whether a program keeps giving up on calls whose bodies
// do not return: their number would have no other bound.
func (c *calls) tooManyAbandoned() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.abandoned >= maxAbandoned
}

// spell writes a member as a program does.
func spell(global, member string) string {
	if plainName.MatchString(member) {
		return global + "." + member
	}
	return fmt.Sprintf("%s[%q]", global, member)
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// errorAnswer packs a call's error. Its text is bounded like everything the
// parent sends.
func errorAnswer(err error) answer {
	meta := replyMeta{Failed: true}
	text := err.Error()
	var typed *runtime.CallError
	if errors.As(err, &typed) {
		meta.Typed, meta.Code, meta.CallID, meta.Extra = true, typed.Code, typed.CallID, typed.Extra
		text = typed.Message
	}
	return answer{meta, shorten(text, reasonCap)}
}

// settle gives a call's credit back and then sends its reply: in the other order
// the worker could use the credit too early. A call is settled once, by its first
// answer.
func (c *calls) settle(made *call, reply runtime.Reply, err error) {
	a := c.answer(&made.inv, reply, err)
	if c.session.req.Clock != nil && !reply.Time.IsZero() {
		at := packTime(reply.Time)
		a.meta.Time = &at
	}
	c.mu.Lock()
	if c.out[made.id] == nil {
		c.mu.Unlock()
		return
	}
	if made.abandoned {
		c.abandoned--
	}
	delete(c.out, made.id)
	size := int64(len(a.body))
	failure := c.take(size)
	if failure != nil {
		size = 0
	} else if !a.meta.Failed {
		c.in += size
	}
	c.mu.Unlock()
	if failure != nil {
		c.session.stop(*failure)
		a = errorAnswer(errors.New(failure.Message))
	}
	c.reply(made.id, a)
	size += int64(len(made.inv.Args))
	c.mu.Lock()
	c.held -= size
	c.mu.Unlock()
	c.hold.give(size)
}

// reply sends an answer, unless the run is over. A lost worker is noticed by the
// receiver. When the run is being stopped the answer follows the stop: a program
// must not go on with it first.
func (c *calls) reply(id uint64, a answer) {
	if c.ctx.Err() != nil {
		<-c.session.told
	}
	var meta string // of a value: nothing to say
	if a.meta.Failed || a.meta.Time != nil {
		meta = encode(a.meta)
	}
	if len(meta) > replyMetaCap {
		a.meta.Code, a.meta.CallID, a.meta.Extra = "", "", nil
		meta = encode(a.meta)
	}
	c.session.send(frame{kind: kindReply, call: id, meta: meta, body: a.body})
}

// lastMade says where the last call was made, for a program whose worker is lost:
// more is not known of how far it came. It is empty if there was none.
func (c *calls) lastMade() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.made == 0:
		return ""
	case c.line == 0:
		return fmt.Sprintf("the last call before that was number %d", c.made)
	}
	return fmt.Sprintf("the last call before that was number %d, on line %d", c.made, c.line)
}

// outstanding is the number of calls that have not returned.
func (c *calls) outstanding() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out)
}

// wait returns when every call has returned. None begins any more.
func (c *calls) wait() {
	close(c.over)
	c.running.Wait()
}

func (c *calls) usage() runtime.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return runtime.Usage{Calls: c.made, BytesIn: c.in, BytesOut: c.sent, NotStarted: slices.Clone(c.refused)}
}

// budget bounds the bytes that all runs of one Runtime hold together.
type budget struct {
	mu   sync.Mutex
	left int64
}

// runtimeBytes is what the runs of one Runtime may hold at once.
const runtimeBytes = 256 << 20

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.left += n
	b.mu.Unlock()
}
