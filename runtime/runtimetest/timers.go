package runtimetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func (s Suite) timers(t *testing.T) {
	const turn = `await new Promise(r => setTimeout(r, 30));`
	s.rows(t, []row{
		{name: "order of delays", code: "const out = [];\nsetTimeout(() => out.push('c'), 20); setTimeout(() => out.push('a'), 0); setTimeout(() => out.push('b'), 0); setTimeout(() => out.push('late'), 10);\nawait new Promise(r => setTimeout(r, 40));\nreturn out.join()", value: `"a,b,late,c"`},
		{name: "jobs run before timers", code: "const out = [];\nsetTimeout(() => out.push('timer'), 0); Promise.resolve().then(() => out.push('job')); queueMicrotask(() => out.push('microtask'));\n" + turn + "\nreturn out", value: `["job","microtask","timer"]`},
		{name: "jobs run between timers", code: "const out = [];\nsetTimeout(() => { out.push(1); Promise.resolve().then(() => out.push('job')) }, 0); setTimeout(() => out.push(2), 0);\n" + turn + "\nreturn out", value: `[1,"job",2]`},
		{name: "arguments", code: "return await new Promise(r => setTimeout((...a) => r(a), 0, 1, 'x'))", value: `[1,"x"]`},
		{name: "cleared", code: "const out = []; const a = setTimeout(() => out.push('a'), 0); setTimeout(() => out.push('b'), 1); clearTimeout(a); clearTimeout(undefined); clearTimeout(12345);\n" + turn + "\nreturn out", value: `["b"]`},
		{name: "an interval that clears itself", code: "let n = 0; await new Promise(r => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); r() } }, 1) });\nawait new Promise(r => setTimeout(r, 10));\nreturn n", value: `3`},
		{name: "setImmediate", code: "const out = []; setImmediate(x => out.push(x), 'now'); const i = setImmediate(() => out.push('never')); clearImmediate(i);\n" + turn + "\nreturn out", value: `["now"]`},
		{name: "a timer that sets one", code: "return await new Promise(r => setTimeout(() => setTimeout(() => r('inner'), 0), 0))", value: `"inner"`},
		{name: "a timer left at the return", code: "setTimeout(() => console.log('never'), 3_600_000); setInterval(() => {}, 1); return 1", value: `1`},
		{name: "a delay that is no number", code: "return await new Promise(r => setTimeout(() => r(1), 'x'))", value: `1`},
		{name: "an error thrown in a timer ends the run", code: "setTimeout(() => {\n  throw new RangeError('in timer');\n}, 0);\nawait new Promise(r => setTimeout(r, 15000));\nreturn 1", fails: throws(2, "RangeError", "in timer")},
		{name: "an error thrown in an interval ends the run", code: "setInterval(() => { null.x }, 1);\nawait new Promise(() => {});", fails: throws(1, "TypeError", "")},
		{name: "an error thrown in a microtask ends the run", code: "queueMicrotask(() => {\n  throw new Error('in microtask');\n});\nawait new Promise(r => setTimeout(r, 10));", fails: throws(2, "Error", "in microtask")},
		{name: "a callback that is none", code: "setTimeout('1 + 1', 0)", fails: throws(1, "TypeError", "")},
		{name: "timers run while a call is out", code: "const out = []; setTimeout(() => out.push('timer'), 0);\nawait tools.wait({ ms: 300 }); out.push('call'); return out", value: `["timer","call"]`},
		{name: "calls are made in timers", code: "return await new Promise(r => setTimeout(async () => r(await tools.echo({ a: 1 })), 0))", value: `{"a":1}`},
	})
}

