package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// The lines of a log as the pipeline and a harness write them.

func logLine(seq int, eventType, data, more string) string {
	return fmt.Sprintf(`{"type":%q,"seq":%d,"time":7,"data":%s%s}`+"\n", eventType, seq, data, more)
}

func called(seq int, id string) string {
	return logLine(seq, "tool/call", fmt.Sprintf(`{"turn":1,"step":2,"callId":"%s","name":"bash","arguments":"{\"n\":%d}"}`, id, seq), "")
}

func answered(seq int, id string, sources ...int) string {
	more := `,"surfaceOp":"append"`
	if len(sources) > 0 {
		more += `,"sourceEventSeqs":` + strings.ReplaceAll(fmt.Sprint(sources), " ", ",")
	}
	return logLine(seq, "tool/result", fmt.Sprintf(`{"message":{"id":"m","role":"user","source":{"kind":"tool","callId":"%s"},"content":[]}}`, id), more)
}

func nested(eventType string, seq int, parent, n string) string {
	return logLine(seq, eventType, fmt.Sprintf(`{"rootCallId":"c1","parentCallId":"%s","subCallId":"%s:code:%s","name":"read","arguments":{"n":%d}}`, parent, parent, n, seq), "")
}

func began(seq int, parent, n string) string {
	return nested("tool/code-dispatch-start", seq, parent, n)
}

func ended(seq int, parent, n string) string { return nested("tool/code-dispatch", seq, parent, n) }

func asked(seq int, ids ...string) string { return askedWith(seq, "", ids...) }

func askedWith(seq int, more string, ids ...string) string {
	blocks := []string{`{"type":"text","text":"so"}`}
	for _, id := range ids {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool-call","id":"%s","name":"edit","arguments":"{}"}`, id))
	}
	return logLine(seq, "assistant/message", fmt.Sprintf(`{"id":"m","role":"assistant","content":[%s]}`, strings.Join(blocks, ",")), more)
}

func step(seq int, what string) string { return logLine(seq, what, `{"turn":3,"step":4}`, "") }

