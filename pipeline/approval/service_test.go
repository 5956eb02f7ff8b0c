package approval_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/approval"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

type panicky struct{}

func (panicky) Error() string { panic("secret") }

var (
	crashing = pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) { panic("secret") })
	leaving  = pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) {
		goruntime.Goexit()
		return pipeline.AllowedOnce, nil
	})
)

// named is an answerer of a test.
type named struct {
	name string
	pipeline.Approver
}

// The first answer that decides wins; what is none passes the question on.
func TestAnswerersAreAskedInOrder(t *testing.T) {
	yes := named{"yes", saying(pipeline.AllowedOnce, nil)}
	for _, tt := range []struct {
		name      string
		answerers []named
		want      said
		asked     []string
	}{
		{"nobody", nil, said{"unavailable", ""}, []string{}},
		{"allowed once", []named{yes, {"no", saying(pipeline.Rejected, nil)}}, said{"allowed-once", ""}, []string{"yes"}},
		{"granted", []named{{"rule", saying(pipeline.Granted, nil)}, yes}, said{"granted", ""}, []string{"rule"}},
		{"rejected", []named{{"no", saying(pipeline.Rejected, nil)}, yes}, said{"rejected", ""}, []string{"no"}},
		{"cancelled", []named{{"gone", saying(pipeline.Cancelled, nil)}, yes}, said{"cancelled", ""}, []string{"gone"}},
		{"unavailable passes on", []named{{"away", saying(pipeline.Unavailable, nil)}, yes}, said{"allowed-once", ""}, []string{"away", "yes"}},
		{"an error passes on, whatever comes with it", []named{{"broken", saying(pipeline.Rejected, errPlain)}, yes}, said{"allowed-once", ""}, []string{"broken", "yes"}},
		{"a panic passes on", []named{{"crash", crashing}, yes}, said{"allowed-once", ""}, []string{"crash", "yes"}},
		{"the end of a goroutine passes on", []named{{"leaver", leaving}, yes}, said{"allowed-once", ""}, []string{"leaver", "yes"}},
		{"an unknown answer passes on", []named{{"yolo", saying(99, nil)}, yes}, said{"allowed-once", ""}, []string{"yolo", "yes"}},
		{"the answer behind the last passes on", []named{{"yolo", saying(pipeline.Granted+1, nil)}, yes}, said{"allowed-once", ""}, []string{"yolo", "yes"}},
		{"an error only", []named{{"broken", saying(pipeline.AllowedOnce, errPlain)}}, said{"unavailable", "broken: it broke"}, []string{"broken"}},
		{"a panic only", []named{{"crash", crashing}}, said{"unavailable", "crash: approver crashed"}, []string{"crash"}},
		{"an error without a text", []named{{"odd", saying(pipeline.AllowedOnce, panicky{})}}, said{"unavailable", "odd: approver crashed"}, []string{"odd"}},
		{"the end of a goroutine only", []named{{"leaver", leaving}}, said{"unavailable", "leaver: the approver ended its goroutine without an answer"}, []string{"leaver"}},
		{"an unknown answer only", []named{{"yolo", saying(99, nil)}}, said{"unavailable", "yolo: the approver returned the answer 99, which means nothing"}, []string{"yolo"}},
		{"the last error counts", []named{{"broken", saying(0, errPlain)}, {"crash", crashing}, {"away", saying(pipeline.Unavailable, nil)}},
			said{"unavailable", "crash: approver crashed"}, []string{"broken", "crash", "away"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := approval.New(&approval.Options{Logger: (&logBuffer{}).logger()})
			trace := &pipelinetest.Trace{}
			for _, a := range tt.answerers {
				s.Use(a.name, marked(trace, a.name, a.Approver))
			}
			check(t, "answer", saidBy(s, t.Context()), tt.want)
			check(t, "asked", trace.Steps(), tt.asked)
		})
	}
}

// What an answerer gets is the whole question, with a context that ends with the
// caller's.
func TestAnswererSeesTheQuestion(t *testing.T) {
	type key struct{}
	s := approval.New(nil)
	var got ask
	var value any
	s.Use("watcher", pipeline.ApproverFunc(func(ctx context.Context, q ask) (pipeline.Answer, error) {
		got, value = q, ctx.Value(key{})
		return pipeline.Rejected, nil
	}))
	check(t, "answer", saidBy(s, context.WithValue(t.Context(), key{}, "kept")), said{"rejected", ""})
	check(t, "question", []any{got.ID, got.Call.Name(), got.Digest(), value}, []any{"q1", "rm", question.Digest(), "kept"})
}

