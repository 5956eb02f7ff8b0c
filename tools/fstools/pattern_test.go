package fstools

import (
	"strings"
	"testing"
)

func TestGlobPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{"a.go", []string{"a.go"}, []string{"b/a.go", "axgo", "a.go.x", "xa.go"}},
		{"*", []string{"a", ".hidden", "ü"}, []string{"a/b"}},
		{"*.go", []string{"a.go", ".go"}, []string{"a/b.go", "a.gox"}},
		{"**", []string{"a", "a/b", "a/b/c", ".x/y"}, nil},
		{"**/*.go", []string{"a.go", "x/a.go", "x/y/a.go"}, []string{"a.gone", "x/a.go/b"}},
		{"src/**", []string{"src/a", "src/a/b"}, []string{"src", "xsrc/a", "srcx/a"}},
		{"src/**/test/*.ts", []string{"src/test/a.ts", "src/x/y/test/a.ts"}, []string{"src/test/x/a.ts", "src/xtest/a.ts"}},
		{"**/**/a", []string{"a", "x/a", "x/y/a"}, []string{"xa"}},
		{"a**b", []string{"ab", "axxb"}, []string{"a/b", "ax/xb"}},
		{"a**/b", []string{"a/b", "ax/b"}, []string{"b", "a/x/b"}},
		{"***", []string{"a", "a/b"}, nil},
		{"?.go", []string{"a.go", "ü.go"}, []string{".go", "ab.go", "/.go"}},
		{"[a-c].go", []string{"a.go", "c.go"}, []string{"d.go", "-.go"}},
		{"[!a-c].go", []string{"d.go", "ü.go"}, []string{"a.go", "/.go"}},
		{"[^a].go", []string{"b.go"}, []string{"a.go"}},
		{"[]x].go", []string{"].go", "x.go"}, []string{"a.go"}},
		{"[a-].go", []string{"a.go", "-.go"}, []string{"b.go"}},
		{`[\]a].go`, []string{"].go", "a.go"}, []string{`\.go`}},
		{"[.-0]x", []string{".x", "0x"}, []string{"/x", "1x"}},
		{"[ä-ö]x", []string{"äx", "öx"}, []string{"üx"}},
		{"[^]]x", []string{"ax"}, []string{"]x"}},
		{"*.{ts,tsx}", []string{"a.ts", "a.tsx"}, []string{"a.js", "a.ts,tsx"}},
		{"{src,test}/**/*.go", []string{"src/a.go", "test/x/a.go"}, []string{"lib/a.go"}},
		{"{a,b/**}/x", []string{"a/x", "b/y/x", "b/x/x"}, []string{"b/x"}},
		{"{**/a,b}", []string{"a", "x/a", "b"}, []string{"x/b"}},
		{"a{,.bak}", []string{"a", "a.bak"}, []string{"a."}},
		{"{a,{b,c}d}", []string{"a", "bd", "cd"}, []string{"ad", "b"}},
		{"{a}", []string{"a"}, []string{"{a}"}},
		{"{}x", []string{"x"}, []string{"{}x"}},
		{"a,b", []string{"a,b"}, []string{"a", "b"}},
		{"a}", []string{"a}"}, []string{"a"}},
		{`\*`, []string{"*"}, []string{"a"}},
		{`\{a,b\}`, []string{"{a,b}"}, []string{"a"}},
		{`app/\[id\]/page.tsx`, []string{"app/[id]/page.tsx"}, []string{"app/i/page.tsx"}},
		{"a.b+c(d)|e$", []string{"a.b+c(d)|e$"}, []string{"axb"}},
		{"a\nb", []string{"a\nb"}, nil},
		{"?", []string{"\n"}, nil},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			g, err := compileGlob(tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range tt.yes {
				if !g.matches(p) {
					t.Errorf("does not match %q (as %v)", p, g.re)
				}
				for i, c := range p {
					if c == '/' && !g.mayHold(p[:i]) {
						t.Errorf("matches %q but would not look into %q", p, p[:i])
					}
				}
			}
			for _, p := range tt.no {
				if g.matches(p) {
					t.Errorf("matches %q (as %v)", p, g.re)
				}
			}
		})
	}
}

