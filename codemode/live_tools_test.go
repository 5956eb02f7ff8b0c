package codemode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// mock is a tool of a real server with a body made from its schemas.
type mock struct {
	def         *tools.Definition
	args, value string // what it is called with, and what it answers
}

// liveMocks are the tools of real MCP servers, by server.
func liveMocks(t *testing.T) map[string][]mock {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "mcp-tools"), "live", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no lists of tools: %v", err)
	}
	servers := map[string][]mock{}
	for _, file := range files {
		var list struct {
			Tools []struct {
				Name, Description         string
				InputSchema, OutputSchema tools.JSON
			}
		}
		if err := json.Unmarshal(corpus.ReadFile(t, "mcp-tools", filepath.Join("live", filepath.Base(file))), &list); err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, x := range list.Tools {
			m := mock{args: made(t, x.InputSchema), value: tools.StringJSON("the answer of " + x.Name).String()}
			if !x.OutputSchema.IsZero() {
				m.value = made(t, x.OutputSchema)
			}
			m.def = &tools.Definition{
				Name: "mcp__" + server + "__" + x.Name, Description: x.Description, Input: x.InputSchema, Output: x.OutputSchema,
				Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
					if got := run.Args().String(); got != m.args {
						return tools.Result{}, fmt.Errorf("the body got %s, want %s", got, m.args)
					}
					return tools.Result{Value: tools.MustJSON(m.value)}, nil
				},
			}
			servers[server] = append(servers[server], m)
		}
	}
	return servers
}

