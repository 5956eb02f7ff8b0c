package gojavm

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/runcode-go/runcode/runtime"
)

const (
	// trackSize is how many slots a regular expression may use to go back: as
	// many as the heap holds. The library's default is too small for ordinary
	// patterns on tens of kilobytes, and reaching it looks like "no match".
	trackSize = -1
	// maxStack is the largest stack of a goroutine, in bytes: parsers recurse.
	maxStack = 256 << 20
)

// tuneProcess changes settings that all code of the process shares.
func tuneProcess() {
	debug.SetMaxStack(maxStack)
	regexp2.DefaultOptimizationOptions.MaxBacktrackingStackSize = trackSize
}

// watchHeap stops a run when the heap of the process passes limit. It cannot
// see a single allocation that is too large. The collector is told of the limit,
// so that garbage is gone before it counts. The returned function ends it.
func watchHeap(limit int64, stop func(runtime.Failure)) (end func()) {
	debug.SetMemoryLimit(limit)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(heapEvery)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
			}
			if readHeap().objects > uint64(limit) {
				stop(runtime.Failure{
					Kind:    runtime.MemoryLimit,
					Message: fmt.Sprintf("heap limit reached (%d bytes)", limit),
					Hint:    "process data in smaller parts and keep only what the result needs",
				})
				return
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}
