package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// damage is one thing that happens to a frame between parent and worker.
type damage struct {
	toWorker bool
	frame    int // which one in that direction, from 0
	how      byte
	at       int // a position in the frame, modulo its size
}

// Ways of damage. A frame that is held back goes after the next.
const (
	flip = iota
	cut
	repeat2
	holdBack
	drop
	waysOfDamage
)

// damageFrom reads damages from what a fuzzer made up.
func damageFrom(data []byte) (all []damage) {
	for ; len(data) >= 4 && len(all) < 4; data = data[4:] {
		all = append(all, damage{data[0]&1 == 1, int(data[0] >> 1 % 16), data[1] % waysOfDamage, int(data[2])<<8 | int(data[3])})
	}
	return all
}

// damaging is the change of a relay in one direction.
func damaging(all []damage, toWorker bool) func(io.Reader, int, kind, io.Writer) error {
	n := -1
	var held []byte
	return func(frame io.Reader, size int, _ kind, to io.Writer) error {
		n++
		whole := make([]byte, size)
		if _, err := io.ReadFull(frame, whole); err != nil {
			return err
		}
		out := [][]byte{whole}
		for _, d := range all {
			if d.toWorker != toWorker || d.frame != n {
				continue
			}
			switch d.how {
			case flip:
				whole[d.at%size] ^= 1 << (d.at % 8)
			case cut:
				to.Write(whole[:d.at%size])
				return io.ErrUnexpectedEOF
			case repeat2:
				out = append(out, whole)
			case holdBack:
				held = append(held, whole...)
				return nil
			case drop:
				out = nil
			}
		}
		if len(out) > 0 && held != nil {
			out, held = append(out, held), nil
		}
		_, err := to.Write(slices.Concat(out...))
		return err
	}
}

// talker is an engine whose run has every kind of frame.
func talker(ctx context.Context, req runtime.Request) (runtime.Result, error) {
	req.Log(runtime.Line{Level: "log", Text: "one"})
	call := req.Bindings[0].Call
	if _, err := call(ctx, runtime.Invocation{Member: "a", Args: `{"n":1}`, Seq: 1, Site: runtime.Site{Line: 1, Column: 1}}); err != nil {
		return runtime.Result{Failure: &runtime.Failure{Kind: runtime.Exception, Message: err.Error()}}, nil
	}
	if req.Clock != nil { // damage may have made it the real one
		req.Clock()
	}
	req.Log(runtime.Line{Level: "warn", Text: "two"})
	one, giveUp := context.WithCancel(ctx)
	var both sync.WaitGroup
	both.Go(func() { call(one, runtime.Invocation{Member: "b", Args: `"wait"`, Seq: 2}) })
	both.Go(func() {
		call(ctx, runtime.Invocation{Member: "b", Args: `[]`, Seq: 3})
		giveUp()
	})
	both.Wait()
	return runtime.Result{Value: `{"a":[1,2,3]}`, Logs: []string{"one", "two", "three"}}, nil
}

// converse has a fresh Runtime run talker over a damaged connection and then
// twice over an undamaged one, in a bubble: a run that hangs ends the test.
func converse(t *testing.T, all []damage) (res runtime.Result) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, Options{MaxWorkers: 1}, func(n int) (*process, error) {
			w := hosted(engineFunc(talker))
			if n > 1 {
				return w, nil
			}
			ours, theirs := net.Pipe()
			conn := w.link.conn
			// The hello has the number 0.
			go relay(theirs, conn, damaging(all, true))
			go relay(conn, theirs, damaging(all, false))
			w.link = newLink(ours)
			return w, nil
		})
		var mu sync.Mutex
		var contexts []context.Context
		began, returned := 0, 0
		req := runtime.Request{
			Parallel: 2,
			Limits:   runtime.Limits{Wall: time.Minute},
			Clock:    func() time.Time { return time.Unix(1, 0) },
			Bindings: tools(t, func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
				mu.Lock()
				began++
				contexts = append(contexts, ctx)
				mu.Unlock()
				defer func() { mu.Lock(); returned++; mu.Unlock() }()
				if inv.Args == `"wait"` {
					<-ctx.Done()
				}
				return runtime.Reply{Value: inv.Args}, nil
			}),
		}
		var err error
		res, err = f.Run(t.Context(), req)
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		checkOutcome(t, res)
		if began != returned {
			t.Errorf("%d calls began and %d returned", began, returned)
		}
		for i, ctx := range contexts {
			if ctx.Err() == nil {
				t.Errorf("the context of call %d is still alive", i+1)
			}
		}
		// What was repeated may lie in wait for the next run, but not for two.
		again, err := f.Run(t.Context(), req)
		if err != nil || again.Failure != nil {
			again, err = f.Run(t.Context(), req)
		}
		if err != nil || again.Failure != nil || again.Value != `{"a":[1,2,3]}` {
			t.Errorf("the run after it: %+v %+v %v", again, again.Failure, err)
		}
		f.Close()
		for _, w := range f.workers {
			if !w.gone() {
				t.Error("a worker is left")
			}
		}
	})
	return res
}

