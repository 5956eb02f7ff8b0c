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
	small := runtime.Limits{Wall: 90 * time.Second, Compute: 250 * time.Millisecond, Calls: 1234567, Result: 1500}
	tests := []struct {
		name    string
		catalog *Catalog
		options PromptOptions
		has     []string
		hasNot  []string
	}{
		{"both arguments", plain, PromptOptions{}, []string{"needs both arguments: `code` and `description`"}, nil},
		{"call forms", plain, PromptOptions{}, []string{"`await tools.name(args)`", "`await tools[\"exact.name\"](args)`"}, []string{"tools.server.tool"}},
		{"short form", served, PromptOptions{}, []string{"`mcp__server__tool` is also `tools.server.tool`: here `tools[\"git-hub\"].search`"}, nil},
		{"lossless arguments", plain, PromptOptions{}, []string{"Arguments must be one lossless JSON object"}, nil},
		{"failures", plain, PromptOptions{}, []string{"throws `ToolCallError` (`toolName`, `message`, `code`, `callId`)"}, nil},
		{"serialized", plain, PromptOptions{}, []string{"Calls run one after another in the order you make them, even under `Promise.all`"}, []string{"overlap"}},
		{"one at a time is serialized", plain, PromptOptions{Parallel: 1}, []string{"Calls run one after another"}, []string{"overlap"}},
		{"parallel", plain, PromptOptions{Parallel: 4}, []string{"Up to 4 calls may overlap under `Promise.all`"}, []string{"one after another"}},
		{"what comes back", plain, PromptOptions{}, []string{"Only the returned value and `console.log` output come back"}, nil},
		{"big integers", plain, PromptOptions{}, []string{"Integers beyond 2^53 arrive as BigInt"}, nil},
		{"no ambient authority", plain, PromptOptions{}, []string{"no `import`, `require`, file system or network"}, nil},
		{"default limits", plain, PromptOptions{}, []string{"A run may take 10 min (1 min of it computing) and make 10,000 calls; one result may hold 16 MiB."}, nil},
		{"given limits", plain, PromptOptions{Limits: small}, []string{"A run may take 90 s (250 ms of it computing) and make 1,234,567 calls; one result may hold 1,500 bytes."}, nil},
		{"impossible limits", plain, PromptOptions{Limits: runtime.Limits{Wall: -1}}, nil, []string{"A run may take"}},
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
	const most = 2_500 // characters
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

// TestToolDescriptionNamesBothArguments: a text that mentions the program alone
// makes models send {code} and lose the call.
func TestToolDescriptionNamesBothArguments(t *testing.T) {
	for _, want := range []string{"`code`", "`description`", "two required arguments", "body of an async function", "await tools.name(args)", "`return`", "console.log", "Images"} {
		if !strings.Contains(ToolDescription, want) {
			t.Errorf("the tool description lacks %q", want)
		}
	}
}
