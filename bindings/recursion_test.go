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
	_, rest, _ := strings.Cut(text, "declare class ")
	_, rest, _ = strings.Cut(rest, "\n")
	types, _, _ := strings.Cut(rest, "declare const tools")
	return strings.TrimSpace(types)
}

// long makes a schema long enough to be worth a name.
var long = strings.Repeat("x", smallSchema)

func TestNamedTypes(t *testing.T) {
	tests := []struct{ name, schema, typ, types string }{
		{"recursion through an element", `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"next":{"type":"array","items":{"$ref":"#/$defs/node"}}},"additionalProperties":false}}}`,
			"T_Node", "type T_Node = { next?: T_Node[] };"},
		{"recursion of the whole", `{"type":"object","properties":{"up":{"$ref":"#"}},"additionalProperties":false}`,
			"T_Result", "type T_Result = { up?: T_Result };"},
		{"recursion by anchor", `{"$dynamicAnchor":"n","type":"array","items":{"$dynamicRef":"#n"}}`,
			"T_N", "type T_N = T_N[];"},
		{"recursion through a map", `{"additionalProperties":{"$ref":"#"}}`,
			"T_Result", "type T_Result = { [key: string]: T_Result };"},
		{"mutual recursion", `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/b"}},"additionalProperties":false},"b":{"items":{"$ref":"#/$defs/a"}}}}`,
			"T_A", "type T_A = { b?: T_A[] };"},
		{"shared twice", `{"prefixItems":[{"$ref":"#/$defs/p"},{"$ref":"#/$defs/p"}],"$defs":{"p":{"$comment":"` + long + `","properties":{"x":{}},"additionalProperties":false}}}`,
			"[T_P, T_P]", "type T_P = { x?: unknown };"},
		{"small and without references stays in place", `{"prefixItems":[{"$ref":"#/$defs/p"},{"$ref":"#/$defs/p"}],"$defs":{"p":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
			"[string | null, string | null]", ""},
		{"small and without parts stays in place", `{"prefixItems":[{"$ref":"#/$defs/p"},{"$ref":"#/$defs/p"}],"$defs":{"p":{"enum":["a","b"]}}}`,
			`["a" | "b", "a" | "b"]`, ""},
		{"keywords beside a named reference", `{"$ref":"#/$defs/p","properties":{"y":{"$ref":"#/$defs/p"}},"$defs":{"p":{"$comment":"` + long + `","properties":{"x":{}}}}}`,
			"T_P & { y?: T_P }", "type T_P = { x?: unknown };"},
		{"names are made identifiers, and unique", `{"prefixItems":[{"$ref":"#/$defs/a-b"},{"$ref":"#/$defs/a-b"},{"$ref":"#/$defs/a.b"},{"$ref":"#/$defs/a.b"},{"$ref":"#/$defs/1"},{"$ref":"#/$defs/1"}],"$defs":{"a-b":{"$comment":"` + long + `","items":{}},"a.b":{"$comment":"` + long + `","items":{"type":"null"}},"1":{"$comment":"` + long + `","items":{"type":"string"}}}}`,
			"[T_AB, T_AB, T_AB2, T_AB2, T_T1, T_T1]", "type T_AB = unknown[];\ntype T_AB2 = null[];\ntype T_T1 = string[];"},

		// TypeScript refuses a type that is itself.
		{"only itself", `{"$ref":"#"}`, "T_Result", "type T_Result = unknown;"},
		{"itself or text", `{"anyOf":[{"$ref":"#"},{"type":"string"}]}`, "T_Result", "type T_Result = string;"},
		{"itself and more", `{"allOf":[{"$ref":"#"}],"properties":{"a":{}},"additionalProperties":false}`, "T_Result", "type T_Result = { a?: unknown };"},
		{"in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},{"type":"string"}]}}}`,
			"T_A", "type T_A = T_B | null;\ntype T_B = string;"},
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
	if want := "// A tree (at least 1 item)\ntype T_Result = T_Result[];\n"; !strings.Contains(text, want) || strings.Count(text, "A tree") != 1 {
		t.Errorf("declarations =\n%s\nwant one comment, in:\n%s", text, want)
	}
}

// TestSharedTypes: one meaning is one type, over all tools.
func TestSharedTypes(t *testing.T) {
	leaf := `{"$comment":"` + long + `","type":"object","properties":{"v":{"type":"string"}},"additionalProperties":false}`
	using := func(defs string) string {
		return `{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},"additionalProperties":false,"$defs":` + defs + `}`
	}
	tests := []struct {
		name  string
		tools [][2]string // name and input schema
		types string
	}{
		{"used once in each of two tools of a server", [][2]string{{"mcp__s__a", using(`{"x":` + leaf + `}`)}, {"mcp__s__b", using(`{"x":` + leaf + `}`)}},
			"type S_X = { v?: string };"},
		{"of two servers", [][2]string{{"mcp__s__a", using(`{"x":` + leaf + `}`)}, {"mcp__u__b", using(`{"x":` + leaf + `}`)}},
			"type Shared_X = { v?: string };"},
		{"described in place in two tools", [][2]string{{"a", `{"properties":{"x":` + leaf + `}}`}, {"b", `{"properties":{"y":{"items":` + leaf + `}}}`}},
			"type Shared_X = { v?: string };"},
		{"described in place and by reference", [][2]string{{"a", `{"properties":{"y":` + leaf + `}}`}, {"b", using(`{"x":` + leaf + `}`)}},
			"type Shared_Y = { v?: string };"},
		{"the arguments of two tools", [][2]string{{"mcp__s__a", leaf}, {"mcp__s__b", leaf}}, "type S_Args = { v?: string };"},
		{"one text that refers to two meanings", [][2]string{
			{"a", `{"properties":{"x":{"$comment":"` + long + `","properties":{"r":{"$ref":"#/$defs/y"}}}},"$defs":{"y":{"type":"string"}}}`},
			{"b", `{"properties":{"x":{"$comment":"` + long + `","properties":{"r":{"$ref":"#/$defs/y"}}}},"$defs":{"y":{"type":"null"}}}`}}, ""},
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
			text := declareAll(list...)
			checkSyntax(t, text)
			if diff := cmp.Diff(tt.types, namedTypes(t, text)); diff != "" {
				t.Errorf("named types (-want +got):\n%s\n%s", diff, text)
			}
		})
	}
}