// TestGlobPrunes names directories a walk need not enter.
func TestGlobPrunes(t *testing.T) {
	for _, tt := range []struct{ pattern, dir string }{
		{"*.go", "src"},
		{"src/*.go", "lib"},
		{"src/*.go", "src/x"},
		{"src/lib/**", "src/test"},
		{"src/lib/**", "lib"},
		{"*/*.go", "a/b"},
		{"{a,b}/x", "a/b"},
	} {
		g, err := compileGlob(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.mayHold(tt.dir) {
			t.Errorf("%q would look into %q", tt.pattern, tt.dir)
		}
	}
}

func TestFilterPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true},
		{"Makefile", "x/Makefile", true},
		{"x/*.go", "x/a.go", true},
		{"x/*.go", "y/x/a.go", false},
		{"**", "x/a", true},
	} {
		g, err := compileFilter(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.matches(tt.path); got != tt.want {
			t.Errorf("filter %q on %q: %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
}

func TestGlobPatternRefused(t *testing.T) {
	for _, tt := range []struct{ name, pattern, part string }{
		{"empty", "", "is empty"},
		{"brace not closed", "{a,b", `write \{`},
		{"bracket not closed", "[ab", `write \[`},
		{"bracket with nothing in it", "[]", `write \[`},
		{"only a slash in the set", "[/]", "[/]"},
		{"reversed range", "[z-a]", "z-a"},
		{"backslash at the end", `a\`, "backslash"},
		{"too long", strings.Repeat("a", maxGlobBytes+1), "1025 bytes; at most 1024"},
		{"NUL", "a\x00", "NUL"},
		{"not UTF-8", "a\xff", "UTF-8"},
		{"too many alternatives", "{" + strings.Repeat("a,", 64) + "a}", "more than 64 alternatives"},
		{"too many alternatives in many braces", strings.Repeat("{a,a}", 33), "more than 64 alternatives"},
		{"too deep", strings.Repeat("{", 9) + strings.Repeat("}", 9), "more than 8 deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compileGlob(tt.pattern)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.part) {
				t.Errorf("error %q lacks %q", err, tt.part)
			}
		})
	}
}

// TestBracesDoNotMultiply compiles what would be 2^25 patterns if the braces
// were expanded. The size of the result shows that they are not.
func TestBracesDoNotMultiply(t *testing.T) {
	g, err := compileGlob(strings.Repeat("{a,a}", 25) + "b")
	if err != nil {
		t.Fatal(err)
	}
	if size := len(g.re.String()); size > 400 {
		t.Errorf("25 braces became a regular expression of %d bytes, want at most 400", size)
	}
	if g.matches(strings.Repeat("a", 25)) || !g.matches(strings.Repeat("a", 25)+"b") {
		t.Error("the pattern does not match as it should")
	}
	if _, err := compileGlob("{" + strings.Repeat("a,", 63) + "a}"); err != nil {
		t.Errorf("64 alternatives are refused: %v", err)
	}
}

func FuzzGlob(f *testing.F) {
	for _, p := range []string{"**/*.{ts,tsx}", "[!a-c]?", `\{a`, "{a,{b,c}/**}/x", "[.-0]", "a**b/***/c", "[]-]", "{,}{,}", "é[à-ü]"} {
		f.Add(p, "src/a.ts")
	}
	f.Fuzz(func(t *testing.T, pattern, rel string) {
		g, err := compileGlob(pattern)
		if err != nil {
			if g != nil || !strings.Contains(err.Error(), " ") {
				t.Errorf("%q: pattern %v, error %q", pattern, g, err)
			}
			return
		}
		if size := len(g.re.String()); size > 32*len(pattern)+32 {
			t.Errorf("%q became %d bytes", pattern, size)
		}
		if !g.matches(rel) {
			return
		}
		for i, c := range rel {
			if c == '/' && !g.mayHold(rel[:i]) {
				t.Errorf("%q matches %q but would not look into %q", pattern, rel, rel[:i])
			}
		}
	})
}
