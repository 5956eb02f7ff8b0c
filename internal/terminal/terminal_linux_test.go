package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/internal/terminal/ptytest"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// desk is an approver and the person's end of its terminal.
type desk struct {
	*ptytest.PTY
	t        *testing.T
	tty      *Terminal
	screen   Screen
	approver *Approver
}

func newDesk(t *testing.T, columns, rows uint16, opts Options) *desk {
	t.Helper()
	d := &desk{PTY: ptytest.Open(t, columns, rows), t: t}
	var err error
	if d.tty, err = open(d.TTY.Name()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.tty.Close() })
	d.tty.quiet = 0
	opts.Terminal, opts.Screen = d.tty, &d.screen
	d.approver = NewApprover(&opts)
	return d
}

// reply is what Approve has returned.
type reply struct {
	answer pipeline.Answer
	err    error
}

// ask puts a question.
func (d *desk) ask(ctx context.Context, ask pipeline.ApprovalRequest) <-chan reply {
	c := make(chan reply, 1)
	go func() {
		answer, err := d.approver.Approve(ctx, ask)
		c <- reply{answer, err}
	}()
	return c
}

// answered puts a question, types a line after each prompt and checks how it ends.
func (d *desk) answered(ask pipeline.ApprovalRequest, want pipeline.Answer, lines ...string) {
	d.t.Helper()
	c := d.ask(d.t.Context(), ask)
	for _, line := range lines {
		d.WaitFor(prompt)
		d.Type(line + "\n")
	}
	d.check(c, want)
}

func (d *desk) check(c <-chan reply, want pipeline.Answer) {
	d.t.Helper()
	if got := <-c; got.answer != want || got.err != nil {
		d.t.Errorf("the answer is %v, %v, want %v", got.answer, got.err, want)
	}
}

// shown is everything that appeared.
func (d *desk) shown() string {
	d.tty.Close()
	return d.All()
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("y", 3000)
	for _, tc := range []struct {
		keys string
		want pipeline.Answer
	}{
		{"y\n", pipeline.AllowedOnce},
		{"YES\n", pipeline.AllowedOnce},
		{"a\n", pipeline.AllowedOnce},
		{"Always\n", pipeline.AllowedOnce},
		{"n\n", pipeline.Rejected},
		{"No\n", pipeline.Rejected},
		{"\x04", pipeline.Cancelled},
		{"y\x04\x04", pipeline.Cancelled}, // without Enter
		{"y\x04\n", pipeline.AllowedOnce},
		{"yn\x7f\n", pipeline.AllowedOnce}, // corrected
	} {
		t.Run(fmt.Sprintf("%q", tc.keys), func(t *testing.T) {
			d := newDesk(t, 80, 24, Options{})
			c := d.ask(t.Context(), asking("write", `{"a":1}`))
			d.WaitFor(prompt)
			d.Type(tc.keys)
			d.check(c, tc.want)
		})
	}
	for _, unclear := range []string{"", " y", "y ", "yy", "yes please", "ｙ", "\x16\ry", "\x1b[Cy", "y\x16\x04", "1", "ok", long} {
		t.Run(fmt.Sprintf("unclear %.10q", unclear), func(t *testing.T) {
			d := newDesk(t, 80, 24, Options{})
			d.answered(asking("write", `{}`), pipeline.Cancelled, unclear, unclear, unclear)
			d.answered(asking("write", `{}`), pipeline.AllowedOnce, unclear, unclear, "y")
			if got := d.shown(); !strings.Contains(got, "denied: there was no clear answer") {
				t.Errorf("the terminal shows %q, want it to say that there was no clear answer", got)
			}
		})
	}
}

// TestTypedAhead shows that what was typed before a question does not answer it.
func TestTypedAhead(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	d.Type("y\n")
	d.WaitFor("y\r\n") // the terminal has it
	c := d.ask(t.Context(), asking("rm", `{}`))
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)

	// While the question is drawn is too early as well.
	d.approver.opts.Source = func(tools.Call) string {
		d.Type("y\n")
		d.WaitFor("y\r\n")
		return ""
	}
	c = d.ask(t.Context(), asking("rm", `{"again":true}`))
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)
}

