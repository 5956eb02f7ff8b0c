package policy

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// RetryOptions configures Retry. The zero value is useful. Negative numbers
// panic in Retry.
type RetryOptions struct {
	// Attempts is how often a body may be started, the first time included.
	// Zero: 3.
	Attempts int
	// MaxTime is how long after the first start another attempt may still
	// begin, so a call that took as long to time out is not tried again. It ends
	// no attempt; that is for Timeout. Zero: 1 minute.
	MaxTime time.Duration
	// Backoff bounds the wait before the second attempt; the bound doubles with
	// each further one up to MaxBackoff. Zero: 200 ms and 10 s.
	Backoff, MaxBackoff time.Duration
	// Jitter picks a wait between zero and the bound. Nil: at random, evenly.
	Jitter func(bound time.Duration) time.Duration
	// Transient reports whether a failure may be gone the next time. A denial,
	// bad arguments and an abort are never retried, whatever it says. Nil:
	// failures with the code TOOL_TIMEOUT or one of Codes, and errors that
	// report Timeout or Temporary.
	Transient func(err error) bool
	// Codes are further codes of transient failures; only the default Transient
	// reads them.
	Codes []string
	// Repeatable reports whether the call may run twice. Nil: if its tool is
	// annotated as read-only or idempotent.
	Repeatable func(d pipeline.Dispatch) bool
}

// Retry runs a call again after a transient failure, with exponential backoff
// and full jitter, and returns the last result. It leaves alone what must not
// run twice, and run_code, whose program sees failures itself. opts may be nil.
//
// Register it in Pipeline.Execution outside Limit and Timeout: then it holds no
// permit while it waits, and each attempt has its own time. A call a person has
// approved is asked about again before each attempt unless its tool is
// idempotent.
func Retry(opts *RetryOptions) pipeline.Listener[pipeline.Dispatch, pipeline.Result] {
	var o RetryOptions
	if opts != nil {
		o = *opts
	}
	o.setDefaults()
	return o.listen
}

func (o *RetryOptions) setDefaults() {
	if o.Attempts < 0 || o.MaxTime < 0 || o.Backoff < 0 || o.MaxBackoff < 0 {
		panic("policy.Retry: Attempts, MaxTime, Backoff or MaxBackoff is negative; zero takes the default")
	}
	if o.Attempts == 0 {
		o.Attempts = 3
	}
	if o.MaxTime == 0 {
		o.MaxTime = time.Minute
	}
	if o.Backoff == 0 {
		o.Backoff = 200 * time.Millisecond
	}
	if o.MaxBackoff == 0 {
		o.MaxBackoff = 10 * time.Second
	}
	if o.Jitter == nil {
		o.Jitter = func(bound time.Duration) time.Duration { return time.Duration(rand.Float64() * float64(bound)) }
	}
	if o.Transient == nil {
		codes := append(slices.Clone(o.Codes), tools.CodeToolTimeout)
		o.Transient = func(err error) bool { return isTransient(err, codes) }
	}
	if o.Repeatable == nil {
		o.Repeatable = isRepeatable
	}
}

func isTransient(err error, codes []string) bool {
	if slices.Contains(codes, tools.InfoOf(err).Code) {
		return true
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return true
	}
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary()
}

func isRepeatable(d pipeline.Dispatch) bool {
	a := d.Tool.Definition().Annotations
	return a.ReadOnly || a.Idempotent
}

func (o *RetryOptions) listen(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
	start := time.Now()
	r, err := next(ctx)
	if d.Tool == nil || d.Call.IsTransport() || !o.Repeatable(d) {
		return r, err
	}
	for attempt := 1; attempt < o.Attempts && err == nil && o.worthwhile(r); attempt++ {
		wait := o.wait(attempt)
		if time.Since(start)+wait > o.MaxTime || !pause(ctx, wait) {
			break
		}
		r, err = next(ctx)
	}
	return r, err
}

// worthwhile reports whether r is a failure that another attempt may mend. The
// methods of an error are a stranger's: one that panics says no.
func (o *RetryOptions) worthwhile(r pipeline.Result) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return r.IsError() && !isFinal(r.Err()) && o.Transient(r.Err())
}

// isFinal reports whether the pipeline itself, or a person, has said no.
func isFinal(err error) bool {
	var denied *pipeline.DeniedError
	var aborted *pipeline.AbortError
	var args *tools.ArgsError
	return errors.As(err, &denied) || errors.As(err, &aborted) || errors.As(err, &args)
}

// wait is how long to wait after the given attempt, the first being 1.
func (o *RetryOptions) wait(attempt int) time.Duration {
	bound := o.Backoff
	for range attempt - 1 {
		if bound >= o.MaxBackoff/2 {
			bound = o.MaxBackoff
			break
		}
		bound *= 2
	}
	bound = min(bound, o.MaxBackoff)
	return min(max(o.Jitter(bound), 0), bound)
}

// pause waits and reports whether ctx still lasts.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
