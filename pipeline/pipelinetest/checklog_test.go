package pipelinetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// logOf writes events from lines such as "call c1", "result c1 0", which answers
// the event 0, "start c1 c1 s1" and "settle c1 c1 s1" of the root, the parent and
// the nested call, "asked q c1", "decided q", "stage c1" and "other".
func logOf(t *testing.T, script string) (events []pipeline.Event) {
	t.Helper()
	for i, line := range strings.Split(script, "; ") {
		w := append(strings.Fields(line), "", "", "")
		e := pipeline.Event{Seq: uint64(i)}
		data := ""
		switch w[0] {
		case "call":
			e.Type, data = pipeline.EventToolCall, fmt.Sprintf(`{"callId":%q,"name":"x"}`, w[1])
		case "result":
			e.Type, data = pipeline.EventToolResult, fmt.Sprintf(`{"message":{"source":{"callId":%q}}}`, w[1])
			var seq uint64
			if _, err := fmt.Sscan(w[2], &seq); err != nil {
				t.Fatal(err)
			}
			e.SourceEventSeqs = []uint64{seq}
		case "start":
			e.Type = pipeline.EventCodeDispatchStart
			data = fmt.Sprintf(`{"rootCallId":%q,"parentCallId":%q,"subCallId":%q,"name":"x"}`, w[1], w[2], w[3])
		case "settle":
			e.Type = pipeline.EventCodeDispatch
			data = fmt.Sprintf(`{"rootCallId":%q,"parentCallId":%q,"subCallId":%q,"name":"x"}`, w[1], w[2], w[3])
		case "asked":
			e.Type, data = pipeline.EventApprovalAsked, fmt.Sprintf(`{"id":%q,"callId":%q}`, w[1], w[2])
		case "decided":
			e.Type, data = pipeline.EventApprovalDecided, fmt.Sprintf(`{"id":%q}`, w[1])
		case "stage":
			e.Type, data = pipeline.EventStage, fmt.Sprintf(`{"callId":%q}`, w[1])
		case "damaged":
			e.Type, data = pipeline.EventToolCall, `[]`
		default:
			e.Type, data = "other", `[]`
		}
		e.Data = tools.MustJSON(data)
		events = append(events, e)
	}
	return events
}

