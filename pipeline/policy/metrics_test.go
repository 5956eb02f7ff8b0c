package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(_ context.Context, run *tools.Run) (tools.Result, error) {
			var in struct{ Seconds int }
			if err := json.Unmarshal(run.Args().Bytes(), &in); err != nil {
				return tools.Result{}, err
			}
			time.Sleep(time.Duration(in.Seconds) * time.Second)
			return text("ok")
		}
		p := pipelinetest.New(t, &pipeline.Options{Now: time.Now}, pipelinetest.Tool("wait", wait), pipelinetest.Tool("ask", sleeper(time.Hour)),
			pipelinetest.Failing("fail", errors.New("gone")))
		m := &policy.Metrics{}
		check(t, "nothing yet", m.Snapshot(), []policy.CallStats{})
		p.OnResult("metrics", m.Observe)
		p.Guards.Use("no", func(c tools.Call) string {
			if c.Args().String() == `{"no":1}` || c.Name() == "made_up_3" {
				return "no"
			}
			return ""
		})
		for _, call := range []string{`wait {"Seconds":2}`, `wait {"Seconds":5}`, `wait {"Seconds":1}`, `wait {"no":1}`, "fail", "made_up", "made_up_2", "made_up_3"} {
			p.Execute(t.Context(), say(call))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p.Execute(ctx, say("ask"))
		check(t, "snapshot", m.Snapshot(), []policy.CallStats{
			{Tool: policy.OtherTools, State: pipeline.StateNotStarted, Calls: 3},
			{Tool: "ask", State: pipeline.StateAborted, Calls: 1, Total: time.Second, Min: time.Second, Max: time.Second},
			{Tool: "fail", State: pipeline.StateFailed, Calls: 1},
			{Tool: "wait", State: pipeline.StateDone, Calls: 3, Total: 8 * time.Second, Min: time.Second, Max: 5 * time.Second},
			{Tool: "wait", State: pipeline.StateNotStarted, Calls: 1},
		})
	})
}

// A tool only one agent has is a tool; to others its name means nothing.
func TestMetricsAgentsTool(t *testing.T) {
	p := pipelinetest.New(t, nil)
	if _, err := p.For("one").Add(pipelinetest.Echo("own")); err != nil {
		t.Fatal(err)
	}
	var m policy.Metrics
	p.OnResult("metrics", m.Observe)
	for _, agent := range []any{"one", "other", nil} {
		p.Execute(t.Context(), pipeline.Request{Name: "own", Agent: agent})
	}
	counts := map[string]int64{}
	for _, s := range m.Snapshot() {
		counts[s.Tool+" "+string(s.State)] = s.Calls
	}
	check(t, "calls", counts, map[string]int64{"own done": 1, "(other) not-started": 2})
}

func TestMetricsBounded(t *testing.T) {
	p := pipelinetest.New(t, nil)
	m := &policy.Metrics{}
	p.OnResult("metrics", m.Observe)
	for i := range 1200 {
		def := pipelinetest.Echo(fmt.Sprint("tool", i))
		if _, err := p.Registry().Add(def); err != nil {
			t.Fatal(err)
		}
		exec(p, def.Name)
	}
	exec(p, "tool0")
	all := m.Snapshot()
	check(t, "tools", len(all), 1001)
	check(t, "the others", all[0], policy.CallStats{Tool: policy.OtherTools, State: pipeline.StateDone, Calls: 200, Total: all[0].Total, Min: all[0].Min, Max: all[0].Max})
	check(t, "one of the first", all[1].Calls, int64(2))
}

func TestMetricsConcurrent(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Echo("a"))
	m := &policy.Metrics{}
	p.OnResult("metrics", m.Observe)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { exec(p, "a") })
		wg.Go(func() { m.Snapshot() })
	}
	wg.Wait()
	check(t, "calls", m.Snapshot()[0].Calls, int64(20))
}

func TestMetricsAsData(t *testing.T) {
	p := pipelinetest.New(t, nil)
	m := &policy.Metrics{}
	m.Observe(pipeline.Outcome{})
	install(t, p, pipelinetest.Echo(tools.TransportName))
	p.OnResult("metrics", m.Observe)
	exec(p, tools.TransportName)
	all := m.Snapshot()
	all[1].Total, all[1].Min, all[1].Max = 3, 1, 2
	text, err := json.Marshal(all)
	check(t, "error", err, nil)
	check(t, "json", string(text), `[{"tool":"(other)","state":"not-started","calls":1,"totalNs":0,"minNs":0,"maxNs":0},`+
		`{"tool":"run_code","state":"done","calls":1,"totalNs":3,"minNs":1,"maxNs":2}]`)
}
