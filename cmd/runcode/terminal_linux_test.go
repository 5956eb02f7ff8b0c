package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/runcode-go/runcode/internal/terminal/ptytest"
)

// shown is everything that has appeared on a terminal.
func shown(pty *ptytest.PTY) string { return weaker.ReplaceAllString(pty.All(), "") }

// command is the command with files in its working directory.
func command(t *testing.T, files map[string]string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("runcode", args...) // where TestMain put it
	cmd.Dir = dir
	return cmd
}

// hostile returns, prints and throws what would take over a terminal.
const hostileScript = `
const evil = "\u001b]0;title\u0007\u001b[2J\u009b2J\r\u202eab\u{e0041}\u200b";
console.log(evil);
return { [evil]: evil };
`

const escaped = `\x1b]0;title\x07\x1b[2J\x9b2J\r\u{202e}ab\u{e0041}\u{200b}`

func TestTerminalOutputIsEscaped(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"text", []string{"run", "--quiet", "hostile.ts"}, escaped + "\n"},
		{"failure", []string{"run", "--quiet", "throws.ts"}, "Error: code run failed (exception): Error: " + escaped + "\n"},
		{"note of declarations", []string{"types", "--tools", "none", "--mock", "evil.json"}, "[2J"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			term := ptytest.Open(t, 80, 40)
			cmd := command(t, map[string]string{
				"hostile.ts": hostileScript,
				"throws.ts":  strings.Replace(hostileScript, "return", "throw new Error(evil); return", 1),
				"evil.json":  `{"tools": [{"name": "x", "description": "a\u001b[2J", "result": 1}]}`,
			}, tc.args...)
			cmd.Stdout = term.TTY
			_ = cmd.Run()
			got := shown(term)
			if strings.ContainsAny(got, "\x1b\x07\r\u009b\u202e\u200b") || !strings.Contains(got, tc.want) {
				t.Errorf("the terminal shows %q, want %q and nothing raw", got, tc.want)
			}
		})
	}
}

