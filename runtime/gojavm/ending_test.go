package gojavm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// Programs in shapes that are no body of a function, and bodies without a return.
func TestEndings(t *testing.T) {
	rt := newRuntime(t, nil)
	const onlyDefines = "the program only defines functions and calls none of them; end it with a call, or send the body of the function alone"
	for _, tc := range []struct {
		name, code, value string
		notes, logs       []string
	}{
		// Functions.
		{name: "an arrow", code: "async () => { return (await tools.ping({})).n }", value: "1", notes: []string{functionCalled}},
		{name: "with a semicolon and a comment", code: "// mine\n\nasync () => {\n  return 1\n};\n", value: "1", notes: []string{functionCalled}},
		{name: "a function's expression", code: "(async function main(): Promise<number> { return 1 })", value: "1", notes: []string{functionCalled}},
		{name: "an arrow behind helpers", code: "const twice = (n: number) => n * 2;\n() => twice(4)", value: "8", notes: []string{functionCalled}},
		{name: "an arrow that takes the tools", code: "async (tools) => (await tools.ping({})).n", value: "1", notes: []string{functionCalled}},
		{name: "an arrow that takes them apart", code: "async ({ tools, console }) => { console.log('x'); return (await tools.ping({})).n }", value: "1", notes: []string{functionCalled}, logs: []string{"x"}},
		{name: "a parameter with a default", code: "(n = 4) => n", value: "4", notes: []string{functionCalled}},
		{name: "an arrow with parameters of its own", code: "(a, b) => a + b", notes: []string{onlyDefines}},
		{name: "an arrow that returns nothing", code: "() => {}", notes: []string{functionCalled}},
		{name: "a declaration", code: "async function go() { return 2 }", value: "2", notes: []string{functionCalled}},
		{name: "a declaration that takes the tools", code: "async function go(tools: any) { return (await tools.ping({})).n }", value: "1", notes: []string{functionCalled}},
		{name: "a declaration that is an arrow", code: "const main = async () => 3;", value: "3", notes: []string{functionCalled}},
		{name: "two declarations", code: "function a() { return 1 }\nfunction b() { return 2 }", notes: []string{onlyDefines}},
		{name: "a declaration with parameters", code: "function add(a, b) { return a + b }", notes: []string{onlyDefines}},
		{name: "a declaration and a value", code: "const a = 1\nfunction f() {}"},
		{name: "a generator's declaration", code: "function* g() { yield 1 }", notes: []string{onlyDefines}},
		{name: "a generator", code: "const g = function* () { yield 1 }"},
		{name: "a class", code: "class A {}"},
		{name: "nothing", code: "// nothing"},
		{name: "called at once", code: "(async () => { return 3 })()", value: "3", notes: []string{lastReturned}},
		{name: "called by name", code: "async function main() { const r = await tools.ping({}); return r.n }\nmain()", value: "1", notes: []string{lastReturned}},
		{name: "called by name above", code: "await main()\nasync function main() { return 1 }", value: "1", notes: []string{lastReturned}},

		// Modules.
		{name: "export default of a function", code: "export default async function main() { return helper() }\nconst helper = () => 1", value: "1", notes: []string{defaultReturned}},
		{name: "export default of a function that takes the tools", code: "export default async function (tools) { return (await tools.ping()).n }", value: "1", notes: []string{defaultReturned}},
		{name: "export default of an arrow, helpers below", code: "export default () => twice(2)\nconst twice = x => x * 2", value: "4", notes: []string{defaultReturned}},
		{name: "export default of a name", code: "const main = async () => 7\nexport default main;", value: "7", notes: []string{defaultReturned}},
		{name: "export default of a value", code: "let x = 5\nexport default x + 1\nx = 9", value: "6", notes: []string{defaultReturned}},
		{name: "export default of an object", code: "export   default   { a: 1 }", value: `{"a":1}`, notes: []string{defaultReturned}},
		{name: "export default of a class", code: "export default class A {}", notes: []string{exportRemoved}},
		{name: "export default and a return", code: "export default 5\nreturn 6", value: "6", notes: []string{exportRemoved}},
		{name: "exports", code: "export const a = 1\nexport async function f() { return a }\nexport enum E { A = 2 }\nexport interface I {}\nexport type T = I\nreturn await f() + E.A", value: "3", notes: []string{exportRemoved}},
		{name: "a list of exports", code: "const a = 5\nexport { a, a as b };\nexport {}\nreturn a", value: "5", notes: []string{exportRemoved}},
		{name: "imports of types", code: "import type { A } from 'x'\nimport { type B, type C as D } from \"y\";\nimport type E from 'z' with { a: 'b' }\nexport type { F } from './f'\nconst a: A = 1; return a", value: "1", notes: []string{typeImportRemoved, exportRemoved}},
		{name: "in texts and comments", code: "// import x from 'y'\nconst s = `\nexport default 1\n`, o = { import: 1, export: 2 }\nreturn [s.trim(), o.import + o.export]", value: `["export default 1",3]`},

		// Last expressions.
		{name: "a number", code: "const t = await tools.ping({})\nt.n * 2;", value: "2", notes: []string{lastReturned}},
		{name: "a name", code: "const a = [1]\na", value: "[1]", notes: []string{lastReturned}},
		{name: "an object", code: "({ a: 1 })", value: `{"a":1}`, notes: []string{lastReturned}},
		{name: "names in braces", code: "const a = 1, b = [2]\n{ a, b }", value: `{"a":1,"b":[2]}`, notes: []string{lastReturned}},
		{name: "a name in braces", code: "const a = 1\n{ a };", value: `{"a":1}`, notes: []string{lastReturned}},
		{name: "a block that looks like an object", code: "{ a: 1 }", value: `{"a":1}`, notes: []string{lastReturned}},
		{name: "a name and its value in braces", code: "const a = 1\n{ total: a + 1 }", value: `{"total":2}`, notes: []string{lastReturned}},
		{name: "a block", code: "let a = 1\n{ a++ }"},
		{name: "a labelled call", code: "const f = () => 1\n{ again: f() }"},
		{name: "a text", code: "'use strict'\n'a'", value: `"a"`, notes: []string{lastReturned}},
		{name: "a template", code: "const n = 1;\n`n ${n}`", value: `"n 1"`, notes: []string{lastReturned}},
		{name: "a choice", code: "1 > 2 ? 'a' : 'b'", value: `"b"`, notes: []string{lastReturned}},
		{name: "null", code: "null", value: "null", notes: []string{lastReturned}},
		{name: "undefined", code: "undefined"},
		{name: "a call that is awaited", code: "await tools.ping({})", value: `{"n":1}`, notes: []string{lastReturned}},
		{name: "a call", code: "tools.ping({})", value: `{"n":1}`, notes: []string{lastReturned}},
		{name: "several calls", code: "Promise.all([tools.ping({}), tools.echo(2)])", value: `[{"n":1},2]`, notes: []string{lastReturned}},
		{name: "behind functions", code: "f()\nfunction f() { return 4 }", value: "4", notes: []string{lastReturned}},
		{name: "after using", code: "using r = { [Symbol.dispose]() {} }\nconst x = 4\nx", value: "4", notes: []string{lastReturned}},
		{name: "what has no JSON form", code: "new Map([[1, 2]])", notes: []string{"the value of the last expression was not returned: the value is a Map; use Object.fromEntries(map) or [...map]"}},
		{name: "beside what prints", code: "console.log('x')\nconst total = 3\ntotal", value: "3", notes: []string{lastReturned}, logs: []string{"x"}},

		// What stays without a value.
		{name: "a return of its own", code: "if (false) return 1\n2"},
		{name: "an explicit return of nothing", code: "const a = 1\na\nreturn"},
		{name: "printing", code: "const r = await tools.ping({})\nconsole.log(r.n)", logs: []string{"1"}},
		{name: "printing before", code: "console.log('a')\nawait tools.ping({})", logs: []string{"a"}},
		{name: "printing in a function", code: "const show = x => console.log(x)\nawait Promise.all([1, 2].map(show))", logs: []string{"1", "2"}},
		{name: "steps", code: "await tools.ping({})\nawait tools.echo({ a: 1 })"},
		{name: "an assignment", code: "let x\nx = 5"},
		{name: "counting", code: "let x = 1\nx++"},
		{name: "a change", code: "const a = []\na.push(1)"},
		{name: "a condition for a call", code: "const a = []\na.length || a.push(1)"},
		{name: "a loop", code: "for (const x of [1]) x"},
		{name: "a try of its own", code: "try { 5 } catch {}"},
		{name: "a directive", code: "'use strict'"},
		{name: "a call nobody awaits in a program that prints", code: "console.log('a')\ntools.ping({})", logs: []string{"a"}, notes: []string{"call 1, tools.ping, was not awaited when the program returned; it succeeded"}},

		// What would be over too early.
		{name: "a call by name that prints", code: "async function main() { const r = await tools.ping({}); console.log(r.n) }\nmain()", logs: []string{"1"}, notes: []string{lastAwaited}},
		{name: "and catches", code: "const main = async () => { console.log((await tools.ping({})).n) }\nmain().catch(console.error)", logs: []string{"1"}, notes: []string{lastAwaited}},
		{name: "and prints the result", code: "const main = async () => (await tools.ping({})).n\nmain().then(n => console.log(n))", logs: []string{"1"}, notes: []string{lastAwaited}},
		{name: "and does not wait", code: "function main() { console.log(1) }\nmain()", logs: []string{"1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tc.code})
			if res.Failure != nil || res.Value != tc.value {
				t.Errorf("value %s (%+v), want %s", res.Value, res.Failure, tc.value)
			}
			if diff := cmp.Diff(tc.notes, res.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.logs, res.Logs); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
		})
	}
}

