package runtimetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// calls checks how a call's failure reaches the program.
func (s Suite) calls(t *testing.T) {
	s.rows(t, []row{
		{name: "a value comes back", code: "const r = await tools.echo({ a: [1, 'x'] });\nreturn r.a[1]", value: `"x"`, calls: []string{`echo {"a":[1,"x"]}`}},
		{name: "the shape of a failure", code: `try { await tools.fail({message: 'no row', code: 'NOT_FOUND', callId: 'c1', extra: {origin: 'policy x'}}) } catch (e) { return [e instanceof ToolCallError, e instanceof Error, e.name, e.toolName, e.message, e.code, e.callId, e.origin] }`, value: `[true,true,"ToolCallError","fail","no row","NOT_FOUND","c1","policy x"]`},
		{name: "absent fields are absent", code: `try { await tools.fail({message: 'm'}) } catch (e) { return ['code' in e, 'callId' in e, Object.hasOwn(e, 'toolName'), Object.hasOwn(e, 'message')] }`, value: `[false,false,true,true]`},
		{name: "further fields do not replace its own", code: `try { await tools.fail({message: 'm', extra: {toolName: 'forged', message: 'forged', name: 'forged', stack: 'forged', __proto__: 'x'}}) } catch (e) { return [e instanceof ToolCallError, e.name, e.toolName, e.message, e.stack === 'forged'] }`, value: `[true,"ToolCallError","fail","m",false]`},
		{name: "one the program throws itself", code: "const e = new ToolCallError('mine');\nthrow e", fails: &failure{kind: runtime.Exception, is: "ToolCallError: mine", name: "ToolCallError", line: 1}},
		{name: "a result that is no JSON", code: "const out = []; for (const json of ['{', '[1,]', 'NaN', '01', '{\"a\" 1}', 'undefined', '\"\\\\x\"']) { try { out.push(await tools.raw({ json })) } catch (e) { if (!(e instanceof ToolCallError && e.toolName === 'raw')) out.push(e.name) } } return out", value: `[]`},
		{name: "its text", code: `try { await tools.fail({message: 'no row'}) } catch (e) { return String(e) }`, value: `"ToolCallError: no row"`},
		{name: "its stack names the line of the call", code: "const a = 1;\nasync function load() {\n  return await tools.fail({ message: 'm' });\n}\ntry { await load() } catch (e) { return [e.stack.startsWith('ToolCallError: m'), /:3:\\d+/.test(e.stack), e.stack.includes('load'), /\\.go:|\\(\\d+\\)\\)/.test(e.stack)] }", value: `[true,true,true,false]`},
		{name: "any other error has its text alone", code: `try { await tools.broken({}) } catch (e) { return [e instanceof ToolCallError, e.message, 'code' in e, Object.hasOwn(e, 'value')] }`, value: `[true,"the disk is on fire",false,false]`},
		{name: "a panic is a failed call", code: `try { await tools.panics({}) } catch (e) { return [e instanceof ToolCallError, e.toolName, e.message.length > 0, /goroutine|\.go:/.test(e.message)] }`, value: `[true,"panics",true,false]`},
		{name: "a call whose goroutine ends has failed", code: `try { await tools.leaves({}) } catch (e) { return [e instanceof ToolCallError, e.toolName, e.message] }`, value: `[true,"leaves","the call ended without an answer"]`},
		{name: "caught and gone on", code: "const out = [];\nfor (const id of ['k1', 'missing', 'k3']) {\n  try { out.push(id === 'missing' ? await tools.fail({ message: 'none' }) : (await tools.echo({ v: id })).v) }\n  catch (e) { out.push(e instanceof ToolCallError ? e.toolName : 'other') }\n}\nreturn out", value: `["k1","fail","k3"]`},
		{name: "uncaught", code: "await tools.echo({});\nawait tools.fail({ message: 'no row', code: 'NOT_FOUND' })", fails: &failure{kind: runtime.Exception, says: []string{"ToolCallError: no row"}, name: "ToolCallError", code: "NOT_FOUND", tool: "fail", line: 2}},
		{name: "uncaught, thrown again", code: "try {\n  await tools.fail({ message: 'm' })\n} catch (e) {\n  throw e\n}", fails: &failure{kind: runtime.Exception, name: "ToolCallError", tool: "fail", line: 2}},
		{name: "one of three fails", code: "const r = await Promise.allSettled([tools.echo({ a: 1 }), tools.fail({ message: 'm' }), tools.echo({ b: 2 })]);\nreturn r.map(x => x.status === 'fulfilled' ? x.value : x.reason.message)", value: `[{"a":1},"m",{"b":2}]`},
		{name: "Promise.all throws once and its siblings run to their end", code: "try { await Promise.all([tools.fail({ message: 'm' }), tools.echo({ a: 1 }), tools.echo({ b: 2 })]) } catch (e) { return e.message }", value: `"m"`, calls: []string{`fail {"message":"m"}`, `echo {"a":1}`, `echo {"b":2}`}, notes: []string{"echo"}},
		{name: "a failure inside a callback", code: "const out = await Promise.all([1, 2].map(async n => { try { return await tools.fail({ message: 'm' + n }) } catch (e) { return e.message } }));\nreturn out", value: `["m1","m2"]`},
	})
	t.Run("sites", s.sites)
	t.Run("usage", s.usage)
}

