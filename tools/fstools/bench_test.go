package fstools

import (
	"fmt"
	"strings"
	"testing"
)

// benchTree is 2,000 files of 8 KiB in 200 directories, with rules that exclude
// as many more.
func benchTree(b *testing.B) *Set {
	files := map[string]string{".gitignore": "node_modules/\n*.log\n/dist\ndocs/**/*.html\n*.py[cod]\n"}
	line := "func handler(ctx context.Context, request Request) (Response, error) {\n"
	text := strings.Repeat(line, 8<<10/len(line)) + "// the needle is here\n"
	for i := range 2_000 {
		files[fmt.Sprintf("src/pkg%03d/file%d.go", i/10, i%10)] = text
		files[fmt.Sprintf("src/pkg%03d/node_modules/file%d.js", i/10, i%10)] = ""
	}
	set, _ := newSet(b, files, nil)
	return set
}

func BenchmarkGlob(b *testing.B) {
	set := benchTree(b)
	b.ReportAllocs()
	for b.Loop() {
		if got, err := set.glob(b.Context(), noRun, globIn{Pattern: "**/*.go"}); err != nil || got.Total != 2_000 {
			b.Fatal(got.Total, err)
		}
	}
}

func BenchmarkGrep(b *testing.B) {
	set := benchTree(b)
	for _, bench := range []struct {
		name string
		in   grepIn
	}{
		{"literal", grepIn{Pattern: "needle is"}},
		{"expression", grepIn{Pattern: `n\w+e is \w+`}},
		{"ignore case", grepIn{Pattern: "NEEDLE", IgnoreCase: true}},
		{"context", grepIn{Pattern: "needle is", Context: 2}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(2_000 * 8 << 10)
			b.ReportAllocs()
			for b.Loop() {
				if got, err := set.grep(b.Context(), noRun, bench.in); err != nil || got.Total != 2_000 {
					b.Fatal(got.Total, err)
				}
			}
		})
	}
}

func BenchmarkReadWindow(b *testing.B) {
	set, _ := newSet(b, map[string]string{"big": strings.Repeat(strings.Repeat("x", 79)+"\n", 100_000)}, nil)
	b.SetBytes(8_000_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.read(b.Context(), noRun, readIn{FilePath: "big", Offset: 50_000, Limit: 100}); err != nil {
			b.Fatal(err)
		}
	}
}
