package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/mcpserver"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a server over the tools echo, danger (which policy asks about) and hold
// (which waits for its end).
type host struct {
	*mcpserver.Server
	registry *tools.Registry
	pipeline *pipeline.Pipeline
	events   *pipelinetest.Recorder
	holding  chan struct{} // receives when hold has begun

	mu     sync.Mutex
	danger []string // who ran it
}

func newHost(t *testing.T, opts codemode.Options) *host {
	t.Helper()
	h := &host{Server: mcpserver.New(nil), events: &pipelinetest.Recorder{}, holding: make(chan struct{}, 10)}
	echo := tools.Define("echo", "Echo a text.", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (struct {
		Text string `json:"text"`
	}, error) {
		return in, nil
	})
	danger := &tools.Definition{Name: "danger", Description: "Dangerous.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.danger = append(h.danger, fmt.Sprint(run.Call().Agent()))
		return tools.Result{Value: tools.MustJSON(`"done"`)}, nil
	}}
	hold := &tools.Definition{Name: "hold", Description: "Wait.", Handler: func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
		h.holding <- struct{}{}
		<-ctx.Done()
		return tools.Result{}, context.Cause(ctx)
	}}
	picture := &tools.Definition{Name: "picture", Description: "Draw.", Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON(`"drawn"`), Content: []tools.Content{tools.TextContent("drawn"), tools.ImageContent("image/png", "AAEC")}}, nil
	}}
	reg, err := tools.NewRegistry(echo, danger, hold, picture)
	if err != nil {
		t.Fatal(err)
	}
	h.registry = reg
	h.pipeline = pipeline.New(reg, &pipeline.Options{Approver: h, Sink: pipeline.Tee(h.events, h)})
	h.pipeline.PreExecute.Use("careful", func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if call.Name() == "danger" {
			return pipeline.Ask("it is\u202e dangerous"), nil
		}
		return next(ctx)
	})
	opts.Isolation, opts.OnLog = codemode.IsolationInProcess, h.Log
	cm, err := codemode.New(h.pipeline, &opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Attach(h.pipeline, cm)
	t.Cleanup(func() {
		if err := errors.Join(h.Close(), cm.Close()); err != nil {
			t.Error(err)
		}
		for _, problem := range pipelinetest.CheckLog(h.events.Events()) {
			t.Error(problem)
		}
	})
	return h
}

// peer is a client and what it was told.
type peer struct {
	*mcp.ClientSession
	answer func(*mcp.ElicitParams) *mcp.ElicitResult

	changed chan struct{}
	told    chan struct{} // receives with each of logs and progress

	mu       sync.Mutex
	asked    []*mcp.ElicitParams
	logs     []string
	progress []string
}

// client makes a client that answers questions with answer; nil has no
// elicitation.
func client(answer func(*mcp.ElicitParams) *mcp.ElicitResult) (*peer, *mcp.Client) {
	p := &peer{answer: answer, changed: make(chan struct{}, 10), told: make(chan struct{}, 100)}
	opts := &mcp.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.logs = append(p.logs, fmt.Sprintf("%s: %v", r.Params.Level, r.Params.Data))
			p.told <- struct{}{}
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.progress = append(p.progress, fmt.Sprintf("%v %s", r.Params.Progress, r.Params.Message))
			p.told <- struct{}{}
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { p.changed <- struct{}{} },
	}
	if answer != nil {
		opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			p.mu.Lock()
			p.asked = append(p.asked, r.Params)
			p.mu.Unlock()
			return p.answer(r.Params), nil
		}
	}
	return p, mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
}

// connect connects a client in memory.
func (h *host) connect(t *testing.T, answer func(*mcp.ElicitParams) *mcp.ElicitResult) *peer {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	served := make(chan error, 1)
	go func() { served <- h.Run(context.Background(), there) }()
	p, c := client(answer)
	session, err := c.Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.ClientSession = session
	t.Cleanup(func() {
		session.Close()
		<-served
	})
	return p
}

func program(code string) *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": code, "description": "Test"}}
}

func (p *peer) call(t *testing.T, params *mcp.CallToolParams) *mcp.CallToolResult {
	t.Helper()
	res, err := p.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func text(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("<%s %x>", c.MIMEType, c.Data))
		}
	}
	return strings.Join(parts, "|")
}

