//go:build unix

package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bash is a command that runs a script in a directory of its own.
func bash(t *testing.T, script string) Command {
	t.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed; these tests run shell scripts")
	}
	return Command{Path: path, Args: []string{"-c", script}, Dir: t.TempDir(), Env: Environ(), MaxStdout: 1 << 20, MaxStderr: 1 << 20}
}

func mustRun(t *testing.T, ctx context.Context, c Command) Result {
	t.Helper()
	r, err := Run(ctx, c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return r
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name   string
		script string
		want   Result
	}{
		{"exit 0", "true", Result{}},
		{"exit code", "exit 3", Result{Code: 3}},
		{"a command that does not exist", "/nowhere/at/all", Result{Code: 127, Stderr: Output{}}},
		{"signal", "kill -TERM $$", Result{End: Signaled, Code: -1, Signal: "terminated", SignalName: "SIGTERM"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := mustRun(t, t.Context(), bash(t, tt.script))
			r.Took, r.Stderr = 0, Output{}
			if diff := cmp.Diff(tt.want, r); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimeoutEndsTheProcess(t *testing.T) {
	c := bash(t, "trap '' TERM INT HUP; echo begun; while :; do read -t 1000 < <(:); done")
	c.Timeout = 50 * time.Millisecond
	r := mustRun(t, t.Context(), c)
	if r.End != TimedOut || r.Code != -1 || r.Left != 0 {
		t.Errorf("End, Code, Left = %v, %d, %d, want timed out, -1, 0", r.End, r.Code, r.Left)
	}
}

func TestCancelEndsTheProcess(t *testing.T) {
	c := bash(t, "echo >begun; exec sleep 1000")
	if r := mustRun(t, whenBegun(t, c), c); r.End != Cancelled || r.Code != -1 || r.Left != 0 {
		t.Errorf("End, Code, Left = %v, %d, %d, want cancelled, -1, 0", r.End, r.Code, r.Left)
	}
}

// whenBegun is a context that ends when the script has written to the fifo
// begun, which it makes.
func whenBegun(t *testing.T, c Command) context.Context {
	t.Helper()
	fifo := filepath.Join(c.Dir, "begun")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(fifo)
	}()
	return ctx
}

func TestEndedContextStartsNothing(t *testing.T) {
	c := bash(t, "touch canary")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := Run(ctx, c); !errors.Is(err, cause) {
		t.Errorf("Run = %v, want the context's cause", err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "canary")); err == nil {
		t.Error("the process ran")
	}
}

func TestStartErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Command)
		want   string // what the error is about
	}{
		{"no such program", func(c *Command) { c.Path = "/nowhere/bash" }, "/nowhere/bash"},
		{"no such directory", func(c *Command) { c.Dir = "/nowhere/else" }, "working directory: stat /nowhere/else: "},
		{"a NUL", func(c *Command) { c.Args = []string{"-c", "\x00"} }, "invalid argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := bash(t, "true")
			tt.change(&c)
			if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Run = %v, want an error about %q", err, tt.want)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	t.Run("input is passed on and closed", func(t *testing.T) {
		c := bash(t, "cat; echo to stderr >&2")
		c.Stdin = strings.Repeat("0123456789", 100_000)
		r := mustRun(t, t.Context(), c)
		if r.Stdout.Head != c.Stdin || r.Stdout.Cut() || r.Stderr.Head != "to stderr\n" {
			t.Errorf("stdout has %d bytes, stderr is %q", len(r.Stdout.Head), r.Stderr.Head)
		}
	})
	t.Run("input nobody reads", func(t *testing.T) {
		c := bash(t, "exec <&-; exit 4")
		c.Stdin = strings.Repeat("x", 1<<20)
		if r := mustRun(t, t.Context(), c); r.Code != 4 {
			t.Errorf("Code = %d, want 4", r.Code)
		}
	})
	t.Run("output is bounded and counted", func(t *testing.T) {
		c := bash(t, "head -c 3000000 /dev/zero; echo long >&2")
		c.MaxStdout, c.MaxStderr = 1000, 2
		r := mustRun(t, t.Context(), c)
		if len(r.Stdout.Head) != 1000 || r.Stdout.Size != 3_000_000 || !r.Stdout.Cut() {
			t.Errorf("stdout: %d of %d bytes, want 1000 of 3000000", len(r.Stdout.Head), r.Stdout.Size)
		}
		if r.Stderr != (Output{Head: "lo", Size: 5}) {
			t.Errorf("stderr = %+v, want lo of 5 bytes", r.Stderr)
		}
	})
	t.Run("the end is kept where it is asked for", func(t *testing.T) {
		c := bash(t, "echo begin; head -c 3000000 /dev/zero; echo end; echo short >&2")
		c.MaxStdout, c.MaxStderr, c.KeepTail = 15, 6, true
		r := mustRun(t, t.Context(), c)
		want := Output{Head: "begin\n\x00\x00", Tail: "\x00\x00\x00end\n", Size: 3_000_010}
		if diff := cmp.Diff(want, r.Stdout); diff != "" || r.Stdout.Left() != 2_999_995 {
			t.Errorf("%d left out, stdout (-want +got):\n%s", r.Stdout.Left(), diff)
		}
		if r.Stderr != (Output{Head: "short\n", Size: 6}) || r.Stderr.Cut() {
			t.Errorf("stderr = %+v, want all of it as its head", r.Stderr)
		}
	})
	t.Run("a process substitution may finish writing", func(t *testing.T) {
		r := mustRun(t, t.Context(), bash(t, "exec > >(sed s/a/b/); echo a"))
		if r.Stdout.Head != "b\n" {
			t.Errorf("stdout = %q, want b", r.Stdout.Head)
		}
	})
}

