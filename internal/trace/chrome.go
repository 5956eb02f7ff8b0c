package trace

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// Chrome writes the calls in the trace event format that Perfetto
// (ui.perfetto.dev) and Chrome open. Every call of a model is a process, whose
// threads are lanes: two calls share one only if one lies within the other. Of
// arguments and results it has the sizes.
func (t *Trace) Chrome(w io.Writer) error {
	out := []string{}
	add := func(members ...tools.Member) { out = append(out, tools.ComposeObject(members...).String()) }
	for i, root := range t.Calls {
		pid := i + 1
		add(chromeName("process_name", pid, 0, root.Tool+" "+root.ID)...)
		lanes := &lanes{}
		lanes.place(root, 0)
		one := Trace{Calls: []*Call{root}}
		one.Walk(func(c *Call, _ int) { add(t.chromeCall(c, pid, lanes.of[c]+1)...) })
		for n := range lanes.ends {
			name := "calls"
			if n > 0 {
				name = fmt.Sprintf("overlapping calls %d", n)
			}
			add(chromeName("thread_name", pid, n+1, name)...)
		}
	}
	_, err := io.WriteString(w, `{"displayTimeUnit":"ms","traceEvents":[`+"\n"+strings.Join(out, ",\n")+"\n]}\n")
	return err
}

// chromeName is the metadata event that names a process or a thread.
func chromeName(what string, pid, tid int, name string) []tools.Member {
	return []tools.Member{
		textMember("name", what), textMember("ph", "M"), number("pid", float64(pid)), number("tid", float64(tid)),
		{Name: "args", Value: tools.ComposeObject(textMember("name", name))},
	}
}

func (t *Trace) chromeCall(c *Call, pid, tid int) []tools.Member {
	arguments, result := c.Sizes()
	args := []tools.Member{
		textMember("callId", c.ID), textMember("state", string(c.State)),
		number("argumentBytes", float64(arguments)), number("resultBytes", float64(result)),
	}
	if c.Line > 0 {
		args = append(args, number("line", float64(c.Line)))
	}
	if c.Failure != nil {
		args = append(args, textMember("code", c.Failure.Code))
	}
	return []tools.Member{
		textMember("name", c.Tool), textMember("cat", c.Fate()), textMember("ph", "X"),
		number("ts", micros(c.Started.Sub(t.Started))), number("dur", micros(c.Ended.Sub(c.Started))),
		number("pid", float64(pid)), number("tid", float64(tid)),
		{Name: "args", Value: tools.ComposeObject(args...)},
	}
}

func textMember(name, value string) tools.Member {
	return tools.Member{Name: name, Value: tools.StringJSON(value)}
}

func number(name string, n float64) tools.Member {
	return tools.Member{Name: name, Value: tools.MustJSON(strconv.FormatFloat(n, 'f', -1, 64))}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// lanes spreads calls so that those of one lane lie within each other or after
// each other.
type lanes struct {
	of   map[*Call]int
	ends []time.Time // of the last call of a lane
}

// place puts a call into a lane and those below it into the same lane, as far
// as they fit.
func (l *lanes) place(c *Call, lane int) {
	if l.of == nil {
		l.of = map[*Call]int{}
	}
	l.of[c] = lane
	for lane >= len(l.ends) {
		l.ends = append(l.ends, time.Time{})
	}
	free := c.Started // where the next call within this one may begin
	for _, sub := range c.Calls {
		if !sub.Started.Before(free) && !sub.Ended.After(c.Ended) {
			l.place(sub, lane)
			free = sub.Ended
			continue
		}
		l.place(sub, l.other(sub, lane))
	}
	l.ends[lane] = later(l.ends[lane], c.Ended)
}

// other is a lane beside a given one that is free when a call begins. All calls
// of a lane but those of its first begin in order.
func (l *lanes) other(c *Call, beside int) int {
	for lane := beside + 1; lane < len(l.ends); lane++ {
		if !l.ends[lane].After(c.Started) {
			return lane
		}
	}
	return len(l.ends)
}
