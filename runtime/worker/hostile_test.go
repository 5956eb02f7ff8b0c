package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// peer is a worker that breaks the protocol on purpose.
type peer struct {
	*link
	t   *testing.T
	run runID // of the last run frame
}

// awaitRun says whether a run came.
func (p *peer) awaitRun() bool {
	f, err := p.receive(serverCaps)
	if err != nil || f.kind != kindRun {
		return false
	}
	p.run = f.run
	return true
}

// say sends a frame of the run. A refusing parent may have closed by then.
func (p *peer) say(f frame) {
	if f.run == (runID{}) {
		f.run = p.run
	}
	p.send(f)
}

func (p *peer) done(value string) {
	p.say(frame{kind: kindDone, meta: encode(doneMeta{}), body: value})
}

// end settles the run as the protocol has it.
func (p *peer) end(value string) {
	p.done(value)
	p.say(frame{kind: kindBarrier})
}

// hang says nothing more until the parent ends the connection.
func (p *peer) hang() {
	for {
		if _, err := p.receive(serverCaps); err != nil {
			return
		}
	}
}

func callFrame(id uint64, args string) frame {
	return frame{kind: kindCall, call: id, meta: callMeta{0, 0, 1, 1}.pack(), body: args}
}

// TestHostileWorker has workers break the protocol. Each costs its run and
// nothing else: the worker is killed, no call is made that was not allowed, and
// the next run has a new worker.
func TestHostileWorker(t *testing.T) {
	const broke = "worker broke the protocol and was ended: "
	for _, tt := range []struct {
		name  string
		say   func(*peer)
		want  string
		calls int64 // bodies that may have run
	}{
		{"unknown type", func(p *peer) { p.say(frame{kind: 77}) }, broke + "a type-77 frame is not accepted here", 0},
		{"frame of the parent's", func(p *peer) { p.say(frame{kind: kindStop}) }, broke + "a stop frame is not accepted here", 0},
		{"second hello", func(p *peer) { p.say(frame{kind: kindHello}) }, broke + "a hello frame is not accepted here", 0},
		{"wrong run", func(p *peer) { p.say(frame{kind: kindLog, run: newRunID(), meta: "log"}) }, broke + "a log frame names a run that is not this one", 0},
		{"oversized arguments", func(p *peer) { p.say(callFrame(1, `"`+strings.Repeat("x", 1000)+`"`)) }, broke + "a call frame of 4+1002 bytes is larger than 4096+1000", 0},
		{"oversized line", func(p *peer) { p.say(frame{kind: kindLog, meta: "log", body: strings.Repeat("x", 2100)}) }, broke + "a log frame of 3+2100 bytes is larger than 4096+2004", 0},
		{"oversized value", func(p *peer) { p.done(`"` + strings.Repeat("x", 2000) + `"`) }, broke + "a done frame of 23+2002 bytes is larger than 4194304+2000", 0},
		{"member that does not exist", func(p *peer) { p.say(frame{kind: kindCall, call: 1, meta: callMeta{0, 2, 1, 1}.pack(), body: "{}"}) }, broke + "there is no member 0.2", 0},
		{"namespace that does not exist", func(p *peer) { p.say(frame{kind: kindCall, call: 1, meta: callMeta{-1, 0, 1, 1}.pack(), body: "{}"}) }, broke + "there is no member -1.0", 0},
		{"arguments that are not JSON", func(p *peer) { p.say(callFrame(1, "{a:1}")) }, broke + "the arguments of a call are not JSON", 0},
		{"call id zero", func(p *peer) { p.say(callFrame(0, "{}")) }, broke + "a call frame with the id 0", 0},
		{"call from no place", func(p *peer) { p.say(frame{kind: kindCall, call: 1, meta: callMeta{0, 0, -1, 1}.pack(), body: "{}"}) }, broke + "there is no line -1, column 1", 0},
		{"call of nothing", func(p *peer) { p.say(frame{kind: kindCall, call: 1, body: "{}"}) }, broke + "malformed call frame", 0},
		{"call with five numbers", func(p *peer) {
			p.say(frame{kind: kindCall, call: 1, meta: callMeta{0, 0, 1, 1}.pack() + "\x00", body: "{}"})
		}, broke + "malformed call frame", 0},
		{"line with an id", func(p *peer) { p.say(frame{kind: kindLog, call: 1, meta: "log"}) }, broke + "a log frame with the id 1", 0},
		{"same call id twice", func(p *peer) {
			p.say(callFrame(1, "{}"))
			p.receive(serverCaps) // the reply
			p.say(callFrame(1, "{}"))
		}, broke + "id 1 follows 1; ids count up", 1},
		{"more calls than credit", func(p *peer) {
			p.say(callFrame(1, `"wait"`))
			p.say(callFrame(2, "{}"))
		}, broke + "a call beyond the 1 that may be out at once", 1},
		{"giving up on a call never made", func(p *peer) { p.say(frame{kind: kindCancel, call: 5}) }, broke + "call 5 is given up and was never made", 0},
		{"unknown level", func(p *peer) { p.say(frame{kind: kindLog, meta: "shout"}) }, broke + `unknown console level "shout"`, 0},
		{"time where it is real", func(p *peer) { p.say(frame{kind: kindClock, call: 1}) }, broke + "the time is asked for in a run with the real clock", 0},
		{"value that is not JSON", func(p *peer) { p.done("{") }, broke + "the completion value is not JSON", 0},
		{"frame after done", func(p *peer) {
			p.done("1")
			p.say(frame{kind: kindLog, meta: "log", body: "late"})
		}, broke + "a log frame is not accepted here", 0},
		{"call after done", func(p *peer) {
			p.done("1")
			p.say(callFrame(1, "{}"))
		}, broke + "a call frame is not accepted here", 0},
		{"wrong barrier", func(p *peer) {
			p.done("1")
			p.say(frame{kind: kindBarrier, run: newRunID()})
		}, broke + "the barrier frame names another run", 0},
		{"barrier in a run", func(p *peer) { p.say(frame{kind: kindBarrier}) }, broke + "a barrier frame is not accepted here", 0},
		{"exit in the middle", func(p *peer) { p.close() }, "worker exited with code 7 before completing: last words", 0},
		{"half a frame", func(p *peer) { p.conn.Write([]byte{0, 0, 0, 1}); p.close() }, "worker exited with code 7 before completing: last words", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, Options{MaxWorkers: 1}, func(n int) (*process, error) {
				if n > 1 {
					return hosted(engineFunc(func(context.Context, runtime.Request) (runtime.Result, error) {
						return runtime.Result{Value: `"fine"`}, nil
					})), nil
				}
				return fakeProcess(exitStatus{Code: 7}, "last words\nmore", func(conn net.Conn, _ <-chan struct{}) {
					p := &peer{link: newLink(conn), t: t}
					p.send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})})
					p.awaitRun()
					tt.say(p)
					p.hang()
				}), nil
			})
			defer f.Close()
			var calls atomic.Int64
			res := mustRun(t, f, runtime.Request{
				Limits: runtime.Limits{Argument: 1000, Output: 2000},
				Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
					calls.Add(1)
					if inv.Args == `"wait"` {
						<-ctx.Done()
					}
					return runtime.Reply{}, nil
				}),
			})
			wantFailure(t, res, runtime.WorkerExit, tt.want)
			if calls.Load() > tt.calls {
				t.Errorf("%d bodies ran, at most %d were allowed", calls.Load(), tt.calls)
			}
			if res := mustRun(t, f, runtime.Request{}); res.Value != `"fine"` {
				t.Errorf("the next run: %+v", res)
			}
			if !f.workers[0].gone() || f.started.Load() != 2 {
				t.Errorf("the hostile worker is gone: %v; workers started: %d, want 2", f.workers[0].gone(), f.started.Load())
			}
		})
	}
}

