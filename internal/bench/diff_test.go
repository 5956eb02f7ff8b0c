package bench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is a report of two comparisons.
func sample() *Report {
	r := newReport(Options{RequestSeconds: 1, TokensPerSecond: 60})
	for _, name := range []string{"a", "b"} {
		r.add(Comparison{Workload: name, Arms: []Arm{
			{Name: Batched, Tokens: Tokens{Requests: 4, Input: Amount{1000, 4000}, Output: Amount{100, 400}}},
			{Name: Code, Tokens: Tokens{Requests: 2, Input: Amount{500, 2000}, Output: Amount{50, 200}}},
		}, Measured: &Times{ScriptMs: 2}})
	}
	return r
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(r *Report)
		want   []Change
	}{
		{"nothing", func(*Report) {}, nil},
		{"a little worse", func(r *Report) { r.Comparisons[0].Arms[1].Input.Tokens = 525 }, []Change{{Workload: "a", Arm: Code, Figure: "input tokens", Old: 500, New: 525}}},
		{"too much worse", func(r *Report) { r.Comparisons[0].Arms[1].Input.Tokens = 526 }, []Change{{Workload: "a", Arm: Code, Figure: "input tokens", Old: 500, New: 526, Failed: true}}},
		{"better", func(r *Report) { r.Comparisons[1].Arms[0].Output.Tokens = 1 }, []Change{{Workload: "b", Arm: Batched, Figure: "output tokens", Old: 100, New: 1}}},
		{"one request more", func(r *Report) { r.Comparisons[0].Arms[1].Requests = 3 }, []Change{{Workload: "a", Arm: Code, Figure: "requests", Old: 2, New: 3, Failed: true}}},
		{"one call more", func(r *Report) { r.Comparisons[0].Arms[1].Calls = 1 }, []Change{{Workload: "a", Arm: Code, Figure: "tool calls", Old: 0, New: 1, Failed: true}}},
		{"refused now", func(r *Report) { r.Comparisons[0] = Comparison{Workload: "a", Refused: "no"} }, []Change{{Workload: "a", Text: "is refused: no", Failed: true}}},
		{"gone", func(r *Report) { r.Comparisons = r.Comparisons[1:] }, []Change{{Workload: "a", Text: "is not in the new report", Failed: true}}},
		{"new", func(r *Report) { r.Comparisons = append(r.Comparisons, Comparison{Workload: "c"}) }, []Change{{Workload: "c", Text: "is new"}}},
		{"an arm is gone", func(r *Report) { r.Comparisons[0].Arms = r.Comparisons[0].Arms[:1] }, []Change{{Workload: "a", Arm: Code, Text: "is not in the new report", Failed: true}}},
		{"slower", func(r *Report) { r.Comparisons[0].Measured = &Times{ScriptMs: 200} }, []Change{{Workload: "a", Arm: Code, Figure: "program ms", Old: 2, New: 200}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := sample()
			tt.change(now)
			d, err := Compare(sample(), now, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			var got []Change
			failed := false
			for _, c := range d.Changes {
				failed = failed || c.Failed
				if c.Figure != "program ms" || c.Old != c.New {
					got = append(got, c)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if d.Failed != failed {
				t.Errorf("failed %v, and the changes say %v", d.Failed, failed)
			}
		})
	}
	old := sample()
	old.Comparisons[0] = Comparison{Workload: "a", Refused: "then"}
	d, err := Compare(old, sample(), 0)
	if err != nil || d.Failed || d.Changes[0].Text != "is no longer refused" {
		t.Errorf("%+v, %v; want that it is no longer refused", d, err)
	}
	other := sample()
	other.Seed = 5
	if _, err := Compare(sample(), other, 0); err == nil || !strings.HasPrefix(err.Error(), "the reports do not count alike: ") {
		t.Errorf("error %v for reports with other data", err)
	}
}

func TestDiffTable(t *testing.T) {
	d := &Diff{Changes: []Change{{Workload: "a", Arm: Code, Figure: "input tokens", Old: 1000, New: 1500, Failed: true}, {Workload: "b", Text: "is new"}, {Workload: "c", Arm: Code, Figure: "program ms", Old: 2, New: 1.25}}}
	golden(t, "diff.txt", written(t, func(b *bytes.Buffer) error { return d.Table(b) }))
	if got := string(written(t, func(b *bytes.Buffer) error { return (&Diff{}).Table(b) })); got != "no figure changed\n" {
		t.Errorf("an empty diff prints %q", got)
	}
}

func TestReadReport(t *testing.T) {
	r := quick(t, Options{Only: []string{"single"}, Repeat: 1})
	got, err := ReadReport(bytes.NewReader(asJSON(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("what was written is not what is read (-written +read):\n%s", diff)
	}
	for _, tt := range []struct{ text, want string }{
		{"{", "this is no benchmark report: "},
		{`{"schema":99}`, "the report has schema 99 and this version reads 1; run the benchmark again"},
	} {
		if _, err := ReadReport(strings.NewReader(tt.text)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("error %v for %s, want %s", err, tt.text, tt.want)
		}
	}
}

func TestBootstrap(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values []float64
		want   Interval
	}{
		{"none", nil, Interval{}},
		{"one", []float64{3}, Interval{3, 3, 3}},
		{"equal", []float64{2, 2, 2}, Interval{2, 2, 2}},
		{"mixed", []float64{1, 0, 1, 1, 0}, Interval{0.6, 0.2, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				if got := bootstrap(tt.values); got != tt.want {
					t.Errorf("%+v, want %+v", got, tt.want)
				}
			}
		})
	}
	var many []float64
	for i := range 100 {
		many = append(many, float64(i))
	}
	// The standard error of the mean is 2.9, so the interval is about 49.5 ± 5.7.
	if got := bootstrap(many); got.Mean != 49.5 || got.Low < 42 || got.Low > 46 || got.High < 53 || got.High > 57 {
		t.Errorf("%+v, want a mean of 49.5 and an interval of about 44 to 55", got)
	}
}

func TestVerdicts(t *testing.T) {
	arm := func(input, fresh, output int, seconds float64) *Arm {
		return &Arm{Tokens: Tokens{Requests: 1, Input: Amount{Tokens: input}, Fresh: Amount{Tokens: fresh}, Output: Amount{Tokens: output}}, ModelSeconds: seconds}
	}
	base := arm(1_000, 1_000, 100, 2)
	for _, tt := range []struct {
		name string
		code *Arm
		want string
	}{
		{"the same", base, Even},
		{"within the margin", arm(1_020, 1_020, 101, 2.03), Even},
		{"better", arm(500, 500, 50, 1), Wins},
		{"better in one", arm(1_000, 1_000, 100, 1), Wins},
		{"worse", arm(2_000, 2_000, 200, 3), Loses},
		{"fewer tokens, slower", arm(500, 500, 100, 3), Mixed},
		{"fewer tokens, less of them cached, more written", arm(900, 900, 150, 2), Mixed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if v := judge(base, tt.code); v.Word != tt.want {
				t.Errorf("%s (tokens %.2f, cost %.2f, seconds %.2f), want %s", v.Word, v.Tokens, v.Cost, v.Seconds, tt.want)
			}
		})
	}
}

// TestSays: what is mixed is told apart.
func TestSays(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    Verdict
		want string
	}{
		{"not mixed", Verdict{Word: Wins, Tokens: 0.5, Cost: 0.5, Seconds: 0.5}, "wins"},
		{"money against time", Verdict{Word: Mixed, Tokens: 0.5, Cost: 0.5, Seconds: 2}, "cheaper, slower"},
		{"time against money", Verdict{Word: Mixed, Tokens: 2, Cost: 2, Seconds: 0.5}, "faster, dearer"},
		{"a cache helps", Verdict{Word: Mixed, Tokens: 2, Cost: 0.5, Seconds: 0.5}, "cheaper, more tokens"},
		{"a cache hinders", Verdict{Word: Mixed, Tokens: 0.5, Cost: 2, Seconds: 1}, "dearer, fewer tokens"},
		{"tokens against time", Verdict{Word: Mixed, Tokens: 0.5, Cost: 1, Seconds: 2}, "slower, fewer tokens"},
		{"time against tokens", Verdict{Word: Mixed, Tokens: 2, Cost: 1, Seconds: 0.5}, "faster, more tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.v.Says(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestScore counts every comparison once.
func TestScore(t *testing.T) {
	r := &Report{}
	for word, n := range map[string]int{Wins: 2, Loses: 1, Mixed: 3, Even: 1} {
		for range n {
			r.Comparisons = append(r.Comparisons, Comparison{Verdict: Verdict{Word: word}})
		}
	}
	r.Comparisons = append(r.Comparisons, Comparison{Refused: "no"})
	if got, want := r.Score(), "Of 8 workloads code wins 2, loses 1, 3 depend on what you pay for, 1 are even, 1 are refused."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBreakEvens: a size counts only if everything larger is better as well.
func TestBreakEvens(t *testing.T) {
	r := &Report{}
	point := func(size int, word string, tokens, cost, seconds float64) {
		r.Comparisons = append(r.Comparisons, Comparison{Family: "f", Size: size, Verdict: Verdict{Word: word, Tokens: tokens, Cost: cost, Seconds: seconds}})
	}
	point(1, Loses, 0.5, 2, 0.5)
	point(2, Mixed, 2, 2, 0.5)
	point(5, Wins, 0.5, 1.1, 0.5)
	point(9, Wins, 0.5, 0.99, 0.5)
	r.Comparisons = append(r.Comparisons, Comparison{Family: "alone", Size: 3})
	want := []breakEven{{Family: "f", All: 5, Tokens: 5, Cost: 0, Seconds: 1, Sizes: "1, 2, 5, 9"}}
	if diff := cmp.Diff(want, r.breakEvens()); diff != "" {
		t.Errorf("break-evens (-want +got):\n%s", diff)
	}
}
