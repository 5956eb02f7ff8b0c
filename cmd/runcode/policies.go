package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/tools"
)

// policyFlags choose what stands around the tools. How many calls run at a time
// is for --parallel: a program's calls are all there are.
type policyFlags struct {
	retries count
	rate    count // starts in a second
}

func (f *policyFlags) register(flags *pflag.FlagSet) {
	flags.Var(&f.retries, "retries", "how often to retry a call after a transient failure such as a timeout, if its tool is read-only or idempotent (default never)")
	flags.Var(&f.rate, "max-calls-per-second", "most calls that start within a second; further ones wait (default any number)")
}

// maxRetries is more than ever help.
const maxRetries = 100

func (f *policyFlags) check() error {
	if f.retries > maxRetries {
		return fmt.Errorf("--retries is %d; a call can be retried at most %d times", f.retries, maxRetries)
	}
	return nil
}

// wrapper is a ready policy as this command sets it up.
type wrapper struct {
	name    string
	fn      pipeline.Listener[pipeline.Dispatch, pipeline.Result]
	explain func(*tools.Tool) string // what it means for calls of the tool
}

// wrappers are those chosen, the outermost first: each attempt waits for its own
// start and has its own time.
func (f *policyFlags) wrappers() []wrapper {
	var list []wrapper
	if f.retries > 0 {
		retry := policy.Retry(&policy.RetryOptions{
			Attempts: int(f.retries) + 1,
			MaxTime:  24 * time.Hour, // in effect the run's, so that a slow timeout is retried as well
		})
		list = append(list, wrapper{"retry", retry, f.explainRetry})
	}
	if f.rate > 0 {
		list = append(list, wrapper{"rate", policy.Limit(policy.LimitOptions{Rate: int(f.rate)}), f.explainRate})
	}
	return append(list, wrapper{"timeout", policy.Timeout(), explainTimeout})
}

// install puts the wrappers around the tools of a pipeline.
func (f *policyFlags) install(p *pipeline.Pipeline) {
	for _, w := range f.wrappers() {
		p.Execution.Use(w.name, w.fn)
	}
}

// explain says what the wrapper of that name means for calls of the tool, ""
// if there is none or no tool.
func (f *policyFlags) explain(name string, tool *tools.Tool) string {
	if tool == nil {
		return ""
	}
	for _, w := range f.wrappers() {
		if w.name == name {
			return w.explain(tool)
		}
	}
	return ""
}

func (f *policyFlags) explainRetry(tool *tools.Tool) string {
	if a := tool.Definition().Annotations; !a.ReadOnly && !a.Idempotent {
		return "none for this tool, which is neither read-only nor idempotent"
	}
	return fmt.Sprintf("up to %s after transient failures", counted(int(f.retries), "retry", "retries"))
}

func (f *policyFlags) explainRate(*tools.Tool) string {
	return fmt.Sprintf("at most %s within a second, of all tools together", counted(int(f.rate), "start", "starts"))
}

func explainTimeout(tool *tools.Tool) string {
	if limit := tool.Definition().Timeout; limit > 0 {
		return limit.String() + " for this tool"
	}
	return "none for this tool"
}
