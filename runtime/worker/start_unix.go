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
// it ends, and has what that thread took upon itself.
type starter struct {
	binary  string
	build   string // what a worker must greet with, "" if another binary was named
	env     []string
	require []string      // layers
	without []string      // layers
	wait    time.Duration // for a hello
	logger  *slog.Logger
	orders  chan func()
	pinned  os.FileInfo // of binary; nil if its name cannot come to lead elsewhere
	thread  []Layer     // what the thread has
	// exec is os.StartProcess.
	exec func(name string, argv []string, attr *os.ProcAttr) (*os.Process, error)

	mu         sync.Mutex
	namespaces Layer   // on until the first start shows otherwise
	first      []Layer // of the first worker, nil until it has greeted
}

// newStarter checks what can be checked without starting anything.
func newStarter(opts *Options, wait time.Duration, logger *slog.Logger) (*starter, error) {
	if os.Getenv(depthVar) != "" {
		return nil, &startError{problem: "this process was itself started as a worker (" + depthVar + " is set) and did not become one, so starting it again would not end; name a binary that imports package runtime/worker directly"}
	}
	if err := checkLayerNames(opts.Require, opts.Without); err != nil {
		return nil, err
	}
	s := &starter{exec: os.StartProcess, require: opts.Require, without: opts.Without, wait: wait, logger: logger}
	if opts.Binary == "" {
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
	} else if abs, err := filepath.Abs(opts.Binary); err != nil {
		return nil, err
	} else if info, err := os.Stat(abs); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, &startError{problem: fmt.Sprintf("%s is not an executable file", opts.Binary)}
	} else {
		s.binary = abs
	}
	if err := s.pin(); err != nil {
		return nil, err
	}
	var err error
	if s.env, err = workerEnv(opts.Env); err != nil {
		return nil, err
	}
	s.namespaces = Layer{Name: LayerNamespaces, State: LayerOn}
	if slices.Contains(s.without, LayerNamespaces) {
		s.namespaces = leftOut(LayerNamespaces)
	}
	s.orders = make(chan func())
	ready := make(chan struct{})
	go s.serve(ready)
	<-ready
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

// serve is the thread that starts workers. It is never unlocked, so that it ends
// with this goroutine: what it took upon itself must not come over other code.
func (s *starter) serve(ready chan<- struct{}) {
	goruntime.LockOSThread()
	if onMainThread() {
		// While this goroutine keeps the main thread, another gets another one.
		elsewhere := make(chan struct{})
		go s.serve(elsewhere)
		<-elsewhere
		close(ready)
		goruntime.UnlockOSThread()
		return
	}
	s.thread = confineThread(s.binary, s.env, s.without)
	close(ready)
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
	w.layers = s.layersOf(w)
	if err := s.note(w.layers); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// layersOf is what protects around a worker that has greeted.
func (s *starter) layersOf(w *process) []Layer {
	s.mu.Lock()
	known := append(slices.Clone(s.thread), s.namespaces)
	s.mu.Unlock()
	known = append(known, w.hello.Layers...)
	return mergeLayers(append(known, limitFromOutside(w, s.without)...))
}

// layers is what protects the workers of this starter, once one has been started.
func (s *starter) layers() []Layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.first)
}

// note logs once which layers the workers of this host lack, and refuses one
// that lacks a required layer or one the first worker had.
func (s *starter) note(now []Layer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		return lostLayer(s.first, now)
	}
	if err := lackedLayer(s.require, now); err != nil {
		return err
	}
	s.first = now
	for _, l := range now {
		if l.State != LayerOn {
			s.logger.Warn("worker processes run without a layer of protection", "layer", l.Name, "state", l.State, "note", l.Note)
		}
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
	attr := &os.ProcAttr{Env: s.env, Files: []*os.File{null, saying, saying, theirs}}
	// The thread may no longer list what is open.
	argv := []string{marker, nonce, strings.Join(inheritable(), ","), strings.Join(s.without, ",")}
	child, err := s.onThread(func() (*os.Process, error) { return s.launch(argv, attr) })
	if err != nil {
		conn.Close()
		said.Close()
		return nil, err
	}
	return watch(child, conn, said), nil
}

// launch starts the process in namespaces of its own. If the first start shows
// that they are not to be had, none is started in them.
func (s *starter) launch(argv []string, attr *os.ProcAttr) (*os.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inside := s.namespaces.State == LayerOn
	attr.Sys = sysProcAttr(inside)
	child, err := s.exec(s.binary, argv, attr)
	if !inside || s.first != nil || !namespacesRefused(err) {
		return child, err
	}
	attr.Sys = sysProcAttr(false)
	child, plain := s.exec(s.binary, argv, attr)
	if plain == nil {
		s.namespaces = Layer{Name: LayerNamespaces, State: LayerMissing, Note: err.Error()}
	}
	return child, plain
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
		p.reap.Lock() // its number is about to be free for another process; only on Linux is it sure to have ended
		state, err := child.Wait()
		p.reaped = true
		p.reap.Unlock()
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
		signal := status.Signal()
		return exitStatus{
			Code: -1, Signal: fmt.Sprintf("%d (%v)", int(signal), signal),
			Intruder: signal == syscall.SIGSYS, OutOfCPU: signal == syscall.SIGXCPU,
		}
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
