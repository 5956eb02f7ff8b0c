package schema_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/schema"
)

var (
	arguments = schema.Root{Name: "arguments", Arguments: true}
	anyValue  = schema.Root{Name: "value"}
)

func compile(t testing.TB, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(text)
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	return s
}

// lines are the problems as "pointer: text".
func lines(problems []schema.Problem) []string {
	var list []string
	for _, p := range problems {
		list = append(list, p.Pointer+": "+p.Text)
	}
	return list
}

const orders = `{"type":"object","additionalProperties":false,"required":["customer"],
	"properties":{"customer":{"type":"string"},"max":{"type":"integer"}}}`

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, schema, value string
		want                []string
	}{
		{"fits", `{"type":"integer"}`, `5`, nil},
		{"whole number with a point", `{"type":"integer"}`, `5.0`, nil},
		{"integer", `{"properties":{"n":{"type":"integer"}}}`, `{"n":"abc"}`, []string{`/n: "n" must be an integer, got the string "abc"`}},
		{"number in a string", `{"properties":{"n":{"type":"integer"}}}`, `{"n":"5"}`, []string{`/n: "n" must be an integer, got the string "5"; send it without quotes`}},
		{"string without quotes", `{"properties":{"s":{"type":"string"}}}`, `{"s":5}`, []string{`/s: "s" must be a string, got the number 5; put it in quotes`}},
		{"object in a string", `{"properties":{"o":{"type":"object"}}}`, `{"o":"{}"}`, []string{`/o: "o" must be an object, got the string "{}"; send the value itself, not a string of JSON`}},
		{"null for an optional property", `{"properties":{"s":{"type":"string"}}}`, `{"s":null}`, []string{`/s: "s" must be a string, got null; leave it out`}},
		{"null for a required property", `{"properties":{"s":{"type":"string"}},"required":["s"]}`, `{"s":null}`, []string{`/s: "s" must be a string, got null`}},
		{"element", `{"properties":{"l":{"items":{"type":"number"}}}}`, `{"l":[1,null]}`, []string{`/l/1: "l[1]" must be a number, got null`}},
		{"root", `{"type":"string"}`, `[1]`, []string{`: "value" must be a string, got an array of 1 item`}},
		{"types", `{"type":["string","array","null"]}`, `{"a":1}`, []string{`: "value" must be a string, an array or null, got an object with a`}},
		{"enum", `{"properties":{"mode":{"enum":["a","b"]}}}`, `{"mode":"xx"}`, []string{`/mode: "mode" must be one of ["a","b"], got the string "xx"`}},
		{"enum, near", `{"properties":{"mode":{"enum":["append","replace"]}}}`, `{"mode":"Append"}`, []string{`/mode: "mode" must be one of ["append","replace"], got the string "Append"; did you mean "append"?`}},
		{"const", `{"properties":{"k":{"const":{"b":1,"a":2}}}}`, `{"k":true}`, []string{`/k: "k" must be exactly {"a":2,"b":1}, got true`}},
		{"missing, nested", `{"properties":{"a":{"required":["b"]}}}`, `{"a":{}}`, []string{`/a/b: missing required property "a.b"`}},
		{"order", `{"required":["z"],"properties":{"b":{"type":"null"},"a":{"type":"null"}},"additionalProperties":false}`, `{"x":1,"a":1,"b":1}`, []string{
			`/z: missing required property "z"`,
			`/b: "b" must be null, got the number 1`,
			`/a: "a" must be null, got the number 1`,
			`/x: unknown property "x"; allowed: b, a`,
		}},
		{"several unknown", `{"properties":{"a":true},"additionalProperties":false}`, `{"x":1,"y":2}`, []string{
			`/x: unknown property "x"; allowed: a`, `/y: unknown property "y"`,
		}},
		{"nothing allowed", `{"additionalProperties":false}`, `{"x":1}`, []string{`/x: unknown property "x"; allowed: no properties at all`}},
		{"unevaluated", `{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}`, `{"a":1,"b":2,"c":3}`, []string{`/c: unknown property "c"; allowed: b, a`}},
		{"unevaluated items", `{"prefixItems":[true],"unevaluatedItems":{"type":"string"}}`, `[1,2]`, []string{`/1: "[1]" must be a string, got the number 2; put it in quotes`}},
		{"additional by schema", `{"additionalProperties":{"type":"string"}}`, `{"x":[]}`, []string{`/x: "x" must be a string, got an empty array`}},
		{"pattern property", `{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"x-a":[]}`, []string{`/x-a: "x-a" must be a string, got an empty array`}},
		{"minimum", `{"minimum":3}`, `2.50`, []string{`: "value" must be at least 3, got the number 2.50`}},
		{"maximum", `{"maximum":-3}`, `0`, []string{`: "value" must be at most -3, got the number 0`}},
		{"exclusive", `{"exclusiveMinimum":0,"exclusiveMaximum":1}`, `1e0`, []string{`: "value" must be less than 1, got the number 1e0`}},
		{"exclusive minimum", `{"exclusiveMinimum":0}`, `-0`, []string{`: "value" must be greater than 0, got the number -0`}},
		{"multiple", `{"multipleOf":0.1}`, `0.25`, []string{`: "value" must be a multiple of 0.1, got the number 0.25`}},
		{"exact decimals", `{"multipleOf":0.01}`, `1234567890123456789.01`, nil},
		{"large integers differ", `{"const":9007199254740993}`, `9007199254740992`, []string{`: "value" must be exactly 9007199254740993, got the number 9007199254740992`}},
		{"lengths", `{"minLength":3}`, `"äö"`, []string{`: "value" must have at least 3 characters, got 2`}},
		{"length of pairs", `{"maxLength":1}`, `"😀"`, nil},
		{"huge count", `{"maxLength":1e100}`, `"x"`, nil},
		{"pattern", `{"pattern":"^a+$"}`, `"b\n"`, []string{`: "value" must match the pattern ^a+$, got the string "b\n"`}},
		{"items", `{"minItems":1}`, `[]`, []string{`: "value" must have at least 1 item, got 0`}},
		{"no more items", `{"prefixItems":[true,true],"items":false}`, `[1,2,3]`, []string{`: "value" must have at most 2 items, got 3`}},
		{"draft-07 items", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, []string{`: "value" must have at most 1 item, got 2`}},
		{"unique", `{"uniqueItems":true}`, `[{"a":1,"b":2},7,{"b":2,"a":1.0}]`, []string{`: "value" must not hold the same item twice, but items 0 and 2 are both an object with a, b`}},
		{"contains", `{"contains":{"type":"string"}}`, `[1]`, []string{`: "value" must contain at least 1 item that is a string, got 0`}},
		{"contains at most", `{"contains":{"minimum":5},"maxContains":1}`, `[5,6]`, []string{`: "value" must contain at most 1 item that is of the required form, got 2`}},
		{"properties", `{"maxProperties":1}`, `{"a":1,"b":2}`, []string{`: "value" must have at most 1 property, got 2`}},
		{"property names", `{"properties":{"o":{"propertyNames":{"maxLength":1}}}}`, `{"o":{"ab":1}}`, []string{`/o/ab: property name "ab" of "o" must have at most 1 character, got 2`}},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []string{`/b: missing required property "b" (required when "a" is sent)`}},
		{"dependent schema", `{"dependentSchemas":{"a":{"required":["c"]}}}`, `{"a":1}`, []string{`/c: missing required property "c"`}},
		{"then", `{"if":{"properties":{"k":{"const":1}}},"then":{"required":["x"]},"else":{"required":["y"]}}`, `{"k":1}`, []string{`/x: missing required property "x"`}},
		{"else", `{"if":{"properties":{"k":{"const":1}}},"then":{"required":["x"]},"else":{"required":["y"]}}`, `{"k":2}`, []string{`/y: missing required property "y"`}},
		{"not a type", `{"not":{"type":"string"}}`, `"a"`, []string{`: "value" must not be a string, got the string "a"`}},
		{"not a property", `{"not":{"required":["a"]}}`, `{"a":1}`, []string{`: property "a" is not allowed here`}},
		{"not together", `{"not":{"required":["a","b"]}}`, `{"a":1,"b":1}`, []string{`: the properties a, b must not be sent together`}},
		{"not", `{"not":{"minimum":1}}`, `1`, []string{`: "value" has a form that the schema excludes, got the number 1`}},
		{"false", `false`, `1`, []string{`: "value": the schema allows no value at all`}},
		{"false property", `{"properties":{"a":false}}`, `{"a":1}`, []string{`/a: property "a" is not allowed`}},
		{"oneOf twice", `{"properties":{"v":{"oneOf":[{"type":"number"},{"type":"integer"}]}}}`, `{"v":5}`, []string{`/v: "v" must match exactly one oneOf branch (matched 2), got the number 5`}},
		{"oneOf, none", `{"oneOf":[{"type":"number"},{"const":"auto"}]}`, `"x"`, []string{`: "value" must match exactly one oneOf branch (matched 0), got the string "x"; allowed: a number or exactly "auto"`}},
		{"anyOf of types", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{}`, []string{`: "value" must be a string or null, got an empty object`}},
		{"anyOf of values", `{"anyOf":[{"const":"a"},{"enum":["b","c"]}]}`, `"d"`, []string{`: "value" must be one of ["a","b","c"], got the string "d"`}},
		{"anyOf of other types", `{"anyOf":[{"type":"object","required":["a"]},{"type":"null"}]}`, `5`, []string{`: "value" must be an object or null, got the number 5`}},
		{"closest form", `{"anyOf":[
			{"properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"]},
			{"properties":{"kind":{"const":"b"},"y":{"type":"string"}},"required":["kind","y"]}]}`, `{"kind":"b","y":[]}`, []string{
			`: "value" fits none of its 2 allowed forms; for the closest, number 2: "y" must be a string, got an empty array`}},
		{"allOf", `{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, []string{`/a: missing required property "a"`, `/b: missing required property "b"`}},
		{"reference", `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"integer"}}}}}`, `{"next":{"next":{"v":"x"}}}`, []string{
			`/next/next/v: "next.next.v" must be an integer, got the string "x"`}},
		{"odd names", `{"properties":{"a b":{"properties":{"c/d~":{"type":"null"}}}}}`, `{"a b":{"c/d~":1}}`, []string{`/a b/c~1d~0: "a b['c/d~']" must be null, got the number 1`}},
		{"hidden characters", `{"additionalProperties":false}`, `{"a\u202e\nb":1}`, []string{"/a\u202e\nb: unknown property \"a\uFFFD\\nb\"; allowed: no properties at all"}},
		{"lone surrogate", `{"const":"\ud800"}`, `"\ud801"`, []string{`: "value" must be exactly "\ud800", got the string "\ud801"`}},
		{"format annotates", `{"format":"email"}`, `"no address"`, nil},
		{"long values are cut", `{"type":"null"}`, `"` + strings.Repeat("x", 100) + `"`, []string{`: "value" must be null, got a string of 100 characters, "` + strings.Repeat("x", 40) + `…"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := compile(t, tt.schema).Check(tt.value, anyValue)
			if d := cmp.Diff(tt.want, lines(got)); d != "" {
				t.Errorf("%s against %s (-want +got):\n%s", tt.value, tt.schema, d)
			}
			if tt.name != "hidden characters" {
				checkWords(t, got)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	open := strings.Replace(orders, `"additionalProperties":false,`, "", 1)
	nested := `{"properties":{"list":{"items":{"anyOf":[{"$ref":"#/$defs/file"},{"type":"null"}]}}},"$defs":{"file":{"properties":{"path":true}}}}`
	for _, tt := range []struct {
		name, schema, value string
		want                []string
	}{
		{"unknown name", orders, `{"customer":"c9","limit":5}`, []string{`/limit: unknown property "limit"; allowed: customer, max`}},
		{"unknown name, near", orders, `{"customer":"c9","maxx":5}`, []string{`/maxx: unknown property "maxx"; allowed: customer, max; did you mean "max"?`}},
		{"missing and near", orders, `{"custmer":"c9"}`, []string{`/customer: missing required property "customer"; you sent "custmer", rename it to "customer"`}},
		{"missing and near, open", open, `{"Customer":"c9"}`, []string{`/customer: missing required property "customer"; you sent "Customer", rename it to "customer"`}},
		{"no object", orders, `["c9"]`, []string{`: "arguments" must be an object, got an array of 1 item`}},
		{"no object, no schema", `true`, `null`, []string{`: "arguments" must be an object, got null`}},
		{"text of an object", orders, `"{}"`, []string{`: "arguments" must be an object, got the string "{}"; send the value itself, not a string of JSON`}},
		{"case of a declared name", open, `{"customer":"c9","MAX":1}`, []string{`/MAX: property "MAX" differs only in case from the declared "max"; names are case-sensitive, send "max"`}},
		{"case, both sent", open, `{"customer":"c9","Customer":"evil"}`, []string{`/Customer: property "Customer" differs only in case from "customer", which was sent too; send only "customer"`}},
		{"case, closed", orders, `{"customer":"c9","Customer":"evil"}`, []string{`/Customer: unknown property "Customer"; allowed: customer, max; "customer" was sent too, send only that`}},
		{"case beyond ASCII", `{"properties":{"key":true,"straße":true}}`, `{"\u212aey":1,"stra\u1e9ee":2}`, []string{
			"/\u212aey: property \"\u212aey\" differs only in case from the declared \"key\"; names are case-sensitive, send \"key\"",
			"/stra\u1e9ee: property \"stra\u1e9ee\" differs only in case from the declared \"straße\"; names are case-sensitive, send \"straße\""}},
		{"case of undeclared names", open, `{"customer":"c9","Extra":1,"extra":2}`, []string{`/extra: properties "Extra" and "extra" differ only in case; send one of them`}},
		{"case without a schema", `{}`, `{"A":1,"a":2}`, []string{`/a: properties "A" and "a" differ only in case; send one of them`}},
		{"case in a nested object", nested, `{"list":[{"Path":"x"}]}`, []string{`/list/0/Path: property "list[0].Path" differs only in case from the declared "list[0].path"; names are case-sensitive, send "list[0].path"`}},
		{"both declared", `{"properties":{"a":true,"A":true}}`, `{"a":1,"A":2}`, nil},
		{"free map", `{"properties":{"env":{"additionalProperties":{"type":"string"}}}}`, `{"env":{"Path":"a","PATH":"b"}}`, nil},
		{"declared by another branch", `{"anyOf":[{"properties":{"path":true}},{"properties":{"Path":true}}]}`, `{"Path":1}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := compile(t, tt.schema).Check(tt.value, arguments)
			if d := cmp.Diff(tt.want, lines(got)); d != "" {
				t.Errorf("%s against %s (-want +got):\n%s", tt.value, tt.schema, d)
			}
			checkWords(t, got)
		})
	}
	t.Run("results may differ in case", func(t *testing.T) {
		t.Parallel()
		if got := compile(t, open).Check(`{"customer":"c9","Customer":1}`, anyValue); got != nil {
			t.Errorf("problems: %v", got)
		}
	})
	t.Run("nil schema", func(t *testing.T) {
		t.Parallel()
		var s *schema.Schema
		if got := s.Check(`{"a":[1]}`, arguments); got != nil {
			t.Errorf("problems: %v", got)
		}
		if got := s.Check(`1`, anyValue); got != nil {
			t.Errorf("problems: %v", got)
		}
	})
}

