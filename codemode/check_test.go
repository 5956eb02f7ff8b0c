package codemode_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/runtime"
)

// TestCheck: a program is compiled, nothing of it runs.
func TestCheck(t *testing.T) {
	type result struct {
		Kind  runtime.Kind
		Line  int
		Notes []string
	}
	for _, tt := range []struct {
		name, code string
		want       result
	}{
		{"fine", "const r: string = await tools.reads({}); return r", result{}},
		{"would run for ever and call", "while (true) await tools.reads({})", result{}},
		{"syntax", "const a = 1\nreturn a +", result{Kind: runtime.Exception, Line: 2}},
		{"shell text", "ls -la && cat x", result{Kind: runtime.InvalidInput, Line: 1}},
		{"fence", "```js\nreturn 1\n```", result{Notes: []string{"the code fence around the program was removed"}}},
		{"unknown tools", "const x = 1\nawait tools.raeds({ a: await tools['writse']() })\ntools.raeds?.()\nif (tools.maybe) {}\n{ const f = tools.other; await f() }", result{Notes: []string{
			"line 2: tools.raeds is not a tool; did you mean tools.reads?",
			"line 2: tools.writse is not a tool; did you mean tools.writes?",
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
				p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("reads", "x"), pipelinetest.Text("writes", "x"))
				cm := open(t, p, &codemode.Options{Isolation: isolation})
				res, err := cm.Check(t.Context(), tt.code)
				if err != nil {
					t.Fatal(err)
				}
				got := result{Notes: res.Notes}
				if res.Failure != nil {
					got.Kind, got.Line = res.Failure.Kind, res.Failure.Site.Line
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", isolation, diff)
				}
			}
			if n := len(rec.Events()); n > 0 {
				t.Errorf("%d events were logged", n)
			}
		})
	}
}