func contents(t *testing.T, text string) eventlog.Contents {
	t.Helper()
	c, err := eventlog.Read(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// short is the calls in a form that tables can hold: number, id, and ? for an
// outcome that is unknown or - for no start.
func short(t *testing.T, calls []eventlog.OpenCall) []string {
	t.Helper()
	out := []string{}
	for _, o := range calls {
		mark, ok := map[string]string{eventlog.CodeOutcomeUnknown: "?", eventlog.CodeNotStarted: "-"}[o.Code]
		if !ok {
			t.Errorf("call %s has the code %q", o.ID, o.Code)
		}
		out = append(out, fmt.Sprintf("%d %s %s", o.Seq, o.ID, mark))
	}
	return out
}

func TestOpenCalls(t *testing.T) {
	torn := `{"type":"tool/c`
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"an empty log", "", []string{}},
		{"every call has its result", called(1, "c1") + began(2, "c1", "1") + ended(3, "c1", "1") + answered(4, "c1", 1), []string{}},
		{"announced and no more", called(1, "c1"), []string{"1 c1 ?"}},
		{"announced before a torn tail", called(1, "c1") + torn, []string{"1 c1 ?"}},
		{"a torn result", called(1, "c1") + answered(2, "c1", 1)[:50], []string{"1 c1 ?"}},
		{"a torn announcement", called(1, "c1") + answered(2, "c1", 1) + called(3, "c2")[:50], []string{}},
		{"a nested call", called(1, "c1") + began(2, "c1", "1"), []string{"1 c1 ?", "2 c1:code:1 ?"}},
		{"a nested call has settled", called(1, "c1") + began(2, "c1", "1") + ended(3, "c1", "1"), []string{"1 c1 ?"}},
		{"one of two nested calls", called(1, "c1") + began(2, "c1", "1") + began(3, "c1", "2") + ended(4, "c1", "2"), []string{"1 c1 ?", "2 c1:code:1 ?"}},
		{"a nested call nests", called(1, "c1") + began(2, "c1", "1") + began(3, "c1:code:1", "1"),
			[]string{"1 c1 ?", "2 c1:code:1 ?", "3 c1:code:1:code:1 ?"}},
		{"a nested call outlives its parent", called(1, "c1") + began(2, "c1", "1") + answered(3, "c1", 1), []string{"2 c1:code:1 ?"}},
		{"the same numbers under two parents", called(1, "c1") + called(2, "c2") + began(3, "c1", "1") + began(4, "c2", "1") + ended(5, "c1", "1"),
			[]string{"1 c1 ?", "2 c2 ?", "4 c2:code:1 ?"}},
		{"the same id under two parents", called(1, "c1") + called(2, "c2") + began(3, "c1", "1") +
			strings.ReplaceAll(began(4, "c2", "1"), "c2:code:1", "c1:code:1") + ended(5, "c1", "1"), []string{"1 c1 ?", "2 c2 ?", "4 c1:code:1 ?"}},
		{"a batch that overlaps", called(1, "c1") + called(2, "c2") + answered(3, "c1", 1) + called(4, "c3"), []string{"2 c2 ?", "4 c3 ?"}},
		{"an id twice in a batch", called(1, "c1") + called(2, "c1") + answered(3, "c1", 1), []string{"2 c1 ?"}},
		{"an id twice in a batch, the second answered", called(1, "c1") + called(2, "c1") + answered(3, "c1", 2), []string{"1 c1 ?"}},
		{"an earlier run left a call of the same id", called(1, "c1") + began(2, "c1", "1") +
			called(3, "c1") + began(4, "c1", "1") + ended(5, "c1", "1") + answered(6, "c1", 3), []string{"1 c1 ?", "2 c1:code:1 ?"}},
		{"the same without sources", called(1, "c1") + called(3, "c1") + answered(6, "c1"), []string{"1 c1 ?"}},
		{"a result whose announcement is lost", called(1, "c1") + answered(6, "c1", 5), []string{"1 c1 ?"}},
		{"results of nobody", answered(1, "c1", 0) + ended(2, "c1", "1"), []string{}},
		{"a result without a readable id", called(1, "c1") + called(2, "c2") + logLine(3, "tool/result", `{"head":"…","cut":[]}`, `,"sourceEventSeqs":[2]`), []string{"1 c1 ?"}},
		{"a result whose id is null", called(1, "c1") + called(2, "c2") + logLine(3, "tool/result", `{"message":{"source":{"callId":null}}}`, `,"sourceEventSeqs":[2]`), []string{"1 c1 ?"}},
		{"a result that replaces an earlier one", called(1, "c1") + logLine(2, "tool/result", `{"message":{"source":{"callId":"c1"}}}`, `,"surfaceOp":{"op":"replace","start":0,"end":1}`), []string{"1 c1 ?"}},
		{"ids that differ in an unpaired surrogate", called(1, `\ud800`) + called(2, `\ud801`) + answered(3, `\ud800`), []string{"2 \uFFFD ?"}},
		{"calls without a usable id", logLine(1, "tool/call", `{"callId":5,"name":"x"}`, "") + logLine(2, "tool/call", `{"name":"x"}`, "") + logLine(3, "tool/call", `[]`, "") +
			logLine(4, "tool/code-dispatch-start", `null`, "") + logLine(5, "tool/code-dispatch", `7`, "") + logLine(6, "assistant/message", `{"content":[1,{"type":"tool-call"}]}`, ""), []string{}},

		{"asked for", asked(1, "c1", "c2"), []string{"1 c1 -", "1 c2 -"}},
		{"asked for, other events follow", asked(1, "c1") + logLine(2, "x/y", "{}", `,"ignorable":true`), []string{"1 c1 -"}},
		{"asked for and settled", asked(1, "c1") + called(2, "c1") + answered(3, "c1", 2), []string{}},
		{"asked for and announced", asked(1, "c1", "c2") + called(2, "c1"), []string{"2 c1 ?", "1 c2 -"}},
		{"announced out of order", asked(1, "c1", "c2") + called(2, "c2"), []string{"1 c1 -", "2 c2 ?"}},
		{"asked for twice, announced once", asked(1, "c1", "c1") + called(2, "c1") + answered(3, "c1", 2), []string{"1 c1 -"}},
		{"asked for, and the tail is torn", asked(1, "c1") + torn, []string{"1 c1 ?"}},
		{"asked for, and torn bytes were sealed", asked(1, "c1") + torn + "\n" + seal(2, len(asked(1, "c1")), len(torn)), []string{"1 c1 ?"}},
		{"asked for, and an event is missing", asked(1, "c1") + logLine(3, "x/y", "{}", `,"ignorable":true`), []string{"1 c1 ?"}},
		{"asked for after an event was missing", called(1, "c0") + answered(2, "c0", 1) + asked(4, "c1"), []string{"4 c1 -"}},
		{"asked for, and a nested call shows that it ran", asked(1, "c1") + began(2, "c1", "1") + ended(3, "c1", "1"), []string{"1 c1 ?"}},
		{"asked for, and answered without an announcement", asked(1, "c1") + answered(2, "c1"), []string{}},
		{"asked for, and its announcement is lost", asked(1, "c1", "c2") + answered(3, "c1", 2), []string{"1 c2 ?"}},
		{"asked for in a step that has ended", asked(1, "c1", "c2") + called(2, "c2") + step(3, "step/end"), []string{"2 c2 ?"}},
		{"asked for by an earlier message", asked(1, "c1") + asked(2, "c2"), []string{"2 c2 -"}},
		{"asked for by an earlier run", asked(1, "c1") + step(2, "session/start"), []string{}},
		{"asked for by a message that replaces another", askedWith(1, `,"surfaceOp":{"op":"replace","start":0,"end":1}`, "c1"), []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := contents(t, tt.text)
			check(t, "open", short(t, c.OpenCalls()), tt.want)
			c.Events = append(c.Events, c.Repair(nil)...)
			check(t, "open once repaired", short(t, c.OpenCalls()), []string{})
			check(t, "repaired again", len(c.Repair(nil)), 0)
		})
	}
}