// A worker that replays frames of its earlier run changes nothing in the next.
func TestFramesOfAnEarlierRunAreDropped(t *testing.T) {
	runs := 0
	f := overPeer(t, func(l *link) {
		p := &peer{link: l, t: t}
		for {
			before := p.run
			f, err := p.receive(serverCaps)
			if err != nil {
				return
			}
			p.run = f.run
			if runs++; runs == 2 {
				replayed := callFrame(1, `"replayed"`)
				replayed.run = before
				p.send(replayed)
				p.send(frame{kind: kindLog, run: before, meta: "log", body: "replayed"})
				p.send(frame{kind: kindDone, run: before, meta: encode(doneMeta{}), body: `"replayed"`})
			}
			p.end(fmt.Sprint(runs))
		}
	})
	req := runtime.Request{Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
		t.Error("a replayed call was made")
		return runtime.Reply{}, nil
	})}
	for i := range 2 {
		res := mustRun(t, f, req)
		if res.Value != fmt.Sprint(i+1) || res.Failure != nil || len(res.Logs) > 0 {
			t.Errorf("run %d: %+v", i+1, res)
		}
	}
	if f.started.Load() != 1 {
		t.Errorf("%d workers, want the same for both runs", f.started.Load())
	}
}

// Limits of the run hold in the parent too, whatever the worker counts.
func TestParentEnforcesLimits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limits  runtime.Limits
		say     func(*peer)
		kind    runtime.Kind
		message string
		logs    []string
	}{
		{"calls", runtime.Limits{Calls: 2}, func(p *peer) {
			for id := range uint64(3) {
				p.say(callFrame(id+1, "1"))
				p.receive(serverCaps)
			}
		}, runtime.CallLimit, "call limit reached (2 calls)", nil},
		{"bytes of arguments", runtime.Limits{Bytes: 100}, func(p *peer) { p.say(callFrame(1, strings.Repeat("1", 101))) },
			runtime.BytesLimit, "arguments and results in flight of this run exceed 100 bytes", nil},
		{"bytes of a result", runtime.Limits{Bytes: 100}, func(p *peer) { p.say(callFrame(1, `60`)) },
			runtime.BytesLimit, "arguments and results in flight of this run exceed 100 bytes", nil},
		{"output of lines", runtime.Limits{Output: 50}, func(p *peer) {
			for range 1000 {
				p.say(frame{kind: kindLog, meta: "log", body: "0123456789"})
			}
		}, runtime.OutputLimit, "outer output exceeded 50 bytes", []string{"0123456789", "0"}},
		{"output of a value", runtime.Limits{Output: 60}, func(p *peer) {
			p.say(frame{kind: kindLog, meta: "log", body: "0123456789"})
			p.end(strings.Repeat("1", 60))
		}, runtime.OutputLimit, "outer output exceeded 60 bytes", []string{"0123456789"}},
		{"value beside a failure", runtime.Limits{}, func(p *peer) {
			p.say(frame{kind: kindDone, meta: encode(doneMeta{Failure: &runtime.Failure{Kind: runtime.Exception}}), body: "1"})
			p.say(frame{kind: kindBarrier})
		}, runtime.Exception, "1", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := overPeer(t, func(l *link) {
				p := &peer{link: l, t: t}
				p.awaitRun()
				tt.say(p)
				p.hang()
			})
			res := mustRun(t, f, runtime.Request{Limits: tt.limits, Bindings: tools(t, func(_ context.Context, inv runtime.Invocation) (runtime.Reply, error) {
				if inv.Args == "60" {
					return runtime.Reply{Value: `"` + strings.Repeat("r", 120) + `"`}, nil
				}
				return runtime.Reply{}, nil
			})})
			wantFailure(t, res, tt.kind, tt.message)
			if tt.logs != nil && !cmp.Equal(res.Logs, tt.logs) {
				t.Errorf("logs %q, want %q", res.Logs, tt.logs)
			}
			if res.Value != "" {
				t.Errorf("value %s beside a failure", res.Value)
			}
		})
	}
}

