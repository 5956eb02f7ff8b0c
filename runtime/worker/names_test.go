package worker

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func namespaceOf(t testing.TB, global string, names ...string) *runtime.Namespace {
	t.Helper()
	members := make([]runtime.Member, len(names))
	for i, name := range names {
		members[i] = runtime.Member{Name: name, Path: []string{"in", name}}
	}
	n, err := runtime.NewNamespace(global, runtime.ErrorClass{}, members)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Names cross once for each worker, as long as it has a place for them, and a call
// reaches its member whatever crossed before.
func TestNamesCrossOnce(t *testing.T) {
	a, b := namespaceOf(t, "tools", "a", "x"), namespaceOf(t, "tools", "b", "x")
	large := namespaceOf(t, "tools", "x", strings.Repeat("l", maxNames))
	others := make([]*runtime.Namespace, namePlaces)
	for i := range others {
		others[i] = namespaceOf(t, fmt.Sprint("other", i), "x")
	}
	type step struct {
		bound []*runtime.Namespace
		names int // namespaces whose names cross
	}
	one := func(n *runtime.Namespace, names int) step { return step{[]*runtime.Namespace{n}, names} }
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"the same", []step{one(a, 1), one(a, 0), one(a, 0)}},
		{"equal ones", []step{one(a, 1), one(namespaceOf(t, "tools", "a", "x"), 0)}},
		{"other member", []step{one(a, 1), one(b, 1), one(a, 0), one(b, 0)}},
		{"other global", []step{one(a, 1), one(namespaceOf(t, "tools2", "a", "x"), 1)}},
		{"two at once", []step{{[]*runtime.Namespace{a, others[0]}, 2}, {[]*runtime.Namespace{others[0], a}, 0}}},
		{"too large to keep", []step{one(large, 1), one(large, 1), one(a, 1), one(a, 0)}},
		{"more than there are places", []step{one(a, 1), {others, namePlaces}, {others, 0}, one(a, 1), one(others[1], 0), one(others[0], 1)}},
		{"more than there are places at once", []step{{append([]*runtime.Namespace{a}, others...), namePlaces + 1}, one(others[1], 0), one(a, 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var crossed atomic.Int64
			f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
				return spied(engineFunc(callAll), func(f frame) {
					var m runMeta
					if f.kind == kindRun && m.unpack(f) == nil {
						for _, n := range m.Namespaces {
							if !n.Known {
								crossed.Add(1)
							}
						}
					}
				}), nil
			})
			defer f.Close()
			for i, step := range tt.steps {
				var got, want []string
				var req runtime.Request
				for _, n := range step.bound {
					req.Bindings = append(req.Bindings, runtime.Binding{Namespace: n, Call: func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
						got = append(got, inv.Global+"."+inv.Member)
						return runtime.Reply{}, nil
					}})
					for _, m := range n.Members() {
						want = append(want, n.Global()+"."+m.Name)
					}
				}
				before := crossed.Load()
				if res := mustRun(t, f, req); res.Failure != nil {
					t.Fatalf("run %d: %+v", i, res.Failure)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("calls of run %d: %s", i, diff)
				}
				if n := crossed.Load() - before; int(n) != step.names {
					t.Errorf("the names of %d namespaces cross for run %d, want %d", n, i, step.names)
				}
			}
			if f.started.Load() != 1 {
				t.Errorf("%d workers, want one", f.started.Load())
			}
		})
	}
}

// Another worker knows nothing of what the first one was told.
func TestNamesOfAnotherWorker(t *testing.T) {
	a := namespaceOf(t, "tools", "a")
	var known []bool
	f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
		return spied(engineFunc(callAll), func(f frame) {
			var m runMeta
			if f.kind == kindRun && m.unpack(f) == nil {
				known = append(known, m.Namespaces[0].Known)
			}
		}), nil
	})
	defer f.Close()
	for _, trust := range []string{"one", "one", "two", "one"} {
		res := mustRun(t, f, runtime.Request{Trust: trust, Bindings: []runtime.Binding{{Namespace: a, Call: echo}}})
		if res.Failure != nil {
			t.Fatal(res.Failure)
		}
	}
	if diff := cmp.Diff([]bool{false, true, false, false}, known); diff != "" {
		t.Errorf("known to the worker: %s", diff)
	}
}

// callAll calls every member once.
func callAll(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	seq := 0
	for _, b := range req.Bindings {
		for _, m := range b.Namespace.Members() {
			seq++
			if _, err := b.Call(ctx, runtime.Invocation{Seq: seq, Global: b.Namespace.Global(), Member: m.Name, Args: "1"}); err != nil {
				return runtime.Result{}, err
			}
		}
	}
	return runtime.Result{}, nil
}

// spied is a hosted engine; see is told of every frame that it is sent.
func spied(e engine, see func(frame)) *process {
	w := hosted(e)
	ours, theirs := net.Pipe()
	conn := w.link.conn
	w.link = newLink(ours)
	go relay(conn, theirs, pass)
	go func() {
		defer conn.Close()
		from, to := newLink(theirs), newLink(conn)
		for {
			f, err := from.receive(serverCaps)
			if err != nil {
				return
			}
			see(f)
			to.send(f)
		}
	}()
	return w
}
