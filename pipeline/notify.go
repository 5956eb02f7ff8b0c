package pipeline

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// OnResult adds an observer of settled calls and returns a function that
// removes it. Observers run one after the other on the call's goroutine, before
// the result is logged; a panic is contained and reported to the Logger. An
// empty name or a nil function panics.
func (p *Pipeline) OnResult(name string, observe func(Outcome)) (remove func()) {
	return p.observers.add(name, observe, nil, false)
}

func (p *Pipeline) notify(o Outcome) {
	for _, observer := range p.observers.all() {
		p.tell(observer, o)
	}
}

func (p *Pipeline) tell(observer *registration[func(Outcome)], o Outcome) {
	defer func() {
		if r := recover(); r != nil {
			p.logPanic(panicked(fmt.Sprintf("result observer %q", observer.name), r), o.Call())
		}
	}()
	observer.fn(o)
}

// logPanic tells the host what a model must not read.
func (p *Pipeline) logPanic(e *tools.PanicError, call tools.Call) {
	p.log.Error(e.Where+" crashed", "tool", call.Name(), "call", call.ID(), "panic", fmt.Sprint(e.Value), "stack", string(e.Stack))
}

func (p *Pipeline) logIfPanic(err error, call tools.Call) {
	if crash, ok := find[*tools.PanicError](err); ok {
		p.logPanic(crash, call)
	}
}

// now is the clock, which the host may have given us.
func (p *Pipeline) now() (t time.Time) {
	defer func() {
		if recover() != nil {
			t = time.Now()
		}
	}()
	return p.opts.Now()
}

// newID makes an id that is never empty.
func (p *Pipeline) newID() (id string) {
	defer func() {
		if recover() != nil || id == "" {
			id = rand.Text()
		}
	}()
	return p.opts.NewID()
}
