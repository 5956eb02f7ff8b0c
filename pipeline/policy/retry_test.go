package policy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// flaky is a body that fails with err until the given attempt, and counts.
func flaky(attempts *int, until int, err error) body {
	return func(context.Context, *tools.Run) (tools.Result, error) {
		if *attempts++; *attempts < until {
			return tools.Result{}, err
		}
		return text(fmt.Sprint("attempt ", *attempts))
	}
}

type netError struct{ timeout, temporary bool }

func (e netError) Error() string   { return "net" }
func (e netError) Timeout() bool   { return e.timeout }
func (e netError) Temporary() bool { return e.temporary }

// hostile is an error whose methods panic.
type hostile struct{}

func (hostile) Error() string { return "hostile" }
func (hostile) Timeout() bool { panic("secret") }

func coded(code string) error { return &tools.Error{Name: "E", Code: code, Message: code} }

func always(error) bool { return true }

func TestRetry(t *testing.T) {
	idempotent := tools.Annotations{Idempotent: true}
	temporary := netError{temporary: true}
	tests := []struct {
		name  string
		notes tools.Annotations
		opts  *policy.RetryOptions
		err   error
		until int
		want  int // attempts
	}{
		{"no failure", idempotent, nil, nil, 1, 1},
		{"temporary", idempotent, nil, temporary, 2, 2},
		{"wrapped timeout", idempotent, nil, fmt.Errorf("get: %w", netError{timeout: true}), 3, 3},
		{"neither", idempotent, nil, netError{}, 9, 1},
		{"three attempts by default", idempotent, nil, temporary, 9, 3},
		{"five attempts", idempotent, &policy.RetryOptions{Attempts: 5}, temporary, 9, 5},
		{"one attempt", idempotent, &policy.RetryOptions{Attempts: 1}, temporary, 9, 1},
		{"read-only", tools.Annotations{ReadOnly: true}, nil, temporary, 2, 2},
		{"may not run twice", tools.Annotations{}, nil, temporary, 2, 1},
		{"may run twice after all", tools.Annotations{},
			&policy.RetryOptions{Repeatable: func(d pipeline.Dispatch) bool { return d.Call.Name() == "x" }}, temporary, 2, 2},
		{"timed out", idempotent, nil, coded(tools.CodeToolTimeout), 2, 2},
		{"another code", idempotent, nil, coded("BUSY"), 2, 1},
		{"a listed code", idempotent, &policy.RetryOptions{Codes: []string{"BUSY"}}, coded("BUSY"), 2, 2},
		{"a code listed beside the default", idempotent, &policy.RetryOptions{Codes: []string{"BUSY"}}, coded(tools.CodeToolTimeout), 2, 2},
		{"a classifier's word", idempotent, &policy.RetryOptions{Transient: always}, errors.New("plain"), 2, 2},
		{"a plain error", idempotent, nil, errors.New("plain"), 2, 1},
		{"an error that panics", idempotent, nil, hostile{}, 2, 1},
		{"a denial", idempotent, &policy.RetryOptions{Transient: always}, &pipeline.DeniedError{Code: "X", Reason: "no"}, 2, 1},
		{"a wrapped denial", idempotent, &policy.RetryOptions{Transient: always},
			fmt.Errorf("inside: %w", &pipeline.DeniedError{Code: "X", Reason: "no"}), 2, 1},
		{"bad arguments", idempotent, &policy.RetryOptions{Transient: always}, &tools.ArgsError{}, 2, 1},
		{"an abort because of a deadline", idempotent, nil,
			&pipeline.AbortError{Code: tools.CodeAborted, Cause: context.DeadlineExceeded}, 2, 1},
		{"no time left", idempotent, &policy.RetryOptions{MaxTime: time.Millisecond, Jitter: longest}, temporary, 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				def := pipelinetest.Tool("x", flaky(&attempts, tt.until, tt.err))
				def.Annotations = tt.notes
				p := pipelinetest.New(t, nil, def)
				p.Execution.Use("retry", policy.Retry(tt.opts))
				o := exec(p, "x")
				check(t, "attempts", attempts, tt.want)
				check(t, "failed", o.IsError(), tt.want < tt.until)
			})
		})
	}
}

func longest(bound time.Duration) time.Duration { return bound }

