package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// call is one call a client has made and that has not been answered.
type call struct {
	client  *Client
	session *mcp.ServerSession
	ctx     context.Context
	cancel  context.CancelCauseFunc
	unbind  func() bool   // from the server's life
	over    chan struct{} // closed when it has settled
	news    *news
}

// call answers tools/call. A tool that fails, or is not there, is a result that
// says so, which a model can read.
func (c *Client) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	k, id, err := c.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	defer c.finish(id, k)
	release, err := c.enter(k.ctx, req)
	if err != nil {
		return nil, err
	}
	defer release()
	o := c.server.p.Execute(k.ctx, pipeline.Request{ID: id, Name: req.Params.Name, Args: string(req.Params.Arguments), Agent: c})
	k.news.close(pause)
	return result(req.Params.Name, o), nil
}

// begin enters the call among those that run.
func (c *Client) begin(ctx context.Context, req *mcp.CallToolRequest) (*call, string, error) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, "", errClosed
	case c.gone:
		return nil, "", errLeft
	case c.open == maxCalls:
		return nil, "", fmt.Errorf("the call was not made: %d calls of this client run or wait; send it again when some have been answered", maxCalls)
	}
	c.calls++
	c.open++
	id := fmt.Sprintf("%s:%s:%d", c.name, s.tag, c.calls)
	k := &call{client: c, session: req.Session, over: make(chan struct{})}
	k.ctx, k.cancel = context.WithCancelCause(ctx)
	s.calls[id] = k
	s.running.Add(1)
	k.unbind = context.AfterFunc(s.life, func() { k.cancel(context.Cause(s.life)) })
	k.news = tell(ctx, req.Session, req.Params.GetProgressToken())
	return k, id, nil
}

func (c *Client) finish(id string, k *call) {
	s := c.server
	k.news.close(0)
	k.unbind()
	k.cancel(nil)
	s.mu.Lock()
	c.open--
	delete(s.calls, id)
	s.mu.Unlock()
	close(k.over)
	s.running.Done()
}

// enter waits until the call may run beside those of the same client.
func (c *Client) enter(ctx context.Context, req *mcp.CallToolRequest) (release func(), err error) {
	width := int64(laneWidth)
	if tool := c.server.p.Tool(c, req.Params.Name); tool != nil {
		if args, err := tools.ParseJSON(string(req.Params.Arguments)); err == nil && tool.Concurrent(args) {
			width = 1
		}
	}
	if c.lane.Acquire(ctx, width) != nil {
		return nil, fmt.Errorf("the call was not made: %w", context.Cause(ctx))
	}
	return func() { c.lane.Release(width) }, nil
}

// search answers search_tools from the catalog that programs search.
func (c *Client) search(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	catalog, err := c.server.cm.Catalog(c)
	if err != nil {
		return nil, err
	}
	args, err := tools.ParseJSON(string(req.Params.Arguments))
	if err == nil {
		var found tools.JSON
		if found, err = catalog.Answer("search", args); err == nil {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: found.String()}}}, nil
		}
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "Error: " + err.Error()}}}, nil
}

// maxStructured is the largest value that is sent as structured content. The text
// keeps to the CodeMode's own bound, and this must not undo it.
const maxStructured = 256 << 10

// result is an outcome as MCP has it.
func result(name string, o pipeline.Outcome) *mcp.CallToolResult {
	r := modelapi.ResultOf(modelapi.Call{}, o)
	res := &mcp.CallToolResult{Content: content(r.Content), IsError: r.IsError}
	if r.IsError {
		return res
	}
	if name == codemode.ToolName && r.Value.Len() > maxStructured {
		note := fmt.Sprintf("the outcome has %d bytes; at most %d are sent as structured content, so it is in the text alone, and there cut if it says so", r.Value.Len(), maxStructured)
		r.Value = tools.ComposeObject(tools.Member{Name: "logs", Value: tools.ComposeArray()}, tools.Member{Name: "note", Value: tools.StringJSON(note)})
	}
	if r.Value.Kind() == '{' {
		res.StructuredContent = json.RawMessage(r.Value.String())
	}
	return res
}
