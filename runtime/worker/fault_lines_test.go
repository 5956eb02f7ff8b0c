package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

// Lines and calls reach the host in the program's order, however many lines share
// a write.
func TestLinesKeepTheirOrder(t *testing.T) {
	r := startWorkers(t)
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "mark"}})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for i := range 5000 {
		want = append(want, fmt.Sprint("line ", i))
		if i%100 == 99 {
			want = append(want, fmt.Sprint("call ", i))
		}
	}
	seen := make(chan string, 2*len(want)) // of the receiver and of bodies
	res, err := r.Run(t.Context(), runtime.Request{
		Program: "for (let i = 0; i < 5000; i++) { console.log('line', i); if (i % 100 == 99) await tools.mark(i) }",
		Log:     func(l runtime.Line) { seen <- l.Text },
		Bindings: []runtime.Binding{{Namespace: namespace, Call: func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			seen <- "call " + inv.Args
			return runtime.Reply{}, nil
		}}},
	})
	if err != nil || res.Failure != nil || len(res.Logs) != 5000 {
		t.Fatalf("%v %+v, %d lines", err, res.Failure, len(res.Logs))
	}
	close(seen)
	for text := range seen {
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines and calls arrived in another order than the program's %d", len(got), len(want))
	}
}

// A line arrives while the program goes on without a pause, be it alone, first or
// last of many.
func TestLineArrivesWhileTheProgramWorks(t *testing.T) {
	r := startWorkers(t)
	const many = "for (let i = 0; i < 5000; i++) console.log(i);\n"
	for _, tt := range []struct{ name, program string }{
		{"alone", "console.log('this');\nfor (;;);"},
		{"first of many", "console.log('this');\n" + many + "for (;;);"},
		{"last of many", many + "console.log('this');\nfor (;;);"},
		{"some time after many", many + "for (const end = Date.now() + 20; Date.now() < end;);\nconsole.log('this');\nfor (;;);"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			seen := errors.New("seen")
			res, err := r.Run(ctx, runtime.Request{Program: tt.program, Limits: runtime.Limits{Compute: 10 * time.Second}, Log: func(l runtime.Line) {
				if l.Text == "this" {
					cancel(seen)
				}
			}})
			if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort || res.Failure.Message != "seen" {
				t.Errorf("%v %+v, want the line to be seen before the compute limit", err, res.Failure)
			}
		})
	}
}

// What a program prints just before it takes the process down is not lost.
func TestLinesBeforeTheEndOfTheProcess(t *testing.T) {
	if worker.RaceEnabled {
		t.Skip("RLIMIT_DATA, which ends the process, is off in race builds")
	}
	r := startWorkers(t)
	if !bounded(r) {
		t.Skip("nothing ends the process here")
	}
	for _, lines := range []int{1, 2, 900} {
		res, err := r.Run(t.Context(), runtime.Request{
			Program: fmt.Sprintf("for (let i = 0; i < %d; i++) console.log(i);\nreturn String(eval('1n << 2n ** 40n'))", lines),
			Limits:  runtime.Limits{Heap: 64 << 20},
		})
		if err != nil || res.Failure == nil || res.Failure.Kind != runtime.MemoryLimit || len(res.Logs) != lines {
			t.Errorf("%v %+v with %d lines, want memory-limit with %d", err, res.Failure, len(res.Logs), lines)
		}
	}
}

// BenchmarkConsole measures a program that prints a great deal, and one that
// prints a single line.
func BenchmarkConsole(b *testing.B) {
	r := startWorkers(b)
	for _, tt := range []struct {
		name, program string
		lines         int
	}{
		{"1 line", "console.log('line')", 1},
		{"500000 lines", "for (let i = 0; i < 500000; i++) console.log('line', i)", 500_000},
	} {
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				lines := 0
				res, err := r.Run(b.Context(), runtime.Request{Program: tt.program, Log: func(runtime.Line) { lines++ }})
				if err != nil || res.Failure != nil || lines != tt.lines {
					b.Fatalf("%v %+v after %d lines", err, res.Failure, lines)
				}
			}
		})
	}
}
