//go:build unix

package worker

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// selfLink is the running file itself on Linux, whatever its name leads to.
const selfLink = "/proc/self/exe"

// starter starts workers, all from one thread that lives as long as it does:
// on Linux a child is told of its parent's death when the thread that started
// it ends.
type starter struct {
	binary string
	build  string // what a worker must greet with, "" if another binary was named
	env    []string
	wait   time.Duration // for a hello
	logger *slog.Logger
	orders chan func()
	pinned os.FileInfo // of binary; nil if its name cannot come to lead elsewhere

	mu    sync.Mutex
	first *helloMeta
}

// newStarter checks what can be checked without starting anything.
func newStarter(binary string, env []string, wait time.Duration, logger *slog.Logger) (*starter, error) {
	if os.Getenv(depthVar) != "" {
		return nil, &startError{problem: "this process was itself started as a worker (" + depthVar + " is set) and did not become one, so starting it again would not end; name a binary that imports package runtime/worker directly"}
	}
	s := &starter{binary: binary, wait: wait, logger: logger}
	if binary == "" {
		if info, ok := debug.ReadBuildInfo(); ok {
			if err := checkBuildMode(info.Settings); err != nil {
				return nil, err
			}
		}
		self, err := ownBinary()
		if err != nil {
			return nil, err
		}
		s.binary, s.build = self, buildID()
	} else if abs, err := filepath.Abs(binary); err != nil {
		return nil, err
	} else if info, err := os.Stat(abs); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, &startError{problem: fmt.Sprintf("%s is not an executable file", binary)}
	} else {
		s.binary = abs
	}
	if err := s.pin(); err != nil {
		return nil, err
	}
	var err error
	if s.env, err = workerEnv(env); err != nil {
		return nil, err
	}
	s.orders = make(chan func())
	go s.serve()
	return s, nil
}

// pin remembers the file that workers are started from.
func (s *starter) pin() (err error) {
	if s.binary != selfLink {
		s.pinned, err = os.Stat(s.binary)
	}
	return err
}

// checkPin refuses a file that has been replaced or changed since.
func (s *starter) checkPin() error {
	if s.pinned == nil {
		return nil
	}
	now, err := os.Stat(s.binary)
	if err != nil {
		return err
	}
	if !os.SameFile(s.pinned, now) || s.pinned.Size() != now.Size() || !s.pinned.ModTime().Equal(now.ModTime()) {
		return &startError{problem: fmt.Sprintf("%s is another file than when this runtime was made; make a new one to use it", s.binary)}
	}
	return nil
}

// serve is the thread that starts workers.
func (s *starter) serve() {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	for order := range s.orders {
		order()
	}
}

// close ends the thread. Every worker must have exited.
func (s *starter) close() { close(s.orders) }

// checkBuildMode refuses builds in which the running file is not this program:
// started again, a shared library's host would be the host, not a worker.
func checkBuildMode(settings []debug.BuildSetting) error {
	for _, setting := range settings {
		if setting.Key == "-buildmode" && !slices.Contains([]string{"exe", "pie", "default"}, setting.Value) {
			return &startError{problem: fmt.Sprintf("a program built with -buildmode=%s cannot start itself as a worker", setting.Value)}
		}
	}
	return nil
}

// workerEnv is the whole environment of a worker.
func workerEnv(extra []string) ([]string, error) {
	env := []string{depthVar + "=1", "GOMAXPROCS=1", "GOTRACEBACK=none"}
	if zone, ok := os.LookupEnv("TZ"); ok {
		env = append(env, "TZ="+zone)
	}
	for _, entry := range extra {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" || strings.ContainsRune(entry, 0) {
			return nil, &startError{problem: fmt.Sprintf("the worker environment entry %q is not of the form NAME=value", entry)}
		}
		env = append(env, entry)
	}
	return env, nil
}

// start starts one worker and returns it once it has greeted. A process that is
// no worker has been given nothing and is gone when the error returns.
func (s *starter) start(ctx context.Context) (*process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := s.checkPin(); err != nil {
		return nil, err
	}
	nonce := newNonce()
	w, err := s.spawn(nonce)
	if err != nil {
		return nil, err
	}
	stopWatching := context.AfterFunc(ctx, w.kill)
	defer stopWatching()
	if err := w.greet(greeting{nonce: nonce, build: s.build, wait: s.wait}); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	if err := s.note(w.hello); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// note logs once what is particular about the workers of this host, and refuses
// one that lacks a protection the first one had.
func (s *starter) note(hello helloMeta) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		if s.first.DataLimit && !hello.DataLimit {
			return &startError{problem: "it has no hard memory limit, which earlier workers had"}
		}
		return nil
	}
	s.first = &hello
	if hello.Descriptors > 0 {
		s.logger.Warn("package initialisation leaves descriptors open in worker processes; name a slim Worker.Binary to keep them out", "descriptors", hello.Descriptors)
	}
	if !hello.DataLimit {
		s.logger.Warn("worker processes run without a hard memory limit: it needs Linux and a build without the race detector")
	}
	return nil
}

// spawn starts the process.
func (s *starter) spawn(nonce string) (*process, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer null.Close()
	said, saying, err := os.Pipe()
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer saying.Close()
	attr := &os.ProcAttr{Env: s.env, Files: []*os.File{null, saying, saying, theirs}, Sys: sysProcAttr()}
	child, err := s.onThread(func() (*os.Process, error) {
		return os.StartProcess(s.binary, []string{marker, nonce, strings.Join(inheritable(), ",")}, attr)
	})
	if err != nil {
		conn.Close()
		said.Close()
		return nil, err
	}
	return watch(child, conn, said), nil
}

// onThread runs f on the starter's thread.
func (s *starter) onThread(f func() (*os.Process, error)) (p *os.Process, err error) {
	done := make(chan struct{})
	s.orders <- func() {
		defer close(done)
		p, err = f()
	}
	<-done
	return p, err
}

// watch makes a process of a child and reaps it when it ends.
func watch(child *os.Process, conn net.Conn, said *os.File) *process {
	p := &process{link: newLink(conn), pid: child.Pid, diag: &diagnostics{}, exited: make(chan struct{}), served: map[runID]bool{}}
	p.kill = func() { child.Kill() }
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer said.Close()
		p.diag.collect(said)
	}()
	go func() {
		defer close(p.exited)
		endGroup(child.Pid)
		state, err := child.Wait()
		if err == nil {
			p.status, p.used = statusOf(state), state.UserTime()+state.SystemTime()
		} else {
			p.status = exitStatus{Code: -1}
		}
		// A descendant that left the group could hold the pipe open for ever.
		timer := time.AfterFunc(endGrace, func() { said.SetReadDeadline(time.Now()) })
		<-read
		timer.Stop()
	}()
	return p
}

func statusOf(state *os.ProcessState) exitStatus {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return exitStatus{Code: -1, Signal: fmt.Sprintf("%d (%v)", int(status.Signal()), status.Signal())}
	}
	return exitStatus{Code: state.ExitCode()}
}

// socketPair makes a pair of connected stream sockets that no other child
// inherits.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "parent"), nil
}
