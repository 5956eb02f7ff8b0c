//go:build unix && !linux

package worker

import (
	"runtime/debug"
	"syscall"

	"github.com/runcode-go/runcode/runtime"
)

// limiter sets the limits of this process. There is no hard limit of memory
// here: what the collector can keep within the heap limit it does.
type limiter struct{ data bool }

func newLimiter() (*limiter, error) {
	var none syscall.Rlimit
	return &limiter{}, syscall.Setrlimit(syscall.RLIMIT_CORE, &none)
}

func (l *limiter) prepare(limits runtime.Limits) { debug.SetMemoryLimit(limits.Heap) }

func extraDescriptors() int { return 0 }
