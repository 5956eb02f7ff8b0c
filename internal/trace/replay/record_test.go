package replay_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/internal/trace/replay"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
	"github.com/runcode-go/runcode/tools"
)

// shelf keeps what is too large for a log.
type shelf struct {
	mu    sync.Mutex
	texts []string
}

func (s *shelf) put(_ context.Context, text string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
	return fmt.Sprintf("shelf:%d", len(s.texts)-1), nil
}

func (s *shelf) store(ctx context.Context, _, text string) (string, error) { return s.put(ctx, text) }

func (s *shelf) fetch(_ context.Context, locator string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var n int
	if _, err := fmt.Sscanf(locator, "shelf:%d", &n); err != nil || n >= len(s.texts) {
		return "", fmt.Errorf("there is nothing at %s", locator)
	}
	return s.texts[n], nil
}

// full is a recording with all that a replay needs, and what replays it.
func full(r recording) (recording, replay.Options) {
	kept := &shelf{}
	r.whole, r.spill, r.store = true, kept.put, kept.store
	return r, replay.Options{Fetch: kept.fetch}
}

func open(t *testing.T) runtime.Runtime {
	t.Helper()
	rt, err := worker.New(t.Context(), nil)
	if err != nil {
		t.Skipf("no worker can be started here: %v", err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	return rt
}

const sleep = "const sleep = ms => new Promise(r => setTimeout(r, ms));\n"

// programs take what they can from the world around them.
var programs = []struct {
	name      string
	recording recording
	program   string
}{
	{"the clock", recording{}, `const t = Date.now(); await tools.echo({ t }); await tools.gone({}).catch(() => {}); console.time("x"); console.timeEnd("x"); return [t, Date.now(), new Date().toISOString(), new Date().toLocaleString("en-US"), performance.now()]`},
	{"the clock while a call is out", recording{}, `const out = tools.echo({}); let seen = new Set(); for (let i = 0; i < 2000; i++) seen.add(Date.now()); await out; return [seen.size, Date.now()]`},
	{"randomness", recording{}, `const a = Math.random(); await tools.echo({ a, u: crypto.randomUUID() }); return [Math.random(), [...crypto.getRandomValues(new Uint8Array(8))]]`},
	{"input", recording{input: `{"k":[1.50,"\ud800",9007199254740993,-0]}`}, `return [input, await tools.echo(input)]`},
	{"a large input", recording{input: `["` + strings.Repeat("x", 200_000) + `","` + strings.Repeat("y", 200_000) + `"]`}, `return input.map(x => x.length + x[0])`},
	{"values that the text does not say", recording{}, `const r = await tools.rows({}); return [r, typeof r.big, Object.keys(r.rows[1])]`},
	{"no value", recording{}, `return typeof await tools.shown({})`},
	{"large values", recording{}, `const a = await tools.big({}); const b = await tools.echo({ a, b: [a, a] }); return [a.length, b.b.length]`},
	{"which tools there are", recording{}, `return ["echo" in tools, typeof tools.fast, Object.keys(tools), await tools.ecko({}).catch(e => e.message)]`},
	{"a denial", recording{}, `try { await tools.echo({ x: "secret" }) } catch (e) { return [e.name, e.message, e.code, e.origin, e.by, e.callId, e.stack] }`},
	{"a call given up", recording{}, `const t = Date.now(); const e = await tools.stuck({}, { timeoutMs: 20 }).catch(e => e); await tools.echo({}); return [e.code, Date.now() - t >= 20]`},
	{"a call aborted", recording{}, `const c = new AbortController(); const out = tools.stuck({}, { signal: c.signal }); setTimeout(() => c.abort(), 5); try { await out } catch (e) { return [e.name, e.code] }`},
	{"a call given up, and a throw", recording{}, `await tools.stuck({}, { timeoutMs: 60 }).catch(() => {}); await tools.echo({}); throw new Error("a")`},
	{"a throw while a call is out", recording{}, `tools.stuck({}); throw new Error("a")`},
	{"calls nobody awaits", recording{}, `tools.echo({ n: 1 }); tools.gone({}); return 1`},
	{"Promise.all, one after the other", recording{}, `const r = await Promise.all([1, 2, 3].map(async n => [await tools.echo({ n }), Date.now()])); return r`},
	{"Promise.all, overlapping", recording{parallel: 4}, `const order = []; await Promise.all([tools.fast({}), tools.fast({}), tools.echo({}), tools.fast({})].map((c, i) => c.then(() => order.push(i)))); return order`},
	{"a race", recording{parallel: 4}, race},
	{"a race that a timer wins", recording{parallel: 4}, sleep + `const slow = tools.slow({}); const first = await Promise.race([slow, sleep(20).then(() => "timer")]); await sleep(50); await tools.release({}); await slow; return first`},
	{"a race that a tool wins", recording{}, sleep + `return await Promise.race([tools.echo({ n: 1 }), sleep(2000).then(() => "timer")])`},
	{"a loop that waits for a time", recording{}, sleep + `const end = Date.now() + 45; let n = 0; while (Date.now() < end) { n++; await sleep(10) } return [n, Date.now() - end]`},
	{"the catalog", recording{}, `const r = await catalog.search({ query: "echo" }); await tools.echo({}); return r`},
	{"a console", recording{}, `console.log("%s is %d", "x", 1.5, { a: [1] }); console.error(new Error("no").message); console.table([{ a: 1 }])`},
	{"a long outcome", recording{}, `return Array.from({ length: 20_000 }, (_, i) => "line " + i)`},
	{"a long failure", recording{}, `for (let i = 0; i < 20_000; i++) console.log("line", i); await tools.echo({}); throw new Error("x".repeat(1000))`},
	{"deep recursion", recording{worker: true}, `const f = n => n ? 1 + f(n - 1) : 0; return f(3000)`},
	{"recursion without end", recording{worker: true}, `const f = n => 1 + f(n); return f(0)`},
	{"a compute limit", recording{limits: codemode.Limits{Compute: 100 * time.Millisecond}}, `await tools.echo({}); let i = 0; for (;;) { i++; Math.sqrt(i) }`},
	{"a loop that waits for the clock", recording{limits: codemode.Limits{Compute: 100 * time.Millisecond}}, `const t = Date.now(); while (Date.now() === t);`},
	{"an output limit", recording{limits: codemode.Limits{Output: 100}}, `for (;;) console.log("again")`},
	{"a limit of calls", recording{limits: codemode.Limits{Calls: 3}}, `for (let n = 0; ; n++) await tools.echo({ n })`},
	{"a promise nothing settles", recording{}, `await tools.echo({}); await new Promise(() => {})`},
	{"a run ended from outside", recording{abort: true}, `await tools.stuck({}, { timeoutMs: 60 }).catch(() => {}); await tools.stuck({})`},
}

// TestRecorded: whatever a program takes from the world around it, its replay is
// identical and takes nothing for given but what is said of timers and limits.
func TestRecorded(t *testing.T) {
	process := open(t)
	for _, tt := range programs {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []bool{tt.recording.worker, true} {
				r, opts := full(tt.recording)
				r.worker = in
				tr := r.log(t, tt.program)
				if tr.Calls[0].World == nil {
					t.Fatal("the log has no world")
				}
				for _, rt := range []runtime.Runtime{nil, process} {
					opts.Runtime = rt
					report := run(t, tr, opts)
					if report.Verdict != replay.Identical {
						t.Errorf("recorded in a worker: %v, replayed in one: %v\n%s\nrecorded:\n%.2000s", in, rt != nil, report, tr.Calls[0].Text())
					}
					for _, a := range report.Assumptions {
						if !strings.Contains(a, "timers pass real time") && !strings.Contains(a, "a limit stopped the run") && !strings.Contains(a, "ended from outside") {
							t.Errorf("assumed: %s", a)
						}
					}
				}
			}
		})
	}
}

