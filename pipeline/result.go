package pipeline

import (
	"errors"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// Result is what the execution stage yields: a success with a value or a
// failure with an error, and the contexts that travel with it. It is immutable
// and safe for concurrent use. The zero Result is a failure that says so.
type Result struct {
	core     *core
	contexts []tools.Message // never changed in place
}

// core is the part of a Result that copies share.
type core struct {
	owner   *execution // whose dispatch made it; nil: a wrapper did
	attempt *attempt   // the body start it came from, nil for none
	value   tools.JSON
	detail  any
	err     error  // nil: a success
	message string // err's text, read once

	tool   *tools.Tool // renders the blocks for the owner when somebody needs them; nil: blocks are given
	plain  bool        // the blocks are the value's text, no tool made them
	once   sync.Once
	blocks []tools.Content
	one    [1]tools.Content // the blocks of most values
	broken error            // what rendering failed with
}

// Success is a result a wrapper makes itself. The pipeline validates its value
// against the tool's output schema and renders the blocks from it; given blocks
// count only where there is no value to render.
func Success(r tools.Result) Result {
	return Result{core: &core{value: r.Value, detail: r.Detail, blocks: slices.Clone(r.Content)}}
}

// Failure is a failed result; the model reads "Error: " and the error's text.
// Failure(nil) fails too.
func Failure(err error) Result { return Result{core: failure(err)} }

func failure(err error) *core {
	if err == nil {
		err = errors.New("failed without an error")
	}
	message := textOf(err)
	return &core{err: err, message: message, blocks: []tools.Content{tools.TextContent("Error: " + message)}}
}

var noResult = failure(errors.New("an execution wrapper returned no result; return what next gave, Success or Failure"))

func (r Result) get() *core {
	if r.core == nil {
		return noResult
	}
	return r.core
}

// WithContexts is r with messages added after those it has.
func (r Result) WithContexts(messages ...tools.Message) Result {
	r.contexts = append(cloneMessages(r.contexts), cloneMessages(messages)...)
	return r
}

// IsError reports whether r is a failure.
func (r Result) IsError() bool { return r.get().err != nil }

// Err is the error of a failure, nil for a success.
func (r Result) Err() error { return r.get().err }

// Value is the value of a success, the zero JSON for none.
func (r Result) Value() tools.JSON { return r.get().value }

// Detail is what the body kept for the host.
func (r Result) Detail() any { return r.get().detail }

// Content is a copy of the blocks a model reads. They are rendered when they
// are first asked for.
func (r Result) Content() []tools.Content { return slices.Clone(r.get().content()) }

// Contexts is a copy of the messages that follow the result. Those the body
// deferred are added after the execution stage: wrappers do not see them,
// post-execute listeners do.
func (r Result) Contexts() []tools.Message { return cloneMessages(r.contexts) }

// Concludes reports whether the body asked the agent loop to stop after this
// batch and the call succeeded.
func (r Result) Concludes() bool {
	c := r.get()
	return c.err == nil && c.attempt.concludes()
}

// content renders once. A Render that fails spoils the blocks only: they say
// so.
func (c *core) content() []tools.Content {
	c.once.Do(func() {
		if c.tool == nil {
			return
		}
		c.broken = errGoexit // unless Render comes back
		defer func() {
			if c.broken != nil {
				c.blocks = failure(c.broken).blocks
			}
		}()
		if c.plain {
			c.blocks, c.broken = c.plainBlocks(), nil
			return
		}
		c.blocks, c.broken = c.owner.render(c.tool, c.value)
	})
	return c.blocks
}

// withContent is c with other blocks.
func (c *core) withContent(blocks []tools.Content) *core {
	return &core{
		owner: c.owner, attempt: c.attempt, value: c.value, detail: c.detail,
		err: c.err, message: c.message, blocks: slices.Clone(blocks),
	}
}

func cloneMessages(messages []tools.Message) []tools.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Content = slices.Clone(out[i].Content)
	}
	return out
}
