package worker

import (
	"sync"
	"time"
)

// computeSlack is how much processor time a worker gets beyond the run's compute
// limit: the engine's own meter fires first and knows the line.
const computeSlack = time.Second

// meter watches the processor time of one process during one run. It does not
// believe the process's own meter.
type meter struct {
	worker *process
	limit  time.Duration
	over   func(time.Duration)

	mu      sync.Mutex
	timer   *time.Timer // of the next look; nil: none follows
	stopped bool
	begun   bool // a look has succeeded, the first one at begin
	begin   time.Duration
	busy    time.Duration // at the last look that succeeded
	last    usage         // what that look saw
}

// startMeter calls over once, with the time used, when the worker has used more
// than limit from now on. Where the system does not tell, it measures nothing.
func startMeter(worker *process, limit time.Duration, over func(time.Duration)) *meter {
	m := &meter{worker: worker, limit: limit, over: over}
	if worker.look == nil {
		return m
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := minPoll
	if m.measure() {
		wait = m.soonest()
	}
	m.timer = time.AfterFunc(wait, m.watch)
	return m
}

const minPoll = 25 * time.Millisecond

// soonest is how long the worker cannot be over its limit. It cannot use time faster
// than the clock: one thread runs Go code and the collector shares it.
func (m *meter) soonest() time.Duration { return max(m.limit-m.busy, minPoll) }

// watch looks and calls over, or has it looked again. No call of over begins after
// stop.
func (m *meter) watch() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	wait := minPoll
	if m.measure() {
		if m.busy > m.limit {
			m.over(m.busy)
			return
		}
		wait = m.soonest()
	}
	m.timer.Reset(wait)
}

// measure looks once and says whether the system told. The caller holds mu.
func (m *meter) measure() bool {
	now, err := m.worker.usage()
	if err != nil {
		return false
	}
	if !m.begun {
		m.begun, m.begin = true, now.cpu
	}
	m.busy, m.last = max(now.cpu-m.begin, 0), now
	return true
}

// stop ends the watch and returns the time the run used. last is from then on what
// the process used when the run was over.
func (m *meter) stop() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
	if m.timer != nil {
		m.timer.Stop()
		m.measure()
	}
	return m.busy
}
