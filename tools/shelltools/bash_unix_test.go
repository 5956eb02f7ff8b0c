//go:build unix

package shelltools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// argsOf are the arguments of a command.
func argsOf(t testing.TB, in bashIn) tools.JSON {
	t.Helper()
	if in.Description == "" {
		in.Description = "test"
	}
	args, err := tools.ToJSON(in)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// call runs the tool as the pipeline does: arguments checked, subjects judged,
// body, value checked.
func call(ctx context.Context, t testing.TB, set *Set, args tools.JSON) (bashOut, tools.JSON, error) {
	t.Helper()
	tool := toolOf(t, set)
	if err := tool.CheckArgs(args); err != nil {
		return bashOut{}, tools.JSON{}, err
	}
	spec := tools.CallSpec{ID: "1", Name: toolName, Args: args, Subjects: tools.SubjectsOf(tool, args)}
	result, err := tool.Definition().Handler(ctx, tools.NewRun(tools.NewCall(spec), tools.RunHooks{}))
	if err != nil {
		return bashOut{}, tools.JSON{}, err
	}
	if err := tool.CheckOutput(result.Value); err != nil {
		t.Errorf("value: %v", err)
	}
	var out bashOut
	if err := result.Value.Unmarshal(&out); err != nil {
		t.Fatal(err)
	}
	return out, result.Value, nil
}

// mustCall is call for a command that must run.
func mustCall(t testing.TB, set *Set, in bashIn) bashOut {
	t.Helper()
	out, _, err := call(t.Context(), t, set, argsOf(t, in))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantFailure(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no failure, want %s", code)
	}
	if got := tools.InfoOf(err).Code; got != code {
		t.Errorf("failure %v has the code %q, want %q", err, got, code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("failure text %q lacks %q", err, part)
		}
	}
}

func TestCommands(t *testing.T) {
	set, _ := newSet(t, &Options{OutputBytes: 10, Env: []string{"GREETING=hi there", "LANG=C"}})
	for _, tt := range []struct{ name, command, value, text string }{
		{"output", `echo hi`,
			`{"exitCode":0,"stdout":"hi\n","stderr":"","timedOut":false,"truncated":false}`, "hi"},
		{"nothing", `:`,
			`{"exitCode":0,"stdout":"","stderr":"","timedOut":false,"truncated":false}`, "(no output)"},
		{"both streams and a code", `echo out; echo err >&2; exit 3`,
			`{"exitCode":3,"stdout":"out\n","stderr":"err\n","timedOut":false,"truncated":false}`, "out\nstderr:\nerr\nexit code 3"},
		{"only the error stream", `echo err >&2`,
			`{"exitCode":0,"stdout":"","stderr":"err\n","timedOut":false,"truncated":false}`, "stderr:\nerr"},
		{"a code alone", `exit 1`,
			`{"exitCode":1,"stdout":"","stderr":"","timedOut":false,"truncated":false}`, "(no output)\nexit code 1"},
		{"a signal", `echo a; kill -KILL $$`,
			`{"exitCode":null,"signal":"SIGKILL","stdout":"a\n","stderr":"","timedOut":false,"truncated":false}`, "a\nended by signal SIGKILL"},
		{"several lines", "cd /\npwd",
			`{"exitCode":0,"stdout":"/\n","stderr":"","timedOut":false,"truncated":false}`, "/"},
		{"the host's variables", `printf %s "$GREETING"`,
			`{"exitCode":0,"stdout":"hi there","stderr":"","timedOut":false,"truncated":false}`, "hi there"},
		{"no input", `cat; read -r x || echo none`,
			`{"exitCode":0,"stdout":"none\n","stderr":"","timedOut":false,"truncated":false}`, "none"},
		{"cut", `printf 'abcdefghijklmnopq'`,
			`{"exitCode":0,"stdout":"abcde\n[7 of 17 bytes left out]\nmnopq","stderr":"","timedOut":false,"truncated":true,"note":"7 of the 17 bytes of stdout are left out of its middle"}`,
			"abcde\n[7 of 17 bytes left out]\nmnopq\n(7 of the 17 bytes of stdout are left out of its middle)"},
		{"no text", `printf 'a\377b' >&2`,
			`{"exitCode":0,"stdout":"","stderr":"a` + "\uFFFD" + `b","timedOut":false,"truncated":false,"note":"stderr is not UTF-8 text; bytes replaced by U+FFFD: 1"}`,
			"stderr:\na\uFFFDb\n(stderr is not UTF-8 text; bytes replaced by U+FFFD: 1)"},
		{"a NUL", `printf 'a\0b'`,
			`{"exitCode":0,"stdout":"a\u0000b","stderr":"","timedOut":false,"truncated":false}`, "a\x00b"},
		{"a word that looks like an option", `-c 2>&-`,
			`{"exitCode":127,"stdout":"","stderr":"","timedOut":false,"truncated":false}`, "(no output)\nexit code 127"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := argsOf(t, bashIn{Command: tt.command})
			_, value, err := call(t.Context(), t, set, args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.value, value.String()); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			blocks, err := toolOf(t, set).Definition().Render(args, value)
			if diff := cmp.Diff(tt.text, tools.ContentString(blocks)); err != nil || diff != "" {
				t.Errorf("%v, text (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestRefusedArguments(t *testing.T) {
	set, dir := newSet(t, &Options{MaxTimeout: time.Minute})
	for _, tt := range []struct {
		name, args string
		parts      []string
	}{
		{"empty command", `{"command":"","description":"x"}`, []string{`"command" is empty`}},
		{"blank command", `{"command":" \n\t","description":"x"}`, []string{`"command" is empty`}},
		{"NUL", `{"command":"touch canary\u0000","description":"x"}`, []string{`"command" holds a NUL`}},
		{"NUL in the directory", `{"command":"touch canary","description":"x","workdir":"a\u0000"}`, []string{`"workdir" holds a NUL`}},
		{"half a character", `{"command":"touch canary \ud800","description":"x"}`, []string{`"command" holds half of a character`}},
		{"half a character beside a replacement", `{"command":"touch canary \udfff","description":"\"command\":\"touch canary \ufffd\""}`, []string{`"command" holds half of a character`}},
		{"half a character in the directory", `{"command":"touch canary","description":"x","workdir":"\ud800"}`, []string{`"workdir" holds half of a character`}},
		{"no description", `{"command":"touch canary"}`, []string{"description"}},
		{"unknown parameter", `{"command":"touch canary","description":"x","timeout":1}`, []string{"timeout"}},
		{"too long", `{"command":"touch canary","description":"x","timeoutMs":60001}`, []string{`"timeoutMs" is 60001, more than the 60000 ms`}},
		{"far too long", `{"command":"touch canary","description":"x","timeoutMs":9223372036854775807}`, []string{"more than the 60000 ms"}},
		{"negative", `{"command":"touch canary","description":"x","timeoutMs":-1}`, []string{`"timeoutMs" is -1`, "1 to 60000", "leave it out for 60000"}},
		{"part of a millisecond", `{"command":"touch canary","description":"x","timeoutMs":1.5}`, []string{"timeoutMs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := call(t.Context(), t, set, tools.MustJSON(tt.args))
			wantFailure(t, err, tools.CodeInvalidArgs, tt.parts...)
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "canary")); err == nil {
		t.Error("a refused command ran")
	}
}

// TestTextIsKept is about characters that the arguments spell in other ways
// than Go does.
func TestTextIsKept(t *testing.T) {
	set, _ := newSet(t, nil)
	args := tools.MustJSON(`{"description":"x","command":"printf %s '\u003c\u2028\ud83d\ude00\ufffd\/\\\"\u0001\u007f'"}`)
	out, _, err := call(t.Context(), t, set, args)
	if want := "<\u2028\U0001F600\uFFFD/\\\"\x01\x7f"; err != nil || out.Stdout != want {
		t.Errorf("stdout = %q, %v, want %q", out.Stdout, err, want)
	}
}

func TestLongCommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how long an argument may be is known on Linux only")
	}
	set, _ := newSet(t, nil)
	_, _, err := call(t.Context(), t, set, argsOf(t, bashIn{Command: ": " + strings.Repeat("x", 1<<20)}))
	wantFailure(t, err, codeTooLong, "the command has 1048578 bytes", "write it to a file")
	if !errors.Is(err, syscall.E2BIG) {
		t.Errorf("failure %v does not wrap E2BIG", err)
	}
}

// TestTimeout gives a command that ignores all polite signals more time until
// it has come far enough to write something, which is then in the value.
func TestTimeout(t *testing.T) {
	set, _ := newSet(t, nil)
	for timeout, begun := 50, false; !begun; timeout *= 2 {
		in := bashIn{Command: "trap '' TERM INT HUP; echo begun; while :; do read -t 1000 < <(:); done", TimeoutMs: timeout}
		args := argsOf(t, in)
		out, value, err := call(t.Context(), t, set, args)
		if err != nil {
			t.Fatal(err)
		}
		if !out.TimedOut || out.ExitCode != nil || out.Signal != "" || out.Note != "" {
			t.Errorf("value %+v, want timed out and nothing else", out)
		}
		blocks, err := toolOf(t, set).Definition().Render(args, value)
		want := fmt.Sprintf("timed out after %d ms, and everything it started was ended; timeoutMs may be up to 600000", timeout)
		if text := tools.ContentString(blocks); err != nil || !strings.HasSuffix(text, want) {
			t.Errorf("text %q, %v, want it to end in %q", text, err, want)
		}
		begun = out.Stdout == "begun\n"
	}
}

func TestDefaultTimeout(t *testing.T) {
	set, _ := newSet(t, &Options{Timeout: 20 * time.Millisecond})
	if out := mustCall(t, set, bashIn{Command: "exec sleep 1000"}); !out.TimedOut {
		t.Errorf("value %+v, want timed out", out)
	}
}

// whenBegun calls then when a command has written to the fifo begun in dir.
func whenBegun(t *testing.T, dir string, then func()) {
	t.Helper()
	fifo := filepath.Join(dir, "begun")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = os.ReadFile(fifo)
		then()
	})
	t.Cleanup(wg.Wait)
}

// TestCancel is about a cancelled context in the pipeline, where the text a
// model reads and the state of the call come from.
func TestCancel(t *testing.T) {
	set, dir := newSet(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	whenBegun(t, dir, func() { cancel(cause) })
	p := pipelinetest.New(t, nil, set.Tools()...)
	out := p.Execute(ctx, pipeline.Request{Name: toolName, Args: argsOf(t, bashIn{Command: escape(t) + "; echo >begun; exec sleep 1000"}).String()})
	if info := tools.InfoOf(out.Err()); info.Code != tools.CodeAborted || !errors.Is(out.Err(), cause) || out.State() != pipeline.StateAborted {
		t.Errorf("outcome %v, state %s, want %s by the cause", out.Err(), out.State(), tools.CodeAborted)
	}
	wantGone(t, dir)
}

func TestCancelledBefore(t *testing.T) {
	set, dir := newSet(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, _, err := call(ctx, t, set, argsOf(t, bashIn{Command: "touch canary"})); err != cause {
		t.Errorf("failure %v, want the context's cause itself", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "canary")); err == nil {
		t.Error("the command ran")
	}
}

// escape is a piece of script that starts a process in a session of its own,
// twice removed from the shell, and waits until it has written its number to
// pids. Where sessions cannot be left it stays in the shell's.
func escape(t testing.TB) string {
	t.Helper()
	setsid := ""
	if _, err := exec.LookPath("setsid"); err == nil && runtime.GOOS == "linux" {
		setsid = "setsid "
	}
	return "(" + setsid + "bash -c '(echo $BASHPID > pids.new; mv pids.new pids; exec sleep 1000) & wait' </dev/null >/dev/null 2>&1 &); until [ -s pids ]; do :; done"
}

// wantGone checks that the process escape started has ended.
func wantGone(t testing.TB, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		t.Errorf("the process did not note its number: %v", errors.Join(err, bad))
	} else if running(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// running reports whether a process has not ended. One that has and that
// nobody has reaped yet does not run.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func TestNothingOutlivesTheCall(t *testing.T) {
	set, dir := newSet(t, nil)
	if out := mustCall(t, set, bashIn{Command: escape(t)}); out.ExitCode == nil || *out.ExitCode != 0 {
		t.Fatalf("value %+v, want exit code 0", out)
	}
	wantGone(t, dir)
}

func TestNothingOutlivesClose(t *testing.T) {
	set, dir := newSet(t, nil)
	whenBegun(t, dir, func() {
		if err := set.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wantGone(t, dir)
	})
	_, _, err := call(t.Context(), t, set, argsOf(t, bashIn{Command: escape(t) + "; echo >begun; exec sleep 1000"}))
	wantFailure(t, err, codeClosed, "closed")
	_, _, err = call(t.Context(), t, set, argsOf(t, bashIn{Command: "touch canary"}))
	wantFailure(t, err, codeClosed, "closed")
	if _, err := os.Stat(filepath.Join(dir, "canary")); err == nil {
		t.Error("a command ran after Close")
	}
	if err := set.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestEnvironment puts keys and everything that makes bash run something else
// first into this process's environment.
func TestEnvironment(t *testing.T) {
	needBash(t)
	home := t.TempDir()
	canary := filepath.Join(home, "canary")
	touch := filepath.Join(home, "touch.sh")
	for name, text := range map[string]string{touch: "echo run > " + canary, filepath.Join(home, ".bashrc"): "echo run > " + canary,
		filepath.Join(home, ".bash_profile"): "echo run > " + canary, filepath.Join(home, ".profile"): "echo run > " + canary} {
		if err := os.WriteFile(name, []byte(text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	secret := map[string]string{"OPENAI_API_KEY": "k1", "AWS_SECRET_ACCESS_KEY": "k2", "GITHUB_TOKEN": "k3", "LD_PRELOAD": "/nowhere/k4.so",
		"BASH_ENV": touch, "ENV": touch, "BASH_FUNC_env%%": "() { echo k5; }", "PROMPT_COMMAND": touch, "SHELLOPTS": "xtrace", "SSH_AUTH_SOCK": "/k6"}
	for name, value := range secret {
		t.Setenv(name, value)
	}
	t.Setenv("HOME", home)
	set, _ := newSet(t, nil)
	out := mustCall(t, set, bashIn{Command: "env -0"})
	var names []string
	for _, entry := range strings.Split(strings.TrimSuffix(out.Stdout, "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		if want, given := secret[name]; given && value == want {
			t.Errorf("the command sees %s", entry)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Contains(names, "PATH") || !slices.Contains(names, "HOME") || out.Stderr != "" {
		t.Errorf("the command sees the variables %q and writes %q", names, out.Stderr)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("bash ran another file first")
	}
}

func TestNoTerminal(t *testing.T) {
	set, _ := newSet(t, nil)
	out := mustCall(t, set, bashIn{Command: "if : 2>/dev/null </dev/tty || : 2>/dev/null >/dev/tty; then echo terminal; else echo none; fi; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none"})
	if out.Stdout != "none\nnone\n" {
		t.Errorf("stdout = %q, want that no terminal can be opened", out.Stdout)
	}
}

// TestMuchOutput compares what one call allocates with what its command writes.
func TestMuchOutput(t *testing.T) {
	const size = 50_000_000
	set, _ := newSet(t, &Options{OutputBytes: 64 << 10})
	in := bashIn{Command: fmt.Sprintf("echo begin; head -c %d /dev/zero | tr '\\0' x; echo; echo end", size)}
	mustCall(t, set, bashIn{Command: ":"}) // what is made once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := mustCall(t, set, in)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/3 {
		t.Errorf("%d bytes of output took %d bytes of memory", size, used)
	}
	total := size + len("begin\n\nend\n")
	line := fmt.Sprintf("\n[%d of %d bytes left out]\n", total-64<<10, total)
	want := "begin\n" + strings.Repeat("x", 32<<10-len("begin\n")) + line + strings.Repeat("x", 32<<10-len("\nend\n")) + "\nend\n"
	if !out.Truncated || out.Stdout != want {
		t.Errorf("truncated %v, stdout of %d bytes: %.40q ... %q, want head and tail with %q between", out.Truncated, len(out.Stdout), out.Stdout, out.Stdout[max(len(out.Stdout)-10, 0):], line)
	}
}

// TestRenderedTextIsBounded is about output that the value holds whole and a
// model would not read.
func TestRenderedTextIsBounded(t *testing.T) {
	set, _ := newSet(t, nil)
	args := argsOf(t, bashIn{Command: "echo begin; head -c 200000 /dev/zero | tr '\\0' x; echo; echo end"})
	out, value, err := call(t.Context(), t, set, args)
	if err != nil || out.Truncated || len(out.Stdout) != 200_011 {
		t.Fatalf("%v, truncated %v, %d bytes, want all 200011", err, out.Truncated, len(out.Stdout))
	}
	blocks, err := toolOf(t, set).Definition().Render(args, value)
	text := tools.ContentString(blocks)
	if err != nil || len(text) > 33<<10 || !strings.HasPrefix(text, "begin\n") || !strings.HasSuffix(text, "\nend") || !strings.Contains(text, "\n[167243 of 200011 bytes not shown]\n") {
		t.Errorf("%v, text of %d bytes: %.40q ... %q", err, len(text), text, text[max(len(text)-10, 0):])
	}
}

// TestOverlappingCalls runs commands at the same time, one Close among them, for
// the race detector.
func TestOverlappingCalls(t *testing.T) {
	set, _ := newSet(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			out, _, err := call(t.Context(), t, set, argsOf(t, bashIn{Command: fmt.Sprintf("echo %d", i)}))
			if err != nil && tools.InfoOf(err).Code != codeClosed {
				t.Errorf("call %d: %v", i, err)
			}
			if err == nil && out.Stdout != fmt.Sprintf("%d\n", i) {
				t.Errorf("call %d: stdout %q", i, out.Stdout)
			}
		})
	}
	wg.Go(func() { set.Close() })
	wg.Wait()
}

func TestShellIsKept(t *testing.T) {
	set, dir := newSet(t, nil)
	other := filepath.Join(dir, "bash")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho other \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if out := mustCall(t, set, bashIn{Command: "echo own"}); out.Stdout != "own\n" {
		t.Errorf("stdout = %q, want that of the bash found by New", out.Stdout)
	}
	named, err := New(dir, &Options{Shell: other})
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	if out := mustCall(t, named, bashIn{Command: "echo own"}); out.Stdout != "other --noprofile --norc -c -- echo own\n" {
		t.Errorf("stdout = %q, want that of Options.Shell, which gets no start-up files to read", out.Stdout)
	}
}
