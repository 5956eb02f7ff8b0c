package codemode

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// overlapping is a Runtime whose one program calls the first member of its first
// namespace several times at once, and writes down the answers it is given.
type overlapping struct {
	calls int
	given func(runtime.Reply, error)
}

func (r overlapping) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	var out sync.WaitGroup
	for seq := 1; seq <= r.calls; seq++ {
		out.Go(func() {
			req.Bindings[0].Call(ctx, runtime.Invocation{Seq: seq, Member: "read", Args: "{}", Answer: r.given})
		})
	}
	out.Wait()
	return runtime.Result{}, nil
}

func (overlapping) Close() error { return nil }

// Where sub-calls overlap, a program gets each answer before the next one settles:
// the log's order is the program's.
func TestAnswersInTheOrderOfTheSettleEvents(t *testing.T) {
	const n = 20
	var mu sync.Mutex
	var trace []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		trace = append(trace, text)
	}
	var inside sync.WaitGroup
	inside.Add(n)
	read := tools.DefineWith(tools.Definition{Name: "read", Description: "Read.", Concurrent: func(tools.JSON) bool { return true }},
		func(_ context.Context, run *tools.Run, _ struct{}) (string, error) {
			inside.Done()
			inside.Wait() // all end at once
			return run.Call().ID(), nil
		})
	registry, err := tools.NewRegistry(read)
	if err != nil {
		t.Fatal(err)
	}
	p := pipeline.New(registry, &pipeline.Options{Sink: pipeline.SinkFunc(func(e pipeline.Event) error {
		var settled struct {
			ID string `json:"subCallId"`
		}
		if e.Type == pipeline.EventCodeDispatch && e.Data.Unmarshal(&settled) == nil {
			note("settled " + settled.ID)
		}
		return nil
	})})
	cm, err := New(p, &Options{Isolation: IsolationInProcess, Parallel: n})
	if err != nil {
		t.Fatal(err)
	}
	defer cm.Close()
	cm.runtime.Close()
	cm.runtime = overlapping{n, func(reply runtime.Reply, err error) {
		if err != nil {
			t.Error(err)
		}
		note("answered " + strings.Trim(reply.Value, `"`))
	}}
	cm.Run(t.Context(), Program{ID: "r", Code: "return 1"})

	var want []string
	for i := 0; i < len(trace); i += 2 {
		id := strings.TrimPrefix(trace[i], "settled ")
		want = append(want, "settled "+id, "answered "+id)
	}
	if diff := cmp.Diff(want, trace); diff != "" || len(trace) != 2*n {
		t.Errorf("%d of %d entries (-want +got):\n%s", len(trace), 2*n, diff)
	}
}

// TestValuesThatDoNotFit shows that a program gets a value which its declaration
// only describes, and that the model is told of the difference.
func TestValuesThatDoNotFit(t *testing.T) {
	lies := &tools.Definition{
		Name: "lies", Description: "Say a number.", Output: tools.MustJSON(`{"type":"number"}`), OutputDescribes: true,
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.MustJSON(`"seven"`)}, nil
		},
	}
	reg, err := tools.NewRegistry(lies)
	if err != nil {
		t.Fatal(err)
	}
	cm, err := New(pipeline.New(reg, nil), &Options{Isolation: IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	defer cm.Close()
	out := cm.Run(t.Context(), Program{Code: "let x; for (let i = 0; i < 12; i++) x = await tools.lies({}); return x"})
	notes := ReportOf(out).Usage.Notes
	if got := out.Value().String(); got != `{"logs":[],"result":"seven"}` || len(notes) != 11 ||
		!strings.HasPrefix(notes[0], `call 1 (lies): its value is not what its declaration says: `) || notes[10] != "2 further values are not what their declarations say" {
		t.Errorf("%s with the notes %q, want the value, ten notes and how many more there are", got, notes)
	}
}

// leaver is a Runtime whose program makes one call on a goroutine that may end, and
// writes down the answer, as a Runtime with or without Answer hears it.
type leaver struct {
	answers bool
	heard   *string
}

func (r leaver) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	inv := runtime.Invocation{Seq: 1, Member: "read", Args: "{}"}
	first := true
	hear := func(reply runtime.Reply, err error) {
		if first {
			*r.heard = fmt.Sprintf("%q %v", reply.Value, err)
		}
		first = false
	}
	if r.answers {
		inv.Answer = hear
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if !returned {
				hear(runtime.Reply{}, errors.New("left without a word"))
			}
		}()
		reply, err := req.Bindings[0].Call(ctx, inv)
		returned = true
		hear(reply, err)
	}()
	<-done
	return runtime.Result{}, nil
}

func (leaver) Close() error { return nil }

// TestCallsSettleWithTheirGoroutine shows that a program hears the same of a call
// on a goroutine that foreign code ends or that panics, whether the call stays on
// the runtime's goroutine or has one of its own.
func TestCallsSettleWithTheirGoroutine(t *testing.T) {
	for _, tt := range []struct {
		name string
		hook func(p *pipeline.Pipeline)
		want string
	}{
		{"a call that succeeds", func(*pipeline.Pipeline) {}, `"\"text\"" <nil>`},
		{"policy leaves", func(p *pipeline.Pipeline) {
			p.PreExecute.Use("leaves", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.Name() == "read" {
					goruntime.Goexit()
				}
				return next(ctx)
			})
		}, `"" the call of read ended without an outcome`},
		{"policy panics", func(p *pipeline.Pipeline) {
			p.PreExecute.Use("panics", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.Name() == "read" {
					panic("boom")
				}
				return next(ctx)
			})
		}, `"" pre-execute listener "panics" crashed`},
		{"an observer leaves", func(p *pipeline.Pipeline) {
			p.OnResult("leaves", func(o pipeline.Outcome) {
				if o.Call().Name() == "read" {
					goruntime.Goexit()
				}
			})
		}, `"\"text\"" <nil>`},
	} {
		for _, answers := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, answers %v", tt.name, answers), func(t *testing.T) {
				reg, err := tools.NewRegistry(tools.Define("read", "Read.", func(context.Context, struct{}) (string, error) { return "text", nil }))
				if err != nil {
					t.Fatal(err)
				}
				p := pipeline.New(reg, nil)
				tt.hook(p)
				heard := ""
				cm, err := New(p, &Options{Runtime: leaver{answers, &heard}})
				if err != nil {
					t.Fatal(err)
				}
				defer cm.Close()
				cm.Run(t.Context(), Program{ID: "r", Code: "return 1"})
				if heard != tt.want {
					t.Errorf("the program hears %s, want %s", heard, tt.want)
				}
			})
		}
	}
}
