package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func mustOpen(t *testing.T, path string) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func mustClose(t *testing.T, l *eventlog.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func event(seq uint64) pipeline.Event {
	return pipeline.Event{Type: pipeline.EventToolCall, Seq: seq, Time: 7, Data: tools.MustJSON(`{"callId":"c1"}`)}
}

func line(seq uint64) string { return event(seq).JSON().String() + "\n" }

func seqs(c eventlog.Contents) []uint64 {
	out := []uint64{}
	for _, e := range c.Events {
		out = append(out, e.Seq)
	}
	return out
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// callIDs is a reader as a user would write it: it knows the envelope and two
// types, and reads DSH's logs and ours alike.
func callIDs(t *testing.T, path string) []string {
	t.Helper()
	contents, err := eventlog.ReadFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, e := range contents.Events {
		var data struct {
			CallID    string `json:"callId"`
			SubCallID string `json:"subCallId"`
			IsError   bool   `json:"isError"`
		}
		if err := e.Data.Unmarshal(&data); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case pipeline.EventToolCall:
			ids = append(ids, data.CallID)
		case pipeline.EventCodeDispatch:
			ids = append(ids, fmt.Sprint(data.SubCallID, " ", data.IsError))
		}
	}
	return ids
}

func TestOneReaderForBothLogs(t *testing.T) {
	check(t, "DSH's", callIDs(t, filepath.Join("testdata", "dsh-session.jsonl")), []string{"call_1", "call_1:code:1 false"})

	path := filepath.Join(t.TempDir(), "ours.jsonl")
	log := mustOpen(t, path)
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, &pipeline.Options{Sink: log, FirstSeq: log.NextSeq(), LogRequired: true},
		pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			p.Execute(ctx, pipeline.Request{ID: "call_1:code:1", Name: "inner", Args: `{"s":"\ud800"}`, Parent: run})
			return tools.Result{}, nil
		}), pipelinetest.Failing("inner", errors.New("gone")))
	p.Execute(context.Background(), pipeline.Request{ID: "call_1", Name: "outer"})
	mustClose(t, log)
	check(t, "ours", callIDs(t, path), []string{"call_1", "call_1:code:1 true"})
}

