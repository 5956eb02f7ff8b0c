package worker

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// crowd makes fake workers that take their time to start and to end, and counts
// them from before their start until after their exit.
type crowd struct {
	engine engineFunc
	starts func(n int) (time.Duration, error) // of the n-th worker; nil: at once
	exits  time.Duration
	deaf   bool // starts go on when they are given up

	mu           sync.Mutex
	started      int
	starting     int
	mostStarting int
	alive        int
	mostAlive    int
	closes       []int // alive at each closing of the starter
}

func (c *crowd) start(ctx context.Context) (*process, error) {
	c.mu.Lock()
	c.started++
	n := c.started
	c.starting++
	c.alive++
	c.mostStarting, c.mostAlive = max(c.mostStarting, c.starting), max(c.mostAlive, c.alive)
	c.mu.Unlock()
	err := c.take(ctx, n)
	c.mu.Lock()
	c.starting--
	c.mu.Unlock()
	if err != nil {
		c.ended()
		return nil, err
	}
	inner := hosted(c.engine)
	w := &process{link: inner.link, diag: inner.diag, kill: inner.kill, exited: make(chan struct{}), served: map[runID]bool{}}
	go func() {
		defer close(w.exited)
		<-inner.exited
		time.Sleep(c.exits)
		w.status = inner.status
		c.ended()
	}()
	return w, w.greet(greeting{wait: helloWait})
}

// take is the time of the n-th start.
func (c *crowd) take(ctx context.Context, n int) error {
	if c.starts == nil {
		return nil
	}
	d, err := c.starts(n)
	given := ctx.Done()
	if c.deaf {
		given = nil
	}
	select {
	case <-time.After(d):
		return err
	case <-given:
		return context.Cause(ctx)
	}
}

func (c *crowd) ended() {
	c.mu.Lock()
	c.alive--
	c.mu.Unlock()
}

func (c *crowd) closed() {
	c.mu.Lock()
	c.closes = append(c.closes, c.alive)
	c.mu.Unlock()
}

// open is a Runtime over the crowd.
func (c *crowd) open(opts Options) *Runtime {
	return newRuntime(opts, c.start, c.closed, discard)
}

// now is the count of processes that live, and of those ever started.
func (c *crowd) now() (alive, started int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alive, c.started
}

// wantEmpty checks what Close leaves behind.
func (c *crowd) wantEmpty(t *testing.T, r *Runtime) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive != 0 {
		t.Errorf("%d processes live after Close", c.alive)
	}
	if len(c.closes) != 1 || c.closes[0] != 0 {
		t.Errorf("the starter was closed with %v processes alive, want once with none", c.closes)
	}
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live != 0 || p.nested != 0 || len(p.idle) != 0 || len(p.queue) != 0 || len(p.starting) != 0 {
		t.Errorf("after Close: %d places taken, %d nested runs, %d idle, %d waiting, %d starting", p.live, p.nested, len(p.idle), len(p.queue), len(p.starting))
	}
}

// launch runs a request on a goroutine of its own.
func launch(ctx context.Context, r *Runtime, req runtime.Request) <-chan runtime.Result {
	answer := make(chan runtime.Result, 1)
	go func() {
		res, err := r.Run(ctx, req)
		if err != nil {
			res.Failure = &runtime.Failure{Kind: "misuse", Message: err.Error()}
		}
		answer <- res
	}()
	return answer
}

var discard = slog.New(slog.DiscardHandler)
