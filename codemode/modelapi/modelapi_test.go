package modelapi_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/tools"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got tools.JSON) {
	t.Helper()
	var v any
	if err := json.Unmarshal(got.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

var presentation = codemode.Presentation{
	Prompt: "The prompt.",
	Tools:  []codemode.ToolSchema{{Name: "run_code", Description: "Run a program.", Parameters: tools.MustJSON(`{"type":"object","properties":{"code":{"type":"string"}}}`)}},
}

// TestConversation holds whole requests: the first, and the one that answers an
// answer with two calls, one of which has an image and one of which failed.
func TestConversation(t *testing.T) {
	answers := map[string]string{
		"openai": `{"id": "x", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "I will look.", "refusal": null, "annotations": [], "tool_calls": [
			{"id": "c1", "type": "function", "function": {"name": "run_code", "arguments": "{\"code\":\"return 1\"}"}},
			{"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{\"file"}}]}}],
			"usage": {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 64}}}`,
		"openai-responses": `{"id": "x", "status": "completed", "incomplete_details": null, "output": [{"type": "reasoning", "id": "r1", "summary": []},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I will look.", "annotations": []}]},
			{"type": "function_call", "id": "f1", "call_id": "c1", "name": "run_code", "arguments": "{\"code\":\"return 1\"}"},
			{"type": "function_call", "id": "f2", "call_id": "c2", "name": "read", "arguments": "{\"file"}],
			"usage": {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 64}}}`,
		"anthropic": `{"id": "x", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [{"type": "text", "text": "I will look."},
			{"type": "tool_use", "id": "c1", "name": "run_code", "input": {"code":"return 1"}},
			{"type": "tool_use", "id": "c2", "name": "read", "input": {"file": 1.0}}],
			"usage": {"input_tokens": 30, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 6, "output_tokens": 20}}`,
	}
	for _, api := range modelapi.All() {
		t.Run(api.Name(), func(t *testing.T) {
			r := modelapi.Request{Model: "m", System: " Be brief.\n", Presentation: presentation, Messages: []tools.JSON{api.User("How many?")}}
			first, err := api.Request(r)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, api.Name()+"-1", first)

			a, err := api.Answer(answers[api.Name()])
			if err != nil {
				t.Fatal(err)
			}
			want := []modelapi.Call{{"c1", "run_code", `{"code":"return 1"}`}, {"c2", "read", `{"file`}}
			if api == modelapi.Anthropic { // it cannot send what is not JSON
				want[1].Args = `{"file":1.0}`
			}
			if diff := cmp.Diff(want, a.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if a.Text != "I will look." || a.Cut || a.Usage != (modelapi.Usage{Input: 100, Cached: 64, Output: 20}) {
				t.Errorf("answer %+v, want the text, whole, and the usage 100, 64, 20", a)
			}

			results := []modelapi.Result{
				{Call: a.Calls[0], Content: []tools.Content{tools.TextContent("1\xed\xa0\x80"), tools.ImageContent("image/png", "AAAA")}},
				modelapi.Refuse(a.Calls[1], "no"),
			}
			r.Messages = append(r.Messages, a.Messages...)
			r.Messages = append(r.Messages, api.Results(results, []tools.Message{tools.ContextMessage("guide", "Mind the gap.")})...)
			r.MaxTokens = 77
			second, err := api.Request(r)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, api.Name()+"-2", second)
		})
	}
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name string
		api  modelapi.API
		body string
		want modelapi.Answer // without Messages
		err  string          // it begins with this
	}{
		{"cut", modelapi.OpenAIChat, `{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\":"}}]}}]}`,
			modelapi.Answer{Stop: "length", Cut: true, Calls: []modelapi.Call{{"c", "f", `{"a":`}}}, ""},
		{"cut", modelapi.OpenAIResponses, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{"}]}`,
			modelapi.Answer{Stop: "max_output_tokens", Cut: true, Calls: []modelapi.Call{{"c", "f", `{`}}}, ""},
		{"cut", modelapi.Anthropic, `{"stop_reason":"max_tokens","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}`,
			modelapi.Answer{Stop: "max_tokens", Cut: true, Calls: []modelapi.Call{{"c", "f", `{}`}}}, ""},
		{"arguments as an object", modelapi.OpenAIChat, `{"choices":[{"finish_reason":"stop","message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":9007199254740993}}}]}}]}`,
			modelapi.Answer{Stop: "stop", Calls: []modelapi.Call{{"", "f", `{"a":9007199254740993}`}}}, ""},
		{"no arguments", modelapi.OpenAIChat, `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f"}}]}}]}`, modelapi.Answer{Calls: []modelapi.Call{{"c", "f", ""}}}, ""},
		{"content in parts", modelapi.OpenAIChat, `{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, modelapi.Answer{Text: "a\nb", Stop: "stop"}, ""},
		{"refusal", modelapi.OpenAIChat, `{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I cannot."}}]}`, modelapi.Answer{Text: "I cannot.", Stop: "stop"}, ""},
		{"counts that are none", modelapi.OpenAIChat, `{"choices":[{"finish_reason":"stop","message":{"content":"a"}}],"usage":{"prompt_tokens":-5,"completion_tokens":1e30,"prompt_tokens_details":{"cached_tokens":7.0}}}`, modelapi.Answer{Text: "a", Stop: "stop", Usage: modelapi.Usage{Cached: 7}}, ""},
		{"nothing said", modelapi.Anthropic, `{"stop_reason":"end_turn","content":[]}`, modelapi.Answer{Stop: "end_turn"}, ""},
		{"its own error", modelapi.Anthropic, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, modelapi.Answer{}, "anthropic answers with an error (overloaded_error): Overloaded"},
		{"its own error", modelapi.OpenAIChat, `{"error":{"message":"bad key","code":401}}`, modelapi.Answer{}, "openai answers with an error: bad key"},
		{"no choice", modelapi.OpenAIChat, `{"choices":[]}`, modelapi.Answer{}, "the answer of openai is not what the API documents: it holds no answer of the model"},
		{"no output", modelapi.OpenAIResponses, `{"status":"completed"}`, modelapi.Answer{}, "the answer of openai-responses is not what the API documents: it holds no"},
		{"no content", modelapi.Anthropic, `{}`, modelapi.Answer{}, "the answer of anthropic is not what the API documents: it holds no"},
		{"content of another kind", modelapi.Anthropic, `{"content":"hello"}`, modelapi.Answer{}, "the answer of anthropic is not what the API documents: "},
		{"web page", modelapi.OpenAIChat, `<html>`, modelapi.Answer{}, "the answer of openai is not JSON: "},
	}
	for _, tt := range tests {
		t.Run(tt.api.Name()+"/"+tt.name, func(t *testing.T) {
			got, err := tt.api.Answer(tt.body)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got.Messages = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorType(t *testing.T) {
	_, err := modelapi.Anthropic.Answer(`{"error":{"type":"t","message":"m"}}`)
	var e *modelapi.Error
	if !errors.As(err, &e) || *e != (modelapi.Error{API: "anthropic", Type: "t", Message: "m"}) {
		t.Errorf("error %#v, want the API's own", err)
	}
	if e := modelapi.ErrorOf(modelapi.OpenAIChat, "gateway timeout"); e != nil {
		t.Errorf("a body without an error has %v", e)
	}
}

func TestByName(t *testing.T) {
	for _, api := range modelapi.All() {
		if got, err := modelapi.ByName(api.Name()); err != nil || got != api {
			t.Errorf("ByName(%q) = %v, %v", api.Name(), got, err)
		}
	}
	if _, err := modelapi.ByName("gpt"); err == nil || err.Error() != `unknown model API "gpt"; known are openai, openai-responses, anthropic` {
		t.Errorf("error %v, want the names", err)
	}
}

func TestHeaders(t *testing.T) {
	for _, tt := range []struct {
		api  modelapi.API
		key  string
		want map[string]string
	}{
		{modelapi.OpenAIChat, "k", map[string]string{"Authorization": "Bearer k"}},
		{modelapi.OpenAIChat, "", nil},
		{modelapi.Anthropic, "k", map[string]string{"x-api-key": "k", "anthropic-version": "2023-06-01"}},
		{modelapi.Anthropic, "", map[string]string{"anthropic-version": "2023-06-01"}},
	} {
		if diff := cmp.Diff(tt.want, tt.api.Header(tt.key)); diff != "" {
			t.Errorf("header of %s with key %q (-want +got):\n%s", tt.api.Name(), tt.key, diff)
		}
	}
}

func TestMCP(t *testing.T) {
	golden(t, "mcp-tools", tools.ComposeArray(modelapi.MCPTools(presentation)...))
	call, err := modelapi.MCPCall("7", tools.MustJSON(`{"name":"run_code","arguments":{"code":"1"},"_meta":{"progressToken":1}}`))
	if diff := cmp.Diff(modelapi.Call{ID: "7", Name: "run_code", Args: `{"code":"1"}`}, call); diff != "" || err != nil {
		t.Errorf("call: %v (-want +got):\n%s", err, diff)
	}
	if _, err := modelapi.MCPCall("7", tools.MustJSON(`{"name":7}`)); err == nil {
		t.Error("a name that is a number is taken")
	}
	for _, tt := range []struct {
		name, want string
		r          modelapi.Result
	}{
		{"object", `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}`, modelapi.Result{Content: []tools.Content{tools.TextContent("x")}, Value: tools.MustJSON(`{"a":1}`)}},
		{"number", `{"content":[{"type":"text","text":"1"}]}`, modelapi.Result{Content: []tools.Content{tools.TextContent("1")}, Value: tools.MustJSON(`1`)}},
		{"failure", `{"content":[{"type":"text","text":"Error: no"}],"isError":true}`, modelapi.Refuse(call, "no")},
		{"nothing", `{"content":[]}`, modelapi.Result{}},
	} {
		if got := modelapi.MCPResult(tt.r).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"choices":[{"finish_reason":"stop","message":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}}]}`)
	f.Add(`{"output":[{"type":"message","content":[{"text":"a"}]},{"type":"function_call"}]}`)
	f.Add(`{"content":[{"type":"tool_use","input":{}}],"usage":{"input_tokens":1e3}}`)
	f.Fuzz(func(t *testing.T, body string) {
		for _, api := range modelapi.All() {
			a, err := api.Answer(body)
			if err != nil {
				continue
			}
			var results []modelapi.Result
			for _, c := range a.Calls {
				results = append(results, modelapi.Refuse(c, "no"))
			}
			messages := append(a.Messages, api.Results(results, nil)...)
			if _, err := api.Request(modelapi.Request{Messages: messages}); err != nil {
				t.Errorf("%s reads an answer it cannot write: %v", api.Name(), err)
			}
		}
	})
}
