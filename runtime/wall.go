package runtime

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Wall is the clock of one run's wall limit, for implementations of Runtime.
// It stands still while it is paused, as it is while a person is asked for an
// approval. It is safe for concurrent use.
type Wall struct {
	budget time.Duration

	mu      sync.Mutex
	spent   time.Duration // before the last resume
	since   time.Time     // of the last resume
	paused  int           // pauses in force
	stopped bool
	timer   *time.Timer
}

// StartWall starts a clock that calls expired once, on a goroutine of its own,
// when budget has passed. Stop it when the run is over.
func StartWall(budget time.Duration, expired func()) *Wall {
	w := &Wall{budget: budget, since: time.Now()}
	w.timer = time.AfterFunc(budget, func() {
		w.mu.Lock()
		over := !w.stopped && w.paused == 0 && w.elapsed() >= w.budget
		w.mu.Unlock()
		if over {
			expired()
		}
	})
	return w
}

// Elapsed is the time that counts so far.
func (w *Wall) Elapsed() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.elapsed()
}

func (w *Wall) elapsed() time.Duration {
	if w.paused > 0 || w.stopped {
		return w.spent
	}
	return w.spent + time.Since(w.since)
}

// Pause stops the clock until the returned function is called; pauses may
// overlap. Calling it again does nothing.
func (w *Wall) Pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = w.elapsed()
	w.paused++
	w.timer.Stop()
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.paused--
		if w.paused == 0 && !w.stopped {
			w.since = time.Now()
			w.timer.Reset(max(w.budget-w.spent, 0))
		}
	})
}

// Stop ends the clock; expired is not called any more unless it has begun.
func (w *Wall) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spent = w.elapsed()
	w.stopped = true
	w.timer.Stop()
}

// WallReached is the failure of a run that used up its wall limit; the words
// are DSH's.
func WallReached(limit time.Duration) Failure {
	return Failure{Kind: Timeout, Message: "wall-clock ceiling reached (" + Milliseconds(limit) + ")"}
}

// ComputeExhausted is the failure of a run that used up its compute limit; the
// words are DSH's.
func ComputeExhausted(limit time.Duration) Failure {
	return Failure{Kind: Timeout, Message: "compute budget exhausted (" + Milliseconds(limit) + " busy)"}
}

// Milliseconds writes d as texts about limits do: "1500ms". What is no whole
// number of milliseconds is written exactly, in Go's form: "1.5ms", "10µs".
func Milliseconds(d time.Duration) string {
	if d%time.Millisecond != 0 {
		return d.String()
	}
	return fmt.Sprintf("%dms", d.Milliseconds())
}

type wallKey struct{}

// walls is the clocks of a run and of the runs it is nested in.
type walls struct {
	wall  *Wall
	over  <-chan struct{} // closed when the run's calls are to end
	outer *walls
}

// WithWall makes w a clock that PauseWall finds, beside those ctx has, and the end
// of ctx what Over tells of. A Runtime calls it with the context of a run, from
// which it derives those it hands to Binding.Call.
func WithWall(ctx context.Context, w *Wall) context.Context {
	outer, _ := ctx.Value(wallKey{}).(*walls)
	return context.WithValue(ctx, wallKey{}, &walls{w, ctx.Done(), outer})
}

// PauseWall stops the wall clocks of every run that ctx belongs to, the run
// itself and the runs it is nested in, until the returned function is called.
// Outside a run it does nothing.
func PauseWall(ctx context.Context) (resume func()) {
	var resumes []func()
	for w, _ := ctx.Value(wallKey{}).(*walls); w != nil; w = w.outer {
		resumes = append(resumes, w.wall.Pause())
	}
	return func() {
		for _, resume := range resumes {
			resume()
		}
	}
}

// Over is closed when the innermost run that ctx belongs to is being ended or has
// ended: from then on nothing waits for the answers of its calls, unlike when the
// program gives up on a single one. Outside a run it is nil.
func Over(ctx context.Context) <-chan struct{} {
	if w, ok := ctx.Value(wallKey{}).(*walls); ok {
		return w.over
	}
	return nil
}
