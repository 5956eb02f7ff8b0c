package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
)

// Schema is the version of a Report's JSON.
const Schema = 1

// Report is what a benchmark found. Everything in it but Machine and the
// Measured of comparisons is the same on every run with the same options.
type Report struct {
	Schema          int          `json:"schema"`
	Encoding        string       `json:"encoding"`
	Counting        string       `json:"counting"`
	Seed            uint64       `json:"seed"`
	Isolation       string       `json:"isolation"`
	RequestSeconds  float64      `json:"requestSeconds"`
	TokensPerSecond float64      `json:"tokensPerSecond"`
	Machine         string       `json:"machine,omitempty"` // where Measured was measured
	Comparisons     []Comparison `json:"comparisons"`
	Live            *LiveReport  `json:"live,omitempty"`
	Notes           []string     `json:"notes,omitempty"`
}

// Comparison is one workload in all its arms, or why there is none.
type Comparison struct {
	Workload      string  `json:"workload"`
	Family        string  `json:"family"`
	Size          int     `json:"size,omitempty"`
	About         string  `json:"about"`
	Conversations int     `json:"conversations"`
	Refused       string  `json:"refused,omitempty"` // how the arms disagree; there are no figures then
	Arms          []Arm   `json:"arms,omitempty"`
	Verdict       Verdict `json:"verdict,omitzero"`
	Measured      *Times  `json:"measured,omitempty"`
}

// Arm is the figures of one arm.
type Arm struct {
	Name string `json:"name"`
	Tokens
	ModelSeconds float64 `json:"modelSeconds"` // modelled, not measured: requests × RequestSeconds + output / TokensPerSecond
}

// Arm finds an arm by its name; nil if it was not played.
func (c *Comparison) Arm(name string) *Arm {
	for i := range c.Arms {
		if c.Arms[i].Name == name {
			return &c.Arms[i]
		}
	}
	return nil
}

func newReport(o Options) *Report {
	r := &Report{
		Schema: Schema, Encoding: Encoding, Counting: Counting, Seed: o.Seed, Isolation: "worker",
		RequestSeconds: o.RequestSeconds, TokensPerSecond: o.TokensPerSecond, Comparisons: []Comparison{},
	}
	if o.Isolation.String() == "in-process" {
		r.Isolation = o.Isolation.String()
	}
	if o.Repeat > 0 {
		r.Machine = fmt.Sprintf("%s/%s, %d CPUs, %s", goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(), goruntime.Version())
	}
	return r
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// add judges a comparison and keeps it. Direct calls one by one, the first arm, are
// never cheaper than together.
func (r *Report) add(c Comparison) {
	if c.Refused == "" {
		c.Verdict = judge(c.Arm(Batched), c.Arm(Code))
		c.Verdict.Cheapest = slices.MinFunc(c.Arms[1:], func(a, b Arm) int { return cmp.Compare(a.Cost(), b.Cost()) }).Name
	}
	r.Comparisons = append(r.Comparisons, c)
}

// Refused lists the comparisons whose arms disagree.
func (r *Report) Refused() (list []Comparison) {
	for _, c := range r.Comparisons {
		if c.Refused != "" {
			list = append(list, c)
		}
	}
	return list
}

// JSON writes the report.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// ReadReport reads what JSON wrote.
func ReadReport(in io.Reader) (*Report, error) {
	r := &Report{}
	if err := json.NewDecoder(in).Decode(r); err != nil {
		return nil, fmt.Errorf("this is no benchmark report: %w", err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("the report has schema %d and this version reads %d; run the benchmark again", r.Schema, Schema)
	}
	return r, nil
}
