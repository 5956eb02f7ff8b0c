package codemode_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// stage is a tool whose bodies the test watches and releases one by one.
type stage struct {
	mu      sync.Mutex
	changed *sync.Cond
	live    map[string]bool // bodies inside, by id
	free    map[string]bool // ids that may leave
	peak    int
	trace   []string
	events  []string // of the log's dispatches, in short
}

func newStage() *stage {
	s := &stage{live: map[string]bool{}, free: map[string]bool{}}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// tool is a body that stays until its id is released; safe bodies may overlap.
func (s *stage) tool(name string, safe bool) *tools.Definition {
	def := tools.Definition{Name: name, Description: "Stay until released."}
	if safe {
		def.Concurrent = func(tools.JSON) bool { return true }
	}
	return tools.DefineWith(def, func(ctx context.Context, _ *tools.Run, in struct {
		ID string `json:"id"`
	}) (string, error) {
		stop := context.AfterFunc(ctx, func() { s.changed.Broadcast() })
		defer stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.live[in.ID] = true
		s.peak = max(s.peak, len(s.live))
		s.trace = append(s.trace, "enter "+in.ID)
		s.changed.Broadcast()
		for !s.free[in.ID] && ctx.Err() == nil {
			s.changed.Wait()
		}
		delete(s.live, in.ID)
		s.trace = append(s.trace, "exit "+in.ID)
		s.changed.Broadcast()
		return in.ID, nil
	})
}

// await returns when exactly these bodies are inside.
func (s *stage) await(t *testing.T, ids ...string) {
	t.Helper()
	stop := context.AfterFunc(t.Context(), s.changed.Broadcast)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.holds(ids) {
		if t.Context().Err() != nil {
			t.Errorf("the test ended while %v were awaited inside, inside are %v", ids, s.live)
			return
		}
		s.changed.Wait()
	}
}

// settled returns when a call has settled: leaving its body alone decides no
// order.
func (s *stage) settled(t *testing.T, id string) {
	t.Helper()
	stop := context.AfterFunc(t.Context(), s.changed.Broadcast)
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !slices.Contains(s.events, "settle "+id) {
		if t.Context().Err() != nil {
			t.Errorf("the test ended while the settlement of %s was awaited, there are %v", id, s.events)
			return
		}
		s.changed.Wait()
	}
}

func (s *stage) holds(ids []string) bool {
	for _, id := range ids {
		if !s.live[id] {
			return false
		}
	}
	return len(s.live) == len(ids)
}

func (s *stage) release(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.free[id] = true
	}
	s.changed.Broadcast()
}

// parallel opens a code mode with overlapping calls over a stage with a safe
// tool "read" and an exclusive tool "write", and returns the log's dispatch
// events in short.
func parallel(t *testing.T, width int) (*codemode.CodeMode, *stage, func() []string) {
	t.Helper()
	s := newStage()
	p := pipeline.New(registry(t, s.tool("read", true), s.tool("write", false)), &pipeline.Options{
		Sink: pipeline.SinkFunc(func(e pipeline.Event) error {
			var d struct {
				ID string `json:"subCallId"`
			}
			if err := e.Data.Unmarshal(&d); err == nil && d.ID != "" {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.events = append(s.events, map[string]string{pipeline.EventCodeDispatchStart: "start ", pipeline.EventCodeDispatch: "settle "}[e.Type]+d.ID)
				s.changed.Broadcast()
			}
			return nil
		}),
	})
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: width})
	return cm, s, func() []string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.events
	}
}

