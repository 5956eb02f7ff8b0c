package gojavm

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dop251/goja/parser"

	"github.com/runcode-go/runcode/runtime"
)

// nests are texts that the engine's parser reads again at each depth, by what they
// begin with, and what it ends with.
var nests = []struct{ name, begin, open, inner, close, end string }{
	{"default", "x = ", "(a = ", "1", ") => 1", ""},
	{"second parameter", "x = ", "(b, a = ", "1", ") => 1", ""},
	{"body", "x = ", "(a = () => { return ", "1", "}) => 1", ""},
	{"function", "x = ", "(a = function () { return ", "1", "}) => 1", ""},
	{"class", "x = ", "(a = class { x = ", "1", "}) => 1", ""},
	{"object pattern", "x = ", "({ a = ", "1", "}) => 1", ""},
	{"array pattern", "x = ", "([a = ", "1", "]) => 1", ""},
	{"computed name", "x = ", "({ [", "1", "]: a }) => 1", ""},
	{"template", "x = ", "(a = `${", "1", "}`) => 1", ""},
	{"async", "x = ", "async (a = ", "1", ") => 1", ""},
	{"parentheses", "x = ", "(a = (", "1", ")) => 1", ""},
	{"argument", "x = ", "(a = f(", "1", ")) => 1", ""},
	{"call around", "x = ", "f((a = ", "1", ") => 1)", ""},
	{"condition", "x = ", "a ? (b = ", "1", ") => 1 : 1", ""},
	{"loop", "", "for (const a of (b = ", "[]", ") => 1) {}", ""},
	{"line between", "x = ", "(a = ", "1", ") /* => */ => 1", ""},
	{"yield", "function* g() {", "yield (", "1", ")", "}"},
	{"yield that cannot be", "function* g() {", "yield (", "1", ") = 1", "}"},
}

// typed are nests whose parentheses are seen only when the types are gone.
var typed = []struct{ name, begin, open, inner, close, end string }{
	{"type of the result", "x = ", "(a = ", "1", "): B => 1", ""},
	{"function as the type of the result", "x = ", "(a = ", "1", "): ((b: B) => C) => 1", ""},
}

func nest(n int, begin, open, inner, close, end string) string {
	return begin + strings.Repeat(open, n) + inner + strings.Repeat(close, n) + end
}

// parseWork counts what the engine's parser allocates for a text.
func parseWork(text string) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return testing.AllocsPerRun(1, func() {
		_, _ = parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	})
}

// mostWork is more than the parser allocates for a text that was let through.
func mostWork(text string) float64 { return float64(shortAgain + (1+readAgain)*len(text)) }

func TestTextsReadAgainAreBounded(t *testing.T) {
	lim := defaults(t)
	for _, tc := range nests {
		t.Run(tc.name, func(t *testing.T) {
			n := 1
			for ; n < 100 && precheck(nest(n+1, tc.begin, tc.open, tc.inner, tc.close, tc.end), lim) == nil; n++ {
			}
			if n < 10 || n > 16 {
				t.Fatalf("refused from %d on", n+1)
			}
			f := precheck(nest(n+1, tc.begin, tc.open, tc.inner, tc.close, tc.end), lim)
			if want := manyAgain + " on line 1"; f.Kind != runtime.InvalidInput || f.Message != want || f.Hint == "" {
				t.Errorf("%d deep: %+v, want %q", n+1, f, want)
			}
			text := wrapPrefix + nest(n, tc.begin, tc.open, tc.inner, tc.close, tc.end) + wrapSuffix
			if work := parseWork(text); work > mostWork(text) {
				t.Errorf("%d deep: %.0f allocations", n, work)
			}
			if f := precheck(nest(300, tc.begin, tc.open, tc.inner, tc.close, tc.end), lim); f == nil {
				t.Error("300 deep: passed")
			}
		})
	}
}

func TestTypedTextsReadAgainAreBounded(t *testing.T) {
	for _, tc := range typed {
		t.Run(tc.name, func(t *testing.T) {
			if _, f := transpile(defaultName, nest(6, tc.begin, tc.open, tc.inner, tc.close, tc.end)); f != nil {
				t.Errorf("6 deep: %+v", f)
			}
			_, f := transpile(defaultName, "\n\n"+nest(40, tc.begin, tc.open, tc.inner, tc.close, tc.end))
			if f == nil || f.Kind != runtime.InvalidInput || f.Message != manyAgain+" on line 3" || f.Site.Line != 3 || f.Hint == "" {
				t.Errorf("40 deep: %+v", f)
			}
		})
	}
}

