// Package tokens measures in tokens what models are told about tools.
package tokens

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

// listed is a tool as an MCP server lists it.
type listed struct {
	Name         string     `json:"name"`
	Description  string     `json:"description,omitempty"`
	InputSchema  tools.JSON `json:"inputSchema"`
	OutputSchema tools.JSON `json:"outputSchema,omitzero"`
}

// TestDeclarationsAreCompact: over the lists of real servers the declarations
// take at most 0.85 of the tokens of names, descriptions and input schemas, and
// no more than these with the types of results.
func TestDeclarationsAreCompact(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	count := func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "mcp-tools"), "live", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no lists of tools: %v", err)
	}
	native, input, both := 0, 0, 0
	for _, file := range files {
		var list struct{ Tools []listed }
		if err := json.Unmarshal(corpus.ReadFile(t, "mcp-tools", filepath.Join("live", filepath.Base(file))), &list); err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".json")
		n, i, b := count(wire(t, list.Tools)), count(declarations(t, server, list.Tools, false)), count(declarations(t, server, list.Tools, true))
		t.Logf("%-20s %6d tokens of schemas, %6d of declarations (%.2f), %6d with results (%.2f)", server, n, i, float64(i)/float64(n), b, float64(b)/float64(n))
		native, input, both = native+n, input+i, both+b
	}
	t.Logf("%-20s %6d tokens of schemas, %6d of declarations (%.2f), %6d with results (%.2f)", "all", native, input, float64(input)/float64(native), both, float64(both)/float64(native))
	if 100*input > 85*native {
		t.Errorf("%d tokens of declarations for %d of schemas, want at most 0.85 of them", input, native)
	}
	if both > native {
		t.Errorf("%d tokens of declarations with results for %d of schemas, want no more", both, native)
	}
}

// wire is the list of tools as a model request holds it, without result schemas.
func wire(t *testing.T, list []listed) string {
	t.Helper()
	plain := make([]listed, len(list))
	for i, x := range list {
		plain[i] = listed{Name: x.Name, Description: x.Description, InputSchema: x.InputSchema}
	}
	text, err := tools.ToJSON(plain)
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func declarations(t *testing.T, server string, list []listed, results bool) string {
	t.Helper()
	var made []*tools.Tool
	for _, x := range list {
		def := tools.Definition{Name: "mcp__" + server + "__" + x.Name, Description: x.Description, Input: x.InputSchema,
			Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil }}
		if results {
			def.Output = x.OutputSchema
		}
		tool, err := tools.NewTool(&def)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, tool)
	}
	c, _, err := bindings.New(made)
	if err != nil {
		t.Fatal(err)
	}
	return c.Declarations()
}
