package mcptools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// request is what a scripted server receives.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// script is the server's end of a connection.
type script struct {
	in  *bufio.Reader
	out io.Writer
}

// next is the next message, false at the end of the connection.
func (s *script) next() (request, bool) {
	line, err := s.in.ReadBytes('\n')
	var r request
	if err != nil || json.Unmarshal(line, &r) != nil {
		return r, false
	}
	return r, true
}

func (s *script) send(line string) { _, _ = io.WriteString(s.out, line+"\n") }

func (s *script) reply(r request, result string) {
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result))
}

func (s *script) notify(method, params string) {
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

const welcome = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"test","version":"1"}}`

// behaviour is a scripted server: what it lists and how it answers what is not
// the handshake.
type behaviour struct {
	tools func() string          // the tools in a list, without brackets; nil: the tool "echo"
	call  func(*script, request) // nil: the name of the tool as text
	other map[string]func(*script, request)
}

const echoTool = `{"name":"echo","inputSchema":{"type":"object"}}`

func (b behaviour) serve(s *script) {
	for {
		r, ok := s.next()
		if !ok {
			return
		}
		switch other := b.other[r.Method]; {
		case other != nil:
			other(s, r)
		case r.Method == "initialize":
			s.reply(r, welcome)
		case r.Method == "tools/list":
			list := echoTool
			if b.tools != nil {
				list = b.tools()
			}
			s.reply(r, `{"tools":[`+list+`]}`)
		case r.Method == "tools/call" && b.call != nil:
			b.call(s, r)
		case r.Method == "tools/call":
			s.reply(r, textResult("called"))
		case r.Method == "notifications/cancelled", r.Method == "notifications/initialized":
		default:
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, r.ID))
		}
	}
}

func textResult(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

// pipePeer is a peer in this process.
func pipePeer(serve func(*script)) *peer {
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirOut.Close()
		defer theirIn.Close()
		serve(&script{bufio.NewReader(theirIn), theirOut})
	}()
	return &peer{
		transport: &lineTransport{in: ourIn, out: ourOut, noise: func(string) {}},
		stderr:    func() string { return "" },
		end: func(time.Duration) string {
			_ = ourOut.Close()
			_ = ourIn.Close()
			<-done
			return ""
		},
	}
}

// connectTo connects to scripted servers. Each time one is started it is what
// its function gives, an error for one that cannot be.
func connectTo(t *testing.T, cfg Config, opts *Options, servers map[string]func() (*peer, error)) *Client {
	t.Helper()
	if cfg.Servers == nil {
		cfg.Servers = map[string]Server{}
	}
	for name := range servers {
		s := cfg.Servers[name]
		s.Command = "scripted"
		cfg.Servers[name] = s
	}
	c, err := newClient(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.servers {
		s.dial = servers[s.name]
	}
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// always is a server that is the same each time.
func always(b behaviour) func() (*peer, error) {
	return func() (*peer, error) { return pipePeer(b.serve), nil }
}

// register is a new registry that follows a client.
func register(t *testing.T, c *Client) *tools.Registry {
	t.Helper()
	reg := &tools.Registry{}
	c.Register(reg)
	return reg
}

// answer is what a call gave.
type answer struct {
	Value, Code, Err string
}

func callTool(ctx context.Context, reg *tools.Registry, name, args string) answer {
	return callWith(ctx, reg, name, args, tools.RunHooks{})
}

func callWith(ctx context.Context, reg *tools.Registry, name, args string, hooks tools.RunHooks) answer {
	tool := reg.Lookup(name)
	if tool == nil {
		return answer{Err: "no tool " + name}
	}
	run := tools.NewRun(tools.NewCall(tools.CallSpec{ID: "c", Name: name, Args: tools.MustJSON(args)}), hooks)
	r, err := tool.Definition().Handler(ctx, run)
	if err != nil {
		return answer{Code: tools.InfoOf(err).Code, Err: err.Error()}
	}
	return answer{Value: r.Value.String()}
}

func names(reg *tools.Registry) []string {
	var all []string
	for _, t := range reg.All() {
		all = append(all, t.Name())
	}
	return all
}

// statusOf is the status of one server.
func statusOf(t *testing.T, c *Client, name string) Status {
	t.Helper()
	for _, s := range c.Status() {
		if s.Server == name {
			return s
		}
	}
	t.Fatalf("no server %s", name)
	return Status{}
}

// mailbox is texts that tests hand from one goroutine to another.
type mailbox struct {
	mu   sync.Mutex
	text []string
}

func (m *mailbox) put(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = append(m.text, text)
}

func (m *mailbox) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.text)
}

func manyTools(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i)
	}
	return strings.Join(list, ",")
}
