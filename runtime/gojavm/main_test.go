package gojavm

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newRuntime returns a runtime that is closed with the test.
func newRuntime(t testing.TB, opts *Options) *Runtime {
	t.Helper()
	rt, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

// toolNames are members that the tests' host answers.
var toolNames = []string{"echo", "fail", "hold", "ping", "big"}

// toolset is the namespace tools with those members and others.
func toolset(t testing.TB, more ...runtime.Member) *runtime.Namespace {
	t.Helper()
	members := more
	for _, name := range toolNames {
		members = append(members, runtime.Member{Name: name})
	}
	n, err := runtime.NewNamespace("tools", runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}, members)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// serve answers a call of the tests' tools.
func serve(ctx context.Context, call runtime.Invocation) (runtime.Reply, error) {
	switch call.Member {
	case "fail":
		return runtime.Reply{}, &runtime.CallError{Message: "it broke", Code: "BROKEN", CallID: "c1", Extra: map[string]string{"origin": "policy"}}
	case "hold":
		<-ctx.Done()
		return runtime.Reply{}, context.Cause(ctx)
	case "ping":
		return runtime.Reply{Value: `{"n":1}`}, nil
	case "big":
		var args struct{ N int }
		if err := json.Unmarshal([]byte(call.Args), &args); err != nil {
			return runtime.Reply{}, err
		}
		text := make([]byte, args.N)
		for i := range text {
			text[i] = 'x'
		}
		return runtime.Reply{Value: `"` + string(text) + `"`}, nil
	case "echo":
		return runtime.Reply{Value: call.Args}, nil
	}
	return runtime.Reply{Value: `"` + call.Member + `"`}, nil
}

// execute runs a program with the tests' tools.
func execute(t testing.TB, rt *Runtime, req runtime.Request) runtime.Result {
	t.Helper()
	if req.Bindings == nil {
		req.Bindings = []runtime.Binding{{Namespace: toolset(t), Call: serve}}
	}
	res, err := rt.Run(t.Context(), req)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return res
}

var errHost = errors.New("the host is unwell")

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
