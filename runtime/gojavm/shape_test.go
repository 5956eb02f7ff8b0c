package gojavm

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/runtime"
)

func TestNormalize(t *testing.T) {
	for _, tc := range []struct {
		name, source, text string
		notes              []string
	}{
		{"a function body", "return 1\n", "return 1\n", nil},
		{"a fence", "```\nreturn 1\n```", "\nreturn 1\n", []string{fenceRemoved}},
		{"a fence with a language", "```ts\nreturn 1\n```\n", "\nreturn 1\n\n", []string{fenceRemoved}},
		{"space around it", "\n  ```TypeScript \r\nreturn 1\r\n\t```\r\n\n", "\n\r\nreturn 1\r\n\r\n\n", []string{fenceRemoved}},
		{"tildes", "~~~js\nreturn 1\n~~~", "\nreturn 1\n", []string{fenceRemoved}},
		{"a byte order mark", "\ufeff```\nreturn 1\n```", "\nreturn 1\n", []string{fenceRemoved}},
		{"templates in it", "```\nreturn `a\n``b`\n```", "\nreturn `a\n``b`\n", []string{fenceRemoved}},
		{"another language", "```python\nprint(1)\n```", "```python\nprint(1)\n```", nil},
		{"no end", "\n```ts\nreturn 1\n", "\n\nreturn 1\n", []string{fenceRemoved}},
		{"no end in another language", "```python\nprint(1)", "```python\nprint(1)", nil},
		{"in the middle", "const a = 1\n```\nreturn a", "const a = 1\n```\nreturn a", nil},
		{"one line", "```", "```", nil},
		{"two blocks", "```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```", nil},
		{"only an end", "return 1\n```\n\n", "return 1\n\n\n", []string{fenceRemoved}},
		{"sentences around it", "Here is the plan I follow:\n\n```ts\nreturn 1\n```\nThat returns the number 1.", "\n\n\nreturn 1\n\n", []string{proseRemoved}},
		{"marks in the sentences", "Plan: first list the users (all of them); then count.\n```ts\nreturn 1\n```\nNote: `tools.list({ all: true })` gives an array (of objects).", "\n\nreturn 1\n\n", []string{proseRemoved}},
		{"code around it", "const a = 1\n```ts\nreturn 1\n```", "const a = 1\n```ts\nreturn 1\n```", nil},
		{"a command around it", "ls -la src\n```ts\nreturn 1\n```", "ls -la src\n```ts\nreturn 1\n```", nil},
		{"sentences and two blocks", "Here are two of them now:\n```\na\n```\n```\nb\n```", "Here are two of them now:\n```\na\n```\n```\nb\n```", nil},
		{"another fence inside", "~~~\nreturn `\n```\n`\n~~~", "\nreturn `\n```\n`\n", []string{fenceRemoved}},
		{"an interpreter's line", "#!/usr/bin/env node\nreturn 1", "                   \nreturn 1", nil},
		{"a shell's line", "#!/bin/bash\nls", "#!/bin/bash\nls", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text, notes := normalize(tc.source)
			if text != tc.text {
				t.Errorf("text %q, want %q", text, tc.text)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add("```ts\nreturn 1\n```")
	f.Add("~~~\r\n```\n~~~\n")
	f.Add("#!/usr/bin/env node\nreturn 1")
	f.Fuzz(func(t *testing.T, source string) {
		text, notes := normalize(source)
		if strings.Count(text, "\n") != strings.Count(source, "\n") {
			t.Errorf("the number of lines changed: %q", text)
		}
		source = strings.TrimPrefix(source, byteOrderMark)
		if strings.HasPrefix(source, "#!") { // a comment
			_, text, _ = strings.Cut(text, "\n")
			_, source, _ = strings.Cut(source, "\n")
		}
		if len(notes) == 0 && text != source {
			t.Errorf("changed without a note: %q", text)
		}
		foreign(source)
	})
}

func TestFencedProgram(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{Program: "I ask for the number first.\n\n~~~ts\nconst p: { n: number } = await tools.ping({})\nreturn p.n\n~~~\n"})
	if res.Value != "1" || !cmp.Equal(res.Notes, []string{proseRemoved}) {
		t.Errorf("among sentences: value %s (%+v), notes %q", res.Value, res.Failure, res.Notes)
	}
	res = execute(t, rt, runtime.Request{Program: "```ts\nconst p: { n: number } = await tools.ping({})\nreturn p.n\n```\n"})
	if res.Value != "1" || !cmp.Equal(res.Notes, []string{fenceRemoved}) {
		t.Errorf("value %s (%+v), notes %q", res.Value, res.Failure, res.Notes)
	}
	f := execute(t, rt, runtime.Request{Program: "```\nthrow new Error('x')\n```"}).Failure
	if f == nil || f.Site != (runtime.Site{Line: 2, Column: 7}) || !strings.HasPrefix(f.Frame, "  1 | ```\n> 2 | throw") {
		t.Errorf("places in a fence: %+v", f)
	}
	f = execute(t, rt, runtime.Request{Program: "```\nif (1) {\n```"}).Failure
	if f == nil || !strings.Contains(f.Message, "the { on line 2 is not closed") {
		t.Errorf("an open brace in a fence: %+v", f)
	}
	// Deep nesting must not reach a parser behind the checker's back.
	f = execute(t, rt, runtime.Request{Program: "```\n" + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000) + "\n```"}).Failure
	if f == nil || f.Kind != runtime.InvalidInput || !strings.Contains(f.Message, "the nesting limit") {
		t.Errorf("nesting in a fence: %+v", f)
	}
}

func TestTextsThatAreNoPrograms(t *testing.T) {
	rt := newRuntime(t, nil)
	const shell, prose = "the program is shell text, not JavaScript or TypeScript", "the program is prose, not JavaScript or TypeScript"
	for _, tc := range []struct {
		name, source, message string
		line                  int
	}{
		{"a command", "ls -la src && cat src/app.cfg", shell, 1},
		{"a prompt", "$ git status", shell, 1},
		{"commands with a comment", "# look around\n\ncd src\ngrep -rn 'main' .\n", shell, 3},
		{"a script", "#!/bin/bash\nls -la\n", shell, 1},
		{"a sentence", "I will first list the files, then read each one.", prose, 1},
		{"a request", "list all the files in src", prose, 1},
		{"a plan and two fenced programs", "First I ask for the totals.\n```ts\nreturn 1\n```\nThen I return the number n.\n```ts\nreturn 2\n```", "the program is prose with the code in a fence, not JavaScript or TypeScript", 1},
		{"a call as JSON", "\n{\"tool\": \"read\", \"arguments\": {\"path\": \"x\"}}", "the program is a JSON value, not JavaScript or TypeScript", 2},
		{"a call as markup", "<call name=\"read\">\n{\"path\": \"x\"}\n</call>", "the program is markup, not JavaScript or TypeScript", 1},
		{"Python", "import os\n\nfor f in os.listdir('.'):\n    print(f)", "the program is Python, not JavaScript or TypeScript", 1},
		{"a function in Python", "# count\ndef count(a):\n    n = 0\n    return n\nprint(count([]))", "the program is Python, not JavaScript or TypeScript", 2},
		{"a list", "Plan:\n\n1. Read the config file.\n2. Return the `name` in it.\n", prose, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{Program: tc.source}).Failure
			if f == nil || f.Kind != runtime.InvalidInput || f.Message != tc.message || f.Site.Line != tc.line {
				t.Fatalf("%+v, want %q on line %d", f, tc.message, tc.line)
			}
			if want := "send only the body of an async function, for example:\nconst answer = await tools.big({ /* arguments */ })\nreturn answer"; f.Hint != want {
				t.Errorf("hint %q, want %q", f.Hint, want)
			}
		})
	}
	f := execute(t, rt, runtime.Request{
		Program:  "ls -la src",
		Bindings: []runtime.Binding{{Namespace: toolset(t, runtime.Member{Name: "run_shell"}), Call: serve}},
	}).Failure
	if f == nil || !strings.Contains(f.Hint, "await tools.run_shell({") {
		t.Errorf("with a tool for commands: %+v", f)
	}
	for _, broken := range []string{
		"const a = 1 2",
		"find = (x => x\nreturn find",
		"cat src\nconst x = await tools.ping({})",
		"// I want to read the file\nawait tools.ping({ a: }",
		"Check if any two numbers are closer than a threshold.\n*/\nconst f = (a) => {\n  return a\n}",
		"const x = 5\nfor (const y in x:\n  print(y)",
		"x = {1, 2\nreturn x",
	} {
		f := execute(t, rt, runtime.Request{Program: broken}).Failure
		if f == nil || strings.HasPrefix(f.Message, "the program is ") {
			t.Errorf("%q: %+v, want a syntax error", broken, f)
		}
	}
}

