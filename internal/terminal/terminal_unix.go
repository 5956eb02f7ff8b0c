//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/internal/termtext"
)

// Terminal is the controlling terminal of the process. It is safe for
// concurrent use; one conversation goes on at a time, the others wait in the
// order in which they came.
type Terminal struct {
	fd     int           // does not block
	turn   chan struct{} // holds a value while a conversation goes on, and once closed
	quiet  time.Duration // how long nothing may have been typed before an answer is
	closed context.Context
	close  func()
	once   sync.Once
}

// quiet is longer than keys repeat and the pieces of a pasted text come apart,
// and shorter than it takes to read a question.
const quiet = 300 * time.Millisecond

// Open opens the controlling terminal, wherever the standard streams lead. It
// fails for a process that has none.
func Open() (*Terminal, error) { return open("/dev/tty") }

func open(path string) (*Terminal, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("no terminal to ask at: %w; start the command from a terminal, or let rules decide",
			&os.PathError{Op: "open", Path: path, Err: err})
	}
	t := &Terminal{fd: fd, turn: make(chan struct{}, 1), quiet: quiet}
	t.closed, t.close = context.WithCancel(context.Background())
	return t, nil
}

// errClosed is why a question is withdrawn when the terminal is closed.
var errClosed = errors.New("the terminal is not used any more")

// Close withdraws an open question, waits until it has left the terminal as it
// was, and closes the terminal. Nothing may use it any more.
func (t *Terminal) Close() error {
	var err error
	t.once.Do(func() {
		t.close()
		t.turn <- struct{}{}
		err = unix.Close(t.fd)
	})
	return err
}

// Size is the size of the window, 80 by 24 if it is not known.
func (t *Terminal) Size() (columns, rows int) {
	columns, rows = 80, 24
	if w, err := unix.IoctlGetWinsize(t.fd, unix.TIOCGWINSZ); err == nil && w.Col > 0 && w.Row > 0 {
		columns, rows = int(w.Col), int(w.Row)
	}
	return columns, rows
}

// Write shows text, which it does not escape.
func (t *Terminal) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		n, err := t.write(rest, func() error { return await(t.fd, unix.POLLOUT, never, forever) })
		if err != nil {
			return len(text) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(text), nil
}

// write writes some of the text. It gives up if the wait for room fails.
func (t *Terminal) write(text []byte, wait func() error) (int, error) {
	for {
		n, err := unix.Write(t.fd, text)
		switch err {
		case nil:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			if err := wait(); err != nil {
				return 0, err
			}
		case unix.EIO: // the terminal has gone away
			return 0, errEnd
		default:
			return 0, fmt.Errorf("cannot write to the terminal: %w", err)
		}
	}
}

// What await is given: a descriptor that wakes nobody, and no limit.
const (
	never   = -1
	forever = time.Duration(-1)
)

// Why await gives up.
var (
	errWoken = errors.New("woken")
	errQuiet = errors.New("nothing has come")
)

// errBackground keeps the process from reading, which would stop it.
var errBackground = errors.New("the terminal serves another job now; bring this one to the foreground to be asked")

// converse runs talk when it is this caller's turn: with the screen held, typed
// input thrown away before and after, lines echoed as they are typed, and the
// terminal as it was when it ends. It returns talk's error or why there was no
// conversation, the cause of ctx if that ended it.
func (t *Terminal) converse(ctx context.Context, screen *Screen, talk func(dialog) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer onEnd(t.closed, func() { cancel(errClosed) })()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !foreground(t.fd):
		return errBackground
	}
	screen.hold()
	defer screen.release()

	restore, err := cook(t.fd)
	if err != nil {
		return fmt.Errorf("cannot prepare the terminal for a question: %w", err)
	}
	defer restore()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot wait for an answer: %w", err)
	}
	defer r.Close()
	defer onContinue(func() { _, _ = w.Write([]byte{0}) })()
	defer w.Close()
	defer onEnd(ctx, func() { w.Close() })()

	s := &session{t: t, ctx: ctx, woken: r}
	defer func() {
		if !foreground(t.fd) {
			return
		}
		if err != nil {
			// One attempt: a terminal that takes nothing now must not hold the
			// caller, who has left.
			_, _ = unix.Write(t.fd, []byte("\n"+termtext.EscapeLine(s.farewell(err))+"\n"))
		}
		_ = flush(t.fd)
	}()
	// The cursor may stand anywhere: behind a line that a writer has not ended,
	// or behind the echo of what was typed.
	if err := s.show("\n"); err != nil {
		return err
	}
	return talk(s)
}