func (s Suite) console(t *testing.T) {
	s.rows(t, []row{
		{name: "one entry a call", code: "console.log('a'); console.info('b', 1); console.warn('c\\nd'); console.error(); console.debug(null, undefined, true)", logs: []string{"a", "b 1", "c\nd", "", "null undefined true"}},
		{name: "values as Node prints them", code: "console.log({ a: 1 }, ['s', \"it's\"], new Map([['k', { v: 1 }]]), new Set([1]), -0, 1n, function f() {}, class K {}, [1, , 3], Symbol('s'), /x/g)", logs: []string{`{ a: 1 } [ 's', "it's" ] Map(1) { 'k' => { v: 1 } } Set(1) { 1 } -0 1n [Function: f] [class K] [ 1, <1 empty item>, 3 ] Symbol(s) /x/g`}},
		{name: "cycles", code: "const a = { n: 1 }; a.self = a; console.log(a)", logs: []string{"<ref *1> { n: 1, self: [Circular *1] }"}},
		{name: "formats", code: "console.log('%s is %d%%', 'x', 5); console.log('%j', { a: 1 }); console.log('100%', 1)", logs: []string{"x is 5%", `{"a":1}`, "100% 1"}},
		{name: "what prints badly is contained", code: "console.log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }) ? 'ok' : ''); const o = { get a() { throw new Error('no') } }; console.log(o); console.log({ toString() { throw 1 } } ? 'still' : '')", logs: []string{"ok", "{ a: [Getter] }", "still"}},
		{name: "kept when the program fails", code: "console.log('before');\nthrow new Error('x')", fails: throws(2, "Error", "x"), logs: []string{"before"}},
		{name: "all methods exist", code: "console.table([{ a: 1 }]); console.dir({}); console.group('g'); console.groupEnd(); console.time('t'); console.timeEnd('t'); console.count(); console.assert(true); console.trace('t'); return 1", value: `1`, loose: true},
		{name: "assert speaks only when false", code: "console.assert(1 === 1, 'no'); console.assert(false, 'yes %d', 5)", logs: []string{"Assertion failed: yes 5"}},
	})
	t.Run("lines are passed on as they come", func(t *testing.T) {
		h := newHost(t, s.open(t))
		var got []runtime.Line
		called := -1
		h.began = func(string) { called = len(got) }
		res := h.run(t.Context(), runtime.Request{
			Program: `console.log('a'); console.info('b'); console.warn('c'); console.error('d'); console.debug('e'); await tools.echo({}); console.log('f')`,
			Log:     func(l runtime.Line) { got = append(got, l) },
		})
		if res.Failure != nil {
			t.Fatalf("failed: %+v", res.Failure)
		}
		want := []runtime.Line{{Level: "log", Text: "a"}, {Level: "info", Text: "b"}, {Level: "warn", Text: "c"}, {Level: "error", Text: "d"}, {Level: "debug", Text: "e"}, {Level: "log", Text: "f"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		if called != 5 {
			t.Errorf("%d lines had come when the call began, want 5", called)
		}
	})
	t.Run("a panic in Log is contained", func(t *testing.T) {
		res := newHost(t, s.open(t)).run(t.Context(), runtime.Request{
			Program: `console.log('a'); console.log('b'); return 1`,
			Log:     func(runtime.Line) { panic("listener") },
		})
		if res.Failure != nil || res.Value != "1" {
			t.Fatalf("got %s %+v", res.Value, res.Failure)
		}
		if diff := cmp.Diff([]string{"a", "b"}, res.Logs); diff != "" {
			t.Errorf("logs (-want +got):\n%s", diff)
		}
	})
}

// replay checks that a run with a given clock and seed can be repeated.
func (s Suite) replay(t *testing.T) {
	rt := s.open(t)
	const program = `
const first = Date.now();
await new Promise(r => setTimeout(r, 2));
return [first, Date.now() - first, new Date().toISOString(), new Date(2024, 0, 1).getFullYear(), Math.random(), Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))], performance.now()]`
	run := func(seed uint64) string {
		t.Helper()
		res := newHost(t, rt).run(t.Context(), runtime.Request{Program: program, Clock: fixedClock, Seed: &seed})
		if res.Failure != nil {
			t.Fatalf("failed: %+v", res.Failure)
		}
		return res.Value
	}
	one := run(1)
	if again := run(1); one != again {
		t.Errorf("the same clock and seed gave\n%s\n%s", one, again)
	}
	if other := run(2); one == other {
		t.Errorf("another seed gave the same %s", one)
	}
	const start = `[1709208000123,2,"2024-02-29T12:00:00.125Z",2024,`
	if len(one) < len(start) || one[:len(start)] != start {
		t.Errorf("the clock was not used: %s", one)
	}
	t.Run("time passes with answers and timers", func(t *testing.T) {
		h := newHost(t, rt)
		after := func(d time.Duration) runtime.Reply { return runtime.Reply{Value: `1`, Time: fixedClock().Add(d)} }
		timed := runtime.Binding{Namespace: namespace(t, "timed", runtime.ErrorClass{}, runtime.Member{Name: "later"}, runtime.Member{Name: "fails"}, runtime.Member{Name: "earlier"}, runtime.Member{Name: "stuck"}), Call: func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
			switch c.Member {
			case "fails":
				return after(80 * time.Millisecond), errors.New("no")
			case "earlier":
				return after(-time.Hour), nil
			case "stuck":
				<-ctx.Done()
				return after(time.Hour), nil
			}
			return after(50 * time.Millisecond), nil
		}}
		res := h.run(t.Context(), runtime.Request{Clock: fixedClock, Bindings: []runtime.Binding{timed}, Program: `
const t0 = Date.now(), seen = []
const see = () => seen.push(Date.now() - t0)
const later = timed.later({}); see()
for (let i = 0; i < 1000; i++) Date.now()
see()
await later; see()
await timed.fails({}).catch(() => {}); see()
await timed.earlier({}); see()
await timed.stuck({}, { timeoutMs: 5 }).catch(() => {}); see()
await new Promise(r => setTimeout(r, 10)); see()
await tools.echo({}); see()
await new Promise(r => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); r() } }, 4) }); see()
return [...seen, performance.now()]`})
		if want := `[0,0,50,80,80,85,95,95,107,107]`; res.Failure != nil || res.Value != want {
			t.Errorf("the program saw %s %+v, want %s", res.Value, res.Failure, want)
		}
	})
	t.Run("without a seed runs differ", func(t *testing.T) {
		var got [2]string
		for i := range got {
			res := newHost(t, rt).run(context.Background(), runtime.Request{Program: `return [Math.random(), Math.random(), crypto.randomUUID()]`})
			got[i] = res.Value
		}
		if got[0] == got[1] {
			t.Errorf("two runs gave the same %s", got[0])
		}
	})
}
