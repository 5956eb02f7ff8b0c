package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/runtime"
)

// crew is a Runtime over real worker processes, which it remembers.
type crew struct {
	*Runtime
	starter *starter
	said    atomic.Pointer[func(line string)] // gets what is logged
	mu      sync.Mutex
	workers []*process
}

// newCrew starts workers as New does and has change see each before its first
// run. At the test's end nothing of them may be left.
func newCrew(t *testing.T, opts Options, change func(n int, w *process)) *crew {
	t.Helper()
	checkLeftovers(t)
	c := &crew{}
	logger := slog.New(slog.NewTextHandler(writerFunc(func(line []byte) (int, error) {
		if hear := c.said.Load(); hear != nil {
			(*hear)(string(line))
		}
		return len(line), nil
	}), nil))
	s, err := newStarter(&opts, helloWait, logger)
	if err != nil {
		t.Fatal(err)
	}
	c.starter = s
	c.Runtime = newRuntime(opts, func(ctx context.Context) (*process, error) {
		w, err := s.start(ctx)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if change != nil {
			change(len(c.workers), w)
		}
		c.workers = append(c.workers, w)
		return w, nil
	}, s.close, logger)
	t.Cleanup(func() { within(t, func() { c.Close() }) })
	return c
}

// checkLeftovers compares the processes and descriptors at the end of a test with
// those of now.
func checkLeftovers(t *testing.T) {
	t.Helper()
	count := func() (processes, descriptors int) {
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, name := range tasks {
			text, _ := os.ReadFile(name)
			processes += len(strings.Fields(string(text)))
		}
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return processes, len(open)
	}
	processes, descriptors := count()
	t.Cleanup(func() {
		// The poller's own descriptors may have come.
		if p, d := count(); p > processes || d > descriptors+2 {
			t.Errorf("%d processes and %d descriptors, had %d and %d", p, d, processes, descriptors)
		}
	})
}

// nth is the worker that was started as number n, counted from 0.
func (c *crew) nth(n int) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers[n]
}

// idleWorker is the one worker that waits for a run.
func (c *crew) idleWorker(t *testing.T) *process {
	t.Helper()
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if len(c.pool.idle) != 1 {
		t.Fatalf("%d workers are idle, want 1", len(c.pool.idle))
	}
	return c.pool.idle[0]
}

func (c *crew) fine(t *testing.T) {
	t.Helper()
	within(t, func() {
		if res := mustRun(t, c, runtime.Request{Program: "return 'fine'"}); res.Value != `"fine"` {
			t.Errorf("the next run: %+v", res.Failure)
		}
	})
}