func nest(start, middle, end string, depth int) string {
	return strings.Repeat(start, depth) + middle + strings.Repeat(end, depth)
}

// TestSizes: the text grows with the schema, never faster, however the schema
// is nested or refers to itself.
func TestSizes(t *testing.T) {
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
	const tooDeep = "unknown /* nested deeper than 200 levels */"
	tests := []struct{ name, schema, has string }{
		{"targets inside each other", inside, "T_Items,"},
		{"identifiers inside each other", `{"$ref":"#/none","items":` + nest(`{"$id":"a/","items":`, `{"$ref":"#"}`, `}`, 3_000) + `}`, "\nt: Tool<{}, "},
		{"unions 4,000 deep", nest(`{"anyOf":[{"type":"null"},`, `{"type":"string"}`, `]}`, 4_000), "Tool<{}, null | string>"},
		{"unions with more to say 4,000 deep", nest(`{"description":"d","oneOf":[{"type":"null"},`, `{"type":"string"}`, `]}`, 4_000), "Tool<{}, " + tooDeep + ">"},
		{"intersections 4,000 deep", nest(`{"allOf":[`, `{"type":"string"}`, `]}`, 4_000), "Tool<{}, string>"},
		{"arrays 5,000 deep", nest(`{"items":`, `{"type":"string"}`, `}`, 5_000), tooDeep + strings.Repeat("[]", 200)},
		{"objects 4,000 deep", nest(`{"properties":{"a":`, `{"type":"string"}`, `}}`, 4_000), "a?: " + tooDeep},
		{"maps 5,000 deep", nest(`{"additionalProperties":`, `{"type":"string"}`, `}`, 5_000), "Record<string, " + tooDeep + ">"},
		{"negations 5,000 deep", nest(`{"not":`, `{}`, `}`, 5_000), "\nt: Tool;\n"},
		{"a constant 5,000 deep", `{"const":` + nest(`[`, `1`, `]`, 5_000) + `}`, "Tool<{}, " + tooDeep + ">"},
		{"references that double 40 times", doubling, "type T_D39 = [string, string];"},
		{"a chain of 20,000 references", chain, "\ntype T_D"},
		{"5,000 shared small types", many, "q4999?: 4999[]"},
		{"an enumeration of 20,000 values", `{"enum":[` + strings.TrimSuffix(strings.Repeat(`"v",`, 20_000), ",") + `]}`, `Tool<{}, "v">`},
		{"a long enumeration, often", `{"prefixItems":[` + strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/e"},`, 1_000), ",") + `],"$defs":{"e":{"enum":["` + strings.Repeat("x", 5_000) + `"]}}}`, "[T_E, T_E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := declareOutput(tt.schema)
			if !strings.Contains(text, tt.has) {
				t.Errorf("declarations lack %q:\n%.2000s", tt.has, text)
			}
			checkSyntax(t, text)
			checkSize(t, tt.schema, text)
		})
	}
}

// TestLongChainsAreWhole: a chain of references is broken into named types before
// it is too deep.
func TestLongChainsAreWhole(t *testing.T) {
	text := declareOutput(`{"$ref":"#/$defs/d0","$defs":{` + list(1_000, func(i int) string {
		return fmt.Sprintf(`"d%d":{"items":{"$ref":"#/$defs/d%d"}}`, i, i+1)
	}) + `,"d1000":{"const":"the end"}}}`)
	if strings.Contains(text, "nested deeper") || !strings.Contains(text, `"the end"[]`) {
		t.Errorf("the chain is cut:\n%s", text)
	}
}

// TestReasonIsKept: what is too deep says so beside what is unknown anyway.
func TestReasonIsKept(t *testing.T) {
	deep := `{"const":` + nest(`[`, `1`, `]`, 300) + `}`
	for _, schema := range []string{deep, `{"anyOf":[` + deep + `,{}]}`, `{"anyOf":[{},` + deep + `]}`, `{"allOf":[` + deep + `,{}]}`} {
		if got := typeText(t, schema); got != "unknown /* nested deeper than 200 levels */" {
			t.Errorf("type %s, want the reason in it", got)
		}
	}
}

// TestComparedTextIsBounded: objects in objects are compared with others up to a
// sum of their sizes, so that no schema costs the square of its size.
func TestComparedTextIsBounded(t *testing.T) {
	s := newSurvey(newDocument(tools.MustJSON(nest(`{"properties":{"a":`, `{"$comment":"`+strings.Repeat("x", 40_000)+`","properties":{"b":{}}}`, `}}`, 200))))
	if n := len(s.objects); n < 50 || n*40_000 > comparedText {
		t.Errorf("%d objects of 40 KB each are compared, want some, of at most %d bytes", n, comparedText)
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