// checkOutcome says whether a result is one: a value, or one failure of one kind
// with a text.
func checkOutcome(t *testing.T, res runtime.Result) {
	t.Helper()
	switch f := res.Failure; {
	case f == nil:
		if res.Value != "" && !validJSON(res.Value) {
			t.Errorf("value %q", res.Value)
		}
	case !failureKinds[f.Kind] && f.Kind != runtime.WorkerExit && f.Kind != runtime.WorkerUnavailable:
		t.Errorf("kind %q", f.Kind)
	case f.Message == "" && f.Kind != runtime.Exception, res.Value != "":
		t.Errorf("value %q beside %+v", res.Value, f)
	}
}

// TestDamagedConversation damages every frame of a conversation in every way.
func TestDamagedConversation(t *testing.T) {
	res := converse(t, nil)
	if res.Failure != nil || res.Value != `{"a":[1,2,3]}` || !cmp.Equal(res.Logs, []string{"one", "two", "three"}) || res.Usage.Calls != 3 {
		t.Fatalf("undamaged: %+v %+v", res, res.Failure)
	}
	kinds := map[runtime.Kind]int{}
	for _, toWorker := range []bool{true, false} {
		for n := range 12 {
			for how := range byte(waysOfDamage) {
				places := []int{0}
				if how == flip || how == cut {
					places = []int{1, 3, 7, 8, 12, 30, 32, 34, 50, 61}
				}
				for _, at := range places {
					d := damage{toWorker, n, how, at}
					t.Run(fmt.Sprintf("%+v", d), func(t *testing.T) {
						if res := converse(t, []damage{d}); res.Failure != nil {
							kinds[res.Failure.Kind]++
						} else {
							kinds["value"]++
						}
					})
				}
			}
		}
	}
	t.Logf("ends: %v", kinds)
	if kinds[runtime.WorkerExit] == 0 || kinds[runtime.Timeout] == 0 || kinds["value"] == 0 {
		t.Errorf("ends: %v; the damage is not done", kinds)
	}
}

// FuzzConversation damages up to four frames.
func FuzzConversation(f *testing.F) {
	f.Add([]byte{0, flip, 0, 8})
	f.Add([]byte{3, cut, 0, 40, 4, repeat2, 0, 0})
	f.Add([]byte{2, holdBack, 0, 0, 5, drop, 0, 0, 7, flip, 0, 30})
	f.Fuzz(func(t *testing.T, data []byte) { converse(t, damageFrom(data)) })
}

// A connection that breaks after any byte a worker sent keeps the lines that were
// whole by then.
func TestLinesBeforeABreakAreKept(t *testing.T) {
	for n, want := range [][]string{1: {}, 2: {"one"}, 3: {"one"}, 4: {"one"}, 5: {"one", "two"}, 6: {"one", "two"}} {
		if n == 0 {
			continue // the hello
		}
		t.Run(fmt.Sprint("frame ", n), func(t *testing.T) {
			for _, at := range []int{0, 5, headerSize, headerSize + 2} {
				res := converse(t, []damage{{false, n, cut, at}})
				if res.Failure == nil || res.Failure.Kind != runtime.WorkerExit {
					t.Errorf("cut at %d: %+v, want worker-exit", at, res.Failure)
				}
				if !slices.Equal(res.Logs, want) {
					t.Errorf("cut at %d: lines %q, want %q", at, res.Logs, want)
				}
			}
		})
	}
}