func TestCheckLog(t *testing.T) {
	for _, tt := range []struct {
		name, log string
		want      []string
	}{
		{"one call", "call c1; result c1 0", nil},
		{"everything there is", "call c1; stage c1; start c1 c1 s1; asked q s1; decided q; start c1 s1 t1; settle c1 s1 t1; settle c1 c1 s1; other; call c2; result c1 0; result c2 9", nil},
		{"an id again, once it is free", "call c1; result c1 0; call c1; result c1 2", nil},
		{"two questions, one after the other", "call c1; asked p c1; decided p; asked q c1; decided q; result c1 0", nil},

		{"no answer", "call c1; start c1 c1 s1", []string{`end of the log: call "c1" was never answered`, `end of the log: call "s1" was never answered`}},
		{"two answers", "call c1; result c1 0; result c1 0", []string{`event 2, tool/result: call "c1" is answered, citing [0], and no such announcement is open`}},
		{"an answer to another announcement", "call c1; other; result c1 1",
			[]string{`event 2, tool/result: call "c1" is answered, citing [1], and no such announcement is open`, `end of the log: call "c1" was never answered`}},
		{"a nested call answered as a model's", "call c1; start c1 c1 s1; result s1 1; settle c1 c1 s1; result c1 0",
			[]string{`event 2, tool/result: call "s1" is answered, citing [1], and no such announcement is open`}},
		{"a model's call answered as a nested one", "call c1; settle c1 c1 c1; result c1 0",
			[]string{`event 1, tool/code-dispatch: call "c1" is answered and is not open`}},
		{"an id taken", "call c1; call c1; result c1 1; result c1 0",
			[]string{`event 1, tool/call: call "c1" is announced while a call of that id is open`}},
		{"no id", "call", []string{`event 0, tool/call: the call has no id`, `end of the log: call "" was never answered`}},
		{"an unknown parent", "call c1; start c1 c9 s1; settle c1 c9 s1; result c1 0",
			[]string{`event 1, tool/code-dispatch-start: call "s1" is announced under "c9", which is not open`}},
		{"nested under what is settled", "call c1; result c1 0; start c1 c1 s1; settle c1 c1 s1",
			[]string{`event 2, tool/code-dispatch-start: call "s1" is announced under "c1", which is not open`}},
		{"another root than the parent's", "call c1; call c2; start c2 c1 s1; settle c2 c1 s1; result c1 0; result c2 1",
			[]string{`event 2, tool/code-dispatch-start: call "s1" serves the root "c2", its parent serves "c1"`}},
		{"a root that changes", "call c1; start c1 c1 s1; settle c2 c1 s1; result c1 0",
			[]string{`event 2, tool/code-dispatch: call "s1" of "x" under "c1" for "c2" was announced as one of "x" under "c1" for "c1"`}},
		{"settled twice", "call c1; start c1 c1 s1; settle c1 c1 s1; settle c1 c1 s1; result c1 0",
			[]string{`event 3, tool/code-dispatch: call "s1" is answered and is not open`}},
		{"a nested call outlives its parent", "call c1; start c1 c1 s1; result c1 0; settle c1 c1 s1",
			[]string{`event 2, tool/result: call "c1" is answered before "s1", which is nested under it`}},
		{"a question outlives its call", "call c1; asked q c1; result c1 0; decided q",
			[]string{`event 2, tool/result: call "c1" is answered before the question "q" about it is decided`}},
		{"a question about nothing", "asked q c1", []string{`event 0, approval/asked: call "c1" is not open`}},
		{"a question asked twice", "call c1; asked q c1; decided q; asked q c1; decided q; result c1 0",
			[]string{`event 3, approval/asked: the question "q" is asked a second time`}},
		{"a question decided twice", "call c1; asked q c1; decided q; decided q; result c1 0",
			[]string{`event 3, approval/decided: the question "q" is decided and is not open`}},
		{"a stage of nothing", "call c1; result c1 0; stage c1", []string{`event 2, pipeline/stage: call "c1" is not open`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, "problems", pipelinetest.CheckLog(logOf(t, tt.log)), tt.want)
		})
	}
	if got := strings.Join(pipelinetest.CheckLog(logOf(t, "damaged")), "; "); !strings.HasPrefix(got, "event 0, tool/call: its data cannot be read: ") {
		t.Errorf("problems of an event that cannot be read: %q", got)
	}
	same := logOf(t, "call c1; result c1 0")
	same[1].Seq = 0
	check(t, "numbers", pipelinetest.CheckLog(same), []string{"event 0, tool/result: its number does not follow 0"})
}

// The log of a body that does not wait for the call it nests is not sound.
func TestCheckLogOfPipelines(t *testing.T) {
	for _, waits := range []bool{true, false} {
		rec := &pipelinetest.Recorder{}
		nested := make(chan struct{})
		begun, goOn := make(chan struct{}), make(chan struct{})
		var p *pipeline.Pipeline
		p = pipelinetest.New(t, &pipeline.Options{Sink: rec, Stages: true}, pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			go func() {
				defer close(nested)
				p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "inner", Parent: run})
			}()
			<-begun
			if waits {
				close(goOn)
				<-nested
			}
			return tools.Result{}, nil
		}), pipelinetest.Tool("inner", func(context.Context, *tools.Run) (tools.Result, error) {
			close(begun)
			<-goOn
			return tools.Result{}, nil
		}))
		p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "outer"}, {ID: "c2", Name: "nope"}})
		if !waits {
			close(goOn)
			<-nested
		}
		got := pipelinetest.CheckLog(rec.Events())
		if waits != (len(got) == 0) {
			t.Errorf("the body waits: %v; problems %q", waits, got)
		}
	}
}

func ExampleCheckLog() {
	rec := &pipelinetest.Recorder{}
	var p *pipeline.Pipeline
	reg, err := tools.NewRegistry(pipelinetest.Echo("echo"), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "echo", Parent: run})
		return tools.Result{}, nil
	}))
	if err != nil {
		panic(err)
	}
	p = pipeline.New(reg, &pipeline.Options{Sink: rec})
	p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "outer"})
	events := rec.Events()
	fmt.Println(pipelinetest.CheckLog(events))
	fmt.Println(pipelinetest.CheckLog(events[:3]))
	// Output:
	// []
	// [end of the log: call "c1" was never answered]
}
