package cardview

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/termtext"
)

// colour is an SGR sequence, "" for none.
type colour string

const (
	plain colour = ""
	bold  colour = "\x1b[1m"
	dim   colour = "\x1b[2m"
	red   colour = "\x1b[31m"
	green colour = "\x1b[32m"
	cyan  colour = "\x1b[36m"
	reset colour = "\x1b[0m"
)

// canvas collects the lines of one card. Everything that gets into a line goes
// through add.
type canvas struct {
	Style
	lines []string
	left  int // lines there was no room for
}

func newCanvas(style Style) *canvas {
	if style.Width <= 0 {
		style.Width = defaultWidth
	}
	if style.MaxLines == 0 {
		style.MaxLines = defaultMaxLines
	}
	return &canvas{Style: style}
}

// room is how many more lines can be drawn.
func (c *canvas) room() int {
	if c.MaxLines < 0 {
		return math.MaxInt
	}
	return c.MaxLines - len(c.lines)
}

// add draws one line: a prefix of this package's, and a text of anybody's.
func (c *canvas) add(colour colour, prefix, text string) {
	if c.room() <= 0 {
		c.left++
		return
	}
	text = prefix + c.escape(c.visible(text))
	c.lines = append(c.lines, c.paint(colour, c.cut(text)))
}

// text draws a text of several lines.
func (c *canvas) text(text string) {
	for text = strings.TrimRight(text, "\r\n"); text != ""; {
		if c.room() <= 0 {
			c.left += 1 + strings.Count(text, "\n")
			return
		}
		var line string
		line, text, _ = strings.Cut(text, "\n")
		c.add(plain, "", strings.TrimSuffix(line, "\r"))
	}
}

// tail draws the end of a text of several lines if there is no room for all.
func (c *canvas) tail(text string) {
	text = strings.TrimRight(text, "\r\n")
	room, lines := c.room(), 1+strings.Count(text, "\n")
	if lines <= room || room < 2 {
		c.text(text)
		return
	}
	start := len(text)
	for range room - 1 {
		start = strings.LastIndexByte(text[:start], '\n')
	}
	c.add(dim, "", fmt.Sprintf("%s %s", c.more(), count(lines-room+1, "earlier line", "earlier lines")))
	c.text(text[start+1:])
}

// wrapped draws a text in full, over as many lines as it takes.
func (c *canvas) wrapped(first, prefix, text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		for _, piece := range termtext.Wrap(c.escape(expand(line)), c.Width-len(prefix)) {
			c.add(plain, first, piece) // which escapes it again, to no effect
			first = prefix
		}
	}
}

// heading draws a title.
func (c *canvas) heading(v view) {
	if title := c.fit(v.title(c.more())); title != "" {
		c.add(bold, "", title)
	}
}

// fit escapes a title and cuts it to the width, its first part if possible.
func (c *canvas) fit(subject, result string) string {
	subject, result = c.escape(subject), c.escape(result)
	room := c.Width - termtext.Width(result)
	if result != "" && room > 0 && termtext.Width(subject) > room {
		subject = c.cutTo(subject, room-1) // an ellipsis counts as two columns
	}
	return c.cut(subject + result)
}

// finish returns the lines, the last of which counts those left out.
func (c *canvas) finish() []string {
	if c.left > 0 {
		last := max(len(c.lines)-1, 0)
		note := fmt.Sprintf("%s %s", c.more(), count(c.left+1, "more line", "more lines"))
		c.lines = append(c.lines[:last], c.paint(dim, c.cut(note)))
	}
	return c.lines
}

// visible is the part of a line that can be seen at most, with tabs as spaces.
// A character takes at least one column and at most four bytes.
func (c *canvas) visible(line string) string {
	if most := utf8.UTFMax * (c.Width + 1); len(line) > most {
		line = line[:most]
	}
	return expand(line)
}

func expand(line string) string { return strings.ReplaceAll(line, "\t", "    ") }

// escape makes one line harmless.
func (c *canvas) escape(line string) string {
	line = termtext.EscapeLine(line)
	if !c.ASCII {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// cut shortens an escaped line to the width.
func (c *canvas) cut(line string) string { return c.cutTo(line, c.Width) }

func (c *canvas) cutTo(line string, columns int) string {
	cut := termtext.Cut(line, columns)
	if !c.ASCII || cut == line {
		return cut
	}
	dots := "..."[:min(columns, 3)]
	return line[:columns-len(dots)] + dots
}

// more marks what is left out.
func (c *canvas) more() string {
	if c.ASCII {
		return "..."
	}
	return "…"
}

func (c *canvas) paint(colour colour, line string) string {
	if !c.Colour || colour == plain || line == "" {
		return line
	}
	return string(colour) + line + string(reset)
}
