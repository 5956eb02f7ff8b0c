package runtimetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// failures checks what an uncaught throw says, and where.
func (s Suite) failures(t *testing.T) {
	s.rows(t, []row{
		{name: "thrown error", code: "const a = 1;\nthrow new Error('bad');", fails: &failure{kind: runtime.Exception, is: "Error: bad", name: "Error", line: 2}},
		{name: "thrown subclass", code: "class Broke extends Error { constructor(m) { super(m); this.name = 'Broke' } }\nthrow new Broke('x')", fails: &failure{kind: runtime.Exception, is: "Broke: x", name: "Broke", line: 2}},
		{name: "thrown error with a code", code: "throw Object.assign(new Error('x'), { code: 'E_ONE' })", fails: &failure{kind: runtime.Exception, is: "Error: x", code: "E_ONE", line: 1}},
		{name: "thrown string", code: "throw 'just text'", fails: &failure{kind: runtime.Exception, is: "just text"}},
		{name: "thrown number", code: "throw 42", fails: &failure{kind: runtime.Exception, is: "42"}},
		{name: "thrown object", code: "throw { a: 1 }", fails: &failure{kind: runtime.Exception, says: []string{"{ a: 1 }"}}},
		{name: "thrown null", code: "throw null", fails: &failure{kind: runtime.Exception, says: []string{"null"}}},
		{name: "thrown undefined", code: "throw undefined", fails: &failure{kind: runtime.Exception, says: []string{"undefined"}}},
		{name: "thrown symbol", code: "throw Symbol('s')", fails: &failure{kind: runtime.Exception, says: []string{"Symbol(s)"}}},
		{name: "rejected", code: "await Promise.reject(new Error('r'))", fails: throws(1, "Error", "r")},
		{name: "a message getter that throws", code: "const e = new Error('x');\nObject.defineProperty(e, 'message', { get() { throw 1 } });\nthrow e", fails: &failure{kind: runtime.Exception}},
		{name: "an object whose text throws", code: "throw { toString() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 }, get name() { throw 4 } }", fails: &failure{kind: runtime.Exception}},
		{name: "a revoked proxy", code: "const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy", fails: &failure{kind: runtime.Exception}},
		{name: "an error with a stack that is no text", code: "const e = new Error('m'); e.stack = undefined; throw e", fails: &failure{kind: runtime.Exception, says: []string{"m"}}},
		{name: "an aggregate", code: "await Promise.any([Promise.reject(new Error('a'))])", fails: &failure{kind: runtime.Exception, name: "AggregateError"}},

		{name: "undefined name", code: "const a = 1;\n\nreturn missing + a", fails: throws(3, "ReferenceError", "missing")},
		{name: "property of undefined", code: "const r = { rows: [] };\nreturn r.rows[0].id", fails: throws(2, "TypeError", "undefined")},
		{name: "not a function", code: "const o = {};\no.go()", fails: throws(2, "TypeError", "go")},
		{name: "assignment to a constant", code: "const a = 1;\na = 2", fails: &failure{kind: runtime.Exception, line: 2}},
		{name: "before its declaration", code: "f();\nlet a = 1;\nfunction f() {\n  return a\n}", fails: throws(4, "ReferenceError", "a")},
		{name: "range", code: "\n[].length = -1", fails: throws(2, "RangeError", "")},
		{name: "after an await", code: "const r = await tools.echo({ a: 1 });\nawait null;\nthrow new Error(`a is ${r.a}`)", fails: throws(3, "Error", "a is 1")},
		{name: "in a callback", code: "const rows = [1, 2];\nrows.map(r => {\n  if (r === 2)\n    throw new Error('row ' + r);\n})", fails: throws(4, "Error", "row 2")},
		{name: "in an async callback", code: "await Promise.all([1].map(async n => {\n  await tools.echo({ n });\n  throw new Error('n');\n}))", fails: throws(3, "Error", "n")},
		{name: "in a generator", code: "function* g() {\n  yield 1;\n  throw new Error('g');\n}\nfor (const x of g()) {}", fails: throws(3, "Error", "g")},
		{name: "in an async generator", code: "async function* g() {\n  yield 1;\n  await null;\n  throw new Error('g');\n}\nfor await (const x of g()) {}", fails: throws(4, "Error", "g")},
		{name: "in a class", code: "class C {\n  go() { return this.n.x }\n}\nnew C().go()", fails: throws(2, "TypeError", "")},
		{name: "after types", code: "interface A {\n  a: string\n}\ntype B = A | null;\nconst b: B = null as B;\nreturn b.a", fails: throws(6, "TypeError", "")},
		{name: "after CRLF", code: "const a = 1;\r\n\r\nthrow new Error('x');\r\n", fails: throws(3, "Error", "x")},
		{name: "in evaluated text", code: "const a = 1;\neval('missing')", fails: &failure{kind: runtime.Exception, name: "ReferenceError"}},
	})
	t.Run("stack", s.stack)
	t.Run("frame", s.frame)
	t.Run("keep logs", s.failureKeepsLogs)
	t.Run("name of the program", func(t *testing.T) {
		rt := s.open(t)
		for name, want := range map[string]string{"": "program.ts", "job.ts": "job.ts"} {
			res := newHost(t, rt).run(t.Context(), runtime.Request{Name: name, Program: `return new Error('x').stack.includes('` + want + `:1:')`})
			if res.Value != "true" {
				t.Errorf("the stack of a program named %q does not name %q (%s %+v)", name, want, res.Value, res.Failure)
			}
		}
	})
}

