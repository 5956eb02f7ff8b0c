package schema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/corpus"
)

// same tells where two rule graphs differ, "" if nowhere.
func same(a, b *rule, at string, seen map[[2]*rule]bool) string {
	if a == nil || b == nil || seen[[2]*rule{a, b}] {
		if (a == nil) != (b == nil) {
			return fmt.Sprintf("%s: %v and %v", at, a != nil, b != nil)
		}
		return ""
	}
	seen[[2]*rule{a, b}] = true
	va, vb := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range va.NumField() {
		name := at + "." + va.Type().Field(i).Name
		if d := sameField(va.Field(i), vb.Field(i), name, seen); d != "" {
			return d
		}
	}
	return ""
}

func sameField(a, b reflect.Value, at string, seen map[[2]*rule]bool) string {
	switch a.Type() {
	case reflect.TypeFor[*rule]():
		return same((*rule)(a.UnsafePointer()), (*rule)(b.UnsafePointer()), at, seen)
	case reflect.TypeFor[*pattern]():
		if a.IsNil() != b.IsNil() || !a.IsNil() && a.Elem().FieldByName("source").String() != b.Elem().FieldByName("source").String() {
			return at
		}
		return ""
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return at
			}
			return ""
		}
		return sameField(a.Elem(), b.Elem(), at, seen)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d", at, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := sameField(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", at, i), seen); d != "" {
				return d
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d", at, a.Len(), b.Len())
		}
		for _, key := range a.MapKeys() {
			other := b.MapIndex(key)
			if !other.IsValid() {
				return at + "." + key.String()
			}
			if d := sameField(a.MapIndex(key), other, at+"."+key.String(), seen); d != "" {
				return d
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			if d := sameField(a.Field(i), b.Field(i), at+"."+a.Type().Field(i).Name, seen); d != "" {
				return d
			}
		}
		return ""
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	return ""
}

// compare has the library compile what compilePlain does, and reports whether
// compilePlain does.
func compare(t *testing.T, text string) bool {
	t.Helper()
	doc, _, err := parseSchema(text)
	if err != nil {
		return false
	}
	s, _ := compilePlain(doc)
	if s == nil {
		return false
	}
	library, err := compileAny(doc)
	if err != nil {
		t.Errorf("%.1000s is refused by the library: %v", text, err)
		return true
	}
	if d := same(s.root, library.root, "", map[[2]*rule]bool{}); d != "" {
		t.Errorf("%.1000s differs at %s", text, d)
	}
	return true
}

