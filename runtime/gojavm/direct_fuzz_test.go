package gojavm

import (
	"regexp"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// checkDirect compares the two readings of a text.
func checkDirect(t *testing.T, text string) {
	t.Helper()
	lim, _ := runtime.Limits{}.WithDefaults()
	if precheck(text, lim) != nil {
		return
	}
	both, _ := readBoth(t, text)
	if both != nil && len(both.found) > 0 {
		t.Errorf("%q\n%s\n%s", text, text, strings.Join(both.found, "\n"))
	}
}

// oddTexts are programs that the two parsers read otherwise, or one of them refuses.
var oddTexts = []string{
	"({a: a, });", "( x < a) < a;", "c`</script${a}`;", "[ x, b = null?.\nf, ...a,];", "for (( {}) of b) // c\n{} function* b(){}",
	"x += b; NaN;", "9007199254740993 in ( c) ??\n\na;", "(\nx?.(c (), c))?.x;", "c(- -/é/, x.a, ...a,);", "(``).x(!!function* x( {...x}){});",
	"for (const {b = function* as( {c = b[0], } = `` + a){}, ...a} of a)a;", "try { ( a[0])++\n ({1e3: async a => {}, }) < a;} finally {}",
	"x++\n [ a = a, , , ,];", "/\\]/\r\n+ ({}) < a;", "while (await x?.\nas ** ({if: a }))a;", "switch (c) {case c: for (let a in a) for (var a of a)a;}",
	"[... {} = - -b < a, ,];", "new f(`😀${a}\n` + `😀\\``);", "(a + '') + (b + '')", "if (a) if (b) throw c", "a = '' + ''.constructor", "A[(/)/),('')]",
	"return 1nin+ 1", "x = /[^\\\r\nd]/.exec(a)", "x = /[\\\n]/",
}

func FuzzDirect(f *testing.F) {
	for _, text := range oddTexts {
		f.Add(text)
	}
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 4096 {
			checkDirect(t, text)
		}
	})
}

// FuzzDirectGrammar makes programs of a grammar that is wider than the language,
// as the bytes say.
func FuzzDirectGrammar(f *testing.F) {
	f.Add([]byte("the first byte of many"))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 400 {
			checkDirect(t, grow(data))
		}
	})
}

// grower writes a program.
type grower struct {
	data  []byte
	out   strings.Builder
	depth int
}

func grow(data []byte) string {
	g := &grower{data: data}
	for len(g.data) > 0 {
		g.statement()
	}
	return g.out.String()
}

// pick takes a number below n.
func (g *grower) pick(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := int(g.data[0])
	g.data = g.data[1:]
	return b % n
}

func (g *grower) say(parts ...string) {
	for _, part := range parts {
		g.out.WriteString(part)
	}
}

func (g *grower) oneOf(parts ...string) { g.say(parts[g.pick(len(parts))]) }

// gap is what may stand between two tokens.
func (g *grower) gap() {
	if len(g.data) > 0 && g.data[0] > 240 {
		g.oneOf("\n", " /* c */ ", " // c\n", "\r\n", "\t", " /* ( */ ", " // (,\n", "\n\n")
		return
	}
	g.say(" ")
}

var fuzzNames = []string{"a", "b", "c", "x", "f", "undefined", "type", "of", "async", "await", "let", "as", "get", "set", "NaN", "yield", "é", "static", "eval", "arguments", "declare", "abstract", "$", "_", "constructor", "__proto__", "Infinity", "i", "interface", "module"}

func (g *grower) name() {
	if g.pick(4) > 0 {
		g.say(fuzzNames[g.pick(5)])
		return
	}
	g.say(fuzzNames[g.pick(len(fuzzNames))])
}

// deep says whether no more may go inside.
func (g *grower) deep() bool { return g.depth > 12 || len(g.data) == 0 }

