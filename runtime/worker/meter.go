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
	read  func() (time.Duration, bool)
	begin time.Duration
	halt  chan struct{}
	done  chan struct{}
	once  sync.Once
	busy  time.Duration
}

// startMeter calls over once, with the time used, when the process that read
// speaks of has used more than limit. Where the system does not tell, it measures nothing.
func startMeter(read func() (time.Duration, bool), limit time.Duration, over func(time.Duration)) *meter {
	m := &meter{read: read, halt: make(chan struct{}), done: make(chan struct{})}
	var ok bool
	if m.begin, ok = read(); !ok {
		m.read = nil
		close(m.done)
		return m
	}
	go func() {
		defer close(m.done)
		for {
			used := m.used()
			if used > limit {
				over(used)
				return
			}
			// It cannot use time faster than the clock: one thread runs Go code
			// and the collector shares it.
			select {
			case <-time.After(max(limit-used, minPoll)):
			case <-m.halt:
				return
			}
		}
	}()
	return m
}

const minPoll = 25 * time.Millisecond

func (m *meter) used() time.Duration {
	if m.read == nil {
		return 0
	}
	now, ok := m.read()
	if !ok {
		return 0
	}
	return max(now-m.begin, 0)
}

// stop ends the watch and returns the time the run used.
func (m *meter) stop() time.Duration {
	m.once.Do(func() {
		close(m.halt)
		<-m.done
		m.busy = m.used()
	})
	return m.busy
}
