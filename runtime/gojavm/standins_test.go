package gojavm

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// The values are Node's.
func TestPatternsAsOnNode(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ expression, value string }{
		{`'abc'.match(/b*/g)`, `["","b","",""]`},
		{`'abc'.match(/b*?/g)`, `["","","",""]`},
		{`'abc'.match(/(?=)b*/g)`, `["","b","",""]`},
		{`'abc'.match(/b*/gy)`, `["","b","",""]`},
		{`'aab'.match(/a?/gy)`, `["a","a","",""]`},
		{`'abc'.replace(/b*/g, '-')`, `"-a--c-"`},
		{`'abc'.replaceAll(/b*/g, '<$&>')`, `"<>a<b><>c<>"`},
		{`'abc'.replace(/b*/gy, '-')`, `"-a--c-"`},
		{`'abc'.replace(/(b)*/g, (m, b, i) => i + m)`, `"0a1b2c3"`},
		{`'abc'.split(/b*/)`, `["a","c"]`},
		{`'abc'.split(/(b*)/)`, `["a","b","c"]`},
		{`'aéc'.split(/é*/)`, `["a","c"]`},
		{`'aéc'.split(/é*/, 2)`, `["a","c"]`},
		{`'aéc'.split(/(é)*/u)`, `["a","é","c"]`},
		{`'a, é,b'.split(/\s*,?\s*/)`, `["a","é","b"]`},
		{`'aAbB'.split(/(?=[A-Z])/)`, `["a","Ab","B"]`},
		{`[...'abc'.matchAll(/b*/g)].map(m => m.index + m[0])`, `["0","1b","2","3"]`},
		{`'a  '.replace(/\s*$/g, '|')`, `"a||"`},
		{`' a\n b'.replace(/^\s*/gm, '>')`, `">a\n>b"`},
		{`'a\n\nb'.match(/.*/g)`, `["a","","","b",""]`},
		{`'abé'.match(/b*/g)`, `["","b","",""]`},
		{`'a😀b'.match(/b*/g)`, `["","","","b",""]`},
		{`'a😀b'.match(/b*/gu)`, `["","","b",""]`},
		{`'a😀b'.replace(/b*/gu, '-')`, `"-a-😀--"`},
		{`'😀😀'.replace(/😀*/gu, '-')`, `"--"`},
		{`'\ud83da'.replace(/a*/gu, '-').length`, `4`},
		{`'ABab'.match(/b*/gi)`, `["","B","","b",""]`},
		{`''.match(/x*/g)`, `[""]`},
		{`''.split(/x*/)`, `[]`},
		{`'café au lait'.match(/\b\w+\b/g)`, `["caf","au","lait"]`},
		{`'café au lait'.match(/\b\w+\b/gu)`, `["caf","au","lait"]`},
		{`'naïve'.split(/\b/)`, `["na","ï","ve"]`},
		{`'naïve'.split(/\B/)`, `["n","aïv","e"]`},
		{`'naïve'.replace(/\b/g, '|')`, `"|na|ï|ve|"`},
		{`'naïve'.replace(/\B/g, '|')`, `"n|aïv|e"`},
		{`'naïve'.replace(/\bve/, 'X')`, `"naïX"`},
		{`'naïve ï'.replace(/\b\w/g, c => c.toUpperCase())`, `"NaïVe ï"`},
		{`'été'.search(/\bt/)`, `1`},
		{`'été'.search(/\bt(?=é)/)`, `1`},
		{`/\bt\b/.test('été')`, `true`},
		{`/(?<!x)\bt\b/.test('été')`, `true`},
		{`/[\b]/.test('é\b')`, `true`},
		{`/\\b/.test('é\\b')`, `true`},
		{`'é\\b'.match(/\\b/g)`, `["\\b"]`},
		{`'éb'.match(/[\b]|b/g)`, `["b"]`},
		{`'жab'.match(/\Bb|\ba/g)`, `["a","b"]`},
		{`[...'über öl ab'.matchAll(/\b(?<w>\w+)/g)].map(m => [m.index, m.groups.w])`, `[[1,"ber"],[6,"l"],[8,"ab"]]`},
		{`(r => [r.exec('é a é b').index, r.lastIndex, r.exec('é a é b').index, r.lastIndex, r.exec('é a é b'), r.lastIndex])(/\b[ab]\b/g)`, `[2,3,6,7,null,0]`},
		{`(r => { r.lastIndex = 1; return [r.test('éa'), r.lastIndex, r.test('éa'), r.lastIndex] })(/\ba/y)`, `[true,2,false,0]`},
		{`(r => { r.lastIndex = 1; return ['éa'.replace(r, '-'), r.lastIndex] })(/\ba/y)`, `["é-",2]`},
		{`(r => { r.lastIndex = 3; return ['abc'.match(r), r.lastIndex] })(/b*/g)`, `[["","b","",""],0]`},
		{`(r => { r.lastIndex = 3; return ['abc'.split(r), 'abé'.split(r), r.lastIndex] })(/b*/g)`, `[["a","c"],["a","é"],3]`},
		{`(r => { 'abé'.replace(r, ''); return [String(r), r.source, r.flags, Object.keys(r), r.constructor === RegExp] })(/\bb*/g)`, `["/\\bb*/g","\\bb*","g",[],true]`},
		{`'é'.match(/\w|\W/g)`, `["é"]`},
		{`'é1٣'.match(/\d/g)`, `["1"]`},
		{`'é1٣'.match(/\D/g)`, `["é","٣"]`},
		{`'éé'.replace(/(?=)é/u, 'x')`, `"xé"`},
		{`'éé'.replace(/\p{L}/u, 'x')`, `"xé"`},
		{`'éé'.replace(/\p{L}/gu, 'x')`, `"xx"`},
		{`'ééa'.replace(/\p{L}\b/u, 'x')`, `"éxa"`},
		{`'abc'.match(new RegExp('b*', 'g'))`, `["","b","",""]`},
		{`'naïve'.split(new RegExp('\\b'))`, `["na","ï","ve"]`},
		{`'naïve'.search('\\bve')`, `3`},
		{`[...'naïve'.matchAll('\\b')].map(m => m.index)`, `[0,2,3,5]`},
		{`eval("'abc'.match(/b*/g)")`, `["","b","",""]`},
		{`new Function("return 'naïve'.match(/\\b./g)")()`, `["n","ï","v"]`},
		{`(r => { r.exec = () => null; return 'abc'.match(r) })(/b*/g)`, `null`},
		{`(P => ['abc'.match(new P('b*', 'g')), 'éa'.match(new P('\\ba'))[0], new P('\\ba').test('éa')])(class P extends RegExp {})`, `[["","b","",""],"a",true]`},
		{`(P => ['abc'.match(new P('b*', 'g')), 'éa'.replace(new P('\\ba', 'g'), '-')])(class P extends RegExp { exec(s) { return super.exec(s) } })`, `[["","b","",""],"é-"]`},
		{`'abc'.replace(/b*/g, m => 'xyz'.replace(/y*/g, '.') + m)`, `".x..z.a.x..z.b.x..z.c.x..z."`},
		{`(r => { Object.freeze(r); try { return 'éa'.replace(r, '-') } catch (e) { return e.name } })(/\ba/)`, `"é-"`},
	} {
		t.Run(tt.expression, func(t *testing.T) {
			// undefined cannot stand in a list that is returned.
			res := execute(t, rt, runtime.Request{Program: "const value = " + tt.expression + "\nreturn JSON.parse(JSON.stringify(value))"})
			if res.Failure != nil || res.Value != tt.value {
				t.Errorf("%s (%+v), want %s", res.Value, res.Failure, tt.value)
			}
		})
	}
}

