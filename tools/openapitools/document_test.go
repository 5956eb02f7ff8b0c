package openapitools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

// document is the text of a document with the given paths and components.
func documentText(version, paths, components string) []byte {
	return fmt.Appendf(nil, `{"openapi":%q,"info":{"title":"t","version":"1"},"paths":%s,"components":%s}`, version, paths, components)
}

// build imports a document that must load.
func build(t testing.TB, text []byte, change func(*Options)) *Set {
	t.Helper()
	opts := Options{Name: "x", BaseURL: "https://api.example/v1"}
	if change != nil {
		change(&opts)
	}
	s, err := New(text, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// only is the one tool of a set that skipped nothing.
func only(t testing.TB, s *Set) *tools.Definition {
	t.Helper()
	if len(s.Tools()) != 1 || len(s.Skipped()) > 0 {
		t.Fatalf("%d tools, skipped %v; want one tool", len(s.Tools()), s.Skipped())
	}
	return s.Tools()[0]
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

func TestRefusedDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", ``, "the document cannot be read as YAML"},
		{"a text", `"openapi"`, "the document is no object, so it is no OpenAPI document"},
		{"no version", `{"info":{}}`, `the document has no text "openapi" with a version`},
		{"a version that is no text", `{"openapi":3.1}`, `the document has no text "openapi" with a version`},
		{"1.2", `{"swagger":"1.2"}`, `the document is Swagger "1.2"; OpenAPI 3.0 and 3.1 and Swagger 2.0 are read`},
		{"2.0 that is none", `{"swagger":"2.0","paths":[]}`, "the document is Swagger 2.0 and cannot be converted: "},
		{"2.0 that refers elsewhere", `{"swagger":"2.0","paths":{"/a":{"get":{"responses":{"200":{"description":"","schema":{"$ref":"other.json#/x"}}}}}}}`, "the document is Swagger 2.0 and cannot be converted: "},
		{"3.2", `{"openapi":"3.2.0"}`, `the document is OpenAPI "3.2.0"; 3.0 and 3.1 are read`},
		{"31", `{"openapi":"31.0.0"}`, `the document is OpenAPI "31.0.0"; 3.0 and 3.1 are read`},
		{"a dialect", `{"openapi":"3.1.0","jsonSchemaDialect":"http://json-schema.org/draft-07/schema#","paths":{}}`, "the document's schemas are of the dialect"},
		{"no paths", `{"openapi":"3.1.0","webhooks":{}}`, "the document has no paths, so it describes no operation"},
		{"a name twice", `{"openapi":"3.1.0","openapi":"3.0.0"}`, "invalid JSON at byte 19 (/openapi): the property name is given twice"},
		{"broken JSON", `{"openapi":`, "invalid JSON at byte"},
		{"too large", strings.Repeat(" ", maxDocument+1), "the document has 33554433 bytes; the largest that is read has 32 MiB"},
		{"YAML with an alias that grows", yamlBomb, "the document is larger than 32 MiB when its aliases are followed"},
		{"YAML with an alias of itself", "a: &a [*a]\n", "an alias"},
		{"YAML with a merge", "openapi: 3.1.0\na: &a {b: 1}\nc: {<<: *a}\n", "line 3: a name must be a text; merging (<<) and composite names are not supported"},
		{"YAML with a list as a name", "[a]: b\n", "a name must be a text"},
		{"YAML with a number of its own", "openapi: 3.1.0\na: 0x1F\n", "line 2: the number 0x1F is not written as in JSON; write it so, or quote it"},
		{"YAML with a number of no size", "openapi: 3.1.0\na: .inf\n", "line 2: the number .inf is not written as in JSON"},
		{"YAML with a name twice", "openapi: 3.1.0\npaths: {}\npaths: {}\n", "paths"},
		{"two YAML documents", "openapi: 3.1.0\n---\nopenapi: 3.1.0\n", "the document holds several YAML documents; give one"},
		{"broken YAML", "a: [\n", "the document cannot be read as YAML"},
		{"too many operations", manyOperations(maxOperations + 1), "the document has 5001 operations; the most that are read are 5000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := New([]byte(tt.text), Options{Name: "x", BaseURL: "https://api.example"})
			if s != nil || err == nil || !strings.HasPrefix(err.Error(), `OpenAPI tools "x": `) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error that says %q", err, tt.want)
			}
		})
	}
}

