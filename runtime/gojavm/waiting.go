package gojavm

import "github.com/dop251/goja"

// waiting is the awaits and then callbacks of a program that were not reached
// yet, in the order they were made. It implements goja.AsyncContextTracker, and
// costs an allocation an await.
type waiting struct {
	vm   *goja.Runtime
	last *reaction
	top  [2]goja.StackFrame
}

// reaction is what waits for one promise.
type reaction struct {
	frame      goja.StackFrame
	known      bool // frame is set
	prev, next *reaction
}

// Grab remembers where a promise was awaited.
func (w *waiting) Grab() any {
	x := &reaction{prev: w.last}
	if frames := w.vm.CaptureCallStack(1, w.top[:0]); len(frames) > 0 {
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

// newest is the latest place that still waits and that place accepts.
func (w *waiting) newest(place func(*goja.StackFrame) bool) {
	for x := w.last; x != nil; x = x.prev {
		if x.known && place(&x.frame) {
			return
		}
	}
}