func TestReadKeepsTheEnvelope(t *testing.T) {
	c, err := eventlog.ReadFile(filepath.Join("testdata", "dsh-session.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "events", len(c.Events), 16)
	last := c.Events[14]
	check(t, "replace", last.SurfaceOp, `{"op":"replace","start":2,"end":12}`)
	check(t, "sources", last.SourceEventSeqs, []uint64{2, 4, 12})
	check(t, "ignorable", c.Events[13].Ignorable, true)
	var again strings.Builder
	for _, e := range c.Events {
		again.WriteString(e.JSON().String() + "\n")
	}
	check(t, "written again", again.String(), read(t, filepath.Join("testdata", "dsh-session.jsonl")))
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		opts       *eventlog.ReadOptions
		want       string
		events     []uint64
	}{
		{"an unknown type", line(1) + `{"type":"x/y","seq":2,"time":3,"data":{}}` + "\n", nil,
			`line 2: unknown event type "x/y" that is not ignorable; name it in ReadOptions.Known if you understand it`, []uint64{1}},
		{"broken JSON in the middle", line(1) + "{oops\n" + line(2), nil,
			`line 3: line 2 before it is no event and no seal names it: invalid JSON at byte 1`, []uint64{1}},
		{"a name given twice", `{"type":"tool/call","type":"tool/result","seq":1,"time":1,"data":{}}` + "\n" + line(2), nil, "the property name is given twice", []uint64{}},
		{"no type", `{"seq":1,"time":1,"data":{}}` + "\n" + line(2), nil, "the event has no type", []uint64{}},
		{"no seq", `{"type":"tool/call","time":1,"data":{}}` + "\n" + line(2), nil, "the event has no seq", []uint64{}},
		{"no time", `{"type":"tool/call","seq":1,"data":{}}` + "\n" + line(2), nil, "the event has no time", []uint64{}},
		{"no data", `{"type":"tool/call","seq":1,"time":1}` + "\n" + line(2), nil, "the event has no data", []uint64{}},
		{"a negative seq", `{"type":"tool/call","seq":-1,"time":1,"data":{}}` + "\n" + line(2), nil, "it is no event", []uint64{}},
		{"a seq that does not grow", line(4) + line(4), nil, "line 2: event 4 comes after event 4; seq must grow", []uint64{4}},
		{"a long line", line(1) + line(2), &eventlog.ReadOptions{MaxLine: 20}, "line 1 is longer than 20 bytes", []uint64{}},
		{"a seal of nothing", line(1) + seal(2, 0, 0), nil, "do not end right before it", []uint64{1}},
		{"a seal of something else", line(1) + line(2) + "{oops\n" + seal(3, 3, len(line(1)+line(2))+5-3), nil, "where no torn line begins", []uint64{1, 2}},
		{"a malformed seal", line(1) + `{"type":"log/sealed","seq":2,"time":1,"data":[],"ignorable":true}` + "\n", nil, "the seal is malformed", []uint64{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := eventlog.Read(strings.NewReader(tt.text), tt.opts)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			check(t, "events before the fault", seqs(c), tt.events)
		})
	}
}

func seal(seq, offset, n int) string {
	return fmt.Sprintf(`{"type":"log/sealed","seq":%d,"time":1,"data":{"offset":%d,"bytes":%d},"ignorable":true}`+"\n", seq, offset, n)
}

func TestReadAccepts(t *testing.T) {
	unknown := `{"type":"x/y","seq":2,"time":3.5,"data":{},"ignorable":true}` + "\n"
	foreign := `{"type":"x/y","seq":2,"time":3,"data":null}` + "\n"
	at := len(line(1))
	for _, tt := range []struct {
		name, text string
		opts       *eventlog.ReadOptions
		events     []uint64
		torn       []eventlog.Torn
	}{
		{"nothing", "", nil, []uint64{}, nil},
		{"an ignorable type", line(1) + unknown, nil, []uint64{1, 2}, nil},
		{"a declared type", line(1) + foreign, &eventlog.ReadOptions{Known: []string{"x/y"}}, []uint64{1, 2}, nil},
		{"blank lines", "\n" + line(1) + " \n\r\n" + line(2), nil, []uint64{1, 2}, nil},
		{"gaps in seq", line(1) + line(9), nil, []uint64{1, 9}, nil},
		{"a last line without its break", line(1) + strings.TrimSuffix(line(2), "\n"), nil, []uint64{1, 2}, nil},
		{"a torn tail", line(1) + `{"type":"to`, nil, []uint64{1}, []eventlog.Torn{{Offset: int64(at), Bytes: 11}}},
		{"a torn tail with a break", line(1) + "{\"type\":\n", nil, []uint64{1}, []eventlog.Torn{{Offset: int64(at), Bytes: 9}}},
		{"a sealed tail", line(1) + "{oops\n" + seal(2, at, 5) + line(3), nil, []uint64{1, 3}, []eventlog.Torn{{Offset: int64(at), Bytes: 5, Sealed: true}}},
		{"an event whose writer was told it had failed", line(1) + line(2) + seal(2, at, len(line(2))-1) + line(3), nil, []uint64{1, 3},
			[]eventlog.Torn{{Offset: int64(at), Bytes: int64(len(line(2)) - 1), Sealed: true}}},
		{"a seal whose own writing failed", line(1) + "{oops\n" + seal(2, at, 5) + seal(2, at, 5+len(seal(2, at, 5))) + line(3), nil, []uint64{1, 3},
			[]eventlog.Torn{{Offset: int64(at), Bytes: int64(5 + len(seal(2, at, 5))), Sealed: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := eventlog.Read(strings.NewReader(tt.text), tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "events", seqs(c), tt.events)
			check(t, "torn", c.Torn, tt.torn)
		})
	}
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log := mustOpen(t, path)
	check(t, "first seq", log.NextSeq(), uint64(0))
	for _, seq := range []uint64{0, 1, 5} {
		if err := log.Emit(event(seq)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Emit(event(5)); err == nil || !strings.Contains(err.Error(), "event 5 comes after event 5") {
		t.Errorf("a repeated seq: error = %v", err)
	}
	mustClose(t, log)
	mustClose(t, log)
	if err := log.Emit(event(9)); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("after Close: error = %v", err)
	}
	check(t, "file", read(t, path), line(0)+line(1)+line(5))
	again := mustOpen(t, path)
	check(t, "next seq", again.NextSeq(), uint64(6))
}

// The log must not be poisoned by an event no reader can take.
func TestEmitRefusesWhatCannotBeRead(t *testing.T) {
	deep := tools.MustJSON(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))
	for _, tt := range []struct {
		name string
		e    pipeline.Event
		want string
	}{
		{"too deep", pipeline.Event{Type: pipeline.EventToolCall, Data: deep}, "could not be read back"},
		{"no data", pipeline.Event{Type: pipeline.EventToolCall}, "it has no data"},
		{"no type", pipeline.Event{Data: tools.MustJSON("1"), Ignorable: true}, "could not be read back"},
		{"an unknown type", pipeline.Event{Type: "x/y", Data: tools.MustJSON("1")}, "name the type in Options.Read.Known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			log := mustOpen(t, path)
			if err := log.Emit(tt.e); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			check(t, "file", read(t, path), "")
		})
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := eventlog.Open(path, &eventlog.Options{Read: eventlog.ReadOptions{Known: []string{"x/y"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Emit(pipeline.Event{Type: "x/y", Data: tools.MustJSON("1")}); err != nil {
		t.Errorf("a declared type: %v", err)
	}
}

// TestSeal: opening a torn log loses no byte and makes it readable.
func TestSeal(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		events     []uint64
		next       uint64
		sealed     bool
	}{
		{"torn in an event", line(1) + line(2)[:20], []uint64{1, 3}, 3, true},
		{"torn in a character", line(1) + "{\"type\":\"\xe2\x82", []uint64{1, 3}, 3, true},
		{"torn in the first event", line(1)[:9], []uint64{1}, 1, true},
		{"torn before the line break", strings.TrimSuffix(line(1), "\n"), []uint64{1, 2}, 2, false},
		{"torn in a seal", line(1) + "{oops\n" + seal(2, len(line(1)), 5)[:30], []uint64{1, 3}, 3, true},
		{"torn behind a line break", line(1) + "{oops\n", []uint64{1, 3}, 3, true},
		{"whole", line(1), []uint64{1, 2}, 2, false},
		{"empty", "", []uint64{0}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.text)
			log := mustOpen(t, path)
			check(t, "next seq", log.NextSeq(), tt.next)
			if err := log.Emit(event(log.NextSeq())); err != nil {
				t.Fatal(err)
			}
			mustClose(t, log)
			if got := read(t, path); !strings.HasPrefix(got, tt.text) {
				t.Errorf("bytes were lost: %q became %q", tt.text, got)
			}
			c, err := eventlog.ReadFile(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			check(t, "events", seqs(c), tt.events)
			check(t, "sealed", len(c.Torn) == 1 && c.Torn[0].Sealed, tt.sealed)
			mustClose(t, mustOpen(t, path)) // and it stays so
		})
	}
}

// TestSealThatIsLast: wherever a writer dies, the log goes on also if the one
// that sealed it wrote nothing more.
func TestSealThatIsLast(t *testing.T) {
	whole := line(0) + line(1)
	for n := range len(whole) + 1 {
		path := write(t, whole[:n])
		mustClose(t, mustOpen(t, path))
		for range 2 {
			log := mustOpen(t, path)
			if err := log.Emit(event(log.NextSeq())); err != nil {
				t.Fatal(err)
			}
			mustClose(t, log)
			if _, err := eventlog.ReadFile(path, nil); err != nil {
				t.Fatalf("torn at byte %d: %v in\n%s", n, err, read(t, path))
			}
		}
	}
}

// TestLastNumber: a log in which no number is left takes no event, instead of
// one that makes it unreadable.
func TestLastNumber(t *testing.T) {
	path := write(t, line(math.MaxUint64))
	_, err := eventlog.Open(path, nil)
	if err == nil || !strings.Contains(err.Error(), "choose another file") {
		t.Errorf("Open: %v, want it refused", err)
	}
	check(t, "file", read(t, path), line(math.MaxUint64))

	path = write(t, line(1))
	log := mustOpen(t, path)
	if err := log.Emit(event(math.MaxUint64)); err == nil || !strings.Contains(err.Error(), "no number would be left") {
		t.Errorf("Emit: %v, want it refused", err)
	}
	check(t, "file", read(t, path), line(1))
}

func TestOpenRefusesABrokenLog(t *testing.T) {
	path := write(t, line(1)+"{oops\n"+line(2))
	_, err := eventlog.Open(path, nil)
	if err == nil || !strings.Contains(err.Error(), "line 3: line 2 before it is no event") {
		t.Errorf("error = %v, want the line named", err)
	}
	check(t, "file", read(t, path), line(1)+"{oops\n"+line(2))
}

// TestOpenRefusesAnotherFile: a file that was named by mistake is neither
// narrowed nor written to.
func TestOpenRefusesAnotherFile(t *testing.T) {
	for _, text := range []string{"return 1;\n", "return 1;", "# a page\nof text\n", `{"name":"app"}`, "\x7fELF\x00"} {
		path := write(t, text)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := eventlog.Open(path, nil)
		if err == nil {
			t.Errorf("a file of %q was opened as a log", text)
		}
		check(t, "file", read(t, path), text)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("the mode of a refused file is %v (%v), want 0644", info.Mode(), err)
		}
	}
}

func TestReadFileMissing(t *testing.T) {
	if _, err := eventlog.ReadFile(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v, want not exist", err)
	}
}

// FuzzRead: the reader never fails in another way than by an error, and what it
// accepts it reads again the same from its own writing.
func FuzzRead(f *testing.F) {
	f.Add([]byte(line(1) + line(2)))
	f.Add([]byte(line(1) + "{oops\n" + seal(2, len(line(1)), 5) + line(3)))
	f.Add([]byte(line(1) + `{"type":"to`))
	f.Add([]byte(`{"type":"a","seq":18446744073709551615,"time":1e300,"data":1,"ignorable":true,"surfaceOp":5}`))
	if session, err := os.ReadFile(filepath.Join("testdata", "dsh-session.jsonl")); err == nil {
		f.Add(session)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := eventlog.Read(bytes.NewReader(text), nil)
		if err != nil {
			return
		}
		var out strings.Builder
		for _, e := range c.Events {
			out.WriteString(e.JSON().String() + "\n")
		}
		again, err := eventlog.Read(strings.NewReader(out.String()), nil)
		if err != nil {
			t.Fatalf("cannot read again: %v\n%s", err, out.String())
		}
		if len(again.Torn) != 0 {
			t.Fatalf("torn: %v", again.Torn)
		}
		if diff := cmp.Diff(c.Events, again.Events, cmp.AllowUnexported(tools.JSON{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzOpen: whatever the tail of a file, opening it keeps every byte, and what
// opens can be appended to and read.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"type":"to`))
	f.Add([]byte("{oops\n" + seal(2, 3, 5)[:30]))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		before := append([]byte(line(1)), tail...)
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := eventlog.Open(path, nil)
		if err != nil {
			if after := read(t, path); after != string(before) {
				t.Fatalf("a refused log was changed: %q", after)
			}
			return
		}
		if err := log.Emit(event(log.NextSeq())); err != nil && log.NextSeq() < math.MaxUint64 {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if after := read(t, path); !strings.HasPrefix(after, string(before)) {
			t.Fatalf("bytes were lost: %q became %q", before, after)
		}
		if _, err := eventlog.ReadFile(path, nil); err != nil {
			t.Fatalf("%v in %q", err, read(t, path))
		}
	})
}
