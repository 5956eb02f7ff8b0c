package pipeline_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// shell is a registry with one tool, which the examples protect.
func shell() *tools.Registry {
	reg, err := tools.NewRegistry(&tools.Definition{
		Name:        "bash",
		Description: "Run a command.",
		Input:       tools.MustJSON(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
			var in struct {
				Command string `json:"command"`
			}
			if err := run.Args().Unmarshal(&in); err != nil {
				return tools.Result{}, err
			}
			return tools.Result{Value: tools.StringJSON("ran " + in.Command)}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	return reg
}

func run(p *pipeline.Pipeline, command string) string {
	args, err := tools.ToJSON(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "bash", Args: args.String()}).Text()
}

func ExamplePipeline_Execute() {
	p := pipeline.New(shell(), nil)
	o := p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: "bash", Args: `{"command": "ls"}`})
	fmt.Println(o.State(), o.Value())
	o = p.Execute(context.Background(), pipeline.Request{ID: "c2", Name: "bsh", Args: `{"command": "ls"}`})
	fmt.Println(o.State(), o.Info().Code, o.Err())
	// Output:
	// done "ran ls"
	// not-started UNKNOWN_TOOL unknown tool "bsh"; did you mean "bash"?
}

// A listener decides or leaves the decision to those after it.
func ExampleListener() {
	p := pipeline.New(shell(), nil)
	p.PreExecute.Use("no-network", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if strings.Contains(c.Args().String(), "curl") && !c.IsTransport() {
			return pipeline.Deny("the network is off limits; work with the files that are here"), nil
		}
		return next(ctx)
	})
	fmt.Println(run(p, "ls"))
	fmt.Println(run(p, "curl example.org"))
	// Output:
	// ran ls
	// Error: the network is off limits; work with the files that are here
}

// A guard cannot be overruled by any listener.
func ExampleGuard() {
	p := pipeline.New(shell(), nil)
	remove := p.Guards.Use("keep-files", func(c tools.Call) string {
		if strings.Contains(c.Args().String(), "rm ") {
			return "nothing is deleted here"
		}
		return ""
	})
	p.PreExecute.Prepend("careless", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		return pipeline.Allow(), nil
	})
	fmt.Println(run(p, "rm -rf build"))
	remove()
	fmt.Println(run(p, "rm -rf build"))
	// Output:
	// Error: nothing is deleted here
	// ran rm -rf build
}

// An approver answers what listeners ask.
func ExampleApproverFunc() {
	approver := pipeline.ApproverFunc(func(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		fmt.Printf("%s asks: %s (%s)\n", ask.By, ask.Reason, ask.Call.Args())
		return pipeline.Rejected, nil
	})
	p := pipeline.New(shell(), &pipeline.Options{Approver: approver})
	p.PreExecute.Use("careful", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		return pipeline.Ask("may this run?"), nil
	})
	fmt.Println(run(p, "make"))
	// Output:
	// careful asks: may this run? ({"command":"make"})
	// Error: the user rejected tool "bash"
}

// A sink sees every call and every result.
func ExampleSinkFunc() {
	p := pipeline.New(shell(), &pipeline.Options{Sink: pipeline.SinkFunc(func(e pipeline.Event) error {
		fmt.Println(e.Seq, e.Type)
		return nil
	})})
	run(p, "ls")
	// Output:
	// 0 tool/call
	// 1 tool/result
}

// A wrapper stands around the body; here it tries a failed call once more.
func ExampleDispatch() {
	tries := 0
	reg, err := tools.NewRegistry(&tools.Definition{
		Name:        "flaky",
		Annotations: tools.Annotations{Idempotent: true},
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			if tries++; tries == 1 {
				return tools.Result{}, fmt.Errorf("connection reset")
			}
			return tools.Result{Value: tools.StringJSON("fetched")}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	p := pipeline.New(reg, nil)
	p.Execution.Use("retry", func(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		r, err := next(ctx)
		if err != nil || !r.IsError() || d.Tool == nil || !d.Tool.Definition().Annotations.Idempotent {
			return r, err
		}
		return next(ctx)
	})
	fmt.Println(p.Execute(context.Background(), pipeline.Request{Name: "flaky"}).Text(), tries)
	// Output:
	// fetched 2
}

// Post-execute sees every result and may hide it.
func ExampleBlock() {
	p := pipeline.New(shell(), nil)
	p.PostExecute.Use("no-secrets", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		if strings.Contains(s.Result.Value().String(), "id_rsa") {
			return pipeline.Block([]tools.Content{tools.TextContent("the output held a key and was withheld")}), nil
		}
		return next(ctx)
	})
	fmt.Println(run(p, "cat id_rsa"))
	// Output:
	// the output held a key and was withheld
}

// The calls of one assistant message.
func ExamplePipeline_Batch() {
	p := pipeline.New(shell(), nil)
	r := p.Batch(context.Background(), []pipeline.Request{
		{ID: "c1", Name: "bash", Args: `{"command": "ls"}`},
		{ID: "c2", Name: "bash", Args: `{}`},
	})
	for _, o := range r.Outcomes {
		fmt.Println(o.Call().ID(), o.Text())
	}
	// Output:
	// c1 ran ls
	// c2 Error: invalid arguments: missing required property "command"
}
