package bindings

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// frameText is what all declarations begin with.
const frameText = `type Tool<A = {}, R = unknown> = (args: {} extends A ? A | void : A, options?: { signal?: AbortSignal; timeoutMs?: number }) => Promise<R>;
declare class ToolCallError extends Error { toolName: string; code?: string; callId?: string; origin?: "policy" | "guard" | "approval"; by?: string }
`

// stockTools are two tools with something of most things.
func stockTools(t *testing.T) []*tools.Tool {
	return []*tools.Tool{
		tool(t, "stock_lookup", "Find one article across the warehouses.",
			`{"type":"object","properties":{
				"sku":{"type":"string","description":"Stock keeping unit"},
				"ware-house":{"type":"string","enum":["north","south"]},
				"tags":{"type":"array","items":{"oneOf":[{"type":"string"},{"type":"number"}]}}},
			  "required":["sku"]}`,
			`{"type":"object","properties":{
				"found":{"type":"boolean"},
				"rows":{"type":"array","items":{"type":"object","properties":{"qty":{"type":"integer"}},"required":["qty"],"additionalProperties":false}},
				"note":{"oneOf":[{"type":"string"},{"type":"null"}]},
				"extra":{}},
			  "required":["found","rows"],"additionalProperties":false}`),
		tool(t, "note.add", "Append a line to the shift notebook.",
			`{"type":"object","properties":{"text":{"type":"string"},"level":{"type":"string","enum":["info","urgent"]}},"required":["text"],"additionalProperties":false}`,
			`{"type":"null"}`),
	}
}

func TestLayout(t *testing.T) {
	const want = frameText + `declare const tools: {
// Append a line to the shift notebook.
"note.add": Tool<{ text: string; level?: "info" | "urgent" }, null>;
// Find one article across the warehouses.
stock_lookup: Tool<{
// Stock keeping unit
sku: string;
"ware-house"?: "north" | "south";
tags?: (string | number)[];
}, { found: boolean; rows: { qty: number }[]; note?: string | null; extra?: unknown }>;
};
`
	list := stockTools(t)
	got := catalog(t, list...).Declarations()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
	slices.Reverse(list)
	if reversed := catalog(t, list...).Declarations(); reversed != got {
		t.Errorf("the order of registration changes the text (-first +reversed):\n%s", cmp.Diff(got, reversed))
	}
}

// TestServers: the tools of a server stand together under its name, behind those
// without a short form.
func TestServers(t *testing.T) {
	text := catalog(t, named(t, "mcp__b__x", "read", "mcp__a-b__y", "mcp__b__z-1", "mcp_only")...).Declarations()
	checkSyntax(t, text)
	want := frameText +
		"type Server<S extends string, T> = Record<S, T> & { [K in keyof T & string as `mcp__${S}__${K}`]: T[K] };\n" +
		`declare const tools: {
mcp_only: Tool;
read: Tool;
} & Server<"a-b", {
y: Tool;
}> & Server<"b", {
x: Tool;
"z-1": Tool;
}>;
`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
}

// TestArguments: arguments without a name are not printed, whatever else the
// tool declares.
func TestArguments(t *testing.T) {
	tests := []struct{ name, input, output, want string }{
		{"no schemas", "", "", "Tool"},
		{"an object", `{"type":"object"}`, "", "Tool"},
		{"the empty object", `{"type":"object","properties":{},"additionalProperties":false}`, "", "Tool"},
		{"no arguments but a result", `{"type":"object"}`, `{"type":"string"}`, "Tool<{}, string>"},
		{"a result that may be anything", `{"properties":{"a":{}}}`, `{}`, "Tool<{ a?: unknown }>"},
		{"arguments of any name", `{"type":"object","additionalProperties":true}`, "", "Tool<Record<string, unknown>>"},
		{"arguments of any name and one type", `{"type":"object","additionalProperties":{"type":"string"}}`, "", "Tool<Record<string, string>>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := catalog(t, tool(t, "t", "", tt.input, tt.output)).Declarations()
			checkSyntax(t, text)
			if got := between(t, text, "\nt: ", ";\n"); got != tt.want {
				t.Errorf("t: %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNoTools(t *testing.T) {
	text := catalog(t).Declarations()
	checkSyntax(t, text)
	if diff := cmp.Diff(frameText+"declare const tools: {\n};\n", text); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
}

// TestDeclarationsCarryNoFence: callers put the text into a code block.
func TestDeclarationsCarryNoFence(t *testing.T) {
	text := catalog(t, tool(t, "x", "Say\n```\nso", "", "")).Declarations()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			t.Errorf("the line %q would close a code block", line)
		}
	}
	if !strings.HasSuffix(text, ";\n") {
		t.Errorf("the text ends with %q, want a line break", text[len(text)-10:])
	}
}

// exampleCatalog is a catalog with everything that has a look of its own.
func exampleCatalog(t *testing.T) *Catalog {
	row := `{"type":"object","description":"One row","properties":{"id":{"type":"string","format":"uuid"},"children":{"type":"array","items":{"$ref":"#/$defs/Row"}}},"required":["id"],"additionalProperties":false}`
	return catalog(t,
		tool(t, "mcp__orders__find", "Find orders", `{"type":"object","properties":{"query":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20}},"required":["query"],"additionalProperties":false}`,
			`{"type":"object","properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/Row"}}},"required":["rows"],"additionalProperties":false,"$defs":{"Row":`+row+`}}`),
		tool(t, "mcp__orders__save", "Save rows", `{"type":"object","properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/Row"}}},"$defs":{"Row":`+row+`}}`, ""),
		tool(t, "tree", "", `{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"additionalProperties":false}`, `{"$ref":"#/$defs/json","$defs":{"json":{"anyOf":[{"type":"string"},{"type":"object","additionalProperties":{"$ref":"#/$defs/json"}}]}}}`),
		tool(t, "web-search", "Search the web", `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`, `{"type":"array","items":{"type":["string","null"]}}`),
	)
}

func TestGolden(t *testing.T) {
	c := exampleCatalog(t)
	checkSyntax(t, c.Declarations())
	for name, text := range map[string]string{
		"declarations.ts":          c.Declarations(),
		"instructions.md":          c.Instructions(PromptOptions{}),
		"instructions-parallel.md": c.Instructions(PromptOptions{Parallel: 8, Input: true}),
		"incomplete.md":            c.Prompt(PromptOptions{Budget: 100}),
		"run_code.json":            TransportSchema().String() + "\n",
		"run_code.md":              ToolDescription + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; run the test with -update to make it", err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("%s (-want +got; -update accepts it):\n%s", path, diff)
			}
		})
	}
}
