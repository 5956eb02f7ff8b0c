package modelapi

import (
	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/tools"
)

// MCPTools lists the tools of a Presentation as the result of tools/list has them
// (MCP spec, Tool).
func MCPTools(p codemode.Presentation) []tools.JSON {
	var list []tools.JSON
	for _, t := range p.Tools {
		list = append(list, pack(struct {
			Name        string     `json:"name"`
			Description string     `json:"description"`
			InputSchema tools.JSON `json:"inputSchema"`
		}{t.Name, t.Description, t.Parameters}))
	}
	return list
}

// MCPCall reads the params of tools/call (MCP spec, CallToolRequest).
func MCPCall(id string, params tools.JSON) (Call, error) {
	var p struct {
		Name string     `json:"name"`
		Args tools.JSON `json:"arguments"`
	}
	if err := params.Unmarshal(&p); err != nil {
		return Call{}, err
	}
	return Call{ID: id, Name: p.Name, Args: p.Args.String()}, nil
}

// MCPResult is the result of tools/call (MCP spec, CallToolResult). Structured
// content must be an object; a value of another kind is in the content alone.
func MCPResult(r Result) tools.JSON {
	result := struct {
		Content    []tools.Content `json:"content"`
		Structured tools.JSON      `json:"structuredContent,omitzero"`
		IsError    bool            `json:"isError,omitzero"`
	}{Content: []tools.Content{}, IsError: r.IsError}
	for _, c := range r.Content {
		c.Text = valid(c.Text)
		result.Content = append(result.Content, c)
	}
	if !r.IsError && r.Value.Kind() == '{' {
		result.Structured = r.Value
	}
	return pack(result)
}
