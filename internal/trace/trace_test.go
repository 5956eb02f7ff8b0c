package trace_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(tools.JSON{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func read(t *testing.T, log string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// hostileLog has texts that are markup, controls and no text.
const hostileLog = `{"type":"tool/call","seq":1,"time":1000,"data":{"callId":"c\u001b[2J1","name":"</script><img src=x onerror=alert(1)>","arguments":"{\"x\":\"<!--<script>\\u2028\\ud800\"}"}}
{"type":"tool/result","seq":2,"time":1005,"data":{"message":{"source":{"callId":"c\u001b[2J1"},"content":[{"type":"tool-result","content":[{"type":"text","text":"{{script}} <iframe src=//x> \u202e"}],"isError":true}]},"error":{"name":"</style>","code":"<a href=x>"}},"sourceEventSeqs":[1]}
`

// manyCalls is the trace of a run of n calls, in which some fail and one is
// denied.
func manyCalls(t *testing.T, n int) *trace.Trace {
	t.Helper()
	w := newWorld()
	rec := &pipelinetest.Recorder{}
	p := pipelinetest.New(t, &pipeline.Options{Sink: rec, Stages: true, Now: w.clock},
		w.works("fetch_page", 3*time.Millisecond, func(args tools.JSON) (string, error) {
			if strings.HasSuffix(args.String(), `7}`) {
				return "", fmt.Errorf("the page is not there")
			}
			return `{"rows":[1,2,3],"next":null}`, nil
		}),
		w.works("count", time.Millisecond, func(tools.JSON) (string, error) { return `3`, nil }))
	p.PreExecute.Use("watch", func(ctx context.Context, _ tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		return next(ctx)
	})
	p.Guards.Use("not-the-13th", func(c tools.Call) string {
		if strings.HasSuffix(c.Args().String(), ":1013}") {
			return "page 1013 is closed"
		}
		return ""
	})
	cm, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cm.Close() }()
	out := cm.Run(t.Context(), codemode.Program{ID: "call_1", Description: "Count the rows of all pages", Code: fmt.Sprintf(`let rows = 0
for (let page = 1; page <= %d; page++) {
  try {
    const answer = await tools.fetch_page({ page })
    rows += answer.rows.length
  } catch (error) {
    rows += await tools.count({ page, why: error.message })
  }
}
return rows`, n*10/11)})
	if out.IsError() {
		t.Fatal(out.Text())
	}
	tr := read(t, string(jsonLines(rec.Events())))
	if got := len(tr.Calls[0].Calls); got < n-n/100 || got > n+n/100 {
		t.Fatalf("the log has %d calls, want about %d", got, n)
	}
	return tr
}