func TestParallelCallsOverlap(t *testing.T) {
	cm, s, events := parallel(t, 3)
	go func() {
		s.await(t, "a", "b", "c") // all inside at once
		s.release("c")
		s.settled(t, "c1:code:3")
		s.release("b")
		s.settled(t, "c1:code:2")
		s.release("a")
	}()
	got := succeed(t, cm, `return await Promise.all(["a", "b", "c"].map(id => tools.read({ id })))`)
	if want := `{"logs":[],"result":["a","b","c"]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
	want := []string{"start c1:code:1", "start c1:code:2", "start c1:code:3", "settle c1:code:3", "settle c1:code:2", "settle c1:code:1"}
	if diff := cmp.Diff(want, events()); diff != "" {
		t.Errorf("starts in the order of the program, settlements as the bodies end (-want +got):\n%s", diff)
	}
}

func TestParallelRaceIsWonByTheFaster(t *testing.T) {
	cm, s, _ := parallel(t, 2)
	go func() {
		s.await(t, "slow", "fast")
		s.release("fast")
		s.await(t, "slow", "third") // the program makes the third call once the race is won
		s.release("slow", "third")
	}()
	got := succeed(t, cm, `
		const slow = tools.read({ id: "slow" })
		const first = await Promise.race([slow, tools.read({ id: "fast" })])
		await Promise.all([slow, tools.read({ id: "third" })])
		return first`)
	if want := `{"logs":[],"result":"fast"}`; got != want {
		t.Errorf("the race gave %s, want %s", got, want)
	}
}

func TestParallelExclusiveIsABarrier(t *testing.T) {
	cm, s, _ := parallel(t, 4)
	go func() {
		s.await(t, "r1", "r2") // w waits for both, r3 waits for w
		s.release("r1")
		s.await(t, "r2")
		s.release("r2")
		s.await(t, "w")
		s.release("w")
		s.await(t, "r3")
		s.release("r3")
	}()
	got := succeed(t, cm, `return await Promise.all([tools.read({ id: "r1" }), tools.read({ id: "r2" }), tools.write({ id: "w" }), tools.read({ id: "r3" })])`)
	if want := `{"logs":[],"result":["r1","r2","w","r3"]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
	if s.peak != 2 {
		t.Errorf("up to %d bodies were inside at once, want the two reads", s.peak)
	}
}

func TestParallelWidth(t *testing.T) {
	cm, s, _ := parallel(t, 2)
	go func() {
		for i := 0; i < 4; i += 2 {
			a, b := fmt.Sprint(i), fmt.Sprint(i+1)
			s.await(t, a, b)
			s.release(a, b)
		}
	}()
	succeed(t, cm, `await Promise.all(["0", "1", "2", "3"].map(id => tools.read({ id })))`)
	if s.peak != 2 {
		t.Errorf("up to %d bodies were inside at once, want 2", s.peak)
	}
}

// A call that is cancelled while it waits for its turn holds nobody up.
func TestParallelCallGivenUpBeforeItsTurn(t *testing.T) {
	cm, s, _ := parallel(t, 3)
	go func() {
		s.await(t, "w") // holds up the two behind it
		s.release("w", "b")
	}()
	got := succeed(t, cm, `
		const abort = new AbortController()
		const w = tools.write({ id: "w" })
		const a = tools.read({ id: "a" }, { signal: abort.signal }).catch(e => e.code)
		const b = tools.read({ id: "b" })
		abort.abort()
		return await Promise.all([w, a, b])`)
	if want := `{"logs":[],"result":["w","ABORTED","b"]}`; got != want {
		t.Errorf("value %s, want %s", got, want)
	}
}

func TestParallelBeginsOneAtATime(t *testing.T) {
	s := newStage()
	s.release("a", "b", "c")
	p := pipeline.New(registry(t, s.tool("read", true)), nil)
	inside, order := 0, []string{}
	p.PreExecute.Use("slow policy", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if c.IsTransport() {
			return next(ctx)
		}
		if inside++; inside > 1 { // unguarded on purpose: the race detector sees an overlap too
			t.Error("two pre-execute stages overlap")
		}
		order = append(order, c.ID())
		inside--
		return next(ctx)
	})
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: 3})
	succeed(t, cm, `await Promise.all(["a", "b", "c"].map(id => tools.read({ id })))`)
	if diff := cmp.Diff([]string{"c1:code:1", "c1:code:2", "c1:code:3"}, order); diff != "" {
		t.Errorf("order of pre-execute (-want +got):\n%s", diff)
	}
}
