package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes the report as a person reads it: who wins, then a line for each
// workload, then what the columns count. Measured times, if there are any, follow
// in a table of their own.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	if len(r.Comparisons) > 0 {
		r.comparisons(&b)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	r.measured(&b)
	r.Live.table(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) comparisons(b *strings.Builder) {
	fmt.Fprintf(b, "One program (code) against direct calls, those sent together that can be (direct-batched).\n%s\n\n", r.Score())
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "workload\tcode\ttokens\tcost\tseconds\trequests\twhy")
	for _, c := range r.Comparisons {
		if c.Refused != "" {
			fmt.Fprintf(t, "%s\trefused\t\t\t\t\t%s\n", c.Workload, oneLine(c.Refused))
			continue
		}
		base, code, v := c.Arm(Batched), c.Arm(Code), c.Verdict
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s → %s\t%s\n", c.Workload, v.Says(), times(v.Tokens), times(v.Cost), times(v.Seconds), thousands(base.Requests), thousands(code.Requests), v.because())
	}
	t.Flush()
	if evens := r.breakEvens(); len(evens) > 0 {
		fmt.Fprintln(t, "\ncode is better from this size on\tby all three\ttokens\tcost\tseconds\tsizes tried")
		for _, e := range evens {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Family, from(e.All), from(e.Tokens), from(e.Cost), from(e.Seconds), e.Sizes)
		}
		t.Flush()
	}
	fmt.Fprintf(b, "\ntokens, cost, seconds: code over direct-batched; ×0.5 is half, less is better. A program wins if one of them is lower and none higher.\n"+
		"tokens: input and output, %s. cost: a cached token (ideal prefix cache) counts %v, a written one %v. seconds: modelled, %v s a request and %v tokens/s.\n"+
		"prompt: instructions and tool definitions, in every request. Figures of all arms: --details.\n",
		r.Encoding, CachedWeight, OutputWeight, r.RequestSeconds, r.TokensPerSecond)
}

// because is why, and the arm that is cheaper than both if there is one.
func (v Verdict) because() string {
	if v.Cheapest != Batched && v.Cheapest != Code {
		return v.Why + "; cheapest: " + v.Cheapest
	}
	return v.Why
}

// from is a size at which something begins.
func from(size int) string {
	if size == 0 {
		return "-"
	}
	return fmt.Sprint(size)
}

// Score is how often programs win, in a sentence.
func (r *Report) Score() string {
	count := map[string]int{}
	for _, c := range r.Comparisons {
		word := c.Verdict.Word
		if c.Refused != "" {
			word = "refused"
		}
		count[word]++
	}
	text := fmt.Sprintf("Of %d workloads code wins %d, loses %d", len(r.Comparisons), count[Wins], count[Loses])
	for _, word := range []string{Mixed, Even, "refused"} {
		if n := count[word]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, map[string]string{Mixed: "depend on what you pay for", Even: "are even", "refused": "are refused"}[word])
		}
	}
	return text + "."
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
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\n", c.Workload, m.CheckMs, m.StartMs, m.ScriptMs, m.ComputeMs, m.CallP50Ms, m.CallP95Ms, m.DirectP50Ms, m.DirectP95Ms, bytesText(int(m.PeakHeap)))
	}
	t.Flush()
}

func inPlace(isolation string) string {
	if isolation == "worker" {
		return "in worker processes"
	}
	return "in this process"
}

// breakEven is the sizes of a family from which on a program is better in
// everything, and in one figure; zero: at none.
type breakEven struct {
	Family                     string
	All, Tokens, Cost, Seconds int
	Sizes                      string
}

// breakEvens are those of the families with sizes.
func (r *Report) breakEvens() (list []breakEven) {
	for _, family := range r.families() {
		e := breakEven{Family: family[0].Family}
		var sizes []string
		for _, c := range family {
			v := c.Verdict
			since(&e.All, c.Size, v.Word == Wins)
			since(&e.Tokens, c.Size, v.Tokens < 1-margin)
			since(&e.Cost, c.Size, v.Cost < 1-margin)
			since(&e.Seconds, c.Size, v.Seconds < 1-margin)
			sizes = append(sizes, fmt.Sprint(c.Size))
		}
		e.Sizes = strings.Join(sizes, ", ")
		list = append(list, e)
	}
	return list
}

// since keeps the first size from which on something holds.
func since(from *int, size int, holds bool) {
	switch {
	case !holds:
		*from = 0
	case *from == 0:
		*from = size
	}
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
