package approval

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// First asks all approvers at once, as one who is at the terminal or at the phone.
// The first that says AllowedOnce, Granted, Rejected or Cancelled decides; then,
// and when ctx ends, the context of the others ends and what they still say is
// discarded. It does not wait for them, so they should return soon after. If none
// decides the answer is Unavailable, and the error joins those of all; the errors
// of the others are lost where one decides. No approver at all, or a nil one,
// panics.
func First(approvers ...pipeline.Approver) pipeline.Approver {
	if len(approvers) == 0 || slices.Contains(approvers, nil) {
		panic("approval: First needs approvers, none of them nil")
	}
	approvers = slices.Clone(approvers)
	return pipeline.ApproverFunc(func(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		return race(ctx, ask, approvers...)
	})
}

// Within gives an approver a time of its own. When it is over the answer is
// Unavailable with an error that says so, and what the approver still says is
// discarded. A time that is not positive, or a nil approver, panics.
func Within(limit time.Duration, a pipeline.Approver) pipeline.Approver {
	if limit <= 0 || a == nil {
		panic(fmt.Sprintf("approval: Within(%v) needs a positive time and an approver", limit))
	}
	return pipeline.ApproverFunc(func(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		own, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		answer, err := race(own, ask, a)
		if own.Err() != nil && ctx.Err() == nil {
			return pipeline.Unavailable, fmt.Errorf("nobody answered within %v", limit)
		}
		return answer, err
	})
}

// race asks the approvers at once and waits for an answer that decides, or for
// the end of ctx, which is Cancelled. Without either the answer is Unavailable.
func race(ctx context.Context, ask pipeline.ApprovalRequest, approvers ...pipeline.Approver) (pipeline.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	replies := make(chan reply, len(approvers)) // room for those that nobody waits for
	for i, a := range approvers {
		go put(ctx, ask, a, i, replies)
	}
	failed := make([]error, len(approvers))
	for range approvers {
		select {
		case r := <-replies:
			if r.answer != pipeline.Unavailable {
				return r.answer, nil
			}
			failed[r.from] = r.err
		case <-ctx.Done():
			return pipeline.Cancelled, nil
		}
	}
	return pipeline.Unavailable, errors.Join(failed...)
}

// reply is an answer that decides, or Unavailable and, if there is one, why.
type reply struct {
	from   int // which approver's
	answer pipeline.Answer
	err    error
}

var errLeft = errors.New("the approver ended its goroutine without an answer")

// put asks one approver, in a goroutine that the approver may end, and replies in
// any case.
func put(ctx context.Context, ask pipeline.ApprovalRequest, a pipeline.Approver, from int, replies chan<- reply) {
	r := reply{err: errLeft}
	defer func() {
		if v := recover(); v != nil {
			r = reply{err: &tools.PanicError{Where: "approver", Value: v, Stack: debug.Stack()}}
		}
		r.from = from
		replies <- r
	}()
	r = replyOf(a.Approve(ctx, ask))
}

func replyOf(answer pipeline.Answer, err error) reply {
	if err != nil {
		_ = err.Error() // one that has no text panics here, where that is caught
		return reply{err: err}
	}
	switch answer {
	case pipeline.AllowedOnce, pipeline.Granted, pipeline.Rejected, pipeline.Cancelled:
		return reply{answer: answer}
	case pipeline.Unavailable:
		return reply{}
	}
	return reply{err: fmt.Errorf("the approver returned the answer %d, which means nothing", uint8(answer))}
}
