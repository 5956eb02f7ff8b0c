package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/tools"
)

// searchName is the tool for looking up what a budgeted description leaves out.
const searchName = "search_tools"

var searchSchema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"words to look for in names, descriptions and arguments"},"limit":{"type":"integer","minimum":1,"maximum":50,"description":"most tools to return"}},"required":["query"],"additionalProperties":false}`)

// outputSchema is the structured content of run_code.
var outputSchema = json.RawMessage(`{"type":"object","properties":{"logs":{"type":"array","items":{"type":"string"},"description":"console output, an entry a call"},"result":{"description":"what the program returned; absent: nothing"},"note":{"type":"string","description":"what was left out here for its size"}},"required":["logs"]}`)

// tooling is a presentation as MCP tools. search is the one of them that looks up
// the others, nil if there is none.
func tooling(p codemode.Presentation) (list []*mcp.Tool, search *mcp.Tool) {
	for _, t := range p.Tools {
		tool := &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: objectSchema(t.Parameters)}
		if t.Name == codemode.ToolName {
			tool.Description += "\n\n" + p.Prompt
			tool.OutputSchema = outputSchema
		}
		list = append(list, tool)
	}
	taken := slices.ContainsFunc(list, func(t *mcp.Tool) bool { return t.Name == searchName })
	if p.Listed && !taken {
		search = &mcp.Tool{
			Name:        searchName,
			Description: "Find tools that programs of run_code can call. Returns {matches: [{name, call, declaration}], total, note}: call is how a program writes the tool, declaration its TypeScript type.",
			InputSchema: searchSchema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}
		list = append(list, search)
	}
	return list, search
}

// objectSchema is a schema whose type MCP wants to be "object", stated or not.
func objectSchema(schema tools.JSON) json.RawMessage {
	var s struct {
		Type tools.JSON `json:"type"`
	}
	if text := schema.String(); schema.Kind() == '{' && schema.Unmarshal(&s) == nil {
		switch kind, ok := s.Type.Text(); {
		case ok && kind == "object":
			return json.RawMessage(text)
		case s.Type.IsZero():
			return json.RawMessage(tools.ComposeObject(
				tools.Member{Name: "type", Value: tools.StringJSON("object")},
				tools.Member{Name: "allOf", Value: tools.ComposeArray(schema)},
			).String())
		}
	}
	return anyObject
}

// anyObject is the schema of arguments of which nothing is said.
var anyObject = json.RawMessage(`{"type":"object"}`)

// content is blocks as MCP has them. A block of a kind of the tool's own, or an
// image that cannot be read, is its text.
func content(blocks []tools.Content) []mcp.Content {
	list := []mcp.Content{}
	for _, b := range blocks {
		if data, err := base64.StdEncoding.DecodeString(b.Data); b.Type == tools.ContentImage && err == nil {
			list = append(list, &mcp.ImageContent{MIMEType: b.MIMEType, Data: data})
			continue
		}
		list = append(list, &mcp.TextContent{Text: strings.ToValidUTF8(tools.ContentString([]tools.Content{b}), "\uFFFD")})
	}
	return list
}
