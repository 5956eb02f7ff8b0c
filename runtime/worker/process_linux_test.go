package worker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

func open(t testing.TB, opts *worker.Options) *worker.Runtime {
	t.Helper()
	r, err := worker.New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func run(t testing.TB, r runtime.Runtime, req runtime.Request) runtime.Result {
	t.Helper()
	res, err := r.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func fine(t testing.TB, r runtime.Runtime) {
	t.Helper()
	if res := run(t, r, runtime.Request{Program: "return 'fine'"}); res.Value != `"fine"` {
		t.Errorf("the next run: %+v %+v", res, res.Failure)
	}
}

// What no engine can stop from inside ends the worker; the host lives and the
// next run works. Console lines printed before it are kept.
func TestWhatOnlyAProcessCanStop(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes that use up their memory")
	}
	r := open(t, nil)
	memory := runtime.Limits{Heap: 64 << 20}
	waited := runtime.Limits{Heap: 256 << 20} // it is cancelled when it has printed
	busy := runtime.Limits{Heap: 256 << 20, Compute: 200 * time.Millisecond}
	for _, tt := range []struct {
		name, program string
		limits        runtime.Limits
		kind          runtime.Kind
		message       string
		needsData     bool // RLIMIT_DATA, which race builds leave alone
	}{
		{"BigInt shift", "return String(eval('1n << 2n ** 40n'))", memory, runtime.MemoryLimit, "heap limit reached (67108864 bytes)", true},
		{"growing array", "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", memory, runtime.MemoryLimit, "heap limit reached (67108864 bytes)", true},
		{"string doubling", "let s = 'x'; for (;;) s += s + 'y'", memory, runtime.MemoryLimit, "heap limit reached (67108864 bytes)", true},
		{"typed arrays", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", memory, runtime.MemoryLimit, "heap limit reached (67108864 bytes)", true},
		{"backtracking pattern", "return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", waited, runtime.Abort, "enough", false},
		{"pattern deaf to the engine", "return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", busy, runtime.Timeout, "compute budget exhausted (200ms busy)", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.needsData && worker.RaceEnabled {
				t.Skip("RLIMIT_DATA is off in race builds: the race detector's shadow memory does not fit under it")
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var came []string
			res, err := r.Run(ctx, runtime.Request{Program: "console.log('before');\n" + tt.program, Limits: tt.limits, Log: func(l runtime.Line) {
				if came = append(came, l.Text); tt.kind == runtime.Abort {
					cancel(errors.New("enough"))
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure == nil || res.Failure.Kind != tt.kind || res.Failure.Message != tt.message {
				t.Errorf("%+v, want %s %q", res.Failure, tt.kind, tt.message)
			}
			if tt.kind == runtime.Timeout && res.Usage.Compute == 0 {
				t.Error("no compute time of a worker that was killed")
			}
			// The time of a busy machine may be over before the program prints.
			if want := []string{"before"}; !slices.Equal(res.Logs, came) || tt.kind != runtime.Timeout && !slices.Equal(came, want) {
				t.Errorf("logs %q, of which %q came before the end; want %q", res.Logs, came, want)
			}
			fine(t, r)
		})
	}
}

// Arguments wait in the worker: the parent holds what is in flight alone.
func TestQueuedArgumentsStayInTheWorker(t *testing.T) {
	r := open(t, nil)
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "keep"}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	res := run(t, r, runtime.Request{
		Program: "const s = 'x'.repeat(4_000_000);\nfor (let i = 0; i < 1000; i++) tools.keep(s)",
		Bindings: []runtime.Binding{{Namespace: namespace, Call: func(ctx context.Context, _ runtime.Invocation) (runtime.Reply, error) {
			<-ctx.Done()
			return runtime.Reply{}, nil
		}}},
	})
	goruntime.ReadMemStats(&after)
	if res.Failure == nil || res.Failure.Kind != runtime.BytesLimit || res.Failure.Site.Line != 2 {
		t.Errorf("%+v, want bytes-limit in line 2", res.Failure)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("the parent allocated %d bytes", grown)
	}
}

// Recursion of every kind ends as one, with the worker's larger stack.
func TestDepth(t *testing.T) {
	r := open(t, nil)
	for name, program := range map[string]string{
		"plain":          "function f() { return f() + 1 }\nf()",
		"native":         "const f = () => [1].map(f);\nf()",
		"getter":         "const o = { get x() { return this.x } };\no.x",
		"json":           "const o = { toJSON() { return JSON.stringify(o) } };\nJSON.stringify(o)",
		"deep and legal": "const f = n => n ? f(n - 1) + 1 : 0;\nreturn f(3000)",
	} {
		t.Run(name, func(t *testing.T) {
			res := run(t, r, runtime.Request{Program: program})
			if name == "deep and legal" {
				if res.Value != "3000" {
					t.Errorf("%+v", res.Failure)
				}
			} else if res.Failure == nil || res.Failure.Kind != runtime.Exception || !strings.HasPrefix(res.Failure.Message, "call depth exceeded") {
				t.Errorf("%+v, want call depth exceeded", res.Failure)
			}
		})
	}
}

func count(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// children lists the child processes of this one, zombies included.
func children(t testing.TB) []string { return childrenOf(t, os.Getpid()) }

func childrenOf(t testing.TB, pid int) []string {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(tasks) == 0 {
		t.Skip("this kernel does not list the children of a thread")
	}
	var all []string
	for _, name := range tasks {
		text, _ := os.ReadFile(name)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// A worker has the environment it was given and nothing of the host's, little
// else open, and limits.
func TestWorkerProcess(t *testing.T) {
	t.Setenv("SECRET", "token")
	before := children(t)
	r := open(t, &worker.Options{Env: []string{"GIVEN=1"}, MaxWorkers: 1})
	fine(t, r)
	var pid string
	for _, child := range children(t) {
		if !strings.Contains(strings.Join(before, " "), child) {
			pid = child
		}
	}
	environ, err := os.ReadFile("/proc/" + pid + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	for entry := range bytes.SplitSeq(bytes.TrimRight(environ, "\x00"), []byte{0}) {
		name, _, _ := bytes.Cut(entry, []byte("="))
		if !strings.Contains(" RUNCODE_WORKER_DEPTH GOMAXPROCS GOTRACEBACK TZ GIVEN ", " "+string(name)+" ") {
			t.Errorf("the worker inherits %s", entry)
		}
	}
	if in, _ := os.Readlink("/proc/" + pid + "/fd/0"); in != "/dev/null" {
		t.Errorf("stdin is %s", in)
	}
	limits, err := os.ReadFile("/proc/" + pid + "/limits")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Max core file size        0 ", "Max open files            32 ", "Max file size             0 "} {
		if !strings.Contains(string(limits), want) {
			t.Errorf("limits lack %q:\n%s", want, limits)
		}
	}
	if !worker.RaceEnabled && strings.Contains(string(limits), "Max data size             unlimited") {
		t.Errorf("data is not limited:\n%s", limits)
	}
	if want := "Max cpu time              6"; !strings.Contains(string(limits), want) { // a minute, and what the worker had used
		t.Errorf("limits lack %q:\n%s", want, limits)
	}
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if fields[2] != pid {
		t.Errorf("process group %s of worker %s, want its own", fields[2], pid)
	}
}

// buildHost builds the program of testdata/host.
var buildHost = sync.OnceValues(func() (string, error) {
	path := filepath.Join(worker.SharedDir(), "host")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/host").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func host(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	path, err := buildHost()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHostProgram(t *testing.T) {
	for _, tt := range []struct {
		name, early string
		want        []string
	}{
		{"no early code", "", []string{"value: 2 <nil> <nil>"}},
		{"initialisation that prints", "print", []string{"value: 2 <nil> <nil>"}},
		{"initialisation that exits", "exit", []string{"error: start a worker process: it exited with code 3 instead of greeting; it printed: early: no database; programs can run without one with in-process isolation (IsolationInProcess, --in-process on the command line), or with another file as the worker (Worker.Binary)"}},
		{"initialisation that opens a pipe", "open", []string{"leaves 2 descriptors open in worker processes", "value: 2 <nil> <nil>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(host(t), "run", tt.early)
			null, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			// The host inherits them where its workers have their own, and beyond, where they close them.
			cmd.ExtraFiles = []*os.File{null, null, null, null, nil, null}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
			if tt.early != "open" && strings.Contains(string(out), "descriptors") {
				t.Errorf("descriptors are noted that no worker has:\n%s", out)
			}
			if n := strings.Count(string(out), "main ran"); n != 1 {
				t.Errorf("main ran %d times:\n%s", n, out)
			}
			if strings.Contains(string(out), "early: ready") {
				t.Errorf("a worker's output reached the host's:\n%s", out)
			}
		})
	}
}

// What looks like a worker's start and is none runs the program itself. What is one
// greets, so that the others are refused for what their names say.
func TestSpoofedStarts(t *testing.T) {
	const marker, nonce = "runcode-worker", "00112233445566778899aabbccddeeff"
	host := host(t)
	pair, in, out, mute := socketPair(t), pipe(t), pipe(t), null(t)
	out.ours, out.theirs = out.theirs, out.ours
	in.ours.Close() // a worker takes the end of what it reads as the order to exit
	for _, tt := range []struct {
		name string
		cmd  func(host string) *exec.Cmd
		want string // of what it prints
	}{
		{"argv alone", func(host string) *exec.Cmd { return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}} }, ran},
		{"environment alone", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{host}, Env: []string{"RUNCODE_WORKER_DEPTH=1"}, ExtraFiles: []*os.File{pair.theirs, in.theirs, out.theirs}}
		}, ran},
		{"a file as the proof", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}, ExtraFiles: []*os.File{mute, in.theirs, out.theirs}}
		}, ran},
		{"a file in place of a pipe", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}, ExtraFiles: []*os.File{pair.theirs, mute, out.theirs}}
		}, ran},
		{"a file in place of the other pipe", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}, ExtraFiles: []*os.File{pair.theirs, in.theirs, mute}}
		}, ran},
		{"nothing in place of a pipe", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}, ExtraFiles: []*os.File{pair.theirs, in.theirs}}
		}, ran},
		{"a socket pair of somebody else", func(host string) *exec.Cmd {
			cmd := exec.Command("bash", "-c", `(exec -a `+marker+` "$0" `+nonce+` "" ""); true`, host)
			cmd.ExtraFiles = []*os.File{pair.theirs, in.theirs, out.theirs}
			return cmd
		}, ran},
		{"a worker", func(host string) *exec.Cmd {
			return &exec.Cmd{Path: host, Args: []string{marker, nonce, "", ""}, ExtraFiles: []*os.File{pair.theirs, in.theirs, out.theirs}}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := tt.cmd(host)
			said, err := cmd.CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("there is no bash to start the program through")
			}
			if string(said) != tt.want || err != nil {
				t.Errorf("%q, %v; want %q", said, err, tt.want)
			}
		})
	}
	out.theirs.Close()
	hello, err := io.ReadAll(out.ours)
	if n := strings.Count(string(hello), nonce); n != 1 || err != nil {
		t.Errorf("%d greetings, %v; want that of the worker", n, err)
	}
}

