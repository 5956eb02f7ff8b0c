package worker

import (
	"bytes"
	"context"
	"fmt"
	goruntime "runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// inTurn is an engine that makes so many calls, one after the other, and returns
// their answers as its lines.
func inTurn(n int) engineFunc {
	return func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		for i := range n {
			reply, err := req.Bindings[0].Call(ctx, runtime.Invocation{Seq: i + 1, Member: "a", Args: fmt.Sprint(i + 1)})
			text := reply.Value
			if err != nil {
				text = err.Error()
			}
			req.Log(runtime.Line{Level: "log", Text: text})
		}
		return runtime.Result{}, nil
	}
}

// Calls that follow each other share a goroutine, whose stack has grown.
func TestCallsShareGoroutines(t *testing.T) {
	const many = 200
	seen := map[string]bool{}
	f := overEngine(t, Options{MaxWorkers: 1}, inTurn(many))
	res := mustRun(t, f, runtime.Request{Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
		var stack [64]byte
		name, _, _ := bytes.Cut(stack[:goruntime.Stack(stack[:], false)], []byte(" ["))
		seen[string(name)] = true
		return runtime.Reply{Value: "1"}, nil
	})})
	if res.Usage.Calls != many {
		t.Fatalf("%+v %+v", res, res.Failure)
	}
	if len(seen) > many/10 {
		t.Errorf("%d goroutines made %d calls", len(seen), many)
	}
}

// A call whose goroutine ends fails, and the calls after it do not.
func TestCallsWhoseGoroutineEnds(t *testing.T) {
	f := overEngine(t, Options{MaxWorkers: 1}, inTurn(5))
	res := mustRun(t, f, runtime.Request{Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
		switch inv.Seq {
		case 2, 3:
			goruntime.Goexit()
		case 4:
			panic("oops")
		}
		return runtime.Reply{Value: inv.Args}, nil
	})})
	want := []string{"1", errLeft.Error(), errLeft.Error(), "a failed: the host panicked: oops", "5"}
	if diff := cmp.Diff(want, res.Logs); diff != "" {
		t.Error(diff)
	}
}

// An answer that is given before its Call returns lets the program go on, also where
// calls do not overlap: what the Call returns is not heard.
func TestAnswerBeforeReturn(t *testing.T) {
	f := overEngine(t, Options{MaxWorkers: 1}, inTurn(2))
	second := make(chan struct{})
	res := mustRun(t, f, runtime.Request{Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
		if inv.Seq == 2 {
			close(second)
			return runtime.Reply{Value: `"second"`}, nil
		}
		inv.Answer(runtime.Reply{Value: `"first"`}, nil)
		inv.Answer(runtime.Reply{Value: `"again"`}, nil)
		<-second
		return runtime.Reply{Value: `"late"`}, nil
	})})
	if diff := cmp.Diff([]string{`"first"`, `"second"`}, res.Logs); diff != "" {
		t.Error(diff)
	}
}