// TestPlain says which schemas need no library, and that it would say the same
// of them.
func TestPlain(t *testing.T) {
	t.Parallel()
	const seven = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, tt := range []struct {
		name, schema string
		plain        bool
	}{
		{"all", `true`, true},
		{"none", `false`, true},
		{"empty", `{}`, true},
		{"unknown keywords", `{"nullable":{"type":5},"x-a":[{"$id":1}]}`, true},
		{"draft 2020-12", `{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[true,{"type":"null"}],"items":false}`, true},
		{"draft-07", `{` + seven + `"items":[true],"additionalItems":{"type":"string"},"dependencies":{"a":["b"],"c":{"required":["d"]},"e":true}}`, true},
		{"draft-07, items of one form", `{` + seven + `"items":{"type":"string"},"additionalItems":false}`, true},
		{"draft-07, newer keywords", `{` + seven + `"prefixItems":5,"$defs":7,"contains":true,"minContains":"x","dependentRequired":[],"unevaluatedItems":9}`, true},
		{"draft-07, hidden siblings", `{` + seven + `"properties":{"a":{"$ref":"#/definitions/b","type":"null","properties":{"c":{"minimum":1}}},"d":{"$ref":"#/properties/a/properties/c"}},"definitions":{"b":{"type":"string"}}}`, true},
		{"draft-04", `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, false},
		{"draft 2019-09", `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, false},
		{"a draft inside another", `{"properties":{"a":{` + seven + `"type":"null"}}}`, false},
		{"named", `{"$id":"https://example.com/a"}`, false},
		{"a part with a name", `{"$defs":{"a":{"$anchor":"b"}}}`, false},
		{"members called like keywords", `{"properties":{"$id":{"type":"string"},"$ref":{"type":"string"},"type":{"type":"string"},"__proto__":{"type":"null"}}}`, true},
		{"references", `{"properties":{"a":{"$ref":"#/$defs/x.y-z_0"},"b":{"$ref":"#"},"c":{"$ref":"#/allOf/0"}},"allOf":[{"title":"t"}],"$defs":{"x.y-z_0":{"$ref":"#/properties/b"}}}`, true},
		{"a reference with siblings", `{"$ref":"#/$defs/a","type":"object","$defs":{"a":true}}`, true},
		{"a reference to what is no part", `{"properties":{"a":{"$ref":"#/x/y/0"}},"x":{"y":[{"properties":{"b":{"$ref":"#/x/z"}}}],"z":{"$ref":"#/properties/a"}}}`, true},
		{"references to what has parts", `{"$ref":"#/x","allOf":[{"$ref":"#/x/not"},{"$ref":"#/x/not/not"}],"x":{"not":{"not":{"type":"null"}}}}`, true},
		{"a reference to no schema", `{"$ref":"#/x","x":5}`, false},
		{"a reference to what has a fault", `{"$ref":"#/x","x":{"type":5}}`, false},
		{"a reference to a named part", `{"$ref":"#/x","x":{"$id":"a"}}`, false},
		{"a reference to names", `{"properties":{"type":{"type":"string"},"a":{"$ref":"#/properties"}}}`, false},
		{"draft-07, a reference to newer definitions", `{` + seven + `"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"}}}`, true},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, false},
		{"an escaped reference", `{"$ref":"#/$defs/a%20b","$defs":{"a b":true}}`, false},
		{"a loop nobody enters", `{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, false},
		{"conditions", `{"if":{"minimum":1},"then":{"maximum":2},"else":false}`, true},
		{"a condition that always holds", `{"if":true,"then":{"maximum":2},"else":{"maximum":3}}`, true},
		{"a condition that never holds", `{"if":false,"then":{"maximum":2},"else":{"maximum":3}}`, true},
		{"no condition", `{"then":{"maximum":2},"else":{"maximum":3}}`, true},
		{"dependents, in the order of the text", `{"dependentSchemas":{"z":{"minProperties":1},"a":false},"dependentRequired":{"y":["q","p"],"b":[]},"dependencies":{"k":["l"]}}`, true},
		{"numbers", `{"minimum":-0,"maximum":1.50e2,"exclusiveMinimum":9007199254740993,"exclusiveMaximum":1e300,"multipleOf":0.01}`, true},
		{"counts", `{"minLength":0,"maxLength":1e3,"minItems":2.0,"maxItems":99999999999999999999,"minProperties":1,"maxProperties":999999999999999999,"contains":{},"minContains":0,"maxContains":3}`, true},
		{"counts of nothing", `{"minContains":2,"maxContains":3}`, true},
		{"values", `{"enum":[1,1.0,"a\u0062\/",null,{"z":1,"a":[true,false]},[]],"const":{"b":1,"a":"\u00e9\ud800"}}`, true},
		{"patterns", `{"patternProperties":{"^b":{"type":"null"},"^a":{"pattern":"^x(?=y)"}},"propertyNames":{"maxLength":9},"additionalProperties":{"not":{}}}`, true},
		{"a pattern that is none", `{"$defs":{"a":{"pattern":"("}}}`, false},
		{"a type that is none", `{"type":"strng"}`, false},
		{"no types", `{"type":[]}`, false},
		{"a type twice", `{"type":["null","null"]}`, false},
		{"required twice", `{"required":["a","a"]}`, false},
		{"a title that is none", `{"title":5}`, false},
		{"draft-07, no values", `{` + seven + `"enum":[]}`, false},
		{"draft-07, a value twice", `{` + seven + `"enum":[1,1.0]}`, false},
		{"no branches", `{"anyOf":[]}`, false},
		{"a count below zero", `{"minItems":-1}`, false},
		{"a count of halves", `{"minItems":0.5}`, false},
		{"multiple of nothing", `{"multipleOf":0}`, false},
		{"a keyword twice", `{"type":"null","type":"string"}`, false},
		{"a property twice", `{"properties":{"a":true,"a":false}}`, false},
		{"unevaluated", `{"unevaluatedProperties":false,"unevaluatedItems":{"type":"null"},"contentSchema":{"type":"string"}}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := compare(t, tt.schema); got != tt.plain {
				t.Errorf("plain: %v, want %v", got, tt.plain)
			}
		})
	}
}

// schemasIn collects the objects of a JSON text that may be schemas.
func schemasIn(text []byte) (list []string) {
	var all any
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			for name, member := range x {
				if strings.Contains(strings.ToLower(name), "schema") {
					text, _ := json.Marshal(member)
					list = append(list, string(text))
				}
				walk(member)
			}
		case []any:
			for _, item := range x {
				walk(item)
			}
		}
	}
	walk(all)
	return list
}

