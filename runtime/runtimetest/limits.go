package runtimetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// limits checks that each limit fires alone, says its name and leaves what is
// within it alone.
func (s Suite) limits(t *testing.T) {
	type l = runtime.Limits
	const caught = ` catch (e) { return [e instanceof ToolCallError, e.toolName, e.message.includes('100')] } return 'no error'`
	s.rows(t, []row{
		{name: "wall", limits: l{Wall: time.Second}, code: "console.log('a');\nawait tools.hold({})", fails: &failure{kind: runtime.Timeout, is: "wall-clock ceiling reached (1000ms)"}, logs: []string{"a"}},
		{name: "wall with a timer", limits: l{Wall: time.Second}, code: "await new Promise(r => setTimeout(r, 3_600_000))", fails: &failure{kind: runtime.Timeout, is: "wall-clock ceiling reached (1000ms)"}},
		{name: "wall with an interval", limits: l{Wall: time.Second}, code: "setInterval(() => {}, 1);\nawait new Promise(() => {})", fails: &failure{kind: runtime.Timeout, is: "wall-clock ceiling reached (1000ms)"}},
		{name: "the end is not caught", limits: l{Wall: time.Second}, code: "try { await tools.hold({}) } catch (e) { return 'caught' } finally { console.log('finally') }", fails: ends(runtime.Timeout, "wall-clock")},
		{name: "compute", limits: l{Compute: 500 * time.Millisecond}, code: "let n = 1;\nwhile (true) n++", fails: ends(runtime.Timeout, "compute budget exhausted (", "ms busy)").at(2)},
		{name: "compute with a call pending", limits: l{Compute: 100 * time.Millisecond}, code: "tools.hold({});\nwhile (true) {}", fails: ends(runtime.Timeout, "compute budget exhausted (")},
		{name: "compute after an await", limits: l{Compute: 500 * time.Millisecond}, code: "await tools.echo({}); let n = 1;\nwhile (true) n++", fails: ends(runtime.Timeout, "compute budget exhausted (").at(2)},
		{name: "compute in pieces", limits: l{Compute: 100 * time.Millisecond}, code: "for (;;) { for (let i = 0; i < 20000; i++); await tools.echo({}) }", fails: ends(runtime.Timeout, "compute budget exhausted (")},
		{name: "waiting costs no compute", limits: l{Compute: time.Second}, code: "await tools.wait({ ms: 1300 });\nreturn 1", value: `1`},
		{name: "wall stands still while it is paused", limits: l{Wall: time.Second}, code: "await tools.pause({ ms: 1300 });\nreturn 1", value: `1`},
		{name: "wall goes on after a pause", limits: l{Wall: time.Second}, code: "await tools.pause({ ms: 1200 });\nawait tools.hold({})", fails: &failure{kind: runtime.Timeout, is: "wall-clock ceiling reached (1000ms)"}},

		{name: "source", limits: l{Source: 100}, code: "return 1 // " + strings.Repeat("x", 100), fails: ends(runtime.InvalidInput, "100")},
		{name: "source exactly", limits: l{Source: 100}, code: "return 1 //" + strings.Repeat("x", 89), value: `1`},
		{name: "nesting", limits: l{Nesting: 10}, code: "const a = 1;\nreturn " + strings.Repeat("[", 11) + strings.Repeat("]", 11), fails: ends(runtime.InvalidInput, "10").at(2)},
		{name: "nesting exactly", limits: l{Nesting: 10}, code: "return " + strings.Repeat("[", 10) + strings.Repeat("]", 10), value: strings.Repeat("[", 10) + strings.Repeat("]", 10)},
		{name: "brackets in text do not nest", limits: l{Nesting: 10}, code: "// " + strings.Repeat("(", 20) + "\nreturn '" + strings.Repeat("[", 20) + "'.length + /[((((((((((((]/.source.length", value: `34`},
		{name: "chain", limits: l{Chain: 20}, code: "const a = 1;\nreturn 1" + strings.Repeat("+1", 40), fails: ends(runtime.InvalidInput, "20").at(2)},
		{name: "chain within", limits: l{Chain: 20}, code: "return 1" + strings.Repeat("+1", 10), value: `11`},

		{name: "calls", limits: l{Calls: 3}, code: "for (let n = 0; n < 9; n++)\n  await tools.echo({ n })", fails: ends(runtime.CallLimit, "3").at(2), calls: []string{`echo {"n":0}`, `echo {"n":1}`, `echo {"n":2}`}},
		{name: "calls exactly", limits: l{Calls: 3}, code: "for (let n = 0; n < 3; n++) await tools.echo({ n })"},
		{name: "calls cannot be caught", limits: l{Calls: 1}, code: "await tools.echo({}); try { await tools.echo({}) } catch { return 'caught' }", fails: ends(runtime.CallLimit)},
		{name: "argument", limits: l{Argument: 100}, code: "try { await tools.echo({ s: 'x'.repeat(93) }) }" + caught, value: `[true,"echo",true]`, calls: []string{}},
		{name: "argument exactly", limits: l{Argument: 100}, code: "return (await tools.echo({ s: 'x'.repeat(92) })).s.length", value: `92`},
		{name: "result", limits: l{Result: 100}, code: "try { await tools.echo({ s: 'x'.repeat(93) }) }" + caught, value: `[true,"echo",true]`},
		{name: "result exactly", limits: l{Result: 100}, code: "return (await tools.echo({ s: 'x'.repeat(92) })).s.length", value: `92`},
		{name: "argument nodes", limits: l{ResultNodes: 100}, code: "try { await tools.echo(Array(101).fill(0)) }" + caught, calls: []string{}, value: `[true,"echo",true]`},
		{name: "result nodes", limits: l{ResultNodes: 100}, code: "try { await tools.raw({ json: '[' + '0,'.repeat(100) + '0]' }) }" + strings.Replace(caught, "e.toolName", "'echo'", 1), value: `[true,"echo",true]`},
		{name: "result nodes within", limits: l{ResultNodes: 100}, code: "return (await tools.echo(Array(90).fill(0))).length", value: `90`},
		{name: "bytes", limits: l{Bytes: 1000}, code: "tools.hold({});\nfor (let n = 0; n < 50; n++)\n  tools.echo({ s: 'x'.repeat(100) });", fails: ends(runtime.BytesLimit, "1000").at(3)},
		{name: "bytes are given back", limits: l{Bytes: 1000}, code: "for (let n = 0; n < 50; n++) await tools.echo({ s: 'x'.repeat(100) });\nreturn 1", value: `1`},

		{name: "depth", limits: l{Depth: 100}, code: "function f(n) {\n  return n ? f(n - 1) : 0\n}\nreturn f(1000)", fails: ends(runtime.Exception, "call depth exceeded").at(2)},
		{name: "depth within", limits: l{Depth: 100}, code: "function f(n) { return n ? f(n - 1) : 'end' }\nreturn f(60)", value: `"end"`},
		{name: "depth cannot be caught", limits: l{Depth: 100}, code: "function f() { try { return f() } catch { return 'caught' } finally { console.log('f') } }\nreturn f()", fails: ends(runtime.Exception, "call depth exceeded"), loose: true},
		{name: "depth through the engine's own functions", limits: l{Depth: 100}, code: "function f() { return [1].map(f) }\nreturn f()", fails: ends(runtime.Exception, "call depth exceeded")},
		{name: "depth through a getter", limits: l{Depth: 100}, code: "const o = { get a() { return this.a } };\nreturn o.a", fails: ends(runtime.Exception, "call depth exceeded")},
		{name: "default depth", code: "function f(n) { return n ? f(n - 1) : 'end' }\nreturn f(900)", value: `"end"`},
		{name: "endless recursion", code: "function f() { return f() }\nf()", fails: ends(runtime.Exception, "call depth exceeded").at(1)},
	})
}

