package gojavm

import (
	"strings"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func TestSyntaxErrors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		source string
		kind   runtime.Kind
		text   string // in the message
		site   runtime.Site
	}{
		{"first line", "let let = 1", runtime.Exception, "SyntaxError: ", runtime.Site{Line: 1, Column: 5}},
		{"second line", "const a = 1\nconst b = = 2", runtime.Exception, `SyntaxError: Unexpected "="`, runtime.Site{Line: 2, Column: 11}},
		{"CRLF", "const a = 1\r\nconst b = = 2\r\n", runtime.Exception, `Unexpected "="`, runtime.Site{Line: 2, Column: 11}},
		{"characters before the column", "const s = '😀é' = = 1", runtime.Exception, `Unexpected "="`, runtime.Site{Line: 1, Column: 18}},
		{"byte order mark", "\ufeffconst b = = 2", runtime.Exception, `Unexpected "="`, runtime.Site{Line: 1, Column: 11}},
		{"unclosed brace", "if (a) {\n  f()\n", runtime.Exception, "unexpected end of the program; the { on line 1 is not closed", runtime.Site{Line: 1, Column: 8}},
		{"unclosed parenthesis", "f(1,\n2", runtime.Exception, "the ( on line 1 is not closed", runtime.Site{Line: 1, Column: 2}},
		{"one brace too many", "f()\n}", runtime.Exception, "this } has no opening bracket", runtime.Site{Line: 2, Column: 1}},
		{"incomplete expression", "return 1 +", runtime.Exception, "unexpected end of the program", runtime.Site{Line: 1, Column: 11}},
		{"regular expression", "const a = 1\nreturn /(/", runtime.Exception, "SyntaxError: Invalid regular expression: Unterminated group", runtime.Site{Line: 2, Column: 8}},
		{"a pattern that ends with the text, in a module", "export const a = 1\nreturn /a\\", runtime.Exception, "SyntaxError: Unterminated regular expression", runtime.Site{Line: 2, Column: 11}},
		{"JSX", "const a = 1\nreturn <b class=\"x\">{a}</b>", runtime.InvalidInput, "JSX on line 2", runtime.Site{Line: 2, Column: 8}},
		{"a comparison that is no JSX", "return 1 < 2 / > 3", runtime.Exception, `Unexpected ">"`, runtime.Site{Line: 1, Column: 16}},
		{"a namespace", "const a = 1\n  namespace N { export const b = 1 }", runtime.InvalidInput, "namespace on line 2", runtime.Site{Line: 2, Column: 3}},
		{"a template that is not closed", "return `a\nb", runtime.Exception, "the template on line 1 is not closed", runtime.Site{Line: 1, Column: 8}},
		{"a substitution that is not closed", "return `a${b", runtime.Exception, "the ${ on line 1 is not closed", runtime.Site{Line: 1, Column: 10}},
		{"super in an async generator", "class B extends Array {\n  async *g() { yield super.at(0) }\n}", runtime.Exception, "'super' keyword unexpected here", runtime.Site{Line: 2, Column: 22}},
		{"a wrapper of its own", "})(); (async()=>{ return 7", runtime.InvalidInput, "closes a function that it did not open", runtime.Site{}},
		{"a statement outside", "})(); evil(); (async()=>{", runtime.InvalidInput, "closes a function that it did not open", runtime.Site{}},
		{"a declaration outside", "}); function evil() {} (async()=>{", runtime.InvalidInput, "closes a function that it did not open", runtime.Site{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, f := transpile("", tc.source)
			if f == nil {
				t.Fatal("compiled")
			}
			if f.Kind != tc.kind || !strings.Contains(f.Message, tc.text) {
				t.Errorf("%s %q, want %s with %q", f.Kind, f.Message, tc.kind, tc.text)
			}
			if f.Site != tc.site {
				t.Errorf("at %v, want %v", f.Site, tc.site)
			}
			if f.Site.Line > 0 && !strings.Contains(f.Frame, "^") {
				t.Errorf("no caret in the frame %q", f.Frame)
			}
		})
	}
}

