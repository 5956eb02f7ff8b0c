package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// TestManyCallsLeaveNothing compares what is alive after a thousand calls and
// after many more.
func TestManyCallsLeaveNothing(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, call string }{
		{"that succeed", "await tools.echo({ n })"},
		{"that fail", "await tools.fail({ n }).catch(() => {})"},
		{"that are refused", "await tools.echo({ n: NaN }).catch(() => {})"},
		{"that await an object with a member named then", "await tools"},
		{"with a signal", "await tools.echo({ n }, { signal })"},
		{"with a timeout", "await tools.echo({ n }, { timeoutMs: 60000 })"},
		{"two by two", "await Promise.all([tools.echo({ n }), tools.ping()])"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var live []uint64
			res := execute(t, rt, runtime.Request{
				Program:  "const { signal } = new AbortController()\nfor (let n = 0; n <= 16000; n++) {\n" + tt.call + "\nif (n === 1000 || n === 16000) console.log(n)\n}",
				Limits:   runtime.Limits{Calls: 100_000},
				Bindings: []runtime.Binding{{Namespace: toolset(t, named("then")...), Call: serve}},
				Log:      func(runtime.Line) { live = append(live, liveHeap()) },
			})
			if res.Failure != nil {
				t.Fatalf("%+v", res.Failure)
			}
			if live[1] > live[0]+1<<20 {
				t.Errorf("%d bytes are alive after 1,000 calls and %d after 16,000", live[0], live[1])
			}
		})
	}
}
