package main

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mcptools"
)

// approving is an MCP client that allows what it is asked about.
func approving(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			_, digest, _ := strings.Cut(r.Params.Message, "SHA-256 of the arguments: ")
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true, "digest": digest}}, nil
		},
	})
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// serveDirectory has a file to read, and a rule against one.
func serveDirectory(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "text\n", "secret.txt": "x",
		"policy.json": `{"permissions":{"deny":["Read(secret.txt)"]}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writeThrough reads, is denied, and writes after a question.
func writeThrough(t *testing.T, session *mcp.ClientSession, to string) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"description": "Copy", "code": `
let denied = "";
try { await tools.read({ file_path: "secret.txt" }) } catch (e) { denied = e.code }
const { content } = await tools.read({ file_path: "a.txt" });
await tools.write({ file_path: "` + to + `", content });
return denied`}})
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; res.IsError || text != "DENIED_BY_POLICY" {
		t.Errorf("the program gives %q, want the code of the denial", text)
	}
}

func checkServed(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "text\n" {
			t.Errorf("%s: %q, %v, want what a.txt holds", name, text, err)
		}
	}
	log, err := eventlog.ReadFile(filepath.Join(dir, "log.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range pipelinetest.CheckLog(log.Events) {
		t.Error(problem)
	}
	results := 0
	for _, e := range log.Events {
		if e.Type == pipeline.EventToolResult {
			results++
		}
	}
	if results != len(files) {
		t.Errorf("the log has %d results, want %d", results, len(files))
	}
}

func TestServeStdio(t *testing.T) {
	dir := serveDirectory(t)
	cmd := exec.Command("runcode", "serve", "--config", "policy.json", "--events", "log.jsonl")
	cmd.Dir = dir
	session := approving(t, &mcp.CommandTransport{Command: cmd})
	writeThrough(t, session, "b.txt")
	if err := session.Close(); err != nil {
		t.Errorf("the server ends with %v, want exit status 0", err)
	}
	checkServed(t, dir, "b.txt")
}

func TestServeHTTP(t *testing.T) {
	for _, token := range []string{"", "a-token-of-the-test"} {
		t.Run("token "+token, func(t *testing.T) {
			defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			dir := serveDirectory(t)
			cmd := exec.Command("runcode", "serve", "--config", "policy.json", "--events", "log.jsonl", "--http", "127.0.0.1:0")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), tokenVariable+"="+token)
			said, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			made := regexp.MustCompile(`the token of this run is (\S+)`)
			at := regexp.MustCompile(`serving (http://\S+)`)
			url := ""
			for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
				if m := made.FindStringSubmatch(lines.Text()); m != nil {
					token = m[1]
				}
				if m := at.FindStringSubmatch(lines.Text()); m != nil {
					url = m[1]
				}
			}
			connect := func() *mcp.ClientSession {
				return approving(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken(token)}, MaxRetries: -1})
			}
			one, two := connect(), connect()
			writeThrough(t, one, "b.txt")
			writeThrough(t, two, "c.txt")
			res, err := http.Post(url, "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("status %d without the token, want 401", res.StatusCode)
			}
			two.Close()
			// The first stays connected, and holds the server's end up for no longer
			// than it takes.
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the server ends with %v, want exit status 0", err)
			}
			one.Close()
			checkServed(t, dir, "b.txt", "c.txt")
		})
	}
}

// TestServersChange shows that clients are told when a server's tools change.
func TestServersChange(t *testing.T) {
	changed := make(chan struct{}, 10)
	set := &toolset{root: t.TempDir(), registry: new(tools.Registry), changed: func() { changed <- struct{}{} }}
	cfg := mcptools.Config{Servers: map[string]mcptools.Server{"down": {Command: "runcode", Args: []string{"run", "cannot begin"}}}}
	if err := set.connect(t.Context(), cfg, false); err != nil {
		t.Fatal(err)
	}
	<-changed // its state has become known
	if err := set.close(); err != nil {
		t.Error(err)
	}
}

type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}
