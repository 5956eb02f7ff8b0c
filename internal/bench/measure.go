package bench

import (
	"context"
	"fmt"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/runcode-go/runcode/codemode"
)

// Times is what was measured on this machine: medians over the repetitions,
// milliseconds. It differs from run to run.
type Times struct {
	Repeat      int     `json:"repeat"`
	CheckMs     float64 `json:"checkMs"`     // transpile and compile the program, each time a text never seen before
	StartMs     float64 `json:"startMs"`     // a program of one word, from call to result: pipeline, engine, log
	ScriptMs    float64 `json:"scriptMs"`    // the program, from its start to its end
	ComputeMs   float64 `json:"computeMs"`   // of it, the engine was busy
	CallP50Ms   float64 `json:"callP50Ms"`   // one call of the program in the pipeline, its body included
	CallP95Ms   float64 `json:"callP95Ms"`   //
	DirectP50Ms float64 `json:"directP50Ms"` // one call made directly
	DirectP95Ms float64 `json:"directP95Ms"` //
	// PeakHeap is the largest size of this process's heap while programs ran, in
	// bytes, less that before. Zero with worker processes, which have heaps of
	// their own.
	PeakHeap uint64 `json:"peakHeap"`
}

// time measures a workload's first program, and its direct calls beside it.
func (b *bench) time(ctx context.Context, w workload, c *Comparison) error {
	t := Times{Repeat: b.opts.Repeat}
	var check, start, script, compute, direct, nested []float64
	watch := watchHeap(b.opts.Isolation == codemode.IsolationInProcess)
	for i := range b.opts.Repeat {
		plain, err := b.play(ctx, w, sequential)
		if err != nil {
			return err
		}
		direct = append(direct, millis(plain.stage.direct)...)
		s, err := newStage(w.open(), code, b.runtime)
		if err != nil {
			return err
		}
		fresh := fmt.Sprintf("%s\n// %d", w.turns[0].program, i)
		check = append(check, took(func() { _, err = s.codemode.Check(ctx, fresh) }))
		if err != nil {
			return err
		}
		start = append(start, took(func() { s.codemode.Run(ctx, codemode.Program{Code: "return 1"}) }))
		if o := s.codemode.Run(ctx, codemode.Program{Code: fresh}); o.IsError() {
			return fmt.Errorf("timing %s: %w", w.title(), o.Err())
		}
		usage := s.runs[len(s.runs)-1].Usage
		script, compute = append(script, usage.WallMs), append(compute, usage.ComputeMs)
		nested = append(nested, millis(s.nested)...)
	}
	t.PeakHeap = watch()
	t.CheckMs, t.StartMs, t.ScriptMs, t.ComputeMs = quantile(check, 0.5), quantile(start, 0.5), quantile(script, 0.5), quantile(compute, 0.5)
	t.CallP50Ms, t.CallP95Ms = quantile(nested, 0.5), quantile(nested, 0.95)
	t.DirectP50Ms, t.DirectP95Ms = quantile(direct, 0.5), quantile(direct, 0.95)
	c.Measured = &t
	return nil
}

func took(do func()) float64 {
	began := time.Now()
	do()
	return ms(time.Since(began))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func millis(list []time.Duration) []float64 {
	out := make([]float64, len(list))
	for i, d := range list {
		out[i] = ms(d)
	}
	return out
}

// quantile is the value below which the part q of a list lies; zero for none.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	ordered := slices.Sorted(slices.Values(list))
	return ordered[min(len(ordered)-1, int(q*float64(len(ordered))))]
}

// heapEvery is how often the heap is looked at.
const heapEvery = time.Millisecond

// watchHeap looks at the heap until the function it returns is called, which
// says by how many bytes it grew at most.
func watchHeap(on bool) (grown func() uint64) {
	if !on {
		return func() uint64 { return 0 }
	}
	before, most := heap(), uint64(0)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(heapEvery)
		defer tick.Stop()
		for {
			most = max(most, heap())
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(over)
		<-done
		return max(most, before) - before
	}
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
