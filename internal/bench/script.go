package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Script is a person's own program, and what runs it.
type Script struct {
	Name   string // for the report
	Code   string
	Prompt string // the task in the user's words; empty: "Do the task."
	// Pipeline and CodeMode have the tools and the policy. The program is run once
	// with them, and its calls take effect.
	Pipeline *pipeline.Pipeline
	CodeMode *codemode.CodeMode
	Tools    []*tools.Tool
	Agent    any
}

// RunScript runs a program once, and compares it with its calls made directly:
// both are answered from what the tools returned in that run, so no call takes
// effect twice. What an argument was taken from is found by value: an argument that is a part of an
// earlier result, and is not in the program's text or the prompt, must wait for it.
// The error is for a program that fails, or calls nothing.
func RunScript(ctx context.Context, s Script, opts *Options) (_ *Report, err error) {
	r, result, err := s.record(ctx)
	if err != nil {
		return nil, err
	}
	b, err := newBench(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.runtime.Close()) }()
	w := r.workload()
	w.about = "your program against its calls made directly"
	w.turns[0] = scripted(r.turns[0], s.Code, result)
	return b.report, b.compare(ctx, w)
}

// scripted is a turn whose program is the person's. The answer of the direct arms
// is the program's: what a model would make of the results is not known.
func scripted(t recordedTurn, program, result string) turn {
	known := t
	known.prompt += "\n" + program
	f := newFlow(known)
	return turn{
		prompt: t.prompt, program: program,
		direct: func(ask ask) answer {
			for _, group := range f.groups() {
				ask(group...)
			}
			return answer{said: result}
		},
	}
}

// record runs the program and keeps its calls.
func (s Script) record(ctx context.Context) (r recording, result string, err error) {
	log := &callLog{root: "bench-script"}
	remove := s.Pipeline.OnResult("bench-script", log.settled)
	defer remove()
	o := s.CodeMode.Run(ctx, codemode.Program{Code: s.Code, Description: "Benchmark the program", ID: log.root, Agent: s.Agent})
	if o.IsError() {
		return r, "", fmt.Errorf("the program fails, so there is nothing to compare: %w", o.Err())
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.calls) == 0 {
		return r, "", errors.New("the program calls no tool, so there is nothing to compare")
	}
	prompt := s.Prompt
	if prompt == "" {
		prompt = "Do the task."
	}
	r = recording{id: s.Name, turns: []recordedTurn{{prompt: prompt, calls: log.calls}}}
	for _, t := range s.Tools {
		d := t.Definition()
		r.defs = append(r.defs, &d)
	}
	return r, codemode.ReportOf(o).Output, nil
}

// callLog keeps the calls of one program as they settle. Calls run one after
// another unless the CodeMode overlaps them; then a replay may differ, and is
// refused.
type callLog struct {
	root  string
	mu    sync.Mutex
	calls []recordedCall
}

func (l *callLog) settled(o pipeline.Outcome) {
	if o.Call().ParentID() != l.root {
		return
	}
	c := recordedCall{Name: o.Call().Name(), Args: o.Call().Args(), Value: o.Value(), Failure: o.Message()}
	if c.Failure == "" {
		c.Content = o.Content()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
}
