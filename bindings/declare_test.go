package bindings

import (
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// declareAll is the text about tools that are sorted by name, without short
// forms.
func declareAll(list ...tools.Definition) string {
	names := make([]string, len(list))
	for i, def := range list {
		names[i] = def.Name
	}
	return declare(list, nil).text(names, nil)
}

// declareOutput declares one tool "t" with that output schema.
func declareOutput(schema string) string {
	return declareAll(tools.Definition{Name: "t", Output: tools.MustJSON(schema)})
}

// between is the text between two marks, which must be there.
func between(t testing.TB, text, start, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, start)
	inner, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("no %q ... %q in:\n%s", start, end, text)
	}
	return inner
}

// typeText is the type a schema becomes.
func typeText(t testing.TB, schema string) string {
	t.Helper()
	text := declareOutput(schema)
	checkSyntax(t, text)
	inner := between(t, text, "declare const tools: {\n", ";\n};\n")
	_, typ, _ := strings.Cut(inner, "t: Tool")
	if typ == "" {
		return "unknown"
	}
	return strings.TrimSuffix(strings.TrimPrefix(typ, "<{}, "), ">")
}

// checkSyntax parses declarations as TypeScript.
func checkSyntax(t testing.TB, text string) {
	t.Helper()
	result := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS})
	for _, e := range result.Errors {
		t.Errorf("line %d: %s: %s", e.Location.Line, e.Text, e.Location.LineText)
	}
	if t.Failed() {
		t.Fatalf("not TypeScript:\n%s", text)
	}
}

