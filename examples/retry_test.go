package examples

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
)

func TestRetry(t *testing.T) {
	for _, tc := range []struct {
		name, input, want string
		printed           []string         // sorted, without the random delays
		attempts          map[string][]int // by currency
	}{
		{
			"as it stands", "",
			`[{"currency":"CHF","rate":1.05},{"currency":"NOK","rate":0.085},{"currency":"SEK","failed":"UNAVAILABLE"},{"currency":"XYZ","failed":"NOT_FOUND"}]`,
			[]string{
				"NOK: RATE_LIMITED, attempt 2 in ms", "NOK: UNAVAILABLE, attempt 3 in ms",
				"SEK: UNAVAILABLE, attempt 2 in ms", "SEK: UNAVAILABLE, attempt 3 in ms", "SEK: UNAVAILABLE, attempt 4 in ms",
			},
			map[string][]int{"CHF": {1}, "NOK": {1, 2, 3}, "SEK": {1, 2, 3, 4}, "XYZ": {1}},
		},
		{
			"too few attempts", `{"currencies":["NOK"],"attempts":2,"baseMs":1}`,
			`[{"currency":"NOK","failed":"UNAVAILABLE"}]`,
			[]string{"NOK: RATE_LIMITED, attempt 2 in ms"},
			map[string][]int{"NOK": {1, 2}},
		},
		{
			"one attempt", `{"currencies":["SEK"],"attempts":1}`,
			`[{"currency":"SEK","failed":"UNAVAILABLE"}]`, []string{},
			map[string][]int{"SEK": {1}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				attempts := map[string][]int{}
				out := runExample(t, example{
					script: "retry.ts", input: tc.input, isolation: isolation,
					tools: mockTools(t, filepath.Join("data", "rates.mock.json")),
					setup: func(p *pipeline.Pipeline) {
						p.OnResult("attempts", func(o pipeline.Outcome) {
							var args struct {
								Currency string `json:"currency"`
								Attempt  int    `json:"attempt"`
							}
							if o.Call().Name() == "get_rate" && o.Call().Args().Unmarshal(&args) == nil {
								attempts[args.Currency] = append(attempts[args.Currency], args.Attempt)
							}
						})
					},
				})
				got := outcomeOf(t, out)
				if got.Result.String() != tc.want {
					t.Errorf("got  %s\nwant %s", got.Result, tc.want)
				}
				if diff := cmp.Diff(tc.printed, withoutDelays(got.Logs)); diff != "" {
					t.Errorf("printed (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.attempts, attempts); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

var delay = regexp.MustCompile(` in \d+ ms$`)

func withoutDelays(lines []string) []string {
	out := []string{}
	for _, line := range lines {
		out = append(out, delay.ReplaceAllString(line, " in ms"))
	}
	slices.Sort(out)
	return out
}
