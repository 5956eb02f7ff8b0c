package gitignore

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		dir, fold     bool
		want          bool
	}{
		{"/secrets", "secrets", false, false, true},
		{"/secrets", "secrets/a/key", false, false, true},
		{"/secrets", "src/secrets", false, false, false},
		{"/secrets", "secretsx", false, false, false},
		{"secrets/", "a/secrets/key", false, false, true},
		{"secrets/", "a/secrets", false, false, false},
		{"secrets/", "a/secrets", true, false, true},
		{"*.pem", "a/b.pem", false, false, true},
		{"*.pem", "a/b.pem/c", false, false, true},
		{"*.pem", "a/b.pems", false, false, false},
		{"secrets/**", "secrets/a/key", false, false, true},
		{"secrets/**", "secrets", true, false, false},
		{"**/secrets/**", "a/b/secrets/c/d", false, false, true},
		{"src/*/gen", "src/a/gen/x/y", false, false, true},
		{"src/*/gen", "src/a/b/gen", false, false, false},
		{"#notes", "#notes", false, false, true},
		{"**", "a", false, false, true},
		{"a/**/b", "a/b/c", false, false, true},
		{"ab", "AB", false, false, false},
		{"ab", "AB", false, true, true},
		{"/sEcrets/*.Pem", "SECRETS/x.PEM", false, true, true},
		{"[a-c]x", "BX", false, true, true},
		{"[!a-c]x", "BX", false, true, false},
		{"[[:lower:]]x", "BX", false, true, true},
		{"/stra\u00dfe\u00c9?", "STRA\u00dfE\u00e9x", false, true, true},
		{"\\É", "é", false, true, true},
		{"*É", "xé", false, true, true},
		{"caf?/x", "café/x", false, false, true},
		{"caf?/x", "caf/x", false, false, false},
		{"?", "日", false, false, true},
		{"?x", "é/x", false, false, false},
		{"caf[!a]", "café", false, false, true},
		{"caf[!a]?", "café日", false, true, true},
		{"caf[!a]", "cafa", false, false, false},
	} {
		p, err := ParsePattern(tt.pattern, tt.fold)
		if err != nil {
			t.Fatalf("ParsePattern(%q): %v", tt.pattern, err)
		}
		if got := p.Covers(foldIf(tt.fold, tt.path), tt.dir); got != tt.want {
			t.Errorf("%q covers %q (dir %v, fold %v) = %v, want %v", tt.pattern, tt.path, tt.dir, tt.fold, got, tt.want)
		}
	}
}

func TestParsePatternErrors(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{"", "the pattern is empty"},
		{"  ", "the pattern is empty"},
		{"!x", "selects nothing"},
		{"/", "matches nothing"},
		{"a[", "matches nothing"},
		{`a\`, "matches nothing"},
		{"caf[eé]", "holds other than ASCII characters"},
		{"caf[a-é]", "holds other than ASCII characters"},
		{"caf[!\\é]", "holds other than ASCII characters"},
		{strings.Repeat("x", maxPattern+1), "the most is 4096"},
	} {
		if _, err := ParsePattern(tt.pattern, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParsePattern(%.20q) = %v, want an error with %q", tt.pattern, err, tt.want)
		}
	}
}

// FuzzCovers holds Covers to what it says: a path is covered exactly if it or a
// directory above it is ignored, whatever the case when folded. A wildcard for
// one character may cover more.
func FuzzCovers(f *testing.F) {
	for _, rule := range rules {
		f.Add(rule.text, "src/foo.log", true)
	}
	f.Fuzz(func(t *testing.T, text, path string, dir bool) {
		if len(text) > 128 || len(path) > 128 || strings.ContainsAny(text, "\n\r") {
			return
		}
		p, err := ParsePattern(text, false)
		if err != nil || text[0] == '#' || strings.HasPrefix(text, "\uFEFF") {
			return
		}
		file := Parse(text)
		want := file.decide(path, dir) == ignored
		for i, c := range path {
			if c == '/' {
				want = want || file.decide(path[:i], true) == ignored
			}
		}
		more := strings.ContainsAny(text, "[?") && strings.ContainsFunc(path, func(r rune) bool { return r >= utf8.RuneSelf })
		if got := p.Covers(path, dir); got != want && !(got && more) {
			t.Errorf("%q covers %q (dir %v) = %v, want %v", text, path, dir, got, want)
		}
		folded, err := ParsePattern(text, true)
		if err != nil {
			t.Fatalf("%q parses, and not folded: %v", text, err)
		}
		if want && !strings.ContainsAny(text, "[?") && !folded.Covers(Fold(path), dir) {
			t.Errorf("%q covers %q, and not folded", text, path)
		}
		if Fold(Fold(path)) != Fold(path) {
			t.Errorf("folding %q again changes it", path)
		}
	})
}
