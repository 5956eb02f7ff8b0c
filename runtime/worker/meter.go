package worker

import "time"

// computeSlack is how much processor time a worker gets beyond the run's compute
// limit: the engine's own meter fires first and knows the line.
const computeSlack = time.Second

// meter watches the processor time of one process during one run. It does not
// believe the process's own meter.
type meter struct {
	worker *process
	begun  bool // a look has succeeded, the first one at begin
	begin  time.Duration
	busy   time.Duration // at the last look that succeeded
	halt   chan struct{}
	done   chan struct{}
}

// startMeter calls over once, with the time used, when the worker has used more
// than limit from now on. Where the system does not tell, it measures nothing.
func startMeter(worker *process, limit time.Duration, over func(time.Duration)) *meter {
	m := &meter{worker: worker, halt: make(chan struct{}), done: make(chan struct{})}
	if worker.look == nil {
		close(m.done)
		return m
	}
	m.measure()
	go m.watch(limit, over)
	return m
}

const minPoll = 25 * time.Millisecond

func (m *meter) watch(limit time.Duration, over func(time.Duration)) {
	defer close(m.done)
	for {
		wait := minPoll
		if m.measure() {
			if m.busy > limit {
				over(m.busy)
				return
			}
			// It cannot use time faster than the clock: one thread runs Go code
			// and the collector shares it.
			wait = max(limit-m.busy, minPoll)
		}
		select {
		case <-time.After(wait):
		case <-m.halt:
			return
		}
	}
}

// measure looks once and says whether the system told.
func (m *meter) measure() bool {
	now, err := m.worker.usage()
	if err != nil {
		return false
	}
	if !m.begun {
		m.begun, m.begin = true, now.cpu
	}
	m.busy = max(now.cpu-m.begin, 0)
	return true
}

// stop ends the watch and returns the time the run used.
func (m *meter) stop() time.Duration {
	close(m.halt)
	<-m.done
	m.measure()
	return m.busy
}
