package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/internal/trace/replay"
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

// recording makes logs. The zero value is useful.
type recording struct {
	parallel int
	spill    func(context.Context, string) (string, error)
	store    func(ctx context.Context, callID, text string) (string, error)
	redact   func(tools.JSON) tools.JSON
	abort    bool // ends the run from outside once the tool stuck is called
	whole    bool // all that a replay needs is in the log
	worker   bool // the program runs in a process of its own
	input    string
	limits   codemode.Limits
}

var errGone = &tools.Error{Name: "GoneError", Code: "GONE", Message: "it is gone"}

// log is what a program's run leaves, read from a file of package eventlog.
func (r recording) log(t *testing.T, program string) *trace.Trace {
	t.Helper()
	path := t.TempDir() + "/log.jsonl"
	log, err := eventlog.Open(path, &eventlog.Options{Spill: r.spill, Redact: r.redact})
	if err != nil {
		t.Fatal(err)
	}
	ctx, abort := context.WithCancelCause(t.Context())
	defer abort(nil)
	released := make(chan struct{}) // so that slow is slower than what a program awaits before release
	p := pipelinetest.New(t, &pipeline.Options{Sink: log, Values: r.whole, Now: time.Now, LogRequired: true},
		pipelinetest.Echo("echo"),
		pipelinetest.Tool("rows", func(context.Context, *tools.Run) (tools.Result, error) {
			value := tools.MustJSON(`{"rows":[1.50,{"__proto__":"\ud800"}],"big":9007199254740993}`)
			return tools.Result{Value: value, Content: []tools.Content{tools.TextContent("2 rows")}}, nil
		}),
		pipelinetest.Tool("shown", func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Content: []tools.Content{tools.TextContent("5"), tools.ImageContent("image/png", strings.Repeat("AAAA", 30_000))}}, nil
		}),
		pipelinetest.Failing("gone", errGone),
		pipelinetest.Text("big", strings.Repeat("x", 100_000)),
		pipelinetest.Concurrent(pipelinetest.Tool("slow", func(context.Context, *tools.Run) (tools.Result, error) {
			<-released
			return tools.Result{Value: tools.StringJSON("slow")}, nil
		})),
		pipelinetest.Concurrent(pipelinetest.Text("fast", "fast")),
		pipelinetest.Concurrent(pipelinetest.Tool("release", func(context.Context, *tools.Run) (tools.Result, error) {
			close(released)
			return tools.Result{}, nil
		})),
		pipelinetest.Tool("stuck", func(ctx context.Context, _ *tools.Run) (tools.Result, error) {
			if r.abort {
				abort(errors.New("enough"))
			}
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}),
	)
	p.Guards.Use("no-secrets", func(c tools.Call) string {
		if !c.IsTransport() && strings.Contains(c.Args().String(), "secret") {
			return "secrets stay here"
		}
		return ""
	})
	opts := &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: r.parallel, Record: r.whole, Store: r.store, Limits: r.limits}
	if r.worker {
		opts.Isolation = codemode.IsolationWorker
	}
	cm, err := codemode.New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	given := codemode.Program{Code: program, ID: "call_1"}
	if r.input != "" {
		given.Input = tools.MustJSON(r.input)
	}
	cm.Run(ctx, given)
	if err := errors.Join(cm.Close(), log.Close()); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Problems) > 0 {
		t.Fatalf("problems of the log: %v", tr.Problems)
	}
	return tr
}

