package cardview

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/tools"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func exit(code int) *int { return &code }

// numbered is n numbered lines.
func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i+1)
	}
	return b.String()
}

// hostile is what would take over a terminal.
const hostile = "\x1b]0;title\x07\x1b[2J\u009b2J\r\u202eab\U000e0041\u200b\xff\n\x1b[31m$ rm -rf /\x1b[0m\b\b"

// cards are one of each kind that is drawn differently.
var cards = []struct {
	name string
	card tools.Card
}{
	{"generic", tools.Card{
		Type: tools.CardGeneric, Title: "Updated todos",
		Locations: []tools.Location{{Path: "notes.md", Line: 3}, {Path: "src"}},
		Content:   []tools.Content{tools.TextContent("first\n\n\tindented\nthird, which is longer than a narrow window is wide\n"), tools.ImageContent("image/png", "AAAA")},
	}},
	{"generic-path-in-title", tools.Card{Title: "write src/b.js", Locations: []tools.Location{{Path: "src/b.js"}, {Path: "b.js"}, {Path: "src/b.js", Line: 7}}, Content: []tools.Content{tools.TextContent("1 byte")}}},
	{"empty", tools.Card{}},
	{"unknown-type", tools.Card{Type: "hologram", Title: "look", Content: []tools.Content{tools.TextContent("text")}}},
	{"terminal", tools.Card{
		Type: tools.CardTerminal, Title: "bash", Description: "Run the tests", Command: "go test ./...", Dir: "/proj/demo",
		Output: "ok  \tdemo\t0.01s\r\nok  \tdemo/inner\t0.02s\n", ExitCode: exit(0),
	}},
	{"terminal-call", tools.Card{Type: tools.CardTerminal, Title: "bash", Command: "cd src &&\n\tmake all\nmake install PREFIX=/opt/very/long/path/that/does/not/fit/into/a/narrow/window ; rm -rf build\n"}},
	{"terminal-failed", tools.Card{Type: tools.CardTerminal, Title: "Run the tests", Command: "go test ./...", Output: numbered("line", 40), ExitCode: exit(1)}},
	{"terminal-long", tools.Card{Type: tools.CardTerminal, Command: "seq 40", Output: numbered("line", 40), ExitCode: exit(0)}},
	{"terminal-signal", tools.Card{Type: tools.CardTerminal, Command: "sleep 1000", Signal: "SIGKILL"}},
	{"diff", diffCard("edit", tools.Diff{
		Path: "notes.md",
		Old:  numbered("line", 30) + "end",
		New:  strings.NewReplacer("line 3\n", "", "line 17\n", "line seventeen\nand a half\n").Replace(numbered("line", 30)) + "end\n",
	})},
	{"diff-new-file", diffCard("write notes.md", tools.Diff{Path: "notes.md", Created: true, New: "# Notes\n\n\ttabbed\n"})},
	{"diff-white-space", diffCard("edit", tools.Diff{
		Path: "main.go",
		Old:  "a\r\nb  \n\tc\nd\ne\n",
		New:  "a\nb\n    c\nd\n \ne\n",
	})},
	{"diff-crlf", diffCard("edit", tools.Diff{Path: "a.bat", Old: "one\r\ntwo\r\n", New: "one\r\nzwei\r\n"})},
	{"diff-long-lines", diffCard("edit", tools.Diff{
		Path: "data.json",
		Old:  "{" + strings.Repeat(`"key":"välue",`, 100) + `"last":1` + strings.Repeat(" ", 400) + "}",
		New:  "{" + strings.Repeat(`"key":"välue",`, 100) + `"last":2` + strings.Repeat(" ", 400) + "}",
	})},
	{"diff-files", diffCard("apply the patch",
		tools.Diff{Path: "a.txt", Old: "1\n2\n", New: "1\n"},
		tools.Diff{Path: "b.txt", Old: "same\n", New: "same\n"},
		tools.Diff{Path: "c.bin", Old: strings.Repeat("x\n", maxLinesOfFile+1), New: strings.Repeat("y", 3000)},
	)},
	{"diff-fragment", fragment("	return old", "	return new")},
	{"diff-fragment-of-lines", fragment(numbered("line", 30), strings.NewReplacer("line 3\n", "", "line 17\n", "line seventeen\n").Replace(numbered("line", 30)))},
	{"diff-fragment-and-a-line", fragment("end", "end\nand more")},
	{"diff-fragment-taken-out", fragment("one\ntwo\n", "")},
	{"diff-too-large", diffCard("write", tools.Diff{Path: "big.txt", Old: strings.Repeat("x", maxCompared), New: "y"})},
	{"search", tools.Card{Type: tools.CardSearch, Title: `grep "TODO"`, Total: 40, Truncated: true, Matches: []tools.Match{
		{Path: "notes.md", Line: 3, Text: "\tTODO: write"},
		{Path: "src/main.go", Line: 120, Text: "// TODO: a comment that is much longer than a narrow window"},
		{Path: "notes.md", Line: 9, Text: "TODO: read"},
	}}},
	{"search-paths", tools.Card{Type: tools.CardSearch, Title: "glob **/*.go", Paths: []string{"main.go", "a/very/long/path/below/many/directories/file.go"}}},
	{"search-none", tools.Card{Type: tools.CardSearch}},
	{"read", tools.Card{Type: tools.CardRead, Title: "read", Path: "notes.md", StartLine: 99, Text: "ninety-nine\nhundred\n\nthe last, 日本語日本語日本語日本語", TotalLines: 200}},
	{"read-one", tools.Card{Type: tools.CardRead, Title: "read notes.md", Path: "notes.md", Text: "only\r\n"}},
	{"read-nothing", tools.Card{Type: tools.CardRead, Path: "empty.txt"}},
	{"hostile-generic", tools.Card{
		Title: hostile, Locations: []tools.Location{{Path: hostile, Line: -1}, {Path: hostile, Line: 1}},
		Content: []tools.Content{tools.TextContent(hostile), {Type: hostile}},
	}},
	{"hostile-terminal", tools.Card{Type: tools.CardTerminal, Title: hostile, Description: hostile, Command: hostile, Dir: hostile, Output: hostile, Signal: hostile}},
	{"hostile-diff", diffCard(hostile, tools.Diff{Path: hostile, Old: hostile, New: strings.ToUpper(hostile)}, tools.Diff{Path: hostile, Created: true, New: hostile})},
	{"hostile-search", tools.Card{Type: tools.CardSearch, Title: hostile, Total: -1, Matches: []tools.Match{{Path: hostile, Line: -1, Text: hostile}}, Paths: []string{hostile}}},
	{"hostile-read", tools.Card{Type: tools.CardRead, Title: hostile, Path: hostile, Text: hostile, StartLine: -5, TotalLines: -1}},
}

