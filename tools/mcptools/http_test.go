package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/tools"
)

// sdkServer is a server of the SDK with one tool.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	type out struct {
		Said string `json:"said"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "say", Description: "Say it."}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
		return nil, out{in.Text}, nil
	})
	return s
}

// handlers are the two kinds of servers on HTTP.
func handlers(s *mcp.Server) map[string]http.Handler {
	get := func(*http.Request) *mcp.Server { return s }
	return map[string]http.Handler{TypeHTTP: mcp.NewStreamableHTTPHandler(get, nil), TypeSSE: mcp.NewSSEHandler(get, nil)}
}

// listen is a server that is closed, its connections too, with the test.
func listen(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func connectHTTP(t *testing.T, cfg Server) (*Client, *tools.Registry) {
	t.Helper()
	c, err := Connect(t.Context(), Config{Servers: map[string]Server{"web": cfg}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, register(t, c)
}

func TestHTTP(t *testing.T) {
	server := sdkServer()
	for kind, handler := range handlers(server) {
		t.Run(kind, func(t *testing.T) {
			var headless atomic.Int32
			s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer key-of-the-test" {
					headless.Add(1)
				}
				handler.ServeHTTP(w, r)
			}))
			states := make(chan Status, 100)
			cfg := Config{Servers: map[string]Server{"web": {Type: kind, URL: s.URL, Headers: map[string]string{"Authorization": "Bearer key-of-the-test"}}}}
			c, err := Connect(t.Context(), cfg, &Options{OnStatus: func(s Status) { states <- s }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			reg := register(t, c)
			next(t, states, Ready)
			if got, want := callTool(t.Context(), reg, "mcp__web__say", `{"text":"hello"}`), (answer{Value: `{"said":"hello"}`}); got != want {
				t.Errorf("answer = %+v, want %+v; status %+v", got, want, c.Status())
			}
			if headless.Load() != 0 {
				t.Errorf("%d requests had no header", headless.Load())
			}
			// What the server adds is seen without asking again.
			mcp.AddTool(server, &mcp.Tool{Name: "more_" + kind}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return nil, nil, nil
			})
			next(t, states, Ready)
			if reg.Lookup("mcp__web__more_"+kind) == nil {
				t.Errorf("tools = %v, want the new one too", names(reg))
			}
		})
	}
}

// TestNewestProtocol: a server that knows nothing else.
func TestNewestProtocol(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "new", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{newestVersion}})
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "say"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "said " + in.Text}}}, nil, nil
	})
	s := listen(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	states := make(chan Status, 100)
	c, err := Connect(t.Context(), Config{Servers: map[string]Server{"web": {URL: s.URL}}}, &Options{OnStatus: func(s Status) { states <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reg := register(t, c)
	next(t, states, Ready)
	if got, want := callTool(t.Context(), reg, "mcp__web__say", `{"text":"hello"}`), (answer{Value: `"said hello"`}); got != want {
		t.Errorf("answer = %+v, want %+v; status %+v", got, want, c.Status())
	}
	mcp.AddTool(server, &mcp.Tool{Name: "more"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, nil
	})
	next(t, states, Ready)
	if reg.Lookup("mcp__web__more") == nil {
		t.Errorf("tools = %v, want the new one too", names(reg))
	}
}

// jsonServer answers every call with JSON, as simple servers do. Paths of
// methods can be replaced.
func jsonServer(t *testing.T, other map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		var req request
		body, _ := io.ReadAll(r.Body)
		if json.Unmarshal(body, &req) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		result := ""
		switch h := other[req.Method]; {
		case h != nil:
			r.Header.Set("Test-Id", string(req.ID))
			h(w, r)
			return
		case req.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case req.Method == "initialize":
			result = welcome
		case req.Method == "tools/list":
			result = `{"tools":[` + echoTool + `]}`
		case req.Method == "tools/call":
			result = textResult("called")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	}))
}

func TestBadHTTPAnswers(t *testing.T) {
	elsewhere := listen(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another origin was asked") }))
	const unknown = "; whether the call had an effect is not known"
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	tests := []struct {
		name string
		call http.HandlerFunc
		want answer
	}{
		{"hangs before headers", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
			answer{Code: tools.CodeToolTimeout, Err: `MCP server "web" did not answer within 200ms`}},
		{"hangs after headers", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, answer{Code: tools.CodeToolTimeout, Err: `MCP server "web" did not answer within 200ms`}},
		{"hangs in a stream", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, answer{Code: tools.CodeToolTimeout, Err: `MCP server "web" did not answer within 200ms`}},
		{"ends the stream", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") },
			answer{Code: CodeConnectionLost, Err: `MCP server "web" ended its answer before there was one` + unknown}},
		{"wrong content type", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, "<html>Log in</html>")
		}, answer{Code: CodeConnectionLost, Err: `MCP server "web" answered with the content type "text/html" instead of JSON or events; check its url` + unknown}},
		{"redirects to another origin", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, answer{Code: CodeConnectionLost, Err: `MCP server "web" redirects to another origin, ` + elsewhere.URL + `, which is refused; configure its address if it is right` + unknown}},
		{"redirects in circles", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusTemporaryRedirect) },
			answer{Code: CodeConnectionLost, Err: `MCP server "web" redirects again and again` + unknown}},
		{"wants another key", status(401), answer{Code: CodeConnectionLost, Err: `MCP server "web" answered HTTP 401 Unauthorized; check the headers it is configured with` + unknown}},
		{"is busy", status(503), answer{Code: CodeConnectionLost, Err: `MCP server "web" answered HTTP 503 Service Unavailable` + unknown}},
		{"is not there", status(404), answer{Code: CodeConnectionLost, Err: `MCP server "web" answered HTTP 404 Not Found; check its url, and if it is an old server say "type": "sse"` + unknown}},
		{"refuses in JSON", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad arguments"}}`, r.Header.Get("Test-Id"))
		}, answer{Code: CodeRefused, Err: `MCP server "web" answered with the error -32602: bad arguments`}},
		{"sends 50 MB of JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.CopyN(w, zeros{}, 50<<20)
		}, answer{Code: CodeConnectionLost, Err: `MCP server "web" sent a message of more than 16 MiB` + unknown}},
		{"sends 50 MB in an event", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			_, _ = io.CopyN(w, zeros{}, 50<<20)
		}, answer{Code: CodeConnectionLost, Err: `MCP server "web" sent a message of more than 16 MiB` + unknown}},
		{"answers exactly", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"z":9007199254740993,"a":1.0}}}`, r.Header.Get("Test-Id"))
		}, answer{Value: `{"z":9007199254740993,"a":1.0}`}},
		{"sends no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":`)
		}, answer{Code: CodeConnectionLost, Err: `MCP server "web" sent what is no message` + unknown}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := jsonServer(t, map[string]http.HandlerFunc{"tools/call": tt.call})
			cfg := Server{URL: s.URL, CallTimeout: time.Minute}
			if tt.want.Code == tools.CodeToolTimeout {
				cfg.CallTimeout = 200 * time.Millisecond
			}
			_, reg := connectHTTP(t, cfg)
			if got := callTool(t.Context(), reg, "mcp__web__echo", `{}`); got != tt.want {
				t.Errorf("answer = %+v\nwant     %+v", got, tt.want)
			}
		})
	}
}