// yamlBomb is some hundred bytes that stand for some gigabytes.
var yamlBomb = func() string {
	text := "a0: &a0 [xxxxxxxxxx]\n"
	for i := 1; i < 12; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return text
}()

func manyOperations(n int) string {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.1.0","paths":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"/p%d":{"get":{}}`, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

// TestManyValues shows that a document of few bytes and very many values is refused
// before it costs memory.
func TestManyValues(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"JSON":            `{"openapi":"3.1.0","paths":{},"x":[` + strings.Repeat("0,", maxMarks) + `0]}`,
		"YAML":            "openapi: 3.1.0\npaths: {}\nx: [" + strings.Repeat("0,", maxMarks) + "0]\n",
		"YAML, lines":     "openapi: 3.1.0\npaths: {}\nx:\n" + strings.Repeat("-\n", maxMarks),
		"YAML, one line":  "openapi: 3.1.0\npaths: {}\nx:\n " + strings.Repeat("- ", maxMarks) + "0\n",
		"YAML, flow keys": "openapi: 3.1.0\npaths: {}\nx: " + strings.Repeat("{? ", maxMarks) + "\n",
	} {
		if _, err := load([]byte(text)); err == nil || !strings.Contains(err.Error(), "values; the most that are read are 2000000") {
			t.Errorf("%s: %.200v, want a refusal for its values", name, err)
		}
	}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	const document = `
openapi: 3.1.0
info: {title: t, version: 2026-01-02}
paths:
  /a/{id}:
    get:
      operationId: getA
      parameters:
        - {name: id, in: path, schema: &id {type: integer, maximum: 9007199254740993, multipleOf: 1.0}}
        - {name: yes, in: query, schema: *id}
        - {name: at, in: query, schema: {const: 2026-01-02, description: 'yes'}}
        - {name: none, in: query, schema: {enum: [null, ~, true, False, "no", off]}}
      responses:
        200: {description: d, content: {application/json: {schema: {type: string}}}}
`
	def := only(t, build(t, []byte(document), nil))
	check(t, "input", def.Input.String(), `{"type":"object","properties":{"id":{"type":"integer","maximum":9007199254740993,"multipleOf":1.0},`+
		`"yes":{"type":"integer","maximum":9007199254740993,"multipleOf":1.0},"at":{"description":"yes","const":"2026-01-02"},`+
		`"none":{"enum":[null,null,true,false,"no","off"]}},"required":["id"],"additionalProperties":false}`)
	check(t, "output", def.Output.String(), `{"type":"string"}`)
}

