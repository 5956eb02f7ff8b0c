// Package nearest finds the known names a wrong name was probably meant to be,
// for the hints of error texts: "did you mean ...?".
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

const (
	// longest is the length, in characters, beyond which a name is compared
	// for equality of its letters only.
	longest = 96
	// effort bounds the cells of edit distance one search fills, so that a
	// hint over a very large list costs milliseconds at most.
	effort = 2_000_000
)

// Ranks of a match, best first. An edit distance is added to rankEdit.
const (
	rankLetters = iota // the same letters and digits, whatever case and separators
	rankWords          // the same words in another order
	rankAffix          // one is the beginning or the end of the other
	rankEdit
)

// match is one candidate.
type match struct {
	name string
	rank int
	far  int // breaks ties: how many characters differ in length
}

// Names returns the known names that look like want, best first, at most max of
// them: the same name in another case or with other separators, the same words
// in another order, a beginning or an end, then a small edit distance. It
// returns nil when nothing is near, and never want itself. Equally good names
// keep the order of known. The cost is bounded whatever the input.
func Names(want string, known []string, max int) []string {
	if want == "" || max <= 0 {
		return nil
	}
	w := split(want)
	left := effort
	var found []match
	for _, name := range known {
		if name == want || name == "" {
			continue
		}
		if rank, far, ok := compare(w, split(name), &left); ok {
			found = append(found, match{name, rank, far})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.far, b.far))
	})
	var names []string
	for _, m := range found {
		if len(names) == max {
			break
		}
		if !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	return names
}

// parts is a name prepared for comparison, in lower case.
type parts struct {
	words   []string // cut at separators and at camelCase humps
	letters []rune   // all words together
}

func split(name string) parts {
	var p parts
	var word []rune
	flush := func() {
		if len(word) > 0 {
			p.words = append(p.words, string(word))
			word = word[:0]
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			flush()
		}
		lower = !unicode.IsUpper(r)
		r = unicode.ToLower(r)
		word = append(word, r)
		p.letters = append(p.letters, r)
	}
	flush()
	return p
}

// compare ranks b as a meaning of a; left is what edit distances may still cost.
func compare(a, b parts, left *int) (rank, far int, ok bool) {
	la, lb := len(a.letters), len(b.letters)
	far = max(la, lb) - min(la, lb)
	switch {
	case la == 0 || lb == 0:
		return 0, 0, false
	case slices.Equal(a.letters, b.letters):
		return rankLetters, far, true
	case la > longest || lb > longest:
		return 0, 0, false
	case sameWords(a.words, b.words):
		return rankWords, far, true
	case affix(a, b) || affix(b, a):
		return rankAffix, far, true
	}
	limit := tolerance(min(la, lb))
	if far > limit || *left <= 0 {
		return 0, 0, false
	}
	*left -= la * lb
	if d := distance(a.letters, b.letters); d <= limit {
		return rankEdit + d, far, true
	}
	return 0, 0, false
}

// tolerance is the edit distance at which names of that length are still near.
func tolerance(length int) int {
	switch {
	case length < 3:
		return 0
	case length < 6:
		return 1
	case length < 10:
		return 2
	default:
		return 3
	}
}

func sameWords(a, b []string) bool {
	if len(a) < 2 || len(a) != len(b) {
		return false
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// affix reports whether short begins or ends long at a border between words, or
// begins it at all when it is at least half of it.
func affix(short, long parts) bool {
	if len(short.letters) < 3 || len(short.letters) >= len(long.letters) {
		return false
	}
	n := len(short.words)
	if n < len(long.words) {
		if slices.Equal(short.words, long.words[:n]) || slices.Equal(short.words, long.words[len(long.words)-n:]) {
			return true
		}
	}
	return 2*len(short.letters) >= len(long.letters) && strings.HasPrefix(string(long.letters), string(short.letters))
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
