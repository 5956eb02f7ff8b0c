package codemode

import (
	"context"
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

	mu       sync.Mutex
	started  int // sub-calls so far; the number of the latest
	over     string
	records  []CallRecord
	pictures []picture
	contexts int // dropped
}

// picture is an image block of the n-th sub-call.
type picture struct {
	n     int
	block tools.Content
}

// call makes one sub-call and returns when it has settled.
func (b *bridge) call(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	n, refusal := b.begin(inv.Member)
	if refusal != "" {
		return runtime.Reply{}, &runtime.CallError{Message: refusal, Code: tools.CodeAbortedBeforeDispatch}
	}
	outcome := b.c.pipeline.Execute(ctx, pipeline.Request{
		ID:           fmt.Sprintf("%s:code:%d", b.run.Call().ID(), n),
		Name:         inv.Member,
		Args:         inv.Args,
		Agent:        b.run.Call().Agent(),
		Parent:       b.run,
		Site:         tools.Site(inv.Site),
		DropContexts: b.c.opts.Contexts == DropContexts,
		OnApproval:   func() func() { return runtime.PauseWall(ctx) },
	})
	b.settle(n, outcome)
	if err := outcome.Err(); err != nil {
		return runtime.Reply{}, thrown(outcome)
	}
	return runtime.Reply{Value: outcome.Value().String()}, nil
}

// begin numbers a call, or says why it is not made: nothing starts once the run
// is over.
func (b *bridge) begin(name string) (n int, refusal string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over != "" {
		return 0, fmt.Sprintf("run_code run is over (%s); %s not dispatched", b.over, name)
	}
	b.started++
	b.records = append(b.records, CallRecord{})
	return b.started, ""
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
	b.contexts += o.DroppedContexts()
	for _, block := range images {
		b.pictures = append(b.pictures, picture{n, block})
	}
}

// close refuses further calls. The runtime has awaited those in flight.
func (b *bridge) close(ctx context.Context, res runtime.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = "run_code settled"
	if cause := context.Cause(ctx); cause != nil {
		b.over = cause.Error()
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
	if denied := pipeline.DenialOf(o.Err()); denied != nil {
		e.Extra = map[string]string{"origin": denied.Origin, "by": denied.By}
	}
	return e
}
