package worker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// customer is one run as the pool sees it.
type customer struct {
	id     int
	demand demand
	cancel context.CancelFunc
	finish chan bool // whether the worker is fit for another run

	// guarded by model.mu
	answers  int
	worker   *process
	canceled bool
	ended    bool
}

// model is a pool beside what is known of it from outside.
type model struct {
	t    *testing.T
	pool *pool
	all  sync.WaitGroup

	mu      sync.Mutex
	fail    bool // the next start fails
	alive   int
	workers map[*process]*customer // the last one each has served
	runs    []*customer
}

func (m *model) start(context.Context) (*process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail {
		m.fail = false
		return nil, &startError{problem: "refused"}
	}
	m.alive++
	m.check()
	w := hosted(engineFunc(immediate))
	kill := w.kill
	w.kill = sync.OnceFunc(func() {
		m.mu.Lock()
		m.alive--
		m.mu.Unlock()
		kill()
	})
	return w, nil
}

// check is what holds at every moment. The caller holds mu.
func (m *model) check() {
	p := m.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.live > p.most+p.nested:
		m.t.Errorf("%d places are taken, of %d and %d nested runs", p.live, p.most, p.nested)
	case m.alive > p.live:
		m.t.Errorf("%d processes live in %d places", m.alive, p.live)
	case len(p.queue) > 0 && (len(p.idle) > 0 || p.live < p.most):
		m.t.Errorf("%d runs wait beside %d idle workers, %d of %d places taken", len(p.queue), len(p.idle), p.live, p.most)
	case p.live > p.most && len(p.idle) > 0:
		m.t.Errorf("%d workers are idle with %d of %d places taken", len(p.idle), p.live, p.most)
	}
}

// arrive lets a customer come.
func (m *model) arrive(d demand) *customer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &customer{id: len(m.runs), demand: d, cancel: cancel, finish: make(chan bool, 1)}
	m.runs = append(m.runs, c)
	m.all.Go(func() {
		if d.nested {
			leave, failure := m.pool.nest()
			if failure != nil {
				m.answer(c, nil)
				return
			}
			defer leave()
		}
		w, _ := m.pool.get(ctx, d)
		m.answer(c, w)
		if w == nil {
			return
		}
		fit := <-c.finish
		m.mu.Lock()
		c.ended = true
		m.mu.Unlock()
		m.pool.release(w, fit)
	})
	return c
}

// answer takes down what a customer got.
func (m *model) answer(c *customer, w *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.answers++
	c.worker = w
	m.check()
	if w == nil {
		return
	}
	if last := m.workers[w]; last != nil {
		switch {
		case !last.ended:
			m.t.Errorf("run %d got the worker that run %d still has", c.id, last.id)
		case last.demand.trust != c.demand.trust:
			m.t.Errorf("run %d of trust %v got a worker of trust %v", c.id, c.demand.trust, last.demand.trust)
		}
	}
	if w.heap > c.demand.heap {
		m.t.Errorf("run %d with a heap of %d got a worker of %d", c.id, c.demand.heap, w.heap)
	}
	m.workers[w] = c
	w.served[newRunID()] = true // as a session does
	w.heap = max(w.heap, c.demand.heap)
}

// active lists the customers that have a worker, waiting those without an answer,
// in order of arrival.
func (m *model) census() (active, waiting []*customer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.runs {
		switch {
		case c.answers > 1:
			m.t.Fatalf("run %d got %d answers", c.id, c.answers)
		case c.answers == 0:
			waiting = append(waiting, c)
		case c.worker != nil && !c.ended:
			active = append(active, c)
		}
	}
	return active, waiting
}

// wantOrder checks that no run was answered before one that came earlier and was
// not given up.
func (m *model) wantOrder(before []*customer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	passed := -1
	for _, c := range before {
		switch {
		case c.canceled:
		case c.answers == 0:
			passed = c.id
		case passed >= 0:
			m.t.Fatalf("run %d was answered before run %d, which has waited longer", c.id, passed)
		}
	}
}

// TestPoolModel takes random steps, one after the other, and compares the pool
// with what must be the case after each.
func TestPoolModel(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { modelSteps(t, seed) })
		})
	}
}

