//go:build unix

package trace_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// TestPageOfRecording opens the log of a run that can be repeated, with an input and
// a value that were too large for it.
func TestPageOfRecording(t *testing.T) {
	b := openBrowser(t)
	path := t.TempDir() + "/log.jsonl"
	log, err := eventlog.Open(path, &eventlog.Options{Spill: func(context.Context, string) (string, error) { return "shelf:1", nil }})
	if err != nil {
		t.Fatal(err)
	}
	rows := pipelinetest.Tool("rows", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON(`{"n":12345678901234567890,"rows":["` + strings.Repeat("r", 100_000) + `"]}`), Content: []tools.Content{tools.TextContent("1 row")}}, nil
	})
	cm, err := codemode.New(pipelinetest.New(t, &pipeline.Options{Sink: log, Values: true}, rows), &codemode.Options{Isolation: codemode.IsolationInProcess, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	cm.Run(t.Context(), codemode.Program{
		Code: "const r = await tools.rows({})\nreturn r.rows.length + input.length", Input: tools.MustJSON(`"` + strings.Repeat("i", 100_000) + `"`),
	})
	if err := errors.Join(cm.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b.open(tr, "recording")
	part := func(title, of string) string {
		return b.eval(`(e => e?.querySelector('` + of + `')?.textContent ?? 'none')([...document.querySelectorAll('.box')].find(e => e.querySelector('.head').textContent.startsWith('` + title + `')))`)
	}
	says := func(what, got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s is %.300s, want %q in it", what, got, w)
			}
		}
	}
	b.key("ArrowUp")
	check(t, "the chosen call", b.eval(`document.getElementById('what').textContent`), `"run_code"`)
	says("the world", part("What the program took from the world", "pre"),
		`clock   `+tr.Calls[0].World.Start.Format("2006-01-02T15:04:05.000Z"), `seed    `, `limits  wall 600.0 s, compute 60.0 s, heap `, `input   \"iiii`)
	says("the cut of the input", part("What the program took from the world", ".cut"), "Cut in the log at /input: 100000 bytes", "whole at shelf:1")
	check(t, "the value", part("Value", "pre"), `"{\n  \"logs\": [],\n  \"result\": 100001\n}"`)
	b.shoot("recording-run")
	b.key("ArrowDown")
	says("the value the program got", part("Value the program got", "pre"), `{\n  \"n\": 12345678901234567890,\n  \"rows\": [`, `rrrr`)
	says("its cut", part("Value the program got", ".cut"), "/value/rows/0")
	check(t, "the cut of the result", part("Result", ".cut"), `"none"`)
	b.shoot("recording-value")
	b.sound()
}