// TestTerminalJSON shows that what --json prints stays JSON, of the same
// meaning, when it is made harmless.
func TestTerminalJSON(t *testing.T) {
	term := ptytest.Open(t, 80, 40)
	cmd := command(t, map[string]string{"hostile.ts": hostileScript}, "run", "--quiet", "--json", "hostile.ts")
	cmd.Stdout = term.TTY
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	text := shown(term)
	if strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e\u200b") {
		t.Errorf("the terminal shows %q, want nothing raw", text)
	}
	var got struct {
		Value struct{ Result map[string]string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	const evil = "\x1b]0;title\x07\x1b[2J\u009b2J\r\u202eab\U000e0041\u200b"
	if got.Value.Result[evil] != evil {
		t.Errorf("the value is %q, want %q", got.Value.Result, evil)
	}
}

// TestPipedOutputIsExact shows that a program reading the output gets the text
// as it is.
func TestPipedOutputIsExact(t *testing.T) {
	cmd := command(t, map[string]string{"raw.ts": `return "\u001b[31mred\r\u202e";`}, "run", "raw.ts")
	got, err := cmd.Output()
	if want := "\x1b[31mred\r\u202e\n"; err != nil || string(got) != want {
		t.Errorf("standard output = %q, %v, want %q", got, err, want)
	}
}

const holdMock = `{"tools": [{"name": "hold", "delayMs": 86400000, "result": null}, {"name": "quick", "result": 1}]}`

// TestLiveCalls shows sub-calls on a terminal while they happen, and the
// outcome undisturbed by them.
func TestLiveCalls(t *testing.T) {
	term := ptytest.Open(t, 70, 40)
	cmd := command(t, map[string]string{"mock.json": holdMock, "run.ts": `
await tools.quick({ note: "\u001b[2J" });
try { await tools.read({ file_path: "no.txt" }) } catch {}
return "done";`}, "run", "--mock", "mock.json", "run.ts")
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, term.TTY
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "done\n" {
		t.Errorf("standard output = %q, want %q", stdout.String(), "done\n")
	}
	s := &screen{columns: 70}
	_, _ = io.WriteString(s, shown(term))
	got := durations.ReplaceAllString(s.String(), "<t>")
	want := "  ✓ quick {\"note\":\"\\u001b[2J\"}  <t>\n" +
		"  ✗ read {\"file_path\":\"no.txt\"}  failed  <t>\n" +
		"      read \"no.txt\": no such file; find the file with glob, for exam…\n" +
		"runcode: ok, 2 calls (1 failed), <t> (<t> computing), worker\n"
	if got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

// TestLiveDenial shows that a denied call is called denied, and how to have it
// allowed.
func TestLiveDenial(t *testing.T) {
	term := ptytest.Open(t, 100, 40)
	cmd := command(t, map[string]string{"run.ts": `
try { await tools.write({ file_path: "a.txt", content: "" }) } catch {}`}, "run", "--approve", "never", "run.ts")
	cmd.Stdin, cmd.Stderr = term.TTY, term.TTY
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // somebody could be asked
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	s := &screen{columns: 100}
	_, _ = io.WriteString(s, shown(term))
	got := durations.ReplaceAllString(s.String(), "<t>")
	want := "  ⊘ write a.txt  denied  <t>\n" +
		"      write changes a.txt and no rule allows it\n" +
		"runcode: ok, 1 call (1 denied), <t> (<t> computing), worker\n" +
		"note: 1 call was denied, as --approve never says; allow such calls with a rule (--config FILE)\n"
	if got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

// TestInterrupt ends a run with the key that interrupts, which reaches every
// process of the terminal's group.
func TestInterrupt(t *testing.T) {
	for _, isolation := range [][]string{{}, {"--in-process"}} {
		t.Run(strings.Join(append(isolation, "run"), " "), func(t *testing.T) {
			term := ptytest.Open(t, 80, 40)
			args := append([]string{"run", "--json", "--tools", "none", "--mock", "mock.json"}, isolation...)
			cmd := command(t, map[string]string{
				"mock.json": holdMock,
				"hold.ts":   `try { await tools.hold({}) } catch {} await tools.quick({}); return "went on"`,
			}, append(args, "hold.ts")...)
			var stdout bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = term.TTY, &stdout, term.TTY
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			term.WaitFor("hold {}")
			term.Type("\x03")
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
				t.Errorf("the command ended with %v, want exit status %d", err, exitFailed)
			}
			var got struct {
				Error printedError
				Calls []struct{ Name, State string }
			}
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
				t.Fatalf("%v: %q", err, stdout.String())
			}
			if got.Error.Kind != "abort" || !strings.Contains(got.Error.Message, "interrupted") {
				t.Errorf("the run ended as %q: %q, want kind abort and the reason", got.Error.Kind, got.Error.Message)
			}
			// The key may come before the body of hold has begun.
			if len(got.Calls) != 1 || got.Calls[0].Name != "hold" || got.Calls[0].State != "aborted" && got.Calls[0].State != "not-started" {
				t.Errorf("calls = %v, want hold alone, aborted or not started", got.Calls)
			}
		})
	}
}

// deafRun is a program whose tool does not return.
var deafRun = map[string]string{
	"mock.json": `{"tools": [{"name": "hold", "delayMs": 86400000, "ignoresCancel": true, "result": null}]}`,
	"hold.ts":   `await tools.hold({})`,
}

// interruptTwice interrupts a command with a deafRun, and again once it says that it
// waits. It starts another one where the first interrupt came before the tool had
// begun, so that there was nothing to wait for.
func interruptTwice(t *testing.T, start func(term *ptytest.PTY) (cmd *exec.Cmd, interrupt func())) *exec.Cmd {
	t.Helper()
	for range 50 {
		term := ptytest.Open(t, 100, 40)
		cmd, interrupt := start(term)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		term.WaitFor("hold {}")
		interrupt()
		waits := term.WaitForAny("interrupt again to end at once", "(abort): interrupted") == 0
		if waits {
			interrupt()
		}
		_ = cmd.Wait()
		if waits {
			return cmd
		}
	}
	t.Fatal("the tool never begins before the interrupt")
	return nil
}

// TestSecondInterrupt ends a run whose tool does not return: the first key aborts
// the run, the second ends the command and its worker with it.
func TestSecondInterrupt(t *testing.T) {
	for _, isolation := range []string{"worker", "in-process"} {
		t.Run(isolation, func(t *testing.T) {
			cmd := interruptTwice(t, func(term *ptytest.PTY) (*exec.Cmd, func()) {
				args := []string{"run", "--tools", "none", "--mock", "mock.json", "hold.ts"}
				if isolation == "in-process" {
					args = append(args, "--in-process")
				}
				cmd := command(t, deafRun, args...)
				cmd.Stdin, cmd.Stdout, cmd.Stderr = term.TTY, term.TTY, term.TTY
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
				return cmd, func() { term.Type("\x03") }
			})
			if signal := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); signal != syscall.SIGINT {
				t.Errorf("the command ended with %v, want SIGINT", cmd.ProcessState)
			}
		})
	}
}

