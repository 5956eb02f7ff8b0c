package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/tools"
)

// Dispatch is what execution wrappers are given. Tool is nil for a name nobody
// registered; its definition tells a timeout or a retry policy what it needs.
type Dispatch struct {
	Call tools.Call
	Tool *tools.Tool
}

// runExecution asks the execution wrappers, with the body innermost.
func (x *execution) runExecution() (Result, error) {
	listeners := x.p.Execution.list.visible(x.scopes)
	if len(listeners) == 0 {
		return x.body(x.ctx)
	}
	p := &pass[Dispatch, Result]{
		x:         x,
		listeners: listeners,
		event:     Dispatch{Call: x.call, Tool: x.tool},
		innermost: x.body,
		judge:     wrapperJudge{x},
		stage:     "execution",
		reentrant: true,
	}
	return p.run(x.ctx, 0)
}

// wrapperJudge lets every answer of a wrapper stand: what an inner one failed
// with, an outer one may try again.
type wrapperJudge struct{ x *execution }

func (wrapperJudge) observe(_ string, r Result, err error, _ *Result) (Result, error) { return r, err }

func (j wrapperJudge) record(name string, r Result, err error, began time.Time) {
	j.x.recordResult(StageExecution, name, r, err, began)
}

func (wrapperJudge) fail(error) {}

// body is one dispatch to the tool. It has no error of its own: whatever goes
// wrong is a failed result, which wrappers can look at.
func (x *execution) body(ctx context.Context) (Result, error) {
	began := x.clock()
	c := x.bodyResult(ctx)
	c.owner = x
	r := Result{core: c}
	x.recordResult(StageBody, "", r, nil, began)
	return r, nil
}

func (x *execution) bodyResult(ctx context.Context) *core {
	ctx, stop := x.fuse(ctx)
	defer stop()
	if gone := x.abandoned(); gone != nil { // whatever a wrapper makes of it
		return failure(gone)
	}
	if ctx.Err() != nil {
		return failure(aborted(ctx, x.bodyRan()))
	}
	tool, err := x.current()
	if err == nil {
		err = x.checkArgs(tool)
	}
	if err == nil {
		_, err = x.call.Subjects()
		x.p.logIfPanic(err, x.call)
	}
	if err == nil {
		err = x.regrant(ctx, tool)
	}
	if err != nil {
		return failure(err)
	}
	a := x.newAttempt()
	value, err := a.call(ctx, tool)
	var c *core
	if err == nil {
		c = x.success(tool, a, value)
		err = c.err
	} else if isAbortOf(ctx, err) {
		err = aborted(ctx, true)
		c = failure(err)
	} else {
		x.p.logIfPanic(err, x.call)
		c = failure(err)
	}
	if err == nil && ctx.Err() != nil {
		c = failure(aborted(ctx, true))
	}
	c.attempt = a
	return c
}

// fuse is the wrapper's context, ended also by the caller's, with the cause of
// whichever ended first.
func (x *execution) fuse(wrapper context.Context) (context.Context, func()) {
	caller := x.ctx
	if wrapper == nil {
		wrapper = caller
	}
	if wrapper == caller || caller.Done() == nil {
		return wrapper, func() {}
	}
	if around, ok := wrapper.(*spell); ok && around.of == x { // which the caller's ends
		ctx := &spell{Context: wrapper}
		return ctx, func() { ctx.end(context.Canceled) }
	}
	ctx, cancel := context.WithCancelCause(wrapper)
	if caller.Err() != nil && wrapper.Err() == nil {
		cancel(context.Cause(caller))
	}
	unlink := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	return ctx, func() {
		unlink()
		cancel(nil)
	}
}

// current is the tool the call was judged for, if the name still means it.
func (x *execution) current() (*tools.Tool, error) {
	if err := x.collapsed(); err != nil {
		return nil, err
	}
	tool := x.p.find(x.call.Name(), x.scopes)
	switch {
	case tool == nil:
		return nil, x.unknown()
	case tool != x.tool:
		return nil, &tools.Error{
			Name: "ToolChangedError", Code: tools.CodeToolChanged,
			Message: fmt.Sprintf("tool %q was replaced between the decision to run it and its start; call it again", x.call.Name()),
		}
	}
	return tool, nil
}

func (x *execution) unknown() error {
	var known []string
	for _, t := range x.p.visible(x.scopes) {
		known = append(known, t.Name())
	}
	return &tools.NotFoundError{Tool: x.call.Name(), Nearest: nearest.Names(x.call.Name(), known, 3)}
}

func (x *execution) checkArgs(tool *tools.Tool) (err error) {
	defer x.foreign(tool, "argument check", &err)
	return tool.CheckArgs(x.call.Args())
}

// regrant asks again before a body runs a second time under one grant, unless
// running it twice is the same as running it once.
func (x *execution) regrant(ctx context.Context, tool *tools.Tool) error {
	if x.asked == nil || x.takeGrant() || tool.Definition().Annotations.Idempotent {
		return nil
	}
	if err := x.approve(ctx, *x.asked); err != nil {
		return err
	}
	_, err := x.current() // a person takes time, in which the tool may be hidden or replaced
	return err
}

