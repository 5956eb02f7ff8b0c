package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// TestLoggedValues: the values of successes are in the log where that is asked for,
// as they are and not as they are shown.
func TestLoggedValues(t *testing.T) {
	value := tools.MustJSON(`{"b":1.0,"a":9007199254740993}`)
	shown := pipelinetest.Tool("shown", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: value, Content: []tools.Content{tools.TextContent("two numbers")}}, nil
	})
	nothing := pipelinetest.Tool("nothing", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Content: []tools.Content{tools.TextContent("done")}}, nil
	})
	for _, tt := range []struct {
		name   string
		values bool
		tool   string
		want   string
	}{
		{"a value", true, "shown", value.String()},
		{"not asked for", false, "shown", ""},
		{"no value", true, "nothing", ""},
		{"a failure", true, "fails", ""},
		{"replaced", true, "replaced", `"other"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			var p *pipeline.Pipeline
			outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				return tools.Result{Value: p.Execute(ctx, pipeline.Request{Name: tt.tool, Parent: run}).Value()}, nil
			})
			p = pipelinetest.New(t, &pipeline.Options{Sink: rec, Values: tt.values}, outer, shown, nothing,
				pipelinetest.Failing("fails", errors.New("no")), pipelinetest.Text("replaced", "one"))
			p.PostExecute.Use("replace", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
				if s.Call.Name() == "replaced" {
					return pipeline.AcceptValue(tools.StringJSON("other")), nil
				}
				return next(ctx)
			})
			check(t, "LogsValues", p.LogsValues(), tt.values)
			p.Execute(context.Background(), pipeline.Request{Name: "outer"})
			for _, event := range []string{pipeline.EventCodeDispatch, pipeline.EventToolResult} {
				var data struct {
					Value tools.JSON `json:"value"`
				}
				if err := rec.Data(event)[0].Unmarshal(&data); err != nil {
					t.Fatal(err)
				}
				check(t, event, data.Value.String(), tt.want)
			}
		})
	}
	check(t, "LogsValues without a sink", pipelinetest.New(t, &pipeline.Options{Values: true}).LogsValues(), false)
}

// TestLoggedTimes: an outcome knows the time that the log has for it, and that time
// is never before what stands in the log already.
func TestLoggedTimes(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	clock := time.UnixMilli(1000)
	step := time.Duration(0)
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Now: func() time.Time { clock = clock.Add(step); return clock }}, pipelinetest.Text("x", "x"))
	p.OnResult("emits", func(o pipeline.Outcome) {
		check(t, "Logged, before it is", o.Logged(), time.Time{})
		step = -time.Second // the clock is set back
		if err := p.Emit("test/seen", tools.MustJSON(`1`)); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		step = 700 * time.Microsecond
		o := p.Execute(context.Background(), pipeline.Request{Name: "x"})
		events := rec.Events()
		check(t, "Logged", o.Logged().UnixMilli(), events[len(events)-1].Time)
		for i, e := range events[1:] {
			if e.Time < events[i].Time {
				t.Errorf("event %d has the time %d, before %d", e.Seq, e.Time, events[i].Time)
			}
		}
	}
	refuses := pipeline.SinkFunc(func(e pipeline.Event) error {
		if e.Type == pipeline.EventToolResult {
			return errors.New("full")
		}
		return nil
	})
	for name, sink := range map[string]pipeline.Sink{"no sink": nil, "not written": refuses} {
		o := pipelinetest.New(t, &pipeline.Options{Sink: sink}, pipelinetest.Text("x", "x")).Execute(context.Background(), pipeline.Request{Name: "x"})
		check(t, name, o.Logged(), time.Time{})
	}
	check(t, "the zero outcome", pipeline.Outcome{}.Logged(), time.Time{})
}