// TestPlainSchemas compares the two ways for all schemas there are, each as it
// is and as one of draft-07.
func TestPlainSchemas(t *testing.T) {
	t.Parallel()
	for dir, least := range map[string]int{"json-schema-test-suite/draft7/*.json": 250, "mcp-tools/live/*.json": 190, "openapi/*.json": 50} {
		root, pattern, _ := strings.Cut(dir, "/")
		files, err := filepath.Glob(filepath.Join(corpus.Dir(t, root), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		plain := 0
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range schemasIn(text) {
				seven := strings.Replace(s, "{", `{"$schema":"http://json-schema.org/draft-07/schema#",`, 1)
				for _, s := range []string{s, seven} {
					if compare(t, s) {
						plain++
					}
				}
			}
		}
		if plain < least {
			t.Errorf("%s: only %d schemas are plain", dir, plain)
		}
	}
}

// FuzzPlain compares the two ways.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		`{"type":["string","null"],"enum":["a",1],"$defs":{"a":{"$ref":"#"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"const":1}],"additionalItems":false,"definitions":{"a":{"$ref":"#/items/0"}}}`,
		`{"if":true,"then":{"minLength":1},"dependencies":{"a":["b"]},"patternProperties":{"^a":false},"multipleOf":1}`,
		`{"contains":{},"minContains":1,"unevaluatedItems":false,"propertyNames":{"pattern":"a"},"title":"t","examples":[1]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 2000 && !costly.MatchString(text) {
			compare(t, text)
		}
	})
}

// TestCompileShares: equal texts share what they are compiled to as long as
// somebody uses it, and no longer.
func TestCompileShares(t *testing.T) {
	text := `{"type":"string","title":"shared"}`
	one, err := Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Compile(strings.Clone(text))
	if err != nil || one != two {
		t.Errorf("%p and %p, %v", one, two, err)
	}
	if other, _ := Compile(text + " "); other == one {
		t.Error("another text has the same schema")
	}
	runtime.KeepAlive(one)
	one, two = nil, nil
	gone := func() bool { _, ok := compiled.Load(text); return !ok }
	for range 100 {
		if runtime.GC(); gone() {
			break
		}
		runtime.Gosched()
	}
	if !gone() {
		t.Error("the cache holds what nobody uses")
	}
	refused := `{"type":5}`
	if _, err := Compile(refused); err == nil {
		t.Error("not refused")
	}
	if _, kept := compiled.Load(refused); kept {
		t.Error("what was refused is kept")
	}
}

// TestPlainKeywords compares the two ways for every keyword with values of all
// kinds, beside others that could change what it means.
func TestPlainKeywords(t *testing.T) {
	t.Parallel()
	keywords := strings.Fields(`$id id $schema $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions
		allOf anyOf oneOf not if then else dependentSchemas prefixItems items additionalItems contains properties patternProperties
		additionalProperties propertyNames unevaluatedItems unevaluatedProperties type enum const multipleOf maximum exclusiveMaximum
		minimum exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties
		minProperties required dependentRequired dependencies title description default deprecated readOnly writeOnly examples format
		contentEncoding contentMediaType contentSchema`)
	values := strings.Fields(`null true false 0 -0 -1 0.5 2.0 1e3 1e30 "" "a" "(" "string" "#" "#/" "#/properties/q" "#/items/00" "#/items" "#/definitions/q" "#/$defs/q" "regex" "email"
		[] [1] ["a"] ["a","a"] ["string","null"] ["string",1] [1,1.0] [{}] [true] [[]] [{},{"type":5}]
		{} {"type":"null"} {"type":5} {"q":true} {"q":{}} {"q":1} {"q":[]} {"q":["b","a"]} {"q":["b","b"]} {"(":true} {"^b":true,"a":false} {"$id":"x"} {"$anchor":"x"} {"$schema":"x"} {"$ref":"#"}`)
	drafts := []string{``, `"$schema":"http://json-schema.org/draft-07/schema#",`}
	beside := []string{``, `,"properties":{"q":{"type":"string"}},"contains":{},"if":{}`, `,"$ref":"#/definitions/q","definitions":{"q":{}}`}
	plain := 0
	for _, keyword := range keywords {
		for _, v := range values {
			for _, draft := range drafts {
				for _, more := range beside {
					if strings.Contains(more, `"`+keyword+`"`) {
						continue
					}
					if compare(t, `{`+draft+`"`+keyword+`":`+v+more+`}`) {
						plain++
					}
				}
			}
		}
	}
	if plain < 2_500 {
		t.Errorf("only %d schemas are plain", plain)
	}
}