// signalTo sends a signal. One that stops has stopped all threads when it returns:
// until then a worker may settle a whole run.
func signalTo(t *testing.T, w *process, sig syscall.Signal) {
	if err := syscall.Kill(w.pid, sig); err != nil {
		t.Error(err)
	}
	for sig == syscall.SIGSTOP && unix.Waitid(unix.P_PID, w.pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// halfway has the frames of one kind stop in their middle for act to happen.
func halfway(k kind, act func()) func(io.Reader, int, kind, io.Writer) error {
	return func(frame io.Reader, size int, is kind, to io.Writer) error {
		if is != k {
			return pass(frame, size, is, to)
		}
		if _, err := io.CopyN(to, frame, int64(size/2)); err != nil {
			return err
		}
		act()
		_, err := io.CopyN(to, frame, int64(size-size/2))
		return err
	}
}

// between puts relays into a worker's connection.
func between(w *process, toWorker, toParent func(io.Reader, int, kind, io.Writer) error) {
	ours, theirs := net.Pipe()
	conn := w.link.conn
	go relay(theirs, conn, toWorker)
	go relay(conn, theirs, toParent)
	w.link = newLink(ours)
}

const killed = "worker was ended by signal 9 (killed) before completing"

// TestFaults has a real worker fail in the middle of a run. The run ends with one
// failure, its calls are settled, the lines from before are kept, and the next
// run is well.
func TestFaults(t *testing.T) {
	large := "'x'.repeat(3_000_000)"
	kill := func(t *testing.T, w *process) { signalTo(t, w, syscall.SIGKILL) }
	enough := errors.New("enough")
	var cancel context.CancelCauseFunc // of the run
	for _, tt := range []struct {
		name    string
		program string                     // after a line that prints and one that calls a
		change  func(*testing.T, *process) // before the run
		act     func(*testing.T, *process) // in the body of a
		signal  syscall.Signal             // the same: it is sent this
		result  string                     // of a
		kind    runtime.Kind               // "" for the value "done"
		message string
		hint    string
	}{
		{name: "killed in a call", act: kill, kind: runtime.WorkerExit, message: killed, hint: systemKill + "; the last call before that was number 1, on line 2"},
		{name: "killed while its call is half read", program: "await tools.b(" + large + ")", kind: runtime.WorkerExit, message: killed,
			change: func(t *testing.T, w *process) {
				calls := 0
				between(w, pass, func(frame io.Reader, size int, k kind, to io.Writer) error {
					if k == kindCall {
						if calls++; calls == 2 {
							return halfway(k, func() { kill(t, w) })(frame, size, k, to)
						}
					}
					return pass(frame, size, k, to)
				})
			}},
		{name: "killed while a reply is half sent", result: `"` + strings.Repeat("x", 3_000_000) + `"`, kind: runtime.WorkerExit, message: killed,
			change: func(t *testing.T, w *process) { between(w, halfway(kindReply, func() { kill(t, w) }), pass) }},
		{name: "killed while its program is half sent", program: "// " + strings.Repeat("x", 200_000), kind: runtime.WorkerExit, message: killed,
			change: func(t *testing.T, w *process) { between(w, halfway(kindRun, func() { kill(t, w) }), pass) }},
		{name: "killed while its result is read", program: "return " + large, kind: runtime.WorkerExit, message: killed,
			change: func(t *testing.T, w *process) { between(w, pass, halfway(kindDone, func() { kill(t, w) })) }},
		{name: "killed when its result is read", change: func(t *testing.T, w *process) {
			between(w, pass, func(frame io.Reader, size int, k kind, to io.Writer) error {
				if k == kindDone {
					defer func() { kill(t, w); <-w.exited }()
				}
				return pass(frame, size, k, to)
			})
		}},
		{name: "terminated", signal: syscall.SIGTERM, kind: runtime.WorkerExit, message: "worker was ended by signal 15 (terminated) before completing", hint: tryAgain},
		{name: "interrupted", signal: syscall.SIGINT, kind: runtime.WorkerExit, message: "worker was ended by signal 2 (interrupt) before completing", hint: tryAgain},
		{name: "hung up", signal: syscall.SIGHUP, kind: runtime.WorkerExit, message: "worker was ended by signal 1 (hangup) before completing", hint: tryAgain},
		{name: "asked to quit", signal: syscall.SIGQUIT, kind: runtime.WorkerExit, message: "worker exited with code 2 before completing: SIGQUIT: quit", hint: tryAgain},
		{name: "aborted", signal: syscall.SIGABRT, kind: runtime.WorkerExit, message: "worker exited with code 2 before completing: SIGABRT: abort", hint: tryAgain},
		{name: "sent a fault", signal: syscall.SIGSEGV, kind: runtime.WorkerExit, message: "worker exited with code 2 before completing: SIGSEGV: segmentation violation", hint: tryAgain},
		{name: "sent the filter's signal", signal: syscall.SIGSYS, kind: runtime.WorkerExit, message: "worker exited with code 2 before completing: SIGSYS: bad system call", hint: tryAgain},
		{name: "sent the signal of its processor limit", signal: syscall.SIGXCPU, kind: runtime.Timeout, message: "compute budget exhausted (60000ms busy)"},
		{name: "the parent stops speaking", act: func(t *testing.T, w *process) { w.link.conn.(*duplex).out.Close() }, kind: runtime.WorkerExit, message: "worker exited with code 0 before completing", hint: tryAgain},
		{name: "the parent closes the connection", act: func(t *testing.T, w *process) { w.link.close() }, kind: runtime.WorkerExit, message: "worker connection failed: file already closed", hint: tryAgain},
		{name: "stopped", act: func(t *testing.T, w *process) { signalTo(t, w, syscall.SIGSTOP); cancel(enough) }, kind: runtime.Abort, message: "enough"},
		{name: "stopped before a reply it cannot hold", result: `"` + strings.Repeat("x", 3_000_000) + `"`, signal: syscall.SIGSTOP, kind: runtime.Abort, message: "enough",
			change: func(_ *testing.T, w *process) {
				between(w, func(frame io.Reader, size int, k kind, to io.Writer) error {
					if k == kindReply {
						cancel(enough) // while the reply is being sent
					}
					return pass(frame, size, k, to)
				}, pass)
			}},
		{name: "stopped before its program", kind: runtime.Abort, message: "enough",
			change: func(t *testing.T, w *process) {
				signalTo(t, w, syscall.SIGSTOP)
				between(w, func(frame io.Reader, size int, k kind, to io.Writer) error {
					if k == kindRun {
						defer cancel(enough)
					}
					return pass(frame, size, k, to)
				}, pass)
			}},
		{name: "stopped at the barrier", change: func(t *testing.T, w *process) {
			between(w, pass, func(frame io.Reader, size int, k kind, to io.Writer) error {
				if k != kindBarrier {
					return pass(frame, size, k, to)
				}
				signalTo(t, w, syscall.SIGSTOP) // and what it may have said is lost
				_, err := io.Copy(io.Discard, frame)
				return err
			})
		}},
		{name: "stopped and told to go on", act: func(t *testing.T, w *process) {
			signalTo(t, w, syscall.SIGSTOP)
			signalTo(t, w, syscall.SIGCONT)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.signal != 0 {
				if signal.Ignored(tt.signal) {
					t.Skip("this process ignores the signal, and so do its workers")
				}
				tt.act = func(t *testing.T, w *process) { signalTo(t, w, tt.signal) }
			}
			c := newCrew(t, Options{MaxWorkers: 1}, func(n int, w *process) {
				if n == 0 && tt.change != nil {
					tt.change(t, w)
				}
			})
			var ctx context.Context
			ctx, cancel = context.WithCancelCause(t.Context())
			defer cancel(nil)
			var bodies []context.Context
			program := tt.program
			if program == "" {
				program = "return 'done'"
			}
			var res runtime.Result
			var err error
			within(t, func() {
				res, err = c.Run(ctx, runtime.Request{
					Program: "console.log('before')\nawait tools.a()\n" + program,
					Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
						bodies = append(bodies, ctx)
						if tt.act != nil && inv.Member == "a" {
							tt.act(t, c.nth(0))
							if tt.kind != "" && tt.result == "" {
								<-ctx.Done() // which must come
							}
						}
						return runtime.Reply{Value: tt.result}, nil
					}),
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if tt.kind == "" {
				if res.Value != `"done"` {
					t.Errorf("%s %+v, want the value", res.Value, res.Failure)
				}
			} else if f := res.Failure; f == nil || f.Kind != tt.kind || tt.message != "" && f.Message != tt.message || !strings.HasPrefix(f.Hint, tt.hint) {
				t.Errorf("%+v, want %s %q %q", f, tt.kind, tt.message, tt.hint)
			}
			for i, ctx := range bodies {
				if ctx.Err() == nil {
					t.Errorf("the context of call %d is alive", i+1)
				}
			}
			if len(bodies) > 0 && !slices.Equal(res.Logs, []string{"before"}) || len(bodies) != res.Usage.Calls {
				t.Errorf("lines %q of a run with %d calls, of which %d are counted", res.Logs, len(bodies), res.Usage.Calls)
			}
			c.fine(t)
		})
	}
}

// A worker that is stopped holds up its own run alone, and no Close.
func TestStoppedWorkerHoldsUpNothing(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 2}, nil)
	stopped, over := make(chan struct{}), make(chan runtime.Result, 1)
	go func() {
		res, _ := c.Run(t.Context(), runtime.Request{Program: "await tools.a()", Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
			signalTo(t, c.nth(0), syscall.SIGSTOP)
			close(stopped)
			return runtime.Reply{Value: `"` + strings.Repeat("x", 3_000_000) + `"`}, nil
		})})
		over <- res
	}()
	within(t, func() { <-stopped })
	c.fine(t)
	within(t, func() { c.Close() })
	wantFailure(t, <-over, runtime.Abort, "runtime disposed")
}

