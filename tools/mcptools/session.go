package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/tools"
)

// The versions of the protocol that are asked for, the second of servers that
// refuse the first. Servers may answer the first with an older one. It is first
// because its handshake is known to all others: some do not answer a method they
// do not know.
const (
	usualVersion  = "2025-11-25"
	newestVersion = "2026-07-28"
)

// Limits of a list of tools.
const (
	maxTools = 2000
	maxPages = 200
)

// peer is what a session speaks to.
type peer struct {
	transport mcp.Transport
	// exited is closed when the program has ended by itself; nil for others.
	exited <-chan struct{}
	stderr func() string
	// end ends what was started, giving it that long to leave, and says how it
	// ended if it did so by itself.
	end func(grace time.Duration) string
}

// session is one connection to a server, from its start to its end.
type session struct {
	peer   *peer
	keeper *keeper
	client *mcp.ClientSession
	ctx    context.Context // of everything that belongs to the session
	cancel context.CancelCauseFunc
	// ended is closed when the connection is over; err says why.
	ended chan struct{}
	err   error

	mu       sync.Mutex
	calls    int
	progress map[string]chan tools.Progress // by token
}

// connect makes a session, which lives as long as ctx, and ends ctx with it.
// changed is called when the server's list of tools may have changed.
func connect(ctx context.Context, cancel context.CancelCauseFunc, p *peer, version string, changed func()) (_ *session, err error) {
	defer recovered(&err)
	s := &session{peer: p, keeper: &keeper{Transport: p.transport}, ctx: ctx, cancel: cancel, ended: make(chan struct{}), progress: map[string]chan tools.Progress{}}
	defer func() {
		if s.client == nil {
			s.keeper.close()
		}
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "runcode", Version: moduleVersion()}, &mcp.ClientOptions{
		Logger:                      slog.New(slog.DiscardHandler),
		Capabilities:                &mcp.ClientCapabilities{}, // without it roots are offered
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { s.report(req.Params) },
	})
	client.AddReceivingMiddleware(onlyKnown)
	for _, err := range []error{
		mcp.AddSendingCustomMethod[*mcp.ListToolsParams, *rawResult](client, listMethod),
		mcp.AddSendingCustomMethod[*mcp.CallToolParams, *rawResult](client, callMethod),
	} {
		if err != nil {
			return nil, err
		}
	}
	if s.client, err = client.Connect(ctx, s.keeper, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		s.client = nil
		return nil, err
	}
	go s.watch()
	return s, nil
}

