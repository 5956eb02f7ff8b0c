package runtime

import (
	"fmt"
	"time"
)

// Limits bounds one run. A zero field takes the default; it never means
// "unlimited". A negative field is an error. As JSON, durations are in
// nanoseconds.
type Limits struct {
	Wall        time.Duration `json:"wall"`        // elapsed time, paused while an approver is asked; default 10 min
	Compute     time.Duration `json:"compute"`     // time the engine is busy; awaiting costs nothing; default 60 s
	Heap        int64         `json:"heap"`        // bytes of memory a program may hold, in process judged by the growth of the whole process; default 512 MiB or a quarter of the cgroup's limit
	Source      int           `json:"source"`      // bytes of program text; default 256 KiB
	Nesting     int           `json:"nesting"`     // brackets open at once in the program text; default 500
	Chain       int           `json:"chain"`       // operators in a row without a bracket or a semicolon; default 2,000
	Output      int           `json:"output"`      // bytes of logs plus result or failure message, as JSON, of at most MaxLines lines; default 64 MiB
	Calls       int           `json:"calls"`       // calls a run may make; default 10,000
	Argument    int           `json:"argument"`    // bytes of one call's arguments; default 4 MiB
	Result      int           `json:"result"`      // bytes of one call's result; default 16 MiB
	ResultNodes int           `json:"resultNodes"` // values in one call's result; default 1,000,000
	Bytes       int64         `json:"bytes"`       // arguments and results queued or in flight in a run; default 64 MiB
	Depth       int           `json:"depth"`       // nested function calls; default 1,024 in process, 4,096 in a worker
}

// Default limits, those of DSH where it has one.
const (
	DefaultWall        = 10 * time.Minute
	DefaultCompute     = 60 * time.Second
	DefaultHeap        = 512 << 20
	DefaultSource      = 256 << 10
	DefaultNesting     = 500
	DefaultChain       = 2_000
	DefaultOutput      = 64 << 20
	DefaultCalls       = 10_000
	DefaultArgument    = 4 << 20
	DefaultResult      = 16 << 20
	DefaultResultNodes = 1_000_000
	DefaultBytes       = 64 << 20
	DepthInProcess     = 1_024
	DepthWorker        = 4_096
	// MaxWall is the largest wall limit, 2^31-1 milliseconds, as in DSH.
	MaxWall = (1<<31 - 1) * time.Millisecond
	// MinOutput is the smallest output limit: the two bytes of an empty log and
	// two of an empty text.
	MinOutput = 4
)

// WithDefaults fills zero fields, or says which field cannot be. Depth stays
// zero: each Runtime has a default of its own.
func (l Limits) WithDefaults() (Limits, error) {
	durations := []struct {
		name  string
		value *time.Duration
		def   time.Duration
		max   time.Duration
	}{
		{"wall", &l.Wall, DefaultWall, MaxWall},
		{"compute", &l.Compute, DefaultCompute, MaxWall},
	}
	for _, d := range durations {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 0 || *d.value > d.max {
			return l, fmt.Errorf("limit %s is %v; it must be positive and at most %v (zero takes the default of %v)", d.name, *d.value, d.max, d.def)
		}
	}
	for _, n := range []struct {
		name  string
		value *int
		def   int
		min   int
	}{
		{"source", &l.Source, DefaultSource, 1},
		{"nesting", &l.Nesting, DefaultNesting, 1},
		{"chain", &l.Chain, DefaultChain, 1},
		{"output", &l.Output, DefaultOutput, MinOutput},
		{"calls", &l.Calls, DefaultCalls, 1},
		{"argument", &l.Argument, DefaultArgument, 1},
		{"result", &l.Result, DefaultResult, 1},
		{"result nodes", &l.ResultNodes, DefaultResultNodes, 1},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
		if *n.value < n.min {
			return l, fmt.Errorf("limit %s is %d; it must be at least %d (zero takes the default of %d)", n.name, *n.value, n.min, n.def)
		}
	}
	for _, b := range []struct {
		name  string
		value *int64
		def   int64
	}{{"heap", &l.Heap, defaultHeap()}, {"bytes", &l.Bytes, DefaultBytes}} {
		if *b.value == 0 {
			*b.value = b.def
		}
		if *b.value < 0 {
			return l, fmt.Errorf("limit %s is %d bytes; it must be positive (zero takes the default of %d)", b.name, *b.value, b.def)
		}
	}
	if l.Depth < 0 {
		return l, fmt.Errorf("limit depth is %d; it must be positive (zero takes the runtime's default)", l.Depth)
	}
	return l, nil
}
