package worker

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// script is what a worker that belongs to somebody else says in its runs, read from
// what a fuzzer made up: a byte for the kind of the next frame, and then what that
// kind takes.
type script struct {
	rest []byte
	run  runID
	past []runID
}

func (s *script) byte() byte {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return b
}

func (s *script) text() string {
	n := min(int(s.byte()), len(s.rest))
	text := string(s.rest[:n])
	s.rest = s.rest[n:]
	return text
}

// id is that of the run, of an earlier one or of none.
func (s *script) id() runID {
	switch b := s.byte(); {
	case b < 200:
		return s.run
	case b < 240 && len(s.past) > 0:
		return s.past[int(b)%len(s.past)]
	default:
		return runID{b}
	}
}

// meta is one that may be good, cut short, or any text.
func (s *script) meta() string {
	meta := callMeta{int(int8(s.byte())), int(int8(s.byte())), int(int8(s.byte())), 1}.pack()
	switch b := s.byte(); {
	case b < 200:
		return meta
	case b < 220:
		return meta[:len(meta)-1]
	case b < 230:
		return meta + "\x00"
	default:
		return s.text()
	}
}

// say sends the next frame; it is over with the last, or with the end of the run.
func (s *script) say(l *link) (over bool) {
	if len(s.rest) == 0 {
		l.send(frame{kind: kindDone, run: s.run, meta: `{"compute":1,"stuck":0}`, body: "1"})
		return true
	}
	choice := s.byte()
	id := s.id()
	f := frame{run: id}
	switch choice % 10 {
	case 0, 1, 2:
		f.kind, f.call, f.meta, f.body = kindCall, uint64(s.byte()), s.meta(), `{"n":1}`
		if choice >= 250 {
			f.body = s.text()
		}
	case 3:
		f.kind, f.call = kindCancel, uint64(s.byte())
	case 4:
		f.kind, f.body = kindLog, s.text()
		if f.meta = "log"; choice >= 200 {
			f.meta = s.text()
		}
	case 5:
		f.kind, f.call = kindClock, uint64(s.byte())
	case 6:
		f.kind = kindOver
	case 7:
		f.kind, f.meta, f.body = kindDone, `{"notStarted":[[0,0,1,1]],"compute":1,"stuck":0}`, "1"
		if choice >= 100 {
			f.meta, f.body = s.text(), s.text()
		}
		return l.send(f) != nil || id == s.run
	case 8:
		f.kind = kindBarrier
	case 9: // anything
		f.kind, f.call, f.meta, f.body = kind(s.byte()), uint64(s.byte()), s.text(), s.text()
	}
	return l.send(f) != nil
}

// speak serves runs, as its script has it: it reads all it is sent and believes none
// of it.
func (s *script) speak(l *link) {
	runs := make(chan runID, 8)
	go func() {
		defer close(runs)
		for {
			f, err := l.receive(serverCaps)
			if err != nil {
				return
			}
			if f.kind == kindRun {
				runs <- f.run
			}
		}
	}()
	for s.run = range runs {
		for !s.say(l) {
		}
		if s.byte() < 200 && l.send(frame{kind: kindBarrier, run: s.run}) != nil {
			return
		}
		s.past = append(s.past, s.run)
	}
}

// account is what the host saw of the calls of one run.
type account struct {
	mu         sync.Mutex
	began, out int
	most       int
	ended      bool // the run has returned
	wrong      []string
}

const hostileCalls, hostileParallel = 5, 2

// call is a tool of a run; the second member ends only with its context.
func (a *account) call(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
	a.mu.Lock()
	a.began++
	a.out++
	a.most = max(a.most, a.out)
	switch {
	case a.ended:
		a.wrong = append(a.wrong, "a call began after its run had ended")
	case inv.Global != "tools" || inv.Member != "a" && inv.Member != "b":
		a.wrong = append(a.wrong, fmt.Sprintf("a call of %s.%s", inv.Global, inv.Member))
	case inv.Seq < 1 || inv.Seq > hostileCalls:
		a.wrong = append(a.wrong, fmt.Sprintf("call %d has the number %d", a.began, inv.Seq))
	case inv.Args != "" && !validJSON(inv.Args), inv.Site.Line < 0, inv.Site.Column < 0:
		a.wrong = append(a.wrong, fmt.Sprintf("a call %+v", inv))
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.out--
		a.mu.Unlock()
	}()
	if inv.Member == "b" {
		<-ctx.Done()
	}
	return runtime.Reply{Value: inv.Args, Time: time.Unix(1, 0)}, nil
}

