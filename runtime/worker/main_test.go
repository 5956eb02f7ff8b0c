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

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(testDir())
		os.Exit(code)
	}))
}
