package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// A typed function becomes a tool; its schemas come from its types.
func ExampleDefine() {
	type in struct {
		Text  string `json:"text" jsonschema:"what to repeat"`
		Times int    `json:"times,omitempty" jsonschema:"how often; 2 if left out"`
	}
	repeat := tools.Define("repeat", "Repeat a text.", func(_ context.Context, in in) (string, error) {
		if in.Times == 0 {
			in.Times = 2
		}
		return strings.Repeat(in.Text, in.Times), nil
	})
	fmt.Println(repeat.Input)

	// The pipeline calls the body like this.
	args := tools.MustJSON(`{"text":"ab","times":3}`)
	call := tools.NewCall(tools.CallSpec{ID: "1", Name: "repeat", Args: args})
	result, err := repeat.Handler(context.Background(), tools.NewRun(call, tools.RunHooks{}))
	fmt.Println(result.Value, err)
	// Output:
	// {"type":"object","properties":{"text":{"type":"string","description":"what to repeat"},"times":{"type":"integer","description":"how often; 2 if left out"}},"required":["text"],"additionalProperties":false}
	// "ababab" <nil>
}

// DefineWith gives a typed function the other fields of a definition.
func ExampleDefineWith() {
	type in struct {
		Name string `json:"name"`
	}
	greet := tools.DefineWith(tools.Definition{
		Name:        "greet",
		Description: "Greet somebody.",
		Concurrent:  func(tools.JSON) bool { return true },
		Annotations: tools.Annotations{ReadOnly: true},
	}, func(_ context.Context, run *tools.Run, in in) (string, error) {
		run.Progress(tools.Progress{Done: 1, Total: 1})
		return "hello " + in.Name, nil
	})
	fmt.Println(greet.Name, greet.Annotations.ReadOnly)
	// Output: greet true
}

// A raw definition brings its own schemas; its values are validated too.
func ExampleRegistry() {
	reg, err := tools.NewRegistry(&tools.Definition{
		Name:        "find_orders",
		Description: "Find the orders of a customer.",
		Input: tools.MustJSON(`{
			"type": "object",
			"properties": {"customer": {"type": "string"}, "max": {"type": "integer", "minimum": 1}},
			"required": ["customer"],
			"additionalProperties": false
		}`),
		Output: tools.MustJSON(`{"type": "array", "items": {"type": "string"}}`),
		Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.MustJSON(`["o-1","o-2"]`)}, nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tool := reg.Lookup("find_orders")
	fmt.Println(tool.CheckArgs(tools.MustJSON(`{"customer": "c9", "max": 3}`)))
	fmt.Println(tool.CheckOutput(tools.MustJSON(`{"orders": []}`)))
	// Output:
	// <nil>
	// tool "find_orders" returned invalid output: "value" must be an array, got an object with orders
}

// All problems of a call are told at once, in words that say what to do.
func ExampleArgsError() {
	type in struct {
		Customer string `json:"customer"`
		Max      int    `json:"max,omitempty"`
	}
	find := tools.Define("find_orders", "Find orders.", func(context.Context, in) ([]string, error) { return nil, nil })
	tool, err := tools.NewTool(find)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = tool.CheckArgs(tools.MustJSON(`{"custmer": "c9", "max": "5", "limit": 1}`))
	var bad *tools.ArgsError
	if errors.As(err, &bad) {
		for _, p := range bad.Problems {
			fmt.Println(p.Text)
		}
	}
	// Output:
	// missing required property "customer"; you sent "custmer", rename it to "customer"
	// "max" must be an integer, got the string "5"; send it without quotes
	// unknown property "limit"; allowed: customer, max
}

// Canonical text keeps order and numbers as they were written.
func ExampleParseJSON() {
	j, err := tools.ParseJSON(` { "b": 1.0, "a": [9007199254740993, "\u0041"] } `)
	fmt.Println(j, err)
	_, err = tools.ParseJSON(`{"path": "ok.txt", "\u0070ath": "/etc/passwd"}`)
	fmt.Println(err)
	// Output:
	// {"b":1.0,"a":[9007199254740993,"A"]} <nil>
	// invalid JSON at byte 19 (/path): the property name is given twice; send it once
}