// made is the text of a value that fits a schema, with every property it names.
func made(t *testing.T, schema tools.JSON) string {
	t.Helper()
	var root any
	if err := json.Unmarshal(schema.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(maker{t, root}.value(root, 0))
	if err != nil {
		t.Fatal(err)
	}
	return tools.MustJSON(string(text)).String()
}

// maker makes values by the keywords that the lists have.
type maker struct {
	t    *testing.T
	root any
}

// fullDepth is the depth up to which optional properties and elements are made;
// behind it recursion ends.
const fullDepth = 6

func (m maker) value(schema any, depth int) any {
	s, _ := schema.(map[string]any) // true and {}: anything
	if target, ok := s["$ref"].(string); ok {
		return m.value(m.target(target), depth+1)
	}
	if constant, ok := s["const"]; ok {
		return constant
	}
	if values, ok := s["enum"].([]any); ok {
		return values[0]
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches, ok := s[keyword].([]any); ok {
			return m.value(branches[0], depth+1)
		}
	}
	switch typ := s["type"].(type) {
	case string:
		return m.typed(s, typ, depth)
	case []any:
		return m.typed(s, typ[0].(string), depth)
	}
	if s["properties"] != nil {
		return m.typed(s, "object", depth)
	}
	return "anything"
}

// target follows a pointer into the schema.
func (m maker) target(reference string) any {
	at := m.root
	for _, step := range strings.Split(reference, "/")[1:] {
		at = at.(map[string]any)[step]
	}
	if at == nil {
		m.t.Fatalf("the reference %s leads nowhere", reference)
	}
	return at
}

func (m maker) typed(s map[string]any, typ string, depth int) any {
	switch typ {
	case "object":
		return m.object(s, depth)
	case "array":
		least, _ := s["minItems"].(float64)
		if depth < fullDepth {
			least = max(least, 1)
		}
		items := make([]any, int(least))
		for i := range items {
			items[i] = m.value(s["items"], depth+1)
		}
		return items
	case "number", "integer":
		return bounded(s)
	case "boolean":
		return true
	case "null":
		return nil
	}
	texts := map[any]string{"uri": "https://example.org/a?b=c#d", "uuid": "00000000-0000-4000-8000-000000000000",
		"date": "2024-02-29", "date-time": "2024-02-29T12:00:00Z", "email": "a@example.org"}
	if text, ok := texts[s["format"]]; ok {
		return text
	}
	return "täxt \"quoted\"\n"
}

// bounded is a number that fits its bounds.
func bounded(s map[string]any) float64 {
	least, hasLeast := s["minimum"].(float64)
	most, hasMost := s["maximum"].(float64)
	switch {
	case hasMost:
		return most
	case hasLeast:
		return least
	}
	return math.Pow(2, 40)
}

func (m maker) object(s map[string]any, depth int) map[string]any {
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for key, sub := range properties {
		if depth < fullDepth || slices.Contains(required, any(key)) {
			object[key] = m.value(sub, depth+1)
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok && depth < fullDepth {
		object["another"] = m.value(more, depth+1)
	}
	return object
}

// definitions are the tools' definitions.
func definitions(mocks []mock) []*tools.Definition {
	var defs []*tools.Definition
	for _, m := range mocks {
		defs = append(defs, m.def)
	}
	return defs
}

// TestLiveTools: a program calls every tool of a real server by its short form
// and by its exact name, with all arguments its schema names.
func TestLiveTools(t *testing.T) {
	for server, mocks := range liveMocks(t) {
		isolations := []codemode.Isolation{codemode.IsolationInProcess}
		if server == "notion" { // it has the largest schemas
			isolations = append(isolations, codemode.IsolationWorker)
		}
		for _, isolation := range isolations {
			t.Run(fmt.Sprint(server, " ", isolation), func(t *testing.T) {
				reg := registry(t, definitions(mocks)...)
				catalog, notes, err := bindings.New(reg.All())
				if err != nil || len(notes) > 0 {
					t.Fatalf("notes %q, error %v", notes, err)
				}
				program, want := strings.Builder{}, []string{}
				program.WriteString("const values = {};\n")
				for _, m := range mocks {
					found, err := catalog.Describe(m.def.Name)
					if err != nil {
						t.Fatal(err)
					}
					if found.Call == "tools."+m.def.Name {
						t.Errorf("%s has no short form", m.def.Name)
					}
					fmt.Fprintf(&program, "values[%[1]q] = [await %[2]s(%[3]s), await tools[%[1]q](%[3]s)];\n", m.def.Name, found.Call, m.args)
					want = append(want, fmt.Sprintf(`%q:[%s,%s]`, m.def.Name, m.value, m.value))
				}
				program.WriteString("return values;\n")
				cm := open(t, pipeline.New(reg, nil), &codemode.Options{Isolation: isolation})
				got := succeed(t, cm, program.String())
				if diff := cmp.Diff(`{"logs":[],"result":{`+strings.Join(want, ",")+`}}`, got); diff != "" {
					t.Errorf("value (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestLiveToolsAreFound: among the tools of its server, and among those of all
// servers, a program finds each tool first by its own name.
func TestLiveToolsAreFound(t *testing.T) {
	lists := liveMocks(t)
	lists["all"] = slices.Concat(slices.Collect(maps.Values(lists))...)
	for server, mocks := range lists {
		t.Run(server, func(t *testing.T) {
			cm := open(t, pipeline.New(registry(t, definitions(mocks)...), nil), &codemode.Options{Isolation: codemode.IsolationInProcess})
			for _, m := range mocks {
				full := m.def.Name
				_, own, _ := strings.Cut(strings.TrimPrefix(full, "mcp__"), "__")
				queries := []string{full}
				if server != "all" { // two servers may have a tool of one name
					queries = append(queries, own, strings.NewReplacer("_", " ", "-", " ").Replace(own))
				}
				for _, query := range queries {
					got := succeed(t, cm, fmt.Sprintf(`return (await catalog.search({ query: %q, limit: 1 })).matches[0]?.name`, query))
					if want := fmt.Sprintf(`{"logs":[],"result":%q}`, full); got != want {
						t.Errorf("the first match of %q is %s, want %s", query, got, want)
					}
				}
				got := succeed(t, cm, fmt.Sprintf(`const m = await catalog.describe(%q); return [m.name, (await catalog.describe(m.call)).name, m.declaration.includes("Tool")]`, full))
				if want := fmt.Sprintf(`{"logs":[],"result":[%q,%q,true]}`, full, full); got != want {
					t.Errorf("catalog.describe gives %s, want %s", got, want)
				}
			}
		})
	}
}