// ran is what the main of the host program prints.
const ran = "main ran\n"

// ends is what two processes share, until the end of the test.
type ends struct{ ours, theirs *os.File }

func (e ends) closeAfter(t *testing.T) ends {
	t.Cleanup(func() {
		e.ours.Close()
		e.theirs.Close()
	})
	return e
}

func socketPair(t *testing.T) ends {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ends{os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")}.closeAfter(t)
}

// pipe is one whose reading end is theirs.
func pipe(t *testing.T) ends {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return ends{w, r}.closeAfter(t)
}

func null(t *testing.T) *os.File {
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// A program with raised privileges never becomes a worker.
func TestPrivilegedBinary(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a file of another user")
	}
	text, err := os.ReadFile(host(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "host")
	if err := errors.Join(os.WriteFile(path, text, 0o755), os.Chown(path, 65534, 65534), os.Chmod(path, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	files := []*os.File{socketPair(t).theirs, pipe(t).theirs, pipe(t).ours}
	out, err := (&exec.Cmd{Path: path, Args: []string{"runcode-worker", "nonce", "", ""}, ExtraFiles: files}).CombinedOutput()
	if string(out) != ran || err != nil {
		t.Errorf("%q, %v; want main to run", out, err)
	}
	// The thread that starts workers takes the file's mode its force.
	fine(t, open(t, &worker.Options{Binary: path}))
}

// What is no worker is given nothing to execute, and New says what it was.
func TestWrongBinary(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	canary := filepath.Join(dir, "canary")
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, binary, want string }{
		{"a shell", "/bin/sh", "instead of greeting"},
		{"a script that keeps what it is sent", script("thief", "cat <&4 >"+canary), "it said nothing for 1s"},
		{"one that talks", script("talker", "echo hello; exit 5"), "it exited with code 5 instead of greeting; it printed: hello"},
		{"one that sends something else", script("babbler", "head -c 100 /dev/zero >&5; cat <&4 >"+canary), "its greeting is not one of a worker: a type-0 frame is not accepted here"},
		{"one that starts the host again", script("loop", `exec "`+os.Args[0]+`" -test.run=TestWrongBinary/one_that_starts_the_host_again`), "instead of greeting"},
		{"one that does not exist", filepath.Join(dir, "nothing"), "no such file or directory"},
		{"one that is not executable", plain, "is not an executable file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv("RUNCODE_WORKER_DEPTH") != "" {
				_, err := worker.New(t.Context(), &worker.Options{Binary: tt.binary})
				fmt.Println("again:", err)
				os.Exit(9)
			}
			// Under Landlock a script's interpreter may not be executed.
			opts := &worker.Options{Binary: tt.binary, Without: []string{worker.LayerLandlock}}
			if tt.name == "a script that keeps what it is sent" {
				opts = worker.WithHelloWait(*opts, time.Second)
			}
			_, err := worker.New(t.Context(), opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "IsolationInProcess") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.name == "one that starts the host again" && (err == nil || !strings.Contains(err.Error(), "starting it again would not end")) {
				t.Errorf("error %v, want the depth guard's", err)
			}
			if text, _ := os.ReadFile(canary); len(text) > 0 {
				t.Errorf("it was sent %q", text)
			}
		})
	}
}

// A named binary that is replaced is not started.
func TestReplacedBinary(t *testing.T) {
	text, err := os.ReadFile(host(t))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "slim")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	r := open(t, &worker.Options{Binary: path, MaxWorkers: 1})
	fine(t, r)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, append(text, 0), 0o755)); err != nil {
		t.Fatal(err)
	}
	fine(t, r) // the worker that lives is what it was
	run(t, r, runtime.Request{Program: "for (;;);", Limits: runtime.Limits{Compute: time.Millisecond}})
	res := run(t, r, runtime.Request{Program: "return 1"})
	if res.Failure == nil || res.Failure.Kind != runtime.WorkerUnavailable || !strings.Contains(res.Failure.Message, "is another file than when this runtime was made") {
		t.Errorf("%+v, want worker-unavailable", res.Failure)
	}
}

