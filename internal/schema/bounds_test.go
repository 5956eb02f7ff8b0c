package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/schema"
)

// TestBounds checks that nothing a schema or a value can do makes a check
// endless, deep or large, and which bound stops it.
func TestBounds(t *testing.T) {
	t.Parallel()
	numbers := func(n int) string {
		var b strings.Builder
		b.WriteByte('[')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprint(&b, i)
		}
		return b.String() + "]"
	}
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	// Each level of doubling asks the next twice, for every element.
	doubling := `{"$ref":"#/$defs/l0","$defs":{`
	for i := range 40 {
		doubling += fmt.Sprintf(`"l%d":{"allOf":[{"$ref":"#/$defs/l%d"},{"$ref":"#/$defs/l%d"}]},`, i, i+1, i+1)
	}
	doubling += `"l40":{"type":"integer"}}}`
	forks := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"items":{"$ref":"#/$defs/n"},"minItems":2},{"items":{"$ref":"#/$defs/n"},"minItems":3},{"type":"integer"}]}}}`
	twice := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"integer"}]}}}`
	for _, tt := range []struct {
		name, schema, value string
		want                string // "" for no problem
	}{
		{"references that double", doubling, `1`, "schema too complex: checking \"value\" takes too many steps; send a smaller value"},
		{"branches that fork at every level", twice, nest("[", "null", "]", 60), "schema too complex: checking \"value\" takes too many steps; send a smaller value"},
		{"unique numbers", `{"uniqueItems":true}`, numbers(100_000), ""},
		{"unique empty arrays", `{"uniqueItems":true}`, "[" + strings.Repeat("[],", 100_000) + "[]]", `"value" must not hold the same item twice, but items 0 and 1 are both an empty array`},
		{"large exponent", `{"type":"integer","minimum":0,"multipleOf":3}`, `3e999999999`, ""},
		{"large exponent, no multiple", `{"multipleOf":3}`, `1e999999999`, `"value" must be a multiple of 3, got the number 1e999999999`},
		{"exponent beyond 64 bits", `{"maximum":1}`, `1e99999999999999999999999999`, `"value" must be at most 1, got the number 1e99999999999999999999999999`},
		{"large exponents among values", `{"enum":[1,2]}`, `1e-999999999`, `"value" must be one of [1,2], got the number 1e-999999999`},
		{"large exponents as items", `{"uniqueItems":true}`, `[1e999999999,10e999999998]`, `"value" must not hold the same item twice, but items 0 and 1 are both the number 1e999999999`},
		{"a million digits", `{"multipleOf":7}`, strings.Repeat("7", 1_000_000), ""},
		{"deepest value", `{"items":{"$ref":"#"}}`, nest("[", "", "]", 10_000), ""},
		{"deepest value, wrong at the end", `{"anyOf":[{"type":"array","items":{"$ref":"#"}}]}`, nest("[", "1", "]", 10_000),
			`"` + strings.Repeat("[0]", 12) + "..." + strings.Repeat("[0]", 12) + `" must be an array, got the number 1`},
		{"branches, wrong at the end", forks, "[[[[[[[[0,[0,[0,[0,null]]]],0]]]]]]]", `"value" fits none of its 3 allowed forms; for the closest, number 1: "value" must have at least 2 items, got 1, and "[0]" fits none of its 3 allowed forms; for the closest, number 1: "[0]" must have at least 2 items, got 1, and "[0][0]" fits none of its 3 allowed forms; for the closest, number 1: "[0][0]" must have at least 2 items, got 1, and "[0][0][0]" fits none of its 3 allowed forms, got an array of 1 item`},
		{"deepest value as a constant", `{"const":[]}`, nest("[", "", "]", 10_000), `"value" must be exactly [], got an array of 1 item`},
		{"deepest value of unique items", `{"uniqueItems":true}`, "[" + nest("[", "", "]", 9_999) + "," + nest("[", "", "]", 9_999) + "]", `"value" must not hold the same item twice, but items 0 and 1 are both an array of 1 item`},
		{"too many rules open", `{"items":{"allOf":[{"allOf":[{"allOf":[{"allOf":[{"$ref":"#"}]}]}]}]}}`, nest("[", "", "]", 10_000), "schema too complex: its references and the value are nested too deeply; send a flatter value"},
		{"large pattern on a long text", `{"pattern":"^(([a-z]{1,100}){1,10}x?)*y$"}`, `"` + strings.Repeat("a", 4<<20) + `"`, "schema too complex: checking \"value\" takes too many steps; send a smaller value"},
		{"small pattern on a long text", `{"pattern":"^[a-z]*$"}`, `"` + strings.Repeat("a", 4<<20) + `"`, ""},
		{"backtracking", `{"pattern":"^(a+)+\\1$"}`, `"` + strings.Repeat("a", 64) + `b"`, `checking the pattern ^(a+)+\1$ took too long; send a shorter text`},
		{"backtracking under not", `{"not":{"pattern":"^(a+)+\\1$"}}`, `"` + strings.Repeat("a", 64) + `b"`, `checking the pattern ^(a+)+\1$ took too long; send a shorter text`},
		{"lookahead", `{"pattern":"^(?=.*[0-9])[a-z0-9]+$"}`, `"abc1"`, ""},
		{"lookahead, letters of all languages", `{"pattern":"^(?=.)\\p{L}+$"}`, `"né"`, ""},
		{"back reference", `{"pattern":"^(?<q>['\"]).*\\k<q>$"}`, `"'a'"`, ""},
		{"lookahead fails", `{"pattern":"^(?=.*[0-9])[a-z0-9]+$"}`, `"abc"`, `"value" must match the pattern ^(?=.*[0-9])[a-z0-9]+$, got the string "abc"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			problems := compile(t, tt.schema).Check(tt.value, anyValue)
			switch {
			case tt.want == "" && problems != nil:
				t.Errorf("problems: %.500v", problems)
			case tt.want != "" && (len(problems) != 1 || problems[0].Text != tt.want):
				t.Errorf("problems %.500v\nwant %s", problems, tt.want)
			}
		})
	}
}

// TestBoundsOfArguments checks the same for the comparison of names.
func TestBoundsOfArguments(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `"name%d":{"x":1},`, i)
	}
	args := "{" + strings.TrimSuffix(many.String(), ",") + "}"
	s := compile(t, `{"properties":{"a":true},"additionalProperties":{"properties":{"x":true}}}`)
	if got := s.Check(args, arguments); got != nil {
		t.Errorf("problems: %.500v", got)
	}
	deep := `{"properties":{"a":{"$ref":"#"}}}`
	if got := compile(t, deep).Check(strings.Repeat(`{"a":`, 9_999)+"{}"+strings.Repeat("}", 9_999), arguments); got != nil {
		t.Errorf("problems: %.500v", got)
	}
}

func BenchmarkCheck(b *testing.B) {
	s := compile(b, orders)
	b.ReportAllocs()
	for b.Loop() {
		if s.Check(`{"customer":"c9","max":5}`, arguments) != nil {
			b.Fatal("must fit")
		}
	}
}

func BenchmarkCheckRows(b *testing.B) {
	s := compile(b, `{"type":"array","items":{"type":"object","required":["id","name"],"properties":{"id":{"type":"integer"},"name":{"type":"string","maxLength":50},"tags":{"type":"array","items":{"enum":["a","b","c"]}}}}}`)
	rows := "[" + strings.TrimSuffix(strings.Repeat(`{"id":12,"name":"row","tags":["a","c"]},`, 10_000), ",") + "]"
	b.SetBytes(int64(len(rows)))
	b.ReportAllocs()
	for b.Loop() {
		if s.Check(rows, anyValue) != nil {
			b.Fatal("must fit")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(orders); err != nil {
			b.Fatal(err)
		}
	}
}
