package gojavm

import (
	"context"
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/internal/growstack"
	"github.com/runcode-go/runcode/runtime"
)

// hand is a goroutine that takes the calls of one run to the host, one after the
// other. The engine cannot make them itself, for a program must stop although a
// tool does not; but a goroutine that has made a call has grown its stack for the
// next one. A run has as many as it has had calls out at once.
type hand struct {
	call *call         // to make; a hand that waits has none, for it would keep the result
	next chan struct{} // there is a call; closed when the run is over
}

// takeHand is a hand that is free, or a new one; r.mu is held. It waits for one
// call.
func (r *run) takeHand() *hand {
	if last := len(r.idleHands) - 1; last >= 0 {
		h := r.idleHands[last]
		r.idleHands = r.idleHands[:last]
		return h
	}
	h := &hand{next: make(chan struct{}, 1)}
	r.live.Add(1)
	go r.work(h)
	return h
}

// work makes calls until the run is over or the host ends the goroutine.
func (r *run) work(h *hand) {
	defer r.live.Done()
	growstack.Grow()
	for range h.next {
		if !r.deliver(h) {
			return
		}
	}
}

// errLeft is the answer of a call whose goroutine the host ended.
var errLeft = errors.New("the call ended without an answer")

// deliver makes a call and says whether the hand waits for another one.
func (r *run) deliver(h *hand) bool {
	c := h.call
	h.call = nil
	inv := runtime.Invocation{
		Seq: c.sequence, Global: c.owner.global(), Member: c.member, Args: c.args, Site: c.site,
		Answer: func(reply runtime.Reply, err error) { r.arrived(c, reply, err, nil) },
	}
	returned := false
	defer func() {
		if !returned {
			inv.Answer(runtime.Reply{}, errLeft)
		}
	}()
	reply, err := answer(c.ctx, c.owner.binding.Call, inv)
	returned = true
	return r.arrived(c, reply, err, h)
}

// answer calls the host and turns its panic into a failure.
func answer(ctx context.Context, f func(context.Context, runtime.Invocation) (runtime.Reply, error), inv runtime.Invocation) (reply runtime.Reply, err error) {
	defer func() {
		if x := recover(); x != nil {
			reply, err = runtime.Reply{}, fmt.Errorf("%s failed: the host panicked: %v", inv.Member, x)
		}
	}()
	return f(ctx, inv)
}