func TestOpenCallsOfDSH(t *testing.T) {
	c, err := eventlog.ReadFile(filepath.Join("testdata", "dsh-session.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int][]string{
		3: {}, 4: {"4 call_1 -"}, 5: {"5 call_1 ?"}, 6: {"5 call_1 ?", "6 call_1:code:1 ?"},
		10: {"5 call_1 ?", "6 call_1:code:1 ?"}, 11: {"5 call_1 ?"}, 12: {}, 16: {},
	} {
		check(t, fmt.Sprintf("after %d events", n), short(t, eventlog.Contents{Events: c.Events[:n]}.OpenCalls()), want)
	}
}

func TestOpenCallSaysWhatItKnows(t *testing.T) {
	c := contents(t, step(1, "step/start")+asked(2, "c1", "c2")+called(3, "c1")+began(4, "c1", "1"))
	check(t, "calls", c.OpenCalls(), []eventlog.OpenCall{
		{ID: "c1", Name: "bash", Arguments: `{"n":3}`, Seq: 3, Code: "TOOL_OUTCOME_UNKNOWN",
			Text: `outcome of tool "bash" unknown: the session ended before its result was recorded; it may have taken effect, in part or as a whole, so check what it has done before calling it again`},
		{ID: "c2", Name: "edit", Arguments: `{}`, Seq: 2, Code: "TOOL_NOT_STARTED",
			Text: `tool "edit" was not started: the session ended before the call was made, so it has had no effect; call it again if it is still needed`},
		{ID: "c1:code:1", ParentID: "c1", Name: "read", Arguments: `{"n":4}`, Seq: 4, Code: "TOOL_OUTCOME_UNKNOWN",
			Text: `outcome of tool "read" unknown: the session ended before its result was recorded; it may have taken effect, in part or as a whole, so check what it has done before calling it again`},
	})
}

func repairOptions() *eventlog.RepairOptions {
	return &eventlog.RepairOptions{Now: pipelinetest.Clock(), NewID: pipelinetest.IDs("m")}
}

// TestRepair shows the events: inner calls before those that made them, results
// in the order of the model's calls.
func TestRepair(t *testing.T) {
	c := contents(t, step(1, "step/start")+asked(2, "c1", "c2")+called(3, "c1")+
		began(4, "c1", "1")+began(5, "c1:code:1", "1")+began(6, "c1", "2"))
	var got strings.Builder
	for _, e := range c.Repair(repairOptions()) {
		got.WriteString(e.JSON().String() + "\n")
	}
	golden := filepath.Join("testdata", "repair.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "events", got.String(), read(t, golden))
}

// TestRepairNumbers: the events follow what Open leaves, whether c was read
// before or after it.
func TestRepairNumbers(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a whole log", called(5, "c1")},
		{"no last line break", strings.TrimSuffix(called(5, "c1"), "\n")},
		{"a torn tail", called(5, "c1") + `{"type":"to`},
		{"a sealed tail", called(5, "c1") + "{oops\n" + seal(9, len(called(5, "c1")), 5)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.text)
			before := contents(t, tt.text).Repair(nil)
			log := mustOpen(t, path)
			after := contents(t, read(t, path)).Repair(nil)
			check(t, "first number", []uint64{before[0].Seq, after[0].Seq}, []uint64{log.NextSeq(), log.NextSeq()})
		})
	}
}

