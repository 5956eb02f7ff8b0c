package openapitools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// largeDocument describes so many operations, each with a body and an answer of
// one of fifty definitions that refer to each other.
func largeDocument(operations int) string {
	const definitions = 50
	var defs, paths strings.Builder
	for i := range definitions {
		fmt.Fprintf(&defs, `"d%d":{"type":"object","required":["f0"],"properties":{"next":{"$ref":"#/components/schemas/d%d"}`, i, (i+1)%definitions)
		for j := range 20 {
			fmt.Fprintf(&defs, `,"f%d":{"type":["string","null"],"description":"field number %d","maxLength":100}`, j, j)
		}
		defs.WriteString("}},")
	}
	for i := range operations {
		fmt.Fprintf(&paths, `"/r%d/{id}":{"post":{"operationId":"op%d","summary":"does %d","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
			"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"a":{"type":"integer","minimum":%d},"b":{"enum":["x","y"]}}}}}},
			"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/d%d"}}}}}}},`, i, i, i, i, i%definitions)
	}
	return fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{%s},"components":{"schemas":{%s}}}`,
		strings.TrimSuffix(paths.String(), ","), strings.TrimSuffix(defs.String(), ","))
}

// BenchmarkImport makes registered tools of a large document.
func BenchmarkImport(b *testing.B) {
	text := []byte(largeDocument(1_200))
	b.ReportAllocs()
	for b.Loop() {
		set, err := New(text, Options{Name: "large", BaseURL: "https://api.example.com"})
		if err != nil {
			b.Fatal(err)
		}
		if len(set.Tools()) != 1_200 {
			b.Fatalf("%d tools, skipped %v", len(set.Tools()), set.Skipped()[:1])
		}
		if _, err := tools.NewRegistry(set.Tools()...); err != nil {
			b.Fatal(err)
		}
	}
}
