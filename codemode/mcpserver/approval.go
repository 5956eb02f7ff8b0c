package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
)

// maxQuestion is the most bytes of arguments a question shows. What cannot be
// shown whole is not asked: an answer would be about something else.
const maxQuestion = 64 << 10

// Approve asks the person behind the client whose call it is, by elicitation (MCP
// spec, elicitation). It implements pipeline.Approver. Only an accepted form with
// approve and the digest of the arguments that were shown allows the call, once.
// A client without elicitation, and a call that is no client's, cannot be asked.
func (s *Server) Approve(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
	s.mu.Lock()
	k := s.calls[ask.Call.RootID()]
	s.mu.Unlock()
	switch {
	case k == nil:
		return pipeline.Unavailable, nil
	case !canAsk(k.session):
		return pipeline.Unavailable, errors.New("the MCP client has no elicitation, so nobody can be asked")
	case ask.Call.Args().Len() > maxQuestion:
		return pipeline.Unavailable, fmt.Errorf("its arguments have %d bytes, of which a question shows at most %d", ask.Call.Args().Len(), maxQuestion)
	}
	res, err := k.session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: question(ask), RequestedSchema: form(ask.Digest())})
	if err != nil {
		return pipeline.Unavailable, fmt.Errorf("the MCP client could not ask: %s", termtext.EscapeLine(shorten(err.Error())))
	}
	return read(res, ask.Digest()), nil
}

func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// canAsk says whether a client shows forms.
func canAsk(session *mcp.ServerSession) bool {
	p := session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // neither: the form of older clients
}

// read is what an answer means. Whatever is not clearly yes or no to these
// arguments is no answer.
func read(res *mcp.ElicitResult, digest string) pipeline.Answer {
	switch res.Action {
	case "decline":
		return pipeline.Rejected
	case "accept":
		approve, ok := res.Content["approve"].(bool)
		switch {
		case ok && !approve:
			return pipeline.Rejected
		case ok && res.Content["digest"] == digest:
			return pipeline.AllowedOnce
		}
	}
	return pipeline.Cancelled
}

// question is the text of the form. All of it that is not ours is escaped.
func question(ask pipeline.ApprovalRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow %s?\n\n%s\n\n", termtext.EscapeLine(ask.Call.Name()), termtext.EscapeJSON(ask.Call.Args().String()))
	if ask.Reason != "" {
		fmt.Fprintf(&b, "Why you are asked: %s\n", termtext.EscapeLine(shorten(ask.Reason)))
	}
	if line := ask.Call.Site().Line; line > 0 {
		fmt.Fprintf(&b, "A program makes the call, in line %d.\n", line)
	}
	fmt.Fprintf(&b, "SHA-256 of the arguments: %s", ask.Digest())
	return b.String()
}

// form is the schema of the answer. The digest is filled in, so that a person need
// not copy it and an answer to another question does not pass.
func form(digest string) map[string]any {
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"approve": map[string]any{"type": "boolean", "title": "Allow this call once"},
			"digest":  map[string]any{"type": "string", "title": "SHA-256 of the arguments", "default": digest},
		},
		"required": []string{"approve", "digest"},
	}
}
