package mcptools

import (
	"encoding/base64"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// wireResult is the result of a call as servers send it.
type wireResult struct {
	Content    []tools.JSON `json:"content"`
	Structured tools.JSON   `json:"structuredContent"`
	IsError    bool         `json:"isError"`
}

// block is one block of content.
type block struct {
	raw      tools.JSON
	Type     string     `json:"type"`
	Text     tools.JSON `json:"text"`
	Data     string     `json:"data"`
	MIMEType string     `json:"mimeType"`
	URI      string     `json:"uri"`
	Resource struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

// result makes of the text of a result what programs and models get. failure is
// the text of a result that says that the tool failed.
func (t *imported) result(text []byte) (r tools.Result, failure string, err error) {
	whole, err := tools.ParseJSON(string(text))
	if err != nil {
		return r, "", faultf("sent a result that cannot be read: %v", err)
	}
	var wire wireResult
	if whole.Kind() != '{' || whole.Unmarshal(&wire) != nil {
		return r, "", faultf("sent a result that is no object with content blocks")
	}
	blocks := make([]block, len(wire.Content))
	for i, raw := range wire.Content {
		blocks[i].raw = raw
		if raw.Kind() != '{' || raw.Unmarshal(&blocks[i]) != nil {
			return r, "", faultf("sent a content block that is none")
		}
		content, err := blocks[i].content()
		if err != nil {
			return r, "", err
		}
		r.Content = append(r.Content, content)
	}
	wire.Structured = orNone(wire.Structured)
	if wire.IsError {
		return tools.Result{}, failureText(r.Content, wire.Structured), nil
	}
	if !wire.Structured.IsZero() {
		r.Value = t.unwrap(wire.Structured)
	} else {
		r.Value = t.valueOf(blocks)
	}
	return r, "", nil
}

func failureText(content []tools.Content, structured tools.JSON) string {
	switch text := tools.ContentString(content); {
	case strings.TrimSpace(text) != "":
		return text
	case !structured.IsZero():
		return structured.String()
	}
	return "the tool failed and did not say why"
}

// unwrap takes x out of {result: x} where the schema marks it.
func (t *imported) unwrap(value tools.JSON) tools.JSON {
	var members map[string]tools.JSON
	if t.wrapped && value.Kind() == '{' && value.Unmarshal(&members) == nil && len(members) == 1 {
		if inner := members["result"]; !inner.IsZero() {
			return inner
		}
	}
	return value
}

// content is the block a model reads.
func (b *block) content() (tools.Content, error) {
	c := tools.Content{Type: b.Type, MIMEType: b.MIMEType, URI: b.URI, Data: b.Data}
	switch b.Type {
	case "":
		return c, faultf("sent a content block without a type")
	case tools.ContentText:
		text, ok := b.Text.Text()
		if !ok {
			return c, faultf("sent a text block without a text")
		}
		c.Text = text
	case tools.ContentImage, "audio":
		if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil {
			return c, faultf("sent an %s block that is not base64", b.Type)
		}
	case "resource":
		c.URI, c.MIMEType, c.Text, c.Data = b.Resource.URI, b.Resource.MIMEType, b.Resource.Text, b.Resource.Blob
	}
	return c, nil
}

// valueOf is the value of a result without structured content: the texts, or
// the blocks if there are more than texts, images and audio. Images and audio
// reach the reader as content; alone they make no value.
func (t *imported) valueOf(blocks []block) tools.JSON {
	var texts, others []tools.JSON
	lists := false
	for _, b := range blocks {
		switch b.Type {
		case tools.ContentText:
			texts = append(texts, b.Text)
		case tools.ContentImage, "audio":
			continue
		default:
			lists = true
		}
		others = append(others, b.raw)
	}
	switch {
	case lists:
		return tools.ComposeArray(others...)
	case len(texts) == 0:
		return tools.JSON{}
	}
	return t.fromText(joined(texts))
}

// joined is one text of several, a line break between them. It works on the JSON
// texts, which may hold what no Go string can.
func joined(texts []tools.JSON) tools.JSON {
	parts := make([]string, len(texts))
	for i, text := range texts {
		quoted := text.String()
		parts[i] = quoted[1 : len(quoted)-1]
	}
	return tools.MustJSON(`"` + strings.Join(parts, `\n`) + `"`)
}

// fromText is the value a text stands for: itself, or what it holds as JSON if
// the output schema wants that.
func (t *imported) fromText(text tools.JSON) tools.JSON {
	if t.def.Output.IsZero() || t.tool.CheckValue(text) == nil {
		return text
	}
	plain, _ := text.Text()
	if value, err := tools.ParseJSON(plain); err == nil {
		return t.unwrap(value)
	}
	return text // which the output schema refuses, in words
}
