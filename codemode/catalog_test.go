package codemode_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// weather is a tool that says what the weather is.
func weather() *tools.Definition {
	def := tools.Define("mcp__sky__weather", "The weather in a city.", func(_ context.Context, in struct {
		City string `json:"city"`
	}) (string, error) {
		return "clear in " + in.City, nil
	})
	return def
}

func TestProgramsLookUpTools(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		for name, tt := range map[string]struct{ program, want string }{
			"search, then call": {`
				const { matches, total } = await catalog.search("weather city");
				const says = await tools[matches[0].name]({ city: "Rome" });
				return [total, matches[0].call, matches[0].declaration.includes("city: string"), says].join("; ")`,
				"1; tools.sky.weather; true; clear in Rome"},
			"describe": {`return (await catalog.describe("tools.sky.weather")).name`, "mcp__sky__weather"},
			"a name that is not there": {`
				try { await catalog.describe("wether") } catch (e) { return e.name + "; " + e.code + "; " + e.message }`,
				`Error; INVALID_ARGS; no tool is named "wether"; catalog.search(query) finds tools by words`},
			"an argument that is no text": {`try { await catalog.search(7) } catch (e) { return e.message }`,
				"catalog.search takes a text or {query, limit}; it was called with 7"},
			"beside calls under way": {`
				const all = await Promise.all([tools.plain(), catalog.search("plain"), tools.plain(), catalog.describe("plain"), tools.plain()]);
				return all.map((x) => x.total ?? x.call ?? x).join()`,
				"ok,1,ok,tools.plain,ok"},
		} {
			t.Run(fmt.Sprint(name, " ", parallel), func(t *testing.T) {
				rec := &pipelinetest.Recorder{}
				p := pipelinetest.New(t, &pipeline.Options{Sink: rec}, weather(), pipelinetest.Concurrent(pipelinetest.Text("plain", "ok")))
				cm := open(t, p, &codemode.Options{Parallel: parallel})
				out := cm.Run(context.Background(), codemode.Program{Code: tt.program})
				if out.Text() != tt.want {
					t.Errorf("got %q, want %q", out.Text(), tt.want)
				}
				for i, record := range codemode.ReportOf(out).Calls {
					if want := fmt.Sprintf("%s:code:%d", out.Call().ID(), i+1); record.ID != want {
						t.Errorf("call %d has the id %s, want %s", i, record.ID, want)
					}
				}
				if problems := pipelinetest.CheckLog(rec.Events()); len(problems) > 0 {
					t.Errorf("the log: %q", problems)
				}
			})
		}
	}
}

func TestLookUpsAreLogged(t *testing.T) {
	rec := &pipelinetest.Recorder{}
	cm := open(t, pipelinetest.New(t, &pipeline.Options{Sink: rec}, pipelinetest.Text("plain", "ok")), nil)
	cm.Run(context.Background(), codemode.Program{ID: "c1", Code: "await catalog.search('plain');\n\ntry { await catalog.describe('x') } catch {}"})
	got := []string{}
	for _, data := range rec.Data(codemode.EventCatalog) {
		text := data.String()
		if before, rest, found := strings.Cut(text, `"declaration":`); found {
			_, after, _ := strings.Cut(rest, "}")
			text = before + "..." + after
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{
		`{"callId":"c1","member":"search","arguments":"plain","result":{"matches":[{"name":"plain","call":"tools.plain",...],"total":1},"line":1}`,
		`{"callId":"c1","member":"describe","arguments":"x","line":3,"error":"no tool is named \"x\"; catalog.search(query) finds tools by words"}`,
	}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestLookUpsAreNoSubCalls: the ledger and the count leave them out, also where
// a tool has the same name.
func TestLookUpsAreNoSubCalls(t *testing.T) {
	eachWay(t, func(t *testing.T, opts codemode.Options) {
		cm := open(t, pipelinetest.New(t, nil, pipelinetest.Text("search", "ok"), pipelinetest.Text("plain", "ok")), &opts)
		out := run(t, cm, "await tools.plain(); await catalog.search('plain'); await catalog.describe('plain')")
		if report := codemode.ReportOf(out); report.Usage.Calls != 1 || len(report.Calls) != 1 {
			t.Errorf("%d calls are counted, and %+v are in the ledger, want one", report.Usage.Calls, report.Calls)
		}
		e := fail(t, cm, "catalog.search('x'); tools.plain();\ntools.search();\ncatalog.search('x'); catalog.describe('x'); throw 1")
		var got []string
		for _, c := range e.Report.Calls {
			got = append(got, fmt.Sprint(c.Name, " ", c.Line))
		}
		slices.Sort(got) // calls that may overlap end in any order
		if diff := cmp.Diff([]string{"plain 1", "search 2"}, got); diff != "" {
			t.Errorf("ledger (-want +got):\n%s", diff)
		}
	})
}

// The catalog knows what the run's agent sees.
func TestCatalogOfAnAgent(t *testing.T) {
	p := pipelinetest.New(t, nil, pipelinetest.Text("open", ""), pipelinetest.Text("hidden", ""))
	cm := open(t, p, nil)
	hand := &worker{}
	if _, err := p.For(hand).Without("hidden"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.For(hand).Add(pipelinetest.Text("own", "")); err != nil {
		t.Fatal(err)
	}
	const program = `return (await catalog.search("")).matches.map((m) => m.name).join()`
	for _, tt := range []struct {
		agent any
		want  string
	}{{hand, "open,own"}, {nil, "hidden,open"}} {
		out := cm.Run(context.Background(), codemode.Program{Code: program, Agent: tt.agent})
		if out.Text() != tt.want {
			t.Errorf("got %q, want %q", out.Text(), tt.want)
		}
	}
}

func TestPromptBudget(t *testing.T) {
	p := pipelinetest.New(t, nil, weather())
	for _, tt := range []struct {
		budget int
		whole  bool
	}{{0, true}, {1, false}} {
		cm, err := codemode.New(p, &codemode.Options{PromptBudget: tt.budget, Isolation: codemode.IsolationInProcess})
		if err != nil {
			t.Fatal(err)
		}
		defer cm.Close()
		about, err := cm.Present()
		if err != nil {
			t.Fatal(err)
		}
		if whole := strings.Contains(about.Prompt, "city: string"); whole != tt.whole {
			t.Errorf("budget %d: the prompt has the arguments: %v, want %v\n%s", tt.budget, whole, tt.whole, about.Prompt)
		}
		if incomplete := strings.Contains(about.Prompt, "INCOMPLETE"); incomplete == tt.whole {
			t.Errorf("budget %d: the prompt says it is incomplete: %v\n%s", tt.budget, incomplete, about.Prompt)
		}
		p = pipelinetest.New(t, nil, weather())
	}
}
