package runtimetest

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// bombs are source texts that take a parser's stack, time or memory, a little
// under the limit of the source and well over it.
func bombs() []attacks {
	under, over := []program{}, []program{}
	for _, c := range []struct{ name, lead, open, middle, close string }{
		{"parentheses", "const x = ", "(", "1", ")"},
		{"arrays", "const x = ", "[", "", "]"},
		{"objects", "const x = ", "{a:", "1", "}"},
		{"not", "const x = ", "!", "1", ""},
		{"minus", "const x = ", "-(", "1", ")"},
		{"signs", "const x = ", "- ", "1", ""},
		{"templates", "const x = ", "`${", "1", "}`"},
		{"arrows", "const x = ", "()=>", "1", ""},
		{"named arrows", "const x = ", "a=>", "1", ""},
		{"sums", "const x = ", "1+", "1", ""},
		{"comparisons", "const x = ", "1<", "1", ""},
		{"logic", "const x = ", "a||", "1", ""},
		{"nullish", "const x = ", "a??", "1", ""},
		{"conditionals", "const x = ", "1?1:", "1", ""},
		{"assignments", "let a = ", "a=", "1", ""},
		{"blocks", "", "{", "", "}"},
		{"typeof", "const x = ", "typeof ", "1", ""},
		{"void", "const x = ", "void ", "1", ""},
		{"calls", "const x = ", "f(", "1", ")"},
		{"indexes", "const x = ", "a[", "1", "]"},
		{"exponents", "const x = ", "2**", "1", ""},
		{"await", "const x = ", "await ", "1", ""},
		{"commas", "return ", "0,", "1", ""},
		{"in", "const x = ", "1 in ", "a", ""},
		{"functions", "", "function f(){", "", "}"},
		{"classes", "const x = ", "class extends (", "A", "){}"},
		{"parameters", "const x = ", "(a=", "1", ")=>1"},
		{"patterns", "const ", "[a=", "1", "]=b"},
	} {
		for size, list := range map[int]*[]program{250_000: &under, 1_000_000: &over} {
			n := size / (len(c.open) + len(c.close))
			*list = append(*list, program{name: c.name, code: c.lead + strings.Repeat(c.open, n) + c.middle + strings.Repeat(c.close, n)})
		}
	}
	text := func(name, code string) program {
		return program{name: name, code: fmt.Sprintf("try { %s; return 'passed' } catch (e) { return e instanceof Error }", code), value: "true"}
	}
	limits := runtime.Limits{Heap: 512 << 20}
	return []attacks{
		{family: "source under its limit", limits: limits, fails: ends(runtime.InvalidInput, "more than"), programs: under},
		{family: "source over its limit", limits: limits, fails: ends(runtime.InvalidInput, "source limit is 262144"), programs: over},
		{family: "source that nests without a bracket", limits: limits, fails: ends(runtime.InvalidInput), programs: []program{
			{name: "if", code: strings.Repeat("if(1)", 40_000) + ";"},
			{name: "else", code: strings.Repeat("if(0);else ", 20_000) + ";"},
			{name: "loops", code: strings.Repeat("for(;0;)", 30_000) + ";"},
			{name: "while", code: strings.Repeat("while(0)", 30_000) + ";"},
			{name: "do", code: strings.Repeat("do ", 60_000) + ";" + strings.Repeat("while(0);", 6_000)},
			{name: "labels", code: labels(20_000)},
			{name: "new", code: strings.Repeat("new ", 50_000) + "f"},
			{name: "delete", code: strings.Repeat("delete ", 30_000) + "f.a"},
			{name: "types", code: "let x: " + strings.Repeat("A<", 50_000) + "B" + strings.Repeat(">", 50_000)},
			{name: "a pattern", code: "/" + strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000) + "/"},
			{name: "members", code: "const a = {}; a" + strings.Repeat("?.a", 50_000)},
			{name: "templates behind a tag", code: "f" + strings.Repeat("``", 50_000)},
			{name: "calls of calls", code: "f" + strings.Repeat("()", 100_000)},
		}},
		{family: "source that is long and flat", limits: limits, programs: []program{
			{name: "statements", code: strings.Repeat(";", 200_000) + "return 1", value: "1"},
			{name: "elements", code: "return [" + strings.Repeat("0,", 100_000) + "].length", value: "100000"},
			{name: "variables", code: strings.Repeat("var a;", 30_000) + "return 1", value: "1"},
			{name: "blocks", code: strings.Repeat("a:{break a}", 20_000) + "return 1", value: "1"},
			{name: "a number", code: "return 0." + strings.Repeat("9", 200_000), value: "1"},
			{name: "a BigInt", code: "return typeof " + strings.Repeat("9", 200_000) + "n", value: `"bigint"`},
			{name: "a text", code: "return '" + strings.Repeat("x", 200_000) + "'.length", value: "200000"},
			{name: "a comment", code: "/*" + strings.Repeat("(", 200_000) + "*/ return 1", value: "1"},
			{name: "a name", code: "const " + strings.Repeat("x", 200_000) + " = 1; return 1", value: "1"},
		}},
		{family: "texts that are evaluated", limits: limits, programs: []program{
			text("eval of parentheses", "eval('('.repeat(1e6) + '1' + ')'.repeat(1e6))"),
			text("eval of arrays", "eval('['.repeat(1e6) + ']'.repeat(1e6))"),
			text("eval of sums", "eval('1+'.repeat(1e6) + '1')"),
			text("eval of blocks", "eval('{'.repeat(1e6) + '}'.repeat(1e6))"),
			text("eval of ten million nots", "eval('!'.repeat(1e7) + '1')"),
			text("eval of ifs", "eval('if(1)'.repeat(12000) + ';')"),
			text("eval of elses", "eval('if(0);else '.repeat(5000) + ';')"),
			text("eval of new", "eval('new '.repeat(15000) + 'f')"),
			text("eval by another name", "(0, eval)('('.repeat(60000))"),
			text("Function", "new Function('return ' + '!'.repeat(1e6) + '1')"),
			text("Function's parameters", "new Function('a=' + '('.repeat(6e4), '')"),
			text("GeneratorFunction", "(function* () {}).constructor('['.repeat(6e4))"),
			text("AsyncFunction", "(async () => {}).constructor('!'.repeat(6e4) + '1')"),
			text("a pattern of groups", "new RegExp('('.repeat(1e6) + ')'.repeat(1e6))"),
			text("a pattern of groups that do not capture", "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))"),
			text("a pattern of alternatives", "new RegExp('a|'.repeat(1e6))"),
			{name: "a pattern that repeats repeats", code: "return new RegExp('(?=)((((((a{1000}){1000}){1000}){1000}){1000}){1000})').test('a')", value: "false"},
			text("a pattern by compile", "/x/.compile('('.repeat(3e5) + ')'.repeat(3e5))"),
			text("a pattern by match", "'x'.match('('.repeat(3e5) + ')'.repeat(3e5))"),
			text("a pattern by search", "'x'.search('('.repeat(3e5) + ')'.repeat(3e5))"),
			text("a pattern by matchAll", "'x'.matchAll('('.repeat(3e5) + ')'.repeat(3e5))"),
			text("a large code point", "eval('\"\\\\u{110000}\"')"),
		}},
		{family: "source that is no program", limits: limits, fails: ends(runtime.Exception, "SyntaxError"), programs: []program{
			{name: "text without end", code: "`" + strings.Repeat("${`", 100)},
			{name: "a comment without end", code: "/* " + strings.Repeat("*", 100_000)},
			{name: "one brace", code: "{"},
			{name: "bytes that are no text", code: "return \xff\xfe"},
			{name: "no text at all", code: "\x00\x00\x00"},
		}},
	}
}

// labels is one statement behind n of them.
func labels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d:", i)
	}
	return b.String() + ";"
}
