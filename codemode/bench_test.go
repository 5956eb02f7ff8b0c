package codemode_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// benchTools are a tool that costs nothing and one that returns rows.
func benchTools() []*tools.Definition {
	row := tools.Define("row", "Return a row.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (map[string]any, error) {
		return map[string]any{"id": in.N, "name": "a name of some length", "tags": []string{"one", "two"}, "price": 12.5, "stock": true}, nil
	})
	rows := map[int]tools.JSON{}
	for _, megabytes := range []int{1, 10} {
		var b strings.Builder
		b.WriteByte('[')
		for n := 0; b.Len() < megabytes<<20; n++ {
			if n > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"id":%d,"name":"row number %d","price":%d.25,"tags":["a","b"],"open":true,"note":null}`, n, n, n)
		}
		b.WriteByte(']')
		rows[megabytes] = tools.MustJSON(b.String())
	}
	big := &tools.Definition{Name: "rows", Description: "Return megabytes of rows.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		var in struct {
			MB int `json:"mb"`
		}
		err := run.Args().Unmarshal(&in)
		return tools.Result{Value: rows[in.MB]}, err
	}}
	return []*tools.Definition{row, big}
}

// BenchmarkRun measures whole run_code calls, in process and in a worker, with
// direct pipeline calls of the same tools beside them.
func BenchmarkRun(b *testing.B) {
	programs := []struct{ name, code string }{
		{"empty", ``},
		{"calls=1", `for (let n = 0; n < 1; n++) await tools.row({ n })`},
		{"calls=10", `for (let n = 0; n < 10; n++) await tools.row({ n })`},
		{"calls=1000", `for (let n = 0; n < 1000; n++) await tools.row({ n })`},
		{"result=1MB", `const r = await tools.rows({ mb: 1 }); return r.filter(x => x.id % 1000 === 0).length`},
		{"result=10MB", `const r = await tools.rows({ mb: 10 }); return r.filter(x => x.id % 1000 === 0).length`},
	}
	for _, program := range programs {
		for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
			b.Run(program.name+"/"+isolation.String(), func(b *testing.B) {
				cm := open(b, pipeline.New(registry(b, benchTools()...), nil), &codemode.Options{Isolation: isolation})
				b.ReportAllocs()
				for b.Loop() {
					if out := cm.Run(b.Context(), codemode.Program{Code: program.code}); out.Err() != nil {
						b.Fatal(out.Err())
					}
				}
			})
		}
	}
	p := pipeline.New(registry(b, benchTools()...), nil)
	for _, calls := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("calls=%d/direct", calls), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for n := range calls {
					if out := p.Execute(b.Context(), pipeline.Request{Name: "row", Args: fmt.Sprintf(`{"n":%d}`, n)}); out.Err() != nil {
						b.Fatal(out.Err())
					}
				}
			}
		})
	}
}

// BenchmarkStart measures a fresh engine with 50 tools and the whole library: a
// program that does next to nothing.
func BenchmarkStart(b *testing.B) {
	defs := []*tools.Definition{}
	for n := range 50 {
		defs = append(defs, &tools.Definition{
			Name: fmt.Sprintf("mcp__server%d__tool_%d", n%5, n), Description: "A tool.",
			Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
		})
	}
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		b.Run(isolation.String(), func(b *testing.B) {
			cm := open(b, pipeline.New(registry(b, defs...), nil), &codemode.Options{Isolation: isolation})
			b.ReportAllocs()
			for b.Loop() {
				if out := cm.Run(b.Context(), codemode.Program{Code: "return 1"}); out.Err() != nil {
					b.Fatal(out.Err())
				}
			}
		})
	}
}