// sites checks that the host is told where a call was made.
func (s Suite) sites(t *testing.T) {
	h := newHost(t, s.open(t))
	res := h.run(t.Context(), runtime.Request{Program: "await tools.echo({ n: 1 });\n\nconst f = async () => {\n  await null;\n  return tools.echo({ n: 2 });\n};\nawait f();\nsetTimeout(() => tools.echo({ n: 3 }), 0);\nawait tools.wait({ ms: 300 })\nawait Promise.all([1].map(n =>\n  tools.echo({ n })))"})
	if res.Failure != nil {
		t.Fatalf("failed: %+v", res.Failure)
	}
	var got []string
	for _, c := range h.calls {
		got = append(got, fmt.Sprintf("%s:%d", c.Member, c.Site.Line))
	}
	if diff := cmp.Diff([]string{"echo:1", "echo:5", "wait:9", "echo:8", "echo:11"}, got); diff != "" {
		t.Errorf("member and line of the calls (-want +got):\n%s", diff)
	}
}

// usage checks what a run says it cost.
func (s Suite) usage(t *testing.T) {
	h := newHost(t, s.open(t))
	// It is busy for longer than the steps of any clock.
	res := h.run(t.Context(), runtime.Request{Program: `await tools.echo({a: 'é'}); await tools.raw({json: '[1,2]'}); try { await tools.fail({message: 'm'}) } catch {}
const t = Date.now(); while (Date.now() - t < 50);`})
	if res.Failure != nil {
		t.Fatalf("failed: %+v", res.Failure)
	}
	if res.Usage.Calls != 3 {
		t.Errorf("%d calls, want 3", res.Usage.Calls)
	}
	if want := int64(len(`{"a":"é"}` + `{"json":"[1,2]"}` + `{"message":"m"}`)); res.Usage.BytesOut != want {
		t.Errorf("%d bytes out, want %d", res.Usage.BytesOut, want)
	}
	if want := int64(len(`{"a":"é"}` + `[1,2]`)); res.Usage.BytesIn != want {
		t.Errorf("%d bytes in, want %d", res.Usage.BytesIn, want)
	}
	if res.Usage.Wall <= 0 || res.Usage.Compute <= 0 {
		t.Errorf("no time was used: %+v", res.Usage)
	}
	if len(res.Usage.NotStarted) != 0 {
		t.Errorf("calls that did not start: %+v", res.Usage.NotStarted)
	}
}

