package cardview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// readView draws the numbered lines of a file.
type readView struct{ card tools.Card }

// lines is how many there are.
func (v readView) lines() int {
	n := strings.Count(v.card.Text, "\n")
	if v.card.Text != "" && !strings.HasSuffix(v.card.Text, "\n") {
		n++
	}
	return n
}

// first is the number of the first line.
func (v readView) first() int { return max(v.card.StartLine, 1) }

func (v readView) title(more string) (subject, result string) {
	switch n := v.lines(); n {
	case 0:
		result = " no lines"
	case 1:
		result = fmt.Sprintf(" %d", v.first())
	default:
		result = fmt.Sprintf(" %d-%d", v.first(), v.first()+n-1)
	}
	if v.card.TotalLines > 0 {
		result += fmt.Sprintf(" of %d", v.card.TotalLines)
	}
	return naming(v.card.Title, v.card.Path, more), result
}

func (v readView) head(c *canvas) { c.heading(v) }

func (v readView) draw(c *canvas) {
	n, left := v.first(), v.lines()
	digits := len(strconv.Itoa(n + left - 1))
	for text := v.card.Text; left > 0; left-- {
		if c.room() <= 0 {
			c.left += left
			return
		}
		var line string
		line, text, _ = strings.Cut(text, "\n")
		c.add(plain, fmt.Sprintf("%*d  ", digits, n), strings.TrimSuffix(line, "\r"))
		n++
	}
}