func run(t *testing.T, tr *trace.Trace, opts replay.Options) *replay.Report {
	t.Helper()
	report, err := replay.Run(t.Context(), tr, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// race is won by the second of its calls.
const race = "const slow = tools.slow({})\nconst first = await Promise.race([slow, tools.fast({})])\nawait tools.release({})\nawait slow\nreturn first"

// TestIdentical replays programs as they were.
func TestIdentical(t *testing.T) {
	for _, tt := range []struct {
		name      string
		recording recording
		program   string
		calls     int
	}{
		{"no call", recording{}, `return 1 + 1`, 0},
		{"nothing at all", recording{}, `let x = 1`, 0},
		{"values", recording{}, `console.log("hi"); const r = await tools.echo({ n: 9007199254740993n, s: "\ud800", a: [1.50, null] }); return r`, 1},
		{"calls that build on each other", recording{}, `let r = 0; for (let i = 0; i < 20; i++) r += (await tools.echo({ i })).i; return r`, 20},
		{"a failure that is caught", recording{}, `try { await tools.gone({}) } catch (e) { return [e.name, e.message, e.code, e.callId, e.toolName] }`, 1},
		{"a denial that is caught", recording{}, `try { await tools.echo({ x: "secret" }) } catch (e) { return [e.code, e.origin, e.by] }`, 1},
		{"a failure that is not", recording{}, `console.log("before"); await tools.echo({}); await tools.gone({ a: 1 })`, 2},
		{"a throw", recording{}, `await tools.echo({}); throw new RangeError("too far")`, 1},
		{"a program that is none", recording{}, `const = 1`, 0},
		{"calls that overlap", recording{parallel: 4}, race, 3},
		{"a call nobody awaits", recording{}, `tools.echo({ floating: true }); return 1`, 1},
		{"the catalog", recording{}, `const r = await catalog.search({ query: "echo" }); return r`, 0},
		{"a call given up", recording{}, `try { await tools.stuck({}, { timeoutMs: 20 }) } catch (e) { return "late" }`, 1},
		{"a run ended from outside", recording{abort: true}, `await tools.echo({}); await tools.stuck({})`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := run(t, tt.recording.log(t, tt.program), replay.Options{})
			if report.Verdict != replay.Identical || report.What != "" || report.Diff != "" {
				t.Errorf("the run is not identical:\n%s", report)
			}
			check(t, "calls", report.Calls, tt.calls)
		})
	}
}

// TestDiverged replays other programs than those recorded.
func TestDiverged(t *testing.T) {
	const recorded = "console.log('a')\nconst r = await tools.echo({ i: 1, j: [1, 2] })\nawait tools.gone({}).catch(() => {})\nreturn r.i"
	for _, tt := range []struct{ name, program, want string }{
		{"another order of members", strings.Replace(recorded, "i: 1, j: [1, 2]", "j: [1, 2], i: 1", 1), `
replay of call_1: identical, 2 calls as recorded`},
		{"other arguments", strings.Replace(recorded, "[1, 2]", "[1, 3]", 1), `
replay of call_1: diverged, 0 calls as recorded
call 1, line 2: the program calls echo with other arguments
--- recorded
+++ made
@@ -2,6 +2,6 @@
   "i": 1,
   "j": [
     1,
-    2
+    3
   ]
 }`},
		{"the number's spelling", strings.Replace(recorded, "i: 1,", "i: 1.5,", 1), `
replay of call_1: diverged, 0 calls as recorded
call 1, line 2: the program calls echo with other arguments
--- recorded
+++ made
@@ -1,5 +1,5 @@
 {
-  "i": 1,
+  "i": 1.5,
   "j": [
     1,
     2`},
		{"another tool", strings.Replace(recorded, "tools.gone({})", "tools.echo({ z: 1 })", 1), `
replay of call_1: diverged, 1 calls as recorded
call 2, line 3: the program calls echo, recorded is gone
--- recorded
+++ made
@@ -1 +1,3 @@
-gone {}
+echo {
+  "z": 1
+}`},
		{"one call more", strings.Replace(recorded, "return r.i", "await tools.echo({})\nreturn r.i", 1), `
replay of call_1: diverged, 2 calls as recorded
call 3, line 4: the program calls echo with {}, and no further call is recorded`},
		{"one call less", "console.log('a')\nconst r = await tools.echo({ i: 1, j: [1, 2] })\nreturn r.i", `
replay of call_1: diverged, 1 calls as recorded
call 2, line 3: the program ended without making it; recorded is gone with {}
now it ends with:
a
1`},
		{"another value", strings.Replace(recorded, "return r.i", "return r.i + 1", 1), `
replay of call_1: diverged, 2 calls as recorded
all calls are the same, and what the run printed or returned is not
--- recorded
+++ made
@@ -1,2 +1,2 @@
 a
-1
+2`},
		{"another line printed", strings.Replace(recorded, "'a'", "'b'", 1), `
replay of call_1: diverged, 2 calls as recorded
all calls are the same, and what the run printed or returned is not
--- recorded
+++ made
@@ -1,2 +1,2 @@
-a
+b
 1`},
		{"a failure", strings.Replace(recorded, "return r.i", "throw 'no'", 1), `
replay of call_1: diverged, 2 calls as recorded
the run failed, recorded is that it succeeded`},
		{"several at once, of which the first is told", "console.log('a')\nawait Promise.all([tools.gone({}), tools.echo({ z: 1 }), tools.echo({})])", `
replay of call_1: diverged, 0 calls as recorded
call 1, line 2: the program calls gone, recorded is echo`},
		{"a look-up", strings.Replace(recorded, "return r.i", "await catalog.search({})", 1), `
replay of call_1: diverged, 2 calls as recorded
the program asks catalog.search with {}, and no further look-up is recorded`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, recording{}.log(t, recorded), replay.Options{Program: tt.program}).String()
			if want := strings.TrimPrefix(tt.want, "\n") + "\n"; !strings.HasPrefix(got, want) {
				t.Errorf("report (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// TestLookUpDiverged: another question to the catalog, at the same place.
func TestLookUpDiverged(t *testing.T) {
	tr := recording{}.log(t, `return (await catalog.search({ query: "echo" })).length`)
	report := run(t, tr, replay.Options{Program: `return (await catalog.search({ query: "gone" })).length`})
	check(t, "verdict", report.Verdict, replay.Diverged)
	check(t, "what", report.What, "look-up 1 of the catalog is another one")
	if !strings.Contains(report.Diff, `-  "query": "echo"`) || !strings.Contains(report.Diff, `+  "query": "gone"`) {
		t.Errorf("diff:\n%s", report.Diff)
	}
}

// TestParallelProgramMadeSerial: a program that waits where the recorded one
// does not is told of instead of hanging.
func TestParallelProgramMadeSerial(t *testing.T) {
	tr := recording{parallel: 4}.log(t, race)
	synctest.Test(t, func(t *testing.T) {
		report := run(t, tr, replay.Options{Program: `await tools.slow({}); return await tools.fast({})`})
		check(t, "verdict", report.Verdict, replay.Diverged)
		check(t, "what", report.What, "call 2 had its result first in the record, and the program does not make it before it has others")
	})
}

// TestCut replays calls that were too large for the log.
func TestCut(t *testing.T) {
	var kept []string
	keep := func(_ context.Context, text string) (string, error) {
		kept = append(kept, text)
		return fmt.Sprintf("shelf:%d", len(kept)-1), nil
	}
	fetch := func(_ context.Context, locator string) (string, error) {
		var n int
		if _, err := fmt.Sscanf(locator, "shelf:%d", &n); err != nil || n >= len(kept) {
			return "", fmt.Errorf("there is nothing at %s", locator)
		}
		return kept[n], nil
	}
	const program = "const text = await tools.big({})\nconst r = await tools.echo({ list: [{ text: text + '\\ud800' }], n: 1 })\nreturn r.list[0].text.length"
	t.Run("fetched", func(t *testing.T) {
		report := run(t, recording{spill: keep}.log(t, program), replay.Options{Fetch: fetch})
		if report.Verdict != replay.Identical || report.Calls != 2 {
			t.Errorf("report:\n%s", report)
		}
	})
	t.Run("arguments differ behind the cut", func(t *testing.T) {
		other := strings.Replace(program, `\ud800`, `!`, 1)
		report := run(t, recording{spill: keep}.log(t, program), replay.Options{Fetch: fetch, Program: other})
		check(t, "verdict", report.Verdict, replay.Diverged)
		check(t, "call", report.Call, 2)
	})
	for _, tt := range []struct {
		name  string
		spill func(context.Context, string) (string, error)
		fetch trace.Fetch
		want  string
	}{
		{"nothing to fetch with", keep, nil, "and there is nothing to fetch them with"},
		{"nothing kept", nil, fetch, "its 100000 bytes were not kept"},
		{"nothing there", keep, func(context.Context, string) (string, error) { return "", errors.New("no such file") }, "no such file"},
		{"something else there", keep, func(context.Context, string) (string, error) { return "x", nil }, "cut were 100000 bytes with sha256"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := run(t, recording{spill: tt.spill}.log(t, program), replay.Options{Fetch: tt.fetch})
			check(t, "verdict", report.Verdict, replay.Incomplete)
			check(t, "place", [2]int{report.Call, report.Line}, [2]int{1, 1})
			if !strings.Contains(report.What, tt.want) || !strings.HasPrefix(report.What, "the replay cannot go on: cannot restore call call_1:code:1 of big, ") {
				t.Errorf("what = %q, want it to say %q", report.What, tt.want)
			}
		})
	}
	t.Run("a program that was cut", func(t *testing.T) {
		long := "return 1 //" + strings.Repeat("x", 100_000)
		check(t, "without", run(t, recording{}.log(t, long), replay.Options{}).Verdict, replay.Incomplete)
		kept = nil
		check(t, "fetched", run(t, recording{spill: keep}.log(t, long), replay.Options{Fetch: fetch}).Verdict, replay.Identical)
	})
	t.Run("an outcome that was cut", func(t *testing.T) {
		report := run(t, recording{}.log(t, `return "x".repeat(100000)`), replay.Options{})
		check(t, "report", [2]string{string(report.Verdict), report.What}, [2]string{"incomplete", "the log has a part of the run's outcome only; up to there it is the same"})
	})
}

// TestWorld: with the world of a run in the log, its clock and its randomness
// repeat.
func TestWorld(t *testing.T) {
	log := `{"type":"tool/call","seq":1,"time":5000,"data":{"callId":"c1","name":"run_code","arguments":"{\"code\":\"const t = Date.now(); await tools.a({ t, r: Math.floor(Math.random() * 1e6), input }); return Date.now() - t\",\"description\":\"d\"}"}}
{"type":"code/world","seq":2,"time":5000,"ignorable":true,"data":{"callId":"c1","seed":7,"start":4000.5,"input":{"k":1}}}
{"type":"tool/code-dispatch-start","seq":3,"time":5010,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{"t":4000,"r":%d,"input":{"k":1}}}}
{"type":"tool/code-dispatch","seq":4,"time":5250,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{},"isError":false,"content":[{"type":"text","text":"x"}],"value":{"v":1},"state":"done"}}
{"type":"tool/result","seq":5,"time":5251,"data":{"message":{"source":{"callId":"c1"},"content":[{"type":"tool-result","content":[{"type":"text","text":"1250"}],"isError":false}]}},"sourceEventSeqs":[1]}
`
	read := func(r int) *trace.Trace {
		tr, err := trace.Read(strings.NewReader(fmt.Sprintf(log, r)))
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	var made int
	report := run(t, read(-1), replay.Options{})
	for line := range strings.Lines(report.Diff) {
		_, _ = fmt.Sscanf(line, `+  "r": %d`, &made)
	}
	check(t, "random numbers differ", report.Verdict, replay.Diverged)
	other := read(made)
	other.Calls[0].World.Seed++
	check(t, "another seed", run(t, other, replay.Options{}).Verdict, replay.Diverged)
	again := run(t, read(made), replay.Options{})
	if again.Verdict != replay.Identical || again.Assumptions != nil {
		t.Errorf("the same seed, clock and input: %s", again)
	}
}

// TestIncomplete: logs that do not say enough.
func TestIncomplete(t *testing.T) {
	const call = `{"type":"tool/call","seq":1,"time":1,"data":{"callId":"c1","name":"run_code","arguments":"{\"code\":\"await tools.a({}); return 1\",\"description\":\"d\"}"}}` + "\n"
	const start = `{"type":"tool/code-dispatch-start","seq":2,"time":2,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{}}}` + "\n"
	const settle = `{"type":"tool/code-dispatch","seq":3,"time":3,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"c1:code:1","name":"a","arguments":{},"isError":false,"content":[]}}` + "\n"
	for _, tt := range []struct{ name, log, want string }{
		{"a call without a result", call + start, "the log has no result of this call of a"},
		{"a run without an outcome that goes on", strings.Replace(call, "return 1", "await tools.a({})", 1) + start + settle, "the log has no outcome of the run; up to its last call it is the same"},
		{"a run without an outcome", call + start + settle, "the log has no outcome of the run; up to its last call it is the same"},
		{"no program", `{"type":"tool/call","seq":1,"time":1,"data":{"callId":"c1","name":"run_code","arguments":"nonsense"}}`, "the log has no program for this call"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := trace.Read(strings.NewReader(tt.log))
			if err != nil {
				t.Fatal(err)
			}
			report := run(t, tr, replay.Options{})
			check(t, "report", [2]string{string(report.Verdict), report.What}, [2]string{"incomplete", tt.want})
		})
	}
}

// TestWhichCall: errors say which calls there are.
func TestWhichCall(t *testing.T) {
	const two = `{"type":"tool/call","seq":1,"time":1,"data":{"callId":"c1","name":"run_code","arguments":"{}"}}
{"type":"tool/call","seq":2,"time":1,"data":{"callId":"c2","name":"run_code","arguments":"{}"}}
`
	for _, tt := range []struct{ log, id, want string }{
		{"", "", "cannot replay: the log has no call of run_code"},
		{two, "", "cannot replay: the log has 2 calls of run_code; choose one of c1, c2"},
		{two, "c3", `cannot replay: the log has no call of run_code with the id "c3"; it has c1, c2`},
	} {
		tr, err := trace.Read(strings.NewReader(tt.log))
		if err != nil {
			t.Fatal(err)
		}
		_, err = replay.Run(t.Context(), tr, &replay.Options{CallID: tt.id})
		check(t, "error", fmt.Sprint(err), tt.want)
	}
}

// TestCancel: a replay ends with its context.
func TestCancel(t *testing.T) {
	tr := recording{}.log(t, `return 1`)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err := replay.Run(ctx, tr, nil)
	check(t, "error", fmt.Sprint(err), "cannot replay call call_1: enough")
}

// TestWorker replays in a process of its own what was recorded in this one, without
// the program's world.
func TestWorker(t *testing.T) {
	report := run(t, recording{parallel: 4}.log(t, race), replay.Options{Runtime: open(t)})
	check(t, "verdict", report.Verdict, replay.Identical)
	check(t, "assumptions", len(report.Assumptions), 2)
}

// TestSamples: the sample logs replay, the denials in them included.
func TestSamples(t *testing.T) {
	for _, name := range []string{"everyone-allows", "guard-denies", "hostile-listener"} {
		tr, err := trace.ReadFile("../../../testdata/traces/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if report := run(t, tr, replay.Options{}); report.Verdict != replay.Identical || report.Calls != 6 {
			t.Errorf("%s: %s", name, report)
		}
	}
}

// TestSessionsOfDSH: both names of nested calls, and results without values.
func TestSessionsOfDSH(t *testing.T) {
	for _, tt := range []struct{ event, id string }{{"tool/code-dispatch", "c1:code:1"}, {"tool/ptc-dispatch", "c1:ptc:1"}} {
		log := strings.NewReplacer("EVENT", tt.event, "ID", tt.id).Replace(`
{"type":"session/start","seq":0,"time":1,"data":{}}
{"type":"tool/call","seq":1,"time":2,"data":{"turn":1,"step":1,"callId":"c1","name":"run_code","arguments":"{\"code\":\"return (await tools.list({})).length\",\"description\":\"d\"}"}}
{"type":"EVENT-start","seq":2,"time":3,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"ID","name":"list","arguments":{}}}
{"type":"EVENT","seq":3,"time":4,"data":{"rootCallId":"c1","parentCallId":"c1","subCallId":"ID","name":"list","arguments":{},"isError":false,"content":[{"type":"text","text":"[1,2,3]"}]}}
{"type":"tool/result","seq":4,"time":5,"data":{"turn":1,"step":1,"message":{"id":"m","role":"user","source":{"kind":"tool","callId":"c1"},"content":[{"type":"tool-result","toolCallId":"c1","content":[{"type":"text","text":"3"}],"isError":false}]}},"surfaceOp":"append","sourceEventSeqs":[1]}
`)
		tr, err := trace.Read(bytes.NewReader([]byte(log)))
		if err != nil {
			t.Fatal(err)
		}
		report := run(t, tr, replay.Options{})
		check(t, tt.event, report.Verdict, replay.Identical)
		check(t, "assumptions", len(report.Assumptions), 2)
	}
}
