package bindings

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

// liveTools are the tools of real MCP servers, by server.
func liveTools(t testing.TB) map[string][]*tools.Tool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "mcp-tools"), "live", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no lists of tools: %v", err)
	}
	servers := map[string][]*tools.Tool{}
	for _, file := range files {
		var list struct {
			Tools []struct {
				Name         string          `json:"name"`
				Description  string          `json:"description"`
				InputSchema  json.RawMessage `json:"inputSchema"`
				OutputSchema json.RawMessage `json:"outputSchema"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(corpus.ReadFile(t, "mcp-tools", filepath.Join("live", filepath.Base(file))), &list); err != nil {
			t.Fatal(err)
		}
		server := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, x := range list.Tools {
			servers[server] = append(servers[server], tool(t, "mcp__"+server+"__"+x.Name, x.Description, string(x.InputSchema), string(x.OutputSchema)))
		}
	}
	return servers
}

// TestLiveTools: the tools of real servers become TypeScript that is shorter
// than their schemas and declares every one of them.
func TestLiveTools(t *testing.T) {
	var all []*tools.Tool
	for server, list := range liveTools(t) {
		all = append(all, list...)
		t.Run(server, func(t *testing.T) {
			c := catalog(t, list...)
			checkSyntax(t, c.Declarations())
			size := 0
			for _, x := range list {
				def := x.Definition()
				size += def.Input.Len() + def.Output.Len() + len(def.Description)
				if !strings.Contains(c.Declarations(), "\n"+quoteKey(strings.TrimPrefix(def.Name, "mcp__"+server+"__"))+": Tool") {
					t.Errorf("%s is not declared", def.Name)
				}
			}
			const frame = 800 // what does not depend on the tools
			if len(c.Declarations()) > size+frame {
				t.Errorf("%d bytes of schemas became %d bytes of declarations", size, len(c.Declarations()))
			}
			if strings.Contains(c.Declarations(), "see #") {
				t.Error("a reference inside a document was not found")
			}
		})
	}
	t.Run("all", func(t *testing.T) {
		c := catalog(t, all...)
		checkSyntax(t, c.Declarations())
		if len(c.Names()) != len(all) {
			t.Errorf("%d of %d tools are bound", len(c.Names()), len(all))
		}
		slices.Reverse(all)
		if again := catalog(t, all...); again.Declarations() != c.Declarations() {
			t.Errorf("the order of the tools changes the text:\n%s", cmp.Diff(c.Declarations(), again.Declarations()))
		}
		schemas := 0 // without output schemas
		for _, x := range all {
			def := x.Definition()
			schemas += len(def.Name) + len(def.Description) + def.Input.Len()
		}
		if most := schemas * 6 / 10; len(c.Declarations()) > most {
			t.Errorf("%d bytes of names, descriptions and input schemas became %d bytes of declarations, want at most %d", schemas, len(c.Declarations()), most)
		}
	})
}

// checkDescriptions asserts that a text has every description of a schema.
func checkDescriptions(t testing.TB, schema tools.JSON, text string) {
	t.Helper()
	for n := range newSurvey(newDocument(schema)).arrivals {
		if description := oneLine(n.str("description")); !strings.Contains(text, description) {
			t.Errorf("the description %q is lost of %.300s", description, n.text)
		}
	}
}

// TestNoDescriptionIsLost: whatever a description stands beside, a model reads it.
func TestNoDescriptionIsLost(t *testing.T) {
	for _, list := range liveTools(t) {
		text := catalog(t, list...).Declarations()
		for _, x := range list {
			def := x.Definition()
			if !strings.Contains(text, oneLine(def.Description)) {
				t.Errorf("the description of %s is lost", def.Name)
			}
			checkDescriptions(t, def.Input, text)
			checkDescriptions(t, def.Output, text)
		}
	}
	for name, schema := range openSchemas(t) {
		t.Run(name, func(t *testing.T) { checkDescriptions(t, schema, declareOutput(schema.String())) })
	}
}

// openSchemas are the named schemas of OpenAPI documents, each with all that it
// may refer to.
func openSchemas(t testing.TB) map[string]tools.JSON {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "openapi"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	schemas := map[string]tools.JSON{}
	for _, file := range files {
		document, err := tools.ParseJSON(string(corpus.ReadFile(t, "openapi", filepath.Base(file))))
		if err != nil {
			t.Fatal(err)
		}
		root := parse(document)
		for _, place := range []string{"/components/schemas", "/definitions"} {
			named := root.at(place)
			if named == nil {
				continue
			}
			holder, _, _ := strings.Cut(place[1:], "/")
			for _, name := range named.names {
				schemas[filepath.Base(file)+"/"+name] = tools.MustJSON(`{"$ref":"#` + place + "/" + name + `",` +
					quoteName(holder) + ":" + root.get(holder).text + "}")
			}
		}
	}
	return schemas
}

// suiteSchemas are the schemas of the official test suite, by file and
// description.
func suiteSchemas(t testing.TB) map[string]tools.JSON {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "json-schema-test-suite"), "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	schemas := map[string]tools.JSON{}
	for _, file := range files {
		var groups []struct {
			Description string     `json:"description"`
			Schema      tools.JSON `json:"schema"`
		}
		path := filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		if err := json.Unmarshal(corpus.ReadFile(t, "json-schema-test-suite", path), &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			schemas[path+"/"+g.Description] = g.Schema
		}
	}
	return schemas
}

// TestSchemaSuite: every schema of the official suite becomes TypeScript,
// whether it is a sensible one for a tool or not.
func TestSchemaSuite(t *testing.T) {
	for name, schema := range suiteSchemas(t) {
		t.Run(name, func(t *testing.T) {
			text := declareAll(tools.Definition{Name: "t", Input: schema, Output: schema})
			checkSyntax(t, text)
			checkSize(t, schema.String()+schema.String(), text)
		})
	}
}

func FuzzDeclare(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"*/"},"b-c":{"$ref":"#/$defs/x"}},"required":["a","z"],"$defs":{"x":{"anyOf":[{"$ref":"#"},{"const":"\ud800"}]}}}`,
		`{"allOf":[{"$ref":"#/definitions/a"},{"enum":[1,"a",{},[]]}],"definitions":{"a":{"$id":"urn:x","items":[{"$ref":"#"}],"additionalItems":{"nullable":true,"type":"integer"}}}}`,
		`{"oneOf":[{"type":"string","minLength":1},{"prefixItems":[true,false],"minItems":1,"items":{"patternProperties":{"^":{}}}}],"not":{},"if":{}}`,
		`{"$id":"http://[::1","$anchor":"a","$dynamicRef":"#a","properties":{"__proto__":{"$ref":"%zz"}}}`,
	} {
		f.Add(seed, "tool.name", "A\ndescription */")
	}
	f.Fuzz(func(t *testing.T, text, name, description string) {
		schema, err := tools.ParseJSON(text)
		if err != nil || name == "" {
			return
		}
		def := tools.Definition{Name: name, Description: description, Input: schema, Output: schema}
		declarations := declareAll(def)
		if again := declareAll(def); again != declarations {
			t.Fatalf("two texts of one tool:\n%s\n%s", declarations, again)
		}
		checkSize(t, schema.String()+schema.String()+name+name+description, declarations)
		checkSyntax(t, declarations)
	})
}
