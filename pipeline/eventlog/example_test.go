package eventlog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

func Example() {
	dir, err := os.MkdirTemp("", "eventlog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "session.jsonl")

	events, err := eventlog.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	reg, err := tools.NewRegistry(&tools.Definition{Name: "ping", Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON("pong")}, nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	p := pipeline.New(reg, &pipeline.Options{Sink: events, FirstSeq: events.NextSeq(), LogRequired: true})
	p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "ping"})
	if err := events.Close(); err != nil {
		log.Fatal(err)
	}

	contents, err := eventlog.ReadFile(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range contents.Events {
		fmt.Println(e.Seq, e.Type)
	}
	// Output:
	// 0 tool/call
	// 1 tool/result
}

// A session that ended in the middle of a call is repaired before it goes on,
// so that the model is told what became of the call.
func ExampleContents_Repair() {
	dir, err := os.MkdirTemp("", "eventlog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "session.jsonl")
	crashed := `{"type":"tool/call","seq":0,"time":1755772800951,"data":{"turn":1,"step":1,"callId":"c1","name":"run_code","arguments":"{}"}}
{"type":"tool/code-dispatch-start","seq":1,"time":1755772801002,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"bash","arguments":{"command":"make"}}}
{"type":"tool/code-disp`
	if err := os.WriteFile(path, []byte(crashed), 0o600); err != nil {
		log.Fatal(err)
	}

	events, err := eventlog.Open(path, nil) // seals the torn line
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	past, err := eventlog.ReadFile(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, call := range past.OpenCalls() {
		fmt.Println(call.ID, call.Name, call.Code)
	}
	for _, e := range past.Repair(nil) {
		if err := events.Emit(e); err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Type)
	}
	fmt.Println("the pipeline goes on with", events.NextSeq())
	// Output:
	// c1 run_code TOOL_OUTCOME_UNKNOWN
	// c1:code:1 bash TOOL_OUTCOME_UNKNOWN
	// 3 tool/code-dispatch
	// 4 tool/result
	// the pipeline goes on with 5
}