// TestInterruptsInTheBackground interrupts a command that a script has started in
// its background, where interrupts are ignored until a program says otherwise: the
// first aborts the run, the second ends the command.
func TestInterruptsInTheBackground(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed; this test starts a command with it")
	}
	cmd := interruptTwice(t, func(term *ptytest.PTY) (*exec.Cmd, func()) {
		cmd := command(t, deafRun)
		sh := exec.Command("sh", "-c", `trap "" INT; exec "$0" run --tools none --mock mock.json hold.ts`, cmd.Path)
		sh.Dir, sh.Stdin, sh.Stdout, sh.Stderr = cmd.Dir, term.TTY, term.TTY, term.TTY
		return sh, func() { _ = sh.Process.Signal(os.Interrupt) }
	})
	if cmd.ProcessState.ExitCode() != exitSignal {
		t.Errorf("the command ended with %v, want the exit status %d", cmd.ProcessState, exitSignal)
	}
}

// TestHangUp closes the terminal's window while a command runs: the run is
// aborted and what the command has started is ended.
func TestHangUp(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed; this test runs a command")
	}
	term := ptytest.Open(t, 80, 40)
	cmd := command(t, map[string]string{
		"allow.json": `{"permissions":{"allow":["Bash"]}}`,
		"hold.ts":    `await tools.bash({ command: "echo $$ > pid; read < f", description: "Wait" })`,
	}, "run", "--json", "--tools", "shell", "--config", "allow.json", "hold.ts")
	fifo := filepath.Join(cmd.Dir, "f")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.TTY, &stdout, term.TTY
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the command to read
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	term.HangUp()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the command ended with %v, want exit status %d", err, exitFailed)
	}
	var got struct{ Error printedError }
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || got.Error.Kind != "abort" {
		t.Errorf("the outcome is %v %q, want kind abort", err, stdout.String())
	}
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the command's process %d is still there: %v", pid, err)
	}
}

// TestTerminalShowsNoSecrets shows that a secret of the process is on no line of
// a terminal: not among arguments and failures, not in what changes, not in the
// question, not in the outcome.
func TestTerminalShowsNoSecrets(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	term := ptytest.Open(t, 100, 60)
	cmd := command(t, map[string]string{"a.txt": "one " + secret + "\n", "allow.json": `{"permissions":{"allow":["Edit(a.txt)"]}}`, "run.ts": `
console.log("printed", input);
await tools.read({ file_path: "no-" + input }).catch(() => {});
await tools.read({ file_path: "a.txt" });
await tools.edit({ file_path: "a.txt", old_string: "one", new_string: "two" });
await tools.write({ file_path: "b.txt", content: input }).catch(() => {});
return input;`}, "run", "--input", `"`+secret+`"`, "--config", "allow.json", "run.ts")
	cmd.Env = append(os.Environ(), "MY_API_KEY="+secret)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.TTY, term.TTY, term.TTY
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	term.WaitFor("answer: ")
	term.Type("n\n")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	got := shown(term)
	if strings.Contains(got, secret) || strings.Count(got, "[redacted: MY_API_KEY]") < 6 {
		t.Errorf("the terminal shows %q, want the secret as [redacted: MY_API_KEY] everywhere", got)
	}
}