// lane checks how many calls are out at once, and in which order.
func (s Suite) lane(t *testing.T) {
	const three = `const r = await Promise.all(['a', 'b', 'c'].map(id => tools.step({id}))); return r`
	for _, parallel := range []int{0, 1} {
		t.Run(fmt.Sprintf("serialized with parallel %d", parallel), func(t *testing.T) {
			h := newHost(t, s.open(t))
			res := h.run(t.Context(), runtime.Request{Program: three, Parallel: parallel})
			if res.Failure != nil || res.Value != `["a","b","c"]` {
				t.Fatalf("got %s %+v", res.Value, res.Failure)
			}
			if diff := cmp.Diff([]string{"in a", "out a", "in b", "out b", "in c", "out c"}, h.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if h.peak != 1 {
				t.Errorf("%d calls at once, want 1", h.peak)
			}
		})
	}
	for _, c := range []struct {
		name     string
		code     string
		parallel int
		peak     int
	}{
		{"three meet", `return await Promise.all([1, 2, 3].map(() => tools.meet({n: 3})))`, 3, 3},
		{"six meet two by two", `return await Promise.all([1, 2, 3, 4, 5, 6].map(() => tools.meet({n: 2})))`, 2, 2},
		{"fewer calls than room", `return await Promise.all([tools.meet({n: 2}), tools.meet({n: 2})])`, 8, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t, s.open(t))
			res := h.run(t.Context(), runtime.Request{Program: c.code, Parallel: c.parallel})
			if res.Failure != nil {
				t.Fatalf("failed: %+v", res.Failure)
			}
			if h.peak != c.peak {
				t.Errorf("%d calls at once, want %d", h.peak, c.peak)
			}
		})
	}
	t.Run("answers come in the order they are given", s.answers)
	t.Run("numbers", func(t *testing.T) {
		h := newHost(t, s.open(t))
		res := h.run(t.Context(), runtime.Request{Parallel: 4, Program: `
const c = new AbortController();
const p = [];
for (let n = 1; n <= 20; n++) p.push(tools.echo({ n }));
const dropped = tools.echo({ n: 0 }, { signal: c.signal }).catch(() => {});
c.abort();
for (let n = 21; n <= 40; n++) p.push(tools.echo({ n }));
await Promise.all([...p, dropped])`})
		if res.Failure != nil {
			t.Fatalf("failed: %+v", res.Failure)
		}
		if len(h.calls) != 40 {
			t.Errorf("%d calls, want 40", len(h.calls))
		}
		for _, c := range h.calls {
			if want := fmt.Sprintf(`{"n":%d}`, c.Seq); c.Args != want {
				t.Errorf("call %d has the arguments %s, want %s: numbers follow the order of handing out without gaps", c.Seq, c.Args, want)
			}
		}
	})
	s.rows(t, []row{
		{name: "a failed call does not stop the lane", code: "const r = await Promise.allSettled([tools.fail({ message: 'm' }), tools.echo({ a: 1 })]);\nreturn r[1].value", value: `{"a":1}`},
		{name: "values come as calls complete", parallel: 2, code: "return await Promise.race([tools.hold({}, { timeoutMs: 1000 }).catch(() => 'slow'), tools.echo({ a: 'fast' }).then(r => r.a)])", value: `"fast"`, notes: []string{"hold"}},
		{name: "the order is that of the calls", code: "const p = []; for (let n = 0; n < 20; n++) p.push(tools.echo({ n }));\nreturn (await Promise.all(p)).map(r => r.n).join()", value: `"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19"`},
		{name: "many calls in a row", code: "let s = 0; for (let n = 0; n < 500; n++) s += (await tools.echo({ n })).n; return s", value: `124750`},
	})
}

// answers checks that an answer counts from when it is given, whenever its Call
// returns, and that the first one counts.
func (s Suite) answers(t *testing.T) {
	const n = 20
	var mu sync.Mutex
	calls := map[int]runtime.Invocation{}
	answerAll := func() {
		for seq := n; seq > 0; seq-- {
			if seq%2 == 0 {
				calls[seq].Answer(runtime.Reply{Value: fmt.Sprint(seq)}, nil)
			} else {
				calls[seq].Answer(runtime.Reply{}, fmt.Errorf("no %d", seq))
			}
			calls[seq].Answer(runtime.Reply{Value: `"again"`}, nil)
		}
	}
	bound := runtime.Binding{
		Namespace: namespace(t, "host", runtime.ErrorClass{}, runtime.Member{Name: "ask"}),
		Call: func(ctx context.Context, inv runtime.Invocation) (runtime.Reply, error) {
			mu.Lock()
			calls[inv.Seq] = inv
			if len(calls) == n {
				answerAll()
			}
			mu.Unlock()
			<-ctx.Done()
			return runtime.Reply{Value: `"late"`}, nil
		},
	}
	const program = `
const order = [];
await Promise.all(Array.from({ length: 20 }, () => host.ask({}).then(v => order.push(v), e => order.push(e.message))));
return order.join()`
	res := newHost(t, s.open(t)).run(t.Context(), runtime.Request{Program: program, Parallel: n, Bindings: []runtime.Binding{bound}, Limits: runtime.Limits{Wall: 30 * time.Second}})
	if want := `"20,no 19,18,no 17,16,no 15,14,no 13,12,no 11,10,no 9,8,no 7,6,no 5,4,no 3,2,no 1"`; res.Value != want {
		t.Errorf("%s %+v, want %s", res.Value, res.Failure, want)
	}
	if res.Usage.Calls != n {
		t.Errorf("%d calls, want %d", res.Usage.Calls, n)
	}
}

