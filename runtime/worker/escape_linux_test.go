package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/internal/sandbox"
	"github.com/runcode-go/runcode/runtime"
)

// A worker of this test binary hosts an engine that does what a program could do
// that has taken the whole process over: a program "attempt: <name> <argument>"
// is native code of this file. Package variables are initialised before the
// worker's hook runs.
var _ = hostAttempts()

const attemptPrefix = "attempt: "

func hostAttempts() bool {
	open := newEngine
	newEngine = func() (engine, error) {
		inner, err := open()
		return hostileEngine{inner}, err
	}
	return true
}

type hostileEngine struct{ engine }

func (e hostileEngine) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	order, ok := strings.CutPrefix(req.Program, attemptPrefix)
	if !ok {
		return e.engine.Run(ctx, req)
	}
	name, arg, _ := strings.Cut(order, " ")
	err := attempts[name](arg)
	if err != nil {
		return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Exception, Message: err.Error()}}, nil
	}
	return runtime.Result{Value: `"succeeded"`}, nil
}

// raw makes a system call whose arguments are numbers or pointers to memory that
// does not move.
func raw(number uintptr, args ...uintptr) error {
	var six [6]uintptr
	copy(six[:], args)
	if _, _, errno := syscall.RawSyscall6(number, six[0], six[1], six[2], six[3], six[4], six[5]); errno != 0 {
		return errno
	}
	return nil
}

// passes says whether a call reached the kernel's own checks, which refuse what
// these attempts give it: they ask for nothing that could happen.
func passes(err error, want syscall.Errno) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("refused before its arguments were looked at: %w", err)
}

const two = 2 << 30 // bytes

// attempts are harmless where they succeed: files, sockets and processes are the
// test's own, memory is not touched, and no loop has more than three turns.
var attempts = map[string]func(arg string) error{
	"read":  func(path string) error { _, err := os.ReadFile(path); return err },
	"write": func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
	"append": func(path string) error {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte("x"))
		return err
	},
	"list": func(dir string) error {
		if err := os.Chdir(dir); err != nil {
			return err
		}
		fd, err := unix.Openat(unix.AT_FDCWD, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	},
	"remove":  os.Remove,
	"own-mem": func(string) error { _, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0); return err },
	"tcp":     dial("tcp"), "udp": send, "unix": dial("unix"), "abstract": dial("unix"),
	"listen": func(string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	},
	"exec": func(program string) error {
		for range 3 {
			pid, err := syscall.ForkExec(program, []string{program}, nil)
			if err != nil {
				return err
			}
			syscall.Wait4(pid, nil, 0, nil)
		}
		return nil
	},
	"execve": func(string) error {
		return passes(raw(unix.SYS_EXECVE, 1, 0, 0), unix.EFAULT)
	},
	"fork": func(string) error {
		for range 3 {
			pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			if errno != 0 {
				return errno
			}
			if pid == 0 {
				syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			syscall.Wait4(int(pid), nil, 0, nil)
		}
		return nil
	},
	"ptrace":         onProcess(trace),
	"signal":         onProcess(func(pid int) error { return unix.Kill(pid, 0) }),
	"signal-parent":  func(string) error { return unix.Kill(os.Getppid(), 0) },
	"signal-spawner": onProcess(func(tid int) error { return unix.Tgkill(os.Getppid(), tid, 0) }),
	"limits": onProcess(func(pid int) error {
		return unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	}),
	"limits-parent": func(string) error {
		var now unix.Rlimit
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, nil, &now)
	},
	"own-limits": func(string) error {
		return unix.Prlimit(0, unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil)
	},
	"memory":        allocate(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE),
	"shared-memory": allocate(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE),
	"stack-memory":  allocate(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_GROWSDOWN),
	"code":          allocateBytes(4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE),
	"io_uring": func(string) error {
		return passes(raw(unix.SYS_IO_URING_SETUP, 1, 1), unix.EFAULT)
	},
	"burn": func(string) error {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		}
		return nil
	},
	"mount":       func(string) error { return passes(raw(unix.SYS_MOUNT, 1, 1, 1, 0, 0), unix.EFAULT) },
	"bpf":         func(string) error { return passes(raw(unix.SYS_BPF, ^uintptr(0), 0, 0), unix.EINVAL) },
	"userfaultfd": func(string) error { return passes(raw(unix.SYS_USERFAULTFD, 1<<30|userModeOnly), unix.EINVAL) },
	"keyctl":      func(string) error { return passes(raw(unix.SYS_KEYCTL, 9999), unix.EOPNOTSUPP) },
	"other-memory": onProcess(func(pid int) error {
		here := make([]byte, 1)
		local := []unix.Iovec{{Base: &here[0], Len: 1}}
		_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
		return passes(err, unix.EFAULT)
	}),
}

