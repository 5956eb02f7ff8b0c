package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// TestTables holds every token of the small workloads.
func TestTables(t *testing.T) {
	r := quick(t, Options{})
	for _, c := range r.Refused() {
		t.Errorf("%s is refused: %s", c.Workload, c.Refused)
	}
	golden(t, "table.txt", written(t, func(b *bytes.Buffer) error { return r.Table(b) }))
	golden(t, "details.txt", written(t, func(b *bytes.Buffer) error { return r.Details(b) }))
}

// TestEqualRuns: two runs are equal byte for byte, and so is one in worker
// processes but for the word that says so.
func TestEqualRuns(t *testing.T) {
	first, second := quick(t, Options{Seed: 7}), quick(t, Options{Seed: 7})
	if diff := cmp.Diff(string(asJSON(t, first)), string(asJSON(t, second))); diff != "" {
		t.Errorf("two runs with one seed differ:\n%s", diff)
	}
	if other := quick(t, Options{Seed: 8}); bytes.Equal(asJSON(t, first), asJSON(t, other)) {
		t.Error("another seed makes the same data")
	}
	workers, err := Run(t.Context(), &Options{Seed: 7, Quick: true, Only: []string{"single", "chain-3", "retry"}})
	if err != nil {
		t.Fatal(err)
	}
	if workers.Isolation != "worker" || len(workers.Comparisons) != 3 {
		t.Fatalf("isolation %q, %d comparisons; want worker processes and 3", workers.Isolation, len(workers.Comparisons))
	}
	for _, c := range workers.Comparisons {
		for _, same := range first.Comparisons {
			if same.Workload == c.Workload {
				if diff := cmp.Diff(same, c); diff != "" {
					t.Errorf("in workers %s differs (-in process +worker):\n%s", c.Workload, diff)
				}
			}
		}
	}
}

// TestProgramsLoseAndWin: the benchmark shows code mode losing where it must.
func TestProgramsLoseAndWin(t *testing.T) {
	r := quick(t, Options{})
	for _, tt := range []struct{ workload, word, says, cheapest, why string }{
		{"single", Loses, "loses", Batched, "costs: prompt 79 → "},
		{"fan-out-3", Loses, "loses", Batched, "costs: prompt 87 → "},
		{"catalogue-5", Loses, "loses", Batched, "costs: prompt 473 → "},
		{"catalogue-40", Mixed, "cheaper, slower", CodeSearch, "saves: prompt 3,789 → "},
		{"chain-3", Mixed, "faster, dearer", Batched, "of results stay out; costs: prompt 85 → "},
		{"chain-8", Wins, "wins", Code, "of results stay out"},
		{"copy-large-40", Wins, "wins", Code, "of results stay out"},
	} {
		t.Run(tt.workload, func(t *testing.T) {
			for _, c := range r.Comparisons {
				if c.Workload != tt.workload {
					continue
				}
				if v := c.Verdict; v.Word != tt.word || v.Says() != tt.says || v.Cheapest != tt.cheapest || !strings.Contains(v.Why, tt.why) {
					t.Errorf("%s (%s), cheapest %s, %s; want %s (%s), %s, %s", v.Word, v.Says(), v.Cheapest, v.Why, tt.word, tt.says, tt.cheapest, tt.why)
				}
				return
			}
			t.Error("no such workload")
		})
	}
}

// counterWorld is a workload whose tool counts, for what can go wrong in one arm.
func counterWorld(direct plan, program string) workload {
	return workload{
		name: "w", find: "count",
		turns: []turn{{prompt: "Count.", direct: direct, program: program}},
		open: func() *world {
			n := 0
			return &world{state: func() string { return fmt.Sprint(n) }, defs: []*tools.Definition{typed("count", "Count.", func(in struct {
				By int `json:"by"`
			}) (int, error) {
				if in.By == 0 {
					return 0, errors.New("by nothing")
				}
				n += in.By
				return n, nil
			})}}
		},
	}
}

