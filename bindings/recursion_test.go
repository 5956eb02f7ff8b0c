package bindings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// namedTypes are the declarations of named types in a text.
func namedTypes(t testing.TB, text string) string {
	t.Helper()
	return strings.TrimSpace(between(t, text[strings.Index(text, "interface ToolOutputMap"):], "\n}\n", "type ToolName = "))
}

func TestNamedTypes(t *testing.T) {
	tests := []struct{ name, schema, typ, types string }{
		{"recursion through an element", `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"next":{"type":"array","items":{"$ref":"#/$defs/node"}}},"additionalProperties":false}}}`,
			"T_Node", "type T_Node = {\n  next?: T_Node[];\n};"},
		{"recursion of the whole", `{"type":"object","properties":{"up":{"$ref":"#"}},"additionalProperties":false}`,
			"T_Result", "type T_Result = {\n  up?: T_Result;\n};"},
		{"recursion by anchor", `{"$dynamicAnchor":"n","type":"array","items":{"$dynamicRef":"#n"}}`,
			"T_N", "type T_N = T_N[];"},
		{"recursion through a map", `{"additionalProperties":{"$ref":"#"}}`,
			"T_Result", "type T_Result = { [key: string]: T_Result };"},
		{"mutual recursion", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/b"}},"additionalProperties":false},"b":{"items":{"$ref":"#/$defs/a"}}}}`,
			"T_A", "type T_A = {\n  b?: T_A[];\n};"},
		{"shared twice", `{"prefixItems":[{"$ref":"#/$defs/p"},{"$ref":"#/$defs/p"}],"$defs":{"p":{"properties":{"x":{}},"additionalProperties":false}}}`,
			"[T_P, T_P]", "type T_P = {\n  x?: JsonValue;\n};"},
		{"small and without parts stays in place", `{"prefixItems":[{"$ref":"#/$defs/p"},{"$ref":"#/$defs/p"}],"$defs":{"p":{"enum":["a","b"]}}}`,
			`["a" | "b", "a" | "b"]`, ""},
		{"keywords beside a named reference", `{"$ref":"#/$defs/p","properties":{"y":{"$ref":"#/$defs/p"}},"$defs":{"p":{"properties":{"x":{}}}}}`,
			"T_P & {\n    y?: T_P;\n  }", "type T_P = {\n  x?: JsonValue;\n} & Record<string, JsonValue>;"},
		{"names are made identifiers, and unique", `{"prefixItems":[{"$ref":"#/$defs/a-b"},{"$ref":"#/$defs/a-b"},{"$ref":"#/$defs/a.b"},{"$ref":"#/$defs/a.b"},{"$ref":"#/$defs/1"},{"$ref":"#/$defs/1"}],"$defs":{"a-b":{"items":{}},"a.b":{"items":{"type":"null"}},"1":{"items":{"type":"string"}}}}`,
			"[T_AB, T_AB, T_AB2, T_AB2, T_T1, T_T1]", "type T_AB = JsonValue[];\n\ntype T_AB2 = null[];\n\ntype T_T1 = string[];"},

		// TypeScript refuses a type that is itself.
		{"only itself", `{"$ref":"#"}`, "T_Result", "type T_Result = JsonValue;"},
		{"itself or text", `{"anyOf":[{"$ref":"#"},{"type":"string"}]}`, "T_Result", "type T_Result = string;"},
		{"itself and more", `{"allOf":[{"$ref":"#"}],"properties":{"a":{}},"additionalProperties":false}`, "T_Result", "type T_Result = {\n  a?: JsonValue;\n};"},
		{"in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},{"type":"string"}]}}}`,
			"T_A", "type T_A = T_B | null;\n\ntype T_B = string;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.typ, typeText(t, tt.schema)); diff != "" {
				t.Errorf("type (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.types, namedTypes(t, declareOutput(tt.schema))); diff != "" {
				t.Errorf("named types (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamedRootIsDescribedOnce: the comment stands above the type, not also
// above the tool that returns it.
func TestNamedRootIsDescribedOnce(t *testing.T) {
	text := declareOutput(`{"description":"A tree","type":"array","items":{"$ref":"#"},"minItems":1}`)
	if want := "/** A tree (at least 1 item) */\ntype T_Result = T_Result[];\n"; !strings.Contains(text, want) || strings.Count(text, "A tree") != 1 {
		t.Errorf("declarations =\n%s\nwant one comment, in:\n%s", text, want)
	}
}

// TestSharedTypes: one meaning is one type, over all tools.
func TestSharedTypes(t *testing.T) {
	const leaf = `{"type":"object","properties":{"v":{"type":"string"}},"additionalProperties":false}`
	using := func(defs string) string {
		return `{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},"additionalProperties":false,"$defs":` + defs + `}`
	}
	tests := []struct {
		name  string
		tools [][2]string // name and input schema
		types string
	}{
		{"used once in each of two tools of a server", [][2]string{{"mcp__s__a", using(`{"x":` + leaf + `}`)}, {"mcp__s__b", using(`{"x":` + leaf + `}`)}},
			"type S_X = {\n  v?: string;\n};"},
		{"of two servers", [][2]string{{"mcp__s__a", using(`{"x":` + leaf + `}`)}, {"mcp__u__b", using(`{"x":` + leaf + `}`)}},
			"type Shared_X = {\n  v?: string;\n};"},
		{"one name, two meanings", [][2]string{{"a", using(`{"x":` + leaf + `}`)}, {"b", using(`{"x":{"items":{}}}`)}}, ""},
		{"one text, two meanings", [][2]string{
			{"a", using(`{"x":{"items":{"$ref":"#/$defs/y"}},"y":` + leaf + `}`)},
			{"b", using(`{"x":{"items":{"$ref":"#/$defs/y"}},"y":{"type":"null"}}`)}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list []tools.Definition
			for _, pair := range tt.tools {
				list = append(list, tools.Definition{Name: pair[0], Input: tools.MustJSON(pair[1])})
			}
			text := declare(list, "")
			checkSyntax(t, text)
			if diff := cmp.Diff(tt.types, namedTypes(t, text)); diff != "" {
				t.Errorf("named types (-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}

// TestSizes: the text grows with the schema, never faster, however the schema
// is nested or refers to itself.
func TestSizes(t *testing.T) {
	nest := func(start, middle, end string, depth int) string {
		return strings.Repeat(start, depth) + middle + strings.Repeat(end, depth)
	}
	repeat := func(start string, count int, item func(i int) string, end string) string {
		var b strings.Builder
		b.WriteString(start)
		for i := range count {
			b.WriteString(item(i))
		}
		b.WriteString(end)
		return b.String()
	}
	doubling := repeat(`{"$ref":"#/$defs/d0","$defs":{`, 40, func(i int) string {
		return fmt.Sprintf(`"d%d":{"type":"array","prefixItems":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}, `"d40":{"type":"string"}}}`)
	chain := repeat(`{"$ref":"#/$defs/d0","$defs":{`, 20_000, func(i int) string {
		return fmt.Sprintf(`"d%d":{"items":{"$ref":"#/$defs/d%d"}},`, i, i+1)
	}, `"d20000":{"type":"string"}}}`)
	many := repeat(`{"properties":{`, 5_000, func(i int) string {
		return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"},"q%d":{"$ref":"#/$defs/d%d"},`, i, i, i, i)
	}, repeat(`"z":{}},"$defs":{`, 5_000, func(i int) string {
		return fmt.Sprintf(`"d%d":{"items":{"const":%d}},`, i, i)
	}, `"z":{}}}`))
	inside := repeat(`{"prefixItems":[`, 200, func(i int) string {
		return fmt.Sprintf(`{"$ref":"#%s"},`, strings.Repeat("/items", i+1))
	}, `true],"items":`+nest(`{"items":`, `{"enum":["`+strings.Repeat("x", 200_000)+`"]}`, `}`, 400)+`}`)
	tests := []struct{ name, schema, has string }{
		{"targets inside each other", inside, "T_Items,"},
		{"identifiers inside each other", `{"$ref":"#/none","items":` + nest(`{"$id":"a/","items":`, `{"$ref":"#"}`, `}`, 3_000) + `}`, "t: "},
		{"unions 4,000 deep", nest(`{"anyOf":[{"type":"null"},`, `{"type":"string"}`, `]}`, 4_000), "  t: null | string;"},
		{"unions with more to say 4,000 deep", nest(`{"description":"d","oneOf":[{"type":"null"},`, `{"type":"string"}`, `]}`, 4_000), "  t: null | string;"},
		{"intersections 4,000 deep", nest(`{"allOf":[`, `{"type":"string"}`, `]}`, 4_000), "  t: string;"},
		{"arrays 5,000 deep", nest(`{"items":`, `{"type":"string"}`, `}`, 5_000), "string" + strings.Repeat("[]", 5_000)},
		{"objects 4,000 deep", nest(`{"properties":{"a":`, `{"type":"string"}`, `}}`, 4_000), "a?: string;"},
		{"maps 5,000 deep", nest(`{"additionalProperties":`, `{"type":"string"}`, `}`, 5_000), "Record<string, string>"},
		{"negations 5,000 deep", nest(`{"not":`, `{}`, `}`, 5_000), "  t: JsonValue;"},
		{"a constant 5,000 deep", `{"const":` + nest(`[`, `1`, `]`, 5_000) + `}`, "  t: [[["},
		{"references that double 40 times", doubling, "type T_D39 = [string, string];"},
		{"a chain of 20,000 references", chain, "\ntype T_D"},
		{"5,000 shared types", many, "q4999?: T_D4999;"},
		{"an enumeration of 20,000 values", `{"enum":[` + strings.TrimSuffix(strings.Repeat(`"v",`, 20_000), ",") + `]}`, `  t: "v";`},
		{"a long enumeration, often", `{"prefixItems":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/e"},`, 1_000), ",") + `],"$defs":{"e":{"enum":["` + strings.Repeat("x", 5_000) + `"]}}}`, "[T_E, T_E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := declareOutput(tt.schema)
			if !strings.Contains(text, tt.has) {
				t.Errorf("declarations lack %q:\n%.2000s", tt.has, text)
			}
			checkSize(t, tt.schema, text)
		})
	}
}

// checkSize asserts that a text is linear in the schema it was made from. The
// densest schema is a list of short required names, 4 bytes each, printed on
// lines of their own at the deepest indentation.
func checkSize(t testing.TB, schema, text string) {
	t.Helper()
	const factor, fixed = 40, 4_096
	if most := factor*len(schema) + fixed; len(text) > most {
		t.Errorf("a schema of %d bytes became %d bytes of declarations, want at most %d", len(schema), len(text), most)
	}
}