func (g *grower) list(item func()) {
	for range g.pick(4) {
		item()
		g.say(",")
		g.gap()
	}
	item()
	if g.pick(8) == 0 {
		g.say(",")
	}
}

func (g *grower) statement() {
	g.depth++
	defer func() { g.depth-- }()
	if g.deep() {
		g.say("a;")
		return
	}
	g.gap()
	switch g.pick(30) {
	default:
		g.expression()
	case 1, 2:
		g.oneOf("const ", "let ", "var ")
		g.list(g.binding)
	case 3:
		g.say("if (")
		g.expression()
		g.say(")")
		g.statement()
		if g.pick(3) == 0 {
			g.say(" else ")
			g.statement()
		}
		return
	case 4:
		g.say("for (")
		g.oneOf("const ", "let ", "var ", "")
		g.target()
		g.oneOf(" of ", " in ", " = 0 in ")
		g.expression()
		g.say(")")
		g.statement()
		return
	case 5:
		g.say("for (")
		g.oneOf("let ", "var ", "const ", "")
		g.list(g.binding)
		g.say(";")
		g.expression()
		g.say(";")
		g.expression()
		g.say(")")
		g.statement()
		return
	case 6:
		g.say("while (")
		g.expression()
		g.say(")")
		g.statement()
		return
	case 7:
		g.say("do ")
		g.statement()
		g.say(" while (")
		g.expression()
		g.say(")")
	case 8:
		g.oneOf("return", "throw", "return", "break", "continue", "debugger", "yield", "break l", "continue l")
		g.gap()
		if g.pick(4) > 0 {
			g.expression()
		}
	case 9:
		g.say("try ")
		g.block()
		if g.pick(4) > 0 {
			g.say(" catch ")
			if g.pick(4) > 0 {
				g.say("(")
				g.target()
				g.say(") ")
			}
			g.block()
		}
		if g.pick(3) == 0 {
			g.say(" finally ")
			g.block()
		}
		return
	case 10:
		g.say("switch (")
		g.expression()
		g.say(") {")
		for range g.pick(3) {
			g.oneOf("case ", "case ", "default")
			if !strings.HasSuffix(g.out.String(), "default") {
				g.expression()
			}
			g.say(":")
			g.statement()
		}
		g.say("}")
		return
	case 11:
		g.function()
		return
	case 12:
		g.block()
		return
	case 13:
		g.oneOf("l: ", "a: ", "type: ")
		g.statement()
		return
	case 14:
		g.oneOf("type\n", "declare\n", "interface\n", "abstract\n", "'use strict'", "namespace\n", "module\n", "enum ", "as\n", "global\n", "let\n", "using ", "async\n", ";", "import ", "export ")
		return
	case 15:
		g.say("class ")
		g.name()
		g.say(" { ")
		g.name()
		g.say("(){} }")
		return
	}
	g.oneOf(";", ";", "\n", ";\n", "")
}

func (g *grower) block() {
	g.say("{")
	for range g.pick(3) {
		g.statement()
	}
	g.say("}")
}

func (g *grower) binding() {
	g.target()
	if g.pick(5) > 0 {
		g.say(" = ")
		g.expression()
	}
}

func (g *grower) function() {
	g.oneOf("function ", "async function ", "function* ", "async function* ")
	if g.pick(4) > 0 {
		g.name()
	}
	g.parameters()
	g.block()
}

func (g *grower) parameters() {
	g.say("(")
	for range g.pick(3) {
		g.parameter()
		g.say(", ")
	}
	switch g.pick(4) {
	case 0:
		g.say("...")
		g.target()
	case 1:
		g.parameter()
	}
	g.say(")")
}

func (g *grower) parameter() {
	g.gap()
	g.target()
	if g.pick(4) == 0 {
		g.say(" = ")
		g.expression()
	}
}

