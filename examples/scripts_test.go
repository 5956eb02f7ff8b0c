package examples

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

func TestCountMarkers(t *testing.T) {
	dir := snapshot(t)
	write(t, dir, "notes/markers.txt", "a $1.50 (fee)\nxTODO TODO\nTODO(ann): $1.50 (fee)\nCRLF TODO\r\nlast TODO without a line feed")
	for _, tc := range []struct {
		name    string
		input   string
		markers []string
		glob    string // of names
	}{
		{name: "as it stands", markers: []string{"func Test", "func Fuzz", "func Benchmark", "func Example"}, glob: "*_test.go"},
		{name: "other markers", input: `{"markers":["TODO","context.Context"]}`, markers: []string{"TODO", "context.Context"}, glob: "*"},
		{name: "plain text, not patterns", input: `{"markers":["$1.50 (fee)","(fee)","nowhere [a-z]*"],"glob":"*.txt"}`, markers: []string{"$1.50 (fee)", "(fee)", "nowhere [a-z]*"}, glob: "*.txt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			width := len("marker")
			for _, m := range tc.markers {
				width = max(width, len(m))
			}
			want := fmt.Sprintf("%-*s%8s%8s\n", width, "marker", "lines", "files")
			for _, m := range tc.markers {
				lines, files := countLines(t, dir, m, tc.glob)
				want += fmt.Sprintf("%-*s%8d%8d\n", width, m, lines, files)
			}
			out := runExample(t, example{script: "count-markers.ts", input: tc.input, tools: fileTools(t, dir)})
			if diff := cmp.Diff(strings.TrimSuffix(want, "\n"), out.Text()); diff != "" {
				t.Errorf("the table differs (-want +got):\n%s", diff)
			}
		})
	}
}

// countLines counts, without regular expressions, the lines that hold a marker
// which no word character comes before, unless the marker begins with none.
func countLines(t *testing.T, dir, marker, glob string) (lines, files int) {
	t.Helper()
	for name, content := range contents(t, dir) {
		if ok, err := filepath.Match(glob, filepath.Base(name)); err != nil {
			t.Fatal(err)
		} else if !ok || bytes.IndexByte(content, 0) >= 0 {
			continue
		}
		before := lines
		for line := range strings.Lines(string(content)) {
			for at := 0; ; at++ {
				next := strings.Index(line[at:], marker)
				if next < 0 {
					break
				}
				at += next
				if at == 0 || !isWord(marker[0]) || !isWord(line[at-1]) {
					lines++
					break
				}
			}
		}
		if lines > before {
			files++
		}
	}
	return lines, files
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func TestDuplicateFiles(t *testing.T) {
	dir := snapshot(t)
	var long strings.Builder
	for i := range 5_000 { // more lines than one read returns
		fmt.Fprintf(&long, "line %d, café\r\n", i)
	}
	for name, text := range map[string]string{
		"twins/a.txt":       long.String() + "the end",
		"twins/b/a.txt":     long.String() + "the end",
		"twins/almost.txt":  long.String() + "THE END",
		"twins/shorter.txt": long.String(),
		"twins/1.md":        "# The same\n",
		"twins/2.md":        "# The same\n",
		"twins/3.md":        "# The same\n",
		"twins/other.md":    "# The same",
		"twins/empty1.txt":  "",
		"twins/empty2.txt":  "",
		"twins/x.bin":       "\x00\x01",
		"twins/y.bin":       "\x00\x01",
		"twins/latin1.txt":  "caf\xe9\n",
		"__proto__":         "# The same\n",
	} {
		write(t, dir, name, text)
	}
	for _, tc := range []struct {
		name, input string
		wanted      func(name string) bool
	}{
		{"as it stands", "", func(string) bool { return true }},
		{"one kind of file", `{"pattern":"**/*.md"}`, func(name string) bool { return strings.HasSuffix(name, ".md") }},
		{"none", `{"pattern":"**/*.none"}`, func(name string) bool { return false }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want, all, skipped := findDuplicates(t, dir, tc.wanted)
			out := runExample(t, example{script: "duplicate-files.ts", input: tc.input, tools: fileTools(t, dir)})
			var got struct {
				Logs   []string    `json:"logs"`
				Result []duplicate `json:"result"`
			}
			if err := out.Value().Unmarshal(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, byFirst(got.Result)); diff != "" {
				t.Errorf("the duplicates differ (-want +got):\n%s", diff)
			}
			if !slices.IsSortedFunc(got.Result, func(a, b duplicate) int { return b.Wasted - a.Wasted }) {
				t.Errorf("%v is not sorted by what is wasted", got.Result)
			}
			summary := fmt.Sprintf("%d of %d files, %d skipped, %d groups of duplicates", all, all, skipped, len(want))
			if len(got.Logs) == 0 || got.Logs[0] != summary {
				t.Errorf("the program printed %q, want first %q", got.Logs, summary)
			}
		})
	}
}

