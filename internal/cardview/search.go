package cardview

import (
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

// searchView draws matches below the files they are in, or paths.
type searchView struct{ card tools.Card }

func (v searchView) title(more string) (subject, result string) {
	if v.card.Title == "" {
		return "", v.found()
	}
	return short(v.card.Title, more), "  " + v.found()
}

// found says how much was found, and how much of it is here.
func (v searchView) found() string {
	shown, noun, plural := len(v.card.Matches), "match", "matches"
	if shown == 0 && len(v.card.Paths) > 0 {
		shown, noun, plural = len(v.card.Paths), "path", "paths"
	}
	total := max(v.card.Total, shown)
	text := count(total, noun, plural)
	if total > shown {
		text = fmt.Sprintf("%d of %s", shown, text)
	}
	if files := len(v.files()); files > 0 {
		text += " in " + count(files, "file", "files")
	}
	if v.card.Truncated {
		text += ", truncated"
	}
	return text
}

// fileMatches are the matches in one file.
type fileMatches struct {
	path    string
	matches []tools.Match
}

// files groups the matches, in the order the files come first.
func (v searchView) files() []fileMatches {
	var files []fileMatches
	index := map[string]int{}
	for _, m := range v.card.Matches {
		i, seen := index[m.Path]
		if !seen {
			i = len(files)
			index[m.Path] = i
			files = append(files, fileMatches{path: m.Path})
		}
		files[i].matches = append(files[i].matches, m)
	}
	return files
}

func (v searchView) head(c *canvas) { c.heading(v) }

func (v searchView) draw(c *canvas) {
	for _, file := range v.files() {
		c.add(cyan, "", file.path)
		for _, m := range file.matches {
			c.add(plain, fmt.Sprintf("  %d: ", m.Line), m.Text)
		}
	}
	for _, path := range v.card.Paths {
		c.add(plain, "", path)
	}
}
