package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Interval is a mean and where 95 of 100 means of resampled runs lie.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is how often the runs are drawn again.
const resamples = 2_000

// bootstrap is the percentile bootstrap of a mean. It draws the same numbers each
// time, so that equal runs have equal intervals. No values have the zero Interval.
func bootstrap(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	r := rand.New(rand.NewPCG(1, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[r.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	const tail = resamples * 25 / 1000
	return Interval{sum / float64(len(values)), means[tail], means[resamples-1-tail]}
}

// text is the interval with so many digits behind the point.
func (i Interval) text(digits int) string {
	return fmt.Sprintf("%.*f [%.*f, %.*f]", digits, i.Mean, digits, i.Low, digits, i.High)
}
