package gojavm

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func defaults(t testing.TB) runtime.Limits {
	t.Helper()
	lim, err := runtime.Limits{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return lim
}

// deep are texts that recurse in a parser, by how often something is repeated.
var deep = []struct {
	name  string
	limit string // the limit that stops it
	text  func(n int) string
}{
	{"parentheses", "nesting", func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }},
	{"brackets", "nesting", func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }},
	{"objects", "nesting", func(n int) string { return "x=" + strings.Repeat("{a:", n) + "1" + strings.Repeat("}", n) }},
	{"blocks", "nesting", func(n int) string { return strings.Repeat("{", n) + strings.Repeat("}", n) }},
	{"negated groups", "nesting", func(n int) string { return strings.Repeat("-(", n) + "1" + strings.Repeat(")", n) }},
	{"templates", "nesting", func(n int) string { return strings.Repeat("`${", n) + "1" + strings.Repeat("}`", n) }},
	{"arrows", "nesting", func(n int) string { return "x=" + strings.Repeat("()=>", n) + "1" }},
	{"async arrows", "nesting", func(n int) string { return "x=" + strings.Repeat("async()=>", n) + "1" }},
	{"arrow bodies", "nesting", func(n int) string { return "x=" + strings.Repeat("()=>{", n) + strings.Repeat("}", n) }},
	{"functions", "nesting", func(n int) string { return strings.Repeat("function f(){", n) + strings.Repeat("}", n) }},
	{"calls in calls", "nesting", func(n int) string { return strings.Repeat("f(", n) + strings.Repeat(")", n) }},
	{"regular expression", "nesting", func(n int) string { return "/" + strings.Repeat("(", n) + strings.Repeat(")", n) + "/" }},
	{"not", "chain", func(n int) string { return strings.Repeat("!", n) + "1" }},
	{"typeof", "chain", func(n int) string { return strings.Repeat("typeof ", n) + "1" }},
	{"minus", "chain", func(n int) string { return strings.Repeat("- ", n) + "1" }},
	{"sum", "chain", func(n int) string { return strings.Repeat("1+", n) + "1" }},
	{"power", "chain", func(n int) string { return strings.Repeat("1**", n) + "1" }},
	{"assignment", "chain", func(n int) string { return strings.Repeat("a=", n) + "1" }},
	{"condition", "chain", func(n int) string { return strings.Repeat("a?1:", n) + "1" }},
	{"members", "chain", func(n int) string { return "a" + strings.Repeat(".b", n) }},
	{"accesses", "chain", func(n int) string { return "a" + strings.Repeat("[0]", n) }},
	{"calls", "chain", func(n int) string { return "a" + strings.Repeat("()", n) }},
	{"tags", "chain", func(n int) string { return "a" + strings.Repeat("``", n) }},
	{"else", "chain", func(n int) string { return strings.Repeat("if(a){}else ", n) + "{}" }},
	{"ifs", "chain", func(n int) string { return strings.Repeat("if(a)", n) + "{}" }},
	{"labels", "chain", func(n int) string { return strings.Repeat("a:", n) + ";" }},
	{"do", "chain", func(n int) string { return strings.Repeat("do ", n) + ";" }},
	{"casts", "chain", func(n int) string { return "a" + strings.Repeat(" as any", n) }},
	{"assertions", "chain", func(n int) string { return "x=a" + strings.Repeat("!", n) }},
	{"commas", "chain", func(n int) string { return "0" + strings.Repeat(",0", n) }},
	{"commas in parentheses", "chain", func(n int) string { return "x=(0" + strings.Repeat(",0", n) + ")" }},
	{"declarations", "chain", func(n int) string { return "var a" + strings.Repeat(",a", n) }},
}

