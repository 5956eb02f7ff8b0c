package worker_test

import (
	"context"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

// BenchmarkMemory reports what a worker holds of memory, in MiB: fresh, idle
// after a run, and suspended, which is in the middle of a run that awaits a call.
// Resident counts the pages that all workers share, the binary's above all, for
// each; proportional shares them out.
func BenchmarkMemory(b *testing.B) {
	const workers = 4
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "wait"}})
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct{ name, program string }{
		{"small program", "await tools.wait({})"},
		{"50000 objects", "const rows = []; for (let i = 0; i < 5e4; i++) rows.push({ id: i, name: 'row ' + i }); await tools.wait({}); return rows.length"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				before := children(b)
				r, err := worker.New(b.Context(), &worker.Options{MaxWorkers: workers})
				if err != nil {
					b.Fatal(err)
				}
				report(b, "fresh", before)
				var waiting, all sync.WaitGroup
				release := make(chan struct{})
				waiting.Add(workers)
				for range workers {
					all.Go(func() {
						res, err := r.Run(b.Context(), runtime.Request{Program: tt.program, Bindings: []runtime.Binding{{Namespace: namespace, Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
							waiting.Done()
							<-release
							return runtime.Reply{Value: "1"}, nil
						}}}})
						if err != nil || res.Failure != nil {
							b.Error(err, res.Failure)
						}
					})
				}
				waiting.Wait()
				report(b, "suspended", before)
				close(release)
				all.Wait()
				report(b, "idle", before)
				r.Close()
			}
		})
	}
}

// report reports the mean of this process's children that were not there before.
func report(b *testing.B, state string, before []string) {
	known := map[string]bool{}
	for _, pid := range before {
		known[pid] = true
	}
	var resident, proportional, n float64
	for _, pid := range children(b) {
		if known[pid] {
			continue
		}
		n++
		resident += float64(sizeIn("/proc/"+pid+"/status", "VmRSS")) / (1 << 20)
		proportional += float64(sizeIn("/proc/"+pid+"/smaps_rollup", "Pss")) / (1 << 20)
	}
	b.ReportMetric(resident/n, state+"-MiB-resident")
	if proportional > 0 {
		b.ReportMetric(proportional/n, state+"-MiB-proportional")
	}
}