// What a parent answers must be what was asked, once.
func TestAnswersAreChecked(t *testing.T) {
	asked := func(p *peer) { // waits for the question
		if f, err := p.receive(caps{kindCall: {smallCap, smallCap}, kindClock: {}}); err != nil || f.call != 1 {
			p.t.Errorf("%+v, %v; want question 1", f, err)
		}
	}
	ended := func(p *peer) { // waits for the end of the run
		if _, err := p.receive(caps{kindDone: {doneMetaCap, smallCap}}); err != nil {
			p.t.Errorf("%v, want the end of the run", err)
		}
	}
	for _, tt := range []struct {
		name  string
		clock bool // the question is for the time
		say   func(*peer)
		want  string // "" for none
	}{
		{"value", false, func(p *peer) {
			p.say(frame{kind: kindReply, call: 1, body: "1"})
			ended(p)
		}, ""},
		{"error", false, func(p *peer) {
			p.say(frame{kind: kindReply, call: 1, meta: `{"failed":true}`, body: "no"})
			ended(p)
		}, ""},
		{"time", true, func(p *peer) {
			p.say(frame{kind: kindTime, call: 1, meta: encode(timeMeta{})})
			ended(p)
		}, ""},
		{"time for a value", false, func(p *peer) { p.say(frame{kind: kindTime, call: 1, meta: encode(timeMeta{})}) }, "a time frame answers 1, which waits for a reply frame"},
		{"value for a time", true, func(p *peer) { p.say(frame{kind: kindReply, call: 1}) }, "a reply frame answers 1, which waits for a time frame"},
		{"time that is none", true, func(p *peer) { p.say(frame{kind: kindTime, call: 1, meta: `{"s":"noon"}`}) }, "malformed time frame: "},
		{"error that is none", false, func(p *peer) { p.say(frame{kind: kindReply, call: 1, meta: `{"typed":true}`, body: "no"}) }, "a reply frame describes an error that is none"},
		{"error of an unknown form", false, func(p *peer) { p.say(frame{kind: kindReply, call: 1, meta: `{"failed":true,"retry":1}`}) }, "malformed reply frame: "},
		{"two answers", false, func(p *peer) {
			p.say(frame{kind: kindReply, call: 1, body: `"go on"`})
			p.say(frame{kind: kindReply, call: 1, body: "2"})
		}, "an answer to 1, which nobody waits for"},
		{"answer to another question", false, func(p *peer) { p.say(frame{kind: kindReply, call: 2}) }, "an answer to 2, which nobody waits for"},
		{"reason without end", false, func(p *peer) {
			p.say(frame{kind: kindStop, body: string(make([]byte, reasonCap+4))})
		}, "a stop frame of 0+1048580 bytes is larger than 0+1048579"},
		{"the run again", false, func(p *peer) {
			p.say(frame{kind: kindStop})
			p.receive(caps{kindCancel: {}})
			p.say(frame{kind: kindReply, call: 1})
			ended(p)
			p.send(frame{kind: kindRun, run: p.run, meta: packed(runMeta{Parallel: 1})})
		}, "a run frame repeats the id of an earlier run"},
		{"answer to a run that is over", false, func(p *peer) {
			p.say(frame{kind: kindReply, call: 1, body: "1"})
			ended(p)
			p.say(frame{kind: kindReply, call: 1, body: "2"})
			p.say(frame{kind: kindStop, body: "late"})
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			engine := engineFunc(func(ctx context.Context, req runtime.Request) (runtime.Result, error) {
				if tt.clock {
					req.Clock()
				} else if reply, _ := req.Bindings[0].Call(ctx, runtime.Invocation{Member: "a", Seq: 1}); reply.Value == `"go on"` {
					<-ctx.Done()
				}
				return runtime.Result{}, nil
			})
			result := make(chan error)
			go func() { result <- serveOn(theirs, engine) }()
			p := &peer{link: newLink(ours), t: t, run: newRunID()}
			if _, err := p.receive(helloCaps); err != nil {
				t.Fatal(err)
			}
			namespace := tools(t, echo)[0].Namespace
			p.say(frame{kind: kindRun, meta: packed(runMeta{Parallel: 1, Clock: tt.clock, Limits: runtime.Limits{Output: 100},
				Namespaces: []namespaceMeta{{Global: namespace.Global(), Class: namespace.Class(), Members: namespace.Members()}}})})
			asked(p)
			said := make(chan struct{})
			go func() {
				defer close(said)
				tt.say(p)
				if tt.want == "" {
					ours.Close()
				}
			}()
			err := <-result
			ours.Close()
			<-said
			var f *fault
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%v, want no error", err)
			case tt.want != "" && (!errors.As(err, &f) || len(f.text) < len(tt.want) || f.text[:len(tt.want)] != tt.want):
				t.Errorf("%v, want a fault %q", err, tt.want)
			}
		})
	}
}