// onlyKnown lets the messages of a server pass that mean something here. Others
// are passed over, or refused if they want an answer; the SDK's handling of some
// panics where a server leaves out what they need.
func onlyKnown(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (_ mcp.Result, err error) {
		defer recovered(&err)
		switch {
		case method == "ping", method == "notifications/progress", method == "notifications/tools/list_changed":
			return next(ctx, method, req)
		case strings.HasPrefix(method, "notifications/"):
			return nil, nil
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found"}
	}
}

// refusesVersion reports whether a server answered the handshake with an error: a
// newer one may not have this handshake any more.
func refusesVersion(err error) bool {
	var refused *jsonrpc.Error
	var f *fault
	return errors.As(err, &refused) && !isOwn(refused) || errors.As(err, &f) && f.status == http.StatusBadRequest
}

// moduleVersion is the version of the module that holds this package.
func moduleVersion() string {
	const module = "github.com/runcode-go/runcode"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "devel"
}

// watch waits for the end of the connection. A program that has exited is given
// a moment for its last words: what it started may hold the stream open.
func (s *session) watch() {
	over := make(chan struct{})
	go func() {
		select {
		case <-s.peer.exited:
			timer := time.NewTimer(lastWords)
			defer timer.Stop()
			select {
			case <-timer.C:
				s.keeper.close()
			case <-over:
			}
		case <-over:
		}
	}()
	if s.err = s.client.Wait(); s.err == nil {
		s.err = io.EOF
	}
	_ = s.client.Close() // ends what listens for changes
	s.cancel(s.err)
	close(over)
	close(s.ended)
}

// close ends the session and what it speaks to, and waits for both. It says how
// the program ended if it did so by itself.
func (s *session) close(grace time.Duration) (how string) {
	s.keeper.close()
	how = s.peer.end(grace)
	<-s.ended
	return how
}

// list reads the whole list of tools, each as the text the server sent.
func (s *session) list(ctx context.Context) (texts []string, err error) {
	defer recovered(&err)
	if init := s.client.InitializeResult(); init == nil || init.Capabilities == nil || init.Capabilities.Tools == nil {
		return nil, nil
	}
	size := 0
	for cursor, page := "", 0; ; page++ {
		if page == maxPages {
			return nil, faultf("spreads its list of tools over more than %d pages", maxPages)
		}
		r, err := mcp.CallCustomMethod[*mcp.ListToolsParams, *rawResult](ctx, s.client, listMethod, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		var list struct {
			Tools []jsontext.Value `json:"tools"`
			Next  string           `json:"nextCursor"`
		}
		// What is wrong with one tool costs that tool only; see imported.
		if json.Unmarshal(r.text, &list, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
			return nil, faultf("sent a list of tools that is none")
		}
		for _, text := range list.Tools {
			texts = append(texts, string(text))
		}
		if size += len(r.text); size > maxMessage {
			return nil, faultf("sent a list of tools of more than %d MiB", maxMessage>>20)
		}
		switch {
		case len(texts) > maxTools:
			return nil, faultf("lists more than %d tools; have it offer fewer", maxTools)
		case list.Next == "":
			return texts, nil
		case list.Next == cursor:
			return nil, faultf("sends the same page of its list of tools again and again")
		}
		cursor = list.Next
	}
}

// call calls a tool and returns the text of the result. Progress goes to run
// from this goroutine, so never after the call.
func (s *session) call(ctx context.Context, run *tools.Run, name string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	token, progress, forget := s.follow()
	defer forget()
	params := &mcp.CallToolParams{Name: name, Arguments: jsontext.Value(run.Args().Bytes())}
	params.SetProgressToken(token)
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() { answers <- a }()
		defer recovered(&a.err)
		var r *rawResult
		if r, a.err = mcp.CallCustomMethod[*mcp.CallToolParams, *rawResult](ctx, s.client, callMethod, params); a.err == nil {
			a.text = r.text
		}
	}()
	for {
		select {
		case p := <-progress:
			run.Progress(p)
		case a := <-answers:
			for len(progress) > 0 {
				run.Progress(<-progress)
			}
			if a.err != nil && ctx.Err() != nil {
				a.err = context.Cause(ctx)
			}
			return a.text, a.err
		}
	}
}

// follow makes a token for one call's progress.
func (s *session) follow() (token string, progress chan tools.Progress, forget func()) {
	progress = make(chan tools.Progress, 16)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	token = strconv.Itoa(s.calls)
	s.progress[token] = progress
	return token, progress, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, token)
	}
}

// report passes progress on, unless nobody keeps up with it.
func (s *session) report(p *mcp.ProgressNotificationParams) {
	if p == nil {
		return
	}
	token, _ := p.ProgressToken.(string)
	s.mu.Lock()
	progress := s.progress[token]
	s.mu.Unlock()
	select {
	case progress <- tools.Progress{Done: p.Progress, Total: p.Total, Message: p.Message}:
	default: // a nil channel, too
	}
}

// recovered turns a panic of the SDK over a hostile message into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = faultf("sent a message that could not be handled")
	}
}

// described says what went wrong, as a predicate of the server.
func described(err error) string {
	var f *fault
	var refused *jsonrpc.Error
	var unreached *url.Error
	switch {
	case errors.As(err, &f):
		return f.text
	case errors.As(err, &refused) && !isOwn(refused):
		return fmt.Sprintf("answered with the error %d: %s", refused.Code, refused.Message)
	case errors.Is(err, context.Canceled):
		return "was left by this client"
	case errors.Is(err, mcp.ErrSessionMissing):
		return "has forgotten the session"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, mcp.ErrConnectionClosed):
		return connectionEnded
	case errors.As(err, &unreached): // whose own text has the whole address
		return fmt.Sprintf("cannot be reached: %v", unreached.Err)
	}
	text := strings.ReplaceAll(err.Error(), aliasMark, "")
	for part, plain := range sdkTexts {
		if strings.Contains(text, part) {
			return plain
		}
	}
	return "failed: " + sessionID.ReplaceAllString(text, "")
}

const connectionEnded = "ended the connection"

// sdkTexts are what the SDK says where it leaves only a text, in our words.
var sdkTexts = map[string]string{
	errTooLarge.text:                      errTooLarge.text,
	"exceeded 16777216 bytes":             errTooLarge.text,
	"failed to decode":                    "sent what is no message",
	"request terminated without response": "ended its answer before there was one",
}

// sessionID is how the SDK quotes what lets anybody speak in a session.
var sessionID = regexp.MustCompile(` \(session ID: [^)]*\)`)

// isOwn tells the SDK's own errors, which have the form of a server's.
func isOwn(e *jsonrpc.Error) bool {
	switch e.Message {
	case "rejected by transport", "client is closing", "server is closing":
		return true
	}
	return false
}