func TestPrecheckRefusesDeepText(t *testing.T) {
	lim := defaults(t)
	for _, d := range deep {
		t.Run(d.name, func(t *testing.T) {
			for _, n := range []int{lim.Nesting*2 + lim.Chain*2, 15_000} {
				text := "\n// a ( comment\n" + d.text(n)
				f := precheck(text, lim)
				if f == nil {
					t.Fatalf("%d times: passed", n)
				}
				if f.Kind != runtime.InvalidInput || !strings.Contains(f.Message, d.limit+" limit") || f.Site.Line != 3 {
					t.Errorf("%d times: %s %q at %v, want the %s limit on line 3", n, f.Kind, f.Message, f.Site, d.limit)
				}
			}
			f := precheck(d.text(1_000_000), lim)
			if f == nil || !strings.Contains(f.Message, "source limit") {
				t.Errorf("a million times: %+v, want the source limit", f)
			}
		})
	}
}

// Every end of a line ends a comment, and a string or a regular expression that
// is not closed: what follows is seen.
func TestPrecheckKnowsEveryLineEnd(t *testing.T) {
	lim := defaults(t)
	for _, end := range []string{"\n", "\r", "\r\n", "\u2028", "\u2029"} {
		for _, before := range []string{"//", "// a", "x = /a", "x = /a\\", "/* */ //", "`" + end + "` //"} {
			text := before + end + strings.Repeat("!", 20_000) + "1"
			want := 2 + strings.Count(before, end)
			if f := precheck(text, lim); f == nil || !strings.Contains(f.Message, "chain limit") || f.Site.Line != want {
				t.Errorf("%q + %q: %+v, want the chain limit on line %d", before, end, f, want)
			}
		}
	}
	for _, before := range []string{"'a", `"a`} {
		for _, end := range []string{"\n", "\r", "\r\n"} {
			if f := precheck(before+end+strings.Repeat("(", 20_000), lim); f == nil || f.Site.Line != 2 {
				t.Errorf("%q + %q: %+v, want the nesting limit on line 2", before, end, f)
			}
		}
	}
	for _, text := range []string{"'\u2028(((((((('", "'\\\r\n((((((('", "`\r((((`", "/* \u2029 (((( */"} {
		if f := precheck("x = "+strings.Repeat(text+"\n", 100), lim); f != nil {
			t.Errorf("%q: %s", text, f.Message)
		}
	}
}

// What passes must not be too much for the parsers behind.
func TestPrecheckedTextCompiles(t *testing.T) {
	lim := defaults(t)
	for _, d := range deep {
		t.Run(d.name, func(t *testing.T) {
			n := lim.Nesting
			if d.limit == "chain" {
				n = lim.Chain
			}
			for ; n > 0 && precheck(d.text(n), lim) != nil; n = n * 9 / 10 {
			}
			if n < 200 {
				t.Fatalf("refused from %d on", n)
			}
			if _, f := transpile("", d.text(n)); f != nil && f.Kind != runtime.Exception {
				t.Errorf("%d times: %s %s", n, f.Kind, f.Message)
			}
		})
	}
}

