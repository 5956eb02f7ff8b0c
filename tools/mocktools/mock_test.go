package mocktools

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// answer is what a call of the first tool of a file gave.
type answer struct {
	Value, Err string
	Info       tools.ErrorInfo
	Content    []tools.Content
	Contexts   []tools.Message
}

func call(t *testing.T, ctx context.Context, file, args string) answer {
	t.Helper()
	def := load(t, file)[0]
	var a answer
	run := tools.NewRun(
		tools.NewCall(tools.CallSpec{ID: "c1", Name: def.Name, Args: tools.MustJSON(args)}),
		tools.RunHooks{Defer: func(m tools.Message) bool { a.Contexts = append(a.Contexts, m); return true }},
	)
	result, err := def.Handler(ctx, run)
	a.Value, a.Content = result.Value.String(), result.Content
	if err != nil {
		a.Err, a.Info = err.Error(), tools.InfoOf(err)
	}
	return a
}

func TestAnswers(t *testing.T) {
	const file = `{"tools": [{"name": "x",
		"result": "fallback",
		"cases": [
			{"when": {"id": 1}, "result": {"n": 1.0, "big": 9007199254740993, "s": "\ud800", "z": -0}},
			{"when": {"id": 1, "more": true}, "result": "never reached"},
			{"when": {"id": 2}, "error": "plain"},
			{"when": {"id": 3}, "error": {"message": "coded", "code": "GONE"}},
			{"when": {"id": 4}, "content": ["text", {"type": "image", "data": "AA==", "mimeType": "image/png"}, {"type": "resource", "uri": "u:1"}]},
			{"when": {"id": 8}, "content": ["one", "two"]},
			{"when": {"id": 5}, "result": 5, "content": [], "contexts": ["one", "two"]},
			{"when": {"id": 6}, "result": null}
		]}]}`
	tests := []struct {
		name, args string
		want       answer
	}{
		{"value verbatim, first match wins", `{"id":1,"more":true}`, answer{Value: `{"n":1.0,"big":9007199254740993,"s":"\ud800","z":-0}`}},
		{"error text", `{"id":2}`, answer{Err: "plain"}},
		{"coded error", `{"id":3}`, answer{Err: "coded", Info: tools.ErrorInfo{Name: "MockError", Code: "GONE"}}},
		{"text alone is the value", `{"id":8}`, answer{Value: `"one\ntwo"`, Content: []tools.Content{tools.TextContent("one"), tools.TextContent("two")}}},
		{"content without a value", `{"id":4}`, answer{Content: []tools.Content{
			tools.TextContent("text"), tools.ImageContent("image/png", "AA=="), {Type: "resource", URI: "u:1"}}}},
		{"contexts are deferred in order", `{"id":5}`, answer{Value: "5", Content: []tools.Content{}, Contexts: []tools.Message{
			{Role: "user", Content: []tools.Content{tools.TextContent("one")}, Source: tools.Source{Kind: "tool", CallID: "c1"}},
			{Role: "user", Content: []tools.Content{tools.TextContent("two")}, Source: tools.Source{Kind: "tool", CallID: "c1"}},
		}}},
		{"null is a value", `{"id":6}`, answer{Value: "null"}},
		{"no case matches", `{"id":7}`, answer{Value: `"fallback"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, call(t, t.Context(), file, tt.args)); diff != "" {
				t.Errorf("answer to %s (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}

func TestCaseWithoutWhenMatchesAll(t *testing.T) {
	got := call(t, t.Context(), `{"tools": [{"name": "x", "cases": [{"result": 1}], "result": 2}]}`, `{"any":true}`)
	if got.Value != "1" {
		t.Errorf("value = %s, want 1", got.Value)
	}
}

func TestNoAnswer(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"lists the cases", `{"tools": [{"name": "x", "cases": [{"when": {"a": 1}, "result": 1}, {"when": {"b": {"c": 2}}, "error": "e"}]}]}`,
			`mock tool "x" has no answer to {"a":9}: its cases match {"a":1}, {"b":{"c":2}}; add a case, or a "result" for all others`},
		{"nothing declared", `{"tools": [{"name": "x"}]}`,
			`mock tool "x" has no answer to {"a":9}: it has neither cases nor a result; add "result" or "cases" to it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := call(t, t.Context(), tt.file, `{"a":9}`); got.Err != tt.want {
				t.Errorf("error = %q\nwant    %q", got.Err, tt.want)
			}
		})
	}
}

func TestNoAnswerIsShort(t *testing.T) {
	cases := strings.TrimSuffix(strings.Repeat(`{"when": {"a": "`+strings.Repeat("x", 300)+`"}, "result": 1},`, 12), ",")
	got := call(t, t.Context(), `{"tools": [{"name": "x", "cases": [`+cases+`]}]}`, `{"a":"`+strings.Repeat("y", 300)+`"}`).Err
	if strings.Count(got, `"x`) != 1+listedCases || strings.Count(got, "…") != 1+listedCases || !strings.Contains(got, " and 2 more; ") {
		t.Errorf("error = %s\nwant %d shortened cases and the number of the others", got, listedCases)
	}
}