func (s Suite) stack(t *testing.T) {
	type place struct {
		Function string
		Line     int
	}
	rt := s.open(t)
	for _, c := range []struct {
		name, code string
		want       []place
	}{
		{"calls", "function inner(n) {\n  throw new Error('deep');\n}\nfunction outer() {\n  return inner(1);\n}\nouter();", []place{{"inner", 2}, {"outer", 5}, {"", 7}}},
		{"what awaits is part of it", "async function inner() {\n  await null;\n  throw new Error('deep');\n}\nasync function outer() {\n  await inner();\n}\nawait outer();", []place{{"inner", 3}, {"outer", 6}, {"", 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := newHost(t, rt).run(t.Context(), runtime.Request{Program: c.code})
			if res.Failure == nil {
				t.Fatal("succeeded")
			}
			var got []place
			for _, f := range res.Failure.Stack {
				got = append(got, place{f.Function, f.Site.Line})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("stack (-want +got):\n%s", diff)
			}
		})
	}
}

func (s Suite) frame(t *testing.T) {
	res := newHost(t, s.open(t)).run(t.Context(), runtime.Request{Program: "const before = 1;\nconst x: number = missing;\nconst after = 2;"})
	if res.Failure == nil {
		t.Fatal("succeeded")
	}
	if res.Failure.Site != (runtime.Site{Line: 2, Column: 19}) {
		t.Errorf("site %+v, want 2:19", res.Failure.Site)
	}
	for _, line := range []string{"const before = 1;", "const x: number = missing;", "const after = 2;", "^"} {
		if !strings.Contains(res.Failure.Frame, line) {
			t.Errorf("the frame does not show %q:\n%s", line, res.Failure.Frame)
		}
	}
}

func (s Suite) failureKeepsLogs(t *testing.T) {
	s.rows(t, []row{
		{name: "throw", code: "console.log('a'); await tools.echo({}); console.log('b'); throw new Error('x')", fails: throws(1, "Error", ""), logs: []string{"a", "b"}},
		{name: "invalid output", code: "console.log('a'); return NaN", fails: ends(runtime.InvalidOutput), logs: []string{"a"}},
		{name: "nothing can settle", code: "console.log('a'); await new Promise(() => {})", fails: ends(runtime.Exception), logs: []string{"a"}},
	})
}

// syntaxErrors checks programs that no engine starts.
func (s Suite) syntaxErrors(t *testing.T) {
	at := func(line, column int, says ...string) *failure {
		return &failure{kind: runtime.Exception, says: append([]string{"SyntaxError"}, says...), name: "SyntaxError", line: line, column: column}
	}
	s.rows(t, []row{
		{name: "first line", code: "const = 1", fails: at(1, 7)},
		{name: "second line", code: "const a = 1;\nconst b = ;", fails: at(2, 11, ";")},
		{name: "CRLF", code: "const a = 1;\r\nconst b = ;\r\n", fails: at(2, 11)},
		{name: "an emoji before it", code: "const s = '😀'; const b = ;", fails: at(1, 26)},
		{name: "an emoji on the line before", code: "const s = '😀😀';\n  const b = ;", fails: at(2, 13)},
		{name: "after a tab", code: "\tconst b = ;", fails: at(1, 12)},
		{name: "unclosed brace", code: "if (true) {\n  const a = 1;\n", fails: &failure{kind: runtime.Exception, says: []string{"SyntaxError", "not closed"}}},
		{name: "unclosed parenthesis", code: "console.log('a'", fails: &failure{kind: runtime.Exception, says: []string{"SyntaxError"}}},
		{name: "one brace too many", code: "const a = 1;\n}\nreturn a", fails: &failure{kind: runtime.Exception, or: runtime.InvalidInput}},
		{name: "unterminated text", code: "const a = 1;\nconst b = 'x", fails: &failure{kind: runtime.Exception, says: []string{"SyntaxError"}, line: 2}},
		{name: "unterminated template", code: "const b = `x", fails: &failure{kind: runtime.Exception, says: []string{"SyntaxError"}}},
		{name: "declared twice", code: "const a = 1;\nconst a = 2;", fails: at(2, 7, "a")},
		{name: "await in a plain function", code: "function f() {\n  await tools.echo({});\n}", fails: &failure{kind: runtime.Exception, line: 2}},
		{name: "a pattern the engine refuses", code: "const a = 1;\nconst r = /(?<x/;", fails: &failure{kind: runtime.Exception, says: []string{"SyntaxError"}, line: 2}},
		{name: "leaving the function", code: "})(); (async () => { return 7", fails: &failure{kind: runtime.Exception, or: runtime.InvalidInput}},
		{name: "import", code: "import fs from 'fs';\nreturn 1", fails: ends(runtime.InvalidInput, "tools").at(1)},
		{name: "nothing ran before it", code: "console.log('ran');\nconst = 1", fails: at(2, 7)},
	})
}
