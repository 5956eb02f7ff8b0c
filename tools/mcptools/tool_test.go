package mcptools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

// testServer is a server nobody starts.
func testServer(t *testing.T, cfg Server) *server {
	t.Helper()
	cfg.Command = "none"
	c, err := newClient(Config{Servers: map[string]Server{"s": cfg}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.servers[0]
}

// listed is what became of a list of tools.
type listed struct {
	Names []string
	Left  []Omission
	Notes []string
}

func importList(t *testing.T, texts ...string) (map[string]*imported, listed) {
	t.Helper()
	now, left, notes := testServer(t, Server{}).importAll(texts, nil)
	return now, listed{sortedKeys(now), left, notes}
}

func TestImport(t *testing.T) {
	const ok = `{"name":"ok","inputSchema":{"type":"object"}}`
	tests := []struct {
		name string
		list []string
		want listed
	}{
		{"no schema", []string{`{"name":"t"}`}, listed{Names: []string{"mcp__s__t"}}},
		{"null schemas", []string{`{"name":"t","inputSchema":null,"outputSchema":null,"annotations":null}`}, listed{Names: []string{"mcp__s__t"}}},
		{"name that is no identifier", []string{`{"name":"a.b/c d"}`}, listed{Names: []string{"mcp__s__a.b/c d"}}},
		{"name with __", []string{`{"name":"a__b"}`}, listed{Names: []string{"mcp__s__a__b"}}},
		{"no name", []string{`{"description":"?"}`, ok}, listed{Names: []string{"mcp__s__ok"}, Left: []Omission{{"number 1 of the list", "it has no name"}}}},
		{"no tool", []string{`17`, ok}, listed{Names: []string{"mcp__s__ok"}, Left: []Omission{{"number 1 of the list", "its declaration is no object"}}}},
		{"key twice", []string{`{"name":"t","inputSchema":{"type":"object","type":"array"}}`, ok},
			listed{Names: []string{"mcp__s__ok"}, Left: []Omission{{"number 1 of the list", "its declaration: invalid JSON at byte 43 (/inputSchema/type): the property name is given twice; send it once"}}}},
		{"name twice", []string{ok, ok}, listed{Names: []string{"mcp__s__ok"}, Left: []Omission{{"ok", "the server lists another tool of that name before it"}}}},
		{"input schema that cannot be compiled", []string{`{"name":"t","inputSchema":{"$ref":"https://example.org/schema.json"}}`, ok},
			listed{Names: []string{"mcp__s__ok"}, Left: []Omission{{"t", `tool "mcp__s__t": input schema: `}}}},
		{"output schema that cannot be compiled", []string{`{"name":"t","outputSchema":{"type":"nothing"}}`, ok},
			listed{Names: []string{"mcp__s__ok", "mcp__s__t"}, Notes: []string{`mcp__s__t has no output type: tool "mcp__s__t": output schema: `}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := importList(t, tt.list...)
			// Reasons of other packages are compared by their beginning.
			for i := range got.Left {
				if i < len(tt.want.Left) && strings.HasPrefix(got.Left[i].Reason, tt.want.Left[i].Reason) {
					got.Left[i].Reason = tt.want.Left[i].Reason
				}
			}
			for i := range got.Notes {
				if i < len(tt.want.Notes) && strings.HasPrefix(got.Notes[i], tt.want.Notes[i]) {
					got.Notes[i] = tt.want.Notes[i]
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("import (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemasAreKeptAsSent(t *testing.T) {
	const schema = `{"type":"object","properties":{"z":{"type":"integer","maximum":9007199254740993},"a":{"type":"string"}},"required":["z"]}`
	now, _ := importList(t, `{"name":"t","description":"Do it.","inputSchema":`+schema+`,"outputSchema":`+schema+`}`)
	def := now["mcp__s__t"].def
	if def.Input.String() != schema || def.Output.String() != schema || def.Description != "Do it." {
		t.Errorf("definition = %q\ninput  %s\noutput %s\nwant   %s", def.Description, def.Input, def.Output, schema)
	}
}

func TestTrustedAnnotations(t *testing.T) {
	tests := []struct {
		name, hints string
		want        tools.Annotations
	}{
		{"none", `null`, tools.Annotations{Destructive: true, OpenWorld: true}},
		{"read only", `{"readOnlyHint":true}`, tools.Annotations{ReadOnly: true, OpenWorld: true}},
		{"harmless", `{"destructiveHint":false,"openWorldHint":false,"idempotentHint":true}`, tools.Annotations{Idempotent: true}},
		{"nonsense", `{"readOnlyHint":"yes"}`, tools.Annotations{Destructive: true, OpenWorld: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, _, _ := testServer(t, Server{Trusted: true}).importAll([]string{`{"name":"t","annotations":` + tt.hints + `}`}, nil)
			if got := now["mcp__s__t"].def.Annotations; got != tt.want {
				t.Errorf("annotations = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestUnwrappedSchema(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"marked", `{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"],"x-fastmcp-wrap-result":true}`, `{"type":"integer"}`},
		{"definitions go along", `{"$defs":{"D":{"type":"string"}},"properties":{"result":{"type":"array","items":{"$ref":"#/$defs/D"}}},"x-fastmcp-wrap-result":true}`,
			`{"$defs":{"D":{"type":"string"}},"type":"array","items":{"$ref":"#/$defs/D"}}`},
		{"anything", `{"properties":{"result":{}},"x-fastmcp-wrap-result":true}`, `{}`},
		{"anything with definitions", `{"$defs":{},"properties":{"result":{}},"x-fastmcp-wrap-result":true}`, `{"$defs":{}}`},
		{"true", `{"properties":{"result":true},"x-fastmcp-wrap-result":true}`, ``},
		{"not marked", `{"type":"object","properties":{"result":{"type":"integer"}}}`, `{"type":"object","properties":{"result":{"type":"integer"}}}`},
		{"marked otherwise", `{"type":"object","properties":{"result":{}},"x-fastmcp-wrap-result":"true"}`, `{"type":"object","properties":{"result":{}},"x-fastmcp-wrap-result":"true"}`},
		{"nothing to unwrap", `{"type":"object","x-fastmcp-wrap-result":true}`, `{"type":"object","x-fastmcp-wrap-result":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now, got := importList(t, `{"name":"t","outputSchema":`+tt.schema+`}`)
			if len(got.Notes)+len(got.Left) > 0 {
				t.Fatalf("import: %+v", got)
			}
			if got := now["mcp__s__t"].def.Output.String(); got != tt.want {
				t.Errorf("output schema = %s\nwant            %s", got, tt.want)
			}
		})
	}
}

// TestRealLists: every tool of a dozen public servers can be imported as it is.
func TestRealLists(t *testing.T) {
	dir := filepath.Join(corpus.Dir(t, "mcp-tools"), "live")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("no lists in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(file.Name(), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			var list struct{ Tools []json.RawMessage }
			if err := json.Unmarshal(text, &list); err != nil || len(list.Tools) == 0 {
				t.Fatalf("%d tools: %v", len(list.Tools), err)
			}
			var texts []string
			for _, tool := range list.Tools {
				texts = append(texts, string(tool))
			}
			_, got := importList(t, texts...)
			if len(got.Names) != len(texts) || got.Left != nil || got.Notes != nil {
				t.Errorf("%d of %d tools; left out %v, notes %v", len(got.Names), len(texts), got.Left, got.Notes)
			}
		})
	}
}
