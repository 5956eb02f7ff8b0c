package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/worker"
)

// hosts are a worker and, to compare, this process.
var hosts = []struct {
	name string
	open func() (runtime.Runtime, error)
}{
	{"in-process", func() (runtime.Runtime, error) { return gojavm.New(nil) }},
	{"worker", func() (runtime.Runtime, error) { return worker.New(context.Background(), nil) }},
}

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
		for _, host := range hosts {
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

// BenchmarkThroughput measures runs per second, so many at a time.
func BenchmarkThroughput(b *testing.B) {
	for _, host := range hosts {
		for _, atOnce := range []int{1, 2, 16} {
			b.Run(fmt.Sprintf("%s/%d at a time", host.name, atOnce), func(b *testing.B) {
				r, err := host.open()
				if err != nil {
					b.Fatal(err)
				}
				defer r.Close()
				var next atomic.Int64
				var all sync.WaitGroup
				b.ResetTimer()
				for range atOnce {
					all.Go(func() {
						for next.Add(1) <= int64(b.N) {
							if res, err := r.Run(b.Context(), runtime.Request{Program: "return 1"}); err != nil || res.Value != "1" {
								b.Error(err, res.Failure)
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
			})
		}
	}
}

// BenchmarkStream measures runs one after the other over the retirements of their
// workers, and how long the slowest took: no run should wait for a start.
func BenchmarkStream(b *testing.B) {
	r, err := worker.New(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	starts := worker.CountStarts(r)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if res, err := r.Run(b.Context(), runtime.Request{Program: "return 1"}); err != nil || res.Value != "1" {
			b.Fatal(err, res.Failure)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "µs-slowest")
	b.ReportMetric(float64(starts()), "starts")
}

// BenchmarkForeign measures runs of which each has another trust than the one
// before, in a full pool: each costs a worker and a start.
func BenchmarkForeign(b *testing.B) {
	r, err := worker.New(b.Context(), &worker.Options{MaxWorkers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for i := 0; b.Loop(); i++ {
		if res, err := r.Run(b.Context(), runtime.Request{Program: "return 1", Trust: i}); err != nil || res.Value != "1" {
			b.Fatal(err, res.Failure)
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
