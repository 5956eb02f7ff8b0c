package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/internal/schema"
)

// refused are the groups of the official suite whose schemas are not accepted,
// with what the refusal says.
var refused = map[string]string{
	"refRemote.json": "lies outside the schema and is not loaded",
}

// suiteGroup is one schema of the official suite with its cases.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestOfficialSuite checks every case of the JSON Schema test suite.
func TestOfficialSuite(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "json-schema-test-suite"), "draft7", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	cases, refusals := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			t.Run(name+"/"+g.Description, func(t *testing.T) {
				s, err := schema.Compile(asDraft7(string(g.Schema)))
				if err != nil {
					if want := refused[name]; want == "" || !strings.Contains(err.Error(), want) {
						t.Fatalf("Compile(%s): %v", g.Schema, err)
					}
					refusals++
					return
				}
				for _, c := range g.Tests {
					cases++
					problems := s.Check(string(c.Data), schema.Root{Name: "value"})
					if (len(problems) == 0) != c.Valid {
						t.Errorf("%s: %s\nagainst %s\nvalid must be %v, problems: %v", c.Description, c.Data, g.Schema, c.Valid, problems)
					}
					checkWords(t, problems)
				}
			})
		}
	}
	if cases < 850 || refusals > 20 {
		t.Errorf("%d cases checked, %d schemas refused", cases, refusals)
	}
}

// asDraft7 names the draft a schema of the suite is meant for.
func asDraft7(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), "{"); ok && !strings.Contains(text, `"$schema"`) {
		sep := ","
		if strings.HasPrefix(strings.TrimSpace(rest), "}") {
			sep = ""
		}
		return `{"$schema":"http://json-schema.org/draft-07/schema#"` + sep + rest
	}
	return text
}

// checkWords holds for every problem text.
func checkWords(t *testing.T, problems []schema.Problem) {
	t.Helper()
	for _, p := range problems {
		for _, jargon := range []string{"schema:///", "jsonschema", "file:", "%!", "additionalProperties", "<nil>", "&{"} {
			if strings.Contains(p.Text, jargon) {
				t.Errorf("problem %q contains %q", p.Text, jargon)
			}
		}
		if p.Text == "" || strings.ContainsAny(p.Text, "\n\r") {
			t.Errorf("problem %q is not one line", p.Text)
		}
		if p.Pointer != "" && !strings.HasPrefix(p.Pointer, "/") {
			t.Errorf("%q is no pointer", p.Pointer)
		}
	}
}

// TestPublicToolSchemas compiles the schemas public MCP servers send.
func TestPublicToolSchemas(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "mcp-tools"), "live", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	n := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var server struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(text, &server); err != nil {
			t.Fatal(err)
		}
		for _, tool := range server.Tools {
			for _, s := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
				if s == nil {
					continue
				}
				n++
				compiled, err := schema.Compile(string(s))
				if err != nil {
					t.Errorf("%s %s: %v", filepath.Base(file), tool.Name, err)
					continue
				}
				checkWords(t, compiled.Check(`{"no_such_argument":1}`, schema.Root{Name: "arguments", Arguments: true}))
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d schemas were found", n)
	}
}
