package gojavm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func mustCompile(t *testing.T, p *programs, name, source string, globals ...string) *program {
	t.Helper()
	made, failure := p.compile(name, source, globals)
	if failure != nil {
		t.Fatal(failure)
	}
	return made
}

func TestProgramsAreRemembered(t *testing.T) {
	const source = "return 1"
	for _, tt := range []struct {
		name, file, source string
		globals            []string
		same               bool
	}{
		{"the same again", "a.ts", source, []string{"console", "tools"}, true},
		{"another text", "a.ts", "return 2", []string{"console", "tools"}, false},
		{"another name", "b.ts", source, []string{"console", "tools"}, false},
		{"other globals", "a.ts", source, []string{"console", "input", "tools"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p programs
			first := mustCompile(t, &p, "a.ts", source, "console", "tools")
			if again := mustCompile(t, &p, tt.file, tt.source, tt.globals...); (again == first) != tt.same {
				t.Errorf("the program is the first one: %v, want %v", again == first, tt.same)
			}
		})
	}
}

// A function that is all of the program has globals as parameters, so what they
// are called makes another program of the same text.
func TestRememberedProgramsHaveTheirGlobals(t *testing.T) {
	rt := newRuntime(t, nil)
	req := runtime.Request{Program: "async (input) => input"}
	for _, input := range []string{`1`, ``, `2`} {
		req.Input = input
		res, err := rt.Run(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if input == "" && res.Failure == nil && res.Value == "1" || input != "" && res.Value != input {
			t.Errorf("with the input %q the program returned %q, failure %v", input, res.Value, res.Failure)
		}
	}
}

// Two runs of one compiled program are as far apart as any two runs.
func TestRunsOfOneProgramShareNothing(t *testing.T) {
	rt := newRuntime(t, nil)
	const source = "const tag = x => { x.n = (x.n ?? 0) + 1; return x.n };\n" +
		"const again = () => tag(globalThis.kept ??= {});\n" +
		"Array.prototype.marked ??= 0; Array.prototype.marked++;\n" +
		"return [again(), [].marked, /a/g.lastIndex]"
	for range 3 {
		res, err := rt.Run(t.Context(), runtime.Request{Program: source})
		if err != nil || res.Value != "[1,1,0]" {
			t.Fatalf("the program returned %q, failure %v, error %v; want [1,1,0]", res.Value, res.Failure, err)
		}
	}
	if n := len(rt.programs.known); n != 1 {
		t.Errorf("%d programs are remembered, want 1", n)
	}
}

func TestRememberedProgramsAreBounded(t *testing.T) {
	var p programs
	for i := range 3 * maxPrograms {
		mustCompile(t, &p, "", fmt.Sprint("return ", i))
	}
	if len(p.known) != maxPrograms {
		t.Errorf("%d programs are remembered, want %d", len(p.known), maxPrograms)
	}
	if p.find(knownProgram{source: fmt.Sprint("return ", 3*maxPrograms-1)}) == nil {
		t.Error("the last program is forgotten")
	}
	if p.find(knownProgram{source: "return 0"}) != nil {
		t.Error("the first program is remembered")
	}
	comment := "//" + strings.Repeat("x", maxProgramBytes/3)
	for i := range 5 {
		mustCompile(t, &p, "", fmt.Sprint("return ", i, comment))
	}
	if p.bytes > maxProgramBytes {
		t.Errorf("%d bytes are remembered, want %d at most", p.bytes, maxProgramBytes)
	}
	mustCompile(t, &p, "", "return 1 //"+strings.Repeat("x", maxProgramBytes))
	if first := p.known[0].source; len(first) > maxProgramBytes/2 {
		t.Errorf("a text of %d bytes is remembered", len(first))
	}
}

func TestFailuresAreNotRemembered(t *testing.T) {
	var p programs
	for range 2 {
		if _, failure := p.compile("", "return (", nil); failure == nil {
			t.Fatal("a broken program compiled")
		}
	}
	if len(p.known) != 0 {
		t.Errorf("%d programs are remembered, want none", len(p.known))
	}
}