// TestInterruptWhileOpening shows that the key ends a command which still waits
// for a file it was named.
func TestInterruptWhileOpening(t *testing.T) {
	cmd := command(t, map[string]string{"a.ts": `return 1`}, "run", "--config", "pipe", "a.ts")
	pipe := filepath.Join(cmd.Dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for the command to read
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("the command ended with %v, want SIGINT", err)
	}
}

// TestLiveDryRun shows that a change which was only looked at is not taken for
// one that was made.
func TestLiveDryRun(t *testing.T) {
	term := ptytest.Open(t, 70, 40)
	cmd := command(t, map[string]string{"mock.json": holdMock, "a.txt": "one\n", "run.ts": `
await tools.read({ file_path: "a.txt" });
await tools.edit({ file_path: "a.txt", old_string: "one", new_string: "two" });
await tools.quick({});`}, "run", "--dry-run", "--mock", "mock.json", "run.ts")
	cmd.Stderr = term.TTY
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	s := &screen{columns: 70}
	_, _ = io.WriteString(s, shown(term))
	got := durations.ReplaceAllString(s.String(), "<t>")
	want := "  ✓ read a.txt 1 of 1  <t>\n" +
		"  ✓ edit a.txt (+1 -1)  dry run  <t>\n" +
		"      @@ -1 +1 @@\n      -one\n      +two\n" +
		"  ✓ quick {}  dry run  <t>\n" +
		"runcode: ok, dry run, 3 calls, <t> (<t> computing), worker\n"
	if got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

// TestBrokenPipe shows that a reader which has gone ends the command without a
// word, as it does any other.
func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd := command(t, map[string]string{"a.ts": `return 1`}, "run", "--events", "run.jsonl", "a.ts")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	err = cmd.Run()
	w.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE {
		t.Errorf("the command ended with %v, want SIGPIPE", err)
	}
	if text := weaker.ReplaceAllString(stderr.String(), ""); text != "" {
		t.Errorf("standard error = %q, want nothing", text)
	}
	// The log was complete before anything was printed.
	log, err := os.ReadFile(filepath.Join(cmd.Dir, "run.jsonl"))
	if err != nil || !strings.Contains(string(log), `"tool/result"`) {
		t.Errorf("the event log holds %q, %v, want the end of the run", log, err)
	}
}

// TestFullDisk shows that an outcome which cannot be written is an error, and
// not the kind that says nothing ran.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("/dev/full is needed: %v", err)
	}
	defer full.Close()
	cmd := command(t, map[string]string{"a.ts": `return 1`}, "run", "--quiet", "a.ts")
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = full, &stderr
	err = cmd.Run()
	if got, want := stderr.String(), "runcode: cannot write the outcome: write /dev/stdout: no space left on device\n"; got != want || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("standard error = %q, %v, want %q and exit status %d", got, err, want, exitFailed)
	}
}

// TestLogCannotBeWritten shows that what cannot be logged is not done.
func TestLogCannotBeWritten(t *testing.T) {
	cmd := command(t, map[string]string{"a.ts": `await tools.write({ file_path: "new.txt", content: "x" }) //` + strings.Repeat("x", 2000)}, "run")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is needed to limit the size of files")
	}
	cmd.Args = []string{"sh", "-c", "ulimit -f 1; exec " + cmd.Path + " run --approve always --json --events run.jsonl a.ts"}
	cmd.Path = sh
	out, _ := cmd.Output() // the disk is full before the first call is in the log
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit status %d, want %d; %s", code, exitFailed, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "new.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file that was to be written: %v, want none", err)
	}
}