// A question is put to those who were there when it was put. Whoever is asked may
// change that for the next one, since no lock is held.
func TestAnswerersComeAndGo(t *testing.T) {
	s := approval.New(nil)
	trace := &pipelinetest.Trace{}
	away := saying(pipeline.Unavailable, nil)
	var removeLast func()
	removeFirst := s.Use("first", pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) {
		trace.Add("first")
		removeLast()
		s.Use("late", marked(trace, "late", away))
		return pipeline.Unavailable, nil
	}))
	removeLast = s.Use("last", marked(trace, "last", away))
	saidBy(s, t.Context())
	check(t, "asked at first", trace.Steps(), []string{"first", "last"})
	removeFirst()
	removeFirst()
	saidBy(s, t.Context())
	check(t, "asked then", trace.Steps(), []string{"first", "last", "late"})
}

// One answerer registered twice is asked twice and removed once.
func TestRegistrationsAreRemovedOneByOne(t *testing.T) {
	s := approval.New(nil)
	trace := &pipelinetest.Trace{}
	a := marked(trace, "a", saying(pipeline.Unavailable, nil))
	removeOne := s.Use("a", a)
	s.Use("a", a)
	removeOne()
	saidBy(s, t.Context())
	check(t, "asked", trace.Steps(), []string{"a"})
}

// An agent's answerers are asked about its calls and those of the agents below.
func TestAnswerersOfAgents(t *testing.T) {
	s, p := attached(t, nil, pipeline.Options{})
	trace := &pipelinetest.Trace{}
	away := saying(pipeline.Unavailable, nil)
	s.For("B").Use("b", marked(trace, "b", away))
	s.Use("all", marked(trace, "all", away))
	removeA := s.For("A").Use("a", marked(trace, "a", away))
	for _, tt := range []struct {
		agent any
		want  []string
	}{
		{nil, []string{"all"}},
		{"X", []string{"all"}},
		{"A", []string{"all", "a"}},
		{"B", []string{"b", "all", "a"}},
		{"C", []string{"b", "all", "a"}},
	} {
		before := len(trace.Steps())
		check(t, fmt.Sprintf("outcome for agent %v", tt.agent), remove(p, tt.agent), unavailable)
		check(t, fmt.Sprintf("asked for agent %v", tt.agent), trace.Steps()[before:], tt.want)
	}
	removeA()
	before := len(trace.Steps())
	remove(p, "C")
	check(t, "asked without those of A", trace.Steps()[before:], []string{"b", "all"})
}

// Without the agents above it is not known who is to be asked, nor whether
// anybody may be.
func TestAgentsThatCannotBeFound(t *testing.T) {
	broken := false
	s, p := attached(t, nil, pipeline.Options{ParentOf: func(any) any {
		if broken {
			panic("secret")
		}
		return nil
	}})
	trace := &pipelinetest.Trace{}
	s.Use("yes", marked(trace, "yes", pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) {
		return pipeline.AllowedOnce, nil
	})))
	p.PreExecute.Prepend("breaker", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
		broken = true
		return next(ctx)
	})
	check(t, "outcome", remove(p, "A"), unavailable+": ParentOf crashed")
	check(t, "asked", trace.Steps(), []string{})
	check(t, "error of SetPolicy", fmt.Sprint(s.SetPolicy("A", approval.Never)), `approval policy "never" was not set: ParentOf crashed`)
}

func TestForget(t *testing.T) {
	s, p := attached(t, nil, pipeline.Options{})
	trace := &pipelinetest.Trace{}
	for _, agent := range []any{"A", "B"} {
		s.For(agent).Use("own", marked(trace, agent.(string), saying(pipeline.Unavailable, nil)))
	}
	s.Use("yes", saying(pipeline.AllowedOnce, nil))
	set(t, s, "A", approval.Ask)
	set(t, s, "B", approval.Never)
	check(t, "before", remove(p, "C"), rejected)
	s.Forget("B")
	check(t, "after", remove(p, "C"), removed)
	check(t, "asked: those of the agent above", trace.Steps(), []string{"A"})
	set(t, s, "A", approval.Never)
	s.Forget("B")
	check(t, "the policy of the agent above", remove(p, "C"), rejected)
}