func fragment(old, new string) tools.Card {
	return diffCard("edit", tools.Diff{Path: "main.go", Fragment: true, Old: old, New: new})
}

func diffCard(title string, diffs ...tools.Diff) tools.Card {
	return tools.Card{Type: tools.CardDiff, Title: title, Diffs: diffs}
}

func TestGolden(t *testing.T) {
	styles := []struct {
		name  string
		style Style
	}{
		{"narrow", Style{Width: 30}},
		{"wide", Style{Width: 120}},
		{"colour", Style{Width: 120, Colour: true}},
		{"ASCII, 8 lines", Style{Width: 60, ASCII: true, MaxLines: 8}},
		{"untitled, 5 lines", Style{Width: 60, Untitled: true, MaxLines: 5}},
	}
	for _, tc := range cards {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "== title\n%s\n", Title(tc.card))
			for _, s := range styles {
				lines := Draw(tc.card, s.style)
				checkHarmless(t, lines, s.style)
				fmt.Fprintf(&b, "== %s\n%s", s.name, join(lines))
			}
			// Our own colours are shown as text, so that the files are harmless too.
			golden(t, tc.name, strings.ReplaceAll(b.String(), "\x1b", "␛"))
		})
	}
}

func join(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

// ours is a line in one of this package's colours.
var ours = regexp.MustCompile(`^(?s)\x1b\[(?:1|2|31|32|36)m(.+)\x1b\[0m$`)

// checkHarmless fails on a control character, but for one of our colours around
// a line, on a line that is too wide, and on too many lines.
func checkHarmless(t *testing.T, lines []string, style Style) {
	t.Helper()
	width, most := style.Width, style.MaxLines
	if width <= 0 {
		width = defaultWidth
	}
	if most == 0 {
		most = defaultMaxLines
	}
	if most > 0 && len(lines) > most {
		t.Errorf("%d lines, want at most %d", len(lines), most)
	}
	for _, line := range lines {
		if m := ours.FindStringSubmatch(line); m != nil && style.Colour {
			line = m[1]
		}
		checkLine(t, line)
		if termtext.Cut(line, width) != line {
			t.Errorf("line %q is wider than %d columns", line, width)
		}
		if style.ASCII && strings.IndexFunc(line, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
			t.Errorf("line %q is not ASCII", line)
		}
	}
}

func checkLine(t *testing.T, line string) {
	t.Helper()
	if termtext.EscapeLine(line) != line {
		t.Errorf("line %q is not escaped", line)
	}
	if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
		t.Errorf("line %q holds a control character at byte %d", line, i)
	}
}

