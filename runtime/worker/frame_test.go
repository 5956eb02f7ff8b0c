package worker

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func frameBytes(t testing.TB, frames ...frame) []byte {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, f := range frames {
		if err := writeFrame(w, f); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return b.Bytes()
}

var openCaps = caps{kindCall: {1000, 100_000}, kindLog: {10, 10}}

var allFrames = cmp.AllowUnexported(frame{})

func TestFrameRoundTrip(t *testing.T) {
	for name, f := range map[string]frame{
		"empty":                {kind: kindLog},
		"everything":           {kind: kindCall, run: newRunID(), call: math.MaxUint64, meta: `[0,1,2,3]`, body: `{"a":"ü"}`},
		"larger than a buffer": {kind: kindCall, call: 1, body: strings.Repeat("x", linkBuffer+1)},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReader(bytes.NewReader(frameBytes(t, f, f)))
			for range 2 {
				got, err := readFrame(r, openCaps)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(f, got, allFrames); diff != "" {
					t.Error(diff)
				}
			}
			if _, err := readFrame(r, openCaps); err != io.EOF {
				t.Errorf("after the last frame: %v, want EOF", err)
			}
		})
	}
}

func TestFrameFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    frame
		want string
	}{
		{"type zero", frame{}, "a type-0 frame is not accepted here"},
		{"type beyond the last", frame{kind: kindEnd}, "a type-13 frame is not accepted here"},
		{"type of the other side", frame{kind: kindReply}, "a reply frame is not accepted here"},
		{"call without an id", frame{kind: kindCall}, "a call frame with the id 0"},
		{"line with an id", frame{kind: kindLog, call: 7}, "a log frame with the id 7"},
		{"large body", frame{kind: kindLog, body: strings.Repeat("x", 11)}, "a log frame of 0+11 bytes is larger than 10+10"},
		{"large meta", frame{kind: kindLog, meta: strings.Repeat("x", 11)}, "a log frame of 11+0 bytes is larger than 10+10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Nothing follows the header: a fault must not read further.
			head := frameBytes(t, tt.f)[:headerSize]
			_, err := readFrame(bufio.NewReader(bytes.NewReader(head)), openCaps)
			var f *fault
			if !errors.As(err, &f) || f.text != tt.want {
				t.Errorf("got %v, want a fault %q", err, tt.want)
			}
		})
	}
}

func TestFrameCutShort(t *testing.T) {
	whole := frameBytes(t, frame{kind: kindCall, call: 1, meta: "abc", body: "defg"})
	for n := 1; n < len(whole); n++ {
		_, err := readFrame(bufio.NewReader(bytes.NewReader(whole[:n])), openCaps)
		if err != io.ErrUnexpectedEOF {
			t.Errorf("cut after %d bytes: %v, want %v", n, err, io.ErrUnexpectedEOF)
		}
	}
}

// FuzzFrame feeds a reader what a hostile peer could send: it returns frames
// within the caps or an error, and never more than was sent.
func FuzzFrame(f *testing.F) {
	f.Add(frameBytes(f, frame{kind: kindCall, call: 1, meta: `[0,0,1,1]`, body: `{}`}, frame{kind: kindLog, body: "line"}))
	f.Add(frameBytes(f, frame{kind: kindDone, body: "1"}))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, byte(kindCall)})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		total := 0
		for {
			got, err := readFrame(r, openCaps)
			if err != nil {
				return
			}
			limit, ok := openCaps[got.kind]
			if !ok || len(got.meta) > limit.meta || len(got.body) > limit.body {
				t.Fatalf("a %v frame of %d+%d bytes passed", got.kind, len(got.meta), len(got.body))
			}
			total += headerSize + len(got.meta) + len(got.body)
			if total > len(data) {
				t.Fatalf("%d bytes read of %d", total, len(data))
			}
		}
	})
}

// FuzzDone feeds the parent's check of a done frame.
func FuzzDone(f *testing.F) {
	f.Add([]byte(`{"compute":1000,"stuck":0}`), `{"a":[1]}`)
	f.Add([]byte(`{"failure":{"Kind":"exception","Stack":[{"Function":"f","Site":{"Line":1,"Column":2}}]},"compute":0,"stuck":0}`), "boom")
	f.Add([]byte(`{"notStarted":[[0,0,1,1],[9,9,9,9]]}`), "")
	s := testSession(f)
	f.Fuzz(func(t *testing.T, meta []byte, body string) {
		end, err := s.readDone(frame{kind: kindDone, meta: string(meta), body: body})
		if err != nil {
			return
		}
		if end.failure != nil && (end.value != "" || !failureKinds[end.failure.Kind]) {
			t.Fatalf("accepted %+v", end)
		}
		if end.failure == nil && end.value != "" && !validJSON(end.value) {
			t.Fatalf("accepted the value %q", end.value)
		}
	})
}