func TestCancellation(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, policy := range []approval.Policy{approval.Ask, approval.Never} {
			s := approval.New(&approval.Options{Policy: policy})
			trace := &pipelinetest.Trace{}
			s.Use("yes", marked(trace, "yes", saying(pipeline.AllowedOnce, nil)))
			check(t, "answer under "+policy.String(), saidBy(s, ctx), said{"cancelled", ""})
			check(t, "asked", trace.Steps(), []string{})
		}
	})
	t.Run("meanwhile", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := approval.New(nil)
		trace := &pipelinetest.Trace{}
		deaf, done := make(chan struct{}), make(chan struct{})
		s.Use("deaf", pipeline.ApproverFunc(func(context.Context, ask) (pipeline.Answer, error) {
			defer close(done)
			cancel()
			<-deaf
			return pipeline.AllowedOnce, nil
		}))
		s.Use("next", marked(trace, "next", saying(pipeline.AllowedOnce, nil)))
		check(t, "answer", saidBy(s, ctx), said{"cancelled", ""})
		check(t, "asked", trace.Steps(), []string{})
		close(deaf)
		<-done
	})
}

// The host learns what a model must not, and what is passed over.
func TestFailuresAreReported(t *testing.T) {
	var logs logBuffer
	s, p := attached(t, &approval.Options{Logger: logs.logger()}, pipeline.Options{})
	s.Use("broken", saying(0, errPlain))
	s.Use("racers", approval.First(crashing, saying(pipeline.Unavailable, nil)))
	text := remove(p, nil)
	check(t, "what a model reads", text, unavailable+": racers: approver crashed")
	for _, want := range []string{
		`level=INFO msg="answerer failed" answerer=broken tool=rm call=c1 error="it broke"`,
		`level=ERROR msg="answerer crashed" answerer=racers tool=rm call=c1 panic=secret stack=`,
		"service_test.go",
	} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("the host is told\n%s\nwant %s in it", logs.String(), want)
		}
	}
}

func TestMisuse(t *testing.T) {
	yes := saying(pipeline.AllowedOnce, nil)
	s, p := attached(t, nil, pipeline.Options{})
	mustPanic(t, "Use without a name", func() { s.Use("", yes) })
	mustPanic(t, "Use of nil", func() { s.Use("a", nil) })
	mustPanic(t, "Use of nil for an agent", func() { s.For("A").Use("a", nil) })
	mustPanic(t, "For nil", func() { s.For(nil) })
	mustPanic(t, "For what cannot be compared", func() { s.For([]int{}) })
	mustPanic(t, "Forget nil", func() { s.Forget(nil) })
	mustPanic(t, "Attach again", func() { s.Attach(p) })
	unattached := approval.New(nil)
	mustPanic(t, "For before Attach", func() { unattached.For("A") })
	mustPanic(t, "Forget before Attach", func() { unattached.Forget("A") })
	mustPanic(t, "Attach nil", func() { unattached.Attach(nil) })
	mustPanic(t, "First of nobody", func() { approval.First() })
	mustPanic(t, "First of nil", func() { approval.First(yes, nil) })
	mustPanic(t, "Within nothing", func() { approval.Within(0, yes) })
	mustPanic(t, "Within of nil", func() { approval.Within(1, nil) })
	check(t, "nothing was registered", remove(p, "A"), unavailable)
}

// Everything at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	s, p := attached(t, nil, pipeline.Options{Sink: &pipelinetest.Recorder{}})
	s.Use("no", saying(pipeline.Rejected, nil))
	var group sync.WaitGroup
	for _, agent := range []any{nil, "A", "B", "C", "X"} {
		for range 20 {
			group.Go(func() { check(t, "outcome", remove(p, agent), rejected) })
			group.Go(func() {
				drop := s.Use("more", saying(pipeline.Unavailable, errPlain))
				if err := s.SetPolicy(agent, approval.Never); err != nil {
					t.Error(err)
				}
				drop()
				if agent != nil {
					s.For(agent).Use("own", saying(pipeline.AllowedOnce, nil)) // behind "no"
					s.Forget(agent)
				}
			})
		}
	}
	group.Wait()
}
