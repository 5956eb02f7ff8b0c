package todotools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// newLists are lists that log into a pipeline, the pipeline that holds
// todo_write, and what it writes.
func newLists(t *testing.T, opts Options) (*Lists, *pipeline.Pipeline, *pipelinetest.Recorder) {
	t.Helper()
	var p *pipeline.Pipeline
	opts.Emit = func(eventType string, data tools.JSON) error { return p.Emit(eventType, data) }
	lists, sink := New(&opts), &pipelinetest.Recorder{}
	p = pipelinetest.New(t, &pipeline.Options{Sink: sink}, lists.Tools()...)
	return lists, p, sink
}

func write(p *pipeline.Pipeline, agent any, args string) pipeline.Outcome {
	return p.Execute(context.Background(), pipeline.Request{Name: toolName, Agent: agent, Args: args})
}

// logged is the data of the events todo/write.
func logged(sink *pipelinetest.Recorder) []string {
	data := []string{}
	for _, e := range sink.Events() {
		if e.Type == EventTodoWrite {
			data = append(data, e.Data.String())
		}
	}
	return data
}

func TestDefinition(t *testing.T) {
	def := New(nil).Tools()[0]
	if want := (tools.Annotations{Idempotent: true}); def.Name != "todo_write" || def.Annotations != want || def.Concurrent != nil {
		t.Errorf("%s, annotations %+v, want %+v and an exclusive tool", def.Name, def.Annotations, want)
	}
	const one = "At most one item may be in_progress."
	if parallel := New(&Options{AllowParallelInProgress: true}).Tools()[0]; !strings.Contains(def.Description, one) || strings.Contains(parallel.Description, one) {
		t.Errorf("descriptions: %s\n%s", def.Description, parallel.Description)
	}
	for _, part := range []string{fmt.Sprintf("%d items", maxItems), "1,000 characters"} {
		if !strings.Contains(def.Description, part) {
			t.Errorf("the description lacks %q: %s", part, def.Description)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		name, args         string
		opts               Options
		value, event, text string
	}{
		{
			name:  "two items",
			args:  `{"todos":[{"content":"read the code","status":"in_progress"},{"content":"fix it","status":"pending"}]}`,
			value: `{"todos":[{"content":"read the code","status":"in_progress"},{"content":"fix it","status":"pending"}],"counts":{"pending":1,"inProgress":1,"completed":0}}`,
			event: `{"todos":[{"content":"read the code","status":"in_progress"},{"content":"fix it","status":"pending"}]}`,
			text:  "Updated todo list: 1 pending, 1 in progress, 0 completed.",
		},
		{
			name:  "space around",
			args:  `{"todos":[{"status":"completed","content":" \n fix  it\t"}]}`,
			value: `{"todos":[{"content":"fix  it","status":"completed"}],"counts":{"pending":0,"inProgress":0,"completed":1}}`,
			event: `{"todos":[{"content":"fix  it","status":"completed"}]}`,
			text:  "Updated todo list: 0 pending, 0 in progress, 1 completed.",
		},
		{
			name:  "no items",
			args:  `{"todos":[]}`,
			value: `{"todos":[],"counts":{"pending":0,"inProgress":0,"completed":0}}`,
			event: `{"todos":[]}`,
			text:  "Updated todo list: 0 pending, 0 in progress, 0 completed.",
		},
		{
			name:  "parallel work where it is allowed",
			args:  `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			opts:  Options{AllowParallelInProgress: true},
			value: `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}],"counts":{"pending":0,"inProgress":2,"completed":0}}`,
			event: `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			text:  "Updated todo list: 0 pending, 2 in progress, 0 completed.",
		},
		{
			name:  "characters that are escaped, and the longest content",
			args:  `{"todos":[{"content":"\ud83d\ude00 \u0022\u003c","status":"pending"},{"content":"` + strings.Repeat("é", maxContent) + `","status":"pending"}]}`,
			value: `{"todos":[{"content":"😀 \"<","status":"pending"},{"content":"` + strings.Repeat("é", maxContent) + `","status":"pending"}],"counts":{"pending":2,"inProgress":0,"completed":0}}`,
			event: `{"todos":[{"content":"😀 \"<","status":"pending"},{"content":"` + strings.Repeat("é", maxContent) + `","status":"pending"}]}`,
			text:  "Updated todo list: 2 pending, 0 in progress, 0 completed.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lists, p, sink := newLists(t, tt.opts)
			out := write(p, "main", tt.args)
			if out.IsError() {
				t.Fatal(out.Err())
			}
			if diff := cmp.Diff(tt.value, out.Value().String()); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, tools.ContentString(out.Content())); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{tt.event}, logged(sink)); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.event, lists.Todos("main").String()); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	item := func(content, status string) string { return `{"content":"` + content + `","status":"` + status + `"}` }
	many := strings.Repeat(item("x", "pending")+",", maxItems)
	for _, tt := range []struct {
		name, items string
		parts       []string
	}{
		{"empty content", item("", "pending"), []string{`"todos[0].content" is empty`}},
		{"blank content", item("a", "pending") + "," + item(` \n\u2003`, "pending"), []string{`"todos[1].content" is empty`}},
		{"the same twice", item("a", "pending") + "," + item("b", "pending") + "," + item(" a ", "completed"), []string{`"todos[2].content" is the same as that of todos[0]`}},
		{"unknown key", `{"content":"a","status":"pending","id":1}`, []string{"id"}},
		{"no status", `{"content":"a"}`, []string{"status"}},
		{"unknown status", item("a", "done"), []string{"status", "completed"}},
		{"status of another spelling", item("a", "In_Progress"), []string{"status", "in_progress"}},
		{"content that is no text", `{"content":1,"status":"pending"}`, []string{"content"}},
		{"too many in progress", item("a", "in_progress") + "," + item("b", "in_progress"), []string{`"todos" has 2 items that are in_progress`, "at most one"}},
		{"too long", item(strings.Repeat("é", maxContent+1), "pending"), []string{`"todos[0].content" has 1001 characters`, "at most 1000"}},
		{"too many", many + item("y", "pending"), []string{`"todos" has 201 items`, "at most 200"}},
		{"half a character", item(`a\ud800`, "pending"), []string{`"todos[0].content" holds half of a character`}},
		{"everything at once", item("", "in_progress") + "," + item("a", "in_progress") + "," + item("a", "pending"),
			[]string{`"todos[0].content" is empty`, `"todos[2].content" is the same`, "2 items that are in_progress"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lists, p, sink := newLists(t, Options{})
			before := `{"todos":[{"content":"before","status":"pending"}]}`
			if out := write(p, "main", before); out.IsError() {
				t.Fatal(out.Err())
			}
			out := write(p, "main", `{"todos":[`+tt.items+`]}`)
			if code := tools.InfoOf(out.Err()).Code; code != tools.CodeInvalidArgs {
				t.Fatalf("failure %v, want %s", out.Err(), tools.CodeInvalidArgs)
			}
			for _, part := range tt.parts {
				if !strings.Contains(out.Err().Error(), part) {
					t.Errorf("failure text %q lacks %q", out.Err(), part)
				}
			}
			if diff := cmp.Diff([]string{before}, logged(sink)); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
			if got := lists.Todos("main").String(); got != before {
				t.Errorf("list %s, want the one before", got)
			}
		})
	}
}

