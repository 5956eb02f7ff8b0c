package gojavm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// lines is a program of n plausible lines.
func lines(n int) string {
	var b strings.Builder
	b.WriteString("interface Row { id: number; name: string; tags?: string[] }\nconst out: Row[] = [];\n")
	for i := 2; i < n-1; i += 2 {
		fmt.Fprintf(&b, "const v%d = [1, 2, %d].map((x: number) => x * 2).filter(x => x > %d);\n", i, i, i%3)
		fmt.Fprintf(&b, "out.push({ id: v%d[0] ?? 0, name: `row ${v%d.length}`, tags: ['a', \"b\"] });\n", i, i)
	}
	b.WriteString("return out.length\n")
	return b.String()
}

func benchmarkRun(b *testing.B, program string) {
	rt := newRuntime(b, nil)
	tools := toolset(b)
	b.ReportAllocs()
	for b.Loop() {
		res, err := rt.Run(b.Context(), runtime.Request{
			Program:  program,
			Bindings: []runtime.Binding{{Namespace: tools, Call: serve}},
		})
		if err != nil || res.Failure != nil {
			b.Fatal(err, res.Failure)
		}
	}
}

func BenchmarkEmptyRun(b *testing.B) { benchmarkRun(b, "") }

func BenchmarkSequentialCalls(b *testing.B) {
	for _, n := range []int{1, 10, 1_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmarkRun(b, fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.ping({ i })", n))
		})
	}
}

func BenchmarkResult(b *testing.B) {
	for _, rows := range []int{9_000, 90_000} {
		text := benchRows(rows)
		b.Run(fmt.Sprintf("%dMB", len(text)>>20), func(b *testing.B) {
			rt := newRuntime(b, nil)
			tools := toolset(b)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				res, err := rt.Run(b.Context(), runtime.Request{
					Program: "return (await tools.ping()).length",
					Bindings: []runtime.Binding{{Namespace: tools, Call: func(context.Context, runtime.Invocation) (runtime.Reply, error) {
						return runtime.Reply{Value: text}, nil
					}}},
				})
				if err != nil || res.Failure != nil {
					b.Fatal(err, res.Failure)
				}
			}
		})
	}
}

func benchRows(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"row number %d","ok":true,"price":%d.25,"tags":["a","b"],"note":"some text that is long"}`, i, i, i)
	}
	b.WriteByte(']')
	return b.String()
}

// plainLines is lines without its types.
func plainLines(n int) string {
	_, text, _ := strings.Cut(lines(n), "\n")
	return strings.NewReplacer("out: Row[]", "out", "(x: number)", "x").Replace(text)
}

// BenchmarkPlain compiles JavaScript in both ways, and TypeScript, which is looked at
// and then left to esbuild.
func BenchmarkPlain(b *testing.B) {
	for _, n := range []int{1, 20, 200} {
		for _, way := range []struct {
			name    string
			source  string
			esbuild bool
		}{{"direct", plainLines(n), false}, {"esbuild", plainLines(n), true}, {"typescript", lines(n), false}, {"typescript-esbuild", lines(n), true}} {
			b.Run(fmt.Sprintf("%dlines/%s", n, way.name), func(b *testing.B) {
				b.SetBytes(int64(len(way.source)))
				b.ReportAllocs()
				for b.Loop() {
					if _, failure := translate("", way.source, nil, way.esbuild); failure != nil {
						b.Fatal(failure)
					}
				}
			})
		}
	}
}

func BenchmarkTranspile(b *testing.B) {
	for _, n := range []int{20, 200} {
		source := lines(n)
		b.Run(fmt.Sprint(n, "lines"), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := transpile("", source); failure != nil {
					b.Fatal(failure)
				}
			}
		})
		b.Run(fmt.Sprint(n, "lines/precheck"), func(b *testing.B) {
			lim, _ := runtime.Limits{}.WithDefaults()
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				if failure := precheck(source, lim); failure != nil {
					b.Fatal(failure)
				}
			}
		})
		b.Run(fmt.Sprint(n, "lines/sourcemap"), func(b *testing.B) {
			p := &program{name: defaultName, text: source, lines: runtime.SourceLines(source)}
			js, sourceMap, failure := p.lower()
			if failure != nil {
				b.Fatal(failure)
			}
			for b.Loop() {
				if _, err := newPlaces(p.name, p.lines, js, sourceMap); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