// TestPastedLines shows that of several lines only the first is an answer, and
// that none is left for whoever reads the terminal next.
func TestPastedLines(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	c := d.ask(t.Context(), asking("read", `{}`))
	d.WaitFor(prompt)
	d.Type("y\ny\n")
	d.check(c, pipeline.AllowedOnce)
	if n, err := unix.IoctlGetInt(d.tty.fd, unix.TIOCINQ); err != nil || n != 0 {
		t.Errorf("%d bytes are left to read, %v, want none", n, err)
	}
	c = d.ask(t.Context(), asking("rm", `{}`))
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)

	// Nor do they turn pages.
	c = d.ask(t.Context(), asking("rm", `{"text":"`+strings.Repeat("x", 20_000)+`"}`))
	d.WaitFor(prompt)
	d.Type("s\n\n\n")
	d.WaitFor("q ends: ")
	d.Type("q\n")
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)
	if n := strings.Count(d.shown(), "q ends: "); n != 1 {
		t.Errorf("%d pages were shown, want the first alone", n)
	}
}

// TestTypedOn shows that a line which comes on the heels of the question does not
// answer it: keys that are held down, or the next piece of a pasted text.
func TestTypedOn(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	d.tty.quiet = time.Hour // the test is never too slow
	ctx, cancel := context.WithCancel(t.Context())
	c := d.ask(ctx, asking("rm", `{}`))
	for again := range 3 {
		if again > 0 {
			unix.Kill(os.Getpid(), unix.SIGCONT) // the question is put again
		}
		d.WaitFor("  n  deny it\r\n")
		d.Type("y\n") // its echo may be thrown away with it
	}
	cancel()
	d.check(c, pipeline.Cancelled)

	d.tty.quiet = time.Millisecond // it ends when nothing is typed
	d.answered(asking("rm", `{}`), pipeline.Rejected, "n")
}

// TestContinued stops and continues the process, as a shell does: the question
// is put again, and what was typed meanwhile is no answer.
func TestContinued(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	goOn := func() {
		t.Helper()
		if err := unix.Kill(os.Getpid(), unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	big := asking("write", `{"text":"`+strings.Repeat("x", 20_000)+`"}`)
	c := d.ask(t.Context(), big)
	d.WaitFor(prompt)
	d.Type("y") // is not what is answered below
	d.WaitFor("y")
	goOn()
	d.WaitFor("\r\napproval needed\r\n")
	d.WaitFor(prompt)
	d.Type("s\n")
	d.WaitFor("q ends: ")
	goOn() // while pages are shown
	d.WaitFor("approval needed\r\n")
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)
}

// TestHangUp closes the window at each stage of a question.
func TestHangUp(t *testing.T) {
	for _, tc := range []struct {
		seen  string
		quiet time.Duration
	}{{"  n  deny it", time.Hour}, {prompt, 0}} {
		d := newDesk(t, 80, 24, Options{})
		d.tty.quiet = tc.quiet
		c := d.ask(t.Context(), asking("write", `{}`))
		d.WaitFor(tc.seen)
		d.HangUp()
		d.check(c, pipeline.Cancelled)
	}
}

// TestCloseWithdraws shows that closing leaves no question open behind it, and
// loses nothing that was held.
func TestCloseWithdraws(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	c := d.ask(t.Context(), asking("write", `{"a":1}`))
	d.WaitFor(prompt)
	waiting := d.ask(t.Context(), asking("write", `{"a":2}`))
	io.WriteString(d.screen.Writer(d.TTY), "held\n")
	if err := d.tty.Close(); err != nil {
		t.Fatal(err)
	}
	d.WaitFor("the question is withdrawn: " + errClosed.Error() + "\r\nheld\r\n") // before Close returned
	later := d.ask(t.Context(), asking("write", `{"a":3}`))
	for _, c := range []<-chan reply{c, waiting, later} {
		if got := <-c; got.answer != pipeline.Unavailable || got.err != errClosed {
			t.Errorf("the answer is %v, %v, want %v, %v", got.answer, got.err, pipeline.Unavailable, errClosed)
		}
	}
}

// TestResized shows all of a call as wide as the window has become.
func TestResized(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	c := d.ask(t.Context(), asking("write", `{"text":"`+strings.Repeat("x", 2000)+`"}`))
	d.WaitFor(prompt)
	resize := func(columns uint16) {
		t.Helper()
		if err := unix.IoctlSetWinsize(d.tty.fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 500, Col: columns}); err != nil {
			t.Fatal(err)
		}
	}
	resize(40)
	d.Type("s\n")
	d.WaitFor("allow exactly this")
	d.WaitFor(prompt)
	resize(30)
	unix.Kill(os.Getpid(), unix.SIGCONT) // which puts the question again
	d.WaitFor("allow exactly this")      // since all of it has been shown
	d.WaitFor(prompt)
	d.Type("n\n")
	d.check(c, pipeline.Rejected)
	_, all, _ := strings.Cut(d.shown(), prompt+"s\n")
	all, again, _ := strings.Cut(all, prompt)
	within(t, all, 40)
	within(t, again, 30)
}