// The end that a program gets has the places of what was written.
func TestPlacesOfEndings(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct {
		name, code, message string
		site                runtime.Site
	}{
		{"an arrow", "async () => {\n  throw new Error('x')\n}", "Error: x", runtime.Site{Line: 2, Column: 9}},
		{"export default", "const a = 1; export default async () => {\n  null.x\n}", "TypeError: Cannot read properties of null (reading 'x')", runtime.Site{Line: 2, Column: 8}},
		{"after export default on the line", "export default missing", "ReferenceError: missing is not defined", runtime.Site{Line: 1, Column: 16}},
		{"after an import of a type", "import type { A } from '😀'; missing()", "ReferenceError: missing is not defined", runtime.Site{Line: 1, Column: 29}},
		{"a last call that fails", "const a = 1\ntools.fail({ a })", "ToolCallError: it broke", runtime.Site{Line: 2, Column: 7}},
		{"a last promise that is rejected", "console.log(1)\nasync function main() { throw new Error('x') }\nmain()", "Error: x", runtime.Site{Line: 2, Column: 31}},
		{"in a fence", "```ts\nconst a = 1\na.b.c\n```", "TypeError: Cannot read properties of undefined (reading 'c')", runtime.Site{Line: 3, Column: 5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
			if f == nil || f.Message != tc.message || f.Site != tc.site {
				t.Errorf("%+v, want %q at %v", f, tc.message, tc.site)
			}
		})
	}
}

