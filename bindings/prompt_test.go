package bindings

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

func TestInstructionsSay(t *testing.T) {
	plain := catalog(t, named(t, "echo")...)
	served := catalog(t, named(t, "mcp__git-hub__search", "mcp__git-hub__x")...)
	odd := catalog(t, named(t, "echo", "no-word")...)
	small := runtime.Limits{Wall: 90 * time.Second, Compute: 250 * time.Millisecond, Calls: 1234567, Result: 1500}
	tests := []struct {
		name    string
		catalog *Catalog
		options PromptOptions
		has     []string
		hasNot  []string
	}{
		{"both arguments", plain, PromptOptions{}, []string{"Each call needs both `code` and `description`"}, nil},
		{"the call form", plain, PromptOptions{}, []string{"`await tools.name(args)`"}, []string{"brackets", "is also"}},
		{"a quoted name", odd, PromptOptions{}, []string{"Quoted names need brackets: `tools[\"no-word\"]`"}, []string{"is also"}},
		{"short form", served, PromptOptions{}, []string{"`tools[\"git-hub\"].search` is also `tools[\"mcp__git-hub__search\"]`"}, []string{"Quoted"}},
		{"lossless values", plain, PromptOptions{}, []string{"Arguments and what you return must be lossless JSON"}, nil},
		{"results nobody declares", plain, PromptOptions{}, []string{"An `unknown` result may be anything, also a string to `JSON.parse`"}, nil},
		{"failures", plain, PromptOptions{}, []string{"throws `ToolCallError`", "uncaught, it ends the run", "not undone"}, nil},
		{"serialized", plain, PromptOptions{}, []string{"Calls run one after another, even under `Promise.all`"}, []string{"overlap"}},
		{"one at a time is serialized", plain, PromptOptions{Parallel: 1}, []string{"Calls run one after another"}, []string{"overlap"}},
		{"parallel", plain, PromptOptions{Parallel: 4}, []string{"Up to 4 calls may overlap under `Promise.all`", "`await` each call on which a later one depends"}, []string{"one after another"}},
		{"what comes back", plain, PromptOptions{}, []string{"Keep large data in variables; return just what you need, log only what you must see"}, nil},
		{"long texts", plain, PromptOptions{}, []string{"Build long texts from an array with `join`"}, nil},
		{"big integers", plain, PromptOptions{}, []string{"Integers beyond 2^53 arrive as BigInt"}, nil},
		{"no ambient authority", plain, PromptOptions{}, []string{"No `import`, `require`, file system or network; nothing is kept between runs"}, nil},
		{"default limits", plain, PromptOptions{}, []string{"Limits: 10 min (1 min computing), 10,000 calls, 16 MiB a result."}, nil},
		{"given limits", plain, PromptOptions{Limits: small}, []string{"Limits: 90 s (250 ms computing), 1,234,567 calls, 1,500 bytes a result."}, nil},
		{"impossible limits", plain, PromptOptions{Limits: runtime.Limits{Wall: -1}}, nil, []string{"Limits"}},
		{"input", plain, PromptOptions{Input: true}, []string{"The global `input` holds the data"}, nil},
		{"no input", plain, PromptOptions{}, nil, []string{"`input`"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.catalog.Instructions(tt.options)
			for _, want := range tt.has {
				if !strings.Contains(text, want) {
					t.Errorf("instructions lack %q:\n%s", want, text)
				}
			}
			for _, unwanted := range tt.hasNot {
				if strings.Contains(text, unwanted) {
					t.Errorf("instructions hold %q:\n%s", unwanted, text)
				}
			}
		})
	}
}

func TestInstructionsAreCompact(t *testing.T) {
	const most = 1_200 // characters
	c := catalog(t, named(t, "mcp__a-long-server-name__a_long_tool_name")...)
	for _, o := range []PromptOptions{{}, {Parallel: 10, Input: true}} {
		if n := len([]rune(c.Instructions(o))); n > most {
			t.Errorf("instructions with %+v have %d characters, want at most %d", o, n, most)
		}
	}
}

func TestTransportSchema(t *testing.T) {
	schema := TransportSchema()
	var got struct {
		Type       string                       `json:"type"`
		Properties map[string]map[string]string `json:"properties"`
		Required   []string                     `json:"required"`
	}
	if err := schema.Unmarshal(&got); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{
		"code":        {"type": "string", "description": codeDescription},
		"description": {"type": "string", "description": labelDescription},
	}
	if diff := cmp.Diff(want, got.Properties); diff != "" || got.Type != "object" {
		t.Errorf("type %q and properties (-want +got):\n%s", got.Type, diff)
	}
	if diff := cmp.Diff([]string{"code", "description"}, got.Required); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
	if strings.Contains(schema.String(), "additionalProperties") {
		t.Error("the schema is closed; further properties are to be ignored")
	}
	if _, err := tools.NewTool(&tools.Definition{Name: tools.TransportName, Input: schema, Handler: noBody}); err != nil {
		t.Errorf("the schema does not compile: %v", err)
	}
}

// TestToolDescription: a text that mentions the program alone makes models send
// {code} and lose the call, so both arguments are named. What is not said here a
// model reads in the schema or in the instructions, which come with it.
func TestToolDescription(t *testing.T) {
	for _, want := range []string{"`code`", "`description`", "wo arguments are required", "`console.log`", "images"} {
		if !strings.Contains(ToolDescription, want) {
			t.Errorf("the tool description lacks %q", want)
		}
	}
	for _, want := range []string{"body of an async function", "`return`"} {
		if !strings.Contains(codeDescription, want) {
			t.Errorf("the description of code lacks %q", want)
		}
	}
}