// eval reaches the engine's parser without esbuild.
func TestEvaluatedTextsReadAgainAreBounded(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, code := range []string{
		"return eval('x = ' + '(a = '.repeat(40) + '1' + ') => 1'.repeat(40))",
		"return new Function('a = ' + '(a = '.repeat(40) + '1' + ') => 1'.repeat(40), '')",
		"return eval('function* g() {' + 'yield('.repeat(200) + '1' + ') = 1'.repeat(200) + '}')",
	} {
		f := execute(t, rt, runtime.Request{Program: code}).Failure
		if f == nil || !strings.Contains(f.Message, manyAgain) {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

// What programs really have is not refused.
func TestTextsReadAgainPass(t *testing.T) {
	lim := defaults(t)
	big := strings.Repeat("x = { a: [1, 2, 3] };\n", 10_000)
	for name, text := range map[string]string{
		"all of it a default twice": "x = (a = (b = () => {" + big + "}) => 1) => 1",
		"callbacks":                 strings.Repeat("f((a) => g((b) => h((c, { d = 1, e = () => 2 } = {}) => {", 50) + big + strings.Repeat("})));", 50),
		"a generator of loops":      "function* g() {" + strings.Repeat("for (const a of b) { yield a; if (a) { yield* c(a); ", 20) + big + strings.Repeat("} yield a }", 20) + "}",
		"many arrows":               strings.Repeat("x = (a = 1, { b = 2 } = {}) => (c) => ({ a, b, c });\n", 4_000),
		"generic types":             strings.Repeat("const m: Map<string, Array<Promise<number>>> = new Map<string, Array<Promise<number>>>();\n", 2_000),
		"comparisons":               strings.Repeat("for (let i = 0; i < n; i++) { if (a[i] < b && c < d || e > f) g(h < i, j) }\n", 3_000),
		"a callback behind one":     "f(a < b, () => {" + big + "})",
		"comparisons of sums":       "x = [" + strings.Repeat("a < b + c, ", 6_000) + "]",
		"rows of comparisons":       "x = [" + strings.Repeat("{ a: b < c, d: (e < f), g: [h < i] },\n", 6_000) + "]",
	} {
		if f := precheck(text, lim); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestTextsTakenForTypesAreBounded(t *testing.T) {
	lim := defaults(t)
	for _, tc := range []struct{ name, item string }{
		{"names", "a<b,"}, {"parentheses", "a<(b),"}, {"members", "a.b<c.d,"}, {"unions", "a<b|c,"}, {"functions", "a<(b)=>c,"}, {"generic functions", "a<b,<T>(c)=>d,"},
		{"objects", "a<{b},"}, {"texts", "a<'b',"}, {"numbers", "a<-1,"}, {"operators", "a<typeof b,"}, {"accesses", "a<b[0],"}, {"nothing between", "a<"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, around := range [][2]string{{"f(", "1)"}, {"x = [", "1]"}, {"x = { a: [", "1] }"}, {"f(g, {}, ", "1)"}} {
				if f := precheck(around[0]+strings.Repeat(tc.item, 400)+around[1], lim); f != nil {
					t.Errorf("400 times: %+v", f)
				}
				f := precheck(around[0]+strings.Repeat(tc.item, 3_000)+around[1], lim)
				if f == nil || f.Kind != runtime.InvalidInput || f.Hint == "" {
					t.Errorf("3000 times: %+v", f)
				}
			}
		})
	}
}

// Whatever nests in whatever: what is let through costs the parser little.
func FuzzTextsReadAgain(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "1")
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0, 1, 2, 3, 4}, "1 =")
	f.Add([]byte{17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17}, "x + y")
	lim := defaults(f)
	f.Fuzz(func(t *testing.T, picked []byte, inner string) {
		text := inner
		for _, at := range picked[:min(len(picked), 60)] {
			n := nests[int(at)%len(nests)]
			text = n.open + text + n.close
		}
		if precheck(text, lim) != nil {
			return
		}
		text = "function* g() { x = " + text + "}"
		if work := parseWork(text); work > mostWork(text) {
			t.Errorf("%.0f allocations for %q", work, text)
		}
	})
}
