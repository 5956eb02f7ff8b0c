package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/mcpserver"
	"github.com/runcode-go/runcode/tools"
)

// wire is a client that writes and reads messages itself.
type wire struct {
	t   *testing.T
	out *io.PipeWriter
	in  *bufio.Scanner
}

// message is what is read of one from the server.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func (h *host) wire(t *testing.T) *wire {
	t.Helper()
	toServer, out := io.Pipe()
	in, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- h.Run(context.Background(), &mcp.IOTransport{Reader: toServer, Writer: fromServer})
		fromServer.Close()
	}()
	w := &wire{t: t, out: out, in: bufio.NewScanner(in)}
	w.in.Buffer(nil, 64<<20)
	t.Cleanup(func() {
		out.Close()
		io.Copy(io.Discard, in)
		<-served
	})
	return w
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.out, format+"\n", args...); err != nil {
		w.t.Fatal(err)
	}
}

// read is the next message for which want says so.
func (w *wire) read(want func(message) bool) message {
	w.t.Helper()
	for w.in.Scan() {
		var m message
		if err := json.Unmarshal(w.in.Bytes(), &m); err != nil {
			w.t.Fatalf("the server writes %.200q, which is no message: %v", w.in.Text(), err)
		}
		if want(m) {
			return m
		}
	}
	w.t.Fatalf("the server closes the connection: %v", w.in.Err())
	return message{}
}

