package worker

import (
	"log/slog"
	goruntime "runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// spawnerOfMain is the id of the thread that a starter takes if its goroutine
// happens to run on the main thread.
var spawnerOfMain int

// TestMain runs on the main thread until spawnFromMain has let it go.
func init() { goruntime.LockOSThread() }

func init() {
	spawnFromMain = func() {
		defer goruntime.UnlockOSThread()
		s := &starter{spawner: spawner{orders: make(chan func())}, logger: slog.New(slog.DiscardHandler), without: switchable()}
		s.serve(make(chan struct{}))
		done := make(chan struct{})
		s.orders <- func() {
			spawnerOfMain = unix.Gettid()
			close(done)
		}
		<-done
		close(s.orders)
	}
}

func TestSpawnerIsNotTheMainThread(t *testing.T) {
	if main := unix.Getpid(); spawnerOfMain == 0 || spawnerOfMain == main {
		t.Errorf("workers would be started by thread %d of process %d", spawnerOfMain, main)
	}
}
