package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/runcode-go/runcode/internal/sandbox"
	"github.com/runcode-go/runcode/runtime"
)

// orderVar has this binary do something else than test, where main begins.
const orderVar = "RUNCODE_WORKER_TEST_ORDER"

func init() {
	spawnFromMain = func() {
		order, arg, _ := strings.Cut(os.Getenv(orderVar), " ")
		switch order {
		case "":
			return
		case "main":
			fmt.Println("main ran")
		case "exit":
			code, _ := strconv.Atoi(arg)
			os.Exit(code)
		case "pass": // a handle of its own to a child, as the link of a worker
			handle, _ := strconv.ParseUint(arg, 10, 32)
			out, err := spoof(windows.Handle(handle), arg).CombinedOutput()
			fmt.Println(string(out), err)
		case "host":
			r, err := New(context.Background(), &Options{MaxWorkers: 1})
			if err != nil {
				fmt.Println("error:", err)
				os.Exit(1)
			}
			fmt.Println(r.pool.idle[0].pid)
			time.Sleep(time.Hour)
		}
		os.Exit(0)
	}
}

// ordered is this binary with an order.
func ordered(order string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &exec.Cmd{Path: self, Args: []string{self}, Env: append(os.Environ(), orderVar+"="+order)}
}

// spoof is this binary with the arguments of a worker, whose link is to be handle.
func spoof(handle windows.Handle, arg string) *exec.Cmd {
	cmd := ordered("main")
	cmd.Args = []string{marker, newNonce(), arg, ""}
	if handle != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(handle)}}
	}
	return cmd
}

// What looks like a worker's start and is none runs the program itself.
func TestSpoofedStarts(t *testing.T) {
	ours, theirs, err := newPipe(windows.PIPE_ACCESS_DUPLEX, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_FLAG_OVERLAPPED)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(ours)
	defer windows.CloseHandle(theirs)
	if err := windows.SetHandleInformation(ours, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
		t.Fatal(err)
	}
	null, err := windows.CreateFile(windows.StringToUTF16Ptr("NUL"), windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, inheritableHandle(), windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(null)
	number := func(h windows.Handle) string { return strconv.FormatUint(uint64(h), 10) }
	environment := ordered("main")
	environment.Env = append(environment.Env, depthVar+"=1")
	byAnother := ordered("pass " + number(theirs))
	byAnother.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(theirs)}}
	for _, tt := range []struct {
		name string
		cmd  *exec.Cmd
	}{
		{"argv alone", spoof(0, "")},
		{"no handle of this number", spoof(0, "65532")},
		{"environment alone", environment},
		{"a device as the handle", spoof(null, number(null))},
		{"the server's end of a pipe", spoof(ours, number(ours))},
		{"a pipe that its parent has not made", byAnother},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := tt.cmd.CombinedOutput()
			if err != nil || strings.Count(string(out), "main ran") != 1 {
				t.Errorf("%v: %q, want that main ran once", err, out)
			}
		})
	}
}

// A pipe of the parent's is what makes a worker, so that the refusals above are
// not for another reason.
func TestPipeOfTheParent(t *testing.T) {
	conn, theirs, err := newPipe(windows.PIPE_ACCESS_DUPLEX, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_FLAG_OVERLAPPED)
	if err != nil {
		t.Fatal(err)
	}
	cmd := spoof(theirs, strconv.FormatUint(uint64(theirs), 10))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	windows.CloseHandle(theirs)
	l := newLink(newPipeConn(conn, "worker"))
	f, err := l.receive(helloCaps)
	var hello helloMeta
	if err != nil || decode(f, &hello) != nil || hello.Nonce != cmd.Args[1] {
		t.Errorf("%+v, %v; want a hello with the nonce %s", hello, err, cmd.Args[1])
	}
	l.close() // the order to exit
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker: %v", err)
	}
}

