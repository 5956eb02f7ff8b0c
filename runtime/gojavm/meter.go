package gojavm

import (
	"sync"
	"time"
)

// meter measures how long the engine is busy and calls expired, once and on
// another goroutine, when that passes the budget. It is safe for concurrent use.
type meter struct {
	budget  time.Duration
	expired func()

	mu      sync.Mutex
	spent   time.Duration
	since   time.Time // of the last enter
	depth   int       // enters without leave
	timer   *time.Timer
	stopped bool
}

func newMeter(budget time.Duration, expired func()) *meter {
	return &meter{budget: budget, expired: expired}
}

// enter says that the engine is busy until leave. Pairs may nest.
func (m *meter) enter() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.depth++
	if m.depth > 1 || m.stopped {
		return
	}
	m.since = time.Now()
	rest := max(m.budget-m.spent, 0)
	if m.timer == nil {
		m.timer = time.AfterFunc(rest, m.expire)
	} else {
		m.timer.Reset(rest)
	}
}

func (m *meter) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.depth--
	if m.depth == 0 && !m.stopped {
		m.spent += time.Since(m.since)
		m.timer.Stop()
	}
}

// busy says whether the engine is.
func (m *meter) busy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.depth > 0
}

// expire fires if the budget is really spent: a timer may come late, after
// another leave and enter.
func (m *meter) expire() {
	m.mu.Lock()
	over := !m.stopped && m.depth > 0 && m.elapsed() >= m.budget
	m.mu.Unlock()
	if over {
		m.expired()
	}
}

func (m *meter) elapsed() time.Duration {
	if m.depth == 0 || m.stopped {
		return m.spent
	}
	return m.spent + time.Since(m.since)
}

// stop ends the measure and returns it.
func (m *meter) stop() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent = m.elapsed()
	m.stopped = true
	if m.timer != nil {
		m.timer.Stop()
	}
	return m.spent
}
