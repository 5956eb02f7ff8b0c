package hotpaths

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var printRatios = flag.Bool("ratios", false, "measure and print the ratios of docs/performance.md")

// TestRatios prints the ratios of all rows. The arms of a row take turns, so that
// what else the machine does meets them alike, and each counts with its median.
func TestRatios(t *testing.T) {
	if !*printRatios {
		t.Skip("measures nothing without -ratios")
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "work\tratio\tmeasured\tgoal")
	for _, row := range rows {
		took := medians(t, row)
		for _, r := range row.ratios {
			goal := "-"
			if r.goal > 0 {
				goal = fmt.Sprintf("%.2f", r.goal)
			}
			fmt.Fprintf(out, "%s\t%s\t%.2f\t%s\n", row.name, r, took[r.arm]/r.base(took), goal)
		}
	}
	fmt.Fprintf(out, "W9-suspended\tKiB a run\t%.0f\t50.00\n", suspended(t, 500))
}

// medians is the median time of each arm, in nanoseconds.
func medians(t *testing.T, r row) map[string]float64 {
	took := map[string][]time.Duration{}
	work := make([]func(), len(r.arms))
	for i, arm := range r.arms {
		work[i] = arm.open(t)
		work[i]() // the first run makes what later ones find
	}
	for range r.rounds {
		for i, arm := range r.arms {
			began := time.Now()
			work[i]()
			took[arm.name] = append(took[arm.name], time.Since(began))
		}
	}
	median := map[string]float64{}
	for name, all := range took {
		slices.Sort(all)
		median[name] = float64(all[len(all)/2])
	}
	return median
}

func (r ratio) base(took map[string]float64) (sum float64) {
	for _, s := range r.over {
		sum += s.times * took[s.arm]
	}
	return sum
}

func (r ratio) String() string {
	var parts []string
	for _, s := range r.over {
		part := s.arm
		if s.times != 1 {
			part = fmt.Sprintf("%g × %s", s.times, s.arm)
		}
		parts = append(parts, part)
	}
	base := strings.Join(parts, " + ")
	if len(parts) > 1 {
		base = "(" + base + ")"
	}
	return r.arm + " / " + base
}