func TestManyProblems(t *testing.T) {
	t.Parallel()
	got := compile(t, `{"items":{"type":"string"}}`).Check("["+strings.TrimSuffix(strings.Repeat("1,", 10_000), ",")+"]", anyValue)
	if len(got) != 26 || got[25].Text != "and possibly more; correct these first" {
		t.Errorf("%d problems, last %v", len(got), got[len(got)-1])
	}
}

func TestCompileErrors(t *testing.T) {
	here, err := os.Getwd() // the library resolves addresses against it
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	nest := func(n int) string {
		return strings.Repeat(`{"not":`, n) + "{}" + strings.Repeat("}", n)
	}
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct{ name, schema, want string }{
		{"remote", `{"properties":{"a":{"$ref":"https://example.com/x.json#/y"}}}`, `it refers to "https://example.com/x.json", which lies outside the schema and is not loaded; only references inside the schema work, such as "#/$defs/name"`},
		{"file", `{"$ref":"file:///etc/passwd"}`, `it refers to "file:///etc/passwd", which lies outside`},
		{"relative", `{"$ref":"other.json"}`, `it refers to "other.json", which lies outside`},
		{"missing definition", `{"properties":{"a":{"$ref":"#/$defs/x"}}}`, `it refers to "#/$defs/x", which the schema does not have`},
		{"missing anchor", `{"properties":{"a":{"$ref":"#x"}}}`, `it refers to "#x", which the schema does not have`},
		{"unknown draft", `{"$schema":"https://example.com/draft"}`, `at /$schema: unknown draft; use https://json-schema.org/draft/2020-12/schema`},
		{"bad type", `{"properties":{"a":{"type":"strng"}}}`, `at /properties/a/type: `},
		{"bad type, hint", `{"type":"strng"}`, `did you mean "string"?`},
		{"bad required", `{"properties":{"a":{"required":"b"}}}`, `at /properties/a/required: "properties.a.required" must be an array, got the string "b"`},
		{"bad pattern", `{"properties":{"a":{"pattern":"("}}}`, `at /properties/a/pattern: the pattern ( is not a regular expression`},
		{"bad pattern property", `{"patternProperties":{"[":true}}`, `the pattern [ is not a regular expression`},
		{"repetition only the backtracking engine takes", `{"pattern":"((a{100}){10}b{1000}){100}"}`, ``},
		{"repetition, in bounds for the library", `{"pattern":"(a{1000}|b{999}){1,1}((c{30}){30}){1}((d{30}){30}){1}"}`, ``},
		{"large repetitions together", `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"(a{20}){45}(b{20}){45}"},`, 400), ",") + `]}`, `the patterns of the schema are too large together`},
		{"one large pattern", `{"pattern":"` + strings.Repeat("a{1000}", 60) + `"}`, `the repetitions of the pattern a{1000}a{1000}`},
		{"long pattern", `{"pattern":"` + strings.Repeat("a", 10_000) + `"}`, `the pattern has 10000 characters; at most 8192 are accepted`},
		{"loop", `{"$ref":"#"}`, `the schema refers to itself without going into the value`},
		{"loop of two", `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}`, `the schema refers to itself without going into the value`},
		{"array", `[]`, `a schema is an object, true or false, but this is an empty array`},
		{"text", `"{}"`, `a schema is an object, true or false, but this is the string "{}"`},
		{"no JSON", `{`, `invalid JSON at byte 1`},
		{"huge exponent", `{"minimum":1e999999999}`, `at /minimum: the number 1e999999999 is too long or too large for a schema`},
		{"huge exponent in an enum", `{"enum":[-1e-999999999]}`, `at /enum/0: the number -1e-999999999 is too long`},
		{"too deep", nest(300), `the schema is nested deeper than 200 levels`},
		{"too large", `{"enum":[` + strings.TrimSuffix(strings.Repeat("[],", 20_000), ",") + `]}`, `the schema is too large`},
		{"too long", `{"title":"` + strings.Repeat("x", 3<<20) + `"}`, `at most 2097152 are accepted`},
		{"bad id", `{"$id":"%zz"}`, `the schema has a malformed $id, $schema or $ref`},
		{"two anchors", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `two subschemas have the same anchor "x"`},
		{"long remote", `{"$ref":"https://example.com/` + long + `"}`, "xxx…\", which lies outside"},
		{"long reference", `{"$ref":"#/` + long + `"}`, "xxx…\", which the schema does not have"},
		{"long anchor", `{"$defs":{"a":{"$anchor":"` + long + `"},"b":{"$anchor":"` + long + `"}}}`, "xxx…\""},
		{"long names", `{"properties":{"` + long + `":{"type":"strng"}}}`, `xxx…: "properties.xxx`},
		{"names that hide", `{"properties":{"\u001b[2J\u202e":{"type":"strng"}}}`, "at /properties/\uFFFD[2J\uFFFD/type: "},
		{"two ids", `{"$defs":{"a":{"$id":"http://x/y"},"b":{"$id":"http://x/y"}}}`, `two subschemas have the same $id`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile(tt.schema)
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v\nmust contain %s", err, tt.want)
			}
			if err != nil && len(err.Error()) > 1_000 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
			if err != nil && (strings.Contains(err.Error(), "schema:///") || strings.Contains(err.Error(), here)) {
				t.Errorf("error %v names an address of ours", err)
			}
		})
	}
	if _, err := schema.Compile(nest(150)); err != nil {
		t.Errorf("150 levels: %v", err)
	}
}