func TestRefusedModules(t *testing.T) {
	rt := newRuntime(t, nil)
	const modules = ": a program is the body of an async function and has no modules; tools are on the global tools"
	for _, tc := range []struct {
		name, code, message, hint string
		site                      runtime.Site
	}{
		{"import", "import fs from 'node:fs'\nreturn 1", `import of "node:fs" on line 1` + modules, "a program has no file system; remove the import statement; call tools as await tools.name(args) and end with return", runtime.Site{Line: 1, Column: 1}},
		{"import of names", "const a = 1\n  import {\n  x, type Y } from 'y'", `import of "y" on line 2` + modules, "remove the import statement; call tools as await tools.name(args) and end with return", runtime.Site{Line: 2, Column: 3}},
		{"import without space", "import{x}from'y'", `import of "y" on line 1` + modules, "", runtime.Site{Line: 1, Column: 1}},
		{"import of a default called type", "import type from 'y'", `import of "y" on line 1` + modules, "", runtime.Site{Line: 1, Column: 1}},
		{"import for its effect", "import 'y'", `import of "y" on line 1` + modules, "", runtime.Site{Line: 1, Column: 1}},
		{"import with require", "import fs = require('fs')", "import on line 1" + modules, "", runtime.Site{Line: 1, Column: 1}},
		{"export of another module", "export * from 'y'", "export on line 1" + modules, "remove the export statement; call tools as await tools.name(args) and end with return", runtime.Site{Line: 1, Column: 1}},
		{"export of names of another module", "export { a } from 'y'", "export on line 1" + modules, "", runtime.Site{Line: 1, Column: 1}},
		{"import()", "const a = 1\nreturn await import('fs')", "ReferenceError: import() is not available", "a program has no modules; tools are on the global tools", runtime.Site{Line: 2, Column: 14}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
			if f == nil || f.Message != tc.message || f.Site != tc.site || f.Frame == "" {
				t.Fatalf("%+v, want %q at %v", f, tc.message, tc.site)
			}
			if tc.hint != "" && f.Hint != tc.hint {
				t.Errorf("hint %q, want %q", f.Hint, tc.hint)
			}
		})
	}
}

func FuzzModules(f *testing.F) {
	f.Add("import type {A} from 'x'; export default 1")
	f.Add("export {a} from `x`\nexport default\nfunction f(){}")
	f.Fuzz(func(t *testing.T, source string) {
		p := withoutModules(source)
		if p.refused == nil && len(p.text) != len(source) && len(p.notes) == 0 {
			t.Errorf("the length changed without a note: %q", p.text)
		}
		if got, want := len(runtime.SourceLines(p.text)), len(runtime.SourceLines(source)); got != want {
			t.Errorf("%d lines, want %d", got, want)
		}
	})
}
