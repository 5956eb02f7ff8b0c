package schema

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// costly is what the library could not check in reasonable time.
var costly = regexp.MustCompile(`[eE][+-]?[0-9]{3}|[0-9]{400}|\\[uU][dD]`)

// FuzzCheck compares the check with the library's own, which shares the
// compiled schema and nothing else.
func FuzzCheck(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"integer","minimum":3}`, `5.0`},
		{`{"properties":{"a":{"enum":[1,"x",null]}},"required":["a"],"additionalProperties":false}`, `{"a":1.0,"b":2}`},
		{`{"oneOf":[{"multipleOf":0.1},{"type":"array","uniqueItems":true}]}`, `[1,1]`},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":{"type":"string"}}`, `{"a":1,"b":"c"}`},
		{`{"anyOf":[{"prefixItems":[true]},{"contains":{"const":2}}],"unevaluatedItems":false}`, `[1,2]`},
		{`{"if":{"required":["a"]},"then":{"minProperties":2},"else":{"propertyNames":{"pattern":"^b"}}}`, `{"a":1}`},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"items":{"$ref":"#/$defs/n"}}}}`, `[[],[1]]`},
		{`{"dependentSchemas":{"a":{"not":{"required":["b"]}}}}`, `{"a":1,"b":2}`},
		{`{"patternProperties":{"^a":{"exclusiveMaximum":1}},"dependentRequired":{"a":["b"]}}`, `{"a":1}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schemaText, valueText string) {
		s, err := Compile(schemaText)
		if err != nil {
			if _, ok := err.(*Error); !ok || err.Error() == "" || strings.Contains(err.Error(), docURL) {
				t.Fatalf("error %v (%T)", err, err)
			}
			return
		}
		problems := s.Check(valueText, Root{Name: "value"})
		for _, root := range []Root{{Name: "value"}, argumentsRoot} {
			if diff := cmp.Diff(checkAnew(s, valueText, root), s.Check(valueText, root)); diff != "" {
				t.Fatalf("%s against %s (-anew +again):\n%s", valueText, schemaText, diff)
			}
		}
		for _, p := range problems {
			if p.Text == "" || strings.ContainsAny(p.Text, "\n\r\x1b") {
				t.Fatalf("text %q", p.Text)
			}
		}
		v, err := parse(valueText)
		if err != nil || costly.MatchString(schemaText+valueText) || strings.Contains(schemaText, "$schema") || len(schemaText) > 2000 || len(valueText) > 2000 {
			return
		}
		if len(problems) == 1 && (strings.Contains(problems[0].Text, "too complex") || strings.Contains(problems[0].Text, "took too long")) {
			return
		}
		doc, _ := parse(schemaText)
		if repeats(doc) || repeats(v) {
			return
		}
		c := newCompiler(&patternCompiler{left: largestSum})
		if err := c.AddResource(docURL, doc.toAny()); err != nil {
			t.Fatal(err)
		}
		reference, err := c.Compile(docURL)
		if err != nil {
			t.Fatal(err)
		}
		if want := reference.Validate(v.toAny()) == nil; want != (len(problems) == 0) {
			t.Fatalf("%s against %s: the library says valid is %v, problems: %v", valueText, schemaText, want, problems)
		}
	})
}

// repeats reports whether an object below v names a property twice.
func repeats(v *value) bool {
	seen := map[string]bool{}
	for i := range v.items {
		if v.isObject() && seen[v.names[i]] || repeats(&v.items[i]) {
			return true
		}
		if v.isObject() {
			seen[v.names[i]] = true
		}
	}
	return false
}

func FuzzDecimal(f *testing.F) {
	f.Add("1.50", "15e-1")
	f.Add("-0", "0.00")
	f.Add("100", "1e2")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 60 || len(b) > 60 || costly.MatchString(a) || costly.MatchString(b) {
			return
		}
		x, errX := parse(a)
		y, errY := parse(b)
		if errX != nil || errY != nil || !x.isNumber() || !y.isNumber() {
			return
		}
		ratX, ratY := rat(t, a), rat(t, b)
		dx, dy := parseDecimal(x.raw), parseDecimal(y.raw)
		if got, want := dx.compare(dy), ratX.Cmp(ratY); got != want {
			t.Fatalf("%s compared with %s: %d, want %d", a, b, got, want)
		}
		if dx.isInteger() != ratX.IsInt() {
			t.Fatalf("%s is whole: %v", a, dx.isInteger())
		}
		if rat(t, dx.String()).Cmp(ratX) != 0 {
			t.Fatalf("%s is written %s", a, dx)
		}
		if ratY.Sign() > 0 {
			if got, want := dx.isMultipleOf(dy), ratX.Quo(ratX, ratY).IsInt(); got != want {
				t.Fatalf("%s is a multiple of %s: %v", a, b, got)
			}
		}
	})
}
