package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// outline is a trace in a few words for each call: its place in the tree, state,
// line, times in milliseconds from the start.
func outline(tr *trace.Trace) []string {
	lines := []string{}
	tr.Walk(func(c *trace.Call, depth int) {
		lines = append(lines, fmt.Sprintf("%s%s %s %s :%d %v+%v", strings.Repeat("- ", depth), c.ID, c.Tool, c.Fate(), c.Line, c.Started.Sub(tr.Started), c.Took))
	})
	return lines
}

func problems(tr *trace.Trace) []string {
	list := []string{}
	for _, p := range tr.Problems {
		list = append(list, fmt.Sprintf("%d: %s", p.Line, p.Text))
	}
	return list
}

// log writes lines of events from a script: "1000 call c1 run_code", "1010 start
// c1 c1:1 echo", "1020 settle c1 c1:1", "1030 result c1"; anything else stands
// as it is.
func log(script string) string {
	var b strings.Builder
	for seq, line := range strings.Split(strings.Trim(script, "\n"), "\n") {
		w := append(strings.Fields(line), "", "", "", "", "")
		data, kind := "", ""
		switch w[1] {
		case "call":
			kind, data = "tool/call", fmt.Sprintf(`{"callId":%q,"name":%q,"arguments":"{}"}`, w[2], w[3])
		case "start":
			kind, data = "tool/code-dispatch-start", fmt.Sprintf(`{"parentCallId":%q,"subCallId":%q,"name":%q,"arguments":{"a":1}}`, w[2], w[3], w[4])
		case "settle":
			kind, data = "tool/code-dispatch", fmt.Sprintf(`{"parentCallId":%q,"subCallId":%q,"name":"settled","isError":false,"content":[]}`, w[2], w[3])
		case "result":
			kind, data = "tool/result", fmt.Sprintf(`{"message":{"source":{"callId":%q},"content":[{"type":"tool-result","content":[],"isError":false}]}}`, w[2])
		default:
			b.WriteString(line + "\n")
			continue
		}
		fmt.Fprintf(&b, `{"type":%q,"seq":%d,"time":%s,"data":%s}`+"\n", kind, seq, w[0], data)
	}
	return b.String()
}