// TestJSONIsYAML: a document in JSON is the same document if it is read as YAML.
func TestJSONIsYAML(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "openapi"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, file := range files {
		text := corpus.ReadFile(t, "openapi", filepath.Base(file))
		want, err := tools.ParseJSON(string(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := yamlToJSON(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		check(t, file, got, want.String())
	}
}

// TestBudget: schemas that many tools share cannot be written without end, and
// types go before tools do.
func TestBudget(t *testing.T) {
	t.Parallel()
	text := documentText("3.1.0", `{"/a":{"get":{"parameters":[{"name":"p","in":"query","schema":{"$ref":"#/components/schemas/A"}}],"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}},
		"/b":{"get":{"parameters":[{"name":"p","in":"query","schema":{"$ref":"#/components/schemas/A"}}]}}}`, `{"schemas":{"A":{"const":"`+strings.Repeat("x", 1000)+`"}}}`)
	for _, tt := range []struct {
		name   string
		change func(*Set)
		output string
		reason string
	}{
		{"for one and a half", func(s *Set) { s.left = 1500 }, `{"$defs":{"A":true},"$ref":"#/$defs/A"}`, "the schemas of all tools together are larger than 32 MiB"},
		{"no time", func(s *Set) { s.deadline = time.Now().Add(-time.Hour) }, "", "the operations before it took longer than 2m0s to read"},
	} {
		s, err := prepare(text, Options{Name: "x", BaseURL: "https://api.example"})
		if err != nil {
			t.Fatal(err)
		}
		tt.change(s)
		if err := s.importAll(); err != nil {
			t.Fatal(err)
		}
		if len(s.Skipped()) == 0 || !strings.Contains(s.Skipped()[0].Reason, tt.reason) {
			t.Errorf("%s: skipped %v", tt.name, s.Skipped())
		}
		if tt.output != "" {
			check(t, tt.name, s.Tools()[0].Output.String(), tt.output)
		}
	}
}

// TestLargeResponses: of a type that is too large a model gets the beginning, and
// the operator is told.
func TestLargeResponses(t *testing.T) {
	t.Parallel()
	const rest = `{"type":"object","properties":{"a":{"$ref":"#/components/schemas/B"},"b":{"$ref":"#/components/schemas/C"},"c":{"$ref":"#/components/schemas/D"}}}`
	large := `{"description":"` + strings.Repeat("x", maxOutput) + `"}`
	for schema, want := range map[string]string{
		`{"$ref":"#/components/schemas/A"}`: `{"$defs":{"A":{"type":"object","properties":{"a":{"$ref":"#/$defs/B"},"b":{"$ref":"#/$defs/C"},"c":{"$ref":"#/$defs/D"}}},"B":{"type":"string"},"C":true,"D":true},"$ref":"#/$defs/A"}`,
		large:                               ``,
	} {
		s := build(t, documentText("3.1.0", `{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":`+schema+`}}}}}}}`,
			`{"schemas":{"A":`+rest+`,"B":{"type":"string"},"C":`+large+`,"D":{"type":"string"}}}`), nil)
		check(t, "output", only(t, s).Output.String(), want)
		check(t, "notes", s.Notes(), []string{"tools whose values have a type in part only, since the document's is larger than 16 KiB: 1"})
	}
}

// TestSkipped: each operation that becomes no tool, and why. The other one of
// its document does.
func TestSkipped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, path, method, operation, want string }{
		{"a path in a file", "/a", "$ref", `"other.json"`, `it refers to "other.json", which lies outside the document and is not loaded`},
		{"no object", "/a", "get", `[]`, "it is no object"},
		{"TRACE", "/a", "trace", `{}`, "TRACE sends credentials back and is not supported"},
		{"servers of its own", "/a", "get", `{"servers":[{"url":"https://other.example"}]}`, "it has servers of its own, and requests go to the base URL alone"},
		{"a path without slash", "a", "get", `{}`, "its path does not begin with /"},
		{"a path with a query", "/a?b", "get", `{}`, "its path holds }, ? or #, which no path does"},
		{"a path with dot segments", "/a/../b", "get", `{}`, `its path has the segment "..", which leads to another path`},
		{"a path with escaped dots", "/a/%2e%2E/b", "get", `{}`, `its path has the segment "..", which leads to another path`},
		{"a path with a space", "/a b", "get", `{}`, "its path holds characters that must be escaped"},
		{"a path to another host", "//evil.example/a", "get", `{"x":1}`, ""},
		{"an open brace", "/a/{b", "get", `{}`, "its path has a brace without a partner, or no name in braces"},
		{"empty braces", "/a/{}", "get", `{}`, "its path has a brace without a partner, or no name in braces"},
		{"a nameless part", "/a/{b}", "get", `{}`, "its path has {b}, and no parameter says what that is"},
		{"a parameter elsewhere", "/a", "get", `{"parameters":[{"name":"p","in":"body"}]}`, `the parameter "p" in body: a parameter stands in path, query, header or cookie`},
		{"a parameter without name", "/a", "get", `{"parameters":[{"in":"query"}]}`, `the parameter "" in query: it has no name`},
		{"a parameter with a style of elsewhere", "/a", "get", `{"parameters":[{"name":"p","in":"query","style":"matrix"}]}`,
			`the parameter "p" in query: the style "matrix" is not one of ["form" "spaceDelimited" "pipeDelimited" "deepObject"]`},
		{"a parameter of XML", "/a", "get", `{"parameters":[{"name":"p","in":"query","content":{"application/xml":{}}}]}`, `the parameter "p" in query: its content is not JSON`},
		{"a header of the connection", "/a", "get", `{"parameters":[{"name":"Host","in":"header"}]}`, `the parameter "Host" in header: the name is set by the connection; leave Host out`},
		{"a cookie that is none", "/a", "get", `{"parameters":[{"name":"a=b","in":"cookie"}]}`, `the parameter "a=b" in cookie: it is no name of a cookie`},
		{"names that differ in case", "/a", "get", `{"parameters":[{"name":"Filter","in":"query"},{"name":"filter","in":"query"}]}`, `two of its arguments would be called "query_filter" but for case`},
		{"a file", "/a", "post", `{"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object"}}}}}`, `its body: it is ["multipart/form-data"]; JSON and forms are supported`},
		{"no content", "/a", "post", `{"requestBody":{}}`, `its body: it is none; JSON and forms are supported`},
		{"GET with a body", "/a", "get", `{"requestBody":{"content":{"application/json":{}}}}`, `its body: servers ignore or refuse that of a GET`},
		{"a reference to a file", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$ref":"other.json#/x"}}]}`,
			`the parameter "p" in query: it refers to "other.json#/x", which lies outside the document and is not loaded`},
		{"a reference to an address", "/a", "post", `{"requestBody":{"$ref":"http://169.254.169.254/x.yaml"}}`,
			`its body: it refers to "http://169.254.169.254/x.yaml", which lies outside the document and is not loaded`},
		{"a response in a file", "/a", "get", `{"responses":{"200":{"$ref":"file:///etc/passwd"}}}`, `its response: it refers to "file:///etc/passwd", which lies outside the document and is not loaded`},
		{"a schema in a file, deep", "/a", "get", `{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Far"}}}}}}`,
			`its response: in "Far": it refers to "./far.json", which lies outside the document and is not loaded`},
		{"a reference to nothing", "/a", "get", `{"parameters":[{"$ref":"#/components/parameters/None"}]}`, `a parameter: it refers to "#/components/parameters/None", which the document does not have`},
		{"a reference by anchor", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$ref":"#anchor"}}]}`,
			`the parameter "p" in query: the reference "#anchor" is no pointer into the document such as #/components/schemas/Name`},
		{"references in a circle", "/a", "get", `{"parameters":[{"$ref":"#/components/parameters/Round"}]}`, "a parameter: more than 32 references lead from one to the next"},
		{"schemas that are one another", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$ref":"#/components/schemas/Round"}}]}`,
			`tool "mcp__x__get_a": input schema: the schema refers to itself without going into the value; a reference loop needs properties or items in between`},
		{"a reference that is no text", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$ref":1}}]}`, `the parameter "p" in query: a $ref is no text`},
		{"a schema that is no object", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":"string"}]}`, `the parameter "p" in query: a schema is "string" and no object`},
		{"$id", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$id":"https://a.example"}}]}`, `the parameter "p" in query: a schema has the keyword $id, which is not supported`},
		{"$dynamicRef", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"items":{"$dynamicRef":"#a"}}}]}`, `the parameter "p" in query: a schema has the keyword $dynamicRef, which is not supported`},
		{"a dialect", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"$schema":"http://json-schema.org/draft-04/schema#"}}]}`, `the parameter "p" in query: a schema is of the dialect`},
		{"no type", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"type":"file"}}]}`, `tool "mcp__x__get_a": input schema: `},
		{"a deep schema", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":` + strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200) + `}]}`,
			`the parameter "p" in query: a schema is nested deeper than 150 levels`},
		{"a large schema", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"description":"` + strings.Repeat("x", maxInput) + `"}}]}`,
			`the parameter "p" in query: its schema is larger than 256 KiB`},
		{"lists that are none", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"anyOf":{}}}]}`, `the parameter "p" in query: the keyword anyOf of a schema is no list`},
		{"properties that are none", "/a", "get", `{"parameters":[{"name":"p","in":"query","schema":{"properties":[]}}]}`, `the parameter "p" in query: the keyword properties of a schema is no object`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			paths := fmt.Sprintf(`{%q:{%q:%s},"/ok":{"get":{"operationId":"ok"}}}`, tt.path, tt.method, tt.operation)
			s := build(t, documentText("3.1.0", paths, `{
				"schemas":{"Far":{"$ref":"./far.json"},"Round":{"$ref":"#/components/schemas/Round2"},"Round2":{"$ref":"#/components/schemas/Round"}},
				"parameters":{"Round":{"$ref":"#/components/parameters/Round"}}}`), nil)
			if tt.want == "" {
				if len(s.Skipped()) > 0 {
					t.Errorf("skipped: %v", s.Skipped())
				}
				return
			}
			if len(s.Tools()) != 1 || s.Tools()[0].Name != "mcp__x__ok" || len(s.Skipped()) != 1 {
				t.Fatalf("%d tools, skipped %v", len(s.Tools()), s.Skipped())
			}
			got := s.Skipped()[0]
			method := strings.ToUpper(tt.method)
			if tt.method == "$ref" { // of all operations of a path
				method = "*"
			}
			if got.Method != method || got.Path != tt.path || !strings.HasPrefix(got.Reason, tt.want) {
				t.Errorf("skipped %.400s, want the reason %q", got, tt.want)
			}
		})
	}
}