func TestEachAgentHasItsOwnAndTheLastWins(t *testing.T) {
	lists, p, sink := newLists(t, Options{})
	a, b, c := `{"todos":[{"content":"a","status":"pending"}]}`, `{"todos":[{"content":"b","status":"pending"}]}`, `{"todos":[{"content":"c","status":"pending"}]}`
	for _, w := range []struct{ agent, args string }{{"one", a}, {"two", b}, {"one", c}} {
		if out := write(p, w.agent, w.args); out.IsError() {
			t.Fatal(out.Err())
		}
	}
	got := []string{lists.Todos("one").String(), lists.Todos("two").String(), lists.Todos("three").String(), lists.Todos(nil).String(), lists.Todos([]int{}).String()}
	if diff := cmp.Diff([]string{c, b, "", "", ""}, got); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{a, b, c}, logged(sink)); diff != "" {
		t.Errorf("logged (-want +got):\n%s", diff)
	}
}

func TestNoAgent(t *testing.T) {
	_, p, sink := newLists(t, Options{})
	out := write(p, nil, `{"todos":[]}`)
	if code := tools.InfoOf(out.Err()).Code; code != codeNoAgent || !strings.Contains(out.Err().Error(), "Request.Agent") {
		t.Errorf("failure %v, want %s", out.Err(), codeNoAgent)
	}
	if got := logged(sink); len(got) > 0 {
		t.Errorf("logged %q, want nothing", got)
	}
}

