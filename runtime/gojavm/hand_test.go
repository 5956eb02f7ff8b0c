package gojavm

import (
	"bytes"
	"context"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/runtime"
)

// goroutine names the goroutine it is called on, as its stack does.
func goroutine() string {
	header := make([]byte, 64)
	header = header[:goruntime.Stack(header, false)]
	name, _, _ := bytes.Cut(header, []byte(" ["))
	return string(name)
}

// TestHands counts the goroutines on which the host is called.
func TestHands(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct {
		name     string
		program  string
		parallel int
		hands    int
	}{
		{"one after the other", "for (let n = 0; n < 50; n++) await tools.ping({ n })", 1, 1},
		{"queued", "await Promise.all(Array.from({ length: 50 }, () => tools.ping({})))", 1, 1},
		{"with failures", "for (let n = 0; n < 50; n++) await tools.fail({ n }).catch(() => {})", 1, 1},
		{"with panics", "for (let n = 0; n < 5; n++) await tools.panics({ n }).catch(() => {})", 1, 1},
		{"a goroutine that the host ends is replaced", "for (let n = 0; n < 5; n++) await tools.leaves({ n }).catch(() => {}); await tools.ping(); await tools.ping()", 1, 6},
		{"three at once, three times", "for (let n = 0; n < 3; n++) await Promise.all([1, 2, 3].map(() => tools.meet({})))", 3, 3},
		{"an answer that comes before its call returns", "const r = [await tools.early(), await tools.ping()]", 1, 2},
		{"after a call that was given up", "const c = new AbortController(); const a = tools.hold({}, { signal: c.signal }).catch(() => {}); const b = tools.ping(); c.abort(); await a; await b", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			seen := map[string]bool{}
			met := make(chan struct{})
			pinged := make(chan struct{})
			count := 0
			call := func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
				mu.Lock()
				seen[goroutine()] = true
				meeting := met
				if len(seen) == 2 && inv.Member == "ping" {
					close(pinged)
				}
				if inv.Member == "meet" {
					if count++; count%3 == 0 {
						close(met)
						met = make(chan struct{})
					}
				}
				mu.Unlock()
				switch inv.Member {
				case "leaves":
					goruntime.Goexit()
				case "panics":
					panic("boom")
				case "meet":
					<-meeting
				case "early":
					inv.Answer(runtime.Reply{}, nil)
					<-pinged
				}
				return serve(ctx, inv)
			}
			res := execute(t, rt, runtime.Request{
				Program: tt.program, Parallel: tt.parallel,
				Bindings: []runtime.Binding{{Namespace: toolset(t, named("leaves", "panics", "meet", "early")...), Call: call}},
			})
			if res.Failure != nil {
				t.Fatalf("%+v", res.Failure)
			}
			if len(seen) != tt.hands {
				t.Errorf("the host was called on %d goroutines, want %d", len(seen), tt.hands)
			}
		})
	}
}

// TestHandsEndWithTheirRun has calls in all states at the end of a run.
func TestHandsEndWithTheirRun(t *testing.T) {
	for _, tt := range []struct{ name, program string }{
		{"all answered", "await Promise.all([1, 2, 3].map(() => tools.ping()))"},
		{"given up", "await tools.hold({}, { timeoutMs: 5 }).catch(() => {}); await tools.ping()"},
		{"a failure while one is out", "tools.hold({}); await tools.ping(); throw new Error('x')"},
		{"stopped while one is out", "await tools.ping(); tools.hold({}); for (;;) ;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rt, err := New(nil)
			if err != nil {
				t.Fatal(err)
			}
			others := goleak.IgnoreCurrent()
			execute(t, rt, runtime.Request{Program: tt.program, Parallel: 3, Limits: runtime.Limits{Compute: 50 * time.Millisecond}})
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			goleak.VerifyNone(t, others)
		})
	}
}

// TestAnIdleHandKeepsNoResult has a program let go of a large result
// while the goroutine that brought it waits for the next call.
func TestAnIdleHandKeepsNoResult(t *testing.T) {
	const size = 8 << 20
	rt := newRuntime(t, nil)
	var live []uint64
	execute(t, rt, runtime.Request{
		Program: "await tools.ping(); console.log(1); await tools.big({ n: 8388608 }); await new Promise(setImmediate); console.log(2)",
		Log:     func(runtime.Line) { live = append(live, liveHeap()) },
	})
	if len(live) != 2 || live[1] > live[0]+size/2 {
		t.Errorf("%d bytes are alive before and after a result of %d bytes", live, size)
	}
}