// What happens to a worker between its hello and its run costs at most that run.
func TestFaultsWhileIdle(t *testing.T) {
	for _, tt := range []struct {
		name  string
		act   func(*testing.T, *process)
		wall  time.Duration
		kinds []runtime.Kind // how the run after it may end; "" is a value
	}{
		{"killed and reaped", func(t *testing.T, w *process) { signalTo(t, w, syscall.SIGKILL); <-w.exited }, 0, []runtime.Kind{""}},
		{"killed", func(t *testing.T, w *process) { signalTo(t, w, syscall.SIGKILL) }, 0, []runtime.Kind{"", runtime.WorkerExit}},
		{"stopped", func(t *testing.T, w *process) { signalTo(t, w, syscall.SIGSTOP) }, 300 * time.Millisecond, []runtime.Kind{runtime.Timeout}},
		{"its connection closed", func(_ *testing.T, w *process) { w.link.close() }, 0, []runtime.Kind{"", runtime.WorkerExit}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrew(t, Options{MaxWorkers: 1}, nil)
			c.fine(t)
			tt.act(t, c.idleWorker(t))
			within(t, func() {
				res := mustRun(t, c, runtime.Request{Program: "return 'done'", Limits: runtime.Limits{Wall: tt.wall}})
				var kind runtime.Kind
				if res.Failure != nil {
					kind = res.Failure.Kind
				}
				if !slices.Contains(tt.kinds, kind) {
					t.Errorf("%+v, want one of %q", res.Failure, tt.kinds)
				}
			})
			c.fine(t)
			if tt.name == "stopped" {
				signalTo(t, c.idleWorker(t), syscall.SIGSTOP) // Close must not wait for it
			}
		})
	}
}