func TestLogFails(t *testing.T) {
	full := errors.New("the disk is full")
	fail := false
	lists := New(&Options{Emit: func(string, tools.JSON) error {
		if fail {
			return full
		}
		return nil
	}})
	p := pipelinetest.New(t, nil, lists.Tools()...)
	before := `{"todos":[{"content":"a","status":"pending"}]}`
	write(p, "main", before)
	fail = true
	out := write(p, "main", `{"todos":[]}`)
	if !errors.Is(out.Err(), full) || tools.InfoOf(out.Err()).Code != codeLog || !strings.Contains(out.Err().Error(), "the one before stays") {
		t.Errorf("failure %v, want the log's", out.Err())
	}
	if got := lists.Todos("main").String(); got != before {
		t.Errorf("list %s, want the one before", got)
	}
}

// TestEndedContext is about a call whose context ends while another one writes.
func TestEndedContext(t *testing.T) {
	lists := New(nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	args := tools.MustJSON(`{"todos":[]}`)
	c := tools.NewCall(tools.CallSpec{ID: "1", Name: toolName, Args: args, Agent: "main"})
	if _, err := lists.Tools()[0].Handler(ctx, tools.NewRun(c, tools.RunHooks{})); err != cause {
		t.Errorf("failure %v, want the context's cause", err)
	}
	if got := lists.Todos("main"); !got.IsZero() {
		t.Errorf("list %s, want none", got)
	}
}

func TestDryRun(t *testing.T) {
	emitted := false
	lists := New(&Options{Emit: func(string, tools.JSON) error { emitted = true; return nil }})
	p := pipelinetest.New(t, nil, tools.DryRun(lists.Tools()...)...)
	out := write(p, "main", `{"todos":[{"content":" a ","status":"pending"}]}`)
	if want := `{"todos":[{"content":"a","status":"pending"}],"counts":{"pending":1,"inProgress":0,"completed":0}}`; out.IsError() || out.Value().String() != want {
		t.Errorf("value %s, %v, want %s", out.Value(), out.Err(), want)
	}
	if out := write(p, "main", `{"todos":[{"content":" ","status":"pending"}]}`); !out.IsError() {
		t.Error("a dry run accepts what the tool refuses")
	}
	if got := lists.Todos("main"); !got.IsZero() || emitted {
		t.Errorf("the dry run left the list %s, logged: %v", got, emitted)
	}
}

func TestRestore(t *testing.T) {
	before := tools.MustJSON(`{"todos":[{"content":"before","status":"pending"}]}`)
	for _, tt := range []struct{ name, data, want, problem string }{
		{"a list", `{"todos":[{"content":"a","status":"completed"}]}`, `{"todos":[{"content":"a","status":"completed"}]}`, ""},
		{"written when more was allowed", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			`{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`, ""},
		{"written by a later version", `{"todos":[{"content":"a","status":"pending","id":7}],"more":1}`, `{"todos":[{"content":"a","status":"pending"}]}`, ""},
		{"nothing", ``, ``, ""},
		{"no list", `{}`, before.String(), `"todos" is missing`},
		{"null", `{"todos":null}`, before.String(), `"todos" is missing`},
		{"another form", `[]`, before.String(), "cannot restore"},
		{"unknown status", `{"todos":[{"content":"a","status":"done"}]}`, before.String(), `"todos[0].status" is "done"`},
		{"no content", `{"todos":[{"status":"pending"}]}`, before.String(), `"todos[0].content" must be a text`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lists := New(nil)
			if err := lists.Restore("main", before); err != nil {
				t.Fatal(err)
			}
			var data tools.JSON
			if tt.data != "" {
				data = tools.MustJSON(tt.data)
			}
			err := lists.Restore("main", data)
			if (err != nil) != (tt.problem != "") || err != nil && (!strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), EventTodoWrite)) {
				t.Errorf("Restore = %v, want %q", err, tt.problem)
			}
			if diff := cmp.Diff(tt.want, lists.Todos("main").String()); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
	for _, agent := range []any{nil, []int{}} {
		if err := New(nil).Restore(agent, before); tools.InfoOf(err).Code != codeNoAgent {
			t.Errorf("Restore for the agent %v = %v, want %s", agent, err, codeNoAgent)
		}
	}
}

// TestLogAndListAgree writes many lists at the same time: the last one logged is
// the one that stays. Emit may read the lists.
func TestLogAndListAgree(t *testing.T) {
	var lists *Lists
	var last string
	lists = New(&Options{Emit: func(_ string, data tools.JSON) error {
		last = data.String() // one at a time, or the race detector objects
		lists.Todos("main")
		return nil
	}})
	p := pipelinetest.New(t, nil, lists.Tools()...)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			if out := write(p, "main", fmt.Sprintf(`{"todos":[{"content":"%d","status":"pending"}]}`, i)); out.IsError() {
				t.Error(out.Err())
			}
		})
	}
	wg.Wait()
	if got := lists.Todos("main").String(); got != last {
		t.Errorf("list %s, logged last %s", got, last)
	}
}