// overhear has a worker follow its script in three runs and checks that it gets no
// more than a program may have: the calls of its own run, within their limits, and
// an end. A run that hangs ends the test. It returns what the first run gave.
func overhear(t *testing.T, data []byte) (first runtime.Result) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{rest: data}
		f := newFleet(t, Options{MaxWorkers: 1}, func(n int) (*process, error) {
			if n > 1 {
				s = &script{} // the next one only answers
			}
			speaker := s
			return fakeProcess(exitStatus{}, "", func(conn net.Conn, _ <-chan struct{}) {
				l := newLink(conn)
				if l.send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})}) == nil {
					speaker.speak(l)
				}
			}), nil
		})
		for n := range 3 {
			a := &account{}
			lines := 0
			req := runtime.Request{
				Parallel: hostileParallel,
				Limits:   runtime.Limits{Wall: time.Minute, Calls: hostileCalls, Output: 1000},
				Bindings: tools(t, a.call),
				Log:      func(runtime.Line) { lines++ },
			}
			if n%2 == 0 {
				req.Clock = func() time.Time { return time.Unix(1, 0) }
			}
			res, err := f.Run(t.Context(), req)
			a.mu.Lock()
			a.ended = true
			a.mu.Unlock()
			if err != nil && res.Failure != nil {
				t.Errorf("run %d: %+v and %v", n, res.Failure, err)
			}
			if err == nil {
				checkOutcome(t, res)
			}
			if n == 0 {
				first = res
			}
			size := 0
			for _, line := range res.Logs {
				size += len(line)
			}
			if a.out > 0 || a.began > hostileCalls || err == nil && res.Usage.Calls != a.began || size+len(res.Value) > 1000+100 {
				t.Errorf("run %d: %d calls began, %d are out, it says %d; %d bytes of output", n, a.began, a.out, res.Usage.Calls, size)
			}
			if a.most > hostileParallel+maxAbandoned {
				t.Errorf("run %d: %d calls at once", n, a.most)
			}
			for _, wrong := range a.wrong {
				t.Errorf("run %d: %s", n, wrong)
			}
		}
		f.Close()
		synctest.Wait()
		for _, w := range f.workers {
			if !w.gone() {
				t.Error("a worker is left")
			}
		}
		f.bytes.mu.Lock()
		defer f.bytes.mu.Unlock()
		if f.bytes.left != runtimeBytes {
			t.Errorf("%d bytes are held for runs that are over", runtimeBytes-f.bytes.left)
		}
	})
	return first
}

// hostileScripts are what a worker may try, and what the parent says of it; "" is
// nothing.
var hostileScripts = []struct {
	name string
	data []byte
	want string
}{
	{"nothing", nil, ""},
	{"a call", []byte{0, 0, 1, 0, 0, 1, 0}, ""},
	{"a member that is not there", []byte{0, 0, 1, 0, 2, 1, 0}, "there is no member 0.2"},
	{"a member below the first", []byte{0, 0, 1, 0, 0xff, 1, 0}, "there is no member 0.-1"},
	{"a namespace that is not there", []byte{0, 0, 1, 1, 0, 1, 0}, "there is no member 1.0"},
	{"a namespace below the first", []byte{0, 0, 1, 0xff, 0, 1, 0}, "there is no member -1.0"},
	{"a line below the first", []byte{0, 0, 1, 0, 0, 0xff, 0}, "there is no line -1, column 1"},
	{"an id again", []byte{0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0}, "id 1 follows 1; ids count up"},
	{"an id that is lower", []byte{0, 0, 9, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1, 0}, "id 3 follows 9; ids count up"},
	{"the id of a reading", []byte{5, 0, 3, 0, 0, 3, 0, 0, 1, 0}, "id 3 follows 3; ids count up"},
	{"a call of no run", []byte{0, 255, 1, 0, 0, 1, 0}, "a call frame names a run that is not this one"},
	{"a call that was not made is given up", []byte{3, 0, 7}, "call 7 is given up and was never made"},
	{"more calls than may be out", []byte{0, 0, 1, 0, 1, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 0, 3, 0, 1, 1, 0}, "a call beyond the 2 that may be out at once"},
	{"calls without end, given up", []byte{
		0, 0, 1, 0, 1, 1, 0, 3, 0, 1, 0, 0, 2, 0, 1, 1, 0, 3, 0, 2, 0, 0, 3, 0, 1, 1, 0, 3, 0, 3, 0, 0, 4, 0, 1, 1, 0, 3, 0, 4,
		0, 0, 5, 0, 1, 1, 0, 3, 0, 5, 0, 0, 6, 0, 0, 1, 0}, "call limit reached (5 calls)"},
	{"calls after the end", []byte{6, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 6, 0}, ""},
	{"an end without a barrier", []byte{7, 0, 255, 0, 0, 1, 0, 0, 1, 0}, ""},
	{"a call of the run before", []byte{7, 0, 0, 0, 210, 1, 0, 0, 1, 0}, ""},
	{"a meta cut short", []byte{0, 0, 1, 0, 0, 1, 210}, "malformed call frame"},
	{"a meta and more", []byte{0, 0, 1, 0, 0, 1, 225}, "malformed call frame"},
	{"a number without end", []byte{0, 0, 1, 0, 0, 1, 255, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, "malformed call frame"},
	{"arguments that are no JSON", []byte{250, 0, 1, 0, 0, 1, 0, 1, '{'}, "the arguments of a call are not JSON"},
	{"a run", []byte{9, 0, byte(kindRun), 0, 3, 1, 2, 3, 0}, "a run frame is not accepted here"},
	{"a reply", []byte{9, 0, byte(kindReply), 1, 0, 1, '1'}, "a reply frame is not accepted here"},
	{"a barrier before the end", []byte{8, 0}, "a barrier frame is not accepted here"},
}

func TestHostileScripts(t *testing.T) {
	for _, tt := range hostileScripts {
		t.Run(tt.name, func(t *testing.T) {
			res := overhear(t, tt.data)
			message := ""
			if res.Failure != nil {
				message = strings.TrimPrefix(res.Failure.Message, "worker broke the protocol and was ended: ")
			}
			if message != tt.want {
				t.Errorf("the run failed with %q, want %q", message, tt.want)
			}
		})
	}
}

// FuzzHostileFrames is TestHostileScripts for any script.
func FuzzHostileFrames(f *testing.F) {
	for _, tt := range hostileScripts {
		f.Add(tt.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 400 {
			overhear(t, data)
		}
	})
}