func structured(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	text, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestList(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts codemode.Options
		want []string
	}{
		{"code", codemode.Options{}, []string{"run_code"}},
		{"both", codemode.Options{Mode: codemode.ModeBoth}, []string{"danger", "echo", "hold", "picture", "run_code"}},
		{"native", codemode.Options{Mode: codemode.ModeNative}, []string{"danger", "echo", "hold", "picture"}},
		{"budgeted", codemode.Options{PromptBudget: 1}, []string{"run_code", "search_tools"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newHost(t, tt.opts).connect(t, nil)
			list, err := p.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				says := "echo: Tool<"
				if tt.opts.PromptBudget > 0 {
					says = "The list of tools below is incomplete"
				}
				if tool.Name == "run_code" && (!strings.Contains(tool.Description, says) || tool.OutputSchema == nil) {
					t.Errorf("run_code does not say which tools there are, or what it returns:\n%s", tool.Description)
				}
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	p := newHost(t, codemode.Options{PromptBudget: 1}).connect(t, nil)
	res := p.call(t, &mcp.CallToolParams{Name: "search_tools", Arguments: map[string]any{"query": "echo"}})
	if got := text(res); res.IsError || !strings.Contains(got, `"call":"tools.echo"`) || !strings.Contains(got, `text: string`) {
		t.Errorf("found %q, want echo with its declaration", got)
	}
	if res := p.call(t, &mcp.CallToolParams{Name: "search_tools", Arguments: map[string]any{"q": 1}}); !res.IsError || !strings.HasPrefix(text(res), "Error: catalog.search ") {
		t.Errorf("wrong arguments give %q, want an error of the tool", text(res))
	}
}

func TestCalls(t *testing.T) {
	p := newHost(t, codemode.Options{Mode: codemode.ModeBoth}).connect(t, nil)
	for _, tt := range []struct {
		name   string
		params *mcp.CallToolParams
		fails  bool
		text   string // it begins with this
		value  string
	}{
		{"value", program(`console.log("hi"); return {n: (await tools.echo({text: "x"})).text}`), false, "hi\n", `{"logs":["hi"],"result":{"n":"x"}}`},
		{"nothing", program(`const x = await tools.echo({text: "x"})`), false, "(run_code completed with no output)", `{"logs":[]}`},
		{"failure", program("await tools.echo({text: 'x'});\nthrow new Error('no')"), true, "Error: code run failed (exception): Error: no\n", "null"},
		{"denied", program(`try { await tools.danger({}) } catch (e) { return e.code }`), false, "APPROVAL_UNAVAILABLE", `{"logs":[],"result":"APPROVAL_UNAVAILABLE"}`},
		{"bad arguments", &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"code": 1}}, true, "Error: ", "null"},
		{"native", &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}, false, `{"text":"x"}`, `{"text":"x"}`},
		{"native, bad arguments", &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"txt": "x"}}, true, `Error: `, `null`},
		{"image", &mcp.CallToolParams{Name: "picture"}, false, `drawn|<image/png 000102>`, `null`},
		{"image in a program", program(`return await tools.picture({})`), false, `drawn|<image/png 000102>`, `{"logs":[],"result":"drawn"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := p.call(t, tt.params)
			if res.IsError != tt.fails || !strings.HasPrefix(text(res), tt.text) {
				t.Errorf("error %v, text %q, want %v and %q", res.IsError, text(res), tt.fails, tt.text)
			}
			if got := structured(t, res); got != tt.value {
				t.Errorf("structured content %s, want %s", got, tt.value)
			}
		})
	}
	if _, err := p.CallTool(t.Context(), &mcp.CallToolParams{Name: "nosuch"}); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("error %v, want one that names the unknown tool", err)
	}
}

// TestLargeOutcome shows that structured content does not undo the bound of the
// text.
func TestLargeOutcome(t *testing.T) {
	p := newHost(t, codemode.Options{}).connect(t, nil)
	res := p.call(t, program(`return "x".repeat(300000)`))
	got := structured(t, res)
	if !strings.HasPrefix(got, `{"logs":[],"note":"the outcome has 300023 bytes; at most 262144 are sent`) || len(text(res)) > codemode.DefaultMaxText+1000 {
		t.Errorf("structured %.100s with a text of %d bytes, want a note and a cut text", got, len(text(res)))
	}
}

