package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Diff is what changed between two reports.
type Diff struct {
	Changes []Change
	Failed  bool // one of them is worse than the limit allows
}

// Change is one figure that changed.
type Change struct {
	Workload, Arm, Figure string
	Old, New              float64
	Failed                bool   // worse than the limit allows
	Text                  string // instead of numbers: a comparison that is gone, new or refused
}

// Compare finds what changed. Requests, calls and tokens that grew by more than limit (0.05 is five
// percent), and comparisons that are gone or refused now, fail. Measured times
// are told and never fail: machines differ, and so do their days. The error is
// for reports that do not count alike.
func Compare(old, now *Report, limit float64) (*Diff, error) {
	if old.Encoding != now.Encoding || old.Seed != now.Seed || old.Counting != now.Counting {
		return nil, fmt.Errorf("the reports do not count alike: encoding %s, seed %d against encoding %s, seed %d; run the benchmark with the older one's options", old.Encoding, old.Seed, now.Encoding, now.Seed)
	}
	d := &Diff{}
	before := map[string]*Comparison{}
	for i := range old.Comparisons {
		before[old.Comparisons[i].Workload] = &old.Comparisons[i]
	}
	for i := range now.Comparisons {
		c := &now.Comparisons[i]
		d.comparison(before[c.Workload], c, limit)
		delete(before, c.Workload)
	}
	for _, c := range old.Comparisons {
		if before[c.Workload] != nil {
			d.add(Change{Workload: c.Workload, Text: "is not in the new report", Failed: true})
		}
	}
	return d, nil
}

func (d *Diff) add(c Change) {
	d.Changes = append(d.Changes, c)
	d.Failed = d.Failed || c.Failed
}

func (d *Diff) comparison(old, now *Comparison, limit float64) {
	switch {
	case old == nil:
		d.add(Change{Workload: now.Workload, Text: "is new"})
		return
	case now.Refused != "":
		d.add(Change{Workload: now.Workload, Text: "is refused: " + now.Refused, Failed: old.Refused == ""})
		return
	case old.Refused != "":
		d.add(Change{Workload: now.Workload, Text: "is no longer refused"})
		return
	}
	for _, a := range old.Arms {
		b := now.Arm(a.Name)
		if b == nil {
			d.add(Change{Workload: now.Workload, Arm: a.Name, Text: "is not in the new report", Failed: true})
			continue
		}
		for _, f := range []struct {
			name     string
			old, now int
		}{
			{"requests", a.Requests, b.Requests}, {"tool calls", a.Calls, b.Calls}, {"input tokens", a.Input.Tokens, b.Input.Tokens}, {"fresh tokens", a.Fresh.Tokens, b.Fresh.Tokens},
			{"output tokens", a.Output.Tokens, b.Output.Tokens}, {"end context", a.Context.Tokens, b.Context.Tokens},
		} {
			if f.old != f.now {
				d.add(Change{Workload: now.Workload, Arm: a.Name, Figure: f.name, Old: float64(f.old), New: float64(f.now), Failed: float64(f.now) > float64(f.old)*(1+limit)})
			}
		}
	}
	if old.Measured != nil && now.Measured != nil {
		d.add(Change{Workload: now.Workload, Arm: Code, Figure: "program ms", Old: old.Measured.ScriptMs, New: now.Measured.ScriptMs})
	}
}

// Table writes the changes, one a line.
func (d *Diff) Table(w io.Writer) error {
	if len(d.Changes) == 0 {
		_, err := io.WriteString(w, "no figure changed\n")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tarm\tfigure\told\tnew\tnew/old\t")
	for _, c := range d.Changes {
		mark := ""
		if c.Failed {
			mark = "worse"
		}
		if c.Text != "" {
			fmt.Fprintf(t, "%s\t%s\t%s\t\t\t\t%s\n", c.Workload, c.Arm, oneLine(c.Text), mark)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Workload, c.Arm, c.Figure, figure(c.Old), figure(c.New), times(ratio(c.New, c.Old)), mark)
	}
	return t.Flush()
}

func figure(v float64) string {
	if v == float64(int(v)) {
		return thousands(int(v))
	}
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}
