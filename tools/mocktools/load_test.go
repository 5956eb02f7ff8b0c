package mocktools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func load(t *testing.T, text string) []*tools.Definition {
	t.Helper()
	defs, err := Load(strings.NewReader(text))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return defs
}

func TestLoadDefinition(t *testing.T) {
	defs := load(t, `{"tools": [
		{"name": "b", "description": "second letter", "inputSchema": {"type": "object", "properties": {"n": {"type": "number"}}},
		 "outputSchema": {"type": "number"}, "concurrent": true, "destructive": true, "readOnly": true, "idempotent": true, "timeoutMs": 20, "result": 1},
		{"name": "a", "result": null}]}`)
	if len(defs) != 2 || defs[0].Name != "b" || defs[1].Name != "a" {
		t.Fatalf("definitions = %v, want b and a in the order of the file", defs)
	}
	b, a := defs[0], defs[1]
	if want := (tools.Annotations{ReadOnly: true, Idempotent: true, Destructive: true}); b.Description != "second letter" || b.Annotations != want || b.Timeout != 20*time.Millisecond {
		t.Errorf("description %q, annotations %+v and timeout %v were not taken over", b.Description, b.Annotations, b.Timeout)
	}
	if a.Annotations != (tools.Annotations{}) || a.Timeout != 0 {
		t.Errorf("annotations %+v and timeout %v come from nowhere", a.Annotations, a.Timeout)
	}
	if got, want := b.Input.String(), `{"type":"object","properties":{"n":{"type":"number"}}}`; got != want {
		t.Errorf("input schema = %s, want %s", got, want)
	}
	if got, want := b.Output.String(), `{"type":"number"}`; got != want {
		t.Errorf("output schema = %s, want %s", got, want)
	}
	if b.Concurrent == nil || !b.Concurrent(tools.MustJSON(`{}`)) {
		t.Error("a tool declared concurrent is not")
	}
	if a.Concurrent != nil || a.Annotations != (tools.Annotations{}) || !a.Input.IsZero() || !a.Output.IsZero() {
		t.Errorf("defaults of a = %+v, want an exclusive tool without schemas and annotations", a)
	}
	if _, err := tools.NewRegistry(defs...); err != nil {
		t.Errorf("the definitions cannot be registered: %v", err)
	}
}