// within checks that what a call consists of is shown in so many columns.
func within(t *testing.T, text string, columns int) {
	t.Helper()
	if !strings.Contains(text, margin+"  ↪ xxx") {
		t.Errorf("%q does not show the call", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, margin) && termtext.Width(strings.TrimSpace(line)) > columns {
			t.Errorf("line %q is wider than %d columns", line, columns)
		}
	}
}

// TestHeldOutput shows that nothing is written between a question and its
// answer, and all of it, in order, afterwards.
func TestHeldOutput(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	out, stderr := d.screen.Writer(d.TTY), d.screen.Writer(d.TTY)
	io.WriteString(stderr, "… running")
	d.Type("typed ahead") // the echo of it stands in the line too
	d.WaitFor("typed ahead")
	c := d.ask(t.Context(), asking("write", `{}`))
	d.WaitFor(prompt)
	io.WriteString(out, "one\n")
	io.WriteString(stderr, "\x1b[Ktwo\n")
	io.WriteString(out, "three\n")
	d.Type("y\n")
	d.check(c, pipeline.AllowedOnce)
	got := d.shown()
	if !strings.HasPrefix(got, "… runningtyped ahead\napproval needed\n") || !strings.HasSuffix(got, prompt+"y\none\n\x1b[Ktwo\nthree\n") {
		t.Errorf("the terminal shows %q, want the question on a line of its own, then the answer, then what was held", got)
	}
}

