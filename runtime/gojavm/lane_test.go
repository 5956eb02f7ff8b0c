package gojavm

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// lane records what is out with the host.
type lane struct {
	mu     sync.Mutex
	events []string
	active int
	peak   int
}

func (l *lane) call(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
	l.mu.Lock()
	l.active++
	l.peak = max(l.peak, l.active)
	l.events = append(l.events, "in "+c.Args)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.active--
		l.events = append(l.events, "out "+c.Args)
	}()
	switch c.Member {
	case "hold":
		<-ctx.Done()
		return runtime.Reply{}, context.Cause(ctx)
	case "fail":
		return runtime.Reply{}, errHost
	}
	time.Sleep(time.Second)
	return runtime.Reply{Value: c.Args}, nil
}

func (l *lane) run(t *testing.T, req runtime.Request) runtime.Result {
	t.Helper()
	rt, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Bindings = []runtime.Binding{{Namespace: toolset(t), Call: l.call}}
	res, err := rt.Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestLane(t *testing.T) {
	for _, tc := range []struct {
		name     string
		program  string
		parallel int
		value    string
		failure  string
		events   []string
		peak     int
		wall     time.Duration
	}{
		{
			name: "serialized by default", program: "return await Promise.all([1, 2, 3].map(n => tools.echo(n)))",
			value: "[1,2,3]", events: []string{"in 1", "out 1", "in 2", "out 2", "in 3", "out 3"}, peak: 1, wall: 3 * time.Second,
		},
		{
			name: "two at once", program: "return await Promise.all([1, 2, 3, 4].map(n => tools.echo(n)))", parallel: 2,
			value: "[1,2,3,4]", peak: 2, wall: 2 * time.Second,
		},
		{
			name: "the rest is made after a return", program: "tools.echo(1); tools.echo(2); return 'sent'",
			value: `"sent"`, events: []string{"in 1", "out 1", "in 2", "out 2"}, peak: 1, wall: 2 * time.Second,
		},
		{
			name: "queued calls are dropped after a throw", program: "tools.hold(1); tools.echo(2); throw new Error('stop')",
			failure: "Error: stop", events: []string{"in 1", "out 1"}, peak: 1,
		},
		{
			name: "a failure stops what is queued", program: "await Promise.all([tools.echo(1), tools.fail(2), tools.echo(3)])",
			failure: "ToolCallError: the host is unwell", events: []string{"in 1", "out 1", "in 2", "out 2"}, peak: 1, wall: time.Second,
		},
		{
			name: "allSettled makes them all", program: "return (await Promise.allSettled([tools.echo(1), tools.fail(2), tools.echo(3)])).map(r => r.status)",
			value: `["fulfilled","rejected","fulfilled"]`, events: []string{"in 1", "out 1", "in 2", "out 2", "in 3", "out 3"}, peak: 1, wall: 2 * time.Second,
		},
		{
			name: "a time-out frees the lane", program: "const a = tools.hold(1, { timeoutMs: 500 }).catch(e => [e.code, e.message]); const b = tools.echo(2); return [await a, await b]",
			value: `[["TOOL_TIMEOUT","tools.hold timed out after 500ms"],2]`, events: []string{"in 1", "out 1", "in 2", "out 2"}, peak: 1, wall: 1500 * time.Millisecond,
		},
		{
			name: "a signal drops a queued call", program: "const c = new AbortController(); const a = tools.echo(1); const b = tools.echo(2, { signal: c.signal }).catch(e => [e.name, e.code]); c.abort(); return [await a, await b]",
			value: `[1,["ToolCallError","ABORTED"]]`, events: []string{"in 1", "out 1"}, peak: 1, wall: time.Second,
		},
		{
			name: "a signal ends a call that is out", program: "const c = new AbortController(); setTimeout(() => c.abort('late'), 250); try { await tools.hold(1, { signal: c.signal }) } catch (e) { return [e.code, e.message] }",
			value: `["ABORTED","tools.hold was aborted: late"]`, events: []string{"in 1", "out 1"}, peak: 1, wall: 250 * time.Millisecond,
		},
		{
			name: "an aborted signal makes no call", program: "try { await tools.echo(1, { signal: AbortSignal.abort() }) } catch (e) { return e.code }",
			value: `"ABORTED"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l lane
				res := l.run(t, runtime.Request{Program: tc.program, Parallel: tc.parallel})
				failure := ""
				if res.Failure != nil {
					failure = res.Failure.Message
				}
				if res.Value != tc.value || failure != tc.failure {
					t.Errorf("value %s, failure %q; want %s, %q", res.Value, failure, tc.value, tc.failure)
				}
				if tc.parallel == 0 {
					if diff := cmp.Diff(tc.events, l.events); diff != "" {
						t.Errorf("events (-want +got):\n%s", diff)
					}
				}
				if l.peak != tc.peak || res.Usage.Wall != tc.wall {
					t.Errorf("%d at once in %v, want %d in %v", l.peak, res.Usage.Wall, tc.peak, tc.wall)
				}
			})
		})
	}
}

func TestCallsThatWereNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lane
		res := l.run(t, runtime.Request{Program: "tools.hold(1)\ntools.echo(2)\ntools.ping(3)\nthrow 'x'"})
		want := []runtime.Invocation{{Global: "tools", Member: "echo", Site: runtime.Site{Line: 2, Column: 7}}, {Global: "tools", Member: "ping", Site: runtime.Site{Line: 3, Column: 7}}}
		if diff := cmp.Diff(want, res.Usage.NotStarted); diff != "" {
			t.Errorf("not started (-want +got):\n%s", diff)
		}
		if res.Usage.Calls != 1 {
			t.Errorf("%d calls are counted, want 1", res.Usage.Calls)
		}
	})
}

func TestSequenceNumbers(t *testing.T) {
	rt := newRuntime(t, nil)
	var mu sync.Mutex
	var got []runtime.Invocation
	execute(t, rt, runtime.Request{
		Program: "await tools.ping({})\n  await tools.echo(1)\nawait tools.echo(NaN).catch(() => {})\nawait tools.ping(2)",
		Bindings: []runtime.Binding{{Namespace: toolset(t), Call: func(_ context.Context, c runtime.Invocation) (runtime.Reply, error) {
			mu.Lock()
			defer mu.Unlock()
			if c.Answer == nil {
				t.Errorf("call %d takes no answer before it returns", c.Seq)
			}
			c.Answer = nil // what follows compares data
			got = append(got, c)
			return runtime.Reply{}, nil
		}}},
	})
	want := []runtime.Invocation{
		{Seq: 1, Global: "tools", Member: "ping", Args: "{}", Site: runtime.Site{Line: 1, Column: 13}},
		{Seq: 2, Global: "tools", Member: "echo", Args: "1", Site: runtime.Site{Line: 2, Column: 15}},
		{Seq: 3, Global: "tools", Member: "ping", Args: "2", Site: runtime.Site{Line: 4, Column: 13}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestNotes(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name, program string
		want          []string
	}{
		{"nothing to say", "await tools.ping(); return", nil},
		{"a call nobody awaited", "tools.ping(); return", []string{"call 1, tools.ping, was not awaited when the program returned; it succeeded"}},
		{"one that failed", "await tools.ping(); tools.fail()", []string{"call 2, tools.fail, was not awaited when the program returned; it failed: it broke"}},
		{"one that failed before", "tools.fail(); await tools.ping()", []string{"a failed call was not handled: ToolCallError: it broke"}},
		{"timed out and handled, while the host still works", "try { await tools.hold({}, { timeoutMs: 1 }) } catch {} return 1", nil},
		{"handled late", "const p = tools.fail(); await tools.ping(); await p.catch(() => {})", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.program})
			if res.Failure != nil {
				t.Fatal(res.Failure.Message)
			}
			if diff := cmp.Diff(tc.want, res.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
	res := execute(t, rt, runtime.Request{Program: "for (let i = 0; i < 13; i++) tools.ping()"})
	if len(res.Notes) != 11 || res.Notes[10] != "3 further calls were not awaited when the program returned" {
		t.Errorf("%d notes, the last %q", len(res.Notes), res.Notes[len(res.Notes)-1])
	}
}

func TestCallLimits(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name    string
		program string
		limits  runtime.Limits
		kind    runtime.Kind
		text    string
		line    int
		calls   int
	}{
		{"calls at the limit", "for (let i = 0; i < 5; i++) await tools.ping()", runtime.Limits{Calls: 5}, "", "", 0, 5},
		{"calls over it", "for (;;) {\n  try { await tools.ping() } catch {}\n}", runtime.Limits{Calls: 5}, runtime.CallLimit, "call limit reached (5 calls)", 2, 5},
		{"bytes at the limit", "await Promise.all([1, 2].map(() => tools.echo('x'.repeat(23))))", runtime.Limits{Bytes: 100}, "", "", 0, 2},
		{"bytes queued over it", "\nawait Promise.all([1, 2, 3].map(() => tools.hold('x'.repeat(38))))", runtime.Limits{Bytes: 100}, runtime.BytesLimit, "arguments and results in flight of this run exceed 100 bytes", 2, 1},
		{"bytes of a result over it", "\n\nawait tools.big({ n: 200 })", runtime.Limits{Bytes: 100}, runtime.BytesLimit, "arguments and results in flight of this run exceed 100 bytes", 3, 1},
		{"bytes are given back", "for (let i = 0; i < 20; i++) await tools.echo('x'.repeat(30))", runtime.Limits{Bytes: 100}, "", "", 0, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.program, Limits: tc.limits})
			if tc.kind == "" {
				if res.Failure != nil {
					t.Errorf("failure %+v", res.Failure)
				}
			} else if res.Failure == nil || res.Failure.Kind != tc.kind || res.Failure.Message != tc.text || res.Failure.Site.Line != tc.line {
				t.Errorf("failure %+v, want %s %q on line %d", res.Failure, tc.kind, tc.text, tc.line)
			}
			if res.Usage.Calls != tc.calls {
				t.Errorf("%d calls, want %d", res.Usage.Calls, tc.calls)
			}
			if left := rt.bytes.Load(); left != 0 {
				t.Errorf("%d bytes are still counted after the run", left)
			}
		})
	}
}

func TestBytesOfAllRuns(t *testing.T) {
	rt := newRuntime(t, &Options{MaxBytes: 100})
	res := execute(t, rt, runtime.Request{Program: "await tools.echo('x'.repeat(200))"})
	if res.Failure == nil || res.Failure.Kind != runtime.BytesLimit || !strings.Contains(res.Failure.Message, "of all runs of this process exceed 100 bytes") {
		t.Errorf("failure %+v", res.Failure)
	}
	if left := rt.bytes.Load(); left != 0 {
		t.Errorf("%d bytes are still counted after the run", left)
	}
}

// A call counts as not awaited only if the program was never told how it ended.
func TestNotesOfCallsNobodyAwaited(t *testing.T) {
	for _, tc := range []struct {
		name, program string
		notes         []string
	}{
		{"timed out and caught", "try { await tools.slow({}, { timeoutMs: 1 }) } catch {}\nreturn 1", nil},
		{"timed out after less than a millisecond", "try { await tools.slow({}, { timeoutMs: 0.5 }) } catch (e) { if (e.message !== 'tools.slow timed out after 500µs') throw e }\nreturn 1", nil},
		{"aborted and caught", "const c = new AbortController(); setTimeout(() => c.abort(), 5)\ntry { await tools.slow({}, { signal: c.signal }) } catch {}\nreturn 1", nil},
		{"timed out and handled by a callback", "await tools.slow({}, { timeoutMs: 1 }).catch(() => {})\nreturn 1", nil},
		{"floating", "tools.echo({})\nreturn 1", []string{"call 1, tools.echo, was not awaited when the program returned; it succeeded"}},
		{
			"the loser of a race", "return await Promise.race([1, tools.slow({}, { timeoutMs: 50 })])",
			[]string{"call 1, tools.slow, was not awaited when the program returned; it failed: tools.slow timed out after 50ms"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := newRuntime(t, nil)
				res, err := rt.Run(context.Background(), runtime.Request{Program: tc.program, Bindings: []runtime.Binding{{
					Namespace: toolset(t, runtime.Member{Name: "slow"}),
					Call: func(ctx context.Context, call runtime.Invocation) (runtime.Reply, error) {
						if call.Member != "slow" {
							return serve(ctx, call)
						}
						<-ctx.Done()
						time.Sleep(time.Minute) // still settling when the program returns
						return runtime.Reply{}, context.Cause(ctx)
					},
				}}})
				if err != nil || res.Value != "1" {
					t.Fatalf("value %s (%+v, %v)", res.Value, res.Failure, err)
				}
				if diff := cmp.Diff(tc.notes, res.Notes); diff != "" {
					t.Errorf("notes (-want +got):\n%s", diff)
				}
			})
		})
	}
}
