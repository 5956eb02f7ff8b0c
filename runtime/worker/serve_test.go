package worker

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// A worker takes nothing from its parent that the protocol does not allow at
// that moment.
func TestServerFaults(t *testing.T) {
	id := newRunID()
	start := frame{kind: kindRun, run: id, meta: packed(runMeta{Parallel: 1, Limits: runtime.Limits{Output: 100}})}
	for _, tt := range []struct {
		name   string
		frames []frame
		want   string
	}{
		{"nothing", nil, ""},
		{"frame of a worker's", []frame{{kind: kindCall, call: 1}}, "a call frame is not accepted here"},
		{"run in a run", []frame{start, start}, "a run frame in the middle of a run"},
		{"barrier", []frame{{kind: kindBarrier, run: id}}, "a barrier frame is not accepted here"},
		{"answer nobody waits for", []frame{start, {kind: kindReply, run: id, call: 1}}, "an answer to 1, which nobody waits for"},
		{"answer to another run", []frame{start, {kind: kindReply, run: newRunID(), call: 1}}, "a reply frame names a run that there was not"},
		{"answer before any run", []frame{{kind: kindReply, run: id, call: 1}}, "a reply frame names a run that there was not"},
		{"order before any run", []frame{{kind: kindStop, run: id}}, "a stop frame names a run that there was not"},
		{"answer without an id", []frame{start, {kind: kindReply, run: id}}, "a reply frame with the id 0"},
		{"no calls at once", []frame{{kind: kindRun, meta: packed(runMeta{})}}, "0 calls at once"},
		{"too many calls at once", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 257})}}, "257 calls at once"},
		{"limits that cannot be", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Limits: runtime.Limits{Output: -1}})}}, "a run with limits that cannot be: limit output is -1"},
		{"program longer than the body", []frame{{kind: kindRun, meta: packed(runMeta{Program: 5})}}, "a program of 5 bytes in a body of 0"},
		{"namespace that cannot be", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Global: "await"}}})}}, `namespace in place 0: global "await" is not a usable identifier: it is a reserved word`},
		{"namespace in no place there is", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Place: namePlaces + 1}}})}}, "there is no place 5 for a namespace"},
		{"namespace in a place before the first", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Place: -1}}})}}, "there is no place -1 for a namespace"},
		{"namespace that was never sent", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Place: 1, Known: true}}})}}, "no namespace is in place 1"},
		{"namespace that is kept nowhere", []frame{{kind: kindRun, meta: packed(runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Known: true}}})}}, "no namespace is in place 0"},
		{"run without a description", []frame{{kind: kindRun}}, "malformed run frame"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ended := make(chan struct{})
			s := newServer(newLink(theirs), engineFunc(func(ctx context.Context, _ runtime.Request) (runtime.Result, error) {
				<-ended
				return runtime.Result{}, nil
			}))
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

// Answers reach the engine in the order in which their frames arrive, and not in
// that in which those who wait for them wake up.
func TestAnswersInTheOrderOfTheirFrames(t *testing.T) {
	const n = 50
	var mu sync.Mutex
	var got, want []int
	r := overEngine(t, Options{MaxWorkers: 1}, func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		var out sync.WaitGroup
		for seq := 1; seq <= n; seq++ {
			out.Go(func() {
				req.Bindings[0].Call(ctx, runtime.Invocation{Seq: seq, Member: "a", Answer: func(runtime.Reply, error) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, seq)
				}})
			})
		}
		out.Wait()
		return runtime.Result{}, nil
	})
	calls := map[int]runtime.Invocation{}
	mustRun(t, r, runtime.Request{Parallel: n, Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
		mu.Lock()
		calls[inv.Seq] = inv
		all := len(calls) == n
		mu.Unlock()
		if !all {
			<-ctx.Done()
			return runtime.Reply{}, nil
		}
		for seq := n; seq > 0; seq-- {
			want = append(want, seq)
			calls[seq].Answer(runtime.Reply{}, nil)
		}
		return runtime.Reply{}, nil
	})})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order of the answers (-frames +engine):\n%s", diff)
	}
}