// TestCancel ends a question from outside, at a terminal that a program before
// has left in raw mode.
func TestCancel(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	if _, err := term.MakeRaw(int(d.TTY.Fd())); err != nil {
		t.Fatal(err)
	}
	raw, err := unix.IoctlGetTermios(d.tty.fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	restored := func() {
		t.Helper()
		if now, err := unix.IoctlGetTermios(d.tty.fd, unix.TCGETS); err != nil || *now != *raw {
			t.Errorf("the attributes are %+v, %v, want %+v as before", now, err, raw)
		}
	}
	d.answered(asking("write", `{"a":1}`), pipeline.AllowedOnce, "y")
	restored()

	ctx, cancel := context.WithCancelCause(t.Context())
	c := d.ask(ctx, asking("write", `{"a":2}`))
	d.WaitFor(prompt)
	if now, err := unix.IoctlGetTermios(d.tty.fd, unix.TCGETS); err != nil || now.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != unix.ICANON|unix.ECHO|unix.ISIG {
		t.Errorf("the attributes are %+v, %v, want lines, echoed, and the key that interrupts", now, err)
	}
	queued, drop := context.WithCancel(t.Context())
	second := d.ask(queued, asking("write", `{"a":3}`))
	drop()
	d.check(second, pipeline.Cancelled) // though the first is still open
	out := d.screen.Writer(d.TTY)
	io.WriteString(out, "held")
	cancel(errors.New("the run\x1b[2J was interrupted"))
	d.check(c, pipeline.Cancelled)
	restored()
	late, expire := context.WithCancelCause(t.Context())
	c = d.ask(late, asking("write", `{"a":4}`))
	d.WaitFor(prompt)
	expire(context.DeadlineExceeded)
	d.check(c, pipeline.Cancelled)
	d.WaitFor("the question is withdrawn: the time to answer it is up")
	if got := d.shown(); !strings.Contains(strings.ReplaceAll(got, "\r", ""), prompt+"\n"+`the question is withdrawn: the run\x1b[2J was interrupted`+"\nheld") {
		t.Errorf("the terminal shows %q, want the cause and then what was held", got)
	}
	ended, cancelled := context.WithCancel(t.Context())
	cancelled()
	if got := <-d.ask(ended, asking("write", `{}`)); got.answer != pipeline.Cancelled {
		t.Errorf("a question of an ended context is answered %v, want %v", got.answer, pipeline.Cancelled)
	}
}

// TestOneAtATime asks from many goroutines; each question is answered before the
// next is shown.
func TestOneAtATime(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	const n = 10
	replies := make([]<-chan reply, n)
	for i := range n {
		replies[i] = d.ask(t.Context(), asking("write", fmt.Sprintf(`{"a":%d}`, i)))
	}
	for range n {
		d.WaitFor(prompt)
		d.Type("y\n")
	}
	for _, c := range replies {
		d.check(c, pipeline.AllowedOnce)
	}
	var order string
	for line := range strings.Lines(d.shown()) {
		switch {
		case strings.HasPrefix(line, "approval needed"):
			order += "q"
		case strings.HasPrefix(line, prompt):
			order += "a"
		}
	}
	if want := strings.Repeat("qa", n); order != want {
		t.Errorf("questions and answers come as %s, want %s", order, want)
	}
}

// TestNothingIsLeftOpen asks many questions, which end in all ways.
func TestNothingIsLeftOpen(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	opened := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skipf("the files this process has open are needed: %v", err)
		}
		return len(files)
	}
	ask := func(i int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := d.ask(ctx, asking("write", fmt.Sprintf(`{"a":%d}`, i)))
		d.WaitFor(answerLine)
		switch i % 3 {
		case 0:
			d.Type("y\n")
		case 1:
			d.Type("\x04")
		default:
			cancel()
		}
		<-c
	}
	ask(0) // what is opened once is open now
	before := opened()
	for i := range 300 {
		ask(i)
	}
	if after := opened(); after != before {
		t.Errorf("%d files are open after the questions, %d were before", after, before)
	}
}

func TestGrants(t *testing.T) {
	big := `{"text":"` + strings.Repeat("x", 20_000) + `"}`
	secret := tools.MustJSON(`{"password":"[redacted]"}`)
	once := false
	d := newDesk(t, 80, 24, Options{
		Redact: func(v tools.JSON) tools.JSON {
			if strings.Contains(v.String(), "hunter2") {
				return secret
			}
			return v
		},
		OnlyOnce: func(call tools.Call) bool { return once || call.Name() == "configure" },
	})
	const allowed, granted, rejected = pipeline.AllowedOnce, pipeline.Granted, pipeline.Rejected
	d.answered(asking("write", `{"a":1}`), allowed, "a")
	d.answered(asking("write", `{"a":1}`), granted)         // is not asked again
	d.answered(asking("write", `{"a":1.0}`), rejected, "n") // other arguments are
	d.answered(asking("append", `{"a":1}`), rejected, "n")  // and other tools
	d.answered(asking("\x1b[2J", `{}`), allowed, "a")
	d.answered(asking("\x1b[2J", `{}`), granted)
	once = true // now the same file is another
	d.answered(asking("write", `{"a":1}`), rejected, "a", "n")
	once = false
	d.answered(asking("write", `{"a":1}`), granted)

	d.answered(asking("configure", `{"a":1}`), allowed, "a", "y") // only once
	d.answered(asking("configure", `{"a":1}`), rejected, "a", "n")

	d.answered(asking("login", `{"password":"hunter2"}`), rejected, "a", "s", "a", "n") // redacted

	d.answered(asking("write", big), rejected, "a", "n") // cut
	c := d.ask(t.Context(), asking("write", big))
	d.WaitFor(prompt)
	d.Type("s\n")
	d.WaitFor("q ends: ")
	d.Type("q\n")
	d.WaitFor(prompt)
	d.Type("a\n") // not to the end
	d.WaitFor("not one of the answers: a")
	d.WaitFor(prompt)
	d.Type("s\n")
	lines := len(viewOf(d.approver, asking("write", big), 80, 24).all)
	for range (lines - 1) / 22 {
		d.WaitFor("q ends: ")
		d.Type("\n")
	}
	d.WaitFor("a  allow exactly this")
	d.WaitFor(prompt)
	d.Type("a\n")
	d.check(c, allowed)
	d.answered(asking("write", big), granted)

	got := d.shown()
	if n := strings.Count(got, "\nallowed before: write, sha256 "); n != 3 {
		t.Errorf("%d calls are said to be allowed before, want 3: %q", n, got)
	}
	if !strings.Contains(got, `allowed before: \x1b[2J, sha256 `) || strings.Contains(got, "\x1b") {
		t.Errorf("the terminal shows %q, want the name of a tool escaped", got)
	}
	if strings.Contains(got, "hunter2") {
		t.Error("the terminal shows a secret")
	}
}