func TestTitle(t *testing.T) {
	for _, tc := range []struct {
		name string
		card tools.Card
		want string
	}{
		{"a diff of a tool that names no file", diffCard("edit", tools.Diff{Path: "notes.md", Old: "a\n", New: "b\n"}), "edit notes.md (+1 -1)"},
		{"a diff of a tool that does", diffCard("edit notes.md", tools.Diff{Path: "notes.md", Old: "a\n", New: "b\n"}), "edit notes.md (+1 -1)"},
		{"a diff of a file called like a part of the tool", diffCard("edit", tools.Diff{Path: "it", Old: "a\n", New: "b\n"}), "edit it (+1 -1)"},
		{"no diff", diffCard("edit"), "edit"},
		{"a command", tools.Card{Type: tools.CardTerminal, Command: "go test ./...", ExitCode: exit(1)}, "$ go test ./...  exit 1"},
		{"a command that runs", tools.Card{Type: tools.CardTerminal, Command: "go test ./..."}, "$ go test ./..."},
		{"a command that says nothing", tools.Card{Type: tools.CardTerminal, Title: "bash", Description: "Wait"}, "Wait"},
		{"a search", tools.Card{Type: tools.CardSearch, Title: `grep "TODO"`, Matches: []tools.Match{{Path: "a"}, {Path: "b"}, {Path: "a"}}}, `grep "TODO"  3 matches in 2 files`},
		{"a file", tools.Card{Type: tools.CardRead, Title: "read", Path: "notes.md", Text: numbered("line", 20), TotalLines: 200}, "read notes.md 1-20 of 200"},
		{"long texts", tools.Card{Title: strings.Repeat("é", maxShort)}, strings.Repeat("é", maxShort/2) + "…"},
		{"several lines", tools.Card{Title: "a\nb"}, `a\nb`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Title(tc.card); got != tc.want {
				t.Errorf("Title = %q, want %q", got, tc.want)
			}
		})
	}
}

// TestTitleWithin shows that the end of a title, which says how the call went,
// is what stays.
func TestTitleWithin(t *testing.T) {
	card := tools.Card{Type: tools.CardTerminal, Command: "go test ./internal/...", ExitCode: exit(1)}
	for _, tc := range []struct {
		columns int
		want    string
	}{
		{80, "$ go test ./internal/...  exit 1"},
		{20, "$ go test …  exit 1"},
		{9, "  exit 1"},
		{5, "$ go…"},
		{1, "…"},
		{0, ""},
		{-1, ""},
	} {
		if got := TitleWithin(card, tc.columns); got != tc.want {
			t.Errorf("TitleWithin(%d) = %q, want %q", tc.columns, got, tc.want)
		}
	}
}

