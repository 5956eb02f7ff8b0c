package gojavm

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// A call that the program gave up on does not keep a run that is over from ending,
// though its body ignores its context: the body learns that the run is over.
func TestGivenUpCallsDoNotHoldUpTheEnd(t *testing.T) {
	const giveUp = `
		const abort = new AbortController()
		const given = tools.slow({}, { signal: abort.signal }).catch(e => e.code)
		abort.abort()
		`
	for _, tt := range []struct{ name, end, value, failure string }{
		{"a return", "return await given", `"ABORTED"`, ""},
		{"a throw", "await given; throw new Error('boom')", "", "Error: boom"},
		{"nothing to wait for", "await new Promise(() => {})", "", "the program waits for a promise that nothing can settle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := newRuntime(t, nil).Run(t.Context(), runtime.Request{Program: giveUp + tt.end, Bindings: []runtime.Binding{{
				Namespace: toolset(t, runtime.Member{Name: "slow"}),
				Call: func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
					<-runtime.Over(ctx)
					return runtime.Reply{}, nil
				},
			}}})
			message := ""
			if res.Failure != nil {
				message = res.Failure.Message
			}
			if err != nil || res.Value != tt.value || message != tt.failure {
				t.Errorf("value %s, failure %q, error %v; want %s, %q", res.Value, message, err, tt.value, tt.failure)
			}
		})
	}
}