func TestTypes(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"string", `{"type":"string"}`, `string`},
		{"number", `{"type":"number"}`, `number`},
		{"integer", `{"type":"integer"}`, `number`},
		{"boolean", `{"type":"boolean"}`, `boolean`},
		{"null", `{"type":"null"}`, `null`},
		{"anything", `{}`, `unknown`},
		{"true", `true`, `unknown`},
		{"false", `false`, `never`},

		{"const wins over enum", `{"const":"a","enum":["b"]}`, `"a"`},
		{"const without a type", `{"const":null}`, `null`},
		{"const object", `{"const":{"a":[1,"x"]}}`, `{"a":[1,"x"]}`},
		{"enum", `{"type":"string","enum":["a","b"]}`, `"a" | "b"`},
		{"enum without a type", `{"enum":["a",1,null,true]}`, `"a" | 1 | null | true`},
		{"numbers as written", `{"enum":[1.0,-0,1e3,9007199254740993]}`, `1.0 | -0 | 1e3 | 9007199254740993`},
		{"empty enum", `{"enum":[]}`, `never`},
		{"enum with repeated values", `{"enum":["a","a"]}`, `"a"`},

		{"types as a union", `{"type":["string","integer","number","null"]}`, `string | number | null`},
		{"nullable", `{"type":"string","nullable":true}`, `string | null`},
		{"nullable twice", `{"type":["string","null"],"nullable":true}`, `string | null`},
		{"unknown type", `{"type":"date"}`, `unknown`},

		{"array without items", `{"type":"array"}`, `unknown[]`},
		{"array of strings", `{"type":"array","items":{"type":"string"}}`, `string[]`},
		{"items alone show an array", `{"items":{"type":"string"}}`, `string[]`},
		{"array of arrays", `{"type":"array","items":{"type":"array","items":{"type":"number"}}}`, `number[][]`},
		{"array of a union", `{"type":"array","items":{"type":["string","null"]}}`, `(string | null)[]`},
		{"no parentheses for a bar in a literal", `{"type":"array","items":{"const":"a|b&c"}}`, `"a|b&c"[]`},
		{"no parentheses for a union inside", `{"type":"array","items":{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}}`,
			"{ a?: string | null }[]"},
		{"parentheses for an open object", `{"type":"array","items":{"type":"object","properties":{"a":{}}}}`,
			"{ a?: unknown }[]"},

		{"tuple", `{"prefixItems":[{"type":"string"},{"type":"number"}],"items":false}`, `[string, number]`},
		{"tuple of draft-07", `{"items":[{"type":"string"},{"type":"number"}],"additionalItems":{"type":"null"}}`, `[string, number, ...null[]]`},
		{"tuple with a rest", `{"prefixItems":[{"type":"string"}],"items":{"type":["number","null"]}}`, `[string, ...(number | null)[]]`},
		{"tuple with optional elements", `{"prefixItems":[{"type":"string"},{"type":["number","null"]}],"minItems":1}`, `[string, (number | null)?]`},
		{"only the empty array", `{"type":"array","items":false}`, `[]`},

		{"any object", `{"type":"object"}`, `Record<string, unknown>`},
		{"the empty object", `{"type":"object","additionalProperties":false}`, `Record<string, never>`},
		{"map", `{"type":"object","additionalProperties":{"type":"number"}}`, `Record<string, number>`},
		{"closed object", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["b"],"additionalProperties":false}`,
			"{ a?: string; b: number }"},
		{"open object", `{"properties":{"a":{"type":"string"}}}`, "{ a?: string }"},
		{"closed by unevaluatedProperties", `{"properties":{"a":{}},"unevaluatedProperties":false}`, "{ a?: unknown }"},
		{"other properties of the same type", `{"properties":{"a":{"type":"number"}},"additionalProperties":{"type":"number"}}`,
			"{ a?: number; [key: string]: number | unknown }"},
		{"other properties of another type", `{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}`,
			"{ a?: string; [key: string]: number | unknown }"},
		{"properties said to be open", `{"properties":{"a":{"type":"string"}},"additionalProperties":true}`, "{ a?: string; [key: string]: unknown }"},
		{"no properties, said to be open", `{"type":"object","additionalProperties":true}`, `Record<string, unknown>`},
		{"other properties of a part alone", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"additionalProperties":{"type":"string"}}]}`, "{ a?: string; [key: string]: string | unknown }"},
		{"other properties of one part, said to be any", `{"allOf":[{"properties":{"a":{}},"additionalProperties":true},{"properties":{"b":{}}}]}`, "{ a?: unknown; b?: unknown; [key: string]: unknown }"},
		{"properties by pattern in an open object", `{"type":"object","patternProperties":{"^x":{"type":"number"}}}`, `Record<string, number>`},
		{"properties by pattern and others", `{"type":"object","patternProperties":{"^x":{"type":"number"}},"additionalProperties":{"type":"string"}}`, `Record<string, number | string>`},
		{"properties by pattern beside declared ones", `{"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}`, "{ a?: string; [key: string]: number | unknown }"},
		{"properties by pattern", `{"type":"object","patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}`, `Record<string, number>`},
		{"required but not declared", `{"type":"object","required":["a","a"],"additionalProperties":false}`, "{ a: unknown }"},
		{"impossible property", `{"properties":{"a":false},"additionalProperties":false}`, "{ a?: never }"},
		{"quoted keys", `{"properties":{"a-b":{},"1":{},"":{},"$ok_1":{},"q\"":{},"ä":{}},"additionalProperties":false}`,
			"{ \"a-b\"?: unknown; \"1\"?: unknown; \"\"?: unknown; $ok_1?: unknown; \"q\\\"\"?: unknown; \"ä\"?: unknown }"},

		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"number"}]}`, `string | number`},
		{"anyOf with null", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `string | null`},
		{"nested unions are flat", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"oneOf":[{"type":"number"},{"type":"null"}]}]}`, `string | null | number`},
		{"a branch that is anything", `{"anyOf":[{"type":"string"},{}]}`, `unknown`},
		{"a union narrows the type beside it", `{"type":"string","anyOf":[{"enum":["a","b"]},{"type":"number"}]}`, `"a" | "b"`},
		{"branches that only constrain", `{"type":"string","anyOf":[{"minLength":2},{"pattern":"^a"}]}`, `string`},
		{"one of two properties is required", `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			"{ a?: string; b?: string } & ({ a: unknown } | { b: unknown })"},
		{"objects by kind", `{"type":"object","oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"],"additionalProperties":false},{"properties":{"k":{"const":"b"}},"required":["k"],"additionalProperties":false}]}`,
			"{ k: \"a\" } | { k: \"b\" }"},

		{"allOf merges objects", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}},"additionalProperties":false}]}`,
			"{ a: string; b?: unknown }"},
		{"allOf narrows", `{"allOf":[{"type":["string","number"]},{"type":["number","null"]}]}`, `number`},
		{"allOf of a type and its values", `{"allOf":[{"type":"string"},{"enum":["a",1]}]}`, `"a"`},
		{"allOf that nothing fits", `{"allOf":[{"type":"string"},{"type":"number"}]}`, `never`},
		{"values in both enumerations", `{"allOf":[{"enum":["a",1,null]},{"enum":[null,"b","a"]},{"enum":["a",null,2]}]}`, `"a" | null`},
		{"three narrowings", `{"type":"string","allOf":[{"enum":["a","b","c",1]},{"enum":["b","c","d"]},{"type":["string","null"]}]}`, `"b" | "c"`},
		{"a literal and its type", `{"const":"a","allOf":[{"type":"string"}]}`, `"a"`},
		{"a literal of another type", `{"const":"a","allOf":[{"type":"number"}]}`, `never`},
		{"a literal that is not allowed", `{"const":"a","allOf":[{"enum":["b","c"]}]}`, `never`},
		{"an object literal", `{"const":{"a":1},"allOf":[{"type":"object"}]}`, `{"a":1}`},
		{"booleans of one type", `{"type":"boolean","allOf":[{"const":false}]}`, `false`},
		{"conditions on objects beside a string", `{"type":"string","anyOf":[{"required":["a"]},{"required":["b"]}]}`, `string`},
		{"a string beside a named type", `{"type":"string","properties":{"x":{"$ref":"#/$defs/n"}},"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"items":{"$ref":"#/$defs/n"}},{"const":"a"}]}}}`, `string`},
		{"allOf with an impossible part", `{"allOf":[{"type":"object"},false]}`, `never`},
		{"other properties of all parts", `{"allOf":[{"additionalProperties":{"type":["string","number"]}},{"additionalProperties":{"type":"string"}}]}`, `Record<string, string>`},
		{"unions of more than words", `{"allOf":[{"type":["string","object"]},{"type":["object","null"]}]}`, `(string | Record<string, unknown>) & (Record<string, unknown> | null)`},
		{"allOf merges lists", `{"allOf":[{"items":{"type":["string","null"]}},{"maxItems":3},{"items":{"type":"string"}}]}`, `string[]`},
		{"a constraint beside a tuple", `{"allOf":[{"prefixItems":[{"type":"string"}]},{"maxItems":3}]}`, `[string]`},
		{"a constraint beside a union", `{"allOf":[{"type":["string","array"]},{"maxItems":3}]}`, `string | unknown[]`},
		{"constraints on lists alone", `{"allOf":[{"minItems":1},{"maxItems":3}]}`, `unknown[]`},
		{"allOf of one property", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"a":{"enum":["x","y",1]}},"required":["a"]}],"unevaluatedProperties":false}`,
			"{ a: \"x\" | \"y\" }"},

		{"reference", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"string"}}}`, `string`},
		{"reference of draft-07", `{"type":"array","items":{"$ref":"#/definitions/A"},"definitions":{"A":{"type":"string"}}}`, `string[]`},
		{"reference by anchor", `{"$ref":"#a","$defs":{"A":{"$anchor":"a","type":"string"}}}`, `string`},
		{"reference by identifier", `{"$id":"https://x.example/root","$ref":"other","$defs":{"A":{"$id":"other","type":"string"}}}`, `string`},
		{"reference with an escaped pointer", `{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"string"}}}`, `string`},
		{"reference into a list", `{"$ref":"#/$defs/a/0","$defs":{"a":[{"type":"string"}]}}`, `string`},
		{"reference that leads nowhere", `{"$ref":"#/$defs/none"}`, `unknown`},
		{"reference to another document", `{"$ref":"https://x.example/a.json"}`, `unknown`},
		{"reference used once stays in place", `{"properties":{"a":{"$ref":"#/$defs/A"}},"additionalProperties":false,"$defs":{"A":{"properties":{"b":{}},"additionalProperties":false}}}`,
			"{ a?: { b?: unknown } }"},
		{"an identifier inside a constant names nothing", `{"$ref":"x","const":{"$id":"x","type":"string"}}`, `{"$id":"x","type":"string"}`},
		{"keywords beside a reference", `{"$ref":"#/$defs/Base","$defs":{"Base":{"type":"object","properties":{"q":{"type":"string"}}}},"properties":{"why":{"type":"string"}},"required":["why"],"allOf":[{"properties":{"q":{"minLength":2}}}]}`,
			"{\n// at least 2 characters\nq?: string;\nwhy: string;\n}"},
		{"malformed keywords", `{"properties":[1],"required":"a","items":3,"anyOf":{},"enum":"x","$ref":1,"type":{}}`, `Record<string, unknown> | unknown[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, typeText(t, tt.schema)); diff != "" {
				t.Errorf("type of %s (-want +got):\n%s", tt.schema, diff)
			}
		})
	}
}
