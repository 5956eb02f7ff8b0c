package fstools

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestGrep(t *testing.T) {
	set, _ := newSet(t, map[string]string{
		".gitignore":    "*.log\n",
		"a.go":          "package a\n\nfunc Alpha() {}\nfunc beta() {}\n",
		"b.log":         "func Ignored() {}\n",
		"bin":           "func Binary\x00\n",
		"late":          "func Late\n" + strings.Repeat("x\n", 1<<20) + "\x00",
		"crlf.txt":      "one\r\ntwo\r\nthree",
		"bom.txt":       "\uFEFFfirst\n",
		"latin1":        "caf\xe9 func\n",
		"src/x.ts":      "function alpha() {}\n",
		"src/x.test.ts": "test alpha\n",
		"src/d/y.tsx":   "alpha\nalpha alpha\n",
	}, nil)
	one := func(path string, line int, text string) grepMatch {
		return grepMatch{Path: path, Line: line, Text: text}
	}
	for _, tt := range []struct {
		name string
		in   grepIn
		want grepOut
	}{
		{"literal", grepIn{Pattern: "func Alpha"}, grepOut{Matches: []grepMatch{one("a.go", 3, "func Alpha() {}")}, Files: 1, Total: 1}},
		{"expression", grepIn{Pattern: `^func [a-z]+\(`}, grepOut{Matches: []grepMatch{one("a.go", 4, "func beta() {}")}, Files: 1, Total: 1}},
		{"ignore case, files in order, a line counts once", grepIn{Pattern: "ALPHA", IgnoreCase: true}, grepOut{Matches: []grepMatch{
			one("a.go", 3, "func Alpha() {}"), one("src/d/y.tsx", 1, "alpha"), one("src/d/y.tsx", 2, "alpha alpha"),
			one("src/x.test.ts", 1, "test alpha"), one("src/x.ts", 1, "function alpha() {}")}, Files: 4, Total: 5}},
		{"end of a line that ends in CRLF", grepIn{Pattern: "o$", Path: "crlf.txt"}, grepOut{Matches: []grepMatch{one("crlf.txt", 2, "two")}, Files: 1, Total: 1}},
		{"last line without its end", grepIn{Pattern: "^three$"}, grepOut{Matches: []grepMatch{one("crlf.txt", 3, "three")}, Files: 1, Total: 1}},
		{"beginning of a file with a byte order mark", grepIn{Pattern: "^first"}, grepOut{Matches: []grepMatch{one("bom.txt", 1, "first")}, Files: 1, Total: 1}},
		{"empty lines", grepIn{Pattern: "^$", Path: "a.go"}, grepOut{Matches: []grepMatch{one("a.go", 2, "")}, Files: 1, Total: 1}},
		{"bytes that are not UTF-8", grepIn{Pattern: "caf. func"}, grepOut{Matches: []grepMatch{one("latin1", 1, "caf\uFFFD func")}, Files: 1, Total: 1}},
		{"binary files are passed over", grepIn{Pattern: "func (Binary|Late)", Glob: "{bin,late}"}, grepOut{Matches: []grepMatch{}}},
		{"glob for names", grepIn{Pattern: "alpha", Glob: "*.ts"}, grepOut{Matches: []grepMatch{
			one("src/x.test.ts", 1, "test alpha"), one("src/x.ts", 1, "function alpha() {}")}, Files: 2, Total: 2}},
		{"glob for paths", grepIn{Pattern: "alpha", Glob: "src/*/*.{ts,tsx}"}, grepOut{Matches: []grepMatch{
			one("src/d/y.tsx", 1, "alpha"), one("src/d/y.tsx", 2, "alpha alpha")}, Files: 1, Total: 2}},
		{"glob inverted", grepIn{Pattern: "alpha", Glob: "!*.{tsx,test.ts}"}, grepOut{Matches: []grepMatch{
			one("src/x.ts", 1, "function alpha() {}")}, Files: 1, Total: 1}},
		{"glob below path", grepIn{Pattern: "alpha", Path: "src", Glob: "d/*"}, grepOut{Matches: []grepMatch{
			one("src/d/y.tsx", 1, "alpha"), one("src/d/y.tsx", 2, "alpha alpha")}, Files: 1, Total: 2}},
		{"limit", grepIn{Pattern: "alpha", Limit: 2}, grepOut{Matches: []grepMatch{
			one("src/d/y.tsx", 1, "alpha"), one("src/d/y.tsx", 2, "alpha alpha")}, Files: 3, Total: 4, Truncated: true}},
		{"context", grepIn{Pattern: "Alpha", Context: 2}, grepOut{Matches: []grepMatch{
			{Path: "a.go", Line: 3, Text: "func Alpha() {}", Before: []string{"package a", ""}, After: []string{"func beta() {}"}}}, Files: 1, Total: 1}},
		{"context of neighbours", grepIn{Pattern: "alpha", Path: "src/d", Context: 1}, grepOut{Matches: []grepMatch{
			{Path: "src/d/y.tsx", Line: 1, Text: "alpha", After: []string{"alpha alpha"}},
			{Path: "src/d/y.tsx", Line: 2, Text: "alpha alpha", Before: []string{"alpha"}}}, Files: 1, Total: 2}},
		{"context after the last of limit", grepIn{Pattern: "alpha", Path: "src/d", Context: 1, Limit: 1}, grepOut{Matches: []grepMatch{
			{Path: "src/d/y.tsx", Line: 1, Text: "alpha", After: []string{"alpha alpha"}}}, Files: 1, Total: 2, Truncated: true}},
		{"an excluded file that is named", grepIn{Pattern: "func", Path: "b.log"}, grepOut{Matches: []grepMatch{one("b.log", 1, "func Ignored() {}")}, Files: 1, Total: 1}},
		{"no file for the glob", grepIn{Pattern: "x", Glob: "*.rs"}, grepOut{Matches: []grepMatch{}, Note: `no file below "." matches the glob`}},
		{"nothing found, and something excluded", grepIn{Pattern: "Ignored"}, grepOut{Matches: []grepMatch{},
			Note: "1 file or directory is excluded by .gitignore; name an excluded directory in path to search it"}},
		{"line break in the pattern", grepIn{Pattern: `one\ntwo`, Path: "crlf.txt"}, grepOut{Matches: []grepMatch{},
			Note: "the pattern holds a line break, but each line is searched by itself"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := set.grep(t.Context(), noRun, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGrepFails(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "x", "bin": "\x00"}, nil)
	for _, tt := range []struct {
		name  string
		in    grepIn
		code  string
		parts []string
	}{
		{"no pattern", grepIn{}, tools.CodeInvalidArgs, []string{`"pattern" is empty`}},
		{"lookahead", grepIn{Pattern: "(?=a)"}, tools.CodeInvalidArgs, []string{`"pattern" is not a regular expression in RE2 syntax`, "no lookahead"}},
		{"lookbehind", grepIn{Pattern: "(?<!a)b"}, tools.CodeInvalidArgs, []string{"no lookbehind"}},
		{"back-reference", grepIn{Pattern: `(a)\1`}, tools.CodeInvalidArgs, []string{"no back-references"}},
		{"unknown escape", grepIn{Pattern: `\y`}, tools.CodeInvalidArgs, []string{`write \\ for a backslash`}},
		{"open parenthesis", grepIn{Pattern: "foo("}, tools.CodeInvalidArgs, []string{`write \( and \)`}},
		{"closing parenthesis", grepIn{Pattern: "foo)"}, tools.CodeInvalidArgs, []string{`write \( and \)`}},
		{"open bracket", grepIn{Pattern: "foo["}, tools.CodeInvalidArgs, []string{`write \[`}},
		{"star alone", grepIn{Pattern: "*"}, tools.CodeInvalidArgs, []string{`write \*`}},
		{"repetition too large", grepIn{Pattern: "a{1001}"}, tools.CodeInvalidArgs, []string{"smaller repetition counts"}},
		{"expression too large", grepIn{Pattern: "((a{100}){100}){100}"}, tools.CodeInvalidArgs, []string{"smaller repetition counts"}},
		{"pattern too long", grepIn{Pattern: strings.Repeat("a", 4097)}, tools.CodeInvalidArgs, []string{"4097 bytes; at most 4096"}},
		{"bad glob", grepIn{Pattern: "a", Glob: "[a"}, tools.CodeInvalidArgs, []string{`"glob" has a [ without ]`}},
		{"negative context", grepIn{Pattern: "a", Context: -1}, tools.CodeInvalidArgs, []string{`"context" is -1`}},
		{"much context", grepIn{Pattern: "a", Context: 51}, tools.CodeInvalidArgs, []string{`"context" is 51`, "at most 50"}},
		{"negative limit", grepIn{Pattern: "a", Limit: -1}, tools.CodeInvalidArgs, []string{`"limit" is -1`}},
		{"missing path", grepIn{Pattern: "a", Path: "b/c"}, codeNotFound, []string{`there is no directory "b"`}},
		{"binary file", grepIn{Pattern: "a", Path: "bin"}, codeNotText, []string{`grep "bin"`, "binary"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := set.grep(t.Context(), noRun, tt.in)
			wantFailure(t, err, tt.code, tt.parts...)
		})
	}
}

func TestGrepLongLines(t *testing.T) {
	set, _ := newSet(t, map[string]string{
		"min.js": strings.Repeat("a", 5000) + "NEEDLE" + strings.Repeat("é", 3000) + "\nNEEDLE\n",
		"huge":   strings.Repeat("b", 100) + "PIN" + strings.Repeat("b", 3<<20) + "PIN\nPIN\n",
		"wide":   strings.Repeat("é", steadyLine) + "PEG\n",
	}, nil)
	t.Run("the text surrounds the match", func(t *testing.T) {
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "NEEDLE", Path: "min.js"})
		want := grepOut{Matches: []grepMatch{
			{Path: "min.js", Line: 1, Text: "[4900 characters] " + strings.Repeat("a", 100) + "NEEDLE" + strings.Repeat("é", 197) + " [2803 more]"},
			{Path: "min.js", Line: 2, Text: "NEEDLE"},
		}, Files: 1, Total: 2}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, value (-want +got):\n%s", err, diff)
		}
	})
	t.Run("a line longer than a block", func(t *testing.T) {
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "PIN"})
		if err != nil {
			t.Fatal(err)
		}
		want := grepOut{Files: 1, Total: 2, Truncated: true, Note: "of 1 very long line only the first 1 MiB were searched"}
		lines := []int{got.Matches[0].Line, got.Matches[1].Line}
		got.Matches = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]int{1, 2}, lines); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
	})
	t.Run("a long line is matched in steps", func(t *testing.T) {
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "P[E]G$"})
		if err != nil || len(got.Matches) != 1 || !strings.HasSuffix(got.Matches[0].Text, "éPEG") {
			t.Errorf("value %+v, %v", got, err)
		}
	})
}