// TestDisagreement: arms that do not do the same are not compared.
func TestDisagreement(t *testing.T) {
	twice := func(ask ask) answer {
		var n int
		one(ask, "count", obj{"by": 2}, nil)
		one(ask, "count", obj{"by": 3}, &n)
		return number(n)
	}
	for _, tt := range []struct{ name, program, want string }{
		{"the same", `await tools.count({by: 2}); return await tools.count({by: 3});`, ""},
		{"another answer", `await tools.count({by: 2}); await tools.count({by: 3}); return 6;`, `direct-sequential answers "5" and code "6"`},
		{"another state", `await tools.count({by: 2}); return (await tools.count({by: 4})) - 1;`, `direct-sequential ends in the state "5" and code in "6"`},
		{"one body more", `await tools.count({by: 1}); await tools.count({by: 1}); return await tools.count({by: 3});`, `direct-sequential executed 2 bodies and code 3`},
		{"another order", `await tools.count({by: 3}); return await tools.count({by: 2});`, `body 1 is count {"by":2} in direct-sequential and count {"by":3} in code`},
		{"a failure", `await tools.count({by: 2}); return await tools.count({by: 0});`, `code: a program failed, and the answer is code run failed (exception)`},
		{"no program", `this is not one`, `code: a program failed, and the answer is code run failed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := inProcess(t)
			if err := b.compare(t.Context(), counterWorld(twice, tt.program)); err != nil {
				t.Fatal(err)
			}
			c := b.report.Comparisons[0]
			if !strings.HasPrefix(c.Refused, tt.want) || (tt.want == "") != (c.Refused == "") {
				t.Errorf("refused %q, want %q", c.Refused, tt.want)
			}
			if (len(c.Arms) == 0) != (tt.want != "") || (c.Verdict == Verdict{}) != (tt.want != "") {
				t.Errorf("%d arms, verdict %+v: a refused comparison has no figures and any other has", len(c.Arms), c.Verdict)
			}
			if refused := b.report.Refused(); len(refused) == 1 != (tt.want != "") {
				t.Errorf("%d refused comparisons", len(refused))
			}
		})
	}
}

// TestLogIsChecked: an arm whose log does not hold every call is refused.
func TestLogIsChecked(t *testing.T) {
	b := inProcess(t)
	p, err := b.play(t.Context(), chain(1, 3), code)
	if err != nil || p.stage.logged != 3 || p.tokens.Calls != 3 {
		t.Fatalf("%v, %d calls in the log of %d, want 3 of 3", err, p.stage.logged, p.tokens.Calls)
	}
	p.stage.logged--
	if err := p.check(); err == nil || err.Error() != "the log has 2 calls and 3 were made" {
		t.Errorf("error %v, want the two numbers", err)
	}
}

// TestGuardsSeeEveryCall: in every arm the guard judges each call once, and the
// log has it.
func TestGuardsSeeEveryCall(t *testing.T) {
	b := inProcess(t)
	for _, a := range []arm{sequential, batched, code, codeSearch} {
		t.Run(a.name, func(t *testing.T) {
			judged := 0
			w := listThenGet(1, 3)
			open := w.open
			w.open = func() *world {
				world := open()
				world.guard = func(c tools.Call) string {
					if !c.IsTransport() {
						judged++
					}
					return ""
				}
				return world
			}
			p, err := b.play(t.Context(), w, a)
			if err != nil || judged != 4 || p.stage.logged != 4 || p.tokens.Calls != 4 {
				t.Errorf("%v; the guard judged %d calls, the log has %d of %d; want 4 of 4", err, judged, p.stage.logged, p.tokens.Calls)
			}
		})
	}
}

// What code mode adds to a request of no tools, in tokens.
const fixedPrompt, fixedRunCode = 315, 115

// TestFixedTokens holds what code mode adds to a request whatever the tools are:
// what it costs before the first call.
func TestFixedTokens(t *testing.T) {
	b := inProcess(t)
	for _, tt := range []struct {
		name            string
		mode            codemode.Mode
		server          bool // the tools are a server's
		budget          int
		prompt, runCode int
	}{
		{"no tools", codemode.ModeCode, false, 0, fixedPrompt, fixedRunCode},
		{"beside direct calls", codemode.ModeBoth, false, 0, 298, fixedRunCode},
		{"a server, two names a tool", codemode.ModeCode, true, 0, 381, fixedRunCode},
		{"names to look up", codemode.ModeCode, true, 1, 457, fixedRunCode},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reg, err := tools.NewRegistry()
			if tt.server {
				reg, err = tools.NewRegistry(&tools.Definition{Name: "mcp__a__b", Handler: neverCalled})
			}
			if err != nil {
				t.Fatal(err)
			}
			cm, err := codemode.New(pipeline.New(reg, nil), &codemode.Options{Mode: tt.mode, Runtime: shared{b.runtime}, PromptBudget: tt.budget})
			if err != nil {
				t.Fatal(err)
			}
			p, err := cm.Present()
			if err != nil {
				t.Fatal(err)
			}
			prompt, err := b.counter.count(p.Prompt)
			if err != nil {
				t.Fatal(err)
			}
			definition, err := tools.ToJSON(p.Tools[len(p.Tools)-1])
			if err != nil {
				t.Fatal(err)
			}
			runCode, err := b.counter.count(definition.String())
			if err != nil {
				t.Fatal(err)
			}
			if prompt.Tokens != tt.prompt || runCode.Tokens != tt.runCode {
				t.Errorf("the prompt has %d tokens and the definition of run_code %d, want %d and %d:\n%s\n%s", prompt.Tokens, runCode.Tokens, tt.prompt, tt.runCode, p.Prompt, definition)
			}
		})
	}
}

// TestLookUpFindsTheTools: what a model reads after its look into the catalog
// declares every tool the program calls.
func TestLookUpFindsTheTools(t *testing.T) {
	b := inProcess(t)
	for _, w := range suite(1, fullSizes) {
		if w.size > 2 && w.name != "catalogue" {
			continue
		}
		t.Run(w.title(), func(t *testing.T) {
			p, err := b.play(t.Context(), w, sequential)
			if err != nil {
				t.Fatal(err)
			}
			s, err := newStage(w.open(), codeSearch, b.runtime)
			if err != nil {
				t.Fatal(err)
			}
			found := s.codemode.Run(t.Context(), codemode.Program{Code: w.lookUp()}).Text()
			presentation, err := s.codemode.Present()
			if err != nil || !presentation.Listed {
				t.Errorf("%v; the prompt of the arm must list the tools, not declare them", err)
			}
			for _, body := range p.bodies {
				name, _, _ := strings.Cut(body, " ")
				if !strings.Contains(found, `"call": "tools.`+name) {
					t.Errorf("%s is not found by %s:\n%s", name, w.lookUp(), found)
				}
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts Options
		want string
	}{
		{"negative", Options{Repeat: -1}, "seconds of a request (0), tokens a second (0) or repetitions (-1) are negative; zero takes the default"},
		{"unknown workload", Options{Quick: true, Only: []string{"chains"}}, "no workload is called chains; the names are those of the first column of a report"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Isolation = codemode.IsolationInProcess
			if _, err := Run(t.Context(), &tt.opts); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &Options{Quick: true, Isolation: codemode.IsolationInProcess}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancellation", err)
	}
}

// TestMeasured: times are there when asked for, and in tables of their own.
func TestMeasured(t *testing.T) {
	r := quick(t, Options{Repeat: 2, Only: []string{"chain-3", "filter-large"}})
	for _, c := range r.Comparisons {
		m := c.Measured
		if m == nil || m.Repeat != 2 || m.CheckMs <= 0 || m.StartMs <= 0 || m.ScriptMs <= 0 || m.CallP95Ms < m.CallP50Ms || m.DirectP95Ms < m.DirectP50Ms || m.DirectP50Ms <= 0 || m.PeakHeap == 0 {
			t.Errorf("%s: measured %+v", c.Workload, m)
		}
	}
	text := string(written(t, func(b *bytes.Buffer) error { return r.Table(b) }))
	if !strings.Contains(text, "Measured on "+r.Machine+", programs in this process; medians of 2, ms.") || r.Machine == "" {
		t.Errorf("the table does not say where it was measured:\n%s", text)
	}
	if small, large := r.Comparisons[0].Measured.PeakHeap, r.Comparisons[1].Measured.PeakHeap; len(r.Comparisons) != 2 || small >= large {
		t.Errorf("peak heaps of %d and %d bytes; a program with many rows takes more", small, large)
	}
	workers, err := Run(t.Context(), &Options{Quick: true, Repeat: 1, Only: []string{"filter-large"}})
	if err != nil || workers.Comparisons[0].Measured.PeakHeap == 0 {
		t.Errorf("%v; with worker processes the heap is watched too", err)
	}
	if quick(t, Options{Only: []string{"single"}}).Comparisons[0].Measured != nil {
		t.Error("times are measured that nobody asked for")
	}
}

func TestModelledSeconds(t *testing.T) {
	r := quick(t, Options{Only: []string{"single"}, RequestSeconds: 3, TokensPerSecond: 10})
	a := r.Comparisons[0].Arm(Batched)
	if want := 2*3 + float64(a.Output.Tokens)/10; a.ModelSeconds != want {
		t.Errorf("%v s, want 2 requests of 3 s and %d tokens at 10 a second: %v s", a.ModelSeconds, a.Output.Tokens, want)
	}
}