func (w *wire) answerTo(id string) message {
	w.t.Helper()
	return w.read(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

func (w *wire) greet(capabilities string) {
	w.t.Helper()
	w.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":%s,"clientInfo":{"name":"raw","version":"1"}}}`, capabilities)
	w.answerTo(`"hello"`)
	w.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (w *wire) program(id, code string) {
	w.t.Helper()
	text, _ := json.Marshal(code)
	w.send(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"run_code","arguments":{"code":%s,"description":"Test"}}}`, id, text)
}

const asksDanger = `try { return await tools.danger({}) } catch (e) { return e.code }`

// TestAnswers shows that only an answer that is clearly yes allows a call: the
// schema's defaults fill nothing in.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"yes", `"result":{"action":"accept","content":{"approve":true,"digest":"DIGEST"}}`, "done"},
		{"yes and more", `"result":{"action":"accept","content":{"approve":true,"digest":"DIGEST","always":true}}`, "done"},
		{"no digest", `"result":{"action":"accept","content":{"approve":true}}`, "APPROVAL_UNAVAILABLE"},
		{"no approve", `"result":{"action":"accept","content":{"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"no content", `"result":{"action":"accept"}`, "APPROVAL_CANCELLED"},
		{"null", `"result":{"action":"accept","content":{"approve":null,"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"a text", `"result":{"action":"accept","content":{"approve":"true","digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"a number", `"result":{"action":"accept","content":{"approve":1,"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"another case", `"result":{"action":"accept","content":{"Approve":true,"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"a list", `"result":{"action":"accept","content":[true,"DIGEST"]}`, "APPROVAL_UNAVAILABLE"},
		{"an action of its own", `"result":{"action":"Accept","content":{"approve":true,"digest":"DIGEST"}}`, "APPROVAL_CANCELLED"},
		{"no action", `"result":{"content":{"approve":true,"digest":"DIGEST"}}`, "APPROVAL_CANCELLED"},
		{"an action that is no text", `"result":{"action":true,"content":{"approve":true,"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
		{"no object", `"result":"accept"`, "APPROVAL_UNAVAILABLE"},
		{"an error", `"error":{"code":-1,"message":"no"}`, "APPROVAL_UNAVAILABLE"},
		{"an error beside a yes", `"error":{"code":-1,"message":"no"},"result":{"action":"accept","content":{"approve":true,"digest":"DIGEST"}}`, "APPROVAL_UNAVAILABLE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, codemode.Options{})
			w := h.wire(t)
			w.greet(`{"elicitation":{}}`)
			w.program("2", asksDanger)
			asked := w.read(func(m message) bool { return m.Method == "elicitation/create" })
			_, digest, _ := strings.Cut(string(asked.Params), "SHA-256 of the arguments: ")
			answer := strings.ReplaceAll(tt.answer, "DIGEST", digest[:64])
			w.send(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, answer)
			w.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"approve":true,"digest":"%s"}}}`, asked.ID, digest[:64]) // too late
			if got := string(w.answerTo("2").Result); !strings.Contains(got, `"text":"`+tt.want+`"`) {
				t.Errorf("the program returns %s, want %s", got, tt.want)
			}
			if runs := len(h.danger); (runs == 1) != (tt.want == "done") {
				t.Errorf("the tool ran %d times", runs)
			}
		})
	}
}

// TestAnswerOfAnother shows that an answer counts in the connection it is asked in
// alone, whatever its id.
func TestAnswerOfAnother(t *testing.T) {
	h := newHost(t, codemode.Options{})
	one, two := h.wire(t), h.wire(t)
	one.greet(`{"elicitation":{}}`)
	two.greet(`{"elicitation":{}}`)
	one.program("2", asksDanger)
	asked := one.read(func(m message) bool { return m.Method == "elicitation/create" })
	_, digest, _ := strings.Cut(string(asked.Params), "SHA-256 of the arguments: ")
	two.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"approve":true,"digest":"%s"}}}`, asked.ID, digest[:64])
	two.send(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	two.answerTo("3")
	if len(h.danger) > 0 {
		t.Error("another client's answer allows the call")
	}
	one.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, asked.ID)
	if got := string(one.answerTo("2").Result); !strings.Contains(got, "APPROVAL_REJECTED") {
		t.Errorf("the program returns %s, want the refusal", got)
	}
}

// TestVersions shows which version of the protocol a client gets.
func TestVersions(t *testing.T) {
	h := newHost(t, codemode.Options{})
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1": "2025-11-25", "9999-01-01": "2025-11-25", "": "2025-11-25",
	} {
		w := h.wire(t)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, asked)
		var got struct{ ProtocolVersion string }
		if json.Unmarshal(w.answerTo("1").Result, &got); got.ProtocolVersion != want {
			t.Errorf("a client that asks for %q gets %q, want %q", asked, got.ProtocolVersion, want)
		}
		// It need not say that it has been greeted.
		w.program("2", "return 1")
		if got := string(w.answerTo("2").Result); !strings.Contains(got, `"text":"1"`) {
			t.Errorf("version %q: the program returns %s", asked, got)
		}
	}
}

// TestUngreeted shows that calls need a greeting.
func TestUngreeted(t *testing.T) {
	h := newHost(t, codemode.Options{})
	for _, meta := range []string{
		`{}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`,
	} {
		w := h.wire(t)
		w.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":%s,"name":"run_code","arguments":{"code":"return 1","description":"x"}}}`, meta)
		if m := w.answerTo("1"); m.Error == nil {
			t.Errorf("with _meta %s the call is made: %s", meta, m.Result)
		}
	}
}

// TestArguments shows what becomes of arguments that are none.
func TestArguments(t *testing.T) {
	h := newHost(t, codemode.Options{Mode: codemode.ModeBoth})
	w := h.wire(t)
	w.greet(`{}`)
	for i, tt := range []struct{ arguments, want string }{
		{`{"text":"x"}`, `{\"text\":\"x\"}`},
		{`null`, `Error: `},
		{`[]`, `Error: `},
		{`"text"`, `Error: `},
		{`{"text":"x","text":"y"}`, `Error: `},
		{`{"text":"x","Text":"y"}`, `Error: `},
		{`{"text":"` + strings.Repeat("x", 5<<20) + `"}`, `"text":"`},
		{strings.Repeat("[", 990) + strings.Repeat("]", 990), `Error: `},
	} {
		w.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}`, i+1, tt.arguments)
		m := w.answerTo(fmt.Sprint(i + 1))
		if m.Error == nil && !strings.Contains(string(m.Result), tt.want) {
			t.Errorf("arguments %.40s: %.300s, want %q", tt.arguments, m.Result, tt.want)
		}
	}
}

// TestGarbage shows that what is no message ends the connection with an error that
// says so.
func TestGarbage(t *testing.T) {
	h := newHost(t, codemode.Options{})
	for _, tt := range []struct{ in, want string }{
		{"hello\n", "invalid character"},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", "version tag"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", "id"},
		{"[]\n", "empty batch"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}` + "\n", "trailing data"},
		{strings.Repeat("[", 2000) + "\n", ""}, // the end of the input
		{strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n", "nesting depth"},
		{`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 17<<20), "maximum line length"},
	} {
		err := h.Run(t.Context(), &mcp.IOTransport{Reader: io.NopCloser(strings.NewReader(tt.in)), Writer: discard{}})
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%.50q ends with %v, want %q", tt.in, err, tt.want)
		}
	}
}

type discard struct{ io.Writer }

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// TestManyCalls shows that a client which does not wait is refused further calls,
// and that cancelling and answering what is not there does no harm.
func TestManyCalls(t *testing.T) {
	h := newHost(t, codemode.Options{})
	w := h.wire(t)
	w.greet(`{}`)
	w.program("1", `await tools.hold({})`)
	<-h.holding
	go func() {
		for i := 2; i <= 1001; i++ {
			w.program(fmt.Sprint(i), "return 1")
		}
	}()
	w.read(func(m message) bool {
		return m.Error != nil && strings.Contains(m.Error.Message, "1000 calls of this client run or wait")
	})
	go func() {
		for _, id := range []string{`"nothing"`, `1e3`, `{}`, `[1]`, `null`, `-1`} {
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
		}
		for i := 1001; i > 0; i-- {
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
		}
		w.program(`"last"`, "return 'last'")
	}()
	if got := string(w.answerTo(`"last"`).Result); !strings.Contains(got, `"text":"last"`) {
		t.Errorf("the call after all those gives %s", got)
	}
}

// TestSchemasOfOthers shows that no schema of an imported tool ends the server.
func TestSchemasOfOthers(t *testing.T) {
	for _, property := range []string{
		`{"type":"array","x-mcp-header":"X"}`, `{"type":"string","x-mcp-header":5}`, `{"type":"string","x-mcp-header":"a b"}`,
		`{"type":"string","const":"\ud800"}`,
	} {
		t.Run(property, func(t *testing.T) {
			h := newHost(t, codemode.Options{Mode: codemode.ModeBoth})
			_, err := h.registry.Add(&tools.Definition{
				Name: "odd", Description: "Odd.", Input: tools.MustJSON(`{"type":"object","properties":{"a":` + property + `}}`),
				Handler: func(context.Context, *tools.Run) (tools.Result, error) {
					return tools.Result{Value: tools.MustJSON(`"ran"`)}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			p := h.connect(t, nil)
			list, err := p.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == "odd" }) {
				t.Error("the tool is not listed")
			}
			if got := text(p.call(t, &mcp.CallToolParams{Name: "odd"})); got != "ran" {
				t.Errorf("the tool gives %q, want ran", got)
			}
		})
	}
}

// TestOwnSearchTool shows that a tool of the host's is not taken for ours of the
// same name.
func TestOwnSearchTool(t *testing.T) {
	h := newHost(t, codemode.Options{Mode: codemode.ModeBoth, PromptBudget: 1})
	_, err := h.registry.Add(&tools.Definition{Name: "search_tools", Description: "The host's.", Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON(`"the host's"`)}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := h.connect(t, nil)
	list, err := p.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, tool := range list.Tools {
		if tool.Name == "search_tools" {
			count++
		}
	}
	if got := text(p.call(t, &mcp.CallToolParams{Name: "search_tools"})); got != "the host's" || count != 1 {
		t.Errorf("%d tools of that name, which give %q, want the host's alone", count, got)
	}
}

// TestEndWithDeafClient shows that a client which does not read keeps no server
// from ending.
func TestEndWithDeafClient(t *testing.T) {
	for _, end := range []string{"context", "close"} {
		t.Run(end, func(t *testing.T) {
			h := newHost(t, codemode.Options{})
			toServer, requests := io.Pipe()
			answers, fromServer := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- h.Run(ctx, &mcp.IOTransport{Reader: toServer, Writer: fromServer}) }()
			go io.WriteString(requests, greeting+`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"console.log(1); await tools.hold({})","description":"Hold"}}}
`)
			lines := bufio.NewScanner(answers)
			for lines.Scan() && !strings.Contains(lines.Text(), `"id":2`) {
			}
			<-h.holding // and nothing more is read
			if end == "context" {
				cancel()
			} else {
				h.Close()
			}
			if err := <-served; err != nil {
				t.Errorf("Run returns %v, want nil", err)
			}
			cancel()
			answers.Close()
			requests.Close()
		})
	}
}

// session is an MCP session by HTTP requests alone.
type session struct {
	t   *testing.T
	url string
	id  string
}

func (s *session) do(method, body string, change func(*http.Request)) (*http.Response, error) {
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token-of-alice-0001")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
	}
	if change != nil {
		change(req)
	}
	return http.DefaultClient.Do(req)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func (s *session) begin() int {
	s.t.Helper()
	res, err := s.do("POST", hello, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	s.id = res.Header.Get("Mcp-Session-Id")
	return res.StatusCode
}

func (s *session) status(method, body string, change func(*http.Request)) int {
	s.t.Helper()
	res, err := s.do(method, body, change)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func (h *host) serveHTTP(t *testing.T, o mcpserver.HTTPOptions) string {
	t.Helper()
	o.Tokens = map[string]string{"token-of-alice-0001": "alice", "token-of-bob-000001": "bob"}
	handler, err := h.Handler(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		h.Close()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return server.URL
}

func asBob(r *http.Request) { r.Header.Set("Authorization", "Bearer token-of-bob-000001") }

// TestDelete shows that the end of a session ends its calls, frees its place, and
// is its principal's alone to ask for.
func TestDelete(t *testing.T) {
	h := newHost(t, codemode.Options{})
	s := &session{t: t, url: h.serveHTTP(t, mcpserver.HTTPOptions{MaxSessions: 1})}
	if status := s.begin(); status != 200 || s.id == "" {
		t.Fatalf("status %d, session %q", status, s.id)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err := s.do("POST", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"await tools.hold({})","description":"Hold"}}}`, nil)
		if err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	<-h.holding
	if status := (&session{t: t, url: s.url}).begin(); status != 503 {
		t.Errorf("a second session has status %d, want 503 while the first is there", status)
	}
	if status := s.status("DELETE", "", asBob); status != 403 || h.settled() > 0 {
		t.Errorf("another principal's DELETE has status %d and ends %d calls, want 403 and none", status, h.settled())
	}
	if status := s.status("DELETE", "", nil); status != 204 {
		t.Errorf("DELETE has status %d, want 204", status)
	}
	<-done
	if n := h.settled(); n != 2 {
		t.Errorf("%d calls have settled, want 2", n)
	}
	if status := s.status("POST", `{"jsonrpc":"2.0","id":3,"method":"ping"}`, nil); status != 404 {
		t.Errorf("a request to the session has status %d, want 404", status)
	}
	if status := (&session{t: t, url: s.url}).begin(); status != 200 {
		t.Errorf("a session after it has status %d, want 200", status)
	}
}

// TestIdle shows that the place of a client that asks nothing is free again.
func TestIdle(t *testing.T) {
	h := newHost(t, codemode.Options{})
	s := &session{t: t, url: h.serveHTTP(t, mcpserver.HTTPOptions{MaxSessions: 1, Idle: time.Nanosecond})}
	s.begin()
	for (&session{t: t, url: s.url}).begin() == 503 {
	}
}

// TestRequests shows what becomes of requests that are none of a session's.
func TestRequests(t *testing.T) {
	h := newHost(t, codemode.Options{})
	s := &session{t: t, url: h.serveHTTP(t, mcpserver.HTTPOptions{Hosts: []string{"our.example"}, Origins: []string{"https://good.example"}})}
	s.begin()
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	origin := func(names ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header["Origin"] = names }
	}
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for _, tt := range []struct {
		name, method, body string
		change             func(*http.Request)
		status             int
	}{
		{"ping", "POST", ping, nil, 200},
		{"our name", "POST", ping, host("OUR.example:99"), 200},
		{"loopback", "POST", ping, host("[::1]:99"), 200},
		{"a name below ours", "POST", ping, host("evil.our.example"), 403},
		{"our name with a dot", "POST", ping, host("our.example."), 403},
		{"localhost with more", "POST", ping, host("localhost.evil.example"), 403},
		{"any address", "POST", ping, host("0.0.0.0"), 403},
		{"loopback as a number", "POST", ping, host("2130706433"), 403},
		{"loopback, short", "POST", ping, host("127.1"), 403},
		{"good page", "POST", ping, origin("https://good.example"), 200},
		{"good page with a path", "POST", ping, origin("https://good.example/x"), 403},
		{"good page with a user", "POST", ping, origin("https://evil.example@good.example"), 403},
		{"good page and another", "POST", ping, origin("https://good.example", "https://evil.example"), 403},
		{"good page, plain", "POST", ping, origin("http://good.example"), 403},
		{"good page, port", "POST", ping, origin("https://good.example:444"), 403},
		{"empty origin", "POST", ping, origin(""), 403},
		{"token in the URL", "POST", ping, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "access_token=token-of-alice-0001&token=token-of-alice-0001"
		}, 401},
		{"token in a cookie", "POST", ping, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Cookie", "Authorization=Bearer token-of-alice-0001")
		}, 401},
		{"two tokens", "POST", ping, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer wrong-wrong-wrong-wrong, Bearer token-of-alice-0001")
		}, 401},
		{"another principal", "POST", ping, asBob, 403},
		{"another principal's stream", "GET", "", asBob, 403},
		{"no such session", "POST", ping, func(r *http.Request) { r.Header.Set("Mcp-Session-Id", "x") }, 404},
		{"no session", "POST", ping, func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, 200}, // a ping begins none
		{"stream without session", "GET", "", func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, 400},
		{"end without session", "DELETE", "", func(r *http.Request) { r.Header.Del("Mcp-Session-Id") }, 400},
		{"head", "HEAD", "", nil, 405},
		{"options", "OPTIONS", "", nil, 405},
		{"put", "PUT", ping, nil, 405},
		{"a form", "POST", ping, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"garbage", "POST", "garbage", nil, 400},
		{"an empty batch", "POST", "[]", nil, 400},
		{"a method of its own", "POST", `{"jsonrpc":"2.0","id":7,"method":"nosuch"}`, nil, 400},
		{"a version to come", "POST", ping, func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2026-07-28") }, 400},
		{"asking what is spoken", "POST", `{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			func(r *http.Request) {
				r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
				r.Header.Set("Mcp-Method", "server/discover")
				r.Header.Del("Mcp-Session-Id")
			}, 400}, // which says it, and begins no session
		{"a version of no time", "POST", ping, func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "x") }, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if status := s.status(tt.method, tt.body, tt.change); status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
		})
	}
}

// TestPage shows that the browser of a page that may send requests lets it.
func TestPage(t *testing.T) {
	h := newHost(t, codemode.Options{})
	s := &session{t: t, url: h.serveHTTP(t, mcpserver.HTTPOptions{Origins: []string{"https://good.example"}})}
	for _, tt := range []struct {
		origin string
		status int
		allow  string
	}{
		{"https://good.example", 204, "https://good.example"},
		{"https://evil.example", 403, ""},
	} {
		res, err := s.do("OPTIONS", "", func(r *http.Request) {
			r.Header = http.Header{"Origin": {tt.origin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"authorization,content-type"}}
		})
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Access-Control-Allow-Origin"); res.StatusCode != tt.status || got != tt.allow {
			t.Errorf("a page of %s: status %d, allowed %q, want %d and %q", tt.origin, res.StatusCode, got, tt.status, tt.allow)
		}
		if tt.allow != "" && !strings.Contains(res.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("a page of %s cannot send its token", tt.origin)
		}
	}
	res, err := s.do("POST", hello, func(r *http.Request) { r.Header.Set("Origin", "https://good.example") })
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := res.Header.Get("Access-Control-Expose-Headers"); got != "Mcp-Session-Id" {
		t.Errorf("the page can read %q of the answer, want the session's id", got)
	}
}

// slow is a connection that keeps the deadlines it is given.
type slow struct {
	*httptest.ResponseRecorder
	deadlines []bool // whether each is one
}

func (s *slow) SetReadDeadline(t time.Time) error {
	s.deadlines = append(s.deadlines, !t.IsZero())
	return nil
}

// TestSlowBody shows that a body has a time to arrive, and the call after it none.
func TestSlowBody(t *testing.T) {
	h := newHost(t, codemode.Options{})
	handler, err := h.Handler(mcpserver.HTTPOptions{Tokens: map[string]string{"token-of-alice-0001": "alice"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, host, token string
		body              io.Reader
		status            int
		want              []bool
	}{
		{"none", "localhost", "token-of-alice-0001", nil, 400, []bool{false}},
		{"whole", "localhost", "token-of-alice-0001", strings.NewReader(`{}`), 400, []bool{true, false}},
		{"broken off", "localhost", "token-of-alice-0001", io.MultiReader(strings.NewReader(`{`), failing{}), 408, []bool{true}},
		{"nobody's", "localhost", "wrong", failing{}, 401, []bool{true}},
		{"to another host", "evil.example", "token-of-alice-0001", failing{}, 403, []bool{true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			method, length := "POST", int64(-1)
			if tt.body == nil {
				method, length = "GET", 0
			}
			r := httptest.NewRequestWithContext(t.Context(), method, "/", tt.body)
			r.Host, r.ContentLength = tt.host, length
			r.Header.Set("Authorization", "Bearer "+tt.token)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := &slow{ResponseRecorder: httptest.NewRecorder()}
			handler.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if diff := cmp.Diff(tt.want, w.deadlines); diff != "" {
				t.Errorf("deadlines (-want +got):\n%s", diff)
			}
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("deadline exceeded") }
