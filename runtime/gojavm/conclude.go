package gojavm

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// maxRejections is how many unhandled rejections are remembered.
const maxRejections = 1_000

// rejection is a promise that was rejected while nobody listened.
type rejection struct {
	promise *goja.Promise
	stack   []goja.StackFrame
}

// trackRejection follows ECMA-262's HostPromiseRejectionTracker.
func (r *run) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionHandle {
		r.rejected = slices.DeleteFunc(r.rejected, func(x *rejection) bool { return x.promise == p })
		return
	}
	if len(r.rejected) < maxRejections {
		r.rejected = append(r.rejected, &rejection{promise: p, stack: r.vm.CaptureCallStack(stackDepth, nil)})
	}
}

// conclude settles the run by the program's promise and says whether it
// succeeded. The limits hold until it is done.
func (r *run) conclude() bool {
	return r.turn(func() error {
		if r.main.State() == goja.PromiseStateRejected {
			r.ended, _ = r.authorSite(&r.waiting.resumed)
			r.threw(r.main.Result(), nil)
			return nil
		}
		if !r.checkRejections() {
			return nil
		}
		return r.takeValue(r.main.Result())
	})
}

// takeValue converts the completion.
func (r *run) takeValue(v goja.Value) error {
	text, err := jsvalue.Encode(r.vm, v, jsvalue.EncodeOptions{Bytes: r.lim.Output, Errors: true, Stop: r.dead, Prototypes: r.real.plain})
	if jsvalue.Uncatchable(err) {
		return err
	}
	if err != nil && r.prog.implicit && invalidOutput(err).Kind == runtime.InvalidOutput {
		r.note(fmt.Sprintf("the value of the last expression was not returned: %v", err))
		return nil
	}
	if err != nil {
		f := invalidOutput(err)
		if f.Kind == runtime.InvalidOutput {
			f = r.placed(f, r.prog.returnSite())
		}
		r.stopWith(f)
		return nil
	}
	if r.prog.implicit && text != "" {
		r.note(lastReturned)
	}
	r.mu.Lock()
	r.value = text
	r.mu.Unlock()
	return nil
}

func invalidOutput(err error) runtime.Failure {
	if e, ok := err.(*jsvalue.Error); ok && e.Limit == jsvalue.LimitBytes {
		return runtime.Failure{Kind: runtime.OutputLimit}
	}
	return runtime.Failure{
		Kind:    runtime.InvalidOutput,
		Message: fmt.Sprintf("program completion must be lossless JSON: %v", err),
	}
}

// checkRejections looks at the rejections nobody handled while the program ran.
// A failed call becomes a note, for the program returned all the same; anything
// else is a fault of the program and fails the run.
func (r *run) checkRejections() bool {
	for _, x := range r.rejected {
		if x.promise == r.main {
			continue
		}
		reason := x.promise.Result()
		if object, ok := reason.(*goja.Object); ok {
			if _, ok := r.thrown.at(object); ok {
				r.note("a failed call was not handled: " + r.thrownText(object))
				continue
			}
		}
		f := r.describe(reason, x.stack)
		f.Kind = runtime.Exception
		f.Message = "unhandled rejection: " + f.Message
		f.Hint = cmp.Or(f.Hint, "await the promise, or give it a catch")
		r.stopWith(f)
		return false
	}
	return true
}