// scratch is a directory that goes with the others at the end of all tests: one of
// t's own must be removable at once, which a stand-in for Windows may not be able to.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(testDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWrongBinary(t *testing.T) {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(scratch(t), "worker.txt")
	noProgram := filepath.Join(scratch(t), "worker.exe")
	for _, name := range []string{text, noProgram} {
		if err := os.WriteFile(name, []byte("no program"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, binary, want string }{
		{"another program", filepath.Join(system, "hostname.exe"), "instead of greeting"},
		{"another name", text, "is not an executable file (.exe)"},
		{"no program", noProgram, "CreateProcess"},
		{"no file", noProgram + ".exe", noProgram + ".exe"},
		{"a directory", system, "is not an executable file (.exe)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(t.Context(), &Options{Binary: tt.binary})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "IsolationInProcess") {
				t.Errorf("%v, want %q and what can be done instead", err, tt.want)
			}
		})
	}
}

// Nobody replaces the file while workers are started from it.
func TestBinaryIsPinned(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(scratch(t), "slim.exe")
	if err := os.WriteFile(binary, content, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := New(t.Context(), &Options{Binary: binary, MaxWorkers: 1, Idle: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	attempts := map[string]func() error{
		"rename": func() error { return os.Rename(binary, binary+".old") },
		"remove": func() error { return os.Remove(binary) },
		"write":  func() error { return os.WriteFile(binary, nil, 0o700) },
	}
	for name, attempt := range attempts {
		if err := attempt(); err == nil {
			t.Errorf("%s succeeded", name)
		}
	}
	if res := mustRun(t, r, runtime.Request{Program: "return 1"}); res.Value != "1" {
		t.Errorf("a worker of another binary: %+v", res)
	}
	r.Close()
	if err := os.Rename(binary, binary+".old"); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// A worker ends with its host, however that ends.
func TestWorkersEndWithTheHost(t *testing.T) {
	host := ordered("host")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer host.Wait()
	defer host.Process.Kill()
	var pid uint32
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	worker, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(worker)
	if event, _ := windows.WaitForSingleObject(worker, 0); event != uint32(windows.WAIT_TIMEOUT) {
		t.Fatalf("the worker is gone already: %#x", event)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if event, err := windows.WaitForSingleObject(worker, 20_000); event != windows.WAIT_OBJECT_0 {
		t.Errorf("the worker outlives its host: %#x %v", event, err)
	}
}

// Exit codes of the system's have a meaning.
func TestStatusOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		code int
		want exitStatus
	}{
		{"a program's own", 7, exitStatus{Code: 7}},
		{"the job's limit of processor time", 1816, exitStatus{Code: 1816, OutOfCPU: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := ordered(fmt.Sprint("exit ", tt.code))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var got exitStatus
			err := cmd.Process.WithHandle(func(handle uintptr) {
				windows.WaitForSingleObject(windows.Handle(handle), windows.INFINITE)
				got = statusOf(windows.Handle(handle))
			})
			cmd.Wait()
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// A start that fails for want of something is tried again, and no other.
func TestShortages(t *testing.T) {
	for err, want := range map[error]bool{
		windows.ERROR_COMMITMENT_LIMIT:    true,
		windows.ERROR_NO_SYSTEM_RESOURCES: true,
		windows.ERROR_ACCESS_DENIED:       false,
		windows.ERROR_FILE_NOT_FOUND:      false,
	} {
		if got := transient(os.NewSyscallError("CreateProcess", err)); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// Starts and ends leave nothing open.
func TestNoHandleIsLeft(t *testing.T) {
	once := func() {
		r, err := New(t.Context(), &Options{MaxWorkers: 1})
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, r, runtime.Request{Program: "return 1"})
		r.Close()
	}
	once() // what the first start opens for good
	once()
	before := handleCount(t)
	const starts = 8
	for range starts {
		once()
	}
	// Threads of the runtime's come and go, each with handles.
	if after := handleCount(t); after >= before+starts {
		t.Errorf("%d handles became %d in %d starts", before, after, starts)
	}
}

var getProcessHandleCount = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetProcessHandleCount")

func handleCount(t *testing.T) uint32 {
	t.Helper()
	var n uint32
	if ok, _, err := getProcessHandleCount.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&n))); ok == 0 {
		t.Fatal(err)
	}
	return n
}

// The meter reads what the system says of a process.
func TestMeterMeasuresTheProcess(t *testing.T) {
	before, err := usageOf(windows.CurrentProcess())
	if err != nil {
		t.Fatal(err)
	}
	const busy = 50 * time.Millisecond
	for now := before; now.cpu-before.cpu < busy; {
		if now, err = usageOf(windows.CurrentProcess()); err != nil || now.cpu < before.cpu || now.cpu-before.cpu > time.Minute {
			t.Fatalf("%v after %v: %v", now.cpu, before.cpu, err)
		}
	}
	if _, err := usageOf(0); err == nil {
		t.Error("times of no process")
	}
}

// What cannot be stopped from inside ends the worker, and names the limit.
func TestWhatOnlyAProcessCanStop(t *testing.T) {
	r, err := New(t.Context(), &Options{MaxWorkers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const deaf = "return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')"
	for _, tt := range []struct {
		name, program string
		limits        runtime.Limits
		kind          runtime.Kind
		message       string
		layer         string // needed for it
	}{
		{"wall", deaf, runtime.Limits{Wall: 300 * time.Millisecond}, runtime.Timeout, "wall-clock ceiling reached (300ms)", ""},
		{"compute", deaf, runtime.Limits{Compute: 200 * time.Millisecond}, runtime.Timeout, "compute budget exhausted (200ms busy)", ""},
		{"memory", "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", runtime.Limits{Heap: 64 << 20, Wall: 20 * time.Second}, runtime.MemoryLimit, "heap limit reached (67108864 bytes)", LayerMemory},
		{"one large allocation", "return Math.max.apply(null, {length: 1e8})", runtime.Limits{Heap: 256 << 20}, runtime.MemoryLimit, "heap limit reached (268435456 bytes)", LayerMemory},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.layer != "" {
				needLayer(t, r, tt.layer)
			}
			wantFailure(t, mustRun(t, r, runtime.Request{Program: tt.program, Limits: tt.limits}), tt.kind, tt.message)
			if res := mustRun(t, r, runtime.Request{Program: "return 'fine'"}); res.Value != `"fine"` {
				t.Errorf("the next run: %+v %+v", res, res.Failure)
			}
		})
	}
}

// needLayer skips a test of what the system here does not keep.
func needLayer(t *testing.T, r *Runtime, name string) {
	t.Helper()
	for _, l := range r.Layers() {
		if l.Name == name && l.State != LayerOn {
			t.Skipf("the layer %s is %s: %s", l.Name, l.State, l.Note)
		}
	}
}

// What is left out is said to be, and what there is not is not made up.
func TestWithout(t *testing.T) {
	r, err := New(t.Context(), &Options{MaxWorkers: 1, Without: []string{LayerFiles, LayerMemory, LayerCPU}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, l := range r.Layers() {
		switch l.Name {
		case LayerFiles, LayerMemory, LayerCPU:
			if l != leftOut(l.Name) {
				t.Errorf("%+v, want that it is left out", l)
			}
		case LayerLandlock, LayerNamespaces, LayerSeccomp, LayerDescriptors:
			if want := (Layer{l.Name, LayerMissing, "needs Linux"}); l != want {
				t.Errorf("%+v, want %+v", l, want)
			}
		}
	}
}

// A token that no process can be started with is given up at the first start and
// at no later one.
func TestTokenIsTriedOnce(t *testing.T) {
	for _, later := range []bool{false, true} {
		t.Run(fmt.Sprintf("later %v", later), func(t *testing.T) {
			s, err := newStarter(&Options{}, helloWait, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			if s.token != 0 {
				s.token.Close()
			}
			// A handle to something else.
			job, err := windows.CreateJobObject(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.token = windows.Token(job)
			if later {
				s.first = mergeLayers(nil)
			}
			w, err := s.start(t.Context())
			if later {
				if !errors.Is(err, windows.ERROR_INVALID_HANDLE) && !errors.Is(err, windows.ERROR_BAD_TOKEN_TYPE) && err == nil {
					t.Errorf("%v, want a refusal", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.end()
			if l := s.privileges; l.State != LayerMissing || l.Note == "" || s.token != 0 {
				t.Errorf("%+v with token %v, want that it is missing", l, s.token)
			}
		})
	}
}

// hostileEngine is native code that has taken a worker over.
type hostileEngine struct{ engine }

const attemptPrefix = "attempt: "

var _ = hostAttempts()

func hostAttempts() bool {
	open := newEngine
	newEngine = func() (engine, error) {
		inner, err := open()
		return hostileEngine{inner}, err
	}
	return true
}

func (e hostileEngine) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	order, ok := strings.CutPrefix(req.Program, attemptPrefix)
	if !ok {
		return e.engine.Run(ctx, req)
	}
	name, arg, _ := strings.Cut(order, " ")
	if err := attempt(name, arg); err != nil {
		return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Exception, Message: err.Error()}}, nil
	}
	return runtime.Result{Value: `"succeeded"`}, nil
}

func attempt(name, arg string) error {
	switch name {
	case "handle":
		handle, err := strconv.ParseUint(arg, 10, 32)
		if err != nil {
			return nil
		}
		return windows.SetEvent(windows.Handle(handle))
	case "write":
		return os.WriteFile(arg, []byte("written"), 0o600)
	case "start":
		return exec.Command(arg).Run()
	case "console":
		_, err := os.OpenFile("CONOUT$", os.O_WRONLY, 0)
		return err
	case "environment":
		if value, ok := os.LookupEnv(arg); ok {
			return fmt.Errorf("%s is %s", arg, value)
		}
		return nil
	case "privileges":
		token, err := sandbox.OwnToken()
		if err != nil {
			return err
		}
		defer token.Close()
		if n, err := sandbox.Privileges(token); err != nil || n > 0 {
			return fmt.Errorf("%d privileges, %v", n, err)
		}
		return nil
	}
	return nil
}

// TestEscapes has a worker that is taken over try to get out.
func TestEscapes(t *testing.T) {
	t.Setenv("A_SECRET", "of the host's")
	r, err := New(t.Context(), &Options{MaxWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	event, err := windows.CreateEvent(inheritableHandle(), 1, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(event)
	system, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(scratch(t), "canary")
	for _, tt := range []struct {
		name, order string
		succeeds    bool   // it is a finding, not an attack
		layer       string // that stands against it
	}{
		{name: "an inheritable handle of the host's", order: fmt.Sprint("handle ", uint64(event))},
		{name: "a file", order: "write " + file, layer: LayerFiles},
		{name: "another program", order: "start " + filepath.Join(system, "hostname.exe"), layer: LayerPrivileges},
		{name: "the console", order: "console"},
		{name: "no variables of the host's", order: "environment A_SECRET", succeeds: true},
		{name: "no privileges", order: "privileges", succeeds: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.layer != "" {
				needLayer(t, r, tt.layer)
			}
			res := mustRun(t, r, runtime.Request{Program: attemptPrefix + tt.order})
			if got := res.Value == `"succeeded"`; got != tt.succeeds {
				t.Errorf("succeeded is %v, want %v: %+v", got, tt.succeeds, res.Failure)
			}
		})
	}
	if set, _ := windows.WaitForSingleObject(event, 0); set == windows.WAIT_OBJECT_0 {
		t.Error("the host's event is set")
	}
	if _, err := os.Stat(file); err == nil {
		needLayer(t, r, LayerFiles)
		t.Error("the file is there")
	}
}
