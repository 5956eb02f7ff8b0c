package pipeline_test

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// stage is a set of tools whose bodies stop until they are released.
type stage struct {
	trace   pipelinetest.Trace
	release map[string]chan struct{}
}

// gated is a tool whose call waits in its body until its id is released.
func (s *stage) gated(name string, concurrent bool) *tools.Definition {
	def := pipelinetest.Tool(name, func(_ context.Context, run *tools.Run) (tools.Result, error) {
		id := run.Call().ID()
		s.trace.Add("start %s", id)
		<-s.release[id]
		s.trace.Add("end %s", id)
		return tools.Result{Value: tools.StringJSON(id)}, nil
	})
	def.Concurrent = func(tools.JSON) bool { return concurrent }
	return def
}

// requests names tools by call: c1 calls names[0] and so on.
func (s *stage) requests(names ...string) []pipeline.Request {
	s.release = map[string]chan struct{}{}
	var reqs []pipeline.Request
	for i, name := range names {
		id := fmt.Sprintf("c%d", i+1)
		s.release[id] = make(chan struct{})
		reqs = append(reqs, pipeline.Request{ID: id, Name: name})
	}
	return reqs
}

func (s *stage) let(ids ...string) {
	for _, id := range ids {
		close(s.release[id])
		synctest.Wait()
	}
}

// inBatch runs a batch of gated calls; steer releases them.
func inBatch(t *testing.T, opts *pipeline.Options, names []string, setup func(*pipeline.Pipeline, *stage), steer func(*stage)) (pipeline.BatchResult, *pipelinetest.Recorder, *stage) {
	t.Helper()
	s := &stage{}
	rec := &pipelinetest.Recorder{}
	var result pipeline.BatchResult
	synctest.Test(t, func(t *testing.T) {
		o := pipeline.Options{}
		if opts != nil {
			o = *opts
		}
		o.Sink = rec
		p := pipelinetest.New(t, &o, s.gated("safe", true), s.gated("exclusive", false))
		reqs := s.requests(names...)
		if setup != nil {
			setup(p, s)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			result = p.Batch(context.Background(), reqs)
		}()
		synctest.Wait()
		steer(s)
		<-done
	})
	return result, rec, s
}

func batchTexts(r pipeline.BatchResult) []string {
	out := []string{}
	for _, o := range r.Outcomes {
		out = append(out, o.Call().ID()+": "+o.Text())
	}
	return out
}

func TestBatchScheduling(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cap   int
		calls []string
		steer []string
		trace []string
		log   []string
	}{
		{"concurrent calls all start before one ends", 0, []string{"safe", "safe", "safe"}, []string{"c1", "c2", "c3"},
			steps("start c1", "start c2", "start c3", "end c1", "end c2", "end c3"),
			steps("call c1", "call c2", "call c3", "result c1", "result c2", "result c3")},
		{"an exclusive call is a barrier", 0, []string{"safe", "exclusive", "safe"}, []string{"c1", "c2", "c3"},
			steps("start c1", "end c1", "start c2", "end c2", "start c3", "end c3"),
			steps("call c1", "result c1", "call c2", "result c2", "call c3", "result c3")},
		{"results keep the order of the calls", 0, []string{"safe", "safe"}, []string{"c2", "c1"},
			steps("start c1", "start c2", "end c2", "end c1"),
			steps("call c1", "call c2", "result c1", "result c2")},
		{"a cap of two", 2, []string{"safe", "safe", "safe", "safe"}, []string{"c1", "c2", "c3", "c4"},
			steps("start c1", "start c2", "end c1", "start c3", "end c2", "start c4", "end c3", "end c4"),
			steps("call c1", "call c2", "result c1", "call c3", "result c2", "call c4", "result c3", "result c4")},
		{"a cap of one is serial", 1, []string{"safe", "safe"}, []string{"c1", "c2"},
			steps("start c1", "end c1", "start c2", "end c2"),
			steps("call c1", "result c1", "call c2", "result c2")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, rec, s := inBatch(t, &pipeline.Options{MaxParallel: tt.cap}, tt.calls, nil, func(s *stage) { s.let(tt.steer...) })
			check(t, "bodies", inOrderOfStarts(s.trace.Steps()), tt.trace)
			check(t, "log", rec.Calls(), tt.log)
			var want []string
			for i := range tt.calls {
				want = append(want, fmt.Sprintf("c%d: c%d", i+1, i+1))
			}
			check(t, "outcomes", batchTexts(result), want)
		})
	}
}

