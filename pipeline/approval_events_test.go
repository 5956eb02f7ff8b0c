package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// approvals lists what the log has about questions, without their ids: an asked
// event as its whole data, a decided one as "decided: " and the outcome. It fails
// the test unless each question is asked under an id of its own and decided at
// most once, afterwards.
func approvals(t *testing.T, rec *pipelinetest.Recorder) []string {
	t.Helper()
	list := []string{}
	open := map[string]bool{}
	for _, e := range rec.Events() {
		if e.Type != pipeline.EventApprovalAsked && e.Type != pipeline.EventApprovalDecided {
			continue
		}
		var data struct {
			ID      string `json:"id"`
			Outcome string `json:"outcome"`
		}
		if err := e.Data.Unmarshal(&data); err != nil {
			t.Fatalf("%s has data that cannot be read: %v", e.Type, err)
		}
		if !e.Ignorable {
			t.Errorf("%s is not ignorable", e.Type)
		}
		stillOpen, known := open[data.ID]
		switch asked := e.Type == pipeline.EventApprovalAsked; {
		case asked && !known:
			open[data.ID] = true
			list = append(list, strings.Replace(e.Data.String(), fmt.Sprintf(`"id":%q,`, data.ID), "", 1))
		case !asked && stillOpen:
			open[data.ID] = false
			list = append(list, "decided: "+data.Outcome)
		default:
			t.Errorf("%s of the question %q: the question was asked: %v, is open: %v", e.Type, data.ID, known, stillOpen)
		}
	}
	return list
}

func answering(answer pipeline.Answer, err error) pipeline.Approver {
	return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { return answer, err })
}

// askAbout makes p ask about the calls of some tools.
func askAbout(p *pipeline.Pipeline, names ...string) {
	p.PreExecute.Use("asker", func(ctx context.Context, c tools.Call, next preNext) (pipeline.Decision, error) {
		for _, name := range names {
			if c.Name() == name {
				return pipeline.Ask("sure?"), nil
			}
		}
		return next(ctx)
	})
}

// emptyDigest is the SHA-256 of {}, askedC1 what is logged of a question about the
// call that exec makes of the tool x.
const (
	emptyDigest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	askedC1     = `{"toolName":"x","callId":"c1","reason":"sure?","by":"asker","digest":"` + emptyDigest + `"}`
)

// TestApprovalEventShapes pins the text of the events, of a call a model makes
// and of one a program makes: that one names the call it belongs to and its line.
func TestApprovalEventShapes(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce, pipeline.Rejected, pipeline.Granted)
	var p *pipeline.Pipeline
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "inner", Args: `{ "n": 1.0 }`, Parent: run, Site: tools.Site{Line: 3, Column: 9}})
		p.Execute(ctx, pipeline.Request{ID: "c1:code:2", Name: "inner", Parent: run})
		return tools.Result{}, nil
	})
	still := func() time.Time { return time.UnixMilli(1767225600000) }
	p = pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: approver, FirstSeq: 40, Now: still}, outer, pipelinetest.Echo("inner"))
	p.PreExecute.Use("asker", func(_ context.Context, c tools.Call, _ preNext) (pipeline.Decision, error) {
		if c.ID() == "c1:code:2" {
			return pipeline.Ask(""), nil
		}
		return pipeline.Ask(`why "` + c.Name() + `"?`), nil
	})
	p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "outer"})
	got := []string{}
	for _, line := range lines(rec) {
		if strings.Contains(line, `"type":"approval/`) {
			got = append(got, line)
		}
	}
	check(t, "events", got, []string{
		`{"type":"approval/asked","seq":41,"time":1767225600000,"data":{"id":"id1","toolName":"outer","callId":"c1","reason":"why \"outer\"?","by":"asker","digest":"` + emptyDigest + `"},"ignorable":true}`,
		`{"type":"approval/decided","seq":42,"time":1767225600000,"data":{"id":"id1","outcome":"allowed-once"},"ignorable":true}`,
		`{"type":"approval/asked","seq":44,"time":1767225600000,"data":{"id":"id2","toolName":"inner","callId":"c1:code:1","reason":"why \"inner\"?","by":"asker",` +
			`"digest":"3b6b06ecd1c968c8e738e0f11c4bb361fca80a9a694de22fe66a05286afbd081","parentCallId":"c1","line":3},"ignorable":true}`,
		`{"type":"approval/decided","seq":45,"time":1767225600000,"data":{"id":"id2","outcome":"rejected"},"ignorable":true}`,
		`{"type":"approval/asked","seq":48,"time":1767225600000,"data":{"id":"id3","toolName":"inner","callId":"c1:code:2","by":"asker","digest":"` + emptyDigest + `","parentCallId":"c1"},"ignorable":true}`,
		`{"type":"approval/decided","seq":49,"time":1767225600000,"data":{"id":"id3","outcome":"granted"},"ignorable":true}`,
	})
	for i, ask := range approver.Asked() {
		check(t, fmt.Sprintf("id of question %d as the approver sees it", i+1), ask.ID, fmt.Sprintf("id%d", i+1))
	}
}