// A grant is for one definition: what is registered under the name later is asked
// about, what was there before is not.
func TestGrantIsForOneDefinition(t *testing.T) {
	define := func(description string) *tools.Tool {
		tool, err := tools.NewTool(&tools.Definition{Name: "mcp__s__write", Description: description, Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return tool
	}
	of := func(tool *tools.Tool) pipeline.ApprovalRequest {
		return pipeline.ApprovalRequest{Call: tools.NewCall(tools.CallSpec{ID: "c1", Name: "mcp__s__write", Args: tools.MustJSON(`{"a":1}`), Tool: tool})}
	}
	before := define("writes")
	d := newDesk(t, 80, 24, Options{})
	d.answered(of(before), pipeline.AllowedOnce, "a")
	d.answered(of(before), pipeline.Granted)
	ended, end := context.WithCancel(t.Context())
	end() // so that a question, which is what must come, is none that waits
	for _, other := range []*tools.Tool{define("writes elsewhere"), define("writes"), nil} {
		d.check(d.ask(ended, of(other)), pipeline.Cancelled)
	}
	d.answered(of(before), pipeline.Granted)
}

// A grant that is given while the same question waits answers it.
func TestGrantWhileWaiting(t *testing.T) {
	d := newDesk(t, 80, 24, Options{})
	first := d.ask(t.Context(), asking("write", `{}`))
	d.WaitFor(prompt)
	second := d.ask(t.Context(), asking("write", `{}`))
	d.Type("a\n")
	d.check(first, pipeline.AllowedOnce)
	d.check(second, pipeline.Granted)
}

// TestPanicRestores shows that a card that crashes leaves the terminal usable.
func TestPanicRestores(t *testing.T) {
	crash := true
	d := newDesk(t, 80, 24, Options{Card: func(string, tools.JSON) tools.Card {
		if crash {
			panic("no card")
		}
		return tools.Card{}
	}})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Approve swallowed the panic, which the pipeline has to see")
			}
		}()
		_, _ = d.approver.Approve(t.Context(), asking("write", `{}`))
	}()
	crash = false
	d.answered(asking("write", `{}`), pipeline.AllowedOnce, "y")
}

// roleVariable makes a copy of the test binary play a part.
const roleVariable = "RUNCODE_TERMINAL_ROLE"

// TestRole is no test: a copy of the test binary runs it, and nothing else.
func TestRole(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case "":
		return
	case "ask":
		playAsk()
	case "shell":
		playShell()
	case "suspend":
		playSuspend()
	case "intruder":
		playIntruder()
	}
	os.Exit(0)
}

const onlyRole = "-test.run=^TestRole$"

