package worker

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// A worker takes nothing from its parent that the protocol does not allow at
// that moment.
func TestServerFaults(t *testing.T) {
	id := newRunID()
	start := frame{kind: kindRun, run: id, meta: encode(runMeta{Parallel: 1, Limits: runtime.Limits{Output: 100}})}
	for _, tt := range []struct {
		name   string
		frames []frame
		want   string
	}{
		{"nothing", nil, ""},
		{"frame of a worker's", []frame{{kind: kindCall, call: 1}}, "a call frame is not accepted here"},
		{"run in a run", []frame{start, start}, "a run frame in the middle of a run"},
		{"barrier in a run", []frame{start, {kind: kindBarrier}}, "a barrier frame in the middle of a run"},
		{"answer nobody waits for", []frame{start, {kind: kindReply, run: id, call: 1}}, "an answer to 1, which nobody waits for"},
		{"answer to another run", []frame{start, {kind: kindReply, run: newRunID(), call: 1}}, "a reply frame names a run that there was not"},
		{"answer before any run", []frame{{kind: kindReply, run: id, call: 1}}, "a reply frame names a run that there was not"},
		{"order before any run", []frame{{kind: kindStop, run: id}}, "a stop frame names a run that there was not"},
		{"answer without an id", []frame{start, {kind: kindReply, run: id}}, "a reply frame with the id 0"},
		{"no calls at once", []frame{{kind: kindRun, meta: encode(runMeta{})}}, "0 calls at once"},
		{"too many calls at once", []frame{{kind: kindRun, meta: encode(runMeta{Parallel: 257})}}, "257 calls at once"},
		{"program longer than the body", []frame{{kind: kindRun, meta: encode(runMeta{Program: 5})}}, "a program of 5 bytes in a body of 0"},
		{"namespace that cannot be", []frame{{kind: kindRun, meta: encode(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Global: "await"}}})}}, `namespace 0: global "await" is not a usable identifier: it is a reserved word`},
		{"run without a description", []frame{{kind: kindRun}}, "malformed run frame: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ended := make(chan struct{})
			s := newServer(newLink(theirs), engineFunc(func(ctx context.Context, _ runtime.Request) (runtime.Result, error) {
				<-ended
				return runtime.Result{}, nil
			}), func(runtime.Limits) {})
			defer close(ended)
			result := make(chan error)
			go func() {
				err := s.serve(helloMeta{})
				theirs.Close()
				result <- err
			}()
			l := newLink(ours)
			if _, err := l.receive(helloCaps); err != nil {
				t.Fatal(err)
			}
			for _, f := range tt.frames {
				l.send(f)
			}
			ours.Close()
			err := <-result
			var f *fault
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%v, want no error", err)
			case tt.want != "" && (!errors.As(err, &f) || len(f.text) < len(tt.want) || f.text[:len(tt.want)] != tt.want):
				t.Errorf("%v, want a fault %q", err, tt.want)
			}
		})
	}
}
