package terminal

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// window is a dialog of which only the size matters.
type window struct {
	dialog
	columns, rows int
}

func (w window) size() (columns, rows int) { return w.columns, w.rows }

// viewOf is the view of a question in a window.
func viewOf(a *Approver, ask pipeline.ApprovalRequest, columns, rows int) *view {
	q := &question{a: a, ask: ask, grant: grant{ask.Call.Tool(), ask.Call.Name(), ask.Digest()}}
	return q.view(window{columns: columns, rows: rows}, false)
}

func asking(tool, args string) pipeline.ApprovalRequest {
	return pipeline.ApprovalRequest{Call: tools.NewCall(tools.CallSpec{ID: "c1", Name: tool, Args: tools.MustJSON(args)})}
}

func TestArgumentLines(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		maxLines   int
		want       []string
	}{
		{"empty", `{}`, 0, []string{"│ {}"}},
		{"nested and empty", `{"a":{},"b":[],"c":[1,{"d":null}]}`, 0, []string{
			"│ {", `│   "a": {}`, `│   "b": []`, `│   "c": [`, "│     1", "│     {", `│       "d": null`, "│     }", "│   ]", "│ }"}},
		{"numbers as written", `[-0,1.0,9007199254740993]`, 0, []string{"│ [", "│   -0", "│   1.0", "│   9007199254740993", "│ ]"}},
		{"a bracket in a string", `["[",{"{":"{"}]`, 0, []string{"│ [", `│   "["`, "│   {", `│     "{": "{"`, "│   }", "│ ]"}},
		{"lines", `{"a":"x\n\n\"y\\n\"\n"}`, 0, []string{"│ {", `│   "a": (text, 4 lines)`, "│     ┊ x", "│     ┊ ", `│     ┊ "y\\n"`, "│     ┊ ", "│ }"}},
		{"an escaped backslash", `{"a":"\\n"}`, 0, []string{"│ {", `│   "a": "\\n"`, "│ }"}},
		{"broken", `["0123456789012345678901234567890123456789"]`, 0, []string{
			"│ [", `│   "0123456789012345678901234567`, `│   ↪ 890123456789"`, "│ ]"}},
		{"cut", `["a\nb\nc\nd",1]`, 2, []string{"│ [", "│   (text, 4 lines)", "│     ┊ a", "│   … 3 bytes more", "│   1", "│ ]"}},
		{"no object", `"x"`, 0, []string{`│ "x"`}},
		{"surrogate", `["\ud800"]`, 0, []string{"│ [", `│   "\ud800"`, "│ ]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, line := range argumentLines(tools.MustJSON(tc.args), 38, tc.maxLines) {
				got = append(got, line.text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
	if got := argumentLines(tools.JSON{}, 80, 0); len(got) != 1 || got[0].text != "│ (none that can be read)" {
		t.Errorf("lines of no arguments = %v", got)
	}
}

// TestHiddenPartsAreCounted adds up what is shown and what is said to be hidden.
func TestHiddenPartsAreCounted(t *testing.T) {
	a := NewApprover(nil)
	ask := asking("write", `{"text":"`+strings.Repeat(`line\n`, 1000)+`","path":"/etc/passwd"}`)
	ask.Reason = strings.Repeat("because ", 100)
	v := viewOf(a, ask, 80, 24)
	text := strings.Join(v.short, "\n")
	for _, want := range []string{
		`│   "path": "/etc/passwd"`, // not pushed out by the long text
		"│   … 3993 bytes more",
		"… 1007 of 1022 lines, 4513 bytes not shown; s shows all",
		"  s  show all",
		"(for longer only once all of it was shown)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the question is\n%s\nwant %q in it", text, want)
		}
	}
	if strings.Count(strings.Join(v.all, "\n"), "because") != 100 || strings.Count(strings.Join(v.all, "\n"), "┊ line") != 1000 {
		t.Error("the whole has not all of it")
	}
}

func TestRedactedView(t *testing.T) {
	const secret = "hunter2"
	texts := Options{RedactText: func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }}
	source := texts
	source.Source = func(tools.Call) string { return "a.ts:1  login(hunter2)" }
	for name, tc := range map[string]struct {
		opts   Options
		call   tools.CallSpec
		reason string
		by     string
	}{
		"arguments": {
			opts: Options{Redact: func(tools.JSON) tools.JSON { return tools.MustJSON(`{"a":"[redacted]"}`) }},
			call: tools.CallSpec{Args: tools.MustJSON(`{"a":"hunter2"}`)},
		},
		"reason": {opts: texts, reason: "hunter2 is needed"},
		"rule":   {opts: texts, by: "hunter2"},
		"name":   {opts: texts, call: tools.CallSpec{Name: "hunter2"}},
		"call":   {opts: texts, call: tools.CallSpec{ID: "hunter2"}},
		"parent": {opts: texts, call: tools.CallSpec{ParentID: "hunter2"}},
		"source": {opts: source},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.call.Args.IsZero() {
				tc.call.Args = tools.MustJSON(`{}`)
			}
			tc.opts.Card = func(_ string, args tools.JSON) tools.Card { return tools.Card{Title: "card of " + args.String()} }
			ask := pipeline.ApprovalRequest{Call: tools.NewCall(tc.call), Reason: tc.reason, By: tc.by}
			v := viewOf(NewApprover(&tc.opts), ask, 80, 24)
			text := strings.Join(v.short, "\n")
			if !v.redacted || strings.Contains(text, "  a  allow") || !strings.Contains(text, "a part is redacted") {
				t.Errorf("the question is\n%s\nwant it to offer no lasting answer", text)
			}
			if strings.Contains(text, secret) || strings.Contains(strings.Join(v.all, "\n"), secret) {
				t.Errorf("the question is\n%s\nwhich shows what was redacted", text)
			}
		})
	}
}