// TestNotIdentical: no replay of another program says that it is the same, however
// alike their outcomes look.
func TestNotIdentical(t *testing.T) {
	long := func(c string) string {
		return `return "x".repeat(100_000) + "` + c + `" + "x".repeat(100_000)`
	}
	for _, tt := range []struct {
		name, recorded, now string
		recording           recording
	}{
		{"printed and returned", `console.log("a")`, `return "a"`, recording{}},
		{"nothing, and the words for it", `let x`, `return "(run_code completed with no output)"`, recording{}},
		{"text and JSON", `return "1"`, `return 1`, recording{}},
		{"nothing and null", `return undefined`, `return null`, recording{}},
		{"zero and minus zero", `return [0]`, `return [-0]`, recording{}},
		{"the order of members", `return { a: 1, b: 2 }`, `return { b: 2, a: 1 }`, recording{}},
		{"one entry or two", `console.log("a\nb")`, `console.log("a"); console.log("b")`, recording{}},
		{"the middle of a long outcome", long("a"), long("b"), recording{}},
		{"the middle of a long failure", `throw new Error("x".repeat(100_000) + "a" + "x".repeat(100_000))`, `throw new Error("x".repeat(100_000) + "b" + "x".repeat(100_000))`, recording{}},
		{"what a failed run printed", `console.log("x"); throw new Error("e")`, `throw new Error("e")`, recording{}},
		{"what it printed last", `await tools.echo({}); console.log("a\nnote: b"); throw 1`, `await tools.echo({}); console.log("a"); throw 1`, recording{}},
		{"what it printed like a ledger", `await tools.echo({}); console.log("a\nTool calls of this run: 1 done."); throw 1`, `await tools.echo({}); console.log("a"); throw 1`, recording{}},
		{"what came after a call given up", `await tools.stuck({}, { timeoutMs: 60 }).catch(() => {}); throw new Error("a")`, `await tools.stuck({}, { timeoutMs: 60 }).catch(() => {}); throw new Error("b")`, recording{}},
		{"the type of an error", `throw new TypeError("x")`, `throw new RangeError("x")`, recording{}},
		{"a limit and a throw", `for (;;);`, `throw new Error("compute budget exhausted (100ms busy)")`, recording{limits: codemode.Limits{Compute: 100 * time.Millisecond}}},
		{"a call less before a limit", `await tools.echo({}); for (;;);`, `for (;;);`, recording{limits: codemode.Limits{Compute: 100 * time.Millisecond}}},
		{"another argument before the end from outside", `await tools.echo({ n: 1 }); await tools.stuck({})`, `await tools.echo({ n: 2 }); await tools.stuck({})`, recording{abort: true}},
		{"a call made too late", `await tools.echo({}); return 1`, `const c = tools.echo({}).then(() => tools.echo({})); return 1`, recording{}},
		{"a value that was not there", `const r = await tools.shown({}); return r === undefined`, `const r = await tools.shown({}); return r === "5"`, recording{}},
		{"the digits of a number", `await tools.echo({ n: 1 })`, `await tools.echo({ n: 1.0000000000000002 })`, recording{}},
		{"an integer beyond 2^53", `await tools.echo({ n: 9007199254740993n })`, `await tools.echo({ n: 9007199254740992n })`, recording{}},
		{"half a character", `await tools.echo({ s: "\ud800" })`, `await tools.echo({ s: "\ufffd" })`, recording{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, opts := full(tt.recording)
			tr := r.log(t, tt.recorded)
			if report := run(t, tr, opts); report.Verdict != replay.Identical {
				t.Errorf("the program itself: %s", report)
			}
			opts.Program = tt.now
			if report := run(t, tr, opts); report.Verdict != replay.Diverged {
				t.Errorf("another program: %s", report)
			}
		})
	}
}