func TestPrecheckPasses(t *testing.T) {
	lim := defaults(t)
	many := func(n int, line string) string { return strings.Repeat(line, n) }
	for name, text := range map[string]string{
		"empty":                        "",
		"statements without semicolon": many(5_000, "const a = b + 1\n"),
		"statements with semicolon":    many(5_000, "a = b + 1; "),
		"calls":                        many(5_000, "f(1).g(2)\n"),
		"awaits":                       many(3_000, "await tools.x({ a: 1 })\n"),
		"ifs":                          many(3_000, "if (a) b()\nelse c()\n"),
		"ifs with blocks":              many(3_000, "if (a) { b() } else { c() }\n"),
		"list":                         "x = [" + many(20_000, "-1, ") + "]",
		"call with many arguments":     "f(" + many(20_000, "1,") + "2)",
		"big object":                   "return {" + many(5_000, "a: 1, ") + "}",
		"object of objects":            "const o = {" + many(5_000, "a: { b: !c },\n") + "}",
		"array of arrows":              "x = [" + many(5_000, "a => b => a + b,") + "]",
		"cases":                        "switch (a) {" + many(3_000, "case 1:\nf()\nbreak\n") + "}",
		"brackets in a string":         `x = "` + many(5_000, "(") + `"`,
		"brackets in a template":       "x = `" + many(5_000, "(") + "`",
		"brackets in a comment":        "/* " + many(5_000, "(") + " */ // " + many(5_000, "{"),
		"escaped brackets in a regexp": "x = /" + many(2_000, `\(`) + "/",
		"class in a regexp":            "x = /[(/`'\"]/; y = [" + many(600, "'a',") + "]",
		"regexp after a parenthesis":   "if (x) /`/.test(y)\n" + many(600, "f(`(`)\n"),
		"division":                     many(3_000, "a = b / c / d\n"),
		"division after brackets":      many(3_000, "a = (b) / c[0] / d\n"),
		"regexp after return":          "return /[`(]/.test('`')",
		"quote in a regexp":            "x = s.replace(/'/g, \"(\")\n" + many(600, "y = '('\n"),
		"methods named by keywords":    many(3_000, "a.if().delete().new().else()\n"),
		"long method chain":            "a" + many(600, ".b(c => c.d)"),
		"concatenation":                "a" + many(900, " + 'x'"),
		"unterminated string":          "x = 'abc\n" + many(600, "y = 1\n"),
		"types":                        many(2_000, "const a: Map<string, Array<{ b: number | null }>> = new Map()\n"),
		"generics":                     many(2_000, "function f<T extends U, U>(a: T): T { return a as T }\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if len(text) > lim.Source {
				t.Fatalf("the text is too long for this test: %d", len(text))
			}
			if f := precheck(text, lim); f != nil {
				t.Error(f.Message)
			}
		})
	}
}

func TestPrecheckNamesTheLine(t *testing.T) {
	lim := defaults(t)
	lim.Nesting = 3
	f := precheck("const a = `\n\n`\n/*\n*/ f('\\\n');\n  [[[[]]]]", lim)
	if f == nil || f.Site != (runtime.Site{Line: 7, Column: 6}) {
		t.Errorf("got %+v, want line 7, column 6", f)
	}
}

func FuzzPrecheck(f *testing.F) {
	for _, d := range deep {
		f.Add(d.text(3))
	}
	f.Add("if (a) /[(]/.x\n`a${`b${c}`}`")
	f.Add("//\u2028!!!\r//\r((")
	f.Fuzz(func(t *testing.T, text string) {
		lim := runtime.Limits{Source: 1 << 20, Nesting: 20, Chain: 20}
		if failure := precheck(text, lim); failure != nil && failure.Message == "" {
			t.Error("a refusal without a reason")
		}
		_, _ = unbalanced(text, lim)
	})
}

// What strings, templates, comments and blanks are stepped over in one go must end
// where it ends, and its lines must count.
func TestPrecheckStepsOverText(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int // of the bracket behind it
	}{
		{"a string", "'abc \\' $ \" `'", 1},
		{"a string that is not closed", "'abc", 1},
		{"an escaped line's end", "'a\\\nb'", 2},
		{"a line's end beyond ASCII in a string", "'a\u2028b\u2029c'", 3},
		{"a character that begins like one", "'a\u2027b'", 1},
		{"a template", "`a ' \" $ \\` \n b`", 2},
		{"a template's substitution", "`a $ ${ `b\n` } \r\n c`", 3},
		{"a comment", "/* a ` ' \n * \r\n \\ ${ */", 3},
		{"a comment of a line", "// a ' ` /*\n", 2},
		{"blanks", " \t \t\t\n\t \r \r\n", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line := tt.line
			text := "x = " + tt.text
			if tt.name == "a string that is not closed" {
				text, line = text+"\n", 2
			}
			odd, opens := unbalanced(text+" (", defaults(t))
			if !opens || odd.site.Line != line {
				t.Errorf("the bracket behind it is on line %d (%q), want %d", odd.site.Line, odd.why, line)
			}
			failure := precheck(text+strings.Repeat("(", 5_000), defaults(t))
			if failure == nil || failure.Site.Line != line {
				t.Errorf("got %+v, want a refusal on line %d", failure, line)
			}
		})
	}
}