// playAsk asks at the controlling terminal, starts an intruder while the
// question is open if told to, and prints how it ends.
func playAsk() {
	tty, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	opts := &Options{Terminal: tty}
	if os.Getenv("RUNCODE_INTRUDER") != "" {
		opts.Source = func(tools.Call) string {
			self, _ := os.Executable()
			r, err := proc.Run(ctx, proc.Command{Path: self, Args: []string{onlyRole}, Env: proc.Environ(roleVariable + "=intruder"), MaxStdout: 4096, MaxStderr: 4096})
			fmt.Println(r.Stdout.Head, r.Stderr.Head, err)
			return ""
		}
	}
	answer, err := NewApprover(opts).Approve(ctx, asking("write", `{}`))
	fmt.Println(answer, err)
}

// playIntruder tries to write to the terminal and to type into it.
func playIntruder() {
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		fmt.Println("the terminal can be opened")
		fmt.Fprint(tty, "intruder: answer n")
	}
	for fd := range 10 {
		for _, c := range []byte("y\n") {
			if unix.IoctlSetPointerInt(fd, unix.TIOCSTI, int(c)) == nil {
				fmt.Println("the terminal can be typed into through descriptor", fd)
			}
		}
	}
	fmt.Println("intruder has tried")
}

// playShell starts a job in the background, as a shell does.
func playShell() {
	cmd := play("ask")
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
	}
}

// playSuspend starts a job in the foreground. When told to it takes the terminal
// back and lets the job go on, as a shell does after Ctrl-Z and bg.
func playSuspend() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGUSR1)
	signal.Ignore(unix.SIGTTOU) // as shells do
	cmd := play("ask")
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	<-told
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()); err != nil {
		fmt.Println(err)
	}
	_ = cmd.Process.Signal(unix.SIGCONT)
	_ = cmd.Wait()
}

func play(role string, env ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, onlyRole)
	cmd.Env = append(append(os.Environ(), roleVariable+"="+role), env...)
	return cmd
}

// TestControllingTerminal runs processes of which the terminal is really theirs.
func TestControllingTerminal(t *testing.T) {
	for _, tc := range []struct {
		name, role, env string
		none            bool // no terminal
		keys            string
		want            string // on standard output
		end             string // on the terminal
	}{
		{name: "an answer", role: "ask", keys: "y\n", want: "allowed-once <nil>\n", end: prompt + "y\n"},
		{name: "interrupted", role: "ask", keys: "\x03", want: "cancelled <nil>\n", end: prompt + "^C\nthe question is withdrawn: interrupt signal received\n"},
		{name: "no terminal", role: "ask", none: true,
			want: "no terminal to ask at: open /dev/tty: no such device or address; start the command from a terminal, or let rules decide\n"},
		{name: "in the background", role: "shell", want: "unavailable " + errBackground.Error() + "\n"},
		{name: "moved to the background", role: "suspend", want: "unavailable " + errBackground.Error() + "\n", end: prompt},
		{name: "an intruder", role: "ask", env: "RUNCODE_INTRUDER=1", keys: "n\n", want: "intruder has tried\n  <nil>\nrejected <nil>\n", end: prompt + "n\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pty := ptytest.Open(t, 80, 24)
			cmd := play(tc.role, tc.env)
			var stdout bytes.Buffer
			cmd.Stdout = &stdout
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if !tc.none {
				cmd.Stdin = pty.TTY
				cmd.SysProcAttr.Setctty = true
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tc.end != "" {
				pty.WaitFor(prompt)
				pty.Type(tc.keys)
			}
			if tc.role == "suspend" {
				_ = cmd.Process.Signal(unix.SIGUSR1)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if got := stdout.String(); got != tc.want {
				t.Errorf("the process printed %q, want %q", got, tc.want)
			}
			got := pty.All()
			if !strings.HasSuffix(got, tc.end) || strings.Contains(got, "intruder") || tc.end == "" && got != "" {
				t.Errorf("the terminal shows %q, want %q at the end", got, tc.end)
			}
		})
	}
}