// TestNews shows what a client is told while a program runs.
func TestNews(t *testing.T) {
	p := newHost(t, codemode.Options{}).connect(t, nil)
	if err := p.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	params := program(`console.log("a"); await tools.echo({text: "x"}); console.debug("quiet"); console.warn("b"); try { await tools.danger({}) } catch {}`)
	params.SetProgressToken("token")
	if res := p.call(t, params); res.IsError {
		t.Fatal(text(res))
	}
	// The client's answer overtakes what it was told before. Progress that comes fast
	// may stand for that before it, but the last is told.
	for {
		p.mu.Lock()
		logs, progress := slices.Clone(p.logs), slices.Clone(p.progress)
		p.mu.Unlock()
		if n := len(progress); n > 0 && progress[n-1] == "4 call 2: danger not-started" && len(logs) >= 2 {
			if diff := cmp.Diff([]string{"info: a", "warning: b"}, logs); diff != "" {
				t.Errorf("log messages (-want +got):\n%s", diff)
			}
			return
		}
		<-p.told
	}
}

func TestCancel(t *testing.T) {
	h := newHost(t, codemode.Options{})
	p := h.connect(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.CallTool(ctx, program(`try { await tools.hold({}) } catch {} return await tools.echo({text: "after"})`))
		done <- err
	}()
	<-h.holding
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	// The next call waits for the end of the cancelled one.
	if res := p.call(t, program(`return 1`)); text(res) != "1" {
		t.Errorf("the next call gives %q, want 1", text(res))
	}
	for _, call := range h.events.Calls() {
		if strings.Contains(call, "echo") {
			t.Errorf("a call began after the cancel: %q", h.events.Calls())
		}
	}
}

func yes(p *mcp.ElicitParams) *mcp.ElicitResult {
	_, digest, _ := strings.Cut(p.Message, "SHA-256 of the arguments: ")
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true, "digest": digest}}
}