// TestStartFaults has starts fail in ways of the system, with the process that
// would be started.
func TestStartFaults(t *testing.T) {
	start := os.StartProcess
	refused := func(errno syscall.Errno) func(string, []string, *os.ProcAttr) (*os.Process, error) {
		return func(name string, _ []string, _ *os.ProcAttr) (*os.Process, error) {
			return nil, &os.PathError{Op: "fork/exec", Path: name, Err: errno}
		}
	}
	for _, tt := range []struct {
		name    string
		exec    func(string, []string, *os.ProcAttr) (*os.Process, error)
		message string
		again   bool // it is tried until it works
	}{
		{"no descriptors", refused(syscall.EMFILE), "fork/exec /proc/self/exe: too many open files", true},
		{"no descriptors in the system", refused(syscall.ENFILE), "fork/exec /proc/self/exe: too many open files in system", true},
		{"no processes", refused(syscall.EAGAIN), "fork/exec /proc/self/exe: resource temporarily unavailable", true},
		{"no memory", refused(syscall.ENOMEM), "fork/exec /proc/self/exe: cannot allocate memory", true},
		{"not permitted", refused(syscall.EPERM), "fork/exec /proc/self/exe: operation not permitted", false},
		{"not there", refused(syscall.ENOENT), "fork/exec /proc/self/exe: no such file or directory", false},
		{"not a program", refused(syscall.ENOEXEC), "fork/exec /proc/self/exe: exec format error", false},
		{"killed before its hello", func(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
			p, err := start(name, argv, attr)
			if err == nil {
				p.Kill()
			}
			return p, err
		}, "it was ended by signal 9 (killed) instead of greeting", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCrew(t, Options{MaxWorkers: 1}, nil)
			c.fine(t) // so that the layers are known
			c.idleWorker(t).end()
			const failures = 2
			var said []string
			hear := func(line string) { said = append(said, line) }
			c.said.Store(&hear)
			starts := 0
			c.starter.exec = func(name string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
				if starts++; starts > failures {
					return start(name, argv, attr)
				}
				return tt.exec(name, argv, attr)
			}
			var res runtime.Result
			within(t, func() { res = mustRun(t, c, runtime.Request{Program: "return 1"}) })
			c.said.Store(nil)
			if tt.again {
				if res.Value != "1" || len(said) != failures || !strings.Contains(said[0], "trying again") || !strings.Contains(said[0], tt.message) {
					t.Errorf("%+v, log %q; want %d starts that fail with %q and are repeated", res.Failure, said, failures, tt.message)
				}
			} else if wantFailure(t, res, runtime.WorkerUnavailable, "no worker process could be started: "+tt.message); starts != 1 {
				t.Errorf("%d starts, want one", starts)
			}
			c.starter.exec = start
			c.fine(t)
		})
	}
}

