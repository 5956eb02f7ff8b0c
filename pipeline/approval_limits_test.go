package pipeline_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// What a person refuses while other calls wait for their turn holds for these too.
func TestRefusalsHoldForThoseWhoWait(t *testing.T) {
	for _, tt := range []struct {
		name  string
		args  string
		asked int
	}{
		{"the same call", `{}`, 1},
		{"others", `{"n":%d}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				approver := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
					asked++
					time.Sleep(time.Second)
					return pipeline.Rejected, nil
				})
				p := asking(t, pipeline.Options{Approver: approver})
				_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
					var group sync.WaitGroup
					for n := range 6 {
						args := tt.args
						if tt.asked > 1 {
							args = fmt.Sprintf(args, n)
						}
						group.Go(func() { p.Execute(ctx, pipeline.Request{Name: "x", Args: args, Parent: run}) })
					}
					group.Wait()
					return tools.Result{}, nil
				}))
				if err != nil {
					t.Fatal(err)
				}
				exec(p, "outer")
				check(t, "questions", asked, tt.asked)
			})
		})
	}
}

// A call that leaves before its turn was no question.
func TestQuestionsThatWereNotPutDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := &pipelinetest.Trace{}
		p := asking(t, pipeline.Options{Approver: slowly(trace, time.Minute), MaxAsks: 1})
		_, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			brief, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			p.Execute(brief, pipeline.Request{Name: "x", Parent: run})
			last := p.Execute(ctx, pipeline.Request{Name: "x", Parent: run})
			return tools.Result{Value: tools.StringJSON(last.Text())}, nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		other := start(t.Context(), p, nil)
		synctest.Wait()
		check(t, "the call that stayed", exec(p, "outer").Text(), "ran")
		<-other
	})
}