// TestRepairQuestions: a person who was being asked when the session ended has
// not answered.
func TestRepairQuestions(t *testing.T) {
	question := func(seq int, eventType, data string) string {
		return fmt.Sprintf(`{"type":%q,"seq":%d,"time":1,"data":%s,"ignorable":true}`+"\n", eventType, seq, data)
	}
	c := contents(t, called(0, "c1")+
		question(1, "approval/asked", `{"id":"q1","toolName":"rm"}`)+
		question(2, "approval/decided", `{"id":"q1","outcome":"allowed-once"}`)+
		question(3, "approval/asked", `{"id":"q2","toolName":"rm"}`)+
		question(4, "approval/asked", `{"id":7}`)+
		question(5, "hook/asked", `{"id":"q3"}`))
	got := []string{}
	for _, e := range c.Repair(repairOptions()) {
		got = append(got, fmt.Sprint(e.Seq, " ", e.Type, " ", e.Ignorable))
		if e.Type == pipeline.EventApprovalDecided {
			check(t, "decision", e.Data.String(), `{"id":"q2","outcome":"cancelled"}`)
		}
	}
	check(t, "events", got, []string{"6 approval/decided true", "7 tool/result false"})
}

func TestRepairOnlyOnce(t *testing.T) {
	path := write(t, called(0, "c1"))
	log := mustOpen(t, path)
	events := contents(t, read(t, path)).Repair(nil)
	if err := log.Emit(events[0]); err != nil {
		t.Fatal(err)
	}
	if err := log.Emit(events[0]); err == nil || !strings.Contains(err.Error(), "comes after") {
		t.Errorf("the same repair again: error = %v, want it refused", err)
	}
	check(t, "open", short(t, contents(t, read(t, path)).OpenCalls()), []string{})
}

// names is the data of an event with every value but its place left out.
func names(t *testing.T, e pipeline.Event) []string {
	t.Helper()
	var data map[string]any
	if err := e.Data.Unmarshal(&data); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v any) []string
	walk = func(path string, v any) (out []string) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				out = append(out, walk(path+"."+name, member)...)
			}
		case []any:
			for _, item := range v {
				out = append(out, walk(path+"[]", item)...)
			}
		default:
			out = append(out, fmt.Sprintf("%s %T", path, v))
		}
		return out
	}
	all := walk("", data)
	slices.Sort(all)
	return all
}

