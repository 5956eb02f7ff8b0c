package gojavm_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
)

// A runtime runs a program and answers its calls. Every value crosses as JSON
// text.
func ExampleNew() {
	rt, err := gojavm.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()
	tools, err := runtime.NewNamespace("tools",
		runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"},
		[]runtime.Member{{Name: "shout"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := rt.Run(context.Background(), runtime.Request{
		Program: `
			const words: string[] = await Promise.all(['a', 'b'].map(w => tools.shout(w)))
			console.log(words.length, 'words')
			return words.join(' ')`,
		Bindings: []runtime.Binding{{
			Namespace: tools,
			Call: func(_ context.Context, call runtime.Invocation) (runtime.Reply, error) {
				return runtime.Reply{Value: strings.ToUpper(call.Args)}, nil
			},
		}},
	})
	fmt.Println(res.Value, res.Logs, err)
	// Output: "A B" [2 words] <nil>
}

// A program's bad end is data: what, where, and what to try.
func ExampleRuntime_Run_failure() {
	rt, err := gojavm.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()
	res, err := rt.Run(context.Background(), runtime.Request{
		Program: "const rows = [{ id: 1 }]\nreturn rows.map(r => r.name.first)",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Failure.Kind, res.Failure.Site.Line)
	fmt.Println(res.Failure.Frame)
	// Output:
	// exception 2
	//   1 | const rows = [{ id: 1 }]
	// > 2 | return rows.map(r => r.name.first)
	//     |                             ^
}
