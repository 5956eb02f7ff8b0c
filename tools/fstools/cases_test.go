package fstools_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
)

// callOfFile is "read", "write <text>" or "edit <old> <new>" of the file f.
func callOfFile(words string) pipeline.Request {
	w := append(strings.Fields(words), "", "")
	args := map[string]string{
		"read":  `{"file_path":"f"}`,
		"write": fmt.Sprintf(`{"file_path":"f","content":%q}`, w[1]+"\n"),
		"edit":  fmt.Sprintf(`{"file_path":"f","old_string":%q,"new_string":%q}`, w[1], w[2]),
	}
	return pipeline.Request{Name: w[0], Args: args[w[0]]}
}

// TestGatesInsideAndOut has the gates follow the agent, not the call: what an
// agent has read itself, a program of it may edit, and the other way round; a
// program of another agent may not. What was seen stands in the log within the
// calls that saw it.
func TestGatesInsideAndOut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps string // "<agent> [in] <tool> ...", by ";"
		want  string // code of the last step
		text  string // of f in the end
	}{
		{"read directly, edited by a program", "A read; A in edit one 1", "", "1\n"},
		{"read by a program, edited directly", "A in read; A edit one 1", "", "1\n"},
		{"read by a program, edited by the next one", "A in read; A in edit one 1", "", "1\n"},
		{"edited by a program, edited again directly", "A read; A in edit one 1; A edit 1 2", "", "2\n"},
		{"read directly, overwritten by a program", "A read; A in write new", "", "new\n"},
		{"not read, overwritten by a program", "A in write new", "FS_NOT_OBSERVED", "one\n"},
		{"not read, edited by a program", "A in edit one 1", "FS_NOT_OBSERVED", "one\n"},
		{"read by another agent's program", "B in read; A edit one 1", "FS_NOT_OBSERVED", "one\n"},
		{"read, edited by another agent's program", "A read; B in edit one 1", "FS_NOT_OBSERVED", "one\n"},
		{"another agent's program was first", "A read; B read; B in edit one 1; A edit 1 2", "FS_STALE_VERSION", "1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			if err := os.WriteFile(file, []byte("one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var p *pipeline.Pipeline
			seen := fstools.NewObservations(&fstools.ObservationOptions{Emit: func(eventType string, data tools.JSON) error { return p.Emit(eventType, data) }})
			set, err := fstools.New(dir, &fstools.Options{Gates: seen.Gates()})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			rec := &pipelinetest.Recorder{}
			var inner pipeline.Request
			var last pipeline.Outcome
			p = pipelinetest.New(t, &pipeline.Options{Sink: rec}, append(set.Tools(), pipelinetest.Tool("program", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				inner.Parent = run
				last = p.Execute(ctx, inner)
				return tools.Result{}, nil
			}))...)
			for _, step := range strings.Split(tt.steps, "; ") {
				agent, words, _ := strings.Cut(step, " ")
				words, within := strings.CutPrefix(words, "in ")
				req := callOfFile(words)
				req.Agent = agent
				before := len(rec.Events())
				if within {
					inner = req
					p.Execute(t.Context(), pipeline.Request{Name: "program", Agent: agent})
				} else {
					last = p.Execute(t.Context(), req)
				}
				types := rec.Types()[before:]
				want := []string{pipeline.EventToolCall, "fs/observed", pipeline.EventToolResult}
				if within {
					want = []string{pipeline.EventToolCall, pipeline.EventCodeDispatchStart, "fs/observed", pipeline.EventCodeDispatch, pipeline.EventToolResult}
				}
				if !last.IsError() {
					if diff := cmp.Diff(want, types); diff != "" {
						t.Errorf("events of %q (-want +got):\n%s", step, diff)
					}
				}
			}
			if code := last.Info().Code; code != tt.want {
				t.Errorf("the last step ended with the code %q, want %q: %s", code, tt.want, last.Text())
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != tt.text {
				t.Errorf("the file holds %q (%v), want %q", got, err, tt.text)
			}
			for _, problem := range pipelinetest.CheckLog(rec.Events()) {
				t.Error(problem)
			}
		})
	}
}
