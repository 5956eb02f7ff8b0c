package gojavm

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func named(names ...string) []runtime.Member {
	var members []runtime.Member
	for _, name := range names {
		members = append(members, runtime.Member{Name: name})
	}
	return members
}

func TestMembers(t *testing.T) {
	rt := newRuntime(t, nil)
	awkward := named("web-search", "web_search", "2fa.verify", "delete", "__proto__", "constructor", "then", "toString", "hasOwnProperty", "0")
	aliased := []runtime.Member{
		{Name: "mcp__github__search", Path: []string{"github", "search"}},
		{Name: "mcp__github__then", Path: []string{"github", "then"}},
	}
	for _, tc := range []struct {
		name    string
		program string
		members []runtime.Member
		want    string
	}{
		{"every awkward name can be called", "return await Promise.all(['web-search', 'web_search', '2fa.verify', 'delete', '__proto__', 'constructor', 'then', 'toString', 'hasOwnProperty', '0'].map(n => tools[n]()))", awkward,
			`["web-search","web_search","2fa.verify","delete","__proto__","constructor","then","toString","hasOwnProperty","0"]`},
		{"awaiting the object calls nothing", "const t = await tools; return [await t.delete(), typeof t.then, await (await Promise.resolve(tools)).toString()]", awkward, `["delete","undefined","toString"]`},
		{"an object without then awaits to itself", "return await tools === tools", nil, `true`},
		{"then with arguments is a call", "return await tools.then({})", awkward, `"then"`},
		{"by path", "return [await tools.github.search(), await tools['mcp__github__search'](), Object.keys(tools.github), (await tools.github) !== undefined]", aliased,
			`["mcp__github__search","mcp__github__search",["search","then"],true]`},
		{"frozen", "'use strict'; const out = []; for (const f of [() => { tools.ping = 1 }, () => { tools.x = 1 }, () => { delete tools.ping }, () => { Object.setPrototypeOf(tools, {}) }, () => { globalThis.tools = 1 }, () => { delete globalThis.tools }, () => { ToolCallError = 1 }]) { try { f(); out.push('done') } catch (e) { out.push(e.name) } } return [out, typeof tools.ping]", nil,
			`[["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"],"function"]`},
		{"no prototype", "return [Object.getPrototypeOf(tools), Object.isFrozen(tools), 'toString' in tools]", nil, `[null,true,false]`},
		{"unknown names are as in any object", "const { nope } = tools; return [typeof tools.nope, 'nope' in tools, nope === undefined, tools.nope?.(), tools['nope'] ?? 1, Object.keys(tools).includes('nope')]", nil,
			`["undefined",false,true,null,1,false]`},
		{"functions have their names", "return [tools.ping.name, String(tools.ping), tools.ping.length]", nil, `["ping","function ping() { [native code] }",0]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			program := strings.ReplaceAll(tc.program, "tools.nope?.()", "(tools.nope?.() ?? null)")
			res := execute(t, rt, runtime.Request{
				Program:  program,
				Bindings: []runtime.Binding{{Namespace: toolset(t, tc.members...), Call: serve}},
			})
			if res.Failure != nil || res.Value != tc.want {
				t.Errorf("%s (%+v), want %s", res.Value, res.Failure, tc.want)
			}
		})
	}
}

func TestUnknownMembers(t *testing.T) {
	rt := newRuntime(t, nil)
	members := append(named("read_file", "web-search"), runtime.Member{Name: "mcp__github__search", Path: []string{"github", "search"}})
	for _, tc := range []struct {
		name    string
		program string
		message string
		hint    string
	}{
		{"near name", "await tools.readFile({})", "ToolCallError: tools.readFile is not a tool; did you mean tools.read_file?", ""},
		{"in brackets", "await tools['web_search']({})", `ToolCallError: tools.web_search is not a tool; did you mean tools["web-search"]?`, ""},
		{"nothing near", "await tools.zzzzzz({})", "ToolCallError: tools.zzzzzz is not a tool; tools has big, echo, fail, hold, mcp__github__search, ping, read_file, web-search, github", ""},
		{"in a nested object", "await tools.github.serch({})", "ToolCallError: tools.github.serch is not a tool; did you mean tools.github.search?", ""},
		{"over two lines", "await tools\n  .readFile({})", "ToolCallError: tools.readFile is not a tool; did you mean tools.read_file?", ""},
		{"run_code", "await tools.run_code({ code: 'return 1' })", "ToolCallError: tools.run_code is not callable inside a program; tools has big, echo, fail, hold, mcp__github__search, ping, read_file, web-search, github", ""},
		{"destructured", "const { readFile } = tools\nawait readFile({})", "TypeError: readFile is not a function; tools.readFile is not a tool", "did you mean tools.read_file?"},
		{"computed", "await tools['read' + 'File']({})", "TypeError: tools.readFile is not a tool", "did you mean tools.read_file?"},
		{"without the namespace", "await read_file({})", "ReferenceError: read_file is not defined", "did you mean tools.read_file?"},
		{"run_code without the namespace", "await run_code('1')", "ReferenceError: run_code is not defined", "run_code is not callable inside a program; use the functions on tools"},
		{"modules", "const fs = require('fs')", "ReferenceError: require is not defined", "a program has no modules; tools are on the global tools"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.program, Bindings: []runtime.Binding{{Namespace: toolset(t, members...), Call: serve}}})
			if res.Failure == nil || res.Failure.Message != tc.message || res.Failure.Hint != tc.hint {
				t.Errorf("failure %+v\nwant message %q, hint %q", res.Failure, tc.message, tc.hint)
			}
			if res.Usage.Calls != 0 {
				t.Errorf("%d calls reached the host", res.Usage.Calls)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name    string
		args    string // source of what is between the parentheses
		sent    string // JSON text the host gets; empty: the call fails before
		message string // of the error
	}{
		{"none", "", `{}`, ""},
		{"undefined", "undefined", `{}`, ""},
		{"object", "{ a: 1, b: undefined }", `{"a":1}`, ""},
		{"string", "'notes.md'", `"notes.md"`, ""},
		{"null", "null", `null`, ""},
		{"array", "['x']", `["x"]`, ""},
		{"empty options", "{ a: 1 }, {}", `{"a":1}`, ""},
		{"undefined options", "{ a: 1 }, undefined", `{"a":1}`, ""},
		{"no number", "{ list: [1, { total: NaN }] }", "", "the arguments of tools.echo cannot be sent: args.list[1].total is NaN"},
		{"unknown option", "{ a: 1 }, { extra: 1 }", "", `tools.echo does not know the option "extra"; options are signal and timeoutMs, and arguments go into the first object`},
		{"options are a string", "'a', 'b'", "", `the second argument of tools.echo is the string "b"; it takes options {signal, timeoutMs}, and all arguments go into the first object`},
		{"options are an array", "'a', []", "", "the second argument of tools.echo is an array; it takes options {signal, timeoutMs}, and all arguments go into the first object"},
		{"options are a number", "1, 2", "", "the second argument of tools.echo is the number 2; it takes options {signal, timeoutMs}, and all arguments go into the first object"},
		{"three", "1, {}, 3", "", "tools.echo takes one object of arguments and one of options; it was called with 3 arguments"},
		{"timeout of the wrong kind", "{}, { timeoutMs: '5' }", "", "timeoutMs of tools.echo is 5; it must be a number of milliseconds between 1 and 2147483647"},
		{"negative timeout", "{}, { timeoutMs: -1 }", "", "timeoutMs of tools.echo is -1; it must be a number of milliseconds between 1 and 2147483647"},
		{"signal of the wrong kind", "{}, { signal: 1 }", "", "signal of tools.echo is the number 1; it must be the signal of an AbortController"},
		{"options that throw", "{}, { get signal() { throw new Error('boo') } }", "", "the options of tools.echo cannot be read: Error: boo"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var sent string
			res := execute(t, rt, runtime.Request{
				Program: "try { await tools.echo(" + tc.args + ") } catch (e) { return [e.name, e.toolName, e.code, e.message, e instanceof ToolCallError] }",
				Bindings: []runtime.Binding{{Namespace: toolset(t), Call: func(_ context.Context, c runtime.Invocation) (runtime.Reply, error) {
					sent = c.Args
					return runtime.Reply{}, nil
				}}},
			})
			if res.Failure != nil {
				t.Fatal(res.Failure.Message)
			}
			if sent != tc.sent {
				t.Errorf("the host got %q, want %q", sent, tc.sent)
			}
			want := ""
			if tc.message != "" {
				want = `["ToolCallError","echo","INVALID_ARGS",` + quoted(tc.message) + `,true]`
			}
			if res.Value != want {
				t.Errorf("caught %s\nwant   %s", res.Value, want)
			}
		})
	}
}

func TestSizesOfArgumentsAndResults(t *testing.T) {
	rt := newRuntime(t, nil)
	lim := runtime.Limits{Argument: 100, Result: 200, ResultNodes: 10}
	for _, tc := range []struct {
		name    string
		program string
		value   string
		code    string
		message string
	}{
		{"argument at the limit", "return (await tools.echo('x'.repeat(98))).length", "98", "", ""},
		{"argument over it", "await tools.echo('x'.repeat(99))", "", "ARGUMENT_TOO_LARGE", "the arguments of tools.echo are larger than 100 bytes (the argument limit)"},
		{"result at the limit", "return (await tools.big({ n: 198 })).length", "198", "", ""},
		{"result over it", "await tools.big({ n: 199 })", "", "RESULT_TOO_LARGE", "the result of tools.big is 201 bytes; the result limit is 200 bytes"},
		{"values at the limit", "return (await tools.echo([1, 2, 3, 4, 5, 6, 7, 8, 9])).length", "9", "", ""},
		{"values over it", "await tools.echo({ v: '1,2,3,4,5,6,7,8,9,10' }); await tools.list({})", "", "RESULT_TOO_LARGE", "the result of tools.list holds more than 10 values (the limit of result nodes); it is 23 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.program, Limits: lim, Bindings: []runtime.Binding{{
				Namespace: toolset(t, named("list")...),
				Call: func(ctx context.Context, c runtime.Invocation) (runtime.Reply, error) {
					if c.Member == "list" {
						return runtime.Reply{Value: "[1,2,3,4,5,6,7,8,9,1,2]"}, nil
					}
					return serve(ctx, c)
				},
			}}})
			if tc.code == "" {
				if res.Failure != nil || res.Value != tc.value {
					t.Errorf("%s (%+v), want %s", res.Value, res.Failure, tc.value)
				}
				return
			}
			if res.Failure == nil || res.Failure.Code != tc.code || res.Failure.Message != "ToolCallError: "+tc.message {
				t.Errorf("failure %+v\nwant %s %q", res.Failure, tc.code, tc.message)
			}
		})
	}
}

func TestResultsThatAreNotJSON(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, value := range []string{"{", "1e999", "nope", `{"a":1`} {
		res := execute(t, rt, runtime.Request{Program: "await tools.ping()", Bindings: []runtime.Binding{{
			Namespace: toolset(t),
			Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
				return runtime.Reply{Value: value}, nil
			},
		}}})
		if res.Failure == nil || res.Failure.Code != "INVALID_TOOL_OUTPUT" || res.Failure.Tool != "ping" {
			t.Errorf("%s: %+v, want INVALID_TOOL_OUTPUT of ping", value, res.Failure)
		}
	}
}

func TestErrorClasses(t *testing.T) {
	rt := newRuntime(t, nil)
	helpers, err := runtime.NewNamespace("helpers", runtime.ErrorClass{Name: "HelperCallError", Property: "helperName"}, named("fail"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := runtime.NewNamespace("plain", runtime.ErrorClass{}, named("fail"))
	if err != nil {
		t.Fatal(err)
	}
	bindings := []runtime.Binding{{Namespace: toolset(t), Call: serve}, {Namespace: helpers, Call: serve}, {Namespace: plain, Call: serve}}
	for _, tc := range []struct{ name, program, want string }{
		{"own properties", "try { await tools.fail() } catch (e) { return [JSON.stringify(e), e.message, e.constructor === ToolCallError, Object.prototype.toString.call(e), String(e)] }",
			`["{\"name\":\"ToolCallError\",\"toolName\":\"fail\",\"code\":\"BROKEN\",\"callId\":\"c1\",\"origin\":\"policy\"}","it broke",true,"[object Error]","ToolCallError: it broke"]`},
		{"read-only", "'use strict'; try { await tools.fail() } catch (e) { try { e.toolName = 'x' } catch (f) { return f.name } }", `"TypeError"`},
		{"another namespace's class", "try { await helpers.fail() } catch (e) { return [e.name, e.helperName, 'toolName' in e, e instanceof HelperCallError, e instanceof ToolCallError, e instanceof Error] }",
			`["HelperCallError","fail",false,true,false,true]`},
		{"no class", "try { await plain.fail() } catch (e) { return [e.name, e.message, e.code, e.constructor === Error, Object.keys(e)] }",
			`["Error","it broke","BROKEN",true,["code","callId","origin"]]`},
		{"constructed by the program", "const e = new ToolCallError('mine'); return [e.name, e.message, e instanceof Error, e instanceof ToolCallError, e.toolName === undefined, ToolCallError.name]",
			`["ToolCallError","mine",true,true,true,"ToolCallError"]`},
		{"extended by the program", "class Mine extends ToolCallError {}; const e = new Mine('x'); return [e instanceof Mine, e instanceof ToolCallError, e.name]", `[true,true,"ToolCallError"]`},
		{"Error replaced by the program", "globalThis.Error = class {}; try { await tools.fail() } catch (e) { return [e instanceof ToolCallError, e.message] }", `[true,"it broke"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.program, Bindings: bindings})
			if res.Failure != nil {
				t.Fatal(res.Failure.Message)
			}
			if diff := cmp.Diff(tc.want, res.Value); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamespaceNeverShowsGoValues(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: `
const r = await tools.ping();
const seen = [Object.getPrototypeOf(r) === Object.prototype, Object.keys(r)];
try { await tools.fail() } catch (e) { seen.push(typeof e.value, Object.getOwnPropertyNames(e).sort()) }
return seen`})
	want := `[true,["n"],"undefined",["callId","code","message","name","origin","stack","toolName"]]`
	if res.Failure != nil || res.Value != want {
		t.Errorf("%s (%+v), want %s", res.Value, res.Failure, want)
	}
}