// TestCloseEndsConnections: none is kept for later.
func TestCloseEndsConnections(t *testing.T) {
	closed := make(chan struct{}, 10)
	inner := jsonServer(t, nil)
	s := httptest.NewUnstartedServer(inner.Config.Handler)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	defer s.Close()
	c, _ := connectHTTP(t, Server{URL: s.URL})
	c.Close()
	select {
	case <-closed:
	case <-time.After(30 * time.Second):
		t.Error("a connection is open after Close")
	}
}

// TestCloseEndsCalls: one that a server never answers ends with the client.
func TestCloseEndsCalls(t *testing.T) {
	called := make(chan struct{})
	s := jsonServer(t, map[string]http.HandlerFunc{"tools/call": func(_ http.ResponseWriter, r *http.Request) {
		close(called)
		<-r.Context().Done()
	}})
	c, reg := connectHTTP(t, Server{URL: s.URL})
	pending := make(chan answer)
	go func() { pending <- callTool(t.Context(), reg, "mcp__web__echo", `{}`) }()
	<-called
	c.Close()
	if got := <-pending; got.Code != CodeConnectionLost {
		t.Errorf("answer = %+v, want %s", got, CodeConnectionLost)
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestBadHTTPStarts(t *testing.T) {
	elsewhere := listen(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another origin was asked") }))
	tests := []struct {
		name, kind string
		handler    http.HandlerFunc
		reason     string
	}{
		{"hangs", TypeHTTP, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() },
			"it did not say within 200ms what tools it has; see startTimeout"},
		{"stream that says nothing", TypeSSE, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "it did not say within 200ms what tools it has; see startTimeout"},
		{"web page", TypeSSE, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
			`it answered with the content type "text/html" instead of JSON or events; check its url`},
		{"wrong key", TypeSSE, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) },
			"it answered HTTP 403 Forbidden; check the headers it is configured with"},
		{"old server", TypeHTTP, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) },
			`it answered HTTP 405 Method Not Allowed; check its url, and if it is an old server say "type": "sse"`},
		{"messages to another origin", TypeSSE, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", elsewhere.URL)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "it wants its messages sent to another origin, " + elsewhere.URL + ", which is refused"},
		{"redirects to another origin", TypeSSE, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
			"it redirects to another origin, " + elsewhere.URL + ", which is refused; configure its address if it is right"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := listen(t, tt.handler)
			cfg := Server{Type: tt.kind, URL: s.URL, StartTimeout: time.Minute}
			if strings.Contains(tt.reason, "200ms") {
				cfg.StartTimeout = 200 * time.Millisecond
			}
			c, _ := connectHTTP(t, cfg)
			if got := statusOf(t, c, "web"); got.State != Down || got.Reason != tt.reason {
				t.Errorf("status = %s (%s)\nwant     down (%s...)", got.State, got.Reason, tt.reason)
			}
		})
	}
}