func TestElicitation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(*mcp.ElicitParams) *mcp.ElicitResult
		want   string
		runs   bool
	}{
		{"yes", yes, "done", true},
		{"no", func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} }, "APPROVAL_REJECTED", false},
		{"cancelled", func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} }, "APPROVAL_CANCELLED", false},
		{"not approved", func(p *mcp.ElicitParams) *mcp.ElicitResult {
			r := yes(p)
			r.Content["approve"] = false
			return r
		}, "APPROVAL_REJECTED", false},
		{"of other arguments", func(p *mcp.ElicitParams) *mcp.ElicitResult {
			r := yes(p)
			r.Content["digest"] = strings.Repeat("0", 64)
			return r
		}, "APPROVAL_CANCELLED", false},
		{"nobody", nil, "APPROVAL_UNAVAILABLE", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, codemode.Options{})
			p := h.connect(t, tt.answer)
			res := p.call(t, program(`try { return await tools.danger({path: "a\u202e\u001bb"}) } catch (e) { return e.code }`))
			if text(res) != tt.want || (len(h.danger) == 1) != tt.runs {
				t.Errorf("%q, run by %v, want %q and %v", text(res), h.danger, tt.want, tt.runs)
			}
			if tt.answer == nil {
				return
			}
			if len(p.asked) != 1 {
				t.Fatalf("%d questions, want one", len(p.asked))
			}
			want := "Allow danger?\n\n" + `{"path":"a\u202e\u001bb"}` + "\n\nWhy you are asked: it is\\u{202e} dangerous\nA program makes the call, in line 1.\nSHA-256 of the arguments: "
			if got := p.asked[0].Message; !strings.HasPrefix(got, want) {
				t.Errorf("the question is\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// TestTooLargeToAsk shows that what cannot be shown whole is not asked.
func TestTooLargeToAsk(t *testing.T) {
	h := newHost(t, codemode.Options{})
	p := h.connect(t, yes)
	res := p.call(t, program(`try { return await tools.danger({text: "x".repeat(70000)}) } catch (e) { return e.message }`))
	if !strings.Contains(text(res), "its arguments have 70011 bytes, of which a question shows at most 65536") || len(p.asked) > 0 {
		t.Errorf("%q after %d questions, want a denial without a question", text(res), len(p.asked))
	}
}

// TestTwoClients shows that each is asked about its own calls alone, at the same
// time, and acts as itself.
func TestTwoClients(t *testing.T) {
	h := newHost(t, codemode.Options{})
	var both sync.WaitGroup
	both.Add(2)
	together := func(p *mcp.ElicitParams) *mcp.ElicitResult {
		both.Done()
		both.Wait() // neither is answered before both are asked
		return yes(p)
	}
	one, two := h.connect(t, together), h.connect(t, together)
	var results [2]string
	var calls sync.WaitGroup
	for i, p := range []*peer{one, two} {
		calls.Go(func() {
			res, err := p.CallTool(t.Context(), program(fmt.Sprintf(`return await tools.danger({client: %d})`, i)))
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = text(res)
		})
	}
	calls.Wait()
	if results != [2]string{"done", "done"} {
		t.Errorf("results %q, want both done", results)
	}
	for i, p := range []*peer{one, two} {
		if len(p.asked) != 1 || !strings.Contains(p.asked[0].Message, fmt.Sprintf(`{"client":%d}`, i)) {
			t.Errorf("client %d was asked %d questions, want its own", i, len(p.asked))
		}
	}
	if len(h.danger) != 2 || h.danger[0] == h.danger[1] {
		t.Errorf("the calls were made by %v, want two agents", h.danger)
	}
}

// TestScope shows that tools and rules can be one client's own, and that a change
// is told.
func TestScope(t *testing.T) {
	h := newHost(t, codemode.Options{Mode: codemode.ModeBoth})
	one, two := h.connect(t, nil), h.connect(t, nil)
	names := func(p *peer) (names []string) {
		list, err := p.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	var first any
	remove := h.pipeline.PreExecute.Use("who", func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		first = call.Agent()
		return next(ctx)
	})
	one.call(t, program(`return 1`))
	remove()
	if _, err := h.pipeline.For(first).Without("danger", "picture"); err != nil {
		t.Fatal(err)
	}
	h.Refresh()
	<-one.changed
	if diff := cmp.Diff([]string{"echo", "hold", "run_code"}, names(one)); diff != "" {
		t.Errorf("tools of the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"danger", "echo", "hold", "picture", "run_code"}, names(two)); diff != "" {
		t.Errorf("tools of the second (-want +got):\n%s", diff)
	}
}

// settled is how many calls have a result in the log.
func (h *host) settled() (n int) {
	for _, e := range h.events.Events() {
		if e.Type == pipeline.EventToolResult || e.Type == pipeline.EventCodeDispatch {
			n++
		}
	}
	return n
}

// TestClose ends calls that run, and their events are written.
func TestClose(t *testing.T) {
	h := newHost(t, codemode.Options{})
	p := h.connect(t, nil)
	done := make(chan string, 1)
	go func() {
		res, err := p.CallTool(t.Context(), program(`await tools.hold({})`))
		if err != nil {
			done <- err.Error()
			return
		}
		done <- text(res)
	}()
	<-h.holding
	h.Close()
	if n := h.settled(); n != 2 {
		t.Errorf("%d calls have settled when Close returns, want 2", n)
	}
	<-done // an answer or the end of the connection, as it comes
}

// TestLeave ends the calls of a client that has left.
func TestLeave(t *testing.T) {
	h := newHost(t, codemode.Options{})
	toServer, requests := io.Pipe()
	answers, fromServer := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- h.Run(context.Background(), &mcp.IOTransport{Reader: toServer, Writer: fromServer}) }()
	go io.Copy(io.Discard, answers)
	io.WriteString(requests, greeting)
	fmt.Fprintln(requests, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"await tools.hold({})","description":"Hold"}}}`)
	<-h.holding
	requests.Close()
	if err := <-served; err != nil {
		t.Errorf("Run returns %v for a client that has left, want nil", err)
	}
	answers.Close()
	if calls := h.settled(); calls != 2 {
		t.Errorf("%d calls have settled when Run returns, want 2", calls)
	}
}

// greeting is what a client says first.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestDeafClient shows that a client which does not read holds up nobody.
func TestDeafClient(t *testing.T) {
	h := newHost(t, codemode.Options{})
	toServer, requests := io.Pipe()
	answers, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Run(ctx, &mcp.IOTransport{Reader: toServer, Writer: fromServer}) }()
	fmt.Fprintln(requests, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"deaf","version":"1"}}}`)
	if _, err := answers.Read(make([]byte, 1<<16)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(requests, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(requests, `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`)
	fmt.Fprintln(requests, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_code","arguments":{"code":"for (let i = 0; i < 1000; i++) console.log(i); await tools.hold({})","description":"Flood"}}}`)
	<-h.holding
	other := h.connect(t, nil)
	if got := text(other.call(t, program(`return 1`))); got != "1" {
		t.Errorf("another client gets %q, want 1", got)
	}
	answers.Close()
	cancel()
	requests.Close()
	<-served
}

func TestHTTP(t *testing.T) {
	h := newHost(t, codemode.Options{})
	handler, err := h.Handler(mcpserver.HTTPOptions{
		Tokens:      map[string]string{"token-of-alice-0001": "alice", "token-of-bob-000001": "bob"},
		Origins:     []string{"https://good.example"},
		MaxSessions: 2,
		MaxBody:     10_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"no token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer token-of-alice-0002") }, 401},
		{"another host", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"another host with our port", func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		{"a web page", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{"a web page of nowhere", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"too large", func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(hello + strings.Repeat(" ", 10_000)))
			r.ContentLength = -1
		}, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, bytes.NewReader([]byte(hello)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer token-of-alice-0001")
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			tt.change(req)
			res, err := server.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != tt.status {
				t.Errorf("status %d (%s), want %d", res.StatusCode, body, tt.status)
			}
		})
	}

	connect := func(token string, answer func(*mcp.ElicitParams) *mcp.ElicitResult) (*peer, error) {
		p, c := client(answer)
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer{token, server.Client().Transport}}, MaxRetries: -1}, nil)
		p.ClientSession = session
		return p, err
	}
	alice, err := connect("token-of-alice-0001", yes)
	if err != nil {
		t.Fatal(err)
	}
	defer alice.ClientSession.Close()
	bob, err := connect("token-of-bob-000001", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect("token-of-bob-000001", nil); err == nil {
		t.Error("a third session is admitted, of at most two")
	}
	if got := text(alice.call(t, program(`return await tools.danger({})`))); got != "done" || len(alice.asked) != 1 {
		t.Errorf("%q after %d questions, want done after one", got, len(alice.asked))
	}
	// A session is its principal's: another token does not open it.
	req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token-of-bob-000001")
	req.Header.Set("Mcp-Session-Id", alice.ID())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 403 {
		t.Errorf("bob's token opens alice's session: status %d, want 403", res.StatusCode)
	}
	bob.ClientSession.Close()
}

