//go:build unix

package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// npmVariable makes the tests of servers that others have written run. They
// install these from npm into a directory of their own.
const npmVariable = "RUNCODE_TEST_NPM"

// npmServers installs packages and returns the directory of their programs.
func npmServers(t *testing.T, packages ...string) string {
	t.Helper()
	if os.Getenv(npmVariable) == "" {
		t.Skipf("set %s=1 to install and run servers from npm; this test needs them", npmVariable)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed; this test needs it")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir}, packages...)...)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("the servers cannot be had from npm: %v\n%s", err, out)
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

func TestEverythingServer(t *testing.T) {
	bin := npmServers(t, "@modelcontextprotocol/server-everything")
	c, reg := connectProgram(t, Server{Command: filepath.Join(bin, "mcp-server-everything"), Args: []string{"stdio"}, Env: map[string]string{"KEY_OF_THE_TEST": "a value"}}, nil)
	status := statusOf(t, c, "s")
	if status.State != Ready || status.LeftOut != nil {
		t.Fatalf("status = %+v, want ready and nothing left out", status)
	}
	if got, want := callTool(t.Context(), reg, "mcp__s__echo", `{"message":"hello <&> \ud83d\ude00"}`), (answer{Value: `"Echo: hello <&> 😀"`}); got != want {
		t.Errorf("echo = %+v, want %+v", got, want)
	}
	structured := callTool(t.Context(), reg, "mcp__s__get-structured-content", `{"location":"Chicago"}`)
	tool := reg.Lookup("mcp__s__get-structured-content")
	if structured.Err != "" || tool.CheckOutput(tools.MustJSON(structured.Value)) != nil || !strings.Contains(structured.Value, `"temperature":`) {
		t.Errorf("structured content = %+v, want a value of its output type", structured)
	}
	run := tools.NewRun(tools.NewCall(tools.CallSpec{ID: "1", Args: tools.MustJSON(`{}`)}), tools.RunHooks{})
	image, err := reg.Lookup("mcp__s__get-tiny-image").Definition().Handler(t.Context(), run)
	if err != nil || len(image.Content) < 2 || !hasType(image.Content, tools.ContentImage) || image.Value.Kind() != '"' {
		t.Errorf("image = %+v, %v, want texts as the value and an image among the blocks", image, err)
	}
	if got := callTool(t.Context(), reg, "mcp__s__get-env", `{}`); !strings.Contains(got.Value, "KEY_OF_THE_TEST") || strings.Contains(got.Value, npmVariable) {
		t.Errorf("its environment: %+v, want what it was given and nothing of ours", got)
	}
	var progress []tools.Progress
	got := callWith(t.Context(), reg, "mcp__s__trigger-long-running-operation", `{"duration":0.4,"steps":4}`, tools.RunHooks{Progress: func(p tools.Progress) { progress = append(progress, p) }})
	if got.Err != "" || len(progress) == 0 || progress[0].Total != 4 {
		t.Errorf("long operation: %+v, progress %v, want some of 4 steps", got, progress)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if got := callTool(ctx, reg, "mcp__s__trigger-long-running-operation", `{"duration":600,"steps":5}`); got.Err != context.Canceled.Error() {
		t.Errorf("a cancelled call = %+v, want %v", got, context.Canceled)
	}
	if got := callTool(t.Context(), reg, "mcp__s__get-sum", `{"a":2,"b":3}`); !strings.Contains(got.Value, "5") {
		t.Errorf("sum after it = %+v, want 5", got)
	}
}

func hasType(blocks []tools.Content, kind string) bool {
	for _, b := range blocks {
		if b.Type == kind {
			return true
		}
	}
	return false
}

// quietPort is a port that nobody listens on, and that no system hands out by
// itself: a server of another test on it would get what is meant for ours.
func quietPort(t *testing.T) string {
	t.Helper()
	const first, last = 12_000, 30_000
	for range 100 {
		port := strconv.Itoa(first + rand.IntN(last-first))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestEverythingServerOnHTTP: the same over streamable HTTP and server-sent
// events.
func TestEverythingServerOnHTTP(t *testing.T) {
	bin := npmServers(t, "@modelcontextprotocol/server-everything")
	for kind, args := range map[string]struct{ mode, path string }{TypeHTTP: {"streamableHttp", "/mcp"}, TypeSSE: {"sse", "/sse"}} {
		t.Run(kind, func(t *testing.T) {
			port := quietPort(t)
			server := exec.Command(filepath.Join(bin, "mcp-server-everything"), args.mode)
			server.Env = append(os.Environ(), "PORT="+port)
			var out bytes.Buffer
			server.Stdout, server.Stderr = &out, &out
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = server.Process.Kill()
				_ = server.Wait()
				if t.Failed() {
					t.Logf("the server wrote: %s", out.String())
				}
			}()
			states := make(chan Status, 100)
			cfg := Config{Servers: map[string]Server{"s": {Type: kind, URL: "http://localhost:" + port + args.path}}}
			c, err := Connect(t.Context(), cfg, &Options{OnStatus: func(s Status) { states <- s }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			next(t, states, Ready) // perhaps after it was down: nobody listened yet
			reg := register(t, c)
			if got, want := callTool(t.Context(), reg, "mcp__s__echo", `{"message":"hello"}`), (answer{Value: `"Echo: hello"`}); got != want {
				t.Errorf("echo = %+v, want %+v", got, want)
			}
		})
	}
}

func TestFilesystemServer(t *testing.T) {
	bin := npmServers(t, "@modelcontextprotocol/server-filesystem")
	root := t.TempDir()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	c, reg := connectProgram(t, Server{Command: filepath.Join(bin, "mcp-server-filesystem"), Args: []string{root}}, nil)
	if status := statusOf(t, c, "s"); status.State != Ready || status.LeftOut != nil {
		t.Fatalf("status = %+v, want ready and nothing left out", status)
	}
	file := filepath.Join(root, "a.txt")
	path := tools.StringJSON(file).String()
	if got := callTool(t.Context(), reg, "mcp__s__write_file", `{"path":`+path+`,"content":"one\ntwo\n"}`); got.Err != "" {
		t.Fatalf("write: %+v", got)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if got, want := callTool(t.Context(), reg, "mcp__s__read_text_file", `{"path":`+path+`,"head":1}`), (answer{Value: `{"content":"one"}`}); got != want {
		t.Errorf("read = %+v, want %+v", got, want)
	}
	got := callTool(t.Context(), reg, "mcp__s__read_text_file", `{"path":"/etc/passwd"}`)
	if got.Code != CodeToolFailed || !strings.Contains(got.Err, "Access denied") {
		t.Errorf("read outside = %+v, want the tool's own failure", got)
	}
}

func TestMemoryServer(t *testing.T) {
	bin := npmServers(t, "@modelcontextprotocol/server-memory")
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	_, reg := connectProgram(t, Server{Command: filepath.Join(bin, "mcp-server-memory"), Env: map[string]string{"MEMORY_FILE_PATH": file}}, nil)
	const entity = `{"entities":[{"name":"runcode","entityType":"program","observations":["runs programs"]}]}`
	if got := callTool(t.Context(), reg, "mcp__s__create_entities", entity); got.Err != "" {
		t.Fatalf("create: %+v", got)
	}
	got := callTool(t.Context(), reg, "mcp__s__read_graph", `{}`)
	var graph struct {
		Entities []struct {
			Name         string
			Observations []string
		}
	}
	if err := json.Unmarshal([]byte(got.Value), &graph); err != nil || len(graph.Entities) != 1 {
		t.Fatalf("graph = %+v: %v", got, err)
	}
	if diff := cmp.Diff([]string{"runs programs"}, graph.Entities[0].Observations); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}
