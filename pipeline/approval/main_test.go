package approval_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/approval"
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

// mustPanic fails the test unless f panics.
func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

type (
	preNext = pipeline.Next[pipeline.Decision]
	ask     = pipeline.ApprovalRequest
)

var errPlain = errors.New("it broke")

// said is an answer in the form tests compare.
type said struct{ Answer, Err string }

func saidBy(a pipeline.Approver, ctx context.Context) said {
	answer, err := a.Approve(ctx, question)
	if err != nil {
		return said{answer.String(), err.Error()}
	}
	return said{answer.String(), ""}
}

// question is one about a call without an agent.
var question = ask{ID: "q1", Call: tools.NewCall(tools.CallSpec{ID: "c1", Name: "rm", Args: tools.MustJSON("{}")})}

// saying answers the same each time.
func saying(answer pipeline.Answer, err error) pipeline.Approver {
	return pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) { return answer, err })
}

// marked notes in trace that the approver is asked.
func marked(trace *pipelinetest.Trace, name string, a pipeline.Approver) pipeline.Approver {
	return pipeline.ApproverFunc(func(ctx context.Context, q ask) (pipeline.Answer, error) {
		trace.Add("%s", name)
		return a.Approve(ctx, q)
	})
}

// agents are A, B below A, C below B, and X by itself.
var parents = map[any]any{"B": "A", "C": "B"}

// attached is a pipeline whose tool rm is asked about, with a service.
func attached(t *testing.T, opts *approval.Options, popts pipeline.Options) (*approval.Service, *pipeline.Pipeline) {
	t.Helper()
	s := approval.New(opts)
	popts.Approver = s
	if popts.ParentOf == nil {
		popts.ParentOf = func(agent any) any { return parents[agent] }
	}
	p := pipelinetest.New(t, &popts, pipelinetest.Text("rm", "removed"))
	p.PreExecute.Use("asker", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
		return pipeline.Ask("sure?"), nil
	})
	s.Attach(p)
	return s, p
}

// remove calls rm for an agent and returns what became of it.
func remove(p *pipeline.Pipeline, agent any) string {
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "rm", Agent: agent}).Text()
}

const (
	removed     = "removed"
	rejected    = `Error: the user rejected tool "rm"`
	unavailable = `Error: tool "rm" requires approval, but no approval channel is available`
)

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

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