// TestApprovalDecisionsAreLogged: whatever becomes of a question, the log has it
// once, and the call goes the way the log says.
func TestApprovalDecisionsAreLogged(t *testing.T) {
	denied := func(code, format string, args ...any) end {
		return end{"Error: " + fmt.Sprintf(format, args...), code, "not-started"}
	}
	none := denied(tools.CodeApprovalUnavailable, `tool "x" requires approval, but no approval channel is available`)
	for _, tt := range []struct {
		name     string
		approver pipeline.Approver
		decided  string
		want     end
	}{
		{"allowed once", answering(pipeline.AllowedOnce, nil), "allowed-once", end{"ran", "", "done"}},
		{"granted", answering(pipeline.Granted, nil), "granted", end{"ran", "", "done"}},
		{"rejected", answering(pipeline.Rejected, nil), "rejected", denied(tools.CodeApprovalRejected, `the user rejected tool "x"`)},
		{"cancelled", answering(pipeline.Cancelled, nil), "cancelled", denied(tools.CodeApprovalCancelled, `approval for tool "x" was cancelled`)},
		{"unavailable", answering(pipeline.Unavailable, nil), "unavailable", none},
		{"an error with a grant", answering(pipeline.AllowedOnce, errPlain), "unavailable", denied(tools.CodeApprovalUnavailable, `tool "x" requires approval, but no approval channel is available: it broke`)},
		{"an answer nobody knows", answering(99, nil), "unavailable", none},
		{"the number behind the last answer", answering(pipeline.Granted+1, nil), "unavailable", none},
		{"a panic", pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { panic("secret") }), "unavailable", none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := &pipelinetest.Recorder{}
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: tt.approver}, pipelinetest.Text("x", "ran"))
			askAbout(p, "x")
			check(t, "outcome", endOf(exec(p, "x")), tt.want)
			check(t, "questions in the log", approvals(t, rec), steps(askedC1, "decided: "+tt.decided))
			check(t, "events", rec.Types(), []string{"tool/call", "approval/asked", "approval/decided", "tool/result"})
		})
	}
}

// Where nobody is asked by design, nothing is logged as a question.
func TestNoQuestionNoEvents(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("x", "ran"))
	askAbout(p, "x")
	exec(p, "x")
	check(t, "questions without an approver", approvals(t, rec), steps())

	rec = &pipelinetest.Recorder{}
	got := nest(t, &pipeline.Options{Sink: rec, Approver: answering(pipeline.Rejected, nil)}, 5)
	check(t, "calls that end so", len(got), 5)
	check(t, "questions after three rejections", len(rec.Data(pipeline.EventApprovalAsked)), 3)
	check(t, "decisions", len(rec.Data(pipeline.EventApprovalDecided)), 3)
}

var abortedEnd = end{"Error: tool call aborted before dispatch", tools.CodeAbortedBeforeDispatch, "not-started"}

// A caller that leaves before the question is put: nobody is asked, the log has
// the question and that it was cancelled.
func TestApprovalEventsWhenAbortedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &pipelinetest.Recorder{}
		approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: approver}, pipelinetest.Text("x", "ran"))
		ctx, cancel := context.WithCancel(t.Context())
		p.PreExecute.Use("asker", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) {
			cancel()
			return pipeline.Ask("sure?"), nil
		})
		o := p.Execute(ctx, pipeline.Request{ID: "c1", Name: "x"})
		check(t, "outcome", endOf(o), abortedEnd)
		check(t, "questions in the log", approvals(t, rec), steps(askedC1, "decided: cancelled"))
		synctest.Wait() // for a question that were still on its way
		check(t, "asked", len(approver.Asked()), 0)
	})
}

