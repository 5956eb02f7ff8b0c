package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/corpus"
)

// docsPage is docs/benchmark.md.
func docsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmark.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// docsRow is a row of one of the page's tables.
type docsRow struct {
	name  string // the workload in backticks that it begins with, or else its first cell
	cells []string
}

// isRatio reports whether a row is of a table of ratios.
func (r docsRow) isRatio() bool { return strings.HasPrefix(r.cells[0], "×") }

var workloadCell = regexp.MustCompile("^`([a-z0-9-]+)`")

func docsRows(t *testing.T) (rows []docsRow) {
	t.Helper()
	for line := range strings.Lines(docsPage(t)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name := cells[0]
		if m := workloadCell.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		rows = append(rows, docsRow{name, cells[1:]})
	}
	return rows
}

// checkDocs compares the page's row of ratios, if it has one, with a verdict, and
// reports whether it has.
func checkDocs(t *testing.T, rows []docsRow, name string, v Verdict) bool {
	t.Helper()
	i := slices.IndexFunc(rows, func(r docsRow) bool { return r.name == name && r.isRatio() })
	if i < 0 {
		return false
	}
	want := []string{times(v.Tokens), times(v.Cost), times(v.Seconds)}
	if diff := cmp.Diff(want, rows[i].cells[:3]); diff != "" {
		t.Errorf("docs/benchmark.md, %s (-found +written):\n%s", name, diff)
	}
	return true
}

// TestDocs: the page says what the benchmark finds. The recorded sets are checked
// where they are replayed.
func TestDocs(t *testing.T) {
	o := Options{Isolation: codemode.IsolationInProcess, Data: filepath.Dir(corpus.Dir(t, "mcp-tools"))}
	for _, w := range suite(0, fullSizes) {
		o.Only = append(o.Only, w.title())
	}
	o.Only = append(o.Only, "real-catalogue")
	r, err := Run(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	rows := docsRows(t)
	checked := 0
	for _, c := range r.Comparisons {
		if checkDocs(t, rows, c.Workload, c.Verdict) {
			checked++
		}
		for _, row := range rows {
			if row.name != c.Workload || row.isRatio() {
				continue
			}
			checked++
			want := []string{thousands(c.Arm(Batched).Input.Tokens), thousands(c.Arm(Code).Input.Tokens), thousands(c.Arm(CodeSearch).Input.Tokens)}
			if diff := cmp.Diff(want, row.cells); diff != "" {
				t.Errorf("docs/benchmark.md, tools of %s (-found +written):\n%s", c.Workload, diff)
			}
		}
	}
	for _, e := range r.breakEvens() {
		for _, row := range rows {
			if row.name != e.Family {
				continue
			}
			checked++
			if diff := cmp.Diff([]string{from(e.All), from(e.Tokens), from(e.Cost), from(e.Seconds)}, row.cells); diff != "" {
				t.Errorf("docs/benchmark.md, break-even of %s (-found +written):\n%s", e.Family, diff)
			}
		}
	}
	if checked < 24 {
		t.Errorf("%d rows of the page were checked; its tables have another form than this test knows", checked)
	}
	page := docsPage(t)
	for _, c := range r.Comparisons {
		if c.Workload == "single" {
			want := fmt.Sprintf("%d tokens of prompt and tools in a request instead of %d", c.Arm(Code).perRequest(), c.Arm(Batched).perRequest())
			if !strings.Contains(page, want) {
				t.Errorf("docs/benchmark.md lacks %q", want)
			}
		}
	}
	if want := fmt.Sprintf("%d tokens: %d of prompt and %d for `run_code`", fixedPrompt+fixedRunCode, fixedPrompt, fixedRunCode); !strings.Contains(page, want) {
		t.Errorf("docs/benchmark.md lacks %q", want)
	}
}
