package codemode_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/tools"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestRecord: the log says what the program took from the world, and the clock that
// the program sees is that of the log.
func TestRecord(t *testing.T) {
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		t.Run(isolation.String(), func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Values: true, Now: time.Now}, pipelinetest.Echo("echo"), pipelinetest.Failing("gone", errors.New("gone")))
			cm, err := codemode.New(p, &codemode.Options{Isolation: isolation, Record: true, Limits: codemode.Limits{Calls: 7}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cm.Close() }()
			out := cm.Run(t.Context(), codemode.Program{ID: "c1", Input: tools.MustJSON(`{"k":1.0}`), Code: `
const seen = [Date.now()]
const call = tools.echo({}); seen.push(Date.now()); await call; seen.push(Date.now())
await tools.gone({}).catch(() => {}); seen.push(Date.now())
return { seen, random: Math.random() }`})
			var world struct {
				CallID string         `json:"callId"`
				Seed   uint64         `json:"seed"`
				Start  int64          `json:"start"`
				Limits runtime.Limits `json:"limits"`
				Input  tools.JSON     `json:"input"`
			}
			if err := rec.Data(codemode.EventWorld)[0].Unmarshal(&world); err != nil {
				t.Fatal(err)
			}
			equal(t, "call and input", [2]string{world.CallID, world.Input.String()}, [2]string{"c1", `{"k":1.0}`})
			equal(t, "limits", [2]int{world.Limits.Calls, world.Limits.Depth}, [2]int{7, map[codemode.Isolation]int{codemode.IsolationInProcess: runtime.DepthInProcess, codemode.IsolationWorker: runtime.DepthWorker}[isolation]})
			equal(t, "wall", world.Limits.Wall, runtime.DefaultWall)

			var got struct {
				Result struct {
					Seen   []int64    `json:"seen"`
					Random tools.JSON `json:"random"`
				} `json:"result"`
			}
			if err := out.Value().Unmarshal(&got); err != nil {
				t.Fatalf("%v: %s", err, out.Text())
			}
			want := []int64{world.Start, world.Start}
			for _, e := range rec.Events() {
				if e.Type == pipeline.EventCodeDispatch {
					want = append(want, e.Time)
				}
			}
			equal(t, "times", got.Result.Seen, want)

			engine, err := gojavm.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = engine.Close() }()
			again, err := engine.Run(t.Context(), runtime.Request{Program: `return Math.random()`, Seed: &world.Seed})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "random number of the logged seed", again.Value, got.Result.Random.String())
		})
	}
}

// TestRecordRefused: a run that could not be repeated is not called recorded.
func TestRecordRefused(t *testing.T) {
	const want = "option Record needs a pipeline that logs values; set Values and Sink in its options"
	for name, opts := range map[string]*pipeline.Options{
		"no values": {Sink: &pipelinetest.Recorder{}},
		"no sink":   {Values: true},
	} {
		_, err := codemode.New(pipelinetest.New(t, opts), &codemode.Options{Isolation: codemode.IsolationInProcess, Record: true})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	full := pipeline.SinkFunc(func(e pipeline.Event) error {
		if e.Type == codemode.EventWorld {
			return errors.New("the disk is full")
		}
		return nil
	})
	p := pipelinetest.New(t, &pipeline.Options{Sink: full, Values: true}, pipelinetest.Echo("echo"))
	cm, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cm.Close() }()
	out := cm.Run(context.Background(), codemode.Program{Code: `return await tools.echo({})`})
	equal(t, "text", out.Text(), "Error: the program was not run because its world could not be logged: the disk is full")
}