// TestOtherWorld: another seed, clock or input makes a difference that is found.
func TestOtherWorld(t *testing.T) {
	r, opts := full(recording{input: `1`})
	for _, tt := range []struct {
		name   string
		change func(*trace.Call)
	}{
		{"seed", func(c *trace.Call) { c.World.Seed++ }},
		{"start", func(c *trace.Call) { c.World.Start = c.World.Start.Add(time.Hour) }},
		{"input", func(c *trace.Call) { c.World.Input = tools.MustJSON(`2`) }},
		{"time of a result", func(c *trace.Call) { c.Calls[0].Settled = c.Calls[0].Settled.Add(time.Hour) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := r.log(t, `const start = Date.now(); await tools.echo({}); return [Math.random(), start, Date.now(), input]`)
			tt.change(tr.Calls[0])
			check(t, "verdict", run(t, tr, opts).Verdict, replay.Diverged)
		})
	}
}

// TestOtherZone: what may come from another time zone is said.
func TestOtherZone(t *testing.T) {
	r, opts := full(recording{})
	tr := r.log(t, `return 1`)
	tr.Calls[0].World.Zone = "LMT +00:53"
	report := run(t, tr, opts)
	check(t, "assumptions", len(report.Assumptions), 1)
	if !strings.HasSuffix(report.Assumptions[0], "; the recorded run was in LMT +00:53") {
		t.Errorf("assumed: %s", report.Assumptions[0])
	}
}

