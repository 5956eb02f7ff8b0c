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
