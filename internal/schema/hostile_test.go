package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/schema"
)

// list is n texts with commas between.
func list(n int, text func(i int) string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text(i)
	}
	return strings.Join(texts, ",")
}

// TestHostileSchemas compiles what a server could send to cost its client time
// or memory, and checks a value with what is accepted. Each has a bound on what it
// allocates, which is also one on its time.
func TestHostileSchemas(t *testing.T) {
	const (
		seven   = `"$schema":"http://json-schema.org/draft-07/schema#",`
		four    = `"$schema":"http://json-schema.org/draft-04/schema#",`
		foreign = "the schema has more than 2000 objects and arrays; one as large must be of draft 2020-12 or draft-07, without $id, anchors and dynamic references, and without a fault"
		steps   = `schema too complex: checking "value" takes too many steps; send a smaller value`
	)
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	name := strings.Repeat("abcdefghij", 20)
	names := func(n int, after, end string) string {
		return list(n, func(i int) string { return fmt.Sprintf(`"%s%s%d"%s`, name, after, i, end) })
	}
	numbers := list(100_000, func(i int) string { return fmt.Sprint(i) })
	firstNumbers := list(20, func(i int) string { return fmt.Sprint(i) })
	for _, tt := range []struct {
		name, schema, refused string
		value, problem        string // of what is accepted: how the first problem begins
		megabytes             uint64
	}{
		{"references to what are no parts", `{"allOf":[` + list(3_000, func(i int) string { return fmt.Sprintf(`{"$ref":"#/x/%d"}`, i) }) + `],"x":[` + list(3_000, func(int) string { return `{"type":"null"}` }) + `]}`, "",
			`null`, "", 40},
		{"the same with a name somewhere", `{"$id":"a","allOf":[` + list(3_000, func(i int) string { return fmt.Sprintf(`{"$ref":"#/x/%d"}`, i) }) + `],"x":[` + list(3_000, func(int) string { return `{"type":"null"}` }) + `]}`, foreign,
			"", "", 40},
		{"names for parts", `{"$defs":{` + list(4_900, func(i int) string { return fmt.Sprintf(`"a%d":{"$id":"b%d"}`, i, i) }) + `}}`, "at /$defs/a0/$id: " + foreign, "", "", 40},
		{"dynamic anchors", `{"$defs":{` + list(4_900, func(i int) string { return fmt.Sprintf(`"a%d":{"$dynamicAnchor":"b%d"}`, i, i) }) + `},"$dynamicRef":"#b1"}`, foreign, "", "", 40},
		{"references to the metaschema", `{"allOf":[` + list(4_000, func(int) string { return `{"$ref":"https://json-schema.org/draft/2020-12/schema"}` }) + `]}`, foreign, "", "", 40},
		{"a large schema with a fault", `{"properties":{` + list(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `,"q/":{"type":"strng"}}}`, "at /properties/q~1/type: " + foreign, "", "", 60},
		{"a large schema", `{"properties":{` + list(9_900, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`, "", `{"p9899":""}`, "", 60},
		{"a chain of references", `{"$ref":"#/$defs/a0","$defs":{` + list(4_000, func(i int) string { return fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1) }) + `,"a4000":{"type":"null"}}}`, "",
			`1`, `"value" must be null, got the number 1`, 60},
		{"a ring of references", `{"$ref":"#/$defs/a0","$defs":{` + list(4_000, func(i int) string { return fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, (i+1)%4_000) }) + `}}`, foreign, "", "", 60},
		{"a reference into a list of values", `{"properties":{"a":{"enum":[{"$ref":"#"}]}},"$ref":"#/properties/a/enum/0"}`, "the schema refers to itself without going into the value", "", "", 20},
		{"sets of many characters", `{"allOf":[` + list(900, func(int) string { return `{"pattern":"` + strings.Repeat(`\\pL`, 500) + `"}` }) + `]}`, `the pattern \pL\pL\pL`, "", "", 120},
		{"such sets without case", `{"pattern":"(?i)` + strings.Repeat(`\\pL`, 2_000) + `"}`, `names too many characters`, "", "", 160},
		{"such sets in many patterns", `{"allOf":[` + list(1_500, func(int) string { return `{"pattern":"` + strings.Repeat(`\\pL`, 20) + `"}` }) + `]}`, `the patterns of the schema are too large together`, "", "", 300},
		{"such sets in moderation", `{"pattern":"^\\p{L}[\\p{L}\\p{N}_]*$"}`, "", `"né1"`, "", 20},
		{"backtracking patterns", `{"allOf":[` + list(4_000, func(int) string { return `{"pattern":"^(?=a)(a+)+$"}` }) + `]}`, "",
			`"` + strings.Repeat("a", 40) + `b"`, `checking the pattern ^(?=a)(a+)+$ took too long; send a shorter text`, 120},
		{"a huge enum", `{"enum":[` + numbers + `]}`, "", `"x"`, `"value" must be one of [` + firstNumbers + `] and 99980 more, got the string "x"`, 120},
		{"a huge enum whose values must differ", `{` + seven + `"enum":[` + numbers + `]}`, "", `"x"`, `"value" must be one of [` + firstNumbers + `] and 99980 more, got the string "x"`, 140},
		{"a huge enum of draft-04", `{` + four + `"enum":[` + numbers + `]}`, "", `"x"`, `"value" must be one of [` + firstNumbers + `] and 99980 more, got the string "x"`, 220},
		{"many huge enums", `{"allOf":[` + list(25, func(int) string { return `{"$ref":"#/$defs/a"}` }) + `],"$defs":{"a":{"enum":[` + numbers + `]}}}`, "", `99999`, steps, 120},
		{"wrong names among many", `{"properties":{` + names(4_000, "", `:true`) + `},"required":[` + names(4_000, "", "") + `]}`, "",
			`{` + names(20_000, "x", `:true`) + `}`, `missing required property "` + name[:64] + `…"`, 120},
		{"unknown names among many", `{"properties":{` + names(8_000, "", `:true`) + `},"additionalProperties":false}`, "",
			`{` + names(8_000, "x", `:true`) + `}`, `unknown property "` + name[:64] + `…"; allowed: ` + name[:64], 120},
		{"long names", `{"properties":{` + list(100, func(i int) string { return fmt.Sprintf(`"%s%d":true`, strings.Repeat(name, 90), i) }) + `},"additionalProperties":false}`, "",
			`{` + list(100, func(i int) string { return fmt.Sprintf(`"x%s%d":true`, strings.Repeat(name, 90), i) }) + `}`, `unknown property "x` + name[:63] + `…"; allowed: ` + name[:64], 120},
		{"wrong values of long enums", `{"items":{"enum":[` + names(8_000, "", "") + `]}}`, "",
			`[` + names(30, "x", "") + `]`, `"[0]" must be one of ["` + name[:64], 120},
		{"numbers beyond float64", `{"minimum":-1e400}`, `the number -1e400 is too long or too large for a schema`, "", "", 20},
		{"many digits", `{"multipleOf":0.` + strings.Repeat("3", 990) + `}`, "", `1e999999999999`, `"value" must be a multiple of 0.33333333333333333333333333333333333333…, got the number 1e999999999999`, 20},
		{"a keyword twice", `{"type":"string","type":"null"}`, "", `null`, "", 20},
		{"members of objects' prototypes", `{"properties":{"__proto__":{"type":"string"}},"required":["constructor"],"additionalProperties":false}`, "",
			`{"__proto__":1,"constructor":1}`, `"__proto__" must be a string, got the number 1; put it in quotes`, 20},
		{"drafts that are mixed", `{"definitions":{"a":{` + four + `"id":"http://a/b","minimum":1,"exclusiveMinimum":true},
			"b":{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"http://c/d","$recursiveAnchor":true,"items":[{"$recursiveRef":"#"}]}},"allOf":[{"$ref":"http://a/b"},{"$ref":"http://c/d"}]}`, "",
			`1`, `"value" must be greater than 1, got the number 1`, 20},
		{"nested to the limit", nest(`{"not":`, `{"type":"null"}`, `}`, 199), "", `null`, `"value" has a form that the schema excludes, got null`, 20},
		{"members nobody evaluates", `{"allOf":[` + list(2_000, func(i int) string { return fmt.Sprintf(`{"properties":{"p%d":true}}`, i) }) + `],"unevaluatedProperties":false}`, "",
			`{` + list(2_000, func(i int) string { return fmt.Sprintf(`"p%d":1`, i) }) + `}`, "", 60},
		{"elements searched again and again", `{"allOf":[` + list(2_000, func(i int) string { return fmt.Sprintf(`{"contains":{"const":%d}}`, i) }) + `]}`, "", `[` + list(10_000, func(i int) string { return fmt.Sprint(i) }) + `]`, steps, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := schema.Compile(tt.schema)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("error %.500v\nmust contain %s", err, tt.refused)
				}
			} else if err != nil {
				t.Fatalf("refused: %.500v", err)
			} else if got := s.Check(tt.value, anyValue); tt.problem == "" && got != nil || tt.problem != "" && (got == nil || !strings.HasPrefix(got[0].Text, tt.problem)) {
				t.Errorf("problems %.500v\nwant %s", got, tt.problem)
			}
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > tt.megabytes {
				t.Errorf("%d MB were allocated, want at most %d", used, tt.megabytes)
			} else {
				t.Logf("%d MB", used)
			}
		})
	}
}