// TestRead reads logs that are sound, and logs that are not.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, log      string
		want, problems []string
	}{
		{"empty", "", nil, nil},
		{"blank lines", "\n\n  \n", nil, nil},
		{"a call and what it nests", log("1000 call c1 run_code\n1010 start c1 c1:1 echo\n1011 start c1:1 c1:1:1 inner\n1012 settle c1:1 c1:1:1\n1020 settle c1 c1:1\n1030 result c1"),
			[]string{"c1 run_code done :0 0s+30ms", "- c1:1 echo done :0 10ms+10ms", "- - c1:1:1 inner done :0 11ms+1ms"}, nil},
		{"unknown events", log("1000 call c1 a\n" + `{"type":"weather/report","seq":9,"data":[1]}` + "\n" + `{"type":"x","data":null}` + "\n1003 result c1"),
			[]string{"c1 a done :0 0s+3ms"}, []string{"4: the number 3 comes after 9"}},
		{"a result without an announcement", log("1000 result c1"), nil, []string{"1: call c1 has a result and was not announced, or has two"}},
		{"two results", log("1000 call c1 a\n1001 result c1\n1002 result c1"), []string{"c1 a done :0 0s+1ms"}, []string{"3: call c1 has a result and was not announced, or has two"}},
		{"no result", log("1000 call c1 run_code\n1010 start c1 c1:1 echo"),
			[]string{"c1 run_code open :0 0s+10ms", "- c1:1 echo open :0 10ms+0s"},
			[]string{"0: call c1 of run_code has no result: it was running when the log ends, or its session died", "0: call c1:1 of echo has no result: it was running when the log ends, or its session died"}},
		{"no parent", log("1000 start c9 c9:1 echo\n1001 settle c9 c9:1"), []string{"c9:1 echo done :0 0s+1ms"}, []string{`1: call c9:1 belongs to "c9", which is not in the log`}},
		{"its own parent", log("1000 start c1 c1 echo\n1001 settle c1 c1"), []string{"c1 echo done :0 0s+1ms"}, []string{`1: call c1 belongs to "c1", which is not in the log`}},
		{"after its parent", log("1000 call c1 run_code\n1001 result c1\n1002 start c1 c1:1 echo\n1003 settle c1 c1:1"),
			[]string{"c1 run_code done :0 0s+1ms", "- c1:1 echo done :0 2ms+1ms"}, []string{"3: call c1:1 begins after the result of c1, to which it belongs"}},
		{"an id again", log("1000 call c1 a\n1001 result c1\n1002 call c1 b\n1005 result c1"), []string{"c1 a done :0 0s+1ms", "c1 b done :0 2ms+3ms"}, nil},
		{"an id taken", log("1000 call c1 a\n1001 call c1 b\n1002 result c1"),
			[]string{"c1 a open :0 0s+2ms", "c1 b done :0 1ms+1ms"}, []string{"2: call c1 is announced while a call of this id is open", "0: call c1 of a has no result: it was running when the log ends, or its session died"}},
		{"a result that names its announcement", log("1000 call c1 a\n1001 call c1 b") + `{"type":"tool/result","seq":2,"time":1002,"data":{"message":{"source":{"callId":"c1"},"content":[]}},"sourceEventSeqs":[0]}`,
			[]string{"c1 a done :0 0s+2ms", "c1 b open :0 1ms+1ms"}, []string{"2: call c1 is announced while a call of this id is open", "0: call c1 of b has no result: it was running when the log ends, or its session died"}},
		{"time that goes back within a call", log("1000 call c1 a\n990 result c1"), []string{"c1 a done :0 0s+0s"}, []string{"2: the time goes back by 10 ms"}},
		{"time that goes back between calls", log("1000 call c1 a\n1010 result c1\n500 call c2 b\n503 result c2"),
			[]string{"c1 a done :0 0s+10ms", "c2 b done :0 -500ms+3ms"}, []string{"3: the time goes back by 510 ms"}},
		{"the first sessions of DSH, which have one event for a call", log("1000 call c1 run_code\n" + `{"type":"tool/code-dispatch","seq":1,"time":1009,"data":{"parentCallId":"c1","subCallId":"c1:code:1","name":"echo","arguments":{},"isError":false,"resultSummary":"short"}}` + "\n1010 result c1"),
			[]string{"c1 run_code done :0 0s+10ms", "- c1:code:1 echo done :0 9ms+0s"}, nil},
		{"what is no event", "[1]\n{}\n\"x\"\n" + `{"type":7}` + "\n", nil, []string{
			"1: it is JSON and no event: an object with type, seq, time and data is expected", "2: it is JSON and no event: an object with type, seq, time and data is expected",
			"3: it is JSON and no event: an object with type, seq, time and data is expected", "4: it is JSON and no event: an object with type, seq, time and data is expected"}},
		{"data of another shape", `{"type":"tool/call","data":[1]}` + "\n" + `{"type":"tool/call"}`, nil, []string{"1: the data of this tool/call cannot be read", "2: the data of this tool/call cannot be read: it is missing"}},
		{"a torn tail", log("1000 call c1 a\n1001 result c1") + `{"type":"tool/ca`, []string{"c1 a done :0 0s+1ms"}, []string{"3: the log ends in the middle of a line; its last 16 bytes are lost"}},
		{"a message that replaces another", log("1000 call c1 a\n1001 result c1") + `{"type":"tool/result","seq":5,"time":1002,"surfaceOp":{"op":"replace","start":1,"end":2},"data":{"message":{"source":{"callId":"c1"},"content":[]}}}`,
			[]string{"c1 a done :0 0s+1ms"}, nil},
		{"a stage and a question of nothing", `{"type":"pipeline/stage","seq":1,"time":1,"data":{"callId":"c9","stage":"guard"}}` + "\n" + `{"type":"approval/decided","seq":2,"time":1,"data":{"id":"q"}}`, nil,
			[]string{`1: this pipeline/stage is about call "c9", which is not in the log`, "2: the question q is decided and was not asked"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := read(t, tt.log)
			check(t, "calls", outline(tr), append([]string{}, tt.want...))
			got := problems(tr)
			for i := range got {
				if i < len(tt.problems) && strings.HasPrefix(got[i], tt.problems[i]+": ") {
					got[i] = tt.problems[i] // what the codec says is its own
				}
			}
			check(t, "problems", got, append([]string{}, tt.problems...))
		})
	}
}

