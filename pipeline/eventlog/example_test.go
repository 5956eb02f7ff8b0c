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