func TestBoundaries(t *testing.T) {
	for _, tt := range []struct{ name, pattern, want string }{
		{"none", `a\d[b]`, `a\d[b]`},
		{"boundary", `\ba`, wordBoundary + `a`},
		{"no boundary", `a\B`, `a` + noBoundary},
		{"in a class", `[\b]\b`, `[\b]` + wordBoundary},
		{"escaped backslash", `\\b\b`, `\\b` + wordBoundary},
		{"escaped bracket", `\[\b`, `\[` + wordBoundary},
		{"escaped bracket in a class", `[\]\b]`, `[\]\b]`},
		{"control character", `\cb\b`, `\cb` + wordBoundary},
		{"backslash at the end", `\b\`, wordBoundary + `\`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := boundaries(tt.pattern); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestMayTakeNothing(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		want    bool
	}{
		{`b*`, true}, {`b*?$`, true}, {`(?:a|)`, true}, {`(a?)(b?)`, true}, {`\s*$`, true}, {`a{0,2}`, true}, {`(?=a)b?`, true},
		{`b*?`, false}, {`b+`, false}, {`a*b`, false}, {`^`, false}, {`\b`, false}, {``, false}, {`(?=ab)`, false}, {`(?<!a*)`, false}, {`$|^`, false},
		{`(`, false},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			if got := mayTakeNothing(tt.pattern, "g"); got != tt.want {
				t.Errorf("%t, want %t", got, tt.want)
			}
		})
	}
}
