package runtimetest

import (
	"context"
	"encoding/json"
	"errors"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// host answers the calls of the suite's programs and writes down what it saw.
type host struct {
	t     *testing.T
	rt    runtime.Runtime
	tools *runtime.Namespace

	mu      sync.Mutex
	calls   []runtime.Invocation // as they began
	events  []string             // of the member step
	active  int
	peak    int
	ended   []string      // members of hold and linger that came to their end
	met     chan struct{} // closed when the awaited number of calls is there
	waiting int
	began   func(member string) // told of every call that begins, if not nil
}

// members of the namespace tools.
var members = []runtime.Member{
	{Name: "echo"},   // its arguments
	{Name: "raw"},    // the JSON text in its argument json
	{Name: "fail"},   // a CallError made of its arguments
	{Name: "broken"}, // an error that is no CallError
	{Name: "panics"}, // a panic
	{Name: "leaves"}, // ends its goroutine
	{Name: "hold"},   // waits until its context ends
	{Name: "linger"}, // the same, and then takes its time
	{Name: "step"},   // writes down when it began and ended
	{Name: "meet"},   // returns when n of it are there
	{Name: "pause"},  // stands still for ms with the wall clocks paused
	{Name: "wait"},   // takes ms
	{Name: "nested"}, // runs the program in its argument code
	{Name: "big"},    // a text of n characters
}

func toolClass() runtime.ErrorClass {
	return runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}
}

func namespace(t *testing.T, global string, class runtime.ErrorClass, members ...runtime.Member) *runtime.Namespace {
	t.Helper()
	n, err := runtime.NewNamespace(global, class, members)
	if err != nil {
		t.Fatalf("NewNamespace(%q): %v", global, err)
	}
	return n
}

func newHost(t *testing.T, rt runtime.Runtime) *host {
	t.Helper()
	return &host{t: t, rt: rt, tools: namespace(t, "tools", toolClass(), members...), met: make(chan struct{})}
}

// run runs req with the namespace tools bound, which must be no misuse.
func (h *host) run(ctx context.Context, req runtime.Request) runtime.Result {
	h.t.Helper()
	req.Bindings = append([]runtime.Binding{{Namespace: h.tools, Call: h.call}}, req.Bindings...)
	req.Limits = bounded(req.Limits)
	res, err := h.rt.Run(ctx, req)
	if err != nil {
		h.t.Errorf("Run: %v", err)
		return res
	}
	settled(h.t, req, res)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.active != 0 && !req.Nested {
		h.t.Errorf("Run returned with %d calls active", h.active)
	}
	return res
}

// seen lists the calls as "member args".
func (h *host) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, c := range h.calls {
		out = append(out, c.Member+" "+c.Args)
	}
	return out
}

func (h *host) call(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
	h.mu.Lock()
	h.calls = append(h.calls, c)
	h.active++
	h.peak = max(h.peak, h.active)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.active--
		h.mu.Unlock()
	}()
	if h.began != nil {
		h.began(c.Member)
	}
	return h.answer(ctx, c)
}

func (h *host) answer(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
	switch c.Member {
	case "echo":
		return runtime.Reply{Value: c.Args}, nil
	case "broken":
		return runtime.Reply{}, errors.New("the disk is on fire")
	case "panics":
		panic("boom")
	case "leaves":
		goruntime.Goexit()
	}
	var args struct {
		JSON, Message, Code, CallID, ID string
		Extra                           map[string]string
		N, MS                           int
	}
	if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
		return runtime.Reply{}, err
	}
	switch c.Member {
	case "raw":
		return runtime.Reply{Value: args.JSON}, nil
	case "fail":
		return runtime.Reply{}, &runtime.CallError{Message: args.Message, Code: args.Code, CallID: args.CallID, Extra: args.Extra}
	case "hold":
		<-ctx.Done()
		h.end(c.Member)
		return runtime.Reply{}, context.Cause(ctx)
	case "linger":
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // the time it takes; nothing waits for it but Run
		h.end(c.Member)
		return runtime.Reply{}, context.Cause(ctx)
	case "step":
		h.event("in " + args.ID)
		for range 50 {
			goruntime.Gosched() // let another call in, if the lane would
		}
		h.event("out " + args.ID)
		return runtime.Reply{Value: `"` + args.ID + `"`}, nil
	case "meet":
		return runtime.Reply{Value: "true"}, h.meet(ctx, args.N)
	case "pause":
		resume := runtime.PauseWall(ctx)
		defer resume()
		return runtime.Reply{Value: "true"}, after(ctx, args.MS)
	case "wait":
		return runtime.Reply{Value: "true"}, after(ctx, args.MS)
	case "big":
		return runtime.Reply{Value: `"` + strings.Repeat("x", args.N) + `"`}, nil
	case "nested":
		return h.nest(ctx, args.Code)
	}
	return runtime.Reply{}, errors.New("no such member: " + c.Member)
}

// meet returns when n calls of it are waiting.
func (h *host) meet(ctx context.Context, n int) error {
	h.mu.Lock()
	h.waiting++
	met := h.met
	if h.waiting == n {
		close(met)
		h.waiting, h.met = 0, make(chan struct{})
	}
	h.mu.Unlock()
	select {
	case <-met:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// after returns when ms milliseconds have passed.
func after(ctx context.Context, ms int) error {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// nest runs a program inside the run that ctx belongs to.
func (h *host) nest(ctx context.Context, program string) (runtime.Reply, error) {
	res := h.run(ctx, runtime.Request{Program: program, Nested: true})
	if res.Failure != nil {
		return runtime.Reply{}, errors.New("inner run: " + res.Failure.Message)
	}
	return runtime.Reply{Value: res.Value}, nil
}

func (h *host) event(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, text)
}

func (h *host) end(member string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, member)
}
