package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// screen is a terminal that knows what the view uses: carriage return, line
// feed and clearing to the end of the line. Longer lines wrap, as they do.
// Colours leave no trace.
type screen struct {
	columns int
	lines   [][]rune
	column  int
}

func (s *screen) Write(p []byte) (int, error) {
	if len(s.lines) == 0 {
		s.lines = [][]rune{nil}
	}
	for text := string(p); text != ""; {
		last := len(s.lines) - 1
		if rest, ok := strings.CutPrefix(text, "\x1b[K"); ok {
			s.lines[last] = s.lines[last][:min(s.column, len(s.lines[last]))]
			text = rest
			continue
		}
		if sgr := colours.FindString(text); sgr != "" {
			text = text[len(sgr):]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch {
		case r == '\r':
			s.column = 0
		case r == '\n':
			s.lines, s.column = append(s.lines, nil), 0
		case s.column >= s.columns:
			s.lines, s.column = append(s.lines, []rune{r}), 1
		default:
			s.lines[last] = append(s.lines[last][:s.column], r)
			s.column++
		}
	}
	return len(p), nil
}

// colours are those of the view and of the cards.
var colours = regexp.MustCompile(`^\x1b\[(?:0|1|2|31|32|36)m`)

func (s *screen) String() string {
	var lines []string
	for _, line := range s.lines {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}

func newTestView(columns int) (*liveView, *screen) {
	s := &screen{columns: columns}
	v := newLiveView(s)
	v.terminal, v.width = true, func() int { return columns }
	return v, s
}

func started(id int, name, args string) pipeline.Event {
	return pipeline.Event{Type: pipeline.EventCodeDispatchStart, Data: tools.MustJSON(fmt.Sprintf(`{"subCallId":"r:code:%d","name":%s,"arguments":%s}`, id, tools.StringJSON(name), args))}
}

func settled(id int, name, args string, state pipeline.State, ms float64) pipeline.Event {
	return pipeline.Event{Type: pipeline.EventCodeDispatch, Data: tools.MustJSON(fmt.Sprintf(`{"subCallId":"r:code:%d","name":%s,"arguments":%s,"state":%q,"durationMs":%g}`, id, tools.StringJSON(name), args, state, ms))}
}

func TestLiveView(t *testing.T) {
	for _, tc := range []struct {
		name    string
		columns int
		events  []pipeline.Event
		want    string // what the screen shows before the run ends
		end     string // and after it, if that differs
	}{
		{
			name: "a running call", columns: 60,
			events: []pipeline.Event{started(1, "read", `{"file_path":"a.txt"}`)},
			want:   `  … read {"file_path":"a.txt"}`,
			end:    "",
		},
		{
			name: "a settled call stays", columns: 60,
			events: []pipeline.Event{started(1, "read", `{"file_path":"a.txt"}`), settled(1, "read", `{"file_path":"a.txt"}`, pipeline.StateDone, 0.25)},
			want:   "  ✓ read {\"file_path\":\"a.txt\"}  250µs\n",
			end:    "  ✓ read {\"file_path\":\"a.txt\"}  250µs\n",
		},
		{
			name: "every state", columns: 60,
			events: []pipeline.Event{
				started(1, "a", `{}`), settled(1, "a", `{}`, pipeline.StateDone, 1),
				started(2, "b", `{}`), settled(2, "b", `{}`, pipeline.StateFailed, 12.34),
				started(3, "c", `{}`), settled(3, "c", `{}`, pipeline.StateAborted, 1234),
				started(4, "d", `{}`), settled(4, "d", `{}`, pipeline.StateNotStarted, 0),
			},
			want: "  ✓ a {}  1.0ms\n  ✗ b {}  failed  12.3ms\n  ■ c {}  aborted  1.23s\n  ⊘ d {}  not started  0µs\n",
			end:  "  ✓ a {}  1.0ms\n  ✗ b {}  failed  12.3ms\n  ■ c {}  aborted  1.23s\n  ⊘ d {}  not started  0µs\n",
		},
		{
			name: "overlapping calls", columns: 60,
			events: []pipeline.Event{
				started(1, "slow", `{}`), started(2, "slower", `{}`), started(3, "quick", `{}`),
				settled(3, "quick", `{}`, pipeline.StateDone, 1),
			},
			want: "  ✓ quick {}  1.0ms\n  … slower {}  and 1 more",
			end:  "  ✓ quick {}  1.0ms\n",
		},
		{
			name: "cut to the width", columns: 30,
			events: []pipeline.Event{
				started(1, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`), settled(1, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`, pipeline.StateFailed, 1),
				started(2, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`),
			},
			want: "  ✗ read {\"fi…  failed  1.0ms\n  … read {\"file_path\":\"a/lon…",
			end:  "  ✗ read {\"fi…  failed  1.0ms\n",
		},
		{
			name: "wide characters count twice", columns: 24,
			events: []pipeline.Event{started(1, "f", `{"q":"日本語日本語日本語"}`)},
			want:   `  … f {"q":"日本語日本…`,
		},
		{
			name: "narrower than anything", columns: 3,
			events: []pipeline.Event{settled(1, "read", `{}`, pipeline.StateDone, 1)},
			want:   "  ✓\n … \n 1.\n0ms\n",
			end:    "  ✓\n … \n 1.\n0ms\n",
		},
		{
			name: "hostile text", columns: 100,
			events: []pipeline.Event{started(1, "x\x1b[2J", `{"a":"\u001b]0;t\u0007\n\u202e"}`), started(2, "y", "{\"a\":\"\x7f\u202e\u009b2J\"}")},
			want:   `  … y {"a":"\x7f\u{202e}\x9b2J"}  and 1 more`,
		},
		{
			name: "other events", columns: 60,
			events: []pipeline.Event{{Type: pipeline.EventToolCall, Data: tools.MustJSON(`{"name":"run_code"}`)}, {Type: pipeline.EventCodeDispatch, Data: tools.MustJSON(`[1]`)}},
			want:   "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, s := newTestView(tc.columns)
			for _, e := range tc.events {
				if err := v.Emit(e); err != nil {
					t.Errorf("Emit = %v, want nil always", err)
				}
			}
			if diff := cmp.Diff(tc.want, s.String()); diff != "" {
				t.Errorf("the screen differs (-want +got):\n%s", diff)
			}
			v.finish()
			if diff := cmp.Diff(tc.end, s.String()); diff != "" {
				t.Errorf("the screen differs at the end (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLiveViewOfManyCalls shows that a long run does not flood the screen.
func TestLiveViewOfManyCalls(t *testing.T) {
	v, s := newTestView(60)
	for i := range 1_000 {
		_ = v.Emit(started(i, "grep", `{}`))
		_ = v.Emit(settled(i, "grep", `{}`, pipeline.StateDone, 1))
	}
	want := strings.Repeat("  ✓ grep {}  1.0ms\n", maxLiveLines)
	if diff := cmp.Diff(want+"  … 1000 calls", s.String()); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
	v.finish()
	if diff := cmp.Diff(want+"  … and 900 more\n", s.String()); diff != "" {
		t.Errorf("the screen differs at the end (-want +got):\n%s", diff)
	}
}

// TestLiveViewBoundsArguments shows that megabytes of arguments are not looked
// through for the few characters that are shown.
func TestLiveViewBoundsArguments(t *testing.T) {
	v, s := newTestView(40)
	_ = v.Emit(started(1, "write", `{"content":"`+strings.Repeat("é", 2<<20)+`"}`))
	if got, want := s.String(), `  … write {"content":"`+strings.Repeat("é", 16)+"…"; got != want {
		t.Errorf("the screen shows %.200q, want %q", got, want)
	}
}

// TestNotATerminal shows that nothing but the summary is written elsewhere.
func TestNotATerminal(t *testing.T) {
	var b bytes.Buffer
	v := newLiveView(&b)
	v.log(runtime.Line{Text: "printed"})
	runTree(t, v, nil)
	v.finish()
	if b.Len() > 0 {
		t.Errorf("got %q, want nothing", b.String())
	}
}

// step is what a tool of the tests does: print, call others, return or fail.
type step struct {
	tool, args string
	inner      []step
	prints     []runtime.Line
	err        string
}

// treeTools are what the steps call. Their cards are what the tests are about;
// what they do is the steps' business.
func treeTools(run func(context.Context, *tools.Run) error) []*tools.Definition {
	tool := func(name string, present func(args tools.JSON, outcome tools.Final) tools.Card) *tools.Definition {
		return &tools.Definition{
			Name:          name,
			PresentResult: present,
			Handler: func(ctx context.Context, r *tools.Run) (tools.Result, error) {
				return tools.Result{Value: tools.MustJSON(`null`)}, run(ctx, r)
			},
		}
	}
	card := func(card tools.Card) func(tools.JSON, tools.Final) tools.Card {
		return func(tools.JSON, tools.Final) tools.Card { return card }
	}
	code := func(n int) *int { return &n }
	var output strings.Builder
	for i := range 30 {
		fmt.Fprintf(&output, "line %d\n", i+1)
	}
	return []*tools.Definition{
		tool("plain", nil),
		tool("agent", nil),
		tool("edit", card(tools.Card{Type: tools.CardDiff, Diffs: []tools.Diff{{Path: "notes.md", Old: "a\nb\n", New: "a\nc\n"}}})),
		tool("read", card(tools.Card{Type: tools.CardRead, Path: "notes.md", Text: "one\ntwo\n", TotalLines: 2})),
		tool("grep", card(tools.Card{Type: tools.CardSearch, Title: `grep "x"`, Matches: []tools.Match{{Path: "a.go", Line: 1, Text: "x"}}})),
		tool("bash", card(tools.Card{Type: tools.CardTerminal, Command: "make", Output: output.String(), ExitCode: code(2)})),
		tool("true", card(tools.Card{Type: tools.CardTerminal, Command: "true", Output: "quiet\n", ExitCode: code(0)})),
		tool("liar", card(tools.Card{Title: "read /etc/passwd\x1b[2J\n  ✓ forged"})),
		tool("broken", func(tools.JSON, tools.Final) tools.Card { panic("no card") }),
	}
}

// runTree runs steps as the sub-calls of one call, through a pipeline that
// shows them to the view. All durations are zero.
func runTree(t *testing.T, v *liveView, steps []step) {
	t.Helper()
	var p *pipeline.Pipeline
	var do func(ctx context.Context, r *tools.Run, steps []step)
	next := step{inner: steps} // what the body that starts now does
	run := func(ctx context.Context, r *tools.Run) error {
		now := next
		do(ctx, r, now.inner)
		for _, line := range now.prints {
			v.log(line)
		}
		if now.err != "" {
			return errors.New(now.err)
		}
		return nil
	}
	do = func(ctx context.Context, r *tools.Run, steps []step) {
		for i, s := range steps {
			next = s
			p.Execute(ctx, pipeline.Request{ID: fmt.Sprintf("%s:%d", r.Call().ID(), i+1), Name: s.tool, Args: s.args, Parent: r})
		}
	}
	reg, err := tools.NewRegistry(treeTools(run)...)
	if err != nil {
		t.Fatal(err)
	}
	v.registry = reg
	p = pipeline.New(reg, &pipeline.Options{Sink: v, Now: func() time.Time { return time.Unix(0, 0) }})
	p.OnResult("live", v.settledOutcome)
	p.Execute(context.Background(), pipeline.Request{ID: "r", Name: "agent"})
	if len(v.drawn) > 0 || len(v.running) > 0 {
		t.Errorf("after the run the view still holds %d drawn and %d running calls", len(v.drawn), len(v.running))
	}
}

func TestLiveTree(t *testing.T) {
	for _, tc := range []struct {
		name    string
		columns int
		steps   []step
		want    string
	}{
		{
			name: "cards", columns: 60,
			steps: []step{
				{tool: "plain", args: `{"a":1}`}, {tool: "read"}, {tool: "grep"}, {tool: "edit"}, {tool: "true"}, {tool: "broken"},
			},
			want: `
  ✓ plain {"a":1}  0µs
  ✓ read notes.md 1-2 of 2  0µs
  ✓ grep "x"  1 match in 1 file  0µs
  ✓ edit notes.md (+1 -1)  0µs
      @@ -1,2 +1,2 @@
       a
      -b
      +c
  ✓ true $ true  exit 0  0µs
  ✓ broken {}  0µs
`,
		},
		{
			name: "a command that failed", columns: 60,
			steps: []step{{tool: "bash"}},
			want: `
  ✓ bash $ make  exit 2  0µs
      … 19 earlier lines
      line 20
      line 21
      line 22
      line 23
      line 24
      line 25
      line 26
      line 27
      line 28
      line 29
      line 30
`,
		},
		{
			name: "failures", columns: 40,
			steps: []step{
				{tool: "plain", err: "no such\x1b[2J thing in the whole wide world, I am sure\nsecond line"},
				{tool: "edit", err: "nothing was changed"},
				{tool: "missing", args: `{"x":1}`},
			},
			want: `
  ✗ plain {}  failed  0µs
      no such\x1b[2J thing in the whol…
  ✗ edit notes.md (+1 -1)  failed  0µs
      nothing was changed
  ⊘ missing {"x":1}  not started  0µs
      unknown tool "missing"
`,
		},
		{
			name: "calls in calls", columns: 60,
			steps: []step{
				{tool: "agent", args: `{"task":"all"}`, inner: []step{
					{tool: "read"},
					{tool: "agent", args: `{"task":"half"}`, inner: []step{{tool: "grep"}, {tool: "edit"}}},
					{tool: "plain"},
				}},
				{tool: "read"},
			},
			want: `
  ▸ agent {"task":"all"}
    ✓ read notes.md 1-2 of 2  0µs
    ▸ agent {"task":"half"}
      ✓ grep "x"  1 match in 1 file  0µs
      ✓ edit notes.md (+1 -1)  0µs
          @@ -1,2 +1,2 @@
           a
          -b
          +c
    ✓ agent {"task":"half"}  0µs
    ✓ plain {}  0µs
  ✓ agent {"task":"all"}  0µs
  ✓ read notes.md 1-2 of 2  0µs
`,
		},
		{
			name: "the console between them", columns: 40,
			steps: []step{
				{tool: "plain", prints: []runtime.Line{{Level: "log", Text: "one\n\ttwo\x1b[2J"}, {Level: "error", Text: ""}}},
				{tool: "agent", inner: []step{{tool: "read", prints: []runtime.Line{{Text: "three, which is longer than the window"}}}, {tool: "read"}}},
			},
			want: `
  │ one
  │     two\x1b[2J
  │ 
  ✓ plain {}  0µs
  │ three, which is longer than the wi…
  ▸ agent {}
    ✓ read notes.md 1-2 of 2  0µs
    ✓ read notes.md 1-2 of 2  0µs
  ✓ agent {}  0µs
`,
		},
		{
			name: "a card that would pass for another tool's", columns: 80,
			steps: []step{{tool: "liar"}},
			want: `
  ✓ liar read /etc/passwd\x1b[2J\n  ✓ forged  0µs
`,
		},
		{
			name: "narrow", columns: 20,
			steps: []step{{tool: "agent", inner: []step{{tool: "edit"}}}},
			want: `
  ▸ agent {}
    ✓ edit no…  0µs
        @@ -1,2 +1…
         a
        -b
        +c
  ✓ agent {}  0µs
`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, s := newTestView(tc.columns)
			runTree(t, v, tc.steps)
			v.finish()
			if diff := cmp.Diff(tc.want[1:], s.String()); diff != "" {
				t.Errorf("the screen differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLiveTreeOfOverlappingCalls shows that every line stands below its own
// parent even if those of two parents come in turn.
func TestLiveTreeOfOverlappingCalls(t *testing.T) {
	v, s := newTestView(60)
	event := func(kind, id, parent, name string) {
		_ = v.Emit(pipeline.Event{Type: kind, Data: tools.MustJSON(fmt.Sprintf(`{"subCallId":%q,"parentCallId":%q,"name":%q,"arguments":{},"state":"done","durationMs":1}`, id, parent, name))})
	}
	start := func(id, parent, name string) { event(pipeline.EventCodeDispatchStart, id, parent, name) }
	end := func(id, parent, name string) { event(pipeline.EventCodeDispatch, id, parent, name) }
	start("a", "r", "left")
	start("b", "r", "right")
	for _, parent := range []string{"a", "b", "a"} {
		start("x", parent, "inner")
		end("x", parent, "inner")
	}
	end("b", "r", "right")
	end("a", "r", "left")
	v.finish()
	want := `
  ▸ left {}
    ✓ inner {}  1.0ms
  ▸ right {}
    ✓ inner {}  1.0ms
  ▸ left {}
    ✓ inner {}  1.0ms
  ✓ right {}  1.0ms
  ✓ left {}  1.0ms
`
	if diff := cmp.Diff(want[1:], s.String()); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
}

// TestLiveConsoleIsBounded shows that a program which prints without end does
// not fill the screen.
func TestLiveConsoleIsBounded(t *testing.T) {
	v, s := newTestView(60)
	v.log(runtime.Line{Text: strings.Repeat("x", 1<<20)})
	v.log(runtime.Line{Text: strings.Repeat("y\n", maxLogLines)})
	for range 100_000 {
		v.log(runtime.Line{Text: "z"})
	}
	v.finish()
	want := "  │ " + strings.Repeat("x", 54) + "…\n" + strings.Repeat("  │ y\n", maxLogLines-1) + "  │ … and 100002 more lines\n"
	if diff := cmp.Diff(want, s.String()); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
}

// TestLiveViewHoldsLittle shows that neither the arguments nor the cards of
// calls are kept, however many there are and however large.
func TestLiveViewHoldsLittle(t *testing.T) {
	v, _ := newTestView(60)
	for i := range 300 {
		_ = v.Emit(started(i, "write", `{"content":"`+strings.Repeat("x", 100_000)+`"}`))
	}
	_ = v.Emit(started(300, strings.Repeat("x", 1_000_000), `{}`))
	held := 0
	for _, c := range v.running {
		held += len(c.name) + len(c.args)
	}
	if most := 301 * 2 * (maxShownText + 10); held > most {
		t.Errorf("the view holds %d bytes of 301 running calls, want at most %d", held, most)
	}
}

// TestLiveViewConcurrently shows that calls and console lines of several
// goroutines come out whole.
func TestLiveViewConcurrently(t *testing.T) {
	v, s := newTestView(60)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 5 {
				_ = v.Emit(started(10*g+i, "grep", `{}`))
				v.log(runtime.Line{Text: "printed"})
				_ = v.Emit(settled(10*g+i, "grep", `{}`, pipeline.StateDone, 1))
			}
		})
	}
	all.Wait()
	v.finish()
	got := strings.SplitAfter(s.String(), "\n")
	slices.Sort(got)
	want := slices.Concat([]string{""}, slices.Repeat([]string{"  ✓ grep {}  1.0ms\n"}, 40), slices.Repeat([]string{"  │ printed\n"}, 40))
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
}

// TestLiveViewRedacts shows that nothing secret appears, wherever it stands.
func TestLiveViewRedacts(t *testing.T) {
	const secret = "correct-horse-battery"
	v, s := newTestView(200)
	v.redactor = redact.New(&redact.Options{Secrets: []redact.Secret{{Name: "KEY", Value: secret}}})
	runTree(t, v, []step{
		{tool: "plain", args: `{"password":"hunter2","x":"` + secret + `"}`, prints: []runtime.Line{{Text: "the key is " + secret}}},
		{tool: "agent", args: `{"x":"` + secret + `"}`, inner: []step{{tool: "plain", err: secret + " is wrong"}}},
	})
	v.finish()
	want := `
  │ the key is [redacted: KEY]
  ✓ plain {"password":"[redacted]","x":"[redacted: KEY]"}  0µs
  ▸ agent {"x":"[redacted: KEY]"}
    ✗ plain {}  failed  0µs
        [redacted: KEY] is wrong
  ✓ agent {"x":"[redacted: KEY]"}  0µs
`
	if diff := cmp.Diff(want[1:], s.String()); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
}

// TestLiveColours shows that colours are complete sequences around what is
// written, and that without them no escape is written but that which clears a
// line.
func TestLiveColours(t *testing.T) {
	steps := []step{{tool: "edit"}, {tool: "plain", err: "no", prints: []runtime.Line{{Level: "error", Text: "printed"}}}}
	for _, colour := range []bool{true, false} {
		var b bytes.Buffer
		v, _ := newTestView(60)
		v.w, v.colour = &b, colour
		runTree(t, v, steps)
		v.finish()
		text := strings.ReplaceAll(b.String(), "\r\x1b[K", "")
		for _, want := range []string{"\x1b[32m✓ \x1b[0m", "\x1b[31m✗ \x1b[0m", "\x1b[2m  0µs\x1b[0m", "\x1b[32m+c\x1b[0m", "\x1b[31mprinted\x1b[0m", "\x1b[31mno\x1b[0m"} {
			if strings.Contains(text, want) != colour {
				t.Errorf("colour %v: %q is in the output: %v", colour, want, !colour)
			}
		}
		if !colour && strings.Contains(text, "\x1b") {
			t.Errorf("without colour the view writes %q", text)
		}
	}
}

func TestTally(t *testing.T) {
	calls := func(states ...pipeline.State) (list []codemode.CallRecord) {
		for _, s := range states {
			list = append(list, codemode.CallRecord{Name: "x", State: s})
		}
		return list
	}
	denied := calls(pipeline.StateNotStarted, pipeline.StateNotStarted, pipeline.StateNotStarted, pipeline.StateNotStarted, pipeline.StateNotStarted, pipeline.StateNotStarted)
	for i, code := range []string{tools.CodeDeniedByPolicy, tools.CodeDeniedByGuard, tools.CodeApprovalRejected, tools.CodeApprovalCancelled, tools.CodeApprovalUnavailable} {
		denied[i].Code = code
	}
	for _, tc := range []struct {
		calls []codemode.CallRecord
		want  string
	}{
		{nil, "0 calls"},
		{denied, "6 calls (5 denied, 1 not started)"},
		{calls(pipeline.StateDone), "1 call"},
		{calls(pipeline.StateDone, pipeline.StateDone), "2 calls"},
		{calls(pipeline.StateNotStarted), "1 call (1 not started)"},
		{calls(pipeline.StateAborted, pipeline.StateNotStarted, pipeline.StateFailed, pipeline.StateDone, pipeline.StateFailed), "5 calls (2 failed, 1 aborted, 1 not started)"},
	} {
		if got := tally(tc.calls); got != tc.want {
			t.Errorf("tally = %q, want %q", got, tc.want)
		}
	}
}

func TestShortDuration(t *testing.T) {
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0µs"},
		{999 * time.Microsecond, "999µs"},
		{1500 * time.Microsecond, "1.5ms"},
		{999949 * time.Microsecond, "999.9ms"},
		{999950 * time.Microsecond, "1.00s"},
		{1234 * time.Millisecond, "1.23s"},
		{90 * time.Second, "1m30s"},
	} {
		if got := shortDuration(tc.d); got != tc.want {
			t.Errorf("shortDuration(%v) = %q, want %q", tc.d, got, tc.want)
		}
	}
}

// TestLiveNotes shows that what the host has to say stands on lines of its own,
// whatever is being drawn.
func TestLiveNotes(t *testing.T) {
	v, s := newTestView(60)
	log := hostLog(v, false, nil)
	log.Warn("before")
	_ = v.Emit(started(1, "read", `{}`))
	log.Warn("meanwhile")
	if got, want := s.String(), "note: before\nnote: meanwhile\n  … read {}"; got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
	_ = v.Emit(settled(1, "read", `{}`, pipeline.StateDone, 1))
	v.finish()
	if got, want := s.String(), "note: before\nnote: meanwhile\n  ✓ read {}  1.0ms\n"; got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}
