package pipeline

import (
	"context"
	"sync"
)

// queue lets one holder of each key in at a time, in no particular order. The
// zero queue is ready for use.
type queue struct {
	mu    sync.Mutex
	turns map[any]*turnstile
}

type turnstile struct {
	held    chan struct{} // full while somebody is in
	waiting int           // and inside; at zero the turnstile is gone
}

// enter waits for the turn of one that holds the key, or for the end of ctx.
func (q *queue) enter(ctx context.Context, key any) (leave func(), err error) {
	t := q.join(key)
	select {
	case t.held <- struct{}{}:
		return func() {
			<-t.held
			q.quit(key, t)
		}, nil
	case <-ctx.Done():
		q.quit(key, t)
		return nil, context.Cause(ctx)
	}
}

func (q *queue) join(key any) *turnstile {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.turns[key]
	if t == nil {
		if q.turns == nil {
			q.turns = map[any]*turnstile{}
		}
		t = &turnstile{held: make(chan struct{}, 1)}
		q.turns[key] = t
	}
	t.waiting++
	return t
}

func (q *queue) quit(key any, t *turnstile) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.waiting--; t.waiting == 0 {
		delete(q.turns, key)
	}
}
