package policy

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
)

// Who gives up at the moment of getting a permit takes nothing along, neither
// here nor in the queue behind.
func TestQueueWithdraw(t *testing.T) {
	behind := &queue{free: 1}
	q := &queue{free: 1, then: behind}
	first := q.ask()
	second := q.ask()
	q.withdraw(first)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := q.await(ctx, second); err != nil {
		t.Fatal(err)
	}
	if err := behind.await(ctx, second.then); err != nil {
		t.Fatal(err)
	}
	q.release()
	behind.release()
	if q.free != 1 || behind.free != 1 || len(q.waiting)+len(behind.waiting) > 0 {
		t.Errorf("left are %d and %d permits, want 1 and 1; waiting %d and %d", q.free, behind.free, len(q.waiting), len(behind.waiting))
	}
}

// A limiter remembers calls only as long as they last.
func TestLimiterForgets(t *testing.T) {
	l := newLimiter(LimitOptions{Concurrent: 1})
	p := pipelinetest.New(t, nil, pipelinetest.Echo("a"))
	p.Execution.Use("limit", l.listen)
	for _, name := range []string{"a", "a", "nope"} {
		p.Execute(t.Context(), pipeline.Request{Name: name})
	}
	if len(l.live) != 0 || len(l.lanes) != 1 {
		t.Errorf("%d calls and %d lanes are remembered, want 0 and 1", len(l.live), len(l.lanes))
	}
}
