package bindings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// comment is the doc line of a property with that schema, "" for none.
func comment(t *testing.T, schema string) string {
	t.Helper()
	text := declareOutput(`{"properties":{"p":` + schema + `},"additionalProperties":false}`)
	checkSyntax(t, text)
	line, _, _ := strings.Cut(between(t, text, "t: Tool<{}, {", "}>;\n"), "p?: ")
	line, _ = strings.CutPrefix(strings.TrimSpace(line), "// ")
	return line
}

func TestComments(t *testing.T) {
	long := strings.Repeat("x", 500)
	tests := []struct{ name, schema, want string }{
		{"none", `{"type":"string"}`, ""},
		{"empty", `{"description":" \n "}`, ""},
		{"not a string", `{"description":7}`, ""},
		{"one line", `{"description":"first\n\n  second\tthird\u2028fourth\u0000"}`, "first second third fourth"},
		{"long", `{"description":"` + long + `"}`, long},
		{"comment closer", `{"description":"a */ b **/"}`, `a */ b **/`},
		{"compiler directive", `{"description":"@ts-expect-error"}`, `: @ts-expect-error`},
		{"reference directive", `{"description":"/ <reference path='x' />"}`, `/ <reference path='x' />`},
		{"source map directive", `{"description":"# sourceMappingURL=x"}`, `# sourceMappingURL=x`},
		{"description and constraint", `{"type":"number","description":"Size","minimum":1}`, "Size (at least 1)"},
		{"range", `{"minimum":1,"maximum":10.5}`, "1 to 10.5"},
		{"maximum", `{"maximum":1e3}`, "at most 1e3"},
		{"exact", `{"minimum":3,"maximum":3}`, "exactly 3"},
		{"open range", `{"exclusiveMinimum":0,"exclusiveMaximum":1}`, "more than 0; less than 1"},
		{"multiple", `{"type":"integer","multipleOf":5}`, "multiple of 5"},
		{"length", `{"type":"string","minLength":2,"maxLength":5}`, "2 to 5 characters"},
		{"one character", `{"minLength":1,"maxLength":1}`, "exactly 1 character"},
		{"up to one character", `{"minLength":0,"maxLength":1}`, "0 to 1 characters"},
		{"items", `{"type":"array","minItems":1,"uniqueItems":true}`, "no duplicates; at least 1 item"},
		{"properties", `{"type":"object","maxProperties":4}`, "at most 4 properties"},
		{"pattern and format", `{"type":"string","format":"uri","pattern":"^https:"}`, "format: uri; pattern: ^https:"},
		{"encoding", `{"contentEncoding":"base64","contentMediaType":"image/png"}`, "contentEncoding: base64; contentMediaType: image/png"},
		{"default", `{"default":{"a":1}}`, `default: {"a":1}`},
		{"long default", `{"default":"` + long + `"}`, `default: "` + long[:valueWidth-1] + "…"},
		{"examples", `{"examples":["a",2,null,"not shown"]}`, `for example: "a", 2, null, … (1 more)`},
		{"example of OpenAPI", `{"example":{"a":1}}`, `for example: {"a":1}`},
		{"limits that draft-04 excludes", `{"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":true}`, "more than 0; less than 9"},
		{"limits that draft-04 includes", `{"minimum":0,"exclusiveMinimum":false,"maximum":9}`, "0 to 9"},
		{"title", `{"title":"Row id"}`, "Row id"},
		{"title beside a description", `{"title":"Row id","description":"Which"}`, "Which"},
		{"title that says the name", `{"title":" P"}`, ""},
		{"how many match", `{"contains":{"const":2},"minContains":2,"maxContains":3}`, `contains: {"const":2}; minContains: 2; maxContains: 3`},
		{"unevaluated parts", `{"unevaluatedProperties":{"const":2},"unevaluatedItems":false}`, `unevaluatedProperties: {"const":2}`},
		{"flags", `{"deprecated":true,"readOnly":true,"writeOnly":false}`, "deprecated; read-only"},
		{"condition", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":false}`, `if: {"required":["a"]}; then: {"required":["b"]}; else: false`},
		{"other rules", `{"not":{"const":1},"contains":{"const":2},"propertyNames":{"pattern":"^a"},"dependentRequired":{"a":["b"]}}`,
			`propertyNames: {"pattern":"^a"}; contains: {"const":2}; not: {"const":1}; dependentRequired: {"a":["b"]}`},
		{"names", `{"patternProperties":{"^x-":{}}}`, "names match: ^x-"},
		{"elements", `{"type":"array","items":{"type":"string","description":"A tag","maxLength":9}}`, "each: A tag, at most 9 characters"},
		{"elements one by one", `{"prefixItems":[{"description":"A"},{"type":"null"},{"minimum":1}],"items":{"description":"Z"}}`, "item 1: A; item 3: at least 1; each: Z"},
		{"elements of draft-07 one by one", `{"items":[{"description":"A"}],"additionalItems":{"description":"Z"}}`, "item 1: A; further items: Z"},
		{"properties by pattern", `{"patternProperties":{"^x":{"description":"X"},"^y":{}}}`, "names match: ^x; those: X; names match: ^y"},
		{"other properties", `{"additionalProperties":{"description":"O","maxLength":3}}`, "other properties: O, at most 3 characters"},
		{"described parts of allOf", `{"description":"Mine","allOf":[{"description":"First"},{"description":"Mine"}]}`, "Mine (First)"},
		{"description beside a described reference", `{"description":"Mine","$ref":"#/properties/p/$defs/x","$defs":{"x":{"description":"Other","minimum":1}}}`, "Mine (Other; at least 1)"},
		{"description of a reference", `{"$ref":"#/properties/p/$defs/x","$defs":{"x":{"description":"Other"}}}`, "Other"},
		{"deep elements", nest(`{"items":`, `{"description":"Deep"}`, `}`, 6), strings.Repeat("each: ", 6) + "Deep"},
		{"elements too deep", nest(`{"items":`, `{"description":"Deep"}`, `}`, 9), strings.Repeat("each: ", 8) + "…"},
		{"elements too deep without a word", nest(`{"items":`, `{"type":"string"}`, `}`, 8), ""},
		{"elements of elements", `{"items":{"items":{"minimum":1}}}`, "each: each: at least 1"},
		{"one described branch", `{"anyOf":[{"type":"object","description":"A row"},{"type":"null"}]}`, "A row"},
		{"one described branch with a constraint", `{"anyOf":[{"type":"string","description":"A key","minLength":1},{"type":"null"}]}`, "A key (string: at least 1 character)"},
		{"described branches", `{"anyOf":[{"type":"string","description":"A name"},{"type":"integer","minimum":1}]}`, "A name (integer: at least 1)"},
		{"explained values", `{"oneOf":[{"const":"a","description":"all"},{"const":"n","title":"none"}]}`, `"a": all; "n": none`},
		{"parts of allOf", `{"allOf":[{"minLength":1},{"pattern":"^a"}]}`, "at least 1 character; pattern: ^a"},
		{"beside a reference", `{"$ref":"#/$defs/none","description":"Mine"}`, "Mine (see #/$defs/none)"},
		{"lost reference", `{"$ref":"https://x.example/a.json"}`, "see https://x.example/a.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, comment(t, tt.schema)); diff != "" {
				t.Errorf("comment for %s (-want +got):\n%s", tt.schema, diff)
			}
		})
	}
}

