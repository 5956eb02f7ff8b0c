//go:build unix

package mcptools

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/tools"
)

// serveProgram is this test binary as a server.
func serveProgram(mode string) {
	s := &script{bufio.NewReader(os.Stdin), os.Stdout}
	switch mode {
	case "sdk":
		_ = sdkServer().Run(context.Background(), &mcp.StdioTransport{})
	case "environment":
		behaviour{call: func(s *script, r request) {
			env := os.Environ()
			slices.Sort(env)
			dir, _ := os.Getwd()
			s.reply(r, textResult(dir+"\n"+strings.Join(env, "\n")))
		}}.serve(s)
	case "dies":
		fmt.Fprintln(os.Stderr, "using the key", os.Getenv("KEY"))
		fmt.Fprintln(os.Stderr, "cannot find the database")
		os.Exit(3)
	case "talks":
		fmt.Println("Welcome! The key is " + os.Getenv("KEY"))
		fmt.Fprint(os.Stderr, strings.Repeat("a long line that is written again and again\n", 1000)+"the last line\n")
		behaviour{call: func(s *script, r request) {
			s.reply(r, `{"isError":true,"content":[{"type":"text","text":"the key `+os.Getenv("KEY")+` has no right"}]}`)
		}, tools: func() string {
			return `{"name":"echo","description":"Uses ` + os.Getenv("KEY") + `.","inputSchema":{"type":"object"}}`
		}}.serve(s)
	case "refuses initialize":
		behaviour{other: map[string]func(*script, request){"initialize": refuseKey}}.serve(s)
	case "refuses tools/list":
		behaviour{other: map[string]func(*script, request){"tools/list": refuseKey}}.serve(s)
	case "refuses tools/call":
		behaviour{call: refuseKey}.serve(s)
	case "parent":
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		behaviour{call: func(s *script, r request) { s.reply(r, textResult(strconv.Itoa(child.Process.Pid))) }}.serve(s)
		select {} // stays when it is asked to go
	case "killed":
		behaviour{call: func(*script, request) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }}.serve(s)
	case "orphans":
		behaviour{call: func(*script, request) {
			child := exec.Command("sleep", "1000")
			child.Stdout = os.Stdout // holds the stream open
			_ = child.Start()
			os.Exit(5)
		}}.serve(s)
	}
}