func (g *grower) target() {
	g.depth++
	defer func() { g.depth-- }()
	if g.deep() {
		g.say("a")
		return
	}
	switch g.pick(14) {
	default:
		g.name()
	case 1:
		g.say("[")
		g.list(g.element)
		g.say("]")
	case 2, 3:
		g.say("{")
		for range g.pick(3) {
			g.name()
			switch g.pick(4) {
			case 0:
				g.say(": ")
				g.element()
			case 1:
				g.say(" = ")
				g.expression()
			}
			g.say(", ")
		}
		switch g.pick(5) {
		case 0:
			g.say("...")
			g.target()
		case 1:
			g.name()
		case 2:
			g.say("[")
			g.expression()
			g.say("]: ")
			g.element()
		}
		g.say("}")
	case 4:
		g.say("(")
		g.gap()
		g.target()
		g.say(")")
	case 5:
		g.postfix()
	}
}

func (g *grower) element() {
	switch g.pick(12) {
	case 0:
		return
	case 1:
		g.say("...")
	}
	g.gap()
	g.target()
	if g.pick(3) == 0 {
		g.say(" = ")
		g.expression()
	}
}

var fuzzBinary = []string{"+", "-", "*", "/", "%", "**", "<", ">", "<=", ">=", "<<", ">>", ">>>", "==", "!=", "===", "!==", "&", "|", "^", "&&", "||", "??", ",", "in", "instanceof", "=", "+=", "??=", "||=", "**=", "as", "!"}

func (g *grower) expression() {
	g.depth++
	defer func() { g.depth-- }()
	if g.deep() {
		g.oneOf("a", "1")
		return
	}
	switch g.pick(24) {
	default:
		g.postfix()
	case 1, 2, 3, 4:
		g.postfix()
		g.gap()
		if g.pick(3) == 0 {
			g.oneOf("<", ">", "??", "&&", "in", "<")
		} else {
			g.say(fuzzBinary[g.pick(len(fuzzBinary))])
		}
		g.gap()
		g.expression()
	case 5:
		g.oneOf("-", "+", "!", "~", "typeof ", "void ", "delete ", "++", "--", "await ", "yield ", "yield* ", "new ", "...", "- -", "!!")
		g.expression()
	case 6:
		g.expression()
		g.say(" ? ")
		g.expression()
		g.say(" : ")
		g.expression()
	case 7, 8:
		if g.pick(4) == 0 {
			g.say("async ")
		}
		if g.pick(3) == 0 {
			g.name()
		} else {
			g.parameters()
		}
		g.oneOf(" => ", " => ", ": c => ", "\n=> ")
		if g.pick(2) == 0 {
			g.block()
		} else {
			g.expression()
		}
	case 9:
		g.target()
		g.oneOf(" = ", " = ", " += ", " ??= ")
		g.expression()
	case 10:
		g.function()
	}
}

func (g *grower) postfix() {
	g.primary()
	for range g.pick(3) {
		switch g.pick(14) {
		case 0, 1, 2:
			g.oneOf(".", ".", "?.", "\n.", "?.\n")
			g.name()
		case 3:
			g.oneOf("[", "[", "?.[")
			g.expression()
			g.say("]")
		case 4, 5, 6:
			g.oneOf("(", "(", "?.(", " (", "\n(")
			if g.pick(3) > 0 {
				g.list(g.argument)
			}
			g.say(")")
		case 7:
			g.template()
		case 8:
			g.oneOf("++", "--", "\n++", "!", " as a")
		case 9:
			g.oneOf("<a>", "<a, b>", "<a[]>", "<(a) => b>")
		case 10:
			g.say("[0]")
		}
	}
}

func (g *grower) argument() {
	if g.pick(10) == 0 {
		g.say("...")
	}
	g.expression()
}

func (g *grower) template() {
	g.say("`")
	for range g.pick(3) {
		g.oneOf("t", "\\n", "\\u0041", "\n", "$", "\\`", "é", "\\x41", "\\0", "{", "\r\n", "😀", "</script")
		if g.pick(2) == 0 {
			g.say("${")
			g.expression()
			g.say("}")
		}
	}
	g.say("`")
}