// TestGrepBlocks searches a file larger than a block, once by its literal and
// once without, and compares every line number.
func TestGrepBlocks(t *testing.T) {
	var text strings.Builder
	var want []int
	for i := 1; text.Len() < 5*blockBytes; i++ {
		if i%1009 == 0 {
			want = append(want, i)
			text.WriteString("here it is ")
		}
		text.WriteString(strings.Repeat("x", i%311) + "\n")
	}
	set, _ := newSet(t, map[string]string{"f": text.String()}, nil)
	for _, in := range []grepIn{
		{Pattern: "here it is", Limit: 10_000},
		{Pattern: "[h]ere it is", Limit: 10_000},
		{Pattern: "here it is", Limit: 10_000, Context: 1},
	} {
		got, err := set.grep(t.Context(), noRun, in)
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		for _, m := range got.Matches {
			lines = append(lines, m.Line)
			if in.Context == 1 && (len(m.Before) != 1 || len(m.After) != 1) {
				t.Errorf("line %d has %d lines before and %d after", m.Line, len(m.Before), len(m.After))
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("%+v: lines (-want +got):\n%s", in, diff)
		}
	}
}

func TestGrepBudgets(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("f%d", i)] = strings.Repeat("hit\n", 25) // 100 bytes
	}
	t.Run("matches by default", func(t *testing.T) {
		set, _ := newSet(t, files, nil)
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "hit"})
		if err != nil || len(got.Matches) != defaultMatches || got.Total != 250 || got.Files != 10 || !got.Truncated || got.Note != "" {
			t.Errorf("%d matches, value %+v, %v", len(got.Matches), got, err)
		}
	})
	t.Run("bytes read", func(t *testing.T) {
		set, _ := newSet(t, files, &Options{ScanBytes: 250})
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "hit"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Total != 62 || !got.Truncated || got.Note != "stopped after reading 250 bytes; give a path or a glob to search a part of the tree" {
			t.Errorf("total %d, truncated %v, note %q; want 62 lines and the budget named", got.Total, got.Truncated, got.Note)
		}
	})
	t.Run("entries", func(t *testing.T) {
		set, _ := newSet(t, files, &Options{Entries: 4})
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "hit"})
		if err != nil || got.Files != 4 || !got.Truncated || !strings.HasPrefix(got.Note, "stopped after 4 directory entries") {
			t.Errorf("value with %d files, truncated %v, note %q, %v", got.Files, got.Truncated, got.Note, err)
		}
	})
	t.Run("text in the answer", func(t *testing.T) {
		line := "hit" + strings.Repeat("x", 497) + "\n"
		set, _ := newSet(t, map[string]string{"f": strings.Repeat(line, 9000)}, nil)
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "hit", Limit: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Matches) != maxFound/501 || got.Total != 9000 || !got.Truncated || got.Note != "the matches returned hold 4 MiB of text, which is all one answer has room for" {
			t.Errorf("%d matches, total %d, truncated %v, note %q", len(got.Matches), got.Total, got.Truncated, got.Note)
		}
	})
}