func TestSession(t *testing.T) {
	// A leader of its own session has no terminal: /dev/tty cannot be opened.
	r := mustRun(t, t.Context(), bash(t, `ps -o sid= -p $$ 2>/dev/null; echo $$; echo hello 2>/dev/null >/dev/tty || echo no terminal`))
	lines := strings.Fields(r.Stdout.Head)
	if !strings.HasSuffix(r.Stdout.Head, "no terminal\n") {
		t.Errorf("the terminal can be opened: %q", r.Stdout.Head)
	}
	if len(lines) == 4 && lines[0] != lines[1] {
		t.Errorf("session %s of process %s, want one of its own", lines[0], lines[1])
	}
}

// TestNothingOutlivesRun starts jobs in all ways that leave the process, its
// group or its session, and looks for each by its number afterwards.
func TestNothingOutlivesRun(t *testing.T) {
	const quiet = " </dev/null >/dev/null 2>&1 & "
	note := "echo $! >> pids; "
	jobs := []struct {
		name   string
		script string
		linux  bool
	}{
		{"background job", "sleep 1000" + quiet + note, false},
		{"a group of its own", "set -m; sleep 1000" + quiet + note, true},
		{"a group of its own and another environment", "set -m; env -i PATH=\"$PATH\" bash -c 'echo $$ >> pids; exec sleep 1000'" + quiet + "until [ -s pids ]; do :; done; ", true},
		{"a session of its own", "setsid sleep 1000" + quiet + note, true},
		{"orphaned in a session of its own", "(setsid bash -c 'echo $$ >> pids; exec sleep 1000'" + quiet + ") ; until [ -s pids ]; do :; done; ", true},
		{"without signals it could be asked with", "(trap '' TERM HUP INT; echo $BASHPID >> pids; while :; do read -t 1000 < <(:); done)" + quiet + "until [ -s pids ]; do :; done; ", false},
	}
	ends := []struct {
		name   string
		script string
		end    End
	}{
		{"exit", "exit 0", Exited},
		{"cancel", "echo >begun; exec sleep 1000", Cancelled},
	}
	for _, job := range jobs {
		for _, e := range ends {
			t.Run(job.name+" at "+e.name, func(t *testing.T) {
				if job.linux && goruntime.GOOS != "linux" {
					t.Skip("what leaves the group is found on Linux only")
				}
				needSetsid(t)
				c := bash(t, job.script+e.script)
				ctx := t.Context()
				if e.end == Cancelled {
					ctx = whenBegun(t, c)
				}
				r := mustRun(t, ctx, c)
				if r.End != e.end || r.Left != 0 {
					t.Errorf("End, Left = %v, %d, want %v, 0", r.End, r.Left, e.end)
				}
				for _, pid := range pidsIn(t, c.Dir) {
					if running(pid) {
						t.Errorf("process %d still runs", pid)
					}
				}
			})
		}
	}
}

