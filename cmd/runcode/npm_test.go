package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// npmVariable makes the tests run that install what they need from npm.
const npmVariable = "RUNCODE_TEST_NPM"

// fromNPM installs packages into a new directory.
func fromNPM(t *testing.T, packages ...string) (dir string) {
	t.Helper()
	if os.Getenv(npmVariable) == "" {
		t.Skipf("set %s=1 to install %q from npm; this test needs them", npmVariable, packages)
	}
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; this test needs it", program)
		}
	}
	dir = t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir}, packages...)
	if out, err := exec.CommandContext(ctx, "npm", args...).CombinedOutput(); err != nil {
		t.Skipf("%q cannot be had from npm: %v\n%s", packages, err, out)
	}
	return dir
}

// TestServeTypeScript has the official TypeScript SDK drive the server: it lists,
// calls, is told of progress and console lines, cancels, approves, declines, and
// has three clients, over both transports.
func TestServeTypeScript(t *testing.T) {
	dir := fromNPM(t, "@modelcontextprotocol/sdk")
	script, err := os.ReadFile("testdata/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "client.mjs"), script, 0o644); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"tools":      []any{"run_code"},
		"structured": map[string]any{"logs": []any{"hi"}, "result": map[string]any{"content": "text\n"}},
		"progress":   "call 1: write",
		"logs":       []any{"info: hi", "info: holding"},
		"failed":     true,
		"cancelled":  "MCP error -32001: enough",
		"approved":   "approved.txt",
		"declined":   "APPROVAL_REJECTED",
		"unasked":    "APPROVAL_UNAVAILABLE",
	}
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			root := serveDirectory(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := []string{"serve", "--root", root, "--no-found-config"}
			const token = "a-token-of-the-test"
			client := exec.CommandContext(ctx, "node", append([]string{"client.mjs", "stdio", "runcode"}, args...)...)
			if transport == "http" {
				client = exec.CommandContext(ctx, "node", "client.mjs", serveURL(t, token, append(args, "--http", "127.0.0.1:0")...))
			}
			client.Dir, client.Env = dir, append(os.Environ(), tokenVariable+"="+token)
			var said bytes.Buffer
			client.Stderr = &said
			out, err := client.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			var got map[string]any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the client sees (-want +got):\n%s", diff)
			}
			for name, there := range map[string]bool{"approved.txt": true, "declined.txt": false, "unasked.txt": false} {
				if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != there {
					t.Errorf("%s: %v, want it there: %v", name, err, there)
				}
			}
		})
	}
}

// TestThreeServers has one program pass data between three servers that others
// have written.
func TestThreeServers(t *testing.T) {
	packages := fromNPM(t, "@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-memory")
	bin := func(name string) string { return filepath.Join(packages, "node_modules", ".bin", name) }
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{"command": bin("mcp-server-everything"), "args": []string{"stdio"}},
		"files":      map[string]any{"command": bin("mcp-server-filesystem"), "args": []string{dir}},
		"memory":     map[string]any{"command": bin("mcp-server-memory"), "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"servers.json": string(servers),
		"allow.json":   `{"permissions":{"allow":["mcp__everything","mcp__files","mcp__memory"]}}`,
		"run.ts": `
const echoed = await tools.everything.echo({ message: "hello <&> 😀" });
const sum = await tools.everything["get-sum"]({ a: 2, b: 40 });
await tools.files.write_file({ path: input.dir + "/notes.txt", content: echoed + "\n" + sum });
const read = await tools.files.read_text_file({ path: input.dir + "/notes.txt" });
await tools.memory.create_entities({ entities: [{ name: "notes", entityType: "file", observations: read.content.split("\n") }] });
const graph = await tools.memory.read_graph();
return graph.entities.map((e) => [e.name, ...e.observations]);`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	input, err := json.Marshal(map[string]string{"dir": dir})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("runcode", "run", "--json", "--tools", "none", "--mcp", "servers.json", "--config", "allow.json", "--events", "log.jsonl", "--input", string(input), "run.ts")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, said.String())
	}
	var got struct {
		Value struct{ Result [][]string }
		Calls []struct{ Name, State string }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := [][]string{{"notes", "Echo: hello <&> 😀", "The sum of 2 and 40 is 42."}}
	if diff := cmp.Diff(want, got.Value.Result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if len(got.Calls) != 6 {
		t.Errorf("calls %v, want six", got.Calls)
	}
}

// serveURL starts a server that lives as long as the test and returns where it is.
func serveURL(t *testing.T, token string, args ...string) string {
	t.Helper()
	server := exec.Command("runcode", args...)
	server.Env = append(os.Environ(), tokenVariable+"="+token)
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ends with %v, want exit status 0", err)
		}
	})
	at := regexp.MustCompile(`serving (http://\S+)`)
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if m := at.FindStringSubmatch(lines.Text()); m != nil {
			return m[1]
		}
	}
	t.Fatal("the server does not say where it is")
	return ""
}
