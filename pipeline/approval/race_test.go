package approval_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/approval"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
)

// after answers when so much time is over, whatever happens to its context; what
// that was is noted in trace.
func after(trace *pipelinetest.Trace, name string, wait time.Duration, answer pipeline.Answer, err error) pipeline.Approver {
	return pipeline.ApproverFunc(func(ctx context.Context, _ ask) (pipeline.Answer, error) {
		time.Sleep(wait)
		trace.Add("%s answers, context: %v", name, context.Cause(ctx))
		return answer, err
	})
}

// waiting answers Cancelled when its context ends.
var waiting = pipeline.ApproverFunc(func(ctx context.Context, _ ask) (pipeline.Answer, error) {
	<-ctx.Done()
	return pipeline.Cancelled, nil
})

// timed is what an approver says and how long it takes.
func timed(t *testing.T, a pipeline.Approver, ctx context.Context) (said, time.Duration) {
	t.Helper()
	began := time.Now()
	got := saidBy(a, ctx)
	took := time.Since(began)
	time.Sleep(time.Hour) // for what was left behind
	return got, took
}

func TestFirst(t *testing.T) {
	trace := &pipelinetest.Trace{}
	for _, tt := range []struct {
		name      string
		approvers []pipeline.Approver
		want      said
		took      time.Duration
		trace     []string
	}{
		{"the faster decides, the other's late answer is discarded",
			[]pipeline.Approver{after(trace, "terminal", 9*time.Second, pipeline.AllowedOnce, nil), after(trace, "phone", 2*time.Second, pipeline.Rejected, nil)},
			said{"rejected", ""}, 2 * time.Second,
			[]string{"phone answers, context: <nil>", "terminal answers, context: context canceled"}},
		{"all are asked at once",
			[]pipeline.Approver{after(trace, "a", time.Second, 0, nil), after(trace, "b", time.Second, 0, nil), after(trace, "c", 2*time.Second, pipeline.Granted, nil)},
			said{"granted", ""}, 2 * time.Second,
			[]string{"a answers, context: <nil>", "b answers, context: <nil>", "c answers, context: <nil>"}},
		{"a failure leaves it to the others",
			[]pipeline.Approver{after(trace, "phone", 0, pipeline.AllowedOnce, errPlain), crashing, leaving, saying(99, nil), after(trace, "terminal", time.Second, pipeline.AllowedOnce, nil)},
			said{"allowed-once", ""}, time.Second,
			[]string{"phone answers, context: <nil>", "terminal answers, context: <nil>"}},
		{"nobody decides",
			[]pipeline.Approver{after(trace, "slow", time.Second, 0, errors.New("offline")), saying(0, nil), saying(0, errPlain)},
			said{"unavailable", "offline\nit broke"}, time.Second, []string{"slow answers, context: <nil>"}},
		{"cancelled is an answer", []pipeline.Approver{saying(pipeline.Cancelled, nil), waiting}, said{"cancelled", ""}, 0, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := len(trace.Steps())
				got, took := timed(t, approval.First(tt.approvers...), t.Context())
				check(t, "answer", got, tt.want)
				check(t, "time", took, tt.took)
				check(t, "trace", sorted(trace.Steps()[before:]), tt.trace)
			})
		})
	}
}

func TestFirstEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, took := timed(t, approval.First(waiting, after(trace, "deaf", time.Minute, pipeline.AllowedOnce, nil)), ctx)
		check(t, "answer", got, said{"cancelled", ""})
		check(t, "time", took, time.Second)
		check(t, "trace", trace.Steps(), []string{"deaf answers, context: context deadline exceeded"})
	})
}

// What callers do with their list later is not the service's business.
func TestFirstKeepsItsApprovers(t *testing.T) {
	list := []pipeline.Approver{saying(pipeline.Rejected, nil)}
	first := approval.First(list...)
	list[0] = saying(pipeline.AllowedOnce, nil)
	check(t, "answer", saidBy(first, t.Context()), said{"rejected", ""})
}

func TestWithin(t *testing.T) {
	trace := &pipelinetest.Trace{}
	const limit = time.Minute
	late := said{"unavailable", "nobody answered within 1m0s"}
	for _, tt := range []struct {
		name string
		of   pipeline.Approver
		want said
		took time.Duration
	}{
		{"in time", after(trace, "a", limit-1, pipeline.AllowedOnce, nil), said{"allowed-once", ""}, limit - 1},
		{"too late", after(trace, "a", limit+1, pipeline.AllowedOnce, nil), late, limit},
		{"a context that ends is no person's cancellation", waiting, late, limit},
		{"cancelled in time", saying(pipeline.Cancelled, nil), said{"cancelled", ""}, 0},
		{"a failure", saying(0, errPlain), said{"unavailable", "it broke"}, 0},
		{"a panic", crashing, said{"unavailable", "approver crashed"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, took := timed(t, approval.Within(limit, tt.of), t.Context())
				check(t, "answer", got, tt.want)
				check(t, "time", took, tt.took)
			})
		})
	}
	t.Run("the caller leaves first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, took := timed(t, approval.Within(limit, after(trace, "deaf", time.Hour/2, pipeline.AllowedOnce, nil)), ctx)
			check(t, "answer", got, said{"cancelled", ""})
			check(t, "time", took, time.Second)
		})
	})
}

// One who does not answer in time is passed over; all have the pipeline's time.
func TestTimesInAPipeline(t *testing.T) {
	for _, tt := range []struct {
		name string
		last time.Duration // of the last answerer
		want string
		took time.Duration
	}{
		{"the next one answers", 30 * time.Second, removed, 90 * time.Second},
		{"the pipeline's time is over", time.Hour, `Error: tool "rm" requires approval, and nobody answered within 3m0s`, 3 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logs logBuffer
				s, p := attached(t, &approval.Options{Logger: logs.logger()}, pipeline.Options{ApprovalTimeout: 3 * time.Minute})
				trace := &pipelinetest.Trace{}
				s.Use("phone", approval.Within(time.Minute, waiting))
				s.Use("terminal", after(trace, "terminal", tt.last, pipeline.AllowedOnce, nil))
				began := time.Now()
				check(t, "outcome", remove(p, nil), tt.want)
				check(t, "time", time.Since(began), tt.took)
				time.Sleep(time.Hour)
			})
		})
	}
}
