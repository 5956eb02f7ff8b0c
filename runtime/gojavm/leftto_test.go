package gojavm

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// directly reads a text without esbuild; if it must not be read so, why says it.
func directly(text string) (read *program, why string) {
	p := &program{name: defaultName, source: text, text: text, lines: strings.Split(text, "\n")}
	return p.direct(moduleParts{text: text}, nil)
}

// TestLeftToEsbuild has a row for every kind of program that must not be read
// directly.
func TestLeftToEsbuild(t *testing.T) {
	for _, tt := range []struct{ name, text, why string }{
		{"types", "const a: number = 1", "looks like TypeScript"},
		{"an interface", "interface A { b: number }", "looks like TypeScript"},
		{"a type", "type A<B> = C", "looks like TypeScript"},
		{"types that are not seen at once", "return (a: B) => a", "parser refuses"},
		{"a cast", "return x as any", "parser refuses"},
		{"an enum", "enum E { A }", "parser refuses"},
		{"an assertion", "return a!.b", "parser refuses"},
		{"type arguments of a call", "return f<T>(x)", "type arguments"},
		{"type arguments that are two comparisons", "g(a < b, c > (d))", "type arguments"},
		{"type arguments of new", "return new C<T>(x)", "type arguments"},
		{"type arguments of a template", "return f<T>`x`", "type arguments"},
		{"type arguments with an array", "return f<T[]>(x)", "parser refuses"},
		{"type arguments with an object", "return f<{ a: 1 }>(x)", "type arguments"},
		{"type arguments in brackets", "return a < (b) > (c)", "type arguments"},
		{"type arguments that are strings", "return a < 'b' > (c)", "type arguments"},
		{"type arguments over lines", "return f <\nT\n> (x)", "type arguments"},
		{"type arguments with a comment", "return a < /* ; */ b > (c)", "type arguments"},
		{"type arguments behind a shift", "return f << T > (x)", "type arguments"},
		{"type arguments with a condition", "return f<a extends, b ? c : d>(x)", "parser refuses"},
		{"an arrow with a type in a condition", "return a ? (b) : c => d", "a type may stand before"},
		{"an arrow with a type in a case", "switch (x) { case (a): b => c }", "a type may stand before"},
		{"a declared type on two lines", "type\nA = 1", "a declaration of TypeScript"},
		{"an abstract class on two lines", "abstract\nx()", "a declaration of TypeScript"},
		{"a class", "class A {}", "not known: *ast.ClassDeclaration"},
		{"a class in an expression", "return class {}", "not known: *ast.ClassLiteral"},
		{"a class with fields that are modifiers", "class A { readonly\nx = 1 }", "not known: *ast.ClassDeclaration"},
		{"a private name", "return #a in b", ""},
		{"super", "return { f() { return super.f() } }", "not known: *ast.SuperExpression"},
		{"new.target", "return function () { return new.target }", "not known: *ast.MetaProperty"},
		{"import.meta", "return import.meta", "parser refuses"},
		{"a dynamic import", "return import('a')", "parser refuses"},
		{"an async generator", "async function* g() {}", "an async generator"},
		{"an async generator's method", "return { async *g() {} }", "parser refuses"},
		{"for await", "for await (const x of y);", "parser refuses"},
		{"using", "using x = y", "parser refuses"},
		{"a decorator", "@a class B {}", "parser refuses"},
		{"yield*", "function* g() { yield* h() }", "a generator in a generator"},
		{"a Unicode property", `return /\p{L}/u`, "a Unicode property"},
		{"flags that the engine lacks", "return /a/v", "flags"},
		{"flags that repeat", "return /a/gg", "flags"},
		{"a wrong pattern", "return /(/", ""},
		{"a group that is not opened", "return /)/", "that is wrong"},
		{"a class that is not closed", "return /[a/", ""},
		{"a group's name that repeats", "return /(?<a>x)(?<a>y)/", ""},
		{"a directive", "'use strict'; return this", "a directive"},
		{"a directive of a function", "function f() { 'use strict' }", "a directive"},
		{"a string alone", "'a'", "a directive"},
		{"an octal number", "return 010", "a number"},
		{"a number with a zero before", "return 08", ""},
		{"a binary number", "return 0b11", "a number"},
		{"a separator in a number", "return 1_000", "a number"},
		{"a long hexadecimal number", "return 0x1fffffffffffff", "a number"},
		{"an octal escape", `return '\01'`, "a rare escape"},
		{"an escape of eight", `return '\8'`, "a rare escape"},
		{"an escape in braces", `return '\u{41}'`, "a rare escape"},
		{"an escape the parser fails on", `return '\u{10FFFF}'`, ""},
		{"an octal escape in a template", "return f`\\01`", "wrong escapes"},
		{"an escape in a name", `return \u0061`, "a name with escapes"},
		{"a name beyond ASCII", "return größe", "a name with escapes"},
		{"a property's name beyond ASCII", "return { größe: 1 }", "a name with escapes"},
		{"an odd space", "return\u00a01", "beyond ASCII"},
		{"a line's end beyond ASCII", "return 'a\u2028b'", "beyond ASCII"},
		{"a byte order mark", "return '\ufeff'", "beyond ASCII"},
		{"a lone carriage return", "a()\rb()", "a control character"},
		{"a form feed", "a()\fb()", "a control character"},
		{"text that is no UTF-8", "return '\xff'", "a character that is none"},
		{"a comment of HTML", "a <!--b", "a comment of HTML"},
		{"the end of a comment of HTML", "a\n--> b", "a comment of HTML"},
		{"the end of a script", "return `</script>`", "the end of a script"},
		{"a function in a block", "{ function f() {} }", "not known: *ast.FunctionDeclaration"},
		{"a function in an if", "if (a) function f() {}", "not known: *ast.FunctionDeclaration"},
		{"functions that are declared twice", "function f() {} function f() {}", "declared twice"},
		{"with", "with (a) b", "not known: *ast.WithStatement"},
		{"debugger", "debugger", "not known: *ast.DebuggerStatement"},
		{"a label of no loop", "a: b()", "a label of no loop"},
		{"delete of a name", "delete a", "delete of what is no property"},
		{"delete in a chain", "delete a?.b", "delete of what is no property"},
		{"await as a name", "return () => await(1)", "the name await"},
		{"await in parameters", "return (a, b = await 1) => a", "waits in parameters"},
		{"yield as a name", "yield = 1", "the name yield"},
		{"let as a name", "let = 1", "the name let"},
		{"async as a name", "return async", "the name async"},
		{"static as a name", "var static = 1", "the name static"},
		{"interface as a name", "interface\nA\n{}", "the name interface"},
		{"eval", "return eval('1')", "the name eval"},
		{"arguments", "return arguments", "the name arguments"},
		{"undefined that is bound", "let undefined = 1", "a constant of the language that is bound"},
		{"undefined that is assigned to", "undefined = 1", "a constant of the language that is bound"},
		{"undefined as a short property", "return { undefined }", "a short property"},
		{"__proto__", "return { __proto__: a }", "__proto__"},
		{"__proto__ twice", "return { __proto__: a, '__proto__': b }", "__proto__"},
		{"a short property with a value", "return { a = 1 }", "a short property"},
		{"a constant without a value", "const a", "a constant without a value"},
		{"a constant without a value in a loop", "for (const a;;) {}", "a constant without a value"},
		{"a name that is declared twice", "let a; let a", "already been declared"},
		{"a parameter that is declared again", "function f(a) { let a }", ""},
		{"a parameter that repeats", "return (a, a) => 1", ""},
		{"what catch declares, again", "try {} catch (e) { let e }", "what catch declares"},
		{"what catch takes apart, again", "try {} catch ([e]) { var e }", "what catch declares"},
		{"a variable that reaches through a loop", "for (let a in b) for (var a of c);", "collide"},
		{"a variable that reaches through a block", "{ let a; { var a } }", "collide"},
		{"a loop's variable with a value", "for (var a = 1 in b);", ""},
		{"a loop that assigns to a pattern", "for (({}) of b);", "assigns to a pattern"},
		{"parentheses around a parameter", "return ((a)) => 1", "parentheses around a parameter"},
		{"a comment among the parameters", "return (/* ( */ a) => 1", "in another way"},
		{"parentheses around one of the parameters", "return (a, (b)) => 1", "parentheses around a parameter"},
		{"parentheses around a target", "let [(a)] = b", "parentheses in a pattern"},
		{"parentheses around a pattern", "[({ a })] = b", "parentheses in a pattern"},
		{"parentheses around a default", "[(a = 1)] = b", "parentheses in a pattern"},
		{"a property that is declared", "let [a.b] = c", "a target that is none"},
		{"a comma after the rest", "let { ...a, } = b", "a comma after the rest"},
		{"a rest that is a pattern", "({ ...{ a } } = b)", "a rest that is no name"},
		{"a comment in a pattern", "let [a /* ( */] = b", "a comment in a pattern"},
		{"an assignment that is spread", "return [...{} = a, ,]", "an assignment that is spread"},
		{"&& before ??", "return (a) && b ?? c", "beside && or ||"},
		{"&& behind ??", "return a ?? (b && c)", "beside && or ||"},
		{"|| behind ??", "return (a ?? b) || c", "beside && or ||"},
		{"?? after what is never missing", "return a + b ?? c", "a condition that is a constant"},
		{"a comparison of a comparison", "return a < b < c", "a comparison"},
		{"a power of what is waited for", "return await a ** b", "a power"},
		{"a new chain", "return new a?.b()", "new without parentheses"},
		{"new without parentheses", "return new Date", "new without parentheses"},
		{"a chain in brackets that goes on", "return (a?.b)?.c", "a chain"},
		{"a constant condition", "if (true) a()", "a condition that is a constant"},
		{"a constant choice", "return 1 ? a : b", "a condition that is a constant"},
		{"a constant before &&", "return null && a", "a condition that is a constant"},
		{"a constant's chain", "return null?.a", "a chain"},
		{"a constant statement", "-1", "a statement that is a constant"},
		{"not of a function", "return !(() => {})", "an operator of a constant"},
		{"constants that are no numbers", "return [] + {}", "an operator of constants"},
		{"an addition that is put together", "return a + ('b' + c)", "put together"},
		{"a constant's constructor", "return ''.constructor + ''", ""},
		{"a line after an increment", "i++\n[a] = b", "an increment"},
		{"a member of a number", "return 1[a]", "a rare expression"},
		{"a call of a template", "return `${a}`()", "a rare expression"},
		{"the wrapper's end", "})(); (async()=>{", "it closes the wrapper"},
		{"a comment that is not closed", "a() /*", "parser refuses"},
		{"arrows in the parameters of arrows", strings.Repeat("(a=", 9) + "1" + strings.Repeat(")=>1", 9), "rare parameters"},
		{"arrows in the parameters of arrows of a long text", strings.Repeat("(a=", 6) + "1" + strings.Repeat(")=>1", 6) + strings.Repeat("\n", shortText), "rare parameters"},
		{"a long first line", strings.Repeat(" ", maxFirstLine+1) + "a()", "a first line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read, why := directly(tt.text)
			if read != nil {
				t.Fatal("it is read directly")
			}
			if !strings.Contains(why, tt.why) || why == "" {
				t.Errorf("left to esbuild for %q, want %q", why, tt.why)
			}
			_, failure := translate("", tt.text, nil, false)
			_, lowered := translate("", tt.text, nil, true)
			if diff := cmp.Diff(lowered, failure); diff != "" {
				t.Errorf("it fails otherwise (-esbuild +direct):\n%s", diff)
			}
		})
	}
}