// A worker that gives up on every call while the bodies go on is refused further
// ones: bodies in the parent are bounded.
func TestAbandonedCallsAreBounded(t *testing.T) {
	refused := make(chan string, 1)
	release := make(chan struct{})
	f := overPeer(t, func(l *link) {
		p := &peer{link: l, t: t}
		if !p.awaitRun() {
			return // the next worker
		}
		for id := range uint64(maxAbandoned) {
			p.say(callFrame(id+1, "{}"))
			p.say(frame{kind: kindCancel, call: id + 1})
		}
		p.say(callFrame(maxAbandoned+1, "{}"))
		reply, _ := p.receive(serverCaps)
		refused <- reply.body
		close(release)
		p.hang()
	})
	var bodies atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-release
		cancel()
	}()
	res, err := f.Run(ctx, runtime.Request{Bindings: tools(t, func(context.Context, runtime.Invocation) (runtime.Reply, error) {
		bodies.Add(1)
		<-release // deaf to its context
		return runtime.Reply{}, nil
	})})
	if err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort {
		t.Errorf("%v %+v", err, res.Failure)
	}
	if got, want := <-refused, "the call was not made: 64 calls the program gave up on have not returned yet"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	if bodies.Load() != maxAbandoned {
		t.Errorf("%d bodies, want %d", bodies.Load(), maxAbandoned)
	}
}

// A worker that neither reads nor writes cannot hold up a stop.
func TestDeafWorkerIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, Options{}, func(int) (*process, error) {
			return fakeProcess(exitStatus{}, "", func(conn net.Conn, killed <-chan struct{}) {
				newLink(conn).send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})})
				conn.Read(make([]byte, 1)) // the first byte of the run frame, and no more
				<-killed
			}), nil
		})
		res := mustRun(t, f, runtime.Request{Program: strings.Repeat("x", 1<<20), Limits: runtime.Limits{Wall: time.Second}})
		wantFailure(t, res, runtime.Timeout, "wall-clock ceiling reached (1000ms)")
		f.Close()
	})
}

