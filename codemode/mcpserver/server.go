package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
)

// Options tune a Server. The zero value is useful.
type Options struct {
	// Name and Version are what clients are told. Empty: "runcode", "dev".
	Name, Version string
	// Logger takes what the host should see. Nil discards it.
	Logger *slog.Logger
}

// Server serves clients. It is an Approver and a Sink of the pipeline it is
// attached to, and safe for concurrent use.
type Server struct {
	opts Options
	bare *mcp.Server // without tools and clients

	life context.Context // of all calls
	end  context.CancelCauseFunc
	tag  string // in the ids of its calls, so that servers may share a log

	mu      sync.Mutex
	p       *pipeline.Pipeline
	cm      *codemode.CodeMode
	clients map[*Client]struct{}
	count   int // of clients so far
	calls   map[string]*call
	running sync.WaitGroup
	closed  bool
}

// New makes a Server; nil options are the default ones. It serves once it is
// attached.
func New(opts *Options) *Server {
	s := &Server{clients: map[*Client]struct{}{}, calls: map[string]*call{}}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.Name, s.opts.Version = cmp.Or(s.opts.Name, "runcode"), cmp.Or(s.opts.Version, "dev")
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	s.bare, s.tag = s.newMCP(), rand.Text()[:8]
	s.life, s.end = context.WithCancelCause(context.Background())
	return s
}

// Attach says what the Server stands before. It is called once, before anything
// is served.
func (s *Server) Attach(p *pipeline.Pipeline, cm *codemode.CodeMode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p, s.cm = p, cm
}

// Client is one connection, and the agent whose calls it makes.
type Client struct {
	server    *Server
	name      string
	principal string
	mcp       *mcp.Server
	lane      *semaphore.Weighted

	mu      sync.Mutex
	offered map[string]string  // what is offered of each tool, to see changes
	session *mcp.ServerSession // once it has said hello

	// server.mu is held.
	calls int  // so far
	open  int  // of them, that run or wait
	gone  bool // it makes no more
}

// Name is unique among the clients of a Server: "client-1".
func (c *Client) Name() string { return c.name }

// Principal is who holds the token the client connected with, "" over stdio.
func (c *Client) Principal() string { return c.principal }

// String is the Name.
func (c *Client) String() string { return c.name }

var (
	errNotAttached = errors.New("mcpserver: no pipeline is attached; call Attach first")
	errClosed      = errors.New("the server is shutting down")
	errFull        = errors.New("as many clients are connected as may be; try again when one has left")
)

// connect makes a client with the tools it sees now, unless most are connected;
// 0 is no bound.
func (s *Server) connect(principal string, most int) (*Client, error) {
	s.mu.Lock()
	switch {
	case s.p == nil || s.cm == nil:
		s.mu.Unlock()
		return nil, errNotAttached
	case s.closed:
		s.mu.Unlock()
		return nil, errClosed
	case most > 0 && len(s.clients) >= most:
		s.mu.Unlock()
		return nil, errFull
	}
	s.count++
	c := &Client{server: s, name: fmt.Sprintf("client-%d", s.count), principal: principal, lane: semaphore.NewWeighted(laneWidth), offered: map[string]string{}}
	s.clients[c] = struct{}{}
	s.mu.Unlock()
	c.mcp = s.newMCP()
	c.mcp.AddReceivingMiddleware(c.middleware)
	if err := c.refresh(); err != nil {
		s.leave(c)
		return nil, err
	}
	return c, nil
}

// newMCP makes the SDK's server of one client.
func (s *Server) newMCP() *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: s.opts.Name, Version: s.opts.Version}, &mcp.ServerOptions{
		Instructions:              instructions,
		Logger:                    s.opts.Logger,
		Capabilities:              &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{ListChanged: true}},
		SupportedProtocolVersions: slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= sessionless }),
	})
}

// sessionless is the first version of the protocol without sessions.
const sessionless = "2026-07-28"

const instructions = "Call run_code with one JavaScript or TypeScript program instead of many single calls; its description says which tools a program can call."

func (s *Server) leave(c *Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

// Run serves one client on a transport until the client leaves or ctx ends. The
// calls that still run then are cancelled and awaited.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	c, err := s.connect("", 0)
	if err != nil {
		return err
	}
	defer s.leave(c)
	session, err := c.mcp.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	left := make(chan error, 1)
	go func() { left <- session.Wait() }()
	select {
	case err = <-left:
		s.drop(c, errLeft)
	case <-ctx.Done():
		s.drop(c, context.Cause(ctx))
	case <-s.life.Done():
	}
	s.await(c)
	hangUp([]*mcp.ServerSession{session})
	if ctx.Err() != nil || s.life.Err() != nil {
		return nil
	}
	return err
}