// output checks the arithmetic of the output limit: the bytes of the JSON array
// of logs plus those of the value or of the failure message.
func (s Suite) output(t *testing.T) {
	out := func(n int) runtime.Limits { return runtime.Limits{Output: n} }
	over := func(n int) *failure {
		return &failure{kind: runtime.OutputLimit, is: fmt.Sprintf("outer output exceeded %d bytes", n)}
	}
	const big = 1 << 20
	s.rows(t, []row{
		{name: "euro sign at the limit", limits: out(7), code: `return '€'`, value: `"€"`},
		{name: "euro sign over it", limits: out(6), code: `return '€'`, fails: ends(runtime.OutputLimit)},
		{name: "log and value at the limit", limits: out(11), code: `console.log('abc'); return 'xy'`, value: `"xy"`, logs: []string{"abc"}},
		{name: "log and value over it", limits: out(10), code: `console.log('abc'); return 'xy'`, fails: ends(runtime.OutputLimit), loose: true},
		{name: "log and thrown text at the limit", limits: out(11), code: `console.log('abc'); throw 'xy'`, fails: &failure{kind: runtime.Exception, is: "xy"}, logs: []string{"abc"}},
		{name: "log and thrown text over it", limits: out(10), code: `console.log('abc'); throw 'xy'`, fails: ends(runtime.OutputLimit), loose: true},
		{name: "no value costs nothing", limits: out(7), code: `console.log('abc')`, logs: []string{"abc"}},
		{name: "escapes and surrogates are counted as JSON", limits: out(26), code: `return '"\\\n\x01\ud800😀'`, value: `"\"\\\n\u0001\ud800😀"`},
		{name: "one less than they need", limits: out(25), code: `return '"\\\n\x01\ud800😀'`, fails: ends(runtime.OutputLimit)},
		// 33 bytes of message leave 267: 66 lines of 3 bytes and 65 commas make 265
		// with the brackets, and no part of another line fits.
		{name: "many lines", limits: out(300), code: `for (let i = 0; i < 1000; i++) console.log('x')`, fails: over(300), logs: strings.Split(strings.Repeat("x", 66), "")},
		// 32 bytes of message leave 64, less brackets and quotes 60.
		{name: "a line of characters of four bytes", limits: out(96), code: `console.log('😀'.repeat(100))`, fails: over(96), logs: []string{strings.Repeat("😀", 15)}},
		{name: "a line cut between characters", limits: out(96), code: `console.log('a' + '😀'.repeat(100))`, fails: over(96), logs: []string{"a" + strings.Repeat("😀", 14)}},
		{name: "a line with escapes", limits: out(96), code: `console.log('😀\n'.repeat(100))`, fails: over(96), logs: []string{strings.Repeat("😀\n", 10)}},
		{name: "whole lines and one prefix", limits: out(96), code: `console.log('first'); console.log('y'.repeat(100)); console.log('z')`, fails: over(96), logs: []string{"first", strings.Repeat("y", 52)}},
		{name: "a huge error carries no text", limits: out(64), code: `throw new Error('x'.repeat(1 << 20))`, fails: over(64)},
		{name: "a huge value", limits: out(big), code: fmt.Sprintf(`return 'x'.repeat(%d)`, big-4), value: `"` + strings.Repeat("x", big-4) + `"`},
		{name: "a huge value and one more", limits: out(big), code: fmt.Sprintf(`return 'x'.repeat(%d)`, big-3), fails: over(big)},
		{name: "logs are kept beside a value that is too large", limits: out(200), code: `console.log('kept'); return 'x'.repeat(300)`, fails: over(200), logs: []string{"kept"}},
		{name: "nothing follows the line that is too much", limits: out(100), code: `console.log('x'.repeat(200)); await tools.echo({})`, fails: over(100), loose: true, calls: []string{}},
		{name: "calls are not counted", limits: out(100), code: `return (await tools.echo({ s: 'x'.repeat(10000) })).s.length`, value: `10000`},
		{name: "the flood stops at the limit", limits: out(10_000), code: `for (;;) console.log('tick'.repeat(64))`, fails: over(10_000), loose: true},
		{name: "the flood is not caught", limits: out(1000), code: `for (;;) try { console.log('tick'.repeat(64)) } catch {} finally {}`, fails: over(1000), loose: true},
	})
	t.Run("whatever the limit", s.outputAlways)
}