// TestTimeoutEndsTheSession gives a process more time until it has come far
// enough to start its job, and looks for the job each time.
func TestTimeoutEndsTheSession(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("what leaves the group is found on Linux only")
	}
	needSetsid(t)
	for timeout, begun := 100*time.Millisecond, false; !begun; timeout *= 2 {
		c := bash(t, "(setsid bash -c 'echo $$ >> pids; exec sleep 1000' </dev/null >/dev/null 2>&1 &); exec sleep 1000")
		if err := os.WriteFile(filepath.Join(c.Dir, "pids"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.Timeout = timeout
		r := mustRun(t, t.Context(), c)
		if r.End != TimedOut || r.Left != 0 {
			t.Errorf("End, Left = %v, %d, want timed out, 0", r.End, r.Left)
		}
		for _, pid := range pidsIn(t, c.Dir) {
			begun = true
			if running(pid) {
				t.Errorf("process %d still runs", pid)
			}
		}
	}
}

func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
}

// TestClearedEnvironment is about a child that left the session and cleared its
// environment while its parent lives: it is found as a child.
func TestClearedEnvironment(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("what leaves the group is found on Linux only")
	}
	needSetsid(t)
	c := bash(t, "env -i PATH=\"$PATH\" setsid bash -c 'echo $$ > pids; exec sleep 1000' </dev/null >/dev/null 2>&1 & until [ -s pids ]; do :; done; echo >begun; exec sleep 1000")
	r := mustRun(t, whenBegun(t, c), c)
	for _, pid := range pidsIn(t, c.Dir) {
		if running(pid) || r.Left != 0 {
			t.Errorf("process %d still runs, Left = %d", pid, r.Left)
		}
	}
}

// TestEscapeIsReported is about a child that is not found, having left the session,
// cleared its environment and lost its parent, but holds the output open.
func TestEscapeIsReported(t *testing.T) {
	needSetsid(t)
	c := bash(t, "(env -i PATH=\"$PATH\" setsid bash -c 'echo $$ > pids; exec sleep 1000' </dev/null &); until [ -s pids ]; do :; done; echo done")
	r := mustRun(t, t.Context(), c)
	for _, pid := range pidsIn(t, c.Dir) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || r.Left != 1 {
			t.Errorf("ending process %d: %v; Left = %d, want 1", pid, err, r.Left)
		}
	}
	if r.End != Exited || r.Stdout.Head != "done\n" {
		t.Errorf("End, Stdout = %v, %q, want exited, done", r.End, r.Stdout.Head)
	}
}

func pidsIn(t *testing.T, dir string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatalf("the job did not note its number: %v", err)
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
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

func TestEnvironment(t *testing.T) {
	parent := []string{"PATH=/bin", "HOME=/h", "LC_TIME=C", "OPENAI_API_KEY=k", "AWS_PROFILE=p", "LD_PRELOAD=x", "BASH_ENV=y", "TERM=xterm", "TZ=UTC", "strange"}
	got := compose(parent, []string{"CLAUDE_PROJECT_DIR=/p", "PATH=/usr/bin", "NO_COLOR="})
	want := []string{"HOME=/h", "LC_TIME=C", "TZ=UTC", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "CLAUDE_PROJECT_DIR=/p", "PATH=/usr/bin", "NO_COLOR="}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// TestMarkCannotBeReplaced is about an entry of the environment that has the
// name of the variable by which what left the session is found.
func TestMarkCannotBeReplaced(t *testing.T) {
	c := bash(t, "printf %s \"$"+markName+"\"")
	c.Env = append(c.Env, markName+"=other")
	if r := mustRun(t, t.Context(), c); r.Stdout.Head == "other" || r.Stdout.Head == "" {
		t.Errorf("the mark is %q, want the one Run gives", r.Stdout.Head)
	}
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("SOME_TOKEN", "secret")
	r := mustRun(t, t.Context(), bash(t, "env"))
	var names []string
	for line := range strings.Lines(r.Stdout.Head) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	if slices.Contains(names, "SOME_TOKEN") || !slices.Contains(names, "PATH") || !slices.Contains(names, markName) {
		t.Errorf("environment of the child: %v", names)
	}
}
