package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/tools"
)

// call is one call a scripted model makes.
type call struct {
	name string
	args any // made JSON
}

// seen is what the model reads of a result.
type seen struct {
	text   string
	failed bool
}

// into reads a result that is JSON. A workload's own tools answer nothing else,
// so what cannot be read shows in the answer and stops the comparison.
func (s seen) into(v any) {
	if text, err := tools.ParseJSON(s.text); err == nil {
		_ = text.Unmarshal(v)
	}
}

// ask makes calls that do not depend on each other and returns their results in
// order.
type ask func(calls ...call) []seen

// plan is what a model does for a task: it asks, reads, asks again, and answers.
type plan func(ask ask) answer

// answer is what a plan ends with.
type answer struct {
	said  string // the model's last words
	value string // what the task wanted: compared between arms. Empty: said
}

func (a answer) result() string {
	if a.value == "" {
		return a.said
	}
	return a.value
}

// model answers requests as a plan says: an agent.Transport without a network.
// It knows nothing but what the requests hold. One model holds one conversation,
// which may have several turns.
type model struct {
	meter   meter
	serial  bool // one call an answer
	history []tools.JSON
	calls   int // made so far; they number the ids

	next    func() ([]call, bool)
	stop    func()
	read    []seen // the results of the calls asked for last
	pending []call // of those, the ones not made yet
	end     answer
}

// errStopped ends a plan whose conversation is over before it is.
var errStopped = errors.New("the plan is stopped")

// begin starts a turn. end must be called after it.
func (m *model) begin(p plan) {
	m.read, m.pending, m.end = nil, nil, answer{}
	m.next, m.stop = iter.Pull(func(yield func([]call) bool) {
		defer func() {
			if r := recover(); r != nil && r != errStopped {
				panic(r)
			}
		}()
		m.end = p(func(calls ...call) []seen {
			if !yield(calls) {
				panic(errStopped)
			}
			return m.read
		})
	})
}

// Send implements agent.Transport.
func (m *model) Send(_ context.Context, request tools.JSON) (string, error) {
	r, err := readRequest(request)
	if err != nil {
		return "", err
	}
	r.Messages = m.remember(r.Messages)
	if err := m.meter.request(r.Tools, r.Messages); err != nil {
		return "", err
	}
	m.look(r.Messages)
	calls, err := m.decide()
	if err != nil {
		return "", err
	}
	text := ""
	if len(calls) == 0 {
		text = m.end.said
	}
	if err := m.meter.answer(text, calls); err != nil {
		return "", err
	}
	message, err := chatAnswer(text, calls)
	if err != nil {
		return "", err
	}
	if len(calls) == 0 {
		m.history = append(r.Messages, message)
	}
	return tools.ComposeObject(tools.Member{Name: "choices", Value: tools.ComposeArray(tools.ComposeObject(tools.Member{Name: "message", Value: message}))}).String(), nil
}

// remember puts the earlier turns before the messages of this one, behind the
// system prompt: the loop knows one turn alone.
func (m *model) remember(messages []tools.JSON) []tools.JSON {
	if len(m.history) == 0 {
		return messages
	}
	if len(messages) > 0 && isSystem(messages[0]) {
		messages = messages[1:]
	}
	return append(m.history[:len(m.history):len(m.history)], messages...)
}

// look reads the results at the end of the conversation.
func (m *model) look(messages []tools.JSON) {
	var results []seen
	for i := len(messages) - 1; i >= 0; i-- {
		var message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		if messages[i].Unmarshal(&message) != nil || message.Role != "tool" {
			break
		}
		text, failed := strings.CutPrefix(message.Content, "Error: ")
		results = append([]seen{{text, failed}}, results...)
	}
	m.read = append(m.read, results...)
}

// decide is the calls of the next answer; none: the model is done.
func (m *model) decide() ([]modelapi.Call, error) {
	if len(m.pending) == 0 {
		m.pending, _ = m.next()
		m.read = nil
	}
	n := len(m.pending)
	if m.serial {
		n = min(n, 1)
	}
	now := m.pending[:n]
	m.pending = m.pending[n:]
	var calls []modelapi.Call
	for _, c := range now {
		args, err := tools.ToJSON(c.args)
		if err != nil {
			return nil, fmt.Errorf("the arguments of %s: %w", c.name, err)
		}
		m.calls++
		calls = append(calls, modelapi.Call{ID: fmt.Sprintf("call_%d", m.calls), Name: c.name, Args: args.String()})
	}
	return calls, nil
}

// chatMessage is an answer in the form of OpenAI's chat completions.
type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name string `json:"name"`
	Args string `json:"arguments"`
}

func chatAnswer(text string, calls []modelapi.Call) (tools.JSON, error) {
	message := chatMessage{Role: "assistant"}
	if text != "" {
		message.Content = &text
	}
	for _, c := range calls {
		message.Calls = append(message.Calls, chatCall{c.ID, "function", chatFunction{c.Name, c.Args}})
	}
	return tools.ToJSON(message)
}
