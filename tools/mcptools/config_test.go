package mcptools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/pipeline/redact"
)

// variables are those of the tests.
func variables(name string) (string, bool) {
	value, ok := map[string]string{"TOKEN": "token-of-the-test", "EMPTY": "", "HOST": "example.org", "_1": "one"}[name]
	return value, ok
}

func TestParse(t *testing.T) {
	cfg, err := Parse("mcp.json", `{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "server", "${HOST}"], "env": {"KEY": "${TOKEN}", "MODE": "${MODE:-fast}"}, "cwd": "sub", "timeout": 1500, "startTimeout": 60000},
    "web": {"type": "streamable-http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "old": {"type": "sse", "url": "http://localhost:3000/sse"},
    "plain-1": {"url": "http://localhost:3000/${EMPTY:-x}", "lazy": true, "disabled": false},
    "off": {"command": "${NOPE}", "autoApprove": [], "disabled": true}
  },
  "inputs": []
}`, variables)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Servers: map[string]Server{
		"files": {Command: "npx", Args: []string{"-y", "server", "example.org"}, Env: map[string]string{"KEY": "token-of-the-test", "MODE": "fast"}, Dir: "sub",
			CallTimeout: 1500 * time.Millisecond, StartTimeout: time.Minute},
		"web":     {Type: TypeHTTP, URL: "https://example.org/mcp", Headers: map[string]string{"Authorization": "Bearer token-of-the-test"}},
		"old":     {Type: TypeSSE, URL: "http://localhost:3000/sse"},
		"plain-1": {URL: "http://localhost:3000/x", Lazy: true},
	}}
	if diff := cmp.Diff(want, cfg, cmpopts.IgnoreUnexported(Server{})); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	// A host and a mode are no secrets, and results may hold them.
	secrets := []redact.Secret{{Name: "Authorization", Value: "Bearer token-of-the-test"}, {Name: "Authorization", Value: "token-of-the-test"}}
	if diff := cmp.Diff(secrets, cfg.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

// TestSecretsOfPrograms shows which values of an environment are secrets.
func TestSecretsOfPrograms(t *testing.T) {
	cfg := Config{Servers: map[string]Server{"s": {Command: "x", Env: map[string]string{
		"API_KEY": "9f8a7b6c5d4e3f2a1b0c", "MODE": "production", "HOME_DIR": "/srv/data", "DATABASE_URL": "postgres://user:w0rd-of-pass@host/db",
	}}}}
	want := []redact.Secret{{Name: "API_KEY", Value: "9f8a7b6c5d4e3f2a1b0c"}, {Name: "DATABASE_URL", Value: "w0rd-of-pass"}}
	if diff := cmp.Diff(want, cfg.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

func TestParseProblems(t *testing.T) {
	server := func(text string) string { return `{"mcpServers": {"s": ` + text + `}}` }
	tests := []struct{ name, text, want string }{
		{"no object", `[]`, `f:1:1: the file must be an object, got an array`},
		{"no servers", `{}`, `f:1:1: the file has no "mcpServers", the object of servers by name`},
		{"other key", "{\n  \"mcpServer\": {}}", `f:1:1: the file has no "mcpServers", the object of servers by name`},
		{"servers in a list", `{"mcpServers": []}`, `f:1:16: mcpServers must be an object of servers by name, got an array`},
		{"name with a space", `{"mcpServers": {"my files": {}}}`, `f:1:17: the server name "my files" has other characters than A-Z, a-z, 0-9, _ and -; rename it`},
		{"empty name", `{"mcpServers": {"": {}}}`, `f:1:17: the server name "" has other characters than A-Z, a-z, 0-9, _ and -; rename it`},
		{"name with __", `{"mcpServers": {"a__b": {}}}`, `f:1:17: the server name "a__b" holds __ or ends in _, so mcp__server__tool could be read in two ways; rename it`},
		{"name that ends in _", `{"mcpServers": {"a_": {}}}`, `f:1:17: the server name "a_" holds __ or ends in _, so mcp__server__tool could be read in two ways; rename it`},
		{"server is a text", server(`"npx"`), `f:1:22: the server "s" must be an object, got the string "npx"`},
		{"unknown key", server(`{"comand": "npx"}`), `f:1:23: unknown key "comand" of the server "s"; did you mean command? (known are type, command, args, env, cwd, url, headers, timeout, startTimeout, lazy, disabled)`},
		{"trusts itself", server(`{"command": "npx", "trusted": true}`), `f:1:41: unknown key "trusted" of the server "s"; known are type, command, args, env, cwd, url, headers, timeout, startTimeout, lazy, disabled`},
		{"key twice", server(`{"command": "a", "command": "b"}`), `f:1:39: invalid JSON: the property name is given twice; send it once`},
		{"command is a list", server(`{"command": ["npx"]}`), `f:1:34: command must be a string, got an array`},
		{"args is a text", server(`{"command": "x", "args": "-y"}`), `f:1:47: args must be an array of strings, got the string "-y"`},
		{"number in args", server(`{"command": "x", "args": ["-p", 80]}`), `f:1:54: an element of args must be a string, got 80`},
		{"number in env", server(`{"command": "x", "env": {"PORT": 80}}`), `f:1:55: env.PORT must be a string, got 80`},
		{"env is a list", server(`{"command": "x", "env": ["A=b"]}`), `f:1:46: env must be an object of strings, got an array`},
		{"variable in env", server(`{"command": "x", "env": {"A=B": "c"}}`), `f:1:22: the server "s" has the variable "A=B" in env, which no environment can hold`},
		{"unset variable", server(`{"command": "x", "env": {"KEY": "${NOPE}"}}`), `f:1:54: env.KEY: the variable NOPE is not set; set it, or write ${NOPE:-default}`},
		{"open variable", server(`{"command": "${TOKEN"}`), `f:1:34: command: a ${ begins no variable; write ${NAME} or ${NAME:-default}`},
		{"wrong variable", server(`{"command": "${A-B}"}`), `f:1:34: command: a ${ begins no variable; write ${NAME} or ${NAME:-default}`},
		{"unknown type", server(`{"type": "websocket", "url": "ws://x"}`), `f:1:22: the server "s" has the type "websocket"; it is stdio, http or sse`},
		{"nothing", server(`{}`), `f:1:22: the server "s" has neither a command nor a url; give one of them`},
		{"both", server(`{"command": "x", "url": "http://x"}`), `f:1:22: the server "s" is reached by HTTP and has command, args, env or cwd, which would have no effect; leave them out`},
		{"program with a url", server(`{"type": "stdio", "command": "x", "url": "http://x"}`), `f:1:22: the server "s" is a program and has a url or headers, which would have no effect; leave them out`},
		{"no url", server(`{"type": "http"}`), `f:1:22: the server "s" is of type http and has no url; give one`},
		{"file url", server(`{"url": "file:///etc/passwd"}`), `f:1:22: the server "s" has a url that is no http or https address`},
		{"user in url", server(`{"url": "https://me:${TOKEN}@x"}`), `f:1:22: the server "s" has a user in its url; send an Authorization header instead`},
		{"header with a line break", server(`{"url": "https://x", "headers": {"X-Key": "a\nb"}}`), `f:1:22: the server "s" has the header "X-Key", which cannot be sent; see its name and value`},
		{"header name", server(`{"url": "https://x", "headers": {"X Key": "a"}}`), `f:1:22: the server "s" has the header "X Key", which cannot be sent; see its name and value`},
		{"protocol's header", server(`{"url": "https://x", "headers": {"mcp-session-id": "a"}}`), `f:1:22: the server "s" sets the header mcp-session-id, which the protocol sets itself; leave it out`},
		{"lazy as text", server(`{"command": "x", "lazy": "yes"}`), `f:1:47: lazy must be true or false, got the string "yes"`},
		{"disabled as a number", server(`{"disabled": 1}`), `f:1:35: disabled must be true or false, got 1`},
		{"no time", server(`{"command": "x", "timeout": 0}`), `f:1:50: timeout must be a whole number of milliseconds from 1 to 86400000, got 0`},
		{"time as text", server(`{"command": "x", "startTimeout": "30s"}`), `f:1:55: startTimeout must be a whole number of milliseconds from 1 to 86400000, got the string "30s"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", tt.text, variables)
			var place *jsondoc.Error
			if !errors.As(err, &place) || err.Error() != tt.want {
				t.Errorf("error = %v\nwant    %s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Setenv("MCPTOOLS_TEST_NAME", "a value")
	file := filepath.Join(t.TempDir(), ".mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"s": {"command": "${MCPTOOLS_TEST_NAME}"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(file)
	if err != nil || cfg.Servers["s"].Command != "a value" {
		t.Errorf("Load = %+v, %v, want the variable's value as command", cfg, err)
	}
	if _, err := Load(filepath.Dir(file)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Load of a directory: %v", err)
	}
}

// TestConfigIsChecked: a configuration made in Go is held to the same rules.
func TestConfigIsChecked(t *testing.T) {
	tests := []struct {
		name, server string
		cfg          Server
		want         string
	}{
		{"name", "a__b", Server{Command: "x"}, `cannot connect to MCP servers: the server name "a__b" holds __ or ends in _, so mcp__server__tool could be read in two ways; rename it`},
		{"nothing", "s", Server{}, `cannot connect to MCP servers: the server "s" has neither a command nor a url; give one of them`},
		{"time limit", "s", Server{Command: "x", CallTimeout: -1}, `cannot connect to MCP servers: the server "s" has a negative time limit; a limit is positive, or zero for the default`},
		{"NUL", "s", Server{Command: "x", Args: []string{"a\x00b"}}, `cannot connect to MCP servers: the server "s" has a NUL character in its command, args or cwd`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Connect(t.Context(), Config{Servers: map[string]Server{tt.server: tt.cfg}}, nil); err == nil || err.Error() != tt.want {
				t.Errorf("error = %v\nwant    %s", err, tt.want)
			}
		})
	}
}

// TestPrintingShowsNoSecret: a configuration may be logged by accident.
func TestPrintingShowsNoSecret(t *testing.T) {
	cfg, err := Parse("f", `{"mcpServers": {
		"a": {"command": "npx", "args": ["--key", "${TOKEN}"], "env": {"KEY": "another-key-of-the-test"}},
		"b": {"url": "https://example.org/mcp?key=third-key-of-the-test", "headers": {"X-Key": "fourth-key-of-the-test"}}
	}}`, variables)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(form, cfg)
		if strings.Contains(text, "of-the-test") || !strings.Contains(text, "stdio npx") || !strings.Contains(text, "http https://example.org") {
			t.Errorf("%s prints %s", form, text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers": {"s": {"command": "${TOKEN}", "args": ["${A:-b}"], "env": {"a": "b"}, "timeout": 5}}}`)
	f.Add(`{"mcpServers": {"s": {"type": "sse", "url": "https://x/${HOST}", "headers": {"a": "b"}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		cfg, err := Parse("f", text, variables)
		if err != nil {
			var place *jsondoc.Error
			if !errors.As(err, &place) || place.Line < 1 || place.Column < 1 {
				t.Errorf("the error has no place: %v", err)
			}
			return
		}
		for name, s := range cfg.Servers {
			if checkName(name) != nil || s.check() != nil {
				t.Errorf("%q is accepted and does not pass its own check", name)
			}
		}
	})
}
