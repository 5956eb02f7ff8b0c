package approval_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/approval"
	"github.com/runcode-go/runcode/tools"
)

// A rule answers what it knows; everything else goes to a terminal and a phone at
// once. Nobody is asked about calls of the agent that works at night.
func Example() {
	rules := pipeline.ApproverFunc(func(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		if ask.Call.Name() == "draft" {
			return pipeline.Granted, nil
		}
		return pipeline.Unavailable, nil // for the next one
	})
	terminal := pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
		return pipeline.Unavailable, errors.New("there is no terminal")
	})
	phone := pipeline.ApproverFunc(func(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		fmt.Println("the phone rings:", ask.Call.Name(), ask.Call.Args())
		return pipeline.AllowedOnce, nil
	})

	asks := approval.New(nil)
	asks.Use("rules", rules)
	asks.Use("people", approval.First(terminal, approval.Within(time.Minute, phone)))
	reg, err := tools.NewRegistry(tool("draft", "written"), tool("send", "sent"))
	if err != nil {
		panic(err)
	}
	p := pipeline.New(reg, &pipeline.Options{Approver: asks})
	asks.Attach(p)
	p.PreExecute.Use("ask about all", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		return pipeline.Ask("mails leave the house"), nil
	})
	if err := asks.SetPolicy("night", approval.Never); err != nil {
		panic(err)
	}

	for _, call := range []pipeline.Request{
		{Name: "draft", Agent: "day"},
		{Name: "send", Agent: "day", Args: `{"to":"all"}`},
		{Name: "send", Agent: "night"},
	} {
		fmt.Println(p.Execute(context.Background(), call).Text())
	}
	// Output:
	// written
	// the phone rings: send {"to":"all"}
	// sent
	// Error: the user rejected tool "send"
}

func tool(name, text string) *tools.Definition {
	return &tools.Definition{Name: name, Description: name, Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON(text)}, nil
	}}
}