// outputAlways checks that logs and message fit limits of every small size.
func (s Suite) outputAlways(t *testing.T) {
	rt := s.open(t)
	for _, limit := range []int{4, 5, 12, 20, 33, 34, 40} {
		for _, program := range []string{`const = 1`, `throw new Error('x'.repeat(100))`, `console.log('é'.repeat(50))`, `return 'x'.repeat(100)`} {
			t.Run(fmt.Sprintf("%d: %s", limit, program), func(t *testing.T) {
				res := newHost(t, rt).run(t.Context(), runtime.Request{Program: program, Limits: runtime.Limits{Output: limit}})
				if res.Failure == nil || res.Failure.Kind != runtime.OutputLimit {
					t.Fatalf("got %s %+v, want output-limit", short(res.Value), res.Failure)
				}
				if !strings.HasPrefix(fmt.Sprintf("outer output exceeded %d bytes", limit), res.Failure.Message) {
					t.Errorf("message %q", res.Failure.Message)
				}
				size := len(res.Failure.Message) + 2 + 2
				for i, l := range res.Logs {
					size += len(l) + 2 + min(i, 1)
				}
				if size > limit {
					t.Errorf("%d bytes in all, want at most %d: %q %q", size, limit, res.Failure.Message, res.Logs)
				}
			})
		}
	}
	t.Run("the default", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes 64 MiB strings; run without -short")
		}
		for _, c := range []struct {
			n    int
			kind runtime.Kind
		}{{runtime.DefaultOutput - 4, ""}, {runtime.DefaultOutput - 3, runtime.OutputLimit}} {
			res := newHost(t, rt).run(t.Context(), runtime.Request{Program: fmt.Sprintf(`return 'x'.repeat(%d)`, c.n)})
			var kind runtime.Kind
			if res.Failure != nil {
				kind = res.Failure.Kind
			}
			if diff := cmp.Diff(c.kind, kind); diff != "" {
				t.Errorf("%d characters: kind (-want +got):\n%s", c.n, diff)
			}
		}
	})
}
