package codemode_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The worker runtime keeps one thread for the life of the process to start
// workers from: a child's parent-death signal fires when the starting thread
// ends.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/runcode-go/runcode/runtime/worker.startLoop"))
}