// TestCommentOfTarget: a reference printed in place has its target's
// description; one printed by name leaves it to the named type.
func TestCommentOfTarget(t *testing.T) {
	text := declareOutput(`{"properties":{"once":{"$ref":"#/$defs/Once"},"first":{"$ref":"#/$defs/Twice"},"second":{"$ref":"#/$defs/Twice","description":"Mine"}},
		"additionalProperties":false,
		"$defs":{"Once":{"description":"used once","properties":{"a":{}}},"Twice":{"$comment":"` + long + `","description":"used twice","properties":{"a":{}},"minProperties":1,"additionalProperties":false}}}`)
	want := `// used twice (at least 1 property)
type T_Twice = { a?: unknown };
declare const tools: {
t: Tool<{}, {
// used once
once?: { a?: unknown };
first?: T_Twice;
// Mine
second?: T_Twice;
}>;
};
`
	if !strings.Contains(text, want) {
		t.Errorf("declarations =\n%s\nwant in them:\n%s", text, want)
	}
}

// TestCommentOfSharedObject: what is described in place in two tools is described
// once, above its type.
func TestCommentOfSharedObject(t *testing.T) {
	schema := tools.MustJSON(`{"properties":{"row":{"$comment":"` + long + `","description":"A row","minProperties":1,"properties":{"id":{}}},"x":{}}}`)
	text := declareAll(tools.Definition{Name: "a", Input: schema}, tools.Definition{Name: "b", Output: schema})
	checkSyntax(t, text)
	if want := "// A row (at least 1 property)\ntype Shared_Row = { id?: unknown };\n"; !strings.Contains(text, want) || strings.Count(text, "A row") != 1 {
		t.Errorf("declarations =\n%s\nwant one comment, in:\n%s", text, want)
	}
}

// TestCommentOfTool: the tool's own description stands above its arguments,
// with what the argument type cannot say.
func TestCommentOfTool(t *testing.T) {
	tests := []struct{ name, description, input, want string }{
		{"description", "Do\nit */", `{}`, `// Do it */`},
		{"rules of the arguments", "Do it", `{"properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}`, `// Do it (dependentRequired: {"a":["b"]})`},
		{"descriptions of tool and arguments", "Do it", `{"description":"The arguments","minProperties":1}`, `// Do it (The arguments; at least 1 property)`},
		{"one description twice", "Do it", `{"description":"Do it"}`, `// Do it`},
		{"description of the arguments", "", `{"description":"The arguments"}`, `// The arguments`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := catalog(t, tool(t, "t", tt.description, tt.input, "")).Declarations()
			got := strings.TrimSpace(between(t, text, "declare const tools: {\n", "t: "))
			if got != tt.want {
				t.Errorf("comment = %q, want %q", got, tt.want)
			}
		})
	}
}
