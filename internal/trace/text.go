package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
)

// The widths of columns. A row is at most 100 wide for names of usual length.
const (
	maxName  = 40
	barWidth = 48
)

// Tree writes the calls, each below the one that made it, with what became of
// it, and last what is wrong with the log. Texts are escaped for a terminal.
func (t *Trace) Tree(w io.Writer) error {
	var b strings.Builder
	for _, c := range t.Calls {
		t.branch(&b, c, "", "")
	}
	if len(t.Calls) == 0 {
		b.WriteString("no calls\n")
	}
	for _, m := range t.Contexts {
		fmt.Fprintf(&b, "context from %s: %s\n", line(m.From, maxName), line(m.Text, 100))
	}
	for _, p := range t.Problems {
		where := ""
		if p.Line > 0 {
			where = fmt.Sprintf("line %d: ", p.Line)
		}
		fmt.Fprintf(&b, "problem: %s%s\n", where, line(p.Text, 300))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// branch writes a call and those below it; first is what stands before its own
// line, rest before the others.
func (t *Trace) branch(b *strings.Builder, c *Call, first, rest string) {
	fmt.Fprintf(b, "%s%s\n", first, c.headline())
	inner := rest
	if len(c.Calls) > 0 {
		inner += "│ "
	} else {
		inner += "  "
	}
	for _, note := range c.notes() {
		fmt.Fprintf(b, "%s    %s\n", inner, note)
	}
	for i, sub := range c.Calls {
		if i < len(c.Calls)-1 {
			t.branch(b, sub, rest+"├─ ", rest+"│  ")
		} else {
			t.branch(b, sub, rest+"└─ ", rest+"   ")
		}
	}
}

// headline is a call in one line.
func (c *Call) headline() string {
	var s strings.Builder
	if c.N > 0 {
		fmt.Fprintf(&s, "%d ", c.N)
	}
	s.WriteString(line(c.Tool, maxName))
	if c.Parent == nil {
		s.WriteString(" " + line(c.ID, maxName))
	}
	if c.Line > 0 {
		fmt.Fprintf(&s, " :%d", c.Line)
	}
	fmt.Fprintf(&s, "  %s  %s", spaced(c.Fate()), duration(c.Took))
	if about := c.subject(); about != "" {
		s.WriteString("  " + about)
	}
	return s.String()
}

// subject is what a call is about, in a few words.
func (c *Call) subject() string {
	if c.Program != "" {
		return line(c.About, 60)
	}
	if text := c.Arguments.String(); text != "{}" {
		return line(text, 60)
	}
	return ""
}

// notes are the lines below a call: who was asked, why it failed, what else its
// program asked.
func (c *Call) notes() []string {
	var notes []string
	for _, q := range c.Questions {
		notes = append(notes, fmt.Sprintf("asked by %s: %s", line(or(q.By, "the pipeline"), maxName), spaced(or(q.Outcome, "no answer"))))
	}
	if f := c.Failure; f != nil {
		text := line(firstLine(f.Message), 120)
		if by := f.who(); by != "" {
			text = by + ": " + text
		}
		notes = append(notes, text)
	}
	for _, l := range c.Lookups {
		notes = append(notes, fmt.Sprintf("looked up catalog.%s(%s)", line(l.Member, maxName), line(l.Arguments.String(), 60)))
	}
	if c.DroppedContexts > 0 {
		notes = append(notes, fmt.Sprintf("%d contexts dropped", c.DroppedContexts))
	}
	return notes
}

// who is the code of a failure and who decided so.
func (f *Failure) who() string {
	text := line(f.Code, maxName)
	if f.By != "" {
		text = strings.TrimSpace(text + " by " + line(f.Origin, maxName) + " " + line(f.By, maxName))
	}
	return text
}

// Waterfall writes one row for each call with a bar for the time it took. Every
// call of a model with those below it has a time scale of its own.
func (t *Trace) Waterfall(w io.Writer) error {
	var b strings.Builder
	for i, root := range t.Calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		waterfall(&b, root)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func waterfall(b *strings.Builder, root *Call) {
	one := Trace{Calls: []*Call{root}}
	end, width := root.Ended, 0
	label := func(c *Call, depth int) string {
		text := strings.Repeat("  ", depth) + line(c.Tool, maxName)
		if c.Line > 0 {
			text += fmt.Sprintf(" :%d", c.Line)
		}
		return termtext.Cut(text, maxName)
	}
	one.Walk(func(c *Call, depth int) {
		end = later(end, c.Ended)
		width = max(width, termtext.Width(label(c, depth)))
	})
	span := end.Sub(root.Started)
	fmt.Fprintf(b, "%-*s  0%*s\n", width, "", barWidth-1, duration(span))
	one.Walk(func(c *Call, depth int) {
		name := label(c, depth)
		name += strings.Repeat(" ", width-termtext.Width(name))
		mark := ""
		if c.State != pipeline.StateDone {
			mark = "  " + spaced(c.Fate())
		}
		fmt.Fprintf(b, "%s  %s  %s%s\n", name, bar(c, root.Started, span), duration(c.Took), mark)
	})
}

// bar is a row's bar: eighths of a column are not used, since not every font has
// them, and a call that is too short for a column has a thin one.
func bar(c *Call, start time.Time, span time.Duration) string {
	column := func(at time.Time) int {
		if span <= 0 {
			return 0
		}
		return min(max(int(float64(at.Sub(start))/float64(span)*barWidth+0.5), 0), barWidth)
	}
	from, to := column(c.Started), column(c.Ended)
	if from == to {
		from = min(from, barWidth-1)
		return strings.Repeat(" ", from) + "▏" + strings.Repeat(" ", barWidth-from-1)
	}
	return strings.Repeat(" ", from) + strings.Repeat("█", to-from) + strings.Repeat(" ", barWidth-to)
}

// ToolSummary is what the calls of one tool come to.
type ToolSummary struct {
	Tool               string
	Calls, Failed      int
	Total, Median, Max time.Duration
	ArgumentBytes      int // of all its calls together
	ResultBytes        int
}

// Tools sums the calls up by tool, the one that took longest first.
func (t *Trace) Tools() []ToolSummary {
	byTool := map[string]*ToolSummary{}
	took := map[string][]time.Duration{}
	t.Walk(func(c *Call, _ int) {
		s := byTool[c.Tool]
		if s == nil {
			s = &ToolSummary{Tool: c.Tool}
			byTool[c.Tool] = s
		}
		args, result := c.Sizes()
		s.Calls, s.Total, s.Max = s.Calls+1, s.Total+c.Took, max(s.Max, c.Took)
		s.ArgumentBytes, s.ResultBytes = s.ArgumentBytes+args, s.ResultBytes+result
		if c.Failure != nil {
			s.Failed++
		}
		took[c.Tool] = append(took[c.Tool], c.Took)
	})
	var list []ToolSummary
	for tool, s := range byTool {
		s.Median = median(took[tool])
		list = append(list, *s)
	}
	slices.SortFunc(list, func(x, y ToolSummary) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Tool, y.Tool))
	})
	return list
}

// median is the middle of some durations, the mean of the two in the middle.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}

// Summary writes a table of the tools: how often each was called and failed, how
// long that took, and the bytes of arguments and results.
func (t *Trace) Summary(w io.Writer) error {
	rows := [][]string{{"tool", "calls", "failed", "total", "median", "max", "arguments", "results"}}
	for _, s := range t.Tools() {
		rows = append(rows, []string{
			line(s.Tool, maxName), fmt.Sprint(s.Calls), fmt.Sprint(s.Failed),
			duration(s.Total), duration(s.Median), duration(s.Max), bytesText(s.ArgumentBytes), bytesText(s.ResultBytes),
		})
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], termtext.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-termtext.Width(cell))
			if i == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is a text in one line of a terminal, cut to so many columns.
func line(s string, columns int) string {
	if most := 4 * columns; len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return termtext.Cut(termtext.EscapeLine(s), columns)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func or(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

func spaced(s string) string { return line(strings.ReplaceAll(s, "-", " "), maxName) }

// duration is a time with about three digits.
func duration(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", ms/1000)
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", ms/1000)
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", ms)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.3f ms", ms)
}

func bytesText(n int) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
