package modelapi

import (
	"strings"

	"github.com/runcode-go/runcode/tools"
)

type openAIResponses struct{}

func (openAIResponses) Name() string { return "openai-responses" }

func (openAIResponses) Path() string { return "/responses" }

func (openAIResponses) Header(key string) map[string]string { return bearer(key) }

type responsesTool struct {
	Type        string     `json:"type"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  tools.JSON `json:"parameters"`
	// Strict schemas know no optional property; ours do.
	Strict bool `json:"strict"`
}

type responsesMessage struct {
	Role    string          `json:"role"`
	Content []responsesPart `json:"content"`
}

type responsesPart struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`
}

func (openAIResponses) Request(r Request) (tools.JSON, error) {
	body := struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions,omitempty"`
		Input        []tools.JSON    `json:"input"`
		Tools        []responsesTool `json:"tools,omitempty"`
		Max          int             `json:"max_output_tokens,omitzero"`
	}{Model: r.Model, Instructions: r.instructions(), Input: r.Messages, Max: r.MaxTokens}
	for _, t := range r.Presentation.Tools {
		body.Tools = append(body.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return tools.ToJSON(body)
}

func (a openAIResponses) Answer(body string) (Answer, error) {
	var got struct {
		Output     []tools.JSON `json:"output"`
		Status     string       `json:"status"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage struct {
			Input   tokens `json:"input_tokens"`
			Output  tokens `json:"output_tokens"`
			Details struct {
				Cached tokens `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	}
	if err := read(a, body, &got); err != nil {
		return Answer{}, err
	}
	if got.Output == nil {
		return Answer{}, lacking(a)
	}
	answer := Answer{
		Stop: got.Status, Cut: got.Status == "incomplete", Messages: got.Output,
		Usage: usage(got.Usage.Input, got.Usage.Details.Cached, got.Usage.Output),
	}
	if got.Incomplete.Reason != "" {
		answer.Stop = got.Incomplete.Reason
	}
	var texts []string
	for _, item := range got.Output {
		var it struct {
			Type    string     `json:"type"`
			Content tools.JSON `json:"content"`
			CallID  string     `json:"call_id"`
			Name    string     `json:"name"`
			Args    tools.JSON `json:"arguments"`
		}
		if err := item.Unmarshal(&it); err != nil {
			return Answer{}, lacking(a)
		}
		switch it.Type {
		case "message":
			texts = append(texts, textOf(it.Content))
		case "function_call":
			answer.Calls = append(answer.Calls, Call{it.CallID, it.Name, argumentText(it.Args)})
		}
	}
	answer.Text = strings.TrimSpace(strings.Join(texts, "\n"))
	return answer, nil
}

func (openAIResponses) User(text string) tools.JSON {
	return pack(responsesMessage{"user", []responsesPart{{Type: "input_text", Text: valid(text)}}})
}

func (a openAIResponses) Results(results []Result, contexts []tools.Message) []tools.JSON {
	var out []tools.JSON
	for _, r := range results {
		out = append(out, pack(struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output string `json:"output"`
		}{"function_call_output", r.Call.ID, valid(tools.ContentString(r.Content))}))
	}
	var parts []responsesPart
	images(results, func(call Call, block tools.Content) {
		parts = append(parts, responsesPart{Type: "input_text", Text: valid(imageCaption(call))}, responsesPart{Type: "input_image", Image: dataURL(block)})
	})
	if parts != nil {
		out = append(out, pack(responsesMessage{"user", parts}))
	}
	for _, m := range contexts {
		out = append(out, a.User(tools.ContentString(m.Content)))
	}
	return out
}