// callOptions checks the second argument of a call.
func (s Suite) callOptions(t *testing.T) {
	const caught = ` catch (e) { return [e instanceof ToolCallError, e.toolName, e.code] }`
	s.rows(t, []row{
		{name: "timeoutMs ends one call", hasty: true, code: `try { await tools.hold({}, {timeoutMs: 20}) }` + caught, value: `[true,"hold","TOOL_TIMEOUT"]`, calls: []string{"hold {}"}},
		{name: "timeoutMs frees the lane", code: "const a = tools.hold({}, { timeoutMs: 20 }).catch(e => e.code); const b = tools.echo({ n: 1 });\nreturn [await a, await b]", value: `["TOOL_TIMEOUT",{"n":1}]`},
		{name: "timeoutMs that is not reached", code: `return await tools.echo({a: 1}, {timeoutMs: 15000})`, value: `{"a":1}`},
		{name: "a signal ends one call", hasty: true, code: "const c = new AbortController();\nsetTimeout(() => c.abort(), 10);\ntry { await tools.hold({}, { signal: c.signal }) }" + caught, value: `[true,"hold","ABORTED"]`, calls: []string{"hold {}"}},
		{name: "a signal frees the lane", code: "const c = new AbortController();\nconst a = tools.hold({}, { signal: c.signal }).catch(e => e.code); const b = tools.echo({ n: 1 });\nsetTimeout(() => c.abort(), 10);\nreturn [await a, await b]", value: `["ABORTED",{"n":1}]`},
		{name: "a queued call is taken out", hasty: true, code: "const c = new AbortController(), d = new AbortController();\nconst a = tools.hold({}, { signal: d.signal }).catch(e => e.code); const b = tools.echo({ n: 1 }, { signal: c.signal }).catch(e => e.code);\nsetTimeout(() => c.abort(), 0);\nconst first = await b; d.abort(); return [first, await a]", value: `["ABORTED","ABORTED"]`, calls: []string{"hold {}"}},
		{name: "a signal that is already aborted", code: "const c = new AbortController(); c.abort();\ntry { await tools.echo({}, { signal: c.signal }) }" + caught, value: `[true,"echo","ABORTED"]`, calls: []string{}},
		{name: "an abort after the end does nothing", code: "const c = new AbortController(); const r = await tools.echo({ a: 1 }, { signal: c.signal }); c.abort(); return r", value: `{"a":1}`},
		{name: "AbortSignal.timeout", code: `try { await tools.hold({}, {signal: AbortSignal.timeout(10)}) }` + caught, value: `[true,"hold","ABORTED"]`},
		{name: "other calls go on", parallel: 2, code: "const c = new AbortController();\nconst a = tools.hold({}, { signal: c.signal }).catch(e => e.code); const b = tools.wait({ ms: 30 });\nc.abort(); return [await a, await b]", value: `["ABORTED",true]`},
		{name: "an unknown option is named", code: `try { await tools.echo({path: 'x'}, {extra: 1}) } catch (e) { return [e instanceof ToolCallError, e.message.includes('extra')] }`, value: `[true,true]`, calls: []string{}},
		{name: "options that are no object", code: `const out = []; for (const o of ['x', 7, [1]]) { try { await tools.echo({}, o); out.push('called') } catch (e) { out.push(e instanceof ToolCallError) } } return out`, value: `[true,true,true]`, calls: []string{}},
		{name: "a timeoutMs that is none", code: `const out = []; for (const timeoutMs of [-1, NaN, 'soon']) { try { await tools.echo({}, {timeoutMs}); out.push('called') } catch (e) { out.push(e.message.includes('timeoutMs')) } } return out`, value: `[true,true,true]`, calls: []string{}},
		{name: "a signal that is none", code: `try { await tools.echo({}, {signal: 5}) } catch (e) { return e.message.includes('signal') }`, value: `true`, calls: []string{}},
		{name: "no options", code: `return [await tools.echo({a: 1}, undefined), await tools.echo({a: 2}, {})]`, value: `[{"a":1},{"a":2}]`},
	})
}