// TestArgumentsAreChecked: a mock is a tool like any other, whose schema refuses
// arguments before its cases are looked at.
func TestArgumentsAreChecked(t *testing.T) {
	def := load(t, `{"tools": [{"name": "x", "inputSchema": {"type": "object", "required": ["id"]}, "result": 1}]}`)[0]
	made, err := tools.NewTool(def)
	if err != nil {
		t.Fatal(err)
	}
	var refused *tools.ArgsError
	if err := made.CheckArgs(tools.MustJSON(`{}`)); !errors.As(err, &refused) || refused.Tool != "x" {
		t.Errorf("CheckArgs = %v, want an ArgsError of x", err)
	}
}

func TestSubset(t *testing.T) {
	tests := []struct {
		name, want, have string
		match            bool
	}{
		{"empty matches", `{}`, `{"a":1}`, true},
		{"further members", `{"a":1}`, `{"b":2,"a":1}`, true},
		{"member missing", `{"a":1}`, `{"b":1}`, false},
		{"null is not missing", `{"a":null}`, `{}`, false},
		{"null equals null", `{"a":null}`, `{"a":null}`, true},
		{"other value", `{"a":1}`, `{"a":2}`, false},
		{"other kind", `{"a":1}`, `{"a":"1"}`, false},
		{"true is not false", `{"a":true}`, `{"a":false}`, false},
		{"nested object is a subset", `{"a":{"b":1}}`, `{"a":{"c":2,"b":1}}`, true},
		{"array is equal as a whole", `{"a":[1,2]}`, `{"a":[1,2]}`, true},
		{"shorter array", `{"a":[1]}`, `{"a":[1,2]}`, false},
		{"order of elements counts", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"objects in arrays are equal, not subsets", `{"a":[{"b":1}]}`, `{"a":[{"b":1,"c":2}]}`, false},
		{"order of members does not count", `{"a":[{"b":1,"c":2}]}`, `{"a":[{"c":2,"b":1}]}`, true},
		{"number in another spelling", `{"a":1}`, `{"a":1.0}`, true},
		{"number with exponent", `{"a":150}`, `{"a":1.5e2}`, true},
		{"small number with exponent", `{"a":0.015}`, `{"a":15E-3}`, true},
		{"zero and minus zero", `{"a":0}`, `{"a":-0.0}`, true},
		{"sign", `{"a":1}`, `{"a":-1}`, false},
		{"no rounding", `{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{"ten is not one", `{"a":10}`, `{"a":1}`, false},
		{"huge exponents compare by text", `{"a":1e99999999999999999999}`, `{"a":1e99999999999999999999}`, true},
		{"huge exponents differ", `{"a":1e99999999999999999999}`, `{"a":2e99999999999999999999}`, false},
		{"escapes of one string", `{"a":"\u0041"}`, `{"a":"A"}`, true},
		{"object against array", `{"a":{}}`, `{"a":[]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := subset(tools.MustJSON(tt.want), tools.MustJSON(tt.have)); got != tt.match {
				t.Errorf("subset(%s, %s) = %v, want %v", tt.want, tt.have, got, tt.match)
			}
		})
	}
}

const slow = `{"tools": [{"name": "x", "delayMs": 1500, "result": 1}]}`

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if got := call(t, t.Context(), slow, `{}`); got.Value != "1" {
			t.Errorf("answer = %+v, want 1", got)
		}
		if took := time.Since(start); took != 1500*time.Millisecond {
			t.Errorf("the call took %v, want 1.5s", took)
		}
	})
}

func TestDelayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the user left")) })
		start := time.Now()
		if got := call(t, ctx, slow, `{}`); got.Err != "the user left" || got.Value != "" {
			t.Errorf("answer = %+v, want the reason of the context alone", got)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the call took %v, want 1s", took)
		}
	})
}

func TestDeafDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		got := call(t, ctx, `{"tools": [{"name": "x", "delayMs": 1500, "ignoresCancel": true, "result": 1}]}`, `{}`)
		if took := time.Since(start); got.Value != "1" || took != 1500*time.Millisecond {
			t.Errorf("answer = %+v after %v, want 1 after 1.5s", got, took)
		}
	})
}

func TestEndedContextAnswersNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := call(t, ctx, `{"tools": [{"name": "x", "result": 1}]}`, `{}`); got.Err != context.Canceled.Error() || got.Value != "" {
		t.Errorf("answer = %+v, want %v", got, context.Canceled)
	}
}

// TestAnswerIsTheCallersOwn shows that a caller who changes the blocks of one
// answer does not change the next.
func TestAnswerIsTheCallersOwn(t *testing.T) {
	def := load(t, `{"tools": [{"name": "x", "cases": [{"content": ["kept"]}]}]}`)[0]
	run := tools.NewRun(tools.NewCall(tools.CallSpec{Args: tools.MustJSON(`{}`)}), tools.RunHooks{})
	first, _ := def.Handler(t.Context(), run)
	first.Content[0].Text = "changed"
	if second, _ := def.Handler(t.Context(), run); second.Content[0].Text != "kept" {
		t.Errorf("second answer = %q, want kept", second.Content[0].Text)
	}
}