const userModeOnly = 1 // UFFD_USER_MODE_ONLY: no rights are needed

// trace stops a process for a moment and lets it go on.
func trace(pid int) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := raw(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0); err != nil {
		return err
	}
	if err := unix.PtraceInterrupt(pid); err != nil {
		return err
	}
	if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}

func onProcess(f func(pid int) error) func(string) error {
	return func(arg string) error {
		pid, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		return f(pid)
	}
}

func dial(network string) func(string) error {
	return func(address string) error {
		conn, err := net.Dial(network, address)
		if err == nil {
			conn.Close()
		}
		return err
	}
}

func send(address string) error {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte("x"))
	return err
}

func allocate(prot, flags uintptr) func(string) error { return allocateBytes(two, prot, flags) }

func allocateBytes(size, prot, flags uintptr) func(string) error {
	return func(string) error { return raw(unix.SYS_MMAP, 0, size, prot, flags|unix.MAP_ANONYMOUS, ^uintptr(0), 0) }
}

// switchable are the layers that Options.Without can leave out.
func switchable() []string {
	return slices.DeleteFunc(LayerNames(), func(name string) bool { return slices.Contains(inherent, name) })
}

// without is switchable but for some.
func without(keep ...string) []string {
	return slices.DeleteFunc(switchable(), func(name string) bool { return slices.Contains(keep, name) })
}

// stage is what the attempts aim at, and the workers they are made from.
type stage struct {
	args    map[string]string
	files   string
	workers map[string]*Runtime
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A child of the test that waits for the end of its input.
	victim := exec.Command("cat")
	in, err := victim.StdinPipe()
	if err == nil {
		err = victim.Start()
	}
	if err != nil {
		t.Skipf("there is no cat to aim at: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := victim.Wait(); err != nil {
			t.Errorf("the process aimed at did not end by itself: %v", err)
		}
	})
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skipf("there is no program to start: %v", err)
	}
	pid := strconv.Itoa(victim.Process.Pid)
	return &stage{files: dir, workers: map[string]*Runtime{}, args: map[string]string{
		"read": file, "append": file, "list": dir, "exec": program,
		"ptrace": pid, "signal": pid, "limits": pid, "other-memory": pid,
		"tcp": listen("tcp", "127.0.0.1:0"), "udp": packets.LocalAddr().String(),
		"unix": listen("unix", filepath.Join(dir, "socket")), "abstract": listen("unix", "@runcode-test-"+pid),
	}}
}

// runtime is the Runtime whose workers have all layers but some.
func (s *stage) runtime(t *testing.T, without []string) *Runtime {
	t.Helper()
	key := strings.Join(without, ",")
	if s.workers[key] == nil {
		r, err := New(t.Context(), &Options{MaxWorkers: 1, Without: without})
		if err != nil {
			t.Fatal(err)
		}
		s.workers[key] = r
	}
	return s.workers[key]
}