// outstanding checks what becomes of calls that nobody awaits.
func (s Suite) outstanding(t *testing.T) {
	s.rows(t, []row{
		{name: "a floating call is made and reported", code: "tools.echo({ to: 'ops' });\nreturn 'sent'", value: `"sent"`, calls: []string{`echo {"to":"ops"}`}, notes: []string{"echo"}},
		{name: "queued floating calls are made", code: "for (let n = 0; n < 3; n++) tools.echo({ n });\nreturn 'sent'", value: `"sent"`, calls: []string{`echo {"n":0}`, `echo {"n":1}`, `echo {"n":2}`}, notes: []string{"echo"}},
		{name: "a floating call that fails is a note", code: "tools.fail({ message: 'no post' });\nreturn 'sent'", value: `"sent"`, notes: []string{"fail", "no post"}},
		{name: "a floating call that fails early is a note", code: "tools.fail({ message: 'no post' });\nawait tools.echo({});\nreturn 'sent'", value: `"sent"`, notes: []string{"fail", "no post"}},
		{name: "no script code runs after the return", code: "tools.echo({}).then(() => { console.log('late'); return tools.echo({ late: 1 }) });\nreturn 1", value: `1`, calls: []string{"echo {}"}, notes: []string{"echo"}},
		{name: "a call that was awaited is no note", code: "await tools.echo({}); return 1", value: `1`},
		{name: "after a throw queued calls are not made", hasty: true, code: "tools.hold({});\ntools.echo({ n: 1 });\ntools.echo({ n: 2 });\nawait new Promise(r => setTimeout(r, 5));\nthrow new Error('stop')", fails: throws(5, "Error", "stop"), calls: []string{"hold {}"}},
		{name: "a call in a finally after the throw", code: "try { throw new Error('first') } finally { await tools.echo({ clean: 1 }) }", fails: throws(1, "Error", "first"), calls: []string{`echo {"clean":1}`}},
		{name: "an unhandled rejection fails the run", code: "const a = 1;\nPromise.reject(new Error('lost'));\nreturn 1", fails: throws(2, "", "unhandled rejection")},
		{name: "an unhandled rejection of an async function", code: "async function f() {\n  await null;\n  throw new TypeError('lost');\n}\nf();\nawait tools.echo({});\nreturn 1", fails: throws(3, "", "lost")},
		{name: "a rejection handled later", code: "const p = Promise.reject(new Error('late'));\nawait tools.echo({});\ntry { await p } catch (e) { return e.message }", value: `"late"`},
		{name: "a promise nothing can settle", code: "const a = 1;\nawait new Promise(() => {});\nreturn a", fails: ends(runtime.Exception, "nothing can settle")},
		{name: "a thenable that never calls back", code: "await { then() {} }", fails: ends(runtime.Exception, "nothing can settle")},
		{name: "a promise that a call settles", code: "let go; const p = new Promise(r => { go = r });\ntools.echo({}).then(() => go('gone'));\nreturn await p", value: `"gone"`},
	})
	t.Run("not started", func(t *testing.T) {
		h := newHost(t, s.open(t))
		res := h.run(t.Context(), runtime.Request{Program: "tools.hold({});\ntools.echo({ n: 1 });\ntools.raw({});\nawait new Promise(r => setTimeout(r, 5));\nthrow new Error('stop')"})
		want := []string{"echo:2", "raw:3"}
		var got []string
		for _, c := range res.Usage.NotStarted {
			got = append(got, fmt.Sprintf("%s:%d", c.Member, c.Site.Line))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls that did not start (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"hold"}, h.ended); diff != "" {
			t.Errorf("calls that were cancelled and awaited (-want +got):\n%s", diff)
		}
		if res.Usage.Calls != 1 {
			t.Errorf("%d calls, want 1", res.Usage.Calls)
		}
	})
}
