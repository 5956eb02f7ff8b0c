package bench

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/runtime/gojavm"
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
	// PeakHeap is by how many bytes the heap grew at most while the program ran
	// once more, in this process wherever the others ran: a worker's heap cannot
	// be watched from here.
	PeakHeap uint64 `json:"peakHeap"`
}

// time measures a workload's first program, and its direct calls beside it.
func (b *bench) time(ctx context.Context, w workload, c *Comparison) error {
	t := Times{Repeat: b.opts.Repeat}
	var check, start, script, compute, direct, nested []float64
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
	var err error
	if t.PeakHeap, err = peakHeap(ctx, w); err != nil {
		return err
	}
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

// peakHeap runs a workload's first program in this process and says by how much
// the heap grew at most.
func peakHeap(ctx context.Context, w workload) (grown uint64, err error) {
	rt, err := gojavm.New(nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	s, err := newStage(w.open(), code, rt)
	if err != nil {
		return 0, err
	}
	s.codemode.Run(ctx, codemode.Program{Code: "return 1"}) // what is made once is not the program's
	goruntime.GC()                                          // nor is what was left before
	watch := watchHeap()
	o := s.codemode.Run(ctx, codemode.Program{Code: w.turns[0].program})
	if grown = watch(); o.IsError() {
		return 0, fmt.Errorf("watching %s: %w", w.title(), o.Err())
	}
	return grown, nil
}

// heapEvery is how often the heap is looked at.
const heapEvery = time.Millisecond

// watchHeap looks at the heap until the function it returns is called, which
// says by how many bytes it grew at most.
func watchHeap() (grown func() uint64) {
	before, most := heap(), uint64(0)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(heapEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	return func() uint64 {
		last := heap()
		close(over)
		<-done
		return max(most, last, before) - before
	}
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