// writerFunc is an io.Writer that is one function.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A start whose context ends when the worker has greeted gives no worker: it is
// being killed, and its run would be blamed for that.
func TestStartThatEndsWithItsContext(t *testing.T) {
	checkLeftovers(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	logger := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		cancel(enough) // what the first worker lacks is logged once it has greeted
		return len(p), nil
	}), nil))
	s, err := newStarter(&Options{Without: []string{LayerCPU}}, helloWait, logger)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	w, err := s.start(ctx)
	if w != nil || err != enough {
		t.Errorf("%v %v, want only the error %q", w, err, enough)
	}
}

// A host that is short of descriptors has not found out which limits it can set on a
// worker: none is missing for that.
func TestLimitsOfAHostInNeed(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	c.fine(t)
	w := c.idleWorker(t)
	var free unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &free); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: free.Max}); err != nil {
		t.Fatal(err)
	}
	layers, err := limitFromOutside(w, nil)
	_, seen := w.usage()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &free); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("%+v %v, want that no descriptors are left", layers, err)
	}
	if seen != nil {
		t.Errorf("what the worker uses cannot be seen: %v", seen)
	}
}

// What native code in a worker can do to it. None is reached from a program; all
// could come from a fault in the engine.
var _ = addFaults()

func addFaults() bool {
	for name, f := range map[string]func(string) error{
		"exit 0":     func(string) error { os.Exit(0); return nil },
		"exit 7":     func(string) error { os.Exit(7); return nil },
		"panic":      func(string) error { go panic("engine: index out of order"); select {} },
		"map":        func(string) error { return writeMapTwice() },
		"nil":        func(string) error { var p *int; go func() { *p = 1 }(); select {} },
		"stack":      func(string) error { return fmt.Errorf("%d", recurse(1)) },
		"abort":      func(string) error { unix.Kill(os.Getpid(), unix.SIGABRT); select {} },
		"kill":       func(string) error { unix.Kill(os.Getpid(), unix.SIGKILL); select {} },
		"hang-up":    func(string) error { closeLink(); select {} },
		"mute":       func(string) error { unix.Close(toParentDescriptor); select {} },
		"deaf-ears":  func(string) error { unix.Close(fromParentDescriptor); return nil },
		"deaf":       func(string) error { closeOutput(); return nil },
		"allocation": func(string) error { keep = make([]byte, 1<<40); return nil },
		"growth":     func(string) error { return grow(1 << 20) },
		"crumbs":     func(string) error { return grow(64) },
		"goroutines": func(string) error { return manyGoroutines() },
		"threads":    func(string) error { return manyThreads() },
	} {
		attempts[strings.ReplaceAll(name, " ", "-")] = f
	}
	return true
}

var keep any

func writeMapTwice() error {
	goruntime.GOMAXPROCS(2)
	m := map[int]int{}
	for range 2 {
		go func() {
			for i := 0; ; i++ {
				m[i%8] = i
			}
		}()
	}
	select {}
}

func recurse(n int) int {
	if n < 0 {
		return n
	}
	return recurse(n+1) + n
}

func closeLink() {
	unix.Close(fromParentDescriptor)
	unix.Close(toParentDescriptor)
}

func closeOutput() {
	unix.Close(1)
	unix.Close(2)
}

// grow takes memory in pieces, up to what no limit of these tests allows.
func grow(piece int) error {
	type link struct {
		next *link
		data []byte
	}
	var all *link
	for total := 0; total < two; total += piece {
		all = &link{all, make([]byte, piece)}
		all.data[0] = 1
	}
	keep = all
	return errors.New("nothing stopped it")
}

func manyGoroutines() error {
	var all sync.WaitGroup
	for range 200_000 {
		all.Go(func() {
			var large [8 << 10]byte
			goruntime.Gosched()
			keep = large[3]
			select {}
		})
	}
	all.Wait()
	return nil
}

