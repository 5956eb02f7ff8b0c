package gitignore

import (
	"strings"
	"testing"
)

func TestIgnores(t *testing.T) {
	chain := (*Chain)(nil).
		With("", Parse("*.log\nbuild/\n/top\n")).
		With("src", Parse("!keep.log\n/gen\n"))
	for _, tt := range []struct {
		path string
		dir  bool
		want bool
	}{
		{"a.log", false, true},
		{"src/a.log", false, true},
		{"src/keep.log", false, false},
		{"src/deep/keep.log", false, false},
		{"keep.log", false, true},
		{"build", true, true},
		{"build", false, false},
		{"src/build", true, true},
		{"top", false, true},
		{"src/top", false, false},
		{"src/gen", false, true},
		{"gen", false, false},
		{"src/deep/gen", false, false},
		{"srcx/gen", false, false},
	} {
		if got := chain.Ignores(tt.path, tt.dir); got != tt.want {
			t.Errorf("Ignores(%q, %v) = %v, want %v", tt.path, tt.dir, got, tt.want)
		}
	}
}

func TestNothingIgnoresNothing(t *testing.T) {
	var chain *Chain
	if chain.Ignores("a", false) {
		t.Error("the nil chain ignores a file")
	}
	if got := chain.With("", nil).With("", Parse("# only a comment\n")); got != nil {
		t.Errorf("files without rules made the chain %v", got)
	}
}

// TestBounds shows what a hostile file costs: the rules past the bound are not
// rules, and a pattern made of stars is matched in linear time.
func TestBounds(t *testing.T) {
	file := Parse(strings.Repeat("x\n", maxRules) + "late\n" + "y\n")
	if got := len(file.rules); got != maxRules {
		t.Errorf("%d rules, want the bound %d", got, maxRules)
	}
	if got := len(Parse(strings.Repeat("x", maxPattern+1)).rules); got != 0 {
		t.Error("a pattern longer than the bound became a rule")
	}
	stars := Parse(strings.Repeat("*a", 1000) + "b")
	if stars.decide(strings.Repeat("a", 4000), false) != silent {
		t.Error("a pattern that ends in b matched a text without b")
	}
	long := Parse("**/" + strings.Repeat("?", 100))
	if long.decide("d/"+strings.Repeat("a", 100), false) != ignored {
		t.Error("a pattern of more steps than the small table holds did not match")
	}
}

func FuzzIgnores(f *testing.F) {
	for _, rule := range rules {
		f.Add(rule.text, "src/foo.log")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 1<<12 || len(path) > 1<<12 {
			return
		}
		file := Parse(text)
		for _, dir := range []bool{false, true} {
			got := (*Chain)(nil).With("", file).Ignores(path, dir)
			if again := (*Chain)(nil).With("top", file).Ignores("top/"+path, dir); got != again {
				t.Errorf("%q on %q (dir %v): %v at the top, %v in a directory", text, path, dir, got, again)
			}
			// One more rule that matches everything decides alone.
			if path != "" && !strings.HasSuffix(path, "/") && len(file.rules) < maxRules &&
				Parse(text+"\n*\n").decide(path, dir) != ignored {
				t.Errorf("%q followed by * does not ignore %q", text, path)
			}
		}
	})
}

func BenchmarkIgnores(b *testing.B) {
	chain := (*Chain)(nil).With("", Parse(strings.Repeat("node_modules/\n*.log\n/dist\ndocs/**/*.html\n*.py[cod]\n", 20)))
	b.ReportAllocs()
	for b.Loop() {
		chain.Ignores("src/components/button/index.tsx", false)
	}
}