// TestReadErrors: a line that is no JSON and that no seal explains.
func TestReadErrors(t *testing.T) {
	sound := log("1000 call c1 a\n1001 result c1")
	tr, err := trace.Read(strings.NewReader(sound + "no json\n" + sound))
	if err == nil || !strings.HasPrefix(err.Error(), "line 3 is no JSON and no seal names it: invalid JSON at byte 0") {
		t.Errorf("error = %v", err)
	}
	check(t, "calls before it", outline(tr), []string{"c1 a done :0 0s+1ms"})
	broken := errors.New("the disk is gone")
	if _, err := trace.Read(io.MultiReader(strings.NewReader(sound), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("error = %v, want the reader's", err)
	}
	if _, err := trace.ReadFile(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot read trace: ") {
		t.Errorf("error of a missing file = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestReadSealed reads what package eventlog leaves behind when writing failed.
func TestReadSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	whole := log("1000 call c1 a\n1001 result c1")
	if err := os.WriteFile(path, []byte(whole+`{"type":"tool/call","seq":2,"ti`), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := eventlog.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = l.Emit(pipeline.Event{Type: "tool/call", Seq: l.NextSeq(), Time: 1002, Data: tools.MustJSON(`{"callId":"c2","name":"b","arguments":"{}"}`)})
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "calls", len(tr.Calls), 2)
	check(t, "problems", problems(tr)[0], "4: 31 bytes before this line were lost when their writer died")

	// The writer of the second line was told that it had failed.
	second := strings.Split(whole, "\n")[1]
	at := len(whole) - len(second) - 1
	tr = read(t, whole+fmt.Sprintf(`{"type":"log/sealed","seq":2,"time":9,"ignorable":true,"data":{"offset":%d,"bytes":%d}}`, at, len(second)))
	check(t, "a result that was sealed", outline(tr)[0], "c1 a open :0 0s+0s")
}

// TestDetails reads everything a log can say of a call.
func TestDetails(t *testing.T) {
	tr := read(t, `{"type":"tool/call","seq":1,"time":1000,"data":{"callId":"c1","name":"run_code","arguments":"{\"code\":\"return 1\",\"description\":\"One\"}"}}
{"type":"code/console","seq":2,"time":1001,"ignorable":true,"data":{"callId":"c1","level":"warn","text":"careful"}}
{"type":"code/catalog","seq":3,"time":1001,"ignorable":true,"data":{"callId":"c1","line":3,"member":"search","arguments":{"query":"x"},"error":"no"}}
{"type":"code/world","seq":4,"time":1001,"ignorable":true,"data":{"callId":"c1","seed":9,"start":999.5,"input":[1]}}
{"type":"tool/code-dispatch-start","seq":5,"time":1002,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"mail","arguments":{"n":1.50}}}
{"type":"approval/asked","seq":6,"time":1003,"ignorable":true,"data":{"id":"q1","toolName":"mail","callId":"c1:code:1","reason":"why","by":"rule","digest":"d","line":4}}
{"type":"approval/decided","seq":7,"time":1503,"ignorable":true,"data":{"id":"q1","outcome":"rejected"}}
{"type":"pipeline/stage","seq":8,"time":1503,"ignorable":true,"data":{"callId":"c1:code:1","stage":"approval","by":"rule","decision":"rejected","reason":"r","ms":500.25}}
{"type":"tool/code-dispatch","seq":9,"time":1504,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"mail","arguments":{"n":1.50},"isError":true,"content":[{"type":"text","text":"Error: the user rejected it"}],"error":{"name":"DeniedError","code":"APPROVAL_REJECTED","origin":"approval","by":"rule"},"state":"not-started","durationMs":501.5,"droppedContexts":2,"line":4}}
{"type":"user/message","seq":10,"time":1505,"data":{"id":"m","role":"user","content":[{"type":"text","text":"mind the gap"}],"source":{"kind":"plugin","plugin":"coach","callId":"c1"}},"surfaceOp":"append"}
{"type":"user/message","seq":11,"time":1505,"data":{"id":"m","role":"user","content":[{"type":"text","text":"hello"}],"source":{"kind":"user"}},"surfaceOp":"append"}
`)
	run, mail := tr.Calls[0], tr.Calls[0].Calls[0]
	at := func(ms float64) time.Time { return time.UnixMicro(int64(ms * 1000)).UTC() }
	check(t, "program", []string{run.Program, run.About}, []string{"return 1", "One"})
	check(t, "console", run.Console, []trace.Line{{Time: at(1001), Level: "warn", Text: "careful"}})
	check(t, "look-ups", run.Lookups, []trace.Lookup{{Member: "search", Arguments: tools.MustJSON(`{"query":"x"}`), Error: "no", Line: 3}})
	check(t, "world", run.World, &trace.World{Seed: 9, Start: at(999.5), Input: tools.MustJSON(`[1]`)})
	check(t, "questions", mail.Questions, []trace.Question{{ID: "q1", Reason: "why", By: "rule", Digest: "d", Outcome: "rejected", Asked: at(1003), Answered: at(1503)}})
	check(t, "stages", mail.Stages, []trace.Stage{{Stage: "approval", By: "rule", Decision: "rejected", Reason: "r", Took: 500250 * time.Microsecond}})
	check(t, "failure", mail.Failure, &trace.Failure{Name: "DeniedError", Code: "APPROVAL_REJECTED", Origin: "approval", By: "rule", Message: "the user rejected it"})
	check(t, "the rest", []any{mail.Arguments.String(), mail.Line, mail.DroppedContexts, mail.Took, mail.Fate(), mail.N, mail.Parent == run},
		[]any{`{"n":1.50}`, 4, 2, 501500 * time.Microsecond, "denied", 1, true})
	check(t, "contexts", tr.Contexts, []trace.Context{{Time: at(1505), From: "coach", CallID: "c1", Text: "mind the gap"}})
	check(t, "staged", tr.Staged, true)
}

// TestStates: where the log does not say how far a call came, as in sessions of
// DSH, it is told from what is known of its failure.
func TestStates(t *testing.T) {
	for members, want := range map[string]pipeline.State{
		`"isError":false`: pipeline.StateDone,
		`"isError":true`:  pipeline.StateFailed,
		`"isError":true,"error":{"code":"DENIED_BY_POLICY"}`: pipeline.StateNotStarted,
		`"isError":true,"state":"aborted"`:                   pipeline.StateAborted,
		`"isError":true,"state":"of tomorrow"`:               "of tomorrow",
	} {
		tr := read(t, log("1000 call c1 run_code\n1001 start c1 s echo\n")+
			`{"type":"tool/code-dispatch","seq":5,"time":1002,"data":{"parentCallId":"c1","subCallId":"s","name":"echo","content":[],`+members+`}}`)
		check(t, members, tr.Calls[0].Calls[0].State, want)
	}
}

// TestTimesWithinAMillisecond: calls that follow each other do not overlap,
// however short they are.
func TestTimesWithinAMillisecond(t *testing.T) {
	settle := func(n int) string {
		return fmt.Sprintf(`{"type":"tool/code-dispatch","seq":%d,"time":1000,"data":{"parentCallId":"c1","subCallId":"c1:%d","name":"a","arguments":{},"isError":false,"content":[],"durationMs":0.2}}`, 100+n, n)
	}
	tr := read(t, log("1000 call c1 run_code\n1000 start c1 c1:1 a\n"+settle(1)+"\n1000 start c1 c1:2 a\n"+settle(2)+"\n1001 result c1"))
	check(t, "calls", outline(tr), []string{"c1 run_code done :0 0s+1ms", "- c1:1 a done :0 0s+200µs", "- c1:2 a done :0 200µs+200µs"})
}

// TestManyProblems: one kind of problem does not hide the others.
func TestManyProblems(t *testing.T) {
	tr := read(t, strings.Repeat(log("1000 result c1"), 1000)+"[]\n")
	check(t, "problems", len(tr.Problems), 21)
	check(t, "the last of a kind", tr.Problems[19].Text, "call c1 has a result and was not announced, or has two (more of this kind are not listed)")
}

// TestDeep: a chain of calls without end is cut into pieces.
func TestDeep(t *testing.T) {
	script := "1000 call c0 run_code"
	for i := range 250 {
		script += fmt.Sprintf("\n1001 start c%d c%d deep", i, i+1)
	}
	tr := read(t, log(script))
	check(t, "pieces", len(tr.Calls), 3)
	check(t, "problem", problems(tr)[0], "102: call c101 is nested 101 levels deep; it is shown as if it had no parent")
}

// TestRestore gets back what was cut, whatever part of an event it was.
func TestRestore(t *testing.T) {
	var kept []string
	keep := func(_ context.Context, text string) (string, error) {
		kept = append(kept, text)
		return fmt.Sprint(len(kept) - 1), nil
	}
	fetch := func(_ context.Context, locator string) (string, error) {
		var n int
		_, err := fmt.Sscan(locator, &n)
		return kept[n], err
	}
	members := `"x":1`
	for i := range 1000 {
		members += fmt.Sprintf(`,"k%d":7`, i)
	}
	big, many := strings.Repeat("b", 9000), strings.Repeat(`7,`, 3000)+"7"
	for _, args := range []string{
		`{"text":"` + big + `","n":1.50}`, `{"a/b":[{"~":"` + big + `"}],"m":{"list":[` + many + `]}}`, `{` + members + `}`,
	} {
		path := filepath.Join(t.TempDir(), "log.jsonl")
		l, err := eventlog.Open(path, &eventlog.Options{MaxBody: 4096, Spill: keep})
		if err != nil {
			t.Fatal(err)
		}
		p := pipelinetest.New(t, &pipeline.Options{Sink: l}, pipelinetest.Echo("echo"))
		p.Execute(t.Context(), pipeline.Request{ID: "c1", Name: "echo", Args: args})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := tr.Calls[0]
		wantArgs, wantResult := c.Sizes()
		if len(c.Cuts) == 0 {
			t.Fatal("nothing was cut")
		}
		if err := c.Restore(t.Context(), fetch); err != nil {
			t.Fatal(err)
		}
		if got := c.Arguments.String(); got != args {
			t.Errorf("arguments restored to %.100s, want %.100s", got, args)
		}
		if got := c.Text(); got != args {
			t.Errorf("result restored to %.100s, want %.100s", got, args)
		}
		gotArgs, gotResult := c.Sizes()
		if gotArgs != len(args) || gotResult != len(args) || c.Cuts != nil {
			t.Errorf("sizes %d and %d of %d bytes, cuts %v", gotArgs, gotResult, len(args), c.Cuts)
		}
		// Before that they can be told but for quotes and escapes.
		if d := wantArgs - len(args); d < -8 || d > 8 {
			t.Errorf("arguments that are cut have %d bytes, want about %d", wantArgs, len(args))
		}
		if d := wantResult - len(args); d < -80 || d > 80 {
			t.Errorf("a result that is cut has %d bytes, want about %d", wantResult, len(args))
		}
	}
}

// TestHostileText: no text of a log reaches a terminal as it is.
func TestHostileText(t *testing.T) {
	tr := read(t, hostileLog)
	var out bytes.Buffer
	if err := errors.Join(tr.Tree(&out), tr.Waterfall(&out), tr.Summary(&out)); err != nil {
		t.Fatal(err)
	}
	if bad := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]").FindString(out.String()); bad != "" {
		t.Errorf("the text has %q:\n%s", bad, out.String())
	}
	if !strings.Contains(out.String(), `c\x1b[2J1`) {
		t.Errorf("the id is not shown:\n%s", out.String())
	}
}

// TestChrome holds the trace event file of a sample, and that lanes hold no
// overlapping calls.
func TestChrome(t *testing.T) {
	var out bytes.Buffer
	if err := readSample(t, "guard-denies").Chrome(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "guard-denies.chrome.json"), out.Bytes())
}

