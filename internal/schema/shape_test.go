package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRowsOfManyShapes: objects share their names with the ones before them, and
// each keeps its own; what is wrong with one is said of that one.
func TestRowsOfManyShapes(t *testing.T) {
	wide := func(last string) string {
		var b strings.Builder
		for i := range 30 { // so many that they get an index
			fmt.Fprintf(&b, `"n%d":%d,`, i, i)
		}
		return "{" + b.String() + `"` + last + `":1}`
	}
	s := compile(t, `{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"object","properties":{"a":{"type":"string"}}},"last":{"type":"integer"}},"additionalProperties":{"type":"integer"}}}`)
	rows := []string{
		`{"a":1,"b":{"a":"x"}}`, `{"a":2,"b":{"a":"y"}}`, `{"b":{"a":3},"a":3}`, `{"a":4,"c":"x"}`, `{"a":5}`, `{}`, `{"a":"x"}`,
		wide("last"), wide("last"), wide("lost"), strings.Replace(wide("last"), `"last":1`, `"last":"x"`, 1), `{"a":{"a":{"a":1}}}`,
	}
	for range 2 {
		var want []string
		for i, row := range rows {
			for _, p := range s.Check("["+row+"]", anyValue) {
				want = append(want, strings.Replace(p.Pointer, "/0", fmt.Sprint("/", i), 1)+" "+strings.Replace(p.Text, "[0]", fmt.Sprintf("[%d]", i), 1))
			}
		}
		if len(want) == 0 {
			t.Fatal("nothing is wrong with any row")
		}
		for _, padding := range []int{0, 8 << 10} { // in memory that is kept, and in memory of its own
			var got []string
			for _, p := range s.Check("["+strings.Join(rows, ",")+"]"+strings.Repeat(" ", padding), anyValue) {
				got = append(got, p.Pointer+" "+p.Text)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("problems of the rows together, %d spaces behind them (-alone +together):\n%s", padding, d)
			}
		}
		rows = append(rows[3:], rows[:3]...)
	}
}