// manyThreads locks goroutines to threads of their own until there is no memory
// for one more.
func manyThreads() error {
	ballast := make([]byte, 100<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	for range 3000 {
		up := make(chan struct{})
		go func() {
			goruntime.LockOSThread()
			close(up)
			select {}
		}()
		<-up
	}
	return errors.New("nothing stopped it")
}

// A stack is doubled until it may grow no more, and while a collection is at work
// none of the smaller ones is given back: a recursion that nothing stops needs two of
// the largest. With less room than that it would now and then be called too much
// memory.
func TestRoomForStacks(t *testing.T) {
	const stacks = 2 * maxStack
	const others = 8 << 20 // the collector's tables, and what is no stack
	if room := smallHeap + slack; room < stacks+others {
		t.Errorf("a run with a heap of %d bytes has room for %d, less than the stacks of a recursion need (%d)", smallHeap, room, stacks+others)
	}
}

// smallHeap is the heap limit of runs that end in every way.
const smallHeap = 64 << 20

// TestExits has real workers end in every way and checks what a model is told.
func TestExits(t *testing.T) {
	small := runtime.Limits{Heap: smallHeap}
	const memory = "heap limit reached (67108864 bytes)"
	for _, tt := range []struct {
		attempt string
		kind    runtime.Kind
		message string
		hint    string
		bounded bool // it needs RLIMIT_DATA
	}{
		{"exit-0", runtime.WorkerExit, "worker exited with code 0 before completing", tryAgain, false},
		{"exit-7", runtime.WorkerExit, "worker exited with code 7 before completing", tryAgain, false},
		{"panic", runtime.WorkerExit, "worker exited with code 2 before completing: panic: engine: index out of order", engineFault, false},
		{"map", runtime.WorkerExit, "worker exited with code 2 before completing: fatal error: concurrent map writes", engineFault, false},
		{"nil", runtime.WorkerExit, "worker exited with code 2 before completing: panic: runtime error: invalid memory address or nil pointer dereference", engineFault, false},
		{"stack", runtime.Exception, "call depth exceeded", "", false},
		{"abort", runtime.WorkerExit, "worker exited with code 2 before completing: SIGABRT: abort", tryAgain, false},
		{"kill", runtime.WorkerExit, killed, systemKill, false},
		{"hang-up", runtime.WorkerExit, "worker closed its connection before completing and was ended", engineFault, false},
		{"mute", runtime.WorkerExit, "worker closed its connection before completing and was ended", engineFault, false},
		{"execve", runtime.WorkerExit, "worker was ended by signal 31 (bad system call) before completing", intruder, false},
		{"allocation", runtime.MemoryLimit, memory, smaller, true},
		{"growth", runtime.MemoryLimit, memory, smaller, true},
		{"crumbs", runtime.MemoryLimit, memory, smaller, true},
		{"goroutines", runtime.MemoryLimit, memory, smaller, true},
		{"threads", runtime.MemoryLimit, memory, smaller, true},
	} {
		t.Run(tt.attempt, func(t *testing.T) {
			if tt.bounded && testing.Short() {
				t.Skip("uses up memory")
			}
			if raceEnabled && tt.attempt == "map" {
				t.Skip("what the race detector says of it comes between its last words")
			}
			c := newCrew(t, Options{MaxWorkers: 1}, nil)
			c.fine(t)
			w := c.idleWorker(t)
			if tt.bounded && !w.has(LayerMemory) || tt.hint == intruder && !w.has(LayerSeccomp) {
				t.Skip("the layer that ends it is not there")
			}
			within(t, func() {
				res := mustRun(t, c, runtime.Request{Program: attemptPrefix + tt.attempt, Limits: small})
				wantFailure(t, res, tt.kind, tt.message)
				if res.Failure != nil && res.Failure.Hint != tt.hint {
					t.Errorf("hint %q, want %q", res.Failure.Hint, tt.hint)
				}
			})
			t.Logf("it said %q", shorten(c.nth(1).diag.String(), 300))
			c.fine(t)
		})
	}
}

// A worker without its diagnostics works on.
func TestDiagnosticsMayEnd(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	if res := mustRun(t, c, runtime.Request{Program: attemptPrefix + "deaf"}); res.Value != `"succeeded"` {
		t.Fatalf("%+v", res.Failure)
	}
	c.fine(t)
	if n := len(c.workers); n != 1 {
		t.Errorf("%d workers, want the same for both runs", n)
	}
}

// A worker that no longer reads is ended by the next run, which says so.
func TestClosedEars(t *testing.T) {
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	if res := mustRun(t, c, runtime.Request{Program: attemptPrefix + "deaf-ears"}); res.Value != `"succeeded"` {
		t.Fatalf("%+v", res.Failure)
	}
	within(t, func() {
		res := mustRun(t, c, runtime.Request{Program: "return 1", Limits: runtime.Limits{Wall: 20 * time.Second}})
		wantFailure(t, res, runtime.WorkerExit, "worker closed its connection before completing and was ended")
	})
	c.fine(t)
}

// A worker that a run found not to read serves no other run, whatever that run came to.
func TestUnreadWorkerIsNotKept(t *testing.T) {
	f := newFleet(t, Options{MaxWorkers: 1}, func(n int) (*process, error) {
		var w *process
		w = hosted(engineFunc(func(context.Context, runtime.Request) (runtime.Result, error) {
			w.notRead()
			return runtime.Result{Value: strconv.Itoa(n)}, nil
		}))
		return w, nil
	})
	defer f.Close()
	within(t, func() {
		first, second := mustRun(t, f, runtime.Request{}), mustRun(t, f, runtime.Request{})
		if first.Failure != nil || second.Failure != nil || first.Value == second.Value {
			t.Errorf("workers %s (%+v) and %s (%+v), want two that both served", first.Value, first.Failure, second.Value, second.Failure)
		}
	})
}

// TestClosedStandardFiles has a host without standard files, whose numbers the pipes
// then get, write to a worker that no longer reads: no broken pipe ends the host.
func TestClosedStandardFiles(t *testing.T) {
	if os.Getenv(childVar) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestClosedStandardFiles$")
		cmd.Env = append(os.Environ(), childVar+"=1")
		if err := cmd.Run(); err != nil { // it can say nothing more
			t.Error(err)
		}
		return
	}
	for _, file := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		file.Close()
	}
	TestClosedEars(t)
}

