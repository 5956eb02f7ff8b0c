package worker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/worker"
)

// BenchmarkRun measures whole runs in a worker beside the same in process.
func BenchmarkRun(b *testing.B) {
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}, []runtime.Member{{Name: "get"}})
	if err != nil {
		b.Fatal(err)
	}
	answer := func(value string) []runtime.Binding {
		return []runtime.Binding{{Namespace: namespace, Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{Value: value}, nil
		}}}
	}
	row := `{"id":123456,"name":"a name of some length and then a good deal more of it, as texts in rows tend to have","tags":["x","y"],"ok":true}`
	rows := func(size int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(row+",", size/len(row)), ",") + "]"
	}
	for _, work := range []struct {
		name, program, value string
	}{
		{"empty", "return 1", "1"},
		{"10 calls", "for (let i = 0; i < 10; i++) await tools.get({i})", "1"},
		{"1000 calls", "for (let i = 0; i < 1000; i++) await tools.get({i})", "1"},
		{"1 MB result", "return (await tools.get({})).length", rows(1 << 20)},
		{"10 MB result", "return (await tools.get({})).length", rows(10 << 20)},
	} {
		for _, host := range []struct {
			name string
			open func() (runtime.Runtime, error)
		}{
			{"in-process", func() (runtime.Runtime, error) { return gojavm.New(nil) }},
			{"worker", func() (runtime.Runtime, error) { return worker.New(context.Background(), nil) }},
		} {
			b.Run(fmt.Sprintf("%s/%s", work.name, host.name), func(b *testing.B) {
				r, err := host.open()
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				for b.Loop() {
					res, err := r.Run(b.Context(), runtime.Request{Program: work.program, Bindings: answer(work.value)})
					if err != nil || res.Failure != nil {
						b.Fatal(err, res.Failure)
					}
				}
			})
		}
	}
}

// BenchmarkColdStart measures New, one run and Close.
func BenchmarkColdStart(b *testing.B) {
	for b.Loop() {
		r, err := worker.New(b.Context(), &worker.Options{MaxWorkers: 1})
		if err != nil {
			b.Fatal(err)
		}
		if res, err := r.Run(b.Context(), runtime.Request{Program: "return 1"}); err != nil || res.Value != "1" {
			b.Fatal(err, res)
		}
		r.Close()
	}
}