func (g *grower) primary() {
	g.depth++
	defer func() { g.depth-- }()
	if g.deep() {
		g.say("b")
		return
	}
	switch g.pick(22) {
	default:
		g.name()
	case 1:
		g.oneOf("0", "1", "1.5", "1e3", "0x1f", "10n", "1_0", "010", ".5", "5.", "08", "0b1", "9007199254740993", "1e400", "0xffffffff", "123456789012345680000", "0n", "0.0", "1E-7", "5..a")
	case 2:
		g.oneOf("'a'", `"b"`, `'\n'`, `'\''`, `"\u00e9"`, `'\x41'`, `'é'`, `'\0'`, `'\01'`, "'\\\n'", `'\u{41}'`, `'\ud800'`, `'😀'`, `"</script>"`, `'\/'`, `'\8'`, `"use strict"`)
	case 3:
		g.template()
	case 4:
		g.oneOf("/a/", "/[/]/g", `/\//`, "/a/gg", "/(?<x>a)/u", "/=a/", "/é/", `/\p{L}/u`, "/a/v", "/[[]/", "/a/\n", "/(/", "/a/y ", `/\]/`, "/a/in")
	case 5, 6:
		g.say("(")
		g.gap()
		g.expression()
		g.say(")")
	case 7:
		g.say("[")
		g.list(g.element)
		g.say("]")
	case 8, 9:
		g.object()
	case 10:
		g.oneOf("this", "null", "true", "false", "super", "new.target", "import.meta", "import('a')", "#a", "<a>b", "@a")
	case 11:
		g.say("new ")
		g.primary()
		if g.pick(4) > 0 {
			g.say("(")
			g.list(g.argument)
			g.say(")")
		}
	case 12:
		g.say("class {}")
	}
}

func (g *grower) object() {
	g.say("({")
	for range g.pick(4) {
		switch g.pick(14) {
		default:
			g.name()
			g.say(": ")
			g.expression()
		case 1, 2:
			g.name()
		case 3:
			g.oneOf("get ", "set ", "async ", "*", "async *", "static ", "get\n", "")
			g.name()
			g.parameters()
			g.block()
		case 4:
			g.say("...")
			g.expression()
		case 5:
			g.say("[")
			g.expression()
			g.say("]: ")
			g.expression()
		case 6:
			g.oneOf("'a'", "1", "1.5", "'b c'", `"\u0061"`, "1n", "0x10", "__proto__", "'__proto__'", "if", "null", "1e3")
			g.say(": ")
			g.expression()
		case 7:
			g.name()
			g.say(" = ")
			g.expression()
		}
		g.say(",")
		g.gap()
	}
	g.say("})")
}

// typesByPattern is looksTyped, as one pattern.
var typesByPattern = func() *regexp.Regexp {
	const word = `\w$\x{80}-\x{10ffff}`
	return regexp.MustCompile(`: (?:number|string|any|boolean|unknown|Promise<|Record<)|` +
		`(?:^|\n)[ \t]*(?:interface [` + word + `]+[ \t]*[^` + word + ` \t]|type [` + word + `]+[ \t]*[=<]|(?:const|let) [` + word + `]+[ \t]*:)`)
}()

func FuzzLooksTyped(f *testing.F) {
	for _, text := range []string{
		"type a = 1", "  const  x : a", "let y:b\n type T<a>", "interface  A {", "interface A\n{", "interface A", "x: number", "a ? b : c", "const\nlet a :",
		"let let : x", "type type =", "type = 1", "\r\ntype a =\tlet \tx", "\tlet é\t:", "constant x: y", ": ", ":", "f(a, b: string)", "{ a: { b: Promise<c", "a\rtype b =",
	} {
		f.Add(text)
	}
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := looksTyped(text), typesByPattern.MatchString(text); got != want {
			t.Errorf("%q looks typed: %v, want %v", text, got, want)
		}
	})
}
