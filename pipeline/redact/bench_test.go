package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

// BenchmarkJSON redacts what the log of a megabyte of rows is made of, in which
// there is nothing to hide: the rows as a text, and as the value they are.
func BenchmarkJSON(b *testing.B) {
	var rows strings.Builder
	for n := 0; rows.Len() < 1_000_000; n++ {
		fmt.Fprintf(&rows, `,{"id":%d,"name":"row number %d","price":%d.25,"tags":["a","b"],"open":true,"note":null,"text":"%s"}`, n, n, n, strings.Repeat("some text ", 8))
	}
	value := tools.MustJSON("[" + rows.String()[1:] + "]")
	r := redact.New(&redact.Options{Secrets: []redact.Secret{{Name: "TOKEN", Value: "hunter2hunter2"}, {Name: "KEY", Value: "correct horse battery"}}})
	for _, tt := range []struct {
		name string
		data tools.JSON
	}{
		{"text", tools.ComposeObject(tools.Member{Name: "content", Value: tools.StringJSON(value.String())})},
		{"value", tools.ComposeObject(tools.Member{Name: "content", Value: value})},
		{"prose", tools.ComposeObject(tools.Member{Name: "content", Value: tools.StringJSON(strings.Repeat("Some words, and more of them. ", 35_000))})},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(tt.data.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if r.JSON(tt.data) != tt.data {
					b.Fatal("something was replaced")
				}
			}
		})
	}
}
