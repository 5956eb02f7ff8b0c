// Package cardview draws the cards of tool calls (tools.Card) as lines of text
// for a terminal. The texts of a card are whatever a program, a tool or a model
// wrote: all of them are escaped, and the only control characters in what is
// drawn are this package's own colours. It knows nothing of calls, policy or
// where the lines go.
package cardview

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/tools"
)

// Style says how cards are drawn. The zero value is useful: 20 lines of 80
// columns without colour.
type Style struct {
	Width  int  // columns of the widest line; zero or less: 80
	Colour bool // with SGR sequences, each line for itself
	// MaxLines bounds the lines of one card. What does not fit is counted in
	// the last line. Zero: 20; negative: no bound.
	MaxLines int
	// ASCII draws with ASCII alone: other characters are written \u{...}.
	ASCII bool
	// Untitled leaves out what Title says, for where that stands already.
	Untitled bool
}

const (
	defaultWidth    = 80
	defaultMaxLines = 20
)

// Draw returns the lines of a card, without line feeds. Long lines are cut with
// an ellipsis, but for commands, which are wrapped: what is run must be seen.
func Draw(card tools.Card, style Style) []string {
	c := newCanvas(style)
	body := describe(card)
	if !style.Untitled {
		body.head(c)
	}
	body.draw(c)
	return c.finish()
}

// Title is a card in one line, escaped and of bounded length, but not cut to a
// width: "edit notes.md (+1 -1)", "$ go test ./...  exit 1".
func Title(card tools.Card) string {
	subject, result := describe(card).title("…")
	return termtext.EscapeLine(subject + result)
}

// TitleWithin is Title cut to a number of columns. How the call went, at its
// end, is kept as long as there is room for it.
func TitleWithin(card tools.Card, columns int) string {
	if columns <= 0 {
		return ""
	}
	c := newCanvas(Style{Width: columns})
	return c.fit(describe(card).title(c.more()))
}

// ColourFor reports whether what is written to w should be coloured: w is a
// terminal that is not dumb, and NO_COLOR is not set. The function env looks up
// environment variables (os.Getenv). It may be given a nil w.
func ColourFor(w *os.File, env func(string) string) bool {
	return w != nil && env("NO_COLOR") == "" && env("TERM") != "dumb" && term.IsTerminal(int(w.Fd()))
}

// view is what each type of card is drawn by.
type view interface {
	// title is what the call is about and, to follow that, how it went. Both are
	// raw; more marks what is cut.
	title(more string) (subject, result string)
	head(*canvas) // what title says, at length
	draw(*canvas) // the rest
}

func describe(card tools.Card) view {
	switch card.Type {
	case tools.CardTerminal:
		return terminalView{card}
	case tools.CardDiff:
		return newDiffView(card)
	case tools.CardSearch:
		return searchView{card}
	case tools.CardRead:
		return readView{card}
	}
	return genericView{card}
}

// genericView draws a title and content blocks.
type genericView struct{ card tools.Card }

func (v genericView) title(more string) (subject, result string) {
	return short(v.card.Title, more), ""
}

func (v genericView) head(c *canvas) { c.heading(v) }

func (v genericView) draw(c *canvas) {
	for _, at := range v.card.Locations {
		switch {
		case at.Line > 0:
			c.add(dim, "", fmt.Sprintf("%s:%d", short(at.Path, c.more()), at.Line))
		case !names(v.card.Title, at.Path):
			c.add(dim, "", at.Path)
		}
	}
	for _, block := range v.card.Content {
		c.text(tools.ContentString([]tools.Content{block}))
	}
}

// maxShort bounds one text of a title, in bytes.
const maxShort = 500

// short is the beginning of a text that may be long.
func short(text, more string) string {
	if len(text) <= maxShort {
		return text
	}
	return strings.ToValidUTF8(text[:maxShort], "") + more
}

// naming is a title with the path it is about, which it may have already.
func naming(title, path, more string) string {
	switch {
	case names(title, path):
		return short(title, more)
	case title == "":
		return short(path, more)
	}
	return short(title, more) + " " + short(path, more)
}

// names reports whether a title has a path in it, as words of its own.
func names(title, path string) bool {
	return path == "" || strings.Contains(" "+title+" ", " "+path+" ")
}

// count is a number with its noun.
func count(n int, noun, plural string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, plural)
}