// inOrderOfStarts sorts bodies that begin together, which no scheduler promises
// an order.
func inOrderOfStarts(steps []string) []string {
	begins := func(step string) bool { return strings.HasPrefix(step, "start ") }
	for i := 0; i < len(steps); i++ {
		n := i
		for n < len(steps) && begins(steps[n]) {
			n++
		}
		slices.Sort(steps[i:n])
		i = n
	}
	return steps
}

// The default cap is ten bodies.
func TestBatchDefaultCap(t *testing.T) {
	names := slices.Repeat([]string{"safe"}, 12)
	_, _, s := inBatch(t, nil, names, nil, func(s *stage) {
		check(t, "bodies at a time", len(s.trace.Steps()), 10)
		for i := range names {
			s.let(fmt.Sprintf("c%d", i+1))
		}
	})
	check(t, "steps", len(s.trace.Steps()), 24)
}

// Only an exact yes for arguments that are valid lets a call overlap.
func TestBatchClassification(t *testing.T) {
	for _, tt := range []struct {
		name string
		def  tools.Definition
		args string
		tool string
	}{
		{"no classifier", tools.Definition{}, "", "x"},
		{"a crash", tools.Definition{Concurrent: func(tools.JSON) bool { panic("secret") }}, "", "x"},
		{"bad arguments", tools.Definition{Input: tools.MustJSON(`{"type":"object","required":["a"],"properties":{"a":{}}}`), Concurrent: func(tools.JSON) bool { return true }}, "", "x"},
		{"unreadable arguments", tools.Definition{Concurrent: func(tools.JSON) bool { return true }}, `{"a":1,"a":1}`, "x"},
		{"an unknown tool", tools.Definition{}, "", "y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.def.Name = "x"
			tt.def.Handler = func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil }
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, &tt.def)
			req := pipeline.Request{ID: "c1", Name: tt.tool, Args: tt.args}
			again := req
			again.ID = "c2"
			p.Batch(context.Background(), []pipeline.Request{req, again})
			check(t, "log", rec.Calls(), steps("call c1", "result c1", "call c2", "result c2"))
		})
	}
}

// A call is classified when its turn comes.
func TestBatchReclassifies(t *testing.T) {
	t.Run("an exclusive call replaces a tool by an exclusive one", func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := pipelinetest.New(t, nil)
		def := func(concurrent bool) *tools.Definition {
			d := pipelinetest.Tool("x", func(_ context.Context, run *tools.Run) (tools.Result, error) {
				trace.Add("start %s", run.Call().ID())
				goruntime.Gosched()
				trace.Add("end %s", run.Call().ID())
				return tools.Result{}, nil
			})
			d.Concurrent = func(tools.JSON) bool { return concurrent }
			return d
		}
		remove, err := p.Registry().Add(def(true))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Registry().Add(pipelinetest.Tool("swap", func(context.Context, *tools.Run) (tools.Result, error) {
			remove()
			_, err := p.Registry().Add(def(false))
			return tools.Result{}, err
		})); err != nil {
			t.Fatal(err)
		}
		p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "swap"}, {ID: "c2", Name: "x"}, {ID: "c3", Name: "x"}})
		check(t, "bodies", trace.Steps(), steps("start c2", "end c2", "start c3", "end c3"))
	})
	t.Run("an observer makes the next call exclusive", func(t *testing.T) {
		_, _, s := inBatch(t, &pipeline.Options{MaxParallel: 2}, []string{"safe", "safe", "turns"}, func(p *pipeline.Pipeline, s *stage) {
			turns := s.gated("turns", true)
			concurrent := true
			turns.Concurrent = func(tools.JSON) bool { return concurrent }
			if _, err := p.Registry().Add(turns); err != nil {
				t.Fatal(err)
			}
			p.OnResult("o", func(pipeline.Outcome) { concurrent = false })
		}, func(s *stage) { s.let("c1", "c2", "c3") })
		check(t, "bodies", inOrderOfStarts(s.trace.Steps()), steps("start c1", "start c2", "end c1", "end c2", "start c3", "end c3"))
	})
}