// refuseKey quotes the key it does not like.
func refuseKey(s *script, r request) {
	s.send(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32000,"message":"the key ` + os.Getenv("KEY") + ` is wrong"}}`)
}

// program is this test binary as a server of that mode.
func program(t *testing.T, mode string) Server {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Without GOCOVERDIR a binary that measures coverage says so when it ends.
	return Server{Command: path, Env: map[string]string{modeVariable: mode, "GOCOVERDIR": t.TempDir()}}
}

func connectProgram(t *testing.T, s Server, opts *Options) (*Client, *tools.Registry) {
	t.Helper()
	c, err := Connect(t.Context(), Config{Servers: map[string]Server{"s": s}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, register(t, c)
}

func TestProgram(t *testing.T) {
	c, reg := connectProgram(t, program(t, "sdk"), nil)
	if got, want := callTool(t.Context(), reg, "mcp__s__say", `{"text":"hello"}`), (answer{Value: `{"said":"hello"}`}); got != want {
		t.Errorf("answer = %+v, want %+v; status %+v", got, want, c.Status())
	}
}

func TestProgramsEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PARENT", "nobody's business")
	t.Setenv("HOME", "/home/of/the/test")
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := program(t, "environment")
	s.Env["GIVEN"], s.Dir = "given", "below"
	_, reg := connectProgram(t, s, &Options{Dir: root})
	text, _ := tools.MustJSON(callTool(t.Context(), reg, "mcp__s__echo", `{}`).Value).Text()
	dir, rest, _ := strings.Cut(text, "\n")
	if real, _ := filepath.EvalSymlinks(filepath.Join(root, "below")); dir != real {
		t.Errorf("it runs in %s, want %s", dir, real)
	}
	env := strings.Split(rest, "\n")
	for _, want := range []string{"GIVEN=given", "HOME=/home/of/the/test"} {
		if !slices.Contains(env, want) {
			t.Errorf("its environment has no %s", want)
		}
	}
	if strings.Contains(text, "SECRET_OF_THE_PARENT") {
		t.Error("its environment has what was not given to it")
	}
}

// TestProgramDies: who looks at the status reads why, without the secrets.
func TestProgramDies(t *testing.T) {
	s := program(t, "dies")
	s.Env["KEY"] = "sk-a-key-of-the-test"
	c, _ := connectProgram(t, s, nil)
	want := Status{
		Server: "s", State: Down,
		Reason: "it ended the connection: its program exited with code 3", Again: firstDelay,
		Stderr: "using the key [redacted: KEY]\ncannot find the database\n",
	}
	if diff := cmp.Diff(want, statusOf(t, c, "s")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestSecretsAreNotShown: in errors, in the status, in descriptions.
func TestSecretsAreNotShown(t *testing.T) {
	s := program(t, "talks")
	s.Env["KEY"] = "sk-a-key-of-the-test"
	c, reg := connectProgram(t, s, nil)
	want := answer{Code: CodeToolFailed, Err: "the key [redacted: KEY] has no right"}
	if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
		t.Errorf("answer = %+v, want %+v", got, want)
	}
	if got, want := reg.Lookup("mcp__s__echo").Definition().Description, "Uses [redacted: KEY]."; got != want {
		t.Errorf("description = %q, want %q", got, want)
	}
	status := statusOf(t, c, "s")
	for end := time.Now().Add(time.Minute); !strings.HasSuffix(status.Stderr, "the last line\n") && time.Now().Before(end); status = statusOf(t, c, "s") {
		runtime.Gosched() // its errors are read beside its answers
	}
	if diff := cmp.Diff([]string{`it writes text to its standard output, which is for messages: "Welcome! The key is [redacted: KEY]"`}, status.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if len(status.Stderr) > maxStderr+100 || !strings.HasSuffix(status.Stderr, "again\nthe last line\n") || !strings.Contains(status.Stderr, " bytes left out]\na long line") {
		t.Errorf("stderr = %d bytes: %q", len(status.Stderr), status.Stderr)
	}
}

// TestRefusalsShowNoSecret: a server may quote the key it does not like.
func TestRefusalsShowNoSecret(t *testing.T) {
	const refusal = "answered with the error -32000: the key [redacted: KEY] is wrong"
	for _, method := range []string{"initialize", "tools/list", "tools/call"} {
		t.Run(method, func(t *testing.T) {
			s := program(t, "refuses "+method)
			s.Env["KEY"] = "sk-a-key-of-the-test"
			c, reg := connectProgram(t, s, nil)
			if method == "tools/call" {
				want := answer{Code: CodeRefused, Err: `MCP server "s" ` + refusal}
				if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
					t.Errorf("answer = %+v\nwant     %+v", got, want)
				}
				return
			}
			if got, want := statusOf(t, c, "s").Reason, "it "+refusal; got != want {
				t.Errorf("reason = %q\nwant     %q", got, want)
			}
		})
	}
}

// TestDescendantsEnd: a program that does not go, and what it has started in a
// session of its own.
func TestDescendantsEnd(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("without /proc only the process group is found; this test is about another session")
	}
	c, reg := connectProgram(t, program(t, "parent"), nil)
	text, _ := tools.MustJSON(callTool(t.Context(), reg, "mcp__s__echo", `{}`).Value).Text()
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("what the server has started still runs: %s", stat)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestProgramEndsWhileCalled(t *testing.T) {
	tests := []struct{ mode, reason string }{
		{"killed", "it ended the connection: its program was ended by the signal SIGKILL"},
		{"orphans", "it ended the connection: its program exited with code 5"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			states := make(chan Status, 100)
			_, reg := connectProgram(t, program(t, tt.mode), &Options{OnStatus: func(s Status) { states <- s }})
			want := answer{Code: CodeConnectionLost, Err: `MCP server "s" ended the connection; whether the call had an effect is not known`}
			if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
				t.Errorf("answer = %+v\nwant     %+v", got, want)
			}
			if got := next(t, states, Down).Reason; got != tt.reason {
				t.Errorf("reason = %q\nwant     %q", got, tt.reason)
			}
			next(t, states, Ready) // and it is started again
		})
	}
}

func TestProgramIsNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "planted"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	tests := []struct {
		name   string
		server Server
		reason string
	}{
		{"nowhere", Server{Command: "no-such-program-of-the-test"}, `cannot be started: the program "no-such-program-of-the-test" is not in PATH; install it, or name its path`},
		{"in the working directory", Server{Command: "planted", Env: map[string]string{"PATH": "bin:."}}, `cannot be started: the program "planted" is not in PATH; install it, or name its path`},
		{"no such path", Server{Command: "./nothing"}, "cannot be started: exec: \"" + dir + "/nothing\": stat " + dir + "/nothing: no such file or directory"},
		{"no such directory", Server{Command: "sh", Dir: "nowhere"}, "cannot be started: cannot use the working directory: stat " + dir + "/nowhere: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := connectProgram(t, tt.server, &Options{Dir: dir})
			if got, want := statusOf(t, c, "s").Reason, "it "+tt.reason; got != want {
				t.Errorf("reason = %q\nwant     %q", got, want)
			}
		})
	}
}

// TestOwnPath: a server's own PATH is where its program is looked for.
func TestOwnPath(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "own-server")); err != nil {
		t.Fatal(err)
	}
	s := program(t, "sdk")
	s.Command, s.Env["PATH"] = "own-server", dir
	c, _ := connectProgram(t, s, nil)
	if got := statusOf(t, c, "s"); got.State != Ready {
		t.Errorf("status = %+v, want ready", got)
	}
}