// A worker that settles its run and reads nothing holds up no reply, and so not
// the run, whichever way the run ends.
func TestUnreadRepliesHoldUpNothing(t *testing.T) {
	overflow := func(p *peer) {
		p.say(frame{kind: kindLog, meta: "log", body: strings.Repeat("x", 54)})
		p.say(frame{kind: kindDone, meta: encode(doneMeta{Failure: &runtime.Failure{Kind: runtime.OutputLimit}})})
	}
	for _, tt := range []struct {
		name string
		args string // "" is answered at once, and the body of others when the run is over
		end  func(*peer)
		kind runtime.Kind // "" for a value
	}{
		{"value beside a reply", "", func(p *peer) { p.end("1") }, ""},
		{"value beside a reply and no barrier", "", func(p *peer) { p.done("1") }, ""},
		{"limit beside a reply", "", overflow, runtime.OutputLimit},
		{"value before a reply", `"late"`, func(p *peer) { p.end("1") }, ""},
		{"limit before a reply", `"late"`, overflow, runtime.OutputLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
				return fakeProcess(exitStatus{}, "", func(conn net.Conn, killed <-chan struct{}) {
					p := &peer{link: newLink(conn), t: t}
					p.send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})})
					p.awaitRun()
					p.say(callFrame(1, tt.args))
					if tt.args == "" {
						conn.Read(make([]byte, 1)) // of the reply
					}
					tt.end(p)
					<-killed
				}), nil
			})
			within(t, func() {
				res := mustRun(t, f, runtime.Request{Limits: runtime.Limits{Output: 50}, Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
					if inv.Args != "" {
						<-ctx.Done()
					}
					return runtime.Reply{Value: strings.Repeat("1", 1<<20)}, nil
				})})
				if tt.kind == "" && (res.Failure != nil || res.Value != "1") || tt.kind != "" && (res.Failure == nil || res.Failure.Kind != tt.kind) {
					t.Errorf("%s %+v, want %q", res.Value, res.Failure, tt.kind)
				}
				f.Close()
			})
		})
	}
}

// A worker that settles its run at the moment its grace is over is killed for that
// run or serves the next, never both.
func TestGraceEndsWithTheRun(t *testing.T) {
	engine := engineFunc(func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
		if req.Program == "" {
			return runtime.Result{Value: "1"}, nil
		}
		<-ctx.Done()
		time.Sleep(stopGrace)
		return runtime.Result{}, nil
	})
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
				w := hosted(engine)
				kill := w.kill
				w.kill = func() {
					for range 1000 {
						goruntime.Gosched() // all others may be faster
					}
					kill()
				}
				return w, nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if res, err := f.Run(ctx, runtime.Request{Program: "x"}); err != nil || res.Failure == nil || res.Failure.Kind != runtime.Abort {
				t.Fatalf("%v %+v, want an abort", err, res.Failure)
			}
			if res := mustRun(t, f, runtime.Request{}); res.Failure != nil {
				t.Fatalf("the next run: %+v", res.Failure)
			}
			f.Close()
		})
	}
}

// A stop that is ordered at once reaches a worker that has yet to read its run.
func TestStopFollowsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kinds []kind
		f := overPeer(t, func(l *link) {
			time.Sleep(time.Millisecond)
			p := &peer{link: l, t: t}
			for {
				f, err := p.receive(serverCaps)
				if err != nil {
					return
				}
				kinds = append(kinds, f.kind)
				if p.run = f.run; f.kind == kindStop {
					p.end("")
				}
			}
		})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Nanosecond, errors.New("at once"))
		defer cancel()
		res, err := f.Run(ctx, runtime.Request{})
		if err != nil {
			t.Fatal(err)
		}
		wantFailure(t, res, runtime.Abort, "at once")
		f.Close()
		if diff := cmp.Diff([]kind{kindRun, kindStop}, kinds); diff != "" {
			t.Error(diff)
		}
	})
}

// Nothing is sent to a worker after the end of the run, so that nothing waits for
// it to be read.
func TestNothingIsSentAfterTheEnd(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	s := testSession(t)
	s.worker, s.told = &process{link: newLink(ours)}, make(chan struct{})
	s.close()
	within(t, func() { s.calls.reply(1, answer{body: "1"}) })
}
