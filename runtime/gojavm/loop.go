package gojavm

import (
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// loop runs what answers and timers set off until the program's promise is
// settled, a timer and an answer in turn, so that neither can starve the other.
// It says whether the run goes on.
func (r *run) loop() bool {
	for r.main.State() == goja.PromiseStatePending {
		x := r.timers.due()
		if x != nil {
			r.show(x.shows)
			if !r.turn(x.callback) {
				return false
			}
			r.timers.again(x)
			if r.main.State() != goja.PromiseStatePending {
				break
			}
		}
		c := r.answered()
		if c != nil {
			if !r.turn(func() error { return r.settle(c) }) {
				return false
			}
			if r.main.State() != goja.PromiseStateRejected {
				r.pump()
			}
		}
		if x == nil && c == nil && !r.wait() {
			return false
		}
	}
	return true
}

// wait sleeps until an answer arrives, a timer is due or the run is stopped. A
// program that waits for none of these waits for ever, so it is ended.
func (r *run) wait() bool {
	var timer <-chan time.Time
	if len(r.timers.waiting) > 0 {
		t := time.NewTimer(time.Until(r.timers.waiting[0].when))
		defer t.Stop()
		timer = t.C
	} else if r.idle() {
		r.stopWith(r.waitsForNothing())
		return false
	}
	select {
	case <-r.wake:
	case <-timer:
	case <-r.stop:
		return false
	}
	return true
}

// idle says whether no call is queued, out or answered but those that the program
// gave up on.
func (r *run) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.active == r.givenUp && len(r.queue) == 0 && len(r.inbox) == 0
}

func (r *run) waitsForNothing() runtime.Failure {
	var site runtime.Site
	r.waiting.newest(func(f *goja.StackFrame) (ok bool) {
		site, ok = r.authorSite(f)
		return ok
	})
	return r.placed(runtime.Failure{
		Kind:    runtime.Exception,
		Message: "the program waits for a promise that nothing can settle",
		Hint:    "check that every new Promise calls resolve or reject",
	}, site)
}

// drain waits for the calls that were still out or queued when the program
// returned, handing out the queued ones, but not for those that the program gave
// up on: the end of the run tells the host that nobody waits for them. No code of
// the program runs any more.
func (r *run) drain() {
	loose := 0
	for {
		if c := r.answered(); c != nil {
			if !c.over {
				loose++
				r.noteLoose(c, loose)
			}
			r.forget(c)
			r.pump()
			continue
		}
		if r.idle() {
			break
		}
		select {
		case <-r.wake:
		case <-r.stop:
			return
		}
	}
	if loose > maxLooseNotes {
		r.note(looseRest(loose - maxLooseNotes))
	}
}