// hangUp ends sessions. One whose client does not read cannot be ended before its
// transport is, so it is waited for no longer than a moment.
func hangUp(sessions []*mcp.ServerSession) {
	var closing sync.WaitGroup
	for _, session := range sessions {
		closing.Go(func() { _ = session.Close() }) // of a client that has left, perhaps
	}
	closed := make(chan struct{})
	go func() { closing.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(pause):
	}
}

// drop cancels the calls of a client, which can make no more.
func (s *Server) drop(c *Client, why error) {
	s.mu.Lock()
	c.gone = true
	s.mu.Unlock()
	for _, call := range s.callsOf(c) {
		call.cancel(why)
	}
}

// await returns when the calls of a client have settled.
func (s *Server) await(c *Client) {
	for _, call := range s.callsOf(c) {
		<-call.over
	}
}

func (s *Server) callsOf(c *Client) (calls []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, call := range s.calls {
		if call.client == c {
			calls = append(calls, call)
		}
	}
	return calls
}

// Close cancels all calls, waits until they have settled, so that their events
// are written, ends all connections, and refuses further ones. It may be called
// twice. It does not close the pipeline's log nor the CodeMode.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(errClosed)
	s.running.Wait()
	hangUp(s.sessions())
	return nil
}

func (s *Server) sessions() (list []*mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.mu.Lock()
		if c.session != nil {
			list = append(list, c.session)
		}
		c.mu.Unlock()
	}
	return list
}

// Refresh tells the clients of tools that have come, gone or changed. It is called
// by a host that changes them; a client that asks for the list, or makes a call,
// gets the present ones anyway.
func (s *Server) Refresh() {
	s.mu.Lock()
	var clients []*Client
	for c := range s.clients {
		clients = append(clients, c)
	}
	s.mu.Unlock()
	for _, c := range clients {
		if err := c.refresh(); err != nil {
			s.opts.Logger.Error("the tools of a client could not be listed", "client", c.name, "error", err)
		}
	}
}

// middleware gives a client that asks for the tools the present ones.
func (c *Client) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if session, ok := req.GetSession().(*mcp.ServerSession); ok {
			c.greet(session)
		}
		if method == "tools/list" || method == "tools/call" {
			if err := c.refresh(); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// greet notes the client's session, with whose end the client is gone.
func (c *Client) greet(session *mcp.ServerSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		return
	}
	c.session = session
	go func() {
		session.Wait()
		c.server.drop(c, errLeft)
		c.server.leave(c)
	}()
}

var errLeft = errors.New("the client has disconnected")

// refresh offers the tools the client sees now.
func (c *Client) refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.server.cm.PresentFor(c)
	if err != nil {
		return err
	}
	list, search := tooling(p)
	gone := map[string]bool{}
	for name := range c.offered {
		gone[name] = true
	}
	for _, t := range list {
		delete(gone, t.Name)
		text, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("tool %q cannot be offered: %w", t.Name, err)
		}
		if c.offered[t.Name] == string(text) {
			continue
		}
		c.offered[t.Name] = string(text)
		if t == search {
			c.offer(t, c.search)
		} else {
			c.offer(t, c.call)
		}
	}
	for name := range gone {
		delete(c.offered, name)
		c.mcp.RemoveTools(name)
	}
	return nil
}

// offer offers a tool. The SDK panics about schemas that are sound but hold what it
// reads in its own way, and an imported server chooses them: such a tool is offered
// without the types of its arguments, which are checked here anyway.
func (c *Client) offer(t *mcp.Tool, handler mcp.ToolHandler) {
	defer func() {
		if r := recover(); r != nil {
			c.server.opts.Logger.Warn("a tool is offered without its schema", "tool", t.Name, "reason", r)
			bare := *t
			bare.InputSchema = anyObject
			c.mcp.AddTool(&bare, handler)
		}
	}()
	c.mcp.AddTool(t, handler)
}

// laneWidth is how many calls of tools that may overlap run at once for one
// client; any other call runs alone.
const laneWidth = 10

// maxCalls is how many calls of one client may run or wait; further ones are
// refused, so that a client which sends and does not wait costs no more than these.
const maxCalls = 1000

// pause is how long what a client is still to be told may hold up its answer, and
// one that does not read the end of the server.
const pause = time.Second
