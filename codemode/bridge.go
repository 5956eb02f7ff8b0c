package codemode

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/internal/growstack"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// bridge turns the calls of one program into sub-calls of the pipeline. It is
// the one place where a program reaches a tool.
type bridge struct {
	c   *CodeMode
	run *tools.Run // of run_code; what permits calls under it

	catalog *bindings.Catalog // of the tools of this run

	lane *lane // nil: the runtime hands out one call at a time

	end context.CancelCauseFunc // of the run

	mu       sync.Mutex
	records  []CallRecord // the n-th call's at n-1
	pictures []picture
	contexts int // dropped
	rejected map[question]bool
	misfits  []string // notes of values that do not fit, the first of them
	misfit   int      // how many there are
}

// question is what a person was asked about.
type question struct {
	tool string
	args tools.JSON
}

// maxRejections is how many different calls a person rejects before the run is
// over: a program that goes on asking is not doing what is wanted.
const maxRejections = 3

var errRejections = fmt.Errorf("the user rejected %d calls of this program; ask what is wanted before running another", maxRejections)

// picture is an image block of the n-th sub-call.
type picture struct {
	n     int
	block tools.Content
}

// call makes one sub-call and returns when it has settled. The runtime calls it
// once at a time, or up to Options.Parallel at once, each time on a goroutine that
// may end: a tool which ends its goroutine (as t.FailNow does) fails and does not
// leave the program waiting.
func (b *bridge) call(ctx context.Context, inv runtime.Invocation) (reply runtime.Reply, err error) {
	if inv.Answer == nil { // nothing else takes an answer from a goroutine that ends
		return b.callApart(ctx, inv)
	}
	settled, returned := false, false
	defer func() {
		r := recover()
		if r != nil {
			err = fmt.Errorf("%s failed: the host panicked: %v", inv.Member, r)
		} else if !settled {
			err = fmt.Errorf("the call of %s ended without an outcome", inv.Member)
		}
		if r == nil && !returned { // the goroutine ends
			inv.Answer(reply, err)
		}
	}()
	b.dispatch(ctx, inv, func(o pipeline.Outcome) {
		settled = true
		reply, err = answer(o)
		if b.lane != nil { // the next call settles only after this
			inv.Answer(reply, err)
		}
	})
	returned = true
	return reply, err
}

// callApart is call on a goroutine of its own.
func (b *bridge) callApart(ctx context.Context, inv runtime.Invocation) (reply runtime.Reply, err error) {
	inv.Answer = func(r runtime.Reply, e error) { reply, err = r, e }
	done := make(chan struct{})
	go func() {
		growstack.Grow()
		defer close(done)
		reply, err = b.call(ctx, inv)
	}()
	<-done
	return reply, err
}

// answer is what a program gets for an outcome.
func answer(o pipeline.Outcome) (runtime.Reply, error) {
	reply := runtime.Reply{Time: o.Logged()}
	if o.IsError() {
		return reply, thrown(o)
	}
	reply.Value = o.Value().String()
	return reply, nil
}

// dispatch takes a sub-call through the pipeline and reports its outcome, also
// if foreign code ends the goroutine under way.
func (b *bridge) dispatch(ctx context.Context, inv runtime.Invocation, report func(pipeline.Outcome)) {
	var n int
	request := func() pipeline.Request {
		var id string
		n, id = b.begin(inv.Member)
		return pipeline.Request{
			ID:           id,
			Name:         inv.Member,
			Args:         inv.Args,
			Agent:        b.run.Call().Agent(),
			Parent:       b.run,
			Over:         runtime.Over(ctx),
			Site:         tools.Site(inv.Site),
			DropContexts: b.c.opts.Contexts == DropContexts,
			OnApproval:   func() func() { return runtime.PauseWall(ctx) },
		}
	}
	settled := func(o pipeline.Outcome) {
		b.settle(n, o)
		report(o)
	}
	if b.lane != nil {
		b.lane.execute(ctx, b.c.pipeline, inv.Seq, b.concurrent(inv), request, settled)
		return
	}
	staged := b.c.pipeline.Begin(ctx, request())
	defer settle(staged, settled)
	staged.Dispatch()
}

// settle settles a call and reports its outcome, also if foreign code ends the
// goroutine meanwhile.
func settle(staged *pipeline.Staged, report func(pipeline.Outcome)) {
	defer func() { report(staged.Settle()) }()
	staged.Settle()
}

