package policy_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// check fails the test if got is not want.
func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

type (
	body     = tools.Handler
	wrapper  = pipeline.Listener[pipeline.Dispatch, pipeline.Result]
	wrapNext = pipeline.Next[pipeline.Result]
	postNext = pipeline.Next[pipeline.PostDecision]
)

// end is how a call ended, in the form tests compare.
type end struct {
	Text, Code string
	State      pipeline.State
}

func endOf(o pipeline.Outcome) end { return end{o.Text(), o.Info().Code, o.State()} }

func exec(p *pipeline.Pipeline, name string) pipeline.Outcome {
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: name})
}

// sleeper is a body that takes a while and watches its context.
func sleeper(d time.Duration) body {
	return func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
		select {
		case <-time.After(d):
			return text("done")
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	}
}

func text(s string) (tools.Result, error) { return tools.Result{Value: tools.StringJSON(s)}, nil }

// timed is a tool with a timeout.
func timed(name string, timeout time.Duration, b body) *tools.Definition {
	def := pipelinetest.Tool(name, b)
	def.Timeout = timeout
	return def
}

func texts(messages []tools.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, tools.ContentString(m.Content))
	}
	return out
}

// install makes the tool run_code of p.
func install(t *testing.T, p *pipeline.Pipeline, def *tools.Definition) {
	t.Helper()
	tool, err := tools.NewTool(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.InstallTransport(pipeline.Transport{Tool: tool}); err != nil {
		t.Fatal(err)
	}
}

// logBuffer takes what a logger is told.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
