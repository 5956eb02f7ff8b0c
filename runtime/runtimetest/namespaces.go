package runtimetest

import (
	"context"
	"errors"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// oddNames are member names that collide with something in JavaScript.
var oddNames = []string{
	"web-search", "web_search", "2fa.verify", "delete", "__proto__", "constructor",
	"then", "toString", "valueOf", "hasOwnProperty", "toJSON", "a b", "ünï", "0", "prototype",
}

// namespaces checks the global objects a program calls through.
func (s Suite) namespaces(t *testing.T) {
	s.rows(t, []row{
		{name: "members are own and enumerable", code: "return [Object.keys(tools).includes('echo'), 'echo' in tools, 'nope' in tools, typeof tools.echo, typeof tools.nope]", value: `[true,true,false,"function","undefined"]`},
		{name: "nothing is inherited", code: "return ['hasOwnProperty', 'toString', 'constructor', '__proto__', 'valueOf'].filter(k => k in tools)", value: `[]`},
		{name: "frozen", code: "'use strict'; const out = [];\nfor (const f of [() => { tools.echo = 1 }, () => { delete tools.echo }, () => { tools.more = 1 }, () => { Object.setPrototypeOf(tools, {}) }, () => { Object.defineProperty(tools, 'echo', { value: 1 }) }]) { try { f(); out.push('changed') } catch (e) { out.push(e.name) } }\nreturn [out, (await tools.echo({ a: 1 })).a]", value: `[["TypeError","TypeError","TypeError","TypeError","TypeError"],1]`},
		{name: "sloppy writes change nothing", code: "tools.echo = () => 'fake'; delete tools.raw; tools.nested = 0;\nreturn [(await tools.echo({ a: 1 })).a, typeof tools.raw]", value: `[1,"function"]`},
		{name: "the global cannot be replaced", code: "try { globalThis.tools = { echo: () => 'fake' } } catch {}\ntry { Object.defineProperty(globalThis, 'tools', { value: 1 }) } catch {}\ntry { delete globalThis.tools } catch {}\nreturn await tools.echo({ a: 1 })", value: `{"a":1}`},
		{name: "members can be taken out", code: "const { echo } = tools; const f = tools['ec' + 'ho'];\nreturn [await echo({ a: 1 }), await f({ b: 2 }), await [3].map(tools.echo)[0].catch(e => e.name)]", value: `[{"a":1},{"b":2},"ToolCallError"]`},
		{name: "functions have names and hide the host", code: "return [tools.echo.name, /\\.go|func\\d|goja/.test(String(tools.echo)), Object.keys(tools.echo)]", value: `["echo",false,[]]`},
		{name: "an unknown member is named, and a near one", code: "const a = 1;\nawait tools.eco({})", fails: &failure{kind: runtime.Exception, name: "ToolCallError", line: 2, says: []string{"eco", "echo"}}},
		{name: "the class is global and fixed", code: "try { ToolCallError = 1 } catch {}\ntry { globalThis.ToolCallError = 2 } catch {}\nreturn [typeof ToolCallError, ToolCallError.name, new ToolCallError('m') instanceof Error, new ToolCallError('m').message]", value: `["function","ToolCallError",true,"m"]`},
		{name: "awaiting the namespace calls nothing", code: "const t = await tools; return [t === tools, typeof t.echo]", value: `[true,"function"]`, calls: []string{}},
	})

	t.Run("odd names", s.oddMembers)
	t.Run("paths", s.paths)
	t.Run("classes", s.classes)
}

func (s Suite) oddMembers(t *testing.T) {
	rt := s.open(t)
	var members []runtime.Member
	for _, name := range oddNames {
		members = append(members, runtime.Member{Name: name})
	}
	var seen []string
	odd := runtime.Binding{
		Namespace: namespace(t, "odd", toolClass2(), members...),
		Call: func(_ context.Context, c runtime.Invocation) (runtime.Reply, error) {
			seen = append(seen, c.Member)
			if c.Args == `{"fail":true}` {
				return runtime.Reply{}, &runtime.CallError{Message: "no " + c.Member}
			}
			return runtime.Reply{Value: `"` + c.Member + `"`}, nil
		},
	}
	check := func(name, code, value string) {
		t.Run(name, func(t *testing.T) {
			seen = nil
			res := newHost(t, rt).run(t.Context(), runtime.Request{Program: code, Bindings: []runtime.Binding{odd}})
			if res.Failure != nil || res.Value != value {
				t.Errorf("got %s %+v, want %s", res.Value, res.Failure, value)
			}
		})
	}
	for _, name := range oddNames {
		q := jsonString(name)
		check("call "+q, `return await odd[`+q+`]({})`, q)
		check("error of "+q, `try { await odd[`+q+`]({fail: true}) } catch (e) { return [e.helperName, e.message] }`, `[`+q+`,`+jsonString("no "+name)+`]`)
		check("own "+q, `return [Object.keys(odd).includes(`+q+`), Object.getPrototypeOf(odd) === null]`, `[true,true]`)
	}
	// The engine asks any object it awaits for a function named then. It gets the
	// members, and the member named then is not called.
	for _, code := range []string{`const o = await odd`, `const o = await (async () => odd)()`, `const [o] = await Promise.all([odd])`} {
		check(code, code+`; return [typeof o['web-search'], await o['web_search']({})]`, `["function","web_search"]`)
		if len(seen) != 1 {
			t.Errorf("%s called %q", code, seen)
		}
	}
}

func toolClass2() runtime.ErrorClass {
	return runtime.ErrorClass{Name: "HelperCallError", Property: "helperName"}
}

func (s Suite) paths(t *testing.T) {
	rt := s.open(t)
	b := runtime.Binding{
		Namespace: namespace(t, "api", toolClass2(),
			runtime.Member{Name: "mcp__github__search", Path: []string{"github", "search"}},
			runtime.Member{Name: "mcp__github__delete", Path: []string{"github", "delete"}},
			runtime.Member{Name: "plain"}),
		Call: func(_ context.Context, c runtime.Invocation) (runtime.Reply, error) {
			return runtime.Reply{Value: `"` + c.Member + `"`}, nil
		},
	}
	for _, c := range []struct{ name, code, value string }{
		{"short and long form are one member", `return [await api.github.search({}), await api['mcp__github__search']({}), await api.github.delete({})]`, `["mcp__github__search","mcp__github__search","mcp__github__delete"]`},
		{"a path is frozen", `try { api.github.search = 1 } catch {} try { delete api.github.delete } catch {} return [typeof api.github.search, typeof api.github.delete, Object.keys(api.github).sort()]`, `["function","function",["delete","search"]]`},
		{"awaiting a path", `return (await api.github) === api.github`, `true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := newHost(t, rt).run(t.Context(), runtime.Request{Program: c.code, Bindings: []runtime.Binding{b}})
			if res.Failure != nil || res.Value != c.value {
				t.Errorf("got %s %+v, want %s", res.Value, res.Failure, c.value)
			}
		})
	}
}

// classes checks that each namespace throws its own class.
func (s Suite) classes(t *testing.T) {
	rt := s.open(t)
	refuse := func(context.Context, runtime.Invocation) (runtime.Reply, error) {
		return runtime.Reply{}, errors.New("refused")
	}
	req := runtime.Request{Bindings: []runtime.Binding{
		{Namespace: namespace(t, "helpers", toolClass2(), runtime.Member{Name: "go"}), Call: refuse},
		{Namespace: namespace(t, "bare", runtime.ErrorClass{}, runtime.Member{Name: "go"}), Call: refuse},
	}}
	for _, c := range []struct{ name, code, value string }{
		{"its own class and property", `try { await helpers.go({}) } catch (e) { return [e instanceof HelperCallError, e instanceof ToolCallError, e.name, e.helperName, 'toolName' in e, e.message] }`, `[true,false,"HelperCallError","go",false,"refused"]`},
		{"no class: a plain Error", `try { await bare.go({}) } catch (e) { return [Object.getPrototypeOf(e) === Error.prototype, e.name, e.message, Object.keys(e)] }`, `[true,"Error","refused",[]]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req.Program = c.code
			res := newHost(t, rt).run(t.Context(), req)
			if res.Failure != nil || res.Value != c.value {
				t.Errorf("got %s %+v, want %s", res.Value, res.Failure, c.value)
			}
		})
	}
}