// crashed is what a log holds at the moment the innermost body of a call runs,
// and after all has settled.
func crashed(t *testing.T, opts *eventlog.Options) (crash, whole string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := eventlog.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, &pipeline.Options{Sink: log, FirstSeq: log.NextSeq(), LogRequired: true},
		pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			for n := range 2 {
				p.Execute(ctx, pipeline.Request{ID: fmt.Sprintf("%s:code:%d", run.Call().ID(), n+1), Name: "inner", Args: run.Call().Args().String(), Parent: run})
			}
			return tools.Result{}, &tools.Error{Name: "E", Code: "CODE", Message: "gone"}
		}),
		pipelinetest.Tool("inner", func(_ context.Context, run *tools.Run) (tools.Result, error) {
			if run.Call().ID() == "c2:code:2" {
				crash = read(t, path)
			}
			return tools.Result{}, &tools.Error{Name: "E", Code: "CODE", Message: "gone"}
		}),
		pipelinetest.Failing("plain", errors.New("gone")))
	p.Batch(context.Background(), []pipeline.Request{
		{ID: "c1", Name: "plain", Turn: 1, Step: 2},
		{ID: "c2", Name: "outer", Args: `{"s":"` + strings.Repeat("x", 9000) + `"}`, Turn: 1, Step: 2},
		{ID: "c3", Name: "plain", Turn: 1, Step: 2},
	})
	mustClose(t, log)
	return crash, read(t, path)
}

// TestRepairAfterACrash: the events have the shape of those the pipeline would
// have written, but for what nobody knows.
func TestRepairAfterACrash(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts *eventlog.Options
	}{
		{"whole events", nil},
		{"cut events", &eventlog.Options{MaxBody: 4 << 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			crash, whole := crashed(t, tt.opts)
			want := map[string][]string{}
			for _, e := range contents(t, whole).Events {
				want[e.Type] = slices.DeleteFunc(names(t, e), func(name string) bool {
					return name == ".state string" || name == ".durationMs float64"
				})
				if e.Type == pipeline.EventToolResult && strings.Contains(e.Data.String(), `"c2"`) {
					break
				}
			}
			path := write(t, crash)
			log, err := eventlog.Open(path, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			c := contents(t, crash)
			check(t, "open", short(t, c.OpenCalls()), []string{"2 c2 ?", "5 c2:code:2 ?"})
			events := c.Repair(nil)
			for _, e := range events {
				check(t, e.Type, names(t, e), want[e.Type])
				if err := log.Emit(e); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, log)
			check(t, "the result names its call", events[1].SourceEventSeqs, []uint64{2})
			check(t, "open once repaired", short(t, contents(t, read(t, path)).OpenCalls()), []string{})
		})
	}
}

// FuzzRepair: wherever a good log ends, what Open and the repair make of it is a
// log in which every call is settled once and none is open.
func FuzzRepair(f *testing.F) {
	good := step(1, "step/start") + asked(2, "c1", "c2", "c1") + called(3, "c1") + began(4, "c1", "1") + ended(5, "c1", "1") +
		began(6, "c1", "2") + began(7, "c1:code:2", "1") + ended(8, "c1:code:2", "1") + ended(9, "c1", "2") + answered(10, "c1", 3) +
		called(11, "c2") + called(12, "c1") + answered(13, "c2", 11) + answered(14, "c1", 12) + step(15, "step/end") +
		step(16, "step/start") + asked(17, "c1") + called(18, "c1") + answered(19, "c1", 18)
	for n := 0; n < len(good); n += 97 {
		f.Add(n, []byte(nil))
	}
	f.Add(len(good), []byte(called(20, "c1")+began(21, "c1", "1")))
	f.Fuzz(func(t *testing.T, n int, tail []byte) {
		if n < 0 || n > len(good) {
			return
		}
		path := filepath.Join(t.TempDir(), "log.jsonl")
		if err := os.WriteFile(path, append([]byte(good[:n]), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := eventlog.Open(path, nil)
		if err != nil {
			return // the tail made it no log
		}
		defer func() { _ = log.Close() }()
		c, err := eventlog.ReadFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		open := c.OpenCalls()
		events := c.Repair(nil)
		if len(events) != len(open) {
			t.Fatalf("%d events for %d calls", len(events), len(open))
		}
		for _, e := range events {
			if err := log.Emit(e); err != nil {
				t.Fatal(err)
			}
		}
		again, err := eventlog.ReadFile(path, nil)
		if err != nil {
			t.Fatalf("cannot read the repaired log: %v", err)
		}
		if open := again.OpenCalls(); len(open) > 0 {
			t.Fatalf("still open: %v", open)
		}
		if len(again.Events) != len(c.Events)+len(events) {
			t.Fatalf("%d events became %d with %d more", len(c.Events), len(again.Events), len(events))
		}
	})
}
