package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestSmoke(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, p := range []string{
		"return 1 + 1",
		"const r = await tools.echo({a: [1,2,{b:'x'}]}); return r",
		"try { await tools.fail({}) } catch (e) { return [e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.message, e.code, e.callId, e.origin, e.stack, Object.keys(e)] }",
		"await tools.fail({})",
		"const x = 1\nfunction f() {\n  throw new RangeError('no')\n}\n[1].map(() => f())",
		"await tools.nope({})",
		"return [typeof tools.nope, 'nope' in tools, Object.keys(tools), Object.isFrozen(tools)]",
		"const {pong} = tools; await pong({})",
		"tools.ping(); return 'sent'",
		"tools.fail(); return 'sent'",
		"Promise.reject(new Error('x')); return 1",
		"await new Promise(() => {})",
		"setTimeout(() => { throw new Error('timer') }, 1); await new Promise(() => {})",
		"import x from 'y'",
		"return 1 +",
		"if (x) {",
		"}",
		"})(); (async()=>{ return 7",
		"const f = () => f(); f()",
		"while (true) {}",
		"return [NaN]",
		"return {heads: [tools.ping()]}",
		"throw 'xy'",
		"throw {a: 1}",
		"await tools.ping({}, {timeout: 1})",
		"const c = new AbortController(); setTimeout(() => c.abort(), 5); await tools.hold({}, {signal: c.signal})",
		"await tools.hold({}, {timeoutMs: 5})",
		"await tools.echo({list: [1, {total: NaN}]})",
		"await run_code('x')",
		"await tools.run_code('x')",
		"console.log('hi', {a: 1}); for await (const x of (async function*() { yield 1; yield 2 })()) console.log(x)",
		"/(/",
	} {
		res := execute(t, rt, runtime.Request{Program: p, Limits: runtime.Limits{Compute: 200_000_000}})
		t.Logf("%s\n   value %s logs %q notes %q", p, res.Value, res.Logs, res.Notes)
		if f := res.Failure; f != nil {
			t.Logf("   %s | %s | name %q code %q tool %q site %v hint %q stack %v\n%s", f.Kind, f.Message, f.Name, f.Code, f.Tool, f.Site, f.Hint, f.Stack, f.Frame)
		}
	}
}