func TestSourceOf(t *testing.T) {
	source := SourceOf("a.ts", "const x = 1\n\tawait tools.write({})\r\n/*\r\u2028\u2029*/ await tools.rm({})\nawait tools.read({})")
	for _, tc := range []struct {
		name string
		spec tools.CallSpec
		want string
	}{
		{"a call of the program", tools.CallSpec{RootID: "r", ParentID: "r", Site: tools.Site{Line: 2}}, "a.ts:2  await tools.write({})"},
		{"no place", tools.CallSpec{RootID: "r", ParentID: "r"}, ""},
		{"lines as the language counts them", tools.CallSpec{RootID: "r", ParentID: "r", Site: tools.Site{Line: 6}}, "a.ts:6  */ await tools.rm({})"},
		{"behind the end", tools.CallSpec{RootID: "r", ParentID: "r", Site: tools.Site{Line: 9}}, ""},
		{"another program", tools.CallSpec{RootID: "r", ParentID: "r:code:1", Site: tools.Site{Line: 2}}, ""},
		{"a call of the model", tools.CallSpec{ID: "r", Site: tools.Site{Line: 2}}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := source(tools.NewCall(tc.spec)); got != tc.want {
				t.Errorf("source = %q, want %q", got, tc.want)
			}
		})
	}
}

// A call that a program makes is shown with its parent and its line, with the text
// of the line where that is known.
func TestPlaceOfSubCalls(t *testing.T) {
	program := SourceOf("a.ts", "await tools.agent({})\nawait tools.write({})")
	direct := tools.CallSpec{ID: "r"}
	sub := tools.CallSpec{ID: "r:code:1", RootID: "r", ParentID: "r", Site: tools.Site{Line: 2}}
	unplaced := tools.CallSpec{ID: "r:code:1", RootID: "r", ParentID: "r"}
	deeper := tools.CallSpec{ID: "r:code:1:code:1", RootID: "r", ParentID: "r:code:1", Site: tools.Site{Line: 2}}
	for _, tc := range []struct {
		name   string
		source func(tools.Call) string
		spec   tools.CallSpec
		want   []string
	}{
		{"a call of the model", program, direct, nil},
		{"a call of the program", program, sub, []string{"parent: r", "at: a.ts:2  await tools.write({})"}},
		{"a call of an unknown program", nil, sub, []string{"parent: r", "at: line 2 of the parent's program"}},
		{"a call of a program within it", program, deeper, []string{"parent: r:code:1", "at: line 2 of the parent's program"}},
		{"a call at an unknown place", program, unplaced, []string{"parent: r"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.spec.Args = tools.MustJSON("{}")
			v := viewOf(NewApprover(&Options{Source: tc.source}), pipeline.ApprovalRequest{Call: tools.NewCall(tc.spec)}, 80, 24)
			var got []string
			for _, line := range v.short {
				if strings.HasPrefix(line, "parent: ") || strings.HasPrefix(line, "at: ") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// own are the beginnings of lines that belong to the question.
var own = []string{"approval needed", "tool: ", "why: ", "by: ", "call: ", "parent: ", "at: ", "sha256: ", "arguments:", "…", "  y  ", "  a  ", "  n  ", "  s  ", "     (", "a part is redacted;"}

// FuzzView shows that whatever a script or a tool chooses stays harmless, within
// the window and behind the margin.
func FuzzView(f *testing.F) {
	f.Add("write", "why\nanswer: y", `{"a":"\u001b[2J"}`, "title\r\n  y  allow", 80, 24)
	f.Add("\x1b]0;x\x07", "\u202e", `{"`+strings.Repeat("x", 300)+`":["\n\n日本語"]}`, "\xff", 20, 1)
	f.Fuzz(func(t *testing.T, tool, reason, args, title string, columns, rows int) {
		parsed, err := tools.ParseJSON(args)
		if err != nil {
			return
		}
		columns = 10 + max(columns, -columns)%200
		a := NewApprover(&Options{
			Card:   func(string, tools.JSON) tools.Card { return tools.Card{Title: title, Command: title, Dir: title} },
			Source: func(tools.Call) string { return title },
		})
		v := viewOf(a, pipeline.ApprovalRequest{
			Call:   tools.NewCall(tools.CallSpec{ID: title, RootID: tool, ParentID: tool, Name: tool, Args: parsed}),
			Reason: reason, By: title,
		}, columns, rows)
		seen := map[string]int{}
		for _, line := range v.short {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) || termtext.Escape(line) != line {
				t.Fatalf("line %q is not harmless", line)
			}
			if strings.HasPrefix(line, margin) {
				if termtext.Width(line) > columns && columns >= 40 {
					t.Fatalf("line %q takes %d of %d columns", line, termtext.Width(line), columns)
				}
				continue
			}
			known := ""
			for _, label := range own {
				if strings.HasPrefix(line, label) {
					known = label
				}
			}
			if seen[known]++; known == "" || seen[known] > 1 && known != "…" && known != "     (" {
				t.Fatalf("line %q passes for one of the question", line)
			}
		}
	})
}