// TestDynamicReferences checks what the draft-07 suite cannot hold.
func TestDynamicReferences(t *testing.T) {
	t.Parallel()
	tree := `{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
		"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","type":"object",
			"properties":{"data":true,"children":{"type":"array","items":{"$dynamicRef":"#node"}}}}}}`
	recursive := `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://example.com/r","$recursiveAnchor":true,
		"anyOf":[{"type":"integer"},{"type":"object","additionalProperties":{"$recursiveRef":"#"}}]}`
	for _, tt := range []struct {
		name, schema, value string
		ok                  bool
	}{
		{"strict below, fits", tree, `{"children":[{"data":1}]}`, true},
		{"strict below, does not", tree, `{"children":[{"daat":1}]}`, false},
		{"metaschema, fits", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"properties":{"a":{"type":"string"}}}`, true},
		{"metaschema, deep fault", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"properties":{"a":{"type":"strin"}}}`, false},
		{"recursive, fits", recursive, `{"a":{"b":1}}`, true},
		{"recursive, does not", recursive, `{"a":{"b":"x"}}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := compile(t, tt.schema).Check(tt.value, anyValue); (got == nil) != tt.ok {
				t.Errorf("problems: %v", got)
			}
		})
	}
}

func Example() {
	s, err := schema.Compile(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range s.Check(`{"file_path":"a.txt"}`, schema.Root{Name: "arguments", Arguments: true}) {
		fmt.Println(p.Pointer, p.Text)
	}
	// Output: /path missing required property "path"; you sent "file_path", rename it to "path"
}
