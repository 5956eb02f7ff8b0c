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

// stockTools are two tools whose declarations DSH's own generator printed the
// way TestLayout expects.
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
	const want = `type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

interface ToolArgsMap {
  /** Append a line to the shift notebook. */
  "note.add": {
    text: string;
    level?: "info" | "urgent";
  };
  /** Find one article across the warehouses. */
  stock_lookup: {
    /** Stock keeping unit */
    sku: string;
    "ware-house"?: "north" | "south";
    tags?: (string | number)[];
  } & Record<string, JsonValue>;
}

interface ToolOutputMap {
  "note.add": null;
  stock_lookup: {
    found: boolean;
    rows: {
      qty: number;
    }[];
    note?: string | null;
    extra?: JsonValue;
  };
}

type ToolName = keyof ToolArgsMap;
`
	list := stockTools(t)
	got := catalog(t, list...).Declarations()
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
	slices.Reverse(list)
	if reversed := catalog(t, list...).Declarations(); reversed != got {
		t.Errorf("the order of registration changes the text (-first +reversed):\n%s", cmp.Diff(got, reversed))
	}
}

func TestNoTools(t *testing.T) {
	text := catalog(t).Declarations()
	checkSyntax(t, text)
	for _, want := range []string{"interface ToolArgsMap {}\n", "interface ToolOutputMap {}\n", "declare class ToolCallError extends Error {", "declare const tools: "} {
		if !strings.Contains(text, want) {
			t.Errorf("declarations lack %q:\n%s", want, text)
		}
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