func TestChromeLanes(t *testing.T) {
	tr := read(t, log(`1000 call c1 run_code
1010 start c1 c1:1 a
1020 start c1 c1:2 b
1025 start c1:2 c1:2:1 inner
1030 settle c1 c1:1
1035 start c1 c1:3 c
1040 settle c1:2 c1:2:1
1050 settle c1 c1:2
1060 settle c1 c1:3
1065 start c1 c1:4 d
1070 settle c1 c1:4
1071 start c1 c1:5 e
1072 start c1 c1:6 f
1073 start c1 c1:7 g
1074 settle c1 c1:5
1075 settle c1 c1:6
1076 settle c1 c1:7
1080 result c1
1090 call c2 direct
1091 result c2`))
	var out bytes.Buffer
	if err := tr.Chrome(&out); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			Pid, Tid int
			Ts, Dur  float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			got = append(got, fmt.Sprintf("%s %d.%d %v+%v", e.Name, e.Pid, e.Tid, e.Ts, e.Dur))
		}
	}
	check(t, "calls", got, []string{
		"run_code 1.1 0+80000", "a 1.1 10000+20000", "b 1.2 20000+30000", "inner 1.2 25000+15000", "c 1.1 35000+25000", "d 1.1 65000+5000",
		"e 1.1 71000+3000", "f 1.2 72000+3000", "g 1.3 73000+3000", "direct 2.1 90000+1000",
	})
}

