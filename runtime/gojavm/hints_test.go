package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestHintsForAbsentGlobals(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name, code, hint string
		tools            []runtime.Member
	}{
		{name: "fetch", code: "await fetch('http://x')", hint: "a program has no network, and no tool here stands in for it"},
		{name: "fetch with a tool", code: "await fetch('http://x')", tools: []runtime.Member{{Name: "webFetch"}}, hint: "a program has no network; use the tool tools.webFetch"},
		{name: "fetch with a tool of that name", code: "await fetch('http://x')", tools: []runtime.Member{{Name: "fetch"}}, hint: "did you mean tools.fetch?"},
		{name: "files", code: "fs.readFileSync('x')", tools: []runtime.Member{{Name: "spread_rows"}, {Name: "mcp__disk__read-file"}}, hint: `a program has no file system; use the tool tools["mcp__disk__read-file"]`},
		{name: "Deno", code: "Deno.readTextFile('x')", hint: "a program has no file system, and no tool here stands in for it"},
		{name: "processes", code: "execSync('ls')", tools: []runtime.Member{{Name: "bash"}}, hint: "a program starts no processes; use the tool tools.bash"},
		{name: "process", code: "return process.env.HOME", hint: "a program has no process, environment or arguments; data comes from tools and the global input"},
		{name: "window", code: "window.alert(1)", hint: "a program runs in no browser and has no page"},
		{name: "__dirname", code: "return __dirname", hint: "a program is no file and has no directory"},
		{name: "require", code: "require('fs')", hint: "a program has no modules; tools are on the global tools"},
		{name: "print", code: "print(1)", hint: "use console.log, or return the value"},
		{name: "Python", code: "return None", hint: "a program is JavaScript or TypeScript, not Python"},
		{name: "near a tool", code: "await ecoh({})", hint: "did you mean tools.echo?"},
		{name: "nothing near", code: "return zzzzzz", hint: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{
				Program:  tc.code,
				Bindings: []runtime.Binding{{Namespace: toolset(t, tc.tools...), Call: serve}},
			}).Failure
			if f == nil || f.Name != "ReferenceError" || f.Hint != tc.hint {
				t.Errorf("%+v, want the hint %q", f, tc.hint)
			}
		})
	}
}

func TestCallsOfWhatIsNoFunction(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ code, want string }{
		{"const a = 1\nconsole.logg(a)", "TypeError: console.logg is not a function"},
		{"console.log = 1\nconsole.log(2)", "TypeError: console.log is not a function"},
		{"const g = undefined\ng(1)", "TypeError: g is not a function"},
		{"const o = { a: {} }; o.a.b(1)", "TypeError: o.a.b is not a function"},
		{"[1].map(x => x).foo()", "TypeError: Object has no member 'foo'"},
		{"Object.setPrototypeOf(1, 2)", "TypeError: Object prototype may only be an Object or null: 2"},
		{"Reflect.ownKeys(1)", "TypeError: Value is not an object: 1"},
	} {
		f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
		if f == nil || f.Message != tc.want {
			t.Errorf("%s: %+v, want %q", tc.code, f, tc.want)
		}
	}
}