// TestReadDirectly holds what plain programs are made of to the short way.
func TestReadDirectly(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"nothing", ""},
		{"calls in a loop", "for (let i = 0; i < 10; i++) await tools.ping({ i })"},
		{"calls at once", "const all = await Promise.all([1, 2].map(n => tools.ping({ n })))\nreturn all.length"},
		{"loops", "let n = 0\nwhile (true) { if (n++ > 3) break }\ndo n-- \nwhile (n > 0)\nouter: for (const a of [1]) for (const b in { a }) continue outer"},
		{"functions", "function f(a, { b, c: [d] = [], ...e }, ...g) { return a }\nconst h = async x => f(await x)\nreturn (function* () { yield 1 })()"},
		{"patterns", "let { a, b: { c = 1 } = {}, ...d } = x, [e, , ...f] = y;\n[a, c] = [c, a];\n({ a, b: x.y } = z)"},
		{"a catch", "try { f() } catch (e) { throw new Error('x', { cause: e }) } finally { g() }"},
		{"a switch", "switch (a) { case 1: b(); break; default: c() }"},
		{"chains", "return a?.b?.[c]?.(d) ?? e"},
		{"comparisons", "if (a < b && c > d || e <= f) return a < b ? 1 : 2\nreturn [a > 1, b < 2 ? c : d, x.filter(y => y < 3).map(z => z > 4)]"},
		{"texts", "return `a ${b} ${`c${d}`}` + e + 'e\\n' + \"f\", /[/]\\//gi.source"},
		{"objects", "return { a, 'b-c': 1, [d]: 2, e() {}, get f() { return 1 }, async g() {}, *h() {}, ...i, 1: 2 }"},
		{"numbers", "return [1, 1.5, .5, 1e3, 0xff, 10n, -1, 0]"},
		{"wide characters", "const s = 'é😀' // ü\nreturn s.length + `–`"},
		{"CRLF", "const a = 1\r\nreturn a\r\n"},
		{"undefined", "return a === undefined ? void 0 : undefined"},
		{"operators", "delete a.b; a.c++; --a.d; a.e ??= 1; return typeof a in b, !a, -a, a ** 2, a instanceof B, new B()"},
		{"an end of ours", "async function main() { return 1 }"},
		{"a last expression", "const a = 1\n;({ a })"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if read, why := directly(tt.text); read == nil {
				t.Errorf("left to esbuild: %s", why)
			} else if !read.places.written {
				t.Error("places of esbuild's")
			}
			if both, _ := readBoth(t, tt.text); both != nil && len(both.found) > 0 {
				t.Errorf("read otherwise:\n%s", strings.Join(both.found, "\n"))
			}
		})
	}
}
