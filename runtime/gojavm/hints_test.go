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
		{name: "a caller of tools", code: "await callTool('echo', {})", hint: "a tool is called as await tools.name({ … })"},
		{name: "near the tools", code: "await Tools.echo({})", hint: "did you mean tools?"},
		{name: "a library", code: "return moment().format()", hint: "a program has no libraries; Date and Intl have most of it"},
		{name: "entities", code: "const a = 1; return a &lt; 2", hint: "write < > & and quotes as they are, not as HTML entities"},
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

func TestHintsForSyntax(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, hint string }{
		{"entities", "if (1 &lt; 2 &amp;&amp; 3 &gt; 2) { return 1 }", "write < > & and quotes as they are, not as HTML entities"},
		{"entities in a text", "const s = '&lt;'; return s +", ""},
		{"written line breaks", `const a = 1;\nreturn a;`, `send line breaks themselves; here the two characters \ and n stand between the lines`},
		{"an object without return", "const a = 1\n{ a: a, b: 2 }", "return an object as return { … }"},
		{"a sentence at the end", "return 1\n\nThis will return the number one.", "send the program alone; sentences go into comments"},
		{"a misspelt keyword", "const x = awiat tools.ping({})", "did you mean await?"},
		{"a name before a name", "const x = value tools.ping({})", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f := execute(t, rt, runtime.Request{Program: tc.code}).Failure; f == nil || f.Hint != tc.hint {
				t.Errorf("%+v, want the hint %q", f, tc.hint)
			}
		})
	}
}
