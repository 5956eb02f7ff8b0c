package pipeline

import (
	"context"
	"fmt"
	"sync"
)

// spell is a context that ends with the one around it, or before, by end: what
// context.WithCancelCause makes, but that nothing is made as long as nobody waits
// for its end. Most listeners pass their context on and never do. It must not be
// copied.
type spell struct {
	context.Context            // the one around
	of              *execution // between its caller's context and this one are spells alone; nil: it is not known

	mu     sync.Mutex
	cause  error           // what it ended with, if end was called while the one around went on
	made   context.Context // what somebody waits for; nil: nobody
	cancel context.CancelCauseFunc
}

// end ends the context, if it has not ended.
func (s *spell) end(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.made != nil:
		s.cancel(cause)
	case s.cause == nil && s.Context.Err() == nil:
		s.cause = cause
	}
}

func (s *spell) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.make().Done()
}

func (s *spell) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.made != nil:
		return s.made.Err()
	case s.cause != nil:
		return context.Canceled
	}
	return s.Context.Err()
}

// Value finds, among others, what package context keeps of the end: once this one
// has ended by itself that must not be found in the one around.
func (s *spell) Value(key any) any {
	s.mu.Lock()
	inner := s.made
	if inner == nil && s.cause != nil {
		inner = s.make()
	}
	s.mu.Unlock()
	if inner == nil {
		inner = s.Context
	}
	return inner.Value(key)
}

// make is the context as package context makes it; s.mu is held.
func (s *spell) make() context.Context {
	if s.made != nil {
		return s.made
	}
	around := s.Context
	if s.cause != nil { // before the one around, whatever has become of that since
		around = context.WithoutCancel(around)
	}
	s.made, s.cancel = context.WithCancelCause(around)
	if s.cause != nil {
		s.cancel(s.cause)
	}
	return s.made
}

// String is what package context calls such a context.
func (s *spell) String() string { return nameOf(s.Context) + ".WithCancel" }

// nameOf is the name of a context within that of another.
func nameOf(ctx context.Context) string {
	if named, ok := ctx.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", ctx)
}
