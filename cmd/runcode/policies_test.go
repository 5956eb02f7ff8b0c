package main

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// guarded is a pipeline with the wrappers that the flags choose.
func guarded(t *testing.T, args []string, defs ...*tools.Definition) *pipeline.Pipeline {
	t.Helper()
	var f policyFlags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	p := pipelinetest.New(t, nil, defs...)
	f.install(p)
	return p
}

func TestWrappersInOrder(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"always", nil, []string{"timeout"}},
		{"retries", []string{"--retries", "1"}, []string{"retry", "timeout"}},
		{"rate", []string{"--max-calls-per-second", "1"}, []string{"rate", "timeout"}},
		{"all, whatever the order of the flags", []string{"--max-calls-per-second", "1", "--retries", "1"}, []string{"retry", "rate", "timeout"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, guarded(t, tc.args).Execution.Names()); diff != "" {
				t.Errorf("wrappers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetries shows what is tried again: calls that took too long, however long
// that is, of tools that may run twice.
func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []string
		notes tools.Annotations
		want  int // attempts
	}{
		{"read-only", []string{"--retries", "2"}, tools.Annotations{ReadOnly: true}, 3},
		{"idempotent", []string{"--retries", "1"}, tools.Annotations{Idempotent: true}, 2},
		{"neither", []string{"--retries", "2"}, tools.Annotations{}, 1},
		{"not asked for", nil, tools.Annotations{ReadOnly: true}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				slow := pipelinetest.Tool("slow", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
					attempts++
					<-ctx.Done()
					return tools.Result{}, ctx.Err()
				})
				slow.Timeout, slow.Annotations = 10*time.Minute, tc.notes
				out := guarded(t, tc.args, slow).Execute(t.Context(), pipeline.Request{Name: "slow"})
				if attempts != tc.want || out.Info().Code != tools.CodeToolTimeout {
					t.Errorf("%d attempts, the last with the code %q; want %d and %s", attempts, out.Info().Code, tc.want, tools.CodeToolTimeout)
				}
			})
		})
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		starts := map[time.Duration]int{}
		p := guarded(t, []string{"--max-calls-per-second", "2"}, pipelinetest.Tool("x", func(context.Context, *tools.Run) (tools.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			starts[time.Since(began)]++
			return tools.Result{}, nil
		}))
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { p.Execute(t.Context(), pipeline.Request{Name: "x"}) })
		}
		wg.Wait()
		if diff := cmp.Diff(map[time.Duration]int{0: 2, time.Second: 2, 2 * time.Second: 1}, starts); diff != "" {
			t.Errorf("starts differ (-want +got):\n%s", diff)
		}
	})
}
