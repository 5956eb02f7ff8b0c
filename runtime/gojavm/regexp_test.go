package gojavm

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestRewriteProperties(t *testing.T) {
	for _, tt := range []struct{ name, pattern, want, problem string }{
		{"none", `a\d`, `a\d`, ""},
		{"category", `\p{L}+`, `(?=)\p{L}+`, ""},
		{"long category", `\p{Letter}`, `(?=)\p{L}`, ""},
		{"general category", `\p{General_Category=Lu}\p{gc=Uppercase_Letter}`, `(?=)\p{Lu}\p{Lu}`, ""},
		{"negated", `\P{Lu}`, `(?=)\P{Lu}`, ""},
		{"script", `\p{Script=Greek}\p{sc=Grek}\p{scx=Greek}`, `(?=)\p{Greek}\p{Greek}\p{Greek}`, ""},
		{"rewritten twice", `(?=)\p{Greek}`, `(?=)\p{Greek}`, ""},
		{"in a class", `[\p{L}\d_]`, `(?=)[\p{L}\d_]`, ""},
		{"union", `\p{Alphabetic}`, `(?=)[\p{L}\p{Nl}\p{Other_Alphabetic}]`, ""},
		{"union in a class", `[\p{Alphabetic}-]`, `(?=)[\p{L}\p{Nl}\p{Other_Alphabetic}-]`, ""},
		{"negated union", `\P{ASCII}`, `(?=)[^\x00-\x7F]`, ""},
		{"negated union in a class", `[\P{ASCII}]`, "", "cannot stand in a class"},
		{"escaped backslash", `\\p{L}`, `\\p{L}`, ""},
		{"escaped bracket", `\[\p{ASCII}`, `(?=)\[[\x00-\x7F]`, ""},
		{"unknown", `\p{Nope}`, "", "Invalid property name Nope"},
		{"unknown script", `\p{Script=Nope}`, "", "Invalid property name"},
		{"unknown kind", `\p{Block=Greek}`, "", "Invalid property name"},
		{"no braces", `\pL`, "", "Invalid property name"},
		{"no end", `\p{L`, "", "Invalid property name"},
		{"empty", `\p{}`, "", "Invalid property name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problem := rewriteProperties(tt.pattern)
			if got != tt.want || (tt.problem == "") != (problem == "") || !strings.Contains(problem, tt.problem) {
				t.Errorf("got %q, problem %q; want %q, problem %q", got, problem, tt.want, tt.problem)
			}
		})
	}
}

// The values are Node's.
func TestUnicodePatterns(t *testing.T) {
	rt, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	for _, tt := range []struct{ program, value string }{
		{`return 'naïve café'.match(/\p{L}+/gu)`, `["naïve","café"]`},
		{`return 'a1 β2'.replace(/\P{L}/gu, '')`, `"aβ"`},
		{`return ['α', 'a'].map(c => /\p{Script=Greek}/u.test(c))`, `[true,false]`},
		{`return ['A', 'a', 'É'].map(c => /^[\p{Lu}]$/u.test(c))`, `[true,false,true]`},
		{`return [.../[\p{L}\d]+/gu[Symbol.matchAll]('ab1 ü2')].map(m => m[0])`, `["ab1","ü2"]`},
		{`return /\p{Emoji_Presentation}/u.test('😀') && !/\p{Emoji_Presentation}/u.test('a')`, `true`},
		{`return new RegExp('^\\p{Lu}', 'u').test('Ärger')`, `true`},
		{`return RegExp('\\p{Nd}', 'u').test('٣')`, `true`},
		{`return 'eins, zwei; drei'.split(/[^\p{L}]+/u)`, `["eins","zwei","drei"]`},
		{`return new RegExp(/\p{L}/u, 'gu').flags`, `"gu"`},
		{`return new RegExp(new RegExp('\\p{Lu}', 'u')).test('É')`, `true`},
		{`return /\p{Alphabetic}/u.test('ǅ') && /^\p{ASCII}+$/u.test('abc') && !/^\p{ASCII}+$/u.test('abç')`, `true`},
		{`return /\p{L}/.test('p{L}')`, `true`},
		{`try { new RegExp('\\p{Nope}', 'u') } catch (e) { return [e instanceof SyntaxError, e.message] }`, `[true,"Invalid regular expression: /\\p{Nope}/u: Invalid property name Nope"]`},
		{`try { new RegExp('x'.repeat(300000)) } catch (e) { return e instanceof SyntaxError }`, `true`},
		{`try { 'x'.match('x'.repeat(300000)) } catch (e) { return e instanceof SyntaxError }`, `true`},
		{`try { 'x'.search('x'.repeat(300000)) } catch (e) { return e instanceof SyntaxError }`, `true`},
		{`return [/x/ instanceof RegExp, /x/.constructor === RegExp, RegExp.name, RegExp.length, new (class P extends RegExp { go() { return this.test('é') } })('\\p{L}', 'u').go()]`, `[true,true,"RegExp",2,true]`},
		{`return [new RegExp('a/b').source, new RegExp().source, String(new RegExp('a', 'gi')), new RegExp(undefined).source, RegExp(7).source]`, `["a\\/b","(?:)","/a/gi","(?:)","7"]`},
	} {
		t.Run(tt.program, func(t *testing.T) {
			res, err := rt.Run(t.Context(), runtime.Request{Program: tt.program})
			if err != nil {
				t.Fatal(err)
			}
			if res.Failure != nil || res.Value != tt.value {
				t.Errorf("got %s %+v, want %s", res.Value, res.Failure, tt.value)
			}
		})
	}
}

// The engine would find no groups in such a pattern, or fail itself.
func TestTwoGroupsOfOneName(t *testing.T) {
	rt := newRuntime(t, nil)
	const pattern, says = "/(?<x>a)|(?<x>b)/", ": Duplicate capture group name"
	res := execute(t, rt, runtime.Request{Program: `const out = []
for (const make of [
  () => new RegExp('(?<x>a)|(?<x>b)', 'g'),
  () => 'ab'.matchAll('(?<x>a)|(?<x>b)'),
  () => 'ab'.match('(?<x>a)|(?<x>b)'),
  () => 'ab'.search('(?<x>a)|(?<x>b)'),
]) try { make(); out.push(0) } catch (e) { out.push(e instanceof SyntaxError && e.message) }
return out.every(x => x === 'Invalid regular expression: ` + pattern + says + `') || out`})
	if res.Value != "true" {
		t.Errorf("made at run time: %s (%+v)", res.Value, res.Failure)
	}
	f := execute(t, rt, runtime.Request{Program: "const a = 1\nreturn [...'ab'.matchAll(" + pattern + "g)]"}).Failure
	if f == nil || f.Kind != runtime.Exception || f.Message != "SyntaxError: Invalid regular expression: "+pattern+"g"+says || f.Site != (runtime.Site{Line: 2, Column: 26}) {
		t.Errorf("a literal: %+v", f)
	}
	for _, fine := range []string{
		`return [...'ab'.matchAll(/(?<x>a)|(?<y>b)/g)].length`,
		`return /(?<x>a)(?<=a)(?<!b)\(?<x>|[(?<x>]/.test('a<x>') ? 2 : 0`,
		`return new RegExp('(?<x>a)[(?<x>b)]+').exec('ab(').length`,
	} {
		if res := execute(t, rt, runtime.Request{Program: fine}); res.Value != "2" {
			t.Errorf("%s: %s (%+v)", fine, res.Value, res.Failure)
		}
	}
}