// TestRedacted: where a secret was taken out of the log, the program is compared as
// the log would have it.
func TestRedacted(t *testing.T) {
	hide := func(j tools.JSON) tools.JSON {
		return tools.MustJSON(strings.ReplaceAll(j.String(), "hunter2", "[hidden]"))
	}
	r, opts := full(recording{redact: hide, input: `{"password":"hunter2"}`})
	tr := r.log(t, `const p = ["hun", "ter2"].join(""); await tools.echo({ p, q: input.password }); console.log(p); return p`)
	check(t, "without", run(t, tr, opts).Verdict, replay.Diverged)
	opts.Redact = hide
	check(t, "with", run(t, tr, opts).Verdict, replay.Identical)
}

// TestOutcomeThatWasCut: what is not there is not called the same, nor another one.
func TestOutcomeThatWasCut(t *testing.T) {
	for _, program := range []string{
		`return "x".repeat(100_000)`,
		`throw new Error("x".repeat(100_000))`,
		`console.log("x".repeat(100_000)); throw 1`,
	} {
		r, opts := full(recording{})
		opts.Fetch = nil
		report := run(t, r.log(t, program), opts)
		check(t, program, [2]string{string(report.Verdict), report.What}, [2]string{"incomplete", "the log has a part of the run's outcome only; up to there it is the same"})
	}
}

// TestRedactedValue: that the program gets something else than it got is said.
func TestRedactedValue(t *testing.T) {
	r, opts := full(recording{redact: func(j tools.JSON) tools.JSON {
		return tools.MustJSON(strings.ReplaceAll(j.String(), "hunter2", "[redacted: password]"))
	}})
	opts.Redact = r.redact
	report := run(t, r.log(t, `return (await tools.echo({ s: ["hun", "ter2"].join("") })).s.length`), opts)
	check(t, "report", []string{string(report.Verdict), strings.Join(report.Assumptions, "; ")},
		[]string{"diverged", "secrets were taken out of the log, and the program gets what stands in their place"})
}

// TestWorldThatWasCut: without all of the input nothing is run.
func TestWorldThatWasCut(t *testing.T) {
	r, opts := full(recording{input: `"` + strings.Repeat("x", 100_000) + `"`})
	tr := r.log(t, `return input.length`)
	opts.Fetch = nil
	report := run(t, tr, opts)
	check(t, "verdict", report.Verdict, replay.Incomplete)
	if !strings.HasPrefix(report.What, `cannot restore the world of the program, which was cut in the log at "/input": its 100000 bytes are at shelf:`) {
		t.Errorf("what = %s", report.What)
	}
}
