package modelapi

import (
	"strings"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/tools"
)

type openAIChat struct{}

func (openAIChat) Name() string { return "openai" }

func (openAIChat) Path() string { return "/chat/completions" }

func (openAIChat) Header(key string) map[string]string { return bearer(key) }

// bearer is the header of both OpenAI APIs. Local servers take no key.
func bearer(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + key}
}

type chatMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"` // a text, or parts
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type chatPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *chatLink `json:"image_url,omitempty"`
}

type chatLink struct {
	URL string `json:"url"`
}

type chatTool struct {
	Type     string              `json:"type"`
	Function codemode.ToolSchema `json:"function"`
}

func (openAIChat) Request(r Request) (tools.JSON, error) {
	body := struct {
		Model    string       `json:"model"`
		Messages []tools.JSON `json:"messages"`
		Tools    []chatTool   `json:"tools,omitempty"`
		Max      int          `json:"max_completion_tokens,omitzero"`
	}{Model: r.Model, Max: r.MaxTokens}
	if text := r.instructions(); text != "" {
		body.Messages = append(body.Messages, pack(chatMessage{Role: "system", Content: text}))
	}
	body.Messages = append(body.Messages, r.Messages...)
	for _, t := range r.Presentation.Tools {
		body.Tools = append(body.Tools, chatTool{"function", t})
	}
	return tools.ToJSON(body)
}

func (a openAIChat) Answer(body string) (Answer, error) {
	var got struct {
		Choices []struct {
			Message tools.JSON `json:"message"`
			Finish  string     `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Input   tokens `json:"prompt_tokens"`
			Output  tokens `json:"completion_tokens"`
			Details struct {
				Cached tokens `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := read(a, body, &got); err != nil {
		return Answer{}, err
	}
	if len(got.Choices) == 0 || got.Choices[0].Message.Kind() != '{' {
		return Answer{}, lacking(a)
	}
	choice := got.Choices[0]
	var message struct {
		Content tools.JSON `json:"content"`
		Refusal string     `json:"refusal"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name string     `json:"name"`
				Args tools.JSON `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	}
	if err := choice.Message.Unmarshal(&message); err != nil {
		return Answer{}, lacking(a)
	}
	answer := Answer{
		Text: strings.TrimSpace(textOf(message.Content) + message.Refusal), Stop: choice.Finish, Cut: choice.Finish == "length",
		Messages: []tools.JSON{choice.Message},
		Usage:    usage(got.Usage.Input, got.Usage.Details.Cached, got.Usage.Output),
	}
	for _, c := range message.Calls {
		answer.Calls = append(answer.Calls, Call{c.ID, c.Function.Name, argumentText(c.Function.Args)})
	}
	return answer, nil
}

// argumentText is the text of arguments. The APIs give a string that holds JSON;
// some servers give the object itself.
func argumentText(args tools.JSON) string {
	if text, ok := args.Text(); ok {
		return text
	}
	return args.String()
}

// textOf is the text of a message's content: a string, or parts.
func textOf(content tools.JSON) string {
	if text, ok := content.Text(); ok {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if content.Kind() != '[' || content.Unmarshal(&parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (openAIChat) User(text string) tools.JSON {
	return pack(chatMessage{Role: "user", Content: valid(text)})
}

// Results carries images in a user message behind the results: those of this API
// are texts.
func (a openAIChat) Results(results []Result, contexts []tools.Message) []tools.JSON {
	var out []tools.JSON
	for _, r := range results {
		out = append(out, pack(chatMessage{Role: "tool", ToolCallID: r.Call.ID, Content: valid(tools.ContentString(r.Content))}))
	}
	var parts []chatPart
	images(results, func(call Call, block tools.Content) {
		parts = append(parts, chatPart{Type: "text", Text: valid(imageCaption(call))}, chatPart{Type: "image_url", Image: &chatLink{dataURL(block)}})
	})
	if parts != nil {
		out = append(out, pack(chatMessage{Role: "user", Content: parts}))
	}
	for _, m := range contexts {
		out = append(out, a.User(tools.ContentString(m.Content)))
	}
	return out
}