func TestFrameName(t *testing.T) {
	for given, want := range map[string]string{
		"":               "program.ts",
		"report.ts":      "report.ts",
		"a b.ts":         "program.ts",
		"/etc/passwd":    "program.ts",
		"x:1:2":          "program.ts",
		"100%.ts":        "program.ts",
		compiledName:     "program.ts",
		"run_code-1.mts": "run_code-1.mts",
	} {
		if got := frameName(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

// The programs throw at the character after the mark ¦, which is not part of
// them.
func TestPlaces(t *testing.T) {
	rt := newRuntime(t, nil)
	for name, marked := range map[string]string{
		"first line":           "throw ¦new Error('x')",
		"second line":          "const a = 1\n  throw ¦new Error('x')",
		"CRLF":                 "const a = 1\r\n\r\nthrow ¦new Error('x')\r\n",
		"nested function":      "function f() {\n  if (true) { throw ¦new Error('x') }\n}\nf()",
		"callback":             "[1].map(x => {\n  throw ¦new Error('x' + x)\n})",
		"after awaits":         "await null\nawait tools.ping()\nthrow ¦new Error('x')",
		"async function":       "const f = async () => {\n  await null\n  throw ¦new Error('x')\n}\nawait f()",
		"async generator":      "async function* g() {\n  yield 1\n  throw ¦new Error('x')\n}\nfor await (const x of g());",
		"timer":                "setTimeout(() => {\n  throw ¦new Error('x')\n}, 1)\nawait new Promise(() => {})",
		"non-ASCII before":     "const s = 'é€'; throw ¦new Error('x')",
		"emoji before":         "const s = '😀😀'; throw ¦new Error('x')",
		"types before":         "interface A { b: number }\nconst a: A = { b: 1 }; throw ¦new Error('x' as string)",
		"missing name":         "const a = 1\nreturn ¦missing",
		"member of undefined":  "const a: any = undefined\nreturn a.¦b",
		"member of null":       "const a: any = { b: null }\nreturn a.b.¦c",
		"own error class":      "class Broke extends Error {\n  constructor(m: string) { super(m) }\n}\nthrow ¦new Broke('x')",
		"failed call":          "const a = 1\nawait tools.¦fail({})",
		"failed call in a map": "await Promise.all([1, 2].map(\n  async n => {\n    await tools.¦fail({ n })\n  }))",
		"rethrown":             "try {\n  null.¦x\n} catch (e) {\n  throw e\n}",
		"unhandled":            "Promise.reject(¦new Error('x'))\nreturn 1",
		"long line":            strings.Repeat("f; ", 0) + "const " + strings.Repeat("a", 500) + " = 1; throw ¦new Error('x')",
	} {
		t.Run(name, func(t *testing.T) {
			before, after, _ := strings.Cut(marked, "¦")
			lines := runtime.SourceLines(before)
			want := runtime.Site{Line: len(lines), Column: len([]rune(lines[len(lines)-1])) + 1}
			res := execute(t, rt, runtime.Request{Program: before + after})
			if res.Failure == nil || res.Failure.Kind != runtime.Exception {
				t.Fatalf("failure %+v, want an exception", res.Failure)
			}
			if res.Failure.Site != want {
				t.Errorf("%s at %v, want %v\n%s", res.Failure.Message, res.Failure.Site, want, res.Failure.Frame)
			}
		})
	}
}

func TestStackFrames(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "function inner() {\n  throw new Error('x')\n}\nconst outer = () => inner();\n[1].forEach(() => outer())"})
	if res.Failure == nil {
		t.Fatal("no failure")
	}
	var got []string
	for _, f := range res.Failure.Stack {
		got = append(got, f.Function)
	}
	if strings.Join(got, ",") != "inner,outer,," {
		t.Errorf("functions %q, want inner, outer and two without a name", got)
	}
}

func TestScriptSeesItsOwnLines(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "interface X { a: number }\n\nconst e = new Error('x')\nreturn e.stack", Name: "report.ts"})
	if res.Failure != nil || !strings.Contains(res.Value, "report.ts:3:11") {
		t.Errorf("stack %s (%+v), want report.ts:3:11 in it", res.Value, res.Failure)
	}
	res = execute(t, rt, runtime.Request{Program: "\nconsole.log(new Error('x'))"})
	if len(res.Logs) != 1 || !strings.HasPrefix(res.Logs[0], "Error: x\n    at program.ts:2:13") || strings.Contains(res.Logs[0], compiledName) {
		t.Errorf("logs %q, want the author's line and no frame of the wrapper", res.Logs)
	}
	res = execute(t, rt, runtime.Request{Program: "\ntry { await tools.fail() } catch (e) { return e.stack }"})
	if res.Value != `"ToolCallError: it broke\n    at program.ts:2:19"` {
		t.Errorf("stack %s", res.Value)
	}
}

