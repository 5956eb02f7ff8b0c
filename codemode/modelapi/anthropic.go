package modelapi

import (
	"cmp"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

type anthropic struct{}

func (anthropic) Name() string { return "anthropic" }

func (anthropic) Path() string { return "/v1/messages" }

// anthropicVersion is the version of the API that this package writes and reads.
const anthropicVersion = "2023-06-01"

func (anthropic) Header(key string) map[string]string {
	header := map[string]string{"anthropic-version": anthropicVersion}
	if key != "" {
		header["x-api-key"] = key
	}
	return header
}

type anthropicTool struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	InputSchema tools.JSON `json:"input_schema"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text,omitempty"`
	Source    *anthropicSource `json:"source,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	Content   []anthropicBlock `json:"content,omitempty"`
	IsError   bool             `json:"is_error,omitzero"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

func (anthropic) Request(r Request) (tools.JSON, error) {
	body := struct {
		Model    string          `json:"model"`
		Max      int             `json:"max_tokens"`
		System   string          `json:"system,omitempty"`
		Messages []tools.JSON    `json:"messages"`
		Tools    []anthropicTool `json:"tools,omitempty"`
	}{Model: r.Model, Max: cmp.Or(r.MaxTokens, DefaultMaxTokens), System: r.instructions(), Messages: r.Messages}
	for _, t := range r.Presentation.Tools {
		body.Tools = append(body.Tools, anthropicTool{t.Name, t.Description, t.Parameters})
	}
	return tools.ToJSON(body)
}

func (a anthropic) Answer(body string) (Answer, error) {
	var got struct {
		Content []tools.JSON `json:"content"`
		Stop    string       `json:"stop_reason"`
		Usage   struct {
			Input   tokens `json:"input_tokens"`
			Output  tokens `json:"output_tokens"`
			Read    tokens `json:"cache_read_input_tokens"`
			Written tokens `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	}
	if err := read(a, body, &got); err != nil {
		return Answer{}, err
	}
	if got.Content == nil {
		return Answer{}, lacking(a)
	}
	u := got.Usage // which counts what comes from a cache apart
	answer := Answer{Stop: got.Stop, Cut: got.Stop == "max_tokens", Usage: usage(u.Input+u.Read+u.Written, u.Read, u.Output)}
	var texts []string
	for _, block := range got.Content {
		var b struct {
			Type  string     `json:"type"`
			Text  string     `json:"text"`
			ID    string     `json:"id"`
			Name  string     `json:"name"`
			Input tools.JSON `json:"input"`
		}
		if err := block.Unmarshal(&b); err != nil {
			return Answer{}, lacking(a)
		}
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "tool_use":
			answer.Calls = append(answer.Calls, Call{b.ID, b.Name, b.Input.String()})
		}
	}
	answer.Text = strings.TrimSpace(strings.Join(texts, "\n"))
	if len(got.Content) > 0 { // an empty message would be refused
		answer.Messages = []tools.JSON{tools.ComposeObject(
			tools.Member{Name: "role", Value: tools.StringJSON("assistant")},
			tools.Member{Name: "content", Value: tools.ComposeArray(got.Content...)},
		)}
	}
	return answer, nil
}

func (anthropic) User(text string) tools.JSON {
	return pack(anthropicMessage{"user", []anthropicBlock{{Type: "text", Text: valid(text)}}})
}

// Results is one message: this API wants all results of an answer in the message
// that follows it, before any text.
func (anthropic) Results(results []Result, contexts []tools.Message) []tools.JSON {
	message := anthropicMessage{Role: "user"}
	for _, r := range results {
		message.Content = append(message.Content, anthropicBlock{Type: "tool_result", ToolUseID: r.Call.ID, Content: anthropicBlocks(r.Content), IsError: r.IsError})
	}
	for _, m := range contexts {
		message.Content = append(message.Content, anthropicBlocks(m.Content)...)
	}
	if message.Content == nil {
		return nil
	}
	return []tools.JSON{pack(message)}
}

// anthropicBlocks are blocks as this API takes them, which refuses empty texts.
func anthropicBlocks(content []tools.Content) []anthropicBlock {
	var blocks []anthropicBlock
	for _, c := range content {
		if c.Type == tools.ContentImage {
			blocks = append(blocks, anthropicBlock{Type: "image", Source: &anthropicSource{"base64", c.MIMEType, c.Data}})
		} else if text := tools.ContentString([]tools.Content{c}); text != "" {
			blocks = append(blocks, anthropicBlock{Type: "text", Text: valid(text)})
		}
	}
	return blocks
}
