package terminal

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/tools"
)

// argLine is one line of arguments. Its size is how many bytes of them it shows,
// at least one; zero for a line that says what is left out.
type argLine struct {
	text string
	size int
}

// textLine stands before a line of a text of several lines.
const textLine = "┊ "

// argumentLines is JSON for a person, no wider than so many columns: a member or
// element a line, without commas. Strings stay JSON strings, so that what is
// escaped cannot be mistaken for what is not; one that holds line feeds is shown
// as lines, in which only quotes are not escaped. Each line begins with the
// margin and, unless it begins a member, with a mark. Of each value at most
// maxLines lines are made, zero for all.
func argumentLines(args tools.JSON, columns, maxLines int) []argLine {
	if args.IsZero() {
		return []argLine{{margin + "(none that can be read)", 1}}
	}
	p := argPrinter{columns: columns, maxLines: maxLines}
	scan := jsonscan.New(args.String())
	for key := ""; ; {
		tok, err := scan.Next()
		if err != nil || tok.Kind == jsonscan.EOF { // canonical text has no errors
			return p.lines
		}
		switch depth := scan.Depth(); tok.Kind {
		case jsonscan.Key:
			key = tok.Raw + ": "
			continue
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			p.value(depth-1, key+tok.Raw)
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			p.end(depth, tok.Raw)
		default:
			p.scalar(depth, key, tok.Raw)
		}
		key = ""
	}
}

// argPrinter collects the lines of arguments.
type argPrinter struct {
	columns, maxLines int
	lines             []argLine
	opened            bool // the last line has opened a container
}

// indent is how far lines of a depth stand inside, a bounded number of columns.
func (p *argPrinter) indent(depth int) string {
	return strings.Repeat("  ", min(depth, p.columns/8))
}

// value adds what is on one line if there is room.
func (p *argPrinter) value(depth int, text string) {
	p.lines = append(p.lines, p.wrap(p.indent(depth), "", text)...)
	p.opened = strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[")
}

// end closes a container, an empty one where it was opened.
func (p *argPrinter) end(depth int, bracket string) {
	if p.opened {
		p.lines[len(p.lines)-1].text += bracket
		p.lines[len(p.lines)-1].size++
		p.opened = false
		return
	}
	p.value(depth, bracket)
}

// scalar adds a value that is no container.
func (p *argPrinter) scalar(depth int, key, raw string) {
	p.opened = false
	indent := p.indent(depth)
	var lines []argLine
	if text, ok := linesOf(raw); ok {
		lines = p.wrap(indent, "", fmt.Sprintf("%s(text, %d lines)", key, len(text)))
		for _, line := range text {
			lines = append(lines, p.wrap(indent+"  ", textLine, line)...)
		}
	} else {
		lines = p.wrap(indent, "", key+raw)
	}
	if p.maxLines > 0 && len(lines) > p.maxLines {
		left := 0
		for _, line := range lines[p.maxLines:] {
			left += line.size
		}
		lines = append(lines[:p.maxLines], argLine{margin + indent + "… " + sizeOf(left) + " more", 0})
	}
	p.lines = append(p.lines, lines...)
}

// wrap makes lines that begin with the mark, and after a break with another.
func (p *argPrinter) wrap(indent, mark, text string) []argLine {
	room := p.columns - termtext.Width(margin+indent+continued) - 1 // for a closing bracket
	pieces := termtext.Wrap(termtext.EscapeJSON(text), room)
	lines := make([]argLine, len(pieces))
	for i, piece := range pieces {
		if i > 0 {
			mark = continued
		}
		lines[i] = argLine{margin + indent + mark + piece, max(len(piece), 1)}
	}
	return lines
}

// linesOf takes a JSON string that holds line feeds apart at them. The lines
// keep all escapes but those of quotes, which need none outside of quotes.
func linesOf(raw string) (lines []string, ok bool) {
	if raw[0] != '"' || !strings.Contains(raw, `\n`) {
		return nil, false
	}
	var line strings.Builder
	for body := raw[1 : len(raw)-1]; body != ""; {
		n := 1
		if body[0] == '\\' {
			n = 2
		}
		switch c := body[:n]; c {
		case `\n`:
			lines = append(lines, line.String())
			line.Reset()
		case `\"`:
			line.WriteByte('"')
		default:
			line.WriteString(c)
		}
		body = body[n:]
	}
	if lines == nil {
		return nil, false // the backslash itself was escaped
	}
	return append(lines, line.String()), true
}