func TestLoadProblems(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", ``, `1:1: invalid JSON: `},
		{"syntax, with its line", "{\n \"tools\": [\n  {\"name\": }]}", `3:12 (/tools/0/name): invalid JSON: `},
		{"column counts characters", `{"tools": [{"name": "ä", }]}`, `1:26 (/tools/0`},
		{"same member twice", `{"tools": [], "tools": []}`, `the property name is given twice`},
		{"not an object", `[]`, `1:1: the file must be an object, got an array`},
		{"no tools", `{}`, `1:1: the file must have the member "tools", an array of tools`},
		{"unknown member of the file", `{"tool": []}`, `1:2 (/tool): unknown member "tool" of the file; did you mean "tools"? (known are tools)`},
		{"tools no array", `{"tools": {}}`, `1:11 (/tools): "tools" must be an array, got an object`},
		{"tool no object", `{"tools": [1]}`, `1:12 (/tools/0): a tool must be an object, got a number`},
		{"unknown member of a tool", `{"tools": [{"name": "x", "inputschema": {}}]}`,
			`1:26 (/tools/0/inputschema): unknown member "inputschema" of a tool; did you mean "inputSchema"?`},
		{"no name", `{"tools": [{"result": 1}]}`, `1:12 (/tools/0): a tool needs a "name"`},
		{"empty name", `{"tools": [{"name": ""}]}`, `1:21 (/tools/0/name): "name" must not be empty`},
		{"name no string", `{"tools": [{"name": 7}]}`, `1:21 (/tools/0/name): "name" must be a string, got a number`},
		{"reserved name", `{"tools": [{"name": "run_code"}]}`, `1:12 (/tools/0): the name "run_code" is reserved`},
		{"name taken", `{"tools": [{"name": "x"}, {"name": "x"}]}`, `1:27 (/tools/1): the name "x" is taken by /tools/0`},
		{"schema no schema", `{"tools": [{"name": "x", "inputSchema": "object"}]}`, `1:41 (/tools/0/inputSchema): "inputSchema" must be a JSON Schema`},
		{"schema that does not compile", `{"tools": [{"name": "x", "inputSchema": {"type": "strin"}}]}`, `1:12 (/tools/0): tool "x": input schema: `},
		{"output schema that does not compile", `{"tools": [{"name": "x", "outputSchema": {"minimum": "1"}}]}`, `1:12 (/tools/0): tool "x": output schema: `},
		{"concurrent no boolean", `{"tools": [{"name": "x", "concurrent": 1}]}`, `1:40 (/tools/0/concurrent): "concurrent" must be true or false, got a number`},
		{"destructive no boolean", `{"tools": [{"name": "x", "destructive": null}]}`, `"destructive" must be true or false, got null`},
		{"delay negative", `{"tools": [{"name": "x", "delayMs": -1}]}`, `1:37 (/tools/0/delayMs): "delayMs" must be a whole number of milliseconds from 0 to 86400000, got -1`},
		{"timeout no number", `{"tools": [{"name": "x", "timeoutMs": "1"}]}`, `"timeoutMs" must be a whole number of milliseconds from 0 to 86400000, got "1"`},
		{"readOnly no boolean", `{"tools": [{"name": "x", "readOnly": 1}]}`, `"readOnly" must be true or false, got a number`},
		{"idempotent no boolean", `{"tools": [{"name": "x", "idempotent": 1}]}`, `"idempotent" must be true or false, got a number`},
		{"delay fraction", `{"tools": [{"name": "x", "delayMs": 1.5}]}`, `got 1.5`},
		{"delay too long", `{"tools": [{"name": "x", "delayMs": 86400001}]}`, `got 86400001`},
		{"case no object", `{"tools": [{"name": "x", "cases": [[]]}]}`, `1:36 (/tools/0/cases/0): a case must be an object, got an array`},
		{"unknown member of a case", `{"tools": [{"name": "x", "cases": [{"whem": {}, "result": 1}]}]}`,
			`1:37 (/tools/0/cases/0/whem): unknown member "whem" of a case; did you mean "when"?`},
		{"when no object", `{"tools": [{"name": "x", "cases": [{"when": 1, "result": 1}]}]}`, `(/tools/0/cases/0/when): "when" must be an object, got a number`},
		{"case without answer", `{"tools": [{"name": "x", "cases": [{"when": {}}]}]}`, `(/tools/0/cases/0): a case needs a "result", a "content" or an "error"`},
		{"case with two answers", `{"tools": [{"name": "x", "cases": [{"error": "e", "result": 1}]}]}`, `a case has either "error" or "result" and "content", not both`},
		{"error of a wrong kind", `{"tools": [{"name": "x", "cases": [{"error": 1}]}]}`, `"error" must be a string or an object of message and code, got a number`},
		{"error without message", `{"tools": [{"name": "x", "cases": [{"error": {"code": "C"}}]}]}`, `an error needs a message`},
		{"unknown member of an error", `{"tools": [{"name": "x", "cases": [{"error": {"message": "m", "kode": "C"}}]}]}`, `(/tools/0/cases/0/error/kode): unknown member "kode" of an error; did you mean "code"?`},
		{"block of a wrong kind", `{"tools": [{"name": "x", "cases": [{"content": [1]}]}]}`, `(/tools/0/cases/0/content/0): a content block must be a string or an object, got a number`},
		{"block without type", `{"tools": [{"name": "x", "cases": [{"content": [{"text": "t"}]}]}]}`, `a content block needs a "type"`},
		{"image without data", `{"tools": [{"name": "x", "cases": [{"content": [{"type": "image"}]}]}]}`, `an image block needs "data" and "mimeType"`},
		{"data no base64", `{"tools": [{"name": "x", "cases": [{"content": [{"type": "image", "data": "*", "mimeType": "image/png"}]}]}]}`, `must be base64`},
		{"context no string", `{"tools": [{"name": "x", "cases": [{"result": 1, "contexts": [1]}]}]}`, `(/tools/0/cases/0/contexts/0): a context must be a string, got a number`},
		{"pointer is escaped", `{"tools": [{"name": "x", "a/b~": 1}]}`, `(/tools/0/a~1b~0): unknown member "a/b~"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defs, err := Load(strings.NewReader(tt.text))
			if err == nil {
				t.Fatalf("Load = %d tools, want an error with %q", len(defs), tt.want)
			}
			if !strings.HasPrefix(err.Error(), "invalid mock tools: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %q\nwant it to begin with %q and hold %q", err, "invalid mock tools: ", tt.want)
			}
		})
	}
}

func TestLoadListsEveryProblem(t *testing.T) {
	_, err := Load(strings.NewReader("{\"tools\": [\n{\"name\": 1},\n{\"nam\": \"x\"}]}"))
	want := `invalid mock tools: 2:10 (/tools/0/name): "name" must be a string, got a number
3:2 (/tools/1/nam): unknown member "nam" of a tool; did you mean "name"? (known are name, description, inputSchema, outputSchema, concurrent, delayMs, ignoresCancel, timeoutMs, readOnly, idempotent, destructive, cases, result)
3:1 (/tools/1): a tool needs a "name"`
	if err == nil {
		t.Fatal("Load accepted a file with three problems")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestLoadCountsFurtherProblems(t *testing.T) {
	_, err := Load(strings.NewReader(`{"tools": [` + strings.Repeat("1,", 24) + `1]}`))
	if err == nil || strings.Count(err.Error(), "\n") != maxProblems || !strings.HasSuffix(err.Error(), "\nand 5 more problems") {
		t.Errorf("error = %v\nwant %d problems and the number of the others", err, maxProblems)
	}
}

func TestLoadSize(t *testing.T) {
	empty := `{"tools": []}`
	if _, err := Load(strings.NewReader(empty + strings.Repeat(" ", maxFile-len(empty)))); err != nil {
		t.Errorf("a file of exactly the largest size is refused: %v", err)
	}
	const want = "mock tools are larger than 16 MiB; split the file"
	if _, err := Load(strings.NewReader(empty + strings.Repeat(" ", maxFile-len(empty)+1))); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestLoadReadError(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := Load(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error = %v, want one that wraps %v", err, broken)
	}
}

func TestLoadByteOrderMark(t *testing.T) {
	if defs := load(t, "\uFEFF{\"tools\": []}"); len(defs) != 0 {
		t.Errorf("Load = %d tools, want none", len(defs))
	}
}

func TestLoadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mock.json")
	if _, err := LoadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error for a missing file = %v, want its path", err)
	}
	if err := os.WriteFile(path, []byte(`{"tools": [1]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + ": invalid mock tools: 1:12 (/tools/0): a tool must be an object, got a number"
	if _, err := LoadFile(path); err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant %s", err, want)
	}
	if err := os.WriteFile(path, []byte(`{"tools": [{"name": "x", "result": 1}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if defs, err := LoadFile(path); err != nil || len(defs) != 1 {
		t.Errorf("LoadFile = %v, %v, want one tool", defs, err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"tools": [{"name": "x", "inputSchema": {"type": "object"}, "cases": [{"when": {"a": [1]}, "result": 1.0, "contexts": ["c"]}, {"error": {"message": "m", "code": "C"}}], "result": null}]}`)
	f.Add(`{"tools": [{"name": "x", "delayMs": 5, "concurrent": true, "cases": [{"content": ["t", {"type": "image", "data": "AA==", "mimeType": "image/png"}]}]}]}`)
	f.Add(`{"tools": [{"name": "\ud800", "cases": [{"when": {"\u0000": -0}, "result": "\udfff"}]}]}`)
	f.Add("\uFEFF[")
	f.Fuzz(func(t *testing.T, text string) {
		defs, err := Load(strings.NewReader(text))
		if err != nil {
			if defs != nil || err.Error() == "" {
				t.Fatalf("Load = %v, %v; want an error alone, with words", defs, err)
			}
			return
		}
		for _, def := range defs {
			if _, err := tools.NewTool(def); err != nil || def.Name == "" {
				t.Errorf("a loaded definition cannot be used: %v", err)
			}
		}
	})
}
