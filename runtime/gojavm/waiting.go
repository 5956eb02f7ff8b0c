package gojavm

import "github.com/dop251/goja"

// waiting is the awaits and callbacks of a program that were not reached yet, in
// the order they were made. It implements goja.AsyncContextTracker, and costs an
// allocation an await.
type waiting struct {
	vm     *goja.Runtime
	last   *reaction
	top    [2]goja.StackFrame
	marked bool // an await is being made, at top[1]

	resumed goja.StackFrame // of what went on last; the zero frame is nobody's
}

// reaction is what waits for one promise.
type reaction struct {
	frame      goja.StackFrame
	known      bool // frame is set
	prev, next *reaction
}

// mark is the function that the operand of every await passes through.
func (w *waiting) mark(c goja.FunctionCall) goja.Value {
	w.marked = len(w.vm.CaptureCallStack(2, w.top[:0])) == 2
	return c.Argument(0)
}

// Grab remembers where a promise was awaited, or where a callback was given to
// it.
func (w *waiting) Grab() any {
	x := &reaction{prev: w.last}
	if w.marked {
		x.frame, x.known, w.marked = w.top[1], true, false
	} else if frames := w.vm.CaptureCallStack(1, w.top[:0]); len(frames) > 0 {
		x.frame, x.known = frames[0], true
	}
	if w.last != nil {
		w.last.next = x
	}
	w.last = x
	return x
}

// Resumed forgets what goes on.
func (w *waiting) Resumed(v any) {
	x, ok := v.(*reaction)
	if !ok || x == nil {
		return
	}
	if x.known {
		w.resumed = x.frame
	}
	if x.next != nil {
		x.next.prev = x.prev
	} else if w.last == x {
		w.last = x.prev
	}
	if x.prev != nil {
		x.prev.next = x.next
	}
	x.prev, x.next = nil, nil
}

// Exited implements goja.AsyncContextTracker.
func (w *waiting) Exited() {}

// newest offers the places that still wait, the latest first, until one is
// accepted.
func (w *waiting) newest(accept func(*goja.StackFrame) bool) {
	for x := w.last; x != nil; x = x.prev {
		if x.known && accept(&x.frame) {
			return
		}
	}
}
