package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// engineFunc is an engine that is one function.
type engineFunc func(context.Context, runtime.Request) (runtime.Result, error)

func (f engineFunc) Run(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	return f(ctx, req)
}

func (engineFunc) Stuck() int { return 0 }

// fakeProcess is a worker without a process: peer has the other end of its
// connection. Its end is reported as status once peer returns; kill closes the
// connection.
func fakeProcess(status exitStatus, said string, peer func(conn net.Conn, killed <-chan struct{})) *process {
	ours, theirs := net.Pipe()
	p := &process{link: newLink(ours), diag: &diagnostics{}, exited: make(chan struct{}), served: map[runID]bool{}}
	p.diag.Write([]byte(said))
	killed := make(chan struct{})
	p.kill = sync.OnceFunc(func() {
		close(killed)
		theirs.Close()
	})
	go func() {
		defer close(p.exited)
		peer(theirs, killed)
		theirs.Close()
		p.status = status
		select {
		case <-killed:
			p.status = exitStatus{Code: -1, Signal: "9 (killed)"}
		default:
		}
	}()
	return p
}

// hosted is a fakeProcess that serves an engine by the protocol.
func hosted(e engine) *process {
	return fakeProcess(exitStatus{}, "", func(conn net.Conn, _ <-chan struct{}) { serveOn(conn, e) })
}

// serveOn is what a worker does with its connection.
func serveOn(conn net.Conn, e engine) error {
	defer conn.Close()
	s := newServer(newLink(conn), e)
	err := s.serve(helloMeta{Version: protocolVersion})
	s.mu.Lock()
	job := s.now
	s.mu.Unlock()
	if job != nil {
		job.cancel(context.Canceled) // a process that has ended runs nothing
	}
	return err
}

// fleet is a Runtime over fake workers, which it counts.
type fleet struct {
	*Runtime
	started atomic.Int64
	mu      sync.Mutex
	workers []*process
}

// newFleet starts its workers with make, in order.
func newFleet(t testing.TB, opts Options, make func(n int) (*process, error)) *fleet {
	t.Helper()
	f := &fleet{}
	f.Runtime = newRuntime(opts, func(ctx context.Context) (*process, error) {
		w, err := make(int(f.started.Add(1)))
		if err != nil {
			return nil, err
		}
		if err := w.greet(greeting{wait: helloWait}); err != nil {
			return nil, err
		}
		f.mu.Lock()
		f.workers = append(f.workers, w)
		f.mu.Unlock()
		return w, nil
	}, func() {}, slog.New(slog.DiscardHandler))
	return f
}

// census is how many workers live and how many runs wait.
func (f *fleet) census() (live, waiting int) {
	f.pool.mu.Lock()
	defer f.pool.mu.Unlock()
	return f.pool.live, len(f.pool.queue)
}

// overEngine is a Runtime whose workers all serve one engine function.
func overEngine(t testing.TB, opts Options, e engineFunc) *fleet {
	f := newFleet(t, opts, func(int) (*process, error) { return hosted(e), nil })
	t.Cleanup(func() { f.Close() })
	return f
}

// overPeer is a Runtime whose workers greet and then do what peer does.
func overPeer(t testing.TB, peer func(*link)) *fleet {
	f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
		return fakeProcess(exitStatus{}, "", func(conn net.Conn, _ <-chan struct{}) {
			l := newLink(conn)
			if l.send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})}) == nil {
				peer(l)
			}
		}), nil
	})
	t.Cleanup(func() { f.Close() })
	return f
}

func packed(m runMeta) string { return m.pack() }

// tools is a binding of two members, a and b.
func tools(t testing.TB, call func(context.Context, runtime.Invocation) (runtime.Reply, error)) []runtime.Binding {
	t.Helper()
	n, err := runtime.NewNamespace("tools", runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}, []runtime.Member{{Name: "a"}, {Name: "b", Path: []string{"deep", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	return []runtime.Binding{{Namespace: n, Call: call}}
}

// echo answers every call with its arguments.
func echo(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	return runtime.Reply{Value: inv.Args}, nil
}

func mustRun(t testing.TB, r runtime.Runtime, req runtime.Request) runtime.Result {
	t.Helper()
	res, err := r.Run(t.Context(), req)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return res
}

func wantFailure(t testing.TB, res runtime.Result, kind runtime.Kind, message string) {
	t.Helper()
	if res.Failure == nil || res.Failure.Kind != kind || res.Failure.Message != message {
		t.Errorf("failure %+v, want %s %q", res.Failure, kind, message)
	}
}

// relay passes frames from one connection to another until either ends, and then
// closes both. A frame goes on as what change makes of it, unchanged without
// one; change has the frame read as it arrives, so it may also take a part of it.
func relay(from, to io.ReadWriteCloser, change func(frame io.Reader, size int, k kind, to io.Writer) error) {
	defer from.Close()
	defer to.Close()
	for {
		var head [headerSize]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		size := headerSize + int(binary.BigEndian.Uint32(head[0:])) + int(binary.BigEndian.Uint32(head[4:]))
		whole := io.LimitReader(io.MultiReader(bytes.NewReader(head[:]), from), int64(size))
		if err := change(whole, size, kind(head[8]), to); err != nil {
			return
		}
	}
}

// pass is the change of a relay that changes nothing.
func pass(frame io.Reader, size int, _ kind, to io.Writer) error {
	_, err := io.CopyN(to, frame, int64(size))
	return err
}

// within fails the test if f takes longer than any of its steps may.
func within(t testing.TB, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		panic("it hangs: " + t.Name()) // with the stacks of all goroutines
	}
}
