package runtimetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// stop is a program that a limit ends some time after it called tools.mark.
type stop struct {
	name, code string
	limits     runtime.Limits
	after      time.Duration // from the mark to the moment the run should end
	kind       runtime.Kind
	cancels    bool // the caller gives up at that moment
	kills      bool // nothing in this process stops it
}

func stops() []stop {
	const soon = 50 * time.Millisecond
	type l = runtime.Limits
	return []stop{
		{name: "wall/waiting", code: "await tools.hold({})", limits: l{Wall: soon}, after: soon, kind: runtime.Timeout},
		{name: "wall/loop", code: "for (;;) {}", limits: l{Wall: soon}, after: soon, kind: runtime.Timeout},
		{name: "compute/loop", code: "for (;;) {}", limits: l{Compute: soon}, after: soon, kind: runtime.Timeout},
		{name: "compute/recursion through sort", code: "const f = n => [2, 1].sort(() => { if (n) f(n - 1); for (;;) {} }); f(200)", limits: l{Compute: soon}, after: soon, kind: runtime.Timeout},
		{name: "compute/pattern", code: `/^(\w+\s?)+\1$/.test('word '.repeat(24) + '!')`, limits: l{Compute: soon}, after: soon, kind: runtime.Timeout, kills: true},
		{name: "cancel/waiting", code: "await tools.hold({})", after: soon, kind: runtime.Abort, cancels: true},
		{name: "cancel/loop", code: "for (;;) {}", after: soon, kind: runtime.Abort, cancels: true},
		{name: "heap/one step", code: "'x'.repeat(2 ** 40)", kind: runtime.MemoryLimit},
		{name: "heap/one step that is not measured", code: "Array(1e5).fill('x'.repeat(1e6)).join('')", limits: l{Heap: 64 << 20}, kind: runtime.MemoryLimit, kills: true},
		{name: "heap/growth to 64 MiB", code: "const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)", limits: l{Heap: 64 << 20}, kind: runtime.MemoryLimit},
		{name: "output/lines", code: "for (;;) console.log('x'.repeat(100))", limits: l{Output: 10_000}, kind: runtime.OutputLimit},
		{name: "calls", code: "for (;;) await tools.mark({})", limits: l{Calls: 2}, kind: runtime.CallLimit},
		{name: "bytes", code: "for (;;) tools.hold({ s: 'x'.repeat(1e5) })", limits: l{Bytes: 1 << 20}, kind: runtime.BytesLimit},
		{name: "depth", code: "const f = () => f(); f()", kind: runtime.Exception},
		{name: "depth/through map", code: "const f = () => [1].map(f); f()", limits: l{Depth: 400}, kind: runtime.Exception},
	}
}

// BenchmarkStops measures how late each limit ends a run: the time from the
// moment the limit is reached, or from where the program begins to break it, to
// the return of Run. kills is Suite.Kills.
func BenchmarkStops(b *testing.B, rt runtime.Runtime, kills bool) {
	tools, err := runtime.NewNamespace("tools", toolClass(), []runtime.Member{{Name: "mark"}, {Name: "hold"}})
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range stops() {
		b.Run(s.name, func(b *testing.B) {
			if s.kills && !kills {
				b.Skip("nothing in this process stops it")
			}
			var late time.Duration
			for b.Loop() {
				late += s.measure(b, rt, tools)
			}
			b.ReportMetric(float64(late.Microseconds())/1000/float64(b.N), "ms-late")
		})
	}
}

// measure runs the program once and says how late it ended.
func (s stop) measure(b *testing.B, rt runtime.Runtime, tools *runtime.Namespace) time.Duration {
	ctx, cancel := context.WithCancelCause(b.Context())
	defer cancel(nil)
	marked := make(chan time.Time, 1)
	answer := func(ctx context.Context, call runtime.Invocation) (runtime.Reply, error) {
		if call.Member == "hold" {
			<-ctx.Done()
			return runtime.Reply{}, context.Cause(ctx)
		}
		select {
		case marked <- time.Now():
		default:
		}
		if s.cancels {
			time.AfterFunc(s.after, func() { cancel(errors.New("enough")) })
		}
		return runtime.Reply{}, nil
	}
	begun := time.Now()
	res, err := rt.Run(ctx, runtime.Request{
		Program:  "await tools.mark({});\n" + s.code,
		Limits:   s.limits,
		Bindings: []runtime.Binding{{Namespace: tools, Call: answer}},
	})
	ended := time.Now()
	if err != nil || res.Failure == nil || res.Failure.Kind != s.kind {
		b.Fatalf("%v %+v, want kind %s", err, res.Failure, s.kind)
	}
	if s.limits.Wall != 0 || s.limits.Compute != 0 {
		return ended.Sub(begun) - s.after // these clocks run from there, and may be over before the mark
	}
	select {
	case from := <-marked:
		return ended.Sub(from) - s.after
	default:
		b.Fatalf("it ended before it was under way: %+v", res.Failure)
		return 0
	}
}
