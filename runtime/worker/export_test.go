package worker

import (
	"context"
	"os"
	"sync/atomic"
	"time"
)

// RaceEnabled says whether the race detector is built in.
const RaceEnabled = raceEnabled

// SharedDir is a directory that lasts as long as the tests.
func SharedDir() string { return testDir() }

// WithHelloWait sets how long a new process may take to greet.
func WithHelloWait(o Options, wait time.Duration) *Options {
	o.wait = wait
	return &o
}

// Soak says whether the environment asks for the long forms of tests.
func Soak() bool { return os.Getenv("RUNCODE_SOAK") == "1" }

// CountStarts counts from now on the workers that r starts.
func CountStarts(r *Runtime) (starts func() int) {
	var n atomic.Int64
	start := r.pool.start
	r.pool.start = func(ctx context.Context) (*process, error) {
		n.Add(1)
		return start(ctx)
	}
	return func() int { return int(n.Load()) }
}
