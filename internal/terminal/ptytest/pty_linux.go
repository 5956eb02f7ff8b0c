package ptytest

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// PTY is a pseudo-terminal and what has appeared on it. It is safe for
// concurrent use.
type PTY struct {
	// TTY is the terminal as a program has it. It is not the controlling
	// terminal of the test.
	TTY *os.File

	t    testing.TB
	ctrl *os.File

	mu    sync.Mutex
	grown *sync.Cond
	text  bytes.Buffer
	read  int // how much of text WaitFor has passed
	ended bool
}

// Open makes a terminal with a window of this size, closed when the test ends.
// It skips the test where there are none.
func Open(t testing.TB, columns, rows uint16) *PTY {
	t.Helper()
	ctrl, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("a pseudo-terminal is needed: %v", err)
	}
	n, err := setUp(ctrl, columns, rows)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("a pseudo-terminal is needed: %v", err)
	}
	p := &PTY{TTY: tty, t: t, ctrl: ctrl}
	p.grown = sync.NewCond(&p.mu)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.collect()
	}()
	t.Cleanup(func() {
		tty.Close()
		<-done // reading fails once nobody holds the terminal open
		ctrl.Close()
	})
	return p
}

// setUp makes the terminal ready and returns its number. It does not use
// ctrl.Fd, after which closing ctrl would wait for a reader.
func setUp(ctrl *os.File, columns, rows uint16) (n int, err error) {
	conn, err := ctrl.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := conn.Control(func(fd uintptr) {
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err != nil {
			return
		}
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
	return n, errors.Join(failed, err)
}

func (p *PTY) collect() {
	buf := make([]byte, 4096)
	for {
		n, err := p.ctrl.Read(buf)
		p.mu.Lock()
		p.text.Write(buf[:n])
		p.ended = err != nil
		p.grown.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Type sends what a person types, in one piece. A line feed stands for Enter,
// "\x03" for the key that interrupts, "\x04" for the end of input.
func (p *PTY) Type(keys string) {
	p.t.Helper()
	if _, err := p.ctrl.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// HangUp closes the person's end, as closing a terminal's window does.
func (p *PTY) HangUp() {
	p.t.Helper()
	if err := p.ctrl.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// WaitFor blocks until the text has appeared, behind what was waited for before.
func (p *PTY) WaitFor(text string) {
	p.t.Helper()
	p.WaitForAny(text)
}

// WaitForAny is WaitFor for the first of several texts, and says which it was.
func (p *PTY) WaitForAny(texts ...string) (which int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		rest := p.text.Bytes()[p.read:]
		at := len(rest)
		for n, text := range texts {
			if i := bytes.Index(rest, []byte(text)); i >= 0 && i < at {
				which, at = n, i
			}
		}
		if at < len(rest) {
			p.read += at + len(texts[which])
			return which
		}
		if p.ended {
			p.t.Fatalf("the terminal shows %q, want %q in it", rest, texts)
		}
		p.grown.Wait()
	}
}

// All is everything that has appeared, once nothing can follow: it closes TTY
// and waits until every other program has closed the terminal too. Lines end in
// a line feed alone.
func (p *PTY) All() string {
	p.TTY.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.grown.Wait()
	}
	return strings.ReplaceAll(p.text.String(), "\r\n", "\n")
}