// bearer adds a token.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func TestHandlerOptions(t *testing.T) {
	s := mcpserver.New(nil)
	good := map[string]string{"token-of-alice-0001": "alice"}
	for _, tt := range []struct {
		opts mcpserver.HTTPOptions
		want string
	}{
		{mcpserver.HTTPOptions{}, "mcpserver: HTTP needs a token: whoever can connect could make every call"},
		{mcpserver.HTTPOptions{Tokens: map[string]string{"short": "alice"}}, `mcpserver: the token of principal "alice" has 5 bytes; tokens have at least 16, and principals a name`},
		{mcpserver.HTTPOptions{Tokens: map[string]string{"token of alice 0001": "alice"}}, `mcpserver: the token of principal "alice" holds white space or characters that are not ASCII, which no header carries`},
		{mcpserver.HTTPOptions{Tokens: good, Hosts: []string{"our.example", "fd00::1", "our.example:80"}}, `mcpserver: the host "our.example:80" is no name alone; leave out scheme, port, path and brackets`},
		{mcpserver.HTTPOptions{Tokens: good, Hosts: []string{""}}, `mcpserver: the host "" is no name alone; leave out scheme, port, path and brackets`},
		{mcpserver.HTTPOptions{Tokens: good, Origins: []string{"https://good.example:444", "https://good.example/"}}, `mcpserver: the origin "https://good.example/" is not of the form https://host or https://host:port, in lower case`},
	} {
		if _, err := s.Handler(tt.opts); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
	_, there := mcp.NewInMemoryTransports()
	if err := s.Run(t.Context(), there); err == nil || err.Error() != "mcpserver: no pipeline is attached; call Attach first" {
		t.Errorf("error %v, want that nothing is attached", err)
	}
}
