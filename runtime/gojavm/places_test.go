package gojavm

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dop251/goja/ast"
	"github.com/go-sourcemap/sourcemap"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// FuzzPlaces compares each place of a compiled text with what esbuild's own map
// says, read by another decoder and counted character by character.
func FuzzPlaces(f *testing.F) {
	for _, source := range []string{
		"return 1",
		"const s = 'é€😀'; throw new Error(`a${s}\n  b`)\n",
		"interface A { b: number }\r\nconst a: A = { b: 1 };\r\n\r\nreturn a.b as number",
		"const a = 'x'\u2028const b = '\u2029'\u2029return a + b",
		"async function* g() { yield 1; yield* [2] }\nfor await (const x of g()) console.log(x, '😀')",
		"using a = { [Symbol.dispose]() {} }\nreturn 1",
		"enum E { A = 1, B }\nclass C { static x = E.A; @d m() {} }\nfunction d(...a: any[]) {}\nreturn C.x",
		"/* é */ const 名 = { 名前: '値' }\nreturn 名.名前?.length ?? 'ü'",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if precheck(source, defaults(t)) != nil {
			t.Skip()
		}
		p := &program{name: defaultName, source: source, text: source, lines: runtime.SourceLines(source)}
		js, sourceMap, failure := p.lower()
		if failure != nil {
			t.Skip()
		}
		made, err := newPlaces(p.name, p.lines, js, sourceMap)
		if err != nil {
			t.Fatal(err)
		}
		own, err := sourcemap.Parse("", sourceMap)
		if err != nil {
			t.Fatal(err)
		}
		for row, line := range strings.Split(js, "\n") {
			units := 0
			for column, c := range line {
				_, _, line, origin, ok := own.Source(row+1, units)
				want := authorPlace(p.lines, line, origin)
				if got, known := made.at(row+1, column+1); got != want || known != (ok && want.Line > 0) {
					t.Fatalf("%d:%d in %q: %v %v, want %v", row+1, column+1, js, got, known, want)
				}
				units += max(utf16.RuneLen(c), 1)
			}
		}
	})
}

// authorPlace is a place of esbuild's, a line from one and code units from zero, as
// people count. It is zero in the wrapper.
func authorPlace(lines []string, line, units int) runtime.Site {
	if line == 1 {
		units -= len(wrapPrefix)
	}
	if line < 1 || line > len(lines) || units < 0 {
		return runtime.Site{}
	}
	column := 1
	for _, c := range lines[line-1] {
		if units -= max(utf16.RuneLen(c), 1); units < 0 {
			break
		}
		column++
	}
	return runtime.Site{Line: line, Column: column}
}

// A program that is only checked has no use for places, unless a note names one.
func TestACheckTranslatesNoPlaces(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		asks         bool
	}{
		{"nothing to say", "const a: number = 1\nreturn await tools.ping({ a })", false},
		{"an unknown member", "return await tools.nothing()", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{req: runtime.Request{Program: tt.source, CheckOnly: true, Bindings: []runtime.Binding{{Namespace: toolset(t), Call: serve}}}}
			p, failure := r.compile()
			if failure != nil {
				t.Fatal(failure)
			}
			if p.reach != nil {
				t.Error("what the program can reach was looked for")
			}
			asked, own := false, *p.places // other programs may share them
			p.places = &places{name: own.name, written: own.written, consumer: func() *sourcemap.Consumer {
				asked = true
				return own.consumer()
			}}
			r.prog = p
			if notes := r.unboundCalls(); len(notes) > 0 != tt.asks || asked != tt.asks {
				t.Errorf("notes %q, places asked: %v, want %v", notes, asked, tt.asks)
			}
		})
	}
}

// A check says what a run says before it begins.
func TestACheckFindsWhatARunFinds(t *testing.T) {
	for name, source := range map[string]string{
		"a program":            "const a: number = 1\nreturn a",
		"notes":                "import type { A } from 'a'\nfunction f() {}\nexport default f",
		"only functions":       "function f(a) {}\nfunction g() {}",
		"an error":             "return 1 +",
		"a pattern":            "return /(/",
		"the same group twice": "return /(?<a>1)|(?<a>2)/",
		"too many brackets":    "f()\n}",
		"an import":            "import a from 'a'",
	} {
		t.Run(name, func(t *testing.T) {
			run, wanted := transpile("a.ts", source, "tools")
			checked, got := check("a.ts", source, "tools")
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("failure (-run +check):\n%s", diff)
			}
			if got == nil && !slices.Equal(run.notes, checked.notes) {
				t.Errorf("notes %q, of a run %q", checked.notes, run.notes)
			}
		})
	}
}

// A program that runs is told its places before, and keeps neither its tree nor
// what they were made of.
func TestReadyProgramsHavePlaces(t *testing.T) {
	var remembered programs
	p := mustCompile(t, &remembered, "a.ts", "interface A {}\nfunction f() { return 2 }\n  return f")
	if p.tree != nil || p.places != nil {
		t.Error("the program keeps what only its compilation needs")
	}
	if got, want := p.returnSite(), (runtime.Site{Line: 3, Column: 3}); got != want {
		t.Errorf("the return is at %v, want %v", got, want)
	}
	if position := p.file.Position(p.returned); position.Filename != "a.ts" || position.Line != 3 {
		t.Errorf("the engine says %v", position)
	}
}

func TestBrokenSourceMap(t *testing.T) {
	for _, text := range []string{"", "{}", `{"mappings": "AAAA`} {
		if _, err := newPlaces(defaultName, []string{""}, "", []byte(text)); err == nil {
			t.Errorf("%q passes for a map", text)
		}
	}
}

func TestMemberPath(t *testing.T) {
	for _, tt := range []struct{ source, object, path string }{
		{"tools", "tools", ""},
		{"tools.a", "tools", "a"},
		{`tools.a["b c"].d`, "tools", "a/b c/d"},
		{"tools[a].b", "", ""},
		{"tools[0]", "", ""},
		{"tools().b", "", ""},
		{"this.a", "", ""},
	} {
		t.Run(tt.source, func(t *testing.T) {
			tree, err := parseProgram(tt.source)
			if err != nil {
				t.Fatal(err)
			}
			x := tree.Body[0].(*ast.ExpressionStatement).Expression
			object := memberObject(x)
			if object == nil {
				if tt.object != "" {
					t.Error("no object")
				}
				return
			}
			if path := strings.Join(memberPath(x), "/"); object.Name.String() != tt.object || path != tt.path {
				t.Errorf("%s and %s, want %s and %s", object.Name, path, tt.object, tt.path)
			}
		})
	}
}
