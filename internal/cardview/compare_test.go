package cardview

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// compared compares two texts without a budget.
func compared(before, after string) change {
	budget := 1 << 40
	return compare(tools.Diff{Path: "f", Old: before, New: after}, &budget)
}

// applied is the text before a change with its edits made.
func applied(ch change) string {
	var out []string
	at := 0
	for _, e := range ch.edits {
		out = append(out, ch.before[at:e.Start]...)
		out = append(out, ch.after[e.ReplStart:e.ReplEnd]...)
		at = e.End
	}
	return strings.Join(append(out, ch.before[at:]...), "")
}

func TestCompare(t *testing.T) {
	words := func(n int, every int, word string) string {
		var b strings.Builder
		for i := range n {
			if i%every == 0 {
				fmt.Fprintf(&b, "%s %d\n", word, i)
			} else {
				fmt.Fprintf(&b, "line %d\n", i)
			}
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, before, after string
		summary             string
	}{
		{"equal", "a\nb", "a\nb", "(no change)"},
		{"both empty", "", "", "(no change)"},
		{"from nothing", "", "a\nb\n", "(+2 -0)"},
		{"to nothing", "a\nb\n", "", "(+0 -2)"},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "(+1 -1)"},
		{"only the end of the last line", "a\nb", "a\nb\n", "(+1 -1)"},
		{"only line feeds", "\n\n\n", "\n", "(+0 -2)"},
		{"nothing in common", strings.Repeat("a\n", 3000), strings.Repeat("b\n", 2000), "(+2000 -3000)"},
		// More differences than the algorithm follows at once.
		{"many changes", words(10_000, 10, "old"), words(10_000, 10, "new"), "(+1000 -1000)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ch := compared(tc.before, tc.after)
			if got := ch.summary(); got != tc.summary {
				t.Errorf("the change is %s, want %s", got, tc.summary)
			}
			if got := applied(ch); got != tc.after {
				t.Errorf("the edits make %.200q, want %.200q", got, tc.after)
			}
		})
	}
}

// TestHunks shows that the hunks tell every change, in place: a reader who
// applies them to the old lines gets the new ones.
func TestHunks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(string(rune('a'+random.IntN(4))) + "\n")
		}
		return b.String() + []string{"", "end"}[random.IntN(2)]
	}
	for range 500 {
		before, after := text(), text()
		card := tools.Card{Type: tools.CardDiff, Diffs: []tools.Diff{{Path: "f", Old: before, New: after}}}
		lines := Draw(card, Style{MaxLines: -1, Untitled: true})
		if got := patched(t, before, lines); got != after {
			t.Fatalf("the diff of %q and %q makes %q:\n%s", before, after, got, strings.Join(lines, "\n"))
		}
	}
}

// patched applies a unified diff.
func patched(t *testing.T, before string, diff []string) string {
	t.Helper()
	old := lines(before)
	var out []string
	at := 0
	for i, line := range diff {
		end := "\n"
		if i+1 < len(diff) && strings.HasPrefix(diff[i+1], `\`) {
			end = ""
		}
		switch line[0] {
		case '@':
			from, count, to := 0, 1, 0
			if n, _ := fmt.Sscanf(line, "@@ -%d,%d +%d", &from, &count, &to); n < 2 {
				if n, err := fmt.Sscanf(line, "@@ -%d +%d", &from, &to); n < 2 {
					t.Fatalf("hunk %q: %v", line, err)
				}
				count = 1
			}
			if count > 0 {
				from--
			}
			out = append(out, old[at:from]...)
			at = from
		case ' ', '-':
			if old[at] != line[1:]+end {
				t.Fatalf("line %d is %q, the diff says %q", at+1, old[at], line+end)
			}
			if line[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		case '+':
			out = append(out, line[1:]+end)
		}
	}
	return strings.Join(slices.Concat(out, old[at:]), "")
}

// TestCompareIsBounded compares what would take for ever if every line were
// looked at against every other.
func TestCompareIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	text := func(n, alphabet int) string {
		var b strings.Builder
		for range n {
			b.WriteString(string(rune('a'+random.IntN(alphabet))) + "\n")
		}
		return b.String()
	}
	for _, tc := range []struct{ name, before, after string }{
		{"two letters", text(maxLinesOfFile, 2), text(maxLinesOfFile, 2)},
		{"twenty letters", text(maxLinesOfFile, 20), text(maxLinesOfFile, 20)},
		{"reversed", numbered("line", maxLinesOfFile), reversed(numbered("line", maxLinesOfFile))},
		{"two huge lines", strings.Repeat("x", 4<<20) + "\na", strings.Repeat("x", 4<<20) + "\nb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ch := compared(tc.before, tc.after)
			if ch.large || applied(ch) != tc.after {
				t.Error("the edits do not make the new text")
			}
		})
	}
}

func reversed(text string) string {
	list := lines(text)
	slices.Reverse(list)
	return strings.Join(list, "")
}

// TestTooLarge shows that what a card costs is bounded however many files and
// lines it has.
func TestTooLarge(t *testing.T) {
	many := make([]tools.Diff, 50_000)
	for i := range many {
		many[i] = tools.Diff{Path: "f", Old: "a", New: "b"}
	}
	// Each takes as many rounds as a file may.
	random := rand.New(rand.NewPCG(5, 6))
	shuffled := func() string {
		var b strings.Builder
		for range 20_000 {
			b.WriteString(string(rune('a'+random.IntN(3))) + "\n")
		}
		return b.String()
	}
	before, after := shuffled(), shuffled()
	changed := slices.Repeat([]tools.Diff{{Path: "f", Old: before, New: after}}, 100)
	for _, tc := range []struct {
		name  string
		diffs []tools.Diff
		want  string
	}{
		{"bytes", []tools.Diff{{Path: "f", Old: strings.Repeat("x", maxCompared), New: "y"}}, "f (changed)"},
		{"lines", []tools.Diff{{Path: "f", Old: "y", New: strings.Repeat("\n", maxLinesOfFile+1)}}, "f (changed)"},
		{"4 MiB", []tools.Diff{{Path: "f", Old: strings.Repeat("some text on a line of a usual length\n", 100_000), New: "y\n"}}, "f (+1 -100000)"},
		{"files", many, "f and 49999 more files (+1024 -1024, 48976 not compared)"},
		{"changes", changed, "f and 99 more files (+54315 -54315, 91 not compared)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Title(tools.Card{Type: tools.CardDiff, Diffs: tc.diffs}); got != tc.want {
				t.Errorf("the title is %q, want %q", got, tc.want)
			}
		})
	}
}