func FuzzVLQ(f *testing.F) {
	f.Add(0)
	f.Add(-1)
	f.Add(1 << 20)
	f.Fuzz(func(t *testing.T, n int) {
		n %= 1 << 40
		text := string(appendVLQ(nil, n))
		if got, end := decodeVLQ(text+"A", 0); got != n || end != len(text) {
			t.Errorf("%d: %d, %q up to %d", n, got, text, end)
		}
	})
}

// The wrapper has the helpers that a program calls, and those of what waits are in
// their places.
func TestHelpersOfAProgram(t *testing.T) {
	all := helperNames[:]
	for _, tt := range []struct {
		name, source string
		want         []unistring.String // parameters
		value        string
	}{
		{"nothing", "return 1", all[:1], "1"},
		{"a loop", "let n = 0\nfor (const x of [1, 2]) n += x\nreturn n", all[:1], "3"},
		{"throw", "try { throw 5 } catch { return 6 }", []unistring.String{markName, throwName}, "6"},
		{"catch", "try { null.a } catch (e) { return e.name }", []unistring.String{markName, catchName}, `"TypeError"`},
		{"stack", "return typeof new Error('x').stack", []unistring.String{markName, stackName}, `"string"`},
		{"operators", "const a = 3, b = 2\nreturn a ** b + (a << b) + (a >> b)", []unistring.String{markName, powerName, shiftName, shiftBackName}, "21"},
		{"dates", "const t = '1970-01-01T00:00:01Z'\nreturn new Date(t).getTime()", []unistring.String{markName, dateName}, "1000"},
		{"equality", "const a = 1\nreturn a == '1'", []unistring.String{markName, equalName}, "true"},
		{"an end of ours", "async function f() { return 7 }\nf()", []unistring.String{markName, completeName, lastName}, "7"},
		{"await", "return await 1", all, "1"},
		{"await and more", "const a = 3\ntry { await null; throw a ** a } catch (e) { return e == 27 }", all, "true"},
		{"await in a function alone", "const f = async () => await 2\nreturn f()", all, "2"},
		{"for await", "let n = 0\nfor await (const x of [1, 2]) n += x\nreturn n", all, "3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, failure := check("", tt.source)
			if failure != nil {
				t.Fatal(failure)
			}
			var got []unistring.String
			statement := p.tree.Body[len(p.tree.Body)-1].(*ast.ExpressionStatement)
			for _, b := range statement.Expression.(*ast.ArrowFunctionLiteral).ParameterList.List {
				got = append(got, b.Target.(*ast.Identifier).Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
			if res := execute(t, newRuntime(t, nil), runtime.Request{Program: tt.source}); res.Failure != nil || res.Value != tt.value {
				t.Errorf("got %s (%+v), want %s", res.Value, res.Failure, tt.value)
			}
		})
	}
}

// Lines are for what is run, or complained about.
func TestLinesOfAProgram(t *testing.T) {
	p, failure := check("", "const a = 1\nreturn a")
	if failure != nil || p.lines != nil {
		t.Errorf("lines of a good program that is checked: %q (%+v)", p.lines, failure)
	}
	var remembered programs
	if p := mustCompile(t, &remembered, "", "const a = 1\nreturn a"); len(p.lines) != 2 {
		t.Errorf("lines of a program that runs: %q", p.lines)
	}
}
