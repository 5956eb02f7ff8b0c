package eventlog_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// session is the log of a batch of two calls: c1 nests a call that nests one,
// and then another one.
func session(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log := mustOpen(t, path)
	var p *pipeline.Pipeline
	nest := func(name string, n int) *tools.Definition {
		return pipelinetest.Tool(name, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			for i, inner := range []string{"middle", "leaf"}[2-n:] {
				p.Execute(ctx, pipeline.Request{ID: fmt.Sprintf("%s:code:%d", run.Call().ID(), i+1), Name: inner, Parent: run})
			}
			return tools.Result{}, nil
		})
	}
	p = pipelinetest.New(t, &pipeline.Options{Sink: log, LogRequired: true}, nest("outer", 2), nest("middle", 1), pipelinetest.Text("leaf", "é"))
	p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "outer"}, {ID: "c2", Name: "leaf"}})
	mustClose(t, log)
	return read(t, path)
}

// TestTornInEveryLine ends a log in the midst of each of its lines and between
// them, as a crash may: once repaired, every call that was announced is answered,
// nested ones before the calls that made them, and those without a result of
// their own by TOOL_OUTCOME_UNKNOWN.
func TestTornInEveryLine(t *testing.T) {
	whole := session(t)
	check(t, "calls of the session", strings.Count(whole, `"tool/call"`)+strings.Count(whole, `"tool/code-dispatch-start"`), 5)
	for end := 0; end < len(whole); {
		start := end
		end += strings.Index(whole[start:], "\n") + 1
		for _, n := range []int{start + 1, (start + end) / 2, end - 2, end - 1, end} {
			kept := whole[:start]
			if n >= end-1 {
				kept = whole[:end] // the line is whole, if without its line break
			}
			testTorn(t, whole[:n], kept)
		}
	}
}

func testTorn(t *testing.T, torn, kept string) {
	t.Helper()
	path := write(t, torn)
	log := mustOpen(t, path)
	events := contents(t, read(t, path)).Repair(nil)
	for _, e := range events {
		if !strings.Contains(e.Data.String(), `"code":"TOOL_OUTCOME_UNKNOWN"`) {
			t.Errorf("an announced call is answered by %s", e.Data)
		}
		if err := log.Emit(e); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, log)
	for _, problem := range pipelinetest.CheckLog(contents(t, read(t, path)).Events) {
		t.Error(problem)
	}
	open := strings.Count(kept, `"tool/call"`) + strings.Count(kept, `"tool/code-dispatch-start"`) -
		strings.Count(kept, `"tool/result"`) - strings.Count(kept, `"tool/code-dispatch"`)
	check(t, "calls repaired", len(events), open)
	if t.Failed() {
		t.Fatalf("%d bytes were left, and the log is now\n%s", len(torn), read(t, path))
	}
}

// TestEventsOutOfPlace: a log may come from anywhere, so a reader takes events of
// calls that do not fit together and says what it can. DSH checks before it
// writes; here the pipeline alone writes such events, from calls it has made.
// CheckLog finds them.
func TestEventsOutOfPlace(t *testing.T) {
	another := func(line string) string {
		return strings.Replace(line, `"rootCallId":"c1"`, `"rootCallId":"c7"`, 1)
	}
	for _, tt := range []struct {
		name, text string
		open       []string
		problem    string // the first one CheckLog reports
	}{
		{"an unknown parent", called(1, "c1") + began(2, "c9", "1") + ended(3, "c9", "1") + answered(4, "c1", 1), []string{},
			`event 2, tool/code-dispatch-start: call "c9:code:1" is announced under "c9", which is not open`},
		{"an unknown parent, not settled", called(1, "c1") + began(2, "c9", "1") + answered(3, "c1", 1), []string{"2 c9:code:1 ?"},
			`event 2, tool/code-dispatch-start: call "c9:code:1" is announced under "c9", which is not open`},
		{"after its parent has settled", called(1, "c1") + answered(2, "c1", 1) + began(3, "c1", "1") + ended(4, "c1", "1"), []string{},
			`event 3, tool/code-dispatch-start: call "c1:code:1" is announced under "c1", which is not open`},
		{"another root from the start", called(1, "c1") + another(began(2, "c1", "1")) + another(ended(3, "c1", "1")) + answered(4, "c1", 1), []string{},
			`event 2, tool/code-dispatch-start: call "c1:code:1" serves the root "c7", its parent serves "c1"`},
		{"another root in the end", called(1, "c1") + began(2, "c1", "1") + another(ended(3, "c1", "1")) + answered(4, "c1", 1), []string{},
			`event 3, tool/code-dispatch: call "c1:code:1" of "read" under "c1" for "c7" was announced as one of "read" under "c1" for "c1"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := contents(t, tt.text)
			check(t, "open", short(t, c.OpenCalls()), tt.open)
			problems := pipelinetest.CheckLog(c.Events)
			if len(problems) == 0 || problems[0] != tt.problem {
				t.Errorf("problems %q, want first %q", problems, tt.problem)
			}
			c.Events = append(c.Events, c.Repair(nil)...)
			check(t, "open once repaired", short(t, c.OpenCalls()), []string{})
		})
	}
}
