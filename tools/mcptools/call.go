package mcptools

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/runcode-go/runcode/tools"
)

// The codes of failed calls, in the errors of this package. A call that ran out
// of time has tools.CodeToolTimeout.
const (
	CodeServerDown     = "MCP_SERVER_DOWN"     // the call was not made
	CodeConnectionLost = "MCP_CONNECTION_LOST" // whether it had an effect is not known
	CodeRefused        = "MCP_REFUSED"         // the server answered with an error of the protocol
	CodeBadAnswer      = "MCP_BAD_ANSWER"      // the server's result makes no sense
	CodeToolFailed     = "MCP_TOOL_FAILED"     // the tool itself says that it failed
)

// get is the session to make a call in. A lazy server is started by it.
func (s *server) get(ctx context.Context) (*session, error) {
	for {
		s.mu.Lock()
		session, status, turned := s.session, s.status, s.turned
		s.mu.Unlock()
		switch status.State {
		case Ready:
			if session != nil { // otherwise it is about to be down
				return session, nil
			}
		case Idle:
			select {
			case s.wake <- struct{}{}:
			default:
			}
		case Down:
			return nil, s.failed(CodeServerDown, "is down: %s; it is started again after %v", status.Reason, status.Again)
		case Closed:
			return nil, s.failed(CodeServerDown, "is down: its client is closed")
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// call is the body of a tool.
func (s *server) call(ctx context.Context, run *tools.Run, t *imported) (tools.Result, error) {
	late := &tools.Error{Name: "ToolTimeoutError", Code: tools.CodeToolTimeout, Message: fmt.Sprintf("MCP server %q did not answer within %v", s.name, s.cfg.CallTimeout)}
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.CallTimeout, late)
	defer cancel()
	session, err := s.get(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	if s.registered()[t.def.Name] != t {
		return tools.Result{}, &tools.Error{
			Name: "ToolChangedError", Code: tools.CodeToolChanged,
			Message: fmt.Sprintf("MCP server %q has changed this tool or has it no longer; call it again if it is still declared", s.name),
		}
	}
	text, err := session.call(ctx, run, t.name)
	if err != nil {
		return tools.Result{}, s.callFailed(ctx, err)
	}
	result, failure, err := t.result(text)
	switch {
	case err != nil:
		return tools.Result{}, s.failed(CodeBadAnswer, "%s", described(err))
	case failure != "":
		return tools.Result{}, &tools.Error{Name: "MCPToolError", Code: CodeToolFailed, Message: s.secrets.Known(failure)}
	}
	return result, nil
}

// callFailed is the error of a call without a result.
func (s *server) callFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && !isOwn(refused) {
		return s.failed(CodeRefused, "%s", described(err))
	}
	return s.failed(CodeConnectionLost, "%s; whether the call had an effect is not known", described(err))
}

func (s *server) failed(code, format string, args ...any) error {
	text := fmt.Sprintf("MCP server %q ", s.name) + fmt.Sprintf(format, args...)
	return &tools.Error{Name: "MCPError", Code: code, Message: s.secrets.Text(text)}
}