func modelSteps(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &model{t: t, workers: map[*process]*customer{}}
	r := newRuntime(Options{MaxWorkers: 1 + int(seed%4), Idle: time.Second}, m.start, func() {}, discard)
	m.pool = r.pool
	trusts := []any{nil, "a", "b"}
	for range 120 {
		active, waiting := m.census()
		switch step := rng.IntN(20); {
		case step < 8:
			m.arrive(demand{heap: int64(1 + rng.IntN(2)), trust: trusts[rng.IntN(3)], wall: time.Minute})
		case step < 10:
			m.arrive(demand{heap: 2, trust: trusts[rng.IntN(3)], wall: time.Minute, nested: true})
		case step < 16 && len(active) > 0:
			active[rng.IntN(len(active))].finish <- rng.IntN(4) > 0
		case step < 18 && len(waiting) > 0:
			c := waiting[rng.IntN(len(waiting))]
			c.canceled = true
			c.cancel()
		case step == 18:
			m.fail = true
		case step == 19:
			time.Sleep(700 * time.Millisecond) // idle workers may leave
		}
		synctest.Wait()
		m.mu.Lock()
		m.check()
		m.mu.Unlock()
		m.wantOrder(waiting)
		active, waiting = m.census()
		if len(waiting) > 0 && len(active) < m.pool.most {
			t.Fatalf("%d runs wait and %d of %d workers are used", len(waiting), len(active), m.pool.most)
		}
		ordinary := slices.DeleteFunc(active, func(c *customer) bool { return c.demand.nested })
		if len(ordinary) > m.pool.most {
			t.Fatalf("%d ordinary runs have a worker, of %d", len(ordinary), m.pool.most)
		}
	}
	// In the end everybody is served.
	for {
		active, _ := m.census()
		if len(active) == 0 {
			break
		}
		for _, c := range active {
			c.finish <- true
		}
		synctest.Wait()
	}
	m.all.Wait()
	if _, waiting := m.census(); len(waiting) > 0 {
		t.Errorf("%d runs got no answer", len(waiting))
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	m.pool.mu.Lock()
	live, nested := m.pool.live, m.pool.nested
	m.pool.mu.Unlock()
	if live != 0 || nested != 0 || m.alive != 0 {
		t.Errorf("%d places are taken by %d processes and %d nested runs when all have been idle", live, m.alive, nested)
	}
	r.Close()
	for _, c := range m.runs {
		c.cancel()
	}
}

// TestPoolStorm has hundreds of runs come at once, ten thousand if Soak, of all kinds, with starts that
// take time and fail and processes that take time to end. What bounds the pool
// holds, every run gets an answer, and nothing is left.
func TestPoolStorm(t *testing.T) {
	runs := 500
	if Soak() {
		runs = 10_000
	}
	for _, most := range []int{1, 2, 5, 16} {
		t.Run(fmt.Sprint(most, " workers"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { storm(t, most, runs) })
		})
	}
}

func storm(t *testing.T, most, runs int) {
	c := &crowd{engine: sleeper, exits: 3 * time.Millisecond, starts: func(n int) (time.Duration, error) {
		rng := rand.New(rand.NewPCG(uint64(n), 2))
		var err error
		switch rng.IntN(20) {
		case 0:
			err = syscall.EAGAIN
		case 1:
			err = &startError{problem: "refused"}
		}
		return time.Duration(rng.IntN(20)) * time.Millisecond, err
	}}
	r := c.open(Options{MaxWorkers: most, Idle: 50 * time.Millisecond})
	var all sync.WaitGroup
	var mu sync.Mutex
	answers, nested, mostNested := 0, 0, 0
	kinds := map[runtime.Kind]int{}
	for i := range runs {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			time.Sleep(time.Duration(rng.IntN(4*runs)) * time.Millisecond)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			req := runtime.Request{Program: fmt.Sprint(rng.IntN(40), "ms"), Trust: rng.IntN(3), Limits: runtime.Limits{Heap: int64(64+64*rng.IntN(2)) << 20}}
			switch rng.IntN(10) {
			case 0, 1:
				time.AfterFunc(time.Duration(rng.IntN(30))*time.Millisecond, func() { cancel(errors.New("enough")) })
			case 2:
				req.Limits.Wall = 5 * time.Millisecond // some are stopped
			case 3:
				req.Nested = true
				mu.Lock()
				nested++
				mostNested = max(mostNested, nested)
				mu.Unlock()
			}
			res, err := r.Run(ctx, req)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if req.Nested {
				nested--
			}
			answers++
			if res.Failure != nil {
				kinds[res.Failure.Kind]++
			} else {
				kinds["success"]++
			}
		})
	}
	all.Wait()
	r.Close()
	c.wantEmpty(t, r)
	if answers != runs {
		t.Errorf("%d answers to %d runs", answers, runs)
	}
	for _, kind := range []runtime.Kind{"success", runtime.Abort, runtime.Timeout, runtime.WorkerUnavailable} {
		if kinds[kind] == 0 {
			t.Errorf("no run ended in %s: %v", kind, kinds)
		}
	}
	if c.mostAlive > most+mostNested {
		t.Errorf("%d processes at once, want at most %d and %d for nested runs", c.mostAlive, most, mostNested)
	}
	if c.mostStarting > cap(r.pool.starting) {
		t.Errorf("%d starts at once, want at most %d", c.mostStarting, cap(r.pool.starting))
	}
	t.Logf("%d workers started, %d at once, %d starting, %v", c.started, c.mostAlive, c.mostStarting, kinds)
}
