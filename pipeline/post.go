package pipeline

import (
	"slices"

	"github.com/runcode-go/runcode/tools"
)

// Settled is a call whose execution stage is over, as post-execute listeners
// see it: also a denied, an unknown or an aborted one.
type Settled struct {
	Call   tools.Call
	Result Result
}

type postKind uint8

const (
	postNone postKind = iota
	postAccept
	postContent
	postValue
	postBlock
)

// String is the kind's name in the events of stages.
func (k postKind) String() string {
	switch k {
	case postAccept:
		return "accept"
	case postContent:
		return "content"
	case postValue:
		return "value"
	case postBlock:
		return "block"
	}
	return "error"
}

// feedback is the text of a Block, "" for any other decision.
func (d PostDecision) feedback() string {
	if d.kind != postBlock {
		return ""
	}
	return tools.ContentString(d.content)
}

// PostDecision is the answer of a post-execute listener, made by Accept,
// AcceptContent, AcceptValue or Block. The zero PostDecision fails the call.
type PostDecision struct {
	kind     postKind
	content  []tools.Content // of AcceptContent, the feedback of Block
	value    tools.JSON
	contexts []tools.Message
	by       string
}

// Accept leaves the result as it is.
func Accept() PostDecision { return PostDecision{kind: postAccept} }

// AcceptContent replaces the blocks a model reads and nothing else: programs
// still compute with the value, and a failure stays one. To hide something, use
// AcceptValue or Block.
func AcceptContent(blocks []tools.Content) PostDecision {
	return PostDecision{kind: postContent, content: slices.Clone(blocks)}
}

// AcceptValue replaces the value of a success; the new one is validated and
// rendered like a body's. It fails the call if the result is a failure.
func AcceptValue(v tools.JSON) PostDecision { return PostDecision{kind: postValue, value: v} }

// Block turns the result into a failure whose blocks are the feedback as it is,
// without "Error: " before it. Value and contexts of the call are dropped.
func Block(feedback []tools.Content) PostDecision {
	return PostDecision{kind: postBlock, content: slices.Clone(feedback)}
}

// WithContexts is d with messages for the next model request added after those
// it has.
func (d PostDecision) WithContexts(messages ...tools.Message) PostDecision {
	d.contexts = append(cloneMessages(d.contexts), cloneMessages(messages)...)
	return d
}

// WithContextsFirst is d with messages added before those it has: those of a
// listener stand before those of the listeners further in.
func (d PostDecision) WithContextsFirst(messages ...tools.Message) PostDecision {
	d.contexts = append(cloneMessages(messages), cloneMessages(d.contexts)...)
	return d
}

// Blocks reports whether the decision is a Block. A listener that adds contexts
// to whatever came from further in returns that decision with WithContexts.
func (d PostDecision) Blocks() bool { return d.kind == postBlock }

// Content is a copy of the blocks that take the place of the result's, those of
// an AcceptContent and the feedback of a Block; replaced is false for any other
// decision.
func (d PostDecision) Content() (blocks []tools.Content, replaced bool) {
	return slices.Clone(d.content), d.kind == postContent || d.kind == postBlock
}

// Value is the value that takes the place of the result's; replaced is false
// for all but an AcceptValue.
func (d PostDecision) Value() (value tools.JSON, replaced bool) {
	return d.value, d.kind == postValue
}

// Contexts is a copy of the decision's messages.
func (d PostDecision) Contexts() []tools.Message { return cloneMessages(d.contexts) }