// childVar has this test binary run one test in a process of its own.
const childVar = "RUNCODE_TEST_CHILD"

// TestOutOfDescriptors has a host use up its descriptors between and during runs.
func TestOutOfDescriptors(t *testing.T) {
	if os.Getenv(childVar) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfDescriptors$", "-test.v")
		cmd.Env = append(os.Environ(), childVar+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestOutOfDescriptors") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	c := newCrew(t, Options{MaxWorkers: 1}, nil)
	c.fine(t)
	var free unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &free); err != nil {
		t.Fatal(err)
	}
	limit := func(n uint64) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: free.Max}); err != nil {
			t.Fatal(err)
		}
	}
	within(t, func() { // a run in progress needs none
		res := mustRun(t, c, runtime.Request{Program: "console.log(1); await tools.a(); return await tools.b('x'.repeat(1e6))", Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			limit(3)
			return runtime.Reply{Value: inv.Args}, nil
		})})
		if len(res.Value) != 1e6+2 || !slices.Equal(res.Logs, []string{"1"}) {
			t.Errorf("%d bytes, lines %q, %+v", len(res.Value), res.Logs, res.Failure)
		}
	})
	c.idleWorker(t).end()
	// Each start gets a little further, to where it needs one more, and in the end
	// as far as to start a process. Until then it would be repeated.
	short := 0
	for n := uint64(3); n < 100; n++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		hear := func(line string) {
			if strings.Contains(line, "trying again") && strings.Contains(line, "too many open files") {
				cancel(errors.New("one was missing"))
			}
		}
		c.said.Store(&hear)
		limit(n)
		var res runtime.Result
		within(t, func() { res, _ = c.Run(ctx, runtime.Request{Program: "return 1"}) })
		missing := ctx.Err() != nil
		cancel(nil)
		if !missing {
			if res.Value != "1" {
				t.Errorf("with %d descriptors: %+v", n, res.Failure)
			}
			break
		}
		short++
		wantFailure(t, res, runtime.Abort, "one was missing")
	}
	c.said.Store(nil)
	if short == 0 || short == 97 {
		t.Errorf("%d of 97 starts failed for want of a descriptor", short)
	}
	limit(free.Cur)
	c.fine(t)
}
