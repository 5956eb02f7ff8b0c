package jslib

import (
	"math"
	"strings"
)

// compact is how many inner levels one line may hold.
const compact = 3

// layout joins the parts of an object on one line if they fit, in columns if
// they are elements of an array, else one a line.
func (c *inspection) layout(out []string, s shape, level int) string {
	entries := len(out)
	if s.array && entries > 6 {
		out = c.group(out, s.numbers != nil && *s.numbers)
	}
	lead := ""
	if s.base != "" {
		lead = s.base + " "
	}
	if c.current-level < compact && entries == len(out) && c.fits(out, s) {
		if joined := strings.Join(out, ", "); !strings.Contains(joined, "\n") {
			return lead + s.open + " " + joined + " " + s.close
		}
	}
	newline := "\n" + strings.Repeat(" ", c.indent)
	return lead + s.open + newline + "  " + strings.Join(out, ","+newline+"  ") + newline + s.close
}

// fits reports whether the parts take less than a line.
func (c *inspection) fits(out []string, s shape) bool {
	total := 2*len(out) + c.indent + width(s.open) + width(s.base) + 10
	if total+len(out) > c.o.Break {
		return false
	}
	for _, part := range out {
		total += width(part)
		if total > c.o.Break {
			return false
		}
	}
	return !strings.Contains(s.base, "\n")
}

// group lays more than six elements out in columns of equal width, as many as
// make the block about two and a half times as wide as it is high.
func (c *inspection) group(out []string, right bool) []string {
	n := len(out)
	if c.o.Array < n {
		n-- // the last one says how many are not shown
	}
	const gap = 2
	widths := make([]int, n)
	total, longest := 0, 0
	for i := range n {
		widths[i] = columns(out[i])
		total += widths[i] + gap
		longest = max(longest, widths[i])
	}
	widest := longest + gap
	if widest*3+c.indent >= c.o.Break || float64(total)/float64(widest) <= 5 && longest > 6 {
		return out
	}
	bias := math.Max(float64(widest)-3-math.Sqrt(float64(widest)-float64(total)/float64(len(out))), 1)
	perLine := min(
		int(math.Floor(math.Sqrt(2.5*bias*float64(n))/bias+0.5)),
		(c.o.Break-c.indent)/widest,
		compact*4,
		15,
	)
	if perLine <= 1 {
		return out
	}
	room := make([]int, perLine)
	for i := range perLine {
		for j := i; j < n; j += perLine {
			room[i] = max(room[i], widths[j])
		}
		room[i] += gap
	}
	var lines []string
	for i := 0; i < n; i += perLine {
		end := min(i+perLine, n)
		var b strings.Builder
		for j := i; j < end-1; j++ {
			pad := strings.Repeat(" ", max(room[j-i]-widths[j]-gap, 0))
			if right {
				b.WriteString(pad + out[j] + ", ")
			} else {
				b.WriteString(out[j] + ", " + pad)
			}
		}
		last := end - 1
		if right {
			b.WriteString(strings.Repeat(" ", max(room[last-i]-gap-widths[last], 0)))
		}
		b.WriteString(out[last])
		lines = append(lines, b.String())
	}
	if n < len(out) {
		lines = append(lines, out[n])
	}
	return lines
}
