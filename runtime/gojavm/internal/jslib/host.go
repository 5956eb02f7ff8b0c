package jslib

import (
	"time"

	"github.com/dop251/goja"
)

// Host is what the globals of one engine may use. All functions are called on
// the engine's goroutine.
type Host struct {
	// Console receives one finished entry per console call; level is "log",
	// "info", "warn", "error" or "debug". Nil drops the entries.
	Console func(level, text string)
	// Stack rewrites the frames of an error's stack, one a line, before the
	// console shows them, for example to positions in the author's source; an
	// empty answer leaves them out. Nil: as the engine gives them.
	Stack func(frames string) string
	// Now is the time console.time, performance.now and Event.timeStamp see.
	// Nil: the real time.
	Now func() time.Time
	// Start is when the program began, the origin of performance.now. Nil: when the
	// library was installed.
	Start func() time.Time
	// Rand fills random bytes for crypto. Nil: crypto/rand.
	Rand func([]byte)
	// After runs f on the engine's goroutine after d, for AbortSignal.timeout;
	// cancel may be called any time. Nil: AbortSignal.timeout throws.
	After func(d time.Duration, f func()) (cancel func())
	// Stop is asked now and then by library functions that run long, which an
	// interrupt cannot reach; true makes them fail. It may be nil.
	Stop func() bool
	// MaxConsoleBytes bounds one console entry; the rest is cut and said to be.
	// Zero: 1 MiB.
	MaxConsoleBytes int
	// MaxBytes bounds what one library call may produce (JSON, Buffer, atob,
	// TextDecoder). Zero: 64 MiB.
	MaxBytes int
	// Reach says what the program can get hold of; the rest is not defined. Nil:
	// everything.
	Reach Reach
}

// Reach says what a program can get hold of. Where it says that it cannot, the
// program must have no way to find out whether the thing is there, not even a list
// of names.
type Reach interface {
	// Has is about the properties of a name, of whatever object.
	Has(name string) bool
	// HasGlobal is about the global of a name.
	HasGlobal(name string) bool
	// Iterators says whether it can hold an iterator of the engine's.
	Iterators() bool
}

// everything is the Reach of a program about which nothing is known.
type everything struct{}

func (everything) Has(string) bool       { return true }
func (everything) HasGlobal(string) bool { return true }
func (everything) Iterators() bool       { return true }

const (
	defaultConsoleBytes = 1 << 20
	defaultMaxBytes     = 64 << 20
)

func (h Host) withDefaults() Host {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Start == nil {
		start := h.Now()
		h.Start = func() time.Time { return start }
	}
	if h.Reach == nil {
		h.Reach = everything{}
	}
	if h.MaxConsoleBytes <= 0 {
		h.MaxConsoleBytes = defaultConsoleBytes
	}
	if h.MaxBytes <= 0 {
		h.MaxBytes = defaultMaxBytes
	}
	return h
}

// Install defines the globals in vm. It must run before any program does, so
// that what it captures is the engine's own. It runs no job and starts no
// goroutine.
func Install(vm *goja.Runtime, h Host) error {
	l := &lib{vm: vm, host: h.withDefaults()}
	return l.install()
}