// onEnd calls f when ctx ends. The function it returns forgets f, or waits until
// f has returned.
func onEnd(ctx context.Context, f func()) (forget func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		f()
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// onContinue calls f each time the process goes on after it was stopped. The
// function it returns ends that.
func onContinue(f func()) (end func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, unix.SIGCONT)
	go func() {
		defer close(done)
		for range signals {
			f()
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// session is a dialog at a Terminal.
type session struct {
	t     *Terminal
	ctx   context.Context // of this conversation
	woken *os.File        // has a byte when the process goes on, and ends with ctx
}

func (s *session) size() (columns, rows int) { return s.t.Size() }

func (s *session) show(text string) error {
	for rest := []byte(text); len(rest) > 0; {
		n, err := s.t.write(rest, s.awaitRoom)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

func (s *session) awaitRoom() error {
	for {
		if err := s.await(unix.POLLOUT, forever); err != errContinued {
			return err
		}
	}
}

// await is await of the terminal, which ends with ctx and when the process was
// stopped meanwhile.
func (s *session) await(event int16, limit time.Duration) error {
	err := await(s.t.fd, event, int(s.woken.Fd()), limit)
	switch {
	case err != errWoken || s.ctx.Err() != nil:
		return s.because(err)
	case !foreground(s.t.fd):
		return errBackground
	}
	_, _ = s.woken.Read(make([]byte, 64))
	return errContinued
}

// because is the reason behind an error of await.
func (s *session) because(err error) error {
	if err == errWoken {
		return context.Cause(s.ctx)
	}
	return err
}

// farewell says why a question stays unanswered.
func (s *session) farewell(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the question is withdrawn: the time to answer it is up"
	case s.ctx.Err() != nil:
		return fmt.Sprintf("the question is withdrawn: %v", err)
	}
	return err.Error()
}

// maxAnswer bounds what is kept of a line, in bytes.
const maxAnswer = 1024

func (s *session) settle() error {
	for {
		if err := s.flush(); err != nil {
			return err
		}
		switch err := s.await(unix.POLLIN, s.t.quiet); err {
		case nil: // a line was typed
		case errQuiet:
			return nil
		default:
			return err
		}
	}
}

func (s *session) flush() error {
	if !foreground(s.t.fd) {
		return errBackground
	}
	switch err := flush(s.t.fd); err {
	case nil:
		return nil
	case unix.EIO: // the terminal has gone away
		return errEnd
	default:
		return fmt.Errorf("cannot throw away what was typed before the question: %w", err)
	}
}

func (s *session) ask(prompt string) (string, error) {
	if err := s.flush(); err != nil {
		return "", err
	}
	if err := s.show(prompt); err != nil {
		return "", err
	}
	var line []byte
	buf := make([]byte, maxAnswer)
	for {
		part, err := s.read(buf)
		if err != nil {
			return "", err
		}
		line = append(line, part[:min(len(part), maxAnswer-len(line))]...)
		if part[len(part)-1] == '\n' {
			return trimEnd(string(line)), nil
		}
	}
}

// read reads at least a byte and at most a line.
func (s *session) read(buf []byte) ([]byte, error) {
	for {
		if err := s.await(unix.POLLIN, forever); err != nil {
			return nil, err
		}
		if !foreground(s.t.fd) {
			return nil, errBackground
		}
		n, err := unix.Read(s.t.fd, buf)
		switch {
		case n > 0:
			return buf[:n], nil
		case err == nil || err == unix.EIO: // a terminal that has gone away says either
			return nil, errEnd
		case err != unix.EINTR && err != unix.EAGAIN:
			return nil, fmt.Errorf("cannot read from the terminal: %w", err)
		}
	}
}

// cook makes the terminal collect and echo lines, whatever a program before has
// left it in.
func cook(fd int) (restore func(), err error) {
	was, err := unix.IoctlGetTermios(fd, getAttributes)
	if err != nil {
		return nil, err
	}
	want := *was
	want.Iflag |= unix.ICRNL
	want.Iflag &^= unix.INLCR | unix.IGNCR
	want.Oflag |= unix.OPOST | unix.ONLCR
	want.Lflag |= unix.ICANON | unix.ISIG | unix.IEXTEN | unix.ECHO | unix.ECHOE | unix.ECHOK | unix.ECHOCTL
	if want == *was {
		return func() {}, nil
	}
	if err := unix.IoctlSetTermios(fd, setAttributes, &want); err != nil {
		return nil, err
	}
	return func() {
		if foreground(fd) {
			_ = unix.IoctlSetTermios(fd, setAttributes, was)
		}
	}, nil
}
