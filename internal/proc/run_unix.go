//go:build unix

package proc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported reports whether Run can start processes on this system.
const Supported = true

const (
	// linger is how long streams that a background job holds open are read on
	// after the process itself has exited.
	linger = 250 * time.Millisecond
	// stuck is how long ending what is left, and reading what it wrote, may
	// take.
	stuck = 2 * time.Second
	// markName is the variable that tells a process which run it comes from,
	// whatever session it moves to.
	markName = "RUNCODE_CHILD"
)

// child is a started process.
type child struct {
	process *os.Process
	tree    *tree
	exited  chan struct{} // closed when it has ended

	// What it left; set when it is reaped, on Linux by run, elsewhere before
	// exited is closed.
	state *os.ProcessState
	err   error

	stdin          *os.File
	stdout, stderr *stream
	fed            chan struct{}
}

func run(ctx context.Context, c Command) (Result, error) {
	begun := time.Now()
	p, err := start(c)
	if err != nil {
		return Result{}, err
	}
	end := p.await(ctx, c.Timeout)
	if end == Exited {
		p.drain(ctx)
	}
	left := p.reap()
	if held := p.close(); held && left == 0 {
		left = 1 // at least
	}
	r := Result{End: end, Code: -1, Stdout: p.stdout.output(), Stderr: p.stderr.output(), Took: time.Since(begun), Left: left}
	if end == Exited && p.err == nil {
		r.settle(p.state)
	}
	return r, nil
}

// reap ends the whole tree and collects how the process itself ended.
func (p *child) reap() (left int) {
	left = p.tree.end(stuck)
	<-p.exited
	if p.state == nil && p.err == nil {
		p.state, p.err = p.process.Wait()
	}
	return left
}

// settle fills in how a process that ended by itself did so.
func (r *Result) settle(state *os.ProcessState) {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.End, r.Signal = Signaled, status.Signal().String()
		r.SignalName = cmp.Or(unix.SignalName(status.Signal()), r.Signal) // real-time signals have no name
		return
	}
	r.Code = state.ExitCode()
}

// start starts the process and everything that serves its streams.
func start(c Command) (*child, error) {
	p, stdout, err := spawn(c)
	if err != nil {
		return nil, err
	}
	p.stdout = newStream(stdout, c.MaxStdout, c.KeepTail)
	p.fed = make(chan struct{})
	go p.feed(c.Stdin)
	go p.stdout.read()
	return p, nil
}

// spawn starts the process, what waits for it and what reads its standard error.
// Its standard input and output, of which we hold the other ends, are the
// caller's to serve.
func spawn(c Command) (p *child, stdout *os.File, err error) {
	var pipes pipes
	defer pipes.closeTheirs()
	stdin, stdout, stderr := pipes.in(), pipes.out(), pipes.out()
	mark := markName + "=" + rand.Text()
	var process *os.Process
	err = pipes.err
	if err == nil {
		process, err = os.StartProcess(c.Path, append([]string{filepath.Base(c.Path)}, c.Args...), &os.ProcAttr{
			Dir:   c.Dir,
			Env:   slices.Concat(c.Env, []string{mark}), // last, so that no entry replaces it
			Files: pipes.theirs,
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
	}
	if err != nil {
		pipes.closeOurs()
		return nil, nil, startError(c, err)
	}
	p = &child{
		process: process,
		tree:    newTree(process.Pid, mark),
		exited:  make(chan struct{}),
		stdin:   stdin,
		stderr:  newStream(stderr, c.MaxStderr, c.KeepTail),
	}
	go p.stderr.read()
	go func() {
		defer close(p.exited)
		p.awaitExit()
	}()
	return p, stdout, nil
}

// startError is why a process could not be started. The system names the program
// also where it is the directory that is missing.
func startError(c Command, err error) error {
	if c.Dir != "" {
		if _, missing := os.Stat(c.Dir); missing != nil {
			return fmt.Errorf("cannot use the working directory: %w", missing)
		}
	}
	return err
}

// await waits for the first reason to end.
func (p *child) await(ctx context.Context, timeout time.Duration) End {
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-p.exited:
		return Exited
	case <-expired:
		return TimedOut
	case <-ctx.Done():
		return Cancelled
	}
}

// drain gives background jobs a moment to finish writing.
func (p *child) drain(ctx context.Context) {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for _, s := range []*stream{p.stdout, p.stderr} {
		select {
		case <-s.done:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// feed writes standard input. That nobody reads it is no error.
func (p *child) feed(text string) {
	defer close(p.fed)
	defer p.stdin.Close()
	_, _ = io.WriteString(p.stdin, text)
}

// close ends the goroutines that serve the streams. One that a process which
// could not be ended or found still holds open is given up, and reported.
func (p *child) close() (held bool) {
	_ = p.stdin.SetWriteDeadline(time.Now())
	<-p.fed
	limit := time.Now().Add(stuck)
	for _, s := range []*stream{p.stdout, p.stderr} {
		_ = s.file.SetReadDeadline(limit)
	}
	for _, s := range []*stream{p.stdout, p.stderr} {
		<-s.done
		held = held || s.held
	}
	return held
}

// stream is an output stream of a child.
type stream struct {
	file *os.File
	done chan struct{}
	held bool // it was given up before its end; set before done is closed

	mu   sync.Mutex
	kept kept
}

func newStream(file *os.File, max int, tail bool) *stream {
	return &stream{file: file, done: make(chan struct{}), kept: newKept(max, tail)}
}

func (s *stream) read() {
	defer close(s.done)
	defer s.file.Close()
	_, err := io.Copy(s, s.file)
	s.held = errors.Is(err, os.ErrDeadlineExceeded)
}

func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.add(b)
	return len(b), nil
}

func (s *stream) output() Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.output()
}

// pipes makes the pipes of a child; after the first failure it makes no more.
type pipes struct {
	ours, theirs []*os.File
	err          error
}

// in is our end of a pipe the child reads.
func (p *pipes) in() *os.File {
	r, w := p.pipe()
	p.theirs, p.ours = append(p.theirs, r), append(p.ours, w)
	return w
}

// out is our end of a pipe the child writes.
func (p *pipes) out() *os.File {
	r, w := p.pipe()
	p.theirs, p.ours = append(p.theirs, w), append(p.ours, r)
	return r
}

func (p *pipes) pipe() (r, w *os.File) {
	if p.err == nil {
		r, w, p.err = os.Pipe()
	}
	return r, w
}

func (p *pipes) closeTheirs() { closeAll(p.theirs) }
func (p *pipes) closeOurs()   { closeAll(p.ours) }

// closeAll closes files; a nil one is refused by Close itself.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