// TestHTML: the page is one file whose data cannot end its element.
func TestHTML(t *testing.T) {
	var out bytes.Buffer
	if err := read(t, hostileLog).HTML(&out, &trace.HTMLOptions{Title: "{{script}} </script>\u2028"}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	// The browser runs the page's own script alone; that it does run, and so that
	// the hash is right, is seen by the tests in a browser.
	policy := regexp.MustCompile(`content="default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]{44}'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; base-uri 'none'; form-action 'none'; `)
	if !policy.MatchString(page) {
		t.Errorf("the page lacks the policy %s", policy)
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("the page ends %d script elements, want 2", n)
	}
	var back pageData
	if err := json.Unmarshal([]byte(dataOf(t, page)), &back); err != nil {
		t.Fatal(err)
	}
	check(t, "title", back.Title, "{{script}} </script>\u2028")
	check(t, "tool", back.Calls[0].Tool, "</script><img src=x onerror=alert(1)>")
	check(t, "result", back.Calls[0].Result, "{{script}} <iframe src=//x> \u202e")
	for _, banned := range []string{"innerHTML", "http://", "https://", "document.write", "insertAdjacentHTML", "eval(", " style=", " onclick="} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), banned) {
			t.Errorf("the page has %q", banned)
		}
	}
}

// TestFailurePlace: the page knows the line at which a program failed, from the
// words of its failure.
func TestFailurePlace(t *testing.T) {
	for _, tt := range []struct {
		program string
		want    int
	}{
		{"const a = 1\nconst b = null\nreturn b.c", 3},
		{"return 1", 0},
		{"console.log('\\n> 9 | ')\n\nthrow 'x'", 3},
		{"const a = 1\nconst = 2", 2},
	} {
		rec := &pipelinetest.Recorder{}
		cm, err := codemode.New(pipelinetest.New(t, &pipeline.Options{Sink: rec}), &codemode.Options{Isolation: codemode.IsolationInProcess})
		if err != nil {
			t.Fatal(err)
		}
		cm.Run(t.Context(), codemode.Program{Code: tt.program})
		if err := cm.Close(); err != nil {
			t.Fatal(err)
		}
		check(t, tt.program, pageOf(t, read(t, string(jsonLines(rec.Events())))).Calls[0].FailedAt, tt.want)
	}
}

