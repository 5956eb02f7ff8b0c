package nearest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/nearest"
)

func TestNames(t *testing.T) {
	t.Parallel()
	known := []string{"read_file", "write_file", "list_dir", "grep", "mcp__github__create_issue", "max", "customer"}
	for _, tt := range []struct {
		name, want string
		names      []string
	}{
		{"other case", "Read_File", []string{"read_file"}},
		{"camel case", "readFile", []string{"read_file"}},
		{"other separators", "read-file", []string{"read_file"}},
		{"words in another order", "file_read", []string{"read_file"}},
		{"a beginning", "read", []string{"read_file"}},
		{"an end", "create_issue", []string{"mcp__github__create_issue"}},
		{"a word of both", "file", []string{"read_file", "write_file"}},
		{"a longer name", "maxResults", []string{"max"}},
		{"a swap", "gerp", []string{"grep"}},
		{"a typo", "custmer", []string{"customer"}},
		{"nothing near", "limit", nil},
		{"the name itself", "grep", nil},
		{"too short for a guess", "ma", nil},
		{"empty", "", nil},
		{"only separators", "__", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.names, nearest.Names(tt.want, known, 3)); d != "" {
				t.Errorf("Names(%q) (-want +got):\n%s", tt.want, d)
			}
		})
	}
}

func TestNamesOrderAndMax(t *testing.T) {
	t.Parallel()
	known := []string{"path_names", "pathh", "PATH", "pa_th", "path_names"}
	want := []string{"PATH", "pa_th", "pathh", "path_names"}
	for n := range len(want) + 2 {
		wantN := want[:min(n, len(want))]
		if d := cmp.Diff(wantN, nearest.Names("path", known, n), cmp.Transformer("empty", func(s []string) string { return fmt.Sprint(s) })); d != "" {
			t.Errorf("max %d (-want +got):\n%s", n, d)
		}
	}
}

func TestNamesLargeInput(t *testing.T) {
	t.Parallel()
	known := make([]string, 5_000)
	for i := range known {
		known[i] = fmt.Sprintf("%s_%d", strings.Repeat("a", 90), i)
	}
	known = append(known, "Needle")
	if d := cmp.Diff([]string{"Needle"}, nearest.Names("needle", known, 3)); d != "" {
		t.Errorf("cheap matches must be found whatever the list's size (-want +got):\n%s", d)
	}
	nearest.Names(strings.Repeat("x", 1<<20), []string{strings.Repeat("y", 1<<20)}, 1)
}

func FuzzNames(f *testing.F) {
	f.Add("readFile", "read_file,write_file", 2)
	f.Add("\xff", "é,É", 1)
	f.Fuzz(func(t *testing.T, want, list string, limit int) {
		known := strings.Split(list, ",")
		names := nearest.Names(want, known, limit)
		if len(names) > max(limit, 0) {
			t.Fatalf("%d names, at most %d asked for", len(names), limit)
		}
		for _, n := range names {
			if n == want || !strings.Contains(","+list+",", ","+n+",") {
				t.Fatalf("%q is no other known name", n)
			}
		}
	})
}

func ExampleNames() {
	fmt.Println(nearest.Names("readFile", []string{"write_file", "read_file", "grep"}, 1))
	// Output: [read_file]
}