// A denied call and one whose listener fails do not disturb the others.
func TestBatchWithRefusals(t *testing.T) {
	var post []string
	result, rec, _ := inBatch(t, nil, []string{"safe", "safe", "safe"}, func(p *pipeline.Pipeline, _ *stage) {
		p.PreExecute.Use("l", func(_ context.Context, c tools.Call, _ preNext) (pipeline.Decision, error) {
			switch c.ID() {
			case "c2":
				return pipeline.Deny("no"), nil
			case "c3":
				return pipeline.Decision{}, errPlain
			}
			return pipeline.Allow(), nil
		})
		p.PostExecute.Use("p", func(ctx context.Context, s pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
			post = append(post, s.Call.ID())
			return next(ctx)
		})
	}, func(s *stage) { s.let("c1") })
	check(t, "post-execute", post, []string{"c1", "c2"})
	check(t, "outcomes", batchTexts(result), []string{"c1: c1", "c2: Error: no", "c3: Error: it broke"})
	check(t, "log", rec.Calls(), steps("call c1", "call c2", "call c3", "result c1", "result c2", "result c3"))
}

// All results precede all contexts, in the order of the calls.
func TestBatchContexts(t *testing.T) {
	result, rec, _ := inBatch(t, nil, []string{"safe", "safe"}, func(p *pipeline.Pipeline, _ *stage) {
		p.PostExecute.Use("p", func(_ context.Context, s pipeline.Settled, _ postNext) (pipeline.PostDecision, error) {
			m := note("about " + s.Call.ID())
			m.ID = "m" + s.Call.ID()
			return pipeline.Accept().WithContexts(m), nil
		})
	}, func(s *stage) { s.let("c2", "c1") })
	check(t, "log", rec.Calls(), steps("call c1", "call c2", "result c1", "result c2", "message mc1", "message mc2"))
	check(t, "contexts", texts(result.Contexts), []string{"about c1", "about c2"})
}

// A concluding call does not stop the calls after it.
func TestBatchConclude(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Tool("last", func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Conclude()
		return tools.Result{}, nil
	}), pipelinetest.Text("more", "ran"))
	r := p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "last"}, {ID: "c2", Name: "more"}})
	check(t, "conclude marks and the last text", []any{r.Outcomes[0].Concludes(), r.Outcomes[1].Concludes(), r.Outcomes[1].Text()}, []any{true, false, "ran"})
}