func TestSkippedString(t *testing.T) {
	t.Parallel()
	check(t, "with id", Skipped{"GET", "/a", "getA", "why"}.String(), "GET /a (getA): why")
	check(t, "without", Skipped{"GET", "/a", "", "why"}.String(), "GET /a: why")
}

// TestSchemas: what becomes of a schema in a request's body and in a response.
func TestSchemas(t *testing.T) {
	t.Parallel()
	const components = `{"schemas":{
		"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","readOnly":true},"name":{"type":"string"},"secret":{"type":"string","writeOnly":true},"parent":{"$ref":"#/components/schemas/Pet"}}},
		"a/b~c d%":{"type":"string"},
		"__proto__":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"$ref":"#/components/schemas/__proto__"}}},
		"ID":{"type":"string","readOnly":true}}}`
	for _, tt := range []struct{ name, version, schema, request, response string }{
		{"plain", "3.0.0", `{"type":"string","minLength":1,"maxLength":9007199254740993,"pattern":"^a","x-y":1,"xml":{},"externalDocs":{},"discriminator":{},"default":-0}`,
			`{"type":"string","minLength":1,"maxLength":9007199254740993,"pattern":"^a","default":-0}`, "="},
		{"nullable", "3.0.0", `{"type":"string","nullable":true,"description":"d"}`, `{"anyOf":[{"description":"d","type":"string"},{"type":"null"}]}`, "="},
		{"nullable enum", "3.0.0", `{"type":"string","enum":["a"],"nullable":true}`, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`, "="},
		{"nullable allOf", "3.0.0", `{"nullable":true,"allOf":[{"type":"object"}]}`, `{"anyOf":[{"allOf":[{"type":"object"}]},{"type":"null"}]}`, "="},
		{"nullable false", "3.0.0", `{"type":"string","nullable":false}`, `{"type":"string"}`, "="},
		{"several types", "3.1.0", `{"type":["string","null"],"const":"a","examples":["a"]}`, `{"type":["string","null"],"const":"a","examples":["a"]}`, "="},
		{"exclusive bounds of old", "3.0.0", `{"type":"number","minimum":1.0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}`,
			`{"type":"number","exclusiveMinimum":1.0,"maximum":9}`, "="},
		{"exclusive bounds", "3.1.0", `{"exclusiveMinimum":1,"exclusiveMaximum":2,"minimum":0}`, `{"exclusiveMinimum":1,"exclusiveMaximum":2,"minimum":0}`, "="},
		{"required of old", "3.0.0", `{"type":"string","required":true}`, `{"type":"string"}`, "="},
		{"true", "3.1.0", `true`, `{}`, ""},
		{"composition", "3.1.0", `{"oneOf":[{"type":"string"},false],"anyOf":[true],"not":{"const":1},"prefixItems":[{}],"items":false,"contains":{},"if":{},"then":{},"else":false,"patternProperties":{"^a":{}},"additionalProperties":{"type":"string"},"propertyNames":{"maxLength":3},"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{}},"unevaluatedProperties":false}`,
			`{"oneOf":[{"type":"string"},false],"anyOf":[{}],"not":{"const":1},"prefixItems":[{}],"items":false,"contains":{},"if":{},"then":{},"else":false,"patternProperties":{"^a":{}},"additionalProperties":{"type":"string"},"propertyNames":{"maxLength":3},"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{}},"unevaluatedProperties":false}`, "="},
		{"recursion, and who sends what", "3.1.0", `{"$ref":"#/components/schemas/Pet"}`,
			`{"$ref":"#/$defs/Pet"} {"Pet":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"secret":{"type":"string","writeOnly":true},"parent":{"$ref":"#/$defs/Pet"}}}}`,
			`{"$ref":"#/$defs/Pet"} {"Pet":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer","readOnly":true},"name":{"type":"string"},"secret":{"type":"string","writeOnly":true},"parent":{"$ref":"#/$defs/Pet"}}}}`},
		{"readOnly behind a reference", "3.1.0", `{"required":["id","a"],"properties":{"id":{"$ref":"#/components/schemas/ID"},"a":{}}}`,
			`{"required":["a"],"properties":{"a":{}}}`,
			`{"required":["id","a"],"properties":{"id":{"$ref":"#/$defs/ID"},"a":{}}} {"ID":{"type":"string","readOnly":true}}`},
		{"beside a reference, of old", "3.0.0", `{"$ref":"#/components/schemas/ID","description":"d","nullable":true,"minLength":1}`,
			`{"description":"d","$ref":"#/$defs/ID"} {"ID":{"type":"string","readOnly":true}}`, "="},
		{"beside a reference", "3.1.0", `{"$ref":"#/components/schemas/ID","description":"d","minLength":1}`,
			`{"description":"d","$ref":"#/$defs/ID","minLength":1} {"ID":{"type":"string","readOnly":true}}`, "="},
		{"odd names", "3.1.0", `{"$ref":"#/components/schemas/a~1b~0c%20d%25"}`,
			`{"$ref":"#/$defs/a~1b~0c%2520d%2525"} {"a/b~c%20d%25":{"type":"string"}}`, "="},
		{"names of JavaScript", "3.1.0", `{"$ref":"#/components/schemas/__proto__"}`,
			`{"$ref":"#/$defs/__proto__"} {"__proto__":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"$ref":"#/$defs/__proto__"}}}}`, "="},
		{"into another schema", "3.1.0", `{"items":{"$ref":"#/components/schemas/Pet/properties/name"},"not":{"$ref":"#/paths/~1a/post/responses/200/content/application~1json/schema/items"}}`,
			`{"items":{"$ref":"#/$defs/name"},"not":{"$ref":"#/$defs/items"}} {"name":{"type":"string"},"items":{"$ref":"#/$defs/name"}}`, "="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			media := `{"content":{"application/json":{"schema":` + tt.schema + `}}}`
			def := only(t, build(t, documentText(tt.version, `{"/a":{"post":{"requestBody":`+media+`,"responses":{"200":`+media+`}}}}`, components), nil))
			if tt.response == "=" {
				tt.response = tt.request
			}
			input, defs, _ := strings.Cut(tt.request, " {\"")
			want := `"type":"object","properties":{"body":` + input + `},"additionalProperties":false}`
			if defs != "" {
				want = `{"$defs":{"` + defs + "," + want
			} else {
				want = "{" + want
			}
			check(t, "input", def.Input.String(), want)
			output, defs, _ := strings.Cut(tt.response, " {\"")
			if defs != "" {
				output = `{"$defs":{"` + defs + "," + output[1:]
			}
			check(t, "output", def.Output.String(), output)
			if _, err := tools.NewTool(def); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOutputs: the schema of the value for the responses an operation has.
func TestOutputs(t *testing.T) {
	t.Parallel()
	jsonOf := func(schema string) string { return `{"content":{"application/json":{"schema":` + schema + `}}}` }
	for _, tt := range []struct{ name, responses, want string }{
		{"none", `{}`, ``},
		{"JSON", `{"200":` + jsonOf(`{"type":"string"}`) + `}`, `{"type":"string"}`},
		{"JSON of a kind", `{"200":{"content":{"application/vnd.x+json; charset=utf-8":{"schema":{"type":"string"}}}}}`, `{"type":"string"}`},
		{"without content", `{"204":{"description":"d"}}`, `{"type":"null"}`},
		{"two", `{"200":` + jsonOf(`{"type":"string"}`) + `,"202":` + jsonOf(`{"type":"integer"}`) + `,"204":{},"404":` + jsonOf(`{"type":"boolean"}`) + `}`,
			`{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`},
		{"two that are the same", `{"200":` + jsonOf(`{"type":"string"}`) + `,"2XX":` + jsonOf(`{"type":"string"}`) + `}`, `{"type":"string"}`},
		{"text", `{"200":{"content":{"text/html":{}}}}`, `{"type":"string"}`},
		{"binary", `{"200":{"content":{"image/png":{}}}}`, ``},
		{"JSON of no schema", `{"200":{"content":{"application/json":{}}}}`, ``},
		{"by default", `{"default":` + jsonOf(`{"type":"string"}`) + `}`, ``},
	} {
		def := only(t, build(t, documentText("3.1.0", `{"/a":{"get":{"responses":`+tt.responses+`}}}`, `{}`), nil))
		check(t, tt.name, def.Output.String(), tt.want)
	}
}

// TestHead: a response to HEAD has no body, whatever the document says of it.
func TestHead(t *testing.T) {
	t.Parallel()
	def := only(t, build(t, documentText("3.1.0", `{"/a":{"head":{"responses":{"200":{"content":{"application/json":{"schema":{"type":"string"}}}}}}}}`, `{}`), nil))
	check(t, "output", def.Output.String(), `{"type":"null"}`)
}

// TestUnusableOutput: a response schema that cannot be used costs the type and
// not the tool.
func TestUnusableOutput(t *testing.T) {
	t.Parallel()
	s := build(t, documentText("3.1.0", `{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"pattern":"("}}}}}}}}`, `{}`), nil)
	if def := only(t, s); !def.Output.IsZero() {
		t.Errorf("the output schema is %s, want none", def.Output)
	}
	if len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], "mcp__x__get_a: the response schema is left out: ") {
		t.Errorf("notes: %q", s.Notes())
	}
}

// TestArguments: which arguments parameters and body become.
func TestArguments(t *testing.T) {
	t.Parallel()
	const components = `{"parameters":{"Page":{"name":"page","in":"query","schema":{"type":"integer"}}},
		"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"api_key"}}}`
	for _, tt := range []struct{ name, path, item, want string }{
		{"of each place", "/a/{id}", `{"post":{"parameters":[{"name":"id","in":"path"},{"name":"q","in":"query","required":true},{"name":"X-H","in":"header"},{"name":"c","in":"cookie"}],"requestBody":{"required":true,"content":{"application/json":{}}}}}`,
			`{"id":{},"q":{},"X-H":{},"c":{},"body":{}} ["id","q","body"]`},
		{"descriptions", "/a", `{"get":{"parameters":[{"name":"q","in":"query","description":"of it","schema":{"type":"string","description":"of its type"}}]}}`,
			`{"q":{"description":"of it of its type","type":"string"}}`},
		{"of the path, replaced", "/a", `{"parameters":[{"$ref":"#/components/parameters/Page"},{"name":"q","in":"query"}],"get":{"parameters":[{"name":"page","in":"query","schema":{"type":"string"}}]}}`,
			`{"page":{"type":"string"},"q":{}}`},
		{"one name in two places", "/a/{id}", `{"get":{"parameters":[{"name":"id","in":"path"},{"name":"id","in":"query"},{"name":"ID","in":"header"},{"name":"other","in":"query"}]}}`,
			`{"path_id":{},"query_id":{},"header_ID":{},"other":{}} ["path_id"]`},
		{"one called body", "/a", `{"post":{"parameters":[{"name":"body","in":"query"}],"requestBody":{"content":{"application/json":{}}}}}`,
			`{"query_body":{},"request_body":{}}`},
		{"__proto__", "/a/{__proto__}", `{"get":{"parameters":[{"name":"__proto__","in":"path"}]}}`, `{"__proto__":{}} ["__proto__"]`},
		{"what the specification sets", "/a", `{"get":{"parameters":[{"name":"accept","in":"header"},{"name":"Content-Type","in":"header"},{"name":"Authorization","in":"header"}]}}`, `{}`},
		{"what the operator sets", "/a", `{"get":{"security":[{"key":[]}],"parameters":[{"name":"x-version","in":"header","required":true},{"name":"api_key","in":"query","required":true}]}}`, `{}`},
		{"what the path does not have", "/a", `{"get":{"parameters":[{"name":"id","in":"path"}]}}`, `{}`},
		{"JSON in a query", "/a", `{"get":{"parameters":[{"name":"q","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}]}}`, `{"q":{"type":"object"}}`},
		{"a form if there is no JSON", "/a", `{"post":{"requestBody":{"content":{"multipart/form-data":{},"application/x-www-form-urlencoded; charset=utf-8":{"schema":{"type":"object"}}}}}}`, `{"body":{"type":"object"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, documentText("3.1.0", fmt.Sprintf(`{%q:%s}`, tt.path, tt.item), components), func(o *Options) {
				o.Headers = map[string]string{"X-Version": "1"}
				o.Credentials = map[string]string{"key": "secret"}
			})
			properties, required, _ := strings.Cut(tt.want, " [")
			want := `{"type":"object","properties":` + properties
			if required != "" {
				want += `,"required":[` + required
			}
			check(t, "input", only(t, s).Input.String(), want+`,"additionalProperties":false}`)
		})
	}
}

// TestNames: the names of tools.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long", 20)
	s := build(t, documentText("3.1.0", fmt.Sprintf(`{
		"/a":{"get":{"operationId":"getA"},"post":{"operationId":"get pets/all"},"put":{},"delete":{"operationId":"größe"}},
		"/a/{id}.json":{"get":{"parameters":[{"name":"id","in":"path"}]}},
		"/":{"get":{}},
		"/b":{"get":{"operationId":"getA"},"post":{"operationId":"__a__b__"}},
		"/c":{"get":{"operationId":%q}},
		"x-internal":{"get":{}}}`, long), `{}`), func(o *Options) { o.Name = "pet-shop_2" })
	var names []string
	for _, def := range s.Tools() {
		names = append(names, strings.TrimPrefix(def.Name, "mcp__pet-shop_2__"))
		if len(def.Name) > 64 {
			t.Errorf("the name %s has %d characters", def.Name, len(def.Name))
		}
	}
	check(t, "names", names, []string{"getA", "get_pets_all", "put_a", "gr_e", "get_a_id_json", "get", "getA_db789e7b", "a_b", long[:38] + "_24792510"})
	check(t, "notes", s.Notes(), []string{
		"GET /b is the tool mcp__pet-shop_2__getA_db789e7b, since the name it has in the document is too long or taken",
		"GET /c is the tool mcp__pet-shop_2__" + long[:38] + "_24792510, since the name it has in the document is too long or taken",
	})
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		`{}`: "GET /a",
		`{"summary":"List.","description":"Lists all."}`: "List.\nLists all.\nGET /a",
		`{"summary":"List.","description":"List."}`:      "List.\nGET /a",
		`{"description":"Lists all.","deprecated":true}`: "Deprecated. Lists all.\nGET /a",
	} {
		check(t, operation, only(t, build(t, documentText("3.0.3", `{"/a":{"get":`+operation+`}}`, `{}`), nil)).Description, want)
	}
}

// TestAnnotations: what a document says about its operations only tightens.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method         string
		plain, trusted tools.Annotations
		concurrent     bool
	}{
		{"get", tools.Annotations{OpenWorld: true}, tools.Annotations{OpenWorld: true, ReadOnly: true, Idempotent: true}, true},
		{"head", tools.Annotations{OpenWorld: true}, tools.Annotations{OpenWorld: true, ReadOnly: true, Idempotent: true}, true},
		{"options", tools.Annotations{OpenWorld: true}, tools.Annotations{OpenWorld: true, ReadOnly: true, Idempotent: true}, true},
		{"put", tools.Annotations{OpenWorld: true, Destructive: true}, tools.Annotations{OpenWorld: true, Destructive: true, Idempotent: true}, false},
		{"delete", tools.Annotations{OpenWorld: true, Destructive: true}, tools.Annotations{OpenWorld: true, Destructive: true, Idempotent: true}, false},
		{"post", tools.Annotations{OpenWorld: true, Destructive: true}, tools.Annotations{OpenWorld: true, Destructive: true}, false},
		{"patch", tools.Annotations{OpenWorld: true, Destructive: true}, tools.Annotations{OpenWorld: true, Destructive: true}, false},
	} {
		for _, trusted := range []bool{false, true} {
			def := only(t, build(t, documentText("3.1.0", `{"/a":{"`+tt.method+`":{}}}`, `{}`), func(o *Options) { o.Trusted = trusted }))
			want := tt.plain
			if trusted {
				want = tt.trusted
			}
			check(t, fmt.Sprintf("%s, trusted %v", tt.method, trusted), def.Annotations, want)
			if got := def.Concurrent != nil; got != (trusted && tt.concurrent) {
				t.Errorf("%s, trusted %v: may overlap: %v", tt.method, trusted, got)
			}
		}
	}
}