func TestRetryBackoff(t *testing.T) {
	tests := []struct {
		name string
		opts policy.RetryOptions
		want []time.Duration
	}{
		{"doubles up to the bound", policy.RetryOptions{Attempts: 6, Backoff: time.Second, MaxBackoff: 5 * time.Second, Jitter: longest},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}},
		{"a bound below the first wait", policy.RetryOptions{Backoff: time.Second, MaxBackoff: time.Millisecond, Jitter: longest},
			[]time.Duration{time.Millisecond, time.Millisecond}},
		{"a jitter out of bounds", policy.RetryOptions{Backoff: time.Second, Jitter: func(bound time.Duration) time.Duration {
			if bound == time.Second {
				return -1
			}
			return 2 * bound
		}}, []time.Duration{0, 2 * time.Second}},
		{"total time", policy.RetryOptions{Attempts: 100, Backoff: time.Second, MaxTime: 7 * time.Second, Jitter: longest},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waits []time.Duration
				var last time.Time
				p := pipelinetest.New(t, nil, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
					if !last.IsZero() {
						waits = append(waits, time.Since(last))
					}
					last = time.Now()
					return tools.Result{}, netError{temporary: true}
				}))
				tt.opts.Repeatable = func(pipeline.Dispatch) bool { return true }
				p.Execution.Use("retry", policy.Retry(&tt.opts))
				exec(p, "x")
				check(t, "waits", waits, tt.want)
			})
		})
	}
}

func TestRetryRandomWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		def := pipelinetest.Tool("x", flaky(&attempts, 2, netError{timeout: true}))
		def.Annotations.Idempotent = true
		p := pipelinetest.New(t, nil, def)
		p.Execution.Use("retry", policy.Retry(&policy.RetryOptions{Backoff: time.Hour, MaxBackoff: time.Hour, MaxTime: time.Hour}))
		start := time.Now()
		check(t, "text", exec(p, "x").Text(), "attempt 2")
		if took := time.Since(start); took < 0 || took > time.Hour {
			t.Errorf("waited %v, want at most the bound", took)
		}
	})
}

func TestRetryEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		def := pipelinetest.Tool("x", flaky(&attempts, 9, netError{timeout: true}))
		def.Annotations.Idempotent = true
		p := pipelinetest.New(t, nil, def)
		p.Execution.Use("retry", policy.Retry(&policy.RetryOptions{Backoff: time.Second, Jitter: longest}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		start := time.Now()
		check(t, "text", p.Execute(ctx, pipeline.Request{Name: "x"}).Text(), "Error: net")
		check(t, "attempts", attempts, 1)
		check(t, "took", time.Since(start), time.Second/2)
	})
}

// The order of registration decides whether the time is that of an attempt or
// of all of them.
func TestRetryAndTimeout(t *testing.T) {
	retry := policy.Retry(&policy.RetryOptions{Backoff: time.Second, Jitter: longest})
	for _, tt := range []struct {
		name  string
		order []wrapper
		want  string
		took  time.Duration
	}{
		{"retry outside", []wrapper{retry, policy.Timeout()}, "attempt 2", 4 * time.Second},
		{"timeout outside", []wrapper{policy.Timeout(), retry}, "Error: tool call timed out after 3000ms", 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				def := timed("x", 3*time.Second, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					if attempts++; attempts == 1 {
						return sleeper(time.Minute)(ctx, run)
					}
					return text(fmt.Sprint("attempt ", attempts))
				})
				def.Annotations.Idempotent = true
				p := pipelinetest.New(t, nil, def)
				for i, w := range tt.order {
					p.Execution.Use(fmt.Sprint(i), w)
				}
				start := time.Now()
				check(t, "text", exec(p, "x").Text(), tt.want)
				check(t, "took", time.Since(start), tt.took)
			})
		})
	}
}

func TestRetryLeavesAlone(t *testing.T) {
	attempts := 0
	p := pipelinetest.New(t, nil)
	p.Execution.Use("retry", policy.Retry(&policy.RetryOptions{Transient: always, Repeatable: func(pipeline.Dispatch) bool { return true }}))
	install(t, p, pipelinetest.Tool(tools.TransportName, flaky(&attempts, 2, netError{timeout: true})))
	exec(p, tools.TransportName)
	check(t, "attempts of run_code", attempts, 1)
	check(t, "unknown", exec(p, "nope").Info().Code, tools.CodeUnknownTool)
}

func TestRetryOptions(t *testing.T) {
	for _, o := range []policy.RetryOptions{{Attempts: -1}, {MaxTime: -1}, {Backoff: -1}, {MaxBackoff: -1}} {
		check(t, fmt.Sprintf("%+v panics", o), panics(func() { policy.Retry(&o) }), true)
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
