package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/tools"
)

func testCounter(t *testing.T) *counter {
	t.Helper()
	c, err := newCounter()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCount holds counts that are known of o200k_base.
func TestCount(t *testing.T) {
	c := testCounter(t)
	for _, tt := range []struct {
		text string
		want Amount
	}{
		{"", Amount{}},
		{"hello world", Amount{2, 11}},
		{"🙂", Amount{1, 4}},
		{"tiktoken is great!", Amount{6, 18}},
	} {
		for range 2 { // counted, and remembered
			if got, err := c.count(tt.text); err != nil || got != tt.want {
				t.Errorf("count(%q) = %+v, %v; want %+v", tt.text, got, err, tt.want)
			}
		}
	}
	if q := (Amount{Bytes: 9}).Quarter(); q != 3 {
		t.Errorf("a quarter of 9 bytes is %d, want 3", q)
	}
}

// TestMessageSize: a model reads the text of a message, not its JSON.
func TestMessageSize(t *testing.T) {
	b := inProcess(t)
	m := meter{counter: b.counter}
	for _, tt := range []struct {
		name, message string
		texts         []string
		frames        int
	}{
		{"a text", `{"role":"user","content":"How many?"}`, []string{"How many?"}, 1},
		{"escapes", `{"role":"system","content":"a\n\"b\"\n\u00e4"}`, []string{"a\n\"b\"\nä"}, 1},
		{"no text", `{"role":"assistant","content":null}`, nil, 1},
		{"a result", `{"role":"tool","tool_call_id":"call_1","content":"{\"n\":1}"}`, []string{`{"n":1}`}, 1},
		{"calls", `{"role":"assistant","content":"Two.","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":\"b\"}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]}`,
			[]string{"Two.", "f", `{"a":"b"}`, "g", "{}"}, 3},
		{"an image", `{"role":"user","content":[{"type":"text","text":"x"}]}`, []string{`[{"type":"text","text":"x"}]`}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := Amount{tt.frames * 4, tt.frames * 16}
			for _, text := range tt.texts {
				size, err := b.counter.count(text)
				if err != nil {
					t.Fatal(err)
				}
				want = want.plus(size)
			}
			for range 2 { // read, and remembered
				if got, err := m.part(tt.message, false); err != nil || got != want {
					t.Errorf("%+v, %v; want %+v", got, err, want)
				}
			}
			if got, err := m.part(tt.message, true); err != nil || got == want {
				t.Errorf("%+v, %v as a definition; it counts as JSON", got, err)
			}
		})
	}
	if _, err := m.part(`[]`, false); err == nil || !strings.HasPrefix(err.Error(), "a message is not what it should be: ") {
		t.Errorf("error %v for a message that is none", err)
	}
}

// TestPartsAreTheRequest: counting parts misses what a model reads as a whole by
// less than three in a hundred.
func TestPartsAreTheRequest(t *testing.T) {
	b := inProcess(t)
	s, err := newStage(listThenGet(1, 5).open(), code, b.runtime)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.codemode.Present()
	if err != nil {
		t.Fatal(err)
	}
	request, err := modelapi.OpenAIChat.Request(modelapi.Request{Model: "scripted", System: System, Presentation: p, Messages: []tools.JSON{modelapi.OpenAIChat.User("How many?")}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	m := meter{counter: b.counter}
	if err := m.request(r.Tools, r.Messages); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s\n\nsystem\n%s\n\n%s\n\nuser\nHow many?\n\n", r.Tools[0], System, p.Prompt)
	whole, err := b.counter.count(text)
	if err != nil {
		t.Fatal(err)
	}
	if parts := m.sum.Input.Tokens; parts*100 > whole.Tokens*103 || parts*100 < whole.Tokens*97 {
		t.Errorf("the parts have %d tokens and the whole %d", parts, whole.Tokens)
	}
}

// TestMeter: what is new, what is surface, what is context.
func TestMeter(t *testing.T) {
	c := testCounter(t)
	size := func(text string) Amount {
		n, err := c.count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	tool, system, user, later := tools.MustJSON(`{"tool":1}`), tools.MustJSON(`{"role":"system","content":"be brief"}`), tools.MustJSON(`{"role":"user","content":"how many?"}`), tools.MustJSON(`{"role":"tool","content":"twelve of them"}`)
	other := tools.MustJSON(`{"role":"system","content":"take your time"}`)
	m := meter{counter: c}
	for _, messages := range [][]tools.JSON{{system, user}, {system, user, later}, {other, user}} {
		if err := m.request([]tools.JSON{tool}, messages); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.answer("twelve", []modelapi.Call{{ID: "not counted", Name: "f", Args: `{"a":1}`}}); err != nil {
		t.Fatal(err)
	}
	said := func(text string) Amount { return size(text).plus(Amount{4, 16}) }
	to, sy, us, la, ot := size(tool.String()), said("be brief"), said("how many?"), said("twelve of them"), said("take your time")
	out := size("twelve").plus(size("f")).plus(size(`{"a":1}`))
	sum := func(list ...Amount) (s Amount) {
		for _, a := range list {
			s = s.plus(a)
		}
		return s
	}
	want := Tokens{
		Requests: 3, Input: sum(to, sy, us, to, sy, us, la, to, ot, us), Fresh: sum(to, sy, us, la, ot, us), // behind another prompt nothing is in a cache
		Output: out, Surface: sum(to, sy, to, sy, to, ot), Context: sum(to, ot, us, out),
	}
	if diff := cmp.Diff(want, m.sum); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestCost(t *testing.T) {
	tokens := Tokens{Input: Amount{Tokens: 1_000}, Fresh: Amount{Tokens: 300}, Output: Amount{Tokens: 20}}
	if got := tokens.Cost(); got != 300+70+100 {
		t.Errorf("cost %v, want 300 fresh, a tenth of 700 cached and five times 20 written", got)
	}
}
