package bench

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

func rec(name, args, value string) recordedCall {
	return recordedCall{Name: name, Args: tools.MustJSON(args), Value: tools.MustJSON(value)}
}

// TestFlow: what is sent together, and the programs.
func TestFlow(t *testing.T) {
	failed := rec("f", `{"id":1}`, `null`)
	failed.Failure, failed.Value = "no such thing", tools.JSON{}
	for _, tt := range []struct {
		name           string
		turn           recordedTurn
		groups         string
		program, every string
	}{
		{"independent", recordedTurn{calls: []recordedCall{rec("f", `{"id":1}`, `{"a":"first"}`), rec("g", `{"x":"other","list":[1,{"b c":2}]}`, `"second"`)}},
			"f g", "await tools.f({id: 1});\nreturn await tools.g({x: \"other\", list: [1, {\"b c\": 2}]});",
			"const r1 = await tools.f({id: 1});\nconst r2 = await tools.g({x: \"other\", list: [1, {\"b c\": 2}]});\nreturn [r1, r2];"},
		{"a part of an earlier result", recordedTurn{calls: []recordedCall{rec("f", `{}`, `{"items":[{"no":1},{"the id":"item-7"}]}`), rec("g", `{"ids":["item-7"]}`, `1`), rec("h", `{}`, `2`)}},
			"f|g h", "const r1 = await tools.f({});\nawait tools.g({ids: [r1.items[1][\"the id\"]]});\nreturn await tools.h({});", ""},
		{"a whole result", recordedTurn{calls: []recordedCall{rec("f", `{}`, `{"b":"of it","a":2}`), rec("g", `{"all":{"a":2,"b":"of it"}}`, `1`)}},
			"f|g", "const r1 = await tools.f({});\nreturn await tools.g({all: r1});", ""},
		{"a long number", recordedTurn{calls: []recordedCall{rec("f", `{}`, `{"id":12345,"x":0}`), rec("g", `{"id":12345}`, `1`)}}, "f|g", "const r1 = await tools.f({});\nreturn await tools.g({id: r1.id});", ""},
		{"a flag", recordedTurn{calls: []recordedCall{rec("f", `{}`, `{"ok":true,"none":null}`), rec("g", `{"ok":true,"none":null}`, `1`)}}, "f g", "await tools.f({});\nreturn await tools.g({ok: true, none: null});", ""},
		{"named by the user", recordedTurn{prompt: "Look at item-7.", calls: []recordedCall{rec("f", `{}`, `"item-7"`), rec("g", `{"id":"item-7"}`, `1`)}},
			"f g", "await tools.f({});\nreturn await tools.g({id: \"item-7\"});", ""},
		{"too short to tell", recordedTurn{calls: []recordedCall{rec("f", `{}`, `"no"`), rec("g", `{"id":"no"}`, `1`)}}, "f g", "await tools.f({});\nreturn await tools.g({id: \"no\"});", ""},
		{"a failure", recordedTurn{calls: []recordedCall{failed, rec("mcp__a__b-c", `{}`, `1`)}}, "f mcp__a__b-c",
			"await tools.f({id: 1}).catch(e => e.message);\nreturn await tools[\"mcp__a__b-c\"]({});", ""},
		{"an answer of several results", recordedTurn{calls: []recordedCall{rec("f", `{}`, `"first result"`), rec("g", `{}`, `{"x":"second result"}`)}, returns: tools.MustJSON(`{"one":"first result","two":"second result"}`)},
			"f g", "const r1 = await tools.f({});\nconst r2 = await tools.g({});\nreturn {one: r1, two: r2.x};",
			"const r1 = await tools.f({});\nconst r2 = await tools.g({});\nreturn [r1, r2, {one: r1, two: r2.x}];"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFlow(tt.turn)
			var groups []string
			for _, g := range f.groups() {
				var names []string
				for _, c := range g {
					names = append(names, c.name)
				}
				groups = append(groups, strings.Join(names, " "))
			}
			if got := strings.Join(groups, "|"); got != tt.groups {
				t.Errorf("sent together: %s, want %s", got, tt.groups)
			}
			if diff := cmp.Diff(tt.program, f.program(false)); diff != "" {
				t.Errorf("program (-want +got):\n%s", diff)
			}
			if got := f.program(true); tt.every != "" && got != tt.every {
				t.Errorf("program of all results:\n%s\nwant\n%s", got, tt.every)
			}
		})
	}
}

