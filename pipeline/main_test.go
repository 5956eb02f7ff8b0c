package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// end is how a call ended, in the form tests compare.
type end struct {
	Text  string
	Code  string
	State pipeline.State
}

// endOf leaves out what a schema's complaint adds about the value it got: that
// wording is package tools' own.
func endOf(o pipeline.Outcome) end {
	said, _, _ := strings.Cut(o.Text(), ", got the ")
	return end{Text: said, Code: o.Info().Code, State: o.State()}
}

// check fails the test if got is not want.
func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func steps(s ...string) []string { return append([]string{}, s...) }

func exec(p *pipeline.Pipeline, name string) pipeline.Outcome {
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: name})
}

// coded is an error of a tool of its own.
func coded(message string) error {
	return &tools.Error{Name: "FSError", Code: "FS_NOT_FOUND", Message: message}
}

// logBuffer takes what the host's logger is told.
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

// traced adds to p a listener, a guard, a wrapper, a post listener and an
// observer that record when they run.
func traced(p *pipeline.Pipeline) *pipelinetest.Trace {
	trace := &pipelinetest.Trace{}
	p.PreExecute.Use("trace", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		trace.Add("pre %s", c.Name())
		return next(ctx)
	})
	p.Guards.Use("trace", func(c tools.Call) string {
		trace.Add("guard %s", c.Name())
		return ""
	})
	p.Execution.Use("trace", func(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		trace.Add("execute %s", d.Call.Name())
		r, err := next(ctx)
		trace.Add("executed %s", d.Call.Name())
		return r, err
	})
	p.PostExecute.Use("trace", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		trace.Add("post %s", s.Call.Name())
		return next(ctx)
	})
	p.OnResult("trace", func(o pipeline.Outcome) { trace.Add("result %s", o.Call().Name()) })
	return trace
}

// tracedTool is a tool whose body records that it runs.
func tracedTool(name string, trace **pipelinetest.Trace) *tools.Definition {
	return pipelinetest.Tool(name, func(context.Context, *tools.Run) (tools.Result, error) {
		(*trace).Add("body %s", name)
		return tools.Result{Value: tools.StringJSON("ok")}, nil
	})
}

type (
	preListener  = pipeline.Listener[tools.Call, pipeline.Decision]
	preNext      = pipeline.Next[pipeline.Decision]
	wrapper      = pipeline.Listener[pipeline.Dispatch, pipeline.Result]
	wrapNext     = pipeline.Next[pipeline.Result]
	postListener = pipeline.Listener[pipeline.Settled, pipeline.PostDecision]
	postNext     = pipeline.Next[pipeline.PostDecision]
)

// always answers a decision without asking further in.
func always(d pipeline.Decision) preListener {
	return func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { return d, nil }
}

func failing(err error) preListener {
	return func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { return pipeline.Decision{}, err }
}

// alwaysPost answers a decision without asking further in.
func alwaysPost(d pipeline.PostDecision) postListener {
	return func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) { return d, nil }
}

// instead answers a result without running the body.
func instead(r pipeline.Result) wrapper {
	return func(context.Context, pipeline.Dispatch, wrapNext) (pipeline.Result, error) { return r, nil }
}

func note(text string) tools.Message { return tools.ContextMessage("test", text) }

func texts(messages []tools.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, tools.ContentString(m.Content))
	}
	return out
}

func text(s string) []tools.Content { return []tools.Content{tools.TextContent(s)} }

var errPlain = errors.New("it broke")