// Workers do not outlive a host that is killed.
func TestWorkersEndWithTheHost(t *testing.T) {
	cmd := exec.Command(host(t), "hang", "")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "hanging" {
	}
	workers := childrenOf(t, cmd.Process.Pid)
	if len(workers) == 0 {
		t.Fatal("the host has no worker")
	}
	pid, _ := strconv.Atoi(workers[0])
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	cmd.Process.Kill()
	cmd.Wait()
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
	if err != nil || n != 1 {
		t.Errorf("the worker still lives (%d, %v)", n, err)
	}
}

func TestNotes(t *testing.T) {
	if !worker.RaceEnabled {
		t.Skip("without the race detector there is nothing to note")
	}
	var said bytes.Buffer
	open(t, &worker.Options{Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if !strings.Contains(said.String(), "layer=memory-limit state=off") {
		t.Errorf("log %s", said.String())
	}
}

// Local time in a worker is the host's, though it may read no file by the time a
// program asks for it.
func TestTimeZoneFile(t *testing.T) {
	zone, err := os.ReadFile("/usr/share/zoneinfo/Asia/Tokyo")
	if err != nil {
		t.Skipf("there are no time zones here: %v", err)
	}
	path := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(path, zone, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TZ", ":"+path)
	if res := run(t, open(t, nil), runtime.Request{Program: "return new Date(0).getTimezoneOffset()"}); res.Value != "-540" {
		t.Errorf("%+v %+v, want -540", res, res.Failure)
	}
}