// TestReplay: recordings are played in every arm, and what is not the recorded
// call is rejected.
func TestReplay(t *testing.T) {
	def := func(name string) *tools.Definition { return &tools.Definition{Name: name} }
	r := recording{id: "one", defs: []*tools.Definition{def("f"), def("g")}, turns: []recordedTurn{
		{prompt: "First.", calls: []recordedCall{rec("f", `{"a":1,"b":2}`, `{"id":"item-7"}`), rec("g", `{"id":"item-7"}`, `null`)}},
		{prompt: "Nothing to do."},
		{prompt: "Last.", calls: []recordedCall{{Name: "g", Args: tools.MustJSON(`{}`), Failure: "no id"}}},
	}}
	b := inProcess(t)
	if err := b.replay(t.Context(), "set", "", []recording{r, r}); err != nil {
		t.Fatal(err)
	}
	c := b.report.Comparisons[0]
	if c.Refused != "" {
		t.Fatalf("refused: %s", c.Refused)
	}
	for _, want := range []struct {
		arm             string
		requests, calls int
	}{{Sequential, 12, 6}, {Batched, 12, 6}, {Code, 10, 6}, {CodeAll, 10, 6}, {CodeSearch, 12, 6}} {
		if a := c.Arm(want.arm); a.Requests != want.requests || a.Calls != want.calls {
			t.Errorf("%s: %d requests, %d calls; want %d and %d for both conversations", want.arm, a.Requests, a.Calls, want.requests, want.calls)
		}
	}
	if all, last := c.Arm(CodeAll).Input.Tokens, c.Arm(Code).Input.Tokens; all <= last {
		t.Errorf("returning every result takes %d tokens and returning the last %d", all, last)
	}

	// Turns are one conversation: with an ideal cache every message is new once.
	p, err := b.play(t.Context(), r.workload(), batched)
	if err != nil {
		t.Fatal(err)
	}
	said, err := b.counter.count(done)
	if err != nil || p.tokens.Fresh.Tokens+said.Tokens != p.tokens.Context.Tokens {
		t.Errorf("%v, %d new tokens in all and %d in the last request with its answer of %d", err, p.tokens.Fresh.Tokens, p.tokens.Context.Tokens, said.Tokens)
	}

	for _, tt := range []struct{ name, program, want string }{
		{"other arguments", `return await tools.f({a: 1, b: 3});`, `call 1 is f {"a":1,"b":3}; recorded is f {"a":1,"b":2}`},
		{"keys in another order", `const {id} = await tools.f({b: 2, a: 1}); return await tools.g({id});`, ""},
		{"another tool", `return await tools.g({a: 1, b: 2}).catch(() => null);`, `call 1 is g {"a":1,"b":2}; recorded is f {"a":1,"b":2}`},
		{"two wrong calls", `await tools.g({id: "a"}).catch(() => null); return await tools.g({id: "b"}).catch(() => null);`, `call 1 is g {"id":"a"}; recorded is f`},
		{"a call too few", `return await tools.f({a: 1, b: 2});`, `1 of 2 recorded calls were made`},
		{"a call too many", `await tools.f({a: 1, b: 2}); await tools.g({id: "item-7"}); return await tools.g({}).catch(() => null);`, `call 3 is g {} and only 2 were recorded`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			short := r
			short.turns = r.turns[:1]
			w := short.workload()
			w.turns[0].program = tt.program
			_, err := b.play(t.Context(), w, code)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestOneDisagreementRefusesTheSet(t *testing.T) {
	b := inProcess(t)
	good := recording{id: "good", defs: []*tools.Definition{{Name: "f"}}, turns: []recordedTurn{{prompt: "Go.", calls: []recordedCall{rec("f", `{}`, `1`)}}}}
	bad := good
	bad.id, bad.turns = "bad", []recordedTurn{{prompt: "Go.", calls: []recordedCall{rec("f", `{}`, `1`)}, returns: tools.MustJSON(`"not what the call returns"`)}}
	bad.turns[0].returns = tools.MustJSON(`[1]`)
	wrong := bad.workload()
	if _, refused, err := b.playAll(t.Context(), wrong, []arm{sequential, code}); err != nil || refused != "" {
		t.Fatalf("refused %q, %v; a returned literal is an answer", refused, err)
	}
	bad.turns[0].calls = append(bad.turns[0].calls, rec("g", `{}`, `1`)) // not declared
	if err := b.replay(t.Context(), "set", "", []recording{good, bad}); err != nil {
		t.Fatal(err)
	}
	c := b.report.Comparisons[0]
	if !strings.HasPrefix(c.Refused, "bad: direct-sequential: 1 of 2 recorded calls were made") || c.Arms != nil {
		t.Errorf("refused %q with %d arms, want the recording named and no figures", c.Refused, len(c.Arms))
	}
}

// TestFit: declarations that recorded calls do not keep to are loosened, others stay.
func TestFit(t *testing.T) {
	strict := tools.MustJSON(`{"type":"object","properties":{"n":{"type":"integer","description":"How many"}},"required":["n"]}`)
	out := tools.MustJSON(`{"type":"string"}`)
	list := func() []recording {
		return []recording{{id: "r", defs: []*tools.Definition{{Name: "f", Input: strict, Output: out}}, turns: []recordedTurn{{}}}}
	}
	for _, tt := range []struct {
		name          string
		call          recordedCall
		input, output string
	}{
		{"it keeps to them", rec("f", `{"n":1}`, `"x"`), strict.String(), out.String()},
		{"another argument", rec("f", `{"n":"1"}`, `"x"`), `{"type":"object","properties":{"n":{"description":"How many"}}}`, out.String()},
		{"another result", rec("f", `{"n":1}`, `1`), strict.String(), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := list()
			l[0].turns[0].calls = []recordedCall{tt.call}
			if err := fit(l); err != nil {
				t.Fatal(err)
			}
			if d := l[0].defs[0]; sorted(d.Input) != sorted(tools.MustJSON(tt.input)) || d.Output.String() != tt.output {
				t.Errorf("input %s, output %s", d.Input, d.Output)
			}
		})
	}
	l := list()
	l[0].turns[0].calls = []recordedCall{rec("g", `{}`, `1`)}
	if err := fit(l); err == nil || err.Error() != "r: the tool g is called and not declared" {
		t.Errorf("error %v, want the tool named", err)
	}
}

func TestResolve(t *testing.T) {
	results := map[string]tools.JSON{"var1": tools.MustJSON(`{"id":"one","deep":"two"}`)}
	for _, tt := range []struct{ args, want string }{
		{`{"a":"$var1.id$"}`, `{"a":"one"}`},
		{`{"a":["$var1$"]}`, `{"a":[{"id":"one","deep":"two"}]}`},
		{`{"a":"$var1.deep.name$","b":"$var1.deep[0].x$"}`, `{"a":"two","b":"two"}`},
		{`{"a":"$var1.none$","b":"$var2.id$","c":"2 * $var1.id$","d":1}`, `{"a":"$var1.none$","b":"$var2.id$","c":"2 * $var1.id$","d":1}`},
	} {
		if got := resolve(tools.MustJSON(tt.args), results).String(); got != tt.want {
			t.Errorf("%s becomes %s, want %s", tt.args, got, tt.want)
		}
	}
}

// TestRecordedSets replays whole sets directly and as programs: the log holds
// exactly their calls, or the arm is refused.
func TestRecordedSets(t *testing.T) {
	root := filepath.Dir(corpus.Dir(t, "bfcl-multi-turn"))
	want := map[string]struct{ conversations, calls int }{"bfcl-base": {200, 1_142}, "bfcl-long": {200, 1_203}, "tau2-retail": {114, 550}, "nestful": {85, 233}}
	for _, set := range datasets {
		t.Run(set.name, func(t *testing.T) {
			list, err := set.load(filepath.Join(root, set.folder))
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != want[set.name].conversations {
				t.Errorf("%d conversations, want %d", len(list), want[set.name].conversations)
			}
			if testing.Short() {
				list = list[:quickConversations]
			}
			b := inProcess(t)
			arms := []arm{batched, code}
			logged, sums := make([]int, len(arms)), make([]Tokens, len(arms))
			for _, r := range list {
				all, refused, err := b.playAll(t.Context(), r.workload(), arms)
				if err != nil || refused != "" {
					t.Fatalf("%s: refused %s, %v", r.id, refused, err)
				}
				for i, p := range all {
					logged[i] += p.stage.logged
					sums[i] = sums[i].plus(p.tokens)
				}
			}
			for i, a := range arms {
				if calls := want[set.name].calls; logged[i] != calls && !testing.Short() {
					t.Errorf("%s: %d calls in the logs, want %d", a.name, logged[i], calls)
				}
			}
			if base, code := b.arm(Batched, sums[0]), b.arm(Code, sums[1]); !testing.Short() && !checkDocs(t, docsRows(t), set.name, judge(&base, &code)) {
				t.Error("docs/benchmark.md has no row of it")
			}
		})
	}
}

// TestQuickData: the data sets in every arm, few conversations of each.
func TestQuickData(t *testing.T) {
	r := quick(t, Options{Data: filepath.Dir(corpus.Dir(t, "bfcl-multi-turn")), Only: []string{"bfcl", "tau2", "nestful"}})
	if len(r.Comparisons) != len(datasets) || len(r.Notes) != len(datasets) {
		t.Fatalf("%d comparisons, notes %q; want one of each for every set", len(r.Comparisons), r.Notes)
	}
	for _, c := range r.Comparisons {
		if c.Refused != "" || c.Conversations != quickConversations || len(c.Arms) != 5 || c.Verdict.Word == "" {
			t.Errorf("%s: %d conversations, %d arms, refused %q", c.Workload, c.Conversations, len(c.Arms), c.Refused)
		}
	}
}

func TestRealCatalogues(t *testing.T) {
	list, err := realCatalogues(filepath.Join(corpus.Dir(t, "mcp-tools"), "live"))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, w := range list {
		titles = append(titles, fmt.Sprintf("%s %d", w.title(), len(w.open().defs)))
	}
	if diff := cmp.Diff([]string{"real-catalogue-10 10", "real-catalogue-50 50", "real-catalogue-135 135"}, titles); diff != "" {
		t.Errorf("catalogues (-want +got):\n%s", diff)
	}
	b := inProcess(t)
	if err := b.compare(t.Context(), list[1]); err != nil || b.report.Comparisons[0].Refused != "" {
		t.Errorf("%v, %s", err, b.report.Comparisons[0].Refused)
	}
}

func TestAbsentDataIsNoted(t *testing.T) {
	r, err := Run(t.Context(), &Options{Data: t.TempDir(), Quick: true, Only: []string{"single", "bfcl-long", "real"}, Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) != 2 || !strings.HasPrefix(r.Notes[0], "mcp-tools is not in ") || !strings.Contains(r.Notes[1], "bfcl-long is left out") || len(r.Comparisons) != 1 {
		t.Errorf("notes %q, %d comparisons", r.Notes, len(r.Comparisons))
	}
}

func TestSorted(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[2,{"d":3,"c":4}]}`, `{"b":[2.0,{"c":4e0,"d":3}],"a":1.0}`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1e400`, `1e401`, false},
		{`0.1`, `1e-1`, true},
		{`-0.0`, `0`, false},
		{`[1,2]`, `[2,1]`, false},
		{`"1"`, `1`, false},
		{`"\ud800"`, `"\ud801"`, false},
	} {
		if got := sorted(tools.MustJSON(tt.a)) == sorted(tools.MustJSON(tt.b)); got != tt.same {
			t.Errorf("%s and %s are the same: %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

var exponent = regexp.MustCompile(`[0-9][eE]`)

// FuzzProgram: the program of any recording makes exactly its calls.
func FuzzProgram(f *testing.F) {
	f.Add(`{"a":[1.0,-0.0,9007199254740993,"x"],"__proto__":{"b c":null}}`, `{"items":[{"the id":"item-7"}],"__proto__":"proto"}`, `{"id":"item-7","p":"proto","\u2028":"\u2028"}`)
	f.Add(`{}`, `"text"`, `{"t":"text","tools":true}`)
	f.Add(`{"":{}}`, `[[["deep-1"]],12345]`, `{"a":{"constructor":["deep-1",12345]}}`)
	f.Fuzz(func(t *testing.T, args, value, then string) {
		var list []tools.JSON
		for _, text := range []string{args, value, then} {
			v, err := tools.ParseJSON(text)
			if err != nil || len(text) > 2_000 || exponent.MatchString(text) { // it may be beyond doubles
				t.Skip()
			}
			list = append(list, v)
		}
		if list[0].Kind() != '{' || list[2].Kind() != '{' {
			t.Skip()
		}
		r := recording{id: "fuzz", defs: []*tools.Definition{{Name: "f"}, {Name: "g"}}, turns: []recordedTurn{{prompt: "Go.", calls: []recordedCall{
			{Name: "f", Args: list[0], Value: list[1]}, {Name: "g", Args: list[2], Value: tools.MustJSON(`"end"`)},
		}}}}
		b := inProcess(t)
		if _, err := b.play(t.Context(), r.workload(), sequential); err != nil {
			t.Skip() // arguments the pipeline refuses in any arm
		}
		if _, err := b.play(t.Context(), r.workload(), code); err != nil {
			t.Errorf("%v\n%s", err, r.workload().turns[0].program)
		}
	})
}