func isText(content []byte) bool { return utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 }

type duplicate struct {
	Wasted int      `json:"wasted"`
	Files  []string `json:"files"`
}

// findDuplicates compares checksums.
func findDuplicates(t *testing.T, dir string, wanted func(string) bool) (found []duplicate, all, skipped int) {
	t.Helper()
	sums := map[[sha256.Size]byte]*duplicate{}
	files := contents(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !wanted(name) {
			continue
		}
		all++
		content := files[name]
		if !isText(content) {
			skipped++
			continue
		}
		sum := sha256.Sum256(content)
		if d := sums[sum]; d != nil {
			d.Files, d.Wasted = append(d.Files, name), d.Wasted+len(content)
			continue
		}
		sums[sum] = &duplicate{Files: []string{name}}
	}
	found = []duplicate{}
	for _, d := range sums {
		if d.Wasted > 0 {
			found = append(found, *d)
		}
	}
	return byFirst(found), all, skipped
}

func byFirst(list []duplicate) []duplicate {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b duplicate) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return list
}

func TestDeniedFallback(t *testing.T) {
	mock := filepath.Join("data", "cache.mock.json")
	for _, tc := range []struct {
		name, input string
		allowed     bool
		want        string
		printed     int
	}{
		{"denied", "", false, fallback(t, mock, 300), 1},
		{"denied, less is needed", "150", false, fallback(t, mock, 150), 1},
		{"denied, and there is not enough", "9999", false, fallback(t, mock, 9999), 1},
		{"allowed", "", true, `{"freed":1000,"enough":true}`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := runExample(t, example{script: "denied-fallback.ts", input: tc.input, tools: mockTools(t, mock), setup: func(p *pipeline.Pipeline) {
				if !tc.allowed {
					p.PreExecute.Use("destructive", denyDestructive(p.Registry()))
				}
			}})
			var got struct {
				Logs   []string   `json:"logs"`
				Result tools.JSON `json:"result"`
			}
			if err := out.Value().Unmarshal(&got); err != nil {
				t.Fatal(err)
			}
			if got.Result.String() != tc.want || len(got.Logs) != tc.printed {
				t.Errorf("got %s after printing %q, want %s after %d lines", got.Result, got.Logs, tc.want, tc.printed)
			}
		})
	}
}

// fallback is what trimming the oldest entries of the mocked cache frees.
func fallback(t *testing.T, mock string, needed int) string {
	t.Helper()
	text, err := os.ReadFile(mock)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tools []struct {
			Name   string
			Result struct{ Entries []struct{ Size, Age int } }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	freed := 0
	for _, tool := range file.Tools {
		entries := tool.Result.Entries
		slices.SortFunc(entries, func(a, b struct{ Size, Age int }) int { return b.Age - a.Age })
		for _, e := range entries {
			if freed < needed {
				freed += e.Size
			}
		}
	}
	return fmt.Sprintf(`{"freed":%d,"enough":%t}`, freed, freed >= needed)
}

func denyDestructive(reg *tools.Registry) pipeline.Listener[tools.Call, pipeline.Decision] {
	return func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if tool := reg.Lookup(c.Name()); tool != nil && tool.Definition().Annotations.Destructive {
			return pipeline.Deny("nothing may be destroyed"), nil
		}
		return next(ctx)
	}
}

// snapshot is a copy of this repository's text files, which nobody changes
// while two programs count in it.
func snapshot(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since the directory was read
		}
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !slices.Contains([]string{".go", ".md", ".ts", ".json", ".txtar", ".mod"}, filepath.Ext(path)) {
			return nil
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !isText(content) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err == nil {
			write(t, dir, rel, string(content))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
