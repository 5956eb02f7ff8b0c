package worker

import (
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// testDir is for what several tests share.
var testDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "runcode-worker-test")
	if err != nil {
		panic(err)
	}
	return dir
})

// spawnFromMain is what a platform tries on the main thread before the tests.
var spawnFromMain = func() {}

func TestMain(m *testing.M) {
	spawnFromMain()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(testDir())
		os.Exit(code)
	}))
}
