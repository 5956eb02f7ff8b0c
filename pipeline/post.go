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
//
// Answers build on each other: what a listener further in has replaced stays
// replaced unless this one replaces it too, so a value that was taken out does
// not come back because an outer listener has nothing to say. In DSH the outermost answer
// alone counts. Contexts do not build: a listener that answers with a decision of its
// own leaves out those from further in.
type PostDecision struct {
	kind       postKind        // what the listener said
	content    []tools.Content // if hasContent; the feedback of a Block
	value      tools.JSON      // if hasValue
	hasContent bool
	hasValue   bool
	contexts   []tools.Message
}

// over is d on top of the answer from further in.
func (d PostDecision) over(inner PostDecision) PostDecision {
	switch {
	case d.kind == postBlock || inner.kind == postBlock || d.hasValue:
	case d.hasContent:
		d.value, d.hasValue = inner.value, inner.hasValue
	default:
		d.content, d.hasContent, d.value, d.hasValue = inner.content, inner.hasContent, inner.value, inner.hasValue
	}
	return d
}

// Accept leaves the result as it is, or as listeners further in have made it.
func Accept() PostDecision { return PostDecision{kind: postAccept} }

// AcceptContent replaces the blocks a model reads and nothing else: programs
// still compute with the value, and a failure stays one. To hide something, use
// AcceptValue or Block.
func AcceptContent(blocks []tools.Content) PostDecision {
	return PostDecision{kind: postContent, content: slices.Clone(blocks), hasContent: true}
}

// AcceptValue replaces the value of a success; the new one is validated and
// rendered like a body's. It fails the call if the result is a failure.
func AcceptValue(v tools.JSON) PostDecision {
	return PostDecision{kind: postValue, value: v, hasValue: true}
}

// Block turns the result into a failure whose blocks are the feedback as it is,
// without "Error: " before it. Value and contexts of the call are dropped.
func Block(feedback []tools.Content) PostDecision {
	return PostDecision{kind: postBlock, content: slices.Clone(feedback), hasContent: true}
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
// an AcceptContent or the feedback of a Block; replaced is false if they stay.
func (d PostDecision) Content() (blocks []tools.Content, replaced bool) {
	return slices.Clone(d.content), d.hasContent
}

// Value is the value that takes the place of the result's, that of an
// AcceptValue; replaced is false if it stays.
func (d PostDecision) Value() (value tools.JSON, replaced bool) { return d.value, d.hasValue }

// Contexts is a copy of the decision's messages.
func (d PostDecision) Contexts() []tools.Message { return cloneMessages(d.contexts) }
