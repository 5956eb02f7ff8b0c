package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes the report as a person reads it: a line for each workload, then
// what the columns count. Measured times, if there are any, follow in a table of
// their own.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "One program (code) against direct calls sent together (direct-batched). Tokens: %s.\n\n", r.Encoding)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tcode\ttokens\tcost\tseconds\trequests\ttokens in\tout\tcheapest arm\twhy")
	for _, c := range r.Comparisons {
		if c.Refused != "" {
			fmt.Fprintf(t, "%s\trefused\t\t\t\t\t\t\t\t%s\n", c.Workload, oneLine(c.Refused))
			continue
		}
		base, code, v := c.Arm(Batched), c.Arm(Code), c.Verdict
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d → %d\t%s → %s\t%s → %s\t%s\t%s\n", c.Workload, v.Word, times(v.Tokens), times(v.Cost), times(v.Seconds),
			base.Requests, code.Requests, thousands(base.Input.Tokens), thousands(code.Input.Tokens), thousands(base.Output.Tokens), thousands(code.Output.Tokens), v.Cheapest, v.Why)
	}
	t.Flush()
	for _, e := range r.breakEvens() {
		fmt.Fprintf(&b, "\n%s", e)
	}
	fmt.Fprintf(&b, "\ntokens, cost, seconds: code over direct-batched, less is better. cost counts a cached token (ideal prefix cache) as %v and output as %v. seconds are modelled: %v s a request, %v tokens/s.\n",
		CachedWeight, OutputWeight, r.RequestSeconds, r.TokensPerSecond)
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	r.measured(&b)
	r.Live.table(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// Details writes every figure of every arm.
func (r *Report) Details(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Tokens are %s; the number behind each is bytes/4. %s.\n\n", r.Encoding, Counting)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tarm\trequests\tcalls\tinput\tfresh\toutput\tprompt and tools\tend context\tkept out\tmodelled s")
	for _, c := range r.Comparisons {
		for _, a := range c.Arms {
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\n", c.Workload, a.Name, a.Requests, a.Calls,
				both(a.Input), both(a.Fresh), both(a.Output), both(a.Surface), both(a.Context), bytesText(a.KeptOut), a.ModelSeconds)
		}
	}
	t.Flush()
	_, err := io.WriteString(w, b.String())
	return err
}

func both(a Amount) string { return thousands(a.Tokens) + " / " + thousands(a.Quarter()) }

func times(r float64) string { return fmt.Sprintf("×%.2f", r) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (r *Report) measured(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	any := false
	for _, c := range r.Comparisons {
		m := c.Measured
		if m == nil {
			continue
		}
		if !any {
			any = true
			fmt.Fprintf(b, "\nMeasured on %s, programs %s; medians of %d, ms. No model waits here.\n\n", r.Machine, inPlace(r.Isolation), m.Repeat)
			fmt.Fprintln(t, "workload\tcompile\tstart\tprogram\tof it engine\tcall p50\tp95\tdirect call p50\tp95\tpeak heap")
		}
		peak := "-"
		if m.PeakHeap > 0 {
			peak = bytesText(int(m.PeakHeap))
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\n", c.Workload, m.CheckMs, m.StartMs, m.ScriptMs, m.ComputeMs, m.CallP50Ms, m.CallP95Ms, m.DirectP50Ms, m.DirectP95Ms, peak)
	}
	t.Flush()
}

func inPlace(isolation string) string {
	if isolation == "worker" {
		return "in worker processes"
	}
	return "in this process"
}

// breakEvens says for each family with sizes from which size on a program wins.
func (r *Report) breakEvens() (lines []string) {
	for _, family := range r.families() {
		from := 0
		for _, c := range family {
			switch {
			case c.Verdict.Word != Wins:
				from = 0
			case from == 0:
				from = c.Size
			}
		}
		name, last := family[0].Family, family[len(family)-1].Size
		switch {
		case from == 0:
			lines = append(lines, fmt.Sprintf("%s: a program does not win up to %d\n", name, last))
		case from == family[0].Size:
			lines = append(lines, fmt.Sprintf("%s: a program wins at every size from %d to %d\n", name, from, last))
		default:
			lines = append(lines, fmt.Sprintf("%s: a program wins from %d on (sizes up to %d)\n", name, from, last))
		}
	}
	return lines
}

// families is the comparisons with figures that differ in size alone, in order.
func (r *Report) families() (list [][]Comparison) {
	index := map[string]int{}
	for _, c := range r.Comparisons {
		if c.Size == 0 || c.Refused != "" {
			continue
		}
		i, ok := index[c.Family]
		if !ok {
			i = len(list)
			index[c.Family], list = i, append(list, nil)
		}
		list[i] = append(list[i], c)
	}
	kept := list[:0]
	for _, family := range list {
		if len(family) > 1 {
			kept = append(kept, family)
		}
	}
	return kept
}