func TestBatchAborted(t *testing.T) {
	t.Run("before the batch", func(t *testing.T) {
		rec := &pipelinetest.Recorder{}
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("x", "ran"))
		trace := traced(p)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r := p.Batch(ctx, []pipeline.Request{{ID: "c1", Name: "x"}, {ID: "c2", Name: "x"}})
		check(t, "log", rec.Calls(), steps("call c1", "result c1", "call c2", "result c2"))
		for _, o := range r.Outcomes {
			check(t, "outcome", endOf(o), end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"})
		}
		check(t, "no stage is passed", trace.Steps(), steps())
	})
	t.Run("with two of four running", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{}
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec, MaxParallel: 2}, s.gated("safe", true))
			p.PostExecute.Use("p", alwaysPost(pipeline.Accept().WithContexts(note("context"))))
			reqs := s.requests("safe", "safe", "safe", "safe")
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan pipeline.BatchResult)
			go func() { done <- p.Batch(ctx, reqs) }()
			synctest.Wait()
			cancel()
			s.let("c2", "c1")
			r := <-done
			check(t, "bodies", inOrderOfStarts(s.trace.Steps()), steps("start c1", "start c2", "end c2", "end c1"))
			check(t, "log", rec.Calls(), steps("call c1", "call c2", "result c1", "result c2", "call c3", "result c3", "call c4", "result c4"))
			check(t, "contexts are left to the caller, unlogged", texts(r.Contexts), []string{"context", "context"})
			var codes []string
			for _, o := range r.Outcomes {
				codes = append(codes, o.Info().Code)
			}
			check(t, "codes", codes, []string{tools.CodeAborted, tools.CodeAborted, tools.CodeAbortedBeforeDispatch, tools.CodeAbortedBeforeDispatch})
		})
	})
}

// A finished result does not wait for a later call's approval. In DSH it does.
func TestBatchCommitsWhileALaterCallWaits(t *testing.T) {
	release := make(chan struct{})
	_, rec, s := inBatch(t, nil, []string{"safe", "safe", "safe"}, func(p *pipeline.Pipeline, _ *stage) {
		release = make(chan struct{})
		p.PreExecute.Use("slow", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
			if c.ID() == "c2" {
				<-release
			}
			return next(ctx)
		})
		p.OnResult("o", func(o pipeline.Outcome) {
			if o.Call().ID() == "c1" {
				close(release)
			}
		})
	}, func(s *stage) { s.let("c1", "c2", "c3") })
	check(t, "log", rec.Calls(), steps("call c1", "call c2", "result c1", "call c3", "result c2", "result c3"))
	check(t, "c3 is not overtaken by c2's policy", inOrderOfStarts(s.trace.Steps()), steps("start c1", "end c1", "start c2", "start c3", "end c2", "end c3"))
}

// Code that ends its goroutine instead of returning ends its call, not the
// batch.
func TestBatchSurvivesGoexit(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("leaves", func(context.Context, *tools.Run) (tools.Result, error) {
		goruntime.Goexit()
		return tools.Result{}, nil
	}), pipelinetest.Text("x", "ran"))
	p.PreExecute.Use("l", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		if c.ID() == "c2" {
			goruntime.Goexit()
		}
		return next(ctx)
	})
	r := p.Batch(context.Background(), []pipeline.Request{{ID: "c1", Name: "leaves"}, {ID: "c2", Name: "x"}, {ID: "c3", Name: "x"}})
	check(t, "outcomes", batchTexts(r), []string{`c1: Error: tool "leaves" crashed`, `c2: Error: tool "x" crashed`, "c3: ran"})
	check(t, "log", rec.Calls(), steps("call c1", "result c1", "call c2", "result c2", "call c3", "result c3"))
}

// The parts of Execute, for schedulers of others.
func TestStaged(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	starts := 0
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
		starts++
		return tools.Result{Value: tools.StringJSON("ok")}, nil
	}))
	s := p.Begin(context.Background(), pipeline.Request{ID: "c1", Name: "x"})
	check(t, "after Begin", []any{starts, s.Call().ID(), strings.Join(rec.Calls(), ",")}, []any{0, "c1", "call c1"})
	s.Dispatch()
	s.Dispatch()
	check(t, "after Dispatch", []any{starts, strings.Join(rec.Calls(), ",")}, []any{1, "call c1"})
	o := s.Settle()
	check(t, "after Settle", []any{starts, o.Text(), strings.Join(rec.Calls(), ",")}, []any{1, "ok", "call c1,result c1"})
	check(t, "settled once", s.Settle() == o, true)
	direct := p.Begin(context.Background(), pipeline.Request{ID: "c2", Name: "x"}).Settle()
	check(t, "Settle dispatches", []any{starts, direct.Text()}, []any{2, "ok"})
}