// pageData is a part of what a page holds.
type pageData struct {
	Title string
	Calls []struct {
		Tool, Result string
		FailedAt     int
	}
}

func pageOf(t *testing.T, tr *trace.Trace) (data pageData) {
	t.Helper()
	var out bytes.Buffer
	if err := tr.HTML(&out, nil); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(dataOf(t, out.String())), &data); err != nil {
		t.Fatal(err)
	}
	return data
}

// dataOf is the data in a page, which must not be able to end its element.
func dataOf(t *testing.T, page string) string {
	t.Helper()
	_, data, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	if i := strings.IndexAny(data, "<>&\u2028\u2029"); i >= 0 {
		t.Errorf("the data has %q in it", data[i])
	}
	return data
}

// TestHTMLRedacted: what the redactor takes out is not in the page.
func TestHTMLRedacted(t *testing.T) {
	var out bytes.Buffer
	err := readSample(t, "guard-denies").HTML(&out, &trace.HTMLOptions{Redact: func(j tools.JSON) tools.JSON {
		return tools.MustJSON(strings.ReplaceAll(j.String(), "partner.example", "REDACTED"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if data := dataOf(t, out.String()); strings.Contains(data, "partner.example") || !strings.Contains(data, "team@REDACTED") {
		t.Error("the redactor was passed by")
	}
}

// FuzzRead: whatever a log holds, it is read or refused, and what was read can
// be shown.
func FuzzRead(f *testing.F) {
	f.Add(hostileLog)
	f.Add(log("1000 call c1 run_code\n1010 start c1 c1:1 echo\n1020 settle c1 c1:1\n1030 result c1") + `{"type":`)
	for _, s := range samples {
		text, err := os.ReadFile(filepath.Join(sampleDir, s.name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"type":"tool/call","seq":1,"time":1e300,"data":{"callId":[],"name":null,"arguments":7,"cut":[{"path":"/name","bytes":-1e300,"sha256":"","locator":"x"}]}}`)
	f.Fuzz(func(t *testing.T, log string) {
		tr, err := trace.Read(strings.NewReader(log))
		if tr == nil {
			t.Fatal("no trace")
		}
		_ = err // a line that is no JSON
		tr.Walk(func(c *trace.Call, _ int) {
			_ = c.Restore(t.Context(), func(context.Context, string) (string, error) { return "", nil })
			if c.Ended.Before(c.Started) {
				t.Errorf("call %s ends before it begins", c.ID)
			}
		})
		for _, write := range []func(io.Writer) error{tr.Tree, tr.Waterfall, tr.Summary, tr.Chrome, func(w io.Writer) error { return tr.HTML(w, nil) }} {
			if err := write(io.Discard); err != nil {
				t.Error(err)
			}
		}
	})
}
