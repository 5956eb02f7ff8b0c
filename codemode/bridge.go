package codemode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// bridge turns the calls of one program into sub-calls of the pipeline. It is
// the one place where a program reaches a tool.
type bridge struct {
	c   *CodeMode
	run *tools.Run // of run_code; what permits calls under it

	lane *lane // nil: the runtime hands out one call at a time

	mu       sync.Mutex
	records  []CallRecord // the n-th call's at n-1
	pictures []picture
	contexts int // dropped
}

// picture is an image block of the n-th sub-call.
type picture struct {
	n     int
	block tools.Content
}

// call makes one sub-call and returns when it has settled. The runtime calls it
// once at a time, or up to Options.Parallel at once.
func (b *bridge) call(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	var n int
	request := func() pipeline.Request {
		n = b.begin()
		return pipeline.Request{
			ID:           fmt.Sprintf("%s:code:%d", b.run.Call().ID(), n),
			Name:         inv.Member,
			Args:         inv.Args,
			Agent:        b.run.Call().Agent(),
			Parent:       b.run,
			Site:         tools.Site(inv.Site),
			DropContexts: b.c.opts.Contexts == DropContexts,
			OnApproval:   func() func() { return runtime.PauseWall(ctx) },
		}
	}
	var outcome pipeline.Outcome
	if b.lane == nil {
		outcome = b.c.pipeline.Execute(ctx, request())
	} else {
		outcome = b.lane.execute(ctx, b.c.pipeline, inv.Seq, func() bool { return b.concurrent(inv) }, request)
	}
	b.settle(n, outcome)
	if outcome.IsError() {
		return runtime.Reply{}, thrown(outcome)
	}
	return runtime.Reply{Value: outcome.Value().String()}, nil
}

// concurrent classifies a call: what is unknown or unreadable runs alone.
func (b *bridge) concurrent(inv runtime.Invocation) bool {
	tool := b.c.pipeline.Registry().Lookup(inv.Member)
	if tool == nil {
		return false
	}
	args, err := tools.ParseJSON(inv.Args)
	return err == nil && tool.Concurrent(args)
}

// begin numbers a call that starts now, from 1.
func (b *bridge) begin() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records = append(b.records, CallRecord{})
	return len(b.records)
}

func (b *bridge) settle(n int, o pipeline.Outcome) {
	record := CallRecord{ID: o.Call().ID(), Name: o.Call().Name(), State: o.State(), Ms: millis(o.Took())}
	if err := o.Err(); err != nil {
		record.Error = err.Error()
	}
	images := o.Images()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[n-1] = record
	b.contexts += o.Dropped()
	for _, block := range images {
		b.pictures = append(b.pictures, picture{n, block})
	}
}

func (b *bridge) ledger() []CallRecord {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.records)
}

func (b *bridge) dropped() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.contexts
}

// images lists the image blocks of successful sub-calls in call order. One that
// does not fit into what is left of max bytes is named in a text block instead.
func (b *bridge) images(max int) []tools.Content {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.pictures, func(x, y picture) int { return x.n - y.n })
	var blocks []tools.Content
	for _, p := range b.pictures {
		if len(p.block.Data) > max {
			blocks = append(blocks, tools.TextContent(fmt.Sprintf("[image of sub-call %d left out: %d bytes of base64 exceed the room of %d]", p.n, len(p.block.Data), max)))
			continue
		}
		max -= len(p.block.Data)
		blocks = append(blocks, p.block)
	}
	return blocks
}

// thrown is what a failed sub-call throws in the program.
func thrown(o pipeline.Outcome) *runtime.CallError {
	e := &runtime.CallError{Message: o.Err().Error(), Code: o.Info().Code, CallID: o.Call().ID()}
	var denied *pipeline.DeniedError
	if errors.As(o.Err(), &denied) {
		e.Extra = map[string]string{"origin": denied.Origin, "by": denied.By}
	}
	return e
}
