//go:build unix

package worker

import (
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfLink is the running file itself on Linux, whatever its name leads to.
const selfLink = "/proc/self/exe"

// inheritedVar is the variable that workers get from the host, if it has it: local
// time is to be the same on both sides.
const inheritedVar = "TZ"

// shortages are the errors of a system that is short of something, beside those
// that all systems know.
var shortages []error

// spawner starts processes, all from one thread that lives as long as it does:
// on Linux a child is told of its parent's death when the thread that started
// it ends, and has what that thread took upon itself.
type spawner struct {
	orders chan func()
	pinned os.FileInfo // of the binary; nil if its name cannot come to lead elsewhere
	thread []Layer     // what the thread has
	// exec is os.StartProcess.
	exec       func(name string, argv []string, attr *os.ProcAttr) (*os.Process, error)
	namespaces Layer // on until the first start shows otherwise; guarded by the starter's mu
}

// open pins the binary and starts the thread.
func (s *starter) open() error {
	s.exec = os.StartProcess
	if s.binary != selfLink {
		var err error
		if s.pinned, err = os.Stat(s.binary); err != nil {
			return err
		}
	}
	s.namespaces = Layer{Name: LayerNamespaces, State: LayerOn}
	if slices.Contains(s.without, LayerNamespaces) {
		s.namespaces = leftOut(LayerNamespaces)
	}
	s.orders = make(chan func())
	ready := make(chan struct{})
	go s.serve(ready)
	<-ready
	return nil
}

func checkExecutable(file string) error {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		return &startError{problem: fmt.Sprintf("%s is not an executable file", file)}
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

// around is what protects around every worker of this starter.
func (s *starter) around() []Layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.thread), s.namespaces)
}

// spawn starts the process.
func (s *starter) spawn(nonce string) (*process, error) {
	if err := s.checkPin(); err != nil {
		return nil, err
	}
	conn, theirs, err := newConnection()
	if err != nil {
		return nil, err
	}
	defer closeAll(theirs)
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
	attr := &os.ProcAttr{Env: s.env, Files: append([]*os.File{null, saying, saying}, theirs...)}
	// The thread may no longer list what is open.
	argv := []string{marker, nonce, strings.Join(inheritable(), ","), strings.Join(s.without, ",")}
	child, err := s.onThread(func() (*os.Process, error) { return s.launch(argv, attr) })
	if err != nil {
		conn.Close()
		said.Close()
		return nil, err
	}
	look, done, err := observe(child.Pid)
	if err != nil {
		child.Kill()
		child.Wait()
		conn.Close()
		said.Close()
		return nil, err
	}
	return watch(child, conn, said, look, done), nil
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

// watch makes a process of a child and reaps it when it ends. done ends what look
// needs.
func watch(child *os.Process, conn io.ReadWriteCloser, said *os.File, look func() (usage, error), done func()) *process {
	p := newProcess(child.Pid, conn, said, func(p *process) {
		endGroup(child.Pid)
		p.reap.Lock() // its number is about to be free for another process; only on Linux is it sure to have ended
		defer p.reap.Unlock()
		state, err := child.Wait()
		p.reaped = true
		done()
		if err == nil {
			p.status, p.used = statusOf(state), state.UserTime()+state.SystemTime()
		} else {
			p.status = exitStatus{Code: -1}
		}
	})
	p.kill = func() { child.Kill() }
	p.look = look
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

// passedOn says whether every child of this process inherits the descriptor,
// because whoever started this process left it open for that.
func passedOn(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
