package tools

// Content is one block of what a model reads. It is a plain value: copying it
// shares nothing mutable. The JSON form follows the MCP content blocks.
type Content struct {
	Type     string `json:"type"`               // "text", "image", or a type of the tool's own
	Text     string `json:"text,omitempty"`     // of a text block
	Data     string `json:"data,omitempty"`     // base64, of an image or other binary block
	MIMEType string `json:"mimeType,omitempty"` // of Data
	URI      string `json:"uri,omitempty"`      // of a resource block
}

// The block types the house itself gives a meaning to.
const (
	ContentText  = "text"
	ContentImage = "image"
)

// TextContent is one text block.
func TextContent(text string) Content { return Content{Type: ContentText, Text: text} }

// ImageContent is one image block; data is base64.
func ImageContent(mimeType, data string) Content {
	return Content{Type: ContentImage, MIMEType: mimeType, Data: data}
}

// ContentString joins blocks to the text a reader without pictures gets: text
// blocks as they are, "[<type> content]" for any other, joined by line breaks.
func ContentString(blocks []Content) string {
	switch len(blocks) {
	case 0:
		return ""
	case 1:
		return blocks[0].plain()
	}
	text := blocks[0].plain()
	for _, b := range blocks[1:] {
		text += "\n" + b.plain()
	}
	return text
}

func (c Content) plain() string {
	if c.Type == ContentText {
		return c.Text
	}
	return "[" + c.Type + " content]"
}

// Message is an additional context: a user-role message for the next model
// request that belongs beside a result, not inside it (DSH additionalContexts).
type Message struct {
	ID      string    `json:"id"` // empty: the pipeline assigns one
	Role    string    `json:"role"`
	Content []Content `json:"content"`
	Source  Source    `json:"source"`
}

// Source says who wrote a Message.
type Source struct {
	Kind   string `json:"kind"`             // "plugin", "tool"
	Plugin string `json:"plugin,omitempty"` // the listener's or policy's name
	CallID string `json:"callId,omitempty"`
}

// ContextMessage is a text message from the named listener or policy.
func ContextMessage(plugin, text string) Message {
	return Message{Role: "user", Content: []Content{TextContent(text)}, Source: Source{Kind: "plugin", Plugin: plugin}}
}