// concurrent classifies a call: what is unknown or unreadable runs alone.
func (b *bridge) concurrent(inv runtime.Invocation) bool {
	tool := b.c.pipeline.Tool(b.run.Call().Agent(), inv.Member)
	if tool == nil {
		return false
	}
	args, err := tools.ParseJSON(inv.Args)
	return err == nil && tool.Concurrent(args)
}

// begin numbers a call that starts now, from 1.
func (b *bridge) begin(name string) (n int, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = len(b.records) + 1
	id = b.run.Call().ID() + ":code:" + strconv.Itoa(n)
	b.records = append(b.records, CallRecord{ID: id, Name: name, State: pipeline.StateFailed})
	return n, id
}

func (b *bridge) settle(n int, o pipeline.Outcome) {
	record := CallRecord{ID: o.Call().ID(), Name: o.Call().Name(), State: o.State(), Ms: millis(o.Took()), Line: o.Call().Site().Line, Error: o.Message(), Code: o.Info().Code}
	var images []tools.Content
	if !o.IsError() {
		images = o.Images()
	}
	misfit := misfitOf(o)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[n-1] = record
	b.contexts += o.Dropped()
	for _, block := range images {
		b.pictures = append(b.pictures, picture{n, block})
	}
	if misfit != "" {
		b.misfit++
		if b.misfit <= maxMisfits {
			b.misfits = append(b.misfits, fmt.Sprintf("call %d (%s): its value is not what its declaration says: %s", n, oneLine(record.Name), misfit))
		}
	}
	if o.Info().Code == tools.CodeApprovalRejected {
		b.reject(question{o.Call().Name(), o.Call().Args()})
	}
}

// misfitOf is what is wrong with a value whose declaration describes it and does
// not bind, "" for nothing.
func misfitOf(o pipeline.Outcome) string {
	tool := o.Call().Tool()
	if tool == nil || o.IsError() || !tool.Definition().OutputDescribes {
		return ""
	}
	problem := find[*tools.OutputError](tool.CheckValue(o.Value()))
	if problem == nil || len(problem.Problems) == 0 {
		return ""
	}
	return oneLine(problem.Problems[0].Text)
}

// maxMisfits is how many values that do not fit are named one by one.
const maxMisfits = 10

// notes tells of values that do not fit.
func (b *bridge) notes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	notes := slices.Clone(b.misfits)
	if more := b.misfit - maxMisfits; more > 0 {
		notes = append(notes, fmt.Sprintf("%d further values are not what their declarations say", more))
	}
	return notes
}

// reject ends the run after maxRejections; b.mu is held.
func (b *bridge) reject(q question) {
	if b.rejected == nil {
		b.rejected = map[question]bool{}
	}
	b.rejected[q] = true
	if len(b.rejected) == maxRejections {
		b.end(errRejections)
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

// maxImageNotes is how many images that do not fit are named one by one.
const maxImageNotes = 10

// images lists the image blocks of successful sub-calls in call order. Those
// that do not fit into what is left of max bytes are named in text blocks
// instead, the first of them one by one, the others together.
func (b *bridge) images(max int) []tools.Content {
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.pictures, func(x, y picture) int { return x.n - y.n })
	var blocks []tools.Content
	left := 0
	for _, p := range b.pictures {
		if len(p.block.Data) > max {
			if left++; left > maxImageNotes {
				continue
			}
			blocks = append(blocks, tools.TextContent(fmt.Sprintf("[image of sub-call %d left out: %d bytes of base64 exceed the room of %d]", p.n, len(p.block.Data), max)))
			continue
		}
		max -= len(p.block.Data)
		blocks = append(blocks, p.block)
	}
	if left > maxImageNotes {
		blocks = append(blocks, tools.TextContent(fmt.Sprintf("[%d further images left out for their size]", left-maxImageNotes)))
	}
	return blocks
}

// thrown is what a failed sub-call throws in the program.
func thrown(o pipeline.Outcome) *runtime.CallError {
	e := &runtime.CallError{Message: o.Message(), Code: o.Info().Code, CallID: o.Call().ID()}
	if denied := find[*pipeline.DeniedError](o.Err()); denied != nil {
		e.Extra = map[string]string{"origin": denied.Origin, "by": denied.By}
	}
	return e
}