func TestLiteralOf(t *testing.T) {
	for pattern, want := range map[string]string{
		"plain text":       "plain text",
		`^\s*func (\w+)\(`: "func ",
		`a(bcd)+e`:         "bcd",
		`(abc){2,3}`:       "abc",
		`(abc){0,3}x`:      "x",
		`a?bc*`:            "b",
		"abc|abd":          "ab",
		"abc|xyz":          "",
		"(?i)abc":          "",
		"(?i)123":          "123",
		"[a-z]+":           "",
		"x\uFFFDy":         "",
		"^$":               "",
	} {
		if got := literalOf(regexp.MustCompile(pattern)); got != want {
			t.Errorf("literalOf(%q) = %q, want %q", pattern, got, want)
		}
	}
}

func TestRenderGrep(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   grepOut
		want string
	}{
		{"matches", grepOut{Matches: []grepMatch{{Path: "a", Line: 1, Text: "x"}, {Path: "b", Line: 20, Text: "y: z"}}, Files: 2, Total: 2}, "a:1:x\nb:20:y: z"},
		{"a name like lines", grepOut{Matches: []grepMatch{{Path: "a\nb:1:x", Line: 1, Text: "x"}}, Files: 1, Total: 1}, `"a\nb:1:x":1:x`},
		{"none", grepOut{}, "(no match)"},
		{"more", grepOut{Matches: []grepMatch{{Path: "a", Line: 1, Text: "x"}}, Files: 3, Total: 7, Truncated: true}, "a:1:x\n(1 of 7 matches in 3 files)"},
		{"cut by a budget", grepOut{Matches: []grepMatch{{Path: "a", Line: 1, Text: "x"}}, Files: 1, Total: 1, Truncated: true, Note: "stopped"}, "a:1:x\n(the search is not complete; stopped)"},
		{"context", grepOut{Matches: []grepMatch{
			{Path: "a", Line: 3, Text: "m3", Before: []string{"c2"}, After: []string{"m4"}},
			{Path: "a", Line: 4, Text: "m4", Before: []string{"m3"}, After: []string{"c5"}},
			{Path: "a", Line: 7, Text: "m7", Before: []string{"c6"}, After: []string{"c8"}},
			{Path: "a", Line: 20, Text: "m20", Before: []string{"c19"}},
			{Path: "b", Line: 1, Text: "m1"},
		}, Files: 2, Total: 5}, "a-2-c2\na:3:m3\na:4:m4\na-5-c5\na-6-c6\na:7:m7\na-8-c8\n--\na-19-c19\na:20:m20\nb:1:m1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, renderGrep(tt.in)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}