// body runs the body on this goroutine.
func (a *attempt) body(ctx context.Context, tool *tools.Tool) (r tools.Result, err error) {
	defer a.x.foreign(tool, "", &err)
	return tool.Definition().Handler(ctx, &a.run)
}

// foreign turns a panic of a tool's code into an error. It is deferred.
func (x *execution) foreign(tool *tools.Tool, part string, err *error) {
	if r := recover(); r != nil {
		where := fmt.Sprintf("tool %q", tool.Name())
		if part != "" {
			where = fmt.Sprintf("the %s of tool %q", part, tool.Name())
		}
		*err = panicked(where, r)
	}
}

// success is the canonical result of a value: validated, with its blocks
// rendered now for a model's call and on demand for a nested one. A program
// computes with the value, so a Render that fails there spoils no more than the
// blocks.
func (x *execution) success(tool *tools.Tool, a *attempt, r tools.Result) *core {
	return x.canonical(tool, a, r, tool.CheckOutput)
}

// substitute is the canonical result of a value that the body did not return, so
// that no Go type vouches for it.
func (x *execution) substitute(tool *tools.Tool, a *attempt, r tools.Result) *core {
	return x.canonical(tool, a, r, tool.CheckSubstitute)
}

func (x *execution) canonical(tool *tools.Tool, a *attempt, r tools.Result, check func(tools.JSON) error) *core {
	if err := x.checkOutput(tool, r.Value, check); err != nil {
		return x.invalid(a, err)
	}
	c := a.newCore()
	c.owner, c.attempt, c.value, c.detail = x, a, r.Value, r.Detail
	if r.Content != nil {
		c.blocks = cloneBlocks(r.Content)
		return c
	}
	c.tool, c.plain = tool, tool.Definition().Render == nil
	if x.parent == nil && !c.plain {
		if c.content(); c.broken != nil {
			return x.invalid(a, c.broken)
		}
	}
	return c
}

func (x *execution) invalid(a *attempt, err error) *core {
	x.p.logIfPanic(err, x.call)
	c := failure(err)
	c.owner, c.attempt = x, a
	return c
}

func (x *execution) checkOutput(tool *tools.Tool, value tools.JSON, check func(tools.JSON) error) (err error) {
	defer x.foreign(tool, "output check", &err)
	return check(value)
}

// render makes the blocks of a value.
func (x *execution) render(tool *tools.Tool, value tools.JSON) (blocks []tools.Content, err error) {
	blocks, err = x.customRender(tool, value)
	if err != nil {
		return nil, &tools.OutputError{Tool: tool.Name(), Problems: []tools.Problem{{Text: "output.render failed: " + textOf(err)}}}
	}
	return cloneBlocks(blocks), nil
}

func (x *execution) customRender(tool *tools.Tool, value tools.JSON) (blocks []tools.Content, err error) {
	defer func() { x.p.logIfPanic(err, x.call) }()
	defer x.foreign(tool, "output.render", &err)
	return tool.Definition().Render(x.call.Args(), value)
}

// plainBlocks is a string's own text, or a value as JSON. No value has no blocks.
func (c *core) plainBlocks() []tools.Content {
	if c.value.IsZero() {
		return nil
	}
	text, ok := c.value.Text()
	if !ok {
		text = c.value.String()
	}
	c.one[0] = tools.TextContent(text)
	return c.one[:]
}

// newCore is what stands ready in the attempt, the first time.
func (a *attempt) newCore() *core {
	if a == nil || a.made.owner != nil {
		return &core{}
	}
	return &a.made
}

func cloneBlocks(blocks []tools.Content) []tools.Content {
	return append(make([]tools.Content, 0, len(blocks)), blocks...)
}

// normalise is what the outermost wrapper returned, made canonical: what this
// call's own dispatch made is taken as it is, a success from elsewhere is
// validated and rendered again. Then the contexts the body deferred come
// before the wrappers'.
func (x *execution) normalise(r Result) Result {
	c, a := r.get(), r.get().attempt
	if c.owner != x {
		// Whatever a wrapper says, contexts and conclusion are the body's.
		a = x.lastAttempt()
		if c.err == nil {
			c = x.adopt(c)
		}
	}
	return x.unlessAborted(Result{core: c, contexts: append(a.deferred(), r.contexts...)})
}

// adopt makes a success a wrapper authored, or kept from another call, this
// call's own.
func (x *execution) adopt(c *core) *core {
	tool, err := x.current()
	if err != nil {
		return failure(err)
	}
	r := tools.Result{Value: c.value, Detail: c.detail}
	if c.value.IsZero() {
		r.Content = c.content()
	}
	return x.substitute(tool, x.lastAttempt(), r)
}

// unlessAborted is r, or an abort in its place if the caller has left and r is
// a success. Failures stay; contexts do too.
func (x *execution) unlessAborted(r Result) Result {
	if x.ctx.Err() == nil || r.IsError() {
		return r
	}
	return Result{core: failure(aborted(x.ctx, x.bodyRan())), contexts: r.contexts}
}
