package mocktools_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mocktools"
)

func Example() {
	defs, err := mocktools.Load(strings.NewReader(`{"tools": [{
		"name": "weather",
		"description": "Weather of a city",
		"inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
		"cases": [
			{"when": {"city": "Oslo"}, "result": {"temp": -4}},
			{"when": {"city": "Atlantis"}, "error": {"message": "no such city", "code": "NOT_FOUND"}}
		]
	}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	weather := defs[0]
	for _, args := range []string{`{"city":"Oslo"}`, `{"city":"Atlantis"}`, `{"city":"Rome"}`} {
		call := tools.NewCall(tools.CallSpec{ID: "call-1", Name: weather.Name, Args: tools.MustJSON(args)})
		result, err := weather.Handler(context.Background(), tools.NewRun(call, tools.RunHooks{}))
		if err != nil {
			fmt.Println("failed:", err)
			continue
		}
		fmt.Println(result.Value)
	}
	// Output:
	// {"temp":-4}
	// failed: no such city
	// failed: mock tool "weather" has no answer to {"city":"Rome"}: its cases match {"city":"Oslo"}, {"city":"Atlantis"}; add a case, or a "result" for all others
}

// A misspelt member is refused with its place, rather than ignored.
func ExampleLoad_problem() {
	_, err := mocktools.Load(strings.NewReader(`{"tools": [
  {"name": "x", "delayms": 5}
]}`))
	fmt.Println(err)
	// Output:
	// invalid mock tools: 2:17 (/tools/0/delayms): unknown member "delayms" of a tool; did you mean "delayMs"? (known are name, description, inputSchema, outputSchema, concurrent, delayMs, ignoresCancel, timeoutMs, readOnly, idempotent, destructive, cases, result)
}
