package examples

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
)

func TestPaginate(t *testing.T) {
	for _, tc := range []struct {
		name, input, want string
		calls             []string // their arguments
	}{
		{
			"as it stands", "",
			`{"since":"2026-01-01","status":"paid","orders":4,"total":"289.99"}`,
			[]string{`{}`, `{"cursor":"p2"}`, `{"cursor":"p3"}`},
		},
		{
			"only the first page", `{"since":"2026-03-02","status":"returned"}`,
			`{"since":"2026-03-02","status":"returned","orders":1,"total":"5.00"}`,
			[]string{`{}`, `{"cursor":"p2"}`},
		},
		{
			"too old from the start", `{"since":"2027-01-01"}`,
			`{"since":"2027-01-01","status":"paid","orders":0,"total":"0.00"}`,
			[]string{`{}`},
		},
		{
			"to the end", `{"since":"2000-01-01"}`,
			`{"since":"2000-01-01","status":"paid","orders":7,"total":"306.37"}`,
			[]string{`{}`, `{"cursor":"p2"}`, `{"cursor":"p3"}`, `{"cursor":"p4"}`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, isolation codemode.Isolation) {
				var calls []string
				out := runExample(t, example{
					script: "paginate.ts", input: tc.input, isolation: isolation,
					tools: mockTools(t, filepath.Join("data", "list-orders.mock.json")),
					setup: func(p *pipeline.Pipeline) {
						p.OnResult("calls", func(o pipeline.Outcome) {
							if o.Call().Name() == "list_orders" {
								calls = append(calls, o.Call().Args().String())
							}
						})
					},
				})
				if got := outcomeOf(t, out).Result.String(); got != tc.want {
					t.Errorf("got  %s\nwant %s", got, tc.want)
				}
				if !slices.Equal(calls, tc.calls) {
					t.Errorf("the calls were %q, want %q", calls, tc.calls)
				}
			})
		})
	}
}