// try makes an attempt and returns why it did not succeed.
func (s *stage) try(t *testing.T, name string, without []string) string {
	t.Helper()
	r := s.runtime(t, without)
	arg := s.args[name]
	switch name {
	case "write":
		arg = filepath.Join(s.files, "new")
		defer os.Remove(arg)
	case "remove":
		arg = filepath.Join(s.files, "old")
		if err := os.WriteFile(arg, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	case "signal-spawner":
		arg = s.spawner(t, r)
	}
	res, err := r.Run(t.Context(), runtime.Request{Program: attemptPrefix + name + " " + arg, Limits: runtime.Limits{Heap: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Failure != nil {
		return fmt.Sprintf("%s: %s", res.Failure.Kind, res.Failure.Message)
	}
	return ""
}

// spawner is the id of the thread that starts the workers of a Runtime: the one
// whose children they are.
func (s *stage) spawner(t *testing.T, r *Runtime) string {
	t.Helper()
	res, err := r.Run(t.Context(), runtime.Request{Program: "return 1"})
	if err != nil || res.Failure != nil {
		t.Fatal(err, res.Failure)
	}
	r.pool.mu.Lock()
	pid := strconv.Itoa(r.pool.idle[0].pid)
	r.pool.mu.Unlock()
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		if slices.Contains(strings.Fields(string(text)), pid) {
			return filepath.Base(filepath.Dir(name))
		}
	}
	t.Skip("this kernel does not list the children of a thread")
	return ""
}

// escapes are what is attempted from inside a worker, and the layers each of
// which alone refuses it.
var escapes = []struct {
	attempt string
	layers  []string
	seccomp string // how seccomp answers, if not with EPERM
	since   int    // the version of Landlock that refuses it; 0: any that is named, if one is
}{
	{"read", []string{LayerLandlock, LayerSeccomp}, "", 0},
	{"write", []string{LayerLandlock, LayerSeccomp, LayerFiles}, "", 0},
	{"append", []string{LayerLandlock, LayerSeccomp, LayerFiles}, "", 0},
	{"list", []string{LayerLandlock, LayerSeccomp}, "", 0},
	{"remove", []string{LayerLandlock, LayerSeccomp}, "", 0},
	{"own-mem", []string{LayerLandlock, LayerSeccomp}, "", 0},
	{"tcp", []string{LayerLandlock, LayerNamespaces, LayerSeccomp}, "", 4},
	{"listen", []string{LayerLandlock, LayerSeccomp}, "", 4},
	{"udp", []string{LayerNamespaces, LayerSeccomp}, "", later},
	{"unix", []string{LayerSeccomp}, "", later},
	{"abstract", []string{LayerLandlock, LayerNamespaces, LayerSeccomp}, "", 6},
	{"exec", []string{LayerLandlock, LayerSeccomp}, "", 0},
	{"execve", []string{LayerSeccomp}, sigsys, 0},
	{"fork", []string{LayerSeccomp}, "", 0},
	{"ptrace", []string{LayerLandlock, LayerNamespaces, LayerSeccomp}, sigsys, 0},
	{"other-memory", []string{LayerLandlock, LayerNamespaces, LayerSeccomp}, sigsys, 0},
	{"signal", []string{LayerLandlock, LayerSeccomp}, "", 7},
	{"signal-parent", []string{LayerLandlock, LayerSeccomp}, "", 7},
	{"signal-spawner", []string{LayerSeccomp}, "", later}, // by Landlock too, if all threads of a worker can be put under it
	{"limits", []string{LayerSeccomp}, "", 0},
	{"limits-parent", []string{LayerSeccomp}, "", 0},
	{"own-limits", []string{LayerSeccomp}, "", 0},
	{"memory", []string{LayerMemory}, "", 0},
	{"shared-memory", []string{LayerSeccomp}, "", 0}, // RLIMIT_DATA does not count it
	{"stack-memory", []string{LayerSeccomp}, "", 0},  // nor this
	{"code", []string{LayerSeccomp}, "", 0},
	{"io_uring", []string{LayerSeccomp}, sigsys, 0},
	{"mount", []string{LayerSeccomp}, sigsys, 0},
	{"bpf", []string{LayerSeccomp}, sigsys, 0},
	{"userfaultfd", []string{LayerSeccomp}, sigsys, 0},
	{"keyctl", []string{LayerSeccomp}, sigsys, 0},
}

const (
	sigsys = "worker-exit: worker was ended by signal 31 (bad system call) before completing"
	later  = 1 << 10 // some version of Landlock may refuse it; none must
)

// Every attempt is refused by a worker with all layers, by each of its layers
// alone, and by no worker that has all layers but these.
func TestEscapes(t *testing.T) {
	s := newStage(t)
	t.Cleanup(func() {
		for _, r := range s.workers {
			r.Close()
		}
	})
	abi, _ := sandbox.LandlockABI()
	for _, tt := range escapes {
		t.Run(tt.attempt, func(t *testing.T) {
			if refusal := s.try(t, tt.attempt, switchable()); refusal != "" {
				t.Skipf("this system refuses it without any layer: %s", refusal)
			}
			refusing, any := slices.Clone(tt.layers), false
			for _, layer := range tt.layers {
				if layer == LayerLandlock && abi < tt.since {
					continue
				}
				t.Run(layer, func(t *testing.T) {
					alone := without(layer)
					if l := s.layer(t, alone, layer); l.State != LayerOn {
						t.Skipf("the layer %s is %s here: %s", layer, l.State, l.Note)
					}
					any = true
					want := "operation not permitted"
					if layer != LayerSeccomp {
						want = ""
					} else if tt.seccomp != "" {
						want = tt.seccomp
					}
					if refusal := s.try(t, tt.attempt, alone); refusal == "" || !strings.HasSuffix(refusal, want) {
						t.Errorf("%q, want a refusal %q", refusal, want)
					}
				})
			}
			if refusal := s.try(t, tt.attempt, nil); refusal == "" && any {
				t.Error("it succeeds in a worker with all layers")
			}
			if abi < tt.since || tt.since == later {
				refusing = append(refusing, LayerLandlock)
			}
			if refusal := s.try(t, tt.attempt, refusing); refusal != "" {
				t.Errorf("%s, by another layer than those that are said to refuse it", refusal)
			}
		})
	}
	// Whoever broke out does not spoil the host, nor the next run.
	if res, err := s.runtime(t, nil).Run(t.Context(), runtime.Request{Program: "return 'fine'"}); err != nil || res.Value != `"fine"` {
		t.Errorf("the next run: %+v %v", res, err)
	}
}

// A worker that Landlock holds with all its threads is below the thread that
// started it, and what that may be signalled by.
func TestSpawnerIsOutOfReach(t *testing.T) {
	s := newStage(t)
	alone := without(LayerLandlock)
	r := s.runtime(t, alone)
	defer r.Close()
	if l := s.layer(t, alone, LayerLandlock); l.State != LayerOn || l.Note != "" {
		t.Skipf("the layer %s is %s here: %s", l.Name, l.State, l.Note)
	}
	if refusal := s.try(t, "signal-spawner", alone); !strings.HasSuffix(refusal, "operation not permitted") {
		t.Errorf("%q, want a refusal", refusal)
	}
}

// The kernel's limit of processor time ends a worker that the meter leaves alone.
func TestCPULimit(t *testing.T) {
	if testing.Short() {
		t.Skip("uses a second of processor time")
	}
	r, err := New(t.Context(), &Options{MaxWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if l := r.Layers()[slices.Index(LayerNames(), LayerCPU)]; l.State != LayerOn {
		t.Skipf("the layer %s is %s here: %s", l.Name, l.State, l.Note)
	}
	r.pool.mu.Lock()
	w := r.pool.idle[0]
	r.pool.mu.Unlock()
	// As armCPU would, but below what the meter allows.
	w.arm = func(runtime.Limits) error { return softLimit(w.pid, unix.RLIMIT_CPU, 1) }
	res := mustRun(t, r, runtime.Request{Program: attemptPrefix + "burn", Limits: runtime.Limits{Compute: 15 * time.Second}})
	wantFailure(t, res, runtime.Timeout, "compute budget exhausted (15000ms busy)")
	if w.status.Signal != "24 (CPU time limit exceeded)" {
		t.Errorf("the worker %v", w.status)
	}
}

// Where it is not known what a worker has used, the limit of an earlier run does not
// end this one.
func TestCPULimitOfARunThatCannotBeSeen(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	mustRun(t, c, runtime.Request{Program: "return 1", Limits: runtime.Limits{Compute: time.Second}})
	w := c.idleWorker(t)
	if !w.has(LayerCPU) {
		t.Skip("there is no such limit here")
	}
	soft := func() uint64 {
		var now unix.Rlimit
		if err := unix.Prlimit(w.pid, unix.RLIMIT_CPU, nil, &now); err != nil {
			t.Fatal(err)
		}
		return now.Cur
	}
	if n := soft(); n < 3 || n > 60 {
		t.Errorf("a soft limit of %d seconds for a run of one", n)
	}
	w.look = func() (usage, error) { return usage{}, unix.EMFILE }
	c.fine(t)
	if n := soft(); n != unix.RLIM_INFINITY {
		t.Errorf("a soft limit of %d seconds, want none", n)
	}
}

// The namespaces are tried once: what the first start shows holds from then on.
func TestNamespacesAreProbedOnce(t *testing.T) {
	child := &os.Process{}
	for _, tt := range []struct {
		name    string
		inside  error // of starts in namespaces
		outside error // of others
		later   bool  // not the first start
		starts  int
		want    error
		state   LayerState
	}{
		{"permitted", nil, nil, false, 1, nil, LayerOn},
		{"not permitted", unix.EPERM, nil, false, 2, nil, LayerMissing},
		{"used up", unix.ENOSPC, nil, false, 2, nil, LayerMissing},
		{"neither way", unix.EACCES, unix.EACCES, false, 2, unix.EACCES, LayerOn},
		{"short of processes", unix.EAGAIN, nil, false, 1, unix.EAGAIN, LayerOn},
		{"no longer permitted", unix.EPERM, nil, true, 1, unix.EPERM, LayerOn},
		{"used up for now", unix.ENOSPC, nil, true, 1, unix.ENOSPC, LayerOn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			starts := 0
			s := &starter{spawner: spawner{namespaces: Layer{Name: LayerNamespaces, State: LayerOn}}}
			if tt.later {
				s.first = mergeLayers(nil)
			}
			s.exec = func(_ string, _ []string, attr *os.ProcAttr) (*os.Process, error) {
				starts++
				err := tt.outside
				if attr.Sys.Cloneflags != 0 {
					err = tt.inside
				}
				if err != nil {
					return nil, &os.PathError{Op: "fork/exec", Path: "x", Err: err}
				}
				return child, nil
			}
			got, err := s.launch(nil, &os.ProcAttr{})
			if !errors.Is(err, tt.want) || (got == child) != (tt.want == nil) {
				t.Errorf("%v, %v; want the error %v", got, err, tt.want)
			}
			if starts != tt.starts || s.namespaces.State != tt.state {
				t.Errorf("%d starts, namespaces %s; want %d, %s", starts, s.namespaces.State, tt.starts, tt.state)
			}
			if tt.state == LayerMissing && !strings.Contains(s.namespaces.Note, tt.inside.Error()) {
				t.Errorf("note %q", s.namespaces.Note)
			}
		})
	}
}

// layer is the state of one layer of the workers that lack others.
func (s *stage) layer(t *testing.T, without []string, name string) Layer {
	t.Helper()
	layers := s.runtime(t, without).Layers()
	return layers[slices.Index(LayerNames(), name)]
}

// Require is met by the layers that are on, and by no other.
func TestRequire(t *testing.T) {
	plain, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, l := range plain.Layers() {
		t.Run(l.Name, func(t *testing.T) {
			r, err := New(t.Context(), &Options{Require: []string{l.Name}})
			if err == nil {
				r.Close()
			}
			want := fmt.Sprintf("the layer %s is required and %s: ", l.Name, l.State)
			if l.State == LayerOn && err != nil || l.State != LayerOn && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v; the layer is %s", err, l.State)
			}
		})
	}
}

// Without leaves out what it names, says so, and nothing else.
func TestWithout(t *testing.T) {
	plain, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for i, l := range plain.Layers() {
		if slices.Contains(inherent, l.Name) {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			r, err := New(t.Context(), &Options{Without: []string{l.Name}})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			want := plain.Layers()
			if !(l.Name == LayerMemory && raceEnabled) {
				want[i] = Layer{l.Name, LayerOff, "left out by Without"}
			}
			if diff := cmp.Diff(want, r.Layers()); diff != "" {
				t.Errorf("layers (-want +got):\n%s", diff)
			}
			if res := mustRun(t, r, runtime.Request{Program: "return 1"}); res.Value != "1" {
				t.Errorf("%+v", res)
			}
		})
	}
}

// What workers are denied the host keeps: the thread that starts them is
// confined, runs nothing else, and is not left to others afterwards.
func TestHostKeepsItsRights(t *testing.T) {
	if statusOfTask(t, os.Getpid())["NoNewPrivs"] != "0" {
		t.Skip("this process was started with no_new_privs, which marks a confined thread here")
	}
	r, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	everyThread(t, "while workers live")
	r.Close()
	everyThread(t, "after Close")
	if status := statusOfTask(t, os.Getpid()); status["NoNewPrivs"] != "0" {
		t.Errorf("the host's main thread has NoNewPrivs %s", status["NoNewPrivs"])
	}
}

// everyThread runs on more threads at once than there are, so that each that
// runs any goroutine is among them.
func everyThread(t *testing.T, when string) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	var all, here sync.WaitGroup
	here.Add(len(tasks) + 1)
	for range len(tasks) + 1 {
		all.Go(func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			if confined, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || confined != 0 {
				t.Errorf("%s a thread of the host is confined (%v)", when, err)
			}
			here.Done()
			here.Wait()
		})
	}
	all.Wait()
}