// testSession is a session without a worker, for the checks it makes.
func testSession(t testing.TB) *session {
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, []runtime.Member{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{limits: runtime.Limits{Calls: 2}, req: runtime.Request{Bindings: []runtime.Binding{{Namespace: namespace}}}}
	s.calls = newCalls(s, t.Context(), &budget{})
	return s
}

func TestMetaIsStrict(t *testing.T) {
	for _, tt := range []struct{ name, meta, want string }{
		{"unknown member", `{"stuck":0,"evil":1}`, `unknown object member name "evil"`},
		{"duplicate member", `{"stuck":0,"stuck":1}`, `duplicate object member name "stuck"`},
		{"wrong case", `{"Stuck":1}`, `unknown object member name "Stuck"`},
		{"wrong type", `{"stuck":"1"}`, `JSON string into Go int`},
		{"more text", `{"stuck":1} {}`, `after top-level value`},
		{"nothing", ``, `EOF`},
		{"more calls than can be", `{"notStarted":[[0,0,1,1],[0,0,1,1],[0,0,1,1]]}`, `3 calls not started in a run that may make 2`},
		{"call from no place", `{"notStarted":[[0,0,-1,1]]}`, `there is no line -1, column 1`},
		{"failure in no place", `{"failure":{"Kind":"exception","Site":{"Line":1,"Column":-2}}}`, `there is no line 1, column -2`},
		{"frame of no place", `{"failure":{"Kind":"exception","Stack":[{"Site":{"Line":-3}}]}}`, `there is no line -3, column 0`},
		{"fewer goroutines than none", `{"stuck":-1}`, `-1 goroutines that could not be ended`},
		{"member that does not exist", `{"notStarted":[[0,2,1,1]]}`, `there is no member 0.2`},
		{"negative member", `{"notStarted":[[0,-1,1,1]]}`, `there is no member 0.-1`},
		{"namespace that does not exist", `{"notStarted":[[1,0,1,1]]}`, `there is no member 1.0`},
		{"call with five numbers", `{"notStarted":[[0,0,1,1,1]]}`, `too many array elements`},
		{"kind of the parent's own", `{"failure":{"Kind":"worker-exit"}}`, `unknown failure kind "worker-exit"`},
		{"kind that does not exist", `{"failure":{"Kind":"victory"}}`, `unknown failure kind "victory"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := testSession(t).readDone(frame{kind: kindDone, meta: tt.meta})
			var f *fault
			if !errors.As(err, &f) || !strings.Contains(f.text, tt.want) {
				t.Errorf("got %v, want a fault with %q", err, tt.want)
			}
		})
	}
}

func TestDoneMetaRoundTrip(t *testing.T) {
	want := doneMeta{
		Misuse:     "bad \xff text",
		Failure:    &runtime.Failure{Kind: runtime.Exception, Name: "Error", Site: runtime.Site{Line: 3, Column: 4}, Frame: "3 | x\n    ^", Stack: []runtime.Frame{{Function: "f", Site: runtime.Site{Line: 1, Column: 2}}}},
		Notes:      []string{"a note"},
		NotStarted: []callMeta{{0, 1, 2, 3}},
		Compute:    1234567,
		Stuck:      1,
	}
	var got doneMeta
	if err := decode(frame{meta: encode(want)}, &got); err != nil {
		t.Fatal(err)
	}
	want.Misuse = "bad \uFFFD text"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Frames of a batch go out without any that follows, in the order in which they
// were sent, and wait for the peer to read.
func TestBatch(t *testing.T) {
	line := func(n int) frame { return frame{kind: kindLog, meta: "log", body: strconv.Itoa(n)} }
	batch := func(l *link, f frame) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.batchLocked(f)
	}
	lines := caps{kindLog: {10, linkBuffer}, kindDone: {10, 10}}
	t.Run("order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			l, peer := newLink(ours), newLink(theirs)
			go func() {
				for n := range 10 {
					if n%4 == 3 {
						l.send(line(n))
					} else {
						batch(l, line(n))
					}
				}
			}()
			for n := range 10 {
				if f, err := peer.receive(lines); err != nil || f.body != strconv.Itoa(n) {
					t.Errorf("%q %v, want %d", f.body, err, n)
				}
			}
			theirs.Close()
		})
	})
	t.Run("after a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			l, peer := newLink(ours), newLink(theirs)
			l.written, l.flushing = time.Now(), true // no other goroutine gets to run
			batch(l, line(1))
			time.Sleep(quiet)
			go batch(l, line(2))
			for _, want := range []string{"1", "2"} {
				if f, err := peer.receive(lines); err != nil || f.body != want {
					t.Errorf("%q %v, want %s", f.body, err, want)
				}
			}
			theirs.Close()
		})
	})
	t.Run("back-pressure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			l := newLink(ours)
			l.written, l.flushing = time.Now(), true // only a full buffer is written
			sent := 0
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for ; sent < 1000; sent++ {
					batch(l, frame{kind: kindLog, body: strings.Repeat("x", 1000)})
				}
			}()
			synctest.Wait()
			if most := linkBuffer / 1000; sent < most/2 || sent > most {
				t.Errorf("%d kB are held for a peer that does not read, want up to %d", sent, most)
			}
			theirs.Close()
			<-ended
		})
	})
}