// Real programs that are broken stay programs with a syntax error.
func TestBrokenProgramsAreNotForeign(t *testing.T) {
	type task struct {
		ID       string `json:"task_id"`
		Prompt   string `json:"prompt"`
		Solution string `json:"canonical_solution"`
		Test     string `json:"test"`
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, task := range corpus.ReadLines[task](t, "humaneval-x-js", "humaneval_js.jsonl") {
		program := task.Prompt + task.Solution + task.Test
		for n := range 50 {
			broken := damage(random, program)
			if what, line := foreign(broken); what != "" {
				t.Errorf("%s, damage %d: taken for %s on line %d:\n%s", task.ID, n, what, line, broken)
			}
		}
	}
}

// damage cuts pieces out of a program, or its end or beginning off.
func damage(random *rand.Rand, program string) string {
	lines := strings.SplitAfter(program, "\n")
	switch random.IntN(4) {
	case 0:
		return strings.Join(lines[random.IntN(len(lines)):], "")
	case 1:
		return strings.Join(lines[:1+random.IntN(len(lines)-1)], "")
	case 2:
		at := random.IntN(len(lines))
		return strings.Join(append(append([]string{}, lines[:at]...), lines[at+1:]...), "")
	}
	for range 1 + random.IntN(5) {
		at := random.IntN(len(program))
		program = program[:at] + program[min(at+1+random.IntN(3), len(program)):]
	}
	return program
}
