package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// stock is the code mode that the two examples below put into a model request.
func stock() *codemode.CodeMode {
	pieces := map[string]int{"nut": 120, "bolt": 80}
	count := tools.Define("stock", "Count the pieces of an article.", func(_ context.Context, in struct {
		Article string `json:"article"`
	}) (int, error) {
		return pieces[in.Article], nil
	})
	reg, err := tools.NewRegistry(count)
	if err != nil {
		log.Fatal(err)
	}
	cm, err := codemode.New(pipeline.New(reg, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	return cm
}

// post stands for the HTTP request: it prints what the body is made of and
// returns a canned answer.
func post(body map[string]any, answer string) json.RawMessage {
	if _, err := json.Marshal(body); err != nil {
		log.Fatal(err)
	}
	tool := body["tools"].([]any)[0].(map[string]any)
	fmt.Println("sent", slices.Sorted(maps.Keys(body)), "with a tool of", slices.Sorted(maps.Keys(tool)))
	return json.RawMessage(answer)
}

// OpenAI's chat completions: the prompt is a system message, the arguments of a
// tool call are a text, each result is a message of the role tool.
func Example_openAI() {
	cm := stock()
	defer cm.Close()

	p, err := cm.Present()
	if err != nil {
		log.Fatal(err)
	}
	var offered []any
	for _, t := range p.Tools { // whose JSON is {name, description, parameters}
		offered = append(offered, map[string]any{"type": "function", "function": t})
	}
	messages := []any{
		map[string]any{"role": "system", "content": p.Prompt},
		map[string]any{"role": "user", "content": "How many nuts and bolts are there?"},
	}

	// The message of choices[0].
	answer := post(map[string]any{"model": "gpt-5", "messages": messages, "tools": offered}, `{
		"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {
			"name": "run_code",
			"arguments": "{\"code\":\"let n = 0;\\nfor (const article of ['nut', 'bolt']) n += await tools.stock({ article });\\nreturn n\",\"description\":\"Count nuts and bolts\"}"
		}}]}`)
	var message struct {
		ToolCalls []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(answer, &message); err != nil {
		log.Fatal(err)
	}
	messages = append(messages, answer)
	for _, call := range message.ToolCalls {
		out := cm.Call(context.Background(), pipeline.Request{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments})
		// A failure is text as well: it begins with "Error: ".
		messages = append(messages, map[string]any{"role": "tool", "tool_call_id": call.ID, "content": out.Text()})
	}

	last, _ := json.Marshal(messages[len(messages)-1])
	fmt.Println(string(last)) // goes out with the next request
	// Output:
	// sent [messages model tools] with a tool of [function type]
	// {"content":"200","role":"tool","tool_call_id":"call_1"}
}

// Anthropic's messages: the prompt is the field system, the input of a tool use
// is an object, the results are blocks of one user message.
func Example_anthropic() {
	cm := stock()
	defer cm.Close()

	p, err := cm.Present()
	if err != nil {
		log.Fatal(err)
	}
	var offered []any
	for _, t := range p.Tools {
		offered = append(offered, map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.Parameters})
	}
	messages := []any{map[string]any{"role": "user", "content": "How many nuts and bolts are there?"}}

	// The content of the answer.
	answer := post(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 8192, "system": p.Prompt, "messages": messages, "tools": offered}, `[
		{"type": "text", "text": "I will count them."},
		{"type": "tool_use", "id": "toolu_1", "name": "run_code", "input": {
			"code": "let n = 0;\nfor (const article of ['nut', 'bolt']) n += await tools.stock({ article });\nreturn n",
			"description": "Count nuts and bolts"
		}}]`)
	var blocks []struct {
		Type, ID, Name string
		Input          json.RawMessage
	}
	if err := json.Unmarshal(answer, &blocks); err != nil {
		log.Fatal(err)
	}
	var results []any
	for _, b := range blocks {
		if b.Type != "tool_use" {
			continue
		}
		out := cm.Call(context.Background(), pipeline.Request{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		content := []any{}
		for _, c := range out.Content() { // text, and images that tools returned
			if c.Type == tools.ContentImage {
				source := map[string]any{"type": "base64", "media_type": c.MIMEType, "data": c.Data}
				content = append(content, map[string]any{"type": "image", "source": source})
			} else {
				content = append(content, map[string]any{"type": "text", "text": tools.ContentString([]tools.Content{c})})
			}
		}
		results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": content, "is_error": out.IsError()})
	}
	messages = append(messages, map[string]any{"role": "assistant", "content": answer}, map[string]any{"role": "user", "content": results})

	last, _ := json.Marshal(messages[len(messages)-1])
	fmt.Println(string(last)) // goes out with the next request
	// Output:
	// sent [max_tokens messages model system tools] with a tool of [description input_schema name]
	// {"content":[{"content":[{"text":"200","type":"text"}],"is_error":false,"tool_use_id":"toolu_1","type":"tool_result"}],"role":"user"}
}