func TestCards(t *testing.T) {
	reg, err := tools.NewRegistry(New(nil).Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	tool := reg.Lookup(toolName)
	args := tools.MustJSON(`{"todos":[{"content":" a ","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}`)
	card := func(text string) tools.Card {
		return tools.Card{Type: tools.CardGeneric, Title: "Todo list", Content: []tools.Content{tools.TextContent(text)}}
	}
	for _, tt := range []struct {
		name      string
		want, got tools.Card
	}{
		{"call", card("[x] a\n[>] b\n[ ] c"), tool.PresentCall(args)},
		{"empty list", card("(empty)"), tool.PresentCall(tools.MustJSON(`{"todos":[]}`))},
		{"result", card("[>] b"), tool.PresentResult(args, tools.Final{Value: tools.MustJSON(`{"todos":[{"content":"b","status":"in_progress"}]}`)})},
		{"failure", card("Error: no"), tool.PresentResult(args, tools.Final{IsError: true, Content: []tools.Content{tools.TextContent("Error: no")}})},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// FuzzRestore checks that what is accepted is kept in a form that is accepted
// again and stays as it is.
func FuzzRestore(f *testing.F) {
	f.Add(`{"todos":[{"content":" a ","status":"pending"},{"content":"b","status":"completed"}]}`)
	f.Add(`{"todos":[{"content":"\ud800","status":"pending"}]}`)
	f.Add(`{"todos":[{"content":"a"},{"content":null}],"todos2":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		data, err := tools.ParseJSON(text)
		if err != nil {
			return
		}
		lists := New(nil)
		if lists.Restore("main", data) != nil {
			if got := lists.Todos("main"); !got.IsZero() {
				t.Fatalf("refused %s, kept %s", data, got)
			}
			return
		}
		kept := lists.Todos("main")
		if again, err := tools.ParseJSON(kept.String()); err != nil || again != kept {
			t.Fatalf("kept %s, which is not canonical: %v", kept, err)
		}
		if err := lists.Restore("main", kept); err != nil || lists.Todos("main") != kept {
			t.Errorf("kept %s, then %s, %v", kept, lists.Todos("main"), err)
		}
	})
}

// A call that policy refuses, or whose caller has left, changes no list and logs
// none, made by a model or by a program.
func TestRefusedByPolicy(t *testing.T) {
	const before = `{"todos":[{"content":"before","status":"pending"}]}`
	for _, tt := range []struct {
		name   string
		nested bool
		leaves bool
		code   string
	}{
		{"a model's call", false, false, tools.CodeDeniedByGuard},
		{"a program's call", true, false, tools.CodeDeniedByGuard},
		{"an aborted call", false, true, tools.CodeAbortedBeforeDispatch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lists, p, sink := newLists(t, Options{})
			if out := write(p, "main", before); out.IsError() {
				t.Fatal(out.Err())
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.Guards.Use("closed", func(c tools.Call) string {
				if c.Name() == toolName && !tt.leaves {
					return "no plans today"
				}
				if tt.leaves {
					cancel()
				}
				return ""
			})
			req := pipeline.Request{Name: toolName, Agent: "main", Args: `{"todos":[]}`}
			var out pipeline.Outcome
			if _, err := p.Registry().Add(pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
				req.Parent = run
				out = p.Execute(ctx, req)
				return tools.Result{}, nil
			})); err != nil {
				t.Fatal(err)
			}
			if tt.nested {
				p.Execute(ctx, pipeline.Request{Name: "outer", Agent: "main"})
			} else {
				out = p.Execute(ctx, req)
			}
			if code := out.Info().Code; code != tt.code {
				t.Errorf("code %q, want %q", code, tt.code)
			}
			if got := lists.Todos("main").String(); got != before {
				t.Errorf("list %s, want %s", got, before)
			}
			if diff := cmp.Diff([]string{before}, logged(sink)); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
		})
	}
}
