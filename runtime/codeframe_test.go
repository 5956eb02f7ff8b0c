package runtime

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ExampleCodeFrame() {
	source := "const rows = await tools.list({})\nreturn rows.map(x => x.name.first)\n// done"
	fmt.Println(CodeFrame(source, Site{Line: 2, Column: 29}))
	// Output:
	//   1 | const rows = await tools.list({})
	// > 2 | return rows.map(x => x.name.first)
	//     |                             ^
	//   3 | // done
}

func TestCodeFrame(t *testing.T) {
	long := strings.Repeat("a", 150) + "X" + strings.Repeat("b", 150)
	for _, tc := range []struct {
		name   string
		source string
		site   Site
		want   []string
	}{
		{"no such line", "a\nb", Site{Line: 3, Column: 1}, []string{""}},
		{"unknown place", "a\nb", Site{}, []string{""}},
		{"one line", "abc", Site{Line: 1, Column: 2}, []string{"> 1 | abc", "    |  ^"}},
		{"unknown column", "abc", Site{Line: 1}, []string{"> 1 | abc"}},
		{"first line", "a\nb\nc", Site{Line: 1, Column: 1}, []string{"> 1 | a", "    | ^", "  2 | b"}},
		{"last line", "a\nb\nc", Site{Line: 3, Column: 1}, []string{"  2 | b", "> 3 | c", "    | ^"}},
		{"past the end of the line", "abc", Site{Line: 1, Column: 9}, []string{"> 1 | abc", "    |         ^"}},
		{"tabs keep the caret in place", "\t\tx", Site{Line: 1, Column: 3}, []string{"> 1 | \t\tx", "    | \t\t^"}},
		{"characters and not bytes", "é😀x", Site{Line: 1, Column: 3}, []string{"> 1 | é😀x", "    |   ^"}},
		{"wider line numbers", strings.Repeat("\n", 8) + "i\nj", Site{Line: 9, Column: 1}, []string{"   8 |", ">  9 | i", "     | ^", "  10 | j"}},
		{"empty neighbours", "\nx\n\n", Site{Line: 2, Column: 1}, []string{"  1 |", "> 2 | x", "    | ^", "  3 |"}},
		{"a final line feed", "x\n", Site{Line: 1, Column: 1}, []string{"> 1 | x", "    | ^"}},
		{"behind a final line feed", "x\n", Site{Line: 2, Column: 1}, []string{"  1 | x", "> 2 |", "    | ^"}},
		{"a long line is cut around the column", long, Site{Line: 1, Column: 151}, []string{
			"> 1 | " + strings.Repeat("a", 49) + "X" + strings.Repeat("b", 50),
			"    | " + strings.Repeat(" ", 49) + "^",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), CodeFrame(tc.source, tc.site)); diff != "" {
				t.Errorf("frame (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSourceLines(t *testing.T) {
	got := SourceLines("a\nb\r\nc\rd\u2028e\u2029f€\n")
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f€", ""}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
