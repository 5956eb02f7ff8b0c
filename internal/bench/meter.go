package bench

import (
	"fmt"
	"slices"

	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/tools"
)

// Tokens is what one arm's conversation cost. It depends on the workload, the
// seed and this module alone.
type Tokens struct {
	Requests int    `json:"requests"`
	Calls    int    `json:"calls"`   // tool calls that reached the pipeline, those of programs included, run_code itself not
	Input    Amount `json:"input"`   // the whole context, sent with every request: no cache
	Fresh    Amount `json:"fresh"`   // of Input, what a request does not share with the beginning of the one before: an ideal prefix cache reads the rest
	Output   Amount `json:"output"`  // what the model writes
	Surface  Amount `json:"surface"` // of Input, tool definitions and system prompts
	Context  Amount `json:"context"` // of the last request with its answer
	KeptOut  int    `json:"keptOut"` // bytes of results that programs used and did not return
}

// Total is input and output.
func (t Tokens) Total() int { return t.Input.Tokens + t.Output.Tokens }

// The weights of Cost. They are what list prices of 2025 have in common: output
// is five times as dear as input, a cached token a tenth.
const (
	CachedWeight = 0.1
	OutputWeight = 5.0
)

// Cost is the conversation in units of one uncached input token, under an ideal
// prefix cache.
func (t Tokens) Cost() float64 {
	return float64(t.Fresh.Tokens) + CachedWeight*float64(t.Input.Tokens-t.Fresh.Tokens) + OutputWeight*float64(t.Output.Tokens)
}

// perRequest is the part of the surface that one request has.
func (t Tokens) perRequest() int { return t.Surface.Tokens / max(1, t.Requests) }

// plus sums two conversations.
func (t Tokens) plus(o Tokens) Tokens {
	return Tokens{t.Requests + o.Requests, t.Calls + o.Calls, t.Input.plus(o.Input), t.Fresh.plus(o.Fresh), t.Output.plus(o.Output), t.Surface.plus(o.Surface), t.Context.plus(o.Context), t.KeptOut + o.KeptOut}
}

// meter counts the requests and answers of one conversation.
type meter struct {
	counter *counter
	sum     Tokens
	before  []string          // the parts of the request before
	known   map[string]Amount // of messages
}

// request counts one: tool definitions first, as a prefix cache sees them, then
// the messages.
func (m *meter) request(definitions, messages []tools.JSON) error {
	parts := make([]string, 0, len(definitions)+len(messages))
	for _, part := range slices.Concat(definitions, messages) {
		parts = append(parts, part.String())
	}
	var input, fresh, surface Amount
	shared := true
	for i, part := range parts {
		size, err := m.part(part, i < len(definitions))
		if err != nil {
			return err
		}
		input = input.plus(size)
		if shared = shared && i < len(m.before) && m.before[i] == part; !shared {
			fresh = fresh.plus(size)
		}
		if i < len(definitions) || i == len(definitions) && isSystem(messages[0]) {
			surface = surface.plus(size)
		}
	}
	m.before = parts
	m.sum.Requests++
	m.sum.Input, m.sum.Fresh = m.sum.Input.plus(input), m.sum.Fresh.plus(fresh)
	m.sum.Surface, m.sum.Context = m.sum.Surface.plus(surface), input
	return nil
}

// frame is what stands around a message and around a call in it, the role
// included, as OpenAI has described it for its chat models.
var frame = Amount{Tokens: 4, Bytes: 16}

// part is the size of a tool definition or of a message. A definition counts as
// its JSON, since what APIs make of it is not known. Of a message a model reads the text: its
// escapes in JSON are not counted.
func (m *meter) part(part string, isDefinition bool) (Amount, error) {
	if isDefinition {
		return m.counter.count(part)
	}
	if size, ok := m.known[part]; ok {
		return size, nil
	}
	texts, frames, err := readMessage(part)
	if err != nil {
		return Amount{}, err
	}
	size := Amount{frames * frame.Tokens, frames * frame.Bytes}
	for _, text := range texts {
		n, err := m.counter.count(text)
		if err != nil {
			return Amount{}, err
		}
		size = size.plus(n)
	}
	if m.known == nil {
		m.known = map[string]Amount{}
	}
	m.known[part] = size
	return size, nil
}

// readMessage is the texts of a message in the form of OpenAI's chat completions,
// and how many frames are around them. Content that is no text counts as JSON.
func readMessage(message string) (texts []string, frames int, err error) {
	var read struct {
		Content tools.JSON `json:"content"`
		Calls   []chatCall `json:"tool_calls"`
	}
	value, err := tools.ParseJSON(message)
	if err == nil {
		err = value.Unmarshal(&read)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("a message is not what it should be: %w", err)
	}
	switch text, isText := read.Content.Text(); {
	case isText:
		texts = append(texts, text)
	case !read.Content.IsZero() && read.Content.Kind() != 'n':
		texts = append(texts, read.Content.String())
	}
	for _, c := range read.Calls {
		texts = append(texts, c.Function.Name, c.Function.Args)
	}
	return texts, 1 + len(read.Calls), nil
}

func isSystem(message tools.JSON) bool {
	var m struct {
		Role string `json:"role"`
	}
	return message.Unmarshal(&m) == nil && m.Role == "system"
}

// answer counts what the model writes.
func (m *meter) answer(text string, calls []modelapi.Call) error {
	parts := []string{text}
	for _, c := range calls {
		parts = append(parts, c.Name, c.Args)
	}
	for _, part := range parts {
		size, err := m.counter.count(part)
		if err != nil {
			return err
		}
		m.sum.Output, m.sum.Context = m.sum.Output.plus(size), m.sum.Context.plus(size)
	}
	return nil
}

// chatRequest is the part of a request that is counted.
type chatRequest struct {
	Messages []tools.JSON `json:"messages"`
	Tools    []tools.JSON `json:"tools"`
}

func readRequest(request tools.JSON) (chatRequest, error) {
	var r chatRequest
	if err := request.Unmarshal(&r); err != nil {
		return r, fmt.Errorf("the request is not what it should be: %w", err)
	}
	return r, nil
}