// From outside a worker looks as it says.
func TestLayersFromOutside(t *testing.T) {
	r, err := New(t.Context(), &Options{MaxWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	on := map[string]bool{}
	for _, l := range r.Layers() {
		on[l.Name] = l.State == LayerOn
	}
	r.pool.mu.Lock()
	pid := r.pool.idle[0].pid
	r.pool.mu.Unlock()
	status := statusOfTask(t, pid)
	network := func(pid string) string {
		name, err := os.Readlink("/proc/" + pid + "/ns/net")
		if err != nil {
			t.Skipf("the namespaces of a process cannot be seen: %v", err)
		}
		return name
	}
	for _, tt := range []struct {
		layer string
		shown bool
	}{
		{LayerPrivileges, status["NoNewPrivs"] == "1"},
		{LayerSeccomp, status["Seccomp_filters"] != statusOfTask(t, os.Getpid())["Seccomp_filters"]},
		{LayerNamespaces, network("self") != network(strconv.Itoa(pid)) && strings.Trim(status["CapEff"], "0") == ""},
	} {
		if tt.shown != on[tt.layer] {
			t.Errorf("layer %s: on %v, as the system shows %v:\n%v", tt.layer, on[tt.layer], tt.shown, status)
		}
	}
}

// statusOfTask reads /proc/<pid>/status.
func statusOfTask(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	return status
}