// A caller that leaves meanwhile: whatever is said then counts for nothing.
func TestApprovalEventsWhenAbortedMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answer  pipeline.Answer
		err     error
		deaf    bool // answers long after the caller has left
		decided string
		want    end
	}{
		{"a late grant", pipeline.AllowedOnce, nil, true, "cancelled", abortedEnd},
		{"a late rejection", pipeline.Rejected, nil, true, "cancelled", abortedEnd},
		{"a grant as the caller leaves", pipeline.AllowedOnce, nil, false, "cancelled", abortedEnd},
		{"a failure as the caller leaves", pipeline.Unavailable, errPlain, false, "cancelled", abortedEnd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				rec := &pipelinetest.Recorder{}
				p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: pipeline.ApproverFunc(func(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
					cancel()
					if tt.deaf {
						time.Sleep(time.Second)
					}
					return tt.answer, tt.err
				})}, pipelinetest.Text("x", "ran"))
				askAbout(p, "x")
				began := time.Now()
				o := p.Execute(ctx, pipeline.Request{ID: "c1", Name: "x"})
				check(t, "outcome", endOf(o), tt.want)
				check(t, "time the call took", time.Since(began), 0*time.Second)
				check(t, "questions in the log", approvals(t, rec), steps(askedC1, "decided: "+tt.decided))
				time.Sleep(time.Minute)
				check(t, "questions in the log later", approvals(t, rec), steps(askedC1, "decided: "+tt.decided))
			})
		})
	}
}

// A question that nobody answers is decided once, as unavailable.
func TestApprovalEventsWhenTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &pipelinetest.Recorder{}
		deaf := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			time.Sleep(time.Hour)
			return pipeline.AllowedOnce, nil
		})
		p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: deaf, ApprovalTimeout: time.Minute}, pipelinetest.Text("x", "ran"))
		askAbout(p, "x")
		began := time.Now()
		check(t, "outcome", endOf(exec(p, "x")), end{`Error: tool "x" requires approval, and nobody answered within 1m0s`, tools.CodeApprovalUnavailable, "not-started"})
		check(t, "time", time.Since(began), time.Minute)
		time.Sleep(2 * time.Hour)
		check(t, "questions in the log", approvals(t, rec), steps(askedC1, "decided: unavailable"))
	})
}

// TestApprovalLogRequired: a question that cannot be logged is not put where the
// log is required, and the call does not run.
func TestApprovalLogRequired(t *testing.T) {
	for _, tt := range []struct {
		name     string
		required bool
		failOn   string
		text     string
		asked    int
	}{
		{"required, asked", true, pipeline.EventApprovalAsked, `Error: tool "x" requires approval, but no approval channel is available: the question could not be logged: disk full`, 0},
		{"required, decided", true, pipeline.EventApprovalDecided, "ran", 1},
		{"not required, asked", false, pipeline.EventApprovalAsked, "ran", 1},
		{"not required, decided", false, pipeline.EventApprovalDecided, "ran", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var logs logBuffer
			rec := &pipelinetest.Recorder{}
			rec.FailOn(tt.failOn, errors.New("disk full"))
			approver := pipelinetest.NewApprover(pipeline.AllowedOnce)
			p := pipelinetest.New(t, &pipeline.Options{Sink: rec, LogRequired: tt.required, Approver: approver, Logger: logs.logger()}, pipelinetest.Text("x", "ran"))
			askAbout(p, "x")
			check(t, "text", exec(p, "x").Text(), tt.text)
			check(t, "asked", len(approver.Asked()), tt.asked)
			check(t, "reports to the host", strings.Count(logs.String(), "event sink failed"), 1)
		})
	}
}

// A retry of a body that may not run twice under one grant is a question of its
// own in the log.
func TestRetryIsAskedAndLoggedAgain(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	approver := pipelinetest.NewApprover(pipeline.AllowedOnce, pipeline.Rejected)
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Approver: approver}, pipelinetest.Failing("x", errPlain))
	askAbout(p, "x")
	p.Execution.Use("retry", func(ctx context.Context, _ pipeline.Dispatch, next wrapNext) (pipeline.Result, error) {
		_, _ = next(ctx)
		return next(ctx)
	})
	check(t, "text", exec(p, "x").Text(), `Error: the user rejected tool "x"`)
	check(t, "questions in the log", approvals(t, rec), steps(askedC1, "decided: allowed-once", askedC1, "decided: rejected"))
}
