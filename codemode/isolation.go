package codemode

import (
	"context"
	"fmt"
	goruntime "runtime"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/worker"
)

// Isolation is where programs run.
type Isolation uint8

const (
	// IsolationAuto is a worker process wherever a process can be started, and
	// this process only on platforms that have none (js, wasip1, ios). It is
	// decided once, by platform: a worker that fails to start is an error.
	IsolationAuto Isolation = iota
	// IsolationWorker is a worker process: a copy of this binary (or
	// WorkerOptions.Binary) that holds the engine and can be killed. Tools,
	// policy and the log stay in this process.
	IsolationWorker
	// IsolationInProcess is this process: fast to start, for trusted programs
	// and tests. It cannot bound the memory of one huge step or stop an engine
	// builtin that runs long; see package gojavm.
	IsolationInProcess
)

// String is "auto", "worker" or "in-process".
func (i Isolation) String() string {
	switch i {
	case IsolationAuto:
		return "auto"
	case IsolationWorker:
		return "worker"
	case IsolationInProcess:
		return "in-process"
	}
	return fmt.Sprintf("Isolation(%d)", uint8(i))
}

// WorkerOptions tune worker processes; see package worker.
type WorkerOptions = worker.Options

func openRuntime(o *Options) (runtime.Runtime, error) {
	if o.Runtime != nil {
		return o.Runtime, nil
	}
	switch o.Isolation {
	case IsolationAuto, IsolationWorker:
		if o.Isolation == IsolationWorker || hasProcesses(goruntime.GOOS) {
			if o.Limits.Heap < worker.MinHeap {
				return nil, fmt.Errorf("limit heap is %d bytes; a worker needs at least %d for the engine itself", o.Limits.Heap, worker.MinHeap)
			}
			rt, err := worker.New(context.Background(), &o.Worker)
			if err != nil {
				return nil, err
			}
			return rt, nil
		}
		fallthrough
	case IsolationInProcess:
		return gojavm.New(nil)
	}
	return nil, fmt.Errorf("unknown %v; use IsolationAuto, IsolationWorker or IsolationInProcess", o.Isolation)
}

func hasProcesses(goos string) bool { return goos != "js" && goos != "wasip1" && goos != "ios" }
