package worker

import "time"

// RaceEnabled says whether the race detector is built in.
const RaceEnabled = raceEnabled

// SharedDir is a directory that lasts as long as the tests.
func SharedDir() string { return testDir() }

// WithHelloWait sets how long a new process may take to greet.
func WithHelloWait(o Options, wait time.Duration) *Options {
	o.wait = wait
	return &o
}