// TestBounds draws cards far larger than what is shown of them.
func TestBounds(t *testing.T) {
	wide, long := strings.Repeat("é", 1<<20), strings.Repeat("\n", 1<<20)
	matches := make([]tools.Match, 100_000)
	for _, tc := range []struct {
		name string
		card tools.Card
		last string
	}{
		{"one wide line", tools.Card{Content: []tools.Content{tools.TextContent(wide)}}, strings.Repeat("é", 79) + "…"},
		{"many lines", tools.Card{Content: []tools.Content{tools.TextContent(long + "x")}}, "… 1048558 more lines"},
		{"many blocks", tools.Card{Content: make([]tools.Content, 100_000)}, "… 99981 more lines"},
		{"output of a failure", tools.Card{Type: tools.CardTerminal, Output: long + "x", ExitCode: exit(2)}, "x"},
		{"a long command", tools.Card{Type: tools.CardTerminal, Command: wide}, "… 13425 more lines"},
		{"matches", tools.Card{Type: tools.CardSearch, Matches: matches}, "… 99983 more lines"},
		{"a file", tools.Card{Type: tools.CardRead, Text: long, StartLine: 1<<63 - 1}, "… 1048558 more lines"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := Draw(tc.card, Style{})
			checkHarmless(t, lines, Style{})
			if len(lines) == 0 || lines[len(lines)-1] != tc.last {
				t.Errorf("the card ends with %.200q, want %q", lines[max(len(lines)-1, 0):], tc.last)
			}
		})
	}
}

// TestWholeCommand shows that no part of a command can be hidden behind the
// edge of the window.
func TestWholeCommand(t *testing.T) {
	command := "echo " + strings.Repeat("x ", 200) + "; rm -rf /"
	lines := Draw(tools.Card{Type: tools.CardTerminal, Command: command}, Style{Width: 40, MaxLines: -1})
	var got strings.Builder
	for _, line := range lines {
		got.WriteString(line[2:])
	}
	if got.String() != command {
		t.Errorf("the card shows %q, want %q", got.String(), command)
	}
}

func TestColourFor(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	env := func(string) string { return "" }
	if ColourFor(nil, env) || ColourFor(file, env) {
		t.Error("colour for what is no terminal")
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("generic", hostile, "a\nb", 80, 20, 1, true)
	f.Add("terminal", hostile, "ls\n\t-la", 3, -1, -1, false)
	f.Add("diff", "a\r\nb \n\tc", "a\nb\n    c", 30, 5, 0, true)
	f.Add("search", "a\u0301\u0301\u0301\u0301\u0301\u0301", "日本", 1, 1, 1<<63-1, false)
	f.Add("read", "\xff\xfe", "\n\n", 0, 0, -1<<63, true)
	f.Fuzz(func(t *testing.T, kind, a, b string, width, maxLines, n int, flag bool) {
		card := tools.Card{
			Type: tools.CardType(kind), Title: a, Content: []tools.Content{tools.TextContent(b), {Type: a}},
			Locations: []tools.Location{{Path: b, Line: n}}, Description: b[:len(b)/2], Command: a + b, Dir: b, Output: b + a, ExitCode: &n,
			Diffs:   []tools.Diff{{Path: a, Old: a, New: b, Created: flag}, {Path: b, Fragment: flag, Old: b + a, New: a + b}}[:1+len(a)%2],
			Matches: []tools.Match{{Path: a, Line: n, Text: b}, {Path: b, Text: a}}, Paths: []string{a, b},
			Total: n, Truncated: flag, Path: a, StartLine: n, Text: b, TotalLines: n,
		}
		if flag {
			card.ExitCode, card.Signal = nil, b
		}
		style := Style{Width: width % 200, Colour: flag, MaxLines: maxLines % 50, ASCII: n%2 == 0, Untitled: n%3 == 0}
		checkHarmless(t, Draw(card, style), style)
		title := Title(card)
		checkLine(t, title)
		if within := TitleWithin(card, width%200); termtext.Cut(within, width%200) != within {
			t.Errorf("the title %q is wider than %d columns", within, width%200)
		}
	})
}
