package codemode_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestZZFlood(t *testing.T) {
	var asks atomic.Int64
	p := pipelinetest.New(t, &pipeline.Options{Approver: pipeline.ApproverFunc(func(ctx context.Context, _ pipeline.ApprovalRequest) (pipeline.Answer, error) {
		asks.Add(1)
		<-ctx.Done()
		return pipeline.Unavailable, nil
	})}, pipelinetest.Text("rm", "gone"))
	p.PreExecute.Use("ask", func(_ context.Context, c tools.Call, _ pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if c.IsTransport() {
			return pipeline.Allow(), nil
		}
		return pipeline.Ask(""), nil
	})
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess})
	o := run(t, cm, `let last; for (let i=0;i<40;i++) try { await tools.rm({i}, {timeoutMs: 20}) } catch (e) { last = e.message } return last`)
	t.Log(o.Text(), asks.Load())
}

func TestZZModes(t *testing.T) {
	parent := &worker{}
	kid := &worker{above: parent}
	var p *pipeline.Pipeline
	var seen []any
	p = pipelinetest.New(t, &pipeline.Options{ParentOf: above}, pipelinetest.Text("rm", "gone"), pipelinetest.Tool("as", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		out := []string{}
		for _, a := range []any{nil, parent, kid, (*worker)(nil)} {
			out = append(out, p.Execute(ctx, pipeline.Request{Name: "rm", Agent: a, Parent: run}).Text())
			out = append(out, p.Execute(ctx, pipeline.Request{Name: "rm", Agent: a}).Text())
			out = append(out, p.Execute(ctx, pipeline.Request{Name: "run_code", Agent: a, Parent: run, Args: `{"code":"return await tools.rm()","description":"d"}`}).Text())
			cp := *run
			out = append(out, p.Execute(ctx, pipeline.Request{Name: "rm", Agent: a, Parent: &cp}).Text())
		}
		return tools.Result{Value: tools.MustJSON(jsonOf(out))}, nil
	}))
	p.Guards.Use("see", func(c tools.Call) string { seen = append(seen, c.Name()); return "" })
	cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess})
	o := cm.Call(t.Context(), pipeline.Request{ID: "c1", Agent: parent, Args: `{"code":"return await tools.as()","description":"d"}`})
	t.Log(o.Text())
	cm.PresentAs(kid, codemode.ModeNative)
	p.For(parent).Without("rm")
	o = cm.Call(t.Context(), pipeline.Request{ID: "c1", Agent: parent, Args: `{"code":"return await tools.as()","description":"d"}`})
	t.Log(o.Text())
	// begin, then change, then dispatch
	cm.PresentAs(parent, codemode.ModeBoth)
	s := p.Begin(t.Context(), pipeline.Request{Name: "as", Agent: parent})
	rm, _ := p.For(parent).Without("as")
	s.Dispatch()
	t.Log(s.Settle().Text())
	rm()
	s = p.Begin(t.Context(), pipeline.Request{Name: "rm", Agent: kid})
	t.Log(s.Settle().Text(), len(seen))
	type fl struct{ f float64 }
	_, err := cm.PresentAs(fl{math.NaN()}, codemode.ModeNative)
	t.Log(err)
}

func jsonOf(ss []string) string {
	out := "["
	for i, s := range ss {
		if i > 0 {
			out += ","
		}
		out += tools.StringJSON(s).String()
	}
	return out + "]"
}

func TestZZRestrictMidRun(t *testing.T) {
	for _, par := range []int{1, 4} {
		var rm func()
		var p *pipeline.Pipeline
		ag := &worker{}
		n := 0
		p = pipelinetest.New(t, nil, pipelinetest.Concurrent(pipelinetest.Tool("rm", func(context.Context, *tools.Run) (tools.Result, error) { n++; return tools.Result{}, nil })),
			pipelinetest.Concurrent(pipelinetest.Tool("hide", func(context.Context, *tools.Run) (tools.Result, error) {
				rm, _ = p.For(ag).Without("rm")
				time.Sleep(50 * time.Millisecond)
				return tools.Result{}, errors.New("x")
			})))
		cm := open(t, p, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: par})
		o := cm.Call(t.Context(), pipeline.Request{ID: "c1", Agent: ag, Args: `{"code":"const r = await Promise.allSettled([tools.rm(), tools.hide(), tools.rm()]); await new Promise(r => setTimeout(r, 10)); try { await tools.rm() } catch (e) { r.push(e.message) } return r.map(x => x.reason ? x.reason.message : x)","description":"d"}`})
		t.Log(o.Text(), n)
		rm()
	}
}