func TestServerIsNotThere(t *testing.T) {
	const address = "127.0.0.1:1" // which no system hands out to another test's server
	c, _ := connectHTTP(t, Server{URL: "http://" + address + "/mcp?key=secret-in-the-query"})
	got := statusOf(t, c, "web").Reason
	if !strings.HasPrefix(got, "it cannot be reached: dial tcp "+address) || strings.Contains(got, "secret") {
		t.Errorf("reason = %q, want one that says where nobody listens, without the query", got)
	}
}

// TestProxyIsNotAsked: the environment's proxy would see the headers. The
// environment is read once in a process, so the transport itself is looked at.
func TestProxyIsNotAsked(t *testing.T) {
	for _, kind := range []string{TypeHTTP, TypeSSE} {
		transport, forget, err := httpTransport(Server{Type: kind, URL: "http://example.org/"})
		if err != nil {
			t.Fatal(err)
		}
		defer forget()
		var client *http.Client
		switch transport := transport.(type) {
		case *mcp.StreamableClientTransport:
			client = transport.HTTPClient
		case *mcp.SSEClientTransport:
			client = transport.HTTPClient
		}
		if base := client.Transport.(*originTransport).base.(*http.Transport); base.Proxy != nil {
			t.Errorf("%s asks for a proxy", kind)
		}
	}
}

// TestForgottenSession: a server that was restarted does not know its sessions
// any more; the call fails and the next session is made.
func TestForgottenSession(t *testing.T) {
	var handler atomic.Pointer[http.Handler]
	fresh := func() {
		server := sdkServer()
		t.Cleanup(func() {
			for session := range server.Sessions() {
				_ = session.Close()
			}
		})
		h := handlers(server)[TypeHTTP]
		handler.Store(&h)
	}
	fresh()
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
	states := make(chan Status, 100)
	c, err := Connect(t.Context(), Config{Servers: map[string]Server{"web": {URL: s.URL}}}, &Options{OnStatus: func(s Status) { states <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reg := register(t, c)
	next(t, states, Ready)
	fresh()
	want := answer{Code: CodeConnectionLost, Err: `MCP server "web" has forgotten the session; whether the call had an effect is not known`}
	if got := callTool(t.Context(), reg, "mcp__web__say", `{"text":"x"}`); got != want {
		t.Errorf("answer = %+v\nwant     %+v", got, want)
	}
	if got, want := next(t, states, Down).Reason, "it has forgotten the session"; got != want {
		t.Errorf("reason = %q, want %q", got, want)
	}
	next(t, states, Ready)
	if got := callTool(t.Context(), reg, "mcp__web__say", `{"text":"x"}`); got.Err != "" {
		t.Errorf("in the next session: %+v", got)
	}
}

// next waits until a server is in a state.
func next(t *testing.T, states <-chan Status, want State) Status {
	t.Helper()
	for {
		select {
		case s := <-states:
			if s.State == want {
				return s
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the server is not %s", want)
		}
	}
}
