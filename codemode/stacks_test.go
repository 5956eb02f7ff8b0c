//go:build !race

// Under the race detector every frame is larger.

package codemode_test

import (
	"context"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// TestSuspendedStacks: a run that waits for a tool has four goroutines, of which
// three go deep enough for eight kilobytes of stack, and that of the tool no deeper
// than the tool does.
func TestSuspendedStacks(t *testing.T) {
	const n, most = 400, 30 << 10
	release := make(chan struct{})
	var waiting, all sync.WaitGroup
	reg, err := tools.NewRegistry(&tools.Definition{
		Name: "wait", Description: "Wait.",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			waiting.Done()
			<-release
			return tools.Result{}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cm, err := codemode.New(pipeline.New(reg, nil), &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	defer cm.Close()

	before := stacksInUse()
	waiting.Add(n)
	for range n {
		all.Go(func() {
			if err := cm.Run(t.Context(), codemode.Program{Code: "await tools.wait({})"}).Err(); err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	held := (stacksInUse() - before) / n
	close(release)
	all.Wait()
	t.Logf("a suspended run holds %d bytes of stack", held)
	if held > most {
		t.Errorf("a suspended run holds %d bytes of stack, want %d at most", held, most)
	}
}

// stacksInUse is the memory of all stacks once those of ended goroutines are given
// back.
func stacksInUse() int {
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int(m.StackInuse)
}
