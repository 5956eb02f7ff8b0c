package terminal

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGoldenScreens compares everything a terminal is sent for a question, and
// the answers typed at it, with testdata.
func TestGoldenScreens(t *testing.T) {
	const hostile = "\x1b[2J\x1b]52;c;cm0gLXJm\x07\x1b]0;title\x07\u009b2J\rover\b\u202egpj.exe\u200b\u2066\U000e0041"
	const imitation = "x\n  y  allow this call once\nanswer: y\n│ }\nallowed before: write"
	quote := func(s string) string { return tools.StringJSON(s).String() }
	site := tools.Site{Line: 2, Column: 7}
	for _, tc := range []struct {
		name          string
		columns, rows uint16
		opts          Options
		call          tools.CallSpec
		reason, by    string
		args          string
		typed         []turn // n at the end is typed anyway
	}{
		{name: "plain", columns: 100, rows: 24, args: `{"file_path":"notes.md","content":"hello","mode":420}`,
			reason: "writes outside of the project", by: "rule Edit(//tmp/**)"},
		{name: "sub-call with card and source", columns: 80, rows: 40,
			opts: Options{
				Source: SourceOf("script.ts", "const dir = '/tmp'\nawait tools.bash({ command: `rm -rf ${dir}/build` })\n"),
				Card: func(tool string, args tools.JSON) tools.Card {
					return tools.Card{Type: tools.CardTerminal, Title: tool, Description: "Clean", Command: "rm -rf /tmp/build", Dir: "/w"}
				},
			},
			call: tools.CallSpec{ID: "c1:code:3", RootID: "c1", ParentID: "c1", Name: "bash", Site: site},
			args: `{"command":"rm -rf /tmp/build","description":"Clean"}`, reason: "may destroy data"},
		{name: "a call of a program within a program", columns: 80, rows: 24,
			opts: Options{Source: SourceOf("script.ts", "await tools.agent({})\nawait tools.write({})\n")},
			call: tools.CallSpec{ID: "c1:code:1:code:2", RootID: "c1", ParentID: "c1:code:1", Site: site},
			args: `{"content":` + quote(strings.Repeat("line\n", 30)) + `,"file_path":"a.txt"}`, reason: "writes a file", by: "rule Edit"},
		{name: "a drawn card", columns: 80, rows: 40,
			opts: Options{
				Card: func(string, tools.JSON) tools.Card { return tools.Card{} },
				Draw: func(tools.Card, int) []string { return strings.Split(strings.Repeat("+ line\n", 29)+"+ last", "\n") },
			},
			args: `{}`, typed: []turn{{answerLine, "s"}}},
		{name: "a program", columns: 80, rows: 24, call: tools.CallSpec{ID: "c1", Name: "run_code"},
			args: `{"code":` + quote("const a = \"x\\n\"\n\tawait tools.rm({})\n") + `,"description":"d"}`},
		{name: "hostile", columns: 80, rows: 24,
			opts: Options{
				Source: func(tools.Call) string { return hostile },
				Card:   func(string, tools.JSON) tools.Card { return tools.Card{Title: hostile, Command: imitation} },
			},
			call: tools.CallSpec{ID: "c" + hostile, ParentID: "p\n", Name: "write" + hostile},
			args: `{"a":` + quote(hostile) + `,` + quote(hostile) + `:[1]}`, reason: hostile, by: hostile, typed: []turn{{answerLine, "\x1b[2Jy"}}},
		{name: "an imitated prompt", columns: 60, rows: 24, call: tools.CallSpec{Name: imitation},
			args: `{"a":` + quote(imitation) + `,` + quote(imitation) + `:` + quote(strings.Repeat(" ", 51)+"answer: y") + `}`, reason: imitation},
		{name: "a megabyte", columns: 80, rows: 24, args: `{"content":"` + strings.Repeat("0123456789", 100_000) + `","file_path":"/etc/passwd"}`},
		{name: "ten thousand members", columns: 80, rows: 60, args: `{` + strings.TrimSuffix(members(10_000), ",") + `}`},
		{name: "all of it", columns: 60, rows: 24, args: `{` + strings.TrimSuffix(members(30), ",") + `}`, typed: []turn{{answerLine, "s"}, {more, ""}, {answerLine, "s"}, {more, "x"}, {answerLine, "x"}}},
		{name: "secrets", columns: 80, rows: 24,
			opts: Options{Redact: func(v tools.JSON) tools.JSON {
				return tools.MustJSON(strings.ReplaceAll(v.String(), "hunter2", "[redacted]"))
			}, RedactText: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }},
			args: `{"password":"hunter2","user":"me"}`, reason: "logs in with hunter2", typed: []turn{{answerLine, "a"}}},
		{name: "only once", columns: 80, rows: 24, opts: Options{OnlyOnce: func(tools.Call) bool { return true }},
			args: `{"file_path":".git/config"}`, typed: []turn{{answerLine, "a"}}},
		{name: "wide characters and marks", columns: 40, rows: 24,
			args: `{"wide":"` + strings.Repeat("日本語", 20) + `","marks":"a` + strings.Repeat("\u0301", 30) + `","\u0301\u0301":"é👩🏽"}`},
		{name: "narrow", columns: 15, rows: 24, args: `{"file_path":"/a/long/path","text":"a\nb and much more"}`, reason: "because it has to be", by: "someone"},
		{name: "no window size", columns: 0, rows: 0, args: `{"a":1}`},
		{name: "deep", columns: 40, rows: 24, args: strings.Repeat("[", 200) + strings.Repeat("]", 200)},
		{name: "unpaired surrogates", columns: 80, rows: 24, args: `{"a":"\ud800","\udfff":"\ud83d\ude00"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDesk(t, tc.columns, tc.rows, tc.opts)
			if tc.call.ID == "" {
				tc.call.ID = "c1"
			}
			if tc.call.Name == "" {
				tc.call.Name = "write"
			}
			tc.call.Args = tools.MustJSON(tc.args)
			c := d.ask(t.Context(), pipeline.ApprovalRequest{Call: tools.NewCall(tc.call), Reason: tc.reason, By: tc.by})
			for _, turn := range append(tc.typed, turn{answerLine, "n"}) {
				d.WaitFor(turn.prompt)
				d.Type(turn.line + "\n")
			}
			d.check(c, pipeline.Rejected)
			got := d.shown()
			if harmless := termtext.Escape(got); harmless != got || strings.Contains(got, "\t") {
				t.Errorf("the terminal is sent %q, which is not harmless", got)
			}
			golden(t, tc.name, got)
		})
	}
}

// turn is a line that is typed behind a prompt.
type turn struct{ prompt, line string }

// What a line is typed behind.
const (
	answerLine = "\n" + prompt
	more       = "q ends: " // between pages
)

// members are so many members of an object, with a comma behind each.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"member %d":%d,`, i, i*i)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the terminal is sent (-want +got):\n%s", diff)
	}
}
